"""Decide what to do with each memory of a source: it is new, a newer version of a memory, or already known."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from ..format.emit import emit_entry
from ..format.read_entries import read_entries
from ..learn.skills.text import as_read
from ..model.aliases import names_of
from ..model.entry import Entry, Plan
from ..model.errors import BadInput, RawkoError
from ..model.kinds import ACTIVE, CREATES
from ..model.problem import ERROR
from ..model.record import record, replace
from ..redaction.entry import redact_entry, was_redacted
from ..state.belief.arrived import ARRIVED
from ..state.changes.archive import archiving
from ..state.changes.quarantine import plan_held
from ..state.changes.supersede import superseding
from ..state.decide import plan_add
from ..state.facets import IMPORTED
from ..state.fold import after, created
from ..text.when import why_unusable
from .copies import INSTRUCTIONS, Copies, paths_in
from .formats import FORMATS
from .place import GONE_THERE, place_of
from .titles import other_title

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..model.entry import Memory
    from .source import Source

    Saying = tuple[str, str, frozenset[str]]  # title, body, and globs of the files that it applies to

REVIEW, SUPERSEDED, ARCHIVED = "review", "superseded", "archived"
# code → why the memory is not in use
HELD = {
    REVIEW: "for your review",
    SUPERSEDED: "superseded by another memory there",
    ARCHIVED: "archived, because it was no longer used there",
}
# Decisions of another repository, which are not imported.
FOREIGN_KEYS = tuple(name for key in ("supersedes", "supersededBy", "conflictsWith") for name in names_of(key))


@record
class Decided:
    """The decision about one memory of a source: added, changed (a newer version of another), or known."""

    what: str
    entry: Entry
    plan: Plan
    other: str = ""  # the id of the older version or of the known memory
    redacted: bool = False
    left_out: int = 0  # conditions that cannot be used
    held: str = ""  # why it is not in use: a key of HELD
    is_deleted: bool = False  # it is known here and was deleted


class Here:
    """Lookup tables of a repository's memories for an import."""

    def __init__(self, memories: Iterable[Memory]):
        self.ids: set[str] = set()
        self.deleted: set[str] = set()
        self.said: dict[Saying, str] = {}
        self.places: dict[str, Memory] = {}
        self.copies = Copies()
        self.added: set[str] = set()  # ids that this import adds
        self.titles: set[str] = set()  # titles that this import adds, case-folded
        for memory in memories:
            self.ids.add(memory.id)
            if memory.status == "deleted":
                self.deleted.add(memory.id)
            else:
                self.said.setdefault(_saying(memory), memory.id)
            if memory.status in (ACTIVE, "quarantined"):
                self.places[place_of(memory.extra)] = memory
                self.copies.add(memory)

    def add(self, new: Entry) -> None:
        """Record an entry that will be written, for the rest of the import."""
        self.ids.add(new.id)
        self.added.add(new.id)
        self.titles.add(new.title.casefold())
        self.said.setdefault(_saying(new), new.id)
        self.copies.add(new)


def decide_import(entries: Iterable[Entry], kind: str, here: Here, source: Source) -> list[Decided]:
    """Return the decision about each entry; entries that cannot be stored are reported to `source.skip`.

    Stored memories wait for a review and name their place of origin.
    """
    decided: list[Decided] = []
    for given in entries:
        try:
            usable = tuple(pattern for pattern in given.when if not why_unusable(pattern))
            found = _decide(replace(given, when=usable), kind, here)
        except RawkoError as failure:
            source.skip(given.title or place_of(given.extra), failure.message)
            continue
        decided.append(replace(found, left_out=len(given.when) - len(usable)))
        if found.plan.entries:
            here.add(found.entry)
    return decided


def _decide(given: Entry, kind: str, here: Here) -> Decided:
    entry = redact_entry(given)
    place = f"{kind}:{place_of(entry.extra)}"
    row = FORMATS.get(kind)
    keeps = row is not None and row.keeps_decisions
    restores = row is not None and row.restores
    dropped = () if keeps else FOREIGN_KEYS
    dropped = dropped if restores else (*dropped, ARRIVED)
    said = {key: value for key, value in entry.extra.items() if key not in dropped}
    entry = replace(entry, body=as_read(entry.body), extra={**said, IMPORTED: place})
    entry = replace(entry, id=entry.id or _id_of(entry, place))
    older = here.places.get(place)
    same = entry.id if entry.id in here.ids else here.said.get(_saying(entry), "")
    if restores and same in here.added:
        same = ""  # two memories with the same text stay two, because others refer to them
    if not same and older is None:
        same = here.copies.find(entry)
    if not same and older and _says_same(older, entry):
        same = older.id  # only its title differs, which depends on the other imported memories
    if same:
        return Decided("known", entry, Plan((), "known"), same, is_deleted=same in here.deleted)
    if kind == INSTRUCTIONS and entry.title.casefold() in here.titles:
        entry = replace(entry, title=other_title(replace(entry, extra=given.extra), here.titles))
    (new,) = plan_add(entry).entries
    _check_readable(new)
    reason, redacted = f"imported from {place.partition(':')[2]} ({kind})", was_redacted(given, redact_entry(given))
    held = plan_held(new, reason, new.by)
    waiting = after(created(new), held.entries[1:])
    if keeps and waiting.superseded_by:
        away = superseding(waiting, waiting.superseded_by, f"{reason}: it is superseded there", new.by)
        return Decided("added", new, _also(held, away), redacted=redacted, held=SUPERSEDED)
    if GONE_THERE in new.extra:
        away = archiving(waiting, f"{reason}: it is {new.extra[GONE_THERE]} there", new.by)
        return Decided("added", new, _also(held, away), redacted=redacted, held=ARCHIVED)
    if older is None or (row is not None and row.shares_places):
        return Decided("added", new, held, redacted=redacted, held=REVIEW)
    if older.status == ACTIVE:
        plan = plan_held(new, f"{reason}: a newer version of {older.id}", new.by, (older.id,))
    else:
        plan = _also(held, superseding(older, new.id, "a newer version was imported", new.by))
    return Decided("changed", new, plan, older.id, redacted, held=REVIEW)


def _also(plan: Plan, entry: Entry) -> Plan:
    return Plan((*plan.entries, entry), plan.why)


def _check_readable(new: Entry) -> None:
    """Raise BadInput if an entry would not read back as one entry, so that only this memory is skipped."""
    entries, problems = read_entries(emit_entry(new), advice=False)
    wrong = next((problem.message for problem in problems if problem.level == ERROR), "")
    if not wrong and len(entries) == 1 and not _is_as_meant(entries[0], new):
        wrong = "its fields would change its kind, id or title"
    if wrong or len(entries) != 1:
        raise BadInput(
            f"it cannot be written as one entry: {wrong or 'it reads as several'}", "change it at its source"
        )


def _is_as_meant(read: Entry, new: Entry) -> bool:
    return (read.kind, read.id, read.about, read.title) == (new.kind, new.id, "", new.title)


def _saying(said: Entry | Memory) -> Saying:
    return said.title, said.body, paths_in(said.when)


def _says_same(older: Memory, entry: Entry) -> bool:
    said = (older.kind, older.body, older.tags, older.importance)
    return said == (entry.kind, entry.body, entry.tags, entry.importance)


def _id_of(entry: Entry, place: str) -> str:
    """Return an id made from a memory's place and content, so that a repeated import gives the same ids."""
    said = repr((place, entry.kind, entry.title, entry.body, entry.tags, entry.importance))
    return f"{CREATES[entry.kind].prefix}_{sha256(said.encode('utf-8', 'replace')).hexdigest()[:12]}"


def entries_to_write(decided: Sequence[Decided], at_once: int) -> list[Plan]:
    """Return an import in batches of about `at_once` entries, one lock each; keep a memory with its quarantine."""
    pieces: list[list[Entry]] = [[]]
    for item in decided:
        if len(pieces[-1]) >= at_once:
            pieces.append([])
        pieces[-1] += item.plan.entries
    return [Plan(tuple(piece), f"import {len(piece)} entries") for piece in pieces if piece]
