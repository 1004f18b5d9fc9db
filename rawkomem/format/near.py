"""Finds the known key that a misspelled key was meant to be; only `check` asks."""

from __future__ import annotations

from ..model.aliases import ALIASES, KEPT, NAMES

KNOWN_KEYS = (
    "title", "whenToUse", "tags", "importance", "discoveredAt", "discoveredBy", "discoveredIn", "source",
    "relatedMemories", "category", "provenance", "claim", "importedFrom", *NAMES, *ALIASES,
)  # fmt: skip
MIN_KEY_CHARS = 5  # shorter words are one letter away from too many others
MIN_TWO_EDITS_CHARS = 10  # of a key that may be two letters away
SIGNS = str.maketrans("", "", "_- ")


def near_key(key: str) -> str:
    """Return the known key that a key misspells; empty for a known key and for a word of its own."""
    if key in KNOWN_KEYS or key in KEPT or not key.isascii():
        return ""
    plain = _plain(key)
    ordered = sorted(KNOWN_KEYS, key=lambda name: ("_" in name) != ("_" in key))  # in the spelling that was typed
    same = (name for name in ordered if _plain(name) == plain)
    return next(same, "") or next((name for name in ordered if _is_slip(plain, _plain(name))), "")


def _plain(key: str) -> str:
    return key.translate(SIGNS).lower()


def _is_slip(typed: str, known: str) -> bool:
    """Return whether a word is a slip of the fingers away from a known one, and no plural of it."""
    if min(len(typed), len(known)) < MIN_KEY_CHARS or typed[0] != known[0] or typed in (f"{known}s", known[:-1]):
        return False
    if len(typed) == len(known) and sorted(typed) == sorted(known):
        return _swapped(typed, known)
    two = len(known) >= MIN_TWO_EDITS_CHARS and len(typed) != len(known)
    return _distance(typed, known) <= (2 if two else 1)


def _swapped(typed: str, known: str) -> bool:
    """Return whether two letters beside each other changed places."""
    differing = [place for place, (a, b) in enumerate(zip(typed, known, strict=True)) if a != b]
    return len(differing) == 2 and differing[1] == differing[0] + 1


def _distance(one: str, other: str) -> int:
    """Return how many letters must be added, removed or replaced."""
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        above, row[0] = row[0], number
        for place, wanted in enumerate(other, 1):
            above, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, above + (letter != wanted))
    return row[-1]
