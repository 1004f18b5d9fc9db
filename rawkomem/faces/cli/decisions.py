"""Implement `rawkomem restore` and `supersede`."""

from __future__ import annotations

import click
from click import argument

from ...files.layout import read_stdin
from ...format.entries import entry_from_text
from ...model.errors import BadInput
from ...model.values import replace
from ...repository import Repository
from ...text.clean import one_line
from .adding import say_stored
from .commands import pass_repository
from .declarations import flag, text_option
from .opening import author, report_decision
from .options import BY, JSON, REASON, together
from .reviewing import KEEP_BOTH, SUPERSEDE, settlement
from .terminal import note


@click.command("restore")
@argument("id")
@together(SUPERSEDE, KEEP_BOTH, REASON, BY, JSON)
@pass_repository
def restore_command(
    repository: Repository,
    id: str,
    supersede: bool,
    keep_both: bool,
    reason: str,
    by: str,
    as_json: bool,
) -> None:
    """Bring back a deleted, archived, disputed or superseded memory.

    It also releases memories that somebody quarantined by hand. Use 'rawkomem review' for memories that wait for
    their first review.

    Examples:
      rawkomem restore ID
    """
    before = repository.get(id)
    settle = settlement(supersede, keep_both)
    written = repository.beliefs.restore(id, settle, reason, author(by))
    newer = f" by {before.superseded_by}" if before.status == "superseded" else ""
    note(f"{before.id} was {before.status}{newer}{f': {before.reason}' if before.reason else ''}")
    if repository.get(before.id).status == "quarantined":
        note(f"it still waits for a review: run 'rawkomem review {before.id}'")
    report_decision(repository, id, written, "restored", as_json)


@click.command("supersede")
@argument("old", required=False, default="")
@argument("new", required=False, default="")
@text_option("--text", help="The new version as a text; '-' reads it from standard input.")
@text_option("--title", help="With --text: the title. Default: the first line.")
@flag("--anyway", help="Supersede even if the new memory is trusted less.")
@together(REASON, BY, JSON)
@pass_repository
def supersede_command(
    repository: Repository, old: str, new: str, text: str, title: str, anyway: bool, reason: str, by: str, as_json: bool
) -> None:  # fmt: skip
    """Replace an old memory with a newer one or a text.

    With --text alone, the command finds the memory that the text updates. If a memory says the same thing, the text
    confirms it. If a memory is clearly about the same subject and is not trusted more, the text supersedes it.
    Otherwise the text is stored as a new memory.

    Examples:
      rawkomem supersede OLD NEW --reason 'The port changed'
      rawkomem supersede --text 'The database listens on port 6432 now.'
    """
    if (old and new) if text else not (old and new):
        raise BadInput("name two memories OLD and NEW, or pass --text", "run 'rawkomem list'")
    if text:
        entry = entry_from_text(read_stdin() if text == "-" else text)
        first = one_line(entry.body.strip().partition("\n")[0], 100)
        entry = replace(entry, title=title or entry.title or first, by=author(by))
        with repository.core.writer.as_one_change():
            stored = repository.add(entry, evolve=not old)
            if old:
                repository.beliefs.supersede(old, stored.id, reason, author(by), anyway=True)
        say_stored(repository, stored, as_json)
        return
    written = repository.beliefs.supersede(old, new, reason, author(by), anyway)
    report_decision(repository, old, [written], "superseded", as_json)
