"""Finds and redacts secrets in fields, `key: value`: a key such as `password` makes its value a secret."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from ..model.record import record
from .assigned import rule_of_value
from .find import find_secrets
from .rules import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .leaves import Leaf


@record
class Found:
    """A secret in one field: which leaf holds it, where in the leaf's text, and which rule found it."""

    leaf: int
    start: int
    end: int
    rule: str


def find_in_fields(leaves: Sequence[Leaf], pii: bool = True) -> list[Found]:
    """Return every secret in the fields, in order. A leaf without a key, such as a body, is checked alone."""
    starts, pieces, at = [], [], 0
    for key, text in leaves:
        head = f"{key}: " if key else ""
        pieces.append(head + text)
        starts.append(at + len(head))
        at += len(head) + len(text) + 1
    found = [Found(number, *span) for number, leaf in enumerate(leaves) for span in _given_away(*leaf)]
    whole = {item.leaf for item in found}
    for secret in find_secrets("\n".join(pieces), pii):
        for number in range(max(0, bisect_right(starts, secret.start) - 1), bisect_right(starts, secret.end - 1)):
            start, end = max(0, secret.start - starts[number]), secret.end - starts[number]
            end = min(end, len(leaves[number][1]))
            if number not in whole and start < end:
                found.append(Found(number, start, end, secret.rule))
    return sorted(found, key=lambda item: (item.leaf, item.start))


def redact_fields(leaves: Sequence[Leaf], stand_in: Mapping[str, Callable[[str], str]]) -> list[str]:
    """Return the text of each leaf without secrets. `stand_in`: key → function that replaces its personal data."""
    texts = [text for _, text in leaves]
    keys = [key for key, _ in leaves]
    while found := find_in_fields(list(zip(keys, texts, strict=True))):  # ends: less text is left outside tags
        inside: dict[int, list[Found]] = {}
        for item in found:
            inside.setdefault(item.leaf, []).append(item)
        for number, items in inside.items():
            texts[number] = _redacted(texts[number], items, stand_in.get(keys[number]))
    return texts


def _redacted(text: str, found: Sequence[Found], stand_in: Callable[[str], str] | None) -> str:
    pieces, at = [], 0
    for item in found:
        rule = RULES[item.rule]
        said = stand_in(text[item.start : item.end]) if stand_in and rule.pii else rule.tag
        pieces += [text[at : item.start], said]
        at = item.end
    return "".join([*pieces, text[at:]])


def _given_away(key: str, text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the lines of a text that are secrets because of the text's key."""
    at = 0
    for line in text.split("\n") if key else ():
        value = line.strip()
        if value and (rule := rule_of_value(key, value)):
            start = at + line.index(value)
            yield start, start + len(value), rule
        at += len(line) + 1
