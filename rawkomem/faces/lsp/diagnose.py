"""Publish what `check` reports about a document, at every change."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types as lsp

from ...files.check import check_text
from ...model.problem import ERROR, WARNING, Problem
from .documents import Documents

SEVERITY = {ERROR: lsp.DiagnosticSeverity.Error, WARNING: lsp.DiagnosticSeverity.Warning}


def edited(documents: Documents, params: lsp.DidOpenTextDocumentParams | lsp.DidChangeTextDocumentParams) -> None:
    """Check a document that was opened or changed."""
    _diagnose(documents, params.text_document.uri)


def saved(documents: Documents, params: lsp.DidSaveTextDocumentParams) -> None:
    """Check every open document again: others may refer to the saved one."""
    if documents.get(params.text_document.uri):
        for uri in documents.open_uris():
            _diagnose(documents, uri)


def closed(documents: Documents, params: lsp.DidCloseTextDocumentParams) -> None:
    """Clear the diagnostics of a closed document."""
    _publish(documents, params.text_document.uri, [])


def _diagnose(documents: Documents, uri: str) -> None:
    document = documents.get(uri)
    if document:
        checked = check_text(document.data, document.path, [*document.shelf.memories.values()])
        _publish(documents, uri, [_diagnostic(documents, document.lines, problem) for problem in checked.problems])


def _diagnostic(documents: Documents, lines: Sequence[str], problem: Problem) -> lsp.Diagnostic:
    line = min(max(problem.line, 1), len(lines)) - 1
    text = lines[line]
    return lsp.Diagnostic(
        range=documents.range(lines, line, len(text) - len(text.lstrip()), len(text.rstrip())),
        message=f"{problem.message}. {problem.hint}" if problem.hint else problem.message,
        severity=SEVERITY.get(problem.level, lsp.DiagnosticSeverity.Information),
        source="rawkomem",
        code=problem.code,
    )


def _publish(documents: Documents, uri: str, diagnostics: list[lsp.Diagnostic]) -> None:
    params = lsp.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics)
    documents.editor.text_document_publish_diagnostics(params)
