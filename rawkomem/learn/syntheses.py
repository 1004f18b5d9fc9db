"""What several memories say together: proposed skills and reflections, with or without a language
model.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ..format.body import list_items, sections_of
from ..format.mesh_fields import lesson_context
from ..format.yamo import YamoBlock, build_block, emit_yamo
from ..model.entries import Entry, Memory, Plan
from ..model.values import ACTIVE, CREATES, GROUPS, iso, record, replace
from ..state.digests import plan_derived
from ..state.graph import build_graph, clusters
from ..state.trust import derived_from, made_from_exactly
from ..text.chunks import counted
from ..text.clean import clean, one_line
from ..text.conditions import enough_stems, specific_stems
from ..text.language import Statement, language, statement_of
from ..text.prose import prose_lines, summarize
from .llm import (
    DATA_WARNING,
    SCHEMAS,
    Llm,
    LlmFailure,
    ask_for_json,
    fenced_memories,
)
from .skills import DESCRIPTION_LENGTH, NAME_LENGTH, SKILL_KIND, skill_body

# Propose a skill from consolidated learnings and lessons, in their own words. Pure.
#
# Learnings are Markdown as learnings.py writes it. The proposal stays in quarantine
# until somebody reviews it.

LEARNING, LESSON = "learning", "lesson"
SYNTHESIZED = "synthesize"  # stored as the source of these skills
MIN_GROUP_COSINE = 0.6  # of memories that belong together, as in state/digests.py
MIN_LESSONS = 3  # that make a skill if there is no learning
MAX_ITEMS = 12  # per list
DESCRIPTION_WORDS = 40
SECTIONS = {
    "insights": "Key Insights",
    "steps": "Recommended Approach",
    "avoid": "Anti-Patterns",
}
APPROACH, AVOID, RULES = "Approach", "Avoid", "Rules"  # headings of a proposed skill
TITLE_PREFIX = re.compile(r"^(?:learning|lesson)\s*:\s*", re.IGNORECASE)
RULE_TEXT = re.compile(r"\bRule:[ \t]*([^|\n]+)")
SKILL_SYSTEM = f"You turn the notes of a software project into one skill that an agent can follow. {DATA_WARNING}"


@record
class SkillDraft:
    """A proposed skill: its name, its text in parts, and its sources."""

    name: str
    description: str
    steps: tuple[str, ...]
    insights: tuple[str, ...]
    avoid: tuple[str, ...]
    rules: tuple[str, ...]
    sources: tuple[Memory, ...]

    @property
    def analysis(self) -> str:
        """Return one line with the number of sources and of items in each part."""
        lessons = sum(memory.kind == LESSON for memory in self.sources)
        made = {LEARNING: len(self.sources) - lessons, LESSON: lessons}
        said = {
            "step": len(self.steps),
            "insight": len(self.insights),
            "warning": len(self.avoid),
            "rule": len(self.rules),
        }
        return f"{_counted(made)}: {_counted(said)}"

    @property
    def text(self) -> str:
        """Return the skill as Markdown."""
        lists: dict[str, Sequence[str]] = {
            APPROACH: [
                f"{number}. {step}" for number, step in enumerate(self.steps, 1)
            ],
            "What to know": [f"- {line}" for line in self.insights],
            AVOID: [f"- {line}" for line in self.avoid],
            RULES: [f"- {line}" for line in self.rules],
            "Made from": [
                f"- {one_line(_subject(one))} ({one.id})" for one in self.sources
            ],
        }
        parts = [
            f"## {heading}\n\n" + "\n".join(lines)
            for heading, lines in lists.items()
            if lines
        ]
        return "\n\n".join(
            part for part in (f"# {self.name}", self.description, *parts) if part
        )


# Choosing sources


def skill_sources(memories: Iterable[Memory], topic: str) -> list[Memory]:
    """Return the active learnings and lessons, oldest first; with a topic, only those about it."""
    asked = set(specific_stems(topic))
    least = max(1, enough_stems(len(asked)))
    found = []
    for memory in memories:
        if memory.kind in (LEARNING, LESSON) and memory.status == ACTIVE:
            words = language().words(
                " ".join((memory.title, *memory.tags, memory.body))
            )
            if not topic or len(asked.intersection(language().roots(words))) >= least:
                found.append(memory)
    return sorted(found, key=lambda memory: (memory.created, memory.id))


def grouped_sources(
    sources: Sequence[Memory], pairs: Iterable[tuple[str, str, float]]
) -> list[tuple[str, list[Memory]]]:
    """Return (name, memories) for each group of memories that are linked or similar, largest group first."""
    found = []
    for cluster in clusters(build_graph(sources, lambda memory: True, pairs), 1):
        members = [memory for memory in sources if memory.id in cluster.ids]
        learnings = [memory for memory in members if memory.kind == LEARNING]
        name = cluster.label.replace(",", "")
        if len(learnings) == 1 or not name:
            name = _subject((learnings or members)[0])
        found.append((name, members))
    return found


def is_enough_for_skill(sources: Collection[Memory]) -> bool:
    """Tell whether memories suffice for a skill: one learning, which sums up many runs, or MIN_LESSONS lessons."""
    return (
        any(memory.kind == LEARNING for memory in sources)
        or len(sources) >= MIN_LESSONS
    )


# Drafting


def skill_draft(name: str, sources: Sequence[Memory]) -> SkillDraft:
    """Return a skill draft with the words of these memories, without repetitions."""
    learnings = [memory for memory in sources if memory.kind == LEARNING]
    lists = {
        field: _each_once(
            item
            for memory in learnings
            for item in list_items(section_under(memory.body, heading))
        )
        for field, heading in SECTIONS.items()
    }
    rules = _each_once(
        _rule_of_lesson(memory) for memory in sources if memory.kind == LESSON
    )
    told = [(". ".join(lists[field]), 1.0) for field in ("insights", "steps")] + [
        (". ".join(rules), 0.5)
    ]
    description = one_line(
        summarize([text for text in told if text[0]], DESCRIPTION_WORDS),
        DESCRIPTION_LENGTH,
    )
    return SkillDraft(
        one_line(name, NAME_LENGTH),
        description,
        **lists,
        rules=rules,
        sources=tuple(sources),
    )


def reworded_draft(llm: Llm, draft: SkillDraft) -> SkillDraft:
    """Return the draft reworded by a model, except its rules. Raise LlmFailure if there is no usable answer."""
    said = replace(
        draft.sources[0], id="draft", title=draft.name, body=draft.text
    )  # fenced as data, like its sources
    prompt = (
        f"Write a skill from these {len(draft.sources)} memories. {DATA_WARNING}\n\n{fenced_memories(draft.sources)}\n\n"
        f"A draft in their own words:\n\n{fenced_memories([said])}\n\n"
        "Give a short name, one sentence that says what the skill does and when to use it, the steps in order, and what"
        " to avoid. Add nothing that the memories do not say."
    )
    answer = ask_for_json(llm, prompt, SKILL_SYSTEM, SCHEMAS["skill"])
    return replace(
        draft,
        name=one_line(answer["name"], NAME_LENGTH) or draft.name,
        description=one_line(answer["description"], DESCRIPTION_LENGTH)
        or draft.description,
        steps=_each_once(answer["steps"]) or draft.steps,
        avoid=_each_once(answer["avoid"]) or draft.avoid,
    )


def plan_proposed_skill(draft: SkillDraft, by: str) -> Plan:
    """Plan to store the skill, held for review."""
    entry = Entry(
        kind=SKILL_KIND,
        title=draft.name,
        tags=("synthesized",),
        source=SYNTHESIZED,
        by=by,
        body=skill_body(draft.text),
        extra={"intent": draft.name, "description": draft.description},
    )
    return plan_derived(
        entry, draft.sources, inherits=True, held=f"proposed from {draft.analysis}"
    )


def skill_as_yamo(memory: Memory) -> str:
    """Return a proposed skill as a YAMO block, with its steps as output and its warnings and rules as constraints."""
    sources, at = derived_from(memory), iso(memory.created)
    steps, avoid, rules = (
        list_items(section_under(memory.body, heading))
        for heading in (APPROACH, AVOID, RULES)
    )
    block = YamoBlock(
        memory.title,
        str(memory.extra.get("intent", "")) or memory.title,
        (("description", str(memory.extra.get("description", ""))), ("timestamp", at)),
        tuple(("", line) for line in (*(f"Avoid: {line}" for line in avoid), *rules)),
        output=(
            ("skill_id", memory.id),
            *((f"step_{number}", line) for number, line in enumerate(steps, 1)),
        ),
        meta=(
            ("rationale", f"Made from {len(sources)} memories"),
            ("sources", ", ".join(sources)),
        ),
        log=(
            "skill_synthesized",
            "timestamp",
            at,
            "id",
            memory.id,
            "sources",
            str(len(sources)),
        ),
    )
    return emit_yamo(block)


# Reading learnings


def section_under(body: str, heading: str) -> str:
    """Return the text between a heading and the next one, without code. Upper and lower case do not matter."""
    return sections_of("\n".join(prose_lines(body))).get(heading.lower(), "")


def _rule_of_lesson(memory: Memory) -> str:
    """Return the rule of a lesson. Without the key `preventativeRule`, use the text after `Rule:`, or the title."""
    found = RULE_TEXT.search(memory.body)
    said = lesson_context(
        memory.title, memory.importance, memory.extra, memory.body
    ).preventative_rule
    return (
        found[1].strip() if found and "preventativeRule" not in memory.extra else said
    )


def _each_once(texts: Iterable[str]) -> tuple[str, ...]:
    """Return at most MAX_ITEMS texts, without those that repeat the words of an earlier one."""
    kept: dict[Statement, str] = {}
    for text in texts:
        line = " ".join(clean(text).split())
        if language().content_words(line):
            kept.setdefault(statement_of(line), line)
    return tuple(kept.values())[:MAX_ITEMS]


def _subject(memory: Memory) -> str:
    return TITLE_PREFIX.sub("", memory.title) or memory.id


def _counted(counts: Mapping[str, int]) -> str:
    return (
        ", ".join(counted(number, name) for name, number in counts.items() if number)
        or "nothing"
    )


# Reflect on several memories: ask a model what they say together, or return the prompt for the
# caller to ask.

REFLECTION = "reflection"
LOOKBACK_MEMORIES = 10  # default (RFC-0011)
MAX_REFLECTED = 100  # in one prompt
GENERAL = "general"  # topic if none is named
REFLECTED_KINDS = tuple(
    kind for kind in CREATES if kind not in (REFLECTION, *GROUPS)
)  # no reflections on reflections
MAX_REFLECTION_CHARS = 4_000  # of a reflection
REFLECTION_SYSTEM = (
    f"You find what the notes of a software project have in common. {DATA_WARNING}"
)


@record
class PreparedReflection:
    """The prompt for a reflection, with its sources as memories and as fenced text."""

    topic: str
    sources: tuple[Memory, ...]
    context: str
    prompt: str

    def shape(self) -> dict[str, Any]:
        """Return the prompt in the JSON form of RFC-0011."""
        return {
            "topic": self.topic,
            "count": len(self.sources),
            "context": self.context,
            "prompt": self.prompt,
        }


@record
class Thought:
    """A model's reflection, and its confidence from 0 to 1."""

    text: str
    confidence: float


def prepare_reflection(topic: str, sources: Sequence[Memory]) -> PreparedReflection:
    """Return the prompt for a reflection on some memories."""
    topic = one_line(topic) or GENERAL
    context = fenced_memories(sources)
    about = "" if topic == GENERAL else f" They were found for the topic: {topic}."
    prompt = (
        f"Below are {len(sources)} memories of a project.{about} {DATA_WARNING}\n\n{context}\n\n"
        "In at most 150 words: which belief, pattern or tension do several of them share that none of them says alone?"
        " Stay with what they say. Where they disagree, say so. Add how sure you are, from 0 to 1."
    )
    return PreparedReflection(topic, tuple(sources), context, prompt)


def reflect_with(llm: Llm, prepared: PreparedReflection) -> Thought:
    """Return a model's reflection. Raise LlmFailure if it gives no usable answer."""
    answer = ask_for_json(
        llm, prepared.prompt, REFLECTION_SYSTEM, SCHEMAS["reflection"]
    )
    text = clean(answer["reflection"]).strip()[:MAX_REFLECTION_CHARS]
    if not text:
        raise LlmFailure(
            f"{llm.name} returned an empty reflection", "try another model"
        )
    return Thought(text, max(0.0, min(1.0, float(answer["confidence"]))))


def plan_reflection(prepared: PreparedReflection, thought: Thought, by: str) -> Plan:
    """Plan to store a reflection."""
    sure = str(round(100 * thought.confidence))  # files use 0 to 100
    entry = Entry(
        kind=REFLECTION,
        title=f"Reflection: {prepared.topic}",
        tags=(REFLECTION,),
        source="reflect",
        by=by,
        body=thought.text,
        extra={"topic": prepared.topic, "confidence": sure},
    )
    return plan_derived(entry, prepared.sources)


def known_reflection(
    prepared: PreparedReflection, memories: Iterable[Memory]
) -> Memory | None:
    """Return the stored reflection with the same topic and sources, if no source changed since; else None."""
    for memory in made_from_exactly(memories, prepared.sources):
        same = memory.kind == REFLECTION and memory.extra.get("topic") == prepared.topic
        if same and all(
            source.updated <= memory.created for source in prepared.sources
        ):
            return memory
    return None


def reflection_topic(memory: Memory) -> str:
    """Return the topic of a reflection."""
    return str(memory.extra.get("topic", "")) or GENERAL


def reflection_confidence(memory: Memory) -> float:
    """Return the confidence of a reflection, from 0 to 1."""
    said = str(memory.extra.get("confidence", ""))
    return int(said) / 100 if said.isdecimal() else 0.0


def reflection_as_yamo(memory: Memory) -> str:
    """Return the YAMO block of a reflection (RFC-0011 §3.4)."""
    values = {
        "id": memory.id,
        "topic": reflection_topic(memory),
        "sources": len(derived_from(memory)),
        "preview": memory.body,
        "confidence": reflection_confidence(memory),
    }
    return emit_yamo(build_block("reflect", memory.by, memory.created, **values))


def reflection_shape(memory: Memory, block: str) -> dict[str, Any]:
    """Return a reflection in the JSON form of RFC-0011."""
    return {
        "id": memory.id,
        "topic": reflection_topic(memory),
        "reflection": memory.body,
        "confidence": reflection_confidence(memory),
        "sourceMemoryCount": len(derived_from(memory)),
        "yamoBlock": block,
        "createdAt": iso(memory.created),
    }
