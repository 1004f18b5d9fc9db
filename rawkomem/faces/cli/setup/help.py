"""Implement `rawkomem help`: print the overview, all commands, or the help of one command."""

from __future__ import annotations

import click

from ..commands import cli, overview


@click.command("help")
@click.argument("names", metavar="[COMMAND]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="List all commands.")
def help_command(names: tuple[str, ...], everything: bool) -> None:
    """Show the help of a command, or all commands with --all."""
    click.echo(_help_of(names) if names else overview(everything))


def _help_of(names: tuple[str, ...]) -> str:
    ctx = click.Context(cli, info_name="rawkomem", **cli.context_settings)
    for name in names:
        group = ctx.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"'{ctx.command_path}' has no command {name!r}", ctx)
        _, command, _ = group.resolve_command(ctx, [name])
        if command is None:
            raise click.UsageError(f"there is no command {name!r}", ctx)
        ctx = click.Context(command, info_name=name, parent=ctx)
    return ctx.get_help()
