"""Shared by the index and torture tests: memory files as text, an index made from scratch, and comparing the two."""

import os
import shutil
import tempfile
from pathlib import Path

from rawkomem.embed.providers import bundled_embedder
from rawkomem.files.git_folder import git_stamp
from rawkomem.files.layout import Layout, hash_of_file, is_text_path, sweep
from rawkomem.index import authors
from rawkomem.index.index import Index
from rawkomem.index.statements import fired_by
from rawkomem.model.filters import Filter
from rawkomem.text.conditions import situation_of

from tests.index.digest import digest_parts

QUERIES = ("apple banana", "how do we deploy", "zebra", "auth login", "nothing of the kind")
_embedder = []


def embedder():
    """The bundled one, opened once."""
    if not _embedder:
        _embedder.append(bundled_embedder())
    return _embedder[0]


def memory(title: str, body: str = "", **keys: str) -> str:
    """A file that holds one memory."""
    lines = "".join(f"{key}: {value}\n" for key, value in keys.items())
    return f"---\n{lines}title: {title}\n---\n\n{body}\n"


def change(kind: str, about: str, body: str = "", **keys: str) -> str:
    """An entry about a memory."""
    lines = "".join(f"{key}: {value}\n" for key, value in keys.items())
    return f"---\nkind: {kind}\nabout: {about}\n{lines}---\n\n{body}\n"


def index_of(layout: Layout, file: str = "") -> Index:
    """An index of the repository's files, in another place when `file` names one."""
    return Index(layout, embedder, lambda message: None, locate=(lambda: file) if file else None)


def answers(index: Index) -> list[object]:
    """What the index says: to some questions, and of every memory."""
    store, found = index.store, []
    for query, vector in zip(QUERIES, index.embedder.embed(QUERIES), strict=True):
        found.append(store.nearest(vector, 20, Filter()))
        found += [store.matching(query.split(), 20, Filter(), around=around) for around in (False, True)]
    fired = [fired_by(index.reading(), situation_of(query)) for query in QUERIES]
    return [found, fired, index.catalogue.rows(), index.catalogue.counts()]


def assert_equals_rebuild(index: Index) -> None:
    """Law 3: the index, as it stands, holds and answers what one made from the files would."""
    folder = tempfile.mkdtemp()
    try:
        rebuilt = index_of(index.layout, os.path.join(folder, "index.db"))
        rebuilt.sync()
        ours, theirs = digest_parts(index), digest_parts(rebuilt)
        assert {name for name in ours if ours[name] != theirs[name]} == set(), differences(index, rebuilt)
        assert answers(index) == answers(rebuilt)
        rebuilt.close()
    finally:
        index.close()
        shutil.rmtree(folder)


def differences(index: Index, other: Index) -> str:
    """Where two indexes differ, for a failing test."""
    said = []
    for sql in ("SELECT path, hash, entries FROM files", "SELECT * FROM entries", "SELECT id, doc FROM memories"):
        ours, theirs = (set(each.reading().execute(sql)) for each in (index, other))
        said.append(f"{sql}: only here {sorted(ours - theirs)[:5]}, only in the rebuild {sorted(theirs - ours)[:5]}")
    return "\n".join(said)


def files_as_they_are(layout: Layout) -> dict[str, str]:
    """path → hash of every memory file, read now."""
    return {path: hash_of_file(layout.path(path)) for path in sweep(layout).paths if is_text_path(path)}


def files_as_indexed(index: Index) -> dict[str, str]:
    """path → hash as the index knows them; read without a sweep. None while there is no index to read."""
    import apsw

    try:
        return index.catalogue.hashes()
    except apsw.Error:
        return {}
    finally:
        index.close()


def follows_head(index: Index) -> bool:
    """Whether the index has asked git since HEAD moved; read without asking git."""
    try:
        return not authors._must_ask_git(index.reading(), git_stamp(index.layout.project))
    finally:
        index.close()


def write(folder: Path, name: str, text: str) -> Path:
    """Write a file below a folder, making what it needs."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file
