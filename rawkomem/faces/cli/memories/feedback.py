"""Implement `rawkomem feedback`: rate a memory. Agents do so after every task, so click is not imported."""

from __future__ import annotations

from ....model.errors import BadInput
from ..opening import open_owner
from .decided import report, who

SIGNALS = ("helpful", "harmful")


def run(folder: str, arguments: list[str], helpful: bool, harmful: bool, reason: str, by: str, as_json: bool) -> None:
    """Append a vote and print the result; raise BadInput unless the vote is helpful or harmful."""
    name, *words = arguments
    votes = {*words, *(word for word, chosen in zip(SIGNALS, (helpful, harmful), strict=True) if chosen)}
    signal = votes.pop() if len(votes) == 1 else ""
    if signal not in SIGNALS:
        raise BadInput("say whether the memory was helpful or harmful", f"run 'rawkomem feedback {name} helpful'")
    repository, id = open_owner(folder, name)
    report(repository, id, [repository.feedback(id, signal, reason, who(by))], f"counted as {signal}", as_json)
