"""List the commands for click and load each one when it runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import update_wrapper
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ... import __version__
from ...files.given_text import read_stdin
from ...model.errors import NotFound
from .groups import with_examples
from .hot import HOT, run_of
from .opening import open_owner, open_repository
from .options import together
from .table import COMMANDS, GROUPS, OLD_NAMES, OTHER_WORDS, SHORT_NAMES
from .terminal import note

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

T = TypeVar("T")

# The help texts of hot commands. The other commands have theirs in their docstrings.
HELP = {
    "search": """Find memories that match a question.

    Search compares words and meaning. If QUERY is '-', it is read from standard input. Memories with the status
    draft are included; use --include to find archived, superseded or deleted memories.""",
    "inject": """Print the memories that an agent needs for a task.

    If TASK is '-', it is read from standard input. A memory is printed if one of its whenToUse conditions matches or if
    it is relevant enough. If no memory is relevant, the output is empty and the exit code is 0.""",
    "stats": """Count memories and show how often they are used.

    The filters are those of 'rawkomem list'; 'statuses' ignores them and counts every memory. A use is an injection on
    this machine.""",
    "feedback": """Rate a memory as helpful or harmful.

    A harmful vote halves the score of the memory in later injections.""",
    "sync": """Update the index from the files.

    Every search does this automatically. Run this command after a large change, so that no search has to wait.""",
    "merge-driver": """Merge three versions of a memory file into the second: BASE OURS THEIRS [PATH].

    Git runs this command after 'rawkomem connect git'. The exit code is 3 if both sides changed the same entry.""",
    "hook": """Answer a hook of a coding agent; 'rawkomem connect' sets it up.

    HOST is a name that 'rawkomem connect' lists. EVENT is session-start, prompt, turn-end or session-end, or the host's
    own name for it. The command reads the host's JSON from standard input and answers in its format. On any error the
    hook prints nothing and exits 0; the error is in .rawko/local/hook.log. See 'rawkomem docs hosts'.""",
}
INTRODUCTION = "rawkomem keeps a project's memories as Markdown files for people and agents."
ENDING = """\
'rawkomem help COMMAND' shows the options and examples of a command.
'rawkomem help --all' lists all commands. 'rawkomem docs' lists the manual."""
COMPLETE_VARIABLE = "_RAWKOMEM_COMPLETE"  # set while a shell asks for completions
NAME_COLUMNS = 12  # width of the command names in the overview


class LazyGroup(click.Group):
    """A group that loads a command's module when the command is called; the overview loads no module."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        path = SHORT_NAMES.get(name) or OLD_NAMES.get(name) or (name,)
        command = load(name if name in HOT else path[0])
        for part in () if name in HOT else path[1:]:
            command = getattr(command, "commands", {}).get(part)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command as click does; the error for an unknown name suggests similar commands."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            if args[0].startswith("-"):
                raise
        raise click.UsageError(f"there is no command {args[0]!r}{_suggestion(args[0])}", ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands that start with `incomplete`, from the table: loading them all takes a second."""
        from click.shell_completion import CompletionItem  # for completion only

        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [CompletionItem(name, help=text) for name, (_, text) in COMMANDS.items() if name.startswith(incomplete)]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(overview(everything=False) + "\n")


def overview(everything: bool) -> str:
    """Return the help of the program: the commands that people use most, or all of them, in groups."""
    lines = [INTRODUCTION, "", "Usage: rawkomem [-C FOLDER] COMMAND ..."]
    for heading, (shown, more) in GROUPS.items():
        lines += ["", heading]
        names = (*shown, *more) if everything else shown
        lines += [f"  {name:{NAME_COLUMNS}}{COMMANDS[name][1]}" for name in names]
    options = ("-C FOLDER   Work as if started in this folder.", "--version   Show the version.")
    return "\n".join([*lines, "", "Options", *(f"  {line}" for line in options), "", ENDING])


def load(name: str) -> click.Command | None:
    """Return a command with examples in its help, or None if there is no such command."""
    if name in HOT:
        command = with_examples(click_of(name), " ".join(OLD_NAMES.get(name, (name,))))
    elif name in COMMANDS:
        module = import_module(f"rawkomem.faces.cli.{COMMANDS[name][0]}")
        command = with_examples(getattr(module, f"{name.replace('-', '_')}_command"), name)
    else:
        return None
    if COMPLETE_VARIABLE in os.environ:
        from .completion import enable

        enable(command)
    return command


def _suggestion(name: str) -> str:
    """Return ": did you mean …?" with similar commands, or an empty text."""
    from difflib import get_close_matches  # only after a typo

    names = [OTHER_WORDS[name]] if name in OTHER_WORDS else get_close_matches(name, COMMANDS, n=2)
    return f": did you mean {' or '.join(names)}?" if names else ""


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-C", "folder", metavar="FOLDER", default="", help="Work as if started in this folder.")
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context, folder: str) -> None:
    """Keep a project's memories as Markdown files that people and agents share."""
    if folder and not os.path.isdir(folder):
        raise NotFound(f"there is no folder {folder}", "create it first, or name another one with -C")
    ctx.obj = folder
    if ctx.invoked_subcommand is None:
        from .overview import show_overview  # only for `rawkomem` alone

        show_overview(folder)


def run_click(argv: list[str]) -> int:
    """Run a command line through click, print errors as one line, and return the exit code."""
    if COMPLETE_VARIABLE in os.environ:
        from . import completion  # noqa: F401 - importing it registers the bash script
    try:
        result = cli.main(args=argv, prog_name="rawkomem", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.ClickException as failure:
        context = getattr(failure, "ctx", None)
        path = context.command_path if context else "rawkomem"
        if isinstance(failure, click.NoSuchOption) and context:
            shown = {name for option in context.command.params for name in option.opts}
            near = [name for name in failure.possibilities or () if name in shown]
            failure = click.NoSuchOption(failure.option_name, possibilities=near, ctx=context)
        note(f"{failure.format_message()} (try '{path} --help')")
        return failure.exit_code
    except click.exceptions.Abort:
        note("stopped: nothing was changed")
        return 1


def pass_repository(function: Callable[..., T]) -> Callable[..., T]:
    """Return a click command that passes the repository of its folder as the first argument.

    If the command has an ID, this is the repository that holds the memory with this id.
    """

    @click.pass_obj
    def command(folder: str, /, *arguments: Any, **named: Any) -> T:
        if not named.get("id"):
            return function(open_repository(folder), *arguments, **named)
        owner, named["id"] = open_owner(folder, named["id"])
        return function(owner, *arguments, **named)

    return update_wrapper(command, function)


def pass_layers(function: Callable[..., T]) -> Callable[..., T]:
    """Return a click command that passes the repository of its folder with all layers as the first argument."""

    @click.pass_obj
    def command(folder: str, /, *arguments: Any, **named: Any) -> T:
        return function(open_repository(folder, layers=True), *arguments, **named)

    return update_wrapper(command, function)


def click_of(name: str) -> click.Command:
    """Return a hot command as a click command."""
    hot = HOT[name]

    def command(folder: str, /, arguments: tuple[str, ...] = (), **values: Any) -> None:
        if arguments == ("-",) and not hot.max_arguments:
            arguments = (read_stdin(strict=False),)
        lists = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
        run_of(name)(folder, list(arguments), **lists)

    declared = together(*hot.options)(click.pass_obj(command))
    if hot.argument:
        declared = click.argument(
            "arguments", metavar=hot.argument.upper(), nargs=-1, required=not hot.raw,
            callback=lambda ctx, own, given: _at_most(hot.max_arguments, given),
        )(declared)  # fmt: skip
    return click.command(name, help=HELP[name])(declared)


def _at_most(number: int, given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the arguments; raise UsageError if there are more than `number`. 0 means no limit."""
    if number and len(given) > number:
        raise click.UsageError(f"unexpected argument {given[number]!r}")
    return given
