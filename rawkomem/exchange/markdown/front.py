"""Read the frontmatter of foreign notes with python-frontmatter: YAML, TOML and JSON, and pandoc's title block.

Values are only texts, lists and mappings. Size, depth and number of values are limited.
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
MAX_NODES = 2_000  # values of a frontmatter, with aliases expanded
MAX_DEPTH = 6
MAX_KEY_CHARS = 100
MAX_KEY_DOTS = 200  # of a TOML key: the parser's time grows with the square of their number
CLOSING = re.compile(r"^(?:---|\.\.\.|\+\+\+|\})[ \t]*$", re.MULTILINE)
BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+")  # at the start; the first line of text may be indented code
TITLE_BLOCK = re.compile(r"\A% ?(.*(?:\n[ \t]+\S.*)*)(?:\n% ?(.*(?:\n[ \t]+\S.*)*))?(?:\n% ?(.*))?(?:\n|\Z)")


@record
class Front:
    """The fields of a note, the text below them, and the error if the fields cannot be read."""

    fields: dict[str, Value]
    body: str
    problem: str = ""


class _Yaml(YAMLHandler):
    """YAML between `---` lines; pandoc also ends it with `...`, and some tools start it with `---yaml`."""

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


HANDLERS = {"---": _Yaml, "+++": _Toml, "{": _Json}  # start of a note → handler


def read_front(text: str) -> Front:
    """Return the fields of a note and its text; if the fields cannot be read, `problem` says why."""
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
    """Tell whether a frontmatter ends within the size limit."""
    return bool(CLOSING.search(text, text.find("\n") + 1, MAX_FRONT_CHARS)) or text.startswith("{")


def _below(text: str) -> str:
    closing = CLOSING.search(text, text.find("\n") + 1, MAX_FRONT_CHARS)
    return text[closing.end() :].strip("\n") if closing else text


def _line_by_line(text: str) -> Front:
    """Read `key: value` lines of a frontmatter that is not valid YAML, as some tools write it (`globs: *.ts`)."""
    closing = CLOSING.search(text, text.find("\n") + 1, MAX_FRONT_CHARS)
    head = text[text.find("\n") + 1 : closing.start()] if closing else ""
    fields: dict[str, Value] = {key: value.strip().strip("\"'") for key, value in FLAT.findall(head)}
    return Front(fields, _below(text)) if fields and text.startswith("---") else Front({}, text)


def _title_block(text: str) -> Front:
    """Read title, authors and date from pandoc's `%` lines."""
    match = TITLE_BLOCK.match(text)
    title, authors, date = (" ".join((part or "").split()) for part in match.groups()) if match else ("", "", "")
    if not match or not title:
        return Front({}, text)
    names: list[Value] = [name.strip() for name in authors.split(";") if name.strip()]
    fields: dict[str, Value] = {"title": title}
    fields |= {"author": names} if names else {}
    return Front({**fields, **({"date": date} if date else {})}, text[match.end() :].strip("\n"))


class _TooMuch(Exception):
    """Raised if a frontmatter exceeds a limit."""


def _readable(front: str) -> str:
    """Return the text of a frontmatter; raise _TooMuch if parsing it would take too long."""
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
