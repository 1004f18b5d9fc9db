"""Read the text of a skill file, and convert it to and from the body of a memory.

Three forms are supported: `SKILL.md` with frontmatter, YAMO text (`name: X;` lines), and Markdown under a heading.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING

from ...format.field import Unreadable
from ...format.frontmatter import read_frontmatter
from ...format.read_entries import read_entries
from ...model.record import record
from ...redaction.find import redact
from ...text.clean import clean, one_line
from ...text.prose import prose_lines, sentences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...model.entry import Value

NO_INTENT = "general_procedure"  # RFC-0011: intent of a skill that names none
NAME_LENGTH = 120  # characters
DESCRIPTION_LENGTH = 1_024  # characters that agent hosts read
CONDITION_LENGTH = 256  # characters, the limit of text/when.py
FRONT = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
FLAT = re.compile(r"^[ \t]*([A-Za-z][\w-]*)[ \t]*[:;][ \t]*(.*?);?[ \t]*$", re.MULTILINE)
DECLARED = re.compile(r"^(name|agent|intent|description)[ \t]*[:;][ \t]*([^;\n]+)", re.MULTILINE)
REMARK = " ---"  # starts a remark after a name
FENCE = re.compile(r"\A(`{3,})skill\n(.*)\n\1\Z", re.DOTALL)
TICKS = re.compile(r"`{3,}")


@record
class SkillText:
    """The fields that a skill file declares, and its whole text."""

    name: str
    intent: str
    description: str
    tags: tuple[str, ...]
    when: tuple[str, ...]
    text: str


def read_skill(text: str) -> SkillText:
    """Return the fields and text of a skill file. A skill without a name is named after the hash of its text."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").strip("\n").rstrip()
    fields, body = split_front(text)
    said = {**_declared(text), **{key: value for key, value in fields.items() if value}}
    heading = "" if said.get("name") else _heading(body)
    name = _line(said.get("name")).partition(REMARK)[0] or heading or _line(said.get("agent"))
    opening = next(iter(sentences(body)), "") if heading else ""
    return SkillText(
        one_line(name, NAME_LENGTH) or f"Unnamed_{sha256(text.encode('utf-8', 'replace')).hexdigest()[:12]}",
        _line(said.get("intent")) or NO_INTENT,
        one_line(_line(said.get("description")) or opening, DESCRIPTION_LENGTH),
        _tags(fields.get("tags")),
        tuple(condition for condition in _conditions(fields) if 0 < len(condition) <= CONDITION_LENGTH),
        text,
    )


def split_front(text: str) -> tuple[dict[str, Value], str]:
    """Return the frontmatter of a skill file and the text below it. Invalid YAML is read line by line."""
    found = FRONT.match(text)
    if not found:
        return {}, text
    try:
        fields: dict[str, Value] = {key: field.value for key, field in read_frontmatter(found[1])[0].items()}
    except Unreadable:
        fields = {key: value.strip().strip("\"'") for key, value in FLAT.findall(found[1])}
    return fields, text[found.end() :].strip("\n")


def body_of(text: str) -> str:
    """Return a skill's text as a memory's body. It is put into a fence if it would not read back as one entry."""
    entries, _ = read_entries(f"---\nkind: skill\ntitle: x\n---\n\n{text}\n", advice=False)
    if len(entries) == 1 and entries[0].body == clean(text).strip("\n").rstrip():
        return text
    return in_fence(text, "skill")


def in_fence(text: str, language: str) -> str:
    """Return a text in a code fence that is longer than any run of backticks in the text."""
    fence = "`" * (max((len(run) for run in TICKS.findall(text)), default=2) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def text_in(body: str) -> str:
    """Return the skill's text from a memory's body."""
    fenced = FENCE.match(body)
    return fenced[2] if fenced else body


def as_read(text: str) -> str:
    """Return a text as it is read back from a file: redacted, and without invisible characters."""
    return clean(redact(text)).strip("\n").rstrip()


def _declared(text: str) -> dict[str, str]:
    """Return the fields that YAMO text declares at the start of lines; the first declaration of a field counts."""
    found: dict[str, str] = {}
    for key, value in DECLARED.findall("\n".join(prose_lines(text))):
        found.setdefault(key, value.strip())
    return found


def _line(value: Value | None) -> str:
    return " ".join(clean(value).split()) if isinstance(value, str) else ""


def _heading(body: str) -> str:
    """Return the heading that a text begins with; empty if it begins with something else."""
    first = next((line for line in body.split("\n") if line.strip()), "")
    return _line(first.lstrip("#")) if first.startswith("#") else ""


def _tags(value: Value | None) -> tuple[str, ...]:
    items = value if isinstance(value, list) else str(value or "").strip("[]").split(",")
    return tuple(dict.fromkeys(tag for item in items if (tag := _line(str(item).strip(" \"'")))))


def _conditions(fields: Mapping[str, Value]) -> list[str]:
    """Return the conditions under our key `whenToUse`, or under Claude Code's `when_to_use`."""
    value = fields.get("whenToUse") or fields.get("when_to_use") or []
    return [_line(item) for item in (value if isinstance(value, list) else [value])]
