"""An editor: pygls' own client against a real `rawkomem lsp` process."""

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from tests.conftest import ROOT

CREATING = lsp.WorkspaceEditClientCapabilities(
    document_changes=True, resource_operations=[lsp.ResourceOperationKind.Create]
)
WAIT = 30  # seconds: a machine may be busy; what is measured is measured in the test


class Editor:
    """Opens files, types, asks; collects what the server sends by itself."""

    def __init__(self, client: LanguageClient, project: Path):
        self.client, self.project = client, project
        self.versions: dict[str, int] = {}
        self.diagnostics: asyncio.Queue = asyncio.Queue()
        self.registered: asyncio.Queue = asyncio.Queue()
        self.messages: list[str] = []
        self.shown: list[lsp.ShowDocumentParams] = []
        self.edits: list[lsp.ApplyWorkspaceEditParams] = []

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params):
            self.diagnostics.put_nowait(params)

        @client.feature(lsp.WINDOW_SHOW_MESSAGE)
        def message(params):
            self.messages.append(params.message)

        @client.feature(lsp.WINDOW_SHOW_DOCUMENT)
        def show(params):
            self.shown.append(params)
            return lsp.ShowDocumentResult(True)

        @client.feature(lsp.CLIENT_REGISTER_CAPABILITY)
        def register(params):
            self.registered.put_nowait(params)

        @client.feature(lsp.WORKSPACE_APPLY_EDIT)
        def apply(params):
            self.edits.append(params)
            return lsp.ApplyWorkspaceEditResult(True)

    def file(self, name: str) -> Path:
        return self.project / ".rawko" / "memories" / name

    def uri(self, name: str) -> str:
        return self.file(name).as_uri()

    async def open(self, name: str, text: str | None = None) -> list[lsp.Diagnostic]:
        text = self.file(name).read_text(encoding="utf-8") if text is None else text
        item = lsp.TextDocumentItem(uri=self.uri(name), language_id="markdown", version=1, text=text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        self.versions[name] = 1
        return await self.told(name)

    async def type(self, name: str, text: str) -> list[lsp.Diagnostic]:
        """Replace the text of an open file, without saving; returns what the server says to it."""
        self.versions[name] += 1
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(self.versions[name], self.uri(name)),
                [lsp.TextDocumentContentChangeWholeDocument(text)],
            )
        )
        return await self.told(name)

    async def told(self, name: str) -> list[lsp.Diagnostic]:
        while True:
            params = await asyncio.wait_for(self.diagnostics.get(), WAIT)
            if params.uri == self.uri(name):
                return params.diagnostics

    def at(self, name: str, line: int, character: int) -> dict:
        return {"text_document": lsp.TextDocumentIdentifier(self.uri(name)), "position": lsp.Position(line, character)}

    async def symbols(self, query: str) -> list[tuple[str, str]]:
        found = await self.client.workspace_symbol_async(lsp.WorkspaceSymbolParams(query))
        return [(symbol.name, Path(symbol.location.uri).name) for symbol in found]

    async def complete(self, name: str, line: int, character: int) -> list[lsp.CompletionItem]:
        found = await self.client.text_document_completion_async(lsp.CompletionParams(**self.at(name, line, character)))
        return found.items if found else []

    async def hover(self, name: str, line: int, character: int) -> str:
        found = await self.client.text_document_hover_async(lsp.HoverParams(**self.at(name, line, character)))
        return found.contents.value if found else ""

    async def define(self, name: str, line: int, character: int) -> list[tuple[str, int]]:
        params = lsp.DefinitionParams(**self.at(name, line, character))
        found = await self.client.text_document_definition_async(params)
        return [(Path(place.uri).name, place.range.start.line) for place in found or []]

    async def refer(self, name: str, line: int, character: int, declaration: bool = False):
        params = lsp.ReferenceParams(lsp.ReferenceContext(declaration), **self.at(name, line, character))
        return await self.client.text_document_references_async(params)

    async def lenses(self, name: str) -> list[lsp.CodeLens]:
        params = lsp.CodeLensParams(lsp.TextDocumentIdentifier(self.uri(name)))
        return await self.client.text_document_code_lens_async(params)

    async def run(self, command: str, *arguments):
        params = lsp.ExecuteCommandParams(command, arguments=[*arguments])
        return await self.client.workspace_execute_command_async(params)


@asynccontextmanager
async def editing(
    project: Path, encodings: list[str] | None = None, folders: list[Path] | None = None,
    workspace: lsp.WorkspaceClientCapabilities | None = None, text: lsp.TextDocumentClientCapabilities | None = None,
):  # fmt: skip
    """An editor on a project, or with other folders open; `workspace` and `text`: what it supports."""
    client = LanguageClient("test-editor", "1")
    editor = Editor(client, project)
    await client.start_io(
        sys.executable, "-m", "rawkomem", "lsp", cwd=project, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    general = lsp.GeneralClientCapabilities(position_encodings=encodings) if encodings else None
    window = lsp.WindowClientCapabilities(show_document=lsp.ShowDocumentClientCapabilities(support=True))
    workspace = workspace or lsp.WorkspaceClientCapabilities(apply_edit=True, workspace_edit=CREATING)
    opened = [lsp.WorkspaceFolder(uri=folder.as_uri(), name=folder.name) for folder in folders or [project]]
    started = await client.initialize_async(
        lsp.InitializeParams(
            capabilities=lsp.ClientCapabilities(
                general=general, window=window, workspace=workspace, text_document=text
            ),
            workspace_folders=opened,
            root_uri=opened[0].uri,
        )
    )
    editor.capabilities = started.capabilities
    client.initialized(lsp.InitializedParams())
    try:
        yield editor
        await client.shutdown_async(None)
    finally:
        client.exit(None)
        await asyncio.wait_for(client.stop(), WAIT)


def edit(project, story, **how):
    """Run a story of an editor."""

    async def run():
        async with editing(project, **how) as editor:
            return await story(editor)

    return asyncio.run(run())


def place(text: str, needle: str, into: int = 1) -> tuple[int, int]:
    """Line and UTF-16 column inside the first occurrence of a text."""
    before = text[: text.index(needle) + into]
    line = before.rpartition("\n")[2]
    return before.count("\n"), len(line.encode("utf-16-le")) // 2
