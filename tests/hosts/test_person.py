"""Who counts as a person: real pseudo-terminals, real process trees, and none of the agent that may run these tests."""

import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from rawkomem.files.layout import find_layout
from rawkomem.files.records import note
from rawkomem.hosts import connect, hook_calls
from rawkomem.hosts.connect import carry_out, plan_connect
from rawkomem.hosts.known_hosts import AGENT_VARIABLES
from rawkomem.hosts.person import Process, agent_among, ask_person
from rawkomem.model.entries import Entry
from rawkomem.model.errors import Refused
from rawkomem.model.values import DAY, now
from rawkomem.repository import Repository

from tests.commands import ROOT
from tests.hosts.connect.test_connect import home  # noqa: F401
from tests.terminals import converse, detached, scrubbed, shell_named, typed, wait_for

ADD = [sys.executable, "-m", "rawkomem", "add", "--title", "Typed", "--body", "By hand."]


def is_verified(repository) -> bool:
    (row,) = repository.list()
    return repository.beliefs.trust(repository.get(row.id)).standing.verified


def test_what_is_typed_at_a_terminal_is_a_persons(terminal, project, repository):
    detached(terminal, typed(" ".join(quoted(ADD))), project, scrubbed())
    assert is_verified(repository)


def quoted(words: list[str]) -> list[str]:
    return [f'"{word}"' for word in words]


@pytest.mark.parametrize("variable", ["CLAUDECODE", "AI_AGENT"])
def test_a_variable_of_an_agent_makes_it_the_agents(variable, terminal, project, repository):
    assert {"CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI", "CURSOR_AGENT", "OPENCODE", "AI_AGENT"} <= {*AGENT_VARIABLES}
    detached(terminal, typed(" ".join(quoted(ADD))), project, scrubbed(**{variable: "1"}))
    assert not is_verified(repository)


@pytest.mark.parametrize("agent", ["claude", "codex", "aider"])
def test_an_agent_above_a_pseudo_terminal_makes_it_the_agents(agent, terminal, tmp_path, project, repository):
    """`script` run by an agent that clears its environment, below a terminal of a person."""
    program = shell_named(agent, tmp_path / "bin")
    line = f"{program} -c '{typed(' '.join(quoted(ADD))).replace(chr(39), chr(39) + chr(92) + chr(39) * 2)}; :'"
    detached(terminal, line, project, scrubbed())
    assert not is_verified(repository)


def test_a_pseudo_terminal_without_anybody_is_the_agents(project, repository):
    """`setsid script …` whose parent ended: only a shell is left above it."""
    detached("/bin/sh", typed(" ".join(quoted(ADD))), project, scrubbed())
    assert not is_verified(repository)


MAKERS = {
    "script": "script -qefc '{line}' /dev/null </dev/null",
    "python": "{python} -c 'import pty, sys; pty.spawn(sys.argv[1:])' {line} </dev/null >/dev/null",
}


@pytest.mark.parametrize("maker", MAKERS)
def test_a_terminal_that_a_program_made_is_the_programs(maker, terminal, project, repository):
    """A6: `script -qec "rawkomem review ID --activate"`, below a host that is on no list, in a person's terminal."""
    line = MAKERS[maker].format(line=" ".join(quoted(ADD)), python=sys.executable)
    (project / "agent.sh").write_text(line)
    detached(terminal, typed(f"sh {project}/agent.sh"), project, scrubbed())
    assert not is_verified(repository)


def seated(*rows: tuple[str, str, bool]) -> list[Process]:
    """Processes from the nearest to the topmost: name, terminal, and whether it reads from that terminal."""
    top = len(rows) + 1
    return [
        Process(top - at, top - at - 1, name, (name,), where, attended)
        for at, (name, where, attended) in enumerate(rows)
    ]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([("bash", "1", True), ("sshd", "", False)], ""),
        ([("bash", "1", True), ("tmux: server", "", False)], "tmux: server"),
        ([("bash", "1", True), ("SCREEN", "", False)], "SCREEN"),
        ([("bash", "1", True), ("code", "", False)], ""),
        ([("bash", "1", True), ("nvim", "2", True), ("bash", "2", True), ("foot", "", False)], ""),
        ([("bash", "1", True), ("sudo", "2", True), ("zsh", "2", True), ("alacritty", "", False)], ""),
        ([("bash", "1", True), ("script", "2", True), ("bash", "2", True), ("kitty", "", False)], ""),
        ([("bash", "1", True), ("login", "1", True)], ""),
        ([("bash", "1", True)], "bash"),
        ([("bash", "1", True), ("su", "2", False), ("bash", "2", True), ("kitty", "", False)], "su"),
        ([("bash", "1", True), ("sudo", "", False), ("claws", "", False)], "sudo"),
        ([("bash", "1", True), ("su", "", False)], "su"),
        ([("script", "2", False), ("bash", "2", True), ("kitty", "", False)], "script"),
        ([("sudo", "2", True), ("script", "", False), ("x", "3", True), ("kitty", "", False)], "script"),
        ([("bash", "1", True), ("expect", "2", True), ("bash", "2", True), ("kitty", "", False)], "expect"),
        ([("bash", "1", True), ("python3", "2", True), ("bash", "2", True), ("kitty", "", False)], "python3"),
        ([("bash", "1", True), ("node", "", False), ("unknown-agent", "", False)], "node"),
    ],
)  # fmt: skip
def test_who_made_the_terminal(rows, found):
    assert agent_among(seated(*rows), "1") == found


# how to run a command in a new window: nobody is attached; the terminal of a person is attached
WINDOWS = {
    "tmux": ("tmux -S {folder}/sock new-session -d {line}", "tmux -S {folder}/sock new-session {line}"),
    "screen": ("screen -D -m sh -c {line}", "screen sh -c {line}"),
}


@pytest.mark.parametrize("is_attached", [False, True])
@pytest.mark.parametrize("program", WINDOWS)
def test_a_window_is_a_persons_only_while_a_persons_terminal_shows_it(
    program, is_attached, terminal, project, repository
):
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    start = WINDOWS[program][is_attached].format(folder=project, line=shlex.quote(f"{shlex.join(ADD)}; touch stored"))
    (project / "window.sh").write_text(start)
    line = f"sh {project}/window.sh"
    env = scrubbed(TERM="xterm", SCREENDIR=str(project / "screens"))
    (project / "screens").mkdir(mode=0o700)
    detached(terminal, typed(line) if is_attached else line, project, env)
    wait_for((project / "stored").exists)
    assert is_verified(repository) is is_attached


def test_an_agent_that_attaches_to_its_own_window_is_no_person(project, repository, terminal):
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed")
    sock = project / "sock"
    wait = f"sleep 2; {shlex.join(ADD)}; touch stored"
    (project / "window.sh").write_text(f"tmux -S {sock} new-session -d {shlex.quote(wait)}")
    watch = f"import pty; pty.spawn(['tmux', '-S', '{sock}', 'attach'])"
    (project / "watch.sh").write_text(f'{sys.executable} -c "{watch}" </dev/null >/dev/null &')
    detached(terminal, f"sh {project}/window.sh; sh {project}/watch.sh", project, scrubbed(TERM="xterm"))
    wait_for((project / "stored").exists)
    assert not is_verified(repository)


def test_a_pipe_is_a_programs(terminal, project, repository):
    detached(terminal, f"{' '.join(quoted(ADD))} | cat", project, scrubbed())
    assert not is_verified(repository)


def test_a_terminal_that_does_not_control_the_process_is_a_programs(project, repository):
    ours, theirs = os.openpty()
    subprocess.run(ADD, cwd=project, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=scrubbed(), check=True)
    os.close(ours)
    os.close(theirs)
    assert not is_verified(repository)


def tree(*rows: tuple[str, str]) -> list[Process]:
    """Processes from the nearest to the one that the system started."""
    count = len(rows) + 1
    return [Process(count - at, count - at - 1, name, tuple(line.split())) for at, (name, line) in enumerate(rows)]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([("bash", "-bash"), ("sshd", "sshd: ada@pts/0")], ""),
        ([("zsh", "zsh"), ("tmux: server", "tmux")], ""),
        ([("bash", "bash"), ("gnome-terminal-", "gnome-terminal-server"), ("systemd", "systemd --user")], ""),
        ([("bash", "bash"), ("script", "script log"), ("bash", "bash"), ("kitty", "kitty")], ""),
        ([("bash", "bash /home/ada/claude/run.sh"), ("login", "login")], ""),
        ([("bash", "bash"), ("node", "node /x/server-main.js"), ("sh", "sh /root/.vscode-server/bin/code-server")], ""),
        ([("bash", "bash"), ("claude", "claude"), ("bash", "bash"), ("sshd", "sshd")], "claude"),
        ([("sh", "sh"), ("node", "node /usr/lib/node_modules/@openai/codex/bin/x.js"), ("xterm", "xterm")], "codex"),
        ([("sh", "sh"), ("node", "node --no-warnings /usr/bin/gemini"), ("xterm", "xterm")], "gemini"),
        ([("sh", "sh"), ("python3.12", "/usr/bin/python3.12 /usr/bin/aider"), ("xterm", "xterm")], "aider"),
        ([("bash", "bash"), ("Cursor", "/opt/Cursor/cursor --type=utility")], "cursor"),
        ([("sh", "sh"), ("script", "script -qec x")], "script"),
        ([("sh", "sh"), ("expect", "expect x"), ("systemd", "systemd --user")], "expect"),
        ([("python3", "python3 fake.py")], "python3"),
    ],
)  # fmt: skip
def test_process_trees(rows, found):
    assert agent_among(tree(*rows)) == found


def test_a_shell_that_is_the_first_process_of_a_container_is_a_persons():
    assert agent_among([Process(7, 1, "bash", ("bash",)), Process(1, 0, "bash", ("bash",))]) == ""
    assert agent_among([Process(7, 0, "bash", ("bash",))]) == ""


@pytest.mark.parametrize(("typed_answer", "said"), [(b"y\n", b"True"), (b"n\n", b"False"), (b"\n", b"False")])
def test_a_question_is_asked_on_the_terminal_and_not_on_stdin(typed_answer, said):
    child, ours = pty.fork()
    if not child:
        os.environ["PYTHONPATH"] = str(ROOT)
        code = "from rawkomem.hosts.person import confirmed; print(confirmed('Vouch for this?'))"
        os.execvp("sh", ["sh", "-c", f'echo y | "{sys.executable}" -c "{code}"'])
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(ours, 1024)
    os.write(ours, typed_answer)
    while said not in shown:
        shown += os.read(ours, 1024)  # raises an error when the child ends without it
    os.waitpid(child, 0)
    os.close(ours)


def test_without_a_terminal_nobody_says_yes():
    code = "from rawkomem.hosts.person import confirmed; print(confirmed('Vouch for this?'))"
    done = subprocess.run([sys.executable, "-c", code], env=scrubbed(), input="y\n", capture_output=True, text=True,
                          start_new_session=True, check=True)  # fmt: skip
    assert done.stdout == "False\n"


def test_a_person_vouches_after_saying_yes(git, memories, project, repository, terminal):
    (memories / "rule.md").write_text("---\ntitle: Rule\nwhenToUse: login\n---\n\nOld.\n")
    git.commit()
    with Repository.open(str(project), via="agent") as agent:
        agent.amend("rule", Entry(body="New."))
    review = [sys.executable, "-m", "rawkomem", "review", "rule", "--accept"]
    for answer, body in (("n", "Old."), ("y", "New.")):
        converse(terminal, review, [(r"\[y/N\]", f"{answer}\n")], project, scrubbed())
        assert repository.get("rule").body == body


def test_yes_vouches_for_nothing(git, memories, project, repository, terminal):
    (memories / "a.md").write_text("---\nid: mem_1_a\ntitle: Deploy\n---\n\nPush to main.\n")
    git.commit()
    with Repository.open(str(project), via="agent") as agent:
        stored = agent.add(Entry(title="Zebra", body="Zebras graze."))
        agent.amend("mem_1_a", body="Push a tag.")
    for line in (f"review {stored.entry.id} --activate --yes", "review mem_1_a --accept --yes"):
        (project / "ended").unlink(missing_ok=True)
        detached(terminal, typed(f"{sys.executable} -m rawkomem {line}"), project, scrubbed())
    assert not repository.get(stored.entry.id).vouched
    assert repository.get("mem_1_a").body == "Push to main."


ANSWERING = """\
import os, pty, sys
child, ours = pty.fork()
if not child:
    os.execvp(sys.argv[1], sys.argv[1:])
shown = b""
while True:
    try:
        read = os.read(ours, 1024)
    except OSError:
        break
    os.write(1, read)
    shown += read
    if b"[y/N]" in shown:
        os.write(ours, b"y\\n")
        shown = b""
"""
# how a program that is no person may run `review`, below the terminal of a person, and answer its question
WAYS = {
    "yes": "{review} --yes",
    "pipe": "echo y | {review}",
    "script": "(sleep 1; echo y) | script -qefc '{review}' /dev/null",
    "pty.spawn": "(sleep 1; echo y) | {python} -c 'import pty, sys; pty.spawn(sys.argv[1:])' {review}",
    "answering": "{python} {folder}/answering.py {review}",
    "setsid": "setsid -w {review}",
    "nohup": "nohup {review} </dev/null >out 2>&1; cat out",
    "su": "(sleep 1; echo y) | su --pty -c 'cd {folder}; PATH=$PATH PYTHONPATH=$PYTHONPATH {review}'",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_program_that_answers_vouches_for_nothing_and_is_told_so(way, git, memories, project, repository, terminal):
    if way == "su" and (os.geteuid() or subprocess.run(["su", "--pty", "-c", "true"], check=False).returncode):
        pytest.skip("su --pty needs root here")
    (memories / "rule.md").write_text("---\nid: mem_1_a\ntitle: Rule\n---\n\nOld.\n")
    git.commit()
    with Repository.open(str(project), via="agent") as agent:
        agent.amend("mem_1_a", Entry(body="New."))
    (project / "answering.py").write_text(ANSWERING)
    review = f"{sys.executable} -m rawkomem -C {project} review mem_1_a --accept"
    line = WAYS[way].format(review=review, python=sys.executable, folder=project)
    (project / "agent.sh").write_text(line)
    detached(terminal, typed(f"sh {project}/agent.sh", project / "shown"), project, scrubbed())
    assert repository.get("mem_1_a").body == "Old."
    assert "proposed" in (project / "shown").read_text()


def test_without_a_terminal_a_review_is_a_proposal(git, memories, repository, rawkomem):
    """A CI job, a daemon, a hook."""
    (memories / "rule.md").write_text("---\nid: mem_1_a\ntitle: Rule\n---\n\nOld.\n")
    git.commit()
    with Repository.open(str(repository.layout.project), via="agent") as agent:
        agent.amend("mem_1_a", Entry(body="New."))
    said = rawkomem.process("review", "mem_1_a", "--accept")
    assert repository.get("mem_1_a").body == "Old."
    assert "proposed" in said.stdout and "at a terminal" in said.stderr


# a library cannot claim to be a person
@pytest.mark.parametrize("via", ["person", "agent", "tool_output", ""])
def test_a_program_does_not_vouch_whatever_it_claims(via, unbelieved, git, memories, project):
    (memories / "rule.md").write_text("---\nid: mem_1_a\ntitle: Rule\n---\n\nOld.\n")
    git.commit()
    with Repository.open(str(project), via=via) as repository:
        stored = repository.add("Typed, says the program.", title="Claimed", via=via)
        repository.amend("mem_1_a", body="New.", via=via)
        repository.beliefs.review(stored.id, "activate")
        with pytest.raises(Refused, match="only a person may purge"):
            repository.lifecycle.purge("mem_1_a")
        assert repository.get("mem_1_a").body == "Old."
        assert not repository.get(stored.id).vouched
        assert not ask_person(repository, "Vouch for this?")


@pytest.mark.parametrize(("reply", "body"), [("n", "Old."), ("y", "New.")])
def test_a_program_vouches_after_a_person_pressed_a_key(reply, body, git, memories, project, terminal, repository):
    (memories / "rule.md").write_text("---\nid: mem_1_a\ntitle: Rule\n---\n\nOld.\n")
    git.commit()
    code = """\
from rawkomem import Repository
from rawkomem.hosts.person import ask_person
with Repository.open() as repository:
    print(ask_person(repository, "Change the rule?"))
    repository.amend("mem_1_a", body="New.")
"""
    shown = converse(terminal, [sys.executable, "-c", code], [(r"\[y/N\]", f"{reply}\n")], project, scrubbed())
    assert str(reply == "y") in shown
    assert repository.get("mem_1_a").body == body


def test_keys_typed_before_a_question_do_not_answer_it(project, terminal):
    code = "import time; print('ready', flush=True); time.sleep(1)\n"
    code += "from rawkomem.hosts.person import confirmed; print(confirmed('Vouch for this?'))"
    replies = [("ready", "y\n"), (r"\[y/N\]", "n\n")]
    assert converse(terminal, [sys.executable, "-c", code], replies, project, scrubbed()).rstrip().endswith("False")


# `rawkomem doctor` says for each connected host whether its hooks ran lately, and otherwise why not
@pytest.fixture
def connected(project, home, monkeypatch):  # noqa: F811
    """A project that claude is connected in, with rawkomem on the PATH."""
    carry_out(plan_connect("claude", str(project)), str(project))
    monkeypatch.setattr(connect.shutil, "which", lambda name: f"/usr/bin/{name}")
    return find_layout(str(project))


def found(layout):
    (one,) = connect.examine_hosts(layout)
    assert one.name == "claude"
    return one


def called(layout, event: str = "prompt", took_ms: int | None = 40, ago_ms: int = 0) -> None:
    """Note a call as the hook does, at an earlier time."""
    note(layout, "calls", now() - ago_ms, "claude", event, -1 if took_ms is None else took_ms, 0)


def test_a_host_that_calls_is_well(connected):
    called(connected, ago_ms=3 * 3_600_000)
    assert found(connected).ok and found(connected).text == "last call 3 hours ago (prompt)"


def test_a_host_that_never_called(connected):
    one = found(connected)
    assert not one.ok and "has not called" in one.text and "trust it" in one.hint


def test_a_host_that_is_not_installed_is_no_failure(connected, monkeypatch):
    """Its settings are committed; a colleague may use another host."""
    monkeypatch.setattr(connect.shutil, "which", lambda name: "/usr/bin/rawkomem" if name == "rawkomem" else None)
    assert found(connected).ok and "no session of it" in found(connected).text


def test_settings_that_somebody_changed(connected, project):
    file = project / ".claude" / "settings.json"
    text = file.read_text()
    file.write_text(re.sub(r'"timeout": 5\b', '"timeout": 1', text))
    assert not found(connected).ok and found(connected).hint == "run 'rawkomem connect claude'"
    file.write_text(json.dumps({"disableAllHooks": True, **json.loads(text)}))
    assert not found(connected).ok and "disableAllHooks" in found(connected).hint


def test_a_session_that_went_on_without_a_call(connected, project, home):  # noqa: F811
    called(connected, ago_ms=2 * DAY)
    folder = home / ".claude" / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", os.path.realpath(project))
    folder.mkdir(parents=True)
    (folder / "s.jsonl").write_text("{}\n")
    one = found(connected)
    assert not one.ok and one.text == "last call 2 days ago (prompt), but a session was active just now"


@pytest.mark.parametrize(("took_ms", "said"), [(7_200, "up to 7.2 s"), (None, "stopped by the host")])
def test_slow_calls(took_ms, said, connected):
    called(connected, took_ms=took_ms, ago_ms=60_000)
    called(connected)
    one = found(connected)
    assert not one.ok and "1 call took longer than its limit of 5 s" in one.text and said in one.text


def test_a_slow_call_is_told_once(connected):
    called(connected, took_ms=9_000)
    assert [call.took_ms for call in hook_calls.untold_slow_calls(connected)] == [9_000]
    assert hook_calls.untold_slow_calls(connected) == []


def test_a_call_that_just_began_is_not_slow(connected):
    hook_calls.note_begin(connected, "claude", "prompt")
    assert hook_calls.slow_calls(hook_calls.logged_calls(connected)) == []
