"""Open the repository of a command, find out who runs it, and report decisions. Does not import click.

The frequent commands `rawkomem feedback` and `stats` are here, too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...files.layout import personal_root
from ...files.session_records import accesses, effects, uses
from ...hosts import person
from ...index.summaries import Stats
from ...model.errors import BadInput, NotFound
from ...model.filters import Filter
from ...recall.signals import filter_of
from ...repository import Repository
from .answers import Fields
from .terminal import note, tell_nothing

if TYPE_CHECKING:
    from ...files.append import Written

# set by the demo in its subprocesses: they have no terminal, but a person runs the demo
watched = False


def open_repository(folder: str, layers: bool = False) -> Repository:
    """Open the repository of a folder. With `layers`, also use personal and shared memories, even without a project."""
    repository = Repository.open(folder, layers=layers)
    repository.core.via = arrival()
    return repository


def open_personal() -> Repository:
    """Open the user's personal repository; raise NotFound if there is none."""
    if not os.path.isdir(personal_root()):
        raise NotFound(
            "you have no personal repository yet", "run 'rawkomem init --personal'"
        )
    return open_repository(personal_root())


def open_owner(folder: str, name: str) -> tuple[Repository, str]:
    """Open the repository that holds a memory; return it and the memory's name in that repository.

    Other layers are searched only if the project has no memory with this id.
    """
    repository = open_repository(folder, layers=True)
    if not repository.core.is_layered or (
        ":" not in name and repository.core.holds(name)
    ):
        return repository, name
    return repository.layers.owner(name)


def arrival() -> str:
    """Return PERSON if a person at a terminal runs the command and no agent is a parent process, else AGENT."""
    return person.PERSON if watched else person.arrival()


def count_as_agent(repository: Repository) -> None:
    """Let a decision with --yes count as an agent's, because nobody saw the words and pressed a key."""
    if not watched:
        repository.core.via = person.AGENT
        note("--yes answers for nobody: no person vouches for what it keeps")


def author(by: str) -> str:
    """Return the name `by`, or the name of the user if it is empty."""
    if by:
        return by
    from ...git.runner import user_name  # loads `subprocess`

    return user_name()


PROPOSED_REMARK = "only a person may decide this: the change waits for 'rawkomem review %' at a terminal"
SIDE = Fields(
    "id title status reason claim=extra.claim conflicts_with disputes reinforcements helpful harmful path",
    "{title:80}{status:mark}  {id:dim}  {path:dim}",
)
DECIDED = Fields(
    "*memory done superseded entries",
    "{done:green}  {title:80}{status:mark}  {id:dim}  {path:dim}\n{superseded:?  supersedes %}",
    remarks=f"{{0.proposed:?{PROPOSED_REMARK}}}\n{{0.conflict:?still in conflict with %}}",
    memory=SIDE,
)
FEEDBACK_ANSWER = DECIDED


def decision(
    repository: Repository, name: str, written: Sequence[Written], done: str
) -> dict[str, Any]:
    """Return what was done and the current state of the memory, for DECIDED."""
    memory = repository.get(name)
    entries = [item.entry for item in written]
    is_proposed = any(map(repository.core.waits_for_review, entries))
    conflicts = repository.beliefs.conflicts() if memory.conflicts_with else ()
    rivals = [one.other.id for one in conflicts if one.memory.id == memory.id]
    still_open = ""
    if rivals and memory.status == "active":
        still_open = f"{', '.join(rivals)}: settle it with 'rawkomem review {memory.id}' with --supersede or --keep-both"
    return {
        "memory": memory,
        "done": "proposed" if is_proposed else done,
        "superseded": [
            entry.about
            for entry in entries
            if entry.kind == "supersede" and entry.about != memory.id
        ],
        "entries": [entry.id for entry in entries],
        "proposed": memory.id if is_proposed else "",
        "conflict": still_open,
    }


def note_if_uncounted(repository: Repository, name: str) -> None:
    """Say that the last change of a memory has no effect yet, if a person vouches for the memory and not for the change."""
    if not repository.core.counts_last(name):
        note("this has no effect until a person commits it")


# vote → what the command reports
SIGNALS = {
    "helpful": "voted helpful",
    "harmful": "voted harmful",
    "true": "reinforced",
    "wrong": "disputed",
}


def run_feedback(
    folder: str,
    arguments: list[str],
    reason: str,
    by: str,
    as_json: bool,
    **flags: bool,
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
    vote = {
        "true": repository.beliefs.reinforce,
        "wrong": repository.beliefs.dispute,
    }.get(signal)
    by = author(by)
    if vote:
        written = vote(id, reason, by)
    else:
        written = repository.feedback(id, signal, reason, by)
    facts = decision(repository, id, [written], SIGNALS[signal])
    DECIDED.say(facts, as_json)
    if not facts["proposed"]:
        note_if_uncounted(repository, id)


COUNTED = ("injections", "memories", "tokens", "saved")  # for each session
SESSION_TOKENS = Fields(
    "session injections memories tokens saved",
    "{tokens:8} tokens  {injections:n injection|>16}  {memories:n memory|>14}"
    "{saved:?  % saved by not repeating}  {session}",
    "nothing was injected yet",
)
USED = Fields(
    "id title accesses=count last_access:iso=last",
    "            {accesses:4}  {title:wide 20}",
)
STATS = Fields(
    line="""\
memories    {memories}, {unused} of them never used; {uses:n use} in total
kinds       {kinds:~none}
importance  {importance:~none}
tags        {tags:~none}
statuses    {statuses:~none}
most used
{most_used_lines:text}
least used
{least_used_lines:text}""",
    of=Stats,
    most_used=[USED],
    least_used=[USED],
)


EFFECT = Fields(
    "id title handed_over effects",
    "handed over {handed_over}{came:?, %}  {title:wide 50}  {id:dim}",
    "no memory was handed over yet",
    came=lambda row: effect_line(row["effects"]),
)
STATS_ANSWER = (STATS, [EFFECT], [SESSION_TOKENS])


def effect_line(counts: Mapping[str, int]) -> str:
    """Return what came of a memory as a line, without zeros."""
    return ", ".join(f"{what} {count}" for what, count in counts.items() if count)


def _effects(repository: Repository, wanted: Filter) -> list[dict[str, Any]]:
    """Return what came of each memory that was handed over or applied, the most used first."""
    used = accesses(repository.layout)
    came = effects(repository.layout)
    rows = [
        {
            "id": row.id,
            "title": row.title,
            "handed_over": used[row.id].count if row.id in used else 0,
            "effects": came.get(row.id, {}),
        }
        for row in repository.list(wanted)
        if row.id in used or row.id in came
    ]
    return sorted(rows, key=lambda row: -row["handed_over"])


def run_stats(
    folder: str,
    arguments: list[str],
    tokens: bool,
    effect: bool,
    as_json: bool,
    **which: Any,
) -> None:
    """Count memories, the tokens of each session, or what came of each memory; print the counts."""
    repository = Repository.open(folder)
    if effect:
        EFFECT.say(_effects(repository, filter_of(**which)), as_json)
        return
    if tokens:
        SESSION_TOKENS.say(_session_tokens(repository), as_json)
        return
    stats = repository.stats(filter_of(**which))
    if as_json or stats.memories:
        STATS.say(stats, as_json)
    else:
        tell_nothing(repository, "no memory matches these filters")


def _session_tokens(repository: Repository) -> list[dict[str, Any]]:
    totals: dict[str, dict[str, Any]] = {}
    for use in uses(repository.layout):
        session = use.session or "(no session)"
        total = totals.setdefault(
            session, {"session": session, **dict.fromkeys(COUNTED, 0)}
        )
        total["injections"] += bool(use.ids)
        total["memories"] += len(use.ids)
        total["tokens"] += use.tokens
        total["saved"] += use.saved
    return [*totals.values()]
