"""Make a Filter from the words of a command line, a tool call or a page."""

from __future__ import annotations

from ..model.filters import Filter, read_filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.filters import Words


def filter_of(**words: Words) -> Filter:
    """Return the Filter that words ask for, each named like an option; raise BadInput for a wrong one."""
    only = read_filter(words)
    if only.where:
        from ..state.lifecycle.promoted import FIELDS
        from ..text.expression import parse_expression  # compiles regular expressions: only for those who ask for it

        parse_expression(only.where, FIELDS)
    return only
