"""Find out whether two texts in scripts other than Latin share a phrase. It replaces vectors, which are missing there.

A phrase is about two words long: four Chinese characters, eight Thai signs, or two words of together eight letters.
"""

from __future__ import annotations

from unicodedata import normalize

from ...model.record import record
from .function_words import FUNCTION_SIGNS, FUNCTION_WORDS, KOREAN_ENDINGS, KOREAN_WORDS
from .signs import clusters, folded, is_foreign, is_mark, is_unspaced

MIN_WEIGHT = 24  # of a phrase
CHINESE, KOREAN, HIRAGANA, OTHER_SIGN, LETTER = 6, 6, 1, 3, 3  # weight of one sign or letter
MAX_COMPARED_CHARS = 2_000  # of either text
MIN_INFLECTED_CHARS, ENDING_CHARS = 6, 2  # words of at least 6 letters are compared without their last 2


@record
class _Unit:
    """A sign of a script without spaces, or a word of a script with spaces."""

    text: str
    weight: int  # 0: a Latin word, which may be inside a phrase
    is_word: bool


def share_phrase(one: str, other: str) -> bool:
    """Return whether two texts share a phrase in a script other than Latin."""
    return not phrases(one).isdisjoint(phrases(other))


def phrases(text: str) -> frozenset[tuple[str, ...]]:
    """Return for each word or sign of a text the shortest phrase that starts there."""
    if text.isascii() or not any(map(is_foreign, set(text))):
        return frozenset()
    found = set()
    for run in _runs(text[:MAX_COMPARED_CHARS]):
        found |= {phrase for at, unit in enumerate(run) if unit.weight and (phrase := _phrase_from(run, at))}
    return frozenset(found)


def _phrase_from(run: list[_Unit], start: int) -> tuple[str, ...]:
    weight = words = signs = 0
    for end in range(start, len(run)):
        unit = run[end]
        weight += unit.weight
        words += unit.is_word and unit.weight > 0
        signs += not unit.is_word
        if weight >= MIN_WEIGHT and (signs or words > 1):
            return tuple(one.text for one in run[start : end + 1])
    return ()


def _runs(text: str) -> list[list[_Unit]]:
    """Return the runs of units between punctuation and function words of scripts without spaces."""
    text = normalize("NFC", text.lower())
    for sign in FUNCTION_SIGNS:
        text = text.replace(sign, "\n")
    plain = "".join([sign if sign == " " or sign.isalnum() or is_mark(sign) else "\n" for sign in text])
    return [[unit for word in line.split() for unit in _units(word)] for line in plain.split("\n")]


def _units(word: str) -> list[_Unit]:
    if any(is_unspaced(sign) and not _is_korean(sign) for sign in word):
        return [_Unit(sign, _weight(sign), is_word=False) for sign in clusters(word)]
    if any(map(_is_korean, word)):
        bare = next((word.removesuffix(end) for end in KOREAN_ENDINGS if word.endswith(end) and word != end), word)
        return [] if word in KOREAN_WORDS else [_Unit(bare, KOREAN * len(bare), is_word=True)]
    word = "".join(map(folded, word))
    if word in FUNCTION_WORDS:
        return []
    if not any(map(is_foreign, word)):
        return [_Unit(word, 0, is_word=True)]
    return [_Unit(word[:-ENDING_CHARS] if len(word) >= MIN_INFLECTED_CHARS else word, LETTER * len(word), is_word=True)]


def _weight(sign: str) -> int:
    code = ord(sign[0])
    if 0x3040 <= code <= 0x309F:
        return HIRAGANA
    return CHINESE if code >= 0x3400 else OTHER_SIGN if is_foreign(sign[0]) else 0


def _is_korean(sign: str) -> bool:
    return "\uac00" <= sign <= "\ud7a3" or "\u1100" <= sign <= "\u11ff"
