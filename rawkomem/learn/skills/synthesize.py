"""Propose a skill from consolidated learnings and lessons, in their own words. Pure.

Learnings are Markdown as traces/learning_text.py writes it. The proposal stays in quarantine until somebody reviews it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...format.lesson import context_of
from ...format.read_entries import MAX_PATTERNS, MAX_TAGS
from ...format.sections import sections
from ...format.yamo import Block, emit_block
from ...model.clock import iso
from ...model.entry import Entry, Plan
from ...model.kinds import ACTIVE
from ...model.record import record, replace
from ...state.changes.quarantine import plan_held
from ...state.decide import plan_add
from ...state.derive import derived, derived_from, inherited
from ...state.graph.graph import build
from ...state.graph.walk import clusters
from ...text.clean import clean, one_line
from ...text.count import count
from ...text.language import language
from ...text.overlap import enough, specific
from ...text.prose import BULLET, prose_lines, sentences
from ...text.same import Said, said_in
from ...text.summary import summarize
from ..llm.ask import ask
from ..llm.sources import WARNING, fenced
from .skill import KIND
from .text import DESCRIPTION_LENGTH, NAME_LENGTH, body_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ...model.entry import Memory
    from ..llm.model import Llm

LEARNING, LESSON = "learning", "lesson"
SOURCE = "synthesize"  # stored as the source of these skills
MIN_COSINE = 0.6  # of memories that belong together, as in state/lifecycle/digest.py
MIN_LESSONS = 3  # that make a skill if there is no learning
MAX_ITEMS = 12  # per list
DESCRIPTION_WORDS = 40
SECTIONS = {"insights": "Key Insights", "steps": "Recommended Approach", "avoid": "Anti-Patterns"}
APPROACH, AVOID, RULES = "Approach", "Avoid", "Rules"  # headings of a proposed skill
PREFIX = re.compile(r"^(?:learning|lesson)\s*:\s*", re.IGNORECASE)
RULE = re.compile(r"\bRule:[ \t]*([^|\n]+)")
SYSTEM = f"You turn the notes of a software project into one skill that an agent can follow. {WARNING}"
LIST = {"type": "array", "items": {"type": "string"}}
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "description": {"type": "string"}, "steps": LIST, "avoid": LIST},
    "required": ["name", "description", "steps", "avoid"],
}


@record
class Draft:
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
        said = {"step": self.steps, "insight": self.insights, "warning": self.avoid, "rule": self.rules}
        return f"{_counted(made)}: {_counted({name: len(lines) for name, lines in said.items()})}"

    @property
    def text(self) -> str:
        """Return the skill as Markdown."""
        parts = [f"# {self.name}", self.description, _list(APPROACH, self.steps, numbered=True)]
        parts += [_list("What to know", self.insights), _list(AVOID, self.avoid), _list(RULES, self.rules)]
        parts.append(_list("Made from", [f"{one_line(_subject(memory))} ({memory.id})" for memory in self.sources]))
        return "\n\n".join(part for part in parts if part)


# Choosing sources


def candidates(memories: Iterable[Memory], topic: str) -> list[Memory]:
    """Return the active learnings and lessons, oldest first; with a topic, only those about it."""
    asked = set(specific(topic))
    found = [memory for memory in memories if memory.kind in (LEARNING, LESSON) and memory.status == ACTIVE]
    about = [memory for memory in found if not topic or len(asked & _roots(memory)) >= max(1, enough(len(asked)))]
    return sorted(about, key=lambda memory: (memory.created, memory.id))


def groups(sources: Sequence[Memory], pairs: Iterable[tuple[str, str, float]]) -> list[tuple[str, list[Memory]]]:
    """Return (name, memories) for each group of memories that are linked or similar, largest group first."""
    found = clusters(build(sources, lambda memory: True, pairs), 1)
    grouped = [(cluster.label, [memory for memory in sources if memory.id in cluster.ids]) for cluster in found]
    return [(_name(label, members), members) for label, members in grouped]


def _name(label: str, members: Sequence[Memory]) -> str:
    """Return the name of a group: the subject of its only learning, or else the label of its cluster."""
    learnings = [memory for memory in members if memory.kind == LEARNING]
    return _subject((learnings or members)[0]) if len(learnings) == 1 or not label else label.replace(",", "")


def is_enough(sources: Collection[Memory]) -> bool:
    """Tell whether memories suffice for a skill: one learning, which sums up many runs, or MIN_LESSONS lessons."""
    return any(memory.kind == LEARNING for memory in sources) or len(sources) >= MIN_LESSONS


# Drafting


def draft_of(name: str, sources: Sequence[Memory]) -> Draft:
    """Return a skill draft with the words of these memories, without repetitions."""
    learnings = [memory for memory in sources if memory.kind == LEARNING]
    lists = {
        field: _each_once(item for memory in learnings for item in items(section(memory.body, heading)))
        for field, heading in SECTIONS.items()
    }
    rules = _each_once(_rule(memory) for memory in sources if memory.kind == LESSON)
    told = [(". ".join(lists[field]), 1.0) for field in ("insights", "steps")] + [(". ".join(rules), 0.5)]
    description = one_line(summarize([text for text in told if text[0]], DESCRIPTION_WORDS), DESCRIPTION_LENGTH)
    return Draft(one_line(name, NAME_LENGTH), description, **lists, rules=rules, sources=tuple(sources))


def reworded(llm: Llm, draft: Draft) -> Draft:
    """Return the draft reworded by a model, except its rules. Raise LlmFailure if there is no usable answer."""
    said = replace(draft.sources[0], id="draft", title=draft.name, body=draft.text)  # fenced as data, like its sources
    prompt = (
        f"Write a skill from these {len(draft.sources)} memories. {WARNING}\n\n{fenced(draft.sources)}\n\n"
        f"A draft in their own words:\n\n{fenced([said])}\n\n"
        "Give a short name, one sentence that says what the skill does and when to use it, the steps in order, and what"
        " to avoid. Add nothing that the memories do not say."
    )
    answer = ask(llm, prompt, SYSTEM, SCHEMA)
    return replace(
        draft,
        name=one_line(answer["name"], NAME_LENGTH) or draft.name,
        description=one_line(answer["description"], DESCRIPTION_LENGTH) or draft.description,
        steps=_each_once(answer["steps"]) or draft.steps,
        avoid=_each_once(answer["avoid"]) or draft.avoid,
    )


def plan_proposal(draft: Draft, by: str) -> Plan:
    """Plan to store the skill, held for review. Its trust is at most that of its least trusted source."""
    entry = Entry(
        kind=KIND,
        title=draft.name,
        when=inherited(MAX_PATTERNS, (), (memory.when for memory in draft.sources)),
        tags=inherited(MAX_TAGS, ("synthesized",), (memory.tags for memory in draft.sources)),
        source=SOURCE,
        by=by,
        body=body_of(draft.text),
        extra={"intent": draft.name, "description": draft.description},
    )
    (new,) = plan_add(derived(entry, [memory.id for memory in draft.sources])).entries
    return replace(plan_held(new, f"proposed from {draft.analysis}", by), why=f"propose skill {draft.name!r}")


def skill_as_yamo(memory: Memory) -> str:
    """Return a proposed skill as a YAMO block, with its steps as output and its warnings and rules as constraints."""
    sources, at = derived_from(memory), iso(memory.created)
    steps, avoid, rules = (items(section(memory.body, heading)) for heading in (APPROACH, AVOID, RULES))
    block = Block(
        memory.title,
        str(memory.extra.get("intent", "")) or memory.title,
        (("description", str(memory.extra.get("description", ""))), ("timestamp", at)),
        tuple(("", line) for line in (*(f"Avoid: {line}" for line in avoid), *rules)),
        output=(("skill_id", memory.id), *((f"step_{number}", line) for number, line in enumerate(steps, 1))),
        meta=(("rationale", f"Made from {len(sources)} memories"), ("sources", ", ".join(sources))),
        log=("skill_synthesized", "timestamp", at, "id", memory.id, "sources", str(len(sources))),
    )
    return emit_block(block)


# Reading learnings


def section(body: str, heading: str) -> str:
    """Return the text between a heading and the next one, without code. Upper and lower case do not matter."""
    return sections("\n".join(prose_lines(body))).get(heading.lower(), "")


def items(text: str) -> list[str]:
    """Return the list items in a text, or its sentences if it has no list."""
    listed: list[str] = []
    for line in text.split("\n"):
        bullet = BULLET.match(line)
        if bullet:
            listed.append(line[bullet.end() :].strip())
        elif listed and line.startswith((" ", "\t")) and line.strip():
            listed[-1] += f" {line.strip()}"
    return listed or sentences(text)


def _rule(memory: Memory) -> str:
    """Return the rule of a lesson. Without the key `preventativeRule`, use the text after `Rule:`, or the title."""
    found = RULE.search(memory.body)
    said = context_of(memory.title, memory.importance, memory.extra, memory.body).preventative_rule
    return found[1].strip() if found and "preventativeRule" not in memory.extra else said


def _each_once(texts: Iterable[str]) -> tuple[str, ...]:
    """Return at most MAX_ITEMS texts, without those that repeat the words of an earlier one."""
    kept: dict[Said, str] = {}
    for text in texts:
        line = " ".join(clean(text).split())
        if language().content_words(line):
            kept.setdefault(said_in(line), line)
    return tuple(kept.values())[:MAX_ITEMS]


def _subject(memory: Memory) -> str:
    return PREFIX.sub("", memory.title) or memory.id


def _roots(memory: Memory) -> set[str]:
    return set(language().roots(language().words(" ".join((memory.title, *memory.tags, memory.body)))))


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(count(number, name) for name, number in counts.items() if number) or "nothing"


def _list(heading: str, lines: Sequence[str], numbered: bool = False) -> str:
    if not lines:
        return ""
    marks = (f"{number}." if numbered else "-" for number in range(1, len(lines) + 1))
    return f"## {heading}\n\n" + "\n".join(f"{mark} {line}" for mark, line in zip(marks, lines, strict=True))
