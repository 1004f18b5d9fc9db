"""Remove invisible, direction and control characters from text. Emoji and living scripts are kept."""

from __future__ import annotations

from .escapes import sequences, without_sequences
from .unseen import DROP, EMOJI, JOIN, JOINING, LINE, MARK, NON_CHARACTER, STYLE, TAG, name, ranges, what, within

MAX_MARKS_PER_BASE = 4  # no living spelling puts more marks on one letter; zalgo text uses dozens
MAX_HIDDEN_ROWS = 10  # that `hidden` reports for one text
MAX_TITLE_LENGTH = 120  # characters: one line of a usual terminal

JOINER, BLACK_FLAG, END_TAG = "\u200d", "\U0001f3f4", "\U000e007f"
TEXT_STYLE, EMOJI_STYLE, BYTE_ORDER_MARK = "\ufe0e", "\ufe0f", "\ufeff"
KEYCAP_BASES = "0123456789#*"
REGION_TAGS = ranges((0xE0030, 0xE0039), (0xE0061, 0xE007A))  # tag characters for 0-9 and a-z
FLAG_TAGS = range(3, 7)  # length of a country and subdivision: gbsct, usca
VIRAMA = 9  # combining class of the sign that joins letters, even at the end of a word

_ASCII = {code: None for code in (*range(32), 127) if code not in (9, 10)}
_ASCII_BUT_RETURN = {code: None for code in _ASCII if code != 13}


def clean(text: str) -> str:
    """Return the text without invisible characters. Cleaning a clean text has no effect."""
    if "\x1b" in text or not text.isascii():
        text = without_sequences(text)
    if "\r" in text:
        text = _newlines(text)
    return text.translate(_ASCII) if text.isascii() else _clean_wide(text)


def hidden(text: str, harmless: bool = True) -> list[tuple[int, str]]:
    """Return line and name of each kind of character that `clean` removes; with `harmless`, also non-characters."""
    plain = _newlines(text.removeprefix(BYTE_ORDER_MARK))
    if clean(plain) == plain:
        return []
    lines = enumerate(plain.split("\n"), 1)
    return [(number, kind) for number, line in lines for kind in _taken_out(line, harmless)][:MAX_HIDDEN_ROWS]


def one_line(text: str, limit: int = MAX_TITLE_LENGTH) -> str:
    """Return the text as one clean line of at most `limit` characters, cut with an ellipsis."""
    line = " ".join(clean(text).split())
    if len(line) <= limit:
        return line
    return clean(line[: limit - 1]).rstrip(JOINER + " ") + "…"


def visible(text: str) -> tuple[str, list[int] | None]:
    """Return the text without invisible characters, and the old index of each character (None: nothing was removed)."""
    if text.isascii() and len(text.translate(_ASCII_BUT_RETURN)) == len(text):
        return text, None
    unseen = {character for character in set(text) if what(character) in (DROP, STYLE, JOIN, TAG)} - {"\r"}
    if not unseen:
        return text, None
    skipped = {at for start, end in sequences(text) for at in range(start, end)}
    kept = [at for at, character in enumerate(text) if character not in unseen and at not in skipped]
    return "".join([text[at] for at in kept]), kept


def _newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _clean_wide(text: str) -> str:
    seen = {character: what(character) for character in set(text)}
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
        verdict = what(text[at])
        length = 1
        if verdict == TAG:
            length = _flag_length(text, at)
        elif verdict == STYLE:
            length = _style_fits(text[at], out)
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


def _style_fits(character: str, out: list[str]) -> bool:
    before = out[-1] if out else " "
    return character in (TEXT_STYLE, EMOJI_STYLE) and (before in KEYCAP_BASES or within(before[-1], EMOJI))


def _joint_fits(character: str, out: list[str], after: str) -> bool:
    before = out[-1][-1] if out else ""
    if within(before, JOINING):
        from unicodedata import combining

        return combining(before) == VIRAMA or within(after, JOINING)
    if before == EMOJI_STYLE and len(out) > 1:
        before = out[-2][-1]
    return character == JOINER and within(before, EMOJI) and within(after, EMOJI)


def _flag_length(text: str, at: int) -> int:
    """Return the number of tag characters after a black flag that spell a region; 0 if they spell none."""
    if text[at - 1 : at] != BLACK_FLAG:
        return 0
    end = at
    while end - at < FLAG_TAGS.stop and within(text[end : end + 1], REGION_TAGS):
        end += 1
    return end - at + 1 if end - at in FLAG_TAGS and text[end : end + 1] == END_TAG else 0


def _taken_out(line: str, harmless: bool) -> list[str]:
    """Return the kinds of characters that `clean` removes from one line, in order of appearance."""
    names = []
    if sequences(line):
        names.append("terminal escape sequence")
        line = without_sequences(line)
    kept = clean(line)
    for character in dict.fromkeys(line):
        if line.count(character) > kept.count(character) and (harmless or name(character) != NON_CHARACTER):
            stacked = what(character) == MARK
            names.append("stacked combining marks" if stacked else f"{name(character)} U+{ord(character):04X}")
    return list(dict.fromkeys(names))
