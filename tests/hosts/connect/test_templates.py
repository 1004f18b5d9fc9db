"""The files that hosts want: valid, in step with what `connect` writes, and in every installation."""

import json
import shutil
import subprocess
from importlib.metadata import version

import pytest
from rawkomem.format.frontmatter import read_frontmatter
from rawkomem.hosts.connect import connectable, hook_items
from rawkomem.hosts.known_hosts import HOSTS

from tests.conftest import ROOT

AGENTS = ROOT / "templates" / "agents"
PLUGIN = AGENTS / "claude" / "plugins" / "rawkomem"


# host → the file of its hooks; Codex reads the marketplace of Claude Code
PLUGINS = {"claude": "hooks.json", "codex": "codex.json", "cursor": "cursor.json"}


@pytest.mark.parametrize("host", PLUGINS)
def test_the_plugin_calls_what_connect_does(host):
    plugin = json.loads((PLUGIN / f".{host}-plugin" / "plugin.json").read_text())
    hooks = json.loads((PLUGIN / plugin["hooks"]).read_text())
    assert plugin["hooks"] == f"./hooks/{PLUGINS[host]}"
    assert set(plugin) <= {"name", "version", "description", "author", "license", "keywords", "skills", "hooks"}
    assert hooks["hooks"] == {event: [item] for event, item in hook_items(host).items()}
    assert hooks.get("version", 0) == HOSTS[host].version
    assert set(hooks) <= {"description", "hooks", "version"}


@pytest.mark.parametrize("folder", [AGENTS / "claude", ROOT])
@pytest.mark.parametrize("market", ["claude", "cursor"])
def test_the_marketplaces_name_the_plugin(folder, market):
    """One lies in every installation, one at the top of this repository, for those who add that by its address."""
    told = json.loads((folder / f".{market}-plugin" / "marketplace.json").read_text())
    (entry,) = told["plugins"]
    assert (folder / entry["source"]).resolve() == PLUGIN
    for host in PLUGINS:
        plugin = json.loads((PLUGIN / f".{host}-plugin" / "plugin.json").read_text())
        assert plugin["name"] == entry["name"] and plugin["version"] == version("rawkomem")


@pytest.mark.parametrize("host", PLUGINS)
def test_the_folder_of_the_plugin_is_told(host, rawkomem, tmp_path_factory):
    told = rawkomem("connect", host, "--plugin", cwd=tmp_path_factory.mktemp("anywhere")).stdout
    assert told == f"{AGENTS / 'claude'}\n"


def test_the_skill_is_portable_and_the_same_everywhere():
    skill = (AGENTS / "skills" / "rawkomem" / "SKILL.md").read_text()
    fields, _ = read_frontmatter(skill.split("---\n")[1])
    assert set(fields) <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
    assert fields["name"].value == "rawkomem" and len(fields["description"].value) < 1024
    assert (PLUGIN / "skills" / "rawkomem" / "SKILL.md").read_text() == skill


OPENCODE = """
import { Rawkomem } from "./rawkomem.mjs"
const calls = []
let answers = []
globalThis.Bun = {
  spawn: (command, { stdin }) => {
    const told = stdin.text().then((text) => calls.push([command[3], JSON.parse(text)]))
    const answer = answers.shift() ?? ""
    return { stdout: new ReadableStream({ async start(c) { await told; c.enqueue(new TextEncoder().encode(answer)); c.close() } }), kill() {} }
  },
}
const clocks = []
globalThis.setTimeout = (run, after) => { clocks.push([after, run]); return { unref() {} } }
globalThis.clearTimeout = () => {}
const messages = [{ info: { id: "m1" } }]
const get = async ({ path }) => ({ data: { id: path.id, parentID: "p" } })
const client = { session: { messages: async () => ({ data: messages }), get } }
const plugin = await Rawkomem({ client, directory: "/p" })
const start = async () => {
  const output = { system: [] }
  await plugin["experimental.chat.system.transform"]({ sessionID: "s" }, output)
  return output.system
}
const told = [await start(), await start()] // nothing yet, and it does not ask at every step
for (const [after, run] of clocks.splice(0)) if (after >= 60000) run()
answers = ["opening"]
told.push(await start(), await start())
const parts = { parts: [{ type: "text", text: "Hello" }] }
await plugin["chat.message"]({ sessionID: "s" }, parts)
await plugin.event({ event: { type: "session.idle", properties: { sessionID: "s" } } })
await plugin.dispose() // all is told
await plugin["chat.message"]({ sessionID: "s" }, parts)
await plugin.dispose()
answers = ["", "again"]
for (const _ of answers.slice()) {
  await plugin.event({ event: { type: "session.compacted", properties: { sessionID: "s" } } })
  told.push(await start())
}
console.log(JSON.stringify({ told, calls: calls.map(([event, said]) => [event, said.source ?? said.messages?.length ?? ""]), parents: calls.map(([, said]) => said.info?.parentID ?? ""), pid: process.pid }))
"""


@pytest.mark.skipif(not shutil.which("node"), reason="no node here")
def test_the_opencode_plugin_asks_again_and_tells_what_is_left(tmp_path):
    shutil.copy(AGENTS / "opencode" / "rawkomem.js", tmp_path / "rawkomem.mjs")
    (tmp_path / "run.mjs").write_text(OPENCODE)
    done = subprocess.run(["node", "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["told"] == [[], [], ["opening"], ["opening"], ["opening"], ["again"]]
    start = ["session-start", f"startup {said['pid']}"]
    compacted = [["session-start", "compact"]] * 2
    told = [start, start, ["prompt", ""], ["turn-end", 1], ["prompt", ""], ["session-end", 1], *compacted]
    assert said["calls"] == told
    assert said["parents"] == ["", "", "p", "p", "p", "p", "", ""], "a sub-agent's session is told as one"


def test_the_page_about_hosts_agrees_with_the_records():
    rows = [line for line in (ROOT / "docs" / "hosts.md").read_text().splitlines() if line.startswith("| ")]
    for name in connectable():
        (row,) = [row for row in rows if row.startswith(f"| {name} |")]
        host = HOSTS[name]
        file = host.project or host.mcp.project or host.mcp.user
        events = host.events if host.has_hooks else ()
        assert f"`{file}`" in row and all(f"`{event}`" in row for event in events)
