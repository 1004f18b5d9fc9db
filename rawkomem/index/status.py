"""Checks that the index matches the files, hashes what it answers from (law 3), and tells whether
background work waits.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING

from ..files.layout import hash_of_file, is_text_path, stamps_in, sweep
from ..model.values import Problem, record
from .index import Index
from .memories import pending_conflicts
from .stores.database import BROKEN, first, in_memory, rows
from .stores.sqlite import COLUMNS, WORD_TABLES

if TYPE_CHECKING:
    import apsw


MIN_FREE_CORES = 0.5  # cores that other processes must leave free for background work
MACHINE_BUSY = "the machine is busy"


def why_wait(worked: bool = False) -> str:
    """Return why background work should wait now, if it should. `worked`: whether this process is part of the load."""
    try:
        load = os.getloadavg()[0]
    except (AttributeError, OSError):  # the system does not say
        return ""
    return MACHINE_BUSY if load - worked > (os.cpu_count() or 1) - MIN_FREE_CORES else ""


# Checks that the index is up to date: hashes every file and compares the hashes with those in the
# index.

SECONDS_EACH = "deep seconds each"  # key in `meta`: how long one memory's contextual vectors took


@record
class Status:
    """How the index compares with the files."""

    root: str
    index: str
    bytes: int
    fingerprint: str
    files: int
    indexed: int
    entries: int
    memories: dict[str, int]
    files_hash: str  # over all paths and hashes of files, as they are now
    index_hash: str  # over all paths and hashes in the index
    behind: tuple[str, ...]  # files that differ
    stale: tuple[str, ...]  # files that cannot be read: the index keeps their last readable content
    quarantined: int
    problems: tuple[Problem, ...]
    deep: int  # memories that have contextual vectors
    documents: int  # memories that should have them
    deep_seconds_left: int  # estimated time for the rest; 0 if unknown
    deep_waits: str  # why the background process waits; empty if it does not
    tier: str  # the embedder whose vectors answer questions
    conflicts: int  # claims that contradict each other and wait for a review
    proposals: int  # memories with changes that wait for a review

    @property
    def fresh(self) -> bool:
        """Tell whether the index matches the files exactly."""
        return self.files_hash == self.index_hash and not self.behind


def status(index: Index) -> Status:
    """Update the index, then compare it with the hashes of all files. A database that cannot be read is rebuilt."""
    try:
        return _status_once(index)
    except BROKEN as failure:
        index.warn(f"the index cannot be read ({failure}): rebuilding it")
        index.discard()
        return _status_once(index)


def _status_once(index: Index) -> Status:
    index.refresh()
    catalogue = index.catalogue
    indexed, entries, memories = catalogue.counts()
    seen = sweep(index.layout)
    known = catalogue.hashes()
    stale = catalogue.unread()
    actual = {
        path: hash_of_file(index.layout.path(path))
        for path in stamps_in(seen.listing)
        if is_text_path(path)
    }
    actual |= {path: known[path] for path in stale}
    behind = sorted(
        path for path in actual.keys() | known.keys() if actual.get(path) != known.get(path)
    )
    deep, documents = index.store.depth()
    return Status(
        root=index.layout.root,
        index=index.path,
        bytes=0 if in_memory(index.path) else os.path.getsize(index.path),
        fingerprint=index.fingerprint,
        files=len(actual),
        indexed=indexed,
        entries=entries,
        memories=memories,
        files_hash=_digest_of_hashes(actual),
        index_hash=_digest_of_hashes(known),
        behind=tuple(behind),
        stale=tuple(stale),
        quarantined=first(catalogue.db, "SELECT count(*) FROM files WHERE verdict = 'quarantine'")[
            0
        ],
        problems=seen.problems,
        deep=deep,
        documents=documents,
        deep_seconds_left=round(
            float(catalogue.meta().get(SECONDS_EACH) or 0) * (documents - deep)
        ),
        deep_waits=why_wait() if deep < documents else "",
        tier=(index.deep() or index.embedder).name,
        conflicts=len(pending_conflicts(catalogue)),
        proposals=len(catalogue.with_proposals()),
    )


def _digest_of_hashes(hashes: dict[str, str]) -> str:
    lines = "\n".join(f"{path}\0{hash}" for path, hash in sorted(hashes.items()))
    return sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()[:16]


# Hashes all data that the index answers from. After any history the hash equals that of a rebuild
# (law 3).

NUMBERED_CONDITIONS = (
    "SELECT *, row_number() OVER (PARTITION BY memory ORDER BY n) AS place FROM conditions"
)
PASSAGE_PLACE, PASSAGE_DOCUMENT = "d.id, p.number", "LEFT JOIN documents d ON d.n = p.document"
# Row numbers and stamps depend on history: the queries join row numbers to ids, and leave stamps out.
DIGEST_PARTS = {
    "fingerprint": "SELECT value FROM meta WHERE key = 'fingerprint'",
    "files": "SELECT path, hash, verdict, entries FROM files",
    "entries": "SELECT path, number, id, target, digest, doc FROM entries",
    "memories": "SELECT * FROM memories",
    "documents": f"SELECT {', '.join(COLUMNS)} FROM documents",
    "passages": f"SELECT {PASSAGE_PLACE}, p.field, p.alone, p.heading, p.line, p.text FROM passages p {PASSAGE_DOCUMENT}",
    "conditions": f"SELECT memory, place, packed, size FROM ({NUMBERED_CONDITIONS})",
    "triggers": f"SELECT memory, place, key, start FROM triggers LEFT JOIN ({NUMBERED_CONDITIONS}) c ON c.n = condition",
    "stems": f"SELECT memory, place, stem FROM stems LEFT JOIN ({NUMBERED_CONDITIONS}) c ON c.n = condition",
    "claims": "SELECT memory, subject, predicate FROM claims",
    "conflicts": "SELECT memory, other FROM conflicts",
    "fine": f"SELECT {PASSAGE_PLACE}, f.vector FROM fine f LEFT JOIN passages p ON p.n = f.n {PASSAGE_DOCUMENT}",
    "coarse": f"SELECT {PASSAGE_PLACE}, c.bits FROM coarse c LEFT JOIN passages p ON p.n = c.n {PASSAGE_DOCUMENT}",
}
for table in WORD_TABLES:
    terms = f"temp.terms_of_{table} t LEFT JOIN passages p ON p.n = t.doc"
    DIGEST_PARTS[table] = (
        f"SELECT {PASSAGE_PLACE}, t.term, t.col, t.offset FROM {terms} {PASSAGE_DOCUMENT}"
    )


def index_digest(index: Index) -> str:
    """Return the hash of the index; files are not read."""
    return sha256(
        "\n".join(f"{name} {value}" for name, value in digest_parts(index).items()).encode()
    ).hexdigest()


def digest_parts(index: Index) -> dict[str, str]:
    """Return the hash of each part, to find where two indexes differ."""
    connection = index.reading()
    for table in WORD_TABLES:
        made = f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms_of_{table} USING fts5vocab(main, {table}, instance)"
        connection.execute(made)
    connection.execute("BEGIN")
    try:
        return {name: _hash_of_rows(connection, sql) for name, sql in DIGEST_PARTS.items()}
    finally:
        connection.execute("ROLLBACK")


def _hash_of_rows(connection: apsw.Connection, sql: str) -> str:
    lines = sorted(repr(row) for row in rows(connection, sql))
    return sha256("\n".join(lines).encode("utf-8", "backslashreplace")).hexdigest()
