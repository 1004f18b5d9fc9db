"""A sub-agent gets the rules that always apply and the memories for its task, whatever its parent was given."""

import json

import pytest
from rawkomem.files.records import read
from rawkomem.text.chunks import count_tokens

from tests.hosts.hooks.payloads import ASK, claude, codex, copilot

RULE = "---\nid: mem_1_a\ntitle: Plain words\nalwaysApply: true\n---\n\nWrite plain words.\n"
PAGE = "Draw the page with the icons of the house."


@pytest.fixture
def rules(remembered, repository):
    (remembered / "rule.md").write_text(RULE)
    (remembered / "icons.md").write_text("---\ntitle: Icons\nwhenToUse: [icons]\n---\n\nThey are SVG.\n")
    repository.sync()


def context(out: str) -> str:
    said = json.loads(out)["hookSpecificOutput"]
    assert said["hookEventName"] == "SubagentStart"
    return said["additionalContext"]


def started(*tasks: str, message: str = "msg_1") -> str:
    """The records of a transcript in which the agent starts sub-agents."""
    calls = [
        {"type": "tool_use", "id": f"{message}-{number}", "name": "Agent", "input": {"prompt": task}}
        for number, task in enumerate(tasks)
    ]
    said = [{"role": "assistant", "id": message, "content": [call]} for call in calls]
    return "".join(json.dumps({"type": "assistant", "message": one}) + "\n" for one in said)


def start(hook, transcript, agent: str) -> str:
    return hook("claude", "SubagentStart", claude("SubagentStart", agent_id=agent, agent_type="x"), str(transcript))


def test_the_task_is_read_from_the_transcript(hook, rules, tmp_path):
    assert "Use pnpm" in hook("claude", "prompt", claude("UserPromptSubmit", prompt=ASK))
    transcript = tmp_path / "t.jsonl"
    calls = started("Look at the icons.", message="msg_0") + started(ASK, PAGE)
    bash = {"type": "tool_use", "id": "later", "name": "Bash", "input": {"command": "ls"}}
    later = {"role": "assistant", "id": "msg_2", "content": [bash]}  # sub-agents may run in the background
    transcript.write_text(calls + json.dumps({"type": "assistant", "message": later}) + "\n")
    first, second = (context(start(hook, transcript, agent)) for agent in ("a1", "a2"))
    assert "Plain words: Write plain words." in first and "Plain words: Write plain words." in second
    assert "npm breaks CI" in first and "SVG" not in first
    assert "SVG" in second and "npm" not in second
    assert start(hook, transcript, "a2") == "", "a copy of the hook"
    assert "npm" not in context(start(hook, transcript, "a3")), "no task is left"


@pytest.mark.parametrize("text", ["", "no JSON", '{"message": {"id": 1, "content": ["tool_use"]}}', '{"tool_use": 1}'])
def test_a_transcript_without_a_task(hook, rules, tmp_path, log, text):
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(text)
    assert "Write plain words." in context(start(hook, transcript, "a1"))
    assert log() == []


def test_no_rule_and_no_task_is_no_output(hook, remembered, tmp_path):
    assert start(hook, tmp_path / "none.jsonl", "a1") == ""


def test_all_of_it_has_at_most_500_tokens(hook, remembered, repository, tmp_path):
    for number in range(20):
        text = f"Rule {number} about npm says this. " * 12
        head = f"id: mem_{number}_a\ntitle: Rule {number}\nwhenToUse: [npm]"
        (remembered / f"a{number}.md").write_text(f"---\n{head}\nalwaysApply: {number % 2 == 0}\n---\n\n{text}\n")
    repository.sync()
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(started(ASK))
    assert 200 < count_tokens(context(start(hook, transcript, "a1"))) <= 500


def test_hosts_that_call_at_the_prompt_of_a_subagent(hook, rules, repository):
    """They pass the session of the parent; what the parent was given, its sub-agent was not."""
    own = {"agent_id": "a1", "agent_type": "default"}
    assert "Use pnpm" in hook("codex", "prompt", codex("UserPromptSubmit", prompt=ASK))
    assert "Write plain words." in context(hook("codex", "SubagentStart", codex("SubagentStart", **own)))
    assert "Use pnpm" in hook("codex", "prompt", codex("UserPromptSubmit", prompt=ASK, **own))
    assert hook("codex", "prompt", codex("UserPromptSubmit", prompt="Which npm script builds it?", **own)) == ""

    own = {"agentId": "c2", "parentAgentId": "cp-1"}
    said = json.loads(hook("copilot", "subagentStart", copilot(agentName="x", **own)))
    assert list(said) == ["additionalContext"] and "Write plain words." in said["additionalContext"]
    prompt = f"{said['additionalContext']}\n\n{ASK}"
    task = copilot(prompt=prompt, transformedPrompt=prompt, **own)
    before, _, after = json.loads(hook("copilot", "prompt", {**task, "sessionId": "c2"}))[
        "modifiedTransformedPrompt"
    ].partition(prompt)
    assert "Use pnpm" in before and "Plain words" not in before and after == ""
    assert len(read(repository.layout, "SELECT text FROM prompts")) == 1, "an agent wrote the others"
