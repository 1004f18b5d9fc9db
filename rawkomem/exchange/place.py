"""Read the place that an imported memory comes from: `kind:path#section`."""

from __future__ import annotations

from ..state.facets import IMPORTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model.entry import Value


ALSO_IN = "alsoIn"  # frontmatter key of the other places of a memory
GONE_THERE = "goneThere"  # frontmatter key of its status in another system that no longer uses it


def place_of(extra: Mapping[str, Value]) -> str:
    """Return the place that an entry names; empty if it was not imported."""
    return str(extra.get(IMPORTED, ""))


def places_of(extra: Mapping[str, Value]) -> tuple[str, ...]:
    """Return all places of an entry's text: its own place and those of copies that were not imported."""
    first, others = place_of(extra), extra.get(ALSO_IN)
    kind = first.partition(":")[0]
    copies = others if isinstance(others, list) else ()
    return (first, *(f"{kind}:{path}" for path in copies)) if first else ()


def is_from(imported: str, place: str) -> bool:
    """Tell whether a memory comes from a place: a kind, a file, a folder, or a section."""
    kind, _, path = imported.partition(":")
    place = place.removeprefix("./").rstrip("/")
    return place in (kind, path, imported) or path.startswith((f"{place}#", f"{place}/"))
