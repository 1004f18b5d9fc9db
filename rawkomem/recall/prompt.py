"""A prompt with the memories for its task below it."""

from __future__ import annotations

from ..model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .inject import Injection


@record
class Prompt:
    """Text for a model, and the injection in it: what is in, what is left out and why, what it costs."""

    text: str
    injection: Injection


def with_memories(base: str, injection: Injection) -> Prompt:
    """The base prompt as it is, then the block of memories; without memories the base prompt alone."""
    return Prompt(f"{base.rstrip()}\n\n{injection.text}" if injection.text else base, injection)
