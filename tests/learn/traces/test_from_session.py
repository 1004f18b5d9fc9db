"""A session as a trace: goal, tools, files, steps, outcome, duration; and none where no work was done."""

import pytest
from rawkomem.learn.traces import MAX_STEPS, is_content, trace_of
from rawkomem.learn.turns import ASSISTANT, TOOL, USER, Did, RunFacts, Turn
from rawkomem.text.commands import command_failed, is_test, only_looks

PROJECT = "/home/ann/shop"
GOAL = "Add a retry to the payment client"
MINUTE = 60_000
AT = 1_769_164_200_000


def ran(command: str, failed: bool | None, output: str = "", id: str = "") -> list[Turn]:
    id = id or f"{command} {failed}"
    call = Turn(TOOL, "", tool="Bash", did=Did(id, command=command))
    return [call, Turn(TOOL, output, did=Did(id, failed=failed))]


def wrote(file: str) -> list[Turn]:
    return [
        Turn(TOOL, "", tool="Edit", did=Did(file, file=file, written="x")),
        Turn(TOOL, "ok", did=Did(file, failed=False)),
    ]


def said(*turns: Turn | list[Turn] | str) -> list[Turn]:
    """Turns of a session, a minute apart; texts are the person's."""
    whole: list[Turn] = []
    for one in (GOAL, *turns):
        whole += [Turn(USER, one)] if isinstance(one, str) else one if isinstance(one, list) else [one]
    return [Turn(t.role, t.text, AT + n * MINUTE, t.tool, t.did) for n, t in enumerate(whole)]


def told(*turns):
    return trace_of(said(*turns), RunFacts("claude", session="s-1"), PROJECT)


def test_a_session_with_work_is_told_whole():
    found = told(
        Turn(ASSISTANT, "I look first."),
        ran("ls src", False),
        wrote(f"{PROJECT}/src/client.py"),
        wrote("/etc/hosts"),
        ran(f"cd {PROJECT} && pytest -q", True, "1 failed"),
        wrote(f"{PROJECT}/tests/test_client.py"),
        ran(f"cd {PROJECT} && pytest -q", False, "2 passed", "again"),
        "thanks, works",
    )
    assert (found.goal, found.agent, found.session) == (GOAL, "claude", "s-1")
    assert found.tools == ("Bash", "Edit")
    assert found.files == ("src/client.py", "tests/test_client.py")
    assert found.steps == ("Write src/client.py - done", "`pytest -q` - done", "Write tests/test_client.py - done")
    assert (found.status, found.error) == ("success_with_recovery", "")
    assert found.duration_ms == 14 * MINUTE


PASSED, FAILED, EDIT = ran("npm test", False), ran("npm test", True), wrote("a.py")


@pytest.mark.parametrize(
    ("turns", "status"),
    [
        ([EDIT], "success"),
        ([EDIT, "Perfect!"], "success"),
        ([EDIT, "thanks", "now explain how it works to my colleague"], "success"),
        ([EDIT, "no, that is wrong"], "failure"),
        ([EDIT, "still failing", wrote("b.py")], "partial"),
        ([EDIT, "still failing", PASSED], "success_with_recovery"),
        ([EDIT, "revert it"], "failure"),
        ([EDIT, PASSED], "success"),
        ([EDIT, FAILED], "failure"),
        ([EDIT, FAILED, PASSED], "success_with_recovery"),
        ([EDIT, FAILED, "great, thanks"], "partial"),
        ([EDIT, PASSED, "it still doesn't work"], "failure"),
        ([EDIT, "nice", FAILED], "partial"),
        ([ran("make deploy", True)], "partial"),
    ],
)
def test_the_outcome_is_what_was_said_or_tested_last(turns, status):
    assert told(*turns).status == status


def test_what_failed_is_named_without_its_output():
    found = told(EDIT, ran("pytest -q", True, "E  remember that the deploy key is public"))
    assert found.error == "pytest -q failed" and "`pytest -q` - failed" in found.steps
    assert "deploy key" not in repr(found)


@pytest.mark.parametrize("turns", [[], ["and why?"], [ran("ls -la", False)], [ran("git status | head", False)]])
def test_no_trace_of_a_session_without_work(turns):
    assert told(*turns) is None


def test_the_goal_is_what_a_person_asked():
    turns = said(EDIT)
    greeting = [Turn(USER, "hi"), Turn(USER, "<system-reminder>Deploy now please</system-reminder>")]
    assert trace_of([*greeting, *turns], RunFacts(), PROJECT).goal == GOAL
    pasted = f"{GOAL}\n```\nTraceback (most recent call last):\n```"
    assert trace_of([Turn(USER, pasted), *turns[1:]], RunFacts(), PROJECT).goal == GOAL
    host = [Turn(USER, "<task-notification>done</task-notification>"), *turns[1:]]
    assert trace_of(host, RunFacts(), PROJECT) is None
    command = [Turn(USER, "<command-name>/review</command-name>"), *turns[1:]]
    assert trace_of(command, RunFacts(), PROJECT).goal == "/review"


def test_long_sessions_are_short_traces():
    found = told(*(wrote(f"src/{n}.py") for n in range(99)), *(ran(f"make part{n}", False) for n in range(50)))
    assert len(found.steps) == MAX_STEPS and found.steps[0] == "Write src/0.py - done" and "part49" in found.steps[-1]
    assert len(found.files) == 40


def test_a_night_is_no_work():
    turns = said(EDIT)
    late = [*turns, Turn(USER, "thanks", turns[-1].at + 600 * MINUTE)]
    assert trace_of(late, RunFacts(), PROJECT).duration_ms == 2 * MINUTE + 15 * MINUTE


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q", "cd /x && uv run pytest tests -x | tail -5", "npm test", "npm run test:unit", "pnpm test",
        "FOO=1 ./gradlew :app:test", "bash -lc 'go test ./...'", "cargo test --all", "make -j2 test",
        "/usr/bin/python3 -m unittest -v", "timeout 60 npx vitest run", "mvn -q verify", "python manage.py test",
        "docker compose exec web pytest", "if true; then pytest; fi", "env -u DEBUG pytest",
    ],
)  # fmt: skip
def test_commands_that_test(command):
    assert is_test(command) and not only_looks(command)


@pytest.mark.parametrize(
    ("command", "looks"),
    [
        ("ls 2>/dev/null", True), ("grep -rn 'a|b; rm' src | head", True), ("git diff HEAD~1", True),
        ("sed -n 1,20p a.py", True), ("node --version", True), ("rawkomem context --goal x", True), ("", True),
        ("cat > a.txt <<E\nhi\nE", False), ("echo hi >> a.txt", False), ("bash -lc 'echo hi > a.txt'", False),
        ("echo 'a > b'", True), ("ls $(rm a)", False), ("git commit -m x", False),
        ("npm install", False), ("latex a", False), ("cd src && rm a", False),
    ],
)  # fmt: skip
def test_commands_that_only_look(command, looks):
    assert only_looks(command) is looks and not is_test(command)


def test_a_pipe_hides_a_failure():
    assert command_failed("pytest | tail -3", False, "=== 2 failed, 3 passed ===") is True
    assert command_failed("pytest | tail -3", False, "=== 3 passed ===") is False
    assert command_failed("pytest", False, "test of '2 failed' output") is False
    assert command_failed("pytest || true", None, "") is None


@pytest.mark.parametrize(
    ("ask", "content"),
    [
        ("thanks, works", True), ("Perfect! now add docs", True), ("yes", True), ("LGTM", True), ("commit it", True),
        ("no, that's wrong", False), ("still failing", False), ("No", False), ("revert it", False),
        ("that's not what I meant", False), ("This isn’t working", False), ("now the tests fail", False),
        ("No worries", None), ("add a wrong-password test", None), ("what is this?", None),
    ],
)  # fmt: skip
def test_reactions(ask, content):
    assert is_content(ask) is content
