"""Read the capabilities of the editor: answers use only what it supports."""

from __future__ import annotations

from typing import Any

from lsprotocol import types as lsp


class Client:
    """The capabilities that an editor announced when it started the server."""

    def __init__(self, capabilities: lsp.ClientCapabilities):
        self._announced = capabilities

    def _get(self, path: str) -> Any:
        """Return the capability at a dotted path, or None if the editor does not mention it."""
        found: Any = self._announced
        for name in path.split("."):
            found = getattr(found, name, None)
        return found

    @property
    def creates_files(self) -> bool:
        """Tell whether one edit may create a file and write text into it."""
        edits = "workspace.workspace_edit."
        operations = self._get(edits + "resource_operations") or ()
        return bool(self._get(edits + "document_changes")) and lsp.ResourceOperationKind.Create in operations

    @property
    def applies_edits(self) -> bool:
        """Tell whether the server may send edits to the editor."""
        return bool(self._get("workspace.apply_edit"))

    @property
    def shows_documents(self) -> bool:
        """Tell whether the server may ask the editor to open a file."""
        return bool(self._get("window.show_document.support"))

    @property
    def hover_format(self) -> lsp.MarkupKind:
        """Return the format of hover cards that the editor prefers; Markdown if it does not say."""
        formats = self._get("text_document.hover.content_format") or [lsp.MarkupKind.Markdown]
        return lsp.MarkupKind(formats[0])

    @property
    def takes_snippets(self) -> bool:
        """Tell whether a completion may set the cursor position."""
        return bool(self._get("text_document.completion.completion_item.snippet_support"))

    @property
    def takes_action_literals(self) -> bool:
        """Tell whether a code action may be an object with a kind; otherwise it must be a bare command."""
        return self._get("text_document.code_action.code_action_literal_support") is not None

    @property
    def watches_files(self) -> bool:
        """Tell whether the editor can watch files for the server."""
        return bool(self._get("workspace.did_change_watched_files.dynamic_registration"))

    @property
    def refreshes_lenses(self) -> bool:
        """Tell whether the server may ask the editor to refresh its code lenses."""
        return bool(self._get("workspace.code_lens.refresh_support"))
