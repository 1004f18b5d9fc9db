"""Implement `rawkomem index sync`, and the progress bar of commands that index. Imports click only at a terminal."""

from __future__ import annotations

import sys

from ...files.layout import find_layout, source_layout
from ...index.catalogue import SyncReport
from ...index.stores.database import SQLITE
from ...model.values import TYPE_CHECKING, as_dict
from ...repository import Repository
from ...text.chunks import counted
from .terminal import say, say_either

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")


def run_sync(folder: str, arguments: list[str], deep: bool, source: bool, as_json: bool) -> None:
    """Update the index and print a report."""
    layout = find_layout(folder)
    repository = (
        Repository(source_layout(layout.root), store=SQLITE) if source else Repository(layout)
    )
    report = with_bar(repository.sync, "reading")
    say_sync_report(report, as_json)
    if deep:
        filled = with_bar(repository.store.deepen, "contextual vectors")
        if not as_json:
            say(f"{counted(filled, 'memory')} got contextual vectors")


def with_bar(work: Callable[[Callable[[int, int], None]], T], label: str) -> T:
    """Run long work with a progress bar on stderr if that is a terminal."""
    if not sys.stderr.isatty():
        return work(lambda done, total: None)
    import click  # only at a terminal, where a person does not notice 50 ms

    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:

        def progress(done: int, total: int) -> None:
            bar.length = max(total, 1)
            bar.update(done - bar.pos)

        return work(progress)


def say_sync_report(report: SyncReport, as_json: bool) -> None:
    """Print the report of a sync."""
    said = f"{counted(report.files, 'file')}, {report.read} read, {report.seconds:.2f} s"
    say_either(as_json, as_dict(report), said)
