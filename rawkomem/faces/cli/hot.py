"""Parse frequent commands without click, because importing click takes as long as three bare Python starts.

The options of a command are data (options.py). This parser handles plain command lines. Help, completion and mistakes
go to click, which uses the same data.
"""

from __future__ import annotations

import os

from ...model.record import record
from .options import AGENT, BUDGET, BY, EXPLAIN, FILTERS, JSON, LIMIT, PROFILE, REASON, SESSION, STRICT, WHICH, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Values = dict[str, object]


SOURCE = Option(
    ("--source",), "flag", "For a shared source: keep its index in your cache and write nothing into the source.", False
)
DEEP = Option(("--deep",), "flag", "Also compute the contextual vectors; this takes minutes per 1,000 memories.", False)

SEARCH = (
    LIMIT.but(least=0, help="Maximum number of results. Up to the same number of unverified memories is added."),
    *FILTERS,
    PROFILE.but(help="The scoring profile. Default: rank by words and meaning."),
    EXPLAIN.but(help="Also show how the score is computed."),
    JSON,
)


@record
class Hot:
    """A hot command: its options, the module whose `run` implements it, and the name of its arguments."""

    options: tuple[Option, ...]
    module: str
    argument: str = ""
    max_arguments: int = 0  # maximum number of arguments; 0 means no limit
    raw: bool = False  # pass all words unparsed: a hook must exit 0 even after wrong usage


INJECT = (
    AGENT.but(help="The agent: planner, developer, tester, reviewer, or one that config.yaml defines."),
    Option(("--plan",), "text", "The plan so far, as additional context.", ""),
    SESSION,
    LIMIT.but(help="Maximum number of memories. Default: the agent's setting, else 5.", default=None, least=0),
    Option(("--min-importance", "-i"), "text", "Minimum importance: low, medium, high or critical.", ""),
    BUDGET.but(help="Maximum number of tokens. Default: the agent's setting, else 2,000.", default=0, least=0),
    PROFILE.but(help="The scoring profile: fit, rawko, mesh, composite, lane, llmos, or composite:trust=0.4."),
    Option(("--format", "-f"), "text", "The output format: rawko, mesh, xml, json, plain or grouped.", "rawko"),
    STRICT,
    EXPLAIN,
    JSON.but(help="Print JSON: the injected memories, the omitted ones with reasons, and the token count."),
    *WHICH,
)

FEEDBACK = (
    REASON,
    BY,
    JSON,
    Option(("--helpful",), "flag", "The memory helped.", False),
    Option(("--harmful",), "flag", "The memory did harm; its score is halved in later injections.", False),
)

MARKER_SIZE = Option(("--marker-size",), "number", "Characters of a conflict marker.", 7)

HOT = {
    "search": Hot(SEARCH, "rawkomem.faces.cli.memories.search", "query"),
    "inject": Hot(INJECT, "rawkomem.faces.cli.memories.inject", "task"),
    "stats": Hot((*FILTERS, JSON), "rawkomem.faces.cli.memories.stats"),
    "feedback": Hot(FEEDBACK, "rawkomem.faces.cli.memories.feedback", "id [helpful|harmful]", max_arguments=2),
    "sync": Hot((DEEP, SOURCE, JSON), "rawkomem.faces.cli.keeping.sync"),
    "merge-driver": Hot((MARKER_SIZE,), "rawkomem.faces.cli.keeping.merge_driver", "files"),  # run by git
    "hook": Hot((), "rawkomem.hosts.hooks.run", "host event", raw=True),
}


def parse(argv: list[str]) -> tuple[str, str, Values, list[str]] | None:
    """Return folder, command, option values and arguments of a plain command line, or None to let click parse it."""
    folder = ""
    if len(argv) > 2 and argv[0] == "-C":
        folder, argv = argv[1], argv[2:]
    if not argv or argv[0] not in HOT:
        return None
    hot = HOT[argv[0]]
    if hot.raw:
        return None if "--help" in argv or "-h" in argv else (folder, argv[0], {}, argv[1:])
    if folder and not os.path.isdir(folder):
        return None
    options = {name: option for option in hot.options for name in (*option.names, *option.aliases)}
    values = {option.key: [] if option.kind == "many" else option.default for option in options.values()}
    arguments = _fill(argv[1:], options, values)
    if (
        arguments is None
        or bool(arguments) != bool(hot.argument)
        or (hot.max_arguments and len(arguments) > hot.max_arguments)
    ):
        return None
    return folder, argv[0], values, arguments


def _fill(words: list[str], options: dict[str, Option], values: Values) -> list[str] | None:
    """Fill in the option values and return the arguments, or None if click must parse the words."""
    arguments: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            return [*arguments, *rest]
        if not word.startswith("-") or word == "-":
            arguments.append(word)
            continue
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        option = options.get(name)
        if option is None or (option.kind == "flag" and equals):
            return None
        if option.kind != "flag" and not equals:
            value = next(rest, "")
            if not value:
                return None
        if not _put(option, value, values):
            return None
    return arguments


def _put(option: Option, value: str, values: Values) -> bool:
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
    """Return the function that implements a hot command."""
    import sys

    name = HOT[command].module
    __import__(name)
    return sys.modules[name].run  # type: ignore[no-any-return]
