"""Route the requests of an editor and show failures to the person."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from ...model.errors import RawkoError
from . import ask, commands, complete, diagnose, navigate, show, watch
from .documents import Documents

NOTIFICATIONS: dict[str, Callable[[Documents, Any], Awaitable[None]]] = {
    lsp.INITIALIZED: watch.start,
    lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: watch.changed,
    lsp.TEXT_DOCUMENT_DID_OPEN: diagnose.edited,
    lsp.TEXT_DOCUMENT_DID_CHANGE: diagnose.edited,
    lsp.TEXT_DOCUMENT_DID_SAVE: diagnose.saved,
    lsp.TEXT_DOCUMENT_DID_CLOSE: diagnose.closed,
}
FEATURES: tuple[tuple[str, Callable[[Documents, Any], Any], Any], ...] = (
    (lsp.TEXT_DOCUMENT_COMPLETION, complete.complete, lsp.CompletionOptions(trigger_characters=["[", ":", " ", ","])),
    (lsp.TEXT_DOCUMENT_HOVER, show.hover, None),
    (lsp.TEXT_DOCUMENT_CODE_LENS, show.lenses, None),
    (lsp.TEXT_DOCUMENT_DEFINITION, navigate.define, None),
    (lsp.TEXT_DOCUMENT_REFERENCES, navigate.refer, None),
    (lsp.WORKSPACE_SYMBOL, navigate.symbols, None),
    (lsp.TEXT_DOCUMENT_CODE_ACTION, commands.actions, lsp.CodeActionOptions([commands.ACTION_KIND])),
)
COMMANDS = {
    commands.NEW: commands.new,
    commands.AMEND: commands.amend,
    commands.SHOW: commands.show,
    ask.SEARCH: ask.search,
    ask.WHY: ask.why,
}


class EditorServer:
    """Answers one editor."""

    def __init__(self, folder: str = "", version: str = ""):
        self.editor = LanguageServer("rawkomem", version, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self.documents = Documents(self.editor, folder)
        self._background: set[asyncio.Task[None]] = set()
        self._was_shut_down = False
        self._exit_code = 0
        for name, handler, options in FEATURES:
            self.editor.feature(name, options)(self._answering(handler))
        for name, noted in NOTIFICATIONS.items():
            self.editor.feature(name)(self._noting(noted))
        for name, command in COMMANDS.items():
            self.editor.command(name)(self._obeying(command))
        self.editor.feature(lsp.SHUTDOWN)(lambda params: self._shut_down())
        self.editor.feature(lsp.EXIT)(lambda params: self._leave())

    def serve(self) -> int:
        """Answer on standard input and output until the editor disconnects; return the exit code.

        The protocol library closes the stream that it writes to, so it gets a copy of stdout.
        """
        self.editor.start_io(stdout=os.fdopen(os.dup(sys.stdout.fileno()), "wb"))
        self.documents.worker.end()
        return self._exit_code

    def _shut_down(self) -> None:
        self._was_shut_down = True

    def _leave(self) -> None:
        """Set the exit code: the protocol requires 1 if the editor did not send `shutdown` first."""
        self._exit_code = 0 if self._was_shut_down else 1

    def _answering(self, handler: Callable[[Documents, Any], Any]) -> Callable[[Any], Any]:
        """Wrap the handler of a request: a failure is shown as a message, and the request returns None."""

        async def answer(params: Any) -> Any:
            try:
                return await self.documents.worker.run(handler, self.documents, params)
            except RawkoError as failure:
                return self._say(failure)

        return answer

    def _noting(self, handler: Callable[[Documents, Any], Awaitable[None]]) -> Callable[[Any], None]:
        """Wrap the handler of a notification: it runs in the background, because notifications have no answer."""

        async def note(params: Any) -> None:
            try:
                await handler(self.documents, params)
            except RawkoError as failure:
                self._say(failure)

        def start(params: Any) -> None:
            task = asyncio.ensure_future(note(params))
            self._background.add(task)
            task.add_done_callback(self._background.discard)

        return start

    def _obeying(self, command: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a command handler like a request handler; it may wait for answers of the editor."""

        async def obey(*given: Any) -> Any:
            try:
                return await command(self.documents, *given)
            except RawkoError as failure:
                return self._say(failure)

        return obey

    def _say(self, failure: RawkoError) -> None:
        text = failure.message + (f" ({failure.hint})" if failure.hint else "")
        self.editor.window_show_message(lsp.ShowMessageParams(type=lsp.MessageType.Error, message=text))
