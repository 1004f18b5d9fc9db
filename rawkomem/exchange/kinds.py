"""Which sources can be imported from, how each is recognised, and who reads it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..model.errors import BadInput
from .chatgpt import is_chatgpt, read_chatgpt
from .claude_memory import is_claude_memory, read_claude_memory
from .cursor import is_cursor, read_cursor
from .instructions import is_instructions, read_instructions
from .neolata import is_neolata, is_neolata_folder, read_neolata
from .notes import is_basic_memory, is_serena, read_basic_memory, read_markdown, read_serena
from .stores import FORMAT, items_in, read_mem0, read_own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..model.entry import Entry
    from .source import Source

    Reader = Callable[[Source], Iterator[Entry]]

READERS: dict[str, Reader] = {
    "instructions": read_instructions,
    "claude-memory": read_claude_memory,
    "cursor": read_cursor,
    "serena": read_serena,
    "basic-memory": read_basic_memory,
    "mem0": read_mem0,
    "neolata": read_neolata,
    "chatgpt": read_chatgpt,
    "rawkomem": read_own,
    "markdown": read_markdown,
}
JSON_KINDS = ("mem0", "neolata", "chatgpt")
# What a project may hold that is worth importing: paths below it, in the order people think of them.
USUAL = (
    "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", ".claude/rules", "AGENTS.md", "GEMINI.md",
    ".github/copilot-instructions.md", ".github/instructions", ".cursor/rules", ".cursorrules", ".serena/memories",
)  # fmt: skip


def kind_of(source: Source) -> str:
    """What a source is, by its name and its content."""
    path = source.path
    if source.is_folder:
        return _kind_of_folder(source)
    if path.endswith(".jsonl"):
        return _kind_of_lines(source)
    if path.endswith(".json"):
        return _kind_of_json(source)
    if is_cursor(path):
        return "cursor"
    if is_instructions(path):
        return "instructions"
    if is_serena(path):
        return "serena"
    if path.endswith((".md", ".markdown", ".txt")):
        return "basic-memory" if is_basic_memory(source) else "markdown"
    if path.endswith(".zip"):
        raise BadInput(f"{path} is packed", "unpack it, and name the file or folder inside")
    raise BadInput(f"{path} is nothing that can be imported", "name its kind with --from: " + ", ".join(READERS))


def _kind_of_folder(source: Source) -> str:
    path = source.path
    if is_cursor(path):
        return "cursor"
    if is_instructions(path):
        return "instructions"
    if is_serena(path):
        return "serena"
    if is_claude_memory(path):
        return "claude-memory"
    if is_neolata_folder(path):
        return "neolata"
    return "basic-memory" if is_basic_memory(source) else "markdown"


def _kind_of_lines(source: Source) -> str:
    if FORMAT in next(source.lines(), ""):
        return "rawkomem"
    raise BadInput(f"{source.path} is no export of rawkomem", "'rawkomem learn FILE' reads transcripts of sessions")


def _kind_of_json(source: Source) -> str:
    value = source.json()
    if is_chatgpt(value):
        return "chatgpt"
    items = items_in(value)
    if not items:
        raise BadInput(f"{source.path} holds no memories of a known shape", "one of --from " + ", ".join(JSON_KINDS))
    return "neolata" if is_neolata(items) else "mem0"


def usual_sources(project: str, home: str) -> list[str]:
    """What there is to import from in a project, and in the auto memory that Claude Code keeps for it."""
    name = "".join(sign if sign.isalnum() else "-" for sign in os.path.realpath(project))
    auto = os.path.join(home, ".claude", "projects", name, "memory")
    paths = [*(os.path.join(project, *path.split("/")) for path in USUAL), auto]
    return [path for path in paths if os.path.exists(path)]
