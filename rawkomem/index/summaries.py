"""Reads all memories at once: counts and use, the entities that they name, and the graph of their
links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ..files.session_records import Access, accesses
from ..model.entries import Memory
from ..model.errors import BadInput
from ..model.filters import Filter
from ..model.values import GROUPS, now, record
from ..state.graph import LinkGraph, build_graph
from ..state.trust import is_valid
from ..text.prose import entities_of, resolve_entity
from .catalogue import Catalogue, memory_of
from .index import View
from .stores.protocol import SearchStore

# Counts the memories that a list shows: by kind, importance and tag, and how often each was used.

MAX_NAMES = 10  # names in a top list


@record
class Used:
    """A memory and how often it was injected."""

    id: str
    title: str
    count: int
    last: int


@record
class Stats:
    """The counts of a repository. `statuses` counts every memory, the other fields those inside the filter."""

    memories: int
    statuses: dict[str, int]
    kinds: dict[str, int]
    importance: dict[str, int]
    tags: dict[str, int]  # the most frequent ones
    uses: int  # injections of these memories so far, on this machine
    unused: int  # memories that were never injected
    most_used: tuple[Used, ...]
    least_used: tuple[Used, ...]


def count_memories(view: View) -> Stats:
    """Count the memories inside a view's filter."""
    memories = [memory for row in view.rows() if (memory := view.memory(row.id))]
    known = accesses(view.layout)
    facts = [(memory, known.get(memory.id, Access())) for memory in memories]
    used = [
        Used(memory.id, memory.title, access.count, access.last)
        for memory, access in facts
    ]
    tags = _counts_by_name(
        tag for memory in memories for tag in {tag.lower() for tag in memory.tags}
    )
    *_, statuses = view.catalogue.counts()
    return Stats(
        memories=len(memories),
        statuses=statuses,
        kinds=_counts_by_name(memory.kind for memory in memories),
        importance=_counts_by_name(memory.importance for memory in memories),
        tags=dict(list(tags.items())[:MAX_NAMES]),
        uses=sum(item.count for item in used),
        unused=sum(not item.count for item in used),
        most_used=tuple(
            sorted(
                (i for i in used if i.count), key=lambda i: (-i.count, -i.last, i.id)
            )[:MAX_NAMES]
        ),
        least_used=tuple(
            sorted(used, key=lambda i: (i.count, i.last, i.id))[:MAX_NAMES]
        ),
    )


def _counts_by_name(names: Iterable[str]) -> dict[str, int]:
    """Return how often each name occurs: the most frequent first, ties by name."""
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))


# Finds the entities that memories name (`project:api`, `person:mark-z`), and resolves names to
# them.


def named_entities(
    catalogue: Catalogue, statuses: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Return every entity that memories of these statuses name, in order, with the ids of those memories."""
    found: dict[str, list[str]] = {}
    for memory in map(memory_of, catalogue.docs()):
        for entity in (
            entities_of(memory) if not statuses or memory.status in statuses else ()
        ):
            found.setdefault(entity, []).append(memory.id)
    return dict(sorted(found.items()))


def resolved_entities(
    names: Iterable[str], catalogue: Catalogue, warn: Callable[[str], None]
) -> tuple[str, ...]:
    """Return names as entities; an unknown name stays as it is, an ambiguous name raises BadInput."""
    known: dict[str, list[str]] = {}
    found: list[str] = []
    for name in names:
        whole = name.strip().lower()
        if ":" in whole and catalogue.holds(whole.partition(":")[2]):
            found.append(whole)  # no need to read every memory
            continue
        known = known or named_entities(catalogue)
        meant = resolve_entity(name, known)
        if meant.candidates:
            raise BadInput(f"entity {meant.message}", "use the whole name")
        if meant.message:
            warn(meant.message)
        found.append(meant.slugs[0] if meant.slugs else name)
    return tuple(found)


# Loads the graph: memories from the catalogue, and pairs of similar memories from the store.

# memories: comparing all with all takes four times as long for twice as many
MAX_COMPARED = 20_000


def load_graph(
    catalogue: Catalogue,
    store: SearchStore,
    statuses: tuple[str, ...],
    similar: float,
    warn: Callable[[str], None],
    similar_to: str = "",
) -> LinkGraph:
    """Return the graph of the memories that have one of these statuses and are valid now; without statuses, of all.

    With `similar` above zero, connect memories that are at least that similar: all, or only pairs with `similar_to`.
    """
    memories = [memory_of(doc) for doc in catalogue.docs()]
    at = now()

    def is_current(memory: Memory) -> bool:
        """Return whether a memory is wanted and valid now: others must not come in through a link."""
        return not statuses or (memory.status in statuses and is_valid(memory, at))

    pairs = []
    if similar > 0 and (similar_to or len(memories) <= MAX_COMPARED):
        from .neighbors import Neighbors  # numpy: only where vectors are compared

        compared = {
            memory.id
            for memory in memories
            if memory.kind not in GROUPS and is_current(memory)
        }
        near = Neighbors(store.vectors(Filter(statuses=statuses)))
        pairs = near.pairs(compared, similar, similar_to)
    elif similar > 0:
        warn(
            f"more than {MAX_COMPARED:,} memories: the graph shows links in files, but not similar memories"
        )
    return build_graph(memories, is_current, pairs)
