"""link: add or remove links from the memory to others."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.entry import Entry, Memory, Plan
from ...model.errors import BadInput, NotFound, Refused
from ...model.kinds import KEPT_BOTH
from ..decide import about
from ..derive import DERIVED
from ..keys import Key, texts
from ..references import CORROBORATED, HERITAGE, MEMBER, MENTIONS, RELATED, SIMILAR, SUPERSEDES, Names
from . import Change, Fields, ids, listed

MAX_TYPE_CHARS = 32  # characters
# Types that a link entry cannot have → a hint.
RESERVED_TYPES = {
    SIMILAR: "rawkomem computes similarity from vectors",
    MENTIONS: "write [[id]] into the text",
    SUPERSEDES: "use 'rawkomem supersede'",
    HERITAGE: "a heritage entry creates it",
    DERIVED: "the key derivedFrom of a memory creates it",
    CORROBORATED: "a corroborate entry creates it",
    MEMBER: "use 'rawkomem episode add'",
    KEPT_BOTH: "use 'rawkomem review ID --keep-both'",
}


def plan_link(memory: Memory, other: Memory, type: str, by: str) -> Plan:
    """Plan to link a memory to another one; the entry is about the first."""
    _check_type(type)
    if memory.id == other.id:
        raise BadInput("cannot link a memory to itself", "name two memories")
    for one in (memory, other):
        if one.status == "deleted":
            raise Refused(f"{one.id} is deleted", "link memories that are not deleted")
    if (type, other.id) in memory.links:
        raise Refused(f"{memory.id} is already linked to {other.id} as {type!r}", "nothing to do")
    return Plan((linking(memory, [other.id], type, by),), f"link {memory.id} to {other.id} as {type}")


def plan_unlink(memory: Memory, other: Memory, type: str, by: str) -> Plan:
    """Plan to remove the links between two memories in both directions, of one type or of all types."""
    entries = tuple(
        linking(one, [name], kind, by, removed=True)
        for one, end in ((memory, other), (other, memory))
        for kind, name in one.links
        if type in ("", kind) and end.id in Names([end]).find(name)
    )
    if not entries:
        what = f"no link of type {type!r}" if type else "no link"
        hint = f"run 'rawkomem link list {memory.id}'; to remove relatedMemories and [[…]], amend the memory"
        raise NotFound(f"{what} between {memory.id} and {other.id}", hint)
    return Plan(entries, f"unlink {memory.id} from {other.id}")


def linking(memory: Memory, to: Sequence[str], type: str, by: str, removed: bool = False) -> Entry:
    """Return the entry that adds or removes links from a memory to some others."""
    extra: Fields = {"to": list(to) if len(to) > 1 else to[0]}
    if type != RELATED:
        extra["type"] = type
    if removed:
        extra["removed"] = "true"
    return about(memory, Entry(kind="link", by=by, extra=extra))


def _check_type(type: str) -> None:
    if type in RESERVED_TYPES:
        raise BadInput(f"{type!r} is not a type of link that you can set", RESERVED_TYPES[type])
    plain = type.replace("-", "").replace("_", "")
    if not (plain.isascii() and plain.isalnum()) or len(type) > MAX_TYPE_CHARS:
        raise BadInput(f"not a type of link: {type[:40]!r}", f"use letters, digits, - and _; at most {MAX_TYPE_CHARS}")


def _reduce(fields: Fields, entry: Entry) -> Fields:
    links = tuple((_type(entry), id) for id in ids(entry, "to"))
    others = tuple(known for known in fields.get("links", ()) if known not in links)
    return {"links": others if _removes(entry) else (*others, *links)}


def _type(entry: Entry) -> str:
    return str(entry.extra.get("type", RELATED))


def _removes(entry: Entry) -> bool:
    return entry.extra.get("removed") == "true"


def _tell(entry: Entry) -> str:
    return f"{'unlinked from' if _removes(entry) else 'linked to'} {listed(ids(entry, 'to'))} as {_type(entry)}"


TO, REMOVED = Key("The memories that a link leads to", texts(), refers=True), Key("true: the link is removed")
CHANGE = Change(_reduce, _tell, {"to": TO, "removed": REMOVED})
