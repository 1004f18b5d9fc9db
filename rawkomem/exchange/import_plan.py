"""Decide what to do with each memory of a source: it is new, a newer version of a memory, a copy, or
already known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from ..files.append import in_one_change_file
from ..format.entries import MAX_PATTERNS, read_entries
from ..format.frontmatter import emit_entry
from ..format.skill_files import as_read_back
from ..model.entries import Entry, Memory, Plan, Value
from ..model.errors import BadInput, RawkoError
from ..model.ids import hex_hash
from ..model.values import (
    ACTIVE,
    CREATES,
    ERROR,
    names_of_key,
    record,
    replace,
    without,
)
from ..redaction.entries import redact_entry
from ..state.changes import archiving, plan_amend, superseding
from ..state.fold import (
    IMPORTED_STATE,
    after,
    new_memory,
    plan_quarantined,
    quarantining,
)
from ..state.plans import plan_add
from ..state.trust import IMPORTED
from ..text.acts import APPLIES_KEY, MAX_ACT_PATTERNS, PATHS_KEY, applies_of
from ..text.conditions import PATHS, read_condition, why_unusable
from ..text.language import (
    SIMILAR,
    identity,
    is_copy,
    numbers_and_negations,
    shared_words,
    statement_of,
)
from .formats import FORMATS
from .imported_entries import IMPORT_ID_DIGITS, other_title
from .instructions import plain_lines
from .sources import ALSO_IN, GONE_THERE, Source, place_of, places_of

Facts = tuple[frozenset[str], frozenset[str]]
Saying = tuple[str, str, frozenset[str]]
Scopes = tuple[frozenset[str], frozenset[str]]  # all files, and the globs of a rule


# Find rules that several pages contain: such a rule is imported once and names all places.

# formats of files that people write for agents; their pages often contain the same rules
RULE_KINDS = ("instructions:", "cursor:")
MIN_LENGTH_RATIO = 0.7  # length of the shorter copy divided by that of the longer
MIN_LINE_CHARS = 20  # shorter lines are in many rules
# share of a rule's lines that are in another rule of which it is a part
PART_SHARE = 0.9


class KnownRules:
    """The rules that were imported so far, by id, by the facts (numbers and negations) and by the lines of their texts."""

    def __init__(self) -> None:
        self._rules: dict[str, Entry | Memory] = {}
        self._by_facts: dict[Facts, list[str]] = {}
        self._by_line: dict[str, list[str]] = {}

    def add(self, rule: Entry | Memory) -> None:
        """Record a rule; ignore other memories."""
        if place_of(rule.extra).startswith(RULE_KINDS):
            self._rules[rule.id] = rule
            facts = numbers_and_negations(rule.body)
            self._by_facts.setdefault(facts, []).append(rule.id)
            for line in lines_of(rule.body):
                self._by_line.setdefault(line, []).append(rule.id)

    def find(self, entry: Entry) -> str:
        """Return the id of a rule from another place with the same text, or of which this is a part; empty if none.

        Unless both texts are equal, the other rule must apply to the same files or to all files.
        """
        place = place_of(entry.extra)
        lines = lines_of(entry.body)
        if not place.startswith(RULE_KINDS):
            return ""
        scopes: Scopes = (frozenset(), globs_in(entry.when))
        shared = Counter(id for line in lines for id in self._by_line.get(line, ()))
        for id, count in shared.items():
            rule = self._rules[id]
            is_part = count >= PART_SHARE * len(lines) and globs_in(rule.when) in scopes
            is_same = is_part or (count == len(lines) and lines_of(rule.body) == lines)
            if is_same and place_of(rule.extra) != place:
                return id
        for id in self._by_facts.get(numbers_and_negations(entry.body), ()):
            rule = self._rules[id]
            file = place_of(rule.extra).partition("#")[0]
            is_elsewhere = file != place.partition("#")[0]
            in_scope = is_elsewhere and globs_in(rule.when) in scopes
            if in_scope and _is_same_text(rule.body, entry.body):
                return id
        return ""


def is_rule_kind(kind: str) -> bool:
    """Return whether people write the files of a format for agents."""
    return f"{kind}:" in RULE_KINDS


def lines_of(text: str) -> frozenset[str]:
    """Return the lines of a text that say something, without marks of lists and headings."""
    lines = plain_lines(text)
    return frozenset(line for line in lines if len(line) >= MIN_LINE_CHARS) or lines


def with_places(
    decided: Sequence[ImportDecision], copies: Iterable[ImportDecision]
) -> list[ImportDecision]:
    """Return the decisions; each new memory lists the other places with its text, and applies to their files, too."""
    places: dict[str, list[Entry]] = {}
    for item in copies:
        if item.what == "known" and item.other != item.entry.id:
            places.setdefault(item.other, []).append(item.entry)
    return [
        _with_other_places(item, places[item.entry.id])
        if item.plan.entries and item.entry.id in places
        else item
        for item in decided
    ]


def _with_other_places(item: ImportDecision, copies: Sequence[Entry]) -> ImportDecision:
    entry = item.entry
    own, *also = (place_of(one.extra).partition(":")[2] for one in (entry, *copies))
    # without links of other hosts to the same file
    also = [place for place in dict.fromkeys(also) if place != own]
    when = item.entry.when
    scopes = [globs_in(one.when) for one in (entry, *copies)]
    if not all(scopes):
        when = tuple(condition for condition in when if condition not in scopes[0])
    else:
        when = tuple(dict.fromkeys((*when, *sorted(frozenset().union(*scopes)))))[
            :MAX_PATTERNS
        ]
    extra = {**entry.extra, ALSO_IN: [*also]} if also else {**entry.extra}
    if APPLIES_KEY in extra:
        paths = [applies_of(one.extra).paths for one in (entry, *copies)]
        every: list[Value] = [*dict.fromkeys(glob for some in paths for glob in some)]
        # a copy without paths applies to all files; commands and texts are those of the rule in every place
        acts: dict[str, Value] = {}
        if isinstance(found := extra[APPLIES_KEY], dict):
            acts = without(found, PATHS_KEY)
        if all(paths):
            acts[PATHS_KEY] = every[:MAX_ACT_PATTERNS]
        extra = without(extra, APPLIES_KEY) | ({APPLIES_KEY: acts} if acts else {})
    entry = replace(entry, when=when, extra=extra)
    written = tuple(entry if one is item.entry else one for one in item.plan.entries)
    return replace(item, entry=entry, plan=Plan(written, item.plan.why))


def _is_same_text(one: str, other: str) -> bool:
    """Return whether two texts are equal apart from white space, or differ in a few words."""
    if identity(one) == identity(other):
        return True
    shorter, longer = sorted((len(one), len(other)))
    return shorter >= MIN_LENGTH_RATIO * longer and is_copy(one, other)


def globs_in(when: Iterable[str]) -> frozenset[str]:
    """Return the conditions that are file globs."""
    return frozenset(
        condition for condition in when if read_condition(condition).how == PATHS
    )


HELD_REVIEW = "review"
HELD_PROPOSED = "proposed"
HELD_SUPERSEDED = "superseded"
HELD_ARCHIVED = "archived"
# code → why the memory is not in use
HELD_WHY = {
    HELD_REVIEW: "for your review",
    HELD_PROPOSED: "a change to a memory in use waits for 'rawkomem review' or your commit",
    HELD_SUPERSEDED: "superseded by another memory there",
    HELD_ARCHIVED: "archived, because it was no longer used there",
}
IDENTITY_FIELDS = ("kind", "id", "about", "title")
# Decisions of another repository, which are not imported.
FOREIGN_KEYS = tuple(
    name
    for key in ("supersedes", "supersededBy", "conflictsWith")
    for name in names_of_key(key)
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

    @property
    def waits(self) -> bool:
        """Return whether only a person's word holds back a new memory or a new version of one."""
        return (
            self.held in (HELD_REVIEW, HELD_PROPOSED)
            and "claim" not in self.entry.extra
        )

    @property
    def in_use(self) -> ImportDecision:
        """Return the decision without its quarantine: what a person vouches for waits for nobody."""
        return replace(
            self, plan=replace(self.plan, entries=self.plan.entries[:1]), held=""
        )


class MemoriesHere:
    """Lookup tables of a repository's memories for an import."""

    def __init__(
        self,
        memories: Iterable[Memory],
        is_vouching: bool = False,
        texts: Callable[[str], Collection[str]] = lambda id: (),
    ):
        # a change without a person's consent is only a proposal
        self.is_vouching = is_vouching
        self.texts = texts  # returns every text that a memory had, by its id
        self.ids: set[str] = set()
        self.deleted: set[str] = set()
        self.said: dict[Saying, str] = {}
        self.places: dict[str, Memory] = {}  # by path and section
        self.copies = KnownRules()
        self.added: set[str] = set()  # ids that this import adds
        self.titles: set[str] = set()  # titles that this import adds, case-folded
        for memory in memories:
            self.ids.add(memory.id)
            if memory.status == "deleted":
                self.deleted.add(memory.id)
            else:
                self.said.setdefault(_saying(memory), memory.id)
            if memory.status in (ACTIVE, "quarantined"):
                for place in reversed(places_of(memory.extra)):
                    self.places[place.partition(":")[2]] = memory
                self.copies.add(memory)
        # by file: memories whose sections are gone
        self.left: dict[str, list[Memory]] = {}

    def expect(self, entries: Iterable[Entry]) -> None:
        """Find the memories whose sections are no longer in their files; `entries` are all that these files contain."""
        present = {place_of(entry.extra) for entry in entries}
        files = {place.partition("#")[0] for place in present}
        for place, memory in self.places.items():
            if place not in present and place.partition("#")[0] in files:
                self.left.setdefault(place.partition("#")[0], []).append(memory)

    def older_version(self, entry: Entry, place: str) -> Memory | None:
        """Return the memory from this place; else one from the same file that has lost its section and is similar."""
        if memory := self.places.get(place):
            return memory
        statement = statement_of(entry.body)
        lost = self.left.get(place.partition("#")[0], [])
        similar = (
            one
            for one in lost
            if shared_words(statement, statement_of(one.body)) >= SIMILAR.min_shared
        )
        return next(similar, None)

    def is_old(self, entry: Entry, place: str, older: Memory) -> bool:
        """Return whether a memory had an entry's text, or it is a copy in another file that was not edited since."""
        if older.body != entry.body and entry.body in self.texts(older.id):
            return True
        is_copy_there = place in self.places and not place_of(older.extra).endswith(
            f":{place}"
        )
        return is_copy_there and entry.at <= older.updated

    def add(self, new: Entry) -> None:
        """Record an entry that will be written, for the rest of the import."""
        self.ids.add(new.id)
        self.added.add(new.id)
        self.titles.add(new.title.casefold())
        self.said.setdefault(_saying(new), new.id)
        self.copies.add(new)


Read = tuple[Source, str, list[Entry]]  # a source, its kind and its entries


def decide_imports(
    read: Sequence[Read], here: MemoriesHere
) -> list[list[ImportDecision]]:
    """Return the decision about each entry of each source; entries that cannot be stored are reported to `skip`.

    Stored memories wait for a review and name their place of origin. A memory of several sources is stored once.
    """
    everything = [
        (number, entry) for number, (_, _, found) in enumerate(read) for entry in found
    ]
    here.expect(entry for _, entry in everything)
    decided: dict[int, ImportDecision] = {}
    # Long rules come first, so that a part of a rule is found in it.
    for at in sorted(
        range(len(everything)), key=lambda at: -_rule_size(read, *everything[at])
    ):
        number, given = everything[at]
        source, kind, _ = read[number]
        try:
            usable = tuple(
                pattern for pattern in given.when if not why_unusable(pattern)
            )
            found = _decide_entry(replace(given, when=usable), kind, here)
        except RawkoError as failure:
            source.skip(given.title or place_of(given.extra), failure.message)
            continue
        decided[at] = replace(found, left_out=len(given.when) - len(usable))
        if found.plan.entries:
            here.add(found.entry)
    items: list[list[ImportDecision]] = [[] for _ in read]
    for at in sorted(decided):
        items[everything[at][0]].append(decided[at])
    return [with_places(some, decided.values()) for some in items]


def _rule_size(read: Sequence[Read], number: int, entry: Entry) -> int:
    return len(lines_of(entry.body)) if is_rule_kind(read[number][1]) else 0


def _decide_entry(original: Entry, kind: str, here: MemoriesHere) -> ImportDecision:
    entry = redact_entry(original)
    place = f"{kind}:{place_of(entry.extra)}"
    row = FORMATS[kind]
    dropped = () if row.keeps_decisions else FOREIGN_KEYS
    dropped = dropped if row.restores else (*dropped, IMPORTED_STATE)
    extra = without(entry.extra, *dropped)
    entry = replace(
        entry, body=as_read_back(entry.body), extra={**extra, IMPORTED: place}
    )
    entry = replace(entry, id=entry.id or _import_id(entry, place))
    same = entry.id if entry.id in here.ids else here.said.get(_saying(entry), "")
    if row.restores and same in here.added:
        # two memories with the same text stay two, because others refer to them
        same = ""
    place = place.partition(":")[2]
    older = None if same else here.older_version(entry, place)
    same = same or ("" if older else here.copies.find(entry))
    if older and (
        _content(older) == _content(entry) or here.is_old(entry, place, older)
    ):
        # only its title differs, which depends on the other imported memories
        same = older.id
    if same:
        return ImportDecision(
            "known", entry, Plan((), "known"), same, is_deleted=same in here.deleted
        )
    if is_rule_kind(kind) and entry.title.casefold() in here.titles:
        entry = replace(
            entry, title=other_title(replace(entry, extra=original.extra), here.titles)
        )
    (new,) = plan_add(entry).entries
    _check_readable(new)
    reason = f"imported from {place} ({kind})"
    is_redacted = entry.leaks
    plan = plan_quarantined(new, reason, new.by)
    waiting = after(new_memory(new), plan.entries[1:])
    held = HELD_REVIEW
    away = None
    if row.keeps_decisions and waiting.superseded_by:
        why = f"{reason}: it is superseded there"
        held = HELD_SUPERSEDED
        away = superseding(waiting, waiting.superseded_by, why, new.by)
    elif GONE_THERE in new.extra:
        why = f"{reason}: it is {new.extra[GONE_THERE]} there"
        held = HELD_ARCHIVED
        away = archiving(waiting, why, new.by)
    elif older:
        return _as_newer_version(new, older, here.is_vouching, reason, is_redacted)
    if away:
        plan = Plan((*plan.entries, away), plan.why)
    return ImportDecision("added", new, plan, "", is_redacted, held=held)


def _as_newer_version(
    new: Entry, older: Memory, is_vouching: bool, reason: str, is_redacted: bool
) -> ImportDecision:
    """Return the decision to amend a memory. A person decides first: about a proposal, else about a quarantine."""
    changed = Entry(
        body=new.body,
        tags=new.tags,
        importance=new.importance,
        by=new.by,
        given=("tags", "importance"),
    )
    plan = plan_amend(older, changed)
    held = HELD_PROPOSED if is_vouching and older.status == ACTIVE else HELD_REVIEW
    if older.status == ACTIVE and not is_vouching:
        plan = Plan((*plan.entries, quarantining(older, reason, new.by)), plan.why)
    entry = replace(new, id=older.id, title=older.title)
    return ImportDecision("changed", entry, plan, older.id, is_redacted, held=held)


def _check_readable(new: Entry) -> None:
    """Raise BadInput if an entry would not read back as one entry, so that only this memory is skipped."""
    entries, problems = read_entries(emit_entry(new), advice=False)
    wrong = next(
        (problem.message for problem in problems if problem.level == ERROR), ""
    )
    if len(entries) != 1:
        wrong = wrong or "it reads as several"
    elif any(
        getattr(entries[0], name) != getattr(new, name) for name in IDENTITY_FIELDS
    ):
        wrong = wrong or "its fields would change its kind, id or title"
    if wrong:
        raise BadInput(
            f"it cannot be written as one entry: {wrong}", "change it at its source"
        )


def _saying(item: Entry | Memory) -> Saying:
    return item.title, item.body, globs_in(item.when)


def _content(item: Entry | Memory) -> tuple[str, str, tuple[str, ...], str]:
    return item.kind, item.body, item.tags, item.importance


def _import_id(entry: Entry, place: str) -> str:
    """Return an id made from a memory's place and content, so that a repeated import gives the same ids."""
    content = repr(
        (place, entry.kind, entry.title, entry.body, entry.tags, entry.importance)
    )
    return f"{CREATES[entry.kind].prefix}_{hex_hash(content, IMPORT_ID_DIGITS)}"


ENTRIES_AT_ONCE = 200  # written under one lock


def entries_to_write(
    decided: Sequence[ImportDecision],
    about: Callable[[str], Sequence[Entry]],
) -> list[Plan]:
    """Return an import in batches of about ENTRIES_AT_ONCE entries, one lock each; keep a memory with its quarantine.

    Changes are on disk before their memories. `about` returns the entries about an id: if a killed import left only
    its changes of a new memory there, they are not written again.
    """
    pieces: list[list[Entry]] = [[]]
    for item in decided:
        if len(pieces[-1]) >= ENTRIES_AT_ONCE:
            pieces.append([])
        if item.what == "added":
            left = {entry.kind for entry in about(item.entry.id)}
        else:
            left = set()
        is_killed = left <= {entry.kind for entry in item.plan.entries}
        pieces[-1] += [
            one for one in item.plan.entries if not is_killed or one.kind not in left
        ]
    return [
        Plan(in_one_change_file(piece), f"import {len(piece)} entries")
        for piece in pieces
        if piece
    ]
