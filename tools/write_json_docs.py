"""Write docs/json.md: run each command with --json in a new repository and list the keys that it prints."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from rawkomem.faces.cli import run
from rawkomem.faces.cli.commands import cli
from rawkomem.faces.cli.table import COMMANDS
from rawkomem.faces.cli.terminal import JSON_SCHEMA_VERSION

DOCS = Path(__file__).resolve().parent.parent / "docs" / "json.md"
HEAD = f"""\
# JSON output

To read the output of a command in a program, add `--json`:

```sh
rawkomem list --json
rawkomem status --json
```

An object starts with `"schema": {JSON_SCHEMA_VERSION}`, the version of the keys on this page. The version rises
when a key is renamed or removed, or when its meaning changes; it stays when a key is added. A list has no version of
its own: its items follow the same version.
Times are ISO 8601 in UTC. An error is one line on stderr, with an exit code other than 0.

`make docs` generates this page from real output; do not edit it. Not every item has the keys in italics.

| command | prints | keys |
|---|---|---|
"""
SESSION = "User: Run the tests with npm.\n\nAssistant: ok\n\nUser: No, never use npm here. Always use pnpm.\n"
LESSON = (
    "--situation", "Deploy", "--error-pattern", "friday", "--oversight", "none", "--fix", "rollback",
    "--rule", "Never", "--severity", "high", "--scope", "all",
)  # fmt: skip
# Commands in the order in which they run: a command may need memories that earlier commands wrote.
CASES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("add", ("First port. It is 5432. See project:api.", "-t", "net", "--when", "port")),
    ("add", ("--title", "Zone", "--claim", "subject=us,predicate=zone,value=UTC", "--body", "UTC.",
             "--source", "user_explicit")),
    ("add", ("--title", "Zone 2", "--claim", "subject=us,predicate=zone,value=PST", "--body", "PST.",
             "--source", "inference", "--on-conflict", "keep_active")),
    ("add", ("Second port. It is 6432.",)),
    ("evolve", ("Third port is 7432.",)),
    ("search", ("port",)), ("inject", ("which port has the database",)), ("list", ()), ("show", ("first port",)),
    ("why", ("first port", "which port")), ("why-not", ("first port", "logo")), ("context", ("port",)),
    ("brief", ("port",)), ("stats", ()), ("tokens", ()), ("explain", ("first port",)), ("entities", ()),
    ("amend", ("first port", "--tag", "db")), ("history", ("first port",)), ("feedback", ("first port", "helpful")),
    ("link add", ("first port", "second port")), ("link list", ("first port",)), ("link walk", ("first port",)),
    ("link path", ("first port", "second port")), ("link clusters", ("--min-size", "2")), ("link graph", ()),
    ("link remove", ("first port", "second port")), ("link orphans", ("--similar", "1")),
    ("reinforce", ("first port",)), ("dispute", ("first port",)), ("validity", ("first port", "--until", "2099-01-01")),
    ("heritage", ("first port",)), ("cite", ("second port", "code.py")),
    ("archive", ("second port",)), ("restore", ("second port",)), ("quarantine", ("second port",)), ("review", ()),
    ("conflicts", ()), ("delete", ("second port",)), ("undo", ("--dry-run",)),
    ("supersede", ("first port", "third port", "--anyway")),
    ("lesson add", LESSON), ("lesson list", ()), ("lesson distill", ("--dry-run",)),
    ("skill add", ("SKILL.md",)), ("skill list", ()), ("skill show", ("deploy",)),
    ("skill feedback", ("deploy", "--success")), ("skill prune", ("--dry-run",)),
    ("skill export", ("deploy", "out-skills")), ("skill synthesize", ("--dry-run",)),
    ("trace add", ("--goal", "Release", "--results", "Done")), ("trace list", ()), ("trace show", ("release",)),
    ("trace log add", ("--goal", "Log of a release")), ("trace log", ()),
    ("episode create", ("Week", "first port", "third port")), ("episode list", ()), ("episode show", ("week",)),
    ("episode add", ("week", "release")), ("episode remove", ("week", "release")),
    ("episode search", ("week", "port")), ("episode summarize", ("week",)), ("reflect", ("--topic", "port",)),
    ("learn", ("session.md",)), ("drafts", ()),
    ("import", ("CLAUDE.md", "--dry-run")), ("export", ("--format", "markdown", "--out", "out-export")),
    ("project export", ("out-project",)), ("connect list", ()), ("connect git", ("--dry-run",)),
    ("connect claude", ("--dry-run",)), ("toc", ()), ("check", ()), ("status", ()), ("doctor", ()), ("docs", ()),
    ("index status", ()), ("index sync", ()), ("index rebuild", ()), ("tidy consolidate", ()), ("tidy digest", ()),
    ("tidy prune", ()), ("tidy gather", ("--dry-run",)), ("tidy retention", ()), ("store status", ()),
    ("store use", ("sqlite",)), ("ledger verify", ()), ("ledger show", ()), ("ledger export", ()),
    ("match", ("a|b", "a")), ("embed", ("hello",)), ("scrub", ()),
    ("purge", ("third-port-is-7432", "--yes")),
    ("git", ("add", ".")), ("git", ("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "y")),
    ("diff", ("HEAD~1",)),
)  # fmt: skip
# Commands that are not run for this page, because they need other programs, sessions or minutes.
NOT_RUN = {
    "bench speed", "bench recall", "bench learn", "bench replay", "bench secrets", "bench scale", "replay",
    "connect codex", "connect opencode", "connect cursor", "connect copilot", "connect gemini", "drafts show",
    "drafts demote", "drafts keep", "drafts edit", "drafts merge", "drafts drop", "episode capture",
    "episode compress",
    "connect vscode", "connect windsurf", "connect zed", "self-check",
    "lesson import", "project import", "sinks status", "sinks flush", "store copy", "store publish", "store migrate",
    "store rollback", "tidy retention list", "tidy retention restore",
}  # fmt: skip


def commands_with_json() -> list[str]:
    """Return every command that has the option --json."""
    return [" ".join(path) for name in COMMANDS for path in _with_json(cli.get_command(None, name), (name,))]


def _with_json(command: click.Command | None, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    assert command is not None
    for name, inner in getattr(command, "commands", {}).items():
        yield from _with_json(inner, (*path, name))
    if any(parameter.name == "as_json" for parameter in command.params):
        yield path


def write() -> str:
    """Return the whole page."""
    rows: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        _prepare(Path(folder))
        for command, words in CASES:
            if command == "git":
                subprocess.run(["git", *words], cwd=folder, check=True)
                continue
            told = _run([*command.split(), *words, "--json"], folder)
            rows[command] = _row(command, told)
    return HEAD + "".join(rows[name] for name in sorted(rows))


def _prepare(folder: Path) -> None:
    _run(["init"], str(folder))
    files = {"code.py": "x = 1\n", "CLAUDE.md": "# Tests\n\nRun pnpm.\n", "session.md": SESSION}
    files["SKILL.md"] = "---\nname: Deploy\ndescription: How to deploy.\n---\n\nRun make deploy.\n"
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


def _run(words: list[str], folder: str) -> str:
    """Return the stdout of a command that runs in a folder."""
    with (
        contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8")) as out,
        contextlib.redirect_stderr(io.StringIO()) as remarks,
        contextlib.chdir(folder),
        io.TextIOWrapper(io.BytesIO(b"A text."), "utf-8") as given,
    ):
        usual, sys.stdin = sys.stdin, given
        try:
            code = run(words)
        finally:
            sys.stdin = usual
        out.seek(0)
        text = out.read()
    assert code in (0, 1) and (text or words == ["init"]), f"rawkomem {' '.join(words)}: {remarks.getvalue()}"
    return text


def _row(command: str, told: str) -> str:
    data = json.loads(told)
    shape = "object" if isinstance(data, dict) else "list of objects"
    items = [data] if isinstance(data, dict) else [item for item in data if isinstance(item, dict)]
    if isinstance(data, list) and data and not items:
        shape = "list of texts"
    keys = dict.fromkeys(key for item in items for key in item)
    listed = ", ".join(f"`{key}`" if all(key in item for item in items) else f"*`{key}`*" for key in keys)
    return f"| `{command}` | {shape} | {listed or '(empty here)' if shape != 'list of texts' else ''} |\n"


if __name__ == "__main__":
    os.environ["RAWKOMEM_EMBEDDER"] = "static"
    with tempfile.TemporaryDirectory() as home:
        for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
            os.environ[name] = os.path.join(home, name)
        DOCS.write_text(write(), encoding="utf-8")
