"""A question to a language model whose answer is one JSON object, wherever in the text that stands.

Models write prose around JSON, or fence it, so an object is read from any brace that opens to the one that closes it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...redaction.find import redact
from ...text.clean import one_line
from .model import LlmFailure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...model.user_settings import LlmSettings
    from .model import Llm

    Schema = Mapping[str, Any]

MAX_ANSWER_CHARS = 1_000_000  # characters of an answer
MAX_BRACES = 500  # braces at which an object may begin: each costs a look at the rest
MAX_SHOWN_CHARS = 4_000  # characters of a bad answer that the model is shown again
TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float),
    "null": type(None),
}  # fmt: skip
DECODER = json.JSONDecoder(strict=False)  # models leave line breaks in strings as they are


class Unfit(ValueError):
    """What is wrong with an answer, in words that its author understands."""


def open_llm(settings: LlmSettings) -> Llm | None:
    """Return the model that the user configured; None where there is none."""
    if settings.endpoint:
        from .endpoint import EndpointLlm  # an HTTP client: only for those who have an endpoint

        return Redacting(EndpointLlm(settings))
    if settings.command:
        from .command import CommandLlm

        return Redacting(CommandLlm(settings))
    return None


class Redacting:
    """A model that never sees a secret: its provider is no place for one."""

    def __init__(self, llm: Llm):
        self._llm = llm
        self.name = llm.name

    def complete(self, prompt: str, system: str = "", schema: Schema | None = None) -> str:
        """Return the answer, as Llm.complete does."""
        return self._llm.complete(redact(prompt), redact(system), schema)


def ask(llm: Llm, prompt: str, system: str, schema: Schema) -> dict[str, Any]:
    """Ask for an object that fits the schema. A bad answer is sent back once; a second one raises LlmFailure."""
    wanted = f"Answer with one JSON object and nothing else. Its JSON Schema:\n{json.dumps(schema, ensure_ascii=False)}"
    system = f"{system}\n\n{wanted}".strip()
    answer = llm.complete(prompt, system, schema)
    try:
        return read_object(answer, schema)
    except Unfit as problem:
        again = llm.complete(repair(prompt, answer, str(problem)), system, schema)
    try:
        return read_object(again, schema)
    except Unfit as problem:
        words = one_line(redact(again), 120)
        hint = f"Its answer began: {words}" if words else "Try another model."
        raise LlmFailure(f"{llm.name} gave no usable answer, twice: {problem}", hint) from None


def repair(prompt: str, answer: str, problem: str) -> str:
    """Return the prompt once more, with the answer that was no good."""
    complaint = f"Your last answer could not be used ({problem}). It was:"
    return f"{prompt}\n\n{complaint}\n\n{answer[:MAX_SHOWN_CHARS]}\n\nGive it again, as one JSON object only."


def read_object(text: str, schema: Schema) -> dict[str, Any]:
    """Return the first object in a text that fits; Unfit says what is wrong with the largest one otherwise."""
    problem = Unfit("there is no JSON object in it")
    largest = 0
    for found, length in objects(text[:MAX_ANSWER_CHARS]):
        try:
            check(found, schema)
        except Unfit as unfit:
            if length > largest:
                problem, largest = unfit, length
        else:
            return found
    raise problem


def objects(text: str) -> Iterator[tuple[dict[str, Any], int]]:
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


def check(value: Any, schema: Schema, path: str = "the answer") -> None:
    """Raise Unfit unless a value fits a schema: type, enum, required, properties and items are checked."""
    allowed = schema.get("type", ())
    names = (allowed,) if isinstance(allowed, str) else tuple(allowed)
    if names and not any(_is(value, name) for name in names):
        raise Unfit(f"{path} must be {' or '.join(names)}")
    if "enum" in schema and value not in schema["enum"]:
        raise Unfit(f"{path} must be one of {', '.join(map(str, schema['enum']))}")
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                raise Unfit(f"{path} lacks {name!r}")
        for name, part in schema.get("properties", {}).items():
            if name in value:
                check(value[name], part, name)
    if isinstance(value, list) and "items" in schema:
        for item in value:
            check(item, schema["items"], f"an item of {path}")


def _is(value: Any, name: str) -> bool:
    """Tell whether a value is of a JSON type; to Python, true is a number too."""
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])  # type: ignore[arg-type]
