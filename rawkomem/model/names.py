"""Make file names from titles: letters of every script, valid on Linux, macOS and Windows."""

from __future__ import annotations

import unicodedata
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_STEM_CHARS = 64  # SPEC-0009
MAX_STEM_BYTES = 80  # a Chinese character has three bytes
APOSTROPHES = "'\u2019\u02bc"  # removed, so that "don't" becomes "dont"
KEPT_CATEGORIES = ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No")
MARKS = ("Mn", "Mc")  # vowel signs and accents, which belong to the letter before
INVISIBLE = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f"  # letters and marks without a visible shape
# Names of Windows devices.
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}


def file_stem(title: str) -> str:
    """Return a file name for a title, without `.md`; `memory-` and a hash if the title has no letter or digit."""
    stem = _cut(kebab(title))
    if not stem:
        return f"memory-{sha256(title.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return stem if stem not in RESERVED else f"{stem}-memory"


def kebab(text: str) -> str:
    """Return the words of a text in lower case, joined by hyphens; the signs of `C++` and `C#` become words."""
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    out = ""
    for at, sign in enumerate(text):
        out += _written(sign, out[-1:], text[at + 1 : at + 2])
    return "-".join(out.split())


def _written(sign: str, before: str, after: str) -> str:
    """Return what a sign becomes in a name; `before` is the output's last character, `after` the input's next sign."""
    category = unicodedata.category(sign)
    if sign in INVISIBLE or sign in APOSTROPHES or category == "Cf" or 0xFE00 <= ord(sign) <= 0xFE0F:
        return ""
    if category in KEPT_CATEGORIES or (category in MARKS and before.strip() and ord(sign) < 0xE0000):
        return sign
    if sign == "+":
        return " plus "
    return " sharp " if sign == "#" and before.isalpha() and not after.isalnum() else " "


def _cut(stem: str) -> str:
    """Return a name cut to the maximum length, without a split letter or a hyphen at its end."""
    end = min(len(stem), MAX_STEM_CHARS)
    while (
        len(stem[:end].encode("utf-8", "replace")) > MAX_STEM_BYTES
        or unicodedata.category(stem[end : end + 1] or "-") in MARKS
    ):
        end -= 1
    return stem[:end].strip("-")


def numbered(stem: str) -> Iterator[str]:
    """Yield file names to try, endlessly: stem, stem-2, stem-3 …"""
    yield stem
    yield from (f"{stem}-{number}" for number in count(2))


def folded(name: str) -> str:
    """Return a name in the form in which macOS and Windows compare names."""
    return (
        name.lower() if name.isascii() else unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    )
