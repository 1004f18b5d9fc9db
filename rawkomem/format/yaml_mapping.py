"""Read a mapping from YAML events: nothing is constructed, resolved or expanded, and every scalar
stays text.

Aliases, directives, foreign tags, duplicate or complex keys and second documents are rejected.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NoReturn

import yaml
from yaml import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from ..model.entries import Value
from ..model.values import Problem, error, warning
from .fields import MAX_VALUES, NULLS, Field, Unreadable

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C parser is missing on some platforms

MAX_DEPTH = 8  # nesting levels; no normal value needs more
MAX_REPAIRS = 16  # empty items of a flow list that are dropped before we give up
STANDARD_TAGS = {
    f"tag:yaml.org,2002:{name}"
    for name in ("str", "int", "float", "bool", "null", "timestamp", "binary")
}


def read_yaml(text: str, line: int, problems: list[Problem]) -> dict[str, Field]:
    """Return the top-level keys of a mapping; add warnings to `problems`. Raises Unreadable."""
    for _ in range(MAX_REPAIRS):
        try:
            return _Builder(line, problems).build(yaml.parse(text, Loader=Loader))
        except yaml.MarkedYAMLError as failure:
            repaired = _without_empty_item(text, failure)
            if repaired is None:
                raise Unreadable(_explain(failure, line)) from None
            at = line + _line_of(failure)
            problems.append(
                warning("empty-item", "empty item in a list dropped", "remove the extra comma", at)
            )
            text = repaired
        except (yaml.YAMLError, UnicodeEncodeError) as failure:
            raise Unreadable(_explain_characters(failure, text, line)) from None
    raise Unreadable(
        error("empty-items", "too many empty items in a list", "remove the extra commas", line)
    )


def _line_of(failure: yaml.MarkedYAMLError) -> int:
    return failure.problem_mark.line if failure.problem_mark else 0


def _without_empty_item(text: str, failure: yaml.MarkedYAMLError) -> str | None:
    """Return the text without the comma of an empty list item, if that was the error; else None."""
    mark = failure.problem_mark
    if (
        mark is None
        or "node content" not in (failure.problem or "")
        or text[mark.index : mark.index + 1] != ","
    ):
        return None
    return text[: mark.index] + " " + text[mark.index + 1 :]


HINTS = (
    ("unknown escape", "use single quotes around patterns with a backslash"),
    ("cannot start any token", "put the value in quotes; indent with spaces, not tabs"),
    ("mapping values are not allowed", "put a value that contains ': ' in quotes"),
    ("document start", "write one mapping between two --- lines, without '...' inside"),
    ("simple key", "write a key on one line, with at most 1,024 characters"),
    ("end of stream", "close the quote or the bracket"),
)


def _explain(failure: yaml.MarkedYAMLError, line: int) -> Problem:
    message = failure.problem or failure.context or "not valid YAML"
    column = failure.problem_mark.column + 1 if failure.problem_mark else 1
    hint = next((hint for sign, hint in HINTS if sign in message), "check the YAML near this place")
    return error(
        "bad-yaml", f"not valid YAML: {message} (column {column})", hint, line + _line_of(failure)
    )


def _explain_characters(failure: Exception, text: str, line: int) -> Problem:
    position = getattr(failure, "position", None) or getattr(failure, "start", 0) or 0
    message = "a character that YAML does not allow in the frontmatter"
    return error(
        "bad-character", message, "remove control characters", line + text.count("\n", 0, position)
    )


class _Builder:
    """Builds texts, lists and dictionaries from YAML events, and rejects everything else."""

    def __init__(self, line: int, problems: list[Problem]):
        self.first = line
        self.problems = problems
        self.nodes = 0

    def build(self, events: Iterator[yaml.Event]) -> dict[str, Field]:
        self.events = events
        next(events)  # stream start
        start = next(events)
        if isinstance(start, yaml.StreamEndEvent):
            return {}
        if getattr(start, "version", None) or getattr(start, "tags", None):
            self._refuse(
                start, "yaml-directive", "YAML directives are not allowed", "remove the % line"
            )
        root = next(events)
        if isinstance(root, ScalarEvent) and root.value == "" and not root.style:
            return {}
        if not isinstance(root, MappingStartEvent):
            message = "the YAML must be a mapping of keys to values"
            self._refuse(root, "no-mapping", message, "write 'key: value' lines")
        self._check(root, 0)
        fields: dict[str, Field] = {}
        while not isinstance(event := next(events), MappingEndEvent):
            key = self._key(event, fields)
            event = next(events)
            plain = isinstance(event, ScalarEvent) and not event.style
            fields[key] = Field(self._value(event, 1), self._line(event), plain)
        next(events)  # document end
        after = next(events)
        if not isinstance(after, yaml.StreamEndEvent):
            self._refuse(
                after,
                "second-document",
                "a second YAML document in the frontmatter",
                "keep one mapping",
            )
        return fields

    def _refuse(self, event: yaml.Event, code: str, message: str, hint: str = "") -> NoReturn:
        raise Unreadable(error(code, message, hint, self._line(event)))

    def _line(self, event: yaml.Event) -> int:
        return self.first + (event.start_mark.line if event.start_mark else 0)

    def _key(self, event: yaml.Event, seen: Container[str]) -> str:
        if isinstance(event, (SequenceStartEvent, MappingStartEvent)):
            hint = "put a value that starts with { or [ in quotes"
            self._refuse(event, "bad-key", "a key must be plain text", hint)
        self._check(event, 0)
        assert isinstance(event, ScalarEvent)  # an alias is refused
        key = str(event.value)
        if key in seen:
            self._refuse(event, "duplicate-key", f"duplicate key {key[:40]!r}", "keep one of them")
        return key

    def _value(self, event: yaml.Event, depth: int) -> Value:
        self._check(event, depth)
        if isinstance(event, ScalarEvent):
            return str(event.value)
        if isinstance(event, SequenceStartEvent):
            items: list[Value] = []
            while not isinstance(event := next(self.events), SequenceEndEvent):
                null = isinstance(event, ScalarEvent) and not event.style and event.value in NULLS
                value = self._value(event, depth + 1)
                items.append("" if null else value)
            return items
        mapping: dict[str, Value] = {}
        while not isinstance(event := next(self.events), MappingEndEvent):
            key = self._key(event, mapping)
            mapping[key] = self._value(next(self.events), depth + 1)
        return mapping

    def _check(self, event: yaml.Event, depth: int) -> None:
        """Refuse aliases, foreign tags, and what is too deep or too much; warn of tags and anchors."""
        if isinstance(event, AliasEvent):
            self._refuse(event, "yaml-alias", "YAML aliases are not allowed", "write the value out")
        if depth > MAX_DEPTH:
            message = f"nested deeper than {MAX_DEPTH} levels"
            self._refuse(event, "deep-nesting", message, "flatten the value")
        self.nodes += 1
        if self.nodes > MAX_VALUES:
            message = f"more than {MAX_VALUES} values in the frontmatter"
            self._refuse(event, "too-many-values", message, "move data into the body")
        line = self._line(event)
        tag = getattr(event, "tag", None)
        if tag and not (tag in STANDARD_TAGS and isinstance(event, ScalarEvent)):
            self._refuse(
                event, "yaml-tag", f"YAML tag {tag[:60]!r} is not allowed", "remove the tag"
            )
        if tag:
            message = "a YAML tag is ignored: the value is kept as text"
            self.problems.append(warning("yaml-tag", message, "remove the tag", line))
        if getattr(event, "anchor", None):
            self.problems.append(
                warning(
                    "yaml-anchor", "an unused YAML anchor is ignored", "remove the & name", line
                )
            )
