"""Turn the options of options.py, which are data, into options of click commands."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from ...model.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from .options import Option

CLICK_SHAPES: dict[str, dict[str, Any]] = {
    "flag": {"is_flag": True},
    "number": {},
    "many": {"multiple": True},
    "text": {},
}


class AliasedOption(click.Option):
    """An option with aliases that the help does not show."""

    def __init__(self, *arguments: Any, aliases: tuple[str, ...] = (), **named: Any):
        super().__init__(*arguments, **named)
        self.aliases = aliases

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        shown = self.opts
        self.opts = [*shown, *self.aliases]
        super().add_to_parser(parser, ctx)
        self.opts = shown


def declare(option: Option, function: Any) -> Any:
    """Declare an option of options.py on the function of a click command, and return the function."""
    shape: dict[str, Any] = {**CLICK_SHAPES[option.kind], "help": option.help}
    if option.kind != "many":
        shape["default"] = option.default
    if option.kind == "number":
        shape |= {"type": click.IntRange(min=option.least), "show_default": bool(option.default)}  # the help explains 0
    if option.aliases:
        shape |= {"cls": AliasedOption, "aliases": option.aliases}
    return click.option(*option.names, option.key, **shape)(function)


def one_of(key: str, **flags: str) -> Callable[[Any], Any]:
    """Declare flags that exclude each other, given as name=help; the command gets the name of one as `key`, or None."""

    def declare(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def run(*arguments: Any, **given: Any) -> Any:
            chosen = [name for name in flags if given.pop(name)]
            if len(chosen) > 1:
                raise BadInput(f"--{chosen[0]} and --{chosen[1]} exclude each other", "use one of them")
            return command(*arguments, **given, **{key: chosen[0] if chosen else None})

        for name, help in reversed(flags.items()):
            run = click.option(f"--{name}", is_flag=True, help=help)(run)
        return run

    return declare
