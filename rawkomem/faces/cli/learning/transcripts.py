"""Print how learning from many transcripts, or with a language model, goes on, and what it brought."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ....learn.session.run import Run
from ....text.clean import one_line
from ....text.count import count
from ..terminal import fields_of, note, paint, say, say_json, wide

if TYPE_CHECKING:
    from ....model.draft import Draft
    from ....repository import Repository
    from ....repository.wings.transcripts import Gone, Step

INTERRUPTED = 130  # exit code after Ctrl-C


def learn_transcripts(
    repository: Repository,
    files: tuple[str, ...],
    told: dict[str, str],
    ask: bool,
    again: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Learn from files and folders, and print the drafts; progress goes to stderr."""
    run = Run(**told)
    try:
        if ask and files == ("-",):
            with click.open_file("-", "rb") as stream:
                gone = repository.transcripts.learn_stream(stream, run, dry_run, tell_step)
        else:
            gone = repository.transcripts.learn(files, run, ask, again, dry_run, tell_step)
    except KeyboardInterrupt:
        note("stopped: what is done is stored; the same command goes on from there")
        raise click.exceptions.Exit(INTERRUPTED) from None
    if as_json:
        say_json(_json(gone, dry_run))
    else:
        _tell(gone, dry_run)
    if gone.stopped:
        note(f"{gone.stopped}; the same command goes on from there")
        raise click.exceptions.Exit(1)


def tell_step(step: Step) -> None:
    """Print how far a run is."""
    part = f", part {step.part} of {step.parts}" if step.parts else ""
    so_far = step.failure or f"{count(step.drafts, 'draft')} so far"
    note(f"file {step.file} of {step.files}{part}: {so_far}  {step.name}")


def _tell(gone: Gone, dry_run: bool) -> None:
    for draft in gone.drafts:
        say(f"{paint('would draft' if dry_run else 'draft', 'green')}  {paint(draft.kind, 'cyan')}  {draft.title}")
        for who, words in (("agent", draft.before), ("person", draft.said)):
            if words:
                say(f"       {who}: {one_line(words, wide())}")
    counts = ", ".join(f"{number} {what}" for what, number in gone.counts.items())
    note(f"{count(len(gone.drafts), 'draft')}; {counts}" if counts else count(len(gone.drafts), "draft"))


def _json(gone: Gone, dry_run: bool) -> dict[str, Any]:
    drafts = [_draft_json(draft) for draft in gone.drafts]
    return {"dry_run": dry_run, **fields_of(gone, "model", "stopped", "counts"), "drafts": drafts}


def _draft_json(draft: Draft) -> dict[str, Any]:
    lists = {"whenToUse": [*draft.when], "tags": [*draft.tags]}
    return {**fields_of(draft, "id", "kind", "title", "text", "said", "before", "why", "session", "at"), **lists}
