"""Read the prose of a Markdown body: lines outside of code, and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .chunk import fence_after
from .language import language

HEADING, ITEM, PARAGRAPH = "heading", "item", "paragraph"
BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+")
BACKTICKS = re.compile(r"`+")
# A sentence ends at a mark, a space and then no small letter. Scripts without spaces have their own marks.
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"')\]]{0,2}\s+(?=[^\sa-z.,;:!?])|(?<=[。！？])")


def prose_lines(body: str) -> Iterator[str]:
    """Yield the lines of a body that are not in a code fence."""
    fence = ""
    for line in body.split("\n"):
        before, fence = fence, fence_after(fence, line)
        if not before and not fence:
            yield line


def without_code(line: str) -> str:
    """Return a line without its `code spans`."""
    return "".join(part for part, code in spans(line) if not code)


def spans(line: str) -> Iterator[tuple[str, bool]]:
    """Yield (text, is code) for each piece of a line. A code span ends at a run of as many backticks as it started."""
    runs = [(run.start(), run.end()) for run in BACKTICKS.finditer(line)]
    later: dict[int, list[int]] = {}
    for number in reversed(range(len(runs))):
        later.setdefault(runs[number][1] - runs[number][0], []).append(number)
    at = number = 0
    while number < len(runs):
        start, end = runs[number]
        same = later[end - start]
        while same[-1] <= number and len(same) > 1:
            same.pop()
        if same[-1] > number:
            yield line[at:start], False
            number = same[-1]
            at = runs[number][1]
            yield line[start:at], True
        number += 1
    yield line[at:], False


def sentences(body: str) -> list[str]:
    """Return the sentences of a body in order, without headings, tables and code.

    Each list item is a sentence that starts with the heading or words before the list: "Do not: …" negates it.
    """
    found: list[str] = []
    lead = ""
    for kind, text in _blocks(body):
        parts = list(_split(" ".join(text.split())))
        if kind == HEADING:
            lead = text
            continue
        if kind == ITEM:
            parts[:1] = [f"{lead}: {part}" if lead else part for part in parts[:1]]
        else:
            lead = parts.pop().rstrip(": ") if text.endswith(":") else ""
        found += parts
    return found


def _blocks(body: str) -> Iterator[tuple[str, str]]:
    """Yield headings, list items and paragraphs, without their marks."""
    kind, block = PARAGRAPH, list[str]()
    for line in [*prose_lines(body), ""]:
        text = line.strip().lstrip(">").strip()
        bullet = BULLET.match(line)
        heading = text.startswith("#")
        apart = heading or bool(bullet) or text.startswith(("|", "<!--")) or not text.strip("-=*_ ")
        if apart and block:
            yield kind, " ".join(block)
            kind, block = PARAGRAPH, []
        if heading and text.strip("# "):
            yield HEADING, text.strip("# ")
        elif bullet:
            kind, block = ITEM, [line[bullet.end() :].strip()]
        elif not apart:
            block.append(text)


def _split(text: str) -> Iterator[str]:
    start = 0
    for end in SENTENCE_END.finditer(text):
        sentence = text[start : end.start()]
        if sentence.lower().endswith(language().abbreviations):
            continue
        closing = text[end.start() : end.end()].rstrip()
        yield sentence.strip() + closing
        start = end.end()
    rest = text[start:].strip()
    if rest:
        yield rest
