"""corroborate: another source says the same. No second memory is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.aliases import said as said_under
from ...model.entry import Entry, Memory, Plan
from ..decide import about, plan_about
from ..keys import ID, REASON, Key
from ..references import CORROBORATED
from . import Change, Fields, ids, listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...model.entry import Value


def plan_corroborate(known: Memory, said: Entry) -> Plan:
    """Plan to confirm a memory. The new text becomes the body of the confirmation."""
    extra = {key: said.extra[key] for key in ("provenance",) if key in said.extra}
    body = said.body if said.body.strip() else said.title
    entry = Entry(kind="corroborate", by=said.by, found_in=said.found_in, source=said.source, extra=extra, body=body)
    return plan_about(known, entry, f"corroborate {known.id}: it says the same")


def confirming(memory: Memory, witness: Memory) -> Entry:
    """Return the entry with which the memory `witness` confirms a memory."""
    extra: Fields = {"with": witness.id, "reason": f"confirmed by {witness.id}"}
    return about(memory, Entry(kind="corroborate", by=witness.by, extra=extra))


def _reduce(fields: Fields, entry: Entry) -> Fields:
    """Count each other source once, because repeating a statement adds no trust. Link a witness (`with`)."""
    source, known = _source(entry.by, entry.extra), fields.get("confirmed_by", ())
    links = fields.get("links", ())
    witnesses = tuple((CORROBORATED, id) for id in ids(entry, "with"))
    again = bool(witnesses) and all(link in links for link in witnesses)
    counts = not again and source not in known and not (source and source == _source(fields["by"], fields["extra"]))
    times = [at for at in (fields["first_observed"], entry.at) if at]  # 0: unknown time
    return {
        "corroborations": fields.get("corroborations", 0) + counts,
        "confirmed_by": (*known, source) if counts else known,
        "repeated": fields.get("repeated", 0) + 1,
        "links": tuple(dict.fromkeys((*links, *witnesses))),
        "first_observed": min(times, default=0),
        "last_observed": max(fields["last_observed"], entry.at),
    }


def _source(by: str, extra: Mapping[str, Value]) -> str:
    """Return the author's name, else the session."""
    return by.strip().lower() or str(said_under(extra, "session"))


def _tell(entry: Entry) -> str:
    witnesses = ids(entry, "with")
    return f"confirmed by {listed(witnesses)}" if witnesses else "said again"


CHANGE = Change(_reduce, _tell, {"with": Key("The memory that says the same", ID, refers=True), "reason": REASON})
