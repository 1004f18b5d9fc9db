"""Give the memories of one import different titles, by adding their heading, their file or their first sentence."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from ..model.record import replace
from ..text.clean import one_line
from ..text.language import word_set
from ..text.prose import sentences
from .place import place_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from ..model.entry import Entry

TITLE_LENGTH = 120  # characters of a title that is generated
SENTENCE_LENGTH = 80  # characters of a sentence in a title
# Titles that say too little, even if only one memory has them.
VAGUE = word_set(
    """
    about agents background claude context description details gemini general index info intro introduction memory misc
    note notes overview readme skill summary untitled
    """
)


def told_apart(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries with different titles; keep a title that is unique and not vague."""
    times = Counter(entry.title.casefold() for entry in entries)
    fine = [times[name] == 1 and name not in VAGUE for name in (entry.title.casefold() for entry in entries)]
    taken = {entry.title.casefold() for entry, stays in zip(entries, fine, strict=True) if stays}
    found = []
    for entry, stays in zip(entries, fine, strict=True):
        title = entry.title
        if not stays:
            title = other_title(entry, taken)
            taken.add(title.casefold())
        found.append(replace(entry, title=title))
    return found


def other_title(entry: Entry, taken: Container[str]) -> str:
    """Return a more specific title for an entry; `taken` are titles of other entries, case-folded."""
    return next(name for name in _titles(entry) if name.casefold() not in taken)


def _titles(entry: Entry) -> Iterator[str]:
    """Yield titles for an entry, best first, then endless numbered ones."""
    path, _, section = place_of(entry.extra).partition("#")
    folder, name = os.path.split(path)
    stem, title = os.path.splitext(name)[0], entry.title
    above = section.split(" / ")[-2:-1]
    said = one_line(next(iter(sentences(entry.body)), ""), SENTENCE_LENGTH)
    told = one_line(f"{title}: {said}", TITLE_LENGTH) if said else ""
    own_name = title.casefold() == stem.casefold()
    if own_name and told:
        yield told
    if above and above[0].casefold() not in VAGUE:
        yield one_line(f"{above[0]}: {title}", TITLE_LENGTH)
    if folder and not folder.startswith("."):
        yield one_line(f"{folder}: {title}", TITLE_LENGTH)
    if not own_name:
        yield one_line(f"{stem}: {title}", TITLE_LENGTH)
    if told:
        yield told
    number = 2
    while True:
        yield f"{one_line(title, TITLE_LENGTH - 8)} ({number})"
        number += 1
