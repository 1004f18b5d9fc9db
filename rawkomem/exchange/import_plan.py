"""Decide what to do with each memory of a source: it is new, a newer version of a memory, a copy, or
already known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from ..format.entries import read_entries
from ..format.frontmatter import emit_entry
from ..learn.skills import as_read_back
from ..model.entries import Entry, Memory, Plan
from ..model.errors import BadInput, RawkoError
from ..model.values import ACTIVE, CREATES, ERROR, names_of_key, record, replace
from ..redaction.entries import redact_entry, was_redacted
from ..state.changes import archiving, superseding
from ..state.fold import IMPORTED_STATE, after, new_memory, plan_quarantined
from ..state.plans import plan_add
from ..state.trust import IMPORTED
from ..text.conditions import PATHS, read_condition, why_unusable
from ..text.language import identity, is_copy, numbers_and_negations
from .formats import FORMATS, Format
from .imported_entries import other_title
from .sources import ALSO_IN, GONE_THERE, Source, place_of

Facts = tuple[frozenset[str], frozenset[str]]
Saying = tuple[str, str, frozenset[str]]


# Find sections that several instruction pages contain: such a section is imported once and names
# all places.

INSTRUCTIONS_FORMAT = (
    "instructions"  # CLAUDE.md, AGENTS.md and GEMINI.md often contain the same sections
)
MIN_LENGTH_RATIO = 0.7  # length of the shorter copy divided by that of the longer


@record
class KnownSection:
    """A section that was imported before."""

    id: str
    place: str
    body: str
    paths: frozenset[str]  # globs of the files that it applies to; empty for all files


class KnownSections:
    """The sections of instructions that were imported so far."""

    def __init__(self) -> None:
        self._known: dict[
            Facts, list[KnownSection]
        ] = {}  # by the numbers and negations in their texts

    def add(self, said: Entry | Memory) -> None:
        """Record a section of instructions; ignore other memories."""
        place = place_of(said.extra)
        if place.startswith(f"{INSTRUCTIONS_FORMAT}:"):
            known = KnownSection(said.id, place, said.body, globs_in(said.when))
            self._known.setdefault(numbers_and_negations(said.body), []).append(known)

    def find(self, entry: Entry) -> str:
        """Return the id of a section from another place with the same text for the same files; empty if none."""
        place, paths = place_of(entry.extra), globs_in(entry.when)
        if not place.startswith(f"{INSTRUCTIONS_FORMAT}:"):
            return ""
        rivals = self._known.get(numbers_and_negations(entry.body), [])
        elsewhere = (
            known
            for known in rivals
            if known.place != place and known.paths in (frozenset(), paths)
        )
        return next((known.id for known in elsewhere if _is_same_text(known.body, entry.body)), "")


def with_places(
    decided: Sequence[ImportDecision], copies: Iterable[ImportDecision]
) -> list[ImportDecision]:
    """Return the decisions; each new memory lists the other places that contain its text."""
    places: dict[str, list[str]] = {}
    for item in copies:
        if item.what == "known" and item.other != item.entry.id:
            places.setdefault(item.other, []).append(place_of(item.entry.extra).partition(":")[2])
    return [
        _with_other_places(item, places[item.entry.id])
        if item.plan.entries and item.entry.id in places
        else item
        for item in decided
    ]


def _with_other_places(item: ImportDecision, places: Sequence[str]) -> ImportDecision:
    entry = replace(item.entry, extra={**item.entry.extra, ALSO_IN: [*dict.fromkeys(places)]})
    written = tuple(entry if one is item.entry else one for one in item.plan.entries)
    return replace(item, entry=entry, plan=Plan(written, item.plan.why))


def _is_same_text(one: str, other: str) -> bool:
    """Tell whether two texts are equal apart from white space, or differ in a few words."""
    if identity(one) == identity(other):
        return True
    shorter, longer = sorted((len(one), len(other)))
    return shorter >= MIN_LENGTH_RATIO * longer and is_copy(one, other)


def globs_in(when: Iterable[str]) -> frozenset[str]:
    """Return the conditions that are file globs."""
    return frozenset(condition for condition in when if read_condition(condition).how == PATHS)


# Decide what to do with each memory of a source: it is new, a newer version of a memory, or
# already known.

HELD_REVIEW, HELD_SUPERSEDED, HELD_ARCHIVED = "review", "superseded", "archived"
# code → why the memory is not in use
HELD_WHY = {
    HELD_REVIEW: "for your review",
    HELD_SUPERSEDED: "superseded by another memory there",
    HELD_ARCHIVED: "archived, because it was no longer used there",
}
IDENTITY_FIELDS = ("kind", "id", "about", "title")
# Decisions of another repository, which are not imported.
FOREIGN_KEYS = tuple(
    name for key in ("supersedes", "supersededBy", "conflictsWith") for name in names_of_key(key)
)


@record
class ImportDecision:
    """The decision about one memory of a source: added, changed (a newer version of another), or known."""

    what: str
    entry: Entry
    plan: Plan
    other: str = ""  # the id of the older version or of the known memory
    redacted: bool = False
    left_out: int = 0  # conditions that cannot be used
    held: str = ""  # why it is not in use: a key of HELD
    is_deleted: bool = False  # it is known here and was deleted


class MemoriesHere:
    """Lookup tables of a repository's memories for an import."""

    def __init__(self, memories: Iterable[Memory]):
        self.ids: set[str] = set()
        self.deleted: set[str] = set()
        self.said: dict[Saying, str] = {}
        self.places: dict[str, Memory] = {}
        self.copies = KnownSections()
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


def decide_import(
    entries: Iterable[Entry], kind: str, here: MemoriesHere, source: Source
) -> list[ImportDecision]:
    """Return the decision about each entry; entries that cannot be stored are reported to `source.skip`.

    Stored memories wait for a review and name their place of origin.
    """
    decided: list[ImportDecision] = []
    for given in entries:
        try:
            usable = tuple(pattern for pattern in given.when if not why_unusable(pattern))
            found = _decide_entry(replace(given, when=usable), kind, here)
        except RawkoError as failure:
            source.skip(given.title or place_of(given.extra), failure.message)
            continue
        decided.append(replace(found, left_out=len(given.when) - len(usable)))
        if found.plan.entries:
            here.add(found.entry)
    return decided


def _decide_entry(given: Entry, kind: str, here: MemoriesHere) -> ImportDecision:
    entry = redacted = redact_entry(given)
    place = f"{kind}:{place_of(entry.extra)}"
    row = FORMATS.get(kind) or Format(kind, kind)
    dropped = () if row.keeps_decisions else FOREIGN_KEYS
    dropped = dropped if row.restores else (*dropped, IMPORTED_STATE)
    said = {key: value for key, value in entry.extra.items() if key not in dropped}
    entry = replace(entry, body=as_read_back(entry.body), extra={**said, IMPORTED: place})
    entry = replace(entry, id=entry.id or _import_id(entry, place))
    older = here.places.get(place)
    same = entry.id if entry.id in here.ids else here.said.get(_saying(entry), "")
    if row.restores and same in here.added:
        same = ""  # two memories with the same text stay two, because others refer to them
    if not same and older is None:
        same = here.copies.find(entry)
    if not same and older and _content(older) == _content(entry):
        same = older.id  # only its title differs, which depends on the other imported memories
    if same:
        return ImportDecision(
            "known", entry, Plan((), "known"), same, is_deleted=same in here.deleted
        )
    if kind == INSTRUCTIONS_FORMAT and entry.title.casefold() in here.titles:
        entry = replace(entry, title=other_title(replace(entry, extra=given.extra), here.titles))
    (new,) = plan_add(entry).entries
    _check_readable(new)
    reason = f"imported from {place.partition(':')[2]} ({kind})"
    plan = plan_quarantined(new, reason, new.by)
    waiting = after(new_memory(new), plan.entries[1:])
    what, held, away = "added", HELD_REVIEW, None
    if row.keeps_decisions and waiting.superseded_by:
        why = f"{reason}: it is superseded there"
        held, away = HELD_SUPERSEDED, superseding(waiting, waiting.superseded_by, why, new.by)
    elif GONE_THERE in new.extra:
        why = f"{reason}: it is {new.extra[GONE_THERE]} there"
        held, away = HELD_ARCHIVED, archiving(waiting, why, new.by)
    elif older and not row.shares_places:
        what = "changed"
        if older.status == ACTIVE:
            why = f"{reason}: a newer version of {older.id}"
            plan = plan_quarantined(new, why, new.by, (older.id,))
        else:
            away = superseding(older, new.id, "a newer version was imported", new.by)
    if away:
        plan = Plan((*plan.entries, away), plan.why)
    other = older.id if older and what == "changed" else ""
    return ImportDecision(what, new, plan, other, was_redacted(given, redacted), held=held)


def _check_readable(new: Entry) -> None:
    """Raise BadInput if an entry would not read back as one entry, so that only this memory is skipped."""
    entries, problems = read_entries(emit_entry(new), advice=False)
    wrong = next((problem.message for problem in problems if problem.level == ERROR), "")
    if len(entries) != 1:
        wrong = wrong or "it reads as several"
    elif any(getattr(entries[0], name) != getattr(new, name) for name in IDENTITY_FIELDS):
        wrong = wrong or "its fields would change its kind, id or title"
    if wrong:
        raise BadInput(f"it cannot be written as one entry: {wrong}", "change it at its source")


def _saying(said: Entry | Memory) -> Saying:
    return said.title, said.body, globs_in(said.when)


def _content(said: Entry | Memory) -> tuple[str, str, tuple[str, ...], str]:
    return said.kind, said.body, said.tags, said.importance


def _import_id(entry: Entry, place: str) -> str:
    """Return an id made from a memory's place and content, so that a repeated import gives the same ids."""
    said = repr((place, entry.kind, entry.title, entry.body, entry.tags, entry.importance))
    return (
        f"{CREATES[entry.kind].prefix}_{sha256(said.encode('utf-8', 'replace')).hexdigest()[:12]}"
    )


def entries_to_write(decided: Sequence[ImportDecision], at_once: int) -> list[Plan]:
    """Return an import in batches of about `at_once` entries, one lock each; keep a memory with its quarantine."""
    pieces: list[list[Entry]] = [[]]
    for item in decided:
        if len(pieces[-1]) >= at_once:
            pieces.append([])
        pieces[-1] += item.plan.entries
    return [Plan(tuple(piece), f"import {len(piece)} entries") for piece in pieces if piece]
