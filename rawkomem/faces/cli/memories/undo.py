"""Implement `rawkomem undo`: undo the last change made on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ....model.change import Change
from ....model.entry import Entry
from ....repository import Repository
from ....repository.wings.undoing import Undone
from ....state.changes import REGISTRY
from ....state.history import Step
from ....text.clean import one_line
from ..opening import open_personal, open_repository
from ..options import BY, DRY_RUN, JSON, LIMIT, PERSONAL
from ..terminal import name_of, note, paint, say, say_json, say_rows, shortened
from .decided import who

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_SHOWN = 20  # memories or changes that are listed
MAX_TITLES = 3  # of one change in the list
MAX_TITLE_CHARS = 60  # of a title in the list


@click.command("undo")
@click.argument("change", default="")
@click.option("--list", "listing", is_flag=True, help="List the last changes that can be undone.")
@LIMIT.but(help="With --list: maximum number of changes; 0 lists all.", default=MAX_SHOWN, least=0)
@click.option("--all", "everything", is_flag=True, help="Allow a change of more than 50 memories, such as an import.")
@DRY_RUN
@BY
@PERSONAL
@JSON
@click.pass_obj
def undo_command(
    folder: str, /, change: str, listing: bool, limit: int, everything: bool, dry_run: bool, by: str, personal: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Undo the last change made on this machine.

    The command appends entries that reverse the change: it deletes an added memory, restores the earlier text of an
    amended one, and withdraws a vote. Run it again to undo the change before that. CHANGE is a name that --list
    shows. A purge cannot be undone.
    """
    repository = open_personal() if personal else open_repository(folder)
    if listing:
        _list(repository, limit, as_json)
        return
    undone = repository.undoing.undo(change, everything, who(by), dry_run)
    if as_json:
        say_json(_as_json(undone, dry_run))
        return
    _print(repository, undone, dry_run)


def _list(repository: Repository, limit: int, as_json: bool) -> None:
    changes = repository.undoing.steps(shortened(as_json, repository.undoing.undoable(), limit))
    known = repository.undoing.known([id for change, _ in changes for id in change.memories[:MAX_TITLES]])
    titles = {id: one_line(memory.title or memory.path, MAX_TITLE_CHARS) for id, memory in known.items()}
    say_rows(as_json, changes, _listed_json, lambda item: _listed(*item, titles), "there is no change to undo")


def _listed(change: Change, steps: tuple[Step, ...], titles: Mapping[str, str]) -> str:
    """Return a line: the change's name, what it did, and the titles of its memories."""
    if not steps:
        return f"{change.name}  no file holds its entries"
    told = ", ".join(dict.fromkeys(step.told for step in steps))
    shown = [repr(titles[id]) if id in titles else id for id in change.memories[:MAX_TITLES]]
    more = f" and {len(change.memories) - MAX_TITLES} more" if len(change.memories) > MAX_TITLES else ""
    return f"{change.name}  {told}: {', '.join(shown)}{more}"


def _listed_json(item: tuple[Change, tuple[Step, ...]]) -> dict[str, Any]:
    return {"change": item[0].name, "memories": [*item[0].memories], "told": [step.told for step in item[1]]}


def _as_json(undone: Undone, dry_run: bool) -> dict[str, Any]:
    steps = [{"entry": step.entry.id, "memory": step.entry.target, "told": step.told} for step in undone.steps]
    entries = [{"memory": entry.target, "kind": entry.kind, "told": _told(entry)} for entry in undone.plan.entries]
    return {"change": undone.change.name, "dry_run": dry_run, "undone": steps, "entries": entries}


def _print(repository: Repository, undone: Undone, dry_run: bool) -> None:
    proposed = {item.entry.target for item in undone.written if repository.core.waits_for_review(item.entry)}
    known = repository.undoing.known(undone.change.memories[:MAX_SHOWN])
    for id, memory in known.items():
        steps = ", ".join(step.told for step in undone.steps if step.entry.target == id) or "nothing"
        back = ", ".join(_told(entry) for entry in undone.plan.entries if entry.target == id) or "nothing to do"
        done = "would undo" if dry_run else "proposed" if id in proposed else "undone"
        say(f"{paint(done, 'green')}  {steps if steps == back else f'{steps} → {back}'}  {name_of(memory)}")
    if len(undone.change.memories) > MAX_SHOWN:
        say(f"  and {len(undone.change.memories) - MAX_SHOWN} more memories")
    if proposed:
        note("a person vouches for the memories marked 'proposed': 'rawkomem review ID --accept' undoes the change")


def _told(entry: Entry) -> str:
    return REGISTRY[entry.kind].tell(entry)
