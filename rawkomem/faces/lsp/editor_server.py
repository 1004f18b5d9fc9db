"""Serve one editor over the Language Server Protocol: route requests, publish diagnostics, and watch
files.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from ...files.check import NOT_IDEAL, check_text
from ...model.errors import RawkoError
from ...model.values import ERROR, WARNING
from . import features
from .documents import Documents, locate_problem

SEVERITY = {
    ERROR: lsp.DiagnosticSeverity.Error,
    WARNING: lsp.DiagnosticSeverity.Warning,
}


async def check_edited(
    documents: Documents,
    params: lsp.DidOpenTextDocumentParams | lsp.DidChangeTextDocumentParams,
) -> None:
    """Check a document that was opened or changed."""
    await _check_uris(documents, [params.text_document.uri])


async def check_all(documents: Documents, params: object = None) -> None:
    """Check every open document, because others may refer to a saved one; ask the editor to refresh code lenses."""
    await _check_uris(documents, documents.open_uris())
    if documents.supports("workspace.code_lens.refresh_support"):
        await documents.editor.workspace_code_lens_refresh_async(None)


async def forget_closed(
    documents: Documents, params: lsp.DidCloseTextDocumentParams
) -> None:
    """Clear the diagnostics of a closed document."""
    documents.edits.pop(params.text_document.uri, None)
    _publish(documents, params.text_document.uri, [])


async def _check_uris(documents: Documents, uris: Iterable[str]) -> None:
    """Check documents and publish the results. A result is dropped if the document was changed meanwhile."""
    for uri in uris:
        number = documents.edits[uri] = documents.edits.get(uri, 0) + 1
        diagnostics = await documents.run(_diagnostics, documents, uri, number)
        if diagnostics is not None and documents.edits.get(uri) == number:
            _publish(documents, uri, diagnostics)


def _diagnostics(
    documents: Documents, uri: str, number: int
) -> list[lsp.Diagnostic] | None:
    document = documents.get(uri) if documents.edits.get(uri) == number else None
    if document is None:
        return None
    checked = check_text(
        document.data, document.path, [*document.shelf.memories.values()]
    )
    diagnostics = []
    for problem in checked.problems:
        if problem.code == NOT_IDEAL:
            # most good memories are shorter than the ideal: `rawkomem check --style` tells
            continue
        span = locate_problem(document.lines, problem)
        diagnostics.append(
            lsp.Diagnostic(
                range=documents.range(document.lines, span.line, span.start, span.end),
                message=problem.in_full,
                severity=SEVERITY.get(
                    problem.level, lsp.DiagnosticSeverity.Information
                ),
                source="rawkomem",
                code=problem.code,
            )
        )
    return diagnostics


def _publish(documents: Documents, uri: str, diagnostics: list[lsp.Diagnostic]) -> None:
    params = lsp.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics)
    documents.editor.text_document_publish_diagnostics(params)


PATTERN = "**/.rawko/**/*.md"
WATCHERS_ID = "rawkomem-files"
INTERVAL_S = 2.0


async def start_watching(documents: Documents, params: lsp.InitializedParams) -> None:
    """Ask the editor to report changed files. If it cannot, poll for changes until the editor exits."""
    if not documents.supports(
        "workspace.did_change_watched_files.dynamic_registration"
    ):
        await _look_at_intervals(documents)
        return
    options = lsp.DidChangeWatchedFilesRegistrationOptions(
        [lsp.FileSystemWatcher(PATTERN)]
    )
    wanted = lsp.Registration(
        WATCHERS_ID, lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options
    )
    await documents.editor.client_register_capability_async(
        lsp.RegistrationParams([wanted])
    )


async def _look_at_intervals(documents: Documents) -> None:
    last = 0
    while True:
        await asyncio.sleep(INTERVAL_S)
        version = await documents.run(documents.refresh)
        if version != last:
            last = version
            await check_all(documents)


NOTIFICATIONS: dict[str, Callable[[Documents, Any], Awaitable[None]]] = {
    lsp.INITIALIZED: start_watching,
    lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: check_all,
    lsp.TEXT_DOCUMENT_DID_OPEN: check_edited,
    lsp.TEXT_DOCUMENT_DID_CHANGE: check_edited,
    lsp.TEXT_DOCUMENT_DID_SAVE: check_all,
    lsp.TEXT_DOCUMENT_DID_CLOSE: forget_closed,
}
FEATURES: tuple[tuple[str, Callable[[Documents, Any], Any], Any], ...] = (
    (
        lsp.TEXT_DOCUMENT_COMPLETION,
        features.complete,
        lsp.CompletionOptions(trigger_characters=["[", ":", " ", ","]),
    ),
    (lsp.TEXT_DOCUMENT_HOVER, features.hover, None),
    (lsp.TEXT_DOCUMENT_CODE_LENS, features.lenses, None),
    (lsp.TEXT_DOCUMENT_DEFINITION, features.definitions, None),
    (lsp.TEXT_DOCUMENT_REFERENCES, features.references_to, None),
    (lsp.WORKSPACE_SYMBOL, features.workspace_symbols, None),
    (
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        features.code_actions,
        lsp.CodeActionOptions([features.ACTION_KIND]),
    ),
)
# command → what it does, and the types of its arguments; those at the end may be left out
COMMANDS: dict[str, tuple[Callable[..., Awaitable[Any]], tuple[type, ...]]] = {
    features.NEW_COMMAND: (features.new_memory, (str, str)),
    features.AMEND_COMMAND: (features.amend_memory, (str, int)),
    features.SHOW_COMMAND: (features.show_document, (str, int)),
    features.SEARCH_COMMAND: (features.search_memories, (str,)),
    features.WHY_COMMAND: (features.why_recalled, (str, int, str)),
}


async def run_command(name: str, documents: Documents, *given: Any) -> Any:
    """Run a command of the editor; raise TypeError if an argument has another type. Null at the end is no argument."""
    call, types = COMMANDS[name]
    values = [*given]
    while values and values[-1] is None:
        values.pop()
    if len(values) > len(types):
        raise TypeError(f"{name} takes {len(types)}, not {len(values)}")
    for at, (value, wanted) in enumerate(zip(values, types, strict=False)):
        if wanted is int and isinstance(value, str):  # Helix sends text only
            values[at] = value = int(value)
        if type(value) is not wanted:
            raise TypeError(f"argument {at + 1} of {name} is not {TYPE_NAMES[wanted]}")
    return await call(documents, *values)


TYPE_NAMES = {str: "a text", int: "a whole number"}


class AnsweringProtocol(LanguageServerProtocol):
    """Also answers a request with parameters that the protocol does not allow, for which pygls only logs an error."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return a message, or send an error to the editor and raise it."""
        try:
            return super().structure_message(data)
        except JsonRpcException as failure:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=failure.to_response_error())
            raise


class EditorServer:
    """Answers one editor."""

    def __init__(self, folder: str = "", version: str = ""):
        self.editor = LanguageServer(
            "rawkomem",
            version,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Full,
            protocol_cls=AnsweringProtocol,
        )
        self.documents = Documents(self.editor, folder)
        self._background: set[asyncio.Future[Any]] = set()
        self._was_shut_down = False
        self._exit_code = 0
        for name, handler, options in FEATURES:
            self.editor.feature(name, options)(
                self._guarded(partial(self.documents.run, handler))
            )
        for name, noted in NOTIFICATIONS.items():
            self.editor.feature(name)(self._in_background(self._guarded(noted)))
        for name in COMMANDS:
            self.editor.command(name)(self._guarded(partial(run_command, name)))
        self.editor.feature(lsp.SHUTDOWN)(lambda params: self._shut_down())
        self.editor.feature(lsp.EXIT)(lambda params: self._leave())

    def serve(self) -> int:
        """Answer on standard input and output until the editor disconnects; return the exit code.

        The protocol library closes the stream that it writes to, so it gets a copy of stdout.
        """
        self.editor.start_io(stdout=os.fdopen(os.dup(sys.stdout.fileno()), "wb"))
        self.documents.end()
        return self._exit_code

    def _shut_down(self) -> None:
        self._was_shut_down = True

    def _leave(self) -> None:
        """Set the exit code: the protocol requires 1 if the editor did not send `shutdown` first."""
        self._exit_code = 0 if self._was_shut_down else 1

    def _guarded(
        self, call: Callable[..., Awaitable[Any]]
    ) -> Callable[..., Awaitable[Any]]:
        """Return a call that gets the documents first; a failure is shown as a message, and the answer is None."""

        async def answer(*given: Any) -> Any:
            try:
                return await call(self.documents, *given)
            except RawkoError as failure:
                message = failure.in_full
            except (TypeError, ValueError, IndexError, OverflowError) as failure:
                # arguments of a command may be anything
                message = f"rawkomem cannot use these arguments: {failure}"
            self.editor.window_show_message(
                lsp.ShowMessageParams(type=lsp.MessageType.Error, message=message)
            )
            return None

        return answer

    def _in_background(
        self, call: Callable[..., Awaitable[Any]]
    ) -> Callable[[Any], None]:
        """Return the handler of a notification: it starts the call and does not wait, because nobody gets an answer."""

        def start(params: Any) -> None:
            task = asyncio.ensure_future(call(params))
            self._background.add(task)
            task.add_done_callback(self._background.discard)

        return start
