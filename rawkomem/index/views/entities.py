"""Finds the entities that memories name (`project:api`, `person:mark-z`), and resolves names to them."""

from __future__ import annotations

from ...model.errors import BadInput
from ...text.entities import entities_of, resolve_entity
from ..lists import memory_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..catalogue import Catalogue


def named_entities(catalogue: Catalogue, statuses: Sequence[str] = ()) -> dict[str, list[str]]:
    """Return every entity that memories of these statuses name, in order, with the ids of those memories."""
    found: dict[str, list[str]] = {}
    for memory in map(memory_of, catalogue.docs()):
        for entity in entities_of(memory) if not statuses or memory.status in statuses else ():
            found.setdefault(entity, []).append(memory.id)
    return dict(sorted(found.items()))


def resolved(names: Iterable[str], catalogue: Catalogue, warn: Callable[[str], None]) -> tuple[str, ...]:
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
