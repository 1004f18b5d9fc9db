"""Declare the options of commands as data, and parse the frequent commands without click.

Importing click takes as long as three bare Python starts. Help, completion and mistakes go to
click, which uses the same data. Use an option as a decorator of a click command: `@JSON`, or
`@LIMIT.but(default=20)` where a command differs.
"""

from __future__ import annotations

import os
import sys

from ...model.filters import FILTER_FIELDS
from ...model.values import TYPE_CHECKING, record, replace

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


Values = dict[str, object]


# Declare the options that commands share, as data, so that the parser without click can read them
# too.
#
# Use an option as a decorator of a click command: `@JSON`, or `@LIMIT.but(default=20)` where a
# command differs.


@record
class Option:
    """One option: a flag, a text, a number, or a text that may be repeated."""

    names: tuple[str, ...]
    kind: str  # "flag" | "text" | "number" | "many"
    help: str
    default: object = None
    parameter: str = ""  # the parameter that it sets; empty means its first name
    least: int = 0  # the minimum of a number

    @property
    def key(self) -> str:
        """Return the name of the parameter that the option sets."""
        return self.parameter or self.names[0].lstrip("-").replace("-", "_")

    def but(self, **changes: Any) -> Option:
        """Return a copy with some fields changed, for one command."""
        return replace(self, **changes)

    def __call__(self, function: Any) -> Any:
        """Declare the option on a click command."""
        import click  # slow to import, and frequent commands do not need it

        shape: dict[str, Any] = {"help": self.help}
        if self.kind == "many":
            shape["multiple"] = True
        else:
            shape["default"] = self.default
        if self.kind == "flag":
            shape["is_flag"] = True
        if self.kind == "number":
            shape["type"] = click.IntRange(min=self.least)
            shape["show_default"] = bool(self.default)  # the help explains 0
        return click.option(*self.names, self.key, **shape)(function)


JSON = Option(("--json",), "flag", "Print JSON.", False, "as_json")
DRY_RUN = Option(
    ("--dry-run",), "flag", "Print what would change; write nothing.", False
)
YES = Option(("--yes",), "flag", "Do not ask for confirmation.", False)
BY = Option(("--by",), "text", "The author. Default: you.", "")
REASON = Option(("--reason",), "text", "The reason.", "")
LIMIT = Option(("--limit", "-n"), "number", "Maximum number of results.", 10, least=1)
ALL = LIMIT.but(help="Maximum number of results. Default: all.", default=0, least=0)
BUDGET = Option(
    ("--budget", "-b"), "number", "Maximum number of tokens.", 2_000, least=1
)
AGENT = Option(("--agent", "-a"), "text", "The agent.", "")
SESSION = Option(
    ("--session",),
    "text",
    "The session. Memories that it already received are not repeated.",
    "",
)
PROFILE = Option(
    ("--profile", "-p"),
    "text",
    "The scoring profile. Default: the setting profile, else fit.",
    "",
)
EXPLAIN = Option(
    ("--explain",),
    "flag",
    "Also print on stderr which memories are included or omitted, and why.",
    False,
)
PERSONAL = Option(
    ("--personal",),
    "flag",
    "Use your personal repository, which every project recalls from.",
    False,
)
STRICT = Option(
    ("--strict",),
    "flag",
    "Only memories that a person committed, typed or reviewed.",
    False,
)

# One option for each row of model/filters.py that has a help text.
FILTERS = tuple(
    Option(tuple(filter(None, (row.option, row.short))), "many", row.help)
    if row.many
    else Option(tuple(filter(None, (row.option, row.short))), "text", row.help, "")
    for row in FILTER_FIELDS
    if row.help
)
AS_OF = next(option for option in FILTERS if option.key == "as_of")
# 'inject' has its own option for importance and uses only active memories.
WHICH = tuple(
    option for option in FILTERS if option.key not in ("importance", "include")
)


# Parse frequent commands without click, because importing click takes as long as three bare Python
# starts.
#
# The options of a command are data (options.py). This parser handles plain command lines. Help,
# completion and mistakes go to click, which uses the same data.

SOURCE = Option(
    ("--source",),
    "flag",
    "For a shared source: keep its index in your cache and write nothing into the source.",
    False,
)
DEEP = Option(
    ("--deep",),
    "flag",
    "Also compute the contextual vectors, which compare meaning more exactly; this takes minutes per 1,000 memories.",
    False,
)

SEARCH_OPTIONS = (
    LIMIT.but(
        least=0,
        help="Maximum number of results. Up to the same number of memories that nobody vouches for is added.",
    ),
    *FILTERS,
    PROFILE.but(help="The scoring profile. Default: rank by words and meaning."),
    Option(
        ("--min-similarity",),
        "text",
        "Minimum relevance of a result, from 0 to 1.",
        "0",
    ),
    EXPLAIN.but(help="Also show how the score is computed."),
    JSON,
)


@record
class FrequentCommand:
    """A hot command: its options, the module whose `run` implements it, and the name of its arguments."""

    options: tuple[Option, ...]
    module: str
    argument: str = ""
    max_arguments: int = 0  # maximum number of arguments; 0 means no limit
    # pass all words unparsed: a hook must exit 0 even after wrong usage
    raw: bool = False


INJECT_OPTIONS = (
    AGENT.but(
        help="The agent: planner, developer, tester, reviewer, or one that config.yaml defines."
    ),
    Option(("--plan",), "text", "The plan so far, as additional context.", ""),
    SESSION,
    LIMIT.but(
        help="Maximum number of memories. Default: the agent's setting, else 5.",
        default=None,
        least=0,
    ),
    Option(
        ("--min-importance", "-i"),
        "text",
        "Minimum importance: low, medium, high or critical.",
        "",
    ),
    BUDGET.but(
        help="Maximum number of tokens. Default: the agent's setting, else 2,000.",
        default=0,
        least=0,
    ),
    PROFILE.but(
        help="The scoring profile: fit, the default, or the formula of another design: rawko, mesh, composite, lane, llmos; composite:trust=0.4 sets a weight."
    ),
    Option(
        ("--format", "-f"),
        "text",
        "The output format: rawko, mesh, xml, json, plain or grouped.",
        "rawko",
    ),
    STRICT,
    EXPLAIN,
    JSON.but(
        help="Print JSON: the injected memories, the omitted ones with reasons, and the token count."
    ),
    *WHICH,
)

FEEDBACK_OPTIONS = (
    REASON,
    BY,
    JSON,
    Option(("--helpful",), "flag", "The memory helped.", False),
    Option(
        ("--harmful",),
        "flag",
        "The memory did harm; its score is halved in later injections.",
        False,
    ),
    Option(("--true",), "flag", "The memory is true; this raises its trust.", False),
    Option(
        ("--wrong",), "flag", "The memory may be wrong; this lowers its trust.", False
    ),
)

TOKENS = Option(
    ("--tokens",), "flag", "Show the injected tokens of each session instead.", False
)
MARKER_SIZE = Option(
    ("--marker-size",), "number", "Characters of a conflict marker.", 7
)

FREQUENT = {
    "search": FrequentCommand(SEARCH_OPTIONS, "rawkomem.faces.cli.searching", "query"),
    "inject": FrequentCommand(INJECT_OPTIONS, "rawkomem.faces.cli.injecting", "task"),
    "stats": FrequentCommand((*FILTERS, TOKENS, JSON), "rawkomem.faces.cli.opening"),
    "feedback": FrequentCommand(
        FEEDBACK_OPTIONS,
        "rawkomem.faces.cli.opening",
        "id [helpful|harmful|true|wrong]",
        max_arguments=2,
    ),
    "sync": FrequentCommand((DEEP, SOURCE, JSON), "rawkomem.faces.cli.syncing"),
    "merge-driver": FrequentCommand(
        (MARKER_SIZE,), "rawkomem.faces.cli.merge_driver", "files"
    ),  # run by git
    "hook": FrequentCommand((), "rawkomem.hosts.hooks", "host event", raw=True),
}


# Names that people know from other tools and designs → our words; the help does not show them.
ALIASES = {
    "ls": "list",
    "rm": "delete",
    "edit": "amend",
    "lessons": "lesson list",
    "distill": "lesson distill",
    "heritage": "lesson heritage",
    "synthesize": "skill synthesize",
    "reflect": "skill reflect",
    "links": "link list",
    "traverse": "link walk",
    "path": "link path",
    "clusters": "link clusters",
    "orphans": "link orphans",
    "episode": "trace episode",
    "consolidate": "tidy consolidate",
    "compress": "tidy digest",
    "decay": "tidy prune",
    "archive": "delete --archive",
    "quarantine": "review --hold",
    "conflicts": "review --kind conflict",
    "reinforce": "feedback --true",
    "dispute": "feedback --wrong",
    "evolve": "supersede --text",
    "explain": "why",
    "scrub": "try scrub",
    "embed": "try embed",
    "sync": "index sync",
}


def expanded(argv: list[str]) -> list[str]:
    """Return a command line with an alias replaced by the words that it stands for."""
    start = 2 if argv[:1] == ["-C"] else 0
    name = argv[start] if len(argv) > start else ""
    if name in FREQUENT or name not in ALIASES:
        return argv
    words = ALIASES[name].split()
    if "--help" in argv:
        words = [word for word in words if not word.startswith("-")]
    return [*argv[:start], *words, *argv[start + 1 :]]


def parse_plain(argv: list[str]) -> tuple[str, str, Values, list[str]] | None:
    """Return folder, command, option values and arguments of a plain command line, or None to let click parse it."""
    folder = ""
    if len(argv) > 2 and argv[0] == "-C":
        folder, argv = argv[1], argv[2:]
    if argv[:2] == ["index", "sync"]:
        argv = argv[1:]
    if not argv or argv[0] not in FREQUENT:
        return None
    hot = FREQUENT[argv[0]]
    if hot.raw:
        return (
            None
            if "--help" in argv or "-h" in argv
            else (folder, argv[0], {}, argv[1:])
        )
    if folder and not os.path.isdir(folder):
        return None
    options = {name: option for option in hot.options for name in option.names}
    values = {
        option.key: [] if option.kind == "many" else option.default
        for option in options.values()
    }
    arguments = _fill_values(argv[1:], options, values)
    if (
        arguments is None
        or bool(arguments) != bool(hot.argument)
        or (hot.max_arguments and len(arguments) > hot.max_arguments)
    ):
        return None
    return folder, argv[0], values, arguments


def _fill_values(
    words: list[str], options: dict[str, Option], values: Values
) -> list[str] | None:
    """Fill in the option values and return the arguments, or None if click must parse the words."""
    arguments: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            return [*arguments, *rest]
        if not word.startswith("-") or word == "-":
            arguments.append(word)
            continue
        name, equals, value = (
            word.partition("=") if word.startswith("--") else (word, "", "")
        )
        option = options.get(name)
        if option is None or (option.kind == "flag" and equals):
            return None
        if option.kind != "flag" and not equals:
            value = next(rest, "")
            if not value:
                return None
        if not _put_value(option, value, values):
            return None
    return arguments


def _put_value(option: Option, value: str, values: Values) -> bool:
    if option.kind == "flag":
        values[option.key] = True
    elif option.kind == "many":
        values[option.key].append(value)  # type: ignore[attr-defined]
    elif option.kind == "number":
        if not value.isdecimal() or int(value) < option.least:
            return False
        values[option.key] = int(value)
    else:
        values[option.key] = value
    return True


def run_of(command: str) -> Callable[..., None]:
    """Return the function that implements a frequent command: `run_` and the name of the command."""
    name = FREQUENT[command].module
    __import__(name)  # importlib would load other modules
    return getattr(sys.modules[name], f"run_{command.replace('-', '_')}")  # type: ignore[no-any-return]
