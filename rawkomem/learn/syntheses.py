"""What several memories say together: proposed skills and reflections, with or without a language
model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ..format.blocks import bulleted, items_under, numbered
from ..format.mesh_fields import lesson_of
from ..format.skill_files import DESCRIPTION_LENGTH, NAME_LENGTH, skill_body
from ..format.yamo import build_block, emit_yamo
from ..llm import (
    DATA_WARNING,
    SCHEMAS,
    Llm,
    LlmFailure,
    ask_for_json,
    fenced_memories,
)
from ..model.entries import Entry, Memory, Plan
from ..model.values import CREATES, GROUPS, iso, record, replace
from ..state.digests import plan_derived
from ..state.graph import build_graph, clusters
from ..state.trust import derived_from, made_from_exactly
from ..text.chunks import counted
from ..text.clean import clean, one_line, spaced
from ..text.prose import summarize
from .learnings import counted_once
from .skills import SKILL_KIND

# Propose a skill from consolidated learnings and lessons, in their own words. Pure.
#
# Learnings are Markdown as learnings.py writes it. The proposal stays in quarantine
# until somebody reviews it.

LEARNING = "learning"
LESSON = "lesson"
MIN_GROUP_COSINE = 0.6  # of memories that belong together, as in state/digests.py
MIN_LESSONS = 3  # that make a skill if there is no learning
MAX_ITEMS = 12  # per list
DESCRIPTION_WORDS = 40
APPROACH = "Approach"
KNOW = "What to know"
AVOID = "Avoid"
RULES = "Rules"
# heading of a proposed skill → the same items in a learning, and their name
PARTS = {
    APPROACH: ("Recommended Approach", "step"),
    KNOW: ("Key Insights", "insight"),
    AVOID: ("Anti-Patterns", "warning"),
    RULES: ("", "rule"),  # of lessons
}
RULE_TEXT = re.compile(r"\bRule:[ \t]*([^|\n]+)")
TITLE_PREFIX = re.compile(r"^(?:learning|lesson)\s*:\s*", re.IGNORECASE)


@record
class SkillDraft:
    """A proposed skill: its name, its items by heading, and its sources."""

    name: str
    description: str
    parts: dict[str, tuple[str, ...]]
    sources: tuple[Memory, ...]

    @property
    def analysis(self) -> str:
        """Return one line with the number of sources and of items in each part."""
        kinds = Counter(memory.kind for memory in self.sources)
        made = {kind: kinds[kind] for kind in (LEARNING, LESSON)}
        said = {name: len(self.parts[part]) for part, (_, name) in PARTS.items()}
        return f"{_counts(made)}: {_counts(said) or 'nothing'}"

    @property
    def text(self) -> str:
        """Return the skill as Markdown."""
        made = [f"{one_line(_subject(one))} ({one.id})" for one in self.sources]
        parts = [f"# {self.name}", self.description]
        for heading, items in {**self.parts, "Made from": made}.items():
            listed = numbered(items) if heading == APPROACH else bulleted(items)
            parts.append(listed and f"## {heading}\n\n{listed}")
        return "\n\n".join(filter(None, parts))


def _counts(named: Mapping[str, int]) -> str:
    """Return numbers with their nouns, without those that are 0."""
    return ", ".join(counted(number, name) for name, number in named.items() if number)


# Grouping sources


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
    """Return whether memories suffice for a skill: one learning, which sums up many runs, or MIN_LESSONS lessons."""
    return (
        any(memory.kind == LEARNING for memory in sources)
        or len(sources) >= MIN_LESSONS
    )


# Drafting


def skill_draft(name: str, sources: Sequence[Memory]) -> SkillDraft:
    """Return a skill draft with the words of these memories, without repetitions."""
    rules = [_rule_of_lesson(one) for one in sources if one.kind == LESSON]
    learned = [one.body for one in sources if one.kind == LEARNING]
    parts = {
        heading: _each_once(
            item for body in learned for item in items_under(body, section)
        )
        for heading, (section, _) in PARTS.items()
        if section
    }
    parts[RULES] = _each_once(rules)
    told = [
        (". ".join(parts[part]), 0.5 if part == RULES else 1.0)
        for part in (KNOW, APPROACH, RULES)
        if parts[part]
    ]
    description = one_line(summarize(told, DESCRIPTION_WORDS), DESCRIPTION_LENGTH)
    return SkillDraft(one_line(name, NAME_LENGTH), description, parts, tuple(sources))


def reworded_draft(llm: Llm, draft: SkillDraft) -> SkillDraft:
    """Return the draft reworded by a model, except its rules. Raise LlmFailure if there is no usable answer."""
    # fenced as data, like its sources
    said = replace(draft.sources[0], id="draft", title=draft.name, body=draft.text)
    prompt = (
        f"Write a skill from these {len(draft.sources)} memories. {DATA_WARNING}\n\n{fenced_memories(draft.sources)}\n\n"
        f"A draft in their own words:\n\n{fenced_memories([said])}\n\n"
        "Give a short name, one sentence that says what the skill does and when to use it, the steps in order, and what"
        " to avoid. Add nothing that the memories do not say."
    )
    system = f"You turn the notes of a software project into one skill that an agent can follow. {DATA_WARNING}"
    answer = ask_for_json(llm, prompt, system, SCHEMAS["skill"])
    told = {APPROACH: _each_once(answer["steps"]), AVOID: _each_once(answer["avoid"])}
    return replace(
        draft,
        name=one_line(answer["name"], NAME_LENGTH) or draft.name,
        description=one_line(answer["description"], DESCRIPTION_LENGTH)
        or draft.description,
        parts={part: told.get(part) or items for part, items in draft.parts.items()},
    )


def plan_proposed_skill(draft: SkillDraft, by: str) -> Plan:
    """Plan to store the skill, held for review."""
    entry = Entry(
        kind=SKILL_KIND,
        title=draft.name,
        tags=("synthesized",),
        source="synthesize",
        by=by,
        body=skill_body(draft.text),
        extra={"intent": draft.name, "description": draft.description},
    )
    return plan_derived(
        entry, draft.sources, inherits=True, held=f"proposed from {draft.analysis}"
    )


def skill_as_yamo(memory: Memory) -> str:
    """Return a proposed skill as a YAMO block, with its steps as output and its warnings and rules as constraints."""
    sources = derived_from(memory)
    block = build_block(
        "skill",
        "",
        memory.created,
        id=memory.id,
        description=memory.extra.get("description", ""),
        count=len(sources),
        sources=", ".join(sources),
    )
    steps, avoid, rules = (
        items_under(memory.body, heading) for heading in (APPROACH, AVOID, RULES)
    )
    limits = [*(f"Avoid: {line}" for line in avoid), *rules]
    numbered_steps = [(f"step_{number}", line) for number, line in enumerate(steps, 1)]
    return emit_yamo(
        replace(
            block,
            agent=memory.title,
            intent=str(memory.extra.get("intent") or memory.title),
            constraints=tuple(("", line) for line in limits),
            output=(*block.output, *numbered_steps),
        )
    )


def _each_once(texts: Iterable[str]) -> tuple[str, ...]:
    """Return at most MAX_ITEMS texts, without near copies of an earlier one."""
    lines = (spaced(text) for text in texts)
    return tuple(counted_once(lines))[:MAX_ITEMS]


def _rule_of_lesson(memory: Memory) -> str:
    """Return the rule of a lesson. Without the key `preventativeRule`, use the text after `Rule:`, or the title."""
    found = RULE_TEXT.search(memory.body)
    if found and "preventativeRule" not in memory.extra:
        return found[1].strip()
    return lesson_of(memory).context.preventative_rule


def _subject(memory: Memory) -> str:
    return TITLE_PREFIX.sub("", memory.title) or memory.id


# Reflect on several memories: ask a model what they say together, or return the prompt for the
# caller to ask.

REFLECTION = "reflection"
LOOKBACK_MEMORIES = 10  # default (RFC-0011)
MAX_REFLECTED = 100  # in one prompt
GENERAL = "general"  # topic if none is named
# no reflections on reflections
REFLECTED_KINDS = tuple(kind for kind in CREATES if kind not in (REFLECTION, *GROUPS))
MAX_REFLECTION_CHARS = 4_000  # of a reflection


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


def reflect_with(llm: Llm, prepared: PreparedReflection, by: str) -> Plan:
    """Plan to store a model's reflection. Raise LlmFailure if it gives no usable answer."""
    system = (
        f"You find what the notes of a software project have in common. {DATA_WARNING}"
    )
    answer = ask_for_json(llm, prepared.prompt, system, SCHEMAS[REFLECTION])
    text = clean(answer[REFLECTION]).strip()[:MAX_REFLECTION_CHARS]
    if not text:
        problem = f"{llm.name} returned an empty reflection"
        raise LlmFailure(problem, "try another model")
    return plan_reflection(prepared, text, float(answer["confidence"]), by)


def plan_reflection(
    prepared: PreparedReflection, text: str, confidence: float, by: str
) -> Plan:
    """Plan to store a reflection; its confidence is from 0 to 1."""
    sure = round(100 * max(0.0, min(1.0, confidence)))  # files use 0 to 100
    entry = Entry(
        kind=REFLECTION,
        title=f"Reflection: {prepared.topic}",
        tags=(REFLECTION,),
        source="reflect",
        by=by,
        body=text,
        extra={"topic": prepared.topic, "confidence": str(sure)},
    )
    return plan_derived(entry, prepared.sources)


def known_reflection(
    prepared: PreparedReflection, memories: Iterable[Memory]
) -> Memory | None:
    """Return the stored reflection with the same topic and sources, if no source changed since; else None."""
    changed = max((source.updated for source in prepared.sources), default=0)
    for memory in made_from_exactly(memories, prepared.sources):
        same = memory.kind == REFLECTION and memory.extra.get("topic") == prepared.topic
        if same and changed <= memory.created:
            return memory
    return None


def reflection_shape(memory: Memory) -> dict[str, Any]:
    """Return a reflection in the JSON form of RFC-0011, with its YAMO block (§3.4)."""
    said = str(memory.extra.get("confidence", ""))
    told = {
        "id": memory.id,
        "topic": str(memory.extra.get("topic", "")) or GENERAL,
        "confidence": int(said) / 100 if said.isdecimal() else 0.0,
    }
    sources = len(derived_from(memory))
    block = build_block(
        "reflect",
        memory.by,
        memory.created,
        sources=sources,
        preview=memory.body,
        **told,
    )
    return {
        **told,
        "reflection": memory.body,
        "sourceMemoryCount": sources,
        "yamoBlock": emit_yamo(block),
        "createdAt": iso(memory.created),
    }
