"""Entities that memories name (`project:api`, `person:mark-z`), and which of them a person means."""

from __future__ import annotations

from ..model.errors import BadInput
from ..state.facets import entities_of
from ..text.stem import words
from .lists import memory_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .catalogue import Catalogue


def known_entities(catalogue: Catalogue) -> list[str]:
    """Every entity that some memory names, in order."""
    return sorted({entity for doc in catalogue.docs('"entit') for entity in entities_of(memory_of(doc))})


def meant_by(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The entities that a name may mean: a full one means itself, a plain word all whose slug it is or is part of."""
    name = name.strip().lower()
    if ":" in name or name in known:
        return (name,)
    asked = "-".join(words(name))
    slugs = {entity: entity.partition(":")[2] or entity for entity in known}
    exact = tuple(entity for entity, slug in slugs.items() if slug == asked)
    return exact or tuple(
        entity for entity, slug in slugs.items() if asked and (asked in slug or f"-{slug}-" in f"-{asked}-")
    )


def resolved(names: Iterable[str], catalogue: Catalogue, warn: Callable[[str], None]) -> tuple[str, ...]:
    """Names as entities. One that no memory names stays as it is and finds nothing; an ambiguous one is refused."""
    known = known_entities(catalogue)
    found: list[str] = []
    for name in names:
        meant = meant_by(name, known)
        if len(meant) > 1:
            raise BadInput(f"entity {name!r} may be {', '.join(meant[:5])}", "give the whole name")
        if not meant or meant[0] not in known:
            some = ", ".join(known[:8]) or "none"
            warn(f"no memory names the entity {name!r}; known are: {some}{', …' if len(known) > 8 else ''}")
        found.append(meant[0] if meant else name)
    return tuple(found)
