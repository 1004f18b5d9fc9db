"""Resolve names in files to memories: an id, a file's path or stem, or a title."""

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
CORROBORATED = "corroboratedBy"  # from a memory to one that confirms it
SIMILAR = "similar"  # computed from vectors, not in a file


class Names:
    """All names of some memories. The name of a file with several memories means the first one."""

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
        """Return the ids that match a name: none if it is broken, several if it is ambiguous."""
        name = unicodedata.normalize("NFC", name.strip()).removesuffix(".md")
        for candidate in dict.fromkeys((name, name.partition("#")[0].strip())):  # `name#heading`; an id may contain a #
            if candidate in self.ids:
                return [candidate]
            if candidate and (found := self._of_file(candidate)):
                return found
        return []

    def _of_file(self, name: str) -> list[str]:
        """Return the memories for a file's name, else for a unique title, else for the file name made from a title."""
        of_title = self.titles.get(_title(name), [])
        stems = (file_stem(name), slug(name))  # older files have names made by slug
        named = self.files.get(name.casefold()) or (of_title if len(of_title) == 1 else [])
        return named or next((self.files[stem] for stem in stems if stem in self.files), [])


def _title(text: str) -> str:
    return " ".join(text.split()).casefold()


def references(memory: Memory) -> Iterator[tuple[str, str]]:
    """Yield (type, name) of all references of a memory: links, related, mentions in the text, and its sources."""
    yield from memory.links
    yield from ((RELATED, name) for name in memory.related)
    yield from ((MENTIONS, name) for name in mentions(memory.body))
    yield from ((SUPERSEDES, name) for name in memory.supersedes)
    yield from ((HERITAGE, name) for name in memory.heritage)
    yield from ((DERIVED, name) for name in sources_in(memory.extra))
