"""Reads the frontmatter of foreign notes with python-frontmatter: YAML, TOML and JSON, and pandoc's title block.

No value is anything but text, lists and mappings, and what a note can make of 64 KiB is bounded.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

import frontmatter
import yaml
from frontmatter.default_handlers import JSONHandler, YAMLHandler

from ...format.read_entries import DROPPED
from ...learn.skills.text import FLAT
from ...model.record import record
from ...text.clean import clean

if TYPE_CHECKING:
    from ...model.entry import Value

MAX_FRONT_CHARS = 64 * 1024
MAX_NODES = 2_000  # values of a frontmatter, aliases written out
MAX_DEPTH = 6
MAX_KEY_CHARS = 100
MAX_KEY_DOTS = 200  # of a TOML key: its reader takes a time that grows with their square
CLOSING = re.compile(r"^(?:---|\.\.\.|\+\+\+|\})[ \t]*$", re.MULTILINE)
BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+")  # at the start of a text, whose first line may be indented code
TITLE_BLOCK = re.compile(r"\A% ?(.*(?:\n[ \t]+\S.*)*)(?:\n% ?(.*(?:\n[ \t]+\S.*)*))?(?:\n% ?(.*))?(?:\n|\Z)")


@record
class Front:
    """The fields of a note, its text below them, and what is wrong with the fields."""

    fields: dict[str, Value]
    body: str
    problem: str = ""


class _Yaml(YAMLHandler):
    """YAML between `---` lines; pandoc also ends it with `...`, and some tools open it with `---yaml`."""

    FM_BOUNDARY = re.compile(r"^(?:---(?:[ \t]*ya?ml)?|\.\.\.)[ \t]*$", re.MULTILINE)

    def load(self, fm: str, **kwargs: object) -> Any:
        return yaml.load(_readable(fm), Loader=yaml.BaseLoader)


class _Toml(YAMLHandler):
    """TOML between `+++` lines."""

    FM_BOUNDARY = re.compile(r"^\+{3}[ \t]*$", re.MULTILINE)

    def load(self, fm: str, **kwargs: object) -> Any:
        if any(part.count(".") > MAX_KEY_DOTS for line in fm.split("\n") for part in line.split("=")):
            raise _TooMuch
        return tomllib.loads(_readable(fm))


class _Json(JSONHandler):
    """A JSON object at the start of a note."""

    def split(self, text: str) -> tuple[str, str]:
        _, end = json.JSONDecoder().raw_decode(text)
        return text[:end], text[end:]


HANDLERS = {"---": _Yaml, "+++": _Toml, "{": _Json}  # how a note begins → what reads it


def read_front(text: str) -> Front:
    """Return the fields of a note and its text; fields that cannot be read are told, and the note is all text."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    start = text.lstrip("\n")
    if start.startswith("%"):
        return _title_block(start)
    handler = next((made for sign, made in HANDLERS.items() if start.startswith(sign)), None)
    if handler is None or not _closes(start):
        return Front({}, text)
    try:
        fields, _ = frontmatter.parse(start, handler=handler())
        if not fields:
            return _line_by_line(start)
        return Front(_bounded(fields), BLANK_LINES.sub("", handler().split(start)[1]).rstrip())
    except _TooMuch:
        return Front({}, _below(start), f"its frontmatter holds more than {MAX_NODES:,} values or {MAX_DEPTH} levels")
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as failure:
        found = _line_by_line(start)
        return found if found.fields else Front({}, text, f"its frontmatter cannot be read: {str(failure)[:80]}")


def _closes(text: str) -> bool:
    """Return whether a frontmatter ends within the limit."""
    return bool(CLOSING.search(text, text.find("\n") + 1, MAX_FRONT_CHARS)) or text.startswith("{")


def _below(text: str) -> str:
    closing = CLOSING.search(text, text.find("\n") + 1, MAX_FRONT_CHARS)
    return text[closing.end() :].strip("\n") if closing else text


def _line_by_line(text: str) -> Front:
    """Return `key: value` lines of a frontmatter that is no YAML, as some tools write it (`globs: *.ts`)."""
    closing = CLOSING.search(text, text.find("\n") + 1, MAX_FRONT_CHARS)
    head = text[text.find("\n") + 1 : closing.start()] if closing else ""
    fields: dict[str, Value] = {key: value.strip().strip("\"'") for key, value in FLAT.findall(head)}
    return Front(fields, _below(text)) if fields and text.startswith("---") else Front({}, text)


def _title_block(text: str) -> Front:
    """Return title, authors and date of pandoc's `%` lines."""
    match = TITLE_BLOCK.match(text)
    title, authors, date = (" ".join((part or "").split()) for part in match.groups()) if match else ("", "", "")
    if not match or not title:
        return Front({}, text)
    names: list[Value] = [name.strip() for name in authors.split(";") if name.strip()]
    fields: dict[str, Value] = {"title": title}
    fields |= {"author": names} if names else {}
    return Front({**fields, **({"date": date} if date else {})}, text[match.end() :].strip("\n"))


class _TooMuch(Exception):
    """Raised where a frontmatter says more than a frontmatter can."""


def _readable(front: str) -> str:
    """Return the text of a frontmatter; raise _TooMuch where its reader would take long."""
    brackets = front.count("[") + front.count("{")
    if len(front) > MAX_FRONT_CHARS or brackets > MAX_NODES:
        raise _TooMuch
    return front


def _bounded(fields: dict[str, Any]) -> dict[str, Value]:
    left = iter(range(MAX_NODES))
    found = _value(fields, 0, left)
    assert isinstance(found, dict)
    return found


def _value(value: Any, depth: int, left: Any) -> Value:
    if next(left, None) is None or depth > MAX_DEPTH:
        raise _TooMuch
    if isinstance(value, dict):
        items = ((" ".join(clean(str(key)).split())[:MAX_KEY_CHARS], item) for key, item in value.items())
        return {key: _value(item, depth + 1, left) for key, item in items if key and key not in DROPPED}
    if isinstance(value, (list, tuple)):
        return [_value(item, depth + 1, left) for item in value]
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else clean(str(value))
