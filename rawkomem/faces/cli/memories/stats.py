"""Implement `rawkomem stats`: count memories and their uses."""

from __future__ import annotations

from ....files.local.usage import Access
from ....model.record import as_dict
from ....recall.filters import filter_of
from ....text.clean import one_line
from ....text.count import count
from ..opening import open_repository
from ..terminal import draws, paint, say, say_json, sparkline, tell_nothing, wide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ....index.views.stats import Stats, Used


def run(folder: str, arguments: list[str], as_json: bool, **which: Any) -> None:
    """Count memories and print the counts."""
    repository = open_repository(folder)
    stats = repository.stats(filter_of(**which))
    if as_json:
        used = {name: [_json(item) for item in getattr(stats, name)] for name in ("most_used", "least_used")}
        say_json({**as_dict(stats), **used})
    elif stats.memories:
        _print(stats)
    else:
        tell_nothing(repository, "no memory matches these filters")


def used_json(access: Access) -> dict[str, Any]:
    """Return the number of injections of a memory and the time of the last one, for JSON."""
    from ....model.clock import iso

    return {"accesses": access.count, "last_access": iso(access.last)}


def _json(item: Used) -> dict[str, Any]:
    return {"id": item.id, "title": item.title, **used_json(Access(item.count, item.last))}


def _print(stats: Stats) -> None:
    used = f"{stats.unused} of them never used; {count(stats.uses, 'use')} in total"
    lines = [("memories", f"{stats.memories}, {used}")]
    for name in ("kinds", "importance", "tags", "statuses"):
        counts = ", ".join(f"{count} {value}" for value, count in getattr(stats, name).items())
        lines.append((name, counts or "none"))
    least = [item for item in stats.least_used if item not in stats.most_used]
    for name, items in (("most used", stats.most_used), ("least used", least)):
        lines += [(name, f"{item.count:4}  {one_line(item.title or item.id, wide() - 20)}") for item in items]
    if draws():
        lines += [("by week", sparkline(stats.weeks, "week")), ("uses by day", sparkline(stats.days, "day"))]
    for name, text in lines:
        say(f"{paint(f'{name:11}', 'dim')} {text}")
