"""Fold the characters of any script, so that words can be compared, and split text of scripts without spaces.

Two translation tables do this. They fill themselves, so that only new characters take time.
"""

from __future__ import annotations

from itertools import pairwise
from unicodedata import category, normalize

from ..unseen import EMOJI, ranges, within

SPREADING = "signs-1"  # version of the rules for terms: change it, and the index's schema version, with the rules
# Scripts without spaces, and Korean, whose endings no tokenizer removes.
UNSPACED = ranges(
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3041, 0x318F),
    (0x31A0, 0x31BF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA960, 0xA97F), (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF), (0xFF66, 0xFFDC), (0x20000, 0x3FFFF),
)  # fmt: skip
# Scripts in which marks are accents or optional vowels: Greek, Cyrillic, Hebrew, Arabic. In others they are letters.
ACCENTED = ranges((0x0370, 0x06FF), (0x0750, 0x077F), (0x1F00, 0x1FFF))
LATIN = ranges((0, 0x036F), (0x1D00, 0x1EFF), (0x2C60, 0x2C7F), (0xA720, 0xA7FF), (0xFB00, 0xFB06), (0xFF21, 0xFF5A))
SKIN_TONES = ranges((0x1F3FB, 0x1F3FF))
WIDE_FORMS, WIDE_SHIFT = ranges((0xFF01, 0xFF5E)), 0xFEE0  # full-width forms of ASCII
UNWRITTEN = ranges((0x0300, 0x036F), (0xFE00, 0xFE0F))  # removed: accents on Latin letters, styles of emoji
TATWEEL = "\u0640"  # stretches an Arabic word
SAME_LETTER = {"ى": "ي", "ة": "ه", "ی": "ي", "ک": "ك", "ς": "σ"}  # variants of one letter


def is_unspaced(character: str) -> bool:
    """Return whether a character belongs to a script without spaces."""
    return within(character, UNSPACED)


def is_emoji(character: str) -> bool:
    """Return whether a character is an emoji."""
    return category(character) == "So" and within(character, EMOJI) and not within(character, SKIN_TONES)


def is_mark(character: str) -> bool:
    """Return whether a character is a combining mark."""
    return category(character)[0] == "M"


def is_foreign(character: str) -> bool:
    """Return whether a character is a letter of a script other than Latin."""
    return character.isalpha() and not within(character, LATIN)


def folded(character: str) -> str:
    """Return a lower-case character in the form that is compared: without accents, if its script ignores them."""
    if within(character, UNWRITTEN):
        return ""
    if within(character, WIDE_FORMS):
        return chr(ord(character) - WIDE_SHIFT).lower()
    if not within(character, ACCENTED):
        return character
    bare = "".join(part for part in normalize("NFD", character) if category(part) != "Mn" and part != TATWEEL)
    return SAME_LETTER.get(bare, bare)


class _Words(dict[int, str]):
    """A table that keeps letters, digits, marks and `signs`, makes emoji words, and makes all else spaces."""

    def __init__(self, signs: str):
        self.signs = signs

    def __missing__(self, code: int) -> str:
        character = chr(code)
        same = folded(character)
        if is_emoji(character):
            self[code] = f" {character} "
        elif not same or same.isalnum() or is_mark(same[0]) or same in self.signs:
            self[code] = same
        else:
            self[code] = " "
        return self[code]


class _Spread(dict[int, str]):
    """A table like `_Words`, but each sign of a script without spaces becomes a word, and ASCII is unchanged."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        word = _words_of("")[code]
        self[code] = character if code < 128 else f" {word} " if is_unspaced(character) else word
        return self[code]


_tables: dict[str, _Words] = {}
_spread = _Spread()


def _words_of(signs: str) -> _Words:
    return _tables.setdefault(signs, _Words(signs))


def spread(text: str) -> str:
    """Return a text for the index's tokenizer, in which each sign of a script without spaces is a token."""
    return normalize("NFC", text).translate(_spread)


def terms_of(text: str, signs: str = "") -> list[str]:
    """Return the lower-case words of a text, in order; for scripts without spaces, each two neighboring signs."""
    found: list[str] = []
    for word in normalize("NFC", text.lower()).translate(_words_of(signs)).split():
        found += pairs(word) if any(map(is_unspaced, word)) else [word]
    return found


def pairs(word: str) -> list[str]:
    """Return each two neighboring signs of a word in a script without spaces. Other letters and digits are words."""
    found: list[str] = []
    run: list[str] = []
    for sign in [*clusters(word), ""]:
        if sign and is_unspaced(sign[0]) == (bool(run) and is_unspaced(run[0][0])):
            run.append(sign)
            continue
        if run:
            found += _of_run(run)
        run = [sign]
    return found


def _of_run(run: list[str]) -> list[str]:
    if not is_unspaced(run[0][0]) or len(run) == 1:
        return ["".join(run)]
    return [one + other for one, other in pairwise(run)]


def clusters(word: str) -> list[str]:
    """Return the signs of a word, each with the marks that follow it."""
    found: list[str] = []
    for character in word:
        if found and is_mark(character):
            found[-1] += character
        else:
            found.append(character)
    return found


def is_mostly_foreign(words: list[str]) -> bool:
    """Return whether most words are in a script other than Latin. Words without letters or digits do not count."""
    named = [word for word in words if any(map(str.isalnum, word))]
    return 2 * sum(any(map(is_foreign, word)) for word in named) > len(named)
