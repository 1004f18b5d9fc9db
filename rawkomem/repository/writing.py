"""Store and change memories: `add`, `amend`, `delete` and `feedback`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.entry import Plan
from ..model.errors import BadInput
from ..model.record import record
from .lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..files.append import Written
    from ..model.entry import Entry
    from ..state.belief.claims import Outcome


@record
class Stored:
    """The outcome of storing a memory, and the entries that were written."""

    outcome: Outcome
    written: tuple[Written, ...]
    why: str

    @property
    def id(self) -> str:
        """Return the id of the new memory, or of the memory that a claim confirms."""
        return self.outcome.id

    @property
    def entry(self) -> Entry:
        """Return the first entry as it was written."""
        return self.written[0].entry

    @property
    def path(self) -> str:
        """Return the file of the first entry, relative to .rawko."""
        return self.entry.path

    @property
    def again(self) -> bool:
        """Return whether an earlier call already stored the memory, so that nothing was written."""
        return all(item.again for item in self.written)

    @property
    def redacted(self) -> bool:
        """Return whether a secret or personal data was redacted before the write."""
        return any(item.redacted for item in self.written)


class Writing(Wing):
    """Stores and changes memories of one repository."""

    def add(self, entry: str | Entry, fields: Mapping[str, object], on_conflict: str, evolve: bool, via: str) -> Stored:
        """Store a memory; with `evolve`, supersede the memory that it clearly updates."""
        from .fields import as_entry

        made = as_entry(entry, fields)
        if evolve and "claim" not in made.extra:  # a claim names its subject itself
            self._check_conditions([made])
            return self._evolve(made, via)
        return self.add_many([made], on_conflict, via)[0]

    def add_many(self, entries: Sequence[Entry], on_conflict: str, via: str) -> Sequence[Stored]:
        """Store several memories; if one of them is rejected, write none."""
        from ..state.belief.claims import plan_claims

        self._check_conditions(entries)
        plans: list[Plan] = []
        beliefs = self._repo.beliefs
        registry = beliefs.predicates() if any("claim" in entry.extra for entry in entries) else {}

        def decide() -> Plan:
            plans.extend(plan_claims(entries, beliefs.claiming, registry, beliefs.trust_by(via), on_conflict))
            return Plan(tuple(entry for plan in plans for entry in plan.entries), plans[0].why if plans else "nothing")

        return _stored(plans, self._core.writer.write_decided(decide, via, _without_id(entries)))

    def _evolve(self, entry: Entry, via: str) -> Stored:
        from ..state.belief.evolve import MAX_CANDIDATES, plan_evolve, related_to

        plans: list[Plan] = []

        def decide() -> Plan:
            found = self._core.look([f"{entry.title}\n{entry.body}"], MAX_CANDIDATES)[0].found
            near = [(self._repo.get(item.row.id), item.relevance) for item in found]
            plans.append(plan_evolve(entry, related_to(entry, near), self._repo.beliefs.trust_by(via)))
            return plans[0]

        return _stored(plans, self._core.writer.write_decided(decide, via, _without_id([entry])))[0]

    def amend(self, name: str, entry: Entry | None, fields: Mapping[str, object], via: str) -> Written:
        """Append an entry that changes a memory."""
        from ..state.changes.amend import plan_amend
        from .fields import amendment

        made = amendment(entry, fields)
        self._check_conditions([made])
        plan = plan_amend(self._repo.get(name), made)
        return self._core.writer.write_decided(lambda: plan, via, _without_id([entry] if entry else []))[0]

    def _check_conditions(self, entries: Sequence[Entry]) -> None:
        """Raise BadInput for unusable conditions; warn about conditions that fire on nearly every task."""
        if not any(entry.when for entry in entries):
            return
        from ..text.when import warnings_about
        from .doubts import unusable_conditions

        for entry in entries:
            for doubt in unusable_conditions(entry.when):
                raise BadInput(f"{doubt.message}: nothing was stored", doubt.hint)
            for said in warnings_about(entry.when):
                self._core.warn(said)

    def delete(self, name: str, reason: str, by: str) -> Written:
        """Append a tombstone."""
        from ..state.changes.delete import plan_delete

        return self._core.writer.write(plan_delete(self._repo.get(name), reason, by))[0]

    def feedback(self, name: str, signal: str, reason: str, by: str) -> Written:
        """Append a vote."""
        from ..state.changes.feedback import plan_feedback

        return self._core.writer.write_decided(lambda: plan_feedback(self._repo.get(name), signal, reason, by))[0]


def _without_id(entries: Sequence[Entry]) -> Callable[[Entry], bool]:
    """Return a function: whether an entry may repeat one that a killed call stored. Not if the caller set its id."""
    given = {entry.id for entry in entries if entry.id}
    return lambda entry: entry.id not in given


def _stored(plans: Sequence[Plan], written: Sequence[Written]) -> list[Stored]:
    from ..state.belief.claims import outcome_of

    stored: list[Stored] = []
    rest = list(written)
    for plan in plans:
        own, rest = rest[: len(plan.entries)], rest[len(plan.entries) :]
        stored.append(Stored(outcome_of([item.entry for item in own]), tuple(own), plan.why))
    return stored
