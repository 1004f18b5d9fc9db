"""rawkomem: a Markdown-first memory repository for coding agents and their people.

from rawkomem import Repository, Task
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .index.views.stats import Stats
    from .model.entry import Entry, Memory
    from .model.filters import Filter
    from .recall.filters import filter_of
    from .recall.inject import Injection, Task
    from .recall.patterns import PatternMatch
    from .recall.prompt import Prompt
    from .recall.search import Answer, Found
    from .repository import Repository

__all__ = [
    "Answer",
    "Entry",
    "Filter",
    "Found",
    "Injection",
    "Memory",
    "PatternMatch",
    "Prompt",
    "Repository",
    "Stats",
    "Task",
    "filter_of",
]

_HOMES = {
    "Entry": "rawkomem.model.entry",
    "Filter": "rawkomem.model.filters",
    "Memory": "rawkomem.model.entry",
    "PatternMatch": "rawkomem.recall.patterns",
    "Prompt": "rawkomem.recall.prompt",
    "Stats": "rawkomem.index.views.stats",
    "filter_of": "rawkomem.recall.filters",
    "Injection": "rawkomem.recall.inject",
    "Task": "rawkomem.recall.inject",
}


def __getattr__(name: str) -> object:
    """Load a public name when it is first used: `import rawkomem` itself costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'rawkomem' has no attribute {name!r}")
    import sys

    home = _HOMES.get(name, "rawkomem.repository")
    __import__(home)
    return getattr(sys.modules[home], name)
