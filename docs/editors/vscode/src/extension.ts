import { commands, ExtensionContext, Position, Range, TextEditor, Uri, window, workspace } from 'vscode';
import { ExecuteCommandRequest, LanguageClient } from 'vscode-languageclient/node';
import { Found, Memories } from './memories';

let client: LanguageClient | undefined;

/**
 * Register the commands, and start the server if a folder has memories. Shows an error message if it does not start.
 * VS Code may miss `workspaceContains` when a person trusts a workspace that is open, so Markdown files activate this too.
 */
export async function activate(context: ExtensionContext): Promise<void> {
  const command = workspace.getConfiguration('rawkomem').get('command', 'rawkomem');
  const started = new LanguageClient('rawkomem', { command, args: ['lsp'] }, {
    documentSelector: [{ scheme: 'file', language: 'markdown', pattern: '**/.rawko/**/*.md' }],
  });
  client = started;
  const memories = new Memories((name, ...given) =>
    started.sendRequest(ExecuteCommandRequest.type, { command: name, arguments: given }));
  const register = (name: string, run: () => Promise<void>) =>
    context.subscriptions.push(commands.registerCommand(`rawkomem.editor.${name}`, run));
  register('new', () => create(memories));
  register('amend', () => amend(memories));
  register('search', () => search(memories));
  register('why', () => why(memories));
  if (!(await hasMemories())) {
    return;
  }
  try {
    await started.start();
  } catch (failure) {
    const hint = "Run: pipx install rawkomem, or set rawkomem.command to the full path of the program.";
    void window.showErrorMessage(`rawkomem: cannot start '${command} lsp': ${failure}. ${hint}`);
  }
}

async function hasMemories(): Promise<boolean> {
  const folders = workspace.workspaceFolders ?? [];
  const stats = folders.map((folder) => workspace.fs.stat(Uri.joinPath(folder.uri, '.rawko')));
  return (await Promise.allSettled(stats)).some((stat) => stat.status === 'fulfilled');
}

/** Stop the server. */
export async function deactivate(): Promise<void> {
  if (client?.isRunning()) {
    await client.stop();
  }
}

async function create(memories: Memories): Promise<void> {
  const title = await window.showInputBox({ prompt: 'Title of the memory', placeHolder: 'Why we chose X' });
  if (title) {
    await memories.create(title);
  }
}

async function amend(memories: Memories): Promise<void> {
  const editor = memoryFile();
  if (!editor) {
    return;
  }
  const made = await memories.amend(editor.document.uri.toString(), editor.selection.active.line);
  if (made) {
    editor.revealRange(editor.document.lineAt(editor.document.lineCount - 1).range);
  }
}

async function search(memories: Memories): Promise<void> {
  const query = await window.showInputBox({ prompt: 'Search memories', placeHolder: 'how do we retry' });
  const found = query ? await memories.search(query) : undefined;
  if (!found) {
    return;
  }
  const items = found.map((one: Found) => ({ label: one.title, description: one.status, detail: one.text, one }));
  const picked = await window.showQuickPick(items, { placeHolder: `${found.length} memories`, matchOnDetail: true });
  if (picked) {
    const start = new Position(picked.one.line - 1, 0);
    await window.showTextDocument(Uri.parse(picked.one.uri), { selection: new Range(start, start) });
  }
}

async function why(memories: Memories): Promise<void> {
  const editor = memoryFile();
  const task = editor && (await window.showInputBox({ prompt: 'Task for which to explain the memory', placeHolder: 'add a retry' }));
  const told = task ? await memories.why(editor.document.uri.toString(), editor.selection.active.line, task) : undefined;
  if (told) {
    const document = await workspace.openTextDocument({ content: told.text, language: 'plaintext' });
    await window.showTextDocument(document, { preview: true });
  }
}

function memoryFile(): TextEditor | undefined {
  const editor = window.activeTextEditor;
  if (editor?.document.languageId !== 'markdown') {
    void window.showErrorMessage('rawkomem: open a memory file in .rawko/memories first');
    return undefined;
  }
  return editor;
}
