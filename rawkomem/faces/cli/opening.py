"""Open the repository of a command, find out who runs it, and report decisions. Does not import click.

The frequent commands `rawkomem feedback` and `stats` are here, too.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...files.layout import personal_root
from ...files.session_records import Access, uses
from ...hosts import person
from ...model.entries import Memory
from ...model.errors import BadInput, NotFound
from ...model.values import as_dict, iso
from ...recall.signals import filter_of
from ...repository import Repository
from ...text.chunks import counted
from ...text.clean import one_line
from .terminal import (
    done_line,
    draws,
    fields_of,
    name_of,
    note,
    say,
    say_fact,
    say_json,
    say_rows,
    sparkline,
    tell_nothing,
    wide,
)

if TYPE_CHECKING:
    from ...files.append import Written
    from ...index.summaries import Stats

# Open the repository of a command and find out whether a person runs the command. Does not import
# click.

watched = (
    False  # set by the demo in its subprocesses: they have no terminal, but a person runs the demo
)


def open_repository(folder: str, layers: bool = False) -> Repository:
    """Open the repository of a folder. With `layers`, also use personal and shared memories, even without a project."""
    return Repository.open(folder, via=arrival(), layers=layers)


def open_personal() -> Repository:
    """Open the user's personal repository; raise NotFound if there is none."""
    if not os.path.isdir(personal_root()):
        raise NotFound("you have no personal repository yet", "run 'rawkomem init --personal'")
    return open_repository(personal_root())


def open_owner(folder: str, name: str) -> tuple[Repository, str]:
    """Open the repository that holds a memory; return it and the memory's name in that repository.

    Other layers are searched only if the project has no memory with this id.
    """
    repository = open_repository(folder, layers=True)
    if not repository.core.is_layered or (":" not in name and repository.core.holds(name)):
        return repository, name
    return repository.layers.owner(name)


def arrival() -> str:
    """Return PERSON if a person at a terminal runs the command and no agent is a parent process, else AGENT."""
    return person.PERSON if watched else person.arrival()


# Report the result of a decision about a memory. Does not import click.


def author(by: str) -> str:
    """Return the name `by`, or the name of the user if it is empty."""
    if by:
        return by
    from ...git.runner import user_name  # loads `subprocess`

    return user_name()


def report_decision(
    repository: Repository, name: str, written: Sequence[Written], done: str, as_json: bool
) -> None:
    """Print what was done and the current status of the memory."""
    memory = repository.get(name)
    done = "proposed" if any(item.entry.id in memory.proposed for item in written) else done
    superseded = (item.entry.about for item in written if item.entry.kind == "supersede")
    others = [id for id in superseded if id != memory.id]
    if as_json:
        say_json(
            {
                **decided_json(memory),
                "done": done,
                "superseded": others,
                "entries": [item.entry.id for item in written],
            }
        )
        return
    paths = dict.fromkeys(item.entry.path for item in written if item.entry.target == memory.id)
    say(done_line(done, name_of(memory), ", ".join(paths) or memory.path))
    if done == "proposed":
        note(
            f"a person vouches for {memory.id}, so the change waits for 'rawkomem review {memory.id}'"
        )
    for id in others:
        say(f"  supersedes {id}")
    conflicts = repository.beliefs.conflicts() if memory.conflicts_with else ()
    still_open = [conflict.other.id for conflict in conflicts if conflict.memory.id == memory.id]
    if still_open and memory.status == "active":
        how = f"'rawkomem review {memory.id}' with --supersede or --keep-both"
        note(f"still in conflict with {', '.join(still_open)}: settle it with {how}")


def decided_json(memory: Memory) -> dict[str, Any]:
    """Return a memory as one side of a decision, for JSON."""
    return {
        **fields_of(memory, "id", "title", "status", "reason"),
        "claim": memory.extra.get("claim"),
        "conflicts_with": list(memory.conflicts_with),
        **fields_of(memory, "disputes", "reinforcements", "helpful", "harmful", "path"),
    }


# Implement `rawkomem feedback`: rate a memory. Agents do so after every task, so click is not
# imported.

# vote → what the command reports
SIGNALS = {
    "helpful": "counted as helpful",
    "harmful": "counted as harmful",
    "true": "reinforced",
    "wrong": "disputed",
}


def run_feedback(
    folder: str, arguments: list[str], reason: str, by: str, as_json: bool, **flags: bool
) -> None:
    """Append a vote and print the result; raise BadInput unless it is one of SIGNALS."""
    name, *words = arguments
    votes = {*words, *(word for word, chosen in flags.items() if chosen)}
    signal = votes.pop() if len(votes) == 1 else ""
    if signal not in SIGNALS:
        raise BadInput(
            "say whether the memory was helpful or harmful, true or wrong",
            f"run 'rawkomem feedback {name} helpful'",
        )
    repository, id = open_owner(folder, name)
    vote = {"true": repository.beliefs.reinforce, "wrong": repository.beliefs.dispute}.get(signal)
    given = (reason, author(by))
    written = vote(id, *given) if vote else repository.feedback(id, signal, *given)
    report_decision(repository, id, [written], SIGNALS[signal], as_json)


# Implement `rawkomem stats`: count memories and their uses.

COUNTED = ("session", "injections", "memories", "tokens", "saved")  # for each session


def run_stats(folder: str, arguments: list[str], tokens: bool, as_json: bool, **which: Any) -> None:
    """Count memories, or the tokens of each session, and print the counts."""
    repository = Repository.open(folder)
    if tokens:
        _print_tokens(repository, as_json)
        return
    stats = repository.stats(filter_of(**which))
    if as_json:
        used = {
            name: [
                {**fields_of(item, "id", "title"), **used_json(Access(item.count, item.last))}
                for item in getattr(stats, name)
            ]
            for name in ("most_used", "least_used")
        }
        say_json({**as_dict(stats), **used})
    elif stats.memories:
        _print_stats(stats)
    else:
        tell_nothing(repository, "no memory matches these filters")


def _print_tokens(repository: Repository, as_json: bool) -> None:
    totals: dict[str, dict[str, Any]] = {}
    for use in uses(repository.layout):
        session = use.session or "(no session)"
        total = totals.setdefault(session, dict.fromkeys(COUNTED, 0) | {"session": session})
        total["injections"] += bool(use.ids)
        total["memories"] += len(use.ids)
        total["tokens"] += use.tokens
        total["saved"] += use.saved
    say_rows(as_json, [*totals.values()], dict, _tokens_line, "nothing was injected yet")


def _tokens_line(total: dict[str, Any]) -> str:
    counts = f"{counted(total['injections'], 'injection'):>16}  {counted(total['memories'], 'memory'):>14}"
    kept = f"  {total['saved']:8} saved by not repeating" if total["saved"] else ""
    return f"{total['tokens']:8} tokens  {counts}{kept}  {total['session']}"


def used_json(access: Access) -> dict[str, Any]:
    """Return the number of injections of a memory and the time of the last one, for JSON."""

    return {"accesses": access.count, "last_access": iso(access.last)}


def _print_stats(stats: Stats) -> None:
    used = f"{stats.unused} of them never used; {counted(stats.uses, 'use')} in total"
    lines = [("memories", f"{stats.memories}, {used}")]
    for name in ("kinds", "importance", "tags", "statuses"):
        counts = ", ".join(f"{count} {value}" for value, count in getattr(stats, name).items())
        lines.append((name, counts or "none"))
    least = [item for item in stats.least_used if item not in stats.most_used]
    for name, items in (("most used", stats.most_used), ("least used", least)):
        lines += [
            (name, f"{item.count:4}  {one_line(item.title or item.id, wide() - 20)}")
            for item in items
        ]
    if draws():
        lines += [
            ("by week", sparkline(stats.weeks, "week")),
            ("uses by day", sparkline(stats.days, "day")),
        ]
    for name, text in lines:
        say_fact(name, text)
