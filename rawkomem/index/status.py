"""Checks that the index matches the files, and tells whether background work waits."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from hashlib import sha256

from ..files.layout import FOLDER, hash_of_file, is_text_path, sweep
from ..files.reading import implicit_id
from ..model.errors import RawkoError
from ..model.values import Problem, record, warning
from ..text.clean import one_line
from .catalogue import Catalogue
from .index import Index, worker_lock
from .statements import pending_conflicts
from .stores.database import BROKEN, in_memory

MIN_FREE_CORES = 0.5  # cores that other processes must leave free for background work
MACHINE_BUSY = "the machine is busy"
NO_WORKER = "the next search or prompt continues"
# codes of Problems about memories that were edited or removed and not committed
UNCOMMITTED = EDITED, REMOVED = ("uncommitted-edit", "uncommitted-removal")
MAX_HELD_SHOWN = 20  # entries that were edited or removed and not committed


def why_wait(worked: bool = False) -> str:
    """Return why background work should wait now, if it should. `worked`: whether this process is part of the load."""
    try:
        load = os.getloadavg()[0]
    except (AttributeError, OSError):  # the system does not say
        return ""
    if load - worked > (os.cpu_count() or 1) - MIN_FREE_CORES:
        return MACHINE_BUSY
    return ""


# Checks that the index is up to date: compares the hashes of files with those in the index. A file
# with the stamp that the index knows is read only if every file is wanted.

# key in `meta`: how long one memory's contextual vectors took
SECONDS_EACH = "deep seconds each"


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
    # files that cannot be read: the index keeps their last readable content
    stale: tuple[str, ...]
    quarantined: int
    problems: tuple[Problem, ...]
    deep: int  # memories that have contextual vectors
    # memories that should have them; 0 with an embedder that has no second tier
    documents: int
    deep_seconds_left: int  # estimated time for the rest; 0 if unknown
    deep_waits: str  # why no background process computes them now; empty if one does
    tier: str  # the embedder whose vectors answer questions
    conflicts: int  # claims that contradict each other and wait for a review
    proposals: int  # memories with changes that wait for a review
    copies: int  # ids that several memories have

    @property
    def fresh(self) -> bool:
        """Return whether the index matches the files exactly."""
        return self.files_hash == self.index_hash and not self.behind


def status(index: Index, has_deep: bool, hash_all: bool = False) -> Status:
    """Update the index, then compare it with the files. A database that cannot be read is rebuilt.

    `has_deep`: whether the settings ask for contextual vectors. With `hash_all`, also read the files whose stamp is known.
    """
    try:
        return _status_once(index, has_deep, hash_all)
    except BROKEN as failure:
        index.warn(f"the index cannot be read ({failure}): rebuilding it")
        index.discard()
        return _status_once(index, has_deep, hash_all)


def _status_once(index: Index, has_deep: bool, hash_all: bool) -> Status:
    from ..git.staged import (
        missing_files,  # not needed by the background process, which imports this file
    )

    seen = sweep(index.layout)
    index.refresh(seen=seen)
    catalogue = index.catalogue
    is_same = not hash_all and catalogue.meta().get("swept") == seen.digest
    if not is_same:
        seen = sweep(index.layout, stamped=True)
    indexed, entries, memories = catalogue.counts()
    known = catalogue.hashes()
    stale = catalogue.unread()
    stamps = {} if hash_all or is_same else catalogue.stamps()
    actual = {
        path: known[path]
        if stamps.get(path) == stamp
        else hash_of_file(index.layout.path(path))
        for path, stamp in (seen.stamps or {}).items()
        if is_text_path(path)
    }
    actual |= {path: known[path] for path in stale}
    if is_same:
        actual = known
    behind = sorted(dict(actual.items() ^ known.items()))
    index_hash = _digest_of_hashes(known)
    deep, documents = index.store.depth() if has_deep else (0, 0)
    return Status(
        root=index.layout.root,
        index=index.path,
        bytes=0 if in_memory(index.path) else os.path.getsize(index.path),
        fingerprint=index.fingerprint,
        files=len(actual),
        indexed=indexed,
        entries=entries,
        memories=memories,
        files_hash=_digest_of_hashes(actual) if behind else index_hash,
        index_hash=index_hash,
        behind=tuple(behind),
        stale=tuple(stale),
        quarantined=next(
            catalogue.db.execute(
                "SELECT count(*) FROM files WHERE verdict = 'quarantine'"
            )
        )[0],
        problems=(
            *seen.problems,
            *missing_files(index.layout),
            *held_problems(catalogue),
        ),
        deep=deep,
        documents=documents,
        deep_seconds_left=round(
            float(catalogue.meta().get(SECONDS_EACH) or 0) * (documents - deep)
        ),
        deep_waits=_why_incomplete() if deep < documents else "",
        tier=(index.deep() or index.embedder).name,
        conflicts=len(pending_conflicts(catalogue)),
        proposals=len(catalogue.with_proposals()),
        copies=len(catalogue.copied()),
    )


def held_problems(catalogue: Catalogue) -> list[Problem]:
    """Return a Problem for each memory that was edited or removed since a person committed it: that version is used."""
    held = catalogue.held()
    problems = []
    for path, id, target, title in held[:MAX_HELD_SHOWN]:
        name = f"“{one_line(title)}” ({target})"
        name = name if id == target else f"a change of {name}"
        restoring = f"'git restore {FOLDER}/{path}' brings the committed version back"
        use = "and not committed: the committed version is in use"
        version = catalogue.version_in_file(path, id)
        if version and json.loads(version).get("conflicted"):
            message = f"{name} is in an unfinished merge {use}"
            hint = (
                f"keep one side, then git add and commit; without a merge, {restoring}"
            )
            problems.append(warning("uncommitted-edit", message, hint, path=path))
        elif version:
            message = f"{name} was edited {use}"
            hint = f"commit the file to use the edit; {restoring}"
            problems.append(warning(EDITED, message, hint, path=path))
        else:
            message = f"{name} was removed, archived or made unreadable {use}"
            has_id = target.partition("#")[0] != implicit_id(path)
            deleting = f", or run 'rawkomem delete {target}'" if has_id else ""
            hint = f"commit that{deleting}; {restoring}"
            problems.append(warning(REMOVED, message, hint, path=path))
    if len(held) > MAX_HELD_SHOWN:
        more = f"{len(held) - MAX_HELD_SHOWN} more entries were edited or removed and not committed"
        problems.append(warning(REMOVED, more, "run 'git status'"))
    return problems


def _why_incomplete() -> str:
    """Return why no background process computes vectors now; empty if one does."""
    job = worker_lock()
    with suppress(RawkoError):
        if job.acquire():
            job.release()
            return NO_WORKER
    return why_wait()


def _digest_of_hashes(hashes: dict[str, str]) -> str:
    lines = "\n".join(f"{path}\0{hash}" for path, hash in sorted(hashes.items()))
    return sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()[:16]
