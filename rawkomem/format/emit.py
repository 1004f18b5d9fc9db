"""Write an Entry as text that reads back as the same entry, in this reader and in any YAML 1.2 reader."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..model.clock import iso
from ..model.kinds import DEFAULT_IMPORTANCE
from .field import NULLS
from .llmos_keys import NUMBERS, TOLD, foreign_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model.entry import Entry, Value

PLAIN = re.compile(r"[A-Za-z0-9_/.$(][A-Za-z0-9 _/.,@+()$=%;!?'*~^<>&-]*(?::[A-Za-z0-9_/.+-][A-Za-z0-9_/.+-]*)*")
# Words that other YAML readers do not read as text.
RESERVED_WORDS = {"true", "false", "yes", "no", "on", "off", "y", "n", "null", ".inf", ".nan"}
NUMBER = re.compile(r"[0-9.+-][0-9a-fxo._:+-]*", re.IGNORECASE)
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,6})?Z)?")
FLOW_WIDTH = 100  # longer lists have one item per line, for better diffs
SPECIAL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")


def emit_entry(entry: Entry) -> str:
    """Return the entry as text for a file: frontmatter between `---` lines, a blank line, the body."""
    body = entry.body.strip("\n")
    head = f"---\n{emit_fields(_fields(entry))}---\n"
    return f"{head}\n{body}\n" if body else head


def emit_fields(fields: Mapping[str, Value]) -> str:
    """Return keys and values as YAML, one key per line."""
    return "".join(f"{_scalar(key)}:{_top_value(key, value)}" for key, value in fields.items())


def _top_value(key: str, value: Value) -> str:
    """Return a value as YAML; some keys hold bare numbers or several lines. Our reader reads both as text."""
    if isinstance(value, str):
        if key in NUMBERS and value.isascii() and value.isdecimal():
            return f" {value}\n"
        if key in TOLD and "\n" in value and value == value.strip() and not SPECIAL.search(value.replace("\n", "")):
            return " |2-\n" + "".join(f"  {line}\n" if line else "\n" for line in value.split("\n"))
    return _value(value, "")


def _fields(entry: Entry) -> dict[str, Value]:
    create = entry.creates
    named: dict[str, Value] = {
        "id": entry.id,
        "kind": "" if entry.kind == "memory" else entry.kind,
        "about": entry.about,
        "title": entry.title,
        "whenToUse": list(entry.when),
        "tags": list(entry.tags),
        "importance": _importance(entry),
        "discoveredAt" if create else "at": iso(entry.at),
        "discoveredBy" if create else "by": entry.by,
        "discoveredIn": entry.found_in,
        "source": entry.source,
        "relatedMemories": list(entry.related),
    }
    foreign = foreign_keys(entry)
    if foreign:
        named = {**{theirs: named.pop(ours) for ours, theirs in foreign.items()}, **named, "kind": ""}
    emptied = () if create else entry.given  # an amendment may make a list empty
    return {**{key: value for key, value in named.items() if value or key in emptied}, **entry.extra}


def _importance(entry: Entry) -> str:
    usual = entry.importance == DEFAULT_IMPORTANCE and "importance" not in entry.given
    if not usual or (entry.creates and not foreign_keys(entry)):
        return entry.importance
    return ""


def _value(value: Value, indent: str) -> str:
    if isinstance(value, dict):
        if not value:
            return " {}\n"
        inner = indent + "  "
        return "\n" + "".join(f"{inner}{_scalar(key)}:{_value(item, inner)}" for key, item in value.items())
    if isinstance(value, list):
        return _list(value, indent)
    return f" {_scalar(value)}\n"


def _list(items: list[Value], indent: str) -> str:
    if all(isinstance(item, str) for item in items):
        flow = "[" + ", ".join(_scalar(str(item), flow=True) for item in items) + "]"
        if len(flow) <= FLOW_WIDTH and all(_is_plain(str(item)) and "," not in str(item) for item in items):
            return f" {flow}\n"
        return "\n" + "".join(f"{indent}  - {_scalar(str(item))}\n" for item in items)
    return f" {_flow(items)}\n"


def _flow(value: Value) -> str:
    """Return a nested value on one line, with every text in quotes."""
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    return _quoted(value)


def _is_plain(text: str) -> bool:
    if text in NULLS or text.lower() in RESERVED_WORDS or text != text.strip() or len(text) > 1000:
        return False
    return bool(DATE.fullmatch(text)) or (bool(PLAIN.fullmatch(text)) and not NUMBER.fullmatch(text))


def _scalar(text: str, flow: bool = False) -> str:
    if _is_plain(text) and not (flow and "," in text):
        return text
    if "\\" in text and "'" not in text and not SPECIAL.search(text) and "\n" not in text:
        return f"'{text}'"  # single quotes keep the backslashes of a pattern readable
    return _quoted(text)


def _quoted(text: str) -> str:
    return '"' + SPECIAL.sub(_escape, text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return {9: "\\t", 10: "\\n", 13: "\\r"}.get(code) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
