"""Declare click commands: options from data, groups of commands, and the examples that `--help` shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from ...model.errors import BadInput
from .terminal import note

if TYPE_CHECKING:
    from .options import Option


# List the examples that `--help` shows: command → command lines that work when pasted.

EXAMPLES: dict[str, tuple[str, ...]] = {
    "init": ("rawkomem init", "rawkomem init --dry-run", "rawkomem init --personal"),
    "import": ("rawkomem import CLAUDE.md --dry-run", "rawkomem import CLAUDE.md"),
    "connect": (
        "rawkomem connect claude --dry-run",
        "rawkomem connect git",
        "rawkomem connect claude --remove",
    ),
    "connect list": ("rawkomem connect list",),
    "connect git": ("rawkomem connect git --dry-run", "rawkomem connect git"),
    "browse": ("rawkomem browse", "rawkomem browse --no-open --port 8765"),
    "demo": ("rawkomem demo", "rawkomem demo --keep"),
    "replay": ("rawkomem replay", "rawkomem replay --last 5"),
    "completion": ("rawkomem completion bash", "rawkomem completion bash --install"),
    "uninstall": ("rawkomem uninstall --dry-run",),
    "add": (
        'rawkomem add "Run the tests with pnpm. npm ignores the lock file."',
        "rawkomem add --title 'Why we chose apsw' --when 'sqlite|database' --body 'It loads extensions.'",
        "rawkomem add --edit --tag payments",
    ),
    "learn": ("rawkomem learn SESSION --dry-run", "rawkomem learn SESSION"),
    "drafts": ("rawkomem drafts", "rawkomem drafts keep DRAFT", "rawkomem drafts drop DRAFT"),
    "drafts show": ("rawkomem drafts show DRAFT",),
    "drafts keep": (
        "rawkomem drafts keep DRAFT",
        "rawkomem drafts keep DRAFT --title 'Run tests with pnpm'",
    ),
    "drafts edit": ("rawkomem drafts edit DRAFT --when 'tests|pnpm'",),
    "drafts merge": ("rawkomem drafts merge DRAFT OTHER_DRAFT",),
    "drafts drop": ("rawkomem drafts drop DRAFT", "rawkomem drafts drop --all"),
    "lesson": ("rawkomem lesson list", "rawkomem lesson distill --dry-run"),
    "lesson add": (
        "rawkomem lesson add --situation 'Deploy on Friday' --error-pattern friday_deploy --oversight 'No one on call'"
        " --fix 'Rolled back' --rule 'Never deploy on a Friday' --severity high --scope deployments",
    ),
    "lesson import": ("rawkomem lesson import LESSON_FILE",),
    "lesson list": ("rawkomem lesson list", "rawkomem lesson list deploy -n 3"),
    "lesson distill": ("rawkomem lesson distill --dry-run",),
    "skill": ("rawkomem skill list", "rawkomem skill add SKILL.md"),
    "skill list": ("rawkomem skill list", "rawkomem skill list 'release a version' --explain"),
    "skill add": ("rawkomem skill add SKILL.md",),
    "skill show": ("rawkomem skill show SKILL",),
    "skill feedback": ("rawkomem skill feedback SKILL --success",),
    "skill prune": ("rawkomem skill prune --dry-run",),
    "skill export": ("rawkomem skill export SKILL .claude/skills",),
    "skill synthesize": ("rawkomem skill synthesize --dry-run",),
    "trace": (
        "rawkomem trace list",
        "rawkomem trace add --goal 'Release 1.2' --learning 'Tag before you build'",
    ),
    "trace add": (
        "rawkomem trace add --goal 'Release 1.2' --status failure --error 'The tag was missing'",
    ),
    "trace list": ("rawkomem trace list", "rawkomem trace list --status failure -n 5"),
    "trace show": ("rawkomem trace show TRACE",),
    "trace log": (
        "rawkomem trace log",
        "rawkomem trace log add --goal 'Release 1.2' --summary 'Done in an hour'",
    ),
    "trace log add": ("rawkomem trace log add --goal 'Release 1.2' --outcome partial",),
    "episode": (
        "rawkomem episode list",
        "rawkomem episode capture 'Release week' --since 2026-01-01",
    ),
    "episode create": ("rawkomem episode create 'Release week' ID OTHER",),
    "episode capture": ("rawkomem episode capture 'Release week' --since 2026-01-01",),
    "episode add": ("rawkomem episode add EPISODE ID",),
    "episode remove": ("rawkomem episode remove EPISODE ID",),
    "episode list": ("rawkomem episode list",),
    "episode show": ("rawkomem episode show EPISODE",),
    "episode search": ("rawkomem episode search EPISODE 'what failed'",),
    "episode summarize": ("rawkomem episode summarize EPISODE --words 80",),
    "episode compress": ("rawkomem episode compress EPISODE",),
    "evolve": ("rawkomem evolve 'The database listens on port 6432 now.'",),
    "reflect": ("rawkomem reflect --topic releases",),
    "project": ("rawkomem project import FOLDER --dry-run", "rawkomem project export OUT_FOLDER"),
    "project import": ("rawkomem project import FOLDER --dry-run",),
    "project export": ("rawkomem project export OUT_FOLDER",),
    "search": (
        "rawkomem search 'which port does the database use'",
        "rawkomem search payments --tag billing -n 3",
    ),
    "inject": (
        "rawkomem inject 'make the payment retry configurable'",
        "rawkomem inject 'fix the login' --explain",
    ),
    "list": (
        "rawkomem list -n 20",
        "rawkomem list --tag payments",
        "rawkomem list --include archived",
    ),
    "show": ("rawkomem show ID", "rawkomem show 'Why apsw'", "rawkomem show ID --json"),
    "why": ("rawkomem why ID 'make the payment retry configurable'",),
    "why-not": ("rawkomem why-not ID 'rename the logo file'",),
    "context": ("rawkomem context payments --budget 500",),
    "brief": ("rawkomem brief 'release a new version'",),
    "stats": ("rawkomem stats", "rawkomem stats --tag payments --json"),
    "tokens": ("rawkomem tokens",),
    "history": ("rawkomem history ID",),
    "explain": ("rawkomem explain ID", "rawkomem explain ID --supersession"),
    "entities": ("rawkomem entities", "rawkomem entities --json"),
    "diff": ("rawkomem diff HEAD...HEAD", "rawkomem diff HEAD --format markdown"),
    "amend": (
        "rawkomem amend ID --title 'A better title'",
        "rawkomem amend ID --tag payments --untag billing",
        "rawkomem amend ID --edit",
    ),
    "feedback": (
        "rawkomem feedback ID helpful",
        "rawkomem feedback ID harmful --reason 'The port changed'",
    ),
    "link": (
        "rawkomem link add ID OTHER --type causes",
        "rawkomem link list ID",
        "rawkomem link graph --format dot",
    ),
    "link add": ("rawkomem link add ID OTHER", "rawkomem link add ID OTHER --type causes"),
    "link remove": ("rawkomem link remove ID OTHER",),
    "link list": ("rawkomem link list ID",),
    "link walk": ("rawkomem link walk ID --hops 3",),
    "link path": ("rawkomem link path ID OTHER",),
    "link clusters": ("rawkomem link clusters --min-size 2",),
    "link orphans": ("rawkomem link orphans",),
    "link graph": ("rawkomem link graph", "rawkomem link graph --id ID --format dot"),
    "review": (
        "rawkomem review",
        "rawkomem review ID --activate",
        "rawkomem review --all-from CLAUDE.md --activate",
    ),
    "delete": ("rawkomem delete ID", "rawkomem rm ID --reason 'No longer true' --yes"),
    "undo": ("rawkomem undo --dry-run", "rawkomem undo", "rawkomem undo --list"),
    "restore": ("rawkomem restore ID",),
    "archive": ("rawkomem archive ID --reason 'The service is gone'",),
    "supersede": ("rawkomem supersede OLD NEW --reason 'The port changed'",),
    "reinforce": ("rawkomem reinforce ID --reason 'Seen in the logs'",),
    "dispute": ("rawkomem dispute ID --reason 'The port changed'",),
    "conflicts": ("rawkomem conflicts",),
    "quarantine": (
        "rawkomem quarantine list",
        "rawkomem quarantine ID --reason 'Check this first'",
    ),
    "validity": ("rawkomem validity ID --until 2027-01-01",),
    "cite": ("rawkomem cite FILE", "rawkomem cite ID FILE"),
    "heritage": (
        "rawkomem heritage ID",
        "rawkomem heritage ID --intent 'Fewer support calls' --intent 'Retry once'",
    ),
    "purge": ("rawkomem purge ID",),
    "status": ("rawkomem status", "rawkomem status --json"),
    "check": ("rawkomem check", "rawkomem check --staged", "rawkomem check --stale"),
    "doctor": ("rawkomem doctor", "rawkomem doctor --json"),
    "self-check": ("rawkomem self-check", "rawkomem self-check --json"),
    "docs": ("rawkomem docs", "rawkomem docs recall"),
    "help": ("rawkomem help add", "rawkomem help lesson add", "rawkomem help --all"),
    "index": ("rawkomem index sync", "rawkomem index rebuild"),
    "index status": ("rawkomem index status",),
    "index sync": ("rawkomem index sync", "rawkomem index sync --deep"),
    "index watch": ("rawkomem index watch", "rawkomem index watch --once"),
    "index rebuild": ("rawkomem index rebuild",),
    "tidy": ("rawkomem tidy consolidate", "rawkomem tidy prune", "rawkomem tidy prune --apply"),
    "tidy consolidate": ("rawkomem tidy consolidate", "rawkomem tidy consolidate --apply"),
    "tidy digest": ("rawkomem tidy digest", "rawkomem tidy digest --min-size 5"),
    "tidy prune": ("rawkomem tidy prune", "rawkomem tidy prune --apply"),
    "tidy gather": ("rawkomem tidy gather --dry-run", "rawkomem tidy gather"),
    "tidy retention": ("rawkomem tidy retention", "rawkomem tidy retention list"),
    "tidy retention list": ("rawkomem tidy retention list",),
    "tidy retention restore": ("rawkomem tidy retention restore 2026-03",),
    "store": ("rawkomem store status", "rawkomem store use sqlite"),
    "store use": ("rawkomem store use sqlite",),
    "store status": ("rawkomem store status",),
    "store copy": ("rawkomem store copy sqlite postgres",),
    "store publish": ("rawkomem store publish",),
    "store migrate": ("rawkomem store migrate",),
    "store rollback": ("rawkomem store rollback",),
    "ledger": ("rawkomem ledger verify", "rawkomem ledger show -n 5"),
    "ledger verify": ("rawkomem ledger verify",),
    "ledger show": ("rawkomem ledger show -n 5", "rawkomem ledger show --op recall"),
    "ledger export": ("rawkomem ledger export --json",),
    "export": ("rawkomem export --format jsonl --out memories.jsonl",),
    "toc": ("rawkomem toc",),
    "sinks": ("rawkomem sinks status", "rawkomem sinks flush"),
    "sinks status": ("rawkomem sinks status",),
    "sinks flush": ("rawkomem sinks flush",),
    "schema": ("rawkomem schema",),
    "scrub": ("rawkomem scrub < FILE",),
    "match": ("rawkomem match 'auth|login' 'add a login page'",),
    "embed": ("rawkomem embed 'hello world'",),
    "bench": ("rawkomem bench speed --files 100",),
    "bench speed": ("rawkomem bench speed --files 100",),
    "mcp": ("rawkomem mcp", "rawkomem mcp --http 8766"),
    "lsp": ("rawkomem lsp",),
    "hook": ("rawkomem hook claude prompt < FILE",),
}


# Turn the options of options.py, which are data, into options of click commands.

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


def declare_option(option: Option, function: Any) -> Any:
    """Declare an option of options.py on the function of a click command, and return the function."""
    shape: dict[str, Any] = {**CLICK_SHAPES[option.kind], "help": option.help}
    if option.kind != "many":
        shape["default"] = option.default
    if option.kind == "number":
        shape |= {
            "type": click.IntRange(min=option.least),
            "show_default": bool(option.default),
        }  # the help explains 0
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


class Verbs(click.Group):
    """A group that runs the command `bare` when the user names none, and then prints examples.

    Without `bare` it prints its help. Words that name no command of the group are arguments of the command `default`.
    `old` maps deprecated names to commands; the help does not show them.
    """

    def __init__(
        self, *arguments: Any, bare: str = "", default: str = "", old: Any = (), **named: Any
    ):
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
            note(
                "more examples:\n" + "\n".join(f"  {line}" for line in EXAMPLES[command_path(ctx)])
            )
        return result


def command_path(ctx: click.Context) -> str:
    """Return the names of a command and its groups, such as "lesson add"."""
    return ctx.command_path.partition(" ")[2]


def with_examples(command: click.Command, path: str) -> click.Command:
    """Add examples to the help of a command and its subcommands, and return the command."""
    lines = EXAMPLES.get(path, ())
    if lines:
        command.epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
    for name, inner in getattr(command, "commands", {}).items():
        inner.short_help = inner.short_help or " ".join(
            (inner.help or "").partition("\n\n")[0].split()
        )  # uncut
        with_examples(inner, f"{path} {name}")
    return command
