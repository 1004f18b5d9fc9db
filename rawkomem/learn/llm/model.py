"""Define the interface of a language model. It is an OpenAI-compatible endpoint or a command such as `claude -p`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from ...model.errors import RawkoError
from ...model.user_settings import GUARD

if TYPE_CHECKING:
    from collections.abc import Mapping

    Schema = Mapping[str, object]


class LlmFailure(RawkoError):
    """A language model gave no usable answer. Callers continue without one."""


class Llm(Protocol):
    """A language model that answers one prompt at a time."""

    @property
    def name(self) -> str:
        """Return a name of the model for messages, without its full address or key."""
        ...

    def complete(self, prompt: str, system: str = "", schema: Schema | None = None) -> str:
        """Return the answer's text, or raise LlmFailure. With a schema, ask for JSON if the model supports that."""
        ...


def is_learning() -> bool:
    """Tell whether our own model command started this process. Then nothing is learned, to avoid endless recursion."""
    return bool(os.environ.get(GUARD))
