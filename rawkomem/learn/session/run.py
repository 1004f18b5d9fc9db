"""Describe the run of an agent that a transcript records."""

from __future__ import annotations

from ...model.record import record

RESULTS = ("success", "failure", "partial")


@record
class Run:
    """What the caller knows about a run. Empty fields are filled from the transcript."""

    agent: str = ""
    task: str = ""
    result: str = ""  # one of RESULTS, or unknown
    error: str = ""
    source: str = ""  # host and session, for people
    session: str = ""  # the host's id of the session
