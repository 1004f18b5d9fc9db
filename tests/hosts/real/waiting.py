"""What the background learner leaves in a project, and waiting for it."""

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from rawkomem.files.session_records import DraftRecords
from rawkomem.model.entries import Draft
from rawkomem.repository import Repository

BEHIND = 60  # seconds for what a turn's end leaves behind


def wait_for(is_there: Callable[[], object]) -> None:
    deadline = time.monotonic() + BEHIND
    while not is_there():
        assert time.monotonic() < deadline
        time.sleep(0.3)


def drafts(project: Path) -> list[Draft]:
    with closing(Repository.open(str(project))) as repository:
        return DraftRecords(repository.layout).all()


def quotes(project: Path) -> set[str]:
    """Return the quote of each memory; empty for one without."""
    with closing(Repository.open(str(project))) as repository:
        return {str(repository.get(row.id).extra.get("quote", "")) for row in repository.list()}
