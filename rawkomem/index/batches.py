"""Splits the files of a sync into batches: one transaction each, and a sync with a time limit stops between two."""

from __future__ import annotations

from .stores.documents import BATCH_FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_BATCH_BYTES = 2 << 20  # half a second of reading and embedding; a larger file is a batch of its own


def batches_of(paths: Iterable[str], stamps: Mapping[str, str]) -> list[list[str]]:
    """Return the paths in batches of at most BATCH_FILES files and MAX_BATCH_BYTES bytes; [[]] without paths."""
    batches: list[list[str]] = [[]]
    size = 0
    for path in paths:
        bytes = int(stamps[path].partition(" ")[0])  # a stamp starts with the size of the file
        if batches[-1] and (len(batches[-1]) >= BATCH_FILES or size + bytes > MAX_BATCH_BYTES):
            batches.append([])
            size = 0
        batches[-1].append(path)
        size += bytes
    return batches
