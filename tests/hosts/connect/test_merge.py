"""Our entries come into the settings of a host and out again; what is not ours stays."""

import json
import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.hosts.connect import (
    edited,
    has_server,
    hook_handlers,
    hook_items,
    parsed,
    put_hooks,
    put_server,
    take_hooks,
    take_server,
)
from rawkomem.hosts.known_hosts import HOSTS, MCP_ENTRY

JSON_HOSTS = ("claude", "gemini", "cursor", "copilot")
FILES = {  # they come back to the byte
    "two spaces": '{\n  "model": "opus"\n}\n',
    "no line end": '{\n  "model": "opus"\n}',
    "tabs": '{\n\t"model": "opus"\n}\n',
    "seven spaces": '{\n       "model": "opus",\n       "x": [\n              1\n       ]\n}\n\n\n',
    "windows": '{\r\n    "model": "opus"\r\n}\r\n',
    "hooks of others": json.dumps({"hooks": {"Notification": [{"hooks": [{"command": "beep"}]}]}}, indent=2),
    "the same event": json.dumps({"hooks": {"Stop": [{"hooks": [{"command": "beep"}]}], "stop": [{"command": "x"}]}}, indent=1),
    "a word that looks like ours": json.dumps(
        {"env": {"A": "rawkomem hook claude prompt"}, "hooks": {"Stop": [{"hooks": [{"command": "x rawkomem hook"}]}]}}, indent=4
    ),
    "unicode": '{\n  "Größe": "π \\" // no comment"\n}\n',
    "one line": '{"model": "opus"}\n',
    "nothing": "{}",
    "nothing, with a space": "{ }\n",
    "lists in a line": '{\n  "x": [1, 2]\n}\n',
    "the same event, in one line": '{"hooks":{"SessionStart":[{"hooks":[{"command":"beep"}]}],"stop":[{"command":"beep"}]}}',
    "no hooks": '{"hooks": {}}',
    "no hooks, and more": '{\n  "hooks": {},\n  "model": "opus"\n}\n',
    "an event without hooks": '{\n  "hooks": {\n    "Stop": []\n  }\n}\n',
    "servers in a line": '{"mcpServers": {"x": {"command": "y"}}, "hooks": {}}\n',
    "no servers": '{"mcpServers":{}}',
    "a version": '{\n  "version": 1\n}\n',
    "comments": '// mine\n{\n  // why\n  "model": "opus", // because\n  /* and\n more */\n}\n// end',
    "comment at the end": '{\n  "model": "opus" // because\n}\n',
    "trailing comma": '{\n  "model": "opus",\n  "x": [1, 2,],\n}\n',
    "only a comment": "{\n\t// mine\n}\n",
    "comments of hooks": '{"hooks": { // none yet, but soon\n}}',
    "a signature": '\ufeff{"model": "opus"}',
}  # fmt: skip
TOML = {  # they come back to the byte
    "empty": "",
    "line end": 'model = "o3"\n',
    "blank lines": '\n\nmodel = "o3"\n\n\n',
    "comments": '# mine\nmodel = "o3" # why\n[mcp_servers.x] # y\ncommand = "x"\n# end\n',
    "hooks of others": '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "beep"\n',
}


def connect(text: str, host: str, is_toml: bool = False) -> str:
    return edited(text, [lambda settings: put_hooks(settings, hook_items(host), HOSTS[host].version)], is_toml)


def remove(text: str, is_toml: bool = False) -> str:
    return edited(text, [take_hooks], is_toml)


def add_server(settings: dict) -> None:
    put_server(settings, "mcpServers", MCP_ENTRY)


def remove_server(settings: dict) -> None:
    take_server(settings, "mcpServers", MCP_ENTRY)


@pytest.mark.parametrize("host", JSON_HOSTS)
@pytest.mark.parametrize("text", FILES.values(), ids=[*FILES])
def test_hooks_come_and_go(text, host):
    text = text.removeprefix("\ufeff")
    connected = connect(text, host)
    assert connected != text and connect(connected, host) == connected
    hooks = parsed(connected)["hooks"]
    assert all(item in hooks[event] for event, item in hook_items(host).items())
    assert parsed(connected).items() >= (parsed(text) | {"hooks": hooks}).items()
    both = edited(connected, [add_server], False)
    assert has_server(parsed(both), "mcpServers") and edited(both, [add_server], False) == both
    assert edited(both, [remove_server], False) == connected
    left = remove(connected)
    if HOSTS[host].version and "version" not in text:  # it stays, unless nothing else does
        left = re.sub(r',\s*"version": 1', "", left)
    assert remove(text) == text and left == text


def test_comments_between_our_entries_stay():
    connected = connect('{"a": 1, "b": 2} // end', "claude")
    noted = connected.replace('"hooks": {', '// ours\n  "hooks": { // here', 1).replace('"Stop"', '/* turn */ "Stop"')
    assert connect(noted, "claude") == noted
    left = remove(noted.replace("} // end", ', /* mine */ "c": 3} // end'))
    assert parsed(left) == {"a": 1, "b": 2, "c": 3, "hooks": {}}
    assert all(note in left for note in ("// ours", "// here", "/* turn */", "/* mine */", "// end"))


@pytest.mark.parametrize("trailing", ["", ","])
@pytest.mark.parametrize("keys", [("hooks",), ("hooks", "b"), ("b", "hooks"), ("a", "hooks", "b"), ("a", "b", "hooks")])
def test_our_entries_go_from_any_place(keys, trailing):
    ours = json.loads(connect("{}", "claude"))["hooks"]
    members = [f'"{key}": {json.dumps(ours if key == "hooks" else 1, indent=1)}' for key in keys]
    left = remove("{" + ", ".join(members) + trailing + "}")
    assert parsed(left) == {key: 1 for key in keys if key != "hooks"}


def test_what_others_added_meanwhile_stays():
    connected = json.loads(connect('{"a": 1}', "claude"))
    connected["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "beep"}]})
    connected["hooks"]["SessionStart"][0]["hooks"].append({"type": "command", "command": "hello"})
    connected["b"] = 2
    beep = [{"hooks": [{"type": "command", "command": "beep"}]}]
    hello = [{"hooks": [{"type": "command", "command": "hello"}]}]
    left = json.loads(remove(json.dumps(connected)))
    assert left == {"a": 1, "hooks": {"SessionStart": hello, "Stop": beep}, "b": 2}


PATHS = {
    "a path": {"command": "/opt/venv/bin/rawkomem hook claude turn-end"},
    "a path of Windows": {"command": '"C:\\Program Files\\rawkomem.exe" hook claude turn-end'},
    "without a shell": {"command": "/opt/my tools/rawkomem", "args": ["hook", "claude", "turn-end"]},
}


@pytest.mark.parametrize("name", PATHS)
def test_ours_by_a_path_are_ours(name):
    """Who wrote a path had a reason to: it stays, is not doubled, and goes with the rest."""
    text = connect('{"a": 1}', "claude")
    wanted = hook_items("claude")["Stop"]["hooks"][0]
    edit = json.loads(text)
    edit["hooks"]["Stop"] = [{"hooks": [{**wanted, **PATHS[name]}]}]
    assert connect(json.dumps(edit), "claude") == json.dumps(edit)
    edit["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 99
    assert json.loads(connect(json.dumps(edit), "claude")) == json.loads(text)
    assert "rawkomem" not in remove(json.dumps(edit))


@pytest.mark.parametrize(
    "command", ["/opt/rawkomem-tools hook x", "myrawkomem hook x", "rawkomem sync", "rawkomem", ""]
)
def test_what_only_looks_like_ours_is_not(command):
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"command": command, "args": "hook"}]}]}})
    assert remove(text) == text


@pytest.mark.parametrize(
    "text",
    ["hello", "{", '{"a": 1', '{"a" 1}', "{'a': 1}", '{"a": 1} x', "[]", "5", '{"hooks": []}', '{"hooks": 5}',
     '{"hooks": {"SessionStart": {}}}', '{"hooks": null}', "{/*", '{"a": "b}', '{"a": 1,, "b": 2}', "[" * 100_000, '{"a": NaN1}',
     '{"a": 1, "a": 2}'],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(text):
    with pytest.raises(ValueError):
        connect(text, "claude")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.sampled_from([1, 2, 3, 8, "\t"]),
    st.sampled_from(["", "\n", "\n\n"]),
)
def test_any_object_in_any_layout(value, indent, end):
    text = json.dumps({"x": value, "hooks": {"Other": [value]}}, indent=indent, ensure_ascii=False) + end
    assert parsed(text) == json.loads(text) and remove(connect(text, "claude")) == text


@pytest.mark.parametrize("text", [*TOML.values(), 'model = "o3"\r\n[tui]\r\nx = 1\r\n'])
def test_toml_too(text):
    connected = connect(text, "codex", True)
    assert connect(connected, "codex", True) == connected
    hooks = tomllib.loads(connected)["hooks"]
    assert hooks["UserPromptSubmit"] == [{"hooks": [dict(hook_handlers("codex")["UserPromptSubmit"])]}]
    assert remove(text, True) == text and remove(connected, True) == text
    both = edited(connected, [add_server], True)
    assert tomllib.loads(both)["mcpServers"]["rawkomem"] == MCP_ENTRY
    assert edited(both, [remove_server], True) == connected
    later = remove(connected + "\n[later]\ny = 2\n", True)
    assert tomllib.loads(later) == {**tomllib.loads(text), "later": {"y": 2}}


def test_toml_of_the_host_and_of_others_stays():
    """Codex stores what a person trusts next to the hooks."""
    state = '\n[hooks.state."x"]\ntrusted_hash = "abc"\n'
    connected = connect('model = "o3"\n', "codex", True) + state
    assert connect(connected, "codex", True) == connected
    newer = connect(connected.replace("timeout = 5", "timeout = 6"), "codex", True)
    assert tomllib.loads(newer) == tomllib.loads(connected)
    theirs = '[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "beep"\n'
    ours = connect("", "codex", True)
    last = next(line for line in reversed(ours.splitlines()) if line.startswith("timeout"))
    left = remove(f"{ours.rpartition(last)[0]}{last}\n{theirs}{state}", True)
    handler = {"type": "command", "command": "beep"}
    assert tomllib.loads(left)["hooks"] == {"Stop": [{"hooks": [handler]}], "state": {"x": {"trusted_hash": "abc"}}}


@pytest.mark.parametrize("text", ["a = ", "hooks = 5", "hooks = { Stop = 5 }"])
def test_toml_that_cannot_be_added_to_is_refused(text):
    with pytest.raises(ValueError):
        connect(text, "codex", True)
