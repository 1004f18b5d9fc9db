"""What every language model can do, whether it is an OpenAI-compatible endpoint or a command such as `claude -p`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from ...model.errors import RawkoError
from ...model.user_settings import GUARD

if TYPE_CHECKING:
    from collections.abc import Mapping

    Schema = Mapping[str, object]


class LlmFailure(RawkoError):
    """A language model gave no usable answer. The caller goes on without one."""


class Llm(Protocol):
    """A language model that answers one prompt at a time."""

    @property
    def name(self) -> str:
        """Return which model it is, for people: no full address, no key."""
        ...

    def complete(self, prompt: str, system: str = "", schema: Schema | None = None) -> str:
        """Return the answer's text; LlmFailure where there is none. A schema asks for JSON, as far as the model can."""
        ...


def is_learning() -> bool:
    """Tell whether a model that we asked runs this process: then nothing is learned, or it would never end."""
    return bool(os.environ.get(GUARD))
