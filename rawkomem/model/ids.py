"""Ids of entries, and ASCII names (slugs)."""

from __future__ import annotations

import os

from .clock import now
from .kinds import CREATES

MAX_SLUG_CHARS = 64  # SPEC-0009; all ASCII, so also 64 bytes
ID_LENGTH = 250  # characters: people type and read ids
ID_SIGNS = "_-.#/:@+=~,% "  # ASCII signs allowed in an id: none is special in a shell or in HTML
ID_STARTS = "_.#@"  # signs allowed at the start of an id; `-` would look like an option
HASH_DIGITS = 8  # added to a name that had to be changed
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
    if not text or len(text) > ID_LENGTH or not text.isprintable() or text != text.strip():
        return False
    plain = all(c.isalnum() or c in ID_SIGNS or not c.isascii() for c in text)
    return plain and (text[0].isalnum() or text[0] in ID_STARTS or not text[0].isascii())


def safe_id(text: str) -> str:
    """Return a text as a valid id: invalid signs become hyphens, and a hash is added so that ids stay distinct.

    A number after `#` is kept: `stem#2` is still the second entry of `stem`.
    """
    if not text or is_id(text):
        return text
    stem, hash, number = text.rpartition("#")
    if stem and number.isdecimal() and number.isascii() and len(number) < 10:
        return f"{safe_id(stem)}{hash}{number}"
    from hashlib import sha256

    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]
    signs = (c if c.isalnum() or c in ID_SIGNS or (not c.isascii() and c.isprintable()) else "-" for c in text)
    return f"{''.join(signs)[: ID_LENGTH - 50].strip(' -~/:+=,%')}-{digest}".lstrip("-")


def slug(title: str) -> str:
    """Return a text in ASCII letters, digits and single hyphens; `memory-` and a hash if too few letters remain.

    For names that other programs restrict to ASCII. Files had these names before `names.file_stem` existed.
    """
    import unicodedata
    from hashlib import sha256

    from .names import RESERVED

    plain = unicodedata.normalize("NFKD", title).lower()
    words = "".join(c if c.isascii() and c.isalnum() else " " if c in " \t\n-" else "" for c in plain).split()
    stem = "-".join(words)[:MAX_SLUG_CHARS].strip("-")
    if not stem or (len(stem) < 3 and not title.isascii()):
        return f"memory-{sha256(title.encode()).hexdigest()[:8]}"
    return stem if stem not in RESERVED else f"{stem}-memory"


def holds_id(text: str, id: str) -> bool:
    """Return whether a text contains an id as a whole word: `exp_10` does not contain `exp_1`."""
    at = text.find(id) if id else -1
    while at >= 0:
        around = text[at - 1 : at] + text[at + len(id) : at + len(id) + 1]
        if not any(c.isalnum() or c in "_-" for c in around):
            return True
        at = text.find(id, at + 1)
    return False


def order_key(at: int, id: str) -> tuple[int, str, int]:
    """Return the sort key of the fold: by time, then id, with `stem#10` after `stem#2`."""
    stem, _, number = id.rpartition("#")
    return (at, stem, int(number)) if stem and number.isdecimal() and len(number) < 10 else (at, id, 0)
