"""Escape texts of a repository, which are not trusted, for Markdown and for workflow commands of GitHub."""

from __future__ import annotations

from ...model.problem import ERROR, WARNING, Problem
from ...redaction.find import redact
from ...text.clean import one_line

PUNCTUATION = frozenset("\\`*_{}[]()<>#+-.!|~&:\"'$^=/")  # that a backslash escapes in Markdown
LEVELS = {ERROR: "error", WARNING: "warning"}  # level of a Problem → workflow command; others are notices
MAX_CHARS = 2_000  # of one text


def plain(text: object, chars: int = MAX_CHARS) -> str:
    """Return a text on one line without secrets, control characters and workflow commands of GitHub."""
    return one_line(redact(str(text), pii=False), chars).replace("##[", "## [").replace("::", ": :")


def markdown(text: object, chars: int = MAX_CHARS) -> str:
    """Return a text on one line, escaped so that Markdown shows it without markup, links and mentions."""
    escaped = (f"\\{sign}" if sign in PUNCTUATION else sign for sign in plain(text, chars))
    return "".join(escaped).replace("@", "@<!-- -->")


def annotation(problem: Problem, name: str) -> str:
    """Return a problem as a workflow command that annotates a line of a file."""
    level = LEVELS.get(problem.level, "notice")
    place = f"file={_property(problem.path)},line={max(1, problem.line)},title={_property(f'rawkomem: {name}')}"
    return f"::{level} {place}::{_data(f'{problem.message}. {problem.hint}' if problem.hint else problem.message)}"


def _data(text: str) -> str:
    """Escape a text for a workflow command; an unescaped line end could start another command."""
    return _visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _visible(text: str) -> str:
    """Redact secrets and escape control characters, except line ends, which a path may contain."""
    return "".join(c if c.isprintable() or c in "\r\n" else ascii(c)[1:-1] for c in redact(text, pii=False))
