"""What the editor holds: its documents, the repositories they belong to, and places in them in the editor's units."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.uris import from_fs_path, to_fs_path

from ...files.contents import MAX_FILE_BYTES
from ...files.layout import find_layout
from ...files.read import read_data
from ...model.errors import NotFound
from ...model.record import record
from .lines import UTF16, index_at, lines_of, units
from .places import fronts, names_in
from .shelf import Shelf, path_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pygls.lsp.server import LanguageServer

    from ...files.layout import Layout
    from ...model.entry import Entry, Memory
    from .places import Span


@record
class Document:
    """A memory file as the editor holds it, saved or not."""

    uri: str
    path: str  # as its repository names it
    shelf: Shelf
    text: str
    lines: Sequence[str]

    @property
    def data(self) -> bytes:
        """Its bytes, were it saved now."""
        return self.text.encode("utf-8", "replace")

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What it says now: lines that are on disk may have moved since."""
        return read_data(self.data, self.path, advice=False).entries


@record
class Place:
    """Where a request points to: a position in a document, in characters."""

    document: Document
    line: int
    column: int

    def on(self, spans: Iterable[Span]) -> Span | None:
        """The piece of the document that it lies on."""
        return next((span for span in spans if span.holds(self.line, self.column)), None)

    def meant(self) -> tuple[Span | None, list[Memory]]:
        """The name of a memory that stands here and what it means; else the memory of the frontmatter around."""
        span = self.on(names_in(self.document.lines))
        return span, self.document.shelf.meant(span.text) if span else self._around()

    def _around(self) -> list[Memory]:
        front = next((one for one in fronts(self.document.lines) if one.first <= self.line <= one.last), None)
        ids = [entry.target for entry in self.document.entries if front and entry.line - 1 == front.first]
        known = self.document.shelf.memories
        return [known[id] for id in ids if id in known]


class Documents:
    """Everything that one editor has open. Files may belong to several repositories; each has a shelf."""

    def __init__(self, editor: LanguageServer, folder: str = ""):
        self.editor = editor
        self.folder = folder
        self._shelves: dict[str, Shelf] = {}

    def get(self, uri: str) -> Document | None:
        """A document among the memories as they are now; None where it is no memory file: other servers' business."""
        file = to_fs_path(uri) or ""
        try:
            layout = find_layout(os.path.dirname(file)) if file.endswith(".md") else None
        except NotFound:
            return None
        path = path_in(layout, file) if layout else ""
        if layout is None or not path:
            return None
        text = self.text(uri)
        return Document(uri, path, self._shelf(layout), text, lines_of(text))

    def place(self, params: Any) -> Place | None:
        """Where a request with a document and a position points to; None where that is no memory file."""
        document = self.get(params.text_document.uri)
        if document is None:
            return None
        lines, at = document.lines, params.position.line
        column = index_at(lines[at], params.position.character, self.encoding) if at < len(lines) else 0
        return Place(document, min(at, len(lines) - 1), column)

    def open_uris(self) -> list[str]:
        """The documents that are open, of whatever kind."""
        return [*self.editor.workspace.text_documents]

    def shelves(self) -> list[Shelf]:
        """Those of the folders that are open, in their order; where none has one, those of files that were."""
        workspace = self.editor.workspace
        opened = [path for uri in workspace.folders if (path := to_fs_path(uri))]
        found: dict[str, Shelf] = {}
        for folder in [self.folder] if self.folder else opened or [workspace.root_path or ""]:
            try:
                layout = find_layout(folder)
            except NotFound:
                continue  # a folder without memories is nothing to complain about
            found[layout.root] = self._shelf(layout)
        return [*(found or self._shelves).values()]

    def _shelf(self, layout: Layout) -> Shelf:
        if layout.root not in self._shelves:
            self._shelves[layout.root] = Shelf(layout, lambda text: print(f"rawkomem: {text}", file=sys.stderr))
        self._shelves[layout.root].refresh()
        return self._shelves[layout.root]

    def text(self, uri: str) -> str:
        """What the editor holds of a file, else what the disk does."""
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
        """In whose units columns are counted, as agreed with the editor."""
        agreed = self.editor.workspace.position_encoding
        return str(getattr(agreed, "value", agreed) or UTF16)

    def range(self, lines: Sequence[str], line: int, start: int, end: int) -> lsp.Range:
        """A piece of a line, in the editor's units."""
        text = lines[line] if line < len(lines) else ""
        columns = (units(text[:start], self.encoding), units(text[:end], self.encoding))
        return lsp.Range(*(lsp.Position(line, column) for column in columns))


def uri_of(shelf: Shelf, path: str) -> str:
    """How editors name a file of a repository."""
    return str(from_fs_path(shelf.layout.path(path)))


def line_start(line: int) -> lsp.Range:
    """Where a line begins that is counted from 1."""
    start = lsp.Position(max(0, line - 1), 0)
    return lsp.Range(start, start)
