"""Whatever a repository ships, no command writes outside of it and of the user's folders, or starts what it names.

Every case is a random project with links, pipes, odd names, settings, filters and hooks of git, and a `.rawko` that is
a git repository itself. An audit hook sees each write, process and connection that Python makes; what SQLite and git
write shows in the folder that links lead to. In the slow lane, strace sees each program that git starts, too.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from rawkomem.faces.cli import run
from rawkomem.faces.cli.commands import cli
from rawkomem.files.installation import plan_start, write_start

from tests.commands import ROOT, cases, run_here

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")

HAS_STRACE = bool(shutil.which("strace"))
TRACED_VARIABLE = "RAWKOMEM_TESTS_TRACED"
UNDER_STRACE = pytest.mark.skipif(
    HAS_STRACE and TRACED_VARIABLE not in os.environ,
    reason="runs once, under strace: test_under_strace_only_plumbing_of_git_starts",
)

CASE_S = 120  # seconds for one command on a busy machine: what waits for a pipe never ends
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
STARTS = ("subprocess.Popen", "os.posix_spawn", "os.exec", "os.system", "os.spawn", "os.startfile", "pty.spawn")
LOCAL = ".rawko/local"
EXEMPT = (
    os.path.realpath(tempfile.gettempdir()),
    str(ROOT),
    sys.prefix,
    sys.base_prefix,
    "/dev/null",
)  # not the case's
PLACES = [
    ".rawko", LOCAL, *(f"{LOCAL}/{name}" for name in (
        ".made-00", "aside-1", "tmp", "sinks", "sinks/sender.lock", "hook.log", "local.db", "local.db-wal", "local.db-shm",
        "local.db-journal", "local.db.lock", "local.db.new", "local.db.aside-1", "talks", "unsaved",
        "write.lock", "index.lock", "import.lock", "index.db", "index.db-wal", "index.db-shm", "index.db-journal",
        "vectors.db", "deep.lock")), *(f"{folder}{LOCAL}{name}" for folder in ("", ".git/rawkomem/") for name in (
        "-2", "-2/local.db", "-3", "/shortened", "/edits")), ".git/rawkomem", ".git/rawkomem/.rawko", ".git/commondir",
    ".rawko/memories", ".rawko/memories/a.md", ".rawko/memories/victim.md", ".rawko/traces", ".rawko/log", ".rawko/archive",
    ".rawko/templates", ".rawko/templates/memory.md", ".rawko/config.yaml", ".rawko/.gitattributes",
    ".rawko/.gitignore", ".claude", ".claude/settings.json", ".claude/skills", ".claude/skills/rawkomem",
    ".claude/skills/rawkomem/SKILL.md", "CLAUDE.md", "AGENTS.md", ".git", ".git/config", ".git/hooks",
    ".git/hooks/pre-commit", ".git/HEAD", ".gitattributes", ".husky", "out", "out/a.md", "out.jsonl",
]  # fmt: skip
NAMES = [
    "a\nb.md", "a\x1b[31mred.md", "'quote'.md", '"double".md', "$(touch PWNED).md", "`touch PWNED`.md", "a;touch PWNED.md",
    "-rf.md", "x" * 240 + ".md", os.fsdecode(b"\xff\xfe.md"), "a\tb.md", "a\u202eb.md", "<img src=x>.md", "..md", "日本.md",
]  # fmt: skip
ENTRY = "---\ntitle: {title}\nid: {id}\nwhenToUse: [deploy]\ntags: [x]\n---\n\nDeploy with {title}.\n"
IDS = ["plain", '"$(touch PWNED)"', '"a\\nb"', '"\\e]0;x\\a"', "\"'; touch PWNED; '\"", '"../../x"', '"<b>"', '"a\\tb"']
INJECTED = '"predicates.x\\nembedder.provider\\topenai\\nembedder.start\\ttouch PWNED\\nz": supersede\n'
CONFIGS = [
    "", "recordSessions: on\n", INJECTED, INJECTED + "recordSessions: on\n", "embedder: {start: touch PWNED, provider: openai}\n",
    "llm: touch PWNED\nembedder: http://127.0.0.1:9/v1\n", "sinks: {folder: /tmp, webhook: 'http://127.0.0.1:9/'}\n",
    '"\\e[31mkey": 1\n', "ledger: off\n", "store: {name: postgres, url: 'postgres://127.0.0.1:9/x'}\n", "a: &x [*x]\n",
    "trust: {maxUnverified: nan}\nkeys: {webhook: HOME}\n", "\0", "x" * 100_000,
]  # fmt: skip
GIT_CONFIG = """\
[core]
	fsmonitor = touch PWNED
	hooksPath = {hooks}
	pager = touch PWNED
	editor = touch PWNED
	askPass = touch PWNED
	sshCommand = touch PWNED
	gitProxy = touch PWNED
	alternateRefsCommand = touch PWNED
	attributesFile = .gitattributes
[diff]
	external = touch PWNED
[diff "x"]
	textconv = touch PWNED
	command = touch PWNED
[filter "x"]
	clean = touch PWNED
	smudge = touch PWNED
	process = touch PWNED
	required = true
[merge "x"]
	driver = touch PWNED
[alias]
	rev-parse = !touch PWNED
	ls-files = !touch PWNED
	log = !touch PWNED
[pager]
	log = touch PWNED
	ls-files = touch PWNED
	config = touch PWNED
[credential]
	helper = !touch PWNED
[gpg]
	program = touch PWNED
[log]
	showSignature = true
[hook "x"]
	event = post-index-change
	command = touch PWNED
[remote "origin"]
	url = ext::touch PWNED
	promisor = true
	partialCloneFilter = blob:none
"""
ATTRIBUTES = "* filter=x diff=x merge=x text eol=lf ident\n"
GIT_HOOKS = ("post-index-change", "pre-commit", "fsmonitor-watchman", "reference-transaction", "post-checkout")
PLUMBING = {
    "rev-parse", "rev-list", "merge-base", "ls-files", "ls-tree", "cat-file", "diff-index", "diff-tree", "hash-object",
    "update-index", "check-ignore", "check-attr", "config", "var", "version", "merge-file",
}  # fmt: skip
PROMPT = '{"session_id": "s", "prompt": "how do we deploy", "cwd": "."}'
ACT = '{"session_id": "s", "cwd": ".", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "deploy"}}'
READING = [
    (), ("search", "deploy"), ("search", "deploy", "--json"), ("inject", "deploy", "it"), ("inject", "deploy", "--strict"),
    ("list",), ("list", "--include", "all", "--json"), ("show", "a"), ("why", "a"),
    ("why", "a", "deploy"), ("history", "a"), ("context", "deploy"), ("stats",), ("status",), ("doctor",), ("check",),
    ("check", "--staged"), ("check", "--diff", "HEAD..HEAD"), ("check", "--stale"), ("diff", "HEAD...HEAD"), ("review",),
    ("review", "a"), ("review", "--kind", "conflict"), ("drafts",), ("undo", "--list"), ("lesson", "list"), ("skill", "list"),
    ("trace", "list"), ("trace", "search", "deploy"), ("trace", "log", "list"), ("link", "list", "a"),
    ("index", "sync"), ("index", "ledger", "verify"), ("index", "ledger", "show"),
    ("tidy", "prune"), ("tidy", "retention"), ("tidy", "consolidate"),
    ("tidy", "digest"), ("try", "match", "deploy", "deploy it"), ("replay",),
]  # fmt: skip
WRITING_COMMANDS = [
    ("add", "--title", "New", "--body", "Some text."), ("add", "--title", "Victim", "--body", "Text."),
    ("amend", "a", "--title", "Other"), ("feedback", "a", "--helpful"), ("delete", "a"), ("purge", "a", "--yes"), ("init",),
    ("index", "rebuild"), ("check", "--staged"), ("tidy", "consolidate", "--apply"),
    ("tidy", "consolidate", "--staged"), ("link", "entities"), ("learn", "CLAUDE.md"), ("import",), ("import", "CLAUDE.md"),
    ("import", "AGENTS.md"), ("export", "--out", "out.jsonl"), ("export", "--format", "markdown", "--out", "out"),
]  # fmt: skip
COMMANDS = [
    *((words, "") for words in (*READING, *WRITING_COMMANDS)),
    (("hook", "claude", "prompt"), PROMPT), (("hook", "claude", "start"), PROMPT), (("hook", "claude", "before-tool"), ACT),
]  # fmt: skip
CONNECTS = [
    (("connect", "claude"), ""), (("connect", "claude", "--remove"), ""), (("connect", "codex"), ""),
    (("connect", "git"), ""), (("connect", "git", "--remove"), ""), (("uninstall", "--yes"), ""),
]  # fmt: skip


class Watch:
    """Collects what Python writes, starts and connects to while it is on. An audit hook cannot be removed again."""

    def __init__(self):
        self.case = ""
        self.allowed: tuple[str, ...] = ()
        self.seen: list[str] = []
        self.on = False
        sys.addaudithook(self.hear)

    def hear(self, event: str, arguments: tuple) -> None:
        if not self.on:
            return
        self.on = False  # what this function does is not of interest
        try:
            self.judge(event, arguments)
        finally:
            self.on = True

    def judge(self, event: str, arguments: tuple) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & WRITING and not isinstance(path, int):
                follows = not flags & (os.O_NOFOLLOW | (os.O_EXCL if flags & os.O_CREAT else 0))
                self.wrote(event, path, follows)
        elif event in ("os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "os.chown", "os.utime"):
            follows = event in ("os.truncate", "os.chmod", "os.chown", "os.utime")
            there = event == "os.mkdir" and os.path.lexists(arguments[0])  # then nothing happens
            if not isinstance(arguments[0], int) and not there:
                self.wrote(event, arguments[0], follows)
        elif event in ("os.rename", "os.link"):
            for path in arguments[:2]:
                self.wrote(event, path, False)
        elif event == "os.symlink":
            self.wrote(event, arguments[1], False)
        elif event in STARTS:
            program = os.path.realpath(shutil.which(os.fsdecode(arguments[0])) or os.fsdecode(arguments[0]))
            if os.path.basename(program) != "git" and program != os.path.realpath(sys.executable):
                self.seen.append(f"{event} {arguments[:2]}")
        elif event in ("socket.connect", "socket.sendto", "socket.bind"):
            self.seen.append(f"{event} {arguments[1:]}")

    def wrote(self, event: str, path: str | bytes, follows: bool) -> None:
        name = os.path.abspath(os.fsdecode(path))
        folder = os.path.realpath(os.path.dirname(name))
        real = os.path.realpath(name) if follows else os.path.join(folder, os.path.basename(name))
        elsewhere = not real.startswith(self.case) and real.startswith(EXEMPT)
        if not real.startswith(self.allowed) and not elsewhere:
            self.seen.append(f"{event} {name!r}, which is {real!r}")


@pytest.fixture(scope="session")
def watch():
    return Watch()


class Case:
    """One random project, beside a folder that no command may change."""

    def __init__(self, folder: Path, number: int):
        self.choose = random.Random(number)
        self.folder = folder
        self.project = folder / "project"
        self.outside = folder / "outside"
        self.project.mkdir()
        self.outside.mkdir()
        (self.outside / "folder").mkdir()
        (self.outside / "folder" / "memories").mkdir()
        for name in (
            "file",
            "folder/x.writing",
            "folder/memories/.gitkeep",
            "folder/settings.json",
            "folder/pre-commit",
        ):
            (self.outside / name).write_text(self.choose.choice(["", "{}\n", "#!/bin/sh\n", "export A=1\n"]))
        os.mkfifo(self.outside / "pipe")

    def build(self) -> None:
        choose = self.choose
        write_start(plan_start(str(self.project)))
        if choose.random() < 0.6:
            self.start_git()
        if choose.random() < 0.3:
            bare_repository(self.project / ".rawko", GIT_CONFIG.format(hooks="."))
        self.write("memories/a.md", ENTRY.format(title="Alpha", id=choose.choice(IDS)))
        for name in choose.sample(NAMES, choose.randrange(4)):
            self.write(f"memories/{name}", ENTRY.format(title="Odd", id=choose.choice(IDS)))
        self.write("config.yaml", choose.choice(CONFIGS))
        (self.project / "CLAUDE.md").write_text("# Rules\n\nUse the make targets to deploy.\n")
        if choose.random() < 0.5:
            self.command(("sync",), "")  # the local folder is ours; what is planted now came with a pull
        for place in choose.sample(PLACES, choose.randrange(1, 6)):
            with contextlib.suppress(OSError):
                self.plant(self.project / place)

    def start_git(self) -> None:
        git = self.project / ".git"
        (git / "objects").mkdir(parents=True)
        (git / "refs" / "heads").mkdir(parents=True)
        (git / "hooks").mkdir()
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        hooks = self.choose.choice(["hooks", str(self.outside / "folder"), ".husky"])
        hostile = self.choose.random() < 0.5
        base = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
        (git / "config").write_text(base)
        if self.choose.random() < 0.3:  # a history, and an edit of it that is staged
            self.write("memories/old.md", ENTRY.format(title="Old", id="old"))
            for words in (("add", "-A"), ("commit", "-qm", "x")):
                build(self.project, *words)
            self.write("memories/old.md", ENTRY.format(title="New", id="old"))
            build(self.project, "add", "-A")
        if hostile:
            (git / "config").write_text(base + GIT_CONFIG.format(hooks=hooks))
            for name in GIT_HOOKS:
                (git / "hooks" / name).write_text("#!/bin/sh\ntouch PWNED\n")
                (git / "hooks" / name).chmod(0o755)
            for place in (".gitattributes", ".rawko/.gitattributes", ".git/info/attributes"):
                (self.project / place).parent.mkdir(exist_ok=True)
                (self.project / place).write_text(ATTRIBUTES)

    def write(self, name: str, text: str) -> None:
        with contextlib.suppress(OSError):  # this file system refuses that name
            (self.project / ".rawko" / name).write_text(text)

    def plant(self, place: Path) -> None:
        """Put a link, a pipe, a folder or a foreign file in a place."""
        if os.path.lexists(place):
            shutil.rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink()
        place.parent.mkdir(parents=True, exist_ok=True)
        kind = self.choose.choice(
            ["file", "folder", "none", "none/deep", "/dev/zero", "pipe", "loop", "git", "fifo", "text", "empty"]
        )
        if "git" in str(place.relative_to(self.project)) and kind in ("fifo", "pipe"):
            kind = "file"  # git itself waits for a pipe, until our time limit for it
        if kind == "fifo":
            os.mkfifo(place)
        elif kind == "text":
            place.write_text(f"SQLite format 3\0{self.outside}\n$(touch PWNED)\n")
        elif kind == "empty":
            place.mkdir()
        else:
            inner = {"loop": place, "git": self.project / ".git" / "hooks" / "post-checkout"}
            place.symlink_to(inner.get(kind, self.outside / kind))

    def command(self, words: tuple[str, ...], given: str) -> None:
        run_here(run, words, input=given, cwd=self.project, env={})

    def state(self) -> dict[str, object]:
        """What lies outside: each name with its kind and bytes."""
        found: dict[str, object] = {}
        for folder, folders, files in os.walk(self.outside):
            for name in (*folders, *files):
                path = Path(folder, name)
                found[str(path)] = path.read_bytes() if path.is_file() else oct(path.lstat().st_mode)
        return found

    def pwned(self) -> list[Path]:
        return [*self.folder.rglob("PWNED")]


def build(folder: Path, *words: str) -> None:
    """Run git as the author of a hostile repository; the setting marks these calls for `traced`."""
    who = ("-c", "test.builds=1", "-c", "user.name=Eve", "-c", "user.email=eve@example.org", "-c", "maintenance.auto=0")
    subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, check=False)


def bare_repository(folder: Path, config: str) -> None:
    """Make a folder a git repository with these settings, whose index lists all its files."""
    fake = folder.parent / "fake"
    build(folder.parent, "init", "-q", "-b", "main", "fake")
    shutil.copytree(folder, fake, dirs_exist_ok=True)
    for words in (("add", "-Af", "."), ("commit", "-qm", "x")):
        build(fake, *words)
    shutil.copytree(fake / ".git", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("hooks"))
    (folder / "info").mkdir(exist_ok=True)
    (folder / "info" / "attributes").write_text(ATTRIBUTES)
    base = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n"
    (folder / "config").write_text(base + config)
    for file in folder.rglob("*.md"):  # what git must read again
        os.utime(file, (1, 1))
    shutil.rmtree(fake)


def play(watch: Watch, folder: Path, number: int) -> None:
    """Build a case, run some commands in it, and check what they did."""
    case = Case(folder, number)
    case.build()
    before = case.state()
    choose = case.choose
    home = [os.environ[name] for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME")]
    for words, given in [*choose.sample(COMMANDS, 2), choose.choice([*COMMANDS, *CONNECTS])]:
        told = f"case {number}: {words}"
        name = words[0] if words else ""
        inside = "" if name in ("connect", "uninstall", "export") else ".rawko/"
        allowed = [f"{case.project}/{inside}", *home, f"{case.project}/.git/rawkomem"]
        if name == "export":
            allowed = [
                f"{case.project}/out",
                *allowed[1:],
                f"{case.project}/.rawko/",
                f"{case.project}/.out",
                f"{case.project}/.rawkomem-",
            ]
        watch.case, watch.allowed, watch.seen = str(folder), (*map(os.path.realpath, home), *allowed), []
        signal.signal(signal.SIGALRM, _late)
        signal.alarm(CASE_S)
        try:
            watch.on = True
            case.command(words, given)
        except BaseException as failure:
            raise AssertionError(f"{told} ended with {failure!r}") from failure
        finally:
            watch.on = False
            signal.alarm(0)
        assert not watch.seen, told
        assert case.state() == before, told
        assert not case.pwned(), told


class Late(BaseException):
    """A command waits for something. It is no error that a command might catch."""


def _late(*_: object) -> None:
    raise Late


def test_no_command_leaves_a_random_hostile_repository(watch, tmp_path):
    for number in range(12):
        play(watch, _fresh(tmp_path), number)


@pytest.mark.slow
@UNDER_STRACE
def test_no_command_leaves_many_random_hostile_repositories(watch, tmp_path):
    for number in range(1_000, 1_000 + cases(2_000, 200)):
        play(watch, _fresh(tmp_path), number)


def _fresh(folder: Path) -> Path:
    case = folder / "case"
    shutil.rmtree(case, ignore_errors=True)
    case.mkdir()
    return case


@pytest.mark.parametrize(
    ("words", "given"), [*COMMANDS, *CONNECTS], ids=lambda it: " ".join(it) if type(it) is tuple else ""
)
def test_each_command_is_there(words, given, tmp_path):
    """A command that is only refused touches no hostile repository."""
    write_start(plan_start(str(tmp_path)))
    (tmp_path / ".rawko/memories/a.md").write_text(ENTRY.format(title="Alpha", id="a"))
    (tmp_path / "CLAUDE.md").write_text("# Rules\n\nUse the make targets to deploy.\n")
    done = run_here(run, words, input=given, cwd=tmp_path, env={})
    assert done.returncode in (0, 1), done.stderr


def test_the_watch_sees_what_it_should(watch, tmp_path):
    """A check that cannot fail proves nothing."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path / "victim")
    watch.case, watch.allowed, watch.seen = str(tmp_path), (f"{tmp_path}/in/",), []
    watch.on = True
    try:
        (tmp_path / "in" / "fine").write_text("x")
        (tmp_path / "in" / "link").write_text("x")
        os.rename(tmp_path / "victim", tmp_path / "other")
        subprocess.run(["/bin/sh", "-c", "true"], check=True)
    finally:
        watch.on = False
    seen = [what.partition(" ")[0] for what in watch.seen if not what.startswith("os.posix_spawn")]  # 3.13 says both
    assert seen == ["open", "os.rename", "os.rename", "subprocess.Popen"]


# Every command, and every program that git starts


LIMIT_S = 7_200
LEFT_OUT = {
    "browse",
    "bench",
    "demo",
    "index watch",
    "lsp",
    "hook",
    "completion",
}  # they serve, or start programs
VALUES = {"id": "mem_a", "ids": "mem_a", "old": "mem_a", "new": "mem_b", "host": "claude", "event": "prompt"}


def leaves(group: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield the words and the command of each command without subcommands."""
    if not isinstance(group, click.Group):
        yield words, group
        return
    context = click.Context(group)
    for name in group.list_commands(context):
        if " ".join((*words, name)) not in LEFT_OUT:
            yield from leaves(group.get_command(context, name), (*words, name))


def every_command_line() -> list[tuple[str, ...]]:
    """Return each command without arguments and with one value for each argument, and `rawkomem` alone."""
    found: list[tuple[str, ...]] = [(), ("hook", "claude", "prompt"), ("hook", "claude", "start"), ("mcp",)]
    for words, command in leaves(cli):
        names = [parameter.name for parameter in command.params if isinstance(parameter, click.Argument)]
        found += dict.fromkeys([words, (*words, *(VALUES.get(name or "", "deploy") for name in names))])
    return found


@pytest.mark.slow
@UNDER_STRACE
@pytest.mark.parametrize("kind", ["bare", "archive"])
def test_no_command_starts_what_a_hostile_repository_names(kind, watch, tmp_path):
    """`bare` is a clone whose .rawko is a git repository; `archive` was unpacked with its own `.git`."""
    for words in every_command_line():
        case = Case(_fresh(tmp_path), 1)
        write_start(plan_start(str(case.project)))
        for id in ("mem_a", "mem_b"):
            case.write(f"memories/{id}.md", ENTRY.format(title=id, id=id))
        if kind == "bare":
            bare_repository(case.project / ".rawko", GIT_CONFIG.format(hooks="."))
        build(case.project, "init", "-q", "-b", "main")
        for step in (("add", "-Af", "."), ("commit", "-qm", "x")):
            build(case.project, *step)
        case.write("memories/mem_a.md", ENTRY.format(title="Staged", id="mem_a"))
        build(case.project, "add", ".rawko/memories")
        if kind == "archive":
            git = case.project / ".git"
            with (git / "config").open("a") as stream:
                stream.write(GIT_CONFIG.format(hooks="hooks"))
            for name in GIT_HOOKS:
                (git / "hooks" / name).write_text("#!/bin/sh\ntouch PWNED\n")
                (git / "hooks" / name).chmod(0o755)
            (case.project / ".gitattributes").write_text(ATTRIBUTES)
        with contextlib.suppress(Exception):  # a command may fail, but start nothing
            case.command(words, PROMPT)
        assert not case.pwned(), words


TRACED = [
    "test_no_command_starts_what_a_hostile_repository_names",
    "test_no_command_leaves_many_random_hostile_repositories",
]
STARTED = re.compile(r'execve\("([^"]*)", \[(.*?)\](?:, .*)? = 0$')
WORD = re.compile(r'"((?:[^"\\]|\\.)*)"')


def forbidden(line: str) -> bool:
    """Tell whether a line of strace is a connection, or a program other than Python and our calls of git's plumbing."""
    if "connect(" in line:
        return "nscd" not in line
    started = STARTED.search(line)
    if not started or os.path.realpath(started[1]) == os.path.realpath(sys.executable):
        return False
    words = WORD.findall(started[2])
    if os.path.basename(started[1]) != "git" or "test.builds=1" in words:
        return "test.builds=1" not in words
    rest = iter(words[1:])
    command = next((word for word in rest if not word.startswith("-") or (word == "-c" and not next(rest))), "")
    return "safe.bareRepository=explicit" not in words or command not in PLUMBING


@pytest.mark.slow
@pytest.mark.parametrize("name", TRACED)
@pytest.mark.skipif(not HAS_STRACE, reason="strace is not installed")
def test_under_strace_only_plumbing_of_git_starts(name, tmp_path):
    log = tmp_path / "log"
    strace = ["strace", "-f", "--seccomp-bpf", "-s", "4096", "-o", str(log), "-e", "trace=execve,connect"]
    pytest_here = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{__file__}::{name}"]
    done = subprocess.run(
        [*strace, *pytest_here],
        cwd=ROOT,
        env={**os.environ, TRACED_VARIABLE: "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    lines = log.read_text("utf-8", "replace").splitlines()
    assert done.returncode == 0, done.stdout
    assert any("ls-files" in line for line in lines)
    assert "\n".join(line for line in lines if forbidden(line)) == ""


def test_the_judge_of_strace_sees_what_it_should():
    ours = '"git", "--no-pager", "-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false"'
    good = [f'1 execve("/usr/bin/git", [{ours}, "ls-files", "-z"], 0x1 /* 9 vars */) = 0',
            '1 execve("/bin/git", ["git", "-c", "test.builds=1", "add", "-A"], 0x1 /* 9 vars */) = 0',
            '1 execve("/nowhere/git", ["git", "status"], 0x1 /* 9 vars */) = -1 ENOENT (No such file)']  # fmt: skip
    bad = [f'1 execve("/usr/bin/git", [{ours}, "status"], 0x1 /* 9 vars */) = 0',
           '1 execve("/usr/bin/git", ["git", "ls-files"], 0x1 /* 9 vars */) = 0',
           '1 execve("/bin/sh", ["sh", "-c", "touch PWNED"], 0x1 /* 9 vars */) = 0',
           '1 connect(3, {sa_family=AF_INET, sin_port=htons(80)}, 16) = 0']  # fmt: skip
    assert [forbidden(line) for line in (*good, *bad)] == [False] * len(good) + [True] * len(bad)
