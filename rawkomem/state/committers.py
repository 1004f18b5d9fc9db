"""Who committed a text: a person, an agent, nobody yet, or somebody unknown."""

from __future__ import annotations

from ..model.values import TYPE_CHECKING
from ..text.paths import fits_wildcards

if TYPE_CHECKING:
    from collections.abc import Sequence


PERSON, AGENT, UNCOMMITTED, UNKNOWN = "person", "agent", "uncommitted", "unknown"

AUTHORS = "\x1f"  # separates several authors of one text
HIDDEN_AUTHOR = "?"  # unknown author: no git, a shallow or partial clone, an ignored folder

# Names and e-mail addresses of authors that are not people; case is ignored, * matches any characters.
AGENTS = (
    "*[bot]*",
    "*@anthropic.com",
    "*@openai.com",
    "*@cursor.com",
    "*@all-hands.dev",
    "*@ampcode.com",
    "*+copilot@users.noreply.github.com",
    "*(aider)*",
)


def author_state(author: str, agents: Sequence[str] = AGENTS) -> str:
    """Return PERSON, AGENT, UNCOMMITTED or UNKNOWN for an author.

    An author is `Name <e-mail>`; if the committer is another one, a tab and the committer follow.

    If several authors committed the same text in parallel, a person wins.
    """
    if AUTHORS in author:
        states = {author_state(one, agents) for one in author.split(AUTHORS)}
        return next(state for state in (PERSON, AGENT, UNKNOWN) if state in states)
    if author in ("", HIDDEN_AUTHOR):
        return UNKNOWN if author else UNCOMMITTED
    for one in author.lower().split("\t"):
        name, _, mail = one.rpartition(" <")
        for pattern in agents:
            if _fits(pattern, name) or _fits(pattern, mail.rstrip(">")):
                return AGENT
    return PERSON


def _fits(pattern: str, text: str) -> bool:
    return fits_wildcards(pattern.lower(), text, one="\0")  # only * is special
