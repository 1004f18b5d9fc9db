"""What earlier work taught: traces of runs, the experience log, a brief before the next task, lessons
from failures, and skills: import, find, rate and export them, propose skills and write reflections.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from ..files.append import Written
from ..files.archive import MAX_LOG_ENTRIES, next_experience_number, rotate_log
from ..files.layout import Layout, personal_root
from ..files.machine_records import PERSON
from ..files.private import lock
from ..format.mesh_fields import Lesson, LessonContext, lesson_of, new_lesson, read_wire
from ..format.skill_files import read_skill
from ..learn import syntheses as making
from ..learn.lessons import (
    LESSON_HELD,
    LESSON_KNOWN,
    by_severity,
    covers_failures,
    lesson_drafts,
    plan_lesson,
    with_known_name,
)
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
)
from ..learn.syntheses import SkillDraft
from ..learn.traces import (
    SESSION_KEY,
    ToldExperience,
    ToldTrace,
    continued_trace,
    plan_experience,
    plan_trace,
    trace_change,
    trace_of,
)
from ..learn.turns import RunFacts, Turn
from ..llm import Llm, LlmFailure, is_learning, required_llm
from ..model.entries import EMPTY_EXTRA, Draft, Entry, Memory, Value, by_time
from ..model.errors import BadInput, RawkoError, Refused
from ..model.filters import DEFAULT_FILTER, READABLE, Filter
from ..model.values import ACTIVE, RECORDED, now, record, replace
from ..recall.earlier_tasks import (
    MAX_BRIEF_TOKENS,
    Brief,
    PatternMatch,
    match_patterns,
    write_brief,
)
from ..recall.relevance import lesson_held_back
from ..recall.render import labels_by_id
from ..recall.signals import MAX_SIMILAR, MIN_SIMILARITY
from ..state.changes import HeritageChain, plan_heritage
from ..state.runs import (
    EXPERIENCE,
    TRACE,
    dependency_chain,
    execution_order,
    outcome_of,
    tools_of,
)
from ..state.trust import memory_by_source
from ..text.clean import one_line
from .core import Wing
from .mesh_tables import skills_of
from .writing import as_warning, store_derived

PAST_RUNS = replace(DEFAULT_FILTER, kinds=RECORDED, statuses=(*READABLE, "archived"))
# searched for a brief; the budget decides which are used
BRIEF_RUNS = 8
BRIEF_LEARNINGS = 3
BRIEF_LESSONS = 5


VIA_AGENT = "agent"  # origin of a session's trace, because no person read it
MAX_SESSION_CHARS = 100


class Traces(Wing):
    """Writes and finds traces and experiences, and writes a brief before the next task."""

    def add(self, goal: str | ToldTrace, via: str = "", **told: Any) -> Written:
        """Write the trace of a run into a new file: `add("Deploy", status="failure", tools=("docker",))`."""
        whole = ToldTrace(goal, **told) if isinstance(goal, str) else goal
        path = self._layout.path
        decide = partial(plan_trace, whole, lambda name: os.path.lexists(path(name)))
        return self._core.write(decide, via)[0]

    def log(
        self,
        goal: str | ToldExperience,
        by: str = "",
        via: str = "",
        keep: int = MAX_LOG_ENTRIES,
        **told: Any,
    ) -> Written:
        """Add an entry to the experience log; archive all but the last `keep` entries."""
        whole = ToldExperience(goal, **told) if isinstance(goal, str) else goal

        layout = self._layout
        written = self._core.write(
            lambda: plan_experience(whole, next_experience_number(layout), by), via
        )
        with (
            as_warning(self._core, "the log keeps more entries than usual"),
            lock(layout, "write"),
        ):
            rotate_log(layout, keep)
        return written[0]

    def record_session(
        self, turns: Sequence[Turn], host: str, session: str
    ) -> Written | None:
        """Record a session: a trace, and a line in this repository's experience log and in the user's own.

        Pass the whole session, or its last turns. If the session already has a trace, it is amended. Return None if there is nothing new
        to record, or if the session has no id.
        """
        id = one_line(session, MAX_SESSION_CHARS)
        if not id:
            return None
        trace = trace_of(turns, RunFacts(host, session=id), self._layout.project)
        if trace is None:
            return None
        known = self._of_session(TRACE, id)
        if known is None:
            written: Written | None = self.add(trace, via=VIA_AGENT)
        else:
            trace = continued_trace(known, trace)
            written = self._continue(known, trace)
        self.log_session(trace)
        self._log_personally(trace)
        return written

    def log_session(self, told: ToldTrace, project: str = "") -> None:
        """Add a session to the experience log, or amend its line if the outcome changed."""
        known = self._of_session(EXPERIENCE, told.session)
        if known is None:
            line = ToldExperience(
                told.goal,
                told.status,
                project or os.path.basename(self._layout.project),
                components=told.tools,
                files=len(told.files),
                summary=told.results,
                duration_ms=told.duration_ms,
                learnings=told.error,
                session=told.session,
            )
            self.log(line, told.agent, VIA_AGENT)
        elif outcome_of(known) != told.status:
            change = {"final_outcome": told.status, "output_summary": told.results}
            self._repo.amend(
                known.id,
                Entry(kind="amend", by=told.agent, body=told.results, extra=change),
                via=VIA_AGENT,
            )

    def experiences(self) -> Sequence[Memory]:
        """Return the entries of the experience log, latest first."""
        entries = self._core.inside(Filter(kinds=(EXPERIENCE,), statuses=READABLE))
        return sorted(entries, key=lambda memory: (-memory.created, memory.id))

    def _continue(self, known: Memory, told: ToldTrace) -> Written | None:
        """Amend the active trace of a session if tools or files were added or its outcome changed; else return None."""
        files = known.extra.get("files_created") or []
        before = len(files) if isinstance(files, list) else 1
        same = outcome_of(known), len(tools_of(known)), before
        if same == (told.status, len(told.tools), len(told.files)):
            return None
        if known.status != ACTIVE:
            return None
        return self._repo.amend(known.id, trace_change(told), via=VIA_AGENT)

    def _log_personally(self, told: ToldTrace) -> None:
        """Add the session to the log of the user's own repository, if it exists. A failure is a warning."""
        core = self._core
        root = personal_root()
        if core.layout.root == root or not os.path.isdir(root):
            return
        try:
            with type(self._repo)(Layout(root), core.warn, via=VIA_AGENT) as own:
                own.traces.log_session(told, os.path.basename(core.layout.project))
        except (RawkoError, OSError) as failure:
            core.warn(f"could not write the log of your personal repository: {failure}")

    def _of_session(self, kind: str, id: str) -> Memory | None:
        for memory in self._core.inside(Filter(kinds=(kind,))):
            if memory.extra.get(SESSION_KEY) == id:
                return memory
        return None

    def by_id(self, statuses: Sequence[str] = ()) -> Mapping[str, Memory]:
        """Return all traces by id, with these statuses or with any."""
        only = Filter(kinds=(TRACE,), statuses=tuple(statuses))
        return {memory.id: memory for memory in self._core.inside(only)}

    def needed_by(self, id: str) -> Sequence[str]:
        """Return the ids of the traces that a trace depended on, directly or indirectly."""
        return dependency_chain(self.by_id(), id)

    def list(self, statuses: Sequence[str] = READABLE) -> Sequence[Memory]:
        """Return traces in the order of execution: each after its parent and the traces that it depended on."""
        traces = self.by_id(statuses)
        return [traces[id] for id in execution_order(traces.values())]

    def search(
        self,
        text: str,
        limit: int = MAX_SIMILAR,
        min_similarity: float = MIN_SIMILARITY,
        since: str = "",
        until: str = "",
        only: Filter | None = None,
    ) -> Sequence[PatternMatch]:
        """Return earlier runs that are similar to a task: traces and experiences, unless a filter names other kinds.

        Runs that consolidation archived count, too.
        """
        core = self._core
        inside = only or PAST_RUNS
        inside = replace(inside, since=since) if since else inside
        inside = replace(inside, until=until) if until else inside

        def ask() -> Sequence[PatternMatch]:
            view = core.view(inside)
            store = core.index.store
            spaces = core.spaces()
            return match_patterns(view, store, spaces, text, limit, min_similarity)

        return core.read(ask)

    def brief(self, goal: str, budget: int = MAX_BRIEF_TOKENS) -> Brief:
        """Return what worked, what failed and what to avoid for a goal, from runs, learnings and lessons."""
        if not goal.strip():
            raise BadInput("a brief needs a goal", "describe the task")

        def found(only: Filter, most: int) -> Sequence[Memory]:
            matches = self.search(goal, limit=most, only=only)
            return self._repo.get_many([match.trace_id for match in matches])

        in_use = replace(DEFAULT_FILTER, statuses=(ACTIVE,))
        runs = found(PAST_RUNS, BRIEF_RUNS)
        learnings = found(replace(in_use, kinds=("learning",)), BRIEF_LEARNINGS)
        lessons = found(replace(in_use, kinds=("lesson",)), BRIEF_LESSONS)
        labels = labels_by_id(self._repo.beliefs.all(), [*runs, *learnings, *lessons])
        return write_brief(goal, runs, learnings, lessons, budget, labels)


# Lessons: store and find them, exchange them as wire blocks, draft them from failures, record
# heritage.

# search for this many times the limit, because some lessons may be unsure or old
SPARE_FACTOR = 3
MAX_LESSONS = 10  # lessons at the start of a session (RFC-0011 §8.2)
# besides KNOWN: a lesson has this pattern
DRAFTED = "drafted"
WAITING = "waiting"
DECIDED = "decided"
# a new lesson is compared only with these: others may be learned again
COMPARED_STATUSES = (ACTIVE, LESSON_HELD)


@record
class Distilled:
    """The result of `distill`: each draft with its outcome, and the lessons for the next session."""

    found: tuple[tuple[Draft, str], ...]  # DRAFTED, WAITING, DECIDED or KNOWN
    top: tuple[Lesson, ...]
    written: bool


class Lessons(Wing):
    """Stores, finds and drafts lessons; records the intents that led to a memory."""

    def learn(
        self,
        context: LessonContext | None = None,
        by: str = "",
        via: str = "",
        **told: Any,
    ) -> tuple[Lesson, str]:
        """Store a lesson, `learn(situation=…, fix=…)`, unless a known one is as confident; return it and the result."""
        with lock(self._layout, "lessons"):
            lesson = new_lesson(context or LessonContext(**told), by)
            return self._store(lesson, via)

    def take_over(self, text: str, via: str = "import") -> tuple[Lesson, str]:
        """Store the lesson of a wire block with the block's id, time and agent; return it and the outcome."""
        wire = read_wire(text)
        with lock(self._layout, "lessons"):
            for memory in self._lessons():
                if memory.id == wire.id:
                    return lesson_of(memory), LESSON_KNOWN
            wire = with_known_name(wire, self._lessons(COMPARED_STATUSES))
            return self._store(wire, via)

    def search(
        self,
        question: str = "",
        limit: int = MAX_LESSONS,
        min_confidence: float | None = None,
    ) -> list[Lesson]:
        """Return confident and recent lessons in use, most severe first: the best matches for a question, or all."""
        limits = self._core.settings.limits("")
        if min_confidence is not None:
            limits = replace(limits, min_lesson_confidence=min_confidence)
        memories: Sequence[Memory] = ()
        if question.strip():
            only = Filter(kinds=("lesson",), statuses=(ACTIVE,), current=True)
            hits = self._repo.search(question, SPARE_FACTOR * limit, only)
            memories = self._repo.get_many([item.row.id for item in hits])
        else:
            memories = self._lessons((ACTIVE,))
        at = now()
        usable = [
            lesson_of(memory)
            for memory in memories
            if not lesson_held_back(memory, limits, at)
        ]
        best = usable[:limit] if question.strip() else usable
        return by_severity(best)[:limit]

    def by_pattern(self, name: str) -> list[Lesson]:
        """Return every lesson with a pattern id or name: first those in use, then by confidence."""
        lessons = [
            lesson
            for lesson in map(lesson_of, self._lessons())
            if name in (lesson.pattern_id, lesson.context.error_pattern)
        ]
        return sorted(
            lessons,
            key=lambda one: (
                one.status != ACTIVE,
                -one.context.confidence,
                -one.at,
                one.id,
            ),
        )

    def distill(self, dry_run: bool = False) -> Distilled:
        """Draft lessons from the failures of the last day, and from failures repeated within a week.

        A second run adds nothing.
        """
        with lock(self._layout, "lessons"):
            self._repo.sync()
            drafts = lesson_drafts(self._core.all(), now())
            outcomes = [(draft, self._propose(draft, dry_run)) for draft in drafts]
        return Distilled(tuple(outcomes), tuple(self.search()), not dry_run)

    def _propose(self, draft: Draft, dry_run: bool) -> str:
        """Store a draft and return the outcome. Skip it if it waits, was decided, or any lesson has its pattern."""
        store = self._repo.drafts.store
        if any(covers_failures(lesson_of(one), draft) for one in self._lessons()):
            return LESSON_KNOWN
        if draft.id in store.decided():
            return DECIDED
        if (draft.id, draft.text) in [(one.id, one.text) for one in store.all()]:
            return WAITING
        if not dry_run:
            store.put([draft])
        return DRAFTED

    def inherit(
        self,
        name: str,
        intents: Sequence[str],
        hypotheses: Sequence[str] = (),
        rationales: Sequence[str] = (),
        by: str = "",
    ) -> Written:
        """Append the chain of intents that led to a memory, earliest first."""
        chain = HeritageChain(tuple(intents), tuple(hypotheses), tuple(rationales))
        return self._core.append(plan_heritage, name, chain, by)

    def _store(self, lesson: Lesson, via: str) -> tuple[Lesson, str]:
        known = self._lessons(COMPARED_STATUSES)
        trust = self._repo.beliefs.trust_by(via)
        learned = plan_lesson(lesson, known, trust)
        if learned.plan.entries:
            self._core.write(learned.plan, via)
        return lesson_of(self._repo.get(learned.id)), learned.what

    def _lessons(self, statuses: Sequence[str] = ()) -> list[Memory]:
        return [*self._core.inside(Filter(kinds=("lesson",), statuses=tuple(statuses)))]


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
        done = memory_by_source(self._memories(Filter(kinds=(SKILL_KIND,))))
        kinds = (making.LEARNING, making.LESSON)
        if topic:
            found = self._about(topic, kinds, making.MAX_REFLECTED)
        else:
            found = self._memories(Filter(kinds=kinds, statuses=(ACTIVE,)))
        sources = by_time(found)
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
        if topic:
            return self._about(topic, making.REFLECTED_KINDS, lookback)
        only = replace(DEFAULT_FILTER, kinds=making.REFLECTED_KINDS, statuses=(ACTIVE,))
        rows = self._core.rows(only)
        ids = [row.id for row in rows if not row.path.startswith("archive/")]
        return self._repo.get_many(ids[:lookback])

    def _about(self, topic: str, kinds: Sequence[str], most: int) -> Sequence[Memory]:
        """Return the memories in use that a search for the topic finds."""
        only = replace(DEFAULT_FILTER, kinds=tuple(kinds), statuses=(ACTIVE,))
        hits = self._core.look([topic], most, only)[0].found
        return self._repo.get_many([item.row.id for item in hits if item.fits])

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
