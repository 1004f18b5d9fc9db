"""Compares two values of a memory for a reviewer: all that changes, in words, and what looks dangerous in the added
text. Every view of a change uses `compare`: review, diff, the page, the editor and MCP.

A mark says why a text looks dangerous: a hint for the person who decides on it, never a filter. A text without marks
can still be harmful.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import takewhile

from ..model.entries import Draft, Memory
from ..model.values import record
from .chunks import counted
from .clean import clean, hidden_characters, one_line
from .prose import INSTRUCTION_PATTERNS
from .safe import read_as
from .scripts import mixed_script

MAX_QUOTED_CHARS = 160  # of what is marked
_INTERPRETER = r"(?:python[\d.]{0,4}|perl|ruby|node|php|iex)\b"
_SHELL = rf"(?:sudo\s{{1,5}}(?:-\S{{1,20}}\s{{1,5}})?)?(?:/\S{{0,20}}/)?(?:(?:ba|z|da|k|fi|c|tc|pw)?sh\b|{_INTERPRETER})"
_PIPE = rf"(?:\s\|\s{{0,20}}|\|\s{{1,20}}){_SHELL}"
_LOCAL = r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|(?:[\w-]{1,63}\.){0,3}example\.(?:com|org|net))(?![\w.-])"
_PLACES = (
    r"(?:~[\w-]{0,32}|\$\{?home\}?|%userprofile%|[a-z]:\\users|/(?:etc|root|home|users|proc|dev/tcp))[/\\]"
    r"|(?:^|[\s/'\"`(=@])\.(?:ssh|aws|gnupg|kube|netrc|npmrc|pypirc|bash_history)\b|\bid_(?:rsa|ed25519)\b"
)
# Why → what is marked, in a text in lower case as a reader sees it. Each pattern looks at a limited number of
# characters, so that the time grows with the length of the text.
RULES = {
    "shell": (
        # `| sh |` is a cell only in a line that starts with `|`
        rf"^(?!\s{{0,20}}\|)[^\n]{{0,80}}?{_PIPE}|{_PIPE}(?!\s{{0,20}}\|)|\b(?:curl|wget|irm|iwr|base64)\b[^\n|]{{1,100}}\|\s{{0,20}}{_SHELL}"
        rf"|\b(?:eval|source|{_SHELL})\s{{1,5}}(?:-\w{{1,4}}\s{{1,5}})?[\"']?[$<]\("
        r"|\beval\s{0,5}\(|\bos\.system\s{0,5}\(|\bchild_process\b|\brm\s{1,5}-\w{0,5}r\w{0,5}\s{1,5}(?:/|~|\$home|\*)"
    ),
    "download": (
        r"\b(?:curl|wget|invoke-webrequest|iwr|irm)\s{1,5}(?:-{1,2}[\w-]{1,30}(?:\s{1,5}(?:get|post|put|patch|delete|head)(?=\s))?+\s{1,5}){0,20}+"
        rf"(?!['\"]?(?:\S{{0,20}}//)?{_LOCAL})[\"'`$<\w]\S{{0,200}}"
    ),
    "URL": rf"\b(?:https?|ftp|sftp|wss?|ssh|git)://(?:[^\s/@]{{1,100}}@)?(?!{_LOCAL})[\w\[.$<{{-][^\s<>\"'`)\]]{{0,300}}",
    "command": r"(?<!\w)!`[^`\n]{1,300}`?|^[ \t>*+-]{0,20}!(?!important\b)[a-z./~][^\n]{0,200}|^[ \t>]{0,20}(?:`{3,}|~{3,})!.{0,200}",
    "file": rf"(?:^|(?<=[\s('\"`]))@(?:\.\.?/|{_PLACES})[^\s)'\"`]{{1,200}}",
    "outside": rf"(?:{_PLACES})[^\s'\"`)]{{0,200}}",
    "order": "|".join(
        pattern for name, pattern in INSTRUCTION_PATTERNS if name != "role_tokens"
    ),
}
_regexes = {
    why: re.compile(rule, re.IGNORECASE | re.MULTILINE) for why, rule in RULES.items()
}
# a run of letters and digits of both cases, as base64 has, or of escaped bytes
ENCODED = re.compile(
    r"(?<![\w+/=.-])(?=[\w+/-]{0,80}[a-z])(?=[\w+/-]{0,80}[A-Z])(?=[\w+/-]{0,80}\d)(?:[A-Za-z0-9+_-]{40,}|[A-Za-z0-9+]{20,}[/+][A-Za-z0-9+/]{19,})={0,2}"
    r"|(?:\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}){6,}"
)
HIDDEN = "hidden"
LOOKALIKE = "look-alike"
MAX_KNOWN_RISKS = 500  # texts
JOINED_LINES = re.compile(r"(?<=[^\s])\n(?=[^\s])")


@record
class Risk:
    """What looks dangerous in a text: why, and the words."""

    why: str  # a key of RULES, `encoded`, `hidden` or `look-alike`
    text: str
    start: int = 0  # its place in the cleaned text
    end: int = 0


@lru_cache(MAX_KNOWN_RISKS)  # a memory may contradict many others
def risks_in(text: str) -> Sequence[Risk]:
    """Return what looks dangerous in a text, in reading order."""
    shown = clean(text)
    seen, places = read_as(shown)
    spans = []
    for why, regex in _regexes.items():
        words = JOINED_LINES.sub(" ", seen) if why == "order" else seen
        for match in regex.finditer(words):
            start, end = match.span()
            spans.append(
                ((places[start], places[end]) if places else (start, end), why)
            )
    spans += [(match.span(), "encoded") for match in ENCODED.finditer(shown)]
    risks: list[Risk] = []
    # of two that start at the same place, the first rule counts
    for (start, end), why in sorted(spans, key=lambda item: item[0][0]):
        if not risks or (end > risks[-1].end and start > risks[-1].start):
            words = one_line(shown[start:end], MAX_QUOTED_CHARS)
            risks.append(Risk(why, words, start, end))
    risks += [Risk(HIDDEN, name) for _, name in hidden_characters(text)]
    if mixed := mixed_script(shown):
        risks.append(Risk(LOOKALIKE, f"a word with letters of {mixed}"))
    return risks


def risks_of(item: Memory | Draft) -> Sequence[Risk]:
    """Return what looks dangerous in the title, the text and the conditions of a memory or a draft."""
    text = item.text if isinstance(item, Draft) else item.body
    return risks_in("\n\n".join((item.title, text, *item.when)))


SAME = "same"
OLD = "old"
NEW = "new"
Parts = list[tuple[str, str]]  # SAME, OLD (removed) or NEW (added), and the text

# of one text; texts with more words are compared line by line, with more lines not at all
MAX_COMPARED = 8_000
WORDS = re.compile(r"\S+|\s+")
LINES = re.compile(r"[^\n]*\n|[^\n]+")
# least share in common; below it, both texts are shown in full
MIN_ALIKE = 0.55
MAX_VALUES_CHARS = 160  # of both texts on one line, shown as `old → new`
CONTEXT_WORDS = 3  # shown before and after a change
# a text could imitate the marks of a change with these
MARKERS = re.compile(r"(?<=\[)-|-(?=\])|(?<=\{)\+|\+(?=\})")
LAYOUT_ONLY = "only spaces, line breaks or invisible characters change"


@record
class Compared:
    """How a text changes: its parts in reading order, and what looks dangerous in the added parts."""

    parts: tuple[tuple[str, str], ...]
    risks: tuple[Risk, ...]

    def lines(self, most: int = 0, opens: str = "") -> list[str]:
        """Return what a reviewer reads: the changes, `Push to [-main-] {+staging+} first`, then what looks dangerous.

        With `most`, only changes within so many characters are returned, and a line that says what is left out and what
        `opens` it. Dangerous words are never left out.
        """
        groups = [*_groups(self.parts)] or [(LAYOUT_ONLY, 1)]
        shown = len(groups)
        while most and shown and sum(len(text) for text, _ in groups[:shown]) > most:
            shown -= 1
        texts = [text for text, _ in groups[:shown]]
        if left := groups[shown:]:
            rest = counted(sum(changes for _, changes in left), "more change")
            if not shown:
                texts = [f"{left[0][0][:most]} …"]
                rest = f"{sum(len(text) for text, _ in left) - most:,} more characters"
            texts.append(f"({rest}: {opens})")
        found = [line for text in texts for line in text.split("\n")]
        return [*found, *risk_lines(self.risks)]


def compare(old: object, new: object) -> Compared:
    """Return how a value changes. An empty `old` value: everything is added."""
    was = value_text(old)
    now = value_text(new)
    parts = difference(clean(was), clean(now))
    added = []
    at = 0
    for what, text in parts:
        if what == NEW:
            added.append((at, at + len(text)))
        at += len(text) if what != OLD else 0
    # hidden characters have no place
    known = [risk for risk in risks_in(was) if not risk.end] if was else []
    risks = []
    for risk in risks_in(now):
        if risk in known:
            known.remove(risk)
        elif not risk.end or any(a < risk.end and risk.start < b for a, b in added):
            risks.append(risk)
    return Compared(tuple(parts), tuple(risks))


def risk_lines(risks: Iterable[Risk]) -> list[str]:
    """Return a line for each thing that looks dangerous: why, and the words."""
    return [*dict.fromkeys(f"!! {risk.why}: {risk.text}" for risk in risks)]


def value_text(value: object) -> str:
    """Return a value of a memory as a text: a line for each item of a list, and for each key of a dictionary."""
    if isinstance(value, dict):
        return "\n".join(f"{key}: {value_text(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return "\n".join(map(value_text, value))
    return str(value)


def difference(old: str, new: str) -> Parts:
    """Return the parts of both texts in reading order; together they hold both texts completely."""
    whole = [(OLD, old), (NEW, new)]
    for units in (WORDS, LINES):
        one = units.findall(old)
        other = units.findall(new)
        total = len(one) + len(other)
        start = _shared_start(one, other)
        one = one[len(start) :]
        other = other[len(start) :]
        end = _shared_start(one[::-1], other[::-1])[::-1]
        one = one[: len(one) - len(end)]
        other = other[: len(other) - len(end)]
        if max(len(one), len(other)) <= MAX_COMPARED:
            steps = SequenceMatcher(None, one, other)
            alike = sum(block.size for block in steps.get_matching_blocks())
            if 2 * (len(start) + alike + len(end)) >= MIN_ALIKE * total:
                changed = _changed_parts(steps, one, other)
                whole = [(SAME, "".join(start)), *changed, (SAME, "".join(end))]
            break
    return [part for part in whole if part[1]]


def _shared_start(one: list[str], other: list[str]) -> list[str]:
    pairs = zip(one, other, strict=False)
    return [unit for unit, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]


def _changed_parts(
    steps: SequenceMatcher[str], one: list[str], other: list[str]
) -> Parts:
    parts = []
    removed = ""
    added = ""
    for what, i, j, k, m in steps.get_opcodes():
        before = "".join(one[i:j])
        after = "".join(other[k:m])
        if what == "equal" and before.strip():
            parts += [(OLD, removed), (NEW, added), (SAME, before)]
            removed = added = ""
        else:  # spaces between two changed words are part of the change
            removed = removed + before
            added = added + after
    return [*parts, (OLD, removed), (NEW, added)]


def _groups(parts: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, int]]:
    """Yield the changes that are close to each other as one text, with their number. Many words between are left out."""
    before, after = (
        "".join(words for what, words in parts if what in (SAME, side))
        for side in (OLD, NEW)
    )
    is_short = len(before) + len(after) <= MAX_VALUES_CHARS
    is_short = is_short and "\n" not in before + after
    if before and after and before != after and is_short:
        yield f"{before} → {after}", 1
        return
    if after and not (before or is_short):
        yield after, 1
        return
    text = ""
    changes = 0
    before = SAME
    for place, (what, words) in enumerate(parts):
        kept = words.split()
        if what != SAME and not kept:
            text += words if what == NEW else ""
            continue
        if what != SAME:
            changes += before == SAME
            marked = MARKERS.sub(r"\\\g<0>", words)
            gap = " " if before == OLD and what == NEW else ""
            text += gap + (f"[-{marked}-]" if what == OLD else f"{{+{marked}+}}")
        elif len(kept) <= CONTEXT_WORDS * 2 and 0 < place < len(parts) - 1:
            text += words
        else:
            if changes:
                ending = " ".join(kept[:CONTEXT_WORDS])
                cut = " …" if len(kept) > CONTEXT_WORDS else ""
                yield f"{text} {ending}{cut}".strip(), changes
            cut = "… " if len(kept) > CONTEXT_WORDS else ""
            text = f"{cut}{' '.join(kept[-CONTEXT_WORDS:])} "
            changes = 0
        before = what
    if changes:
        yield text.strip(), changes
