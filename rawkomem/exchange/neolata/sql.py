"""Read the rows of `COPY … FROM stdin` blocks, which pg_dump and the Supabase CLI write for each table."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Row = dict[str, Any]

COPY = re.compile(r'COPY\s+(?:"?\w+"?\.)?"?(\w+)"?\s*\(([^)]*)\)\s+FROM\s+stdin;', re.IGNORECASE)
END = "\\."
NULL = "\\N"
ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
OBJECTS = ("claim", "provenance", "quarantine", "compressed", "metadata", "new_claim", "existing_claim")
LISTS = ("tags", "supersedes", "agents", "memory_ids")
NUMBERS = ("importance", "access_count", "confidence", "stability", "last_review_interval", "reinforcements",
           "disputes", "strength", "new_trust", "existing_trust")  # fmt: skip
STAMP = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)([+-]\d\d)(?::?(\d\d))?")
ARRAY_ITEM = re.compile(r'"((?:[^"\\]|\\.)*)"|([^,{}]+)', re.DOTALL)


def copied_rows(lines: Iterable[str]) -> Iterator[tuple[str, Row]]:
    """Yield (table, row) for each row of the dump, with lists, numbers, objects and times as in JSON."""
    table, columns = "", [""]
    for raw in lines:
        line = raw.rstrip("\n").removesuffix("\r")
        if not table:
            if found := COPY.match(line):
                table, columns = found[1], [name.strip(' "') for name in found[2].split(",")]
        elif line == END:
            table = ""
        else:
            values = line.split("\t")
            if len(values) == len(columns):
                yield table, {name: _value(name, text) for name, text in zip(columns, values, strict=True)}


def _value(column: str, text: str) -> Any:
    if text == NULL:
        return None
    text = ESCAPE.sub(lambda found: _unescaped(found[1]), text)
    try:
        if column in OBJECTS:
            return json.loads(text)
        if column in NUMBERS:
            return json.loads(text)
    except ValueError:
        return text
    if column in LISTS:
        return _array(text)
    if column.endswith(("_at", "_start", "_end")) and (found := STAMP.fullmatch(text)):
        return f"{found[1]}T{found[2]}{found[3]}:{found[4] or '00'}"
    return text


def _unescaped(code: str) -> str:
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    return chr(int(code, 8)) if code.isdigit() else ESCAPED.get(code, code)


def _array(text: str) -> list[str]:
    """Return the items of a text array in PostgreSQL's notation: {a,"b c"}."""
    found = ARRAY_ITEM.finditer(text.removeprefix("{").removesuffix("}"))
    return [re.sub(r"\\(.)", r"\1", one[1], flags=re.DOTALL) if one[1] is not None else one[2] for one in found]
