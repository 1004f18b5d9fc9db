"""One way to ask a language model: by an OpenAI-compatible endpoint, or by a command such as `claude -p`.

Whatever is sent is redacted first: a model's provider is no place for a secret.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol

from ...model.errors import RawkoError
from ...redaction.find import redact
from .config import GUARD, LlmSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    Schema = Mapping[str, object]


class LlmFailure(RawkoError):
    """No usable answer of a language model. Whoever asked goes on without one."""


class Llm(Protocol):
    """A language model that answers one prompt at a time."""

    @property
    def name(self) -> str:
        """Which model, for people: no address in full, no key."""
        ...

    def complete(self, prompt: str, system: str = "", schema: Schema | None = None) -> str:
        """The answer's text; LlmFailure where there is none. A schema asks for JSON, as far as the model can."""
        ...


def open_llm(settings: LlmSettings) -> Llm | None:
    """The model that the user configured; None where there is none."""
    if settings.endpoint:
        from .endpoint import EndpointLlm  # an HTTP client: only for those who have an endpoint

        return Redacting(EndpointLlm(settings))
    if settings.command:
        from .command import CommandLlm

        return Redacting(CommandLlm(settings))
    return None


def is_learning() -> bool:
    """Whether we run below a model that we asked ourselves: then nothing is learned, or it would never end."""
    return bool(os.environ.get(GUARD))


class Redacting:
    """A model that never sees a secret."""

    def __init__(self, llm: Llm):
        self._llm = llm
        self.name = llm.name

    def complete(self, prompt: str, system: str = "", schema: Mapping[str, Any] | None = None) -> str:
        """As Llm.complete."""
        return self._llm.complete(redact(prompt), redact(system), schema)
