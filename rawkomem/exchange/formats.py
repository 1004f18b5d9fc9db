"""The formats of other tools, one row each: how a source is recognized, and what reads and writes it.

A new format is one module with its reader or writer, and one row here; the command line and its help follow.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..model.errors import BadInput
from ..model.record import record
from .chatgpt import is_chatgpt, read_chatgpt
from .claude_memory import is_claude_memory, read_claude_memory
from .cursor import is_cursor, read_cursor
from .forms import json_lines_files, markdown_files, okf_files
from .instructions import NESTED, is_instructions, read_instructions
from .lane.memories import is_lane, read_lane
from .neolata import is_neolata, neolata_files, read_neolata
from .notes import (
    basic_memory_folders,
    is_basic_memory,
    is_markdown,
    is_serena,
    read_basic_memory,
    read_markdown,
    read_serena,
)
from .source import SKIPPED_FOLDERS
from .stores import is_mem0, is_own, read_mem0, read_own
from .yamo.reading import is_yamo, read_blocks, read_yamo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..files.local.ledger.chain import Row
    from ..model.entry import Entry, Memory
    from ..state.belief.trust import Trust
    from .source import Source

    Sniff = Callable[[Source], bool]
    Reader = Callable[[Source], Iterator[Entry]]
    Blocks = Callable[[Source], tuple[list[Row], int]]  # blocks for the ledger, and how many it cannot hold
    Writer = Callable[..., dict[str, str]]  # memories, project name[, trust in a memory] → file name → text


@record
class Format:
    """A format of memories outside of a repository. Without `read` it is only written, without `write` only read."""

    name: str
    what: str  # what people call its files, for the help
    is_it: Sniff | None = None
    read: Reader | None = None
    write: Writer | None = None
    export_name: str = ""  # in `export --format`, where it differs from the name
    one_file: bool = False  # it is written as one file, not as a folder
    shares_places: bool = False  # several memories come from one place: none is a newer version of another
    keeps_decisions: bool = False  # which memory took the place of which: both come with the import
    restores: bool = False  # ids and what was decided there come along: a review lets a memory in as it stood there
    whole: bool = False  # it has words for every status: unless a filter says otherwise, all but deleted is written
    usual: tuple[str, ...] = ()  # where a project keeps it
    is_database: bool = False  # it is written row by row, not as files
    blocks: Blocks | None = None  # reads the operations that it logged


INSTRUCTIONS = (
    "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", ".claude/rules", "AGENTS.md", "GEMINI.md",
    ".github/copilot-instructions.md", ".github/instructions", ".clinerules", ".roo/rules", ".windsurfrules",
    ".windsurf/rules",
)  # fmt: skip
MEMORY_BANKS = ("memory-bank",)  # of Cline and Roo Code
# The first row that recognizes a source reads it: narrow ones come first.
ROWS = (
    Format("instructions", "CLAUDE.md, AGENTS.md", is_instructions, read_instructions, usual=INSTRUCTIONS),
    Format("cursor", "Cursor rules", is_cursor, read_cursor, usual=(".cursor/rules", ".cursorrules")),
    Format("serena", "memories of Serena", is_serena, read_serena, usual=(".serena/memories",)),
    Format("claude-memory", "Claude's auto memory", is_claude_memory, read_claude_memory),
    Format("memory-lane", "memories.db of Memory Lane", is_lane, read_lane, keeps_decisions=True),
    Format(
        "neolata",
        "a file, folder or dump of neolata",
        is_neolata,
        read_neolata,
        neolata_files,
        restores=True,
        whole=True,
    ),
    Format("yamo", "a LanceDB of YAMO memory-mesh", is_yamo, read_yamo, is_database=True, blocks=read_blocks),
    Format("chatgpt", "conversations.json of ChatGPT", is_chatgpt, read_chatgpt, shares_places=True),
    Format("mem0", "JSON of mem0", is_mem0, read_mem0),
    Format("rawkomem", "an export of rawkomem", is_own, read_own, json_lines_files, export_name="jsonl", one_file=True),
    Format("basic-memory", "notes of basic-memory", is_basic_memory, read_basic_memory),
    Format("markdown", "a file or folder of Markdown", is_markdown, read_markdown, markdown_files, usual=MEMORY_BANKS),
    Format("okf", "a bundle of the Open Knowledge Format", write=okf_files),  # read as Markdown
)
OTHERS_FOLDERS = (*SKIPPED_FOLDERS, "vendor", "third_party", "venv", "dist", "build", "target")  # not the project's own
MAX_FOLDERS = 5_000  # folders of a project that are searched for instructions
FORMATS = {row.name: row for row in ROWS}
HINTS = {  # ending of a file that no format recognizes → what to do with it
    ".db": "of databases, only memories.db of Memory Lane is read",
    ".zip": "unpack it, and name the file or folder inside",
    ".jsonl": "'rawkomem learn FILE' reads transcripts of sessions",
}


def readable() -> dict[str, Format]:
    """Return the formats that can be imported, by name."""
    return {name: row for name, row in FORMATS.items() if row.read}


def writable() -> dict[str, Format]:
    """Return the formats that can be exported, by the name that `--format` takes; the default comes first."""
    rows = sorted((row for row in FORMATS.values() if row.write or row.is_database), key=lambda row: not row.one_file)
    return {row.export_name or row.name: row for row in rows}


def format_of(source: Source) -> str:
    """Return the name of the format of a source; raise BadInput where no format recognizes it."""
    for name, row in readable().items():
        if row.is_it and row.is_it(source):
            return name
    hint = HINTS.get(os.path.splitext(source.path)[1], "name its format with --from: " + ", ".join(readable()))
    raise BadInput(f"{source.path} is in no format that can be imported", hint)


def read_format(name: str, source: Source) -> list[Entry]:
    """Return the entries that a source holds; an unknown format raises BadInput."""
    row = readable().get(name)
    if row is None or row.read is None:
        raise BadInput(f"unknown format {name!r}", "one of " + ", ".join(readable()))
    return list(row.read(source))


def write_format(
    name: str, memories: Sequence[Memory], project: str, trust: Callable[[Memory], Trust] | None = None
) -> dict[str, str]:
    """Return the texts of an export, by file name; an unknown format raises BadInput."""
    row = writable().get(name)
    if row is None or row.write is None:
        raise BadInput(f"unknown format {name!r}", "one of " + ", ".join(writable()))
    return row.write(memories, project, trust) if row.whole else row.write(memories, project)


def usual_sources(project: str, home: str) -> list[str]:
    """Return the paths in a project that can be imported, each once, and the memory that Claude Code keeps for it."""
    name = "".join(sign if sign.isalnum() else "-" for sign in os.path.realpath(project))
    auto = os.path.join(home, ".claude", "projects", name, "memory")
    usual = [path for row in FORMATS.values() for path in row.usual]
    paths = [*(os.path.join(project, *path.split("/")) for path in usual), *_nested(project)]
    paths += [*basic_memory_folders(project, home), auto]
    return [path for path in dict.fromkeys(paths) if os.path.exists(path)]


def _nested(project: str) -> Iterator[str]:
    """Yield the instructions that folders below the project keep for themselves, in order of their paths."""
    for number, (folder, folders, names) in enumerate(os.walk(project)):
        if number == MAX_FOLDERS:
            return
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in OTHERS_FOLDERS)
        if number:
            yield from (os.path.join(folder, name) for name in sorted(names) if name in NESTED)
