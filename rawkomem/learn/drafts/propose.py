"""Propose `whenToUse` conditions from a memory's text: the names in it, and its subject if that is a few words."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from ...model.record import replace
from ...text.condition import LANGUAGE, read_condition
from ...text.language import language, word_set
from ...text.overlap import specific
from ...text.topics import subjects
from ...text.when import everyday_hits
from .cues import cues

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...model.entry import Entry

MAX_NAMES = 5  # per condition: with more, it would fire on unrelated tasks
MAX_SHARED = 3  # memories of one import or session with the same condition; a more common one is useless
MIN_ASK_WORDS, MAX_ASK_WORDS = 3, 14  # of a request that becomes the condition of its correction
MAX_WORDS = 4  # specific words of a text that make a condition; a text with more has no clear subject
SPAN = re.compile(r"`([^`]{2,40})`")
RUN = re.compile(r"[\w@./-]+")  # characters that a path consists of
MAX_RUN_CHARS = 200  # longer runs are not searched for paths: quadratic time
PATH = re.compile(r"\b[\w@.-]+/[\w@./-]*\w")
# CamelCase, snake_case, ALLCAPS, dotted or dashed names, capitals inside a sentence: never ordinary words.
NAME = re.compile(
    r"\b[A-Za-z]+[a-z0-9][A-Z]\w*|\b[A-Za-z]\w*_\w+|\b[A-Z]{2,}[0-9]*\b|\b[A-Za-z]+[0-9]\w*"
    r"|(?<=[a-z,;:] )[A-Z][a-z]+\w*",
    re.ASCII,
)
# Names that occur in very many tasks, so they select nothing.
COMMON = word_set(
    """
    api apis app apps http https json yaml xml html css sql url urls cli ci cd git id ids ui ux db pr prs todo ok utc mb
    gb kb ms test tests null none true false ascii utf readme github english index main init mod lib util utils server
    src standard
    """
)
# Words of headings that very many pages have.
HEADINGS = word_set(
    """
    about agent agents architecture background basics changelog claude command commands concept concepts consideration
    considerations contributing convention conventions development docs documentation features folder folders getting
    guide guideline guidelines install installation instruction instructions introduction key layout license notes
    overview pitfall pitfalls practice practices principle principles quick quickstart reference repository rule rules
    setup standards started strategy structure style summary testing tips usage workflow
    """
)
NAMELESS = COMMON | HEADINGS


def propose(text: str) -> tuple[str, ...]:
    """Return the conditions under which to recall a memory with this text; none if its words are too common."""
    names = list(_names(text))[:MAX_NAMES]
    vague = NAMELESS | cues().ANNOUNCING
    about = list(dict.fromkeys(word for word in subjects(text) if word not in vague))
    more = 1 < len(about) <= MAX_WORDS and not set(about) <= set(" ".join(names).split())
    conditions = (_listed(names), f"{cues().WORKING_ON} {' '.join(about)}" if more else "")
    return tuple(condition for condition in conditions if condition and _is_usable(condition))


def propose_asked(ask: str) -> tuple[str, ...]:
    """Return a condition that fires when somebody repeats the request that was corrected; none for a long request.

    It may fire on everyday tasks such as "run the tests": the correction says how this project does them.
    """
    words = ask.split()
    condition = f"{cues().ASKED} {' '.join(words).rstrip('.!?')}"
    short = MIN_ASK_WORDS <= len(words) <= MAX_ASK_WORDS and "\n" not in ask.strip()
    read = read_condition(condition) if short else None
    return (condition,) if read and read.form == LANGUAGE and len(specific(ask)) > 1 else ()


def separating(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries without the plain-language conditions that more than MAX_SHARED texts have."""
    times = Counter(condition for _, condition in {(entry.body, one) for entry in entries for one in entry.when})
    return [replace(entry, when=tuple(one for one in entry.when if _is_rare(one, times))) for entry in entries]


def _is_rare(condition: str, times: Counter[str]) -> bool:
    return times[condition] <= MAX_SHARED or read_condition(condition).form != LANGUAGE


def _names(text: str) -> Iterator[str]:
    """Yield each name in a text once, as words; of a path, the file name."""
    seen: set[str] = set()
    for found in _written_names(text):
        name = " ".join(language().words(found))
        known = set(specific(name))
        if (
            known
            and not seen & known
            and name not in NAMELESS
            and not language().is_stop(name)
            and not name.isdecimal()
        ):
            seen |= known
            yield name


def _written_names(text: str) -> Iterator[str]:
    """Yield names as they are written: pairs like "pnpm, not npm", then code spans, other names, and paths."""
    plain = RUN.sub(lambda run: PATH.sub(" ", run[0]) if _may_be_path(run[0]) else run[0], text)
    for pair in cues().PAIR.finditer(plain):
        if not language().stop_words.intersection(map(str.lower, pair.groups())):
            yield from pair.groups()
    for span in SPAN.findall(text):
        if " " not in span and "/" not in span:
            yield span
    yield from NAME.findall(plain)
    for path in (path for run in RUN.findall(text) if _may_be_path(run) for path in PATH.findall(run)):
        yield path.rstrip("/").rpartition("/")[2].partition(".")[0]


def _may_be_path(run: str) -> bool:
    return "/" in run and len(run) <= MAX_RUN_CHARS


def _listed(names: list[str]) -> str:
    """Return `When working with a, b or c`; empty without names."""
    if not names:
        return ""
    parts = (", ".join(names[:-1]), names[-1])
    return f"{cues().WORKING_WITH} {f' {language().alternative} '.join(part for part in parts if part)}"


def _is_usable(condition: str) -> bool:
    read = read_condition(condition)
    return read.form == LANGUAGE and not everyday_hits(read)
