"""Housekeeping: supersede duplicates, corroborate, settle contradicting claims, and archive what
decayed. Nothing is deleted.

A Census contains no counts of one machine, such as uses, because decisions would then differ from
clone to clone.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterator,
    Mapping,
    Sequence,
)

from ..model.entries import DECAY_CODE, Entry, Memory, Plan, by_time
from ..model.values import ACTIVE, DAY, DRAFT_STATUS, FADING, KEPT_BOTH, record, replace
from ..text.chunks import counted
from ..text.conditions import specific_stems
from ..text.language import (
    DUPLICATE,
    NEAR_DUPLICATE,
    identity,
    language,
    numbers_and_negations,
)
from ..text.prose import code_spans, sentences
from .changes import (
    CORROBORATED,
    SUPERSEDES,
    Names,
    archiving,
    confirming,
    kept_both,
    linking,
    outweighs,
    source_of,
    superseding,
)
from .claims import KEEP_BOTH, SUPERSEDE, UNREGISTERED, Registry, claim_of, rivals_of
from .fold import NEEDS_REVIEW, TRUST_INSUFFICIENT, after, fold, quarantining
from .graph import build_graph
from .plans import joined_plan
from .strength import FADED_BELOW, WEAK_BELOW, Strength, strength_of
from .trust import DERIVED, derived_from, session_of

Step = Callable[["Census"], Plan]


Later = Callable[
    [Sequence[str], float, Collection[str], int],
    Iterator[tuple[str, list[tuple[str, float]]]],
]


# Census: the current state of all memories, with trust and the time, for decisions that are
# committed.

# SPEC-0009 always includes these when relevant, so they must not be archived
SPARED_IMPORTANCE = "critical"


@record
class Census:
    """Memories by id, the time, a function that computes trust, and the ids that a person vouches for."""

    memories: Mapping[str, Memory]
    now: int
    trust: Callable[[Memory], float]
    vouched: Collection[str] = ()

    def after(self, plan: Plan) -> Census:
        """Return the census after a plan is written."""
        memories = dict(self.memories)
        for entry in plan.entries:
            known = memories.get(entry.target)
            if made := after(known, [entry]) if known else fold([entry]):
                memories[made.id] = made
        return replace(self, memories=memories)

    def active(self) -> list[Memory]:
        """Return the active memories of kinds that decay, sorted by id."""
        fading = (
            memory
            for memory in self.memories.values()
            if memory.kind in FADING and memory.status == ACTIVE
        )
        return sorted(fading, key=lambda memory: memory.id)

    def is_spared(self, memory: Memory) -> bool:
        """Return whether housekeeping must not archive a memory: it is critical, or a person vouches for it."""
        return memory.importance == SPARED_IMPORTANCE or memory.id in self.vouched


# The facts of a memory and the questions that find it, which must not get lost when it is
# archived. Pure.

EDGES = ".,;:!?()[]{}<>\"'`*_|#…“”‘’"  # signs around a word that do not belong to it
# signs within a word that make it a name: `read_limit`, `src/app.py`, `a@b`
INNER_SIGNS = "_/.:@=+\\$%&"
MAX_QUESTION_CHARS = 300


def missing_fact(memory: Memory, holder: Memory) -> str:
    """Return the first number, name or code word of a memory that `holder` does not contain; empty if none."""
    words = {word.lower() for word in _fact_words(holder.title_and_body)}
    stems = {*language().stems(f"{holder.title} {holder.body}")}
    text = memory.title_and_body
    code = {
        word
        for piece, is_code in code_spans(text)
        if is_code
        for word in _fact_words(piece)
    }
    for word in (word for word in _fact_words(text) if word in code or _is_fact(word)):
        if word.lower() not in words and not (
            word.isalpha() and language().stem(word.lower()) in stems
        ):
            return word
    return ""


def questions_of(memory: Memory) -> list[str]:
    """Return the questions that must find a memory: its title, its conditions, its first sentence."""
    first = next(iter(sentences(memory.body)), "")
    texts = (memory.title, *(when.replace("|", " ") for when in memory.when), first)
    return list(
        dict.fromkeys(
            text.strip()[:MAX_QUESTION_CHARS] for text in texts if text.strip()
        )
    )


def _fact_words(text: str) -> Iterator[str]:
    return (word for part in text.split() if (word := part.strip(EDGES)))


def _is_fact(word: str) -> bool:
    """Return whether a word is a number, is written like a name, or contains a sign like names in code."""
    if word.isalpha() and word.islower():
        return False
    is_name = word[0].isupper() and not language().is_stop(word.lower())
    return (
        is_name
        or any(c.isdigit() or c.isupper() or c in INNER_SIGNS for c in word[1:])
        or word[0].isdigit()
    )


# Duplicates and corroboration. Vectors find candidates; a different number, negation or title word
# excludes them.

MAX_CORROBORATIONS = 4  # more do not raise trust (neolata: 0.05 each, 0.2 at most)
# similar memories per memory; limits the work among thousands of lookalikes
MAX_COMPARED = 50


def plan_dedupe(census: Census, later: Later, by: str = "") -> Plan:
    """Plan to supersede duplicates by the best one; duplicates from other sources confirm it first."""
    memories = dict(census.memories)
    entries: list[Entry] = []
    for alike in _comparable(census):
        # the most trusted first (in tenths, the loss by a year of age), then the oldest
        alike.sort(key=lambda one: (-round(census.trust(one), 1), one.created, one.id))
        for kept, other, cosine in _duplicates(alike, later):
            # before `superseding`: a superseded memory is no witness
            entries += _confirm(memories, kept.id, other.id)
            reason = f"duplicate of {kept.id} (similarity {cosine:.2f})"
            entries.append(superseding(other, kept.id, reason, by))
    superseded = sum(entry.kind == "supersede" for entry in entries)
    return Plan(tuple(entries), f"supersede {superseded} duplicates")


def plan_corroborations(census: Census, later: Later) -> Plan:
    """Plan to confirm memories that another source repeated later in nearly the same words."""
    memories = dict(census.memories)
    entries: list[Entry] = []
    for alike in _comparable(census):
        alike.sort(key=lambda memory: (memory.created, memory.id))
        ids = [memory.id for memory in alike]
        for id, close in later(ids, NEAR_DUPLICATE.min_cosine, (), MAX_COMPARED):
            for other, cosine in close:
                if cosine < DUPLICATE.min_cosine and same_subject(
                    memories[id], memories[other]
                ):
                    entries += _confirm(memories, id, other)
    return Plan(
        tuple(entries),
        f"corroborate {len({entry.about for entry in entries})} memories",
    )


def _confirm(memories: dict[str, Memory], id: str, other: str) -> list[Entry]:
    """Return the entry with which a memory confirms another one, and apply it to `memories`.

    Return nothing if both have the same source or an unknown one, if the fold would not count the entry, or if the
    witness was confirmed by the memory itself.
    """
    memory = memories[id]
    witness = memories[other]
    own, source = (source_of(one.by, one.extra) for one in (memory, witness))
    if (
        memory.corroborations >= MAX_CORROBORATIONS
        or not own
        or source in ("", own)
        or (CORROBORATED, id) in witness.links
    ):
        return []
    entry = confirming(memory, witness)
    confirmed = after(memory, [entry])
    if confirmed.corroborations == memory.corroborations:
        return []
    memories[id] = confirmed
    return [entry]


def is_comparable(one: Memory, other: Memory) -> bool:
    """Return whether one of two memories may be a duplicate: both in use, with the same kind, window, claim and facts.

    Derived memories, such as digests, are never duplicates.
    """
    usable = all(
        m.status == ACTIVE and m.kind in FADING and not derived_from(m)
        for m in (one, other)
    )
    return usable and _comparable_facts(one) == _comparable_facts(other)


def same_subject(one: Memory, other: Memory) -> bool:
    """Return whether every specific word of each title occurs in the other memory."""
    return _has_stems(other, specific_stems(one.title)) and _has_stems(
        one, specific_stems(other.title)
    )


def same_facts(one: Memory, other: Memory) -> bool:
    """Return whether two similar memories say the same: no number, negation or specific title word differs."""
    return _comparable_facts(one) == _comparable_facts(other) and same_subject(
        one, other
    )


def _has_stems(memory: Memory, stems: Sequence[str]) -> bool:
    missing = set(stems) - set(specific_stems(memory.title))
    return not missing or missing <= set(specific_stems(memory.body))


def _comparable(census: Census) -> list[list[Memory]]:
    """Return active, not derived memories in groups of the same kind, session, window, claim and facts."""
    groups: dict[Hashable, list[Memory]] = {}
    for memory in census.active():
        if not derived_from(memory):
            groups.setdefault(_comparable_facts(memory), []).append(memory)
    return [group for group in groups.values() if len(group) > 1]


def _comparable_facts(memory: Memory) -> Hashable:
    window = memory.valid_from, memory.valid_until
    claim = repr(memory.extra.get("claim"))
    return (
        memory.kind,
        session_of(memory),
        window,
        claim,
        *numbers_and_negations(f"{memory.title} {memory.body}"),
    )


def _duplicates(
    ranked: Sequence[Memory], later: Later
) -> Iterator[tuple[Memory, Memory, float]]:
    """Yield (kept, duplicate, similarity) of ranked memories; a duplicate is compared only with kept memories."""
    gone: set[str] = set()
    first: dict[str, Memory] = {}
    for memory in ranked:
        kept = first.setdefault(identity(memory.title_and_body), memory)
        if kept is not memory:
            gone.add(memory.id)
            yield kept, memory, 1.0
    by_id = {memory.id: memory for memory in ranked if memory.id not in gone}
    for id, close in later(list(by_id), DUPLICATE.min_cosine, gone, 0):
        for other, cosine in close:
            if other in gone:
                continue
            kept = by_id[id]
            memory = by_id[other]
            if same_subject(kept, memory) and not missing_fact(memory, kept):
                gone.add(other)
                yield kept, memory, cosine


# Settle contradictions between stored claims, as if the claims were stored one after the other.
# Pure.


def plan_contradictions(census: Census, registry: Registry, by: str = "") -> Plan:
    """Plan to settle the active claims, oldest first, as if each were stored after the claims before it."""
    entries: list[Entry] = []
    standing: dict[tuple[str, str], list[Memory]] = {}
    for memory in by_time(census.active()):
        claim = claim_of(memory)
        if claim is None:
            continue
        before = standing.setdefault(claim.key, [])
        rivals = [
            rival
            for rival in rivals_of(memory, before, registry)
            if not kept_both(memory, rival)
        ]
        policy = registry.get(claim.predicate, UNREGISTERED).conflict_policy
        decided = list(_settle(census, memory, rivals, policy, by)) if rivals else []
        entries += decided
        gone = {
            entry.about
            for entry in decided
            if entry.kind in ("supersede", "quarantine")
        }
        before[:] = [other for other in (*before, memory) if other.id not in gone]
    changed = len({entry.about for entry in entries})
    return Plan(tuple(entries), f"settle contradictions of {changed} memories")


def _settle(
    census: Census, memory: Memory, rivals: Sequence[Memory], policy: str, by: str
) -> Iterator[Entry]:
    names = [rival.id for rival in rivals]
    if policy == KEEP_BOTH:
        yield linking(memory, names, KEPT_BOTH, by)
    elif policy == SUPERSEDE and outweighs(memory, rivals, census.trust):
        for rival in rivals:
            yield superseding(rival, memory.id, f"contradicted by {memory.id}", by)
    else:
        yield quarantining(
            memory,
            TRUST_INSUFFICIENT if policy == SUPERSEDE else NEEDS_REVIEW,
            by,
            names,
        )


# Consolidate: repeat all steps, each on the result of the others, until nothing changes; return
# one Plan. Pure.


def consolidation_steps(later: Later, registry: Registry, by: str) -> list[Step]:
    """Return the steps in their order; `later` finds similar memories."""
    return [
        lambda census: plan_dedupe(census, later, by),
        lambda census: plan_contradictions(census, registry, by),
        lambda census: plan_corroborations(census, later),
    ]


def plan_consolidate(
    census: Census,
    todo: Sequence[Step],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Plan:
    """Plan all changes of a consolidation. The loop ends, because no step undoes the changes of another."""
    plans: list[Plan] = []
    done = 0
    changed = True
    while changed:
        changed = False
        for step in todo:
            plan = step(census)
            if plan.entries:
                census = census.after(plan)
                changed = True
                plans.append(plan)
            done += 1
            progress(done, done + len(todo))
    steps = "; ".join(plan.why for plan in plans) or "nothing to do"
    return joined_plan(plans, f"consolidate: {steps}")


# Prune: archive decayed memories, and remove dangling links. Nothing is deleted. Pure.

SUPERSEDED_DAYS = 90
MIN_DISPUTED_TRUST = 0.2
STATUSES_IN_USE = (ACTIVE, DRAFT_STATUS, "conflicted", "disputed")
# do not strengthen a memory: they lead to its replacement or digest
UNCOUNTED_LINKS = (SUPERSEDES, DERIVED)


@record
class Outlook:
    """The strength of every memory that may decay, and the ids of those below the limit."""

    strengths: dict[str, Strength]
    faded: tuple[str, ...]

    def counts(self, archived: Collection[str]) -> dict[str, int]:
        """Return the number of memories in each state after these are archived; the states sum up to the total."""
        left = self.strengths.keys() - set(archived)
        kept = left & set(self.faded)
        weak = {id for id in left - kept if self.strengths[id].value < WEAK_BELOW}
        return {
            "total": len(left) + len(archived),
            "healthy": len(left - kept - weak),
            "weakening": len(weak),
            "faded_but_kept": len(kept),
            "archived": len(archived),
        }


def decay_outlook(census: Census) -> Outlook:
    """Return the memories that faded. Links to faded memories do not count for the others."""
    around = linked_memories(census)
    may_fade = {
        id: memory
        for id, memory in sorted(census.memories.items())
        if memory.kind in FADING
        and memory.status in (ACTIVE, "disputed")
        and not census.is_spared(memory)
    }
    strengths: dict[str, Strength] = {}
    faded: set[str] = set()
    pending = set(may_fade)
    while pending:
        for id in pending:
            links = len(around.get(id, set()) - faded)
            strengths[id] = strength_of(may_fade[id], links, census.now)
        gone = {id for id in pending if strengths[id].value < FADED_BELOW}
        faded |= gone
        pending = {
            other for id in gone for other in around.get(id, ()) if other in may_fade
        } - faded
    return Outlook(strengths, tuple(sorted(faded)))


def linked_memories(census: Census) -> dict[str, set[str]]:
    """Return memory → the memories in use that a declared link connects it with, in either direction."""
    graph = build_graph(
        list(census.memories.values()), lambda memory: memory.status in STATUSES_IN_USE
    )
    counted_edges = (
        (id, [edge for edge in edges if edge.type not in UNCOUNTED_LINKS])
        for id, edges in graph.around.items()
    )
    return {id: {edge.other(id) for edge in edges} for id, edges in counted_edges}


def plan_prune(census: Census, by: str = "") -> Plan:
    """Plan to archive decayed, long superseded, and disputed memories of low trust; and to remove dangling links.

    Critical memories and memories that a person vouches for are never archived. A decayed memory stays while a memory
    that it superseded is not archived, because that one would be in use again.
    """
    outlook = decay_outlook(census)
    memories = census.memories
    reasons = {id: str(outlook.strengths[id]) for id in outlook.faded}
    for id, memory in sorted(memories.items()):
        days = (census.now - memory.updated) / DAY
        if census.is_spared(memory) or id in reasons:
            continue
        if memory.status == "superseded" and days > SUPERSEDED_DAYS:
            reasons[id] = f"superseded {counted(round(days), 'day')} ago"
        elif memory.status == "disputed" and census.trust(memory) < MIN_DISPUTED_TRUST:
            reasons[id] = f"disputed, trust {census.trust(memory):.2f}"
    hidden = [one for one in memories.values() if one.status == "superseded"]
    needed = {one.superseded_by for one in hidden if one.id not in reasons}
    archived = [
        archiving(memories[id], f"prune: {reason}", by)
        for id, reason in reasons.items()
        if id not in needed
    ]
    leaving = {entry.about for entry in archived}
    cleaned = [
        entry
        for entry in _without_dangling_links(memories, by)
        if entry.about not in leaving
    ]
    why = f"prune: archive {len(archived)}, clean links of {len({entry.about for entry in cleaned})}"
    return Plan((*archived, *cleaned), why, DECAY_CODE)


def _without_dangling_links(memories: Mapping[str, Memory], by: str) -> Iterator[Entry]:
    """Yield, for each memory in use and each type of link, an entry that removes the dangling links."""
    names = Names(memory for memory in memories.values() if memory.status != "deleted")
    for _, memory in sorted(memories.items()):
        lost: dict[str, list[str]] = {}
        for type, name in memory.links if memory.status in STATUSES_IN_USE else ():
            if not names.find(name):
                lost.setdefault(type, []).append(name)
        for type, gone in lost.items():
            yield linking(memory, gone, type, by, removed=True)
