"""Checks that the index is up to date: hashes every file and compares the hashes with those in the index."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING

from ..files.contents import hash_of
from ..files.scan import is_text, stamps, sweep
from ..model.record import record
from .claims import pending
from .contextual.pace import Pace
from .stores.database import BROKEN, first, in_memory

if TYPE_CHECKING:
    from ..model.problem import Problem
    from .index import Index

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
        return _status(index)
    except BROKEN as failure:
        index.warn(f"the index cannot be read ({failure}): rebuilding it")
        index.discard()
        return _status(index)


def _status(index: Index) -> Status:
    index.refresh()
    catalogue = index.catalogue
    indexed, entries, memories = catalogue.counts()
    seen = sweep(index.layout)
    known = catalogue.hashes()
    stale = catalogue.unread()
    actual = {path: hash_of(index.layout.path(path)) for path in stamps(seen.listing) if is_text(path)}
    actual |= {path: known[path] for path in stale}
    behind = sorted(path for path in actual.keys() | known.keys() if actual.get(path) != known.get(path))
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
        files_hash=_digest(actual),
        index_hash=_digest(known),
        behind=tuple(behind),
        stale=tuple(stale),
        quarantined=first(catalogue.db, "SELECT count(*) FROM files WHERE verdict = 'quarantine'")[0],
        problems=seen.problems,
        deep=deep,
        documents=documents,
        deep_seconds_left=round(float(catalogue.meta().get(SECONDS_EACH) or 0) * (documents - deep)),
        deep_waits=Pace().why_wait(worked=False) if deep < documents else "",
        tier=(index.deep() or index.embedder).name,
        conflicts=len(pending(catalogue)),
        proposals=len(catalogue.with_proposals()),
    )


def _digest(hashes: dict[str, str]) -> str:
    lines = "\n".join(f"{path}\0{hash}" for path, hash in sorted(hashes.items()))
    return sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()[:16]
