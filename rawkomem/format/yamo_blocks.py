"""Build the block of each operation of RFC-0011 §3. Fixed sentences are the RFC's, because other tools compare them."""

from __future__ import annotations

from collections.abc import Callable

from ..model.clock import iso
from .yamo import Block

Said = str | int | float

AGENT = "YAMO_AGENT"  # the RFC's name for an unnamed agent
PREFIX = "MemoryMesh_"
PREVIEW_LENGTH = 60  # characters
HYPOTHESIS = "New information should be integrated into world model"  # of a memory without one
INJECT = "SubconsciousReflector"  # this handoff injects a lesson into the next session


def retain_block(
    agent: str, at: int, id: str, type: str, length: Said, preview: str, hypothesis: str = HYPOTHESIS
) -> Block:
    """Return the block of a stored memory; `length` is in bytes."""
    return Block(
        _agent(agent),
        "store_memory_for_future_retrieval",
        (("memory_id", id), ("memory_type", type), ("timestamp", iso(at)), ("content_length", str(length))),
        (("hypothesis", hypothesis),),
        "medium",
        (("memory_stored", id), ("content_preview", _preview(preview))),
        (
            ("rationale", "Memory persisted for semantic search and retrieval"),
            ("observation", "Content vectorized and stored in LanceDB"),
            ("confidence", "1.0"),
        ),
        _log("memory_retained", at, id=id, type=type),
    )


def recall_block(
    agent: str, at: int, query: str, limit: Said, filter: str, found: Said, score: Said, confidence: Said
) -> Block:
    """Return the block of a search; `score` and `confidence` are the rank score and the relevance of the best hit."""
    return Block(
        _agent(agent),
        "recall_relevant_memories",
        (("query", query), ("limit", str(limit)), ("filter", filter or "none"), ("timestamp", iso(at))),
        output=(("results_found", str(found)), ("top_score", str(score))),
        meta=(
            ("rationale", "Retrieved most semantically relevant memories for current context"),
            ("confidence", str(confidence)),
        ),
        log=_log("memory_recalled", at, query=query, results=str(found)),
    )


def reflect_block(agent: str, at: int, id: str, topic: str, sources: Said, preview: str, confidence: Said) -> Block:
    """Return the block of beliefs that were made from memories."""
    return Block(
        _agent(agent),
        "synthesize_beliefs_from_memories",
        (("topic", topic), ("source_count", str(sources)), ("timestamp", iso(at))),
        output=(("reflection_id", id), ("insight_preview", _preview(preview)), ("confidence", str(confidence))),
        meta=(("rationale", "Aggregated high-signal patterns from recent memory"), ("confidence", str(confidence))),
        log=_log("memory_reflected", at, topic=topic, sources=str(sources)),
    )


def lesson_block(
    agent: str,
    at: int,
    id: str,
    pattern: str,
    situation: str,
    oversight: str,
    fix: str,
    rule: str,
    severity: str,
    scope: str,
    inverse: str,
    confidence: Said,
) -> Block:
    """Return the block of a learned lesson; its `error_pattern` is the pattern id."""
    sure = str(confidence)
    return Block(
        _agent(agent),
        "distill_wisdom_from_execution",
        (("original_context", situation), ("error_pattern", pattern), ("severity", severity), ("timestamp", iso(at))),
        (("hypothesis", "This lesson prevents recurrence of similar failures"), ("hypothesis_confidence", sure)),
        "high",
        (
            ("lesson_id", id),
            ("oversight_description", oversight),
            ("preventative_rule", rule),
            ("rule_confidence", sure),
        ),
        (("rationale", fix), ("applicability_scope", scope), ("inverse_lesson", inverse), ("confidence", sure)),
        _log("lesson_learned", at, pattern=pattern, severity=severity, id=id),
        INJECT,
    )


def synthesize_block(agent: str, at: int, id: str, name: str, sources: Said, preview: str) -> Block:
    """Return the block of a skill that was made from memories."""
    return Block(
        _agent(agent),
        "synthesize_skill_from_memories",
        (("source_count", str(sources)), ("timestamp", iso(at))),
        priority="medium",
        output=(("skill_id", id), ("skill_name", name), ("intent_preview", _preview(preview))),
        meta=(("rationale", "Repeated learnings proposed as a skill, inert until reviewed"),),
        log=_log("skill_synthesized", at, id=id, name=name),
    )


def delete_block(agent: str, at: int, id: str, reason: str = "") -> Block:
    """Return the block of a deleted memory, whose text stays in its file."""
    return Block(
        _agent(agent),
        "remove_memory_from_retrieval",
        (("memory_id", id), ("timestamp", iso(at))),
        priority="medium",
        output=(("memory_deleted", id),),
        meta=(("rationale", reason or "Memory no longer wanted"),),
        log=_log("memory_deleted", at, id=id),
    )


BUILDERS: dict[str, Callable[..., Block]] = {
    "retain": retain_block,
    "recall": recall_block,
    "reflect": reflect_block,
    "synthesize": synthesize_block,
    "lesson": lesson_block,
    "delete": delete_block,
}
OPERATIONS = tuple(BUILDERS)


def build(operation: str, agent: str, at: int, **values: str) -> Block:
    """Return the block of an operation; raise KeyError if the operation is unknown."""
    return BUILDERS[operation](agent, at, **values)


def _agent(agent: str) -> str:
    return PREFIX + (agent or AGENT)


def _preview(text: str) -> str:
    return " ".join(text.split())[:PREVIEW_LENGTH].strip()


def _log(what: str, at: int, **values: str) -> tuple[str, ...]:
    pairs = {"timestamp": iso(at), **values}
    return (what, *(word for pair in pairs.items() for word in pair))
