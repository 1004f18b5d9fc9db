"""Turns files into rows: reads changed files, folds their memories, cuts them into passages, and puts
documents into the store.

A body passage is also matched with its surroundings: the passages before and after it in the file,
which may belong to other entries (as in a conversation with one entry per turn). This raises
recall@5 on conversations by 13 points. A condition's vector is shifted towards the memory's title
and its other conditions, because one short sentence alone is easily missed.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from ..embed.embedder import AbsentEmbedder, Embedder
from ..files.layout import Layout, hash_of_file
from ..files.machine_records import Arrivals
from ..files.reading import QUARANTINE, Reading, read_file
from ..format.mesh_fields import OTHER_METADATA_KEY, SCRUBBED_KEY, metadata_in
from ..model.entries import Entry, Memory
from ..model.filters import Facets
from ..model.ids import slug
from ..model.values import as_dict, record, replace, unchecked
from ..redaction.entries import redact_entry
from ..redaction.scrubber import scrubbed_text
from ..state.changes import newer_in, references
from ..state.fold import FoldTogether
from ..state.trust import facets_of
from ..text.chunks import cut_chunks
from ..text.language import spelled_out_names
from ..text.scripts import is_emoji, is_mark
from .catalogue import UNREAD, Catalogue, drop_facts, memory_of, put_claim
from .conditions import put_conditions
from .readings import Read, read_for_index
from .stores.database import first
from .stores.protocol import SearchStore
from .stores.sqlite import BODY, WHEN, Document, Passage

if TYPE_CHECKING:
    import apsw


# Packs entries for the catalogue, so that a changed memory is folded without reading its other
# files.

ENTRY_DEFAULTS: dict[str, object] = Entry.__defaults__  # type: ignore[attr-defined]
ENTRY_TUPLES = frozenset(
    name for name, value in ENTRY_DEFAULTS.items() if isinstance(value, tuple)
)  # JSON has lists only


def pack_entry(entry: Entry) -> str:
    """Return an entry as JSON, without secrets and without fields that have their default."""
    if entry.leaks:
        entry = redact_entry(entry)
    fields = {
        name: value
        for name, usual in ENTRY_DEFAULTS.items()
        if (value := getattr(entry, name)) != usual
    }
    return json.dumps(fields, separators=(",", ":"))


# Writes the JSON that a store keeps of a memory for other programs: claim, provenance, references,
# decisions.

SHOWN_EXTRA_KEYS = ("claim", "provenance")


def json_for_readers(memory: Memory) -> str:
    """Return this JSON. Each reference comes with all names that it may mean, the most likely first."""
    below = memory.path.partition("/")[2].removesuffix(".md").casefold()
    said: dict[str, object] = {
        **{key: memory.extra[key] for key in SHOWN_EXTRA_KEYS if key in memory.extra},
        "references": [
            {"type": type, "names": _names_of_reference(name)} for type, name in references(memory)
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
        {key: value for key, value in said.items() if value}, ensure_ascii=False, sort_keys=True
    )


def _names_of_reference(name: str) -> list[str]:
    whole = name.strip().removesuffix(".md")
    ways = ((way, way.casefold(), slug(way)) for way in (whole, whole.partition("#")[0].strip()))
    return [*dict.fromkeys(name for own in ways for name in own if name)]


# Decides which entries a person vouches for: by a commit in HEAD, or by typing them on this
# machine.
#
# A sync folds memories with it; index/catalogue.py folds memories again whose entries were
# committed since.

HAS_AUTHORSHIP = "SELECT 1 FROM sqlite_master WHERE name = 'authorship'"
IS_VOUCHING_ON = "SELECT value FROM authorship WHERE key = 'vouching'"


class Vouching:
    """Looks entries up. With `strict`, commits and typed reviews count, but no other typed entries."""

    def __init__(self, layout: Layout, db: apsw.Connection | None, strict: bool = False):
        self.layout = layout
        self.db = db  # None: git has not been asked yet
        self.strict = strict
        self._arrivals: Arrivals | None = None
        self._known: dict[str, bool] = {}

    def __call__(self, entry: Entry) -> bool:
        """Return whether a person vouches for an entry."""
        if not entry.digest:
            return False
        return self.is_committed(entry.digest) or self.is_typed(entry.id, entry.digest, entry.kind)

    def is_committed(self, digest: str) -> bool:
        """Return whether a person committed an entry, and HEAD holds it."""
        if digest not in self._known:
            found = (
                first(self.db, "SELECT 1 FROM vouched WHERE digest = ?", (digest,))
                if self.db
                else None
            )
            self._known[digest] = found is not None
        return self._known[digest]

    def is_typed(self, id: str, digest: str, kind: str) -> bool:
        """Return whether a person typed an entry on this machine, and it has not changed since."""
        if self.strict and kind != "review":
            return False
        if self._arrivals is None:
            self._arrivals = Arrivals(self.layout)
        return self._arrivals.by_person(id, digest)


def vouching_of(layout: Layout, db: apsw.Connection, strict: bool = False) -> Vouching | None:
    """Return which entries are vouched for; None if no person has committed an entry: then all entries count.

    With `strict`, never return None.
    """
    if first(db, HAS_AUTHORSHIP) is None:
        return Vouching(layout, None, strict) if strict else None
    return Vouching(layout, db, strict) if strict or first(db, IS_VOUCHING_ON) == ("on",) else None


# Cuts a memory into passages, and adds the context with which each passage is matched and
# embedded.
#
# A body passage is also matched with its surroundings: the passages before and after it in the
# file, which may belong to other entries (as in a conversation with one entry per turn). This
# raises recall@5 on conversations by 13 points. A condition's vector is shifted towards the
# memory's title and its other conditions, because one short sentence alone is easily missed.

NEIGHBORS_PER_SIDE = 2  # with one, recall@5 is 4 points lower; with three, it is no higher
MAX_AROUND_CHARS = 1_000  # length of a passage with its neighbors; a longer text blurs the topic
TITLE_SHARE = 0.5  # weight of the title in a condition's vector
KIN_SHARE = (
    1.0  # weight of the common direction of the memory's conditions, if there are at least two
)
WORD_SIGNS = "_'/.-"  # characters that are part of a word in a condition


@record
class Piece:
    """A passage before it has a vector."""

    text: str
    heading: str
    field: str
    line: int
    around: str = ""  # the passage with its surroundings; empty if it has none


def pieces_of(memory: Memory) -> list[Piece]:
    """Return the body's chunks, then each condition; the title if there is neither."""
    pieces = [Piece(part.text, part.heading, BODY, part.line) for part in cut_chunks(memory.body)]
    pieces += [Piece(condition_text(condition), "", WHEN, memory.line) for condition in memory.when]
    return pieces or [Piece(memory.title, "", BODY, 1)]


def with_surroundings(memories: Sequence[list[Piece]]) -> list[list[Piece]]:
    """Return the pieces of one file's memories, in order, each body piece with its neighbors' text."""
    flat = [piece for pieces in memories for piece in pieces if piece.field == BODY]
    around = (_around(flat, at) for at in range(len(flat)))

    def surrounded(piece: Piece) -> Piece:
        return replace(piece, around=next(around)) if piece.field == BODY else piece

    return [[surrounded(piece) for piece in pieces] for pieces in memories]


def _around(pieces: list[Piece], at: int) -> str:
    low = high = at
    size = len(pieces[at].text)
    for reach in range(1, NEIGHBORS_PER_SIDE + 1):
        for other in (at - reach, at + reach):
            if not 0 <= other < len(pieces) or other not in (low - 1, high + 1):
                continue
            if size + len(pieces[other].text) <= MAX_AROUND_CHARS:
                low, high = min(low, other), max(high, other)
                size += len(pieces[other].text)
    return "\n".join(piece.text for piece in pieces[low : high + 1]) if high > low else ""


def condition_text(condition: str) -> str:
    """Return a condition as words: `auth|log.*in` → `auth log in`."""
    signs = condition.replace(".*", " ")
    return " ".join("".join([sign if _is_word_sign(sign) else " " for sign in signs]).split())


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


def embedded_text(memory: Memory, piece: Piece) -> str:
    """Return the text that is embedded for a passage: a chunk under its title and headings, or a condition."""
    if piece.field == WHEN:
        return piece.text
    heading = piece.heading if piece.heading != memory.title else ""
    parts = [part for part in (memory.title, heading, piece.text) if part]
    if (
        SCRUBBED_KEY in memory.extra
    ):  # added by a mesh: RFC-0011 §6 requires six stages before embedding
        parts = [scrubbed_text(part) for part in parts]
    return "\n".join(parts)


def vectors_of(
    embedder: Embedder, documents: Sequence[tuple[Memory, list[Piece]]]
) -> list[list[bytes]]:
    """Return for each memory the vectors of its pieces, in order; all are embedded in one call."""
    texts = [embedded_text(memory, piece) for memory, pieces in documents for piece in pieces]
    titled = [memory.title for memory, _ in documents if memory.when]
    vectors = embedder.embed(texts + [searchable_title(title) for title in titled]) if texts else []
    own, titles = iter(vectors[: len(texts)]), iter(vectors[len(texts) :])
    found: list[list[bytes]] = []
    for memory, pieces in documents:
        body = [next(own) for piece in pieces if piece.field == BODY]
        conditions = [next(own) for piece in pieces if piece.field == WHEN]  # they follow the body
        found.append(body + leaned(conditions, next(titles)) if memory.when else body)
    return found


def leaned(vectors: list[bytes], title: bytes) -> list[bytes]:
    """Return the vectors of a memory's conditions, each shifted towards the title and their common direction."""
    if "numpy" in sys.modules:
        return _leaned_with_numpy(vectors, title)
    own = [array("f", vector) for vector in vectors]
    towards = [TITLE_SHARE * number for number in array("f", title)]
    if len(own) > 1:
        common = _unit_vector([sum(column) for column in zip(*own, strict=True)])
        towards = [
            number + KIN_SHARE * share for number, share in zip(towards, common, strict=True)
        ]
    return [
        array(
            "f",
            _unit_vector([number + share for number, share in zip(vector, towards, strict=True)]),
        ).tobytes()
        for vector in own
    ]


def _unit_vector(vector: Sequence[float]) -> list[float]:
    length = sum(number * number for number in vector) ** 0.5
    return [number / length for number in vector] if length else list(vector)


def _leaned_with_numpy(vectors: list[bytes], title: bytes) -> list[bytes]:
    """Return the same bytes as `lean`, which also uses double precision."""
    import numpy as np

    own = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1).astype(np.float64)
    towards = TITLE_SHARE * np.frombuffer(title, "<f4").astype(np.float64)
    if len(own) > 1:
        common = own.sum(axis=0)
        towards = towards + KIN_SHARE * common / (np.linalg.norm(common) or 1.0)
    leaning = own + towards
    lengths = np.linalg.norm(leaning, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return [vector.tobytes() for vector in (leaning / lengths).astype("<f4")]


# Turns files into rows: reads changed files, folds their memories, and puts documents into the
# store.


@record
class Fresh:
    """A memory whose document differs from the stored one, before it has vectors."""

    memory: Memory
    facets: Facets
    pieces: list[Piece]
    told: str
    digest: str


class Ingest:
    """Indexes one batch of changed and vanished files; the caller holds the transaction."""

    def __init__(
        self, layout: Layout, catalogue: Catalogue, store: SearchStore, embedder: Embedder
    ):
        self.layout = layout
        self.catalogue = catalogue
        self.store = store
        self.embedder = embedder
        self.folded: dict[str, Memory] = {}

    def run(self, changed: dict[str, str], gone: Sequence[str], read: Read) -> int:
        """Update the index from these files (path → stamp); return how many it read or removed.

        `read` holds those that were read before.
        """
        targets: set[str] = set()
        done = len(gone)
        for path, stamp in changed.items():
            reading, hash = read.get(path) or self._read(path)
            if not reading.readable:
                if path in self.catalogue.stamps():
                    self.catalogue.set_stamp(path, UNREAD)
                else:
                    self.catalogue.put_file(path, UNREAD, "", QUARANTINE, ())
                continue
            targets |= self.catalogue.targets_of(path) | {e.target for e in reading.entries}
            docs = [(newer_in(entry), pack_entry(entry)) for entry in reading.entries]
            self.catalogue.put_file(path, stamp, hash, reading.verdict, reading.entries, docs)
            done += 1
        for path in gone:
            targets |= self.catalogue.targets_of(path)
            self.catalogue.forget_file(path)
        self.fold_again(targets)
        return done

    def _read(self, path: str) -> tuple[Reading, str]:
        """Return the entries of a file and the hash of its bytes."""
        try:
            return read_for_index(self.layout, path)
        except OSError:
            reading = read_file(self.layout.path(path), path)  # try once more
            return reading, hash_of_file(self.layout.path(path)) if reading.readable else ""

    def fold_again(self, targets: set[str]) -> None:
        """Fold these memories again; store those that differ, and memories in their files with new surroundings."""
        targets = self.catalogue.with_superseded(targets - {""})
        paths = self.catalogue.paths_of(targets)
        folding = FoldTogether(self._entries_about, vouching_of(self.layout, self.catalogue.db))
        dropped: list[str] = []
        for target in sorted(targets):
            memory = folding.memory(target)
            doc = json.dumps(as_dict(memory), ensure_ascii=False, sort_keys=True) if memory else ""
            before = self.catalogue.doc(target)
            if before and doc != before:
                drop_facts(self.catalogue.db, target)
            if memory is None:
                self.catalogue.forget_memory(target)
            else:
                if doc != before:
                    put_conditions(self.catalogue.db, target, memory.when)
                    put_claim(self.catalogue.db, memory)
                self.catalogue.put_memory(memory, doc)
                self.folded[target] = memory
                paths.add(memory.path)
            if memory is None or memory.status == "deleted":
                dropped.append(target)
        self.store.drop(dropped)
        self.store.put(
            self._documents([fresh for path in sorted(paths) for fresh in self._differing(path)])
        )

    def _entries_about(self, target: str) -> list[Entry]:
        entries = []
        for fields in json.loads(f"[{','.join(self.catalogue.entry_docs(target))}]"):
            for name in ENTRY_TUPLES & fields.keys():
                fields[name] = tuple(fields[name])
            entries.append(unchecked(Entry, **fields))
        return entries

    def _differing(self, path: str) -> list[Fresh]:
        """Return the memories of a file whose documents differ from those in the store."""
        known = [
            self.folded.get(id) or memory_of(doc) for id, doc in self.catalogue.memories_in(path)
        ]
        found: list[Fresh] = []
        for vouched in (True, False):  # a vouched memory's surroundings hold only vouched memories
            memories = [
                memory
                for memory in known
                if memory.status != "deleted" and memory.vouched == vouched
            ]
            surrounded = with_surroundings([pieces_of(memory) for memory in memories])
            for memory, pieces in zip(memories, surrounded, strict=True):
                told = json_for_readers(memory) if self.store.tells else ""
                facets = facets_of(memory)
                digest = _document_digest(memory, facets, pieces, told)
                if self.catalogue.is_new(memory.id, digest):
                    found.append(Fresh(memory, facets, pieces, told, digest))
        return found

    def _documents(self, found: list[Fresh]) -> list[Document]:
        """Return these memories as the store keeps them, with their vectors."""
        if isinstance(self.embedder, AbsentEmbedder):
            for fresh in found:
                self.catalogue.doubt(fresh.memory.id)  # the next sync embeds it again
        made = vectors_of(self.embedder, [(fresh.memory, fresh.pieces) for fresh in found])
        documents = []
        for fresh, vectors in zip(found, made, strict=True):
            passages = tuple(
                unchecked(Passage, vector=vector, **as_dict(piece))
                for piece, vector in zip(fresh.pieces, vectors, strict=True)
            )
            memory = fresh.memory
            documents.append(
                Document(fresh.facets, memory.title, passages, fresh.digest, memory, fresh.told)
            )
        return documents


def _document_digest(memory: Memory, facets: Facets, pieces: list[Piece], told: str) -> str:
    """Return a hash over everything in a document except the vectors."""
    said: tuple[object, ...] = (memory.title, as_dict(facets), *map(as_dict, pieces))
    if SCRUBBED_KEY in memory.extra or OTHER_METADATA_KEY in memory.extra:
        said = (*said, sorted(metadata_in(memory.extra).items()), memory.extra.get(SCRUBBED_KEY))
    if told:
        said = (*said, told)
    return sha256(repr(said).encode()).hexdigest()
