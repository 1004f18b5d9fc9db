"""Answer requests for hover cards and code lenses."""

from __future__ import annotations

from lsprotocol import types as lsp

from ...model.entry import Memory
from .commands import SHOW
from .documents import Documents, line_start, uri_of
from .places import Span, conditions_in
from .shelf import Shelf
from .tell import SUPERSEDED, Teller, fired, plain


def hover(documents: Documents, params: lsp.HoverParams) -> lsp.Hover | None:
    """Return a card for a position: the tasks on which its condition fired, or the memory it names."""
    place = documents.place(params)
    if place is None:
        return None
    lines, shelf = place.document.lines, place.document.shelf

    def shown(text: str, span: Span | None) -> lsp.Hover:
        where = documents.range(lines, span.line, span.start, span.end) if span else None
        format = documents.client.hover_format
        return lsp.Hover(lsp.MarkupContent(format, text if format == lsp.MarkupKind.Markdown else plain(text)), where)

    condition = place.on(conditions_in(lines))
    if condition:
        return shown(fired(condition.text, shelf.fired_lately(condition.text)), condition)
    span, memories = place.meant()
    if not memories:
        return None
    teller = Teller(shelf)
    return shown("\n\n".join(teller.card(memory) for memory in memories), span)


def lenses(documents: Documents, params: lsp.CodeLensParams) -> list[lsp.CodeLens] | None:
    """Return the remarks that the editor shows above each memory of a document."""
    document = documents.get(params.text_document.uri)
    if document is None:
        return None
    shelf, teller = document.shelf, Teller(document.shelf)
    begun = [(entry, shelf.memories[entry.id]) for entry in document.entries
             if entry.creates and entry.id in shelf.memories]  # fmt: skip
    return [
        lsp.CodeLens(line_start(entry.line), _leading_on(shelf, memory, remark))
        for entry, memory in begun
        for remark in teller.remarks(memory)
    ]


def _leading_on(shelf: Shelf, memory: Memory, remark: str) -> lsp.Command:
    """Return the command of a lens: it opens the superseding memory, or does nothing for other remarks."""
    newer = shelf.memories.get(memory.superseded_by)
    if newer and remark.startswith(SUPERSEDED):
        return lsp.Command(remark, SHOW, arguments=[uri_of(shelf, newer.path), newer.line])
    return lsp.Command(remark, "")
