"""Link a person's words to the memories that they contradict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.draft import CORRECTION, DECISION, PREFERENCE, REQUEST, RULE
from ...model.entry import Memory
from ...model.record import replace
from ...state.belief.prose import overrules, prose_of, speaks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...model.draft import Draft
    from ...model.entry import Entry

CORRECTING = (CORRECTION, RULE, PREFERENCE, DECISION, REQUEST)  # kinds that may contradict a memory
MAX_TIES = 3


def contradicted(entry: Entry, memories: Iterable[Memory]) -> list[Memory]:
    """Return the first MAX_TIES memories that a new entry contradicts, in the order of `memories`."""
    said = prose_of(Memory(id="new", title=entry.title, body=entry.body, when=entry.when))
    found = (memory for memory in memories if speaks(memory) and overrules(said, prose_of(memory)))
    return [*found][:MAX_TIES]


def tied(draft: Draft, entry: Entry, memories: Sequence[Memory]) -> Draft:
    """Return a draft with the ids of the memories that it contradicts, and with their conditions added to its own."""
    if draft.kind not in CORRECTING:
        return draft
    found = contradicted(entry, memories)
    return replace(draft, corrects=tuple(memory.id for memory in found), when=inherited(draft.when, found))


def inherited(when: Iterable[str], memories: Iterable[Memory]) -> tuple[str, ...]:
    """Return conditions plus those of the contradicted memories, so that the new memory is recalled where they were."""
    return tuple(dict.fromkeys((*when, *(one for memory in memories for one in memory.when))))
