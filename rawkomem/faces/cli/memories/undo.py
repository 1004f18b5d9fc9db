"""Implement `rawkomem undo`: take back what this machine wrote last."""

from __future__ import annotations

from typing import Any

import click

from ....model.change import Change
from ....model.entry import Entry
from ....repository import Repository
from ....repository.wings.undoing import Undone
from ....state.changes import REGISTRY
from ....state.history import Step
from ..opening import open_personal, open_repository
from ..options import BY, DRY_RUN, JSON, PERSONAL
from ..terminal import name_of, note, paint, say, say_json, say_rows
from .decided import who

MAX_SHOWN = 20  # memories or changes that are told one by one
MAX_TOLD = 3  # entries of one change in the list of changes


@click.command("undo")
@click.argument("change", default="")
@click.option("--list", "listing", is_flag=True, help="List the last changes that can be undone.")
@click.option("--all", "everything", is_flag=True, help="Allow a change of more than 50 memories, such as an import.")
@DRY_RUN
@BY
@PERSONAL
@JSON
@click.pass_obj
def undo_command(
    folder: str, /, change: str, listing: bool, everything: bool, dry_run: bool, by: str, personal: bool, as_json: bool
) -> None:
    """Undo the last change made on this machine.

    The command appends entries that reverse the change: it deletes an added memory, restores the earlier text of an
    amended one, and withdraws a vote. Run it again to undo the change before. CHANGE is a name that --list shows. A
    purge cannot be undone.
    """
    repository = open_personal() if personal else open_repository(folder)
    if listing:
        say_rows(as_json, repository.undoing.changes(MAX_SHOWN), _listed_json, _listed, "there is no change to undo")
        return
    undone = repository.undoing.undo(change, everything, who(by), dry_run)
    if as_json:
        say_json(_as_json(undone, dry_run))
        return
    _print(repository, undone, "would undo" if dry_run else "undone")


def _listed(item: tuple[Change, tuple[Step, ...]]) -> str:
    change, steps = item
    told = [f"{step.told} {step.entry.target}" for step in steps[:MAX_TOLD]] or ["in no file here"]
    more = f" and {len(steps) - MAX_TOLD} more" if len(steps) > MAX_TOLD else ""
    return f"{change.name}  {', '.join(told)}{more}"


def _listed_json(item: tuple[Change, tuple[Step, ...]]) -> dict[str, Any]:
    return {"change": item[0].name, "memories": [*item[0].memories], "told": [step.told for step in item[1]]}


def _as_json(undone: Undone, dry_run: bool) -> dict[str, Any]:
    steps = [{"entry": step.entry.id, "memory": step.entry.target, "told": step.told} for step in undone.steps]
    entries = [{"memory": entry.target, "kind": entry.kind, "told": _told(entry)} for entry in undone.plan.entries]
    return {"change": undone.change.name, "dry_run": dry_run, "undone": steps, "entries": entries}


def _print(repository: Repository, undone: Undone, done: str) -> None:
    shown = undone.change.memories[:MAX_SHOWN]
    for id, memory in zip(shown, repository.get_many(shown), strict=False):
        steps = ", ".join(step.told for step in undone.steps if step.entry.target == id) or "nothing"
        back = ", ".join(_told(entry) for entry in undone.plan.entries if entry.target == id) or "nothing to do"
        say(f"{paint(done, 'green')}  {steps} → {back}  {name_of(memory)}")
    if len(undone.change.memories) > len(shown):
        say(f"  and {len(undone.change.memories) - len(shown)} more memories")
    if undone.written and any(repository.core.waits_for_review(item.entry) for item in undone.written):
        note("a person vouches for the memory: the change waits for 'rawkomem review'")


def _told(entry: Entry) -> str:
    return REGISTRY[entry.kind].tell(entry)
