"""List every command with its module and its help, load a command when it runs, and complete its parameters on Tab."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from ... import __version__
from ...model.errors import NotFound, RawkoError
from ...model.filters import Filter
from ...model.values import CREATES, STATUSES
from ...repository import Repository
from ...text.chunks import counted
from ...text.clean import one_line
from .declarations import parameter, with_examples
from .opening import open_repository
from .options import FREQUENT, run_of
from .terminal import note

# One row for each command: its name, its module, and its one-line help, in the groups of `rawkomem --help`. Only
# `rawkomem help --all` lists the rows with a plus. A frequent command has no module here; see options.py.
TABLE = """\
Start
  init        start               Start a memory repository in this project.
  import      importing           Import memories from CLAUDE.md, AGENTS.md and other tools.
  connect     connecting          Connect coding agents and git to the memories.
  browse      servers             Open the memories in a web browser.
+ demo        manual              Show what rawkomem does, with real commands in a temporary folder.
+ replay      past_sessions       Show which memories your past sessions would get now.
+ completion  manual              Print or install Tab completion for your shell.
+ uninstall   connecting          Remove everything that rawkomem wrote, except your memories.
Remember
  add         adding              Store a memory.
  learn       past_sessions       Find corrections and rules in past agent sessions.
  drafts      reviewing           Decide on drafts from sessions: keep, edit or drop them.
  lesson      lessons_and_skills  Store and list lessons from failures.
+ skill       lessons_and_skills  Store, list, rate and export skills.
+ trace       work                Record tasks and how they went; group them in episodes.
Find
  search      -                   Find memories that match a question.
  inject      -                   Print the memories that an agent needs for a task.
  list        showing             List memories, most recently changed first.
  show        showing             Show one memory.
  why         showing             Explain why a memory is injected or trusted, or why not.
+ context     showing             Print what is known about a subject, within a token budget.
+ stats       -                   Count memories and show how often they are used.
+ history     showing             Show every change of a memory, oldest first.
+ diff        checks              Show how a branch changes the memories.
Change
  amend       adding              Change a memory; the earlier text stays as history.
  feedback    -                   Rate a memory: helpful, harmful, true or wrong.
  link        links               Link memories to each other and to code.
  review      reviewing           Decide on drafts, proposed changes, conflicts and imports.
  delete      adding              Hide or archive a memory; 'rawkomem restore' brings it back.
  undo        adding              Undo the last change made on this machine.
+ restore     reviewing           Bring back a deleted, archived, disputed or superseded memory.
+ supersede   reviewing           Replace an old memory with a newer one or a text.
+ purge       adding              Remove a memory's text from all files; this cannot be undone.
Maintain
  status      status              Show the state of the repository and its search index.
  check       checks              Report problems in memory files.
  doctor      upkeep              Look for problems on this machine.
  docs        manual              List or print the pages of the documentation.
  help        manual              Show the help of a command, or all commands with --all.
  index       upkeep              Update, watch or rebuild the index; its store, ledger and sinks.
+ tidy        tidy                Merge duplicates, write digests, archive old memories.
+ export      importing           Export memories for other tools.
+ try         measure             Try out a condition, a redaction or a vector on a text.
+ bench       measure             Measure speed, recall and learning.
+ mcp         servers             Run the MCP server for agents.
+ lsp         servers             Run the language server for editors.
"""
COMMANDS: dict[str, tuple[str, str]] = {}  # name → module, help
# heading → names that `rawkomem --help` shows, further names
GROUPS: dict[str, tuple[list[str], list[str]]] = {}
for _line in TABLE.splitlines():
    if _line[0] not in " +":
        _group = GROUPS[_line] = ([], [])
    else:
        _name, _module, _help = _line[2:].split(maxsplit=2)
        COMMANDS[_name] = (_module, _help)
        _group[_line[0] == "+"].append(_name)

# Unknown words → the command that the error suggests.
OTHER_WORDS = {
    "remember": "add",
    "new": "add",
    "recall": "search",
    "find": "search",
    "forget": "delete",
    "remove": "delete",
    "revert": "undo",
    "merge": "tidy",
    "config": "docs settings",
}


MAX_COMPLETIONS = 100
ListValues = Callable[[Repository], Iterable[tuple[str, str]]]


def ids_with_titles(repository: Repository) -> Iterable[tuple[str, str]]:
    """Return (id, title) of every memory, most recently changed first."""
    rows = repository.core.rows(Filter(statuses=tuple(STATUSES), current=False))
    return [(row.id, row.title) for row in rows]


def tags_with_counts(repository: Repository) -> Iterable[tuple[str, str]]:
    """Return every tag with the number of memories that have it."""
    memories = repository.core.inside(None)
    counts = Counter(tag for memory in memories for tag in memory.tags)
    return [(tag, counted(number, "memory")) for tag, number in sorted(counts.items())]


def docs_pages(_: Repository) -> Iterable[tuple[str, str]]:
    """Return (name, description) of every page of the documentation."""
    # it loads what else writes and removes files
    from ...files.installation import list_docs_pages

    return list_docs_pages()


# parameter → the function that lists its values, each with a remark
COMPLETED: dict[str, ListValues] = {
    **dict.fromkeys(("id", "ids", "other", "old", "new", "related"), ids_with_titles),
    **dict.fromkeys(("tag", "tags", "untag", "wanted"), tags_with_counts),
    **dict.fromkeys(("kind", "kinds"), lambda _: [(word, "") for word in CREATES]),
    **dict.fromkeys(
        ("draft", "drafts"),
        lambda repository: [(one.id, one.title) for one in repository.drafts.all()],
    ),
    "include": lambda _: [(word, "") for word in (*STATUSES, "all")],
    "page": docs_pages,
}


def enable_completion(command: click.Command) -> None:
    """Let Tab complete the parameters of a command, and of the commands of a group."""
    for one in command.params:
        values = COMPLETED.get(str(one.name))
        if str(one.metavar).startswith("ID "):  # of feedback
            values = ids_with_titles
        if values and not isinstance(one.type, click.Choice):
            setattr(one, "shell_complete", partial(_complete, values))  # noqa: B010
    for inner in getattr(command, "commands", {}).values():
        enable_completion(inner)


def _complete(
    values: ListValues, ctx: click.Context, incomplete: str
) -> list[CompletionItem]:
    """Return the values that start with `incomplete`; if there are none, those whose titles have its words."""
    try:
        pairs = [*values(open_repository(ctx.find_root().params.get("folder") or ""))]
    except (RawkoError, OSError):
        return []
    words = incomplete.casefold().split()
    starting = [pair for pair in pairs if pair[0].startswith(incomplete)]
    titled = [
        pair for pair in pairs if all(word in pair[1].casefold() for word in words)
    ]
    return [
        CompletionItem(value, help=one_line(title, 60))
        for value, title in (starting or titled)[:MAX_COMPLETIONS]
    ]


# The help texts of hot commands. The other commands have theirs in their docstrings.
HELP = {
    "search": """Find memories that match a question.

    Search compares words and meaning. If QUERY is '-', it is read from standard input. Memories with the status
    draft are included; use --include to find archived, superseded or deleted memories.

    Examples:
      rawkomem search 'which port does the database use'
      rawkomem search payments --tag billing -n 3""",
    "inject": """Print the memories that an agent needs for a task.

    If TASK is '-', it is read from standard input. A memory is printed if one of its whenToUse conditions matches or if
    it is relevant enough. If no memory is relevant, the output is empty and the exit code is 0.

    Examples:
      rawkomem inject 'make the payment retry configurable'
      rawkomem inject 'fix the login' --explain""",
    "stats": """Count memories and show how often they are used.

    The filters are those of 'rawkomem list'; 'statuses' ignores them and counts every memory. A use is an injection on
    this machine. --effect shows what came of the memories: how often an agent was reminded, followed the reminder or did
    it anyway, was refused, read the file of the memory, and how often you had to say the same again.

    Examples:
      rawkomem stats
      rawkomem stats --effect
      rawkomem stats --tag payments --json""",
    "feedback": """Rate a memory: helpful, harmful, true or wrong.

    A harmful vote halves the score of the memory in later injections. 'true' and 'wrong' change its trust: a memory is
    no longer used if its trust falls below 0.3, or after three 'wrong' without a 'true'.

    Examples:
      rawkomem feedback ID helpful
      rawkomem feedback ID wrong --reason 'The port changed'""",
    "sync": """Update the index from the files.

    Every search does this automatically. Run this command after a large change, so that no search has to wait.

    Examples:
      rawkomem index sync
      rawkomem index sync --deep""",
    "merge-driver": """Merge three versions of a memory file into the second: BASE OURS THEIRS [PATH].

    Git runs this command after 'rawkomem connect git'. The exit code is 3 if both sides changed the same entry.""",
    "hook": """Answer a hook of a coding agent; 'rawkomem connect' sets it up.

    HOST is a name that 'rawkomem connect' lists. EVENT is session-start, prompt, turn-end or session-end, or the host's
    own name for it. The command reads the host's JSON from standard input and answers in its format. On any error the
    hook prints nothing and exits 0; the error is in .rawko/local/hook.log. See 'rawkomem docs hosts'.

    Examples:
      rawkomem hook claude prompt < FILE""",
}
INTRODUCTION = (
    "rawkomem keeps a project's memories as Markdown files for people and agents."
)
ENDING = """
Options
  -C FOLDER   Work as if started in this folder.
  --version   Show the version.

'rawkomem help COMMAND' shows the options and examples of a command.
'rawkomem help --all' lists all commands. 'rawkomem docs' lists the manual."""
COMPLETE_VARIABLE = "_RAWKOMEM_COMPLETE"  # set while a shell asks for completions
NAME_COLUMNS = 12  # width of the command names in the overview


class LazyGroup(click.Group):
    """A group that loads a command's module when the command is called; the overview loads no module."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return load_command(name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command as click does; the error for an unknown name suggests similar commands."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            if args[0].startswith("-"):
                raise
        name = args[0]
        names = get_close_matches(name, COMMANDS, n=2)
        if name in OTHER_WORDS:
            names = [OTHER_WORDS[name]]
        suggestion = f": did you mean {' or '.join(names)}?" if names else ""
        raise click.UsageError(f"there is no command {name!r}{suggestion}", ctx)

    def shell_complete(
        self, ctx: click.Context, incomplete: str
    ) -> list[CompletionItem]:
        """Return the commands that start with `incomplete`, from the table: loading them all takes a second."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [
            CompletionItem(name, help=text)
            for name, (_, text) in COMMANDS.items()
            if name.startswith(incomplete)
        ]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(commands_overview(everything=False) + "\n")


def commands_overview(everything: bool) -> str:
    """Return the help of the program: the commands that people use most, or all of them, in groups."""
    lines = [INTRODUCTION, "", "Usage: rawkomem [-C FOLDER] COMMAND ..."]
    for heading, (shown, more) in GROUPS.items():
        lines += ["", heading]
        names = shown + more if everything else shown
        lines += [f"  {name:{NAME_COLUMNS}}{COMMANDS[name][1]}" for name in names]
    return "\n".join([*lines, ENDING])


def load_command(name: str) -> click.Command | None:
    """Return a command with examples in its help, or None if there is no such command."""
    if name in FREQUENT:
        command = click_of(name)
    elif name in COMMANDS:
        module = import_module(f"rawkomem.faces.cli.{COMMANDS[name][0]}")
        command = getattr(module, f"{name.replace('-', '_')}_command")
    else:
        return None
    if COMPLETE_VARIABLE in os.environ:
        enable_completion(command)
    return with_examples(command)


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "-C",
    "folder",
    metavar="FOLDER",
    default="",
    help="Work as if started in this folder.",
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context, folder: str) -> None:
    """Keep a project's memories as Markdown files that people and agents share."""
    if folder and not os.path.isdir(folder):
        raise NotFound(
            f"there is no folder {folder}",
            "create it first, or name another one with -C",
        )
    ctx.obj = folder
    if ctx.invoked_subcommand is None:
        import_module("rawkomem.faces.cli.start").show_overview(folder)


def run_click(argv: list[str]) -> int:
    """Run a command line through click, print errors as one line, and return the exit code."""
    try:
        result = cli.main(args=argv, prog_name="rawkomem", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.ClickException as failure:
        context = getattr(failure, "ctx", None)
        path = context.command_path if context else "rawkomem"
        note(f"{failure.format_message()} (try '{path} --help')")
        return failure.exit_code
    except click.exceptions.Abort:
        note("stopped here: nothing more was changed")
        return 1


def click_of(name: str) -> click.Command:
    """Return a hot command as a click command."""
    hot = FREQUENT[name]

    def command(folder: str, /, arguments: tuple[str, ...] = (), **values: Any) -> None:
        run_of(name)(folder, [*arguments], **values)

    declared: Any = click.pass_obj(command)
    for line in reversed(hot.options):
        declared = parameter(line)(declared)
    if hot.argument:
        declared = click.argument(
            "arguments", metavar=hot.argument.upper(), nargs=-1, required=not hot.raw
        )(declared)
    whole: Any = click.command(name, help=HELP[name])(declared)
    fields = getattr(import_module(hot.module), f"{name.upper()}_ANSWER", ())
    whole.answers = list(fields) if isinstance(fields, tuple) else [fields]
    return whole  # type: ignore[no-any-return]
