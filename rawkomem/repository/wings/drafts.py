"""Drafts: proposed memories from sessions. They wait on this machine until somebody keeps or drops them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...files.local.drafts import DROPPED, KEPT, draft_id
from ...files.local.drafts import Drafts as Store
from ...learn.drafts.again import cosine, is_again, is_repeated
from ...learn.drafts.keep import LEARNED, entry_of
from ...learn.lessons.lesson import lesson_of_draft
from ...model.clock import now
from ...model.draft import DEMOTED, LESSON, Draft
from ...model.errors import BadInput
from ...model.filters import Filter
from ...model.kinds import ACTIVE
from ...model.record import record, replace
from ...text.clean import one_line
from ...text.when import why_unusable
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...model.entry import Memory
    from .. import Repository
    from ..writing import Stored

SAID = "said"  # origin of a memory that a person said in a session
OLD_KEYS = ("confidence", "type", "category")  # keys that the first version's extractor wrote
DEMOTED_BECAUSE = "moved back to drafts"


@record
class Taken:
    """The result of `take`."""

    new: tuple[Draft, ...] = ()
    known: tuple[Draft, ...] = ()  # already waiting or decided, or the same text as in another session
    stored: tuple[tuple[Draft, Stored], ...] = ()  # stored, because a person said the same in another session


class Drafts(Wing):
    """Lists and decides drafts."""

    def __init__(self, repository: Repository):
        super().__init__(repository)
        self.store = Store(repository.layout)

    def all(self) -> list[Draft]:
        """Return the waiting drafts, latest first."""
        return self.store.all()

    def get(self, name: str) -> Draft:
        """Return a draft by its id or an unambiguous beginning of it."""
        return self.store.get(name)

    def take(self, drafts: Sequence[Draft], dry_run: bool = False, heard: bool = True) -> Taken:
        """Store new drafts. A draft that a person also said in another session becomes a memory.

        Pass `heard=False` if it is not certain that a person said it: an agent or a repository can forge a transcript.
        """
        waiting, decided = self.all(), self.store.decided()
        there = {draft.id for draft in waiting} | decided
        others = [draft for draft in drafts if draft.id not in there]
        new = [draft for draft in others if not any(is_repeated(draft, one) for one in waiting)]
        if dry_run:
            return Taken(tuple(new), tuple(draft for draft in drafts if draft not in new))
        self.store.expire()
        spoken = [draft for draft in new if heard and not draft.model]  # a draft that a model worded waits for a person
        pairs = [(draft, earlier) for draft in spoken if (earlier := self._earlier(draft, waiting))]
        again = {draft.id for draft, _ in pairs}
        self.store.put(draft for draft in new if draft.id not in again)
        stored = tuple((draft, self._store_again(draft, earlier)) for draft, earlier in pairs)
        fresh = tuple(draft for draft in new if draft.id not in again)
        return Taken(fresh, tuple(draft for draft in drafts if draft not in new), stored)

    def keep(
        self,
        name: str,
        title: str = "",
        text: str = "",
        when: Sequence[str] | None = None,
        by: str = "",
        via: str = "",
    ) -> Stored:
        """Store a draft as a memory or a lesson, and supersede the memories that it corrects.

        A title, text or conditions that you pass replace the draft's.
        """
        draft = self.get(name)
        if title or text or when is not None:
            draft = self.edit(name, title, text, when)
        by = by or draft.host
        made = lesson_of_draft(draft, by) if LESSON in draft.tags else replace(entry_of(draft), by=by)
        stored = self._repo.add(made, via=via)
        for old in draft.corrects:
            if self._core.holds(old) and old != stored.id:
                self._repo.beliefs.supersede(old, stored.id, one_line(draft.said, 200), by, anyway=True)
        self.store.decide(draft, KEPT)
        return stored

    def edit(self, name: str, title: str = "", text: str = "", when: Sequence[str] | None = None) -> Draft:
        """Change the memory that a draft proposes, but not its exchange. An empty `when` removes the conditions."""
        draft = self.changed(name, title, text, when)
        if draft != self.get(name):
            self.store.put([draft])
        return draft

    def changed(self, name: str, title: str = "", text: str = "", when: Sequence[str] | None = None) -> Draft:
        """Return the draft that `edit` would store; write nothing."""
        old = self.get(name)
        if not (title or text) and when is None:
            raise BadInput("nothing to change", "pass a title, a text or conditions")
        for condition in when or ():
            note = why_unusable(condition)
            if note:
                raise BadInput(f"whenToUse {one_line(condition, 80)!r} {note.text}: nothing was changed", note.hint)
        conditions = old.when if when is None else tuple(when)
        return replace(old, title=title or old.title, text=text or old.text, when=conditions)

    def merge(self, name: str, other: str) -> Draft:
        """Merge two drafts: append the text and conditions of `other` to the first, and drop `other`."""
        first, second = self.get(name), self.get(other)
        if first.id == second.id:
            raise BadInput("a draft cannot be merged with itself", "name two drafts")
        merged = replace(
            first,
            said=f"{first.said}\n\n{second.said}",
            text=first.text if second.text in first.text else f"{first.text}\n\n{second.text}",
            when=tuple(dict.fromkeys((*first.when, *second.when))),
            corrects=tuple(dict.fromkeys((*first.corrects, *second.corrects))),
        )
        self.store.put([merged])
        self.store.decide(second, DROPPED)
        return merged

    def drop(self, name: str) -> Draft:
        """Drop a draft for good: the same words of the same session make no new draft."""
        draft = self.get(name)
        self.store.decide(draft, DROPPED)
        return draft

    def demote(self, dry_run: bool = False, by: str = "") -> list[Draft]:
        """Move memories that the first version's extractor wrote and nobody changed since back to drafts."""
        rows = self._core.rows(Filter(statuses=(ACTIVE,)))
        old = [memory for memory in self._repo.get_many([row.id for row in rows]) if _is_untouched(memory)]
        drafts = [_demoted(memory) for memory in old]
        if not dry_run:
            self.store.put(drafts)
            for memory in old:
                self._repo.delete(memory.id, DEMOTED_BECAUSE, by)
        return drafts

    def _earlier(self, draft: Draft, waiting: Sequence[Draft]) -> Draft | None:
        """Return a waiting draft from another session in which a person said the same."""
        others = [one for one in waiting if one.session != draft.session]
        if not others:
            return None
        own, *rest = self._core.index.embedder.embed([draft.said, *(one.said for one in others)])
        return next((one for one, v in zip(others, rest, strict=True) if is_again(draft, one, cosine(own, v))), None)

    def _store_again(self, draft: Draft, earlier: Draft) -> Stored:
        """Store a draft that was said twice, in the new words, because an agent may have edited the earlier draft."""
        sessions = tuple(dict.fromkeys((*earlier.again, earlier.session, draft.session)))
        stored = self._repo.add(entry_of(replace(draft, again=sessions)), via=SAID)
        self.store.decide(earlier, KEPT)
        self.store.decide(draft, KEPT)
        return stored


def _is_untouched(memory: Memory) -> bool:
    """Return whether the first version's extractor wrote a memory and no amendment, vote or review followed."""
    written = LEARNED in memory.tags and all(key in memory.extra for key in OLD_KEYS)
    return written and memory.entries == 1 and "quote" not in memory.extra


def _demoted(memory: Memory) -> Draft:
    return Draft(
        id=draft_id(memory.id, memory.body),
        kind=DEMOTED,
        said="",
        title=memory.title,
        text=memory.body,
        when=memory.when,
        tags=tuple(tag for tag in memory.tags if tag != LEARNED),
        why=f"was {memory.id}, which nobody changed",
        session=memory.source,
        host=memory.by,
        task=memory.found_in,
        at=now(),
    )
