"""Ask a language model at an OpenAI-compatible /v1/chat/completions endpoint: OpenAI, Ollama, LM
Studio, vLLM, …
"""

from __future__ import annotations

from typing import Any

from ..model.user_settings import LlmSettings
from ..net.client import RETRY_PAUSES, Api, JsonApi, api_url
from ..net.guard import RequestFailed
from ..redaction.find import redact
from ..text.clean import one_line
from .llm import LlmFailure

CHAT = Api("/chat/completions", "llm.provider", "llm.model", "keys.llm")
MAX_SHOWN_CHARS = 200  # of a model's refusal in our message


class EndpointLlm:
    """A model that is asked by HTTP."""

    def __init__(self, settings: LlmSettings, pauses: tuple[float, ...] = RETRY_PAUSES):
        if not settings.model:
            raise LlmFailure(
                "llm.provider is an address, but no model is named",
                "Set llm.model in your config.yaml.",
            )
        self._model = settings.model
        self._most = {"max_tokens": settings.max_tokens} if settings.max_tokens else {}
        url = api_url(settings.endpoint, CHAT.ending)
        try:
            self._post = JsonApi(
                CHAT, url, settings.key_env, settings.timeout, pauses, settings.key
            )
        except RequestFailed as failure:
            raise LlmFailure(failure.message, failure.hint) from None
        target = self._post.client.target
        self.name = f"{self._model} at {target.host}:{target.port}"

    def complete(self, prompt: str, system: str = "") -> str:
        """Return the answer, as Llm.complete does."""
        roles = (("system", system), ("user", prompt))
        body: dict[str, Any] = {
            "model": self._model,
            **self._most,
            "messages": [
                {"role": role, "content": text} for role, text in roles if text
            ],
        }
        try:
            return completion_text(self._post(body))
        except RequestFailed as failure:
            raise LlmFailure(failure.message, failure.hint) from None


def completion_text(answer: Any) -> str:
    """Return the text of a chat completion. A refusal, a truncated answer and an empty one raise LlmFailure."""
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        refusal, text, ending = (
            message.get("refusal"),
            message.get("content"),
            choice.get("finish_reason"),
        )
    except (KeyError, IndexError, TypeError, AttributeError):
        hint = "Check that llm.provider is OpenAI-compatible."
        raise LlmFailure(
            "the endpoint answered with no chat completion", hint
        ) from None
    if refusal:
        raise LlmFailure(
            f"the model refused: {one_line(redact(str(refusal)), MAX_SHOWN_CHARS)}",
            "Try another model.",
        )
    if ending in ("content_filter", "length"):
        hint = "Raise the server's limit on answers, or try another model."
        raise LlmFailure(f"the answer was cut off: {ending}", hint)
    if not isinstance(text, str) or not text.strip():
        raise LlmFailure(
            "the model returned an empty answer", "Try again, or try another model."
        )
    return text
