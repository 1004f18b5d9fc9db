"""Collect the command lines that messages, help texts and docs suggest, and parse them with the real parser."""

import ast
import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
from rawkomem.faces.cli.commands import COMMANDS, cli
from rawkomem.faces.cli.options import expanded

from tests.conftest import ROOT
from tests.sources import nodes

QUOTED = re.compile(r"'(rawkomem (?!is )[^'\n]*(?:'[^'\n]*'[^'\n]*)*?)'(?![\w'])|`(rawkomem [^`\n]+)`")
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VALUE = "ID"  # what a value that a message fills in stands for
# Words in capitals that stand for a value of the user → a value that fits.
PLACEHOLDERS = {
    "HOST": "claude",
    "COMMAND": "list",
    "SHELL": "bash",
    "NAME": "sqlite",
    "MONTH": "2026-03",
    "BASE": "HEAD",
    "PORT": "8765",
    "…": "text",
    "~/llmos": "FOLDER",
    "~/.claude/projects/-home-me-app": "FOLDER",
}
FILES = (
    "comments.json",
    "FILE",
    "SESSION",
    "LESSON_FILE",
    "SKILL.md",
    "CLAUDE.md",
    "PATH",
    "SOURCE",
    "note.md",
    "task.txt",
    "skill.md",
)
FOLDERS = ("FOLDER", "DIR", "OUT_FOLDER")


def in_code() -> Iterator[tuple[str, str]]:
    """Yield (place, command line) of every quoted command in a text of the program."""
    for file in sorted((ROOT / "rawkomem").rglob("*.py")):
        for node in nodes(file):
            if isinstance(node, ast.JoinedStr):
                parts = (str(part.value) if isinstance(part, ast.Constant) else VALUE for part in node.values)
                text = "".join(parts)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
            else:
                continue
            for line in lines_in(" ".join(text.split())):
                yield f"{file.relative_to(ROOT)}:{node.lineno}", line


def in_docs() -> Iterator[tuple[str, str]]:
    """Yield (place, command line) of every command in a page, in a block or in a sentence."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "templates").rglob("*.md")]
    for page in sorted(pages):
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        blocks = (line for block in BLOCK.findall(text) for line in block.splitlines())
        for line in (*lines_in(text), *(line for line in blocks if line.startswith("rawkomem "))):
            yield str(page.relative_to(ROOT)), line


def in_examples() -> Iterator[tuple[str, str]]:
    """Yield (command, command line) of every example in a help text."""
    for path, command in leaves():
        lines = (command.epilog or "").splitlines()[2:]
        yield from ((path, line.strip()) for line in lines)


def leaves() -> Iterator[tuple[str, click.Command]]:
    """Yield (path, command) of every command and every command of a group."""
    waiting = [(name, cli.get_command(click.Context(cli), name)) for name in COMMANDS]
    for path, command in waiting:
        assert command is not None
        yield path, command
        waiting += [(f"{path} {name}", inner) for name, inner in getattr(command, "commands", {}).items()]


def lines_in(text: str) -> list[str]:
    return [one or other for one, other in QUOTED.findall(text)] if "rawkomem " in text else []


def words_of(line: str) -> list[str]:
    """Return the arguments of a command line, without comments, redirections and what follows a pipe."""
    words = shlex.split(re.split(r" [|<>;&]{1,2} | # ", f"{line} ")[0], comments=True)[1:]
    return expanded([PLACEHOLDERS.get(word, "SESSION" if word.endswith(".jsonl") else word) for word in words])


def parse(words: list[str]) -> str:
    """Return why a command line cannot be run; empty if it can. Nothing is run."""
    ctx = click.Context(cli, info_name="rawkomem", **cli.context_settings)
    if words[:1] == ["-C"]:
        words = words[2:]
    try:
        return _parse(ctx, words)
    except click.exceptions.Exit:
        return ""
    except click.ClickException as failure:
        return failure.format_message()


def _parse(ctx: click.Context, words: list[str]) -> str:
    command: click.Command = cli
    with contextlib.redirect_stdout(io.StringIO()):  # --help prints
        while isinstance(command, click.Group):
            if command is not cli:
                words = words or [getattr(command, "bare", "")]
                if words[0].startswith("-") or not words[0]:
                    command.make_context(str(ctx.info_name), list(words), parent=ctx.parent)
                    return ""
                default = getattr(command, "default", "")
                words = words if words[0] in command.commands or not default else [default, *words]
            if not words or words[0] in ("--version", "--help"):
                return ""
            name, found, words = command.resolve_command(ctx, words)
            assert found is not None
            command, ctx = found, click.Context(found, info_name=name, parent=ctx)
        command.make_context(str(ctx.info_name), list(words), parent=ctx.parent)
    return ""


def is_reference(words: list[str]) -> bool:
    """Tell whether a text names a command, without arguments: a sentence about it, not a line to paste."""
    command: click.Command = cli
    ctx = click.Context(cli, info_name="rawkomem")
    for word in words:
        if not isinstance(command, click.Group):
            return False
        found = command.get_command(ctx, word)
        if found is None:
            return False
        command = found
    return True


def prepare(folder: Path) -> None:
    """Make the files and folders that placeholders stand for."""
    for name in FILES:
        (folder / name).write_text("# A title\n\nA text.\n", encoding="utf-8")
    for name in FOLDERS:
        (folder / name).mkdir(exist_ok=True)
