"""Ask a language model a question whose answer is one JSON object.

Models write prose around JSON, or put it in a code fence, so the object may start at any opening
brace of the answer.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from ..model.errors import BadInput
from ..model.user_settings import LlmSettings
from ..redaction.find import redact
from ..text.clean import one_line
from .llm import CommandLlm, Llm, LlmFailure
from .llm_endpoint import EndpointLlm

Schema = Mapping[str, Any]


MAX_ANSWER_CHARS = 1_000_000  # of an answer that are read
# opening braces that are tried as the start of an object: each try reads the rest of the text
MAX_BRACES = 500
MAX_SHOWN_CHARS = 4_000  # of an unusable answer that are sent back to the model
TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "number": float | int,
    "null": type(None),
}  # fmt: skip
with open(
    os.path.join(os.path.dirname(__file__), "answers.json"), encoding="utf-8"
) as _file:
    # question → the JSON Schema of its answer
    SCHEMAS: dict[str, Schema] = json.load(_file)
# not strict: models write raw line breaks in strings
DECODER = json.JSONDecoder(strict=False)


class UnfitAnswer(ValueError):
    """An answer does not fit the schema. The message is sent back to the model."""


def open_llm(settings: LlmSettings) -> Llm | None:
    """Return the model that the user configured; None if none is configured."""
    if settings.endpoint:
        return Redacting(EndpointLlm(settings))
    if settings.command:
        return Redacting(CommandLlm(settings))
    return None


def required_llm(settings: LlmSettings) -> Llm:
    """Return the model that the user configured; raise BadInput if none is configured."""
    llm = open_llm(settings)
    if llm is None:
        hint = "set it in your own config.yaml: llm: {provider: ADDRESS, model: NAME}, or llm: claude -p"
        raise BadInput("no language model is configured", hint)
    return llm


class Redacting:
    """A model whose prompts are redacted first, so that no secret reaches its provider."""

    def __init__(self, llm: Llm):
        self._llm = llm
        self.name = llm.name

    def complete(self, prompt: str, system: str = "") -> str:
        """Return the answer, as Llm.complete does."""
        return self._llm.complete(redact(prompt), redact(system))


def ask_for_json(llm: Llm, prompt: str, system: str, schema: Schema) -> dict[str, Any]:
    """Return the model's answer as an object that fits the schema. Retry once; after that raise LlmFailure."""
    wanted = f"Answer with one JSON object and nothing else. Its JSON Schema:\n{json.dumps(schema, ensure_ascii=False)}"
    system = f"{system}\n\n{wanted}".strip()
    answer = llm.complete(prompt, system)
    try:
        return read_json_object(answer, schema)
    except UnfitAnswer as problem:
        complaint = f"Your last answer could not be used ({problem!s}). It was:"
        again = llm.complete(
            f"{prompt}\n\n{complaint}\n\n{answer[:MAX_SHOWN_CHARS]}\n\nGive it again, as one JSON object only.",
            system,
        )
    try:
        return read_json_object(again, schema)
    except UnfitAnswer as problem:
        words = one_line(redact(again), 120)
        hint = f"Its answer began: {words}" if words else "Try another model."
        raise LlmFailure(
            f"{llm.name} gave no usable answer, twice: {problem}", hint
        ) from None


def read_json_object(text: str, schema: Schema) -> dict[str, Any]:
    """Return the first object in a text that fits the schema. Otherwise raise Unfit about the largest object."""
    problem = UnfitAnswer("there is no JSON object in it")
    largest = 0
    for found, length in json_objects(text[:MAX_ANSWER_CHARS]):
        try:
            check_schema(found, schema)
        except UnfitAnswer as unfit:
            if length > largest:
                problem, largest = unfit, length
        else:
            return found
    raise problem


def json_objects(text: str) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield every outermost JSON object in a text, with its length."""
    at = text.find("{")
    for _ in range(MAX_BRACES):
        if at < 0:
            return
        try:
            found, end = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield found, end - at
        at = text.find("{", end)


def check_schema(value: Any, schema: Schema, path: str = "the answer") -> None:
    """Raise UnfitAnswer unless a value fits a schema. Checks type, required, properties and items."""
    allowed = schema.get("type", ())
    names = (allowed,) if isinstance(allowed, str) else tuple(allowed)
    kinds = tuple(TYPES[name] for name in names)
    # in Python, a bool is an int
    is_number = isinstance(value, bool) and bool not in kinds
    if kinds and (is_number or not isinstance(value, kinds)):
        raise UnfitAnswer(f"{path} must be {' or '.join(names)}")
    if isinstance(value, dict):
        lacking = [name for name in schema.get("required", ()) if name not in value]
        if lacking:
            raise UnfitAnswer(f"{path} lacks {lacking[0]!r}")
        for name in schema.get("properties", {}).keys() & value.keys():
            check_schema(value[name], schema["properties"][name], name)
    if isinstance(value, list):
        for item in value:
            check_schema(item, schema.get("items", {}), f"an item of {path}")
