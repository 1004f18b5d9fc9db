"""The end of a transcript tells what was said last."""

import json

import pytest
from rawkomem.hosts.hook_prompt import MAX_SAID_CHARS, lately, recalled
from rawkomem.hosts.known_hosts import PROMPT, Call

PROJECT = "/home/ann/shop"


def said(role: str, *content: object, **more: object) -> dict:
    parts = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
    return {"type": role, "sessionId": "s", "isSidechain": False, "message": {"role": role, "content": parts}, **more}


def used(**given: object) -> dict:
    return {"type": "tool_use", "name": "Tool", "input": given}


CLAUDE = [
    said("user", "Sort the basket by price."),
    said("assistant", "I look at it.", used(file_path=f"{PROJECT}/src/basket.py")),
    {**said("user"), "message": {"role": "user", "content": [{"type": "tool_result", "content": "def basket(): …"}]}},
    said("assistant", used(path="src"), used(notebook_path="notes/prices.ipynb"), used(file_path="/etc/hosts")),
    said("assistant", "Ascending (A) or descending (B)?"),
    said("assistant", "a sub-agent's word", isSidechain=True),
    said("user", "<local-command-stdout>ok</local-command-stdout>"),
    said("user", "a caveat of the host", isMeta=True),
    {"type": "system", "subtype": "turn_duration"},
]
PATCH = (
    "*** Begin Patch\n*** Update File: src/basket.py\n@@\n-a\n+b\n*** Add File: notes/prices.ipynb\n+x\n*** End Patch"
)
CODEX = [
    {"type": "session_meta", "payload": {"id": "s", "cwd": PROJECT}},
    {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "<environment_context>…</environment_context>"}]}},
    {"type": "event_msg", "payload": {"type": "user_message", "message": "Sort the basket by price."}},
    {"type": "response_item", "payload": {"type": "function_call", "name": "shell", "arguments": json.dumps(
        {"command": ["apply_patch", "*** Begin Patch\n*** Delete File: src/old.py\n*** End Patch"]})}},
    {"type": "response_item", "payload": {"type": "custom_tool_call", "name": "apply_patch", "input": PATCH}},
    {"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [
        {"type": "output_text", "text": "Ascending (A) or descending (B)?"}]}},
    {"type": "event_msg", "payload": {"type": "token_count"}},
]  # fmt: skip
GENERIC = [
    {"role": "user", "content": "Sort the basket by price."},
    {"role": "assistant", "content": [used(file_path="src/basket.py"), used(file_path="./notes/prices.ipynb")]},
    {"role": "assistant", "content": "Ascending (A) or descending (B)?"},
    {"role": "tool", "content": "a tool's word"},
]


@pytest.fixture
def transcript(tmp_path):
    def write(*records: object) -> str:
        file = tmp_path / "t.jsonl"
        file.write_text("".join(f"{json.dumps(line)}\n" for line in records))
        return str(file)

    return write


@pytest.mark.parametrize("records", [CLAUDE, CODEX, GENERIC], ids=["claude", "codex", "generic"])
def test_the_last_exchange_of_each_format(transcript, records):
    found = lately(transcript(*records))
    assert found.said == "Ascending (A) or descending (B)?"
    assert found.asked == "Sort the basket by price."
    assert found.exchange.startswith(found.asked) and found.exchange.endswith(found.said)


def test_the_present_prompt_is_not_what_was_asked_before(transcript):
    file = transcript(*CLAUDE, said("user", "B, please."))
    assert lately(file, "B, please.").asked == "Sort the basket by price."
    assert lately(file).asked == "B, please."


def test_long_words_are_cut_to_their_end(transcript):
    found = lately(transcript(said("user", "Go."), said("assistant", "x " * 5_000 + "Shall I?")))
    assert len(found.said) == MAX_SAID_CHARS and found.said.endswith("Shall I?")


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xfe{", b'{"torn": ', b"[1, 2]\n{}\n", b'{"message": 5, "content": [3]}\n']
)
def test_what_is_not_understood_is_empty(tmp_path, data):
    file = tmp_path / "t.jsonl"
    file.write_bytes(data)
    found = lately(str(file))
    assert (found.said, found.asked) == ("", "")
    assert lately(str(tmp_path)) == lately(str(tmp_path / "none")) == found


def test_the_prompt_hook_passes_them_on(repository, remembered, transcript, monkeypatch):
    asked = []
    inject = repository.inject
    monkeypatch.setattr(repository, "inject", lambda task, **more: asked.append(task) or inject(task, **more))
    file = transcript(*CLAUDE)
    recalled(repository, Call("claude", PROMPT, {}, "s", "B with npm", transcript=file), 9_500)
    recalled(repository, Call("claude", PROMPT, {}, "s", "B with npm"), 9_500)
    assert asked[0].lately == "Sort the basket by price.\n\nAscending (A) or descending (B)?"
    assert asked[0].text == "B with npm" and asked[1].lately == ""
