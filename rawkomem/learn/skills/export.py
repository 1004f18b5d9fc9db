"""Export a skill as a folder that agent hosts load: `<name>/SKILL.md` in the format of Agent Skills.

Each exported file carries a checksum of its own text. A file without one, or with a wrong one, is never overwritten.
"""

from __future__ import annotations

import os
import re
from hashlib import sha256
from typing import TYPE_CHECKING

from ...files.whole import refuse_exit, replace_whole
from ...format.emit import emit_fields
from ...model.errors import Refused, Unwritable
from ...model.ids import slug
from ...model.kinds import ACTIVE
from ...model.names import kebab
from ...model.record import record
from ...text.clean import clean, one_line
from ...text.summary import summarize
from .text import DESCRIPTION_LENGTH, split_front, text_in

if TYPE_CHECKING:
    from ...model.entry import Memory, Value

FILE = "SKILL.md"
KEPT_KEYS = ("license", "compatibility")  # `allowed-tools` is not exported: a person must grant tools
COMPATIBILITY_LENGTH = 500  # characters (Agent Skills)
DESCRIPTION_WORDS = 40  # of a description that is summarized from the text
STAMP = re.compile(r"^  rawkomem: (\S+) ([0-9a-f]{16})\n", re.MULTILINE)


@record
class Exported:
    """The file of an exported skill, and whether the export changed it."""

    path: str
    changed: bool


def export_skill(memory: Memory, folder: str, inside: str) -> Exported:
    """Write a skill's folder below `folder`, which must be outside of `inside`, the .rawko folder.

    Raise Refused if the skill is not active or the file is not ours, and Unwritable if it cannot be written.
    """
    if memory.status != ACTIVE:
        raise Refused(f"{memory.id} is {memory.status}: only active skills are exported", "review or restore it first")
    name = portable_name(memory.title)
    target = os.path.join(folder, name)
    if (os.path.realpath(target) + os.sep).startswith(os.path.realpath(inside) + os.sep):
        raise Refused(f"a skill is not exported into the memories: {target}", "name a folder like .claude/skills")
    refuse_exit(target, os.path.dirname(inside))
    file, text = os.path.join(target, FILE), portable(memory, name)
    before = _read_own(file, target, memory.id)
    if before != text:
        try:
            replace_whole(file, text.encode())
        except OSError as failure:
            raise Unwritable(f"cannot write {file}: {failure.strerror}", "check permissions and free space") from None
    return Exported(file, before != text)


def portable_name(title: str) -> str:
    """Return a name for skill and folder that every host accepts: at most 64 lower-case letters, digits and hyphens."""
    return slug(kebab(title) or title)


def portable(memory: Memory, name: str) -> str:
    """Return the text of a skill's SKILL.md, with its checksum."""
    front, body = split_front(text_in(memory.body))
    fields: dict[str, Value] = {"name": name, "description": _description(memory, body)}
    kept = {key: front[key] for key in KEPT_KEYS if isinstance(front.get(key), str)}
    fields |= {key: one_line(str(value), COMPATIBILITY_LENGTH) for key, value in kept.items()}
    head = f"---\n{emit_fields(fields)}metadata:\n"
    rest = f"---\n\n{_body(memory, body)}\n"
    return f"{head}  rawkomem: {memory.id} {_sum(head + rest)}\n{rest}"


def _description(memory: Memory, body: str) -> str:
    said = str(memory.extra.get("description", "")) or summarize([(body, 1.0)], DESCRIPTION_WORDS) or memory.title
    return one_line(said, DESCRIPTION_LENGTH)


def _body(memory: Memory, body: str) -> str:
    """Return the text below the frontmatter. YAMO text is put into a code fence, since it is not Markdown."""
    if not body:
        return f"# {one_line(memory.title)}"
    first = body.split("\n", 1)[0]
    return f"# {one_line(memory.title)}\n\n```yamo\n{body}\n```" if first.rstrip().endswith(";") else body


def _sum(text: str) -> str:
    return sha256(clean(text).encode("utf-8", "replace")).hexdigest()[:16]


def _read_own(file: str, folder: str, id: str) -> str:
    """Return the text of this skill's earlier export; empty if there is no file. Refuse any other file or a link."""
    if os.path.islink(folder) or os.path.islink(file):
        raise Refused(f"{file} is a link", "name another folder, or remove the link")
    try:
        with open(file, encoding="utf-8", newline="") as stream:
            text = stream.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError):
        text = ""
    stamp = STAMP.search(text)
    if not stamp:
        raise Refused(f"{file} was not written by rawkomem", "name another folder, or move that file away")
    if stamp[2] != _sum(STAMP.sub("", text, count=1)):
        raise Refused(
            f"{file} was changed since it was exported", "store it with 'rawkomem skill add', or move it away"
        )
    if stamp[1] != id:
        raise Refused(f"{file} is an export of {stamp[1]}", "rename one of the two skills, or name another folder")
    return text
