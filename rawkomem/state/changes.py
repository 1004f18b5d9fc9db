"""The kinds of change that need only the memory itself: how each is planned, how it changes a memory,
and how it is told.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ..format.blocks import (
    CITES_KEY,
    Citation,
    citations_in,
    wikilinks_in,
    with_citations,
)
from ..format.entries import KEY_OF_FLAG
from ..model.entries import Entry, Memory, Plan, Value
from ..model.errors import BadInput, NotFound, Refused, check_known
from ..model.ids import file_stem, slug
from ..model.values import (
    ACTIVE,
    AFTER,
    KEPT_BOTH,
    REPLACES,
    iso,
    names_of_key,
    read_moment,
    record,
    replace,
    time_of,
)
from ..model.values import extra_value as said_under
from .plans import (
    BODY,
    REMOVES,
    ChangeKind,
    Fields,
    Trust,
    change_entry,
    check_entry,
    check_in_use,
    check_window,
    entry_about,
    ids_in,
    names_or_nothing,
    plan_change,
    with_status,
)
from .trust import BASE_TRUST, DERIVED, MAX_AGE_LOSS, claimed_source, sources_in

Find = Callable[[str], Memory | None]


# Resolve names in files to memories: an id, a file's path or stem, or a title.

RELATED = "related"
MENTIONS = "mentions"
SUPERSEDES = "supersedes"
HERITAGE = "heritage"
MEMBER = "member"  # from an episode to a memory
CORROBORATED = "corroboratedBy"  # from a memory to one that confirms it
SIMILAR = "similar"  # computed from vectors, not in a file


class Names:
    """All names of some memories. The name of a file with several memories means the first one."""

    def __init__(self, memories: Iterable[Memory]):
        self.ids: set[str] = set()
        self.files: dict[str, list[str]] = {}
        self.titles: dict[str, list[str]] = {}
        seen: set[str] = set()
        for memory in sorted(
            memories, key=lambda memory: (memory.path, memory.line, memory.id)
        ):
            self.ids.add(memory.id)
            self.titles.setdefault(_title_key(memory.title), []).append(memory.id)
            if memory.path in seen:
                continue
            seen.add(memory.path)
            below = unicodedata.normalize(
                "NFC", memory.path.partition("/")[2].removesuffix(".md")
            ).casefold()
            for name in {below, below.rpartition("/")[2]}:
                self.files.setdefault(name, []).append(memory.id)

    def find(self, name: str) -> list[str]:
        """Return the ids that match a name: none if it is broken, several if it is ambiguous."""
        name = unicodedata.normalize("NFC", name.strip()).removesuffix(".md")
        # `name#heading`; an id may contain a #
        for candidate in dict.fromkeys((name, name.partition("#")[0].strip())):
            if candidate in self.ids:
                return [candidate]
            if candidate and (ids := self._of_file(candidate)):
                return ids
        return []

    def _of_file(self, name: str) -> list[str]:
        """Return the memories for a file's name, else for a unique title, else for the file name made from a title."""
        of_title = self.titles.get(_title_key(name), [])
        stems = (file_stem(name), slug(name))  # older files have names made by slug
        ids = self.files.get(name.casefold()) or (
            of_title if len(of_title) == 1 else []
        )
        return ids or next(
            (self.files[stem] for stem in stems if stem in self.files), []
        )


def _title_key(text: str) -> str:
    return " ".join(text.split()).casefold()


def references(memory: Memory) -> Iterator[tuple[str, str]]:
    """Yield (type, name) of all references of a memory: links, related, mentions in the text, and its sources."""
    yield from memory.links
    yield from ((RELATED, name) for name in memory.related)
    yield from ((MENTIONS, name) for name in wikilinks_in(memory.body))
    yield from ((SUPERSEDES, name) for name in memory.supersedes)
    yield from ((HERITAGE, name) for name in memory.heritage)
    yield from ((DERIVED, name) for name in sources_in(memory.extra))


# Conflicts between claims. They are not stored: a conflict is open until a memory leaves use or
# both are kept.


@record
class Conflict:
    """A memory that contradicts `other`, which is in use."""

    memory: Memory
    other: Memory


def open_conflicts(memories: Iterable[Memory], find: Find) -> list[Conflict]:
    """Return the open conflicts of memories; if the other memory was superseded, with its latest replacement."""
    conflicts: list[Conflict] = []
    for memory in memories:
        if memory.status in (ACTIVE, "quarantined"):
            chains = (replacement_chain(id, find) for id in memory.conflicts_with)
            others = {
                way[-1].id: way[-1]
                for way in chains
                if way and way[-1].status == ACTIVE
            }
            standing = (
                other
                for id, other in others.items()
                if id != memory.id and not kept_both(memory, other)
            )
            conflicts += [Conflict(memory, other) for other in standing]
    return conflicts


def kept_both(memory: Memory, other: Memory) -> bool:
    """Return whether a link says that both of two contradicting memories are kept."""
    return (KEPT_BOTH, other.id) in memory.links or (
        KEPT_BOTH,
        memory.id,
    ) in other.links


def how_settled(memory: Memory, other: Memory) -> str:
    """Return how the conflict between two memories was settled; empty while it is open."""
    if kept_both(memory, other):
        return "both hold"
    for side, name in ((memory, "this one"), (other, "that one")):
        if side.status not in (ACTIVE, "quarantined"):
            return f"{name} is {side.status}"
    return ""


def replacement_chain(id: str, find: Find) -> tuple[Memory, ...]:
    """Return a memory and its chain of replacements, in order; stop at a cycle."""
    chain: dict[str, Memory] = {}
    while id and id not in chain and (memory := find(id)):
        chain[id] = memory
        id = memory.superseded_by
    return tuple(chain.values())


# amend: change a memory. Only the keys that the entry has are changed, and the body if it is not
# empty.

# frontmatter key → field of Memory, for the keys an amend may change; other keys are merged into `extra`
AMENDABLE = {key: field for field, key in KEY_OF_FLAG.items()}
# keys whose values are added and removed one by one
LISTS = ("whenToUse", "tags", "relatedMemories")
# ends of the keys that do so, such as `tagsAdded`
ADDED = "Added"
REMOVED = "Removed"
LIST_CHANGES = {f"{key}{end}": (key, end) for key in LISTS for end in (ADDED, REMOVED)}
FIXED_KEYS = ("claim", "provenance")  # a new claim or source needs a new memory


def plan_amend(memory: Memory, entry: Entry, one_by_one: bool = False) -> Plan:
    """Plan to change a memory: the keys in `given`, and the body if it is not empty.

    With `one_by_one`, the entry says which values each list gains and loses, so that two branches both keep theirs.
    """
    check_in_use(memory)
    if any(key in entry.extra for key in FIXED_KEYS):
        raise Refused(
            "a claim and its source cannot be amended",
            "add the new claim; it supersedes the old one",
        )
    if not entry.given and not entry.body.strip() and not entry.extra:
        raise BadInput(
            "nothing to amend",
            "name what to change, such as --title 'A better title' or --body, or add --edit",
        )
    check_entry(entry)
    entry = _one_by_one(memory, entry) if one_by_one else entry
    return Plan((entry_about(memory, replace(entry, kind="amend")),))


def _one_by_one(memory: Memory, entry: Entry) -> Entry:
    """Return an entry that adds and removes single values instead of setting whole lists."""
    extra = dict(entry.extra)
    for key in LISTS:
        known = getattr(memory, AMENDABLE[key])
        wanted = getattr(entry, AMENDABLE[key])
        if key in entry.given:
            removed = [value for value in known if value not in wanted]
            added = [value for value in wanted if value not in known]
            extra |= {f"{key}{ADDED}": added or ([] if removed else [*wanted])}
            extra |= {f"{key}{REMOVED}": removed} if removed else {}
    given = tuple(key for key in entry.given if key not in LISTS)
    return replace(entry, extra=extra, given=given, when=(), tags=(), related=())


def amendment_between(old: Entry | Memory, new: Entry | Memory) -> Fields:
    """Return `given`, `extra` and `body` of the amendment that turns one version of a memory into another."""
    given = [
        key
        for key, field in AMENDABLE.items()
        if getattr(new, field) != getattr(old, field)
    ]
    extra: Fields = {
        key: value for key, value in new.extra.items() if old.extra.get(key) != value
    }
    removed = [key for key in old.extra if key not in new.extra]
    removed += [BODY] if old.body and not new.body else []
    extra |= {REMOVES: removed} if removed else {}
    body = new.body if new.body != old.body else ""
    return {"given": tuple(given), "extra": extra, "body": body}


def plan_cite(memory: Memory, citations: Sequence[Citation], by: str) -> Plan:
    """Plan an amend with all citations of a memory, old and new, without duplicates."""
    extra: Fields = {
        CITES_KEY: [*with_citations(citations_in(memory.extra), citations)]
    }
    return plan_amend(memory, Entry(extra=extra, by=by))


def _reduce_amend(fields: Fields, entry: Entry) -> Fields:
    """Set the keys of the entry. Earlier reviews no longer count, because they approved other text."""
    named: Fields = {
        AMENDABLE[key]: getattr(entry, AMENDABLE[key])
        for key in entry.given
        if key in AMENDABLE
    }
    for name, (key, end) in LIST_CHANGES.items():
        if values := ids_in(entry, name):
            field = AMENDABLE[key]
            before = {**fields, **named}[field]
            kept = [value for value in before if value not in values]
            named[field] = tuple(
                kept if end == REMOVED else dict.fromkeys((*before, *values))
            )
    removed = ids_in(entry, REMOVES)
    if entry.body or BODY in removed:
        named["body"] = entry.body
    extra = {
        key: fields["extra"][key]
        for key in fields["extra"]
        if key in FIXED_KEYS or key not in removed
    }
    for key in entry.extra:
        if key not in (*FIXED_KEYS, REMOVES, REPLACES, AFTER, *LIST_CHANGES):
            extra[key] = entry.extra[key]
    if named:  # not for a citation
        named["amended"] = max(fields.get("amended", 0), entry.at)
    amended_in = (*fields.get("amended_in", ()), entry.id)
    return {**named, "amended_in": amended_in, "reviewed_in": (), "extra": extra}


def _tell_amend(entry: Entry) -> str:
    named = tuple(key for key in entry.given if key in AMENDABLE)
    known = (*FIXED_KEYS, REMOVES, REPLACES, AFTER, *LIST_CHANGES, *named)
    extra = tuple(key for key in entry.extra if key not in known)
    removed = tuple("text" if key == BODY else key for key in ids_in(entry, REMOVES))
    changed = (*named, *extra, *(("text",) if entry.body else ()))
    parts = [
        f"{word} {names_or_nothing(keys)}"
        for word, keys in (("changed", changed), ("removed", removed))
        if keys
    ]
    parts += [
        f"{end.lower()} {key}: {names_or_nothing(values)}"
        for name, (key, end) in LIST_CHANGES.items()
        if (values := ids_in(entry, name))
    ]
    return ", ".join(parts) or "changed nothing"


AMEND_KIND = ChangeKind(_reduce_amend, _tell_amend)


# archive: take the memory out of use. `restore` undoes it.

HOUSEKEEPING = "housekeeping"


def plan_archive(memory: Memory, reason: str, by: str) -> Plan:
    """Plan to archive a memory."""
    if memory.status in ("archived", "deleted"):
        raise Refused(f"{memory.id} is already {memory.status}", "nothing to do")
    return plan_change(memory, "archive", by, {"reason": reason})


def archiving(memory: Memory, reason: str, by: str) -> Entry:
    """Return the entry with which housekeeping archives a memory. Memories made from it stay in use."""
    return change_entry(
        memory, "archive", by, {"reason": reason, "cause": HOUSEKEEPING}
    )


def _reduce_archive(fields: Fields, entry: Entry) -> Fields:
    return {
        **with_status("archived")(fields, entry),
        "retracted": entry.extra.get("cause") != HOUSEKEEPING,
    }


ARCHIVE_KIND = ChangeKind(_reduce_archive, lambda entry: "archived")


# corroborate: another source says the same. No second memory is stored.


def plan_corroborate(known: Memory, said: Entry) -> Plan:
    """Plan to confirm a memory. The new text becomes the body of the confirmation."""
    extra = {key: said.extra[key] for key in ("provenance",) if key in said.extra}
    body = said.body if said.body.strip() else said.title
    entry = Entry(
        kind="corroborate",
        by=said.by,
        found_in=said.found_in,
        source=said.source,
        extra=extra,
        body=body,
    )
    why = f"corroborate {known.id}: it says the same"
    return Plan((entry_about(known, entry),), why)


def confirming(memory: Memory, witness: Memory) -> Entry:
    """Return the entry with which the memory `witness` confirms a memory."""
    extra = {"with": witness.id, "reason": f"confirmed by {witness.id}"}
    return change_entry(memory, "corroborate", witness.by, extra)


def _reduce_corroborate(fields: Fields, entry: Entry) -> Fields:
    """Count each other source once, because repeating a statement adds no trust. Link a witness (`with`)."""
    source = source_of(entry.by, entry.extra)
    known = fields.get("confirmed_by", ())
    links = fields.get("links", ())
    witnesses = tuple((CORROBORATED, id) for id in ids_in(entry, "with"))
    again = bool(witnesses) and all(link in links for link in witnesses)
    counts = (
        not again
        and source not in known
        and not (source and source == source_of(fields["by"], fields["extra"]))
    )
    times = [at for at in (fields["first_observed"], entry.at) if at]  # 0: unknown time
    return {
        "corroborations": fields.get("corroborations", 0) + counts,
        "confirmed_by": (*known, source) if counts else known,
        "repeated": fields.get("repeated", 0) + 1,
        "links": tuple(dict.fromkeys((*links, *witnesses))),
        "first_observed": min(times, default=0),
        "last_observed": max(fields["last_observed"], entry.at),
    }


def source_of(by: str, extra: Mapping[str, Value]) -> str:
    """Return the author's name, else the session: two memories with the same source do not confirm each other."""
    return by.strip().lower() or str(said_under(extra, "session"))


def _tell_corroborate(entry: Entry) -> str:
    witnesses = ids_in(entry, "with")
    return f"confirmed by {names_or_nothing(witnesses)}" if witnesses else "said again"


CORROBORATE_KIND = ChangeKind(_reduce_corroborate, _tell_corroborate)


# delete: hide the memory. Its text stays in the file.


def plan_delete(memory: Memory, reason: str, by: str) -> Plan:
    """Plan to hide a memory; its text stays in the file."""
    if memory.status == "deleted":
        raise Refused(
            f"{memory.id} is already deleted",
            f"to remove its text, run 'rawkomem purge {memory.id}'",
        )
    return plan_change(memory, "delete", by, {"reason": reason})


DELETE_KIND = ChangeKind(with_status("deleted"), lambda entry: "deleted")


# feedback: a vote that the memory was helpful or harmful.

SIGNALS = HELPFUL, HARMFUL = ("helpful", "harmful")
SIGNS = {HELPFUL: "+", HARMFUL: "-"}


def plan_feedback(memory: Memory, signal: str, reason: str, by: str) -> Plan:
    """Plan a vote on a memory: helpful or harmful."""
    check_known("feedback", signal, SIGNALS)
    return plan_change(memory, "feedback", by, {"signal": signal, "reason": reason})


def _reduce_feedback(fields: Fields, entry: Entry) -> Fields:
    signal = str(entry.extra.get("signal"))
    if signal not in SIGNALS:
        return {}
    return {
        signal: fields.get(signal, 0) + 1,
        "votes": fields.get("votes", "") + SIGNS[signal],
    }


FEEDBACK_KIND = ChangeKind(
    _reduce_feedback,
    lambda entry: f"voted {entry.extra.get('signal', 'nothing')}",
)


# heritage: the source memories of a memory, and the chain of intents that led to it (RFC-0011
# §4.2).

# RFC-0011: what led to a memory, level by level
CHAIN = ("intentChain", "hypotheses", "rationales")
MAX_LEVELS = 5


@record
class HeritageChain:
    """Intents, earliest first; hypotheses and reasons at each level."""

    intents: tuple[str, ...] = ()
    hypotheses: tuple[str, ...] = ()
    rationales: tuple[str, ...] = ()


def heritage_of(memory: Memory) -> HeritageChain:
    """Return the current chain of a memory."""
    lists = (memory.extra.get(key) for key in CHAIN)
    return HeritageChain(
        *(tuple(map(str, value)) if isinstance(value, list) else () for value in lists)
    )


def plan_heritage(memory: Memory, chain: HeritageChain, by: str = "") -> Plan:
    """Plan to set the chain of a memory; it replaces the current one."""
    check_in_use(memory)
    parts = (chain.intents, chain.hypotheses, chain.rationales)
    if not any(parts):
        raise BadInput("the chain is empty", "pass at least one --intent")
    if any(len(part) > MAX_LEVELS for part in parts):
        raise BadInput(
            f"the chain has more than {MAX_LEVELS} levels",
            f"keep the last {MAX_LEVELS}",
        )
    if any(not text.strip() for part in parts for text in part):
        raise BadInput("the chain has an empty level", "leave it out")
    extra: Fields = {key: list(part) for key, part in zip(CHAIN, parts, strict=True)}
    return plan_change(memory, "heritage", by, extra)


def _reduce_heritage(fields: Fields, entry: Entry) -> Fields:
    """Add or remove sources; a chain of intents replaces the current one."""
    named = ids_in(entry, "from")
    known = fields.get("heritage", ())
    others = tuple(id for id in known if id not in named)
    sources = others if _removes(entry) else tuple(dict.fromkeys((*known, *named)))
    if not any(key in entry.extra for key in CHAIN):
        return {"heritage": sources}
    chain = {key: list(ids_in(entry, key)[-MAX_LEVELS:]) for key in CHAIN}
    return {"heritage": sources, "extra": {**fields["extra"], **chain}}


def _removes(entry: Entry) -> bool:
    return entry.extra.get("removed") == "true"


def _tell_heritage(entry: Entry) -> str:
    sources = ids_in(entry, "from")
    intents = ids_in(entry, CHAIN[0])
    if _removes(entry):
        return f"does not come from {names_or_nothing(sources)}"
    if sources:
        return f"comes from {names_or_nothing(sources)}"
    return f"was led to by: {' → '.join(intents)}"


HERITAGE_KIND = ChangeKind(_reduce_heritage, _tell_heritage)


# link: add or remove links from the memory to others.

MAX_TYPE_CHARS = 32  # characters
# Types that a link entry cannot have → a hint.
RESERVED_TYPES = {
    SIMILAR: "rawkomem computes similarity from vectors",
    MENTIONS: "write [[id]] into the text",
    SUPERSEDES: "use 'rawkomem supersede'",
    HERITAGE: "a heritage entry creates it",
    DERIVED: "the key derivedFrom of a memory creates it",
    CORROBORATED: "a corroborate entry creates it",
    MEMBER: "use 'rawkomem trace episode add'",
    KEPT_BOTH: "use 'rawkomem review ID --keep-both'",
}


def plan_link(memory: Memory, other: Memory, type: str, by: str) -> Plan:
    """Plan to link a memory to another one; the entry is about the first."""
    if type in RESERVED_TYPES:
        raise BadInput(
            f"{type!r} is not a type of link that you can set", RESERVED_TYPES[type]
        )
    plain = type.replace("-", "").replace("_", "")
    if not (plain.isascii() and plain.isalnum()) or len(type) > MAX_TYPE_CHARS:
        raise BadInput(
            f"not a type of link: {type[:40]!r}",
            f"use letters, digits, - and _; at most {MAX_TYPE_CHARS}",
        )
    if memory.id == other.id:
        raise BadInput("cannot link a memory to itself", "name two memories")
    for one in (memory, other):
        if one.status == "deleted":
            raise Refused(f"{one.id} is deleted", "link memories that are not deleted")
    if (type, other.id) in memory.links:
        raise Refused(
            f"{memory.id} is already linked to {other.id} as {type!r}", "nothing to do"
        )
    return Plan((linking(memory, [other.id], type, by),))


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
    return Plan(entries)


def linking(
    memory: Memory, to: Sequence[str], type: str, by: str, removed: bool = False
) -> Entry:
    """Return the entry that adds or removes links from a memory to some others."""
    extra: Fields = {
        "to": list(to) if len(to) > 1 else to[0],
        "type": type if type != RELATED else "",
        "removed": "true" if removed else "",
    }
    return change_entry(memory, "link", by, extra)


def _reduce_link(fields: Fields, entry: Entry) -> Fields:
    links = tuple((link_type(entry), id) for id in ids_in(entry, "to"))
    others = tuple(known for known in fields.get("links", ()) if known not in links)
    return {"links": others if _removes(entry) else (*others, *links)}


def link_type(entry: Entry) -> str:
    """Return the type of the links that an entry adds or removes."""
    return str(entry.extra.get("type", RELATED))


def _tell_link(entry: Entry) -> str:
    return f"{'unlinked from' if _removes(entry) else 'linked to'} {names_or_nothing(ids_in(entry, 'to'))} as {link_type(entry)}"


LINK_KIND = ChangeKind(_reduce_link, _tell_link)


# reinforce: somebody confirmed that the memory is true. It ends `disputed`.


def plan_reinforce(memory: Memory, reason: str, by: str) -> Plan:
    """Plan to confirm a memory; this also ends the status `disputed`."""
    return plan_change(memory, "reinforce", by, {"reason": reason})


def _reduce_reinforce(fields: Fields, entry: Entry) -> Fields:
    cleared = {"status": ACTIVE, "reason": ""} if fields["status"] == "disputed" else {}
    return {**cleared, "reinforcements": fields.get("reinforcements", 0) + 1}


REINFORCE_KIND = ChangeKind(_reduce_reinforce, lambda entry: "found true again")


# supersede: another memory replaces this one. A less trusted memory needs `anyway`. `restore`
# undoes a supersede.

# key in the copy that `without_effect` makes; no file has it
NOT_IN_USE = "supersededByNotInUse"
TRUST_DECIMALS = 6  # for comparing trust, so that tiny differences in age do not count


def outweighs(memory: Memory, rivals: Sequence[Memory], trust: Trust) -> bool:
    """Return whether a memory is trusted at least as much as each of its rivals, so that it wins ties.

    If its lead is not larger than the loss by age, the declared sources decide: all texts of agents have the same cap,
    and a text whose declared source is a user must not lose to a newer guess only because it is older.
    """
    return all(_outweighs(memory, rival, trust) for rival in rivals)


def _outweighs(memory: Memory, rival: Memory, trust: Trust) -> bool:
    if had_ended(memory, memory.created) and not had_ended(rival, memory.created):
        return False  # it was no longer valid when it was written
    own = trust(memory)
    other = trust(rival)
    lead = round(own - other, TRUST_DECIMALS)
    if not 0 <= lead <= MAX_AGE_LOSS:
        return lead > 0
    return _declared_trust(memory, own) >= _declared_trust(rival, other)


def had_ended(memory: Memory, at: int) -> bool:
    """Return whether the window of a memory was over at a time."""
    return 0 < memory.valid_until <= at


def _trust_compared(new: Memory, old: Memory, trust: Trust) -> str:
    """Return both trust values; if they are equal, the declared sources."""
    own, other = (round(trust(memory), TRUST_DECIMALS) for memory in (new, old))
    if own < other:
        decimals = 2 if round(own, 2) < round(other, 2) else TRUST_DECIMALS
        return f"{own:.{decimals}f} against {other:.{decimals}f}"
    return f"its source is {claimed_source(new.extra) or 'not declared'}, the other's is {claimed_source(old.extra)}"


def _declared_trust(memory: Memory, trust: float) -> float:
    """Return the initial trust of the source that a memory declares; if it declares none, its actual trust."""
    claimed = claimed_source(memory.extra)
    return BASE_TRUST[claimed] if claimed else round(trust, TRUST_DECIMALS)


def superseding(old: Memory, newer: str, reason: str, by: str) -> Entry:
    """Return the entry that supersedes a memory by the one with the id `newer`."""
    return change_entry(old, "supersede", by, {"supersededBy": newer, "reason": reason})


def plan_supersede(
    old: Memory, new: Memory, reason: str, by: str, trust: Trust, anyway: bool = False
) -> Plan:
    """Plan to replace `old` by `new`; raise Refused if `new` is trusted less, unless `anyway` is set."""
    if old.id in (new.id, new.superseded_by):
        raise Refused(
            f"{old.id} would supersede itself",
            "name the old memory first, then the new one",
        )
    if new.status != ACTIVE:
        raise Refused(
            f"{new.id} is {new.status}",
            "only an active memory can supersede another one",
        )
    if old.status in ("superseded", "deleted"):
        raise Refused(f"{old.id} is already {old.status}", "nothing to do")
    if not anyway and not outweighs(new, [old], trust):
        hint = f"to do it anyway, run 'rawkomem supersede {old.id} {new.id} --anyway'"
        raise Refused(
            f"{new.id} is trusted less than {old.id}: {_trust_compared(new, old, trust)}",
            hint,
        )
    return Plan((superseding(old, new.id, reason, by),))


def newer_in(entry: Entry) -> str:
    """Return the id of the memory that supersedes an entry's memory; empty if the entry names none."""
    return next(iter(ids_in(entry, "supersededBy")), "")


def without_effect(entry: Entry) -> Entry:
    """Return an entry whose `supersededBy` changes nothing, because the memory that it names is not in use."""
    kept = {
        key: entry.extra[key]
        for key in entry.extra
        if key not in names_of_key("supersededBy")
    }
    note = {NOT_IN_USE: newer_in(entry)} if entry.changes else {}
    return replace(entry, extra={**kept, **note})


def _reduce_supersede(fields: Fields, entry: Entry) -> Fields:
    newer = newer_in(entry)
    if not newer:
        return {"superseded_at": fields.get("superseded_at") or entry.at}
    changed = {"superseded_by": newer, "superseded_at": entry.at}
    return {**with_status("superseded")(fields, entry), **changed}


def _tell_supersede(entry: Entry) -> str:
    if other := entry.extra.get(NOT_IN_USE):
        return f"superseded by {other}, which is not in use: no effect"
    return f"superseded by {newer_in(entry) or 'nothing'}"


SUPERSEDE_KIND = ChangeKind(_reduce_supersede, _tell_supersede)


# validity: set the time window in which the memory is valid. It replaces the window before.

ENDS = {"validFrom": "valid_from", "validUntil": "valid_until"}  # key → field of Memory
OPEN_END = "none"  # value that removes a limit of the window


def plan_validity(memory: Memory, start: str, end: str, reason: str, by: str) -> Plan:
    """Plan to set the validity window: dates, times or ages; "" keeps a limit, `none` removes it."""
    texts = zip(ENDS, (start, end), strict=True)
    window: Fields = {key: _window_end(key, text) for key, text in texts if text}
    if not window:
        raise BadInput("no validity window is named", "pass --from, --until or both")
    known = {key: iso(getattr(memory, field)) for key, field in ENDS.items()}
    check_window(
        {
            key: value
            for key, value in {**known, **window}.items()
            if value not in ("", OPEN_END)
        }
    )
    extra = {**window, "reason": reason}
    return plan_change(memory, "validity", by, extra, tuple(window))


def _window_end(key: str, text: str) -> str:
    if text == OPEN_END:
        return OPEN_END
    at = read_moment(text)
    if at is None:
        raise BadInput(
            f"{key} {text!r} is not a time",
            "use a date (2026-01-23), a time, an age (7d), or none",
        )
    return iso(at)


def _reduce_validity(fields: Fields, entry: Entry) -> Fields:
    return {
        field: time_of(said_under(entry.extra, key))
        for key, field in ENDS.items()
        if _gives_end(entry, key)
    }


def _gives_end(entry: Entry, key: str) -> bool:
    return any(name in entry.given for name in names_of_key(key))


def _tell_validity(entry: Entry) -> str:
    words = {"validFrom": "from", "validUntil": "until"}
    ends = [
        f"{words[key]} {iso(time_of(said_under(entry.extra, key))) or 'any time'}"
        for key in ENDS
        if _gives_end(entry, key)
    ]
    return f"valid {' '.join(ends)}" if ends else "no window given"


VALIDITY_KIND = ChangeKind(_reduce_validity, _tell_validity)
