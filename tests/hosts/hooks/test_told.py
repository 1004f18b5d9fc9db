"""A session is not told twice, until its context is gone, the memory changes, or the prompt was cancelled."""

import json

import pytest
from rawkomem.files.records import note, read
from rawkomem.hosts import hook_calls, hook_prompt, hook_sessions
from rawkomem.model import values
from rawkomem.model.values import now

from tests.hosts.hooks.conftest import MEMORY
from tests.hosts.hooks.payloads import ASK, claude, codex, copilot, cursor, gemini, vscode
from tests.hosts.hooks.test_request import Agent

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


@pytest.mark.parametrize("host", ["claude", "codex", "opencode"])
def test_a_compacted_session_gets_again_what_it_had_and_what_is_still_in_use(hook, remembered, repository, host):
    (remembered / "yarn.md").write_text("---\ntitle: No yarn\nwhenToUse: [yarn]\n---\n\nYarn is slow.\n")
    (remembered / "icons.md").write_text("---\ntitle: Icons\nwhenToUse: [icons]\n---\n\nThey are SVG.\n")
    repository.sync()
    for text in (ASK, "Add a package with yarn."):
        hook(host, "prompt", prompt(text))
    (remembered / "yarn.md").unlink()
    start = hook(host, "session-start", claude("SessionStart", source="startup"))
    assert "npm breaks CI" not in start
    again = hook(host, "session-start", claude("SessionStart", source="compact"))
    assert "before its context was compacted" in again and "Use pnpm: The lock file is pnpm's; npm breaks CI." in again
    assert "Yarn is slow" not in again and "SVG" not in again
    for why in ("compact", "clear"):
        assert "npm breaks CI" not in hook(host, "session-start", claude("SessionStart", source=why, session_id="new"))


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
    (row,) = rawkomem.json("stats", "--tokens")
    assert (row["injections"], row["memories"]) == (1, 1) and row["saved"] > 0
    assert "saved by not repeating" in rawkomem("stats", "--tokens").stdout


# The line that a host shows to the person: what was added, what was learned, what was slow
def shown(out: str) -> str:
    return json.loads(out).get("systemMessage", "") if out else ""


def test_a_person_sees_what_was_learned_once(hook, repository, transcripts, monkeypatch):
    monkeypatch.setattr(hook_sessions, "SETTLE_S", 0)
    agent = Agent(hook, repository, transcripts)
    agent.prompt("Remember that we deploy on Tuesdays only.")
    agent.answer("I will.")
    first = hook("claude", "prompt", claude("UserPromptSubmit", prompt="Who won the cup?"))
    assert "stored “" in shown(first) and "Tuesdays" in shown(first) and list(json.loads(first)) == ["systemMessage"]
    assert hook("claude", "prompt", claude("UserPromptSubmit", prompt="Who won the other cup?")) == ""


def test_a_host_that_shows_nothing_takes_nothing(hook, repository, project):
    note(repository.layout, "news", "1 new draft")
    hook("cursor", "prompt", cursor("beforeSubmitPrompt", prompt="Who won the cup?"))
    assert read(repository.layout, "SELECT line FROM news") == [("1 new draft",)]


@pytest.mark.parametrize("event", ["prompt", "session-start"])
def test_a_call_that_the_host_stopped_is_told_next_time(event, hook, repository):
    note(repository.layout, "calls", now() - 60_000, "claude", "prompt", -1, 0)
    told = {
        "prompt": claude("UserPromptSubmit", prompt="Who won?"),
        "session-start": claude("SessionStart", source="startup"),
    }
    said = "1 earlier hook call took longer than claude waits (prompt): run 'rawkomem doctor'"
    assert said in shown(hook("claude", event, told[event]))
    assert "took longer" not in hook("claude", "prompt", claude("UserPromptSubmit", prompt="Who won the other cup?"))


# A hook that is set up twice answers once
def test_the_same_prompt_of_a_session_is_answered_once(hook, remembered):
    told = claude("UserPromptSubmit", prompt=ASK)
    assert "Use pnpm" in hook("claude", "prompt", told)
    assert hook("claude", "prompt", told) == ""
    assert "Use pnpm" in hook("claude", "prompt", {**told, "session_id": "another"})


def test_the_same_session_told_in_two_dialects_is_answered_once(hook, remembered):
    assert "Use pnpm" in hook("claude", "prompt", vscode("UserPromptSubmit", prompt=ASK))
    assert hook("vscode", "prompt", vscode("UserPromptSubmit", prompt=ASK)) == ""


def test_copilot_hears_its_own_hook_though_it_ran_that_of_claude_code_before(hook, remembered):
    """It runs the hooks of .claude/settings.json too, and drops what they say to a prompt."""
    snake = {"session_id": "cp-1", "cwd": "FOLDER", "hook_event_name": "UserPromptSubmit", "prompt": ASK}
    assert "Use pnpm" in hook("claude", "prompt", snake)
    assert hook("copilot", "prompt", copilot(prompt=ASK)) == ""
    told = copilot(prompt=ASK, transformedPrompt=ASK)
    assert "Use pnpm" in hook("copilot", "prompt", told) and hook("copilot", "prompt", told) == ""
    start = {**snake, "hook_event_name": "SessionStart", "source": "startup"}
    assert hook("claude", "session-start", start)
    told = copilot(source="startup")
    assert hook("copilot", "session-start", told) and hook("copilot", "session-start", told) == ""


def test_a_session_that_starts_again_is_told_again(hook, remembered):
    assert hook("claude", "session-start", claude("SessionStart", source="startup"))
    assert hook("claude", "session-start", claude("SessionStart", source="startup")) == ""
    assert hook("claude", "session-start", claude("SessionStart", source="compact"))


def test_of_many_at_once_one_answers(hook, remembered, project):
    told = json.dumps({**claude("UserPromptSubmit", prompt=ASK, prompt_id="p1"), "cwd": str(project)}).encode()
    started = [hook.start("claude", "prompt") for _ in range(4)]
    for process in started:
        process.stdin.write(told)
        process.stdin.close()
        process.stdin = None
    answers = [hook.finish(process, None) for process in started]
    assert sum("Use pnpm" in answer for answer in answers) == 1


def test_it_is_forgotten_after_a_while(repository, monkeypatch):
    at = 1_000_000.0
    monkeypatch.setattr(hook_calls.time, "time", lambda: at)
    assert hook_calls.is_first_call(repository.layout, "a", "b") and not hook_calls.is_first_call(
        repository.layout, "a", "b"
    )
    assert hook_calls.is_first_call(repository.layout, "ab", "")
    at += hook_calls.COPIES_S
    assert not hook_calls.is_first_call(repository.layout, "a", "b")
    assert hook_calls.is_first_call(repository.layout, "a", "b", within_s=hook_calls.COPIES_S)
    at += hook_calls.WINDOW_S
    assert hook_calls.is_first_call(repository.layout, "a", "b")


def test_old_calls_are_forgotten(repository, monkeypatch):
    at = 1_000_000.0
    monkeypatch.setattr(hook_calls.time, "time", lambda: at)
    for number in range(500):
        at += 1.0
        assert hook_calls.is_first_call(repository.layout, str(number))
    assert not hook_calls.is_first_call(repository.layout, "499")
    assert read(repository.layout, "SELECT count(*) FROM seen")[0][0] <= hook_calls.WINDOW_S + 1
