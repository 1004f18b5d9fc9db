"""Report the result of a decision about a memory. Does not import click."""

from __future__ import annotations

from ..terminal import fields_of, name_of, note, paint, say, say_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ....files.append import Written
    from ....model.entry import Memory
    from ....repository import Repository


def who(by: str) -> str:
    """Return the name `by`, or the name of the user if it is empty."""
    if by:
        return by
    from ....git.user import user_name

    return user_name()


def report(repository: Repository, name: str, written: Sequence[Written], done: str, as_json: bool) -> None:
    """Print what was done and the current status of the memory."""
    memory = repository.get(name)
    done = "proposed" if any(item.entry.id in memory.proposed for item in written) else done
    superseded = (item.entry.about for item in written if item.entry.kind == "supersede")
    others = [id for id in superseded if id != memory.id]
    if as_json:
        say_json({**side(memory), "done": done, "superseded": others, "entries": [item.entry.id for item in written]})
        return
    paths = dict.fromkeys(item.entry.path for item in written if item.entry.target == memory.id)
    say(f"{paint(done, 'green')}  {name_of(memory)}  {paint(', '.join(paths) or memory.path, 'dim')}")
    if done == "proposed":
        note(f"a person vouches for {memory.id}, so the change waits for 'rawkomem review {memory.id}'")
    for id in others:
        say(f"  supersedes {id}")
    conflicts = repository.beliefs.conflicts() if memory.conflicts_with else ()
    still_open = [conflict.other.id for conflict in conflicts if conflict.memory.id == memory.id]
    if still_open and memory.status == "active":
        how = f"'rawkomem review {memory.id}' with --supersede or --keep-both"
        note(f"still in conflict with {', '.join(still_open)}: settle it with {how}")


def side(memory: Memory) -> dict[str, Any]:
    """Return a memory as one side of a decision, for JSON."""
    said = {"claim": memory.extra.get("claim"), "conflicts_with": list(memory.conflicts_with)}
    votes = fields_of(memory, "disputes", "reinforcements", "helpful", "harmful", "path")
    return {**fields_of(memory, "id", "title", "status", "reason"), **said, **votes}
