"""Injecting: the few memories that belong in the prompt of a task, and why."""

from __future__ import annotations

from ..model.errors import BadInput, NotFound
from ..model.filters import DEFAULT, Filter
from ..model.kinds import ACTIVE, IMPORTANCE
from ..model.record import replace
from .reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..recall.gather import Sources
    from ..recall.inject import Injection, Task
    from ..recall.limits import Limits
    from ..recall.prompt import Prompt
    from ..recall.score import Scored
    from ..text.when import Fired, Situation


class Injecting(Reading):
    """From a task to what an agent should know."""

    def inject(
        self,
        task: Task,
        profile: str = "",
        form: str = "rawko",
        most: int = 0,
        least_importance: str = "",
        budget: int = 0,
        only: Filter | None = None,
        strict: bool = False,
    ) -> Injection:
        """The few memories that belong in the prompt of a task; zero and empty mean: the agent's setting.

        A filter narrows them down further; only what is active and valid is ever injected; with `strict`, only what a
        person vouches for.
        """
        limits = self.settings.limits(task.agent)
        changed = replace(
            limits,
            most=most or limits.most,
            least_importance=least_importance or limits.least_importance,
            budget=budget or limits.budget,
            unverified=0 if strict else limits.unverified,
        )
        injection = self._inject(task, profile, form, changed, only, strict)
        self._note_recalls([(task.asked, injection.items)], changed.most, only, task.agent)
        return injection

    def _inject(
        self, task: Task, profile: str, form: str, limits: Limits, only: Filter | None, strict: bool = False
    ) -> Injection:
        """The same within limits, without a note in the ledger."""
        from ..recall.inject import inject

        if limits.least_importance not in IMPORTANCE:
            raise BadInput(f"unknown importance {limits.least_importance!r}", "one of " + ", ".join(IMPORTANCE))
        only = replace(only or DEFAULT, statuses=(ACTIVE,), current=True)
        return self._answer(lambda: inject(self._sources(only, strict), task, profile, limits, form), believing=True)

    def prompt_for(
        self, task: Task, base_prompt: str, profile: str = "", form: str = "rawko", strict: bool = False
    ) -> Prompt:
        """What an orchestrator calls before a run: the prompt with the memories for the task; counted as a use."""
        from ..recall.prompt import with_memories

        injection = self.inject(task, profile, form, strict=strict)
        self.note_use(injection, task.session)
        return with_memories(base_prompt, injection)

    def explain(self, name: str, task: Task, profile: str = "", only: Filter | None = None) -> tuple[Scored, bool]:
        """How a memory scores for a task, and whether it would be injected; one that is not in use says why."""
        from ..model.clock import now
        from ..recall.score import Reason, Scored
        from ..recall.signals import Signals
        from ..state.belief.explained import standing

        injection = self._inject(task, profile, "rawko", self.settings.limits(task.agent), only)
        at = (only or DEFAULT).as_of
        memory = self.get(name, at)
        id = memory.id
        for item in (*injection.items, *injection.left_out):
            if item.memory.id == id:
                return item, not item.out
        why_not = standing(memory, at or now())
        if why_not:
            return Scored(memory, Signals(id), 0.0, (), Reason("not-in-use", (why_not,))), False
        raise NotFound(
            f"{id} shares neither words nor meaning nor a condition with this task",
            f"to bring it up for such tasks, add a condition: rawkomem amend {id} --when '…'",
        )

    def note_use(self, injection: Injection, session: str) -> None:
        """Count an injection in the local usage file."""
        from ..files.local.usage import note_use
        from ..model.clock import now

        if injection.items:
            note_use(self.layout, now(), session, injection.tokens, [item.memory.id for item in injection.items])

    def _sources(self, only: Filter, strict: bool) -> Sources:
        from ..files.local.usage import last_access
        from ..index.conditions import fired_by
        from ..recall.gather import Sources

        view = self._view(only)

        def fired(situation: Situation) -> dict[str, Fired]:
            found = fired_by(view.catalogue.db, situation)
            return view.past.fired(found, situation) if only.as_of else found

        def accessed() -> dict[str, int]:
            return last_access(self.layout)

        authors = None if strict else view.authors
        doubting = strict or (authors is not None and authors.names_a_person())
        return Sources(view, self.index.store, self._spaces(), fired, accessed, self._citing(), doubting)
