"""Make a Filter from the options of a command line, a tool call or a page."""

from __future__ import annotations

from ..model.filters import Filter, read_filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.filters import Words


def filter_of(**words: Words) -> Filter:
    """Return the Filter for these options. Raise BadInput if a value is invalid."""
    only = read_filter(words)
    if only.where:
        from ..state.lifecycle.promoted import FIELDS
        from ..text.expression import parse_expression  # slow import: compiles regular expressions

        parse_expression(only.where, FIELDS)
    return only
