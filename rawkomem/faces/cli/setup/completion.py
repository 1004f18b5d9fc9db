"""Implement `rawkomem completion`: print or install the completion script of a shell."""

from __future__ import annotations

import os

import click
from click.shell_completion import get_completion_class

from ....model.errors import BadInput
from ..commands import COMPLETE_VARIABLE, cli
from ..completion import BashWithTitles, FishInOrder
from ..terminal import note, paint, say

SHELLS = (BashWithTitles.name, "zsh", FishInOrder.name)
PROGRAMS = ("rawkomem", "rawko")
# Where each shell looks for the completion of a program; zsh needs a line in ~/.zshrc for it.
FILES = {
    "bash": ("XDG_DATA_HOME", "~/.local/share", "bash-completion/completions/{}"),
    "zsh": ("XDG_DATA_HOME", "~/.local/share", "zsh/site-functions/_{}"),
    "fish": ("XDG_CONFIG_HOME", "~/.config", "fish/completions/{}.fish"),
}


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS), required=False)
@click.option("--install", is_flag=True, help="Write the script into the folder where your shell looks for it.")
def completion_command(shell: str | None, install: bool) -> None:
    """Print or install Tab completion for your shell.

    Tab then completes commands, options, ids with their titles, tags, kinds, statuses and pages of the documentation.
    Without an argument, the command uses the shell that $SHELL names.
    """
    shell = shell or os.path.basename(os.environ.get("SHELL", ""))
    if shell not in SHELLS:
        raise BadInput("$SHELL names no supported shell", "run 'rawkomem completion bash', or name zsh or fish")
    if not install:
        say("\n".join(script(shell, program) for program in PROGRAMS))
        return
    for program in PROGRAMS:
        path = path_of(shell, program)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(script(shell, program))
        say(f"{paint('written', 'green')}  {path}")
    if shell == "zsh":
        note(f"add this line to ~/.zshrc, above compinit: fpath=({os.path.dirname(path)} $fpath)")
    note("open a new terminal to use the completion")


def script(shell: str, program: str) -> str:
    """Return the completion script of a program for a shell."""
    made = get_completion_class(shell)
    assert made is not None
    return made(cli, {}, program, COMPLETE_VARIABLE).source()


def path_of(shell: str, program: str) -> str:
    """Return where a shell looks for the completion of a program."""
    variable, default, name = FILES[shell]
    return os.path.join(os.environ.get(variable) or os.path.expanduser(default), *name.format(program).split("/"))
