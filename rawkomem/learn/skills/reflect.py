"""Reflection: what several memories say together. Without a model, the question is prepared for whoever asks one."""

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
LOOKBACK_MEMORIES = 10  # memories (RFC-0011)
MAX_MEMORIES = 100  # memories at once: more is a book, not a subject
GENERAL = "general"  # the topic of a reflection without one
KINDS = tuple(kind for kind in CREATES if kind not in (KIND, *GROUPS))  # a reflection on reflections feeds on itself
MAX_CHARS = 4_000  # characters of a reflection: it is a belief, not a report
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
        """Return the prepared question in the form of RFC-0011."""
        return {"topic": self.topic, "count": len(self.sources), "context": self.context, "prompt": self.prompt}


@record
class Thought:
    """What a model made of it, and how sure it is, from 0 to 1."""

    text: str
    confidence: float


def prepare(topic: str, sources: Sequence[Memory]) -> Prepared:
    """Return the question to ask about some memories."""
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
    text = clean(answer["reflection"]).strip()[:MAX_CHARS]
    if not text:
        raise LlmFailure(f"{llm.name} had nothing to say", "try another model")
    return Thought(text, max(0.0, min(1.0, float(answer["confidence"]))))


def plan_reflection(prepared: Prepared, thought: Thought, by: str) -> Plan:
    """Store what was thought. The memory names its sources, so it is believed no more than the least of them."""
    title, sure = f"Reflection: {prepared.topic}", str(round(100 * thought.confidence))  # in files from 0 to 100
    extra: dict[str, Value] = {"topic": prepared.topic, "confidence": sure}
    entry = Entry(kind=KIND, title=title, tags=(KIND,), source="reflect", by=by, body=thought.text, extra=extra)
    return plan_add(derived(entry, [memory.id for memory in prepared.sources]))


def known_reflection(prepared: Prepared, memories: Iterable[Memory]) -> Memory | None:
    """Return the reflection in use on this very topic, made of these very memories, none of which changed since."""
    for memory in made_of(memories, prepared.sources):
        same = memory.kind == KIND and memory.extra.get("topic") == prepared.topic
        if same and all(source.updated <= memory.created for source in prepared.sources):
            return memory
    return None


def topic_of(memory: Memory) -> str:
    """Return what a reflection is about."""
    return str(memory.extra.get("topic", "")) or GENERAL


def confidence_of(memory: Memory) -> float:
    """Return how sure a reflection is, from 0 to 1."""
    said = str(memory.extra.get("confidence", ""))
    return int(said) / 100 if said.isdecimal() else 0.0


def reflection_as_yamo(memory: Memory) -> str:
    """Return the YAMO block of a reflection (RFC-0011 §3.4)."""
    said = (memory.id, topic_of(memory), len(derived_from(memory)), memory.body, confidence_of(memory))
    return emit_block(reflect_block(memory.by, memory.created, *said))


def shape_of(memory: Memory, block: str) -> dict[str, Any]:
    """Return a reflection in the form of RFC-0011."""
    return {
        "id": memory.id,
        "topic": topic_of(memory),
        "reflection": memory.body,
        "confidence": confidence_of(memory),
        "sourceMemoryCount": len(derived_from(memory)),
        "yamoBlock": block,
        "createdAt": iso(memory.created),
    }
