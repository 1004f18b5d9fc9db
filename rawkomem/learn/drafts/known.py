"""Find out whether a repository already has the memory that is about to be learned, in the same or similar words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...text.language import language
from ...text.same import NEAR_DUPLICATE, said_in, says_same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ...model.entry import Entry, Memory

    Near = Callable[[str], Sequence[tuple[Memory, float]]]  # a text → the memories closest in meaning, with cosines

JUST_NOW = "this session"  # used as the id of an entry that was learned in the same session
MIN_WORDS = 3  # of a body: a shorter text occurs in other bodies by chance


class Known:
    """All known texts, also those of rejected or deleted memories, so that these are not learned again."""

    def __init__(self, memories: Iterable[Memory], near: Near):
        self._texts = [(memory.id, plain(memory.title), plain(memory.body)) for memory in memories]
        self._near = near
        self._new: list[Entry] = []

    def __call__(self, entry: Entry) -> str:
        """Return the id of the memory that says the same as an entry. If there is none, remember it and return ""."""
        known = self._said(entry) or self._meant(entry)
        if not known:
            self._new.append(entry)
            self._texts.append((JUST_NOW, plain(entry.title), plain(entry.body)))
        return known

    def _said(self, entry: Entry) -> str:
        """Return the id of the memory that contains the words of an entry or has its title; empty if none does."""
        title, words = plain(entry.title), plain(entry.body.partition("\n\n")[0])
        telling = len(words.split()) >= MIN_WORDS
        for id, other, body in self._texts:
            if title == other or (telling and f" {words} " in f" {body} "):
                return id
        return ""

    def _meant(self, entry: Entry) -> str:
        """Return the id of the memory that says the same in other words; empty if none does."""
        said = said_in(entry.body)
        for memory, cosine in self._near(f"{entry.title}\n{entry.body}"):
            if says_same(said, said_in(memory.body), NEAR_DUPLICATE, cosine):
                return memory.id
        return JUST_NOW if any(says_same(said, said_in(other.body), NEAR_DUPLICATE) for other in self._new) else ""


def plain(text: str) -> str:
    """Return the words of a text, in lower case and without punctuation."""
    return " ".join(language().words(text))
