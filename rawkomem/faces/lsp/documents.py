"""Hold what the editor knows and has open: its capabilities, the worker thread, repositories, and
documents. Find frontmatter, keys, names and conditions in a text.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeVar

import yaml
from lsprotocol import types as lsp
from pygls.capabilities import get_capability
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from ...files.layout import AREAS, MAX_FILE_BYTES, Layout, find_layout
from ...files.reading import read_data, read_file
from ...format.blocks import WIKILINK, split_blocks
from ...index.catalogue import memory_of
from ...model.entries import Entry, Memory
from ...model.errors import NotFound
from ...model.values import Problem, record
from ...repository import Repository
from ...state.changes import Names, references
from ...state.fold import fold
from ...state.schema import frontmatter_keys
from ...text.clean import with_newlines
from ...text.conditions import match_condition
from ...text.prose import without_code

T = TypeVar("T")


MAX_RECENT_RECALLS = 200  # latest recalls of the ledger that are searched
DELETED = "deleted"


class Shelf:
    """The memories of one repository."""

    def __init__(self, layout: Layout, warn: Callable[[str], None]):
        self.layout = layout
        self.repository = Repository(layout, warn)
        # includes deleted memories: files still name them
        self.memories: dict[str, Memory] = {}
        self.names = Names(())
        self.loads = 0  # how often the memories were loaded
        self._seen: object = None

    def refresh(self) -> None:
        """Check the files, and reload the memories if a file changed."""
        index = self.repository.core.index

        def look() -> tuple[object, list[Memory] | None]:
            seen = index.catalogue.meta().get("swept")
            is_same = seen is not None and seen == self._seen
            return seen, None if is_same else [
                memory_of(doc) for doc in index.catalogue.docs()
            ]

        self._seen, memories = self.repository.core.read(look)
        if memories is not None:
            self.loads += 1
            self.memories = {memory.id: memory for memory in memories}
            self.names = Names(memories)

    def offered(self) -> list[Memory]:
        """Return the memories that completions and symbols list: all that are not deleted."""
        return [memory for memory in self.memories.values() if memory.status != DELETED]

    def meant(self, name: str) -> list[Memory]:
        """Return the memories that a name in a file may mean."""
        return [self.memories[id] for id in self.names.find(name)]

    def files_naming(self, id: str) -> Iterator[str]:
        """Yield the paths of files that may refer to a memory."""
        naming = (
            memory.path
            for memory in self.memories.values()
            if memory.superseded_by == id
            or any(id in self.names.find(name) for _, name in references(memory))
        )
        yield from sorted({*self._files_about(id), *naming})

    def _files_about(self, id: str) -> Iterable[str]:
        return self.repository.core.read(
            lambda: self.repository.core.index.catalogue.paths_about(id)
        )

    def as_edited(self, id: str, path: str, entries: Iterable[Entry]) -> Memory | None:
        """Return a memory folded from the editor's entries of one file and the saved entries of all other files."""
        others = (file for file in self._files_about(id) if file != path)
        saved = (
            entry
            for file in others
            for entry in read_file(self.layout.path(file), file).entries
        )
        return fold(entry for entry in (*entries, *saved) if entry.target == id)

    def fired_lately(self, condition: str) -> list[tuple[int, str]]:
        """Return (time, task) for each recent recall in the ledger on which a condition fires, latest first."""
        return [
            (at, task)
            for at, task in self.repository.ledger.asked(MAX_RECENT_RECALLS)
            if match_condition(condition, task)
        ]


@record
class OpenDocument:
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

    document: OpenDocument
    line: int
    column: int

    def on(self, spans: Iterable[Span]) -> Span | None:
        """Return the first of the spans that holds this position, or None."""
        return next(
            (span for span in spans if span.holds(self.line, self.column)), None
        )

    def meant(self) -> tuple[Span | None, list[Memory]]:
        """Return the span and the memories of the name at this position.

        Without a name, return None and the memory whose frontmatter holds the position.
        """
        span = self.on(names_in(self.document.lines))
        return span, self.document.shelf.meant(span.text) if span else self._around()

    def _around(self) -> list[Memory]:
        first = [
            front.first
            for front in fronts(self.document.lines)
            if front.first <= self.line <= front.last
        ][:1]
        memories = self.document.shelf.memories
        return [
            memories[entry.target]
            for entry in self.document.entries
            if entry.line - 1 in first and entry.target in memories
        ]


class Documents:
    """All documents of one editor. They may belong to several repositories; each repository has a shelf."""

    def __init__(self, editor: LanguageServer, folder: str = ""):
        self.editor = editor
        self.folder = folder
        self._worker = ThreadPoolExecutor(1, "rawkomem")
        # URI → number of the last check that was started
        self.edits: dict[str, int] = {}
        self._shelves: dict[str, Shelf] = {}

    async def run(self, call: Callable[..., T], *arguments: Any) -> T:
        """Run a call in the one worker thread, in order: a Repository is not thread-safe.

        The server reads messages meanwhile; cancelling this coroutine drops a waiting call.
        """
        return await asyncio.get_running_loop().run_in_executor(
            self._worker, call, *arguments
        )

    def end(self) -> None:
        """Drop waiting calls."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    def supports(self, path: str) -> Any:
        """Return the capability of the editor at a dotted path, or None if the editor does not mention it."""
        return get_capability(self.editor.client_capabilities, path)

    def get(self, uri: str) -> OpenDocument | None:
        """Return a document with up-to-date memories, or None if it is not a memory file."""
        home = home_of(uri)
        if home is None:
            return None
        layout, path = home
        text = self.text(uri)
        return OpenDocument(uri, path, self._shelf(layout), text, lines_of(text))

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
        codec = self.editor.workspace.position_codec
        at = codec.position_from_client_units(document.lines, params.position)
        return Place(document, at.line, at.character)

    def open_uris(self) -> list[str]:
        """Return the URIs of all open documents."""
        return [*self.editor.workspace.text_documents]

    def shelves(self) -> list[Shelf]:
        """Return the shelves of the open folders in order; if no folder has one, those of the files opened so far."""
        workspace = self.editor.workspace
        opened = [path for uri in workspace.folders if (path := to_fs_path(uri))]
        shelves: dict[str, Shelf] = {}
        for folder in (
            [self.folder] if self.folder else opened or [workspace.root_path or ""]
        ):
            try:
                layout = find_layout(folder)
            except NotFound:
                continue  # an open folder may have no memories
            shelves[layout.root] = self._shelf(layout)
        return [*(shelves or self._shelves).values()]

    def _shelf(self, layout: Layout) -> Shelf:
        if layout.root not in self._shelves:
            self._shelves[layout.root] = Shelf(
                layout, lambda text: print(f"rawkomem: {text}", file=sys.stderr)
            )
        self._shelves[layout.root].refresh()
        return self._shelves[layout.root]

    def text(self, uri: str) -> str:
        """Return the text of a file from the editor, or else from disk; empty if it cannot be read."""
        held = self.editor.workspace.text_documents.get(uri)
        if held is not None:
            return str(held.source)
        try:
            with open(
                to_fs_path(uri) or "", encoding="utf-8", errors="replace", newline=""
            ) as stream:
                return stream.read(MAX_FILE_BYTES)
        except OSError:
            return ""

    def range(self, lines: Sequence[str], line: int, start: int, end: int) -> lsp.Range:
        """Convert a span of a line to the editor's units."""
        ends = lsp.Position(line, start), lsp.Position(line, end)
        codec = self.editor.workspace.position_codec
        return codec.range_to_client_units(lines, lsp.Range(*ends))


def home_of(uri: str) -> tuple[Layout, str] | None:
    """Return the repository of a memory file and the file's path in it; None for any other file. Opens nothing."""
    file = os.path.abspath(to_fs_path(uri) or "")
    try:
        layout = find_layout(os.path.dirname(file)) if file.endswith(".md") else None
    except NotFound:
        return None
    if layout is None or not file.startswith(layout.root + os.sep):
        return None
    path = layout.relative(file)
    return (layout, path) if path.partition("/")[0] in AREAS else None


def uri_of(shelf: Shelf, path: str) -> str:
    """Return the URI of a file of a repository."""
    return str(from_fs_path(shelf.layout.path(path)))


def line_start(line: int) -> lsp.Range:
    """Return the empty range at the start of a line, counted from 1."""
    start = lsp.Position(max(0, line - 1), 0)
    return lsp.Range(start, start)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text without their line endings."""
    return with_newlines(text).split("\n")


KEY_LINE = re.compile(r"^([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]|$)")
FENCE = re.compile(r"^ {0,3}(?:```|~~~)")
# styles of YAML
QUOTED = ("'", '"')
BLOCK_SCALAR = ("|", ">")
WHEN_KEY = "whenToUse"
ID_KEY = "id"
TITLE_KEY = "title"
PATTERN_KEY = "pattern"  # of a condition that is written as a mapping


@record
class Span:
    """A part of one line, counted from 0 in characters."""

    line: int
    start: int
    end: int
    text: str

    def holds(self, line: int, column: int) -> bool:
        """Return whether a position is in the span or directly after it."""
        return self.line == line and self.start <= column <= self.end


@record
class FrontmatterLines:
    """The lines of one frontmatter: `first` and `last` are its --- lines.

    If it is not closed, `last` is the number of lines of the text.
    """

    first: int
    last: int

    def holds(self, line: int) -> bool:
        """Return whether a line is between the --- lines."""
        return self.first < line < self.last


def fronts(lines: Sequence[str]) -> list[FrontmatterLines]:
    """Return the frontmatters of a text. Includes those that cannot be parsed yet because a person is typing."""
    frontmatters = []
    for block in split_blocks("\n".join(lines).lstrip("\ufeff")):
        start = block.line - 1
        if start < len(lines) and lines[start].lstrip("\ufeff").rstrip() == "---":
            rest = range(start + 1, len(lines))
            ends = (at for at in rest if lines[at].rstrip() in ("---", "..."))
            frontmatters.append(FrontmatterLines(start, next(ends, len(lines))))
    return frontmatters


def key_of(lines: Sequence[str], front: FrontmatterLines, line: int) -> str:
    """Return the key that a line of a frontmatter belongs to, or an empty text."""
    for at in range(line, front.first, -1):
        text = lines[at]
        if key := KEY_LINE.match(text):
            return key[1]
        if at == line and text.strip() and not text.startswith((" ", "\t", "-")):
            return ""
    return ""


def values_in(lines: Sequence[str], keys: Collection[str]) -> list[Span]:
    """Return the texts that some keys of the frontmatters hold; nothing of one that cannot be parsed yet."""
    spans = []
    for front in fronts(lines):
        first = front.first + 1
        for key, line, start, end, text in _scalars_of(
            "\n".join(lines[first : front.last])
        ):
            if key in keys:
                spans.append(Span(first + line, start, end, text))
    return spans


@lru_cache(maxsize=256)
def _scalars_of(frontmatter: str) -> list[tuple[str, int, int, int, str]]:
    """Return top-level key, line, start, end and text of every text in a frontmatter."""
    try:
        root = yaml.compose(frontmatter, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return []
    scalars = []
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        for scalar in _scalars_in(value):
            text = scalar.value.strip()
            mark = scalar.start_mark
            if text and scalar.style not in BLOCK_SCALAR:
                inside = scalar.style in QUOTED
                end = mark.column + 1
                if scalar.end_mark.line == mark.line:
                    end = scalar.end_mark.column
                columns = mark.column + inside, end - inside
                scalars.append((str(key.value), mark.line, *columns, text))
    return scalars


def _scalars_in(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    """Yield a text, the items of a list, and the pattern of a condition."""
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _scalars_in(item)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == PATTERN_KEY:
                yield from _scalars_in(value)


def names_in(lines: Sequence[str]) -> list[Span]:
    """Return every reference to another memory: values of keys that name memories, and [[name]] in a body."""
    spans = values_in(
        lines, [name for name, key in frontmatter_keys().items() if key.refers]
    )
    heads = {at for front in fronts(lines) for at in range(front.first, front.last + 1)}
    code = False
    for at, text in enumerate(lines):
        if at in heads:
            continue
        code ^= bool(FENCE.match(text))
        if not code and "[[" in text:
            # text between backticks is no link
            names = set(WIKILINK.findall(without_code(text)))
            links = [link for link in WIKILINK.finditer(text) if link[1] in names]
            spans += [Span(at, link.start(1), link.end(1), link[1]) for link in links]
    return spans


def conditions_in(lines: Sequence[str]) -> list[Span]:
    """Return every condition of whenToUse."""
    return values_in(lines, [WHEN_KEY])


def locate_problem(lines: Sequence[str], problem: Problem) -> Span:
    """Return the place of the name, id or condition that a Problem quotes; without a quote, its line.

    A Problem of a whole entry has the line of the entry's `---`; return the line of its title instead.
    """
    line = min(max(problem.line, 1), len(lines)) - 1
    quote = problem.quote.strip()
    spans = [*names_in(lines), *values_in(lines, [WHEN_KEY, ID_KEY])] if quote else []
    quoting = [span for span in spans if span.text.strip() == quote]
    if quoting:  # the first one at or after the line, or else the first one
        return min(quoting, key=lambda span: (span.line < line, span.line, span.start))
    front = next((front for front in fronts(lines) if front.first == line), None)
    if front:
        inside = range(front.first + 1, front.last)
        titles = (at for at in inside if key_of(lines, front, at) == TITLE_KEY)
        line = next(titles, min(line + 1, len(lines) - 1))
    text = lines[line]
    return Span(line, len(text) - len(text.lstrip()), len(text.rstrip()), text.strip())
