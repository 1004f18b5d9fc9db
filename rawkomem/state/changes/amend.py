"""amend: change a memory. Only the keys that the entry has are changed, and the body if it is not empty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...format.citation import KEY, cited_in, with_cited
from ...format.compose import KEY_OF
from ...model.entry import Entry, Memory, Plan
from ...model.errors import BadInput, Refused
from ...model.record import replace
from ..decide import check_entry, check_in_use, plan_about
from ..keys import Key, texts
from . import Change, Fields, ids, listed

if TYPE_CHECKING:
    from ...format.citation import Citation


# frontmatter key → field of Memory, for the keys an amend may change; other keys are merged into `extra`
AMENDABLE = {key: field for field, key in KEY_OF.items()}
REMOVES, BODY = "removes", "body"
FIXED_KEYS = ("claim", "provenance")  # a new claim or source needs a new memory


def plan_amend(memory: Memory, entry: Entry) -> Plan:
    """Plan to change a memory: the keys in `given`, and the body if it is not empty."""
    check_in_use(memory)
    if any(key in entry.extra for key in FIXED_KEYS):
        raise Refused("a claim and its source cannot be amended", "add the new claim; it supersedes the old one")
    if not entry.given and not entry.body.strip() and not entry.extra:
        raise BadInput(
            "nothing to amend", "name what to change, such as --title 'A better title' or --body, or add --edit"
        )
    check_entry(entry)
    return plan_about(memory, replace(entry, kind="amend"), f"amend {memory.id}")


def plan_cite(memory: Memory, citations: Sequence[Citation], by: str) -> Plan:
    """Plan an amend with all citations of a memory, old and new, without duplicates."""
    extra: Fields = {KEY: [*with_cited(cited_in(memory.extra), citations)]}
    return replace(plan_amend(memory, Entry(extra=extra, by=by)), why=f"cite {len(citations)} places")


def _reduce(fields: Fields, entry: Entry) -> Fields:
    """Set the keys of the entry. Earlier reviews no longer count, because they approved other text."""
    named = {AMENDABLE[key]: getattr(entry, AMENDABLE[key]) for key in entry.given if key in AMENDABLE}
    removed = ids(entry, REMOVES)
    body = {"body": entry.body} if entry.body else {"body": ""} if BODY in removed else {}
    changed = {key: value for key, value in entry.extra.items() if key not in (*FIXED_KEYS, REMOVES)}
    kept = {key: value for key, value in fields["extra"].items() if key not in removed or key in FIXED_KEYS}
    amended = (*fields.get("amended_in", ()), entry.id)
    at = {"amended": max(fields.get("amended", 0), entry.at)} if named or body else {}  # not for a citation
    return {**named, **body, **at, "amended_in": amended, "reviewed_in": (), "extra": {**kept, **changed}}


def _tell(entry: Entry) -> str:
    named = tuple(key for key in entry.given if key in AMENDABLE)
    extra = tuple(key for key in entry.extra if key not in (*FIXED_KEYS, REMOVES, *named))
    removed = tuple("text" if key == BODY else key for key in ids(entry, REMOVES))
    changed = (*named, *extra, *(("text",) if entry.body else ()))
    said = [f"{word} {listed(keys)}" for word, keys in (("changed", changed), ("removed", removed)) if keys]
    return ", ".join(said) or "changed nothing"


CHANGE = Change(_reduce, _tell, {REMOVES: Key("Keys that the memory no longer has; body: its text", texts())})
