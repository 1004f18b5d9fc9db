"""Move changes from change files into the files of their memories, in the order of the fold.

All entries are written before the change files are removed. After a kill an entry may be in both places; the fold
counts it once because both copies have the same id, and the next run finishes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ..format.pieces import cut
from ..model.entry import Entry, Memory
from ..model.errors import Refused
from ..model.ids import order_key
from ..model.kinds import DRAFT
from ..model.record import record, replace
from .append import place
from .change_file import is_change_file
from .contents import is_plain_file
from .layout import Layout
from .read import QUARANTINE, decode, read_data
from .replace import Replacing, remove_leftovers
from .scan import is_text, stamps, sweep

Known = tuple[Memory | None, Sequence[Entry]]  # a memory, and every entry about it


@record
class Left:
    """A change file that is not moved, and the reason."""

    path: str
    why: str


@record
class Gathered:
    """The result of a gather or its dry run: entries with their new paths, files that are removed, files that stay."""

    entries: tuple[Entry, ...] = ()
    removed: tuple[str, ...] = ()
    left: tuple[Left, ...] = ()
    written: bool = False


@record
class _File:
    path: str
    data: bytes
    entries: tuple[Entry, ...]
    texts: tuple[str, ...]  # the exact text of each entry

    @property
    def abouts(self) -> set[str]:
        return {entry.about for entry in self.entries}


def gather(
    layout: Layout,
    find: Callable[[Collection[str]], Mapping[str, Known]],
    committed: Collection[str] | None = None,
    wanted: Callable[[Memory], bool] = lambda memory: True,
    dry_run: bool = False,
) -> Gathered:
    """Move the changes of wanted memories, for a caller that holds the lock.

    `find` returns the memory and the entries of each id. Only files in `committed` are moved; None means all files.
    """
    remove_leftovers(layout)
    paths = [path for path in stamps(sweep(layout).listing) if is_change_file(path) and is_text(path)]
    small = [file for path in paths if (file := _read(layout, path))]
    known = find({about for file in small for about in file.abouts})
    moving: list[_File] = []
    left: list[Left] = []
    for file in small:
        about = [known[about] for about in file.abouts]
        if any(memory and not wanted(memory) for memory, _ in about):
            continue
        why = "" if committed is None or file.path in committed else "not committed yet"
        why = why or _why_unreadable(file) or next(filter(None, map(_why_homeless, about)), "")
        if why:
            left.append(Left(file.path, why))
        else:
            moving.append(file)
    files = Replacing(layout)
    placed = tuple(_placed(layout, files, moving, known))
    if not dry_run and moving:
        if saved := files.finish():
            raise Refused(f"{layout.relative(min(saved))} changed while we read it", "try again")
        _remove(layout, moving)
    return Gathered(placed, tuple(file.path for file in moving), tuple(left), written=bool(moving) and not dry_run)


def _read(layout: Layout, path: str) -> _File | None:
    data = Replacing(layout).read(layout.path(path))
    if data is None:
        return None
    entries = read_data(data, path, advice=False).entries
    _, pieces = cut(decode(data)[0], [entry.line for entry in entries])
    return _File(path, data, entries, tuple(piece.text + "\n" for piece in pieces))


def _why_unreadable(file: _File) -> str:
    reading = read_data(file.data, file.path, advice=False)
    if reading.verdict == QUARANTINE or any(entry.draft or entry.conflicted for entry in file.entries):
        return "it cannot be read as changes: run 'rawkomem check'"
    if not all(entry.changes for entry in file.entries):
        return "it also holds entries that are not changes"
    if not all("id" in entry.given and "at" in entry.given for entry in file.entries):
        return "an entry in it has no id or no time of its own"
    return ""


def _why_homeless(known: Known) -> str:
    memory, _ = known
    if memory is None or is_change_file(memory.path):
        return "its memory has no file"
    return "its memory is a draft" if memory.status == DRAFT else ""


def _placed(layout: Layout, files: Replacing, moving: Sequence[_File], known: Mapping[str, Known]) -> Iterator[Entry]:
    """Stage the entries that no memory file holds yet, and yield all with their new paths.

    Raise Refused if a memory's file is missing, or if another entry would change.
    """
    pairs = [pair for file in moving for pair in zip(file.entries, file.texts, strict=True)]
    arrived: dict[str, list[Entry]] = {}
    for entry, text in sorted(pairs, key=lambda pair: order_key(pair[0].at, pair[0].id)):
        memory, entries = known[entry.about]
        home = next((e.path for e in entries if _is_copy(e, entry) and not is_change_file(e.path)), "")
        if not home:
            assert memory
            if not is_plain_file(layout.path(memory.path)):
                raise Refused(f"{memory.path} is gone", "run 'rawkomem index sync', then try again")
            home = place(layout, files, replace(entry, path=memory.path), text)
            arrived.setdefault(home, []).append(entry)
        yield replace(entry, path=home)
    for path, entries in arrived.items():
        _prove(layout, files, path, entries)


def _is_copy(one: Entry, other: Entry) -> bool:
    return (one.id, one.digest) == (other.id, other.digest)


def _prove(layout: Layout, files: Replacing, path: str, arrived: Sequence[Entry]) -> None:
    before = Replacing(layout).read(layout.path(path))
    wanted = [*(read_data(before, path, advice=False).entries if before else ()), *arrived]
    found = read_data(files.read(layout.path(path)) or b"", path, advice=False).entries
    if [(e.id, e.at, e.digest) for e in found] != [(e.id, e.at, e.digest) for e in wanted]:
        raise Refused(f"moving changes into {path} would alter its entries: nothing was moved", "run 'rawkomem check'")


def _remove(layout: Layout, moving: Sequence[_File]) -> None:
    """Remove the change files whose entries were moved; a file that another program saved meanwhile stays."""
    files = Replacing(layout)
    for file in moving:
        if files.read(layout.path(file.path)) == file.data:
            files.remove(layout.path(file.path))
    if saved := files.finish():
        raise Refused(f"{layout.relative(min(saved))} changed while we removed it", "try again")
