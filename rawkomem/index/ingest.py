"""Turns files into rows: reads changed files, in a second process if they are many, folds their memories, cuts them into passages, and puts
documents into the store.

A body passage is also matched with its surroundings: the passages before and after it in the file,
which may belong to other entries (as in a conversation with one entry per turn). This raises
recall@5 on conversations by 13 points. A condition's vector is shifted towards the memory's title
and its other conditions, because one short sentence alone is easily missed.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from math import hypot
from operator import add
from typing import TYPE_CHECKING, NoReturn

from ..embed.embedder import AbsentEmbedder, Embedder
from ..files.background import can_fork
from ..files.layout import CHANGED, Layout, read_bytes
from ..files.machine_records import Arrivals, purged_ids
from ..files.reading import QUARANTINE, read_data
from ..format.mesh_fields import OTHER_METADATA_KEY, SCRUBBED_KEY, metadata_in
from ..model.entries import Entry, Memory
from ..model.filters import Facets
from ..model.ids import slug
from ..model.values import RECORDED, as_dict, filled, record, replace, unchecked
from ..redaction.entries import redact_entry
from ..redaction.scrubber import scrubbed_text
from ..state.changes import newer_in, references
from ..state.contradictions import prose_of, statement_keys
from ..state.fold import ARCHIVE, FoldTogether, Vouches
from ..state.trust import facets_of
from ..text.chunks import cut_chunks
from ..text.language import spelled_out_names
from ..text.scripts import is_emoji, is_mark
from .authors import HIDDEN, WITH_HIDDEN_AUTHOR
from .catalogue import FIRST_HELD, ROW_COLUMNS, UNREAD, Catalogue, memory_of
from .statements import Statements, drop_facts, put_claim, put_conditions
from .stores.protocol import SearchStore
from .stores.sqlite import BODY, WHEN, Document, Passage

if TYPE_CHECKING:
    import apsw


# Reads the entries of files as rows of the catalogue.

ENTRY_DEFAULTS: dict[str, object] = Entry.__defaults__  # type: ignore[attr-defined]
# JSON has lists only
ENTRY_TUPLES = frozenset(
    name for name, value in ENTRY_DEFAULTS.items() if isinstance(value, tuple)
)


@record
class FileRows:
    """What the catalogue stores of a file; of each entry: id, target, digest, `newer`, and the entry as JSON."""

    hash: str
    verdict: str
    entries: tuple[tuple[str, str, str, str, str], ...]
    statements: Statements  # see `put_claim`; empty unless asked for


def read_rows(
    layout: Layout, path: str, with_statements: bool = False
) -> FileRows | None:
    """Return what the catalogue stores of a file; None if the file cannot be read."""
    try:
        data = read_bytes(layout.path(path))
    except OSError:
        return None
    return rows_of(data, path, with_statements)


def rows_of(data: bytes, path: str, with_statements: bool = False) -> FileRows:
    """Return what the catalogue stores of a file with these bytes."""
    reading = read_data(data, path, advice=False)
    rows = []
    statements: Statements = {}
    for entry in reading.entries:
        kept = redact_entry(entry) if entry.leaks else entry
        rows.append(
            (entry.id, entry.target, entry.digest, newer_in(entry), pack_entry(kept))
        )
        if with_statements:
            prose = prose_of(
                unchecked(Memory, id=entry.id, title=kept.title, body=kept.body)
            )
            statements[kept.title, kept.body] = statement_keys(prose)
    hash = sha256(data).hexdigest()
    return FileRows(hash, reading.verdict, tuple(rows), statements)


def pack_entry(entry: Entry) -> str:
    """Return an entry as JSON, without fields that have their default."""
    fields = {
        name: value
        for name, usual in ENTRY_DEFAULTS.items()
        if (value := getattr(entry, name)) != usual
    }
    return json.dumps(fields, separators=(",", ":"))


def unpack_entries(docs: Iterable[str]) -> list[Entry]:
    """Return the entries of `pack_entry`."""
    entries = []
    for fields in json.loads(f"[{','.join(docs)}]"):
        for name in ENTRY_TUPLES & fields.keys():
            fields[name] = tuple(fields[name])
        entries.append(unchecked(Entry, **fields))
    return entries


# Reads the files of a first sync in a forked process, while this process indexes the batch before:
# the sync takes a third less time.

MIN_FILES_AHEAD = 500  # for fewer files, a second process saves too little
Read = dict[str, FileRows]


def read_ahead(layout: Layout, batches: Sequence[Sequence[str]]) -> Iterator[Read]:
    """Yield the files of each batch; a file that is missing must be read by the caller."""
    if (
        sum(map(len, batches)) < MIN_FILES_AHEAD
        or not can_fork()
        or (os.cpu_count() or 1) < 2
    ):
        yield from ({} for _ in batches)
        return
    receiver, sender = os.pipe()
    child = os.fork()
    if not child:
        _send_batches(layout, batches, receiver, sender)
    os.close(sender)
    try:
        with open(receiver, "rb") as stream:
            for _ in batches:
                try:
                    read = pickle.load(stream)
                except (EOFError, pickle.UnpicklingError):  # the process was killed
                    read = {}
                yield read
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _send_batches(
    layout: Layout, batches: Sequence[Sequence[str]], receiver: int, sender: int
) -> NoReturn:
    """Read the batches in the forked process, write them to a pipe, and exit."""
    try:
        os.close(receiver)
        with open(sender, "wb") as stream:
            for batch in batches:
                read = {
                    path: rows
                    for path in batch
                    if (rows := read_rows(layout, path, True))
                }
                pickle.dump(read, stream, pickle.HIGHEST_PROTOCOL)
                stream.flush()
    finally:
        os._exit(0)


# Writes the JSON that a store keeps of a memory for other programs: claim, provenance, references,
# decisions.

SHOWN_EXTRA_KEYS = ("claim", "provenance")


def json_for_readers(memory: Memory) -> str:
    """Return this JSON. Each reference comes with all names that it may mean, the most likely first."""
    below = memory.path.partition("/")[2].removesuffix(".md").casefold()
    said: dict[str, object] = {
        **{key: memory.extra[key] for key in SHOWN_EXTRA_KEYS if key in memory.extra},
        "references": [
            {"type": type, "names": _names_of_reference(name)}
            for type, name in references(memory)
        ],
        "path": memory.path,
        "line": memory.line,
        "files": sorted({below, below.rpartition("/")[2]}),
        "updated": memory.updated,
        "reinforcements": memory.reinforcements,
        "disputes": memory.disputes,
        "superseded_by": memory.superseded_by,
        "supersedes": memory.supersedes,
        "conflicts_with": memory.conflicts_with,
        "reason": memory.reason,
    }
    return json.dumps(
        filled(said),
        ensure_ascii=False,
        sort_keys=True,
    )


def _names_of_reference(name: str) -> list[str]:
    whole = name.strip().removesuffix(".md")
    ways = (
        (way, way.casefold(), slug(way))
        for way in (whole, whole.partition("#")[0].strip())
    )
    return [*dict.fromkeys(name for own in ways for name in own if name)]


# Decides which entries a person vouches for: by a commit in HEAD, or by typing them on this
# machine.
#
# A sync folds memories with it; index/authors.py folds memories again whose entries were
# committed since.

VOUCHING = (
    "SELECT key FROM authorship WHERE key IN ('vouching', 'hidden') AND value = 'on'"
)


class Vouching:
    """Looks entries up. With `strict`, commits and typed reviews count, but no other typed entries.

    If git does not name a person who committed an entry (`is_on` is False), every entry counts as a person's, except changes
    of memories whose author git hides.
    """

    def __init__(
        self,
        layout: Layout,
        db: apsw.Connection,
        strict: bool = False,
        is_on: bool = True,
    ):
        self.layout = layout
        self.db = db
        self.strict = strict
        self.is_on = is_on
        self._hidden: tuple[set[str], set[str]] | None = None
        self._arrivals: Arrivals | None = None
        self._known: dict[str, bool] = {}

    def __call__(self, entry: Entry) -> bool | None:
        """Return whether a person vouches for an entry; None if git hides who committed it.

        Nobody reads a record of a run because it is committed.
        """
        digests, memories = self._with_hidden_author()
        if not self.is_on and entry.target not in memories:
            return True
        if not entry.digest or entry.kind in RECORDED:
            return False
        if self.is_committed(entry.digest) or self.is_typed(
            entry.id, entry.digest, entry.kind
        ):
            return True
        if entry.digest in digests:
            return None if self.is_on else True
        return False

    def _with_hidden_author(self) -> tuple[set[str], set[str]]:
        """Return the entries whose author git hides, by digest, and the ids of their memories."""
        if self._hidden is None:
            self._hidden = set(), set()
            if "hidden" in _vouching_facts(self.db):
                self._hidden = (
                    {digest for (digest,) in self.db.execute(HIDDEN)},
                    {id for (id,) in self.db.execute(WITH_HIDDEN_AUTHOR)},
                )
        return self._hidden

    def is_committed(self, digest: str) -> bool:
        """Return whether a person committed an entry, and HEAD holds it."""
        if digest not in self._known:
            row = self.db.execute(
                "SELECT 1 FROM vouched WHERE digest = ?", (digest,)
            ).fetchone()
            self._known[digest] = row is not None
        return self._known[digest]

    def is_typed(self, id: str, digest: str, kind: str) -> bool:
        """Return whether a person typed an entry on this machine, and it has not changed since."""
        if self.strict and kind != "review":
            return False
        if self._arrivals is None:
            self._arrivals = Arrivals(self.layout)
        return self._arrivals.by_person(id, digest)


def vouching_of(
    layout: Layout, db: apsw.Connection, strict: bool = False
) -> Vouching | None:
    """Return which entries are vouched for; None if no person can have committed an entry: then all entries count.

    With `strict`, never return None.
    """
    is_on = strict or "vouching" in (facts := _vouching_facts(db))
    return Vouching(layout, db, strict, is_on) if is_on or facts else None


def _vouching_facts(db: apsw.Connection) -> set[str]:
    return {key for (key,) in db.execute(VOUCHING)}


# Keeps what a person committed, or may have committed, in use, until a commit changes it: an edit or a removal in the work
# tree only proposes. The archive and the records of work are not in use, so they are not held.

HELD_AREAS = ("memories", CHANGED)
MISSING = f"""
SELECT blob, digest FROM committed WHERE digest IN (SELECT digest FROM vouched UNION {HIDDEN}) AND digest NOT IN (
    SELECT digest FROM entries WHERE number < {FIRST_HELD} AND path NOT LIKE '{ARCHIVE}%')
"""
HELD = f"SELECT path, digest, target FROM entries WHERE number >= {FIRST_HELD}"
HELD_OF = f"""
SELECT target FROM entries WHERE id = target AND number >= {FIRST_HELD}
AND target IN (SELECT value FROM json_each(?))
"""


def hold_committed(
    layout: Layout, db: apsw.Connection, warn: Callable[[str], None]
) -> set[str]:
    """Store the entries that a person committed and that no file holds; return the memories to fold again.

    Entries of a purged memory are not stored. Warn if git cannot read the entries.
    """
    missing: dict[tuple[str, str], str] = {}  # path and digest → version of the file
    for version, digest in db.execute(MISSING):
        path = version.partition(" ")[2]
        if path.partition("/")[0] in HELD_AREAS:
            missing[path, digest] = version
    held = {(path, digest): target for path, digest, target in db.execute(HELD)}
    targets = {held[one] for one in held if one not in missing}
    db.executemany(
        f"DELETE FROM entries WHERE path = ? AND digest = ? AND number >= {FIRST_HELD}",
        [one for one in held if one not in missing],
    )
    wanted = {missing[one] for one in missing if one not in held}
    if not wanted:
        return targets
    from ..git.authorship import read_versions  # nothing else here runs git

    purged = purged_ids(layout)
    for version, data in read_versions(layout, wanted, warn):
        path = version.partition(" ")[2]
        for number, row in enumerate(rows_of(data, path).entries, FIRST_HELD):
            if (path, row[2]) in missing.keys() - held and row[1] not in purged:
                db.execute(PUT_ENTRY, (path, number, *row))
                targets.add(row[1])
    return targets


# with one, recall@5 is 4 points lower; with three, it is no higher
NEIGHBORS_PER_SIDE = 2
# length of a passage with its neighbors; a longer text blurs the topic
MAX_AROUND_CHARS = 1_000
TITLE_SHARE = 0.5  # weight of the title in a condition's vector
# weight of the common direction of the memory's conditions, if there are at least two
KIN_SHARE = 1.0
WORD_SIGNS = "_'/.-"  # characters that are part of a word in a condition


def pieces_of(memory: Memory) -> list[Passage]:
    """Return the body's chunks, then each condition; the title if there is neither. They have no vectors yet."""
    pieces = [
        unchecked(Passage, text=part.text, heading=part.heading, line=part.line)
        for part in cut_chunks(memory.body)
    ]
    for condition in memory.when:
        text = condition_text(condition)
        pieces.append(unchecked(Passage, text=text, field=WHEN, line=memory.line))
    return pieces or [Passage(memory.title)]


def with_surroundings(memories: Sequence[list[Passage]]) -> list[list[Passage]]:
    """Return the pieces of one file's memories, in order, each body piece with its neighbors' text."""
    flat = [piece for pieces in memories for piece in pieces if piece.field == BODY]
    around = (_around(flat, at) for at in range(len(flat)))
    return [
        [
            replace(piece, around=next(around)) if piece.field == BODY else piece
            for piece in pieces
        ]
        for pieces in memories
    ]


def _around(pieces: list[Passage], at: int) -> str:
    low = high = at
    size = len(pieces[at].text)
    for reach in range(1, NEIGHBORS_PER_SIDE + 1):
        for other in (at - reach, at + reach):
            if not 0 <= other < len(pieces) or other not in (low - 1, high + 1):
                continue
            if size + len(pieces[other].text) <= MAX_AROUND_CHARS:
                low = min(low, other)
                high = max(high, other)
                size += len(pieces[other].text)
    if high > low:
        return "\n".join(piece.text for piece in pieces[low : high + 1])
    return ""


def condition_text(condition: str) -> str:
    """Return a condition as words: `auth|log.*in` → `auth log in`."""
    signs = condition.replace(".*", " ")
    return " ".join(
        "".join([sign if _is_word_sign(sign) else " " for sign in signs]).split()
    )


def _is_word_sign(sign: str) -> bool:
    return (
        sign.isalnum()
        or sign in WORD_SIGNS
        or (not sign.isascii() and (is_mark(sign) or is_emoji(sign)))
    )


def searchable_title(title: str) -> str:
    """Return the title with the parts of its compound names: `AuthFlow` is also `Auth Flow`."""
    parts = [part for name in spelled_out_names(title) for part in name.split()]
    return " ".join([title, *parts]) if parts else title


def embedded_text(memory: Memory, piece: Passage) -> str:
    """Return the text that is embedded for a passage: a chunk under its title and headings, or a condition."""
    if piece.field == WHEN:
        return piece.text
    heading = piece.heading if piece.heading != memory.title else ""
    parts = [part for part in (memory.title, heading, piece.text) if part]
    # added by a mesh: RFC-0011 §6 requires six stages before embedding
    if SCRUBBED_KEY in memory.extra:
        parts = [scrubbed_text(part) for part in parts]
    return "\n".join(parts)


def vectors_of(
    embedder: Embedder, documents: Sequence[tuple[Memory, Sequence[Passage]]]
) -> list[list[bytes]]:
    """Return for each memory the vectors of its pieces, in order; all are embedded in one call."""
    texts = [
        embedded_text(memory, piece) for memory, pieces in documents for piece in pieces
    ]
    titled = [memory.title for memory, _ in documents if memory.when]
    if texts:
        vectors = embedder.embed(texts + [searchable_title(title) for title in titled])
    else:
        vectors = []
    own = iter(vectors[: len(texts)])
    titles = iter(vectors[len(texts) :])
    found: list[list[bytes]] = []
    for memory, pieces in documents:
        body = [next(own) for piece in pieces if piece.field == BODY]
        # they follow the body
        conditions = [next(own) for piece in pieces if piece.field == WHEN]
        found.append(body + leaned(conditions, next(titles)) if memory.when else body)
    return found


def leaned(vectors: list[bytes], title: bytes) -> list[bytes]:
    """Return the vectors of a memory's conditions, each shifted towards the title and their common direction."""
    if "numpy" in sys.modules:
        return _leaned_with_numpy(vectors, title)
    own = [array("f", vector) for vector in vectors]
    towards = [TITLE_SHARE * number for number in array("f", title)]
    if len(own) > 1:
        common = _unit_vector(list(map(sum, zip(*own, strict=True))))
        shares = [KIN_SHARE * number for number in common]
        towards = list(map(add, towards, shares))
    shifted = (_unit_vector(list(map(add, vector, towards))) for vector in own)
    return [array("f", vector).tobytes() for vector in shifted]


def _unit_vector(vector: list[float]) -> list[float]:
    length = hypot(*vector)
    return [number / length for number in vector] if length else vector


def _leaned_with_numpy(vectors: list[bytes], title: bytes) -> list[bytes]:
    """Return the same bytes as `leaned`, five times as fast: a first index shifts many."""
    import numpy as np

    own = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
    towards = TITLE_SHARE * np.frombuffer(title, "<f4").astype(np.float64)
    if len(own) > 1:
        common = own.sum(axis=0, dtype=np.float64)
        towards = towards + KIN_SHARE * common / (np.linalg.norm(common) or 1.0)
    shifted = own.astype(np.float64) + towards
    lengths = np.linalg.norm(shifted, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return [vector.tobytes() for vector in (shifted / lengths).astype("<f4")]


PUT_ENTRY = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)"
PUT_UNREAD = """
INSERT INTO files VALUES (?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET stamp = excluded.stamp
"""
WITH_SUPERSEDED = """
WITH RECURSIVE found (id) AS (
    SELECT value FROM json_each(?)
    UNION SELECT target FROM found CROSS JOIN entries INDEXED BY entries_newer ON newer = found.id AND newer != ''
) SELECT id FROM found
"""
MEMORIES_OF = (
    "SELECT id, path, doc FROM memories WHERE id IN (SELECT value FROM json_each(?))"
)
ENTRIES_OF = """
SELECT target, doc FROM entries WHERE target IN (SELECT value FROM json_each(?)) ORDER BY path, number
"""
# A deleted memory loses its digest, because the search store does not hold it.
PUT_MEMORY = f"""
INSERT OR REPLACE INTO memories
VALUES ({"?, " * 15} coalesce((SELECT digest FROM memories WHERE id = ?), ''))
"""
MEMORIES_IN = "SELECT id, doc, digest FROM memories WHERE path = ? ORDER BY line, id"


class Ingest:
    """Indexes one batch of changed and vanished files; the caller holds the transaction."""

    def __init__(
        self,
        layout: Layout,
        catalogue: Catalogue,
        store: SearchStore,
        embedder: Embedder,
    ):
        self.layout = layout
        self.catalogue = catalogue
        self.db = catalogue.db
        self.store = store
        self.embedder = embedder
        self.folded: dict[str, Memory] = {}
        self.statements: Statements = {}

    def run(self, changed: dict[str, str], gone: Sequence[str], read: Read) -> int:
        """Update the index from these files (path → stamp); return how many it read or removed.

        `read` holds those that were read before.
        """
        files: list[tuple[str, str, str, str, int]] = []
        entries: list[tuple[str | int, ...]] = []
        for path, stamp in changed.items():
            file = read.get(path) or read_rows(self.layout, path)
            if file is None:
                self.db.execute(PUT_UNREAD, (path, UNREAD, "", QUARANTINE, 0))
                continue
            files.append((path, stamp, file.hash, file.verdict, len(file.entries)))
            entries += [(path, number, *row) for number, row in enumerate(file.entries)]
            self.statements |= file.statements
        targets = {str(entry[3]) for entry in entries}
        for path in (*gone, *(file[0] for file in files)):
            old = self.db.execute(
                "DELETE FROM entries WHERE path = ? RETURNING target", (path,)
            )
            targets.update(target for (target,) in old)
        self.db.executemany(
            "DELETE FROM files WHERE path = ?", [(path,) for path in gone]
        )
        self.db.executemany(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)", files
        )
        self.db.executemany(PUT_ENTRY, entries)
        self.fold_again(targets)
        return len(files) + len(gone)

    def fold_again(self, targets: set[str]) -> None:
        """Fold these memories again; store those that differ, and memories in their files with new surroundings."""
        ids = json.dumps(sorted(targets - {""}))
        ids = json.dumps(
            sorted(id for (id,) in self.db.execute(WITH_SUPERSEDED, (ids,)))
        )
        known = {
            id: (path, doc) for id, path, doc in self.db.execute(MEMORIES_OF, (ids,))
        }
        docs: dict[str, list[str]] = {}
        for target, doc in self.db.execute(ENTRIES_OF, (ids,)):
            docs.setdefault(target, []).append(doc)

        def entries_about(id: str) -> list[Entry]:
            if id not in docs:
                docs[id] = [
                    doc for _, doc in self.db.execute(ENTRIES_OF, (json.dumps([id]),))
                ]
            return unpack_entries(docs[id])

        folding = FoldTogether(entries_about, vouching_of(self.layout, self.db))
        held = {target for (target,) in self.db.execute(HELD_OF, (ids,))}
        paths = {path for path, _ in known.values()}
        changed = []
        dropped = []
        for id in json.loads(ids):
            memory = folding.memory(id)
            if memory:
                memory = replace(memory, held=id in held)
                doc = json.dumps(as_dict(memory), ensure_ascii=False, sort_keys=True)
            else:
                doc = ""
            is_new = id not in known
            if not is_new and doc != known[id][1]:
                drop_facts(self.db, id)
            if memory is None or memory.status == "deleted":
                dropped.append(id)
            if memory is None:
                self.db.execute("DELETE FROM memories WHERE id = ?", (id,))
                continue
            if is_new or doc != known[id][1]:
                put_conditions(self.db, id, memory.when)
                put_claim(self.db, memory, self.statements)
                kept = "" if id in dropped else id
                changed.append(
                    (*[getattr(memory, name) for name in ROW_COLUMNS], doc, kept)
                )
            self.folded[id] = memory
            paths.add(memory.path)
        self.db.executemany(PUT_MEMORY, changed)
        self.store.drop(dropped)
        self.store.put(
            self._with_vectors(
                [new for path in sorted(paths) for new in self._differing(path)]
            )
        )

    def _differing(self, path: str) -> list[Document]:
        """Return the memories of a file whose documents differ from those in the store, without vectors."""
        digests: dict[str, str] = {}
        memories: list[Memory] = []
        for id, doc, digest in self.db.execute(MEMORIES_IN, (path,)):
            memories.append(self.folded.get(id) or memory_of(doc))
            digests[id] = digest
        differing: list[Document] = []
        # a vouched memory's surroundings hold only vouched memories
        for vouched in (True, False):
            group = [
                m for m in memories if m.status != "deleted" and m.vouched == vouched
            ]
            surrounded = with_surroundings([pieces_of(memory) for memory in group])
            for memory, pieces in zip(group, surrounded, strict=True):
                told = json_for_readers(memory) if self.store.tells else ""
                facets = facets_of(memory)
                digest = _document_digest(memory, facets, pieces, told)
                if digest != digests[memory.id]:
                    passages = tuple(pieces)
                    differing.append(
                        Document(facets, memory.title, passages, digest, memory, told)
                    )
        new = [(document.digest, document.id) for document in differing]
        self.db.executemany("UPDATE memories SET digest = ? WHERE id = ?", new)
        return differing

    def _with_vectors(self, documents: Sequence[Document]) -> list[Document]:
        """Return these documents with the vectors of their passages."""
        if isinstance(self.embedder, AbsentEmbedder):
            for document in documents:
                self.catalogue.doubt(document.id)  # the next sync embeds it again
        # every document has one here
        pairs = [(d.memory, d.passages) for d in documents if d.memory]
        embedded = []
        for document, vectors in zip(
            documents, vectors_of(self.embedder, pairs), strict=True
        ):
            passages = tuple(
                unchecked(Passage, **{**passage.__dict__, "vector": vector})
                for passage, vector in zip(document.passages, vectors, strict=True)
            )
            embedded.append(replace(document, passages=passages))
        return embedded


def _document_digest(
    memory: Memory, facets: Facets, pieces: Sequence[Passage], told: str
) -> str:
    """Return a hash over everything in a document except the vectors."""
    content: tuple[object, ...] = (
        memory.title,
        as_dict(facets),
        *map(as_dict, pieces),
        told,
    )
    if SCRUBBED_KEY in memory.extra or OTHER_METADATA_KEY in memory.extra:
        metadata = sorted(metadata_in(memory.extra).items())
        content = (*content, metadata, memory.extra.get(SCRUBBED_KEY))
    return sha256(repr(content).encode()).hexdigest()


class Folding:
    """Folds memories again, from their entries in the index."""

    def __init__(self, catalogue: Catalogue, vouches: Vouches | None = None):
        self.catalogue = catalogue
        self.vouches = vouches

    def memory(self, id: str) -> Memory | None:
        """Return the memory; None if it has no entry."""
        return self.together().memory(id)

    def together(self) -> FoldTogether:
        """Return what folds memories that supersede one another."""
        return FoldTogether(self.entries_about, self.vouches)

    def entries_about(self, id: str) -> list[Entry]:
        """Return every entry about a memory, without secrets."""
        rows = self.catalogue.db.execute(ENTRIES_OF, (json.dumps([id]),))
        return unpack_entries(doc for _, doc in rows)
