"""Deciding: storing memories and claims, and every decision about one. Each is a pure function; here it is wired."""

from __future__ import annotations

from ..model.record import record
from .writing import Writing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..files.append import Written
    from ..model.entry import Entry, Memory, Plan
    from ..state.belief.claims import Outcome, Predicate
    from ..state.belief.conflicts import Conflict
    from ..state.belief.explained import Explained, Replaced


@record
class Stored:
    """A memory that was to be stored: what became of it, and the entries that were written."""

    outcome: Outcome
    written: tuple[Written, ...]
    why: str


def _stored(plans: Sequence[Plan], written: Sequence[Written]) -> list[Stored]:
    from ..state.belief.claims import outcome_of

    stored: list[Stored] = []
    rest = list(written)
    for plan in plans:
        own, rest = rest[: len(plan.entries)], rest[len(plan.entries) :]
        stored.append(Stored(outcome_of([item.entry for item in own]), tuple(own), plan.why))
    return stored


class Deciding(Writing):
    """What is stored, believed, disputed, replaced."""

    # Storing

    def add(self, entry: Entry, on_conflict: str = "quarantine", via: str = "") -> Written:
        """Store a new memory; secrets are redacted, the entry gets an id and a time if it has none.

        A claim is resolved: see `store`, which also tells what became of it. `via` tells how it arrived: see `write`.
        """
        return self.store(entry, on_conflict, via).written[0]

    def store(self, entry: Entry, on_conflict: str = "quarantine", via: str = "") -> Stored:
        """Store a memory and tell what became of it: a claim confirms, supersedes, or waits for a review."""
        return self.add_many([entry], on_conflict, via)[0]

    def add_many(self, entries: Sequence[Entry], on_conflict: str = "quarantine", via: str = "") -> Sequence[Stored]:
        """Store up to 1,000 memories, each as `store` would; nothing is written where one of them is refused."""
        from ..model.entry import Plan
        from ..state.belief.claims import plan_claims

        plans: list[Plan] = []
        registry = self.predicates() if any("claim" in entry.extra for entry in entries) else {}

        def decide() -> Plan:
            trust = self._believing(via)
            plans.extend(plan_claims(entries, self._claiming, registry, trust, on_conflict))
            return Plan(tuple(entry for plan in plans for entry in plan.entries), plans[0].why if plans else "nothing")

        written = self.write_decided(decide, via)
        return _stored(plans, written)

    def evolve(self, entry: Entry, via: str = "") -> Stored:
        """Store a text in the place of the memory that it clearly is a newer version of; without one, just store it.

        A claim says itself what it is about: it is resolved as in `store`.
        """
        from ..state.belief.evolve import MAX_CANDIDATES, plan_evolve, related_to

        if "claim" in entry.extra:
            return self.store(entry, via=via)
        plans: list[Plan] = []

        def decide() -> Plan:
            found = self.look([f"{entry.title}\n{entry.body}"], MAX_CANDIDATES)[0].found
            near = [(self.get(item.row.id), item.relevance) for item in found]
            plans.append(plan_evolve(entry, related_to(entry, near), self._believing(via)))
            return plans[0]

        written = self.write_decided(decide, via)
        return _stored(plans, written)[0]

    # Decisions about one memory

    def feedback(self, name: str, signal: str, reason: str = "", by: str = "") -> Written:
        """Vote on a memory: helpful or harmful."""
        from ..state.changes.feedback import plan_feedback

        return self.write_decided(lambda: plan_feedback(self.get(name), signal, reason, by))[0]

    def reinforce(self, name: str, reason: str = "", by: str = "") -> Written:
        """Say that a memory turned out to be true."""
        from ..state.changes.reinforce import plan_reinforce

        return self.write_decided(lambda: plan_reinforce(self.get(name), reason, by))[0]

    def dispute(self, name: str, reason: str = "", by: str = "") -> Written:
        """Say that a memory is doubtful; below a floor of trust, or the third time, it is no longer used."""
        from ..state.changes.dispute import plan_dispute

        return self.write_decided(lambda: plan_dispute(self.get(name), reason, by, self.trust))[0]

    def quarantine(self, name: str, reason: str = "", by: str = "") -> Written:
        """Hold a memory back until it is reviewed."""
        from ..state.changes.quarantine import plan_quarantine

        return self.write_decided(lambda: plan_quarantine(self.get(name), reason, by))[0]

    def review(self, name: str, action: str, settle: str = "", reason: str = "", by: str = "") -> Sequence[Written]:
        """Activate or reject a memory in quarantine; `settle` says how its conflicts end: supersede or keep_both."""
        from ..state.changes.review import plan_review

        def decide() -> Plan:
            memory = self.get(name)
            return plan_review(memory, self._rivals(memory), action, settle, reason, by, self.trust)

        return self.write_decided(decide)

    def restore(self, name: str, settle: str = "", reason: str = "", by: str = "") -> Sequence[Written]:
        """Bring back a memory that was archived, disputed or superseded."""
        from ..state.changes.review import plan_restore

        def decide() -> Plan:
            memory = self.get(name)
            return plan_restore(memory, self._rivals(memory), settle, reason, by, self.trust)

        return self.write_decided(decide)

    def supersede(self, old: str, new: str, reason: str = "", by: str = "", anyway: bool = False) -> Written:
        """Put one memory into the place of another."""
        from ..state.changes.supersede import plan_supersede

        def decide() -> Plan:
            return plan_supersede(self.get(old), self.get(new), self._find, reason, by, self.trust, anyway)

        return self.write_decided(decide)[0]

    def validity(self, name: str, start: str = "", end: str = "", reason: str = "", by: str = "") -> Written:
        """Say from when until when a memory holds; `none` opens an end."""
        from ..state.changes.validity import plan_validity

        return self.write_decided(lambda: plan_validity(self.get(name), start, end, reason, by))[0]

    def archive(self, name: str, reason: str = "", by: str = "") -> Written:
        """Take a memory out of use."""
        from ..state.changes.archive import plan_archive

        return self.write_decided(lambda: plan_archive(self.get(name), reason, by))[0]

    # Looking into them

    def conflicts(self) -> Sequence[Conflict]:
        """Claims that contradict what is in use, and wait for a review."""
        from ..index.claims import pending

        return self._answer(lambda: pending(self.index.catalogue))

    def explain_memory(self, name: str) -> Explained:
        """How far a memory is believed, and by what: trust, connections, conflicts, history."""
        from ..model.clock import now
        from ..state.belief.explained import Explained, standing

        memory = self.get(name)
        return Explained(
            memory,
            standing(memory, now()),
            self.trust_parts(memory),
            tuple(self.graph(statuses=()).around[memory.id]),
            tuple(self._rivals(memory)),
            tuple(self.history(memory.id)),
        )

    def explain_supersession(self, name: str) -> Sequence[Replaced]:
        """What took the place of a memory, and of that, with the trust of both sides."""
        from ..state.belief.conflicts import chain
        from ..state.belief.explained import replacements

        return replacements(self._answer(lambda: chain(self._resolve(name), self._find)), self.trust)

    def predicates(self) -> Mapping[str, Predicate]:
        """How predicates of claims behave: what config.yaml says below `predicates:`."""
        from ..state.belief.claims import read_registry

        return read_registry({name: dict(rules) for name, rules in self.settings.predicates})

    def _believing(self, via: str) -> Callable[[Memory], float]:
        """The trust that a decision about new words goes by: theirs follows from how they arrive."""
        from ..model.clock import now
        from ..state.belief.committer import UNKNOWN
        from ..state.belief.trust import standing_of_entry, trust_of

        def trust(memory: Memory) -> float:
            if self.index.catalogue.row(memory.id):
                return self.trust(memory)
            return trust_of(memory, standing_of_entry(UNKNOWN, self._arrival(memory.extra, via)), now())

        return trust

    def _claiming(self, subject: str, predicate: str) -> Sequence[Memory]:
        from ..index.claims import claiming

        return self._answer(lambda: claiming(self.index.catalogue, subject, predicate))

    def _rivals(self, memory: Memory) -> Sequence[Memory]:
        """What a memory contradicts, by its claim or as an entry says, as far as it is in use."""
        from ..state.belief.claims import read_claim, rivals_of
        from ..state.belief.conflicts import open_conflicts

        claim = read_claim(memory.extra)
        others = self._claiming(*claim.key) if claim else ()
        named = [conflict.other for conflict in self._answer(lambda: open_conflicts([memory], self._find))]
        rivals = {other.id: other for other in (*rivals_of(memory, others, self.predicates()), *named)}
        return [rivals[id] for id in sorted(rivals)]
