"""Ask a language model at an OpenAI-compatible /v1/chat/completions endpoint: OpenAI, Ollama, LM
Studio, vLLM, …
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model.user_settings import LlmSettings
from ..net.client import RETRY_PAUSES, Api, JsonApi, StatusFailed, api_url
from ..net.guard import RequestFailed
from ..redaction.find import redact
from ..text.clean import one_line
from .llm import LlmFailure

CHAT = Api("/chat/completions", "llm.provider", "llm.model", "keys.llm")
JSON_MODES = ("json_schema", "json_object", "")  # values of response_format, the strictest first
UNSUPPORTED_CODES = (
    400,
    422,
)  # HTTP status codes for a response_format that the server does not know
MAX_SHOWN_CHARS = 200  # of a model's refusal in our message


class EndpointLlm:
    """A model that is asked by HTTP. It remembers which JSON mode the server supports."""

    def __init__(self, settings: LlmSettings, pauses: tuple[float, ...] = RETRY_PAUSES):
        if not settings.model:
            raise LlmFailure(
                "llm.provider is an address, but no model is named",
                "Set llm.model in your config.yaml.",
            )
        self._model = settings.model
        self._most = {"max_tokens": settings.max_tokens} if settings.max_tokens else {}
        self._rung = 0
        url = api_url(settings.endpoint, CHAT.ending)
        try:
            self._post = JsonApi(
                CHAT, url, settings.key_env, settings.timeout, pauses, settings.key
            )
        except RequestFailed as failure:
            raise LlmFailure(failure.message, failure.hint) from None
        target = self._post.client.target
        self.name = f"{self._model} at {target.host}:{target.port}"

    def complete(
        self, prompt: str, system: str = "", schema: Mapping[str, object] | None = None
    ) -> str:
        """Return the answer, as Llm.complete does."""
        roles = (("system", system), ("user", prompt))
        body: dict[str, Any] = {
            "model": self._model,
            **self._most,
            "messages": [{"role": role, "content": text} for role, text in roles if text],
        }
        try:
            return completion_text(
                self._post(body) if schema is None else self._ask_for_json(body, schema)
            )
        except RequestFailed as failure:
            raise LlmFailure(failure.message, failure.hint) from None

    def _ask_for_json(self, body: dict[str, Any], schema: Mapping[str, object]) -> Any:
        """Return the answer in the first JSON mode that the server supports; later calls start with that mode."""
        for rung in range(self._rung, len(JSON_MODES)):
            try:
                answer = self._post({**body, **response_format(JSON_MODES[rung], schema)})
            except StatusFailed as failure:
                if failure.status not in UNSUPPORTED_CODES or not JSON_MODES[rung]:
                    raise
            else:
                self._rung = rung
                return answer
        raise AssertionError("the last rung answers or raises")


def response_format(rung: str, schema: Mapping[str, object]) -> dict[str, Any]:
    """Return the part of a request that asks for JSON; empty for the mode ""."""
    if rung == "json_schema":
        return {
            "response_format": {
                "type": rung,
                "json_schema": {"name": "answer", "schema": dict(schema)},
            }
        }
    return {"response_format": {"type": rung}} if rung else {}


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
        raise LlmFailure("the endpoint answered with no chat completion", hint) from None
    if refusal:
        raise LlmFailure(
            f"the model refused: {one_line(redact(str(refusal)), MAX_SHOWN_CHARS)}",
            "Try another model.",
        )
    if ending == "content_filter":
        raise LlmFailure("the provider's filter stopped the answer", "Try another model.")
    if ending == "length":
        raise LlmFailure(
            "the answer was cut off", "Raise the server's limit on answers, or try another model."
        )
    if not isinstance(text, str) or not text.strip():
        raise LlmFailure("the model returned an empty answer", "Try again, or try another model.")
    return text
