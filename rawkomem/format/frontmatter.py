"""Read frontmatter: plain lines with a regular expression, the rest with a YAML parser. Every scalar stays text."""

from __future__ import annotations

import re

from ..model.problem import Problem, error, warning
from .field import Field, Unreadable
from .plain import read_plain

MAX_BYTES = 64 * 1024  # checked before parsing; longer texts belong in the body
UNICODE_BREAKS = re.compile("[\u0085\u2028\u2029]")  # line breaks in YAML but not in editors
# The ======= line in the middle is not searched for, because it also underlines headings.
CONFLICT = re.compile(r"^(?:<{7}|\|{7}|>{7})(?: |$)", re.MULTILINE)


def read_frontmatter(text: str, line: int = 1) -> tuple[dict[str, Field], list[Problem]]:
    """Return the top-level keys of a frontmatter whose first line is `line`, and its warnings. Raises Unreadable."""
    if (plain := read_plain(text, line)) is not None:
        return plain, []
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        message = "frontmatter is larger than 64 KiB"
        raise Unreadable(error("large-frontmatter", message, "move the text into the body", line))
    conflict = CONFLICT.search(text)
    if conflict:
        at = line + text.count("\n", 0, conflict.start())
        message = "merge conflict markers in the frontmatter"
        raise Unreadable(error("conflict-markers", message, "resolve the conflict, then save", at))
    problems: list[Problem] = []
    if UNICODE_BREAKS.search(text):
        text = UNICODE_BREAKS.sub(" ", text)
        message = "Unicode line separator in the frontmatter: read as a space"
        problems.append(warning("line-separator", message, "remove it", line))
    return _mapping(text, line, problems), problems


def _mapping(text: str, line: int, problems: list[Problem]) -> dict[str, Field]:
    from .yaml_mapping import read_yaml  # slow to import, and most entries have only plain lines

    return read_yaml(text, line, problems)
