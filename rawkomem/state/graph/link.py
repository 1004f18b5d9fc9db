"""Deciding on links: link, unlink. Each returns a Plan; nothing is written here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.entry import Entry, Plan
from ...model.errors import BadInput, NotFound, Refused
from ..decide import plan_about
from ..references import (
    CORROBORATED,
    DERIVED,
    HERITAGE,
    KEPT_BOTH,
    MEMBER,
    MENTIONS,
    RELATED,
    SIMILAR,
    SUPERSEDES,
    Names,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...model.entry import Memory, Value

TYPE_LENGTH = 32
# Types that stand for something else than a link entry, with what makes them.
TAKEN = {
    SIMILAR: "vectors tell what is similar",
    MENTIONS: "write [[id]] into the text",
    SUPERSEDES: "a supersede entry says so",
    HERITAGE: "a heritage entry says so",
    DERIVED: "a digest says so in its frontmatter",
    CORROBORATED: "a corroborate entry says so",
    MEMBER: "use 'rawkomem episode add'",
    KEPT_BOTH: "use 'rawkomem review ID --keep-both'",
}


def plan_link(memory: Memory, other: Memory, type: str, by: str) -> Plan:
    """Say that a memory has to do with another one, in the file of the first."""
    _check_type(type)
    if memory.id == other.id:
        raise BadInput("cannot link a memory to itself", "name two memories")
    for one in (memory, other):
        if one.status == "deleted":
            raise Refused(f"{one.id} is deleted", "link memories that are there")
    if (type, other.id) in memory.links:
        raise Refused(f"{memory.id} is linked to {other.id} as {type!r} already", "nothing to do")
    return plan_links(memory, [other.id], type, by, f"link {memory.id} to {other.id} as {type}")


def plan_unlink(memory: Memory, other: Memory, type: str, by: str) -> Plan:
    """Take back the links between two memories, in both directions; of one type, or all of them."""
    plans = [
        plan_links(one, [name], kind, by, f"unlink {one.id} from {end.id}", removed=True)
        for one, end in ((memory, other), (other, memory))
        for kind, name in one.links
        if type in ("", kind) and end.id in Names([end]).find(name)
    ]
    if not plans:
        what = f"no link of type {type!r}" if type else "no link"
        hint = f"'rawkomem links {memory.id}' shows what connects them; relatedMemories and [[…]] are text: amend it"
        raise NotFound(f"{what} between {memory.id} and {other.id}", hint)
    return Plan(tuple(entry for plan in plans for entry in plan.entries), plans[0].why)


def plan_links(memory: Memory, to: Sequence[str], type: str, by: str, why: str, removed: bool = False) -> Plan:
    """One entry that adds or takes back links from a memory to some others."""
    extra: dict[str, Value] = {"to": list(to) if len(to) > 1 else to[0]}
    if type != RELATED:
        extra["type"] = type
    if removed:
        extra["removed"] = "true"
    return plan_about(memory, Entry(kind="link", by=by, extra=extra), why)


def _check_type(type: str) -> None:
    if type in TAKEN:
        raise BadInput(f"{type!r} is not a type of link to give", TAKEN[type])
    plain = type.replace("-", "").replace("_", "")
    if not (plain.isascii() and plain.isalnum()) or len(type) > TYPE_LENGTH:
        raise BadInput(f"not a type of link: {type[:40]!r}", f"letters, digits, - and _; at most {TYPE_LENGTH}")
