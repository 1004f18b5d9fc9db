"""The memories of one repository, as an editor's requests need them at hand: loaded once, again when files changed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..files.layout import AREAS, Layout
from ..index.lists import memory_of
from ..model.kinds import ACTIVE
from ..operations import ledger
from ..repository import Repository
from ..state.references import Names, references
from ..text.when import match

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..model.entry import Memory

RECALLS = 200  # questions that count as lately
OF_INTEREST = (ACTIVE, "draft", "conflicted", "superseded", "disputed", "quarantined", "archived")  # all but deleted


class Shelf:
    """One repository, for an editor."""

    def __init__(self, layout: Layout, warn: Callable[[str], None]):
        self.layout = layout
        self.repository = Repository(layout, warn, via="person")  # whoever asks sits at an editor
        self.memories: dict[str, Memory] = {}
        self.names = Names(())
        self._seen: object = None

    def refresh(self) -> None:
        """Look at the files, and load the memories again where one changed."""
        catalogue = self.repository.index
        seen = self.repository.read(lambda: catalogue.catalogue.meta().get("listing"))
        if seen == self._seen and self._seen is not None:
            return
        memories = self.repository.read(lambda: [memory_of(doc) for doc in catalogue.catalogue.docs()])
        self.memories = {memory.id: memory for memory in memories if memory.status in OF_INTEREST}
        self.names = Names(memories)
        self._seen = seen

    def path_of(self, file: str) -> str:
        """How the repository names a file; empty where it is no memory file of its."""
        inside = os.path.abspath(file).startswith(self.layout.root + os.sep)
        path = self.layout.relative(os.path.abspath(file)) if inside else ""
        return path if path.endswith(".md") and path.partition("/")[0] in AREAS else ""

    def meant(self, name: str) -> list[Memory]:
        """The memories that a name in a file may mean."""
        return [self.memories[id] for id in self.names.find(name) if id in self.memories]

    def in_file(self, path: str) -> list[Memory]:
        """The memories that a file begins, in its order."""
        return sorted((memory for memory in self.memories.values() if memory.path == path), key=lambda one: one.line)

    def files_naming(self, id: str) -> Iterator[str]:
        """The paths of files that may refer to a memory."""
        about = self.repository.read(lambda: self.repository.index.catalogue.paths_about(id))
        yield from sorted({*about, *(memory.path for memory in self.memories.values() if self._refers(memory, id))})

    def _refers(self, memory: Memory, id: str) -> bool:
        return memory.superseded_by == id or any(id in self.names.find(name) for _, name in references(memory))

    def fired_lately(self, condition: str) -> list[tuple[int, str]]:
        """When and on which tasks a condition fired lately, as far as the ledger tells; the latest first."""
        return [(at, task) for at, task in ledger.asked(self.repository, RECALLS) if match(condition, task)]
