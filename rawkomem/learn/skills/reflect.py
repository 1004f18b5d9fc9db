"""Reflection: what several memories say together. Without a model, the question is prepared for whoever asks one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...model.clock import iso
from ...model.entry import Entry
from ...model.kinds import ACTIVE, CREATES, GROUPS
from ...model.record import record
from ...state.belief.trust import derived_from
from ...state.decide import plan_add
from ...state.references import DERIVED
from ...text.clean import clean, one_line
from ..llm.ask import ask
from ..llm.failure import LlmFailure
from ..llm.sources import WARNING, fenced

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...model.entry import Memory, Plan
    from ..llm.model import Llm

KIND = "reflection"
LOOKBACK = 10  # memories (RFC-0011)
MOST = 100  # memories at once: more is a book, not a subject
GENERAL = "general"  # the topic of a reflection without one
KINDS = tuple(kind for kind in CREATES if kind not in (KIND, *GROUPS))  # a reflection on reflections feeds on itself
LONGEST = 4_000  # characters of a reflection: it is a belief, not a report
SYSTEM = f"You find what the notes of a software project have in common. {WARNING}"
SCHEMA = {
    "type": "object",
    "properties": {"reflection": {"type": "string"}, "confidence": {"type": "number"}},
    "required": ["reflection", "confidence"],
}


@record
class Prepared:
    """A reflection that nobody has made yet: its sources, fenced, and the prompt that asks for it."""

    topic: str
    sources: tuple[Memory, ...]
    context: str
    prompt: str

    def shape(self) -> dict[str, Any]:
        """As RFC-0011 gives a reflection without a model."""
        return {"topic": self.topic, "count": len(self.sources), "context": self.context, "prompt": self.prompt}


@record
class Thought:
    """What a model made of it, and how sure it is, from 0 to 1."""

    text: str
    confidence: float


def prepare(topic: str, sources: Sequence[Memory]) -> Prepared:
    """The question to ask about some memories."""
    topic = one_line(topic) or GENERAL
    context = fenced(sources)
    about = "" if topic == GENERAL else f" They were found for the topic: {topic}."
    prompt = (
        f"Below are {len(sources)} memories of a project.{about} {WARNING}\n\n{context}\n\n"
        "In at most 150 words: which belief, pattern or tension do several of them share that none of them says alone?"
        " Stay with what they say. Where they disagree, say so. Add how sure you are, from 0 to 1."
    )
    return Prepared(topic, tuple(sources), context, prompt)


def think(llm: Llm, prepared: Prepared) -> Thought:
    """Ask a model. LlmFailure where it gives no usable answer."""
    answer = ask(llm, prepared.prompt, SYSTEM, SCHEMA)
    text = clean(answer["reflection"]).strip()[:LONGEST]
    if not text:
        raise LlmFailure(f"{llm.name} had nothing to say", "try another model")
    return Thought(text, max(0.0, min(1.0, float(answer["confidence"]))))


def plan_reflection(prepared: Prepared, thought: Thought, by: str) -> Plan:
    """A memory of what was thought: it names all its sources, so that it is believed no more than the least of them."""
    entry = Entry(
        kind=KIND,
        title=f"Reflection: {prepared.topic}",
        tags=("reflection",),
        source="reflect",
        by=by,
        body=thought.text,
        extra={
            "topic": prepared.topic,
            "confidence": str(round(100 * thought.confidence)),  # in files from 0 to 100
            DERIVED: [memory.id for memory in prepared.sources],
        },
    )
    return plan_add(entry)


def known_reflection(prepared: Prepared, memories: Iterable[Memory]) -> Memory | None:
    """The reflection in use on this very topic, made of these very memories, none of which changed since."""
    wanted = {memory.id for memory in prepared.sources}
    for memory in memories:
        same = memory.extra.get("topic") == prepared.topic and set(derived_from(memory)) == wanted
        current = memory.kind == KIND and memory.status == ACTIVE
        if same and current and all(source.updated <= memory.created for source in prepared.sources):
            return memory
    return None


def topic_of(memory: Memory) -> str:
    """What a reflection is about."""
    return str(memory.extra.get("topic", "")) or GENERAL


def confidence_of(memory: Memory) -> float:
    """How sure a reflection is, from 0 to 1."""
    said = str(memory.extra.get("confidence", ""))
    return int(said) / 100 if said.isdecimal() else 0.0


def shape_of(memory: Memory, block: str) -> dict[str, Any]:
    """As RFC-0011 gives a reflection that was made."""
    return {
        "id": memory.id,
        "topic": topic_of(memory),
        "reflection": memory.body,
        "confidence": confidence_of(memory),
        "sourceMemoryCount": len(derived_from(memory)),
        "yamoBlock": block,
        "createdAt": iso(memory.created),
    }
