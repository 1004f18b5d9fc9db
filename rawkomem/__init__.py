"""rawkomem: a Markdown-first memory repository for coding agents and the people who work with them.

from rawkomem import Repository

with Repository.open() as repo:
    print(repo.inject("upgrade sqlite").text)

The folders, from the lowest layer to the highest; each imports only those above it in this list:

`model`: values, errors, ids, filters, and the two shapes of a memory, Entry and Memory
`text`: words, languages, conditions, prompts, safe and clean text
`redaction`: find and remove secrets and personal data
`format`: memory files: frontmatter, entries, blocks
`net`: HTTP with guarded addresses
`state`: the fold of entries into memories; changes, claims, trust, links, housekeeping
`files`: the layout of `.rawko`, the only writer, locks, records of this machine, the ledger
`llm`: the optional language model
`embed`: vectors for texts
`git`: authorship, merge, staged files, citations, connection
`index`: the derived index and its stores
`recall`: search, scoring, injection
`learn`: drafts, lessons, traces, skills from sessions
`exchange`: import, export, sinks
`repository`: the class Repository and its parts
`hosts`: coding agents: hooks, connection, replay
`bench`: measurements
`faces`: command line, MCP, LSP, memory-mesh, web page
"""

from __future__ import annotations

# defined only here; the first section of CHANGELOG.md describes it
__version__ = "0.1.0"


TYPE_CHECKING = False  # importing `typing` takes a third of a bare start
if TYPE_CHECKING:
    from .faces.mesh.api import MemoryContextManager, MemoryMesh, SyncMemoryMesh
    from .files.append import Written
    from .index.stores.protocol import BaseStore, OutsideStore, StorePlugin
    from .index.summaries import Stats
    from .model.entries import Entry, Memory, Task
    from .model.errors import (
        BadInput,
        Busy,
        IndexBroken,
        NewerFormat,
        NotFound,
        RawkoError,
        Refused,
        Unwritable,
    )
    from .model.filters import Filter, asked
    from .recall.earlier_tasks import PatternMatch
    from .recall.inject import Injection, Prompt
    from .recall.search import Answer, Found, contributions
    from .recall.signals import filter_of
    from .repository import Repository
    from .repository.writing import Stored

__all__ = [
    "Answer",
    "BadInput",
    "BaseStore",
    "Busy",
    "Entry",
    "Filter",
    "Found",
    "IndexBroken",
    "Injection",
    "Memory",
    "MemoryContextManager",
    "MemoryMesh",
    "NewerFormat",
    "NotFound",
    "OutsideStore",
    "PatternMatch",
    "Prompt",
    "RawkoError",
    "Refused",
    "Repository",
    "Stats",
    "StorePlugin",
    "Stored",
    "SyncMemoryMesh",
    "Task",
    "Unwritable",
    "Written",
    "asked",
    "contributions",
    "filter_of",
]

# public name → module that defines it
_HOMES = {
    name: module
    for module, names in {
        "faces.mesh": "MemoryContextManager MemoryMesh SyncMemoryMesh",
        "files.append": "Written",
        "index.stores.protocol": "BaseStore OutsideStore StorePlugin",
        "index.summaries": "Stats",
        "model.entries": "Entry Memory Task",
        "model.errors": "BadInput Busy IndexBroken NewerFormat NotFound RawkoError Refused Unwritable",
        "model.filters": "Filter asked",
        "recall.signals": "filter_of",
        "recall.inject": "Injection Prompt",
        "recall.earlier_tasks": "PatternMatch",
        "recall.search": "Answer Found contributions",
        "repository": "Repository",
        "repository.writing": "Stored",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> object:
    """Load a public name when it is first used, so that `import rawkomem` stays fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'rawkomem' has no attribute {name!r}")
    # loads other modules that a command does not need
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
