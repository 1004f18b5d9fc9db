"""Writes the JSON that a store keeps of a memory for other programs: claim, provenance, references, decisions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ..model.ids import slug
from ..state.references import references

if TYPE_CHECKING:
    from ..model.entry import Memory

EXTRA_KEYS = ("claim", "provenance")


def told_of(memory: Memory) -> str:
    """Return this JSON. Each reference comes with all names that it may mean, the most likely first."""
    below = memory.path.partition("/")[2].removesuffix(".md").casefold()
    said: dict[str, object] = {
        **{key: memory.extra[key] for key in EXTRA_KEYS if key in memory.extra},
        "references": [{"type": type, "names": _names(name)} for type, name in references(memory)],
        "path": memory.path,
        "line": memory.line,
        "files": sorted({below, below.rpartition("/")[2]}),
        "updated": memory.updated,
        "reinforcements": memory.reinforcements,
        "disputes": memory.disputes,
        "superseded_by": memory.superseded_by,
        "supersedes": memory.supersedes,
        "conflicts_with": memory.conflicts_with,
        "reason": memory.reason,
    }
    return json.dumps({key: value for key, value in said.items() if value}, ensure_ascii=False, sort_keys=True)


def _names(name: str) -> list[str]:
    whole = name.strip().removesuffix(".md")
    ways = ((way, way.casefold(), slug(way)) for way in (whole, whole.partition("#")[0].strip()))
    return [*dict.fromkeys(name for own in ways for name in own if name)]
