"""Storing a memory once: who says the same again, in the same session and as the same type, gets what is there.

Whoever decides that holds one lock, so that two that say the same write it once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...files.lock import lock
from ...model.filters import DEFAULT
from ...model.record import replace
from ...state.facets import session_of, type_of
from ...state.fold import created
from ...state.lifecycle.dedupe import same_facts
from ...text.same import DUPLICATE

if TYPE_CHECKING:
    from ...model.entry import Entry, Memory
    from ...repository import Repository

CLOSE = 20  # memories that a new one is compared with
ASKED = 2_000  # characters of a text that its neighbours are looked up by


def store(repository: Repository, entry: Entry) -> tuple[Memory, bool]:
    """The memory of an entry without secrets, and whether it is new."""
    with lock(repository.layout, "mesh"):
        repository.core.index.expect_changes()  # another process may have stored it a moment ago
        known = _same(repository, created(entry))
        return (known, False) if known else (repository.get(repository.add(entry).entry.id), True)


def likeness(repository: Repository, text: str) -> float:
    """How close the closest memory in use comes to a text, from 0 to 1. Nobody's recall: it is noted nowhere."""
    found = repository.core.look([text], 1, replace(DEFAULT, kinds=("memory",)))[0].found
    return max((item.relevance for item in found), default=0.0)


def _same(repository: Repository, new: Memory) -> Memory | None:
    """A memory in use that says the same: word for word, or as close as duplicates are, with the same facts."""
    session = session_of(new)
    only = replace(DEFAULT, kinds=("memory",), sessions=(session,) if session else ())
    found = repository.core.look([new.body[:ASKED]], CLOSE, only)[0].found
    memories = repository.get_many([item.row.id for item in found])
    for item, known in zip(found, memories, strict=True):
        alike = known.body == new.body or (item.relevance >= DUPLICATE.min_cosine and same_facts(new, known))
        if alike and _same_place(new, known):
            return known
    return None


def _same_place(new: Memory, known: Memory) -> bool:
    """Whether both belong to one session and one agent, and are of one type; who names none means any."""
    same = session_of(new) == session_of(known) and new.by == known.by
    return same and type_of(new) in ("", type_of(known))
