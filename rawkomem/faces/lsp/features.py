"""Answer the requests of the editor: completions, hover cards, code lenses, definitions, symbols,
search and why; create and amend memories. New text is an edit: it is stored when the person saves the file.

The editor renders a card as Markdown, and anybody may have written the memory. So cards hold no
invisible characters, no images, and no text of quarantined or deleted memories.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from lsprotocol import types as lsp
from pygls.uris import to_fs_path

from ...files.installation import fill_template
from ...files.reading import decode_file
from ...files.session_records import Access, accesses
from ...format.blocks import append_holds, join_entry
from ...format.frontmatter import emit_entry
from ...git.citations import GONE, STALE, CitationChecks
from ...git.runner import user_name
from ...model.entries import Entry, Memory, Task
from ...model.errors import BadInput, NotFound, Refused, check_known
from ...model.ids import file_stem, new_id, numbered_names
from ...model.values import (
    ACTIVE,
    CREATES,
    GROUPS,
    HELD_BACK,
    IMPORTANCE,
    iso,
    now,
    record,
    without,
)
from ...recall.relevance import explain_score
from ...recall.search import Found, snippet
from ...redaction.entries import redact_entry
from ...redaction.find import redact
from ...state.schema import Key, frontmatter_keys
from ...state.trust import shown_status
from ...text.chunks import counted
from ...text.clean import clean, one_line
from ...text.difference import compare
from .documents import (
    DELETED,
    KEY_LINE,
    Documents,
    FrontmatterLines,
    OpenDocument,
    Shelf,
    Span,
    conditions_in,
    fronts,
    home_of,
    key_of,
    line_start,
    lines_of,
    names_in,
    uri_of,
)

TYPED_LINK = re.compile(r"\[\[([^\[\]|\n]*)$")
TYPED_VALUE = re.compile(r"""[^\s,\[\]"'{}][^,\[\]"'{}]*$""")
TAGS_KEY = "tags"
MAX_MEMORIES = 50  # in one answer; typing more letters narrows the list
ID_MARKS = str.maketrans("-_", "  ")  # so that "mem-1" also finds mem_1 and "Mem 1"
ItemKind = lsp.CompletionItemKind


@record
class Choice:
    """One completion."""

    text: str
    says: str = ""  # its meaning, or the title of a memory
    start: int = 0  # the column where the replaced text starts
    # text that the editor matches with the typed text; empty: `text`
    found_by: str = ""
    icon: lsp.CompletionItemKind = ItemKind.EnumMember


def complete(
    documents: Documents, params: lsp.CompletionParams
) -> lsp.CompletionList | None:
    """Return the completions at a position of the editor."""
    place = documents.place(params)
    if place is None:
        return None
    lines = place.document.lines
    line = place.line
    column = place.column
    choices = choices_at(place.document.shelf, lines, line, column)
    memories = sum(choice.icon == ItemKind.Reference for choice in choices)
    items = [
        lsp.CompletionItem(
            label=choice.text.removesuffix(": "), kind=choice.icon, detail=choice.says,
            filter_text=choice.found_by or choice.text, sort_text=f"{number:06}",
            text_edit=lsp.TextEdit(documents.range(lines, line, choice.start, column), choice.text),
        )
        for number, choice in enumerate(choices)
    ]  # fmt: skip
    return lsp.CompletionList(is_incomplete=memories >= MAX_MEMORIES, items=items)


def choices_at(
    shelf: Shelf, lines: Sequence[str], line: int, column: int
) -> list[Choice]:
    """Return the completions at a position of a memory file."""
    typed = lines[line][:column] if line < len(lines) else ""
    front = next((front for front in fronts(lines) if front.holds(line)), None)
    if front is None:
        link = TYPED_LINK.search(typed)
        return _memory_choices(shelf, link.start(1), link[1]) if link else []
    head = KEY_LINE.match(typed)
    if not head and not typed.startswith((" ", "\t", "-")):
        return _key_choices(lines, front, line)
    key = key_of(lines, front, line)
    start = _start_of_value(typed, head.end() if head else 0)
    declared = frontmatter_keys().get(key)
    if declared and declared.refers:
        return _memory_choices(shelf, start, typed[start:])
    if key == TAGS_KEY:
        return _tag_choices(shelf, start)
    return _value_choices(key, declared, start)


def _key_choices(
    lines: Sequence[str], front: FrontmatterLines, line: int
) -> list[Choice]:
    """Return the keys that the frontmatter does not use yet; a duplicate key would make it unreadable."""
    others = (lines[at] for at in range(front.first + 1, front.last) if at != line)
    used = {match[1] for match in map(KEY_LINE.match, others) if match}
    return [
        Choice(f"{key}: ", declared.says, 0, key, ItemKind.Property)
        for key, declared in without(frontmatter_keys(), *used).items()
    ]


def _start_of_value(typed: str, after: int) -> int:
    value = TYPED_VALUE.search(typed, after)
    text = value[0] if value else ""
    # the "- " before a list item
    dash = len(text) - len(text.lstrip("- \t")) if not after else 0
    return len(typed) - len(text) + dash


def _value_choices(key: str, known: Key | None, start: int) -> list[Choice]:
    """Return the allowed or usual values of a key."""
    if known is None:
        return []
    words: Sequence[str] = known.values.get("enum", known.values.get("examples", ()))
    words = IMPORTANCE if key == "importance" else words
    meanings = known.values.get("enumDescriptions", [known.says] * len(words))
    pairs = zip(words, meanings, strict=True)
    return [Choice(word, meaning, start) for word, meaning in pairs]


def _tag_choices(shelf: Shelf, start: int) -> list[Choice]:
    counts = Counter(tag for memory in shelf.offered() for tag in memory.tags)
    return [
        Choice(tag, counted(number, "memory"), start, icon=ItemKind.Keyword)
        for tag, number in counts.most_common()
    ]


def _memory_choices(shelf: Shelf, start: int, typed: str) -> list[Choice]:
    """Return up to MAX_MEMORIES ids of memories whose id or title holds the typed text.

    Ids and titles that begin with the text come first; within a rank, the last changed come first.
    """
    plain = typed.strip().casefold().translate(ID_MARKS)
    words = plain.split()
    ranked = []
    for memory in shelf.offered():
        id, title = (
            name.casefold().translate(ID_MARKS) for name in (memory.id, memory.title)
        )
        if all(word in f"{id} {title}" for word in words):
            begins = id.startswith(plain) or title.startswith(plain)
            ranked.append((not begins, -memory.updated, memory.id, memory.title))
    first = sorted(ranked)[:MAX_MEMORIES]
    # Neovim drops completions whose filter text does not begin with the typed text, so it is put in front.
    return [
        Choice(id, title, start, f"{typed} {id} {title}".strip(), ItemKind.Reference)
        for _, _, id, title in first
    ]


MAX_SYMBOLS = 500  # in one answer; typing more letters narrows the list


def definitions(
    documents: Documents, params: lsp.DefinitionParams
) -> list[lsp.Location] | None:
    """Return where the memory that is named at the position begins; None if no memory is named there."""
    place = documents.place(params)
    span, memories = place.meant() if place else (None, [])
    if place is None or span is None:
        return None
    return [_location(place.document.shelf, memory) for memory in memories]


def references_to(
    documents: Documents, params: lsp.ReferenceParams
) -> list[lsp.Location] | None:
    """Return every place that names a memory: the one named at the position, or else the one of its frontmatter."""
    place = documents.place(params)
    if place is None:
        return None
    shelf = place.document.shelf
    locations: list[lsp.Location] = []
    for memory in place.meant()[1]:
        if params.context.include_declaration:
            locations.append(_location(shelf, memory))
        locations += _places_naming(documents, shelf, memory)
    return locations


def workspace_symbols(
    documents: Documents, params: lsp.WorkspaceSymbolParams
) -> list[lsp.SymbolInformation]:
    """Return the memories whose title, id and tags together hold every typed word."""
    words = params.query.casefold().split()
    symbols = []
    for shelf in documents.shelves():
        for memory in shelf.offered():
            name = f"{memory.title} {memory.id} {' '.join(memory.tags)}".casefold()
            if all(word in name for word in words):
                where = _location(shelf, memory)
                title = memory.title or memory.id
                symbol = lsp.SymbolInformation(
                    where, title, lsp.SymbolKind.String, container_name=memory.kind
                )
                symbols.append(symbol)
    return symbols[:MAX_SYMBOLS]


def _places_naming(
    documents: Documents, shelf: Shelf, memory: Memory
) -> Iterator[lsp.Location]:
    for path in shelf.files_naming(memory.id):
        uri = uri_of(shelf, path)
        lines = lines_of(documents.text(uri))
        for span in names_in(lines):
            if memory.id in shelf.names.find(span.text):
                yield lsp.Location(
                    uri, documents.range(lines, span.line, span.start, span.end)
                )


def _location(shelf: Shelf, memory: Memory) -> lsp.Location:
    return lsp.Location(uri_of(shelf, memory.path), line_start(memory.line))


PREVIEW_CHARS = 600  # of a body in a card
MAX_TASKS_SHOWN = 5  # for one condition
MAX_STALE_PLACES = 3  # in one remark


class Teller:
    """Describes the memories of one request. Counts uses once and reads each cited file once."""

    def __init__(self, shelf: Shelf):
        self.shelf = shelf
        self.uses = accesses(shelf.layout)
        self.citations = CitationChecks(shelf.layout)

    def card(self, memory: Memory) -> str:
        """Return a memory as Markdown: status, trust and text."""
        if memory.status in HELD_BACK:
            hint = "text not shown: open its file, then run 'rawkomem review' or 'rawkomem restore'"
            return harmless(
                f"### {_code(memory.id)}\n\n**{memory.status}** · {memory.kind}\n\n({hint})"
            )
        trust = self.shelf.repository.beliefs.trust(memory)
        reason = f" ({one_line(memory.reason, 100)})" if memory.reason else ""
        doubt = "" if trust.standing.verified else " (unverified)"
        facts = [
            f"**{shown_status(memory, now())}**{reason}",
            memory.kind,
            memory.importance,
            f"trust {trust.value:.2f}{doubt}",
        ]
        body = memory.body
        if len(body) > PREVIEW_CHARS:
            rest = f"{len(body) - PREVIEW_CHARS:,} more characters: open its file"
            body = f"{body[:PREVIEW_CHARS].rstrip()} …\n\n({rest})"
        more = [*self.remarks(memory), _code(memory.id)]
        title = f"### {one_line(memory.title or memory.id, 200)}"
        parts = [title, " · ".join(facts), " · ".join(more), "---", body]
        return harmless("\n\n".join([*parts, *self._proposed(memory)]))

    def _proposed(self, memory: Memory) -> Iterator[str]:
        """Yield who proposes a change of a memory, and what it changes, as Markdown."""
        beliefs = self.shelf.repository.beliefs
        proposal = beliefs.proposal(memory.id) if memory.proposed else None
        if proposal is None:
            return
        for entry in proposal.changes:
            yield f"**Proposed**: {entry.kind} by {_code(beliefs.origin(entry))}"
        opens = f"'rawkomem review {memory.id}' shows all"
        for field, old, new in proposal.differences:
            lines = compare(old, new).lines(PREVIEW_CHARS, opens)
            yield "\n".join(
                [f"{field}:\n", *(f"- {_code(one)}" for one in lines if one)]
            )

    def remarks(self, memory: Memory) -> list[str]:
        """Return remarks about a memory: what supersedes it, its status, stale citations, votes, uses."""
        remarks = []
        if memory.superseded_by:
            newer = self.shelf.memories.get(memory.superseded_by)
            remarks.append(
                "superseded by "
                + one_line(newer.title if newer else memory.superseded_by, 80)
            )
        elif (status := shown_status(memory, now())) != ACTIVE:
            remarks.append(status)
        if memory.proposed:
            remarks.append(f"a change is proposed: 'rawkomem review {memory.id}'")
        stale = [
            f"{item.citation.place} {'is gone' if item.state == GONE else 'changed'}"
            for item in self.citations.of(memory.extra)
            if item.state in (STALE, GONE)
        ]
        if stale:
            remarks.append(f"stale: {', '.join(stale[:MAX_STALE_PLACES])}")
        if memory.helpful or memory.harmful:
            harmful = f", {memory.harmful} harmful" if memory.harmful else ""
            remarks.append(f"{memory.helpful} helpful{harmful}")
        access = self.uses.get(memory.id, Access())
        if access.count:
            remarks.append(
                f"used {counted(access.count, 'time')}, last {iso(access.last)[:10]}"
            )
        return remarks


def fired_card(condition: str, lately: Sequence[tuple[int, str]]) -> str:
    """Return the tasks that a condition fired on recently, as Markdown."""
    named = _code(one_line(condition, 200))
    if not lately:
        return harmless(f"{named} fired on none of the tasks in the ledger.")
    lines = [
        f"- {iso(at)[:16].replace('T', ' ')} {one_line(task, 120)}"
        for at, task in lately
    ]
    if more := lines[MAX_TASKS_SHOWN:]:
        lines[MAX_TASKS_SHOWN:] = [f"- … and {len(more)} more"]
    return harmless("\n".join([f"{named} fired recently on:\n", *lines]))


def harmless(text: str) -> str:
    """Return Markdown without invisible characters and images; showing an image would contact a server."""
    return clean(text).replace("![", "!\\[")


def _code(text: str) -> str:
    """Return a text as inline code, between more backticks than it holds in a row."""
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{blank}{text}{blank}{ticks}"


def hover(documents: Documents, params: lsp.HoverParams) -> lsp.Hover | None:
    """Return a card for a position: the tasks on which its condition fired, or the memory it names."""
    place = documents.place(params)
    if place is None:
        return None
    lines = place.document.lines
    shelf = place.document.shelf

    def shown(text: str, span: Span | None) -> lsp.Hover:
        if span:
            where = documents.range(lines, span.line, span.start, span.end)
        else:
            where = None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), where)

    condition = place.on(conditions_in(lines))
    if condition:
        return shown(
            fired_card(condition.text, shelf.fired_lately(condition.text)), condition
        )
    span, memories = place.meant()
    if not memories:
        return None
    teller = Teller(shelf)
    return shown("\n\n".join(map(teller.card, memories)), span)


def lenses(
    documents: Documents, params: lsp.CodeLensParams
) -> list[lsp.CodeLens] | None:
    """Return the remarks that the editor shows above each memory of a document."""
    document = documents.get(params.text_document.uri)
    if document is None:
        return None
    shelf = document.shelf
    teller = Teller(document.shelf)
    code_lenses = []
    for entry in document.entries:
        memory = shelf.memories.get(entry.id)
        if not memory or not entry.creates:
            continue
        # a lens opens the memory that supersedes this one, or does nothing if none does
        newer = shelf.memories.get(memory.superseded_by)
        place = [uri_of(shelf, newer.path), newer.line] if newer else None
        does = SHOW_COMMAND if newer else ""
        code_lenses += [
            lsp.CodeLens(
                line_start(entry.line), lsp.Command(remark, does, arguments=place)
            )
            for remark in teller.remarks(memory)
        ]
    return code_lenses


SEARCH_COMMAND = "rawkomem.search"
WHY_COMMAND = "rawkomem.why"
MAX_RESULTS = 20
MAX_SNIPPET_CHARS = 160


async def search_memories(
    documents: Documents, query: str = ""
) -> list[dict[str, object]]:
    """Return the memories of all open folders that fit a query. Takes `query`."""
    query = query.strip()
    if not query:
        raise BadInput(
            "a search needs a query", f'run {SEARCH_COMMAND} with ["how do we retry"]'
        )
    return await documents.run(_search_shelves, documents, query)


def _search_shelves(documents: Documents, query: str) -> list[dict[str, object]]:
    results = [
        (shelf, item)
        for shelf in documents.shelves()
        for item in shelf.repository.search(query, MAX_RESULTS)
    ]
    results.sort(key=lambda pair: -pair[1].score)
    return [_search_result(*pair) for pair in results[:MAX_RESULTS]]


def _search_result(shelf: Shelf, item: Found) -> dict[str, object]:
    row = item.row
    hidden = row.status in HELD_BACK
    return {
        "id": row.id,
        "title": one_line(row.title) if row.title and not hidden else row.id,
        "status": row.status,
        "fits": item.fits,
        "text": "" if hidden else one_line(snippet(item, (), MAX_SNIPPET_CHARS)),
        "uri": uri_of(shelf, row.path),
        "line": row.line,
    }


async def why_recalled(
    documents: Documents, uri: str = "", line: int = 0, task: str = ""
) -> dict[str, object]:
    """Return whether the memory at a line is recalled for a task, and why. Takes a URI, a line from 0, and a task."""
    task = task.strip()
    if not task:
        raise BadInput(
            f"{WHY_COMMAND} needs a document, a line and a task",
            f'run {WHY_COMMAND} with [uri, line, "add a retry"]',
        )
    return await documents.run(_why_at, documents, uri, line, task)


def _why_at(documents: Documents, uri: str, line: int, task: str) -> dict[str, object]:
    document, memory = memory_at(documents, uri, line)
    item, inside = document.shelf.repository.explain(memory.id, Task(task))
    if inside:
        verdict = "recalled for this task"
    else:
        verdict = f"not recalled for this task: {item.why_not}"
    return {
        "id": memory.id,
        "recalled": inside,
        "text": "\n".join(
            [f"{one_line(memory.title or memory.id)}: {verdict}", *explain_score(item)]
        ),
    }


NEW_COMMAND = "rawkomem.new"
AMEND_COMMAND = "rawkomem.amend"
SHOW_COMMAND = "rawkomem.show"
ACTION_KIND = lsp.CodeActionKind.RefactorRewrite.value
APPLY_EDIT = "workspace.apply_edit"  # the capability to apply edits of the server
NEW_TITLE = "New memory"
AMEND_TITLE = "Amend this memory"
# kinds of memories that have a text of their own
NEW_KINDS = [kind for kind in CREATES if kind not in GROUPS]


def code_actions(
    documents: Documents, params: lsp.CodeActionParams
) -> list[lsp.Command | lsp.CodeAction] | None:
    """Return the code actions at a position, of the kinds that the editor asks for; None if it is no memory file."""
    uri = params.text_document.uri
    if home_of(uri) is None:
        return None
    amends = lsp.Command(
        AMEND_TITLE, AMEND_COMMAND, arguments=[uri, params.range.start.line]
    )
    wanted = params.context.only or [""]
    fits = any(
        f"{ACTION_KIND}.".startswith(f"{kind}." if kind else "") for kind in wanted
    )
    if fits:
        return [lsp.CodeAction(AMEND_TITLE, kind=ACTION_KIND, command=amends)]
    return []


async def new_memory(
    documents: Documents, title: str = "", kind: str = ""
) -> dict[str, str]:
    """Create a file from the template of a kind and show it. Takes `title` and optionally `kind`.

    The text is an unsaved edit if the editor supports that.
    """
    title, kind = redact(title).strip(), redact(kind).strip() or "memory"
    if not title:
        raise BadInput(
            "a new memory needs a title", f'run {NEW_COMMAND} with ["Why we chose X"]'
        )
    check_known("kind", kind, NEW_KINDS)
    id, uri, text = await documents.run(_filled_template, documents, kind, title)
    await _create_file(documents, uri, text)
    await show_document(documents, uri)
    return {"id": id, "uri": uri}


def _filled_template(
    documents: Documents, kind: str, title: str
) -> tuple[str, str, str]:
    """Return the id, the URI and the text of a new memory in the first open folder that has memories."""
    shelf = next(iter(documents.shelves()), None)
    if shelf is None:
        raise NotFound(
            "no open folder has a .rawko/ folder", "run 'rawkomem init' in your project"
        )
    at = now()
    id = new_id(kind, at)
    values = {"title": title, "id": id, "kind": kind if kind != "memory" else "",
            "discoveredAt": iso(at), "discoveredBy": user_name()}  # fmt: skip
    return (
        id,
        _free_uri(documents, shelf, kind, title),
        fill_template(shelf.layout, kind, values),
    )


async def _create_file(documents: Documents, uri: str, text: str) -> None:
    """Create a file with one edit of the editor, or else on the disk if the editor cannot create files."""
    operations = (
        documents.supports("workspace.workspace_edit.resource_operations") or ()
    )
    if lsp.ResourceOperationKind.Create in operations:
        document = lsp.OptionalVersionedTextDocumentIdentifier(uri)
        filled = lsp.TextDocumentEdit(document, [lsp.TextEdit(line_start(1), text)])
        edit = lsp.WorkspaceEdit(document_changes=[lsp.CreateFile(uri), filled])
        await _apply_edit(documents, edit, NEW_TITLE)
        return
    file = to_fs_path(uri) or ""
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "x", encoding="utf-8") as stream:
        stream.write(text)


def _free_uri(documents: Documents, shelf: Shelf, kind: str, title: str) -> str:
    """Return the URI of a file that is named after a title and exists neither on disk nor in the editor."""
    folder = CREATES[kind].folder
    uris = (
        uri_of(shelf, f"{folder}/{name}.md")
        for name in numbered_names(file_stem(title))
    )
    held = documents.open_uris()
    return next(
        uri
        for uri in uris
        if uri not in held and not os.path.lexists(to_fs_path(uri) or "")
    )


async def amend_memory(
    documents: Documents, uri: str = "", line: int = 0
) -> dict[str, str]:
    """Append an amendment with the memory's present text, for the person to edit and save.

    Takes a URI and a line counted from 0.
    """
    id, end, added = await documents.run(_amendment, documents, uri, line)
    await _apply_edit(
        documents,
        lsp.WorkspaceEdit(changes={uri: [lsp.TextEdit(end, added)]}),
        AMEND_TITLE,
    )
    return {"id": id, "uri": uri}


def _amendment(documents: Documents, uri: str, line: int) -> tuple[str, lsp.Range, str]:
    """Return the id of the memory at a line, the end of its document, and the text to append there."""
    document, memory = memory_at(documents, uri, line)
    if memory.status == DELETED:
        raise Refused(
            f"{memory.id} is deleted", f"run 'rawkomem restore {memory.id}' first"
        )
    entry = Entry(
        "amend", new_id("amend"), memory.id, at=now(), by=user_name(), body=memory.body
    )
    text = emit_entry(redact_entry(entry))
    if not append_holds(decode_file(document.data)[0], text):
        raise Refused(
            "an entry appended here would become part of the text above",
            "close the code fence or comment",
        )
    added = join_entry(document.text, text)[len(document.text) :]
    last = len(document.lines) - 1
    column = len(document.lines[-1])
    return memory.id, documents.range(document.lines, last, column, column), added


def memory_at(documents: Documents, uri: str, line: int) -> tuple[OpenDocument, Memory]:
    """Return a document and the memory of the entry at a line, with unsaved text. Raises BadInput if there is none."""
    document = documents.get(uri)
    entries = document.entries if document else ()
    entry = next((one for one in reversed(entries) if one.line - 1 <= line), None)
    memory = None
    if document and entry and entry.target and not entry.draft:
        memory = document.shelf.as_edited(entry.target, document.path, entries)
    if document is None or memory is None:
        raise BadInput(
            "no memory at the cursor",
            "put the cursor into an entry whose frontmatter is valid",
        )
    return document, memory


async def show_document(documents: Documents, uri: str, line: int = 1) -> None:
    """Ask the editor to show a file at a line counted from 1, if it supports that."""
    if documents.supports("window.show_document.support"):
        place = lsp.ShowDocumentParams(
            uri=uri, take_focus=True, selection=line_start(line)
        )
        await documents.editor.window_show_document_async(place)


async def _apply_edit(
    documents: Documents, edit: lsp.WorkspaceEdit, label: str
) -> None:
    if not documents.supports(APPLY_EDIT):
        raise Refused(
            "this editor does not apply edits of a language server",
            "use 'rawkomem amend' in a terminal",
        )
    reply = await documents.editor.workspace_apply_edit_async(
        lsp.ApplyWorkspaceEditParams(edit=edit, label=label)
    )
    if not reply.applied:
        raise Refused(
            f"the editor refused the edit: {reply.failure_reason or 'it gives no reason'}",
            "try again",
        )
