"""Find the editor's documents, their repositories, and positions in the editor's units."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from ...files.contents import MAX_FILE_BYTES
from ...files.layout import Layout, find_layout
from ...files.read import read_data
from ...model.entry import Entry, Memory
from ...model.errors import NotFound
from ...model.record import record
from .client import Client
from .lines import UTF16, index_at, lines_of, units
from .places import Span, fronts, names_in
from .shelf import Shelf, path_in
from .worker import Worker


@record
class Document:
    """A memory file with the editor's text, saved or not."""

    uri: str
    path: str  # relative to the repository
    shelf: Shelf
    text: str
    lines: Sequence[str]

    @property
    def data(self) -> bytes:
        """Return the bytes that saving the document would write."""
        return self.text.encode("utf-8", "replace")

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Return the entries of the document's present text."""
        return read_data(self.data, self.path, advice=False).entries


@record
class Place:
    """A position in a document, counted in characters."""

    document: Document
    line: int
    column: int

    def on(self, spans: Iterable[Span]) -> Span | None:
        """Return the first of the spans that holds this position, or None."""
        return next((span for span in spans if span.holds(self.line, self.column)), None)

    def meant(self) -> tuple[Span | None, list[Memory]]:
        """Return the span and the memories of the name at this position.

        Without a name, return None and the memory whose frontmatter holds the position.
        """
        span = self.on(names_in(self.document.lines))
        return span, self.document.shelf.meant(span.text) if span else self._around()

    def _around(self) -> list[Memory]:
        front = next((one for one in fronts(self.document.lines) if one.first <= self.line <= one.last), None)
        ids = [entry.target for entry in self.document.entries if front and entry.line - 1 == front.first]
        known = self.document.shelf.memories
        return [known[id] for id in ids if id in known]


class Documents:
    """All documents of one editor. They may belong to several repositories; each repository has a shelf."""

    def __init__(self, editor: LanguageServer, folder: str = ""):
        self.editor = editor
        self.folder = folder
        self.worker = Worker()
        self.edits: dict[str, int] = {}  # URI → number of the last check that was started
        self._shelves: dict[str, Shelf] = {}

    @property
    def client(self) -> Client:
        """Return the capabilities of the editor."""
        return Client(self.editor.client_capabilities)

    def get(self, uri: str) -> Document | None:
        """Return a document with up-to-date memories, or None if it is not a memory file."""
        layout, path = _home(uri)
        if layout is None:
            return None
        text = self.text(uri)
        return Document(uri, path, self._shelf(layout), text, lines_of(text))

    def is_memory_file(self, uri: str) -> bool:
        """Tell whether a document is a memory file. Opens no repository."""
        return _home(uri)[0] is not None

    def refresh(self) -> int:
        """Reload the memories of repositories with changed files; return how often memories were loaded so far."""
        for shelf in self._shelves.values():
            shelf.refresh()
        return sum(shelf.loads for shelf in self._shelves.values())

    def place(self, params: Any) -> Place | None:
        """Return the position that a request names, or None if the document is not a memory file."""
        document = self.get(params.text_document.uri)
        if document is None:
            return None
        lines, at = document.lines, params.position.line
        column = index_at(lines[at], params.position.character, self.encoding) if at < len(lines) else 0
        return Place(document, min(at, len(lines) - 1), column)

    def open_uris(self) -> list[str]:
        """Return the URIs of all open documents."""
        return [*self.editor.workspace.text_documents]

    def shelves(self) -> list[Shelf]:
        """Return the shelves of the open folders in order; if no folder has one, those of the files opened so far."""
        workspace = self.editor.workspace
        opened = [path for uri in workspace.folders if (path := to_fs_path(uri))]
        found: dict[str, Shelf] = {}
        for folder in [self.folder] if self.folder else opened or [workspace.root_path or ""]:
            try:
                layout = find_layout(folder)
            except NotFound:
                continue  # an open folder may have no memories
            found[layout.root] = self._shelf(layout)
        return [*(found or self._shelves).values()]

    def _shelf(self, layout: Layout) -> Shelf:
        if layout.root not in self._shelves:
            self._shelves[layout.root] = Shelf(layout, lambda text: print(f"rawkomem: {text}", file=sys.stderr))
        self._shelves[layout.root].refresh()
        return self._shelves[layout.root]

    def text(self, uri: str) -> str:
        """Return the text of a file from the editor, or else from disk; empty if it cannot be read."""
        held = self.editor.workspace.text_documents.get(uri)
        if held is not None:
            return str(held.source)
        try:
            with open(to_fs_path(uri) or "", encoding="utf-8", errors="replace", newline="") as stream:
                return stream.read(MAX_FILE_BYTES)
        except OSError:
            return ""

    @property
    def encoding(self) -> str:
        """Return the position encoding agreed with the editor."""
        agreed = self.editor.workspace.position_encoding
        return str(getattr(agreed, "value", agreed) or UTF16)

    def range(self, lines: Sequence[str], line: int, start: int, end: int) -> lsp.Range:
        """Convert a span of a line to the editor's units."""
        text = lines[line] if line < len(lines) else ""
        columns = (units(text[:start], self.encoding), units(text[:end], self.encoding))
        return lsp.Range(*(lsp.Position(line, column) for column in columns))


def _home(uri: str) -> tuple[Layout | None, str]:
    """Return the repository of a memory file and the file's path in it; (None, "") for any other file."""
    file = to_fs_path(uri) or ""
    try:
        layout = find_layout(os.path.dirname(file)) if file.endswith(".md") else None
    except NotFound:
        return None, ""
    path = path_in(layout, file) if layout else ""
    return (layout, path) if path else (None, "")


def uri_of(shelf: Shelf, path: str) -> str:
    """Return the URI of a file of a repository."""
    return str(from_fs_path(shelf.layout.path(path)))


def line_start(line: int) -> lsp.Range:
    """Return the empty range at the start of a line, counted from 1."""
    start = lsp.Position(max(0, line - 1), 0)
    return lsp.Range(start, start)
