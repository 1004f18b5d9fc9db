"""Find the known key that a misspelled key probably means; only `rawkomem check` uses it."""

from __future__ import annotations

from ..model.aliases import ALIASES, KEPT, NAMES

KNOWN_KEYS = (
    "title", "whenToUse", "tags", "importance", "discoveredAt", "discoveredBy", "discoveredIn", "source",
    "relatedMemories", "category", "provenance", "claim", "importedFrom", *NAMES, *ALIASES,
)  # fmt: skip
MIN_KEY_CHARS = 5  # shorter words differ by one letter from too many others
MIN_TWO_EDITS_CHARS = 10  # of a key that may differ by two letters
WITHOUT_SIGNS = str.maketrans("", "", "_- ")


def near_key(key: str) -> str:
    """Return the known key that a key misspells; empty if the key is known or unlike any known key."""
    if key in KNOWN_KEYS or key in KEPT or not key.isascii():
        return ""
    plain = _plain(key)
    ordered = sorted(KNOWN_KEYS, key=lambda name: ("_" in name) != ("_" in key))  # keys spelled like this one first
    same = (name for name in ordered if _plain(name) == plain)
    return next(same, "") or next((name for name in ordered if _is_slip(plain, _plain(name))), "")


def _plain(key: str) -> str:
    return key.translate(WITHOUT_SIGNS).lower()


def _is_slip(typed: str, known: str) -> bool:
    """Tell whether a word is a typing error of a known word, and not its plural or singular."""
    if min(len(typed), len(known)) < MIN_KEY_CHARS or typed[0] != known[0] or typed in (f"{known}s", known[:-1]):
        return False
    if len(typed) == len(known) and sorted(typed) == sorted(known):
        return _swapped(typed, known)
    two = len(known) >= MIN_TWO_EDITS_CHARS and len(typed) != len(known)
    return _distance(typed, known) <= (2 if two else 1)


def _swapped(typed: str, known: str) -> bool:
    """Tell whether the words differ only by two swapped neighboring letters."""
    differing = [place for place, (a, b) in enumerate(zip(typed, known, strict=True)) if a != b]
    return len(differing) == 2 and differing[1] == differing[0] + 1


def _distance(one: str, other: str) -> int:
    """Return the edit distance: how many letters must be added, removed or replaced."""
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        above, row[0] = row[0], number
        for place, wanted in enumerate(other, 1):
            above, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, above + (letter != wanted))
    return row[-1]
