"""Skills: import, find, rate and export them; propose skills and write reflections from memories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from ..files.append import Written
from ..files.machine_records import PERSON
from ..files.private import lock
from ..learn import syntheses as making
from ..learn.llm import Llm, LlmFailure, is_learning, required_llm
from ..learn.skills import (
    PRUNED_BELOW,
    SKILL_KIND,
    ExportedSkill,
    Match,
    Skill,
    export_skill,
    known_skill,
    plan_skill,
    plan_skill_prune,
    rank_skills,
    read_skill,
)
from ..learn.syntheses import SkillDraft
from ..model.entries import EMPTY_EXTRA, Memory, Value
from ..model.errors import BadInput, Refused
from ..model.filters import DEFAULT_FILTER, READABLE, Filter
from ..model.values import ACTIVE, record, replace
from ..state.trust import memory_by_source
from .core import Wing
from .mesh_tables import skills_of
from .writing import store_derived

T = TypeVar("T")


MAX_SKILLS = 10  # skills that a list or a search shows
# a skill that waits for a review is listed, but a search does not find it
LISTED_STATUSES = (*READABLE, "quarantined")


@record
class Ingested:
    """The result of importing a skill file. `outcome`: added, amended, held (for a review) or known."""

    outcome: str
    id: str
    name: str
    path: str
    status: str
    redacted: bool
    why: str


@record
class Pruned:
    """The skills that were archived, or in a dry run would be, and the number that stay in use."""

    skills: tuple[Skill, ...]
    remaining: int


@record
class Synthesis:
    """One proposed skill, or the reason why there is none, with the fields of RFC-0011."""

    # success: proposed now; unchanged: proposed before; empty: no sources for a skill
    status: str
    analysis: str
    skill_id: str = ""
    skill_name: str = ""
    yamo_text: str = ""


def _synthesis(status: str, analysis: str, skill: Memory) -> Synthesis:
    text = making.skill_as_yamo(skill)
    return Synthesis(status, analysis, skill.id, skill.title, text)


class Skills(Wing):
    """Imports, finds, rates and exports skills; makes proposed skills and reflections from memories."""

    def ingest(
        self,
        text: str,
        source: str = "",
        by: str = "",
        via: str = "",
        extra: Mapping[str, Value] = EMPTY_EXTRA,
    ) -> Ingested:
        """Store a skill file with `extra` in its frontmatter. Amend a skill of that name; write nothing if known."""
        skill = read_skill(text)
        if not skill.text:
            raise BadInput(
                "the skill is empty", "pass a SKILL.md, YAMO text or Markdown"
            )
        with lock(self._layout, "skills"):
            known = self._memories(Filter(kinds=(SKILL_KIND,)))
            memory = known_skill(skill, known)
            written: Sequence[Written] = ()
            outcome = "known"
            why = "the stored skill has exactly this text"
            if memory is None:
                trust = self._repo.beliefs.trust_by(via)
                plan = plan_skill(skill, source, by, known, trust, extra)
                written = self._core.write(plan, via)
                why = plan.why
                memory = self._repo.get(written[0].entry.target)
                outcome = "held" if len(written) > 1 else "added"
                if written[0].entry.kind == "amend":
                    outcome = "amended"
        return Ingested(
            outcome,
            memory.id,
            memory.title,
            memory.path,
            memory.status,
            any(item.redacted for item in written),
            why,
        )

    def list(self, limit: int = 0) -> Sequence[Skill]:
        """Return skills, most reliable first; skills that wait for a review come last."""
        skills = self._skills(Filter(kinds=(SKILL_KIND,), statuses=LISTED_STATUSES))
        order = sorted(
            skills,
            key=lambda it: (
                it.memory.status != ACTIVE,
                -it.reliability,
                -it.uses,
                it.memory.title,
            ),
        )
        return order[: limit or None]

    def search(self, question: str, limit: int = MAX_SKILLS) -> Sequence[Match]:
        """Return the skills in use that match a question best."""
        only = replace(DEFAULT_FILTER, kinds=(SKILL_KIND,))
        skills = self._skills(only)
        near = {
            item.row.id: item.relevance
            for item in self._repo.search(question, max(1, len(skills)), only)
        }
        return rank_skills(question, skills, near)[:limit]

    def get(self, name: str) -> Skill:
        """Return one skill, by its id, a part of the id, its file stem or its title."""
        memory = self._repo.get(name)
        if memory.kind != SKILL_KIND:
            raise BadInput(
                f"{memory.id} is a {memory.kind}, not a skill",
                "run 'rawkomem skill list'",
            )
        return skills_of(self._core, [memory])[0]

    def feedback(
        self, name: str, success: bool, reason: str = "", by: str = ""
    ) -> Skill:
        """Record whether a use of a skill succeeded; return the skill with its new reliability."""
        skill = self.get(name)
        self._repo.feedback(
            skill.memory.id, "helpful" if success else "harmful", reason, by
        )
        return self.get(skill.memory.id)

    def prune(
        self, threshold: float = PRUNED_BELOW, dry_run: bool = False, by: str = ""
    ) -> Pruned:
        """Archive the skills whose reliability is below a threshold."""
        with lock(self._layout, "skills"):
            skills = self._skills(Filter(kinds=(SKILL_KIND,), statuses=(ACTIVE,)))
            plan = plan_skill_prune(skills, threshold, by)
            if plan.entries and not dry_run:
                self._core.write(plan)
        gone = {entry.about for entry in plan.entries}
        return Pruned(
            tuple(skill for skill in skills if skill.memory.id in gone),
            len(skills) - len(gone),
        )

    def export(self, name: str, folder: str) -> ExportedSkill:
        """Write a skill as a portable folder with a SKILL.md. Raise Refused for an agent if no person vouches for it."""
        memory = self.get(name).memory
        if self._core.via != PERSON and not self.is_vouched(memory):
            raise Refused(
                f"no person vouches for the skill {memory.id}, so an agent cannot export it",
                f"ask a person to run 'rawkomem review {memory.id} --activate', then export it",
            )
        return export_skill(memory, folder, self._layout.root)

    def is_vouched(self, memory: Memory) -> bool:
        """Return whether a person wrote, committed or reviewed the text of a skill."""
        return self._repo.beliefs.trust(memory).standing.verified

    def synthesize(
        self, topic: str = "", llm: bool = False, dry_run: bool = False, by: str = ""
    ) -> Sequence[Synthesis]:
        """Propose a skill for each group of learnings without one, or one for a topic. Proposals wait for a review."""
        model = self._open_model() if llm else None
        memories = self._memories(
            Filter(kinds=(SKILL_KIND, making.LEARNING, making.LESSON))
        )
        sources = making.skill_sources(memories, topic)
        done = memory_by_source(memories, SKILL_KIND)
        drafts = self._skill_drafts([one for one in sources if one.id not in done], topic)  # fmt: skip
        if model:
            drafts = [
                self._or_else(partial(making.reworded_draft, model, draft), draft)
                for draft in drafts
            ]
        proposals = []
        with lock(self._layout, "skills"):  # others may have written meanwhile
            taken = memory_by_source(self._memories(Filter(kinds=(SKILL_KIND,))))
            for draft in drafts:
                if taken.keys().isdisjoint(memory.id for memory in draft.sources):
                    plan = making.plan_proposed_skill(draft, by)
                    skill = store_derived(self._core, plan, dry_run)
                    proposals.append(_synthesis("success", draft.analysis, skill))
        if proposals:
            return proposals
        before = {done[one.id].id: done[one.id] for one in sources if one.id in done}
        return [
            _synthesis("unchanged", f"proposed before, now {skill.status}", skill)
            for skill in before.values()
        ] or [Synthesis("empty", "no learnings or lessons to make a skill from")]

    def _skill_drafts(
        self, fresh: Sequence[Memory], topic: str
    ) -> Sequence[SkillDraft]:
        """Return the skills to propose from learnings and lessons: one for a topic, or one for each group."""
        groups: Sequence[tuple[str, Sequence[Memory]]] = [(topic, fresh)]
        if not topic:
            ids = tuple(memory.id for memory in fresh)
            pairs = self._core.neighbors(ids).pairs(ids, making.MIN_GROUP_COSINE)
            groups = making.grouped_sources(fresh, pairs)
        return [
            making.skill_draft(name, some)
            for name, some in groups
            if making.is_enough_for_skill(some)
        ]

    def reflect(
        self,
        topic: str = "",
        lookback: int = making.LOOKBACK_MEMORIES,
        llm: bool = False,
        dry_run: bool = False,
        by: str = "",
    ) -> dict[str, Any]:
        """Return a reflection on recent memories or on a topic; without a model, the prompt for one."""
        if not 1 <= lookback <= making.MAX_REFLECTED:
            raise BadInput(
                f"cannot look back at {lookback} memories",
                f"use 1 to {making.MAX_REFLECTED}",
            )
        prepared = making.prepare_reflection(topic, self._looked_back(topic, lookback))
        model = self._open_model() if llm else None
        if model is None or not prepared.sources:
            return prepared.shape()
        reflection = making.known_reflection(
            prepared, self._memories(Filter(kinds=(making.REFLECTION,)))
        )
        if reflection is None:
            plan = self._or_else(
                partial(making.reflect_with, model, prepared, by), None
            )
            if plan is None:
                return prepared.shape()
            reflection = store_derived(self._core, plan, dry_run)
        return making.reflection_shape(reflection)

    def _looked_back(self, topic: str, lookback: int) -> Sequence[Memory]:
        """Return the memories in use that were changed last, or that are about the topic."""
        only = replace(DEFAULT_FILTER, kinds=making.REFLECTED_KINDS, statuses=(ACTIVE,))
        if topic:
            hits = self._core.look([topic], lookback, only)[0].found
            ids = [item.row.id for item in hits if item.fits]
        else:
            rows = self._core.rows(only)
            ids = [row.id for row in rows if not row.path.startswith("archive/")]
        return self._repo.get_many(ids[:lookback])

    def _open_model(self) -> Llm:
        if is_learning():
            raise Refused(
                "a model that rawkomem started cannot use another model",
                "leave out --llm",
            )
        return required_llm(self._core.settings.llm)

    def _or_else(self, ask: Callable[[], T], otherwise: T) -> T:
        """Return a model's answer; if it fails, warn and return `otherwise`."""
        try:
            return ask()
        except LlmFailure as failure:
            self._core.warn(f"{failure.message}: continuing without a model")
            return otherwise

    def _skills(self, only: Filter) -> Sequence[Skill]:
        return skills_of(self._core, self._memories(only))

    def _memories(self, only: Filter) -> Sequence[Memory]:
        """Return whole memories that pass a filter, sorted by id."""
        return sorted(self._core.inside(only), key=lambda memory: memory.id)
