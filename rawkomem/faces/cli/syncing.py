"""Implement `rawkomem index sync`, and the progress bar of commands that index. Imports click only at a terminal."""

from __future__ import annotations

import sys

from ...files.layout import find_layout, source_layout
from ...index.catalogue import SyncReport
from ...index.stores.database import SQLITE
from ...model.values import TYPE_CHECKING
from ...repository import Repository
from ...text.chunks import counted
from .answers import Fields
from .terminal import say

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

SYNC_ANSWER = Fields(of=SyncReport, line="{files:n file}, {read} read, {seconds:.2f} s")


def run_sync(
    folder: str, arguments: list[str], deep: bool, source: bool, as_json: bool
) -> None:
    """Update the index and print a report."""
    layout = find_layout(folder)
    if source:
        repository = Repository(source_layout(layout.root), store=SQLITE)
    else:
        repository = Repository(layout)
    SYNC_ANSWER.say(with_bar(repository.catch_up, "reading"), as_json)
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
