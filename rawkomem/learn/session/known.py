"""Whether a repository knows already what is about to be learned: in the same words, or in nearly the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...state.lifecycle.dedupe import facts_in
from ...text.language import language
from ...text.overlap import specific

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ...model.entry import Entry, Memory

    Near = Callable[[str], Sequence[tuple[Memory, float]]]  # a text → the memories closest in meaning, with cosines

SAME = 0.9  # cosine above which, and …
SHARED = 0.8  # … share of all telling words of both above which, two texts say the same, if their facts agree
JUST_NOW = "this session"  # in the place of an id
LEAST = 3  # words that a body needs before its being part of another means anything


class Known:
    """What is known, whatever its status: what a person rejected or deleted is not learned once more."""

    def __init__(self, memories: Iterable[Memory], near: Near):
        self._texts = [(memory.id, plain(memory.title), plain(memory.body)) for memory in memories]
        self._near = near
        self._new: list[Entry] = []

    def __call__(self, entry: Entry) -> str:
        """The id of the memory that says the same as an entry; empty for news. What is news is known from then on."""
        known = self._said(entry) or self._meant(entry)
        if not known:
            self._new.append(entry)
            self._texts.append((JUST_NOW, plain(entry.title), plain(entry.body)))
        return known

    def _said(self, entry: Entry) -> str:
        """The memory that holds the words of an entry, or has its title."""
        title, words = plain(entry.title), plain(entry.body.partition("\n\n")[0])
        telling = len(words.split()) >= LEAST
        for id, other, body in self._texts:
            if title == other or (telling and f" {words} " in f" {body} "):
                return id
        return ""

    def _meant(self, entry: Entry) -> str:
        """The memory that says the same in other words."""
        for memory, cosine in self._near(f"{entry.title}\n{entry.body}"):
            if cosine >= SAME and alike(entry.body, memory.body):
                return memory.id
        return JUST_NOW if any(alike(entry.body, other.body) for other in self._new) else ""


def alike(one: str, other: str) -> bool:
    """Whether two texts share most of their telling words, and all of their numbers and negations."""
    a, b = set(specific(one)), set(specific(other))
    return bool(a) and len(a & b) >= SHARED * len(a | b) and facts_in(one) == facts_in(other)


def plain(text: str) -> str:
    """The words of a text, in lower case and without marks."""
    return " ".join(language().words(text))
