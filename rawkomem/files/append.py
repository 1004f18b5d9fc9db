"""The only writer: carries out a Plan by appending its entries to files.

Lock, re-read, prove the append law, write everything to a temporary file, fsync, rename over the old file, fsync the
folder. Not a byte that was there before changes, and whoever is killed at any moment leaves the old or the new file.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from ..model.entry import Entry
from ..model.errors import BadInput, Refused, Unwritable
from ..model.ids import slug
from ..model.kinds import CREATES
from ..model.problem import ERROR
from ..model.record import record, replace
from ..text.emit import emit_entry
from ..text.redact_entry import redact_entry
from ..text.split import append_holds, join
from .contents import read_bytes
from .lock import Lock
from .read import QUARANTINE, decode, read_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..model.entry import Plan
    from .layout import Layout

FILE_SIZE = 64 * 1024  # bytes; above it the next entry starts a sibling file: a change reads and folds a whole file
SIBLINGS = 10_000  # tries for a free name before we give up
TEMPORARY = ".writing"  # what our own temporary files end with; nothing else is ever cleaned away
MEDDLED = 20  # tries when somebody else saves the file between our read and our rename


@record
class Written:
    """An entry as it now stands in a file."""

    entry: Entry
    redacted: bool = False


def write_plan(layout: Layout, plan: Plan) -> list[Written]:
    """Append the plan's entries; each is on disk when this returns. Secrets are redacted first."""
    with repository_lock(layout):
        return write_locked(layout, plan)


def write_locked(layout: Layout, plan: Plan) -> list[Written]:
    """The same by a caller that holds the repository lock, so that nothing is written between deciding and writing."""
    _remove_leftovers(layout)
    clean = [redact_entry(entry) for entry in plan.entries]
    paths: dict[str, str] = {}
    for entries, text in _steps(clean):
        path = _append(layout, entries[0], text)
        paths |= {entry.id: path for entry in entries}
    return [
        Written(replace(entry, path=paths[entry.id]), redacted=entry != given)
        for entry, given in zip(clean, plan.entries, strict=True)
    ]


def _steps(entries: Sequence[Entry]) -> list[tuple[list[Entry], str]]:
    """Entries with their text, as they are written one after the other; every text is proven before the first is.

    A new memory and what the same plan says about it are one step: nobody who is killed between the two leaves a
    memory in use that was to be quarantined. Where one file cannot hold both (an open fence), the memory comes last.
    """
    steps: dict[str, tuple[list[Entry], str]] = {}
    before: list[tuple[list[Entry], str]] = []
    for entry in entries:
        text = _readable(emit_entry(entry))
        if entry.path or entry.about not in steps:
            steps[entry.id] = ([entry], text)
        elif append_holds(steps[entry.about][1], text):
            together, above = steps[entry.about]
            steps[entry.about] = ([*together, entry], join(above, text))
        else:
            before.append(([entry], text))
    return [*before, *steps.values()]


def repository_lock(layout: Layout) -> Lock:
    """The lock that every change of files holds."""
    return Lock(os.path.join(layout.local, "write.lock"))


def append_text(layout: Layout, path: str, text: str) -> str:
    """Append entries as they stand elsewhere, to the byte, by a caller that holds the lock; to a sibling if need be."""
    _remove_leftovers(layout)
    return _append(layout, Entry(path=path, id=path), text)


def _append(layout: Layout, entry: Entry, text: str) -> str:
    for path in _candidates(entry):
        if _append_to(layout, path, text):
            return path
    raise Refused(f"no free file name for {entry.title or entry.id!r}", "rename it")


def _readable(text: str) -> str:
    """The text, once it is sure that it reads back as one entry: a NUL would take the whole file with it."""
    try:
        reading = read_data(text.encode(), "")
    except UnicodeEncodeError:
        raise BadInput("the text holds characters that UTF-8 cannot write", "remove the broken characters") from None
    if len(reading.entries) > 1:
        raise Refused("the text cannot be one entry: it would read back as several", "indent or fence its --- lines")
    if reading.verdict == QUARANTINE:
        wrong = next(problem for problem in reading.problems if problem.level == ERROR)
        raise BadInput(f"the entry could not be read back: {wrong.message}", wrong.hint)
    return text


def _candidates(entry: Entry) -> Iterable[str]:
    """Where the entry may go: the file it is about, the file of its title, then siblings with a number."""
    if entry.path:
        stem = entry.path.removesuffix(".md")
    else:
        folder = CREATES[entry.kind][1] if entry.kind in CREATES else CREATES["memory"][1]
        stem = f"{folder}/{slug(entry.title or entry.about)}"
    yield f"{stem}.md"
    for number in range(2, SIBLINGS):
        yield f"{stem}-{number}.md"


def _append_to(layout: Layout, path: str, entry: str) -> bool:
    """Append to this file; False where it is no place for the entry (another kind of file, an open fence, too long)."""
    file = layout.path(path)
    refuse_links(layout, os.path.dirname(file))
    for _ in range(MEDDLED):
        before = _stamp(file)
        if before is None:
            if write_file(layout, file, entry.encode(), expected=None):
                return True
            continue
        if os.path.islink(file) or not os.path.isfile(file):
            return False
        data = read_bytes(file)
        text, refused, _ = decode(data)
        if refused or len(data) + len(entry) > FILE_SIZE or not append_holds(text, entry):
            return False
        tail = join(_newlines_of(data), entry).encode()[len(_newlines_of(data).encode()) :]
        if write_file(layout, file, data + tail, expected=before):
            return True
        time.sleep(0.01)
    raise Refused(f"{path} keeps changing while we write", "close the program that saves it, then try again")


def refuse_links(layout: Layout, folder: str) -> None:
    """A folder link that came with the repository must not lead the writer elsewhere; the sweep would not follow it."""
    root = os.path.realpath(layout.root)
    if not os.path.realpath(folder).startswith(root + os.sep):
        raise Refused(f"{layout.relative(folder)} is a link out of the repository", "put a folder in its place")


def _newlines_of(data: bytes) -> str:
    """The file's text with its own line ends, for join() to follow."""
    return data.decode("utf-8-sig")


def write_file(layout: Layout, file: str, data: bytes, expected: tuple[int, ...] | None) -> bool:
    """Replace or create a file in one step; False when it is no longer as `expected` (somebody saved it meanwhile)."""
    temporary = os.path.join(layout.local, "tmp", f"{os.getpid()}{TEMPORARY}")
    try:
        os.makedirs(os.path.dirname(temporary), exist_ok=True)
        make_folder(os.path.dirname(file))
        _write_durably(temporary, data, _mode(file))
        if _stamp(file) != expected:
            os.unlink(temporary)
            return False
        os.replace(temporary, file)
        sync_folder(os.path.dirname(file))
    except OSError as failure:
        _unlink(temporary)
        where = layout.relative(file)
        raise Unwritable(f"cannot write {where}: {failure.strerror}", "check permissions and free space") from None
    return True


def _write_durably(file: str, data: bytes, mode: int) -> None:
    with open(file, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    os.chmod(file, mode)


def _mode(file: str) -> int:
    try:
        return os.stat(file).st_mode & 0o777
    except OSError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


def _stamp(file: str) -> tuple[int, ...] | None:
    try:
        stat = os.lstat(file)
    except FileNotFoundError:
        return None
    return (stat.st_size, stat.st_mtime_ns, stat.st_ino)


def make_folder(folder: str) -> None:
    """Make the folder if need be, durably: a new folder is an entry of its parent."""
    if not os.path.isdir(folder):
        make_folder(os.path.dirname(folder))
        os.makedirs(folder, exist_ok=True)
        sync_folder(os.path.dirname(folder))


def sync_folder(folder: str) -> None:
    """Make what changed in a folder durable."""
    if os.name == "nt":
        return  # Windows has no folder handles to sync; NTFS journals the rename
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_leftovers(layout: Layout) -> None:
    """Temporary files of writers that were killed: we hold the lock, so none of them is in use."""
    folder = os.path.join(layout.local, "tmp")
    if os.path.isdir(folder):
        for name in os.listdir(folder):
            if name.endswith(TEMPORARY):
                _unlink(os.path.join(folder, name))


def _unlink(file: str) -> None:
    try:
        os.unlink(file)
    except OSError:
        pass
