"""Group related commands under one name: `rawkomem lesson add`, `rawkomem lesson list`."""

from __future__ import annotations

from typing import Any

import click

from .examples import EXAMPLES
from .terminal import note

IS_BARE = "rawkomem.bare"  # key in a context's meta: the user named only a group


class Verbs(click.Group):
    """A group that runs the command `bare` when the user names none, and then prints examples.

    Without `bare` it prints its help. Words that name no command of the group are arguments of the command `default`.
    `old` maps deprecated names to commands; the help does not show them.
    """

    def __init__(self, *arguments: Any, bare: str = "", default: str = "", old: Any = (), **named: Any):
        super().__init__(*arguments, **{"no_args_is_help": False, **named})
        self.bare, self.default, self.old = bare, default, dict(old)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, self.old.get(cmd_name, cmd_name))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            if not self.bare:
                click.echo(ctx.get_help())
                ctx.exit()
            ctx.meta[IS_BARE] = True
            args = [self.bare]
        elif self.default and args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        result = super().invoke(ctx)
        if ctx.meta.pop(IS_BARE, False):
            note("more examples:\n" + "\n".join(f"  {line}" for line in EXAMPLES[path_of(ctx)]))
        return result


def path_of(ctx: click.Context) -> str:
    """Return the names of a command and its groups, such as "lesson add"."""
    return ctx.command_path.partition(" ")[2]


def with_examples(command: click.Command, path: str) -> click.Command:
    """Add examples to the help of a command and its subcommands, and return the command."""
    lines = EXAMPLES.get(path, ())
    if lines:
        command.epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
    for name, inner in getattr(command, "commands", {}).items():
        inner.short_help = inner.short_help or " ".join((inner.help or "").partition("\n\n")[0].split())  # uncut
        with_examples(inner, f"{path} {name}")
    return command
