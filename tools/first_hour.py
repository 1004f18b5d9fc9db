"""Record docs/first-hour.md: run the first hour of a new user, and write each command, its output and its time.

Builds the wheel, installs it into a new virtual environment, fetches a real project from the package index, and runs
every command at a pseudo-terminal as a person would. It needs git and the package index. `--out FILE` writes to another
file.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.terminals import STARTER, scrubbed, shell_named  # noqa: E402

PAGE = ROOT / "docs" / "first-hour.md"
COMMAND_LIMIT_S = 300
MAX_LINES, MAX_PLAN_LINES = 16, 60  # a longer output is shown without its middle
MAX_COLUMNS = 120
NO_INDEX_EXIT_CODE = 3
ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[=>])")
QUESTION = r"\[(Y/n|y/N)(/s)?\] $"
RELEASE = "3.9.0"
PROJECT = f"prefect-{RELEASE}"
MIGRATION = "write a database migration that adds an index"
SAID = (
    ("user", "Fix the date parser and run the tests."),
    ("assistant", "I fixed it and ran pytest tests/test_dates.py: all tests pass."),
    (
        "user",
        "No, never run bare pytest here. Run the tests with make suite, because it starts the database first.",
    ),
    ("assistant", "It passes with make suite."),
)
SESSION = json.dumps(
    {"messages": [{"role": role, "content": text} for role, text in SAID]}
)
USUAL = "Create migrations with the CLI"
NEWER = "Create migrations with the CLI and a name"


@dataclass
class Step:
    """One section of the page: a heading, an introduction, and the commands."""

    title: str
    text: str
    commands: list[Command]


@dataclass
class Command:
    """A command line, the folder below the home folder in which it runs, and the keys that a person types."""

    line: str
    folder: str = PROJECT
    keys: tuple[str, ...] = ()
    max_lines: int = MAX_LINES
    check: int = 0
    question: str = QUESTION  # the end of an output that a key answers
    shown: str = field(default="", init=False)
    seconds: float = field(default=0.0, init=False)


def steps() -> list[Step]:
    """Return the steps of the first hour."""
    return [
        Step(
            "Install",
            """
            Until rawkomem is on the package index, build it in a checkout ([other ways](install.md)).
            """,
            [
                Command("pip wheel --quiet --no-deps --wheel-dir ~/dist .", "rawkomem"),
                Command("python3 -m venv ~/venv && . ~/venv/bin/activate", ""),
                Command("pip install --quiet ~/dist/rawkomem-*.whl", ""),
                Command("rawkomem --version", ""),
            ],
        ),
        Step(
            "Take a project",
            """
            This page uses Prefect, an open-source project with 21 `AGENTS.md` files of its own. Use your own
            project instead, and skip this step.
            """,
            [
                Command(
                    f"pip download --quiet --no-deps --no-binary prefect prefect=={RELEASE}",
                    "",
                ),
                Command(f"tar xzf {PROJECT}.tar.gz && cd {PROJECT}", ""),
                Command(
                    f"git init --quiet && git add . && git commit --quiet -m 'Prefect {RELEASE}'"
                ),
            ],
        ),
        Step(
            "Start",
            """
            `rawkomem init` looks for rules that people wrote for agents, for memories of other tools, for agents on
            your machine (here: Claude Code), and for git. It shows a plan and asks before each step; press Enter to
            agree. Each rule becomes a memory: a Markdown file in `.rawko/memories/`. Commit them.
            """,
            [
                Command("rawkomem init", keys=("\n",) * 4, max_lines=MAX_PLAN_LINES),
                Command("git add . && git commit --quiet -m 'Start a memory'"),
            ],
        ),
        Step(
            "Recall",
            """
            `search` finds memories by words and by meaning. `inject` prints what an agent gets for a task: the text of
            the memories that fit, and the files of others that may apply. It prints nothing if no memory fits. From
            now on, Claude Code gets the same text with each of your prompts.
            """,
            [
                Command(
                    "rawkomem search 'flow runs are cancelled while a worker is offline' -n 3"
                ),
                Command(f"rawkomem inject '{MIGRATION}'", max_lines=MAX_PLAN_LINES),
                Command("rawkomem inject 'what is the weather in Paris today'"),
            ],
        ),
        Step(
            "Correct the agent once",
            """
            You asked the agent to run the tests, it ran them in a way that does not work here, and you told it so. With
            a connected agent, your correction is a draft at the end of the turn. Here, `learn` reads the same session
            from a file. `rawkomem drafts` asks you about each draft: `k` keeps it as a memory. Commit the file. The
            next session gets it when it is asked to run the tests, in these words or in others.
            """,
            [
                Command(f"echo '{SESSION}' > ~/session.json"),
                Command("rawkomem learn ~/session.json"),
                Command(
                    "rawkomem drafts",
                    keys=("k",),
                    max_lines=MAX_PLAN_LINES,
                    question=r"q.{0,8} quit",
                ),
                Command(
                    "git add . && git commit --quiet -m 'Remember how to run the tests'"
                ),
                Command("rawkomem inject 'does everything still pass?'"),
            ],
        ),
        Step(
            "Tell it a rule",
            """
            You can store a rule yourself. `--when` says for which tasks the memory is needed.
            """,
            [
                Command(
                    f"rawkomem add --title '{USUAL}' --when migration --importance high "
                    "--body 'Run `prefect server database revision`. Do not call alembic_revision() by hand.'"
                ),
            ],
        ),
        Step(
            "Change your mind",
            """
            Later, the rule changes. Store the new rule and replace the old one with it. The old rule stays as history,
            and no agent gets it any more. `rawkomem undo` undoes the last change.
            """,
            [
                Command(
                    f"rawkomem add --title '{NEWER}' --when migration --importance high "
                    "--body 'Run `prefect server database revision -m NAME`. A migration without a name is not merged.'"
                ),
                Command(
                    "rawkomem supersede create-migrations-with-the-cli create-migrations-with-the-cli-and-a-name"
                ),
                Command(f"rawkomem inject '{MIGRATION}'"),
                Command(
                    "git add . && git commit --quiet -m 'Remember how migrations are made'"
                ),
            ],
        ),
        Step(
            "Merge with a colleague",
            """
            Maria clones the project. She and you change the same memory at the same time. Git merges both changes,
            because each change of a committed memory is a separate file. For other merges, and for the check of each
            commit, everybody runs `rawkomem connect git` once in their clone.
            """,
            [
                Command(
                    f"git clone --quiet {PROJECT} maria && git -C maria config user.name Maria",
                    "",
                ),
                Command(
                    "rawkomem amend create-migrations-with-the-cli-and-a-name --importance critical && "
                    "git add . && git commit --quiet -m 'Raise the importance'",
                    "maria",
                ),
                Command(
                    "rawkomem feedback create-migrations-with-the-cli-and-a-name --helpful --reason 'it saved time' && "
                    "git add . && git commit --quiet -m 'It helped'"
                ),
                Command(
                    "git pull --quiet --no-rebase --no-edit ../maria main && git log --format=%s -3"
                ),
                Command("rawkomem history create-migrations-with-the-cli-and-a-name"),
            ],
        ),
        Step(
            "Review in a pull request",
            """
            Memories are files, so you review them like code. `diff` shows what a branch does to memories, and
            `check --diff` finds mistakes in them. The page about [git](git.md#review-in-pull-requests) has both as
            a GitHub Action.
            """,
            [
                Command("git switch --quiet -c cache-keys"),
                Command(
                    "rawkomem add --title 'Cache keys hold the tenant' --when 'cache key' "
                    "--body 'Two tenants once shared a cached result. Put the tenant first.' && "
                    "git add . && git commit --quiet -m 'Remember cache keys'"
                ),
                Command("rawkomem diff main...cache-keys"),
                Command("rawkomem check --diff main...cache-keys"),
            ],
        ),
        Step(
            "Next",
            """
            Start your agent in the project and work as usual. `rawkomem status` shows what waits for you,
            `rawkomem doctor` looks for problems on your machine and prints when each connected agent last called
            rawkomem, and `rawkomem uninstall` removes everything that rawkomem wrote, except your memories. The rules are
            memories now: [make the rule files short](moving-in.md#make-claudemd-short). More: [agents](hosts.md),
            [guards](guards.md), [git](git.md).
            """,
            [],
        ),
    ]


class Machine:
    """A new home folder with a terminal and git, without settings of the real user."""

    def __init__(self, home: Path):
        self.home = home
        self.terminal = shell_named("xterm", home.parent / "bin")
        for folder in (home, home / ".claude"):
            folder.mkdir()
        (home / ".gitconfig").write_text(
            "[user]\nname = Alice\nemail = alice@example.org\n[init]\ndefaultBranch = main\n"
        )
        own = ("RAWKOMEM_", "GIT_", "XDG_", "PYTHONPATH", "VIRTUAL_ENV")
        self.env = {
            name: value
            for name, value in scrubbed().items()
            if not name.startswith(own)
        }
        path = f"{home / 'venv' / 'bin'}:{os.path.dirname(sys.executable)}:/usr/local/bin:/usr/bin:/bin"
        self.env |= {
            "HOME": str(home),
            "PATH": path,
            "NO_COLOR": "1",
            "TERM": "xterm",
            "LOGNAME": "alice",
            "USER": "alice",
        }
        self.env |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONIOENCODING": "utf-8"}

    def run(self, command: Command) -> None:
        """Run a command at the terminal; end the recording if it fails."""
        folder = ROOT if command.folder == "rawkomem" else self.home / command.folder
        scratch = self.home.parent
        told, shown, ended = (
            scratch / name for name in ("told.json", "shown", "ended")
        )
        ended.unlink(missing_ok=True)
        replies = [(command.question, keys) for keys in command.keys]
        words = ["bash", "-c", command.line]
        about = {
            "words": words,
            "replies": replies,
            "shown": str(shown),
            "limit_s": COMMAND_LIMIT_S,
        }
        told.write_text(json.dumps(about))
        driver = shlex.join(
            [sys.executable, str(ROOT / "tests" / "conversing.py"), str(told)]
        )
        line = f"{driver} > {scratch}/code; mv {scratch}/code {ended}"
        subprocess.run(
            [sys.executable, "-c", STARTER, self.terminal, "-c", line],
            cwd=folder,
            env=self.env,
            check=True,
        )
        while not ended.exists():
            time.sleep(0.05)
        code, seconds = ended.read_text().split()
        command.seconds = float(seconds)
        command.shown = self.plain(shown.read_text(errors="replace"))
        if int(code) != command.check:
            no_index = (
                command.line.startswith("pip ")
                and "No matching distribution" in command.shown
            )
            sys.stderr.write(f"$ {command.line}\n{command.shown}\nexit code {code}\n")
            raise SystemExit(NO_INDEX_EXIT_CODE if no_index else 1)

    def plain(self, text: str) -> str:
        """Return an output without colors, paths of this machine, and warnings about its package index."""
        text = (
            ESCAPES.sub("", text)
            .replace(str(self.home), "~")
            .replace(str(ROOT), "~/rawkomem")
        )
        return "\n".join(
            line.rstrip("\r ")
            for line in text.splitlines()
            if "WARNING: Location" not in line
        )


def page(done: list[Step]) -> str:
    """Return the page."""
    total = sum(command.seconds for step in done for command in step.commands)
    head = [
        "# Your first hour",
        "Install rawkomem, start it in a project, recall, correct an agent, merge with a colleague, and review. Paste "
        "the command after each `$`; the text before it is the folder to run it in.",
        f"The outputs are real; long ones are shortened. All commands together took {_seconds(total)} on two busy "
        "processor cores.",
    ]
    return "\n\n".join([*head, *(_section(step) for step in done)]) + "\n"


def _section(step: Step) -> str:
    paragraphs = step.text.strip().split("\n\n")
    blocks = [f"## {step.title}", *(" ".join(one.split()) for one in paragraphs)]
    for command in step.commands:
        where = "~" if not command.folder else f"~/{command.folder}"
        said = _shortened(command.shown, command.max_lines)
        fence = "~~~~" if "```" in said else "```"
        blocks.append(
            "\n".join(
                [
                    f"{fence}console",
                    f"{where}$ {command.line}",
                    *([said] if said else []),
                    fence,
                ]
            )
        )
    return "\n\n".join(blocks)


def _shortened(text: str, max_lines: int) -> str:
    lines = [
        line if len(line) <= MAX_COLUMNS else f"{line[: MAX_COLUMNS - 1]}…"
        for line in text.strip("\n").split("\n")
    ]
    if len(lines) > max_lines:
        first, last = max_lines * 2 // 3, max_lines // 5
        lines[first : len(lines) - last] = [f"[… {len(lines) - first - last} lines …]"]
    return "\n".join(lines)


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.1f} min"


def main() -> None:
    """Record the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=PAGE)
    out = parser.parse_args().out
    done = steps()
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(Path(folder) / "home")
        for step in done:
            for command in step.commands:
                machine.run(command)
                print(f"{command.seconds:6.1f} s  {command.line}")
    out.write_text(page(done), encoding="utf-8")


if __name__ == "__main__":
    main()
