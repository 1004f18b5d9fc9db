"""SyncReport: the outcome of a sync."""

from __future__ import annotations

from ..model.record import record


@record
class SyncReport:
    """The outcome of a sync."""

    read: int = 0  # files that said something new, or are gone
    files: int = 0
    rebuilt: str = ""  # why the index was made anew; empty when it was not
    seconds: float = 0.0
    left: int = 0  # files that wait for the next sync, because this one had used up its time
