"""List the commands for click and load each one when it runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import update_wrapper
from importlib import import_module
from typing import Any, TypeVar

import click

from ... import __version__
from ...files.given_text import read_stdin
from ...model.errors import NotFound
from .hot import HOT, run_of
from .opening import open_owner, open_repository
from .options import together
from .terminal import note

T = TypeVar("T")

# command → (module, what it does): in the order a newcomer meets them
COMMANDS = {
    "init": ("setup.init", "Start a memory repository in this project."),
    "add": ("memories.write", "Store a memory."),
    "learn": ("learning.learn", "Make drafts of what a person said or agreed to in a session."),
    "drafts": ("learning.drafts", "List what was found in sessions; keep, edit, merge or drop it."),
    "replay": (
        "learning.replay",
        "Show which memories past sessions would get now, and which corrections they cover.",
    ),
    "search": ("", "Find the memories that fit a question."),
    "inject": ("", "Print the memories that belong in the prompt of a task, or nothing."),
    "why": ("memories.why", "Tell how a memory scores for a task."),
    "why-not": ("memories.why", "Tell why a memory is not injected for a task."),
    "context": ("memories.why", "Pack what is known about a subject into a budget."),
    "tokens": ("memories.why", "Tell what injection has cost, by session."),
    "list": ("memories.read", "List memories, the last changed first."),
    "show": ("memories.read", "Show one memory."),
    "stats": ("", "Count memories, and tell which are used."),
    "browse": ("setup.browse", "Look at memories in a browser, review and rate them."),
    "history": ("memories.explain", "Tell what happened to a memory, entry by entry."),
    "explain": ("memories.explain", "Tell how far a memory is believed, and why."),
    "amend": ("memories.write", "Change what a memory says, by appending."),
    "evolve": ("memories.believe", "Store a text in the place of the memory that it is a newer version of."),
    "feedback": ("", "Vote on a memory: it helped, or it did harm."),
    "reinforce": ("memories.believe", "Say that a memory turned out to be true."),
    "dispute": ("memories.believe", "Say that a memory is doubtful."),
    "conflicts": ("memories.believe", "Show memories that contradict each other."),
    "quarantine": ("memories.believe", "Hold a memory back until somebody reviews it, or list those."),
    "review": ("memories.review", "Show what waits for a decision, or decide."),
    "supersede": ("memories.believe", "Put a memory into the place of an older one."),
    "validity": ("memories.believe", "Say from when until when a memory holds."),
    "archive": ("memories.believe", "Take a memory out of use; 'restore' brings it back."),
    "restore": ("memories.believe", "Bring back a memory that was deleted, archived, disputed or superseded."),
    "undo": ("memories.undo", "Take back the last change that this machine made."),
    "cite": ("memories.cite", "Cite code, so that a memory is doubted when the code changes."),
    "delete": ("memories.write", "Hide a memory; 'restore' brings it back."),
    "purge": ("memories.write", "Remove a memory's text for good (asks; rewrites files)."),
    "link": ("memories.link", "Link two memories."),
    "unlink": ("memories.link", "Take back the links between two memories."),
    "links": ("memories.graph", "Show what a memory is connected with."),
    "traverse": ("memories.graph", "Walk from a memory to what is around it."),
    "path": ("memories.graph", "Find the shortest way between two memories."),
    "clusters": ("memories.graph", "Show groups of memories that hang together."),
    "orphans": ("memories.graph", "List memories that nothing connects."),
    "graph": ("memories.graph", "Draw memories and their connections."),
    "episode": ("memories.episode", "Group memories that belong to one stretch of work."),
    "entities": ("memories.entities", "List the people, projects and features that memories name."),
    "skills": ("learning.skill", "List skills, or find those that fit a task."),
    "skill": ("learning.skill", "Take in, judge, prune and export skills."),
    "synthesize": ("learning.reflect", "Propose skills from learnings and lessons; inert until reviewed."),
    "reflect": ("learning.reflect", "Say what several memories have in common, or prepare that question."),
    "consolidate": ("keeping.lifecycle", "Propose to settle duplicates and contradictions, and to learn from traces."),
    "digest": ("keeping.lifecycle", "Propose digests of related memories that nobody changed lately."),
    "prune": ("keeping.lifecycle", "Propose to archive memories that faded, and to remove broken links."),
    "lesson": ("learning.lessons", "Store what a failure taught, or take over a lesson from elsewhere."),
    "lessons": ("learning.lessons", "List lessons, the most severe first."),
    "distill": ("learning.lessons", "Propose drafts of lessons from recent failures."),
    "heritage": ("learning.lessons", "Tell, or show, which intents led to a memory."),
    "ledger": ("keeping.ledger", "Show and verify what was done with memories."),
    "trace": ("learning.trace", "Record what was done, and how it went."),
    "log": ("learning.trace", "Keep the experience log: one entry for each task."),
    "brief": ("learning.brief", "Show what earlier work teaches about a goal."),
    "retention": (
        "keeping.retention",
        "Propose to move old traces to the archive, and to compress what is older than a year.",
    ),
    "gather": ("keeping.gather", "Move committed changes into the files of their memories."),
    "project": ("learning.project", "Exchange memories with the projects of LLMos."),
    "connect": ("setup.connect", "Connect memories with git and with agents' hosts; --remove takes it back."),
    "import": ("learning.exchange", "Take memories over from other tools; they wait for a review."),
    "export": ("learning.exchange", "Write memories for other tools: JSON Lines, Markdown, OKF, neolata, memory-mesh."),
    "toc": ("memories.toc", "Write .rawko/MEMORY.md, a page that links to every memory in use."),
    "check": ("keeping.check", "Tell what is wrong with memory files."),
    "diff": ("keeping.diff", "Show what a branch did to memories, for a review."),
    "status": ("keeping.keep", "Compare files and index, and prove that they agree."),
    "sync": ("", "Bring the index up to date with the files."),
    "watch": ("keeping.watch", "Keep the index up to date while files change."),
    "rebuild": ("keeping.keep", "Make the index anew from the files."),
    "store": ("keeping.store", "Choose where the index keeps passages and vectors."),
    "mcp": ("setup.mcp", "Serve memories to agents by the Model Context Protocol."),
    "lsp": ("setup.lsp", "Serve memories to editors by the Language Server Protocol."),
    "schema": ("keeping.schema", "Print the JSON Schema of the frontmatter."),
    "hook": ("", "Answer a hook of an agent's host: what 'connect' sets up."),
    "sinks": ("keeping.sinks", "See and send what write-through sinks are told."),
    "doctor": ("keeping.doctor", "Look for what could go wrong on this machine."),
    "self-check": ("setup.self_check", "Try on this machine whether everything works, in a temporary folder."),
    "scrub": ("keeping.scrub", "Redact secrets and personal data in a text from standard input."),
    "match": ("keeping.probe", "Tell whether a whenToUse condition fires on a text."),
    "embed": ("keeping.probe", "Print the vector of a text."),
    "docs": ("setup.docs", "Print a page of the documentation, or list the pages."),
    "demo": ("setup.demo", "Show in a temporary folder what it does, with real commands."),
    "uninstall": ("setup.uninstall", "Remove what rawkomem wrote beside your Markdown."),
    "bench": ("setup.bench", "Measure speed, recall, learning and redaction on this machine."),
}


# What `--help` adds for hot commands; the others say it in their own module.
HELP = {
    "search": """Find the memories that fit a question.

    QUERY '-' reads it from standard input. By words and by meaning; drafts are shown, history only with --include.""",
    "inject": """Print the memories that belong in the prompt of a task, or nothing.

    TASK '-' reads it from standard input. A memory is eligible when one of its conditions fires or when it is relevant
    enough; nothing relevant is a good answer: empty output, exit code 0.""",
    "stats": """Count memories, and tell which are used.

    Counts what 'rawkomem list' shows with the same filters; 'statuses' counts every memory. Uses are injections on this
    machine.""",
    "feedback": "Vote on a memory: it helped, or it did harm.",
    "sync": """Bring the index up to date with the files.

    Every search does this by itself; run it to pay for a large change at a time you choose.""",
    "merge-driver": """Merge three versions of a memory file into the second: BASE OURS THEIRS [PATH].

    Git runs this once 'rawkomem connect git' has told it to. Exit code 3 where both sides changed the same entry.""",
    "hook": """Answer a hook of an agent's host: what 'connect' sets up.

    HOST is a name that 'rawkomem connect --help' lists; EVENT is session-start, prompt, turn-end or
    session-end, or the host's own name for it. Reads the host's JSON on standard input and answers in its dialect.
    On any error the hook prints nothing and exits 0; the error is in .rawko/local/hook.log.
    See 'rawkomem docs hosts'.""",
}
OLD_NAMES = {"compress": "digest", "decay": "prune"}  # hidden: scripts that use these keep working
# What people type who know other tools.
OTHER_WORDS = {
    "remember": "add",
    "recall": "search",
    "find": "search",
    "forget": "delete",
    "remove": "delete",
    "edit": "amend",
    "revert": "undo",
    "help": "--help",
}


class LazyGroup(click.Group):
    """A group that loads a command's module when the command is called; the overview loads none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        name = OLD_NAMES.get(name, name)
        if name in HOT:
            return _click_of(name)
        if name not in COMMANDS:
            return None
        module = import_module(f"rawkomem.faces.cli.{COMMANDS[name][0]}")
        command: click.Command = getattr(module, f"{name.replace('-', '_')}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does; where there is no such command, with the one that was meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            if args[0].startswith("-"):
                raise
        raise click.UsageError(f"there is no command {args[0]!r}{_meant(args[0])}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def _meant(name: str) -> str:
    """Return a question with the commands that were probably meant, or an empty text."""
    from difflib import get_close_matches  # for a mistake only

    names = [OTHER_WORDS[name]] if name in OTHER_WORDS else get_close_matches(name, COMMANDS, n=2)
    return f": did you mean {' or '.join(names)}?" if names else ""


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-C", "folder", metavar="FOLDER", default="", help="Work as if started in this folder.")
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context, folder: str) -> None:
    """rawkomem: a project's memories, as Markdown files that agents and people share.

    Memories live in .rawko/memories/*.md, are committed with the project, and are found by meaning and by words.
    'rawkomem docs' lists the pages of the documentation; shell completion: 'rawkomem docs cli'.
    """
    if folder and not os.path.isdir(folder):
        raise NotFound(f"there is no folder {folder}", "make it first, or name another one with -C")
    ctx.obj = folder


def run_click(argv: list[str]) -> int:
    """Run a command line through click; print its errors in one line."""
    try:
        result = cli.main(args=argv, prog_name="rawkomem", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.ClickException as failure:
        context = getattr(failure, "ctx", None)
        path = context.command_path if context else "rawkomem"
        note(f"{failure.format_message()} (try '{path} --help')")
        return failure.exit_code
    except click.exceptions.Abort:
        note("stopped: nothing was changed")
        return 1


def pass_repository(function: Callable[..., T]) -> Callable[..., T]:
    """Return a click command that passes the repository of its folder as the first argument.

    Where the command is about the id of a memory, that is the repository which holds it.
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


def _click_of(name: str) -> click.Command:
    """Return a hot command as a click command."""
    hot = HOT[name]

    def command(folder: str, /, arguments: tuple[str, ...] = (), **values: Any) -> None:
        if arguments == ("-",) and not hot.single:
            arguments = (read_stdin(strict=False),)
        lists = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
        run_of(name)(folder, list(arguments), **lists)

    declared = together(*hot.options)(click.pass_obj(command))
    if hot.argument:
        shape = {"callback": lambda ctx, own, given: (given,)} if hot.single else {"nargs": -1, "required": not hot.raw}
        declared = click.argument("arguments", metavar=hot.argument.upper(), **shape)(declared)
    return click.command(name, help=HELP[name])(declared)
