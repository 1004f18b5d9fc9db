"""The server itself: LSP requests on pygls, answered from the shelf of the file that they are about."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from ..files.check import check_text
from ..files.compose import compose, entry_from_text
from ..files.contents import MAX_FILE
from ..files.layout import find_layout
from ..files.templates import fill_template
from ..files.user import user_name
from ..model.clock import now
from ..model.entry import Entry
from ..model.errors import BadInput, NotFound, RawkoError
from ..model.ids import new_id
from ..model.problem import ERROR, WARNING
from ..text.emit import emit_entry
from ..text.split import join
from .complete import choices
from .lines import UTF16, index_at, lines_of, units
from .places import conditions_in, fronts, names_in
from .shelf import Shelf
from .tell import card, fired, remarks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..model.entry import Memory
    from .places import Span

NEW, AMEND, SHOW = "rawkomem.new", "rawkomem.amend", "rawkomem.show"
SEVERITY = {ERROR: lsp.DiagnosticSeverity.Error, WARNING: lsp.DiagnosticSeverity.Warning}
DRAWN = {
    "enum": lsp.CompletionItemKind.EnumMember,
    "key": lsp.CompletionItemKind.Property,
    "tag": lsp.CompletionItemKind.Keyword,
    "memory": lsp.CompletionItemKind.Reference,
}
SYMBOLS = 500  # at once: whoever needs more types another letter
TO_FILL_IN = "What is different now, and why."


class EditorServer:
    """Answers one editor. Files may belong to several repositories; each has a shelf."""

    def __init__(self, folder: str = "", version: str = ""):
        self.folder = folder
        self.shelves: dict[str, Shelf] = {}
        self.editor = LanguageServer("rawkomem", version, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        completing = lsp.CompletionOptions(trigger_characters=["[", ":", " ", ","])
        for name, handler, options in (
            (lsp.TEXT_DOCUMENT_DID_OPEN, self._opened, None),
            (lsp.TEXT_DOCUMENT_DID_CHANGE, self._changed, None),
            (lsp.TEXT_DOCUMENT_DID_SAVE, self._saved, None),
            (lsp.TEXT_DOCUMENT_DID_CLOSE, self._closed, None),
            (lsp.TEXT_DOCUMENT_COMPLETION, self._complete, completing),
            (lsp.TEXT_DOCUMENT_HOVER, self._hover, None),
            (lsp.TEXT_DOCUMENT_DEFINITION, self._define, None),
            (lsp.TEXT_DOCUMENT_REFERENCES, self._refer, None),
            (lsp.TEXT_DOCUMENT_CODE_LENS, self._lenses, None),
            (lsp.TEXT_DOCUMENT_CODE_ACTION, self._actions, None),
            (lsp.WORKSPACE_SYMBOL, self._symbols, None),
        ):
            self.editor.feature(name, options)(self._telling(handler))
        for name, command in ((NEW, self._new), (AMEND, self._amend), (SHOW, self._show)):
            self.editor.command(name)(self._commanding(command))

    def serve(self) -> None:
        """Answer on standard input and output until the editor hangs up."""
        self.editor.start_io()

    def _telling(self, handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """A handler whose failures are told to the person, in one line, instead of failing the request."""

        def answer(params: Any) -> Any:
            try:
                return handler(params)
            except RawkoError as failure:
                self._say(failure)
                return None

        return answer

    def _commanding(self, command: Callable[..., Any]) -> Callable[..., Any]:
        def answer(*given: Any) -> Any:
            try:
                return command(*given)
            except RawkoError as failure:
                self._say(failure)
                return None

        return answer

    def _say(self, failure: RawkoError) -> None:
        text = failure.message + (f" ({failure.hint})" if failure.hint else "")
        self.editor.window_show_message(lsp.ShowMessageParams(type=lsp.MessageType.Error, message=text))

    # Where things are

    def _shelf(self, folder: str) -> Shelf:
        layout = find_layout(folder)
        if layout.root not in self.shelves:
            self.shelves[layout.root] = Shelf(layout, lambda text: print(f"rawkomem: {text}", file=sys.stderr))
            self.shelves[layout.root].refresh()
        return self.shelves[layout.root]

    def _shelf_of(self, uri: str) -> tuple[Shelf, str] | None:
        """The shelf of a document and its path there; None where it is no memory file."""
        file = to_fs_path(uri)
        try:
            shelf = self._shelf(os.path.dirname(file)) if file and file.endswith(".md") else None
        except NotFound:
            return None
        path = shelf.path_of(file) if shelf and file else ""
        return (shelf, path) if shelf and path else None

    def _folder_shelf(self) -> Shelf:
        """The shelf of the folder that is open."""
        folders = [to_fs_path(uri) for uri in self.editor.workspace.folders]
        return self._shelf(self.folder or next(filter(None, folders), None) or self.editor.workspace.root_path or "")

    def _lines(self, uri: str) -> list[str]:
        """What the editor holds of a file, else what the disk does."""
        return lines_of(self._text(uri))

    def _text(self, uri: str) -> str:
        held = self.editor.workspace.text_documents.get(uri)
        if held is not None:
            return str(held.source)
        try:
            with open(to_fs_path(uri) or "", encoding="utf-8", errors="replace", newline="") as stream:
                return stream.read(MAX_FILE)
        except OSError:
            return ""

    @property
    def _encoding(self) -> str:
        agreed = self.editor.workspace.position_encoding
        return str(getattr(agreed, "value", agreed) or UTF16)

    def _place(self, params: Any) -> tuple[Shelf, str, list[str], int, int] | None:
        """Shelf, path, lines, line and column of a request, in characters."""
        found = self._shelf_of(params.text_document.uri)
        if found is None:
            return None
        lines, at = self._lines(params.text_document.uri), params.position.line
        column = index_at(lines[at], params.position.character, self._encoding) if at < len(lines) else 0
        return (*found, lines, min(at, len(lines) - 1), column)

    def _range(self, lines: Sequence[str], line: int, start: int, end: int) -> lsp.Range:
        text = lines[line] if line < len(lines) else ""
        columns = (units(text[:start], self._encoding), units(text[:end], self._encoding))
        return lsp.Range(*(lsp.Position(line, column) for column in columns))

    def _location(self, shelf: Shelf, memory: Memory) -> lsp.Location:
        start = lsp.Position(max(0, memory.line - 1), 0)
        return lsp.Location(_uri(shelf, memory.path), lsp.Range(start, start))

    # Diagnostics

    def _opened(self, params: lsp.DidOpenTextDocumentParams) -> None:
        self._diagnose(params.text_document.uri)

    def _changed(self, params: lsp.DidChangeTextDocumentParams) -> None:
        self._diagnose(params.text_document.uri)

    def _saved(self, params: lsp.DidSaveTextDocumentParams) -> None:
        """Other files may refer to what was saved: every open one is looked at again."""
        found = self._shelf_of(params.text_document.uri)
        if found:
            found[0].refresh()
            for uri in [*self.editor.workspace.text_documents]:
                self._diagnose(uri)

    def _closed(self, params: lsp.DidCloseTextDocumentParams) -> None:
        self._publish(params.text_document.uri, [])

    def _diagnose(self, uri: str) -> None:
        """What `check` says of a document as it is now; the other files as they were when last looked at."""
        found = self._shelf_of(uri)
        if found is None:
            return
        shelf, path = found
        text = self._text(uri)
        checked = check_text(text.encode("utf-8", "replace"), path, [*shelf.memories.values()])
        lines = lines_of(text)
        self._publish(uri, [self._diagnostic(lines, problem) for problem in checked.problems])

    def _diagnostic(self, lines: Sequence[str], problem: Any) -> lsp.Diagnostic:
        line = min(max(problem.line, 1), len(lines)) - 1
        text = lines[line]
        return lsp.Diagnostic(
            range=self._range(lines, line, len(text) - len(text.lstrip()), len(text.rstrip())),
            message=f"{problem.message}. {problem.hint}" if problem.hint else problem.message,
            severity=SEVERITY.get(problem.level, lsp.DiagnosticSeverity.Information),
            source="rawkomem",
        )

    def _publish(self, uri: str, diagnostics: list[lsp.Diagnostic]) -> None:
        self.editor.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics))

    # Reading

    def _complete(self, params: lsp.CompletionParams) -> lsp.CompletionList | None:
        place = self._place(params)
        if place is None:
            return None
        shelf, _, lines, line, column = place
        shelf.refresh()
        items = [
            lsp.CompletionItem(
                label=choice.text.removesuffix(": "), kind=DRAWN[choice.sort], detail=choice.says,
                filter_text=choice.found_by or choice.text, sort_text=f"{number:06}",
                text_edit=lsp.TextEdit(self._range(lines, line, choice.start, column), choice.text),
            )
            for number, choice in enumerate(choices(shelf, lines, line, column))
        ]  # fmt: skip
        return lsp.CompletionList(is_incomplete=False, items=items)

    def _hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        """A card of the memory that is named here; on a condition, the tasks it fired on; else this entry's card."""
        place = self._place(params)
        if place is None:
            return None
        shelf, path, lines, line, column = place
        shelf.refresh()
        span = _at(names_in(lines), line, column)
        condition = _at(conditions_in(lines), line, column)
        if condition:
            return self._shown(fired(condition.text, shelf.fired_lately(condition.text)), lines, condition)
        named = shelf.meant(span.text) if span else self._own(shelf, path, lines, line)
        return self._shown("\n\n".join(card(shelf, memory) for memory in named), lines, span) if named else None

    def _shown(self, text: str, lines: Sequence[str], span: Span | None) -> lsp.Hover:
        place = self._range(lines, span.line, span.start, span.end) if span else None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), place)

    def _own(self, shelf: Shelf, path: str, lines: Sequence[str], line: int) -> list[Memory]:
        """The memory whose frontmatter holds a line."""
        front = next((front for front in fronts(lines) if front.first <= line <= front.last), None)
        return [memory for memory in shelf.in_file(path) if front and memory.line - 1 == front.first]

    def _define(self, params: lsp.DefinitionParams) -> list[lsp.Location] | None:
        place = self._place(params)
        if place is None:
            return None
        shelf, _, lines, line, column = place
        shelf.refresh()
        span = _at(names_in(lines), line, column)
        return [self._location(shelf, memory) for memory in shelf.meant(span.text)] if span else None

    def _refer(self, params: lsp.ReferenceParams) -> list[lsp.Location] | None:
        """Every place that names the memory which is named here, or which this frontmatter begins."""
        place = self._place(params)
        if place is None:
            return None
        shelf, path, lines, line, column = place
        shelf.refresh()
        span = _at(names_in(lines), line, column)
        wanted = shelf.meant(span.text) if span else self._own(shelf, path, lines, line)
        found = [self._location(shelf, memory) for memory in wanted if params.context.include_declaration]
        return [*found, *(place for memory in wanted for place in self._naming(shelf, memory))]

    def _naming(self, shelf: Shelf, memory: Memory) -> Iterator[lsp.Location]:
        for path in shelf.files_naming(memory.id):
            uri = _uri(shelf, path)
            lines = self._lines(uri)
            for span in names_in(lines):
                if memory.id in shelf.names.find(span.text):
                    yield lsp.Location(uri, self._range(lines, span.line, span.start, span.end))

    def _symbols(self, params: lsp.WorkspaceSymbolParams) -> list[lsp.SymbolInformation]:
        """Memories whose title, id or tags hold every word that was typed."""
        shelf = self._folder_shelf()
        shelf.refresh()
        words = params.query.casefold().split()
        found = [
            memory
            for memory in shelf.memories.values()
            if all(word in f"{memory.title} {memory.id} {' '.join(memory.tags)}".casefold() for word in words)
        ]
        return [
            lsp.SymbolInformation(self._location(shelf, memory), memory.title or memory.id, lsp.SymbolKind.String,
                                  container_name=memory.kind)
            for memory in found[:SYMBOLS]
        ]  # fmt: skip

    def _lenses(self, params: lsp.CodeLensParams) -> list[lsp.CodeLens] | None:
        found = self._shelf_of(params.text_document.uri)
        if found is None:
            return None
        shelf, path = found
        shelf.refresh()
        lenses = []
        for memory in shelf.in_file(path):
            start = lsp.Position(max(0, memory.line - 1), 0)
            other = shelf.memories.get(memory.superseded_by)
            for remark in remarks(shelf, memory):
                command = lsp.Command(remark, "")  # just text
                if other and remark.startswith("superseded by"):
                    command = lsp.Command(remark, SHOW, arguments=[_uri(shelf, other.path), other.line])
                lenses.append(lsp.CodeLens(lsp.Range(start, start), command))
        return lenses

    def _actions(self, params: lsp.CodeActionParams) -> list[lsp.Command] | None:
        uri = params.text_document.uri
        if self._shelf_of(uri) is None:
            return None
        return [lsp.Command("Amend this memory", AMEND, arguments=[uri, params.range.start.line])]

    # Commands

    def _new(self, *given: Any) -> dict[str, str]:
        """`title` and, if it is not a memory, `kind`: write a file from the kind's template, and show it."""
        title, kind = (str(part) for part in (*given, "", "")[:2])
        if not title.strip():
            raise BadInput("a new memory needs a title", f'run {NEW} with ["Why we chose X"]')
        shelf = self._folder_shelf()
        text = fill_template(shelf.layout, kind or "memory", {"title": title})
        entry = compose(entry_from_text(text), kind=kind or "memory", by=user_name())
        stored = shelf.repository.store(entry)
        shelf.refresh()
        uri = _uri(shelf, stored.written[0].entry.path)
        self._show(uri, stored.written[0].entry.line)
        return {"id": stored.outcome.id, "uri": uri}

    def _amend(self, *given: Any) -> dict[str, str]:
        """A document and a line of it, counted from 0: append an entry to fill in, as an edit that is not saved yet."""
        uri, line = str(given[0]) if given else "", int(given[1]) if len(given) > 1 else 0
        found = self._shelf_of(uri)
        memories = found[0].in_file(found[1]) if found else []
        memory = next((one for one in reversed(memories) if one.line - 1 <= line), None)
        if memory is None:
            raise BadInput("no memory to amend here", "save the file, and put the cursor into a memory")
        entry = Entry("amend", new_id("amend"), memory.id, at=now(), by=user_name(), body=TO_FILL_IN)
        text = self._text(uri)
        added = join(text, emit_entry(entry))[len(text) :]
        lines = lines_of(text)
        end = lsp.Position(len(lines) - 1, units(lines[-1], self._encoding))
        changes = lsp.WorkspaceEdit(changes={uri: [lsp.TextEdit(lsp.Range(end, end), added)]})
        self.editor.workspace_apply_edit(lsp.ApplyWorkspaceEditParams(edit=changes, label="Amend this memory"))
        return {"id": memory.id, "uri": uri}

    def _show(self, *given: Any) -> None:
        """Ask the editor to show a file at a line, counted from 1, where it can."""
        uri, line = str(given[0]), int(given[1]) if len(given) > 1 else 1
        window = self.editor.client_capabilities.window
        if window and window.show_document and window.show_document.support:
            start = lsp.Position(max(0, line - 1), 0)
            place = lsp.ShowDocumentParams(uri=uri, take_focus=True, selection=lsp.Range(start, start))
            self.editor.window_show_document(place)


def _at(spans: Sequence[Span], line: int, column: int) -> Span | None:
    return next((span for span in spans if span.holds(line, column)), None)


def _uri(shelf: Shelf, path: str) -> str:
    return str(from_fs_path(shelf.layout.path(path)))
