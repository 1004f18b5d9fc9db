"""Names: ids of entries, ASCII slugs, and file names that are valid on Linux, macOS and Windows."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from hashlib import sha256
from itertools import count

from .values import CREATES, iso, now

HASH_DIGITS = 8  # of a name that had to be changed
MAX_STEM_CHARS = 64  # SPEC-0009
MAX_STEM_BYTES = 80  # a Chinese character has three bytes
APOSTROPHES = "'\u2019\u02bc"  # removed, so that "don't" becomes "dont"
KEPT_CATEGORIES = ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No")
# vowel signs and accents, which belong to the letter before
MARK_CATEGORIES = ("Mn", "Mc")
# letters and marks without a visible shape
INVISIBLE = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f"
# Names of Windows devices.
RESERVED_NAMES = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)),
}


UNNAMED_AGENT = "agent"  # in the file name of a trace that names no agent


def file_stem(title: str) -> str:
    """Return a file name for a title, without `.md`; `memory-` and a hash if the title has no letter or digit."""
    stem = _cut_stem(kebab(title))
    if not stem:
        return f"memory-{hex_hash(title, HASH_DIGITS)}"
    return stem if stem not in RESERVED_NAMES else f"{stem}-memory"


def hex_hash(text: str, digits: int = 64) -> str:
    """Return the first digits of a text's SHA-256, in hexadecimal."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


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
    if (
        sign in INVISIBLE
        or sign in APOSTROPHES
        or category == "Cf"
        or 0xFE00 <= ord(sign) <= 0xFE0F
    ):
        return ""
    if category in KEPT_CATEGORIES or (
        category in MARK_CATEGORIES and before.strip() and ord(sign) < 0xE0000
    ):
        return sign
    if sign == "+":
        return " plus "
    if sign == "#" and before.isalpha() and not after.isalnum():
        return " sharp "
    return " "


def _cut_stem(stem: str) -> str:
    """Return a name cut to the maximum length, without a split letter or a hyphen at its end."""
    end = min(len(stem), MAX_STEM_CHARS)
    while (
        len(stem[:end].encode("utf-8", "replace")) > MAX_STEM_BYTES
        or unicodedata.category(stem[end : end + 1] or "-") in MARK_CATEGORIES
    ):
        end -= 1
    return stem[:end].strip("-")


def numbered_names(stem: str) -> Iterator[str]:
    """Yield file names to try, endlessly: stem, stem-2, stem-3 …"""
    yield stem
    yield from (f"{stem}-{number}" for number in count(2))


def trace_path(at: int, agent: str) -> str:
    """Return a path like `traces/2026-01/2026-01-23T10-30-00-000Z_planner.md`, from the time and the agent."""
    stamp = iso(at)
    stamp = stamp if "." in stamp else stamp.replace("Z", ".000Z")
    name = (
        "".join(c if c.isalnum() or c in "-_" else "-" for c in agent).strip("-")[:64]
        or UNNAMED_AGENT
    )
    name = name if name.isascii() else file_stem(agent)
    return f"traces/{stamp[:7]}/{stamp.replace(':', '-').replace('.', '-')}_{name}.md"


def folded_name(name: str) -> str:
    """Return a name in the form in which macOS and Windows compare names."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


MAX_SLUG_CHARS = 64  # SPEC-0009; all ASCII, so also 64 bytes
ID_LENGTH = 250  # characters: people type and read ids
# ASCII signs allowed in an id: none is special in a shell or in HTML
ID_SIGNS = "_-.#/:@+=~,% "
ID_STARTS = "_.#@"  # signs allowed at the start of an id; `-` would look like an option
BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"


def new_id(kind: str, at: int = 0) -> str:
    """Return a new id: `mem_<ms>_<6 hex>`, or for a trace `trace-<ms>-<6 base36>`, the form that its spec requires."""
    at = at or now()
    if kind == "trace":
        return f"trace-{at}-{''.join(BASE36[byte % 36] for byte in os.urandom(6))}"
    prefix = CREATES[kind].prefix if kind in CREATES else kind
    return f"{prefix}_{at}_{os.urandom(3).hex()}"


def is_id(text: str) -> bool:
    """Return whether a text is a valid id: letters and digits of any script and ID_SIGNS, at most ID_LENGTH of them."""
    if (
        not text
        or len(text) > ID_LENGTH
        or not text.isprintable()
        or text != text.strip()
    ):
        return False
    plain = all(c.isalnum() or c in ID_SIGNS or not c.isascii() for c in text)
    return plain and (
        text[0].isalnum() or text[0] in ID_STARTS or not text[0].isascii()
    )


def placed_id(stem: str, number: int) -> str:
    """Return the id of the entry at a place in a file, if the entry has none: `stem`, `stem#2` and so on."""
    return f"{stem}#{number}" if stem and number > 1 else stem


def safe_id(text: str) -> str:
    """Return a text as a valid id: invalid signs become hyphens, and a hash is added so that ids stay distinct.

    A number after `#` is kept: `stem#2` is still the second entry of `stem`.
    """
    if not text or is_id(text):
        return text
    stem, hash, number = text.rpartition("#")
    if stem and number.isdecimal() and number.isascii() and len(number) < 10:
        return f"{safe_id(stem)}{hash}{number}"

    digest = hex_hash(text, HASH_DIGITS)
    signs = (
        c
        if c.isalnum() or c in ID_SIGNS or (not c.isascii() and c.isprintable())
        else "-"
        for c in text
    )
    return f"{''.join(signs)[: ID_LENGTH - 50].strip(' -~/:+=,%')}-{digest}".lstrip("-")


def slug(title: str) -> str:
    """Return a text in ASCII letters, digits and single hyphens; `memory-` and a hash if too few letters remain.

    For names that other programs restrict to ASCII.
    """
    plain = unicodedata.normalize("NFKD", title).lower()
    words = re.sub(r"[^a-z0-9 \t\n-]", "", plain).replace("-", " ").split()
    stem = "-".join(words)[:MAX_SLUG_CHARS].strip("-")
    if not stem or (len(stem) < 3 and not title.isascii()):
        return f"memory-{hex_hash(title, HASH_DIGITS)}"
    return stem if stem not in RESERVED_NAMES else f"{stem}-memory"


def holds_id(text: str, id: str) -> bool:
    """Return whether a text contains an id as a whole word: `exp_10` does not contain `exp_1`."""
    if not id or id not in text:
        return False
    return re.search(rf"(?<![\w-]){re.escape(id)}(?![\w-])", text) is not None


def order_key(at: int, id: str) -> tuple[int, str, int]:
    """Return the sort key of the fold: by time, then id, with `stem#10` after `stem#2`."""
    stem, _, number = id.rpartition("#")
    if stem and number.isdecimal() and len(number) < 10:
        return at, stem, int(number)
    return at, id, 0
