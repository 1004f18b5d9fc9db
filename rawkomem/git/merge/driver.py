"""Merge one memory file for git: entry by entry if possible, else by lines with `git merge-file`."""

from __future__ import annotations

import subprocess

from ...files.contents import MAX_FILE_BYTES
from ...files.whole import replace_whole
from ...model.errors import Refused, Unwritable
from .entries import MARKER_LENGTH, merge

CONFLICT_EXIT_CODE = 3  # unlike 1 and 127, a program that could not start does not return it
LABELS = ("ours", "base", "theirs")  # in the order of `git merge-file`


class Conflicting(Refused):
    """Both sides changed the same entry; the file contains conflict markers."""

    exit_code = CONFLICT_EXIT_CODE


def merge_files(base: str, ours: str, theirs: str, path: str = "", marker: int = MARKER_LENGTH) -> None:
    """Merge three files into `ours`; if both sides changed the same entry, write markers and raise Conflicting."""
    name = path or ours
    versions = (_read(base), _read(ours), _read(theirs))
    try:
        merged = merge(*versions, name, marker)
    except Exception:
        merged = None  # on any error: lines can always be merged
    if merged is None:
        return _merge_lines(base, ours, theirs, name, marker)
    try:
        replace_whole(ours, merged.data)
    except OSError as failure:
        raise Unwritable(f"cannot write {ours}: {failure.strerror}", "check permissions and free space") from None
    if merged.conflicts:
        changed = ", ".join(merged.conflicts)
        raise Conflicting(f"{name}: both sides changed {changed}", "keep one side between the markers, then git add")
    return None


def _merge_lines(base: str, ours: str, theirs: str, name: str, marker: int) -> None:
    labels = [word for label in LABELS for word in ("-L", label)]
    command = ["git", "merge-file", f"--marker-size={marker}", *labels, ours, base, theirs]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        told = done.stderr.strip().partition("\n")[0]
        why = f": {told}" if told and "conflict" not in told else ""
        raise Conflicting(f"{name} cannot be merged entry by entry{why}", "fix it by hand, then git add")


def _read(file: str) -> bytes:
    """Return the first MAX_FILE_BYTES + 1 bytes of a file; raise Unwritable if it cannot be read."""
    try:
        with open(file, "rb") as stream:
            return stream.read(MAX_FILE_BYTES + 1)
    except OSError as failure:
        raise Unwritable(
            f"cannot read {file}: {failure.strerror}", "run 'git merge', which calls this command"
        ) from None
