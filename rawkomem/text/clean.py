"""Removes invisible, direction and control characters and terminal escape sequences from text. Emoji
and living scripts are kept.
"""

from __future__ import annotations

from bisect import bisect_right

from ..model.values import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from typing import Any


class _LatePattern:
    def __init__(self, pattern: str):
        self._pattern = pattern

    def __getattr__(self, name: str) -> Any:
        import re  # a search without special characters uses no regex

        found = getattr(re.compile(self._pattern), name)
        self.__dict__[name] = found  # the next use finds it here
        return found


def late_regex(pattern: str) -> re.Pattern[str]:
    """Return a regex that is compiled when it is first used, because most commands need few of them."""
    return _LatePattern(pattern)  # type: ignore[return-value]


# Classify characters as ordinary, as invisible, or as depending on their neighbors, with small
# range tables.

# What to do with a character: remove it, make it a line break, or (the others) check its neighbors.
DROP, LINE, STYLE, JOIN, TAG, MARK = "drop", "line", "style", "join", "tag", "mark"

NON_CHARACTER = "non-character"  # it has no meaning, so it cannot hide a message
# Characters that are invisible by design, with the name for messages. The first matching row counts.
INVISIBLE_RANGES = (
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


def range_edges(*pairs: tuple[int, int]) -> tuple[int, ...]:
    """Return ascending (first, last) ranges as a list of edges, for `within`."""
    return tuple(edge for first, last in pairs for edge in (first, last + 1))


# The blocks with emoji: these characters may have a style selector or be part of a joined emoji.
EMOJI = range_edges(
    (0xA9, 0xA9), (0xAE, 0xAE), (0x203C, 0x203C), (0x2049, 0x2049), (0x2122, 0x2122), (0x2139, 0x2139),
    (0x2190, 0x21FF), (0x2300, 0x23FF), (0x24C2, 0x24C2), (0x25A0, 0x27BF), (0x2934, 0x2935), (0x2B00, 0x2BFF),
    (0x3030, 0x3030), (0x303D, 0x303D), (0x3297, 0x3297), (0x3299, 0x3299), (0x1F000, 0x1FAFF),
)  # fmt: skip

# Scripts whose spelling needs joiners: Arabic to Mandaic, the Indic family, Myanmar, Khmer, Mongolian and others.
JOINING = range_edges(
    (0x0600, 0x08FF), (0x0900, 0x0DFF), (0x1000, 0x109F), (0x1780, 0x18AF), (0x1A20, 0x1AAF), (0x1B00, 0x1C4F),
    (0xA800, 0xA8FF), (0xA980, 0xA9FF), (0xAA00, 0xAAFF), (0xABC0, 0xABFF), (0xFB50, 0xFDCF), (0xFDF0, 0xFDFF),
    (0xFE70, 0xFEFC), (0x10A00, 0x10AFF), (0x11000, 0x11FFF), (0x1E900, 0x1E95F),
)  # fmt: skip

_treatments: dict[str, str] = {
    "\n": "",
    "\t": "",
    "…": "",
}  # cache of characters: texts have few distinct ones


def treatment_of(character: str) -> str:
    """Return what to do with a character; empty for an ordinary one."""
    found = _treatments.get(character)
    if found is None:
        found = _treatments[character] = "" if " " <= character <= "~" else _treatment(character)
    return found


def character_name(character: str) -> str:
    """Return the name of an invisible character for messages; empty for a visible one."""
    code = ord(character)
    if code & 0xFFFE == 0xFFFE:  # the last two of each plane
        return NON_CHARACTER
    return next((name for first, last, name in INVISIBLE_RANGES if first <= code <= last), "")


def is_within(character: str, edges: tuple[int, ...]) -> bool:
    """Return whether a character belongs to one of the ranges; the empty string belongs to none."""
    return character != "" and bisect_right(edges, ord(character)) % 2 == 1


def _treatment(character: str) -> str:
    if character in "\x85\u2028\u2029":
        return LINE
    if character in "\u200c\u200d":
        return JOIN
    called = character_name(character)
    if called:
        return {"variation selector": STYLE, "tag character": TAG}.get(called, DROP)
    from unicodedata import category, combining  # a megabyte of tables that most texts do not need

    return MARK if combining(character) or category(character) == "Me" else ""


# Find terminal escape sequences (ECMA-48) in a text.

ESCAPE_STARTS = "\x1b\x90\x98\x9b\x9d\x9e\x9f"
ESCAPE_SEQUENCE = late_regex(
    # OSC, DCS, SOS, PM, APC: an unterminated string ends with its line, so that later lines are kept
    r"(?:\x1b[\]PX^_]|\x1b?[\x9d\x90\x98\x9e\x9f])[^\x07\x9c\x1b\r\n]*(?:\x1b\\|[\x07\x9c])?"
    r"|(?:\x1b\[|\x1b?\x9b)[0-?]*[ -/]*[@-~]?"  # control sequences
    r"|\x1b[ -/]*[0-~]?"
)


def escape_sequences(text: str) -> list[tuple[int, int]]:
    """Return start and end of each escape sequence, in order."""
    return [match.span() for match in ESCAPE_SEQUENCE.finditer(text)]


def without_escapes(text: str) -> str:
    """Return the text without its escape sequences."""
    return ESCAPE_SEQUENCE.sub("", text)


# Remove invisible, direction and control characters from text. Emoji and living scripts are kept.

MAX_MARKS_PER_BASE = 4  # no living spelling puts more marks on one letter; zalgo text uses dozens
MAX_HIDDEN_ROWS = 10  # that `hidden` reports for one text
MAX_TITLE_LENGTH = 120  # characters: one line of a usual terminal

JOINER, BLACK_FLAG = "\u200d", "\U0001f3f4"
TEXT_STYLE, EMOJI_STYLE, BYTE_ORDER_MARK = "\ufe0e", "\ufe0f", "\ufeff"
KEYCAP_BASES = "0123456789#*"
# Tag characters for 0-9 and a-z that name a country and subdivision (gbsct, usca), and the end tag.
REGION_TAGS = late_regex("[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
VIRAMA = 9  # combining class of the sign that joins letters, even at the end of a word

_ASCII_CONTROLS = {code: None for code in (*range(32), 127) if code not in (9, 10)}
_ASCII_BUT_RETURN = {code: None for code in _ASCII_CONTROLS if code != 13}


def clean(text: str) -> str:
    """Return the text without invisible characters. Cleaning a clean text has no effect."""
    if any(sign in text for sign in ESCAPE_STARTS):
        text = without_escapes(text)
    if "\r" in text:
        text = _newlines(text)
    return text.translate(_ASCII_CONTROLS) if text.isascii() else _clean_wide(text)


def hidden_characters(text: str, harmless: bool = True) -> list[tuple[int, str]]:
    """Return line and name of each kind of character that `clean` removes; with `harmless`, also non-characters."""
    plain = _newlines(text.removeprefix(BYTE_ORDER_MARK))
    if clean(plain) == plain:
        return []
    lines = enumerate(plain.split("\n"), 1)
    return [(number, kind) for number, line in lines for kind in _removed_kinds(line, harmless)][
        :MAX_HIDDEN_ROWS
    ]


def one_line(text: str, limit: int = MAX_TITLE_LENGTH) -> str:
    """Return the text as one clean line of at most `limit` characters, cut with an ellipsis."""
    line = " ".join(clean(text).split())
    if len(line) <= limit:
        return line
    return clean(line[: limit - 1]).rstrip(JOINER + " ") + "…"


def visible_text(text: str) -> tuple[str, list[int] | None]:
    """Return the text without invisible characters, and the old index of each character (None: nothing was removed)."""
    if text.isascii() and len(text.translate(_ASCII_BUT_RETURN)) == len(text):
        return text, None
    unseen = {
        character for character in set(text) if treatment_of(character) in (DROP, STYLE, JOIN, TAG)
    } - {"\r"}
    if not unseen:
        return text, None
    skipped = {at for start, end in escape_sequences(text) for at in range(start, end)}
    kept = [
        at for at, character in enumerate(text) if character not in unseen and at not in skipped
    ]
    return "".join([text[at] for at in kept]), kept


def _newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _clean_wide(text: str) -> str:
    seen = {character: treatment_of(character) for character in set(text)}
    table: dict[int, str | None] = {}
    for character, verdict in seen.items():
        if verdict == DROP or (verdict == TAG and BLACK_FLAG not in seen):
            table[ord(character)] = None
        elif verdict == LINE:
            table[ord(character)] = "\n"
    if table:
        text = text.translate(table)
    return _in_context(text) if {STYLE, JOIN, TAG, MARK} & set(seen.values()) else text


def _in_context(text: str) -> str:
    """Keep or drop selectors, joiners, tags and marks by their neighbors."""
    out: list[str] = []
    marks = at = 0
    while at < len(text):
        verdict = treatment_of(text[at])
        length = 1
        if verdict == TAG:
            region = REGION_TAGS.match(text, at) if text[at - 1 : at] == BLACK_FLAG else None
            length = len(region[0]) if region else 0
        elif verdict == STYLE:
            before = out[-1] if out else " "
            length = text[at] in (TEXT_STYLE, EMOJI_STYLE) and (
                before in KEYCAP_BASES or is_within(before[-1], EMOJI)
            )
        elif verdict == JOIN:
            length = _joint_fits(text[at], out, text[at + 1 : at + 2])
        elif verdict == MARK:
            marks += 1
            length = marks <= MAX_MARKS_PER_BASE
        else:
            marks = 0
        if length:
            out.append(text[at : at + length])
        at += max(1, length)
    return "".join(out)


def _joint_fits(character: str, out: list[str], after: str) -> bool:
    before = out[-1][-1] if out else ""
    if is_within(before, JOINING):
        from unicodedata import combining

        return combining(before) == VIRAMA or is_within(after, JOINING)
    if before == EMOJI_STYLE and len(out) > 1:
        before = out[-2][-1]
    return character == JOINER and is_within(before, EMOJI) and is_within(after, EMOJI)


def _removed_kinds(line: str, harmless: bool) -> list[str]:
    """Return the kinds of characters that `clean` removes from one line, in order of appearance."""
    names = []
    if escape_sequences(line):
        names.append("terminal escape sequence")
        line = without_escapes(line)
    kept = clean(line)
    for character in dict.fromkeys(line):
        if line.count(character) > kept.count(character) and (
            harmless or character_name(character) != NON_CHARACTER
        ):
            stacked = treatment_of(character) == MARK
            names.append(
                "stacked combining marks"
                if stacked
                else f"{character_name(character)} U+{ord(character):04X}"
            )
    return list(dict.fromkeys(names))
