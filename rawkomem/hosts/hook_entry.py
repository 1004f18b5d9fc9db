"""Start `rawkomem hook HOST EVENT`: before an act, end at once if no memory can apply to it; else load what answers.

An agent makes up to a hundred calls of tools a turn. The usual one costs a sweep of the files and one small table: this
module parses no JSON and imports little.
"""

from __future__ import annotations

import os

from ..files.layout import MAX_TEXT_BYTES, find_layout, sweep
from ..index.act_table import Tables, guarding, read_table
from ..model.errors import RawkoError

ACT_EVENTS = ("before-tool", "after-tool")
# the keys below which hosts pass what a tool is asked to do, and the folder of the agent
INPUT_KEYS = (b'"tool_input"', b'"toolArgs"', b'"command"')
FOLDER_KEY = b'"cwd":'
# the keys below which they pass the file that a tool writes
FILE_KEYS = (
    *(b'"file_path":', b'"filePath":', b'"path":'),
    *(b'"notebook_path":', b'"absolute_path":'),
)
# starts of an input as JSON in a text, of a patch, and of an escaped sign such as `>`
UNREAD = (b'"{', b"*** Begin Patch", rb"\u00")
# all programs whose arguments commands.py takes as files that are written
WRITING = frozenset(
    b"rm unlink shred touch tee truncate mv cp ln install sed perl dd".split()
)
NO_WRITES = (b"2>&1", b"2>/dev/null", b">/dev/null")
NO_NAMES = bytes(
    sign if chr(sign).isalnum() or chr(sign) == "_" else 32 for sign in range(256)
)


def run_hook(folder: str, arguments: list[str]) -> None:
    """Answer one call of a hook."""
    if not {*arguments[1:2]} & {*ACT_EVENTS} or os.isatty(0):
        from .hooks import run_hook as run_other

        run_other(folder, arguments)
        return
    data = b""
    known: Tables = {}
    try:
        while len(data) < MAX_TEXT_BYTES and (piece := os.read(0, 2**20)):
            data += piece
        tool_input = next(
            (data.partition(key)[2] for key in INPUT_KEYS if key in data), b""
        )
        named = data.partition(FOLDER_KEY)[2].lstrip()[1:].partition(b'"')[0]
        # an agent may pass a folder to a tool, too
        is_clear = bool(tool_input and named) and data.count(FOLDER_KEY) == 1
        known = _tables_of(folder, named) if is_clear else {}
        searched = _unquoted(named + tool_input).lower()
        marks = [mark for table in known.values() for mark in table.marks]
        is_unmarked = bool(known) and not any(mark in searched for mark in marks)
        guards_paths = any(table.guards_paths for table in known.values())
        if is_unmarked and not (guards_paths and _may_write_by_link(tool_input)):
            return
    except (OSError, RawkoError):
        pass  # run_act logs it, and lets the call pass
    from .hook_acts import run_act

    run_act(folder, arguments, data, known)


def _unquoted(line: bytes) -> bytes:
    """Return a shell line in JSON without line continuations, quotes and backslashes: a shell drops them in a name."""
    return line.replace(rb"\\\n", b"").translate(None, b"\"'\\")


def _may_write_by_link(tool_input: bytes) -> bool:
    """Return whether a call may write a file through a link: links are followed where the whole call is read."""
    if any(sign in tool_input for sign in UNREAD):
        return True
    if found := [key for key in FILE_KEYS if key in tool_input]:
        rest = tool_input.partition(found[0])[2].lstrip()
        file = os.fsdecode(rest[1:].partition(b'"')[0])
        is_one = len(found) == 1 and tool_input.count(found[0]) == 1
        return not is_one or "\\" in file or os.path.realpath(file) != file
    line = tool_input.replace(rb"\\\n", b"")  # a line that goes on
    for end in (rb"\n", rb"\t", b'",', b'"}'):
        line = line.replace(end, b" ")
    line = line.translate(None, b"\"'\\")
    redirects = (b">" in word and word not in NO_WRITES for word in line.split())
    return any(redirects) or not WRITING.isdisjoint(line.translate(NO_NAMES).split())


def _tables_of(folder: str, named: bytes) -> Tables:
    """Return the tables of the repositories whose guards hold in the folder that a call names; none if that needs a closer look."""
    if b"\\" in named or "RAWKOMEM_DIR" in os.environ:
        return {}
    tables: Tables = {}
    for layout in guarding(find_layout(folder or os.fsdecode(named)), folder):
        table = read_table(layout, sweep(layout).digest)
        if not table:
            return {}
        tables[layout] = table
    return tables
