"""Notice files that change outside the editor: with the editor's file watcher, or else by polling."""

from __future__ import annotations

import asyncio
import time

from lsprotocol import types as lsp

from . import diagnose
from .documents import Documents

PATTERN = "**/.rawko/**/*.md"
WATCHERS_ID = "rawkomem-files"
INTERVAL_S = 2.0
MAX_LOAD = 0.02  # share of the time that polling may take; a large repository is polled less often


async def start(documents: Documents, params: lsp.InitializedParams) -> None:
    """Ask the editor to report changed files. If it cannot, poll for changes until the editor exits."""
    if not documents.client.watches_files:
        await _look_at_intervals(documents)
        return
    options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher(PATTERN)])
    wanted = lsp.Registration(WATCHERS_ID, lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
    await documents.editor.client_register_capability_async(lsp.RegistrationParams([wanted]))


async def changed(documents: Documents, params: lsp.DidChangeWatchedFilesParams) -> None:
    """Check the open documents again after the editor reported changed files."""
    await diagnose.check_all(documents)


async def _look_at_intervals(documents: Documents) -> None:
    known, pause = 0, INTERVAL_S
    while True:
        await asyncio.sleep(pause)
        version, cost = await documents.worker.run(_look, documents)
        pause = max(INTERVAL_S, cost / MAX_LOAD)
        if version != known:
            known = version
            await diagnose.check_all(documents)


def _look(documents: Documents) -> tuple[int, float]:
    """Reload changed memories; return how often memories were loaded so far, and the CPU time of this call."""
    started = time.thread_time()
    return documents.refresh(), time.thread_time() - started
