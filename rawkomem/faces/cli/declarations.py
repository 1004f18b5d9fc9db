"""Declare click commands: a line for each argument and option, the fields of the answer, groups, and examples."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import cleandoc
from typing import Any, TypeVar

import click
from click import Choice, Command, Context, FloatRange, Group, IntRange, echo

from ...model.errors import BadInput
from .answers import Fields
from .opening import author, open_owner, open_personal, open_repository
from .options import JSON, read_option
from .terminal import note

T = TypeVar("T")
Declaration = Callable[[Callable[..., Any]], T]
Part = str | Fields | list[Fields] | Callable[[Any], Any]


def verb(
    name: str, *parts: Part, group: Group | None = None, **named: Any
) -> Declaration[Command]:
    """Declare a command by its parts: arguments, options, and the fields of its answer.

    An argument or option is a line of text (see `parameter`), or a decorator of click. The fields (in
    brackets if the answer is a list) also declare the option --json. The function gets the values of the parameters
    that it names, and, if it names them, `repository` (of the folder, of the memory `id`, or with --personal the user's
    own), `layered` (the repository with all layers), `by` (the author: the user, unless --by names another), `folder`
    and `ctx`. What it returns is printed; an int is the exit code. Afterwards the index follows what was written.
    """

    def declare(function: Callable[..., Any]) -> Command:
        parameters = inspect.signature(function).parameters
        names = [*parameters]
        takes_all = any(one.kind is one.VAR_KEYWORD for one in parameters.values())

        @wraps(function)
        def run(**values: Any) -> int:
            opened = _opened(click.get_current_context(), names, values)
            passed = {
                key: value for key, value in values.items() if takes_all or key in names
            }
            result = function(**opened, **passed)
            code = result if isinstance(result, int) else answer(result)
            core = opened["repository"].core if "repository" in opened else None
            if core and core.written:
                core.follow()
            return code

        declared: Any = run
        for part in reversed(parts):
            if isinstance(part, str):
                declared = parameter(part)(declared)
            elif isinstance(part, (Fields, list)):
                if part is fields[0]:
                    declared = parameter(JSON)(declared)
            else:
                declared = part(declared)
        made: Any = (group.command if group else click.command)(name, **named)(declared)
        made.answers = fields
        return made  # type: ignore[no-any-return]

    fields = [part for part in parts if isinstance(part, (Fields, list))]
    return declare


def _opened(ctx: Context, names: list[str], values: dict[str, Any]) -> dict[str, Any]:
    """Return the context, the folder and the repository of a command, as far as its parameters ask for them.

    Set the value of `by` to the author.
    """
    available: dict[str, Any] = {"ctx": ctx, "folder": ctx.obj}
    if "by" in names:
        values["by"] = author(values.get("by", ""))
    if "repository" in names and values.get("personal"):
        available["repository"] = open_personal()
    elif "repository" in names and values.get("id"):
        available["repository"], values["id"] = open_owner(ctx.obj, values["id"])
    elif "repository" in names:
        available["repository"] = open_repository(ctx.obj)
    elif "layered" in names:
        available["layered"] = open_repository(ctx.obj, layers=True)
    return {name: value for name, value in available.items() if name in names}


def answer(value: Any, fields: Fields | None = None, code: int = 0, **more: Any) -> int:
    """Print the answer of the running command by its declared fields, and return an exit code.

    `more` has the values of fields that the value itself does not have. A list that is longer than the option --limit
    is shortened.
    """
    ctx = click.get_current_context()
    if value is None:
        return code
    if not fields:
        declared = getattr(ctx.command, "answers")[0]  # noqa: B009
        fields = declared[0] if isinstance(declared, list) else declared
    if more:
        constants: Any = {key: lambda _, one=one: one for key, one in more.items()}
        fields = fields.but(**constants)
    if isinstance(value, (list, tuple)):
        value = shortened(value, ctx.params.get("limit") or 0)
    fields.say(value, prints_json())
    return code


def shortened(rows: Sequence[T], limit: int, total: int = 0) -> Sequence[T]:
    """Return the first rows, and print how to see all of them. 0 means no limit; `total` counts rows not read, too."""
    total = total or len(rows)
    if not limit or total <= limit:
        return rows
    note(f"showing {limit} of {total}: -n 0 shows all")
    return rows[:limit]


def prints_json() -> bool:
    """Return whether the running command prints JSON."""
    return bool(click.get_current_context().params.get("as_json"))


def parameter(line: str) -> Callable[[Any], Any]:
    """Return the decorator for a line: an option (see `read_option`), or an argument such as `ID` or `[FILE]...`.

    An argument is optional in square brackets; `WORD>name` sets the parameter `name`. The default of an option is shown
    unless its help says something about the default.
    """
    if not line.startswith("-"):
        return _argument(line)
    option = read_option(line)
    shape: dict[str, Any] = {
        "help": option.help,
        "is_flag": not option.kind,
        "multiple": option.is_many,
        "required": option.is_required,
    }
    low, dots, high = option.kind.partition("..")
    if dots and low[0].isdigit():  # not BASE...HEAD
        number: Any = float if "." in low else int
        limits = IntRange if number is int else FloatRange
        shape["type"] = limits(number(low), number(high) if high else None)
    elif "|" in option.kind:
        shape["type"] = Choice(option.kind.split("|"), case_sensitive=False)
    elif option.kind:
        if not option.is_many and not option.is_required:
            shape["default"] = ""
        if option.kind in ("PATH", "FILE"):
            shape["type"] = click.Path()
        elif option.kind != "TEXT":
            shape["metavar"] = option.kind
    if option.default:
        shape["default"] = [option.default] if option.is_many else option.default
        shape["show_default"] = "Default:" not in option.help
    return click.option(*option.names, option.key, **shape)


def _argument(head: str) -> Callable[[Any], Any]:
    metavar, _, name = head.partition(">")
    word = metavar.removesuffix("...").strip("[]")
    shape: dict[str, Any] = {"required": not metavar.startswith("[")}
    if metavar.endswith("..."):
        shape["nargs"] = -1
    elif not shape["required"]:
        shape["default"] = ""
    if name:
        shape["metavar"] = metavar
    return click.argument(name or word.lower(), **shape)


def one_of(key: str, **flags: str) -> Callable[[Any], Any]:
    """Declare flags that exclude each other, given as name=help; the command gets the name of one as `key`, or ""."""

    def declare(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def run(**values: Any) -> Any:
            chosen = [name for name in flags if values.pop(name)]
            if len(chosen) > 1:
                options = " and ".join(f"--{name.replace('_', '-')}" for name in chosen)
                raise BadInput(f"{options} exclude each other", "use one of them")
            return command(**values, **{key: chosen[0] if chosen else ""})

        for name, help in reversed(flags.items()):
            run = click.option(
                f"--{name.replace('_', '-')}", name, is_flag=True, help=help
            )(run)
        return run

    return declare


IS_BARE = "rawkomem.bare"  # key in a context's meta: the user named only a group


class Verbs(Group):
    """A group that runs the command `bare` when the user names none, and then prints examples.

    Without `bare` it prints its help. Words that name no command of the group are arguments of the command `default`.
    """

    def __init__(
        self, *arguments: Any, bare: str = "", default: str = "", **named: Any
    ):
        super().__init__(*arguments, **{"no_args_is_help": False, **named})
        self.bare = bare
        self.default = default

    def verb(self, name: str, *parts: Part, **named: Any) -> Declaration[Command]:
        """Declare a command of the group; see `verb`."""
        return verb(name, *parts, group=self, **named)

    def verbs(self, name: str, **named: Any) -> Declaration[Verbs]:
        """Declare a group in the group."""
        return self.group(name, cls=Verbs, **named)  # type: ignore[return-value]

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            if not self.bare:
                echo(ctx.get_help())
                ctx.exit()
            ctx.meta[IS_BARE] = self.bare != self.default
            args = [self.bare]
        elif (
            self.default
            and args
            and args[0] not in (*self.commands, *ctx.help_option_names)
        ):
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Context) -> Any:
        result = super().invoke(ctx)
        if ctx.meta.pop(IS_BARE, False):
            lines = (self.epilog or "").partition(EXAMPLES)[2]
            note(f"more examples:\n{lines}")
        return result


def verbs(name: str, **named: Any) -> Declaration[Verbs]:
    """Declare a group of commands; its docstring is its help."""
    return click.group(name, cls=Verbs, **named)


EXAMPLES = "Examples:\n"  # the heading of the last paragraph of a docstring


def with_examples(command: Command) -> Command:
    """Move the examples in the help of a command and its subcommands below the options, and return the command."""
    text, heading, lines = cleandoc(command.help or "").partition(EXAMPLES)
    if heading:
        command.help = text.rstrip()
        command.epilog = f"\b\n{heading}{lines}"
    for inner in getattr(command, "commands", {}).values():
        with_examples(inner)
        summary = (inner.help or "").partition("\n\n")[0]
        inner.short_help = inner.short_help or " ".join(summary.split())  # uncut
    return command
