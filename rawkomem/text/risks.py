"""Marks what looks dangerous in a text, with a word that says why: a hint for the person who decides on the text,
never a filter. A text without marks can still be harmful.
"""

from __future__ import annotations

import re

from ..model.entries import Draft, Memory
from ..model.values import record
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
JOINED_LINES = re.compile(r"(?<=[^\s])\n(?=[^\s])")


@record
class Risk:
    """What looks dangerous in a text: why, and the words."""

    why: str  # a key of RULES, `encoded`, `hidden` or `look-alike`
    text: str
    start: int = 0  # its place in the cleaned text
    end: int = 0


def risks_in(text: str) -> list[Risk]:
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


def risks_of(item: Memory | Draft) -> list[Risk]:
    """Return what looks dangerous in the title, the text and the conditions of a memory or a draft."""
    text = item.text if isinstance(item, Draft) else item.body
    return risks_in("\n\n".join((item.title, text, *item.when)))
