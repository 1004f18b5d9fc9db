"""Puts the memories for a task below its prompt."""

from __future__ import annotations

from ..model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .inject import Injection


@record
class Prompt:
    """Text for a model, and the injection in it."""

    text: str
    injection: Injection


def with_memories(base: str, injection: Injection) -> Prompt:
    """Return the base prompt as it is, then the block of memories; without memories the base prompt alone."""
    return Prompt(f"{base.rstrip()}\n\n{injection.text}" if injection.text else base, injection)
