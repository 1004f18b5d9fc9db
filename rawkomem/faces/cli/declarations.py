"""Declare click commands: options from data, groups of commands, and the examples that `--help` shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import cleandoc
from typing import Any

import click
from click import Command, Context, Group, echo

from ...model.errors import BadInput
from .terminal import note

# Declare the usual shapes of options.


def flag(*names: str, help: str) -> Callable[[Any], Any]:
    """Declare an option without a value; the command gets whether the user gave it."""
    return click.option(*names, is_flag=True, help=help)


def text_option(*names: str, help: str) -> Callable[[Any], Any]:
    """Declare an option with a text; the command gets an empty text if the user gave none."""
    return click.option(*names, default="", help=help)


def list_option(*names: str, help: str) -> Callable[[Any], Any]:
    """Declare an option that may be repeated; the command gets a tuple of texts."""
    return click.option(*names, multiple=True, help=help)


def one_of(key: str, **flags: str) -> Callable[[Any], Any]:
    """Declare flags that exclude each other, given as name=help; the command gets the name of one as `key`, or None."""

    def declare(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def run(*arguments: Any, **given: Any) -> Any:
            chosen = [name for name in flags if given.pop(name)]
            if len(chosen) > 1:
                raise BadInput(
                    f"--{chosen[0]} and --{chosen[1]} exclude each other", "use one of them"
                )
            return command(*arguments, **given, **{key: chosen[0] if chosen else None})

        for name, help in reversed(flags.items()):
            run = click.option(f"--{name}", is_flag=True, help=help)(run)
        return run

    return declare


# Group related commands under one name: `rawkomem lesson add`, `rawkomem lesson list`.

IS_BARE = "rawkomem.bare"  # key in a context's meta: the user named only a group


class Verbs(Group):
    """A group that runs the command `bare` when the user names none, and then prints examples.

    Without `bare` it prints its help. Words that name no command of the group are arguments of the command `default`.
    """

    def __init__(self, *arguments: Any, bare: str = "", default: str = "", **named: Any):
        super().__init__(*arguments, **{"no_args_is_help": False, **named})
        self.bare, self.default = bare, default

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            if not self.bare:
                echo(ctx.get_help())
                ctx.exit()
            ctx.meta[IS_BARE] = True
            args = [self.bare]
        elif self.default and args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Context) -> Any:
        result = super().invoke(ctx)
        if ctx.meta.pop(IS_BARE, False):
            lines = (self.epilog or "").partition(EXAMPLES)[2]
            note(f"more examples:\n{lines}")
        return result


EXAMPLES = "Examples:\n"  # the heading of the last paragraph of a docstring


def with_examples(command: Command) -> Command:
    """Move the examples in the help of a command and its subcommands below the options, and return the command."""
    text, heading, lines = cleandoc(command.help or "").partition(EXAMPLES)
    if heading:
        command.help, command.epilog = text.rstrip(), f"\b\n{heading}{lines}"
    for inner in getattr(command, "commands", {}).values():
        with_examples(inner)
        summary = (inner.help or "").partition("\n\n")[0]
        inner.short_help = inner.short_help or " ".join(summary.split())  # uncut
    return command
