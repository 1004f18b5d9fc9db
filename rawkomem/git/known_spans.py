"""Cache the blob ids of cited places in `.rawko/local/cited.tsv`, by the stamp of the file: reading code is slow.

    stamp, place, whole (1: the ids are those of the whole file), ids (with commas; empty: the place is gone)

Errors are ignored: the places are read again.
"""

from __future__ import annotations

import os
import time

from ..files.local.private import LineFile, local_path
from ..model.errors import RawkoError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..files.layout import Layout

    Found = tuple[list[str], bool]  # possible blob ids, the place's own first; whether they are those of the whole file

FILE_NAME = "cited.tsv"
MAX_FILE_BYTES = 1024 * 1024  # then the older half is dropped; a few thousand places are left
MIN_AGE_NS = 2_000_000_000  # a younger file may change again within one tick of the clock, with the same stamp
UNLISTED = "\t\n\r"  # characters that a place in a line must not contain


class KnownSpans:
    """The cached places; new ones are in memory until `save`."""

    def __init__(self, layout: Layout):
        self._layout = layout
        self._known: dict[str, str] | None = None
        self._new: list[str] = []

    def key(self, file: str, place: str) -> str:
        """Return the cache key of a place in a file's current version; empty if it cannot be cached."""
        try:
            stat = os.stat(file)
        except OSError:
            return ""
        if time.time_ns() - max(stat.st_mtime_ns, stat.st_ctime_ns) < MIN_AGE_NS or any(c in place for c in UNLISTED):
            return ""
        return f"{stat.st_size}.{stat.st_mtime_ns}.{stat.st_ino}.{stat.st_ctime_ns}\t{place}"

    def get(self, key: str) -> tuple[bool, Found | None]:
        """Return whether a place is cached, and its cached ids."""
        if self._known is None:
            self._known = self._load()
        line = self._known.get(key) if key else None
        if line is None:
            return False, None
        whole, _, ids = line.partition("\t")
        return True, (ids.split(","), whole == "1") if ids else None

    def put(self, key: str, found: Found | None) -> None:
        """Cache the ids of a place."""
        if key and self._known is not None:
            ids, whole = found or ([], False)
            line = f"{int(whole)}\t{','.join(ids)}"
            self._known[key] = line
            self._new.append(f"{key}\t{line}")

    def save(self) -> None:
        """Write new places to the file; ignore errors."""
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
