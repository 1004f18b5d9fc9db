"""SyncReport: the outcome of a sync."""

from __future__ import annotations

from ..model.record import record


@record
class SyncReport:
    """The outcome of a sync."""

    read: int = 0  # files that changed or are gone
    files: int = 0
    rebuilt: str = ""  # why the index was rebuilt; empty when it was not
    seconds: float = 0.0
    left: int = 0  # files left for the next sync, because this sync had used up its time
