"""Split compound names into words: `invoiceTotal`, `HTTPServer`, `parse_json` and `dry-run` are two words each."""

from __future__ import annotations

MAX_NAME_CHARS = 100  # longer runs of letters are not names
MAX_NAMES = 100  # different names of a text that are split: each needs a search in the whole text
MIN_PART_CHARS = 2  # so `iOS` and `eBay` are not split
JOINTS = "_-"


def humps(text: str) -> list[str]:
    """Return the parts of names with inner capitals in a text, in order: `invoiceTotal` → invoice, Total."""
    return [part for name in _names(text, "") for part in _at_capitals(name)]


def spelled_out(text: str) -> list[str]:
    """Return the compound names in a text, each split into words with spaces."""
    return [" ".join(words) for name in _names(text, JOINTS) if (words := _words(name))]


def spell_out(text: str) -> str:
    """Return a text with its compound names split into words."""
    for name in [*dict.fromkeys(_names(text, JOINTS))][:MAX_NAMES]:
        if words := _words(name):
            text = text.replace(name, " ".join(words))
    return text


def _words(name: str) -> list[str]:
    joined = [part for part in name.replace("-", "_").split("_") if part]
    words = [word for part in joined for word in _at_capitals(part) or [part]]
    return words if len(words) > 1 and all(len(word) >= MIN_PART_CHARS for word in words) else []


def _names(text: str, joints: str) -> list[str]:
    """Return the words of a text that may be compound: with a capital inside, or with one of these joints."""
    found: list[str] = []
    for run in text.split():
        if run[1:].islower() and not any(joint in run for joint in joints):
            continue
        plain = "".join([sign if sign.isalnum() or sign in joints else " " for sign in run])
        found += [name for word in plain.split() if 1 < len(name := word.strip(joints)) <= MAX_NAME_CHARS]
    return found


def _at_capitals(name: str) -> list[str]:
    """Return the parts of a name, split at capital letters; none if it has fewer than two parts."""
    if name.isupper() or name.islower() or not name.isascii():
        return []
    starts = [0]
    for at in range(1, len(name)):
        rises = name[at].isupper() and not name[at - 1].isupper()  # invoice|Total
        ends = name[at].isupper() and name[at + 1 : at + 2].islower()  # HTTP|Server
        if (rises or ends) and at - starts[-1] > 0:
            starts.append(at)
    parts = [name[start:end] for start, end in zip(starts, [*starts[1:], len(name)], strict=True)]
    return parts if len(parts) > 1 and all(len(part) >= MIN_PART_CHARS for part in parts) else []
