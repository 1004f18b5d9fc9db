"""Implement `rawkomem feedback`: vote on a memory. Agents vote after every task, so it starts without click."""

from __future__ import annotations

from ....model.errors import BadInput
from ..opening import open_owner
from .decided import report, who


def run(folder: str, arguments: list[str], helpful: bool, harmful: bool, reason: str, by: str, as_json: bool) -> None:
    """Append a vote and print what became of it."""
    if helpful == harmful:
        raise BadInput("which way?", "give either --helpful or --harmful")
    repository, id = open_owner(folder, *arguments)
    signal = "helpful" if helpful else "harmful"
    report(repository, id, [repository.feedback(id, signal, reason, who(by))], f"counted as {signal}", as_json)
