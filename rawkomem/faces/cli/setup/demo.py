"""Implement `rawkomem demo`: run real commands in a temporary folder and show their output."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping

import click

from ....files.local.made import adopt
from ....model.record import record
from .. import main, opening
from ..terminal import note, paint, say

PAUSE_S = 1.5  # seconds after each step on a terminal, for reading
REVIEW_CONFIG = "\npredicates:\n  port:\n    conflictPolicy: require_review\n"
WATCHED_CODE = "from rawkomem.faces.cli.setup.demo import run_watched; run_watched()"


@record
class Step:
    """One step: what it shows, and the commands that it runs."""

    shows: str
    commands: tuple[str, ...]
    quietly: tuple[str, ...] = ()  # commands to run first, without output
    git: bool = False  # whether it needs git


STEPS = (
    Step("A repository is a folder of Markdown files in your project.", ("rawkomem init",)),
    Step(
        "Remember: a memory has a text and a condition that says when to use it.",
        (
            "rawkomem add --title 'Payments are tried three times' --when 'payment|retry' --tag payments "
            "--body 'The provider charges twice when a fourth try comes within a minute.'",
        ),
    ),
    Step("Recall: by words and by meaning.", ("rawkomem search 'how often do we charge a card again'",)),
    Step(
        "Inject: print the memories that an agent gets for a task. If none fits, print nothing.",
        ("rawkomem inject 'make the payment retry configurable'", "rawkomem inject 'rename the logo file'"),
    ),
    Step(
        "Explain why a memory is injected.",
        ("rawkomem why payments-are-tried-three-times 'make the payment retry configurable'",),
    ),
    Step(
        "Conflict: the second claim contradicts the first and waits for a person, as the project's settings require.",
        (
            "rawkomem add --title 'Database port' --claim subject=database,predicate=port,value=5432 "
            "--body 'Postgres listens on 5432.'",
            "rawkomem add --title 'Database port moved' --claim subject=database,predicate=port,value=6432 "
            "--body 'Since the pooler came, use 6432.'",
            "rawkomem conflicts",
        ),
    ),
    Step(
        "A person decides; the old claim stays in its file as history.",
        ("rawkomem review database-port-moved --supersede --yes", "rawkomem search 'which port does the database use'"),
    ),
    Step(
        "Merge: two branches changed the same memory; git keeps the entries of both.",
        ("git merge --quiet --no-edit feature", "rawkomem history payments-are-tried-three-times"),
        (
            "git init --quiet .",
            "rawkomem connect git",
            "git add .rawko",
            "git commit --quiet -m start",
            "git switch --quiet -c feature",
            "rawkomem reinforce payments-are-tried-three-times --reason 'seen in the logs'",
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


@click.command("demo")
@click.option("--keep", is_flag=True, help="Keep the folder.")
def demo_command(keep: bool) -> None:
    """Show what rawkomem does, with real commands in a temporary folder.

    The demo takes half a minute. It stores, finds and explains memories, settles a conflict and merges two branches.
    It reads and writes nothing outside the temporary folder.
    """
    home = tempfile.mkdtemp(prefix="rawkomem-demo-")
    try:
        _play(home)
        if keep:
            adopt(os.path.join(home, "project", ".rawko", "local"))
    finally:
        if not keep:
            shutil.rmtree(home, ignore_errors=True)
    note(f"look around in {os.path.join(home, 'project')}" if keep else "the folder was removed; --keep keeps it")


def _play(home: str) -> None:
    project = os.path.join(home, "project")
    os.mkdir(project)
    around = apart_environment(home)
    for number, step in enumerate(STEPS, 1):
        if step.git and not shutil.which("git"):
            note("git is not installed, so the merge is skipped")
            continue
        say(f"{paint(f'{number}. {step.shows}', 'bold')}")
        for command in step.quietly:
            _run(command, project, around)
        for command in step.commands:
            say(f"{paint('$', 'green')} {command}")
            say(_run(command, project, around))
        if number == 1:
            with open(os.path.join(project, ".rawko", "config.yaml"), "a", encoding="utf-8") as stream:
                stream.write(REVIEW_CONFIG)
        if sys.stdout.isatty():
            time.sleep(PAUSE_S)


def _run(command: str, project: str, around: Mapping[str, str]) -> str:
    """Return the output of a command; raise ClickException if the command fails."""
    words = shlex.split(command)
    if words[0] == "rawkomem":
        words[:1] = [sys.executable, "-c", WATCHED_CODE]
    done = subprocess.run(
        words, cwd=project, env=around, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode:
        raise click.ClickException(f"'{command}' failed: {done.stderr.strip()}")
    return ((done.stdout + done.stderr).rstrip("\n") or "(no output)") + "\n"


def run_watched() -> None:
    """Run the command line of a step. Its writes count as written by the person who watches the demo."""
    opening.watched = True
    main()


def apart_environment(home: str) -> dict[str, str]:
    """Return an environment without the user's settings, caches and git identity."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RAWKOMEM_", "GIT_"))}
    who = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in IDENTITY.items()}
    return {
        **kept,
        **who,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "XDG_CONFIG_HOME": os.path.join(home, "config"),
        "XDG_CACHE_HOME": os.path.join(home, "cache"),
        "RAWKOMEM_EMBEDDER": "static",  # starts no background process, which would outlive the folder
        "PYTHONIOENCODING": "utf-8",
        "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", ""),  # git calls rawkomem
    }


IDENTITY = {"NAME": "Demo", "EMAIL": "demo@example.invalid"}
