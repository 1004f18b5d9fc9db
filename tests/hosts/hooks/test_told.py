"""A session is not told twice, until its context is gone, the memory changes, or the prompt was cancelled."""

import json

import pytest
from rawkomem.hosts import hook_calls, hook_prompt
from rawkomem.model import values

from tests.hosts.hooks.conftest import MEMORY
from tests.hosts.hooks.payloads import ASK, claude, codex, copilot, cursor, gemini

OTHER = "Which npm script builds the page?"


@pytest.fixture
def later(monkeypatch):
    """Lets time pass for the hooks."""
    passed = [0.0]
    started, started_ms = hook_calls.time.time(), values.now()
    monkeypatch.setattr(hook_calls.time, "time", lambda: started + passed[0])
    monkeypatch.setattr(hook_prompt, "now", lambda: started_ms + int(1_000 * passed[0]))

    def wait(seconds: float) -> None:
        passed[0] += seconds

    return wait


def prompt(text: str, **more: object) -> dict:
    return claude("UserPromptSubmit", prompt=text, **more)


def test_a_second_prompt_does_not_repeat_a_memory(hook, remembered):
    assert "Use pnpm" in hook("claude", "prompt", prompt(ASK))
    assert hook("claude", "prompt", prompt(OTHER)) == ""
    assert "Use pnpm" in hook("claude", "prompt", prompt(OTHER, session_id="another"))


@pytest.mark.parametrize("why", ["compact", "clear", "resume"])
def test_a_context_that_was_rebuilt_is_told_again(hook, remembered, why):
    hook("claude", "prompt", prompt(ASK))
    hook("claude", "session-start", claude("SessionStart", source=why))
    assert "Use pnpm" in hook("claude", "prompt", prompt(OTHER))
    assert hook("claude", "prompt", prompt("Remove the npm cache.")) == ""


@pytest.mark.parametrize("host", ["cursor", "copilot"])
def test_hosts_that_tell_of_a_compaction_itself_are_told_again(hook, remembered, host):
    said = {"cursor": cursor, "copilot": lambda _, **more: copilot(transformedPrompt="x", **more)}[host]
    assert "Use pnpm" in hook(host, "prompt", said("beforeSubmitPrompt", prompt=ASK))
    assert hook(host, "prompt", said("beforeSubmitPrompt", prompt=OTHER)) == ""
    assert hook(host, "preCompact", said("preCompact", trigger="auto")) == ""
    assert "Use pnpm" in hook(host, "prompt", said("beforeSubmitPrompt", prompt="Clean npm's cache."))


def test_a_host_that_drops_its_context_after_a_turn_is_told_each_time(hook, remembered):
    for text in (ASK, OTHER):
        assert "Use pnpm" in hook("gemini", "prompt", gemini("BeforeAgent", prompt=text))


def test_a_start_that_comes_after_the_first_prompt_resets_nothing(hook, remembered):
    """OpenCode asks for the opening when it sends the first prompt."""
    assert "Use pnpm" in hook("opencode", "prompt", {"session_id": "o", "prompt": ASK, "cwd": "FOLDER"})
    hook("opencode", "session-start", {"session_id": "o", "source": "startup 77", "cwd": "FOLDER"})
    assert hook("opencode", "prompt", {"session_id": "o", "prompt": OTHER, "cwd": "FOLDER"}) == ""


@pytest.mark.parametrize(
    "change", [("npm breaks CI", "npm breaks the release"), ("high", "low"), ("Use pnpm", "Take pnpm")]
)
def test_a_memory_that_changed_is_told_again(hook, remembered, repository, change):
    hook("claude", "prompt", prompt(ASK))
    (remembered / "use-pnpm.md").write_text(MEMORY.replace(*change))
    repository.sync()
    assert "pnpm" in hook("claude", "prompt", prompt(OTHER))


def test_a_prompt_that_was_cancelled_gets_its_memories_again(hook, remembered, later):
    assert "Use pnpm" in hook("claude", "prompt", prompt(ASK))
    later(0.4)
    assert hook("claude", "prompt", prompt(ASK)) == ""  # a copy of the hook
    later(4)
    assert "Use pnpm" in hook("claude", "prompt", prompt(ASK))
    later(4)
    assert "Use pnpm" in hook("claude", "prompt", prompt(f"{ASK} Use version 1.3."))
    later(4)
    assert hook("claude", "prompt", prompt(OTHER)) == ""


def test_a_host_that_names_its_prompts_tells_copies_from_repetitions(hook, remembered, later):
    assert "Use pnpm" in hook("claude", "prompt", prompt(ASK, prompt_id="p1"))
    later(10)
    assert hook("claude", "prompt", prompt(ASK, prompt_id="p1")) == ""  # a copy on a slow machine
    assert "Use pnpm" in hook("claude", "prompt", prompt(ASK, prompt_id="p2"))
    told = codex("UserPromptSubmit", prompt=ASK, session_id="c")
    assert "Use pnpm" in hook("codex", "prompt", {**told, "turn_id": "t1"})
    assert hook("codex", "prompt", {**told, "turn_id": "t1"}) == ""
    assert "Use pnpm" in hook("codex", "prompt", {**told, "turn_id": "t2"})


def test_a_prompt_that_was_answered_and_is_repeated_was_not_cancelled(hook, remembered, later, tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text(json.dumps({"type": "assistant", "message": {"role": "assistant", "content": "Hello."}}) + "\n")
    assert "Use pnpm" in hook("claude", "prompt", prompt(ASK), str(file))
    later(4)
    with file.open("a") as stream:
        stream.write(json.dumps({"type": "user", "message": {"role": "user", "content": ASK}}) + "\n")
    assert "Use pnpm" in hook("claude", "prompt", prompt(ASK), str(file))
    later(4)
    with file.open("a") as stream:
        stream.write(json.dumps({"type": "assistant", "message": {"role": "assistant", "content": "Done."}}) + "\n")
    assert hook("claude", "prompt", prompt(ASK), str(file)) == ""


def test_the_same_words_much_later_are_no_repetition_of_a_cancelled_prompt(hook, remembered, later):
    hook("claude", "prompt", prompt(ASK))
    later(hook_prompt.MAX_CANCEL_MS / 1_000 + 1)
    assert hook("claude", "prompt", prompt(ASK)) == ""


@pytest.mark.parametrize("host", ["codex", "claude"])
def test_a_resumed_session_keeps_its_opening(hook, remembered, later, host):
    assert hook(host, "session-start", codex("SessionStart", source="startup"))
    assert hook(host, "session-start", codex("SessionStart", source="resume")) == ""
    later(60)
    assert hook(host, "session-start", codex("SessionStart", source="resume")) == ""
    assert hook(host, "session-start", codex("SessionStart", source="compact"))
    assert hook(host, "session-start", codex("SessionStart", source="resume", session_id="of another machine"))


def test_a_session_has_a_budget_of_its_own(repository, memories):
    for number in range(12):
        text = f"---\nid: m{number}\ntitle: Rule {number}\nwhenToUse: [word{number}]\n---\n{f'Fact {number} holds. ' * 40}\n"
        (memories / f"m{number}.md").write_text(text)
    spent = 0
    for number in range(12):
        injection = repository.inject(f"word{number}", session="s", limit=1, budget=300)
        repository.note_use(injection, "s")
        spent += injection.tokens
        if not injection.items:
            break
    assert number > 3 and spent <= 5 * 300 and "over-budget" in {item.out.code for item in injection.left_out}
    assert repository.inject(f"word{number}", session="another", limit=1, budget=300).items


def test_people_see_why_and_what_was_saved(rawkomem, remembered):
    for _ in range(2):
        rawkomem("inject", ASK, "--session", "s1")
    assert "received it before" in rawkomem("why", "mem_1769164200000_3fa9c1", ASK, "--session", "s1", check=1).stdout
    assert rawkomem("why", "mem_1769164200000_3fa9c1", ASK).stdout.strip().endswith("\ninjected")
    (row,) = json.loads(rawkomem("stats", "--tokens", "--json").stdout)
    assert (row["injections"], row["memories"]) == (1, 1) and row["saved"] > 0
    assert "saved by not repeating" in rawkomem("stats", "--tokens").stdout
