"""A draft: something in a session that may be worth remembering. It stays on this machine until somebody keeps it."""

from __future__ import annotations

from .record import record

# Kinds of drafts, by what speaks for them
CORRECTION, RULE, PREFERENCE, DECISION = "correction", "rule", "preference", "decision"  # a person said it
REQUEST = "request"  # a person said: remember …
AGREED = "agreed"  # an agent said it, and the person agreed
FIX = "fix"  # a command failed, then the same command passed
INSTRUCTION = "instruction"  # written into CLAUDE.md or another file of instructions
DEMOTED = "demoted"  # a memory that the first extractor wrote and nobody touched
FOUND = "found"  # by a language model
LESSON = "lesson"  # tag of a draft that failures suggest; it becomes a lesson when it is kept
DRAFT_KINDS = (CORRECTION, RULE, PREFERENCE, DECISION, REQUEST, AGREED, FIX, INSTRUCTION, DEMOTED, FOUND)


@record
class Draft:
    """One draft: the exchange that it comes from, and the memory that is proposed."""

    id: str
    kind: str
    said: str = ""  # the person's words as they were typed; of a fix or an instruction, the evidence
    before: str = ""  # what the agent said, which these words answer
    title: str = ""
    text: str = ""  # of the memory that is proposed
    when: tuple[str, ...] = ()  # its conditions
    tags: tuple[str, ...] = ()  # with "lesson": what is kept is a lesson
    score: float = 0.0  # how much speaks for it
    why: str = ""  # the cues that do
    session: str = ""
    host: str = ""
    task: str = ""  # what was asked first in that session
    at: int = 0  # milliseconds since 1970
    corrects: tuple[str, ...] = ()  # memories that these words contradict, or that the session was shown
    again: tuple[str, ...] = ()  # other sessions in which a person said the same
    asked: int = 0  # when the agent was asked to write it; 0: never
    model: str = ""  # the language model that found it; empty: none was asked
    fields: tuple[tuple[str, str], ...] = ()  # other keys of the frontmatter of the memory, such as errorPattern
