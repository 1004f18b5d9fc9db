"""Finds names in disguise: words that mix scripts, and keys that imitate a known key."""

from __future__ import annotations

from .unseen import DROP, JOIN, STYLE, TAG, ranges, what, within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LATIN = ranges(
    (0x41, 0x5A), (0x61, 0x7A), (0xC0, 0x24F), (0x250, 0x2AF), (0x1E00, 0x1EFF), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A)
)  # fmt: skip
OTHER_SCRIPTS = (
    ("Cyrillic", ranges((0x400, 0x52F), (0x1C80, 0x1C8F), (0x2DE0, 0x2DFF), (0xA640, 0xA69F))),
    ("Greek", ranges((0x370, 0x3FF), (0x1F00, 0x1FFF))),
)
MAX_LATIN_BESIDE_GREEK = 2  # kΩ, Δt and μSv mix a letter or two in good faith; a disguised word has more

# Letters and digits that pass for a Latin letter: first as capitals, then all in lower case.
LATIN_CAPITALS = str.maketrans("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX")
LATIN_LETTERS = str.maketrans("авсԁеһіјкӏмнорԛѕтуѵԝхьαεηικνορτυχγϲϳı01", "abcdehijklmhopqstyvwxbaenikvoptuxycjiol")


def mixed_script(text: str) -> str:
    """Return which scripts one word mixes, such as "Latin + Cyrillic"; empty for whole words of any script."""
    if text.isascii():
        return ""
    for word in "".join(c if c.isalpha() else " " for c in text).split():
        mix = _mix(word)
        if mix:
            return mix
    return ""


def confusable_with(key: str, known: Iterable[str]) -> str:
    """Return the known key that this one imitates by look-alike letters or by case; empty when it is known itself."""
    names = list(known)
    if key in names:
        return ""
    folded = _fold(key)
    return next((name for name in names if _folded(name) == folded), "")


_folded_names: dict[str, str] = {}  # of the few names that keys are compared with


def _folded(name: str) -> str:
    if name not in _folded_names:
        _folded_names[name] = _fold(name)
    return _folded_names[name]


def _mix(word: str) -> str:
    latin = sum(within(c, LATIN) for c in word)
    others = [name for name, edges in OTHER_SCRIPTS if any(within(c, edges) for c in word)]
    if not latin or not others:
        return ""
    if others == ["Greek"] and latin <= MAX_LATIN_BESIDE_GREEK and not _disguised(word):
        return ""
    return " + ".join(["Latin", *others])


def _disguised(word: str) -> bool:
    """Return whether a short mixed word reads as Latin letters from end to end."""
    return len(word) > 2 and _fold(word).isascii()


def _fold(key: str) -> str:
    from unicodedata import combining, normalize

    seen = "".join(c for c in key if what(c) not in (DROP, JOIN, STYLE, TAG))
    plain = normalize("NFKD", seen).translate(LATIN_CAPITALS).casefold().strip()
    return "".join(c for c in plain if not combining(c)).translate(LATIN_LETTERS)
