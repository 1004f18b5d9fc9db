"""Create and amend memories from the editor. New text is an edit: it is stored when the person saves
the file.
"""

from __future__ import annotations

import os

from lsprotocol import types as lsp
from pygls.uris import to_fs_path

from ...files.installation import fill_template
from ...files.reading import decode_file
from ...format.blocks import append_holds, join_entry
from ...format.frontmatter import emit_entry
from ...git.runner import user_name
from ...model.entries import Entry, Memory
from ...model.errors import BadInput, NotFound, Refused
from ...model.ids import file_stem, new_id, numbered_names
from ...model.values import CREATES, GROUPS, iso, now
from ...redaction.entries import redact_entry
from ...redaction.find import redact
from .documents import (
    DELETED,
    Documents,
    OpenDocument,
    Shelf,
    home_of,
    line_start,
    uri_of,
)

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
    return (
        [lsp.CodeAction(AMEND_TITLE, kind=ACTION_KIND, command=amends)] if fits else []
    )


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
    if kind not in NEW_KINDS:
        raise BadInput(f"unknown kind {kind!r}", "one of " + ", ".join(NEW_KINDS))
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
