"""Reflect on several memories: ask a model what they say together, or return the prompt for the caller to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...format.yamo import emit_block
from ...format.yamo_blocks import reflect_block
from ...model.clock import iso
from ...model.entry import Entry
from ...model.kinds import CREATES, GROUPS
from ...model.record import record
from ...state.decide import plan_add
from ...state.derive import derived, derived_from, made_of
from ...text.clean import clean, one_line
from ..llm.ask import ask
from ..llm.model import LlmFailure
from ..llm.sources import WARNING, fenced

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...model.entry import Memory, Plan, Value
    from ..llm.model import Llm

KIND = "reflection"
LOOKBACK_MEMORIES = 10  # default (RFC-0011)
MAX_MEMORIES = 100  # in one prompt
GENERAL = "general"  # topic if none is named
KINDS = tuple(kind for kind in CREATES if kind not in (KIND, *GROUPS))  # no reflections on reflections
MAX_CHARS = 4_000  # of a reflection
SYSTEM = f"You find what the notes of a software project have in common. {WARNING}"
SCHEMA = {
    "type": "object",
    "properties": {"reflection": {"type": "string"}, "confidence": {"type": "number"}},
    "required": ["reflection", "confidence"],
}


@record
class Prepared:
    """The prompt for a reflection, with its sources as memories and as fenced text."""

    topic: str
    sources: tuple[Memory, ...]
    context: str
    prompt: str

    def shape(self) -> dict[str, Any]:
        """Return the prompt in the JSON form of RFC-0011."""
        return {"topic": self.topic, "count": len(self.sources), "context": self.context, "prompt": self.prompt}


@record
class Thought:
    """A model's reflection, and its confidence from 0 to 1."""

    text: str
    confidence: float


def prepare(topic: str, sources: Sequence[Memory]) -> Prepared:
    """Return the prompt for a reflection on some memories."""
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
    """Return a model's reflection. Raise LlmFailure if it gives no usable answer."""
    answer = ask(llm, prepared.prompt, SYSTEM, SCHEMA)
    text = clean(answer["reflection"]).strip()[:MAX_CHARS]
    if not text:
        raise LlmFailure(f"{llm.name} returned an empty reflection", "try another model")
    return Thought(text, max(0.0, min(1.0, float(answer["confidence"]))))


def plan_reflection(prepared: Prepared, thought: Thought, by: str) -> Plan:
    """Plan to store a reflection. Its trust is at most that of its least trusted source."""
    title, sure = f"Reflection: {prepared.topic}", str(round(100 * thought.confidence))  # files use 0 to 100
    extra: dict[str, Value] = {"topic": prepared.topic, "confidence": sure}
    entry = Entry(kind=KIND, title=title, tags=(KIND,), source="reflect", by=by, body=thought.text, extra=extra)
    return plan_add(derived(entry, [memory.id for memory in prepared.sources]))


def known_reflection(prepared: Prepared, memories: Iterable[Memory]) -> Memory | None:
    """Return the stored reflection with the same topic and sources, if no source changed since; else None."""
    for memory in made_of(memories, prepared.sources):
        same = memory.kind == KIND and memory.extra.get("topic") == prepared.topic
        if same and all(source.updated <= memory.created for source in prepared.sources):
            return memory
    return None


def topic_of(memory: Memory) -> str:
    """Return the topic of a reflection."""
    return str(memory.extra.get("topic", "")) or GENERAL


def confidence_of(memory: Memory) -> float:
    """Return the confidence of a reflection, from 0 to 1."""
    said = str(memory.extra.get("confidence", ""))
    return int(said) / 100 if said.isdecimal() else 0.0


def reflection_as_yamo(memory: Memory) -> str:
    """Return the YAMO block of a reflection (RFC-0011 §3.4)."""
    said = (memory.id, topic_of(memory), len(derived_from(memory)), memory.body, confidence_of(memory))
    return emit_block(reflect_block(memory.by, memory.created, *said))


def shape_of(memory: Memory, block: str) -> dict[str, Any]:
    """Return a reflection in the JSON form of RFC-0011."""
    return {
        "id": memory.id,
        "topic": topic_of(memory),
        "reflection": memory.body,
        "confidence": confidence_of(memory),
        "sourceMemoryCount": len(derived_from(memory)),
        "yamoBlock": block,
        "createdAt": iso(memory.created),
    }
