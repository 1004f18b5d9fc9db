"""Drafts: what was found in sessions and waits on this machine until somebody keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...files.local.drafts import Drafts as Store
from ...model.record import record
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...model.draft import Draft
    from .. import Repository


@record
class Taken:
    """What became of the drafts of a session: new ones, and those that were there before or were decided."""

    new: tuple[Draft, ...] = ()
    known: tuple[Draft, ...] = ()


class Drafts(Wing):
    """Lists and decides drafts."""

    def __init__(self, repository: Repository):
        super().__init__(repository)
        self.store = Store(repository.layout)

    def all(self) -> list[Draft]:
        """Return the drafts that wait, the latest first."""
        return self.store.all()

    def get(self, name: str) -> Draft:
        """Return a draft by its id, or by a beginning of it that no other one has."""
        return self.store.get(name)

    def take(self, drafts: Sequence[Draft], dry_run: bool = False) -> Taken:
        """Store drafts that are new; those that wait already, or were decided, stay as they are."""
        there = {draft.id for draft in self.all()} | self.store.decided()
        new = tuple(draft for draft in drafts if draft.id not in there)
        if new and not dry_run:
            self.store.put(new)
        return Taken(new, tuple(draft for draft in drafts if draft.id in there))
