"""Implement decisions about memories: `rawkomem reinforce`, `dispute`, `quarantine`, `restore`,
`review`, and more.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import update_wrapper
from typing import Any

import click
from click import Abort, argument

from ...files.append import Written
from ...files.layout import read_stdin
from ...format.entries import entry_from_text
from ...hosts.person import confirmed
from ...model.entries import Memory
from ...model.errors import BadInput
from ...model.values import ACTIVE, replace
from ...recall.signals import filter_of
from ...repository import Repository
from ...repository.beliefs import Proposal
from ...state.changes import Conflict
from ...text.clean import one_line
from .adding import say_stored
from .commands import pass_repository
from .declarations import flag, list_option, one_of, text_option
from .listing import claim_line
from .opening import author, decided_json, report_decision
from .options import ALL, BY, JSON, REASON, YES, together
from .terminal import (
    fields_of,
    name_of,
    note,
    paint,
    say,
    say_json,
    say_rows,
    shortened,
    shortened_pair,
)

# Implement decisions about memories: `rawkomem reinforce`, `dispute`, `quarantine`, `restore`, and
# more.

SUPERSEDE = flag("--supersede", help="Supersede the memory that it contradicts.")
KEEP_BOTH = flag("--keep-both", help="Keep both memories in use and close the conflict.")
LIST_WORD = "list"
MAX_SAID_CHARS = 80  # characters of a sentence in a list


def decision(name: str, done: str = "") -> Callable[[Any], Any]:
    """Declare a command that decides about one memory and returns the written entries; report them as `done`."""

    def declare(decide: Callable[..., Sequence[Written]]) -> Any:
        def command(repository: Repository, id: str, by: str, as_json: bool, **given: Any) -> None:
            report_decision(
                repository, id, decide(repository, id, by=author(by), **given), done, as_json
            )

        function = pass_repository(update_wrapper(command, decide))
        for option in (JSON, BY, REASON, argument("id")):
            function = option(function)
        return click.command(name)(function)

    return declare


@decision("reinforce", "reinforced")
def reinforce_command(repository: Repository, id: str, reason: str, by: str) -> list[Written]:
    """Confirm that a memory is true.

    Examples:
      rawkomem reinforce ID --reason 'Seen in the logs'
    """
    return [repository.beliefs.reinforce(id, reason, by)]


@decision("dispute", "disputed")
def dispute_command(repository: Repository, id: str, reason: str, by: str) -> list[Written]:
    """Report that a memory may be wrong.

    A memory is no longer used if its trust falls below 0.3, or after three disputes without a 'rawkomem reinforce'.

    Examples:
      rawkomem dispute ID --reason 'The port changed'
    """
    return [repository.beliefs.dispute(id, reason, by)]


@click.command("quarantine")
@argument("id", metavar="ID|list")
@text_option(
    "--from",
    "place",
    help="With list: only memories imported from this format, file or folder.",
)
@ALL.but(help="With list: maximum number of results. Default: all.")
@REASON
@BY
@JSON
@pass_repository
def quarantine_command(
    repository: Repository, id: str, place: str, limit: int, reason: str, by: str, as_json: bool
) -> None:
    """Hold a memory back until a person reviews it.

    'rawkomem quarantine list' lists the memories in quarantine; decide on them with 'rawkomem review'.

    Examples:
      rawkomem quarantine list
      rawkomem quarantine ID --reason 'Check this first'
    """
    if id != LIST_WORD:
        report_decision(
            repository,
            id,
            [repository.beliefs.quarantine(id, reason, author(by))],
            "quarantined",
            as_json,
        )
        return
    waiting = repository.beliefs.waiting(place) if place else quarantined_memories(repository)
    say_rows(
        as_json,
        shortened(as_json, waiting, limit),
        decided_json,
        quarantined_line,
        "no memory is in quarantine",
    )


def quarantined_line(memory: Memory) -> str:
    """Return a quarantined memory as a line."""
    return f"{name_of(memory)}  {one_line(memory.reason, 80)}"


def quarantined_memories(repository: Repository) -> Sequence[Memory]:
    """Return the memories in quarantine."""
    only = replace(filter_of(), statuses=("quarantined",), current=False)
    return repository.get_many([row.id for row in repository.list(only)])


@decision("restore", "restored")
@SUPERSEDE
@KEEP_BOTH
def restore_command(
    repository: Repository, id: str, supersede: bool, keep_both: bool, reason: str, by: str
) -> Sequence[Written]:
    """Bring back a deleted, archived, disputed or superseded memory.

    It also releases memories that somebody quarantined by hand. Use 'rawkomem review' for memories that wait for
    their first review.

    Examples:
      rawkomem restore ID
    """
    before = repository.get(id)
    written = repository.beliefs.restore(id, settlement(supersede, keep_both), reason, by)
    newer = f" by {before.superseded_by}" if before.status == "superseded" else ""
    note(f"{before.id} was {before.status}{newer}{f': {before.reason}' if before.reason else ''}")
    if repository.get(before.id).status == "quarantined":
        note(f"it still waits for a review: run 'rawkomem review {before.id}'")
    return written


@decision("archive", "archived")
def archive_command(repository: Repository, id: str, reason: str, by: str) -> list[Written]:
    """Take a memory out of use; 'rawkomem restore' brings it back.

    Examples:
      rawkomem archive ID --reason 'The service is gone'
    """
    return [repository.beliefs.archive(id, reason, by)]


@click.command("supersede")
@argument("old")
@argument("new")
@flag("--anyway", help="Supersede even if the new memory is trusted less.")
@REASON
@BY
@JSON
@pass_repository
def supersede_command(
    repository: Repository, old: str, new: str, anyway: bool, reason: str, by: str, as_json: bool
) -> None:
    """Replace an old memory with a newer one.

    Examples:
      rawkomem supersede OLD NEW --reason 'The port changed'
    """
    report_decision(
        repository,
        old,
        [repository.beliefs.supersede(old, new, reason, author(by), anyway)],
        "superseded",
        as_json,
    )


@decision("validity", "window set")
@text_option(
    "--from",
    "start",
    help="The first date, time or age such as 7d; 'none' removes the limit.",
)
@text_option(
    "--until",
    "end",
    help="The date, time or age at which it stops being valid; 'none' removes the limit.",
)
def validity_command(
    repository: Repository, id: str, start: str, end: str, reason: str, by: str
) -> list[Written]:
    """Set the dates between which a memory is valid.

    Examples:
      rawkomem validity ID --until 2027-01-01
    """
    return [repository.beliefs.validity(id, start, end, reason, by)]


@click.command("evolve")
@argument("text", nargs=-1, required=True)
@text_option("--title", help="The title. Default: the first line.")
@BY
@JSON
@pass_repository
def evolve_command(
    repository: Repository, text: tuple[str, ...], title: str, by: str, as_json: bool
) -> None:
    """Add a new version of an existing memory.

    If a memory says the same thing, the text confirms it. If a memory is clearly about the same subject and is not
    trusted more, the text supersedes it. Otherwise the text is stored as a new memory. If TEXT is '-', it is read
    from standard input.

    Examples:
      rawkomem evolve 'The database listens on port 6432 now.'
    """
    said = read_stdin() if text == ("-",) else " ".join(text)
    entry = entry_from_text(said)
    body = entry.body.strip()
    entry = replace(
        entry, title=title or entry.title or one_line(body.partition("\n")[0], 100), by=author(by)
    )

    say_stored(repository, repository.add(entry, evolve=True), as_json)


@click.command("conflicts")
@ALL
@JSON
@pass_repository
def conflicts_command(repository: Repository, limit: int, as_json: bool) -> None:
    """List memories that contradict each other.

    The command lists contradicting claims that wait for a review, and memories whose sentences contradict a newer
    memory.

    Examples:
      rawkomem conflicts
    """
    all_found = repository.beliefs.conflicts(), repository.beliefs.contradictions()
    found, pairs = shortened_pair(as_json, *all_found, limit)
    if as_json:
        say_json(
            [
                *(_conflict_json(repository, conflict) for conflict in found),
                *(
                    {
                        "older": pair.older.id,
                        "newer": pair.newer.id,
                        "older_says": pair.said.other,
                        "newer_says": pair.said.one,
                    }
                    for pair in pairs
                ),
            ]
        )
        return
    for conflict in found:
        for sign, one in (("", conflict.memory), ("  against ", conflict.other)):
            say(
                f"{sign}{name_of(one)}  {one_line(claim_line(one), 80)}  trust {repository.beliefs.trust(one).value:.2f}"
            )
    if found:
        note(
            "settle a conflict with 'rawkomem review ID' and --activate, --reject, --supersede or --keep-both"
        )
    for pair in pairs:
        for sign, memory, said in (
            ("", pair.older, pair.said.other),
            ("  newer: ", pair.newer, pair.said.one),
        ):
            say(f"{sign}{name_of(memory)}  {one_line(said, MAX_SAID_CHARS)}")
    if pairs:
        note(
            "if the older memory is no longer true, run 'rawkomem supersede OLD NEW'; else amend one of them"
        )
    if not found and not pairs:
        note("no memory contradicts another")


def settlement(supersede: bool, keep_both: bool) -> str:
    """Return how to settle a conflict: 'supersede', 'keep_both' or empty; raise BadInput if both options are set."""
    if supersede and keep_both:
        raise BadInput("--supersede and --keep-both exclude each other", "use one of them")
    return "supersede" if supersede else "keep_both" if keep_both else ""


def _conflict_json(repository: Repository, conflict: Conflict) -> dict[str, Any]:
    sides = (("memory", conflict.memory), ("other", conflict.other))
    return {
        name: {**decided_json(one), "trust": round(repository.beliefs.trust(one).value, 4)}
        for name, one in sides
    }


# Implement `rawkomem review`: list changes and memories that wait for a person's decision, and
# decide.

VOUCHING = ("accept", "activate")  # verdicts by which a person vouches for somebody else's words
PROPOSAL_VERDICTS = {"accept": "accepted", "decline": "declined"}  # on proposed changes


@click.command("review")
@argument("id", required=False)
@together(REASON, BY, ALL, JSON)
@text_option(
    "--all-from",
    "place",
    help="Decide on all memories imported from this format, file or folder.",
)
@one_of(
    "action",
    activate="Put the memory into use.",
    reject="Archive the memory.",
    accept="Apply the proposed changes of a memory.",
    decline="Discard the proposed changes of a memory.",
)
@YES
@list_option(
    "--change",
    "changes",
    help="Only this change (the id of its entry); may be repeated.",
)
@SUPERSEDE
@KEEP_BOTH
@pass_repository
def review_command(
    repository: Repository,
    id: str | None,
    action: str | None,
    place: str,
    changes: tuple[str, ...],
    supersede: bool,
    keep_both: bool,
    **how: Any,
) -> None:
    """List changes and memories that wait for your decision, and decide.

    Without ID, the command lists quarantined memories and proposed changes. With ID alone, it shows what would
    change.

    If a person vouches for a memory, agents can only propose changes to it: --accept applies the changes, --decline
    discards them. --activate and --reject decide on a memory in quarantine or on one side of a conflict. An
    activated claim supersedes the claim that it contradicts if it is trusted as much or if you add --supersede.
    With --keep-both, both claims stay in use. Otherwise the conflict stays open.

    Examples:
      rawkomem review
      rawkomem review ID --activate
      rawkomem review --all-from CLAUDE.md --activate
    """
    how_settled = settlement(supersede, keep_both)
    verdict = action or ("activate" if how_settled else "")
    by, reason, as_json = author(how["by"]), how["reason"], how["as_json"]
    if id and place:
        raise BadInput("ID and --all-from exclude each other", "use one of them")
    vouching = repository.core.via == "person" and verdict in VOUCHING and (id or place)
    if vouching and not how["yes"]:
        _show_waiting(repository, id, place, as_json=False)
        if not confirmed("Vouch for this?"):
            raise Abort
    if repository.core.via != "person" and verdict in VOUCHING and os.isatty(1):
        note("this counts as an agent's decision; to vouch for the memory yourself, commit it")
    if not verdict:
        _show_waiting(repository, id, place, as_json, how["limit"])
    elif verdict in PROPOSAL_VERDICTS:
        if not id:
            raise BadInput(
                f"--{verdict} needs the ID of a memory",
                "'rawkomem review' lists proposed changes with IDs",
            )
        written = repository.beliefs.decide(id, verdict == "accept", changes, reason, by)
        report_decision(repository, id, written, PROPOSAL_VERDICTS[verdict], as_json)
    elif id:
        written = repository.beliefs.review(id, verdict, how_settled, reason, by)
        report_decision(
            repository, id, written, _verdict_done(repository.get(id), verdict), as_json
        )
    elif place:
        say_rows(
            as_json,
            repository.beliefs.review_all(place, verdict, how_settled, reason, by),
            lambda memory: {**decided_json(memory), "done": _verdict_done(memory, verdict)},
            lambda memory: f"{paint(_verdict_done(memory, verdict), 'green')}  {name_of(memory)}",
        )
    else:
        option = action or how_settled.replace("_", "-")
        raise BadInput(
            f"--{option} needs the ID of a memory",
            "add an ID that 'rawkomem review' lists, or --all-from with a format, file or folder",
        )


def _verdict_done(memory: Memory, verdict: str) -> str:
    """Return what a review did. A memory that was not active at its source keeps its status from there."""
    if verdict == "reject":
        return "rejected"
    return "activated" if memory.status == ACTIVE else f"let in as {memory.status}"


def _show_waiting(
    repository: Repository, id: str | None, place: str, as_json: bool, limit: int = 0
) -> None:
    """List what waits for a decision, or show the proposed changes of one memory. A limit of 0 means no limit."""
    if place:
        nothing = f"no memory from {place} waits for a review"
        say_rows(
            as_json,
            shortened(as_json, repository.beliefs.waiting(place), limit),
            decided_json,
            quarantined_line,
            nothing,
        )
        return
    proposals = [repository.beliefs.proposal(id)] if id else repository.beliefs.proposals()
    named = proposals[0].memory if id else None
    quarantined = (
        quarantined_memories(repository)
        if named is None
        else [named]
        if named.status == "quarantined"
        else []
    )
    changed = [proposal for proposal in proposals if proposal.changes]
    quarantined, waiting = shortened_pair(as_json, quarantined, changed, limit)
    if as_json:
        say_json(
            {
                "quarantined": [*map(decided_json, quarantined)],
                "proposed": [*map(_proposal_json, waiting)],
            }
        )
        return
    for memory in quarantined:
        say(f"{paint('quarantined', 'yellow')}  {quarantined_line(memory)}")
    if named and quarantined:
        say(f"\n{named.body}\n")
    for proposal in waiting:
        _say_proposal(proposal)
    if not quarantined and not waiting:
        note(
            f"{named.id} does not wait for a decision" if named else "nothing waits for a decision"
        )
    elif named:
        id = named.id
        both = (
            f"'rawkomem review {id} --activate' or 'rawkomem review {id} --reject'"
            if quarantined
            else f"'rawkomem review {id} --accept' or 'rawkomem review {id} --decline'"
        )
        note(f"decide with {both}")


def _say_proposal(proposal: Proposal) -> None:
    say(
        f"{paint('proposed', 'yellow')}  {name_of(proposal.memory)}  {paint(proposal.memory.path, 'dim')}"
    )
    for entry in proposal.changes:
        who = f" by {one_line(entry.by, 40)}" if entry.by else ""
        reason = (
            f": {one_line(str(entry.extra['reason']), 100)}" if entry.extra.get("reason") else ""
        )
        say(f"  {entry.kind}{who}{reason}  {paint(entry.id, 'dim')}")
    for field, now, then in proposal.differences:
        for line in _field_diff(field, now, then):
            say(f"    {line}")


def _field_diff(field: str, now: object, then: object) -> Iterator[str]:
    """Yield the lines that show the change of one field; for a long text, only the lines that differ."""
    old, new = (value_lines(value) for value in (now, then))
    if len(old) <= 1 and len(new) <= 1:
        yield f"{field}: {one_line(''.join(old), 100) or 'nothing'} → {one_line(''.join(new), 100) or 'nothing'}"
        return
    yield f"{field}:"
    for line in difflib.ndiff(old, new):
        if line[0] in "+-":
            yield paint(
                f"  {line[0]} {one_line(line[2:], 160)}", "green" if line[0] == "+" else "red"
            )


def value_lines(value: object) -> list[str]:
    """Return a value of a memory as lines of text."""
    if isinstance(value, tuple):
        return [one_line(str(item), 160) for item in value]
    return str(value).splitlines() if value not in ("", None) else []


def _proposal_json(proposal: Proposal) -> dict[str, Any]:
    return {
        **decided_json(proposal.memory),
        "changes": [
            {**fields_of(entry, "id", "kind", "by"), "reason": entry.extra.get("reason", "")}
            for entry in proposal.changes
        ],
        "differences": [
            {"field": field, "now": now, "proposed": then}
            for field, now, then in proposal.differences
        ],
    }
