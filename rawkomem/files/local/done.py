"""Record which transcripts were learned from, in `.rawko/local/learned.tsv`, so that a later run can continue.

    time, source, part      this part of a transcript is done

Sources are stored as checksums; no text of a session is written here.
"""

from __future__ import annotations

from ...model.clock import now
from .private import LineFile, local_path
from .told import checksum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..layout import Layout

FILE_NAME = "learned.tsv"
MAX_FILE_BYTES = 4 * 2**20  # some 50,000 parts; the older half is dropped


class Done:
    """The finished parts of each source; lines that other processes append later are not seen."""

    def __init__(self, layout: Layout):
        self._file = LineFile(local_path(layout, FILE_NAME), MAX_FILE_BYTES)
        self._done: set[tuple[str, str]] = set()
        for line in self._file.lines():
            _, source, what = (*line.split("\t", 2), "", "")[:3]
            self._done.add((source, what))

    def has(self, source: str, what: str) -> bool:
        """Tell whether a part of a source is done."""
        return (checksum(source), what) in self._done

    def add(self, source: str, what: str) -> None:
        """Record that a part of a source is done."""
        self._file.append(f"{now()}\t{checksum(source)}\t{what}")
        self._done.add((checksum(source), what))

    def forget(self, sources: Iterable[str]) -> None:
        """Remove the records of some sources, so that they are processed again."""
        gone = {checksum(source) for source in sources}
        self._file.replace(*(line for line in self._file.lines() if gone.isdisjoint(line.split("\t")[1:2])))
        self._done = {pair for pair in self._done if pair[0] not in gone}
