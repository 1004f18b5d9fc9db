"""Trust: where a memory comes from, who confirmed or disputed it, how old it is."""

from __future__ import annotations

from ..model.clock import DAY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.entry import Memory

# Source class → trust to start with (neolata). What a file claims about itself is not a source class.
BASES = {
    "user_explicit": 1.0,
    "system": 0.95,
    "tool_output": 0.85,
    "user_implicit": 0.7,
    "document": 0.6,
    "inference": 0.5,
    "unknown": 0.5,
}


def trust_of(memory: Memory, now: int) -> float:
    """The trust of a memory whose source class nobody has established."""
    age = max(0.0, (now - memory.created) / DAY) if memory.created else 0.0
    return compute_trust("unknown", memory.corroborations + 1, memory.reinforcements, memory.disputes, age)


def compute_trust(source: str, corroboration: int, reinforcements: int, disputes: int, age_days: float) -> float:
    """clamp01(base + corroboration + votes − age), the neolata formula."""
    base = BASES.get(source, BASES["unknown"])
    votes = reinforcements + disputes
    swing = (reinforcements - disputes) / votes * 0.15 if votes else 0.0
    value = base + min(0.2, (corroboration - 1) * 0.05) + swing - min(0.1, age_days / 365 * 0.1)
    return max(0.0, min(1.0, value))
