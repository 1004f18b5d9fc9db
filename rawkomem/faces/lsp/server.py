"""Route the requests of an editor and report failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from ...model.errors import RawkoError
from . import commands, complete, diagnose, navigate, show
from .documents import Documents

FEATURES: tuple[tuple[str, Callable[[Documents, Any], Any], Any], ...] = (
    (lsp.TEXT_DOCUMENT_DID_OPEN, diagnose.edited, None),
    (lsp.TEXT_DOCUMENT_DID_CHANGE, diagnose.edited, None),
    (lsp.TEXT_DOCUMENT_DID_SAVE, diagnose.saved, None),
    (lsp.TEXT_DOCUMENT_DID_CLOSE, diagnose.closed, None),
    (lsp.TEXT_DOCUMENT_COMPLETION, complete.complete, lsp.CompletionOptions(trigger_characters=["[", ":", " ", ","])),
    (lsp.TEXT_DOCUMENT_HOVER, show.hover, None),
    (lsp.TEXT_DOCUMENT_CODE_LENS, show.lenses, None),
    (lsp.TEXT_DOCUMENT_DEFINITION, navigate.define, None),
    (lsp.TEXT_DOCUMENT_REFERENCES, navigate.refer, None),
    (lsp.WORKSPACE_SYMBOL, navigate.symbols, None),
    (lsp.TEXT_DOCUMENT_CODE_ACTION, commands.actions, None),
)
COMMANDS = {commands.NEW: commands.new, commands.AMEND: commands.amend, commands.SHOW: commands.show}


class EditorServer:
    """Answers one editor."""

    def __init__(self, folder: str = "", version: str = ""):
        self.editor = LanguageServer("rawkomem", version, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self.documents = Documents(self.editor, folder)
        for name, handler, options in FEATURES:
            self.editor.feature(name, options)(self._answering(handler))
        for name, command in COMMANDS.items():
            self.editor.command(name)(self._obeying(command))

    def serve(self) -> None:
        """Answer on standard input and output until the editor disconnects."""
        self.editor.start_io()

    def _answering(self, handler: Callable[[Documents, Any], Any]) -> Callable[[Any], Any]:
        """Wrap a handler so that a failure becomes a one-line message to the person instead of a failed request."""

        def answer(params: Any) -> Any:
            try:
                return handler(self.documents, params)
            except RawkoError as failure:
                return self._say(failure)

        return answer

    def _obeying(self, command: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a command handler in the same way; it may wait for the editor."""

        async def obey(*given: Any) -> Any:
            try:
                return await command(self.documents, *given)
            except RawkoError as failure:
                return self._say(failure)

        return obey

    def _say(self, failure: RawkoError) -> None:
        text = failure.message + (f" ({failure.hint})" if failure.hint else "")
        self.editor.window_show_message(lsp.ShowMessageParams(type=lsp.MessageType.Error, message=text))
