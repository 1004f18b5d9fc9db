"""Remove every entry about one memory from files and bundles, for example because it holds a leaked secret."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..model.entry import Entry
from ..model.errors import Refused
from ..model.ids import holds_id
from ..model.record import record
from .bundle import bundles, folder_of, read_bundle, replace_bundle
from .layout import Layout
from .lock import lock
from .read import QUARANTINE, Reading, implicit_id, read_data
from .replace import Replacing, remove_temporary, temporary_folder
from .scan import is_text, stamps, sweep
from .whole import remove_unfinished

SEPARATOR_AT_END = re.compile(rb"\r?\n---[ \t]*(?:\r?\n)*\Z")


@record
class Found:
    """A file that may hold entries about a memory: its bytes, its reading, and its bundle, if it is in one."""

    data: bytes
    reading: Reading
    bundle: str = ""

    @property
    def path(self) -> str:
        """Return the file's path below .rawko; for a file in a bundle, its path before it was packed."""
        return self.reading.path

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Return the file's entries."""
        return self.reading.entries

    def about(self, id: str) -> list[Entry]:
        """Return the entries about a memory."""
        return [entry for entry in self.entries if entry.target == id]


def entries_about(layout: Layout, id: str) -> tuple[list[Entry], list[str]]:
    """Return every entry about a memory in files and bundles, and the unreadable files that name the memory.

    Raise Refused if the entries cannot be removed.
    """
    found = [*_found(layout, id, Replacing(layout)), *_bundled(layout, id)]
    for one in found:
        if one.about(id):
            _without(one, id)
    unread = [one.bundle or one.path for one in found if one.reading.verdict == QUARANTINE and not one.about(id)]
    return [entry for one in found for entry in one.about(id)], unread


def purge(layout: Layout, id: str) -> list[str]:
    """Remove the entries about `id` from every file and bundle, delete empty files, and return the changed paths.

    If another program saved one of the files meanwhile, change no file and raise Refused. Raise OSError if a killed
    writer's temporary file, which may hold the text, cannot be removed.
    """
    with lock(layout, "write"):
        files = Replacing(layout)
        found = [one for one in _found(layout, id, files) if one.about(id)]
        for one in found:
            new = _without(one, id)
            if new:
                files.put(layout.path(one.path), new)
            else:
                files.remove(layout.path(one.path))
        saved = files.finish()
        if saved:
            raise Refused(f"{layout.relative(min(saved))} changed while we read it", "try again")
        cut = _purge_bundles(layout, id)
        remove_temporary(temporary_folder(layout))
        remove_unfinished(layout.root)
    return sorted([*(one.path for one in found), *cut])


def _purge_bundles(layout: Layout, id: str) -> list[str]:
    changed = []
    for bundle in dict.fromkeys(one.bundle for one in _bundled(layout, id) if one.about(id)):
        kept = read_bundle(layout, bundle)
        for one in _bundled(layout, id):
            if one.bundle == bundle and one.about(id):
                kept[one.path.rpartition("/")[2]] = _without(one, id)
        replace_bundle(layout, bundle, {name: data for name, data in kept.items() if data})
        changed.append(bundle)
    return changed


def _found(layout: Layout, id: str, files: Replacing) -> Iterator[Found]:
    """Yield the files that may hold entries about a memory: those that contain its id or are named like it."""
    for path in filter(is_text, stamps(sweep(layout).listing)):
        data = files.read(layout.path(path)) or b""
        if may_speak_of(data, path, id):
            yield Found(data, read_data(data, path, advice=False))


def _bundled(layout: Layout, id: str) -> Iterator[Found]:
    for bundle in list(bundles(layout)):
        for name, data in read_bundle(layout, bundle).items():
            path = f"{folder_of(bundle)}/{name}"
            if may_speak_of(data, path, id):
                yield Found(data, read_data(data, path, advice=False), bundle)


def may_speak_of(data: bytes, path: str, id: str) -> bool:
    """Tell whether a file's bytes may hold an entry about a memory."""
    stem = implicit_id(path)
    return id == stem or id.startswith(f"{stem}#") or holds_id(data.decode("utf-8", "replace"), id)


def _without(found: Found, id: str) -> bytes:
    """Return the file's bytes without the entries about `id`; empty if no other entry is left.

    Other entries keep every byte. Raise Refused if the ids of entries without an `id:` line would change.
    """
    path, data, entries = found.path, found.data, found.entries
    kept = [entry for entry in entries if entry.target != id]
    if not kept:
        return b""
    new = _cut(data, entries, id)
    stem = implicit_id(path)
    nameless = any(entry.id.startswith(f"{stem}#") or entry.id == stem for entry in kept)
    if nameless and [entry.id for entry in kept] != [entry.id for entry in read_data(new, path).entries]:
        hint = "give each of them an 'id:' line, or edit the file by hand"
        raise Refused(f"{path} holds entries without an 'id:' line, and their ids would change", hint)
    return new


def _cut(data: bytes, entries: Sequence[Entry], id: str) -> bytes:
    lines = data.splitlines(keepends=True)
    starts = [entry.line - 1 for entry in entries] + [len(lines)]
    pieces = [b"".join(lines[a:b]) for a, b in pairwise(starts)]
    text = b"".join(lines[: starts[0]])
    text += b"".join(piece for piece, entry in zip(pieces, entries, strict=True) if entry.target != id)
    if entries[-1].target != id:
        return text
    trimmed = SEPARATOR_AT_END.sub(b"", text)  # the separator before the removed entry
    return trimmed if trimmed.endswith(b"\n") else trimmed + b"\n"
