"""Inject: choose the memories for the prompt of a task, and explain the choice."""

from __future__ import annotations

from ..files.session_records import Told, last_access, note_told, note_use, told_to
from ..index.memories import fired_by
from ..model.entries import Task
from ..model.errors import BadInput, NotFound
from ..model.filters import DEFAULT_FILTER, Filter
from ..model.values import ACTIVE, IMPORTANCE, now, replace
from ..recall.candidates import Sources
from ..recall.inject import Injection, inject, received_key, session_budget, tokens_spent
from ..recall.scoring import Reason, Scored
from ..recall.signals import Limits, Signals, cut_note
from ..text.conditions import Fired, Situation
from . import Repository


class Recalling:
    """Chooses memories for a task. It imports little, because a person's prompt waits for it."""

    def __init__(self, repository: Repository):
        self._repo = repository
        self._core = repository.core

    def inject(
        self,
        task: Task,
        profile: str,
        form: str,
        only: Filter | None,
        strict: bool,
        **limits: str | int | None,
    ) -> Injection:
        """Inject for a task and log the recall. A limit that is None comes from the agent's settings."""
        changed = {name: value for name, value in limits.items() if value is not None}
        within = replace(
            self._core.settings.limits(task.agent),
            **changed,
            **({"max_unverified": 0} if strict else {}),
        )
        injection = self._inject(task, profile, form, within, only, strict)
        self._core.note_answers(
            [(task.asked, injection.items)], within.max_injected, only, task.agent
        )
        return injection

    def rehearse(self, task: Task, told: Told, form: str) -> Injection:
        """Inject for a task as if the session already got `told`; do not log the recall."""
        return self._inject(task, "", form, self._core.settings.limits(task.agent), None, told=told)

    def _inject(
        self,
        task: Task,
        profile: str,
        form: str,
        limits: Limits,
        only: Filter | None,
        strict: bool = False,
        told: Told | None = None,
    ) -> Injection:
        """Inject with explicit limits; do not log the recall."""
        if limits.min_importance not in IMPORTANCE:
            raise BadInput(
                f"unknown importance {limits.min_importance!r}",
                "use one of " + ", ".join(IMPORTANCE),
            )
        least = max((only or DEFAULT_FILTER).importance, IMPORTANCE.index(limits.min_importance))
        only = replace(only or DEFAULT_FILTER, statuses=(ACTIVE,), current=True, importance=least)
        if said := cut_note([task.asked]):
            self._core.warn(said)
        asked, keys = profile or limits.profile, frozenset[str]()
        if task.session or told:
            told = told or told_to(self._core.layout, task.session)
            keys, limits = (
                told.keys,
                replace(limits, budget=session_budget(limits.budget, told.tokens)),
            )
        layered = self._repo.layers if self._core.is_layered else None
        layers = layered.fresh() if layered else ()

        def ask() -> Injection:
            within = (only, strict, keys)
            sources = layered.sources(*within, layers) if layered else self.sources(*within)
            return inject(sources, task, asked, limits, form)

        injection = self._core.read(ask)
        if injection.untried:
            said = f"{injection.untried} regexes of whenToUse were not tried: together they take too long"
            self._core.warn(f"{said}; 'rawkomem check' shows files with many conditions")
        return injection

    def explain(
        self, name: str, task: Task, profile: str, only: Filter | None
    ) -> tuple[Scored, bool]:
        """Return a memory's score for a task, and whether it would be injected; raise NotFound if nothing matches."""
        from ..state.history import why_not_in_use

        limits = self._core.settings.limits(task.agent)
        injection = self._inject(task, profile, "rawko", limits, only)
        at = (only or DEFAULT_FILTER).as_of
        owner, own = self._repo.layers.owner(name)
        found = owner.get(own, at)
        memory = self._repo.layers.shown(owner, found)
        item = _about(memory.id, injection)
        if item:
            return item, not item.out
        bare = Scored(memory, Signals(memory.id), 0.0, ())
        why_not = why_not_in_use(memory, at or now())
        if why_not:
            return replace(bare, out=Reason("not-in-use", (why_not,))), False
        anything = replace(limits, min_importance=IMPORTANCE[0])
        alone = self._inject(
            task, profile, "rawko", anything, replace(only or DEFAULT_FILTER, ids=(found.id,))
        )
        item = _about(memory.id, alone)
        if item is None:
            raise NotFound(
                f"{memory.id} shares neither words nor meaning nor a condition with this task",
                f"to inject it for such tasks, add a condition: rawkomem amend {memory.id} --when '…'",
            )
        if IMPORTANCE.index(memory.importance) < IMPORTANCE.index(limits.min_importance):
            return replace(
                item, out=Reason("unimportant", (memory.importance, limits.min_importance))
            ), False
        return replace(item, out=item.out or Reason("crowded-out")), False

    def note_use(self, injection: Injection, session: str) -> None:
        """Count an injection in the local usage file, and record that the session got these memories."""
        layout, items, at = self._core.layout, injection.items, now()
        if items or injection.saved:
            note_use(
                layout,
                at,
                session,
                injection.tokens,
                [item.memory.id for item in items],
                injection.saved,
            )
        if items and session:
            note_told(layout, session, tokens_spent(injection), map(received_key, items))
        if any(item.memory.layer for item in items):
            self._repo.layers.note_use(injection, at, session)

    def sources(
        self, only: Filter | None, strict: bool, told: frozenset[str] = frozenset()
    ) -> Sources:
        """Return the sources for a recall from this repository alone. Call it only inside `Core.read`."""
        core, view, spaces = self._core, self._core.view(only, strict), self._core.spaces()

        def fired(situation: Situation) -> dict[str, Fired]:
            found = fired_by(view.catalogue.db, situation)
            return view.past.fired(found, situation) if view.only.as_of else found

        authors = None if strict else view.authors
        doubting = strict or (authors is not None and authors.names_a_person())
        store, citing = core.index.store, core.citing()
        return Sources(
            view, store, spaces, fired, lambda: last_access(core.layout), citing, doubting, told
        )


def _about(id: str, injection: Injection) -> Scored | None:
    """Return a memory's item in an injection, injected or left out; None if it has no item."""
    return next(
        (item for item in (*injection.items, *injection.left_out) if item.memory.id == id), None
    )
