"""The run that a transcript is of: whose it was, what was asked, and how it ended."""

from __future__ import annotations

from ...model.record import record

RESULTS = ("success", "failure", "partial")


@record
class Run:
    """What the caller says about a run; the transcript tells the rest."""

    agent: str = ""
    task: str = ""
    result: str = ""  # one of RESULTS, or unknown
    error: str = ""
    source: str = ""  # which session of which host
    session: str = ""  # as its host names it
