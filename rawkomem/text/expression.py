"""Parses the conditions of `--filter`, a safe subset of SQL. They are never passed to a database.

    condition := condition OR condition | condition AND condition | NOT condition | ( condition ) | test
    test      := field (= | != | <> | < | <= | > | >=) value | field [NOT] IN (value, …) | field [NOT] LIKE 'pattern'
               | field [NOT] BETWEEN value AND value | field IS [NOT] NULL | array_contains(field, value)

Everything else in SQL is rejected; the error names the word and its position. NULL works as in SQL:
a comparison with NULL is neither true nor false, and only true conditions select a memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from operator import eq, ge, gt, le, lt, ne
from typing import NoReturn

from ..model.errors import BadInput
from ..model.values import read_moment, record
from .paths import fits_wildcards

FieldValue = str | int | float | bool | Sequence[str] | None
Fields = Mapping[str, FieldValue]
Truth = bool | None
Test = Callable[[Fields], Truth]

MAX_FILTER_LENGTH = 4_000  # characters
MAX_FILTER_DEPTH = 40  # of nested conditions
TOKEN_PATTERN = re.compile(
    r"""\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+(?:\.\d+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_.]*)"""
    r"""|(?P<sign><=|>=|<>|!=|==|[=<>(),])|(?P<other>\S))"""
)
COMPARISONS = {"=": eq, "==": eq, "!=": ne, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
CONTAINS = ("array_contains", "array_has")


@record
class Token:
    """A word or sign of an expression; `column` counts from 1."""

    kind: str
    text: str
    column: int


def parse_expression(text: str, fields: Sequence[str]) -> Test:
    """Return a function that tests a memory's fields. Raise BadInput for a syntax error or an unknown field."""
    if len(text) > MAX_FILTER_LENGTH:
        raise BadInput(
            f"the filter is {len(text)} characters long", f"use at most {MAX_FILTER_LENGTH}"
        )
    return _Parser(_tokens(text), fields).whole()


def _tokens(text: str) -> list[Token]:
    tokens, end = [], 0
    while match := TOKEN_PATTERN.match(text, end):
        kind = match.lastgroup or ""
        tokens.append(Token(kind, match[kind], match.start(kind) + 1))
        end = match.end()
    return [*tokens, Token("end", "", len(text) + 1)]


class _Parser:
    """A recursive descent parser."""

    def __init__(self, tokens: list[Token], fields: Sequence[str]):
        self.tokens = tokens
        self.fields = fields
        self.at = 0
        self.depth = 0

    def whole(self) -> Test:
        test = self.either()
        if self.next.kind != "end":
            self.refuse("AND, OR or the end")
        return test

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def skip(self, *words: str) -> bool:
        """Consume these words if they come next; return whether they did."""
        ahead = [
            token.text.upper()
            for token in self.tokens[self.at : self.at + len(words)]
            if token.kind != "text"
        ]
        if ahead != list(words):
            return False
        self.at += len(words)
        return True

    def expect(self, word: str) -> None:
        if not self.skip(word):
            self.refuse(word)

    def refuse(self, wanted: str) -> NoReturn:
        token = self.next
        what = f"{token.text!r} at column {token.column}" if token.kind != "end" else "its end"
        raise BadInput(
            f"the filter is not understood at {what}",
            f"expected {wanted}; see 'rawkomem search --help'",
        )

    def either(self) -> Test:
        tests = [self.both()]
        while self.skip("OR"):
            tests.append(self.both())
        return lambda fields: _any_true([test(fields) for test in tests])

    def both(self) -> Test:
        tests = [self.negated()]
        while self.skip("AND"):
            tests.append(self.negated())
        return lambda fields: _negated(_any_true([_negated(test(fields)) for test in tests]))

    def negated(self) -> Test:
        self.depth += 1
        if self.depth > MAX_FILTER_DEPTH:
            raise BadInput(
                f"the filter is nested deeper than {MAX_FILTER_DEPTH} levels",
                "use fewer nested brackets and NOTs",
            )
        if self.skip("NOT"):
            inner = self.negated()
            test: Test = lambda fields: _negated(inner(fields))  # noqa: E731
        elif self.skip("("):
            test = self.either()
            self.expect(")")
        else:
            test = self.test()
        self.depth -= 1
        return test

    def test(self) -> Test:
        if self.next.text.lower() in CONTAINS and self.tokens[self.at + 1].text == "(":
            return self.contains()
        field = self.field()
        if self.skip("IS", "NOT", "NULL"):
            return lambda fields: fields[field] is not None
        if self.skip("IS", "NULL"):
            return lambda fields: fields[field] is None
        inverted = self.skip("NOT")
        test = self.ranged(field)
        if test is None and not inverted and self.next.text in COMPARISONS:
            test = self.compared(field)
        if test is None:
            self.refuse(
                "=, !=, <, <=, >, >=, IN, LIKE, BETWEEN or IS NULL"
                if not inverted
                else "IN, LIKE or BETWEEN"
            )
        positive = test
        return (lambda fields: _negated(positive(fields))) if inverted else positive

    def ranged(self, field: str) -> Test | None:
        if self.skip("IN"):
            self.expect("(")
            wanted = [self.value()]
            while self.skip(","):
                wanted.append(self.value())
            self.expect(")")
            return lambda fields: _any_true(
                [_compare_values(fields[field], value, "=") for value in wanted]
            )
        if self.skip("LIKE"):
            if self.next.kind != "text":
                self.refuse("a pattern in quotes")
            pattern = str(self.value()).casefold()
            return lambda fields: (
                None if fields[field] is None else _is_like(fields[field], pattern)
            )
        if self.skip("BETWEEN"):
            least = self.value()
            self.expect("AND")
            most = self.value()

            def is_between(fields: Fields) -> Truth:
                below = _compare_values(fields[field], least, "<")
                above = _compare_values(fields[field], most, ">")
                return _negated(_any_true([below, above]))

            return is_between
        return None

    def compared(self, field: str) -> Test:
        sign = self.take().text
        value = self.value()
        return lambda fields: _compare_values(fields[field], value, sign)

    def contains(self) -> Test:
        self.take()
        self.expect("(")
        field = self.field()
        self.expect(",")
        value = self.value()
        self.expect(")")
        return lambda fields: _contains_value(fields[field], value)

    def field(self) -> str:
        if self.next.kind != "name" or self.next.text not in self.fields:
            self.refuse("one of " + ", ".join(self.fields))
        return self.take().text

    def value(self) -> FieldValue:
        if self.next.kind not in ("text", "number") and self.next.text.upper() not in (
            "TRUE",
            "FALSE",
            "NULL",
        ):
            self.refuse("a number or a text in single quotes")
        token = self.take()
        if token.kind == "text":
            return token.text[1:-1].replace("''", "'")
        if token.kind == "number":
            return float(token.text)
        return {"TRUE": True, "FALSE": False}.get(token.text.upper())


def _any_true(truths: Sequence[Truth]) -> Truth:
    return True if True in truths else None if None in truths else False


def _negated(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _compare_values(known: FieldValue, value: FieldValue, sign: str) -> Truth:
    """Compare numbers as numbers, times as times, and other values as text. A list matches if one of its items does."""
    if known is None or value is None:
        return None
    if isinstance(known, (list, tuple)):
        return _any_true([_compare_values(item, value, sign) for item in known]) or False
    if not isinstance(known, (int, float)):
        return bool(COMPARISONS[sign](str(known), str(value)))
    moment = read_moment(value) if isinstance(value, str) else value
    return bool(COMPARISONS[sign](known, moment)) if isinstance(moment, (int, float)) else None


def _is_like(known: FieldValue, pattern: str) -> bool:
    texts = known if isinstance(known, (list, tuple)) else [str(known)]
    return any(fits_wildcards(pattern, text.casefold(), "%", "_") for text in texts)


def _contains_value(known: FieldValue, value: FieldValue) -> Truth:
    if known is None or value is None:
        return None
    return str(value) in known if isinstance(known, (list, tuple)) else str(known) == str(value)
