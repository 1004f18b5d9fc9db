"""Decisions about memories: trust, disputes, quarantine and review, supersession, validity, claims and their conflicts."""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from functools import partial

from ..exchange.sources import is_from, places_of
from ..files.append import Written, in_one_change_file
from ..files.machine_records import PERSON, Arrivals
from ..index.catalogue import DERIVES, memory_of
from ..index.claims import memories_claiming, opposed_keys, pending_conflicts
from ..index.standings import Believed
from ..index.stores.database import COMPARED
from ..model.entries import Entry, Memory, Plan
from ..model.errors import NotFound
from ..model.filters import Filter
from ..model.ids import hex_hash
from ..model.values import (
    ACTIVE,
    checked_share,
    now,
    record,
    replace,
)
from ..state.changes import (
    Conflict,
    had_ended,
    open_conflicts,
    plan_archive,
    plan_reinforce,
    plan_supersede,
    plan_validity,
    replacement_chain,
)
from ..state.claims import Predicate, read_claim, read_registry, rivals_of
from ..state.contradictions import (
    Contradiction,
    Disagreement,
    Pair,
    contradictions,
    opposed_pairs,
)
from ..state.fold import (
    REJECT,
    Review,
    brings_back,
    fold,
    fold_proposed,
    is_by_hand,
    is_deciding,
    plan_decide,
    plan_dispute,
    plan_quarantine,
    plan_restore,
    plan_review,
    quarantining,
    reviewed_name,
)
from ..state.history import (
    Explained,
    Replaced,
    differences,
    replacements,
    why_not_in_use,
)
from ..state.plans import ENDING, PUT_AWAY
from ..state.strength import REINFORCED_IMPORTANCE
from ..state.trust import (
    AGENT,
    AUTHORS,
    HIDDEN_AUTHOR,
    UNCOMMITTED,
    UNKNOWN,
    Trust,
    Weak,
    author_state,
    standing_of_entry,
    trust_of,
)
from .core import Wing, batches
from .writing import arrival, as_one_change

REVIEWS_AT_ONCE = 200  # written under one lock


# how an entry arrived on this machine → who wrote it
WRITERS = {
    PERSON: "a person",
    AGENT: "an agent",
    "import": "an import",
    "said": "an agent that quotes a person",
    "distilled": "rawkomem, from other memories",
}


@record
class Proposal:
    """A memory, its proposed changes, and the memory as it would be with these changes."""

    memory: Memory
    proposed: Memory
    changes: tuple[Entry, ...]

    @property
    def differences(self) -> tuple[tuple[str, object, object], ...]:
        """Return (field, current value, proposed value) for each field that would change."""
        return differences(self.memory, self.proposed)


class Beliefs(Wing):
    """Computes the trust in memories, and stores decisions that change it."""

    # a hash of the memories that were last compared, and their contradictions
    _compared: tuple[str, Sequence[Contradiction]] = ("", ())

    def trust(self, memory: Memory) -> Trust:
        """Return the trust in a memory: `value` from 0 to 1, and its parts."""
        return self.all().trust(memory)

    def all(self) -> Believed:
        """Return an object that computes standing and trust of many memories."""
        return self._core.read(lambda: self._core.view(None).believed)

    def weakened(self) -> Sequence[tuple[Memory, tuple[Weak, ...]]]:
        """Return the memories in use that have weak sources, with these sources."""
        weak_sources = self.all().weak_sources
        deriving = self._core.read(lambda: self._core.inside_with(DERIVES))
        pairs = [(one, weak_sources(one)) for one in deriving]
        return [(memory, weak) for memory, weak in pairs if weak]

    def origin(self, entry: Entry) -> str:
        """Return who wrote an entry, from this machine's records and from git. The name in the entry is only its signature."""
        how = Arrivals(self._layout).of(entry.id, entry.digest)
        authors = self._core.authors()
        author = authors.author(entry.path, entry.digest) if authors else HIDDEN_AUTHOR
        state = authors.state(author) if authors else author_state(author)
        if how:
            who = WRITERS.get(how, "a program")
            who += f", signed {entry.by}" if entry.by else ""
        elif state == UNCOMMITTED:
            who = f"hand in {entry.path}"
        elif state == AGENT:
            who = f"an agent, in another checkout or by hand in {entry.path}"
        else:
            who = WRITERS.get(state, "somebody unknown")
        if author in ("", HIDDEN_AUTHOR):
            return who
        names = author.replace(AUTHORS, ", ").replace("\t", ", committed by ")
        return f"{who} (git author {names})"

    def origins(self, memory: Memory) -> str:
        """Return who wrote the text of a memory: the entry that created it, and its amendments."""
        ids = (memory.id, *memory.amended_in)
        entries = self._core.read(lambda: self._core.entries(memory.id))
        writers = [self.origin(entry) for entry in entries if entry.id in ids]
        return "; ".join(dict.fromkeys(writers))

    # Decisions about one memory

    def reinforce(
        self,
        name: str,
        reason: str = "",
        by: str = "",
        boost: float = REINFORCED_IMPORTANCE,
    ) -> Written:
        """Append an entry that confirms a memory and raises its importance by 0.1; a boost of 0.3 appends three."""
        times = round(checked_share(boost, "boost") / REINFORCED_IMPORTANCE)

        def decide(memory: Memory) -> Plan:
            plans = [plan_reinforce(memory, reason, by) for _ in range(max(1, times))]
            return replace(plans[0], entries=tuple(plan.entries[0] for plan in plans))

        return self._core.append(decide, name)

    def dispute(self, name: str, reason: str = "", by: str = "") -> Written:
        """Append an entry that disputes a memory; at low trust, or at the third dispute, it is no longer used."""
        return self._core.append(plan_dispute, name, reason, by, self._value)

    def quarantine(self, name: str, reason: str = "", by: str = "") -> Written:
        """Hold a memory back until it is reviewed."""
        return self._core.append(plan_quarantine, name, reason, by)

    def review(
        self, name: str, action: str, settle: str = "", reason: str = "", by: str = ""
    ) -> Sequence[Written]:
        """Activate or reject a memory in quarantine; `settle` resolves its conflicts: supersede or keep_both."""

        def decide() -> Plan:
            memory = self._repo.get(name)
            rivals = self._rivals(memory)
            if not rivals and (settle or action == REJECT):
                rivals = self._contradicted(memory)
            return plan_review(
                self._to_review(memory, rivals, settle, reason, by), action
            )

        return self._core.write(decide)

    def restore(
        self, name: str, settle: str = "", reason: str = "", by: str = ""
    ) -> Sequence[Written]:
        """Bring back a memory that was deleted, archived, disputed, superseded, or quarantined by hand.

        A memory that waited for a review when it was deleted, archived or superseded waits for it again.
        """

        def decide() -> Plan:
            memory = self._repo.get(name)
            entries = [step.entry for step in self._repo.history(memory.id)]
            quarantines = [entry for entry in entries if entry.kind == "quarantine"]
            by_hand = bool(quarantines) and is_by_hand(quarantines[-1])
            before = fold([entry for entry in entries if entry.kind not in ENDING])
            if (
                memory.status in PUT_AWAY
                and before
                and before.status == "quarantined"
                and not by_hand
            ):
                again = quarantining(
                    memory, before.reason or reason, by, before.conflicts_with
                )
                return Plan((again,))
            rivals = self._rivals(memory)
            review = self._to_review(memory, rivals, settle, reason, by)
            return plan_restore(review, by_hand and memory.status == "quarantined")

        return self._core.write(decide)

    def supersede(
        self, old: str, new: str, reason: str = "", by: str = "", anyway: bool = False
    ) -> Written:
        """Replace the memory `old` by the memory `new`."""
        newer = self._repo.get(new)
        return self._core.append(
            plan_supersede, old, newer, reason, by, self._value, anyway
        )

    def validity(
        self, name: str, start: str = "", end: str = "", reason: str = "", by: str = ""
    ) -> Written:
        """Set the time window in which a memory is valid; `none` removes a limit."""
        return self._core.append(plan_validity, name, start, end, reason, by)

    def archive(self, name: str, reason: str = "", by: str = "") -> Written:
        """Take a memory out of use; `restore` brings it back."""
        return self._core.append(plan_archive, name, reason, by)

    # Proposed changes: written by somebody who cannot vouch for the memory

    def is_vouched(self, name: str) -> bool:
        """Return whether a person vouches for a memory; False if it does not exist or nobody vouches for any memory."""
        try:
            return self._repo.get(name).vouched and self._core.is_vouching()
        except NotFound:
            return False

    def proposal(self, name: str) -> Proposal:
        """Return a memory with the changes that wait for a review."""
        core = self._core

        def read() -> Proposal:
            id = core.resolve(name)
            vouches = core.vouching()
            together = core.together()
            memory = together.memory(id) or core.whole([id])[0]
            entries = together.entries(id)
            folded = fold_proposed(entries, vouches)
            if not folded:
                return Proposal(memory, memory, ())
            proposed, changes = folded[0], folded[1].proposed
            if brings_back(
                memory, changes
            ):  # which has their text while it is out of use
                names = {one.id for one in changes}
                others = (one for one in entries if one.id not in names)
                memory = fold(others, vouches) or memory
                proposed = replace(proposed, status=ACTIVE)
            return Proposal(memory, proposed, changes)

        return core.read(read)

    def proposals(self) -> Sequence[Proposal]:
        """Return all proposals that wait for a review, last changed memory first."""
        waiting = self._core.read(
            lambda: [row.id for row in self._core.catalogue.with_proposals()]
        )
        return [self.proposal(id) for id in waiting]

    def decide(
        self,
        name: str,
        accept: bool,
        changes: Sequence[str] = (),
        reason: str = "",
        by: str = "",
    ) -> Sequence[Written]:
        """Accept or decline proposed changes of a memory: all, or those with the given `id` or `id@digest`."""

        def decide() -> Plan:
            proposal = self.proposal(name)
            known = {
                key: entry
                for entry in proposal.changes
                for key in (entry.id, reviewed_name(entry))
            }
            unknown = [key for key in changes if key not in known]
            if unknown or not known:
                missing = f"no change {', '.join(unknown)}".rstrip()
                raise NotFound(
                    f"{missing} waits for a review of {proposal.memory.id}",
                    "run 'rawkomem review'",
                )
            chosen = [known[key] for key in changes] or list(proposal.changes)
            return plan_decide(proposal.memory, chosen, accept, reason, by)

        return self._core.write(decide)

    def _to_review(
        self,
        memory: Memory,
        rivals: Sequence[Memory],
        settle: str,
        reason: str,
        by: str,
    ) -> Review:
        """Return the input of a review, which lists the entries of the memory's text and other changes that wait."""

        def read() -> Review:
            vouches = self._core.vouching(strict=True)
            words: list[Entry] = []
            others: list[Entry] = []
            for entry in self._core.entries(memory.id):
                if entry.id in (memory.id, *memory.amended_in):
                    words.append(entry)
                elif is_deciding(entry) and not (vouches and vouches(entry)):
                    others.append(entry)
            return Review(
                memory, rivals, settle, reason, by, self._value, words, others
            )

        return self._core.read(read)

    # Review of imports, one source at a time

    def waiting(self, place: str = "") -> list[Memory]:
        """Return the imported memories in quarantine, of all sources or of one kind, file, folder or section."""
        quarantined = self._core.inside(Filter(statuses=("quarantined",)))
        return [memory for memory in quarantined if any(_is_from_place(memory, place))]

    def review_all(
        self,
        place: str,
        action: str,
        settle: str = "",
        reason: str = "",
        by: str = "",
        held_back: Collection[str] = (),
    ) -> Sequence[Memory]:
        """Activate or reject the waiting memories of one source, except `held_back`; return them after the review.

        A memory that also comes from another source is not rejected, because the reviewer may trust that source.
        """
        waiting = [
            memory
            for memory in self.waiting(place)
            if memory.id not in held_back
            and (action != REJECT or all(_is_from_place(memory, place)))
        ]
        if not waiting:
            alone = f"nothing from {place!r}{' alone' if action == REJECT else ''}"
            raise NotFound(
                f"{alone} waits for a review", "run 'rawkomem review' to see what waits"
            )
        plain: list[str] = []
        rest: list[str] = []
        for memory in waiting:
            is_plain = not memory.conflicts_with and "claim" not in memory.extra
            (plain if is_plain else rest).append(memory.id)

        def decide(ids: Sequence[str]) -> Plan:
            entries: list[Entry] = []
            for one in self._repo.get_many(ids):
                if one.status == "quarantined":
                    review = self._to_review(one, (), settle, reason, by)
                    entries += plan_review(review, action).entries
            return Plan(in_one_change_file(entries))

        with as_one_change(self._core):
            for ids in batches(plain, REVIEWS_AT_ONCE):
                self._core.write(partial(decide, ids))
            # an earlier review may have changed the memories that it contradicts
            for id in rest:
                self.review(id, action, settle, reason, by)
        return self._repo.get_many([memory.id for memory in waiting])

    # Claims and explanations

    def conflicts(self) -> Sequence[Conflict]:
        """Return the claims that contradict a memory in use and wait for a review."""
        return self._core.read(lambda: pending_conflicts(self._core.catalogue))

    def contradictions(self) -> Sequence[Contradiction]:
        """Return pairs of memories in use whose sentences contradict each other."""

        def compared() -> tuple[list[Pair], list[str]]:
            """Return the pairs to compare, and their memories: reading the sentences of all takes long if there are many."""
            catalogue = self._core.catalogue
            in_use = catalogue.ids((ACTIVE,), now())
            keys = opposed_keys(catalogue.db)
            pairs = sorted(opposed_pairs(key for key in keys if key[0] in in_use))
            ids = sorted({id for pair in pairs for id in pair})
            return pairs, [catalogue.doc(id) for id in ids]

        pairs, docs = self._core.read(compared)
        state = hex_hash(repr((pairs, docs)))
        if state != self._compared[0]:
            memories = {memory.id: memory for memory in map(memory_of, docs)}

            def compare() -> list[list[str]]:
                found = contradictions(memories.values(), pairs)
                return [
                    [one.newer.id, one.older.id, one.said.one, one.said.other]
                    for one in found
                ]

            kept = self._core.index.kept(COMPARED, state, compare)
            self._compared = (
                state,
                [
                    Contradiction(memories[newer], memories[older], Disagreement(*said))
                    for newer, older, *said in kept
                ],
            )
        return self._compared[1]

    def _contradicted(self, memory: Memory) -> list[Memory]:
        """Return the memories in use whose sentences contradict a memory."""
        others = []
        for pair in self.contradictions():
            if memory.id == pair.newer.id:
                others.append(pair.older)
            elif memory.id == pair.older.id:
                others.append(pair.newer)
        return others

    def explain(self, name: str) -> Explained:
        """Return a memory's standing, trust, connections, conflicts, weak sources and history."""
        memory = self._repo.get(name)
        weak = self.all().weak_sources(memory)
        return Explained(
            memory,
            why_not_in_use(memory, now(), weak),
            self.trust(memory),
            tuple(self._repo.graph.load(statuses=()).around[memory.id]),
            tuple(self._rivals(memory)),
            weak,
            tuple(self._repo.history(memory.id)),
        )

    def explain_supersession(self, name: str) -> Sequence[Replaced]:
        """Return the chain of memories that superseded a memory, with the trust of both sides at each step."""
        core = self._core
        return replacements(
            core.read(lambda: replacement_chain(core.resolve(name), core.find)),
            self._value,
        )

    def predicates(self) -> Mapping[str, Predicate]:
        """Return the rules for predicates of claims, from `predicates:` in config.yaml."""
        return read_registry(
            {name: dict(rules) for name, rules in self._core.settings.predicates}
        )

    def claiming(self, subject: str, predicate: str) -> Sequence[Memory]:
        """Return the memories in use with a claim about this subject and predicate."""
        return self._core.read(
            lambda: memories_claiming(self._core.catalogue, subject, predicate)
        )

    def _rivals(self, memory: Memory) -> Sequence[Memory]:
        """Return the memories in use that a memory contradicts, by its claim or by an entry that says so."""
        claim = read_claim(memory.extra)
        # a memory that is no longer valid supersedes nothing
        holds = claim and not had_ended(memory, now())
        others = self.claiming(*claim.key) if claim and holds else ()
        conflicts = self._core.read(lambda: open_conflicts([memory], self._core.find))
        rivals = [*rivals_of(memory, others, self.predicates())]
        rivals += [conflict.other for conflict in conflicts]
        return sorted({one.id: one for one in rivals}.values(), key=lambda one: one.id)

    def trust_by(self, via: str) -> Callable[[Memory], float]:
        """Return a function that computes trust; for a memory that is not stored yet, from how it arrives (`via`)."""

        def trust(memory: Memory) -> float:
            if self._core.catalogue.row(memory.id):
                return self.trust(memory).value
            origin = arrival(self._core, memory.extra, via)
            return trust_of(memory, standing_of_entry(UNKNOWN, origin), now())

        return trust

    def _value(self, memory: Memory) -> float:
        return self.trust(memory).value


def _is_from_place(memory: Memory, place: str) -> list[bool]:
    """Return, for each place that a memory was imported from, whether it is inside `place`."""
    return [not place or is_from(one, place) for one in places_of(memory.extra)]
