"""Publish the problems that `rawkomem check` finds in a document, after every change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lsprotocol import types as lsp

from ...files.check import check_text
from ...model.problem import ERROR, WARNING, Problem
from .documents import Documents
from .locate import locate

SEVERITY = {ERROR: lsp.DiagnosticSeverity.Error, WARNING: lsp.DiagnosticSeverity.Warning}


async def edited(documents: Documents, params: lsp.DidOpenTextDocumentParams | lsp.DidChangeTextDocumentParams) -> None:
    """Check a document that was opened or changed."""
    await _check(documents, [params.text_document.uri])


async def saved(documents: Documents, params: lsp.DidSaveTextDocumentParams) -> None:
    """Check every open document again, because others may refer to the saved one."""
    if documents.is_memory_file(params.text_document.uri):
        await check_all(documents)


async def check_all(documents: Documents) -> None:
    """Check every open document, and ask the editor to refresh its code lenses."""
    await _check(documents, documents.open_uris())
    if documents.client.refreshes_lenses:
        await documents.editor.workspace_code_lens_refresh_async(None)


async def closed(documents: Documents, params: lsp.DidCloseTextDocumentParams) -> None:
    """Clear the diagnostics of a closed document."""
    documents.edits.pop(params.text_document.uri, None)
    _publish(documents, params.text_document.uri, [])


async def _check(documents: Documents, uris: Iterable[str]) -> None:
    """Check documents and publish the results. A result is dropped if the document was changed meanwhile."""
    for uri in uris:
        number = documents.edits[uri] = documents.edits.get(uri, 0) + 1
        found = await documents.worker.run(_diagnostics, documents, uri, number)
        if found is not None and documents.edits.get(uri) == number:
            _publish(documents, uri, found)


def _diagnostics(documents: Documents, uri: str, number: int) -> list[lsp.Diagnostic] | None:
    document = documents.get(uri) if documents.edits.get(uri) == number else None
    if document is None:
        return None
    checked = check_text(document.data, document.path, [*document.shelf.memories.values()])
    return [_diagnostic(documents, document.lines, problem) for problem in checked.problems]


def _diagnostic(documents: Documents, lines: Sequence[str], problem: Problem) -> lsp.Diagnostic:
    span = locate(lines, problem)
    return lsp.Diagnostic(
        range=documents.range(lines, span.line, span.start, span.end),
        message=f"{problem.message} ({problem.hint})" if problem.hint else problem.message,
        severity=SEVERITY.get(problem.level, lsp.DiagnosticSeverity.Information),
        source="rawkomem",
        code=problem.code,
    )


def _publish(documents: Documents, uri: str, diagnostics: list[lsp.Diagnostic]) -> None:
    params = lsp.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics)
    documents.editor.text_document_publish_diagnostics(params)
