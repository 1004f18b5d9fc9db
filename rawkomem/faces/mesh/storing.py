"""Store a memory unless the same agent already stored it in the same session and as the same type.

The check and the write hold one lock, so that two callers with the same text write it once.
"""

from __future__ import annotations

from ...files.lock import lock
from ...model.entry import Entry, Memory
from ...model.filters import DEFAULT
from ...model.record import replace
from ...redaction.scrub.plain import scrubbed_text
from ...repository import Repository
from ...state.facets import session_of, type_of
from ...state.fold import created
from ...state.lifecycle.dedupe import same_facts
from ...text.same import DUPLICATE

MAX_NEIGHBORS = 20  # memories that a new one is compared with
MAX_QUERY_CHARS = 2_000  # of a text, to search its neighbors with


def store(repository: Repository, entry: Entry) -> tuple[Memory, bool]:
    """Store a redacted entry unless its memory is known; return the memory, and whether it is new."""
    with lock(repository.layout, "mesh"):
        repository.core.index.expect_changes()  # another process may just have stored it
        known = _same(repository, created(entry))
        return (known, False) if known else (repository.get(repository.add(entry).entry.id), True)


def likeness(repository: Repository, text: str) -> float:
    """Return how similar the closest active memory is to a text, from 0 to 1. This is not counted as a recall."""
    found = repository.core.look([text], 1, replace(DEFAULT, kinds=("memory",)))[0].found
    return max((item.relevance for item in found), default=0.0)


def _same(repository: Repository, new: Memory) -> Memory | None:
    """Return an active memory with the same text, or a near duplicate with the same facts; None if there is none."""
    session = session_of(new)
    only = replace(DEFAULT, kinds=("memory",), sessions=(session,) if session else ())
    asked = scrubbed_text(new.body)[:MAX_QUERY_CHARS]
    found = repository.core.look([asked], MAX_NEIGHBORS, only)[0].found
    memories = repository.get_many([item.row.id for item in found])
    for item, known in zip(found, memories, strict=True):
        alike = known.body == new.body or (item.relevance >= DUPLICATE.min_cosine and same_facts(new, known))
        if alike and _same_place(new, known):
            return known
    return None


def _same_place(new: Memory, known: Memory) -> bool:
    """Tell whether both have the same session, agent and type. A new memory without a type matches any type."""
    same = session_of(new) == session_of(known) and new.by == known.by
    return same and type_of(new) in ("", type_of(known))
