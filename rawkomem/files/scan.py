"""Sweep the repository: list the memory files and find out whether any of them may have changed.

A listing names each file with its stamp: size, mtime, inode and ctime (which also shows a changed permission or a
forged mtime). Equal listings mean that nothing changed: a cold command compares two byte strings, not 10,000 rows.
"""

from __future__ import annotations

import _thread
import os

from ..model.problem import Problem, warning
from ..model.record import record
from .layout import AREAS, Layout

SEPARATOR = "\0"  # between path and stamp, and between files: no path can contain it


@record
class Sweep:
    """The result of a walk over the repository."""

    listing: bytes
    problems: tuple[Problem, ...] = ()
    unreadable: tuple[str, ...] = ()  # folders that could not be listed: their files are unknown, not removed

    @property
    def files(self) -> int:
        """Return the number of files in the listing."""
        return (self.listing.count(SEPARATOR.encode()) + 1) // 2


def sweep(layout: Layout) -> Sweep:
    """Walk the areas once, without following folder links, with one stat for each Markdown file."""
    lines: list[str] = []
    problems: list[Problem] = []
    unreadable: list[str] = []
    stack = [(os.path.join(layout.root, area), area) for area in reversed(AREAS)]
    while stack:
        folder, relative = stack.pop()
        try:
            if os.path.islink(folder):
                raise OSError(0, "it is a link, and folder links are not followed")
            with os.scandir(folder) as entries:
                _sweep_folder(entries, relative, lines, stack, problems, layout.root)
        except FileNotFoundError:
            continue
        except OSError as failure:
            unreadable.append(relative)
            message = f"folder cannot be read: {failure.strerror}"
            problems.append(warning("unreadable-folder", message, "check its permissions", path=relative))
    return Sweep(SEPARATOR.join(lines).encode("utf-8", "surrogateescape"), tuple(problems), tuple(unreadable))


class Sweeping:
    """A sweep in a second thread. It uses `_thread`, because importing `threading` takes a tenth of the start time."""

    def __init__(self, layout: Layout):
        self._seen: Sweep | None = None
        self._failure: BaseException | None = None
        self._done = _thread.allocate_lock()
        self._done.acquire()
        _thread.start_new_thread(self._run, (layout,))

    def _run(self, layout: Layout) -> None:
        try:
            self._seen = sweep(layout)
        except BaseException as failure:
            self._failure = failure
        finally:
            self._done.release()

    def seen(self) -> Sweep:
        """Wait for the sweep and return it; raise its exception if it failed."""
        with self._done:
            if self._seen is None:
                raise self._failure or RuntimeError("the sweep did not run")
            return self._seen


def _sweep_folder(
    entries: os._ScandirIterator[str],
    relative: str,
    lines: list[str],
    stack: list[tuple[str, str]],
    problems: list[Problem],
    root: str,
) -> None:
    prefix = relative + "/"
    for entry in entries:
        name = entry.name
        if name[-3:] == ".md" and name[0] != ".":
            try:
                stat = entry.stat(follow_symlinks=False)
                if stat.st_mode & 0o170000 == 0o100000:  # a regular file; is_file() would call stat again
                    lines.append(f"{prefix}{name}\0{stat.st_size} {stat.st_mtime_ns} {stat.st_ino} {stat.st_ctime_ns}")
                    continue
                problem = _odd_file(entry, prefix + name, root)
            except FileNotFoundError:
                continue  # gone since we listed it
            except OSError as failure:
                problem = warning(
                    "unreadable", f"cannot be read: {failure.strerror}", "check permissions", path=prefix + name
                )
            if problem:
                problems.append(problem)
        elif name[0] != "." and entry.is_dir(follow_symlinks=False):
            stack.append((entry.path, prefix + name))


def _odd_file(entry: os.DirEntry[str], path: str, root: str) -> Problem | None:
    """Return a Problem for a link or a device; None for a link to a memory of this repository."""
    if not entry.is_symlink():
        if entry.is_dir(follow_symlinks=False):
            return warning("folder-named-md", "a folder with the name of a memory file", "rename it", path=path)
        return warning("not-regular", "not a regular file", "remove it", path=path)
    target = os.path.realpath(entry.path)
    if not os.path.exists(target):
        return warning("broken-symlink", "a symbolic link to a missing file", "remove it or fix it", path=path)
    if not os.path.isfile(target) or not target.startswith(os.path.realpath(root) + os.sep):
        message = "a link out of the repository: not followed"
        return warning("symlink-outside", message, "put the file itself here", path=path)
    return None


def is_text(path: str) -> bool:
    """Tell whether a path is UTF-8 without control characters; other files are reported by `check` and not read."""
    if path.isprintable():
        return True
    return not any(c < " " or "\x7f" <= c <= "\x9f" or c in "\u2028\u2029" or "\ud800" <= c <= "\udfff" for c in path)


def changed_at(stamp: str) -> int:
    """Return when the file last changed, in nanoseconds: ctime, which cannot be forged (on Windows mtime)."""
    return int(stamp.split(" ")[1 if os.name == "nt" else 3])


def stamps(listing: bytes) -> dict[str, str]:
    """Return path → stamp of each file in a listing."""
    parts = listing.decode("utf-8", "surrogateescape").split(SEPARATOR)
    return dict(zip(parts[::2], parts[1::2], strict=True)) if len(parts) > 1 else {}
