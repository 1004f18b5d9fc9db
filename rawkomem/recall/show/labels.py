"""Label an item with its layer and whether a person vouches for it. Every format prints these labels."""

from __future__ import annotations

from ...files.layout import PERSONAL
from ...text.safe import NOT_VERIFIED, PERSON_SAID, VERIFIED, safe_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...index.views.believed import Believed
    from ...model.entry import Memory
    from ...state.belief.trust import Standing
    from ..signals import Signals

Labels = tuple[str, ...]
PROPOSED = "a change is proposed"
MAX_NAMED_SOURCES = 3  # weak sources that are named in the labels of an item


def labels_of(memory: Memory, signals: Signals, vouched: bool) -> Labels:
    """Return the labels of an item: its layer, then its standing.

    If nobody vouches for anything (`vouched` is false), only unverified memories of other layers get a standing.
    """
    standing = standing_label(signals.unverified) if vouched or (memory.layer and signals.unverified) else ()
    weak = (f"made from {safe_id(source.id)}, which is {source.why}" for source in signals.weak[:MAX_NAMED_SOURCES])
    return (*from_layer(memory.layer), *standing, *((PROPOSED,) if memory.proposed else ()), *weak)


def from_layer(layer: str) -> Labels:
    """Return the label of a layer; none for the project's memories."""
    return () if not layer else (layer,) if layer == PERSONAL else (f"from {layer}",)


def labels_by_id(believed: Believed, memories: Iterable[Memory]) -> dict[str, Labels]:
    """Return the labels of memories by id; empty if no person vouches for anything."""
    if not (believed.authors and believed.authors.names_a_person()):
        return {}
    memories = [*memories]
    doubted = believed.unverified(memories)
    proposed = {memory.id: (PROPOSED,) if memory.proposed else () for memory in memories}
    return {memory.id: (*standing_label(doubted.get(memory.id)), *proposed[memory.id]) for memory in memories}


def in_brackets(labels: Labels) -> str:
    """Return labels in brackets for the start of a line; empty if there are none."""
    return f"[{', '.join(labels)}] " if labels else ""


def standing_label(doubted: Standing | None) -> Labels:
    """Return the labels that say whether a person vouches for a memory, or said it in a session."""
    if doubted is None:
        return (VERIFIED,)
    return (NOT_VERIFIED, PERSON_SAID) if doubted.said else (NOT_VERIFIED,)
