// Run the commands of the VS Code extension, as compiled, against a real server: node vscode_client.cjs EXTENSION PROJECT COMMAND…
const { spawn } = require('child_process');
const { pathToFileURL } = require('url');
const [extension, project, command, ...given] = process.argv.slice(2);
const rpc = require(require.resolve('vscode-jsonrpc/node', { paths: [extension] }));
const { Memories } = require(`${extension}/out/memories.js`);

async function main() {
  const server = spawn(command, given, { cwd: project, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => server.on('exit', resolve));
  const connection = rpc.createMessageConnection(server.stdout, server.stdin);
  const edits = [];
  connection.onRequest('workspace/applyEdit', (params) => (edits.push(params.edit), { applied: true }));
  connection.onRequest('client/registerCapability', () => null);
  connection.onRequest('window/showDocument', () => ({ success: true }));
  connection.onRequest('workspace/codeLens/refresh', () => null);
  connection.listen();
  const folder = pathToFileURL(project).href;
  await connection.sendRequest('initialize', {
    processId: process.pid, rootUri: folder, workspaceFolders: [{ uri: folder, name: 'project' }],
    capabilities: {
      workspace: {
        applyEdit: true, workspaceEdit: { documentChanges: true, resourceOperations: ['create', 'rename', 'delete'] },
        didChangeWatchedFiles: { dynamicRegistration: true },
      },
      window: { showDocument: { support: true } },
    },
  });
  await connection.sendNotification('initialized', {});
  const memories = new Memories((name, ...rest) =>
    connection.sendRequest('workspace/executeCommand', { command: name, arguments: rest }));
  const uri = `${folder}/.rawko/memories/queue-limits.md`;
  const said = {
    made: await memories.create('Why we pin apsw'),
    refused: (await memories.create(' ')) === undefined,
    amended: await memories.amend(uri, 2),
    found: await memories.search('jitter of retries'),
    why: await memories.why(uri, 2, 'make the queue longer'),
  };
  await connection.sendRequest('shutdown');
  await connection.sendNotification('exit');
  console.log(JSON.stringify({ ...said, edits, code: await ended }));
}

main().catch((failure) => { console.error(failure); process.exit(1); });
