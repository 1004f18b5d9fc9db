"""Learn from many transcripts or with a language model, and print the progress and the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ....learn.drafts.keep import AGENT, exchange_of
from ....text.clean import one_line
from ....text.count import count
from ..terminal import fields_of, note, paint, say, say_json, wide
from .drafts import end_of, tell_next

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....learn.session.run import Run
    from ....repository import Repository
    from ....repository.wings.transcripts import Gone, Step

INTERRUPTED = 130  # exit code after Ctrl-C


def learn_transcripts(repository: Repository, files: tuple[str, ...], run: Run, ask: bool, **flags: bool) -> Gone:
    """Learn from files and folders, and print the progress on stderr. Ctrl-C exits with 130."""
    try:
        if ask and files == ("-",):
            with click.open_file("-", "rb") as stream:
                return repository.transcripts.learn_stream(stream, run, flags["dry_run"], tell_step)
        return repository.transcripts.learn(files, run, ask, **flags, progress=tell_step)
    except KeyboardInterrupt:
        note("stopped: finished parts are stored; run the same command again to continue")
        raise click.exceptions.Exit(INTERRUPTED) from None


def tell_gone(gone: Gone, dry_run: bool, drafts: Sequence[dict[str, Any]], as_json: bool) -> None:
    """Print the drafts of a run; exit with 1 if it ended early."""
    if as_json:
        say_json({"dry_run": dry_run, **fields_of(gone, "model", "stopped", "counts"), "drafts": [*drafts]})
    else:
        _tell(gone, dry_run)
    if gone.stopped:
        note(f"{gone.stopped}; run the same command again to continue")
        raise click.exceptions.Exit(1)


def tell_step(step: Step) -> None:
    """Print the progress of a run."""
    part = f", part {step.part} of {step.parts}" if step.parts else ""
    so_far = step.failure or f"{count(step.drafts, 'draft')} so far"
    name = "" if step.name in so_far else f"  {step.name}"
    note(f"file {step.file} of {step.files}{part}: {so_far}{name}")


def _tell(gone: Gone, dry_run: bool) -> None:
    done = paint("would draft" if dry_run else "draft", "green")
    for draft in gone.drafts:
        title = one_line(draft.title, wide())
        say(f"{done}  {paint(draft.kind, 'cyan')}  {title}  {paint(draft.id, 'dim')}")
        for who, words in exchange_of(draft):
            say(f"       {who}: {end_of(words, wide()) if who == AGENT else one_line(words, wide())}")
    counts = ", ".join(f"{number} {what}" for what, number in gone.counts.items())
    note(f"{count(len(gone.drafts), 'draft')}; {counts}" if counts else count(len(gone.drafts), "draft"))
    if not dry_run:
        tell_next(gone.drafts)
