"""Run the commands that a person picks in the editor. New text is an edit;

it is stored when the person saves the file.
"""

from __future__ import annotations

import os
from typing import Any

from lsprotocol import types as lsp
from pygls.uris import to_fs_path

from ...files.read import decode
from ...files.templates import fill_template
from ...format.emit import emit_entry
from ...format.split import append_holds, join
from ...git.user import user_name
from ...model.clock import iso, now
from ...model.entry import Entry, Memory
from ...model.errors import BadInput, NotFound, Refused
from ...model.ids import new_id
from ...model.kinds import CREATES, GROUPS
from ...model.names import file_stem, numbered
from ...redaction.entry import redact_entry
from .documents import Document, Documents, line_start, uri_of
from .lines import units
from .shelf import DELETED, Shelf

NEW, AMEND, SHOW = "rawkomem.new", "rawkomem.amend", "rawkomem.show"
AMEND_TITLE = "Amend this memory"
KINDS = [kind for kind in CREATES if kind not in GROUPS]  # that one writes as a text


def actions(documents: Documents, params: lsp.CodeActionParams) -> list[lsp.Command] | None:
    """Return the actions for the memory at a position of a document."""
    uri = params.text_document.uri
    if documents.get(uri) is None:
        return None
    return [lsp.Command(AMEND_TITLE, AMEND, arguments=[uri, params.range.start.line])]


async def new(documents: Documents, *given: Any) -> dict[str, str]:
    """Open a new file with the template of a kind. Takes `title` and optionally `kind`; the file is not saved yet."""
    title, kind = (str(part).strip() for part in (*given, "", "")[:2])
    kind = kind or "memory"
    if not title:
        raise BadInput("a new memory needs a title", f'run {NEW} with ["Why we chose X"]')
    if kind not in KINDS:
        raise BadInput(f"unknown kind {kind!r}", "one of " + ", ".join(KINDS))
    if not _can_create(documents):
        raise Refused("this editor lets no language server create a file", "run 'rawkomem add --edit' instead")
    shelf = next(iter(documents.shelves()), None)
    if shelf is None:
        raise NotFound("no open folder has memories", "run 'rawkomem init' in your project")
    at = now()
    said = {"title": title, "id": new_id(kind, at), "kind": kind if kind != "memory" else "",
            "discoveredAt": iso(at), "discoveredBy": user_name()}  # fmt: skip
    text = fill_template(shelf.layout, kind, said)
    uri = _free_uri(documents, shelf, kind, title)
    document = lsp.OptionalVersionedTextDocumentIdentifier(uri)
    filled = lsp.TextDocumentEdit(document, [lsp.TextEdit(line_start(1), text)])
    await _apply(documents, lsp.WorkspaceEdit(document_changes=[lsp.CreateFile(uri), filled]), "New memory")
    await show(documents, uri)
    return {"id": said["id"], "uri": uri}


def _can_create(documents: Documents) -> bool:
    workspace = documents.editor.client_capabilities.workspace
    edits = workspace.workspace_edit if workspace else None
    operations = (edits.resource_operations if edits and edits.document_changes else None) or ()
    return lsp.ResourceOperationKind.Create in operations


def _free_uri(documents: Documents, shelf: Shelf, kind: str, title: str) -> str:
    """Return a file name for a title that neither the disk nor the editor uses yet."""
    folder = CREATES[kind].folder
    uris = (uri_of(shelf, f"{folder}/{name}.md") for name in numbered(file_stem(title)))
    held = documents.open_uris()
    return next(uri for uri in uris if uri not in held and not os.path.lexists(to_fs_path(uri) or ""))


async def amend(documents: Documents, *given: Any) -> dict[str, str]:
    """Append the text of a memory once more, to be edited and saved. Takes a document and a line counted from 0."""
    uri, line = str(given[0]) if given else "", int(given[1]) if len(given) > 1 else 0
    document = documents.get(uri)
    memory = _memory_at(document, line) if document else None
    if document is None or memory is None:
        raise BadInput("no memory to amend here", "put the cursor into an entry whose frontmatter can be read")
    if memory.status == DELETED:
        raise Refused(f"{memory.id} is deleted", f"'rawkomem restore {memory.id}' brings it back")
    entry = Entry("amend", new_id("amend"), memory.id, at=now(), by=user_name(), body=memory.body)
    added = _appended(document.text, emit_entry(redact_entry(entry)))
    last = len(document.lines) - 1
    column = units(document.lines[last], documents.encoding)
    end = lsp.Range(lsp.Position(last, column), lsp.Position(last, column))
    await _apply(documents, lsp.WorkspaceEdit(changes={uri: [lsp.TextEdit(end, added)]}), AMEND_TITLE)
    return {"id": memory.id, "uri": uri}


def _memory_at(document: Document, line: int) -> Memory | None:
    """Return the memory of the entry around a line, as the document says it now."""
    entries = document.entries
    entry = next((one for one in reversed(entries) if one.line - 1 <= line), None)
    if entry is None or entry.draft or not entry.target:
        return None
    return document.shelf.as_edited(entry.target, document.path, entries)


def _appended(text: str, entry: str) -> str:
    """Return the text to append for an entry. Raises Refused if the result would not be read as that entry."""
    if not append_holds(decode(text.encode("utf-8", "replace"))[0], entry):
        raise Refused("an entry below this text would be part of it", "close the code fence or the comment at its end")
    return join(text, entry)[len(text) :]


async def show(documents: Documents, *given: Any) -> None:
    """Ask the editor to show a file at a line counted from 1, if it supports that."""
    uri, line = str(given[0]), int(given[1]) if len(given) > 1 else 1
    window = documents.editor.client_capabilities.window
    if window and window.show_document and window.show_document.support:
        place = lsp.ShowDocumentParams(uri=uri, take_focus=True, selection=line_start(line))
        await documents.editor.window_show_document_async(place)


async def _apply(documents: Documents, edit: lsp.WorkspaceEdit, label: str) -> None:
    done = await documents.editor.workspace_apply_edit_async(lsp.ApplyWorkspaceEditParams(edit=edit, label=label))
    if not done.applied:
        raise Refused(f"the editor did not take the edit: {done.failure_reason or 'it does not say why'}", "try again")
