"""Find definitions, references and symbols."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from ...model.entry import Memory
from .documents import Documents, line_start, uri_of
from .lines import lines_of
from .places import names_in
from .shelf import Shelf

MAX_SYMBOLS = 500  # in one answer; typing more letters narrows the list


def define(documents: Documents, params: lsp.DefinitionParams) -> list[lsp.Location] | None:
    """Return where the memory that is named at the position begins; None if no memory is named there."""
    place = documents.place(params)
    span, memories = place.meant() if place else (None, [])
    return [_location(place.document.shelf, memory) for memory in memories] if place and span else None


def refer(documents: Documents, params: lsp.ReferenceParams) -> list[lsp.Location] | None:
    """Return every place that names a memory: the one named at the position, or else the one of its frontmatter."""
    place = documents.place(params)
    if place is None:
        return None
    shelf = place.document.shelf
    _, wanted = place.meant()
    found = [_location(shelf, memory) for memory in wanted if params.context.include_declaration]
    return [*found, *(location for memory in wanted for location in _naming(documents, shelf, memory))]


def symbols(documents: Documents, params: lsp.WorkspaceSymbolParams) -> list[lsp.SymbolInformation]:
    """Return the memories whose title, id and tags together hold every typed word."""
    words = params.query.casefold().split()
    found = [
        (shelf, memory)
        for shelf in documents.shelves()
        for memory in shelf.offered()
        if all(word in f"{memory.title} {memory.id} {' '.join(memory.tags)}".casefold() for word in words)
    ]
    return [
        lsp.SymbolInformation(_location(shelf, memory), memory.title or memory.id, lsp.SymbolKind.String,
                              container_name=memory.kind)
        for shelf, memory in found[:MAX_SYMBOLS]
    ]  # fmt: skip


def _naming(documents: Documents, shelf: Shelf, memory: Memory) -> Iterator[lsp.Location]:
    for path in shelf.files_naming(memory.id):
        documents.worker.go_on()
        uri = uri_of(shelf, path)
        lines = lines_of(documents.text(uri))
        for span in names_in(lines):
            if memory.id in shelf.names.find(span.text):
                yield lsp.Location(uri, documents.range(lines, span.line, span.start, span.end))


def _location(shelf: Shelf, memory: Memory) -> lsp.Location:
    return lsp.Location(uri_of(shelf, memory.path), line_start(memory.line))
