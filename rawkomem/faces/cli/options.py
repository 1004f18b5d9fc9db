"""Declare the options that commands share, as data, so that the parser without click can read them too.

Use an option as a decorator of a click command: `@JSON`, or `@LIMIT.but(default=20)` where a command differs.
"""

from __future__ import annotations

from ...model.filters import FILTER_FIELDS
from ...model.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


@record
class Option:
    """One option: a flag, a text, a number, or a text that may be repeated."""

    names: tuple[str, ...]
    kind: str  # "flag" | "text" | "number" | "many"
    help: str
    default: object = None
    parameter: str = ""  # the parameter that it sets; empty means its first name
    least: int = 0  # the minimum of a number
    aliases: tuple[str, ...] = ()  # deprecated names, not shown in the help

    @property
    def key(self) -> str:
        """Return the name of the parameter that the option sets."""
        return self.parameter or self.names[0].lstrip("-").replace("-", "_")

    def but(self, **changes: Any) -> Option:
        """Return a copy with some fields changed, for one command."""
        return replace(self, **changes)

    def __call__(self, function: Any) -> Any:
        """Declare the option on a click command."""
        from .declare import declare  # click

        return declare(self, function)


def together(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator that declares several options, in this order."""

    def declare_all(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return declare_all


JSON = Option(("--json",), "flag", "Print JSON.", False, "as_json")
DRY_RUN = Option(("--dry-run",), "flag", "Print what would change; write nothing.", False)
YES = Option(("--yes",), "flag", "Do not ask for confirmation.", False)
BY = Option(("--by",), "text", "The author. Default: you.", "")
REASON = Option(("--reason",), "text", "The reason.", "")
LIMIT = Option(("--limit", "-n"), "number", "Maximum number of results.", 10, least=1, aliases=("--max",))
ALL = LIMIT.but(help="Maximum number of results. Default: all.", default=0, least=0)
BUDGET = Option(("--budget", "-b"), "number", "Maximum number of tokens.", 2_000, least=1)
AGENT = Option(("--agent", "-a"), "text", "The agent.", "")
SESSION = Option(("--session",), "text", "The session. Memories that it already received are not repeated.", "")
PROFILE = Option(("--profile", "-p"), "text", "The scoring profile. Default: the setting profile, else fit.", "")
EXPLAIN = Option(("--explain",), "flag", "Also print on stderr which memories are included or omitted, and why.", False)
PERSONAL = Option(("--personal",), "flag", "Use your personal repository, which every project recalls from.", False)
STRICT = Option(("--strict",), "flag", "Only memories that a person committed, typed or reviewed.", False)

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
WHICH = tuple(option for option in FILTERS if option.key not in ("importance", "include"))
