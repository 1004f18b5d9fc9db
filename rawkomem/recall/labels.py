"""Says of an item whether a person vouches for it; every format prints these labels."""

from __future__ import annotations

from ..text.safe import NOT_VERIFIED, VERIFIED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..index.views.believed import Believed
    from ..model.entry import Memory
    from .signals import Signals

Labels = tuple[str, ...]


def labels_of(signals: Signals, vouched: bool) -> Labels:
    """Return the labels of an item; none of its standing where nobody vouches for anything (`vouched` is false)."""
    return _standing(bool(signals.unverified)) if vouched else ()


def labels_by_id(believed: Believed, memories: Iterable[Memory]) -> dict[str, Labels]:
    """Return the labels of memories by id; empty where no person vouches for anything."""
    if not (believed.authors and believed.authors.names_a_person()):
        return {}
    memories = [*memories]
    doubted = believed.unverified(memories)
    return {memory.id: _standing(memory.id in doubted) for memory in memories}


def in_brackets(labels: Labels) -> str:
    """Return labels as they open a line; empty where there are none."""
    return f"[{', '.join(labels)}] " if labels else ""


def _standing(doubted: bool) -> Labels:
    return (NOT_VERIFIED,) if doubted else (VERIFIED,)
