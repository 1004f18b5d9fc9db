"""Make drafts from a session's tool calls: commands that failed and later passed, and edits of instruction files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...files.local.drafts import draft_id
from ...model.draft import FIX, INSTRUCTION, Draft
from ...redaction.find import redact
from ...text.clean import one_line
from ...text.prose import sentences
from ..session.turns import ASSISTANT, TOOL
from .cues import FILED, cues
from .propose import propose

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..session.run import Run
    from ..session.turns import Turn

INSTRUCTION_FILES = ("claude.md", "agents.md", "gemini.md", "copilot-instructions.md", ".cursorrules", ".windsurfrules",
                     ".clinerules", "conventions.md")  # fmt: skip
INSTRUCTION_FOLDERS = (".cursor/rules/", ".claude/rules/", ".windsurf/rules/", ".github/instructions/")
FIX_SCORE, INSTRUCTION_SCORE = 1.0, 1.5
MAX_FIXES, MAX_EDITS = 2, 3  # of one session
MIN_EDIT_WORDS = 4
MAX_EDIT_CHARS = 1_500
MAX_COMMAND_CHARS, MAX_ERROR_CHARS, MAX_CAUSE_CHARS = 120, 200, 400
ERROR_WORDS = (
    "error",
    "fail",
    "exception",
    "cannot",
    "not found",
    "undefined",
    "panic",
    "denied",
    "refused",
    "missing",
)


def fixes(turns: Sequence[Turn], session: str, run: Run) -> Iterator[Draft]:
    """Yield at most MAX_FIXES drafts: commands that failed, that the agent then explained, and that later passed."""
    failed: dict[str, tuple[int, str]] = {}  # command → turn in which it failed first, and its error
    calls: dict[str, str] = {}  # id of a call → its command
    found = 0
    for number, turn in enumerate(turns):
        did = turn.did
        if turn.role != TOOL or did is None:
            continue
        command = " ".join((did.command or calls.get(did.id, "")).split())
        if did.id and did.command:
            calls[did.id] = did.command
        if not command or did.failed is None:
            continue
        if did.failed:
            failed.setdefault(command, (number, _error_in(turn.text)))
        elif command in failed:
            begun, error = failed.pop(command)
            cause = _cause(turns[begun + 1 : number])
            if error and cause and found < MAX_FIXES:
                found += 1
                yield _fix(command, error, cause, turn, session, run)


def instructions(turns: Sequence[Turn], session: str, run: Run) -> Iterator[Draft]:
    """Yield a draft for each of the last MAX_EDITS edits of instruction files."""
    written: dict[str, tuple[str, Turn]] = {}
    for turn in turns:
        did = turn.did
        if turn.role == TOOL and did is not None and is_instructions(did.file):
            text = redact(did.written.strip())[:MAX_EDIT_CHARS]
            if len(text.split()) >= MIN_EDIT_WORDS:
                written[text] = (did.file.replace("\\", "/").rpartition("/")[2], turn)
    for text, (name, turn) in [*written.items()][-MAX_EDITS:]:
        yield Draft(
            id=draft_id(session, text),
            kind=INSTRUCTION,
            said=text,
            title=_heading(text),
            text=text,
            when=propose(text),
            tags=(FILED[INSTRUCTION].tag,),
            score=INSTRUCTION_SCORE,
            why=f"was written into {name}",
            session=session,
            host=run.agent,
            task=run.task,
            at=turn.at,
        )


def is_instructions(file: str) -> bool:
    """Tell whether a file holds instructions for agents."""
    path = file.replace("\\", "/").lower()
    return path.rpartition("/")[2] in INSTRUCTION_FILES or any(folder in f"/{path}" for folder in INSTRUCTION_FOLDERS)


def _fix(command: str, error: str, cause: str, turn: Turn, session: str, run: Run) -> Draft:
    shown = one_line(redact(command), MAX_COMMAND_CHARS)
    text = f"`{shown}` failed: {error}\n\n{cause}"
    return Draft(
        id=draft_id(session, f"{command} {error}"),
        kind=FIX,
        said=f"{shown}: {error}",
        before=cause,
        title=one_line(cause, 90),
        text=text,
        when=propose(f"{cause} {error}"),
        tags=(FILED[FIX].tag,),
        score=FIX_SCORE,
        why="the same command failed, then passed",
        session=session,
        host=run.agent,
        task=run.task,
        at=turn.at,
    )


def _error_in(output: str) -> str:
    """Return the first line of an output that contains one of ERROR_WORDS; empty if none does."""
    lines = [line.strip() for line in output.split("\n")]
    named = [line for line in lines if any(word in line.lower() for word in ERROR_WORDS)]
    return one_line(redact(named[0]), MAX_ERROR_CHARS) if named else ""


def _cause(between: Sequence[Turn]) -> str:
    """Return the agent's last sentence that explains a failure; empty if there is none."""
    said = [one for turn in between if turn.role == ASSISTANT for one in sentences(turn.text)]
    found = next((one for one in reversed(said) if cues().EXPLAINS.search(one)), "")
    return one_line(redact(found), MAX_CAUSE_CHARS)


def _heading(text: str) -> str:
    first = next((line.strip(" #-*\t") for line in text.split("\n") if line.strip(" #-*\t")), text)
    return one_line(first, 90)
