"""Classify characters as ordinary, as invisible, or as depending on their neighbors, with small range tables."""

from __future__ import annotations

# What to do with a character: remove it, make it a line break, or (the others) check its neighbors.
DROP, LINE, STYLE, JOIN, TAG, MARK = "drop", "line", "style", "join", "tag", "mark"

NON_CHARACTER = "non-character"  # it has no meaning, so it cannot hide a message
# Characters that are invisible by design, with the name for messages. The first matching row counts.
INVISIBLE = (
    (0x0000, 0x0008, "control character"),
    (0x000B, 0x001F, "control character"),
    (0x007F, 0x009F, "control character"),
    (0x00AD, 0x00AD, "soft hyphen"),
    (0x034F, 0x034F, "invisible joiner"),
    (0x061C, 0x061C, "text direction mark"),
    (0x115F, 0x1160, "blank Hangul filler"),
    (0x17B4, 0x17B5, "invisible vowel"),
    (0x180B, 0x180F, "invisible separator"),
    (0x200B, 0x200B, "zero-width space"),
    (0x200C, 0x200D, "zero-width joiner"),
    (0x200E, 0x200F, "text direction mark"),
    (0x2028, 0x2029, "line separator"),
    (0x202A, 0x202E, "text direction override"),
    (0x2060, 0x2065, "zero-width joiner"),
    (0x2066, 0x2069, "text direction isolate"),
    (0x206A, 0x206F, "invisible format character"),
    (0x3164, 0x3164, "blank Hangul filler"),
    (0xD800, 0xDFFF, "lone surrogate"),
    (0xFDD0, 0xFDEF, NON_CHARACTER),
    (0xFE00, 0xFE0F, "variation selector"),
    (0xFEFF, 0xFEFF, "zero-width space"),
    (0xFFA0, 0xFFA0, "blank Hangul filler"),
    (0xFFF0, 0xFFF8, "invisible format character"),
    (0xFFF9, 0xFFFB, "interlinear annotation"),
    (0x1BCA0, 0x1BCA3, "invisible format character"),
    (0x1D173, 0x1D17A, "invisible format character"),
    (0xE0000, 0xE007F, "tag character"),
    (0xE0100, 0xE01EF, "variation selector"),
    (0xE0080, 0xE0FFF, "invisible format character"),
)


def ranges(*pairs: tuple[int, int]) -> tuple[int, ...]:
    """Return ascending (first, last) ranges as a list of edges, for `within`."""
    return tuple(edge for first, last in pairs for edge in (first, last + 1))


# The blocks with emoji: these characters may have a style selector or be part of a joined emoji.
EMOJI = ranges(
    (0xA9, 0xA9), (0xAE, 0xAE), (0x203C, 0x203C), (0x2049, 0x2049), (0x2122, 0x2122), (0x2139, 0x2139),
    (0x2190, 0x21FF), (0x2300, 0x23FF), (0x24C2, 0x24C2), (0x25A0, 0x27BF), (0x2934, 0x2935), (0x2B00, 0x2BFF),
    (0x3030, 0x3030), (0x303D, 0x303D), (0x3297, 0x3297), (0x3299, 0x3299), (0x1F000, 0x1FAFF),
)  # fmt: skip

# Scripts whose spelling needs joiners: Arabic to Mandaic, the Indic family, Myanmar, Khmer, Mongolian and others.
JOINING = ranges(
    (0x0600, 0x08FF), (0x0900, 0x0DFF), (0x1000, 0x109F), (0x1780, 0x18AF), (0x1A20, 0x1AAF), (0x1B00, 0x1C4F),
    (0xA800, 0xA8FF), (0xA980, 0xA9FF), (0xAA00, 0xAAFF), (0xABC0, 0xABFF), (0xFB50, 0xFDCF), (0xFDF0, 0xFDFF),
    (0xFE70, 0xFEFC), (0x10A00, 0x10AFF), (0x11000, 0x11FFF), (0x1E900, 0x1E95F),
)  # fmt: skip

_known: dict[str, str] = {"\n": "", "\t": "", "…": ""}  # cache of characters: texts have few distinct ones


def what(character: str) -> str:
    """Return what to do with a character; empty for an ordinary one."""
    found = _known.get(character)
    if found is None:
        found = _known[character] = "" if " " <= character <= "~" else _classify(character)
    return found


def name(character: str) -> str:
    """Return the name of an invisible character for messages; empty for a visible one."""
    code = ord(character)
    if code & 0xFFFE == 0xFFFE:  # the last two of each plane
        return NON_CHARACTER
    return next((name for first, last, name in INVISIBLE if first <= code <= last), "")


def within(character: str, edges: tuple[int, ...]) -> bool:
    """Return whether a character belongs to one of the ranges; the empty string belongs to none."""
    from bisect import bisect_right  # not needed for ASCII

    return character != "" and bisect_right(edges, ord(character)) % 2 == 1


def _classify(character: str) -> str:
    if character in "\x85\u2028\u2029":
        return LINE
    if character in "\u200c\u200d":
        return JOIN
    called = name(character)
    if called:
        return {"variation selector": STYLE, "tag character": TAG}.get(called, DROP)
    from unicodedata import category, combining  # a C library, not needed for ASCII

    return MARK if combining(character) or category(character) == "Me" else ""
