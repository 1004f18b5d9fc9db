"""Append operations to the spool, one line each, in microseconds; seal.py hashes them into blocks later.

The lock is held while lines are appended and while the file is renamed for sealing, so that no line is lost.
"""

from __future__ import annotations

import os

from ....model.errors import RawkoError
from ...lock import lock
from ..private import LineFile, local_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...layout import Layout

FOLDER = "ledger"
SPOOL = f"{FOLDER}/spool.tsv"
BATCH = "batch-"  # prefix of spool files that were renamed for sealing
BLANKS = {9: " ", 10: " ", 13: " "}


def ledger_path(layout: Layout, name: str = "") -> str:
    """Return the path of the ledger's folder, or of a file in it."""
    folder = os.path.dirname(local_path(layout, SPOOL))
    return os.path.join(folder, name) if name else folder


def spool_line(operation: str, at: int, agent: str, values: Mapping[str, str]) -> str:
    """Return an operation as one line."""
    said = (f"{key}={value}" for key, value in values.items())
    return "\t".join(part.translate(BLANKS) for part in (operation, str(at), agent, *said))


def append_lines(layout: Layout, lines: Iterable[str]) -> int:
    """Append lines and return the size of the file in bytes; 0 if it cannot be written."""
    try:
        with lock(layout, "ledger-spool"):
            return LineFile(local_path(layout, SPOOL)).append(*lines)
    except RawkoError:
        return 0
