"""Read a mapping from YAML events: nothing is constructed, resolved or expanded, and every scalar
stays text.

Aliases, directives, foreign tags, duplicate or complex keys and second documents are rejected.
"""

from __future__ import annotations

from collections.abc import Iterator
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

from ..model.entries import MAX_VALUES, Field, Unreadable, Value
from ..model.values import Problem, error, warning

# the C parser is missing on some platforms
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_REPAIRS = 16  # warnings until no more empty items of a list are dropped
MAX_DEPTH = 8  # nesting levels; no normal value needs more
STANDARD_TAGS = {
    f"tag:yaml.org,2002:{name}"
    for name in str.split("str int float bool null timestamp binary")
}


def read_yaml(text: str, line: int, problems: list[Problem]) -> dict[str, Field]:
    """Return the top-level keys of a mapping; add warnings to `problems`. Raises Unreadable.

    The commas of some empty list items are dropped with a warning.
    """
    try:
        return _Builder(line, problems).build(yaml.parse(text, Loader=Loader))
    except yaml.MarkedYAMLError as failure:
        mark = failure.problem_mark
        message = failure.problem or failure.context or ""
        row, column, at = (
            (mark.line, mark.column + 1, mark.index) if mark else (0, 1, 0)
        )
        is_empty_item = "node content" in message and text[at : at + 1] == ","
        if is_empty_item and len(problems) < MAX_REPAIRS:
            odd = warning(
                "empty-item",
                "empty item in a list dropped",
                "remove a comma",
                line + row,
            )
            problems.append(odd)
            return read_yaml(f"{text[:at]} {text[at + 1 :]}", line, problems)
        hints = (hint for sign, hint in HINTS.items() if sign in message)
        hint = next(hints, "check the YAML near this place")
        message = f"not valid YAML: {message} (column {column})"
        raise Unreadable(error("bad-yaml", message, hint, line + row)) from None
    except (yaml.YAMLError, UnicodeEncodeError) as failure:
        position = getattr(failure, "position", None) or getattr(failure, "start", 0)
        message = "a character that YAML does not allow in the frontmatter"
        row = line + text.count("\n", 0, position)
        raise Unreadable(
            error("bad-character", message, "remove control characters", row)
        ) from None


HINTS = {  # part of the parser's message → hint
    "unknown escape": "use single quotes around patterns with a backslash",
    "cannot start any token": "put the value in quotes; indent with spaces, not tabs",
    "mapping values are not allowed": "put a value that contains ': ' in quotes",
    "document start": "write one mapping between two --- lines, without '...' inside",
    "simple key": "write a key on one line, with at most 1,024 characters",
    "end of stream": "close the quote or the bracket",
    "node content": "close the bracket, or remove the bracket or comma",
}


class _Builder:
    """Builds texts, lists and dictionaries from YAML events, and rejects everything else.

    Composed nodes would be shorter to read, but the C composer crashes on deeply nested lists.
    """

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
                start,
                "yaml-directive",
                "YAML directives are not allowed",
                "remove the % line",
            )
        root = next(events)
        if isinstance(root, ScalarEvent) and root.value == "" and not root.style:
            return {}
        if not isinstance(root, MappingStartEvent):
            message = "the YAML must be a mapping of keys to values"
            self._refuse(root, "no-mapping", message, "write 'key: value' lines")
        self._check(root, 0)
        fields = self._mapping(0)
        next(events)  # document end
        after = next(events)
        if not isinstance(after, yaml.StreamEndEvent):
            message = "a second YAML document in the frontmatter"
            self._refuse(after, "second-document", message, "keep one mapping")
        return fields

    def _mapping(self, depth: int) -> dict[str, Field]:
        fields: dict[str, Field] = {}
        while not isinstance(event := next(self.events), MappingEndEvent):
            if isinstance(event, (SequenceStartEvent, MappingStartEvent)):
                hint = "put a value that starts with { or [ in quotes"
                self._refuse(event, "bad-key", "a key must be plain text", hint)
            key = str(self._field(event, 0).value)
            if key in fields:
                message = f"duplicate key {key[:40]!r}"
                self._refuse(event, "duplicate-key", message, "keep one of them")
            fields[key] = self._field(next(self.events), depth + 1)
        return fields

    def _field(self, event: yaml.Event, depth: int) -> Field:
        self._check(event, depth)
        line = self._line(event)
        if isinstance(event, ScalarEvent):
            return Field(str(event.value), line, not event.style)
        if isinstance(event, MappingStartEvent):
            return Field(
                {key: field.value for key, field in self._mapping(depth).items()}, line
            )
        items: list[Value] = []
        while not isinstance(event := next(self.events), SequenceEndEvent):
            field = self._field(event, depth + 1)
            items.append("" if field.missing else field.value)
        return Field(items, line)

    def _refuse(
        self, event: yaml.Event, code: str, message: str, hint: str
    ) -> NoReturn:
        raise Unreadable(error(code, message, hint, self._line(event)))

    def _line(self, event: yaml.Event) -> int:
        return self.first + (event.start_mark.line if event.start_mark else 0)

    def _check(self, event: yaml.Event, depth: int) -> None:
        """Refuse aliases, foreign tags, and what is too deep or too much; warn of tags and anchors."""
        self.nodes += 1
        tag = getattr(event, "tag", None)
        if isinstance(event, AliasEvent):
            self._refuse(
                event,
                "yaml-alias",
                "YAML aliases are not allowed",
                "write the value out",
            )
        if depth > MAX_DEPTH:
            message = f"nested deeper than {MAX_DEPTH} levels"
            self._refuse(event, "deep-nesting", message, "flatten the value")
        if self.nodes > MAX_VALUES:
            message = f"more than {MAX_VALUES} values in the frontmatter"
            self._refuse(event, "too-many-values", message, "move data into the body")
        if tag and not (tag in STANDARD_TAGS and isinstance(event, ScalarEvent)):
            message = f"YAML tag {tag[:60]!r} is not allowed"
            self._refuse(event, "yaml-tag", message, "remove the tag")
        if tag:
            self._warn(
                event, "yaml-tag", "a YAML tag is ignored: the value is kept as text"
            )
        if getattr(event, "anchor", None):
            self._warn(event, "yaml-anchor", "an unused YAML anchor is ignored")

    def _warn(self, event: yaml.Event, code: str, message: str) -> None:
        self.problems.append(warning(code, message, "remove it", self._line(event)))
