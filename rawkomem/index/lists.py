"""Reads whole memories back from the catalogue, and filters lists of them."""

from __future__ import annotations

from ..model.entry import Memory
from ..model.kinds import IMPORTANCE
from ..state.facets import facets_of, is_valid
from ..text.quick_json import read_json
from .catalogue import Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .stores.documents import Filter

TUPLES = (
    "when",
    "tags",
    "related",
    "supersedes",
    "heritage",
    "conflicts_with",
    "amended_in",
    "reviewed_in",
    "confirmed_by",
)  # JSON knows lists only


def memory_of(doc: str) -> Memory:
    """The Memory that a catalogue row holds."""
    fields = read_json(doc)
    for name in TUPLES:
        fields[name] = tuple(fields[name])
    fields["links"] = tuple((kind, id) for kind, id in fields["links"])
    return Memory(**fields)


def row_of(memory: Memory) -> Row:
    """A memory as lists show it."""
    return Row(**{name: getattr(memory, name) for name in Row.__fields__})  # type: ignore[attr-defined]


def passes(memory: Memory, only: Filter, at: int, trust: Callable[[Memory], float]) -> bool:
    """Whether a memory, as it stands at a time, is inside a filter; how far it is believed, `trust` says."""
    return passes_columns(memory, only, at) and _passes_facts(memory, only, trust)


def passes_columns(row: Row | Memory, only: Filter, at: int) -> bool:
    """The part of a filter that a row can tell."""
    return (
        (not only.ids or row.id in only.ids)
        and (not only.kinds or row.kind in only.kinds)
        and (not only.statuses or row.status in only.statuses)
        and (not only.agents or row.by.lower() in _lower(only.agents))
        and IMPORTANCE.index(row.importance) >= only.importance
        and row.created >= only.since
        and (not only.until or row.created < only.until)
        and (not only.current or is_valid(row, at))
    )


def asks_for_facts(only: Filter) -> bool:
    """Whether a filter asks for more than a row tells."""
    return bool(
        only.tags or only.types or only.categories or only.entities or only.sessions or only.trust or only.where
    )


def _passes_facts(memory: Memory, only: Filter, trust: Callable[[Memory], float]) -> bool:
    kind, category, entities, session = facets_of(memory)
    return (
        _lower(only.tags) <= _lower(memory.tags)
        and _lower(only.entities) <= set(entities)
        and (not only.types or kind in _lower(only.types))
        and (not only.categories or category in _lower(only.categories))
        and (not only.sessions or session in only.sessions)
        and (not only.trust or trust(memory) >= only.trust)
    )


def _lower(names: Iterable[str]) -> set[str]:
    return {name.lower() for name in names}
