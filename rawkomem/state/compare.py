"""Describe the difference between two versions of a memory or an entry."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from ..format.compose import KEY_OF
from ..text.count import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..model.entry import Entry, Memory

CONTEXT_WORDS = 3  # shown before and after a change
MAX_COMPARED_WORDS = 5_000  # of both texts; longer ones are only counted
MAX_SHOWN_CHARS = 400  # characters of a difference
ENTRY_KEYS = {**KEY_OF, "kind": "kind", "about": "about", "at": "at", "by": "by"}  # field of an Entry → key


def changed_keys(old: Entry | Memory, new: Entry | Memory) -> tuple[tuple[str, object, object], ...]:
    """Return (key, old value, new value) of the frontmatter keys that differ."""
    fields = [(key, getattr(old, field, ""), getattr(new, field, "")) for field, key in ENTRY_KEYS.items()]
    names = dict.fromkeys((*old.extra, *new.extra))
    fields += [(name, old.extra.get(name, ""), new.extra.get(name, "")) for name in names]
    return tuple((key, before, after) for key, before, after in fields if before != after)


def counted_words(old: str, new: str) -> tuple[int, int]:
    """Return the number of removed and of added words."""
    before, after = old.split(), new.split()
    if len(before) + len(after) > MAX_COMPARED_WORDS:
        return len(before), len(after)
    steps = [step for step in _steps(before, after) if step[0] != "equal"]
    return sum(end - start for _, start, end, *_ in steps), sum(end - start for *_, start, end in steps)


def word_difference(old: str, new: str) -> str:
    """Return the changed words with a few words around them: `Push to [-main-] {+staging+} first`."""
    before, after = old.split(), new.split()
    if len(before) + len(after) > MAX_COMPARED_WORDS:
        return f"{count(len(before), 'word')} became {count(len(after), 'word')}"
    text = " ".join(_shown(before, after))
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]} …"


def edit_in_words(old: Entry, new: Entry) -> str:
    """Return a summary of an edit: the changed keys, and the number of removed and added words."""
    keys = [key for key, *_ in changed_keys(old, new)]
    gone, come = counted_words(old.body, new.body)
    counts = [f"{count(number, 'word')} {what}" for number, what in ((gone, "removed"), (come, "added")) if number]
    said = [*([f"changed {', '.join(keys)}"] if keys else []), *([f"text: {', '.join(counts)}"] if counts else [])]
    return "; ".join(said) or "changed the layout of its text"


def _steps(before: list[str], after: list[str]) -> Sequence[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, before, after, autojunk=False).get_opcodes()


def _shown(before: list[str], after: list[str]) -> Iterator[str]:
    steps = _steps(before, after)
    for place, (what, start, end, first, last) in enumerate(steps):
        if what == "equal":
            yield from _around(before[start:end], first=place == 0, last=place == len(steps) - 1)
            continue
        if end > start:
            yield f"[-{' '.join(before[start:end])}-]"
        if last > first:
            yield f"{{+{' '.join(after[first:last])}+}}"


def _around(words: list[str], first: bool, last: bool) -> list[str]:
    """Return the words next to a change, with an ellipsis for the others."""
    if first and last:
        return []
    head, tail = words[: 0 if first else CONTEXT_WORDS], words[len(words) if last else -CONTEXT_WORDS :]
    return words if len(head) + len(tail) >= len(words) else [*head, "…", *tail]
