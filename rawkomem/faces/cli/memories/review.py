"""Implement `rawkomem review`: list changes and memories that wait for a person's decision, and decide."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

import click

from ....hosts.person import confirmed
from ....model.entry import Memory
from ....model.errors import BadInput
from ....model.kinds import ACTIVE
from ....repository import Repository
from ....repository.wings.beliefs import Proposal
from ....text.clean import one_line
from ..commands import pass_repository
from ..declare import one_of
from ..options import ALL, BY, JSON, REASON, YES, together
from ..terminal import fields_of, name_of, note, paint, say, say_json, say_rows, shortened, shortened_pair
from .believe import KEEP_BOTH, SUPERSEDE, held, held_line, settle
from .decided import report, side, who

VOUCHING = ("accept", "activate")  # verdicts by which a person vouches for somebody else's words
DECISIONS = {"accept": "accepted", "decline": "declined"}  # on proposed changes


@click.command("review")
@click.argument("id", required=False)
@together(REASON, BY, ALL, JSON)
@click.option(
    "--all-from", "place", default="", help="Decide on all memories imported from this format, file or folder."
)
@one_of(
    "action",
    activate="Put the memory into use.",
    reject="Archive the memory.",
    accept="Apply the proposed changes of a memory.",
    decline="Discard the proposed changes of a memory.",
)
@YES
@click.option("--change", "changes", multiple=True, help="Only this change (the id of its entry); may be repeated.")
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
    """
    how_settled = settle(supersede, keep_both)
    verdict = action or ("activate" if how_settled else "")
    by, reason, as_json = who(how["by"]), how["reason"], how["as_json"]
    if id and place:
        raise BadInput("ID and --all-from exclude each other", "use one of them")
    if verdict in VOUCHING and not how["yes"]:
        _confirm(repository, id, place)
    if not verdict:
        _show_waiting(repository, id, place, as_json, how["limit"])
    elif verdict in DECISIONS:
        if not id:
            raise BadInput(f"--{verdict} needs the ID of a memory", "'rawkomem review' lists proposed changes with IDs")
        written = repository.beliefs.decide(id, verdict == "accept", changes, reason, by)
        report(repository, id, written, DECISIONS[verdict], as_json)
    elif id:
        written = repository.beliefs.review(id, verdict, how_settled, reason, by)
        report(repository, id, written, _done(repository.get(id), verdict), as_json)
    elif place:
        _review_all(repository, place, verdict, (how_settled, reason, by), as_json)
    else:
        option = action or how_settled.replace("_", "-")
        hint = "add an ID that 'rawkomem review' lists, or --all-from with a format, file or folder"
        raise BadInput(f"--{option} needs the ID of a memory", hint)


def _confirm(repository: Repository, id: str | None, place: str) -> None:
    """Show a person what they would vouch for, and ask for confirmation; raise Abort unless they confirm."""
    if repository.core.via == "person" and (id or place):
        _show_waiting(repository, id, place, as_json=False)
        if not confirmed("Vouch for this?"):
            raise click.Abort


def _review_all(repository: Repository, place: str, verdict: str, how: tuple[str, str, str], as_json: bool) -> None:
    say_rows(
        as_json,
        repository.beliefs.review_all(place, verdict, *how),
        lambda memory: {**side(memory), "done": _done(memory, verdict)},
        lambda memory: f"{paint(_done(memory, verdict), 'green')}  {name_of(memory)}",
    )


def _done(memory: Memory, verdict: str) -> str:
    """Return what a review did. A memory that was not active at its source keeps its status from there."""
    if verdict == "reject":
        return "rejected"
    return "activated" if memory.status == ACTIVE else f"let in as {memory.status}"


def _show_waiting(repository: Repository, id: str | None, place: str, as_json: bool, limit: int = 0) -> None:
    """List what waits for a decision, or show the proposed changes of one memory. A limit of 0 means no limit."""
    if place:
        nothing = f"no memory from {place} waits for a review"
        say_rows(as_json, shortened(as_json, repository.beliefs.waiting(place), limit), side, held_line, nothing)
        return
    proposals = [repository.beliefs.proposal(id)] if id else repository.beliefs.proposals()
    named = proposals[0].memory if id else None
    quarantined = held(repository) if named is None else [named] if named.status == "quarantined" else []
    changed = [proposal for proposal in proposals if proposal.changes]
    quarantined, waiting = shortened_pair(as_json, quarantined, changed, limit)
    if as_json:
        say_json({"quarantined": [*map(side, quarantined)], "proposed": [*map(_proposal_json, waiting)]})
        return
    for memory in quarantined:
        say(f"{paint('quarantined', 'yellow')}  {held_line(memory)}")
    if named and quarantined:
        say(f"\n{named.body}\n")
    for proposal in waiting:
        _say_proposal(proposal)
    if not quarantined and not waiting:
        note(f"{named.id} does not wait for a decision" if named else "nothing waits for a decision")
    elif named:
        id = named.id
        both = (
            f"'rawkomem review {id} --activate' or 'rawkomem review {id} --reject'"
            if quarantined
            else f"'rawkomem review {id} --accept' or 'rawkomem review {id} --decline'"
        )
        note(f"decide with {both}")


def _say_proposal(proposal: Proposal) -> None:
    say(f"{paint('proposed', 'yellow')}  {name_of(proposal.memory)}  {paint(proposal.memory.path, 'dim')}")
    for entry in proposal.changes:
        who = f" by {one_line(entry.by, 40)}" if entry.by else ""
        reason = f": {one_line(str(entry.extra['reason']), 100)}" if entry.extra.get("reason") else ""
        say(f"  {entry.kind}{who}{reason}  {paint(entry.id, 'dim')}")
    for field, now, then in proposal.differences:
        for line in _diff(field, now, then):
            say(f"    {line}")


def _diff(field: str, now: object, then: object) -> Iterator[str]:
    """Yield the lines that show the change of one field; for a long text, only the lines that differ."""
    old, new = (as_lines(value) for value in (now, then))
    if len(old) <= 1 and len(new) <= 1:
        yield f"{field}: {one_line(''.join(old), 100) or 'nothing'} → {one_line(''.join(new), 100) or 'nothing'}"
        return
    yield f"{field}:"
    for line in difflib.ndiff(old, new):
        if line[0] in "+-":
            yield paint(f"  {line[0]} {one_line(line[2:], 160)}", "green" if line[0] == "+" else "red")


def as_lines(value: object) -> list[str]:
    """Return a value of a memory as lines of text."""
    if isinstance(value, tuple):
        return [one_line(str(item), 160) for item in value]
    return str(value).splitlines() if value not in ("", None) else []


def _proposal_json(proposal: Proposal) -> dict[str, Any]:
    changes = [
        {**fields_of(entry, "id", "kind", "by"), "reason": entry.extra.get("reason", "")} for entry in proposal.changes
    ]
    differences = [{"field": field, "now": now, "proposed": then} for field, now, then in proposal.differences]
    return {**side(proposal.memory), "changes": changes, "differences": differences}
