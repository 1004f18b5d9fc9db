"""Start `rawkomem hook HOST EVENT`: before an act, end at once if no memory can apply to it; else load what answers.

An agent makes up to a hundred calls of tools a turn. The usual one costs a sweep of the files and one small table: this
module parses no JSON and imports little.
"""

from __future__ import annotations

import os

from ..files.layout import MAX_TEXT_BYTES, Layout, find_layout, sweep
from ..index.act_table import ActTable, read_table
from ..model.errors import RawkoError

ACT_EVENTS = ("before-tool", "after-tool")
# the keys below which hosts pass what a tool is asked to do, and the folder of the agent
INPUT_KEYS = (b'"tool_input"', b'"toolArgs"', b'"command"')
FOLDER_KEY = b'"cwd":'


def run_hook(folder: str, arguments: list[str]) -> None:
    """Answer one call of a hook."""
    if not {*arguments[1:2]} & {*ACT_EVENTS} or os.isatty(0):
        from .hooks import run_hook as run_other

        run_other(folder, arguments)
        return
    data = b""
    known = None
    try:
        while len(data) < MAX_TEXT_BYTES and (piece := os.read(0, 2**20)):
            data += piece
        tool_input = next(
            (data.partition(key)[2] for key in INPUT_KEYS if key in data), b""
        )
        named = data.partition(FOLDER_KEY)[2].lstrip()[1:].partition(b'"')[0]
        # an agent may pass a folder to a tool, too
        is_clear = bool(tool_input and named) and data.count(FOLDER_KEY) == 1
        known = _table_of(folder, named) if is_clear else None
        searched = (named + tool_input).lower()
        if known and not any(mark in searched for mark in known[1].marks):
            return
    except (OSError, RawkoError):
        pass  # run_act logs it, and lets the call pass
    from .hook_acts import run_act

    run_act(folder, arguments, data, known)


def _table_of(folder: str, named: bytes) -> tuple[Layout, ActTable] | None:
    """Return the repository of the folder that a call names, and its table; None if that needs a closer look."""
    if b"\\" in named or "RAWKOMEM_DIR" in os.environ:
        return None
    layout = find_layout(folder or os.fsdecode(named))
    table = read_table(layout, sweep(layout).digest)
    return (layout, table) if table else None
