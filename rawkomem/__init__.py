"""rawkomem: a Markdown-first memory repository for coding agents and the people who work with them.

from rawkomem import Repository

with Repository.open() as repo:
    print(repo.inject("upgrade sqlite").text)
"""

from __future__ import annotations

__version__ = "0.1.0"  # defined only here; the first section of CHANGELOG.md describes it

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .faces.mesh import MemoryContextManager, MemoryMesh, SyncMemoryMesh
    from .files.append import Written
    from .index.stores.protocol import OutsideStore, StorePlugin
    from .index.views.stats import Stats
    from .model.entry import Entry, Memory
    from .model.errors import BadInput, Busy, IndexBroken, NotFound, RawkoError, Refused, Unwritable
    from .model.filters import Filter, asked
    from .model.task import Task
    from .recall.filters import filter_of
    from .recall.inject import Injection, Prompt
    from .recall.patterns import PatternMatch
    from .recall.search import Answer, Found, contributions
    from .repository import Repository
    from .repository.writing import Stored

__all__ = [
    "Answer",
    "BadInput",
    "Busy",
    "Entry",
    "Filter",
    "Found",
    "IndexBroken",
    "Injection",
    "Memory",
    "MemoryContextManager",
    "MemoryMesh",
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

# module → public names that it defines
_HOMES = {
    "faces.mesh": ("MemoryContextManager", "MemoryMesh", "SyncMemoryMesh"),
    "files.append": ("Written",),
    "index.stores.protocol": ("OutsideStore", "StorePlugin"),
    "index.views.stats": ("Stats",),
    "model.entry": ("Entry", "Memory"),
    "model.errors": ("BadInput", "Busy", "IndexBroken", "NotFound", "RawkoError", "Refused", "Unwritable"),
    "model.filters": ("Filter", "asked"),
    "recall.filters": ("filter_of",),
    "model.task": ("Task",),
    "recall.inject": ("Injection", "Prompt"),
    "recall.patterns": ("PatternMatch",),
    "recall.search": ("Answer", "Found", "contributions"),
    "repository": ("Repository",),
    "repository.writing": ("Stored",),
}


def __getattr__(name: str) -> object:
    """Load a public name when it is first used, so that `import rawkomem` stays fast."""
    import sys

    for home, names in _HOMES.items():
        if name in names:
            __import__(f"rawkomem.{home}")
            return getattr(sys.modules[f"rawkomem.{home}"], name)
    raise AttributeError(f"module 'rawkomem' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
