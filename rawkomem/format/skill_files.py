"""Skill files: what a `SKILL.md`, YAMO text or Markdown declares, and a skill's text in the body of a
memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256

from ..model.entries import Unreadable, Value
from ..model.values import filled, items_of, record, text_of
from ..redaction.find import redact
from ..text.clean import clean, one_line, spaced
from ..text.prose import prose_lines, sentences
from .entries import read_entries
from .frontmatter import read_frontmatter

# Read the text of a skill file, and convert it to and from the body of a memory.
#
# Three forms are supported: `SKILL.md` with frontmatter, YAMO text (`name: X;` lines), and
# Markdown under a heading.

NO_INTENT = "general_procedure"  # RFC-0011: intent of a skill that names none
NAME_LENGTH = 120  # characters
DESCRIPTION_LENGTH = 1_024  # characters that agent hosts read
CONDITION_LENGTH = 256  # characters, the limit of text/conditions.py
FRONT_BLOCK = re.compile(
    r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
FLAT_FIELD = re.compile(
    r"^[ \t]*([A-Za-z][\w-]*)[ \t]*[:;][ \t]*(.*?);?[ \t]*$", re.MULTILINE
)
DECLARED = re.compile(
    r"^(name|agent|intent|description)[ \t]*[:;][ \t]*([^;\n]+)", re.MULTILINE
)
REMARK = " ---"  # starts a remark after a name
SKILL_FENCE = re.compile(r"\A(`{3,})skill\n(.*)\n\1\Z", re.DOTALL)
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
    said = filled(fields)
    for key, declared in DECLARED.findall("\n".join(prose_lines(text))):  # YAMO text
        said.setdefault(key, declared.strip())
    heading = "" if said.get("name") else _first_heading(body)
    name = (
        _plain_line(said.get("name")).partition(REMARK)[0]
        or heading
        or _plain_line(said.get("agent"))
    )
    opening = next(iter(sentences(body)), "") if heading else ""
    # ours, or Claude Code's
    stated = fields.get("whenToUse") or fields.get("when_to_use") or []
    conditions = [_plain_line(item) for item in items_of(stated)]
    return SkillText(
        one_line(name, NAME_LENGTH)
        or f"Unnamed_{sha256(text.encode('utf-8', 'replace')).hexdigest()[:12]}",
        _plain_line(said.get("intent")) or NO_INTENT,
        one_line(_plain_line(said.get("description")) or opening, DESCRIPTION_LENGTH),
        _skill_tags(fields.get("tags")),
        tuple(one for one in conditions if 0 < len(one) <= CONDITION_LENGTH),
        text,
    )


def split_front(text: str) -> tuple[dict[str, Value], str]:
    """Return the frontmatter of a skill file and the text below it. Invalid YAML is read line by line."""
    found = FRONT_BLOCK.match(text)
    if not found:
        return {}, text
    try:
        fields: dict[str, Value] = {
            key: field.value for key, field in read_frontmatter(found[1])[0].items()
        }
    except Unreadable:
        fields = {
            key: value.strip().strip("\"'")
            for key, value in FLAT_FIELD.findall(found[1])
        }
    return fields, text[found.end() :].strip("\n")


def skill_body(text: str) -> str:
    """Return a skill's text as a memory's body. It is put into a fence if it would not read back as one entry."""
    entries, _ = read_entries(
        f"---\nkind: skill\ntitle: x\n---\n\n{text}\n", advice=False
    )
    if len(entries) == 1 and entries[0].body == clean(text).strip("\n").rstrip():
        return text
    return in_fence(text, "skill")


def in_fence(text: str, language: str) -> str:
    """Return a text in a code fence that is longer than any run of backticks in the text."""
    fence = "`" * (max((len(run) for run in TICKS.findall(text)), default=2) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def skill_text_in(body: str) -> str:
    """Return the skill's text from a memory's body."""
    fenced = SKILL_FENCE.match(body)
    return fenced[2] if fenced else body


def as_read_back(text: str) -> str:
    """Return a text as it is read back from a file: redacted, and without invisible characters."""
    return clean(redact(text)).strip("\n").rstrip()


def _plain_line(value: Value | None) -> str:
    return spaced(text_of(value))


def _first_heading(body: str) -> str:
    """Return the heading that a text begins with; empty if it begins with something else."""
    first = next((line for line in body.split("\n") if line.strip()), "")
    return _plain_line(first.lstrip("#")) if first.startswith("#") else ""


def _skill_tags(value: Value | None) -> tuple[str, ...]:
    items: Sequence[object]
    if isinstance(value, list):
        items = value
    else:
        items = str(value or "").strip("[]").split(",")
    return tuple(
        dict.fromkeys(
            tag for item in items if (tag := _plain_line(str(item).strip(" \"'")))
        )
    )
