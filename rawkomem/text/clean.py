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

        method = getattr(re.compile(self._pattern), name)
        self.__dict__[name] = method  # the next use finds it here
        return method


def late_regex(pattern: str) -> re.Pattern[str]:
    """Return a regex that is compiled when it is first used, because most commands need few of them."""
    return _LatePattern(pattern)  # type: ignore[return-value]


# Classify characters as ordinary, as invisible, or as depending on their neighbors, with small
# range tables.

# What to do with a character: remove it, make it a line break, or (the others) check its neighbors.
DROP = "drop"
LINE = "line"
STYLE = "style"
JOIN = "join"
TAG = "tag"
MARK = "mark"
UNSEEN = (DROP, STYLE, JOIN, TAG)

NON_CHARACTER = "non-character"  # it has no meaning, so it cannot hide a message


def range_edges(ranges: str) -> tuple[int, ...]:
    """Return ascending ranges of hexadecimal codes, such as `A9 2190-21FF`, as a list of edges for `is_within`."""
    edges: list[int] = []
    for first, _, last in (codes.partition("-") for codes in ranges.split()):
        edges += int(first, 16), int(last or first, 16) + 1
    return tuple(edges)


# Characters that are invisible by design, by their name for messages.
INVISIBLE = {
    "control character": "0-8 B-1F 7F-9F",
    "soft hyphen": "AD",
    "invisible joiner": "34F",
    "text direction mark": "61C 200E-200F",
    "blank Hangul filler": "115F-1160 3164 FFA0",
    "invisible vowel": "17B4-17B5",
    "invisible separator": "180B-180F",
    "zero-width space": "200B FEFF",
    "zero-width joiner": "200C-200D 2060-2065",
    "line separator": "2028-2029",
    "text direction override": "202A-202E",
    "text direction isolate": "2066-2069",
    "invisible format character": "206A-206F FFF0-FFF8 1BCA0-1BCA3 1D159 1D173-1D17A E0080-E00FF E01F0-E0FFF",
    "lone surrogate": "D800-DFFF",
    NON_CHARACTER: "FDD0-FDEF",
    "variation selector": "FE00-FE0F E0100-E01EF",
    "interlinear annotation": "FFF9-FFFB",
    "tag character": "E0000-E007F",
}
INVISIBLE_EDGES = {name: range_edges(ranges) for name, ranges in INVISIBLE.items()}

# The blocks with emoji: these characters may have a style selector or be part of a joined emoji.
EMOJI = range_edges(
    "A9 AE 203C 2049 2122 2139 2190-21FF 2300-23FF 24C2 25A0-27BF 2934-2935 2B00-2BFF 3030 303D 3297 3299 1F000-1FAFF"
)

# Scripts whose spelling needs joiners: Arabic to Mandaic, the Indic family, Myanmar, Khmer, Mongolian and others.
JOINING = range_edges(
    "600-8FF 900-DFF 1000-109F 1780-18AF 1A20-1AAF 1B00-1C4F A800-A8FF A980-A9FF AA00-AAFF ABC0-ABFF FB50-FDCF"
    " FDF0-FDFF FE70-FEFC 10A00-10AFF 11000-11FFF 1E900-1E95F"
)

# cache of characters: texts have few distinct ones
_treatments: dict[str, str] = {
    "\n": "",
    "\t": "",
    "…": "",
}


def treatment_of(character: str) -> str:
    """Return what to do with a character; empty for an ordinary one."""
    treatment = _treatments.get(character)
    if treatment is None:
        treatment = _treatments[character] = (
            "" if " " <= character <= "~" else _treatment(character)
        )
    return treatment


def character_name(character: str) -> str:
    """Return the name of an invisible character for messages; empty for a visible one."""
    if ord(character) & 0xFFFE == 0xFFFE:  # the last two of each plane
        return NON_CHARACTER
    return next(
        (
            name
            for name, edges in INVISIBLE_EDGES.items()
            if is_within(character, edges)
        ),
        "",
    )


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
        if called == "variation selector":
            return STYLE
        if called == "tag character":
            return TAG
        return DROP
    # a megabyte of tables that most texts do not need
    from unicodedata import category, combining

    return MARK if combining(character) or category(character) == "Me" else ""


ESCAPE_STARTS = "\x1b\x90\x98\x9b\x9d\x9e\x9f"
ESCAPE_SEQUENCE = late_regex(
    # OSC, DCS, SOS, PM, APC: an unterminated string ends with its line, so that later lines are kept
    r"(?:\x1b[\]PX^_]|\x1b?[\x9d\x90\x98\x9e\x9f])[^\x07\x9c\x1b\r\n]*(?:\x1b\\|[\x07\x9c])?"
    r"|(?:\x1b\[|\x1b?\x9b)[0-?]*[ -/]*[@-~]?"  # control sequences
    r"|\x1b[ -/]*[0-~]?"
)


def without_escapes(text: str) -> str:
    """Return the text without its escape sequences."""
    return ESCAPE_SEQUENCE.sub("", text)


# no living spelling puts more marks on one letter; zalgo text uses dozens
MAX_MARKS_PER_BASE = 4
MAX_HIDDEN_ROWS = 10  # that `hidden` reports for one text
MAX_TITLE_LENGTH = 120  # characters: one line of a usual terminal

JOINER = "\u200d"
BLACK_FLAG = "\U0001f3f4"
TEXT_STYLE = "\ufe0e"
EMOJI_STYLE = "\ufe0f"
BYTE_ORDER_MARK = "\ufeff"
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
        text = with_newlines(text)
    return text.translate(_ASCII_CONTROLS) if text.isascii() else _clean_wide(text)


def hidden_characters(text: str) -> list[tuple[int, str]]:
    """Return line and name of each kind of character that `clean` removes, except non-characters."""
    plain = with_newlines(text.removeprefix(BYTE_ORDER_MARK))
    rows: list[tuple[int, str]] = []
    for number, line in enumerate(
        plain.split("\n") if clean(plain) != plain else (), 1
    ):
        if len(rows) >= MAX_HIDDEN_ROWS:
            break
        bare = without_escapes(line)
        if bare != line:
            rows.append((number, "terminal escape sequence"))
        kept = clean(bare)
        for character in dict.fromkeys(bare):
            if bare.count(character) > kept.count(character):
                is_mark = treatment_of(character) == MARK
                name = "stacked combining" if is_mark else character_name(character)
                code = "marks" if is_mark else f"U+{ord(character):04X}"
                if name != NON_CHARACTER and (number, f"{name} {code}") not in rows:
                    rows.append((number, f"{name} {code}"))
    return rows[:MAX_HIDDEN_ROWS]


def spaced(text: str) -> str:
    """Return the text as one clean line of any length, with single spaces."""
    return " ".join(clean(text).split())


def one_line(text: str, limit: int = MAX_TITLE_LENGTH) -> str:
    """Return the text as one clean line of at most `limit` characters, cut with an ellipsis."""
    line = spaced(text)
    if len(line) <= limit:
        return line
    return clean(line[: limit - 1]).rstrip(JOINER + " ") + "…"


def visible_text(text: str) -> tuple[str, list[int] | None]:
    """Return the text without invisible characters, and the old index of each character (None: nothing was removed)."""
    if text.isascii() and len(text.translate(_ASCII_BUT_RETURN)) == len(text):
        return text, None
    unseen = {
        sign for sign in set(text) if treatment_of(sign) in UNSEEN and sign != "\r"
    }
    if not unseen:
        return text, None
    skipped = {
        at for escape in ESCAPE_SEQUENCE.finditer(text) for at in range(*escape.span())
    }
    kept = [
        at for at, sign in enumerate(text) if sign not in unseen and at not in skipped
    ]
    return "".join([text[at] for at in kept]), kept


def with_newlines(text: str) -> str:
    """Return a text whose lines all end in a newline character."""
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
            if text[at - 1 : at] == BLACK_FLAG:
                region = REGION_TAGS.match(text, at)
            else:
                region = None
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
