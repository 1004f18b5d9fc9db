"""A draft: a proposed memory from a session. It stays on this machine until somebody keeps it."""

from __future__ import annotations

from .record import record

# Kinds of drafts, by the evidence for them
CORRECTION, RULE, PREFERENCE, DECISION = "correction", "rule", "preference", "decision"  # a person said it
REQUEST = "request"  # a person said: remember …
AGREED = "agreed"  # an agent said it, and the person agreed
FIX = "fix"  # a command failed, then the same command passed
INSTRUCTION = "instruction"  # somebody wrote it into CLAUDE.md or another instructions file
DEMOTED = "demoted"  # a memory that the first version's extractor wrote and nobody changed
FOUND = "found"  # a language model found it
LESSON = "lesson"  # tag of a draft made from failures; keeping the draft stores a lesson
DRAFT_KINDS = (CORRECTION, RULE, PREFERENCE, DECISION, REQUEST, AGREED, FIX, INSTRUCTION, DEMOTED, FOUND)


@record
class Draft:
    """One draft: the exchange that it comes from, and the proposed memory."""

    id: str
    kind: str
    said: str = ""  # the person's words as typed; for a fix or an instruction, the evidence
    before: str = ""  # the agent's message that these words answer
    title: str = ""
    text: str = ""  # of the proposed memory
    when: tuple[str, ...] = ()  # conditions of the proposed memory
    tags: tuple[str, ...] = ()  # with "lesson", keeping the draft stores a lesson
    score: float = 0.0  # strength of the evidence
    why: str = ""  # the cues that make up the score
    session: str = ""
    host: str = ""
    task: str = ""  # the first prompt of that session
    at: int = 0  # milliseconds since 1970
    corrects: tuple[str, ...] = ()  # memories that these words contradict, or that were shown to the session
    again: tuple[str, ...] = ()  # other sessions in which a person said the same
    asked: int = 0  # when the agent was asked to write it; 0: never
    model: str = ""  # the language model that found it; empty: no model was used
    fields: tuple[tuple[str, str], ...] = ()  # other frontmatter keys of the memory, such as errorPattern
