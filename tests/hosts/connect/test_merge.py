"""Settings are edited as text: what is not ours stays, and taking out is the reverse of putting in, to the byte."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.hosts import our_entries
from rawkomem.hosts.connect import hook_handlers, hook_items
from rawkomem.hosts.json_text import parse_json
from rawkomem.hosts.known_hosts import HOSTS
from rawkomem.hosts.our_entries import with_hooks, without_hooks

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
    connected = with_hooks(text, hook_items(host), version)
    assert connected != text and with_hooks(connected, hook_items(host), version) == connected
    hooks = parse_json(connected).value["hooks"]
    assert all(item in hooks[event] for event, item in hook_items(host).items())
    assert without_hooks(connected) == text and without_hooks(text) == text


@pytest.mark.parametrize("host", JSON_HOSTS)
def test_a_file_that_was_not_there(host):
    version = HOSTS[host].version
    text = with_hooks(None, hook_items(host), version)
    said = json.loads(text)
    assert text.endswith("}\n") and set(said) == ({"hooks", "version"} if version else {"hooks"})
    assert (
        with_hooks(text, hook_items(host), version) == text
        and without_hooks(text) is None
        and without_hooks(None) is None
    )


def test_two_hosts_do_not_know_each_other_but_all_of_ours_goes():
    """Nothing else calls `rawkomem hook`, so whatever does is ours."""
    old = with_hooks('{"a": 1}', {"Stop": {"hooks": [{"command": "rawko hook claude stop", "timeout": 1}]}})
    assert with_hooks(old, hook_items("claude")) == with_hooks('{"a": 1}', hook_items("claude"))
    assert without_hooks(old) == '{"a": 1}'


def test_what_others_added_meanwhile_stays():
    connected = json.loads(with_hooks('{"a": 1}', hook_items("claude")))
    connected["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "beep"}]})
    connected["hooks"]["SessionStart"][0]["hooks"].append({"type": "command", "command": "hello"})
    connected["b"] = 2
    for indent in (None, 4):
        left = json.loads(without_hooks(json.dumps(connected, indent=indent)))
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
    text = with_hooks('{"a": 1}', hook_items("claude"))
    wanted = hook_items("claude")["Stop"]["hooks"][0]
    edited = parse_json(text).value
    edited["hooks"]["Stop"] = [{"hooks": [{**wanted, **PATHS[name]}]}]
    assert with_hooks(json.dumps(edited), hook_items("claude")) == json.dumps(edited)
    edited["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 99
    assert json.loads(with_hooks(json.dumps(edited, indent=2), hook_items("claude"))) == json.loads(text)
    assert "rawkomem" not in without_hooks(json.dumps(edited, indent=2))


@pytest.mark.parametrize(
    "command", ["/opt/rawkomem-tools hook x", "myrawkomem hook x", "rawkomem sync", "rawkomem", ""]
)
def test_what_only_looks_like_ours_is_not(command):
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"command": command, "args": "hook"}]}]}})
    assert without_hooks(text) == text


def test_a_comment_before_ours_never_swallows_what_follows():
    ours = '{"command": "rawkomem hook cursor stop"}'
    left = without_hooks('{"hooks": {"stop": [{"command": "a"}, // note\n ' + ours + ', {"command": "b"}\n]}}')
    assert parse_json(left).value == {"hooks": {"stop": [{"command": "a"}, {"command": "b"}]}}


@pytest.mark.parametrize(
    "text",
    ["hello", "{", '{"a": 1', '{"a" 1}', "{'a': 1}", '{"a": 1} x', "[]", "5", '{"hooks": []}', '{"hooks": 5}',
     '{"hooks": {"SessionStart": {}}}', '{"hooks": null}', "{/*", '{"a": "b}', '{"a": 1,, "b": 2}', "{" * 500, '{"a": NaN1}'],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(text):
    with pytest.raises(ValueError):
        with_hooks(text, hook_items("claude"))


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
    connected = with_hooks(text, hook_items(host), HOSTS[host].version)
    assert parse_json(text).value == json.loads(text) and without_hooks(connected) == text


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
    connected = our_entries.with_toml_block(text, hook_handlers("codex"))
    assert our_entries.with_toml_block(connected, hook_handlers("codex")) == connected
    assert (
        connected.startswith(text)
        and our_entries.without_toml_block(connected) == text
        and our_entries.without_toml_block(text) == text
    )
    later = our_entries.without_toml_block(connected + "\n[later]\ny = 2\n")
    assert later.startswith(text) and later.endswith("\n[later]\ny = 2\n"[not text :])
    assert tomllib.loads(later) == {**tomllib.loads(text), "later": {"y": 2}}


END = f"# <<< {our_entries.BLOCK_NAME} <<<"
STATE = '\n[hooks.state."x"]\ntrusted_hash = "abc"\n'


@pytest.mark.parametrize("text", [*TOML.values(), None])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_toml_that_a_host_put_before_our_last_mark_stays(text, newline):
    """Codex keeps its own tables before the comment that ends a file."""
    state = STATE.replace("\n", newline)
    connected = our_entries.with_toml_block(text, hook_handlers("codex")).replace("\r\n", "\n").replace("\n", newline)
    added = connected.replace(END, state + END)
    assert our_entries.with_toml_block(added, hook_handlers("codex")) == added
    older = added.replace("timeout = 5", "timeout = 6")
    for changed in (our_entries.with_toml_block(older, hook_handlers("codex")), our_entries.without_toml_block(added)):
        said = tomllib.loads(changed)["hooks"]
        assert said["state"] == {"x": {"trusted_hash": "abc"}} and state in changed
    assert said.keys() <= {"state", "Stop"} and "rawkomem" not in changed


def test_toml_handlers_of_others_in_our_group_stay():
    ours = our_entries.with_toml_block(None, hook_handlers("codex"))
    last = next(line for line in reversed(ours.splitlines()) if "turn-end" in line)
    theirs = '[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "beep"\n'
    left = our_entries.without_toml_block(ours.replace(f"{last}\n", f"{last}\nnote = 1\n{theirs}"))
    assert tomllib.loads(left) == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]}}


def test_toml_without_the_last_mark():
    text = our_entries.with_toml_block('model = "o3"\n', hook_handlers("codex")).replace(f"{END}\n", "")
    assert (
        our_entries.without_toml_block(text) == 'model = "o3"\n'
        and our_entries.without_toml_block(text + STATE) == 'model = "o3"\n' + STATE
    )


def test_toml_that_was_not_there():
    text = our_entries.with_toml_block(None, hook_handlers("codex"))
    said = tomllib.loads(text)["hooks"]
    assert said["UserPromptSubmit"] == [{"hooks": [dict(hook_handlers("codex")["UserPromptSubmit"])]}]
    assert (
        our_entries.without_toml_block(text) is None
        and our_entries.with_toml_block(text, hook_handlers("codex")) == text
    )


@pytest.mark.parametrize("text", ["a = ", "hooks = 5", "hooks = { Stop = [] }", "[hooks]\nStop = [{ hooks = [] }]\n"])
def test_toml_that_cannot_be_added_to_is_refused(text):
    with pytest.raises(ValueError):
        our_entries.with_toml_block(text, hook_handlers("codex"))


def test_seconds_and_milliseconds():
    times = {
        host: [handler.get("timeout", handler.get("timeoutSec")) for handler in hook_handlers(host).values()]
        for host in HOSTS
    }
    assert times["gemini"] == [10_000, 5_000, 10_000, 5_000] and times["codex"] == [10, 5, 10, 3]
    assert times["claude"] == [10, 5, 10, 5] and times["cursor"] == times["copilot"] == [10, 5, 5, 10, 5]
