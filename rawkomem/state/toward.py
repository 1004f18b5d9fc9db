"""Find the entries that, when appended, change a memory into a wanted version of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.clock import iso
from ..model.entry import Entry
from ..model.errors import Refused
from ..model.kinds import ACTIVE
from ..model.record import replace
from .changes.amend import AMENDABLE, BODY, FIXED_KEYS, REMOVES
from .changes.archive import HOUSEKEEPING
from .changes.dispute import DISPUTED
from .changes.feedback import CORROBORATE, COUNTS, SIGNS, withdrawing
from .changes.heritage import inheriting
from .changes.link import linking
from .changes.review import ACTIVATE
from .changes.validity import ENDS, OPEN_END
from .decide import about
from .fold import after

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..model.entry import Memory
    from .changes import Fields

SUPERSEDED = "superseded"
CREATED = {"kind": "kind", "by": "discoveredBy", "created": "discoveredAt", "supersedes": "supersedes"}  # field → key


def entries_toward(now: Memory, wanted: Memory, reason: str, by: str) -> tuple[Entry, ...]:
    """Return the entries that change `now` into `wanted`; raise Refused if no entry can express the difference."""
    steps = _Steps(now, reason, by)
    steps.check(wanted)
    for move in (_words, _window, _links, _sources, _counts, _status):
        move(steps, wanted)
    return tuple(steps.entries)


class _Steps:
    """The entries so far, and the memory after them."""

    def __init__(self, memory: Memory, reason: str, by: str):
        self.memory, self.reason, self.by = memory, reason, by
        self.entries: list[Entry] = []

    def check(self, wanted: Memory) -> None:
        now = self.memory
        odd = [key for field, key in CREATED.items() if getattr(now, field) != getattr(wanted, field)]
        odd += [key for key in FIXED_KEYS if now.extra.get(key) != wanted.extra.get(key)]
        odd += ["title"] if now.title and not wanted.title else []
        if odd:
            message = f"no entry can change {', '.join(odd)} of {now.id}"
            raise Refused(message, "add a new memory, then run 'rawkomem supersede OLD NEW'")

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.memory = after(self.memory, [entry])

    def say(self, kind: str, extra: Fields, **fields: object) -> None:
        self.add(about(self.memory, replace(Entry(kind=kind, by=self.by, extra=extra), **fields)))


def _words(steps: _Steps, wanted: Memory) -> None:
    now = steps.memory
    fields = {field: key for key, field in AMENDABLE.items() if getattr(now, field) != getattr(wanted, field)}
    changed = {key: value for key, value in wanted.extra.items() if now.extra.get(key) != value}
    removed = [key for key in now.extra if key not in wanted.extra]
    body = wanted.body if wanted.body != now.body else ""
    if now.body and not wanted.body:
        removed.append(BODY)
    if fields or changed or removed or body:
        extra: Fields = {**changed, **({REMOVES: removed} if removed else {})}
        values = {field: getattr(wanted, field) for field in fields}
        steps.say("amend", extra, body=body, given=tuple(fields.values()), **values)


def _window(steps: _Steps, wanted: Memory) -> None:
    fields = {key: field for key, field in ENDS.items() if getattr(steps.memory, field) != getattr(wanted, field)}
    if fields:
        extra: Fields = {key: iso(getattr(wanted, field)) or OPEN_END for key, field in fields.items()}
        steps.say("validity", {**extra, "reason": steps.reason}, given=tuple(fields))


def _links(steps: _Steps, wanted: Memory) -> None:
    for some, others, removed in ((steps.memory, wanted, True), (wanted, steps.memory, False)):
        links = [link for link in some.links if link not in others.links]
        for type in dict.fromkeys(type for type, _ in links):
            ends = [end for one, end in links if one == type]
            steps.add(linking(steps.memory, ends, type, steps.by, removed))


def _sources(steps: _Steps, wanted: Memory) -> None:
    for some, others, removed in ((steps.memory, wanted, True), (wanted, steps.memory, False)):
        sources = [id for id in some.heritage if id not in others.heritage]
        if sources:
            steps.add(inheriting(steps.memory, sources, steps.by, removed))


def _counts(steps: _Steps, wanted: Memory) -> None:
    marks = wanted.status == DISPUTED != steps.memory.status  # the entry that sets this status is a dispute, too
    for what, field in COUNTS.items():
        count = getattr(wanted, field) - (marks and what == "dispute")
        while getattr(steps.memory, field) > count:
            steps.add(withdrawing(steps.memory, what, steps.by))
        while getattr(steps.memory, field) < count:
            steps.say(*(("feedback", {"signal": what}) if what in SIGNS else (what, {"reason": steps.reason})))
    for source in [source for source in steps.memory.confirmed_by if source not in wanted.confirmed_by]:
        steps.add(withdrawing(steps.memory, CORROBORATE, steps.by, source))
    while steps.memory.repeated > wanted.repeated:
        steps.add(withdrawing(steps.memory, CORROBORATE, steps.by))
    if steps.memory.repeated < wanted.repeated:
        raise Refused(f"no entry can restore the confirmations of {wanted.id}", "store them again with 'rawkomem add'")


def _status(steps: _Steps, wanted: Memory) -> None:
    now = steps.memory
    if now.status == wanted.status and (now.status == ACTIVE or now.superseded_by == wanted.superseded_by):
        return
    if wanted.status not in STATUS_ENTRIES:
        raise Refused(f"no entry can make {now.id} {wanted.status}", "edit the file by hand")
    if now.status != ACTIVE and (wanted.status == DISPUTED or (now.superseded_by and not wanted.superseded_by)):
        _say_status(steps, ACTIVE, wanted)
    if wanted.superseded_by not in ("", steps.memory.superseded_by):
        _say_status(steps, SUPERSEDED, wanted)
    if steps.memory.status != wanted.status:
        _say_status(steps, wanted.status, wanted)


def _say_status(steps: _Steps, status: str, wanted: Memory) -> None:
    kind, extra = STATUS_ENTRIES[status](wanted)
    reason = wanted.reason if status == wanted.status != ACTIVE else ""
    steps.say(kind, {"reason": reason or steps.reason, **extra})


STATUS_ENTRIES: dict[str, Callable[[Memory], tuple[str, Fields]]] = {
    ACTIVE: lambda wanted: ("review", {"action": ACTIVATE}),
    DISPUTED: lambda wanted: ("dispute", {"outcome": DISPUTED}),
    SUPERSEDED: lambda wanted: ("supersede", {"supersededBy": wanted.superseded_by}),
    "quarantined": lambda wanted: ("quarantine", _conflicts(wanted)),
    "archived": lambda wanted: ("archive", {} if wanted.retracted else {"cause": HOUSEKEEPING}),
    "deleted": lambda wanted: ("delete", {}),
}


def _conflicts(wanted: Memory) -> Fields:
    return {"conflictsWith": [*wanted.conflicts_with]} if wanted.conflicts_with else {}
