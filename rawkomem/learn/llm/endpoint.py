"""A language model behind an OpenAI-compatible /v1/chat/completions: OpenAI, Ollama, LM Studio, vLLM and the like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...net.client import PAUSES
from ...net.failure import RequestFailed
from ...net.json_api import Api, JsonApi, StatusFailed, api_url
from ...redaction.find import redact
from ...text.clean import one_line
from .model import LlmFailure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...model.user_settings import LlmSettings

CHAT = Api("/chat/completions", "llm.provider", "llm.model", "keys.llm")
JSON_MODES = ("json_schema", "json_object", "")  # how JSON is asked for: the strictest that the server knows
UNSUPPORTED_CODES = (400, 422)  # what servers answer to a response_format that they do not know
MAX_SHOWN_CHARS = 200  # characters of a model's own words in an error


class EndpointLlm:
    """Asks by request. It remembers which way of asking for JSON the server knows."""

    def __init__(self, settings: LlmSettings, pauses: tuple[float, ...] = PAUSES):
        if not settings.model:
            raise LlmFailure("llm.provider is an address, but no model is named", "Set llm.model in your config.yaml.")
        self._model = settings.model
        self._most = {"max_tokens": settings.max_tokens} if settings.max_tokens else {}
        self._rung = 0
        url = api_url(settings.endpoint, CHAT.ending)
        try:
            self._post = JsonApi(CHAT, url, settings.key_env, settings.timeout, pauses, settings.key)
        except RequestFailed as failure:
            raise LlmFailure(failure.message, failure.hint) from None
        target = self._post.client.target
        self.name = f"{self._model} at {target.host}:{target.port}"

    def complete(self, prompt: str, system: str = "", schema: Mapping[str, object] | None = None) -> str:
        """Return the answer, as Llm.complete does."""
        roles = (("system", system), ("user", prompt))
        body: dict[str, Any] = {
            "model": self._model,
            **self._most,
            "messages": [{"role": role, "content": text} for role, text in roles if text],
        }
        try:
            return read_text(self._post(body) if schema is None else self._ask_for_json(body, schema))
        except RequestFailed as failure:
            raise LlmFailure(failure.message, failure.hint) from None

    def _ask_for_json(self, body: dict[str, Any], schema: Mapping[str, object]) -> Any:
        """Return the answer by the first JSON mode that the server takes; modes that failed are not tried again."""
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
    """Return the part of a request that asks for JSON."""
    if rung == "json_schema":
        return {"response_format": {"type": rung, "json_schema": {"name": "answer", "schema": dict(schema)}}}
    return {"response_format": {"type": rung}} if rung else {}


def read_text(answer: Any) -> str:
    """Return the text of a chat completion; a refusal, an answer that was cut off or an empty one is a failure."""
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        refusal, text, ending = message.get("refusal"), message.get("content"), choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise LlmFailure("the endpoint answered with no chat completion", "Is it OpenAI-compatible?") from None
    if refusal:
        raise LlmFailure(f"the model refused: {one_line(redact(str(refusal)), MAX_SHOWN_CHARS)}", "Try another model.")
    if ending == "content_filter":
        raise LlmFailure("the provider's filter stopped the answer", "Try another model.")
    if ending == "length":
        raise LlmFailure("the answer was cut off", "Let the server give longer answers, or try another model.")
    if not isinstance(text, str) or not text.strip():
        raise LlmFailure("the model answered with nothing", "Try again, or try another model.")
    return text
