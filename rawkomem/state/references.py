"""Which memory a name in a file means: an id, a file's path or stem, or a title that slugs to a stem."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from ..format.mentions import mentions
from ..model.ids import slug
from ..model.names import file_stem
from .derive import DERIVED, sources_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..model.entry import Memory

RELATED, MENTIONS, SUPERSEDES, HERITAGE = "related", "mentions", "supersedes", "heritage"
MEMBER = "member"  # from an episode to a memory
CORROBORATED = "corroboratedBy"  # to a memory that confirms it
SIMILAR = "similar"  # found by vectors, in no file


class Names:
    """All names of some memories. A file's name means the memory it starts with."""

    def __init__(self, memories: Iterable[Memory]):
        self.ids: set[str] = set()
        self.files: dict[str, list[str]] = {}
        self.titles: dict[str, list[str]] = {}
        seen: set[str] = set()
        for memory in sorted(memories, key=lambda memory: (memory.path, memory.line, memory.id)):
            self.ids.add(memory.id)
            self.titles.setdefault(_title(memory.title), []).append(memory.id)
            if memory.path in seen:
                continue
            seen.add(memory.path)
            below = unicodedata.normalize("NFC", memory.path.partition("/")[2].removesuffix(".md")).casefold()
            for name in {below, below.rpartition("/")[2]}:
                self.files.setdefault(name, []).append(memory.id)

    def find(self, name: str) -> list[str]:
        """Return the ids that a name may mean: one if all is well, none if it is broken, several if it is ambiguous."""
        name = unicodedata.normalize("NFC", name.strip()).removesuffix(".md")
        for candidate in dict.fromkeys((name, name.partition("#")[0].strip())):  # `name#heading`; an id may hold a #
            if candidate in self.ids:
                return [candidate]
            if candidate and (found := self._of_file(candidate)):
                return found
        return []

    def _of_file(self, name: str) -> list[str]:
        """Return the memory of a file's name, else of a title that no other memory has, else of a title's file."""
        of_title = self.titles.get(_title(name), [])
        stems = (file_stem(name), slug(name))  # files keep the names that they got before
        named = self.files.get(name.casefold()) or (of_title if len(of_title) == 1 else [])
        return named or next((self.files[stem] for stem in stems if stem in self.files), [])


def _title(text: str) -> str:
    return " ".join(text.split()).casefold()


def references(memory: Memory) -> Iterator[tuple[str, str]]:
    """Yield (type, name) of everything a memory refers to, in the order links, frontmatter, text, history."""
    yield from memory.links
    yield from ((RELATED, name) for name in memory.related)
    yield from ((MENTIONS, name) for name in mentions(memory.body))
    yield from ((SUPERSEDES, name) for name in memory.supersedes)
    yield from ((HERITAGE, name) for name in memory.heritage)
    yield from ((DERIVED, name) for name in sources_in(memory.extra))
