"""Settings are edited as text: what is not ours stays, and taking out is the reverse of putting in, to the byte."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rawkomem.hosts.connect import toml_block
from rawkomem.hosts.connect.jsonc import parse
from rawkomem.hosts.connect.merge import merged, without
from rawkomem.hosts.connect.settings import handlers, items
from rawkomem.hosts.records import HOSTS

JSON_HOSTS = ("claude", "gemini", "cursor", "copilot")
FILES = {
    "nothing": "",
    "blank": " \n",
    "a line end": "\n",
    "two line ends": "\n\n",
    "only a byte order mark": "\ufeff",
    "empty object": "{}",
    "blank object": "{ }",
    "object over two lines": "{\n}",
    "and a line end": "{\n}\n",
    "one line": '{"model":"opus"}',
    "one line and a line end": '{"model": "opus"}\n',
    "two spaces": '{\n  "model": "opus"\n}\n',
    "no line end": '{\n  "model": "opus"\n}',
    "tabs": '{\n\t"model": "opus"\n}\n',
    "seven spaces": '{\n       "model": "opus",\n       "x": [1,\n 2]\n}\n\n\n',
    "windows": '{\r\n    "model": "opus"\r\n}\r\n',
    "byte order mark": '\ufeff{\n  "model": "opus"\n}\n',
    "comments": '// mine\n{\n  // why\n  "model": "opus", // because\n  /* and\n more */\n}\n// end',
    "comment at the end": '{\n  "model": "opus" // because\n}\n',
    "comment in one line": '{"model": "opus" /* because */}',
    "only a comment": "{\n  // nothing yet\n}\n",
    "trailing comma": '{\n  "model": "opus",\n}\n',
    "hooks, empty": '{"hooks":{}}',
    "hooks, blank": '{\n  "hooks": { },\n  "model": "opus"\n}\n',
    "hooks of others": '{\n  "hooks": {\n    "Notification": [\n      {"hooks": [{"type": "command", "command": "beep"}]}\n    ]\n  }\n}\n',
    "the same event": '{\n "hooks": {\n  "Stop": [\n   {"hooks":[{"type":"command","command":"beep"}]}\n  ],\n  "stop": [{"command": "beep"}]\n }\n}',
    "the same event, in one line": '{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"beep"}]}],"stop":[{"command":"beep"}]}}',
    "empty events": '{"hooks": {"Stop": [], "stop": [ ], "SessionStart": [\n]}}',
    "trailing commas": '{"hooks": {"Stop": [{"hooks": [],},],"stop":[{"command":"beep",},],},}\n',
    "comment in an event": '{"hooks":{"Stop":[ // none\n ],"stop":[/* none */]}}\n',
    "version": '{"version":1}',
    "version and hooks": '{\n  "version": 1,\n  "hooks": {}\n}\n',
    "hooks and version": '{"hooks": {}, "version": 1}\n',
    "a word that looks like ours": '{"env": {"A": "rawkomem hook claude prompt"}, "hooks": {"Stop": [{"hooks": [{"command": "x rawkomem hook"}]}]}}',
    "unicode": '{\n  "Größe": "π\\u00e4 \\" // no comment"\n}\n',
    "twice the same key": '{"hooks": {"Stop": []}, "hooks": {}}',
}


@pytest.mark.parametrize("host", JSON_HOSTS)
@pytest.mark.parametrize("name", FILES)
def test_connect_then_remove_gives_the_same_bytes(name, host):
    text, version = FILES[name], HOSTS[host].version
    connected = merged(text, items(host), version)
    assert connected != text and merged(connected, items(host), version) == connected
    hooks = parse(connected).value["hooks"]
    assert all(item in hooks[event] for event, item in items(host).items())
    assert without(connected) == text and without(text) == text


@pytest.mark.parametrize("host", JSON_HOSTS)
def test_a_file_that_was_not_there(host):
    version = HOSTS[host].version
    text = merged(None, items(host), version)
    said = json.loads(text)
    assert text.endswith("}\n") and set(said) == ({"hooks", "version"} if version else {"hooks"})
    assert merged(text, items(host), version) == text and without(text) is None and without(None) is None


def test_two_hosts_do_not_know_each_other_but_all_of_ours_goes():
    """Nothing else calls `rawkomem hook`, so whatever does is ours."""
    old = merged('{"a": 1}', {"Stop": {"hooks": [{"command": "rawko hook claude stop", "timeout": 1}]}})
    assert merged(old, items("claude")) == merged('{"a": 1}', items("claude"))
    assert without(old) == '{"a": 1}'


def test_what_others_added_meanwhile_stays():
    connected = json.loads(merged('{"a": 1}', items("claude")))
    connected["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "beep"}]})
    connected["hooks"]["SessionStart"][0]["hooks"].append({"type": "command", "command": "hello"})
    connected["b"] = 2
    for indent in (None, 4):
        left = json.loads(without(json.dumps(connected, indent=indent)))
        beep = [{"hooks": [{"type": "command", "command": "beep"}]}]
        hello = [{"hooks": [{"type": "command", "command": "hello"}]}]
        left["hooks"] = {event: found for event, found in left["hooks"].items() if found}  # squeezed, lists stay
        assert left == {"a": 1, "hooks": {"SessionStart": hello, "Stop": beep}, "b": 2}


PATHS = {
    "a path": {"command": "/opt/venv/bin/rawkomem hook claude turn-end"},
    "a path of Windows": {"command": '"C:\\Program Files\\rawkomem.exe" hook claude turn-end'},
    "without a shell": {"command": "/opt/my tools/rawkomem", "args": ["hook", "claude", "turn-end"]},
}


@pytest.mark.parametrize("name", PATHS)
def test_ours_by_a_path_are_ours(name):
    """Who wrote a path had a reason to: it stays, is not doubled, and goes with the rest."""
    text = merged('{"a": 1}', items("claude"))
    wanted = items("claude")["Stop"]["hooks"][0]
    edited = parse(text).value
    edited["hooks"]["Stop"] = [{"hooks": [{**wanted, **PATHS[name]}]}]
    assert merged(json.dumps(edited), items("claude")) == json.dumps(edited)
    edited["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 99
    assert json.loads(merged(json.dumps(edited, indent=2), items("claude"))) == json.loads(text)
    assert "rawkomem" not in without(json.dumps(edited, indent=2))


@pytest.mark.parametrize(
    "command", ["/opt/rawkomem-tools hook x", "myrawkomem hook x", "rawkomem sync", "rawkomem", ""]
)
def test_what_only_looks_like_ours_is_not(command):
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"command": command, "args": "hook"}]}]}})
    assert without(text) == text


def test_a_comment_before_ours_never_swallows_what_follows():
    ours = '{"command": "rawkomem hook cursor stop"}'
    left = without('{"hooks": {"stop": [{"command": "a"}, // note\n ' + ours + ', {"command": "b"}\n]}}')
    assert parse(left).value == {"hooks": {"stop": [{"command": "a"}, {"command": "b"}]}}


@pytest.mark.parametrize(
    "text",
    ["hello", "{", '{"a": 1', '{"a" 1}', "{'a': 1}", '{"a": 1} x', "[]", "5", '{"hooks": []}', '{"hooks": 5}',
     '{"hooks": {"SessionStart": {}}}', '{"hooks": null}', "{/*", '{"a": "b}', '{"a": 1,, "b": 2}', "{" * 500, '{"a": NaN1}'],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(text):
    with pytest.raises(ValueError):
        merged(text, items("claude"))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.sampled_from([None, 1, 2, 3, 8, "\t"]),
    st.sampled_from(["", "\n", "\n\n"]),
    st.sampled_from(JSON_HOSTS),
)
def test_any_object_in_any_layout(value, indent, end, host):
    text = json.dumps({"x": value, "hooks": {"Other": [value]}}, indent=indent) + end
    connected = merged(text, items(host), HOSTS[host].version)
    assert parse(text).value == json.loads(text) and without(connected) == text


TOML = {
    "empty": "",
    "no line end": 'model = "o3"',
    "line end": 'model = "o3"\n',
    "blank lines": '\n\nmodel = "o3"\n\n\n',
    "windows": 'model = "o3"\r\n[tui]\r\nx = 1\r\n',
    "comments": '# mine\nmodel = "o3" # why\n[mcp_servers.x] # y\ncommand = "x"\n# end',
    "hooks of others": '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "beep"\n',
}


@pytest.mark.parametrize("name", TOML)
def test_toml_too(name):
    text = TOML[name]
    connected = toml_block.merged(text, handlers("codex"))
    assert toml_block.merged(connected, handlers("codex")) == connected
    assert connected.startswith(text) and toml_block.without(connected) == text and toml_block.without(text) == text
    later = toml_block.without(connected + "\n[later]\ny = 2\n")
    assert later.startswith(text) and later.endswith("\n[later]\ny = 2\n"[not text :])
    assert tomllib.loads(later) == {**tomllib.loads(text), "later": {"y": 2}}


END = f"# <<< {toml_block.BLOCK_NAME} <<<"
STATE = '\n[hooks.state."x"]\ntrusted_hash = "abc"\n'


@pytest.mark.parametrize("text", [*TOML.values(), None])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_toml_that_a_host_put_before_our_last_mark_stays(text, newline):
    """Codex keeps its own tables before the comment that ends a file."""
    state = STATE.replace("\n", newline)
    connected = toml_block.merged(text, handlers("codex")).replace("\r\n", "\n").replace("\n", newline)
    added = connected.replace(END, state + END)
    assert toml_block.merged(added, handlers("codex")) == added
    older = added.replace("timeout = 5", "timeout = 6")
    for changed in (toml_block.merged(older, handlers("codex")), toml_block.without(added)):
        said = tomllib.loads(changed)["hooks"]
        assert said["state"] == {"x": {"trusted_hash": "abc"}} and state in changed
    assert said.keys() <= {"state", "Stop"} and "rawkomem" not in changed


def test_toml_handlers_of_others_in_our_group_stay():
    ours = toml_block.merged(None, handlers("codex"))
    last = next(line for line in reversed(ours.splitlines()) if "turn-end" in line)
    theirs = '[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "beep"\n'
    left = toml_block.without(ours.replace(f"{last}\n", f"{last}\nnote = 1\n{theirs}"))
    assert tomllib.loads(left) == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]}}


def test_toml_without_the_last_mark():
    text = toml_block.merged('model = "o3"\n', handlers("codex")).replace(f"{END}\n", "")
    assert toml_block.without(text) == 'model = "o3"\n' and toml_block.without(text + STATE) == 'model = "o3"\n' + STATE


def test_toml_that_was_not_there():
    text = toml_block.merged(None, handlers("codex"))
    said = tomllib.loads(text)["hooks"]
    assert said["UserPromptSubmit"] == [{"hooks": [dict(handlers("codex")["UserPromptSubmit"])]}]
    assert toml_block.without(text) is None and toml_block.merged(text, handlers("codex")) == text


@pytest.mark.parametrize("text", ["a = ", "hooks = 5", "hooks = { Stop = [] }", "[hooks]\nStop = [{ hooks = [] }]\n"])
def test_toml_that_cannot_be_added_to_is_refused(text):
    with pytest.raises(ValueError):
        toml_block.merged(text, handlers("codex"))


def test_seconds_and_milliseconds():
    times = {
        host: [handler.get("timeout", handler.get("timeoutSec")) for handler in handlers(host).values()]
        for host in HOSTS
    }
    assert times["gemini"] == [10_000, 5_000, 10_000, 5_000] and times["codex"] == [10, 5, 10, 3]
    assert times["claude"] == [10, 5, 10, 5] and times["cursor"] == times["copilot"] == [10, 5, 5, 10, 5]
