"""Write texts that a repository chose into Markdown and into GitHub's workflow commands, so that they stay texts."""

from __future__ import annotations

from ...model.problem import ERROR, WARNING, Problem
from ...redaction.find import redact
from ...text.clean import one_line

PUNCTUATION = frozenset("\\`*_{}[]()<>#+-.!|~&:\"'$^=/")  # a backslash before one of these makes it plain in Markdown
LEVELS = {ERROR: "error", WARNING: "warning"}  # level of a Problem → workflow command; others are notices
MAX_CHARS = 2_000  # characters of one text


def plain(text: object, chars: int = MAX_CHARS) -> str:
    """Return a text on one line, without secrets and control characters, that starts no command in a log of GitHub."""
    return one_line(redact(str(text), pii=False), chars).replace("##[", "## [").replace("::", ": :")


def markdown(text: object, chars: int = MAX_CHARS) -> str:
    """Return a text on one line as Markdown that shows exactly it: no markup, no link, no mention."""
    escaped = (f"\\{sign}" if sign in PUNCTUATION else sign for sign in plain(text, chars))
    return "".join(escaped).replace("@", "@<!-- -->")


def annotation(problem: Problem, name: str) -> str:
    """Return a problem as a workflow command that annotates a line of a file."""
    level = LEVELS.get(problem.level, "notice")
    place = f"file={_property(problem.path)},line={max(1, problem.line)},title={_property(f'rawkomem: {name}')}"
    return f"::{level} {place}::{_data(f'{problem.message}. {problem.hint}' if problem.hint else problem.message)}"


def _data(text: str) -> str:
    """Return a text as the message of a workflow command: percent signs and line ends would end or forge one."""
    return _visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _visible(text: str) -> str:
    """Return a text whose control characters are shown as escapes; line ends stay, for a path must name its file."""
    return "".join(c if c.isprintable() or c in "\r\n" else ascii(c)[1:-1] for c in redact(text, pii=False))
