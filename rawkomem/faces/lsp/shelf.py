"""Cache the memories of one repository for an editor; reload them when files change."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from ...files.layout import AREAS, Layout
from ...files.read import read_file
from ...hosts.person import AGENT, PERSON, agent_above
from ...index.lists import memory_of
from ...model.entry import Entry, Memory
from ...repository import Repository
from ...state.fold import fold
from ...state.references import Names, references
from ...text.when import match

MAX_RECENT_RECALLS = 200  # latest recalls of the ledger that are searched
DELETED = "deleted"


def path_in(layout: Layout, file: str) -> str:
    """Return the path of a memory file relative to its repository; empty for any other file. Opens nothing."""
    file = os.path.abspath(file)
    path = layout.relative(file) if file.startswith(layout.root + os.sep) else ""
    return path if path.endswith(".md") and path.partition("/")[0] in AREAS else ""


class Shelf:
    """The memories of one repository."""

    def __init__(self, layout: Layout, warn: Callable[[str], None]):
        self.layout = layout
        self.repository = Repository(layout, warn, via=AGENT if agent_above() else PERSON)
        self.memories: dict[str, Memory] = {}  # includes deleted memories: files still name them
        self.names = Names(())
        self.loads = 0  # how often the memories were loaded
        self._seen: object = None

    def refresh(self) -> None:
        """Check the files, and reload the memories if a file changed."""
        index = self.repository.core.index

        def look() -> tuple[object, list[Memory] | None]:
            seen = index.catalogue.meta().get("listing")
            known = seen is not None and seen == self._seen
            return seen, None if known else [memory_of(doc) for doc in index.catalogue.docs()]

        self._seen, memories = self.repository.core.read(look)
        if memories is not None:
            self.loads += 1
            self.memories = {memory.id: memory for memory in memories}
            self.names = Names(memories)

    def offered(self) -> list[Memory]:
        """Return the memories that completions and symbols list: all that are not deleted."""
        return [memory for memory in self.memories.values() if memory.status != DELETED]

    def meant(self, name: str) -> list[Memory]:
        """Return the memories that a name in a file may mean."""
        return [self.memories[id] for id in self.names.find(name)]

    def files_naming(self, id: str) -> Iterator[str]:
        """Yield the paths of files that may refer to a memory."""
        naming = (memory.path for memory in self.memories.values() if self._refers(memory, id))
        yield from sorted({*self._files_about(id), *naming})

    def _refers(self, memory: Memory, id: str) -> bool:
        return memory.superseded_by == id or any(id in self.names.find(name) for _, name in references(memory))

    def _files_about(self, id: str) -> Iterable[str]:
        return self.repository.core.read(lambda: self.repository.core.index.catalogue.paths_about(id))

    def as_edited(self, id: str, path: str, entries: Iterable[Entry]) -> Memory | None:
        """Return a memory folded from the editor's entries of one file and the saved entries of all other files."""
        others = (file for file in self._files_about(id) if file != path)
        saved = (entry for file in others for entry in read_file(self.layout.path(file), file).entries)
        return fold(entry for entry in (*entries, *saved) if entry.target == id)

    def fired_lately(self, condition: str) -> list[tuple[int, str]]:
        """Return (time, task) for each recent recall in the ledger on which a condition fires, latest first."""
        return [(at, task) for at, task in self.repository.ledger.asked(MAX_RECENT_RECALLS) if match(condition, task)]
