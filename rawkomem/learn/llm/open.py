"""Open the language model that the user configured.

Whatever is sent is redacted first: a model's provider is no place for a secret.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.errors import BadInput
from ...redaction.find import redact

if TYPE_CHECKING:
    from .config import LlmSettings
    from .model import Llm, Schema


def open_llm(settings: LlmSettings) -> Llm | None:
    """Return the model that the user configured; None where there is none."""
    if settings.endpoint and settings.command:
        raise BadInput("llm names both an endpoint and a command", "Keep one of them in your config.yaml.")
    if settings.endpoint:
        from .endpoint import EndpointLlm  # an HTTP client: only for those who have an endpoint

        return Redacting(EndpointLlm(settings))
    if settings.command:
        from .command import CommandLlm

        return Redacting(CommandLlm(settings))
    return None


class Redacting:
    """A model that never sees a secret."""

    def __init__(self, llm: Llm):
        self._llm = llm
        self.name = llm.name

    def complete(self, prompt: str, system: str = "", schema: Schema | None = None) -> str:
        """As Llm.complete."""
        return self._llm.complete(redact(prompt), redact(system), schema)
