"""List the formats of other tools, one row each: how a source is recognized, and what reads and writes
it.

To add a format, write one module with its reader or writer and add one row here; the command line
uses the table.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from ..files.blocks import LedgerRow
from ..files.git_folder import find_git
from ..git.runner import GitFailed, own_tree
from ..model.entries import Entry, Memory
from ..model.errors import BadInput, check_known
from ..model.values import record
from ..state.trust import Trust
from ..text.acts import PATHS_KEY
from .instructions import (
    NESTED_NAMES,
    RULE_PLACE,
    is_cursor,
    is_instructions,
    read_instructions,
)
from .memory_lane import is_lane, read_lane
from .memory_mesh import is_yamo, read_blocks, read_yamo
from .neolata import is_neolata, neolata_files, read_neolata
from .notes import (
    TEAM_MEMORY,
    is_claude_memory,
    is_markdown,
    is_mem0,
    is_own_export,
    is_serena,
    read_claude_memory,
    read_markdown,
    read_mem0,
    read_own_export,
    read_serena,
)
from .sources import SKIPPED_FOLDERS, Source
from .written_files import (
    APPLY_TO_KEY,
    GLOBS_KEY,
    json_lines_files,
    markdown_files,
    rule_files,
)

Sniff = Callable[[Source], bool]
Reader = Callable[[Source], Iterator[Entry]]
Blocks = Callable[[Source], tuple[list[LedgerRow], int]]
Writer = Callable[[Sequence[Memory], Callable[[Memory], Trust]], dict[str, str]]


@record
class Format:
    """A format of memories outside a repository. Without `read` it is export-only, without `write` import-only."""

    name: str
    what: str  # what people call its files, for the help
    is_it: Sniff | None = None
    read: Reader | None = None
    write: Writer | None = None
    export_name: str = ""  # in `export --format`, if it differs from the name
    one_file: bool = False  # the export is one file, not a folder
    # the import keeps which memory superseded which; both are imported
    keeps_decisions: bool = False
    # it has every id and state: all are written, and a review restores an imported state
    restores: bool = False
    usual: tuple[str, ...] = ()  # usual paths in a project
    is_database: bool = False  # the export is a database, not files
    blocks: Blocks | None = None  # reads its log of operations


INSTRUCTION_PATHS = """
    CLAUDE.md .claude/CLAUDE.md CLAUDE.local.md .claude/rules AGENTS.md GEMINI.md .github/copilot-instructions.md
    .github/instructions .clinerules .roo/rules .windsurfrules .windsurf/rules .devin/rules .ai/rules .ai/memory
    CONTRIBUTING.md
"""
MEMORY_BANKS = ("memory-bank",)  # of Cline and Roo Code
# The first row that recognizes a source reads it, so specific formats come first.
ROWS = (
    Format(
        "instructions",
        "CLAUDE.md, AGENTS.md",
        is_instructions,
        read_instructions,
        usual=tuple(INSTRUCTION_PATHS.split()),
    ),
    Format(
        "cursor",
        "Cursor rules",
        is_cursor,
        read_instructions,
        rule_files(GLOBS_KEY, ".mdc"),
        usual=(".cursor/rules", ".cursorrules"),
    ),
    Format(
        "serena",
        "memories of Serena",
        is_serena,
        read_serena,
        usual=(".serena/memories",),
    ),
    Format(
        "claude-memory",
        "memories of Claude Code and Qwen Code",
        is_claude_memory,
        read_claude_memory,
        usual=(TEAM_MEMORY,),
    ),
    Format(
        "memory-lane",
        "memories.db of Memory Lane",
        is_lane,
        read_lane,
        keeps_decisions=True,
    ),
    Format(
        "neolata",
        "a file, folder or dump of neolata",
        is_neolata,
        read_neolata,
        neolata_files,
        restores=True,
    ),
    Format(
        "yamo",
        "a LanceDB of YAMO memory-mesh",
        is_yamo,
        read_yamo,
        is_database=True,
        blocks=read_blocks,
    ),
    Format("mem0", "JSON of mem0", is_mem0, read_mem0),
    Format(
        "rawkomem",
        "an export of rawkomem",
        is_own_export,
        read_own_export,
        json_lines_files,
        export_name="jsonl",
        one_file=True,
    ),
    Format(
        "markdown",
        "a file or folder of Markdown",
        is_markdown,
        read_markdown,
        markdown_files,
        usual=MEMORY_BANKS,
    ),
    Format("claude-rules", "rules of Claude Code", write=rule_files(PATHS_KEY, ".md")),
    Format(
        "copilot",
        "instructions of Copilot",
        write=rule_files(APPLY_TO_KEY, ".instructions.md"),
    ),
)
# other people's code
OTHERS_FOLDERS = (
    *SKIPPED_FOLDERS,
    "vendor",
    "third_party",
    "venv",
    "dist",
    "build",
    "target",
)
MAX_FOLDERS = 5_000  # folders of a project that are searched for instructions
FORMATS = {row.name: row for row in ROWS}
SUFFIX_HINTS = {  # suffix of a file that no format recognizes → hint
    ".db": "of SQLite databases, only memories.db of Memory Lane can be imported",
    ".zip": "unpack it and name the file or folder inside",
    ".jsonl": "to read a transcript of a session, run 'rawkomem learn FILE'",
}


READABLE_FORMATS = {name: row for name, row in FORMATS.items() if row.read}
# By the name that `--format` takes; the default comes first.
WRITABLE_FORMATS = {
    row.export_name or row.name: row
    for row in sorted(ROWS, key=lambda row: not row.one_file)
    if row.write or row.is_database
}


def format_of(source: Source) -> str:
    """Return the name of a source's format; raise BadInput if no format recognizes it."""
    for name, row in READABLE_FORMATS.items():
        if row.is_it and row.is_it(source):
            return name
    hint = SUFFIX_HINTS.get(
        os.path.splitext(source.path)[1],
        "name its format with --from: " + ", ".join(READABLE_FORMATS),
    )
    raise BadInput(f"{source.path} is in no format that can be imported", hint)


def read_format(name: str, source: Source) -> list[Entry]:
    """Return the entries of a source; raise BadInput if the format is unknown."""
    check_known("format", name, READABLE_FORMATS)
    read = READABLE_FORMATS[name].read
    assert read
    return list(read(source))


def write_format(
    name: str,
    memories: Sequence[Memory],
    trust: Callable[[Memory], Trust],
) -> dict[str, str]:
    """Return file name → text of an export; raise BadInput if the format is unknown."""
    check_known("format", name, WRITABLE_FORMATS)
    write = WRITABLE_FORMATS[name].write
    assert write
    return write(memories, trust)


def usual_sources(project: str, home: str) -> list[str]:
    """Return the existing paths in a project that can be imported, and Claude Code's memory folder of the project."""
    name = "".join(
        sign if sign.isalnum() else "-" for sign in os.path.realpath(project)
    )
    auto = os.path.join(home, ".claude", "projects", name, "memory")
    usual = [path for row in FORMATS.values() for path in row.usual]
    paths = [
        *(os.path.join(project, *path.split("/")) for path in usual),
        *_nested_instructions(project),
    ]
    return [
        path
        for path in dict.fromkeys([*paths, auto])
        if os.path.exists(path) and not _is_in_skill(path, project)
    ]


def _is_in_skill(path: str, project: str) -> bool:
    """Return whether a file is a part of a skill below the project; hosts load skills by themselves."""
    folder = os.path.dirname(path)
    return folder != project and os.path.exists(os.path.join(folder, "SKILL.md"))


def _nested_instructions(project: str) -> Iterator[str]:
    """Yield the instruction files and folders below the project: those in folders of its own, and all that git tracks."""
    for number, (folder, folders, names) in enumerate(os.walk(project)):
        if number == MAX_FOLDERS:
            break
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name not in OTHERS_FOLDERS
        )
        if number:
            yield from (
                os.path.join(folder, name)
                for name in sorted(names)
                if name in NESTED_NAMES
            )
    hosted = {f"/{path}/" for row in FORMATS.values() for path in row.usual}
    for path in _tracked_below(project):
        rules = RULE_PLACE.search(path)
        if rules and rules[0] in hosted:
            yield os.path.join(project, *path[: rules.end() - 1].split("/"))
        elif "/" in path and os.path.basename(path) in NESTED_NAMES:
            yield os.path.join(project, *path.split("/"))


def _tracked_below(project: str) -> list[str]:
    """Return the files below a project that git tracks, relative to it; empty without git or if git fails."""
    if find_git(project) is None:
        return []
    try:
        tree = own_tree(project)
        below = tree.path(project)
        paths = tree.git.names("ls-files", "-z", "--", below)
    except GitFailed:
        return []
    return [path.removeprefix(f"{below}/") for path in paths]
