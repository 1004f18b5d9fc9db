"""Decides about what a source says: what is new, what is a newer version of something, what is known already."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from ..learn.skills.text import as_read
from ..model.entry import Entry, Plan
from ..model.errors import RawkoError
from ..model.kinds import ACTIVE, CREATES
from ..model.record import record, replace
from ..redaction.entry import redact_entry, was_redacted
from ..state.changes.archive import archiving
from ..state.changes.quarantine import plan_held
from ..state.changes.supersede import superseding
from ..state.decide import plan_add
from ..state.facets import IMPORTED
from ..state.fold import created
from .copies import INSTRUCTIONS, Copies, paths_in
from .formats import FORMATS
from .place import GONE_THERE, place_of
from .titles import other_title

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..model.entry import Memory
    from .source import Source

    Saying = tuple[str, str, frozenset[str]]  # title, body, and the files that it is about

FOREIGN_KEYS = ("supersedes", "supersededBy", "conflictsWith")  # decisions of another repository: none of them is ours


@record
class Decided:
    """What becomes of one memory of a source: added, changed (a newer version of another), or known."""

    what: str
    entry: Entry
    plan: Plan
    other: str = ""  # the memory that it is a newer version of, or that says the same
    redacted: bool = False


class Here:
    """The memories that a repository holds, as an import looks them up."""

    def __init__(self, memories: Iterable[Memory]):
        self.ids: set[str] = set()
        self.said: dict[Saying, str] = {}
        self.places: dict[str, Memory] = {}
        self.copies = Copies()
        self.titles: set[str] = set()  # of what this import adds, case-folded
        for memory in memories:
            self.ids.add(memory.id)
            if memory.status != "deleted":
                self.said.setdefault(_saying(memory), memory.id)
            if memory.status in (ACTIVE, "quarantined"):
                self.places[place_of(memory.extra)] = memory
                self.copies.add(memory)

    def add(self, new: Entry) -> None:
        """Remember what is about to be written, for the rest of the import."""
        self.ids.add(new.id)
        self.titles.add(new.title.casefold())
        self.said.setdefault(_saying(new), new.id)
        self.copies.add(new)


def decide_import(entries: Iterable[Entry], kind: str, here: Here, source: Source) -> list[Decided]:
    """Return what to do with each entry. Whatever is stored waits for a review, and says where it comes from."""
    decided: list[Decided] = []
    for given in entries:
        try:
            found = _decide(given, kind, here)
        except RawkoError as failure:
            source.skip(given.title or place_of(given.extra), failure.message)
            continue
        decided.append(found)
        if found.plan.entries:
            here.add(found.entry)
    return decided


def _decide(given: Entry, kind: str, here: Here) -> Decided:
    entry = redact_entry(given)
    place = f"{kind}:{place_of(entry.extra)}"
    said = {key: value for key, value in entry.extra.items() if key not in FOREIGN_KEYS}
    entry = replace(entry, body=as_read(entry.body), extra={**said, IMPORTED: place})
    entry = replace(entry, id=entry.id or _id_of(entry, place))
    older = here.places.get(place)
    same = entry.id if entry.id in here.ids else here.said.get(_saying(entry), "")
    if not same and older is None:
        same = here.copies.find(entry)
    if not same and older and _says_same(older, entry):
        same = older.id  # its title follows from what else was imported
    if same:
        return Decided("known", entry, Plan((), "known"), same)
    if kind == INSTRUCTIONS and entry.title.casefold() in here.titles:
        entry = replace(entry, title=other_title(replace(entry, extra=given.extra), here.titles))
    (new,) = plan_add(entry).entries
    reason, redacted = f"imported from {place.partition(':')[2]} ({kind})", was_redacted(given, redact_entry(given))
    if GONE_THERE in new.extra:
        why = f"{reason}: it is {new.extra[GONE_THERE]} there"
        return Decided("added", new, Plan((new, archiving(created(new), why, new.by)), reason), redacted=redacted)
    if older is None or (kind in FORMATS and FORMATS[kind].shares_places):
        return Decided("added", new, plan_held(new, reason, new.by), redacted=redacted)
    if older.status == ACTIVE:
        plan = plan_held(new, f"{reason}: a newer version of {older.id}", new.by, (older.id,))
    else:
        held = plan_held(new, reason, new.by)
        plan = Plan((*held.entries, superseding(older, new.id, "a newer version was imported", new.by)), held.why)
    return Decided("changed", new, plan, older.id, redacted)


def _saying(said: Entry | Memory) -> Saying:
    return said.title, said.body, paths_in(said.when)


def _says_same(older: Memory, entry: Entry) -> bool:
    said = (older.kind, older.body, older.tags, older.importance)
    return said == (entry.kind, entry.body, entry.tags, entry.importance)


def _id_of(entry: Entry, place: str) -> str:
    """Return an id that follows from where a memory comes from and what it says: the same import gives the same ids."""
    said = repr((place, entry.kind, entry.title, entry.body, entry.tags, entry.importance))
    return f"{CREATES[entry.kind].prefix}_{sha256(said.encode('utf-8', 'replace')).hexdigest()[:12]}"


def entries_to_write(decided: Sequence[Decided], at_once: int) -> list[Plan]:
    """Return the plans of an import in batches, each for one lock; a memory and its quarantine stay together."""
    pieces: list[list[Entry]] = [[]]
    for item in decided:
        if len(pieces[-1]) >= at_once:
            pieces.append([])
        pieces[-1] += item.plan.entries
    return [Plan(tuple(piece), f"import {len(piece)} entries") for piece in pieces if piece]
