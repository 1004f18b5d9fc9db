"""State is a fold: the entries about one id, ordered by (at, id), reduced to a Memory. Every reducer is on this page.

Order of arrival cannot matter: entries are a set keyed by id, sorted before they are reduced. A reducer takes the
memory's fields so far and one entry, and returns the fields that change. Nothing here looks at a clock or a weight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..model.clock import read_time
from ..model.entry import Entry, Memory
from ..model.ids import order_key
from ..model.kinds import ACTIVE, DRAFT
from ..model.record import as_dict
from .references import CORROBORATED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..model.entry import Value

    Fields = dict[str, Any]
    Reducer = Callable[[Fields, Entry], Fields]

# frontmatter key → field of Memory, for the keys an amend may change
AMENDABLE = {
    "title": "title",
    "whenToUse": "when",
    "tags": "tags",
    "importance": "importance",
    "discoveredIn": "found_in",
    "source": "source",
    "relatedMemories": "related",
}
FIXED = (
    "claim",
    "provenance",
)  # what a memory claims, and from whom, no amend changes: another claim is another memory
CHAIN = ("intentChain", "hypotheses", "rationales")  # RFC-0011: what led to a memory, level by level
DEEPEST = 5  # levels of such a chain
DISPUTED = "disputed"
DISPUTES = 3  # so many without a single reinforcement mark a memory, where the formula of trust has long saturated


def fold(entries: Iterable[Entry]) -> Memory | None:
    """The memory that these entries about one id make; None while no entry creates it."""
    ordered = sorted(_as_set(entries), key=lambda entry: order_key(entry.at, entry.id))
    creating = next((entry for entry in ordered if entry.creates), None)
    return None if creating is None else _reduced(_create(creating), ordered)


def created(entry: Entry) -> Memory:
    """The memory that a creating entry alone makes."""
    assert entry.creates
    return Memory(**_create(entry))


def after(memory: Memory, entries: Iterable[Entry]) -> Memory:
    """The memory once these entries about it, later than all it says so far, are written."""
    return _reduced(as_dict(memory), entries)


def _reduced(fields: Fields, ordered: Iterable[Entry]) -> Memory:
    for entry in ordered:
        if entry.draft:
            continue
        reducer = REDUCERS.get(entry.kind)
        if reducer:
            fields |= reducer(fields, entry)
            fields["updated"] = max(fields["updated"], entry.at)
            fields["entries"] += 1
    return Memory(**fields)


def _as_set(entries: Iterable[Entry]) -> Iterable[Entry]:
    """One entry for each id; of two that differ under one id, the same one whatever the order."""
    kept: dict[str, Entry] = {}
    for entry in entries:
        other = kept.get(entry.id)
        if other is None or _rank(entry) < _rank(other):
            kept[entry.id] = entry
    return kept.values()


def _rank(entry: Entry) -> tuple[int, str, int, str, str]:
    return (entry.at, entry.path, entry.line, entry.body, repr(entry))


def _create(entry: Entry) -> Fields:
    status = DRAFT if entry.draft else "conflicted" if entry.conflicted else ACTIVE
    return {
        "id": entry.id,
        "kind": entry.kind,
        "status": status,
        "title": entry.title,
        "when": entry.when,
        "tags": entry.tags,
        "importance": entry.importance,
        "created": entry.at,
        "updated": entry.at,
        "by": entry.by,
        "found_in": entry.found_in,
        "source": entry.source,
        "related": entry.related,
        "body": entry.body,
        "valid_from": _time(entry, "validFrom") or _claimed_time(entry, "validFrom"),
        "valid_until": _time(entry, "validUntil") or _claimed_time(entry, "validUntil"),
        "supersedes": _ids(entry, "supersedes"),
        "conflicts_with": _ids(entry, "conflictsWith"),
        "first_observed": entry.at,
        "last_observed": entry.at,
        "links": tuple(("member", id) for id in _ids(entry, "members")) if entry.kind == "episode" else (),
        "extra": entry.extra,
        "entries": 1,
        "path": entry.path,
        "line": entry.line,
    }


def _amend(fields: Fields, entry: Entry) -> Fields:
    named = {AMENDABLE[key]: getattr(entry, AMENDABLE[key]) for key in entry.given if key in AMENDABLE}
    body = {"body": entry.body} if entry.body else {}
    changed = {key: value for key, value in entry.extra.items() if key not in FIXED}
    amended = (*fields.get("amended_in", ()), entry.id)
    said = {"amended_in": amended, "reviewed_in": ()}  # what was reviewed were other words
    return {**named, **body, **said, "extra": {**fields["extra"], **changed}}


def _feedback(fields: Fields, entry: Entry) -> Fields:
    signal = str(entry.extra.get("signal"))
    sign = {"helpful": "+", "harmful": "-"}.get(signal)
    return {signal: fields.get(signal, 0) + 1, "votes": fields.get("votes", "") + sign} if sign else {}


def _reinforce(fields: Fields, entry: Entry) -> Fields:
    """Counts, and clears a memory that disputes had marked."""
    cleared = {"status": ACTIVE, "reason": ""} if fields["status"] == DISPUTED else {}
    return {**cleared, "reinforcements": fields.get("reinforcements", 0) + 1}


def _corroborate(fields: Fields, entry: Entry) -> Fields:
    """Each other source counts once: nobody is believed more for saying it again. A witness (`with`) is linked."""
    source, known = _source(entry.by, entry.extra), fields.get("confirmed_by", ())
    links = fields.get("links", ())
    witnesses = tuple((CORROBORATED, id) for id in _ids(entry, "with"))
    again = bool(witnesses) and all(link in links for link in witnesses)
    counts = not again and source not in known and not (source and source == _source(fields["by"], fields["extra"]))
    times = [at for at in (fields["first_observed"], entry.at) if at]  # 0: the file does not say when
    return {
        "corroborations": fields.get("corroborations", 0) + counts,
        "confirmed_by": (*known, source) if counts else known,
        "repeated": fields.get("repeated", 0) + 1,
        "links": tuple(dict.fromkeys((*links, *witnesses))),
        "first_observed": min(times, default=0),
        "last_observed": max(fields["last_observed"], entry.at),
    }


def _source(by: str, extra: Mapping[str, Value]) -> str:
    """Who speaks: a name, else the session it was said in."""
    return by.strip().lower() or str(extra.get("session", extra.get("sessionId", "")))


def _dispute(fields: Fields, entry: Entry) -> Fields:
    """Counts, and marks an active memory: when it fell below the floor of trust then, or by the number of disputes."""
    disputes = fields.get("disputes", 0) + 1
    many = disputes >= DISPUTES and not fields.get("reinforcements", 0)
    marked = fields["status"] == ACTIVE and (many or entry.extra.get("outcome") == DISPUTED)
    return {**(_status(DISPUTED)(fields, entry) if marked else {}), "disputes": disputes}


def _status(status: str) -> Reducer:
    return lambda fields, entry: {"status": status, "reason": str(entry.extra.get("reason", ""))}


def _supersede(fields: Fields, entry: Entry) -> Fields:
    newer = str(entry.extra.get("supersededBy", ""))
    return {**_status("superseded")(fields, entry), "superseded_by": newer} if newer else {}


def _conflicts(fields: Fields, entry: Entry) -> Fields:
    others = dict.fromkeys((*fields.get("conflicts_with", ()), *_ids(entry, "conflictsWith")))
    return {"conflicts_with": tuple(others)}


def _quarantine(fields: Fields, entry: Entry) -> Fields:
    return {**_status("quarantined")(fields, entry), **_conflicts(fields, entry)}


def _review(fields: Fields, entry: Entry) -> Fields:
    """A person's word: in use again, whatever it was before, or put away."""
    status = {"activate": ACTIVE, "reject": "archived"}.get(str(entry.extra.get("action")))
    if not status:
        return {}
    newer = "" if status == ACTIVE else fields.get("superseded_by", "")
    passed = (*fields.get("reviewed_in", ()), entry.id) if status == ACTIVE else ()
    said = {"superseded_by": newer, "reviewed_in": passed}
    return {**_status(status)(fields, entry), **_conflicts(fields, entry), **said}


def _link(fields: Fields, entry: Entry) -> Fields:
    kind = str(entry.extra.get("type", "related"))
    links = tuple((kind, id) for id in _ids(entry, "to"))
    others = tuple(known for known in fields.get("links", ()) if known not in links)
    return {"links": others if entry.extra.get("removed") == "true" else (*others, *links)}


def _heritage(fields: Fields, entry: Entry) -> Fields:
    """Sources add up; a chain of intents takes the place of the one before."""
    sources = tuple(dict.fromkeys((*fields.get("heritage", ()), *_ids(entry, "from"))))
    if not any(key in entry.extra for key in CHAIN):
        return {"heritage": sources}
    chain = {key: list(_ids(entry, key)[-DEEPEST:]) for key in CHAIN}
    return {"heritage": sources, "extra": {**fields["extra"], **chain}}


def _validity(fields: Fields, entry: Entry) -> Fields:
    keys = {"validFrom": "valid_from", "validUntil": "valid_until"}
    return {field: _time(entry, key) for key, field in keys.items() if key in entry.given}


def _ids(entry: Entry, key: str) -> tuple[str, ...]:
    value = entry.extra.get(key, [])
    return tuple(str(item) for item in (value if isinstance(value, list) else [value]) if item)


def _claimed_time(entry: Entry, key: str) -> int:
    """A claim's window is that of the memory."""
    claim = entry.extra.get("claim")
    return _time_of(claim.get(key)) if isinstance(claim, dict) else 0


def _time(entry: Entry, key: str) -> int:
    return _time_of(entry.extra.get(key))


def _time_of(value: object) -> int:
    return (read_time(value)[0] or 0) if isinstance(value, str) and value else 0


REDUCERS: dict[str, Reducer] = {
    "amend": _amend,
    "feedback": _feedback,
    "reinforce": _reinforce,
    "corroborate": _corroborate,
    "dispute": _dispute,
    "supersede": _supersede,
    "quarantine": _quarantine,
    "review": _review,
    "link": _link,
    "heritage": _heritage,
    "validity": _validity,
    "archive": _status("archived"),
    "delete": _status("deleted"),
}
