"""Reads whole memories back from the catalogue, and filters lists of them."""

from __future__ import annotations

import json

from ..model.entry import Memory
from ..model.kinds import IMPORTANCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .catalogue import Row
    from .documents import Filter

TUPLES = ("when", "tags", "related", "supersedes", "heritage")  # JSON knows lists only


def memory_of(doc: str) -> Memory:
    """The Memory that a catalogue row holds."""
    fields = json.loads(doc)
    for name in TUPLES:
        fields[name] = tuple(fields[name])
    fields["links"] = tuple((kind, id) for kind, id in fields["links"])
    return Memory(**fields)


def tags_in(doc: str) -> list[str]:
    """The tags of a catalogue row."""
    return [str(tag).lower() for tag in json.loads(doc)["tags"]]


def named_entities(docs: Sequence[str], statuses: Sequence[str]) -> dict[str, list[str]]:
    """Every entity that memories of these statuses name, in order, with the ids of those memories."""
    from ..text.entities import entities_of  # most lists do without

    found: dict[str, list[str]] = {}
    for memory in map(memory_of, docs):
        for entity in entities_of(memory) if memory.status in statuses else ():
            found.setdefault(entity, []).append(memory.id)
    return dict(sorted(found.items()))


def passes(row: Row, tags: Sequence[str], only: Filter) -> bool:
    """Whether a memory is inside a filter."""
    return (
        (not only.ids or row.id in only.ids)
        and (not only.kinds or row.kind in only.kinds)
        and (not only.statuses or row.status in only.statuses)
        and all(tag.lower() in tags for tag in only.tags)
        and IMPORTANCE.index(row.importance) >= only.importance
        and row.created >= only.since
        and (not only.until or row.created < only.until)
    )
