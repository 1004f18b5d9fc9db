"""Declare the options of commands as data, and parse the frequent commands without click.

Importing click takes as long as three bare Python starts. Help, completion and mistakes go to
click, which uses the same lines.
"""

from __future__ import annotations

import os
import sys

from ...model.filters import FILTER_FIELDS
from ...model.values import TYPE_CHECKING, record

if TYPE_CHECKING:
    from collections.abc import Callable


Values = dict[str, object]


JSON = "--json >as_json: Print JSON."
DRY_RUN = "--dry-run: Print what would change; write nothing."
YES = "--yes: Do not ask for confirmation."
BY = "--by TEXT: The author. Default: you."
REASON = "--reason TEXT: The reason."
LIMIT = "--limit -n 1.. =10: Maximum number of results."
ALL = "--limit -n 0.. =0: Maximum number of results. Default: all."
SESSION = (
    "--session TEXT: The session. Memories that it already received are not repeated."
)
PROFILE = (
    "--profile -p TEXT: The scoring profile. Default: the setting profile, else fit."
)
EXPLAIN = (
    "--explain: Also print on stderr which memories are included or omitted, and why."
)
PERSONAL = "--personal: Use your personal repository, which every project recalls from."
STRICT = "--strict: Only memories that a person committed or reviewed."

# One option for each row of model/filters.py that has a help text.
FILTER_LINES = {
    row.word: f"{row.option} {row.short} TEXT{'...' if row.many else ''}: {row.help}"
    for row in FILTER_FIELDS
    if row.help
}
FILTERS = (*FILTER_LINES.values(),)
# 'inject' has its own option for importance and uses only active memories.
WHICH = tuple(
    line for word, line in FILTER_LINES.items() if word not in ("importance", "include")
)


@record
class Option:
    """One option, as `read_option` reads it."""

    names: tuple[str, ...]
    help: str
    kind: str  # a range, choices or the name of a text; empty means a flag
    default: str
    key: str  # the parameter that it sets
    is_many: bool  # it may be repeated
    is_required: bool


def read_option(line: str) -> Option:
    """Return the option of a line: `--hops -n 1..100 =2 >most: The maximum number of steps.`

    After the names stand its kind, `=` with its default, and `>` with the parameter that it sets: by default the first
    name. A kind is a range, choices (`a|b`), or the name of a text; three dots mean that the option may be repeated, and
    `!` that it is required. An option without a kind is a flag.
    """
    head, _, help = line.partition(": ")
    names = []
    values = {"": "", "=": "", ">": ""}
    for word in head.split():
        if word.startswith("-"):
            names.append(word)
        else:
            sign = word[0] if word[0] in "=>" else ""
            values[sign] = word.removeprefix(sign)
    key = values[">"] or names[0].lstrip("-").replace("-", "_")
    word = values[""]
    kind = word.removesuffix("!").removesuffix("...")
    is_many = word.endswith("...")
    is_required = word.endswith("!")
    return Option(tuple(names), help, kind, values["="], key, is_many, is_required)


@record
class FrequentCommand:
    """A hot command: its options, the module whose `run` implements it, and the name of its arguments."""

    options: tuple[str, ...]
    module: str
    argument: str = ""
    # pass all words unparsed: a hook must exit 0 even after wrong usage
    raw: bool = False


SEARCH_OPTIONS = (
    "--limit -n 0.. =10: Maximum number of results. Up to the same number of memories that nobody vouches for is added.",
    *FILTERS,
    "--profile -p TEXT: The scoring profile. Default: rank by words and meaning.",
    "--min-similarity TEXT =0: Minimum relevance of a result, from 0 to 1.",
    "--explain: Also show how the score is computed.",
    JSON,
)
INJECT_OPTIONS = (
    "--agent -a TEXT: The agent: planner, developer, tester, reviewer, or one that config.yaml defines.",
    "--plan TEXT: The plan so far, as additional context.",
    SESSION,
    "--limit -n 0..: Maximum number of memories. Default: the agent's setting, else 3 (5 with another profile than fit).",
    "--min-importance -i TEXT: Minimum importance: low, medium, high or critical.",
    "--budget -b 0.. =0: Maximum number of tokens. Default: the agent's setting, else 2,000.",
    "--profile -p TEXT: The scoring profile: fit, the default, or the formula of another design: rawko, mesh, composite,"
    " lane, llmos; composite:trust=0.4 sets a weight.",
    "--format -f TEXT =rawko: The output format: rawko, mesh, xml, json, plain or grouped.",
    STRICT,
    EXPLAIN,
    "--json >as_json: Print JSON: the injected memories, the omitted ones with reasons, and the token count.",
    *WHICH,
)
FEEDBACK_OPTIONS = (
    REASON,
    BY,
    JSON,
    "--helpful: The memory helped.",
    "--harmful: The memory did harm; its score is halved in later injections.",
    "--true: The memory is true; this raises its trust.",
    "--wrong: The memory may be wrong; this lowers its trust.",
)
STATS_OPTIONS = (
    *FILTERS,
    "--tokens: Show the injected tokens of each session instead.",
    "--effect: Show what came of each memory on this machine instead.",
    JSON,
)
SYNC_OPTIONS = (
    "--deep: Also compute the contextual vectors, which compare meaning more exactly; this takes minutes per 1,000"
    " memories.",
    "--source: For a shared source: keep its index in your cache and write nothing into the source.",
    JSON,
)
MERGE_OPTIONS = ("--marker-size 0.. =7: Characters of a conflict marker.",)

FREQUENT = {
    "search": FrequentCommand(SEARCH_OPTIONS, "rawkomem.faces.cli.searching", "query"),
    "inject": FrequentCommand(INJECT_OPTIONS, "rawkomem.faces.cli.injecting", "task"),
    "stats": FrequentCommand(STATS_OPTIONS, "rawkomem.faces.cli.opening"),
    "feedback": FrequentCommand(
        FEEDBACK_OPTIONS,
        "rawkomem.faces.cli.opening",
        "id [helpful|harmful|true|wrong]",
    ),
    "sync": FrequentCommand(SYNC_OPTIONS, "rawkomem.faces.cli.syncing"),
    # run by git
    "merge-driver": FrequentCommand(
        MERGE_OPTIONS, "rawkomem.faces.cli.merging", "files"
    ),
    "hook": FrequentCommand((), "rawkomem.hosts.hook_entry", "host event", raw=True),
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
        folder = argv[1]
        argv = argv[2:]
    if argv[:2] == ["index", "sync"]:
        argv = argv[1:]
    if not argv or argv[0] not in FREQUENT:
        return None
    hot = FREQUENT[argv[0]]
    if hot.raw and ("--help" in argv or "-h" in argv):
        return None
    if hot.raw:
        return folder, argv[0], {}, argv[1:]
    if folder and not os.path.isdir(folder):
        return None
    values: Values = {}
    arguments = _fill_values(argv[1:], [*map(read_option, hot.options)], values)
    if arguments is None or bool(arguments) != bool(hot.argument):
        return None
    return folder, argv[0], values, arguments


def _fill_values(
    words: list[str], options: list[Option], values: Values
) -> list[str] | None:
    """Fill in the option values and return the arguments, or None if click must parse the words."""
    named: dict[str, Option] = {}
    for option in options:
        named |= dict.fromkeys(option.names, option)
        values[option.key] = [] if option.is_many else _value(option, option.default)
    arguments: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            return [*arguments, *rest]
        if not word.startswith("-") or word == "-":
            arguments.append(word)
            continue
        name, equals, text = (
            word.partition("=") if word.startswith("--") else (word, "", "")
        )
        used = named.get(name)
        if used is None or (equals and not used.kind):
            return None
        value: object = True
        if used.kind:
            text = text if equals else next(rest, "")
            value = _value(used, text) if text or equals else None
        if value is None:
            return None
        if used.is_many:
            values[used.key].append(value)  # type: ignore[attr-defined]
        else:
            values[used.key] = value
    return arguments


def _value(option: Option, text: str) -> object:
    """Return the value for a text, or None if it is not a number of the option's range."""
    least, is_number, _ = option.kind.partition("..")
    if not is_number:
        return text if option.kind else False
    return int(text) if text.isdecimal() and int(text) >= int(least) else None


def run_of(command: str) -> Callable[..., None]:
    """Return the function that implements a frequent command: `run_` and the name of the command."""
    name = FREQUENT[command].module
    __import__(name)  # importlib would load other modules
    return getattr(sys.modules[name], f"run_{command.replace('-', '_')}")  # type: ignore[no-any-return]
