"""Who committed a text: a person, an agent, nobody yet, or somebody unknown."""

from __future__ import annotations

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
    return AGENT if any(_is_agent(name, agents) for name in author.split("\t")) else PERSON


def _is_agent(author: str, agents: Sequence[str]) -> bool:
    name, _, mail = author.lower().rpartition(" <")
    return any(
        fits_pattern(pattern.lower(), text)
        for pattern in agents
        for text in (name, mail.rstrip(">"))
    )


def fits_pattern(pattern: str, text: str) -> bool:
    """Return whether a text matches a pattern. * matches any characters; no other character is special."""
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == text
    at, end = len(first), len(text) - len(rest[-1])
    if at > end or not text.startswith(first) or not text.endswith(rest[-1]):
        return False
    for part in rest[:-1]:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True
