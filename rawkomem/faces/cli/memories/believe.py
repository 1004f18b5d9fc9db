"""Implement decisions about memories: `rawkomem reinforce`, `dispute`, `quarantine`, `restore`, and more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

import click

from ....files.append import Written
from ....files.given_text import read_stdin
from ....format.compose import entry_from_text
from ....model.entry import Memory
from ....model.errors import BadInput
from ....model.record import replace
from ....recall.filters import filter_of
from ....repository import Repository
from ....state.belief.conflicts import Conflict
from ....state.belief.prose import Contradiction
from ....text.clean import one_line
from ..commands import pass_repository
from ..options import ALL, BY, JSON, REASON
from ..terminal import name_of, note, say, say_json, say_rows, shortened, shortened_pair
from .decided import report, side, who

SUPERSEDE = click.option("--supersede", is_flag=True, help="Supersede the memory that it contradicts.")
KEEP_BOTH = click.option("--keep-both", is_flag=True, help="Keep both memories in use and close the conflict.")
LIST = "list"
MAX_SAID_CHARS = 80  # characters of a sentence in a list


def decision(name: str, done: str = "") -> Callable[[Any], Any]:
    """Declare a command that decides about one memory and returns the written entries; report them as `done`."""

    def declare(decide: Callable[..., Sequence[Written]]) -> Any:
        def command(repository: Repository, id: str, by: str, as_json: bool, **given: Any) -> None:
            report(repository, id, decide(repository, id, by=who(by), **given), done, as_json)

        function = pass_repository(update_wrapper(command, decide))
        for option in (JSON, BY, REASON, click.argument("id")):
            function = option(function)
        return click.command(name)(function)

    return declare


@decision("reinforce", "reinforced")
def reinforce_command(repository: Repository, id: str, reason: str, by: str) -> list[Written]:
    """Confirm that a memory is true."""
    return [repository.beliefs.reinforce(id, reason, by)]


@decision("dispute", "disputed")
def dispute_command(repository: Repository, id: str, reason: str, by: str) -> list[Written]:
    """Report that a memory may be wrong.

    A memory is no longer used if its trust falls below 0.3, or after three disputes without a 'rawkomem reinforce'.
    """
    return [repository.beliefs.dispute(id, reason, by)]


@click.command("quarantine")
@click.argument("id", metavar="ID|list")
@click.option("--from", "place", default="", help="With list: only memories imported from this format, file or folder.")
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
    """
    if id != LIST:
        report(repository, id, [repository.beliefs.quarantine(id, reason, who(by))], "quarantined", as_json)
        return
    waiting = repository.beliefs.waiting(place) if place else held(repository)
    say_rows(as_json, shortened(as_json, waiting, limit), side, held_line, "no memory is in quarantine")


def held_line(memory: Memory) -> str:
    """Return a quarantined memory as a line."""
    return f"{name_of(memory)}  {one_line(memory.reason, 80)}"


def held(repository: Repository) -> Sequence[Memory]:
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
    """
    before = repository.get(id)
    written = repository.beliefs.restore(id, settle(supersede, keep_both), reason, by)
    newer = f" by {before.superseded_by}" if before.status == "superseded" else ""
    note(f"{before.id} was {before.status}{newer}{f': {before.reason}' if before.reason else ''}")
    if repository.get(before.id).status == "quarantined":
        note(f"it still waits for a review: run 'rawkomem review {before.id}'")
    return written


@decision("archive", "archived")
def archive_command(repository: Repository, id: str, reason: str, by: str) -> list[Written]:
    """Take a memory out of use; 'rawkomem restore' brings it back."""
    return [repository.beliefs.archive(id, reason, by)]


@click.command("supersede")
@click.argument("old")
@click.argument("new")
@click.option("--anyway", is_flag=True, help="Supersede even if the new memory is trusted less.")
@REASON
@BY
@JSON
@pass_repository
def supersede_command(
    repository: Repository, old: str, new: str, anyway: bool, reason: str, by: str, as_json: bool
) -> None:
    """Replace an old memory with a newer one."""
    report(repository, old, [repository.beliefs.supersede(old, new, reason, who(by), anyway)], "superseded", as_json)


@decision("validity", "window set")
@click.option("--from", "start", default="", help="The first date, time or age such as 7d; 'none' removes the limit.")
@click.option(
    "--until", "end", default="", help="The date, time or age at which it stops being valid; 'none' removes the limit."
)
def validity_command(repository: Repository, id: str, start: str, end: str, reason: str, by: str) -> list[Written]:
    """Set the dates between which a memory is valid."""
    return [repository.beliefs.validity(id, start, end, reason, by)]


@click.command("evolve")
@click.argument("text", nargs=-1, required=True)
@click.option("--title", default="", help="The title. Default: the first line.")
@BY
@JSON
@pass_repository
def evolve_command(repository: Repository, text: tuple[str, ...], title: str, by: str, as_json: bool) -> None:
    """Add a new version of an existing memory.

    If a memory says the same thing, the text confirms it. If a memory is clearly about the same subject and is not
    trusted more, the text supersedes it. Otherwise the text is stored as a new memory. If TEXT is '-', it is read
    from standard input.
    """
    said = read_stdin() if text == ("-",) else " ".join(text)
    entry = entry_from_text(said)
    body = entry.body.strip()
    entry = replace(entry, title=title or entry.title or one_line(body.partition("\n")[0], 100), by=who(by))
    from .write import say_stored  # the other commands do not need these imports

    say_stored(repository, repository.add(entry, evolve=True), as_json)


@click.command("conflicts")
@ALL
@JSON
@pass_repository
def conflicts_command(repository: Repository, limit: int, as_json: bool) -> None:
    """List memories that contradict each other.

    The command lists contradicting claims that wait for a review, and memories whose sentences contradict a newer
    memory.
    """
    all_found = repository.beliefs.conflicts(), repository.beliefs.contradictions()
    found, pairs = shortened_pair(as_json, *all_found, limit)
    if as_json:
        say_json([*(_conflict_json(repository, conflict) for conflict in found), *map(_pair_json, pairs)])
        return
    for conflict in found:
        for sign, one in (("", conflict.memory), ("  against ", conflict.other)):
            say(f"{sign}{name_of(one)}  {_claim(one)}  trust {repository.beliefs.trust(one).value:.2f}")
    if found:
        note("settle a conflict with 'rawkomem review ID' and --activate, --reject, --supersede or --keep-both")
    for pair in pairs:
        for sign, memory, said in (("", pair.older, pair.said.other), ("  newer: ", pair.newer, pair.said.one)):
            say(f"{sign}{name_of(memory)}  {one_line(said, MAX_SAID_CHARS)}")
    if pairs:
        note("if the older memory is no longer true, run 'rawkomem supersede OLD NEW'; else amend one of them")
    if not found and not pairs:
        note("no memory contradicts another")


def _pair_json(pair: Contradiction) -> dict[str, Any]:
    sides = {"older": pair.older.id, "newer": pair.newer.id}
    return {**sides, "older_says": pair.said.other, "newer_says": pair.said.one}


def settle(supersede: bool, keep_both: bool) -> str:
    """Return how to settle a conflict: 'supersede', 'keep_both' or empty; raise BadInput if both options are set."""
    if supersede and keep_both:
        raise BadInput("--supersede and --keep-both exclude each other", "use one of them")
    return "supersede" if supersede else "keep_both" if keep_both else ""


def _claim(memory: Memory) -> str:
    from ....state.belief.claims import claim_of

    claim = claim_of(memory)
    return one_line(f"{claim.subject} {claim.predicate} = {claim.value}", 80) if claim else ""


def _conflict_json(repository: Repository, conflict: Conflict) -> dict[str, Any]:
    sides = (("memory", conflict.memory), ("other", conflict.other))
    return {name: {**side(one), "trust": round(repository.beliefs.trust(one).value, 4)} for name, one in sides}
