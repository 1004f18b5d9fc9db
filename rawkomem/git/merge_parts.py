"""Merge a memory file whose sides changed different parts, without reading its entries.

Git starts the merge driver once for each file, so this module imports little and parses nothing. Every line of the
result is a line of a side, and its frontmatter is the frontmatter of one side: it is as valid as the sides are.
"""

from __future__ import annotations

import os

from ..files.git_folder import find_git
from ..files.layout import MAX_FILE_BYTES, explained, read_bytes
from ..files.replace import remove_unfinished, replace_whole
from ..model.values import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    Line = TypeVar("Line")

# lines that start like these may end a frontmatter or an entry
RULES = (b"---", b"...")


def merge_parts(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Merge versions of a file with one entry: its frontmatter and its text; return None if that is not enough."""
    versions = (base, ours, theirs)
    if max(map(len, versions)) > MAX_FILE_BYTES:
        return None  # read in part
    parts = [_cut(version) for version in versions]
    merged: list[bytes] = []
    for old, mine, other in zip(*parts, strict=False):
        one_sided = other if mine == old else mine if other in (old, mine) else None
        # two changes of one frontmatter need a check of the result
        lines = splice(old, mine, other) if one_sided is None and merged else one_sided
        if lines is None:
            return None
        merged += lines
    return b"".join(merged) or None


def _cut(data: bytes) -> list[list[bytes]]:
    """Return the lines of the frontmatter, and those below it; nothing if the file may have several entries."""
    lines = data.splitlines(keepends=True)
    rules = [number for number, line in enumerate(lines) if line.startswith(RULES)]
    start, end = [*rules, 0, 0][:2]
    if start or end == 0 or len(rules) > 2:
        return []
    return [lines[: end + 1], lines[end + 1 :]]


def splice(
    base: Sequence[Line], ours: Sequence[Line], theirs: Sequence[Line]
) -> list[Line] | None:
    """Merge lines if an unchanged line is between all changes of one side and all changes of the other; else None."""
    start, end = changed_span(base, ours)
    other_start, other_end = changed_span(base, theirs)
    if other_end < start:
        return splice(base, theirs, ours)
    if end >= other_start:
        return None
    first = ours[: len(ours) - (len(base) - end)]
    return [*first, *base[end:other_start], *theirs[other_start:]]


def changed_span(base: Sequence[object], side: Sequence[object]) -> tuple[int, int]:
    """Return the first line of `base` that a side changed, and the line after the last one."""
    shorter = min(len(base), len(side))
    start = 0
    while start < shorter and base[start] == side[start]:
        start += 1
    tail = 0
    while tail < shorter - start and base[-1 - tail] == side[-1 - tail]:
        tail += 1
    return start, len(base) - tail


def read_side(file: str) -> bytes:
    """Return the first MAX_FILE_BYTES + 1 bytes of a file; raise Unwritable if it cannot be read."""
    with explained(f"cannot read {file}", "run 'git merge', which calls this command"):
        return read_bytes(file)


def write_merged(file: str, data: bytes) -> None:
    """Write a file atomically; raise Unwritable on failure.

    The temporary file is in git's folder: a killed driver leaves nothing in the project, and the next one removes it.
    """
    git = find_git(os.path.dirname(file))
    with explained(f"cannot write {file}"):
        try:
            if git:
                remove_unfinished(git.own)
            replace_whole(file, data, beside=git.own if git else "")
        except OSError:
            replace_whole(file, data)  # git's folder is on another disk
