"""Remember the blob ids of cited places in `.rawko/local/cited.tsv`, by the stamp of the file: reading code takes long.

    stamp, place, whole (1: the place stands for its whole file), ids (with commas; empty: the place is gone)

A failure to read or write it is ignored: the places are looked at again.
"""

from __future__ import annotations

import os
import time

from ..files.local.private import LineFile, local_path
from ..model.errors import RawkoError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..files.layout import Layout

    Found = tuple[list[str], bool]  # possible blob ids, the place's own first; whether it is the whole file

FILE_NAME = "cited.tsv"
MAX_FILE_BYTES = 1024 * 1024  # the older half is dropped: a few thousand places are left
MIN_AGE_NS = 2_000_000_000  # of a file whose stamp counts: a younger one may change again within the clock's tick
UNLISTED = "\t\n\r"  # signs that no line can hold inside a place


class KnownSpans:
    """What is known of cited places; new findings are kept until `save`."""

    def __init__(self, layout: Layout):
        self._layout = layout
        self._known: dict[str, str] | None = None
        self._new: list[str] = []

    def key(self, file: str, place: str) -> str:
        """Return what a place in a file, as it is on disk now, is known by; empty if it cannot be remembered."""
        try:
            stat = os.stat(file)
        except OSError:
            return ""
        if time.time_ns() - max(stat.st_mtime_ns, stat.st_ctime_ns) < MIN_AGE_NS or any(c in place for c in UNLISTED):
            return ""
        return f"{stat.st_size}.{stat.st_mtime_ns}.{stat.st_ino}.{stat.st_ctime_ns}\t{place}"

    def get(self, key: str) -> tuple[bool, Found | None]:
        """Return whether a place is known, and what was found there."""
        if self._known is None:
            self._known = self._load()
        line = self._known.get(key) if key else None
        if line is None:
            return False, None
        whole, _, ids = line.partition("\t")
        return True, (ids.split(","), whole == "1") if ids else None

    def put(self, key: str, found: Found | None) -> None:
        """Remember what was found."""
        if key and self._known is not None:
            ids, whole = found or ([], False)
            line = f"{int(whole)}\t{','.join(ids)}"
            self._known[key] = line
            self._new.append(f"{key}\t{line}")

    def save(self) -> None:
        """Write what is new."""
        if self._new:
            try:
                LineFile(local_path(self._layout, FILE_NAME), MAX_FILE_BYTES).append(*self._new)
            except RawkoError:
                pass
            self._new = []

    def _load(self) -> dict[str, str]:
        try:
            lines = LineFile(local_path(self._layout, FILE_NAME)).lines()
        except RawkoError:
            return {}
        found = {}
        for line in lines:
            stamp, _, rest = line.partition("\t")
            place, _, rest = rest.partition("\t")
            if rest.count("\t") == 1:
                found[f"{stamp}\t{place}"] = rest
        return found
