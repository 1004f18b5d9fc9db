"""Skills: import, find, rate and export them; propose skills and write reflections from memories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from ..files.private import lock
from ..files.session_records import Access, accesses
from ..index.neighbors import Neighbors
from ..learn import syntheses as making
from ..learn import syntheses as reflecting
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
    skill_of,
)
from ..learn.syntheses import SkillDraft
from ..model.entries import EMPTY_EXTRA, Memory, Value
from ..model.errors import BadInput, Refused
from ..model.filters import DEFAULT_FILTER, READABLE, Filter
from ..model.values import ACTIVE, record, replace
from ..state.trust import memory_by_source
from .core import Wing
from .writing import store_derived

T = TypeVar("T")


MAX_SKILLS = 10  # skills that a list or a search shows
LISTED_STATUSES = (
    *READABLE,
    "quarantined",
)  # a skill that waits for a review is listed, but a search does not find it


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
        with lock(self._core.layout, "skills"):
            known = self._memories(Filter(kinds=(SKILL_KIND,)))
            same = known_skill(skill, known)
            if same:
                why = "the stored skill has exactly this text"
                return Ingested(
                    "known", same.id, same.title, same.path, same.status, False, why
                )
            plan = plan_skill(
                skill, source, by, known, self._repo.beliefs.trust_by(via), extra
            )
            written = self._core.write(plan, via)
        memory = self._repo.get(written[0].entry.target)
        outcome = (
            "amended"
            if written[0].entry.kind == "amend"
            else "held"
            if len(written) > 1
            else "added"
        )
        redacted = any(item.redacted for item in written)
        return Ingested(
            outcome,
            memory.id,
            memory.title,
            memory.path,
            memory.status,
            redacted,
            plan.why,
        )

    def list(self, limit: int = 0) -> Sequence[Skill]:
        """Return skills, most reliable first; skills that wait for a review come last."""
        found = self._skills(Filter(kinds=(SKILL_KIND,), statuses=LISTED_STATUSES))
        order = sorted(
            found,
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
        access = accesses(self._core.layout).get(memory.id, Access())
        return skill_of(memory, access.count, access.last)

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
        with lock(self._core.layout, "skills"):
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
        """Write a skill as a portable folder with a SKILL.md."""
        return export_skill(self.get(name).memory, folder, self._core.layout.root)

    def synthesize(
        self, topic: str = "", llm: bool = False, dry_run: bool = False, by: str = ""
    ) -> Sequence[Synthesis]:
        """Propose a skill for each group of learnings without one, or one for a topic. Proposals wait for a review."""
        model = self._open_model() if llm else None
        drafts, before = self._drafts(topic)
        if model:
            drafts = [
                self._or_else(partial(making.reworded_draft, model, draft), draft)
                for draft in drafts
            ]
        with lock(self._core.layout, "skills"):
            done = memory_by_source(
                self._memories(Filter(kinds=(SKILL_KIND,)))
            )  # others may have written meanwhile
            fresh = [
                draft
                for draft in drafts
                if not any(memory.id in done for memory in draft.sources)
            ]
            made = [self._propose(draft, dry_run, by) for draft in fresh]
        return (
            made
            or before
            or [Synthesis("empty", "no learnings or lessons to make a skill from")]
        )

    def reflect(
        self,
        topic: str = "",
        lookback: int = reflecting.LOOKBACK_MEMORIES,
        llm: bool = False,
        dry_run: bool = False,
        by: str = "",
    ) -> dict[str, Any]:
        """Return a reflection on recent memories or on a topic; without a model, the prompt for one."""
        if not 1 <= lookback <= reflecting.MAX_REFLECTED:
            raise BadInput(
                f"cannot look back at {lookback} memories",
                f"use 1 to {reflecting.MAX_REFLECTED}",
            )
        prepared = reflecting.prepare_reflection(
            topic, self._looked_back(topic, lookback)
        )
        model = self._open_model() if llm else None
        if model is None or not prepared.sources:
            return prepared.shape()
        made = reflecting.known_reflection(
            prepared, self._memories(Filter(kinds=(reflecting.REFLECTION,)))
        )
        if made is None:
            thought = self._or_else(
                lambda: reflecting.reflect_with(model, prepared), None
            )
            if thought is None:
                return prepared.shape()
            plan = reflecting.plan_reflection(prepared, thought, by)
            made = store_derived(self._core, plan, dry_run)
        return reflecting.reflection_shape(made, reflecting.reflection_as_yamo(made))

    def _drafts(self, topic: str) -> tuple[Sequence[SkillDraft], Sequence[Synthesis]]:
        """Return new skills to propose, and the skills that were made from the same sources before."""
        memories = self._memories(
            Filter(kinds=(SKILL_KIND, making.LEARNING, making.LESSON))
        )
        done = memory_by_source(memories, SKILL_KIND)
        found = making.skill_sources(memories, topic)
        fresh = [memory for memory in found if memory.id not in done]
        before = {
            done[memory.id].id: done[memory.id] for memory in found if memory.id in done
        }
        grouped = (
            [(topic, fresh)]
            if topic
            else making.grouped_sources(fresh, self._pairs(fresh))
        )
        drafts = [
            making.skill_draft(name, sources)
            for name, sources in grouped
            if making.is_enough_for_skill(sources)
        ]
        return drafts, [
            Synthesis(
                "unchanged",
                f"proposed before, now {skill.status}",
                skill.id,
                skill.title,
                making.skill_as_yamo(skill),
            )
            for skill in before.values()
        ]

    def _propose(self, draft: SkillDraft, dry_run: bool, by: str) -> Synthesis:
        skill = store_derived(
            self._core, making.plan_proposed_skill(draft, by), dry_run
        )
        return Synthesis(
            "success",
            draft.analysis,
            skill.id,
            skill.title,
            making.skill_as_yamo(skill),
        )

    def _pairs(self, memories: Sequence[Memory]) -> Sequence[tuple[str, str, float]]:
        ids = tuple(memory.id for memory in memories)
        vectors = (
            self._core.read(lambda: self._core.index.store.vectors(Filter(ids=ids)))
            if ids
            else []
        )
        return Neighbors(vectors).pairs(ids, making.MIN_GROUP_COSINE)

    def _looked_back(self, topic: str, lookback: int) -> Sequence[Memory]:
        """Return the memories in use that were changed last, or that are about the topic."""
        only = replace(
            DEFAULT_FILTER, kinds=reflecting.REFLECTED_KINDS, statuses=(ACTIVE,)
        )
        if topic:
            found = self._core.look([topic], lookback, only)[0].found
            rows = [item.row for item in found if item.fits]
        else:
            rows = [
                row
                for row in self._core.rows(only)
                if not row.path.startswith("archive/")
            ][:lookback]
        return list(self._repo.get_many([row.id for row in rows]))

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
        used = accesses(self._core.layout)
        found = (
            (memory, used.get(memory.id, Access())) for memory in self._memories(only)
        )
        return [skill_of(memory, access.count, access.last) for memory, access in found]

    def _memories(self, only: Filter) -> Sequence[Memory]:
        """Return whole memories that pass a filter, sorted by id."""
        return sorted(self._core.inside(only), key=lambda memory: memory.id)
