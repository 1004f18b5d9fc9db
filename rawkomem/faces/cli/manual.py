"""Explain rawkomem: `rawkomem help`, `docs`, `completion` and `demo`."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import Any

from click import ClickException, echo
from click.shell_completion import get_completion_class

from ...files.installation import list_docs_pages, read_docs_page
from ...model.errors import BadInput
from ...model.values import record
from . import main, opening
from .answers import Fields
from .commands import COMPLETE_VARIABLE, cli, commands_overview
from .declarations import verb
from .options import expanded
from .terminal import note, paint, say, say_in_pager


@verb("help", "[COMMAND]...>names", "--all >everything: List all commands.")
def help_command(names: tuple[str, ...], everything: bool) -> None:
    """Show the help of a command, or all commands with --all.

    Examples:
      rawkomem help add
      rawkomem help lesson add
      rawkomem help --all
    """
    if names:
        words = expanded([*names, "--help"])
        cli.main(args=words, prog_name="rawkomem", standalone_mode=False)
    else:
        echo(commands_overview(everything))


@verb("docs", "[PAGE]", [Fields("page=0 about=1", "{page:<13|cyan} {about}")])
def docs_command(page: str, as_json: bool) -> Any:
    """List or print the pages of the documentation.

    Examples:
      rawkomem docs
      rawkomem docs recall
    """
    if not page or as_json:
        return list_docs_pages()
    say_in_pager(read_docs_page(page))
    return None


SHELLS = ("bash", "zsh", "fish")
PROGRAMS = ("rawkomem", "rawko")
# Where each shell looks for the completion of a program; zsh needs a line in ~/.zshrc for it.
COMPLETION_FILES = {
    "bash": ("XDG_DATA_HOME", "~/.local/share", "bash-completion/completions/{}"),
    "zsh": ("XDG_DATA_HOME", "~/.local/share", "zsh/site-functions/_{}"),
    "fish": ("XDG_CONFIG_HOME", "~/.config", "fish/completions/{}.fish"),
}


@verb(
    "completion",
    f"[{'|'.join(SHELLS)}]>shell",
    "--install: Write the script into the folder where your shell looks for it.",
)
def completion_command(shell: str, install: bool) -> None:
    """Print or install Tab completion for your shell.

    Tab then completes commands, options, ids with their titles, tags, kinds, statuses and pages of the documentation.
    Without an argument, the command uses the shell that $SHELL names.

    Examples:
      rawkomem completion bash
      rawkomem completion bash --install
    """
    shell = shell or os.path.basename(os.environ.get("SHELL", ""))
    if shell not in SHELLS:
        raise BadInput(
            f"{shell or '$SHELL'} is no supported shell",
            "run 'rawkomem completion bash', or name zsh or fish",
        )
    if not install:
        say("\n".join(completion_script(shell, program) for program in PROGRAMS))
        return
    variable, default, name = COMPLETION_FILES[shell]
    folder = os.environ.get(variable) or os.path.expanduser(default)
    for program in PROGRAMS:
        path = os.path.join(folder, *name.format(program).split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(completion_script(shell, program))
        say(f"{paint('written', 'green')}  {path}")
    if shell == "zsh":
        note(
            f"add this line to ~/.zshrc, above compinit: fpath=({os.path.dirname(path)} $fpath)"
        )
    note("open a new terminal to use the completion")


def completion_script(shell: str, program: str) -> str:
    """Return the completion script of a program for a shell."""
    completion = get_completion_class(shell)
    assert completion is not None
    script = completion(cli, {}, program, COMPLETE_VARIABLE).source()
    # fish: a title may hold commas, and the most recently changed memory comes first
    script = script.replace('string split ","', 'string split --max 1 ","')
    return script.replace("complete --no-files", "complete --keep-order --no-files")


DEMO_EMAIL = "demo@example.invalid"
PAUSE_S = 1.5  # seconds after each step on a terminal, for reading
REVIEW_CONFIG = "\npredicates:\n  port:\n    conflictPolicy: require_review\n"
WATCHED_CODE = "from rawkomem.faces.cli.manual import run_watched; run_watched()"


@record
class DemoStep:
    """One step: what it shows, and the commands that it runs."""

    shows: str
    commands: tuple[str, ...]
    quietly: tuple[str, ...] = ()  # commands to run first, without output
    git: bool = False  # whether it needs git


DEMO_STEPS = (
    DemoStep(
        "A repository is a folder of Markdown files in your project.",
        ("rawkomem init",),
    ),
    DemoStep(
        "Remember: a memory has a text and a condition that says when to use it.",
        (
            "rawkomem add --title 'Payments are tried three times' --when 'payment|retry' --tag payments "
            "--body 'The provider charges twice when a fourth try comes within a minute.'",
        ),
    ),
    DemoStep(
        "Recall: by words and by meaning.",
        ("rawkomem search 'how often do we charge a card again'",),
    ),
    DemoStep(
        "Inject: print the memories that an agent gets for a task. If none fits, print nothing.",
        (
            "rawkomem inject 'make the payment retry configurable'",
            "rawkomem inject 'rename the logo file'",
        ),
    ),
    DemoStep(
        "Explain why a memory is injected.",
        (
            "rawkomem why payments-are-tried-three-times 'make the payment retry configurable'",
        ),
    ),
    DemoStep(
        "Conflict: the second claim contradicts the first and waits for a person, as the project's settings require.",
        (
            "rawkomem add --title 'Database port' --claim subject=database,predicate=port,value=5432 "
            "--body 'Postgres listens on 5432.'",
            "rawkomem add --title 'Database port moved' --claim subject=database,predicate=port,value=6432 "
            "--body 'Since the pooler came, use 6432.'",
            "rawkomem review",
        ),
    ),
    DemoStep(
        "A person decides; the old claim stays in its file as history.",
        (
            "rawkomem review database-port-moved --supersede --yes",
            "rawkomem search 'which port does the database use'",
        ),
    ),
    DemoStep(
        "Merge: two branches changed the same memory; git keeps the entries of both.",
        (
            "git merge --quiet --no-edit feature",
            "rawkomem history payments-are-tried-three-times",
        ),
        (
            "git init --quiet .",
            "rawkomem connect git",
            "git add .rawko",
            "git commit --quiet -m start",
            "git switch --quiet -c feature",
            "rawkomem feedback payments-are-tried-three-times true --reason 'seen in the logs'",
            "git add .rawko",
            "git commit --quiet -m logs",
            "git switch --quiet -",
            "rawkomem feedback payments-are-tried-three-times --helpful",
            "git add .rawko",
            "git commit --quiet -m vote",
        ),
        git=True,
    ),
)


@verb("demo")
def demo_command() -> None:
    """Show what rawkomem does, with real commands in a temporary folder.

    The demo takes half a minute. It stores, finds and explains memories, settles a conflict and merges two branches.
    It reads and writes nothing outside the temporary folder.

    Examples:
      rawkomem demo
    """
    with tempfile.TemporaryDirectory(
        prefix="rawkomem-demo-", ignore_cleanup_errors=True
    ) as home:
        _play_demo(home)
    note("the folder was removed")


def _play_demo(home: str) -> None:
    project = os.path.join(home, "project")
    os.mkdir(project)
    around = apart_environment(home)
    for number, step in enumerate(DEMO_STEPS, 1):
        if step.git and not shutil.which("git"):
            note("git is not installed, so the merge is skipped")
            continue
        say(f"{paint(f'{number}. {step.shows}', 'bold')}")
        for command in step.quietly:
            _run_step(command, project, around)
        for command in step.commands:
            say(f"{paint('$', 'green')} {command}")
            say(_run_step(command, project, around))
        if number == 1:
            with open(
                os.path.join(project, ".rawko", "config.yaml"), "a", encoding="utf-8"
            ) as stream:
                stream.write(REVIEW_CONFIG)
        if sys.stdout.isatty():
            time.sleep(PAUSE_S)


def _run_step(command: str, project: str, around: Mapping[str, str]) -> str:
    """Return the output of a command; raise ClickException if the command fails."""
    words = shlex.split(command)
    if words[0] == "rawkomem":
        words[:1] = [sys.executable, "-c", WATCHED_CODE]
    process = subprocess.run(
        words,
        cwd=project,
        env=around,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if process.returncode:
        raise ClickException(f"'{command}' failed: {process.stderr.strip()}")
    return ((process.stdout + process.stderr).rstrip("\n") or "(no output)") + "\n"


def run_watched() -> None:
    """Run the command line of a step. Its writes count as written by the person who watches the demo."""
    opening.watched = True
    main()


def apart_environment(home: str) -> dict[str, str]:
    """Return an environment without the user's settings, caches and git identity."""
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("RAWKOMEM_", "GIT_"))
    }
    return {
        **own,
        **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "Demo"),
        **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), DEMO_EMAIL),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "XDG_CONFIG_HOME": os.path.join(home, "config"),
        "XDG_CACHE_HOME": os.path.join(home, "cache"),
        # starts no background process, which would outlive the folder
        "RAWKOMEM_EMBEDDER": "static",
        "PYTHONIOENCODING": "utf-8",
        "PATH": os.path.dirname(sys.executable)
        + os.pathsep
        + os.environ.get("PATH", ""),  # git calls rawkomem
    }
