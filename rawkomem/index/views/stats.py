"""Counts the memories that a list shows: by kind, importance and tag, and how often each was used."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...files.local.usage import Access, accesses, uses
from ...model.clock import DAY, now
from ...model.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .view import View

MAX_NAMES = 10  # names in a top list
COURSE_WEEKS, COURSE_DAYS = 26, 30  # how far back `weeks` and `days` reach


@record
class Used:
    """A memory and how often it was injected."""

    id: str
    title: str
    count: int
    last: int


@record
class Stats:
    """The counts of a repository. `statuses` counts every memory, the other fields those inside the filter."""

    memories: int
    statuses: dict[str, int]
    kinds: dict[str, int]
    importance: dict[str, int]
    tags: dict[str, int]  # the most frequent ones
    uses: int  # injections of these memories so far, on this machine
    unused: int  # memories that were never injected
    most_used: tuple[Used, ...]
    least_used: tuple[Used, ...]
    weeks: tuple[int, ...] = ()  # memories created in each of the last weeks, the oldest first
    days: tuple[int, ...] = ()  # injections on each of the last days


def stats(view: View) -> Stats:
    """Count the memories inside a view's filter."""
    memories = [memory for row in view.rows() if (memory := view.memory(row.id))]
    known = accesses(view.layout)
    facts = [(memory, known.get(memory.id, Access())) for memory in memories]
    used = [Used(memory.id, memory.title, access.count, access.last) for memory, access in facts]
    ids = {memory.id for memory in memories}
    used_at = (use.at for use in uses(view.layout, now() - COURSE_DAYS * DAY) for id in use.ids if id in ids)
    tags = _counted(tag for memory in memories for tag in {tag.lower() for tag in memory.tags})
    *_, statuses = view.catalogue.counts()
    return Stats(
        memories=len(memories),
        statuses=statuses,
        kinds=_counted(memory.kind for memory in memories),
        importance=_counted(memory.importance for memory in memories),
        tags=dict(list(tags.items())[:MAX_NAMES]),
        uses=sum(item.count for item in used),
        unused=sum(not item.count for item in used),
        most_used=tuple(sorted((i for i in used if i.count), key=lambda i: (-i.count, -i.last, i.id))[:MAX_NAMES]),
        least_used=tuple(sorted(used, key=lambda i: (i.count, i.last, i.id))[:MAX_NAMES]),
        weeks=_course((memory.created for memory in memories), 7 * DAY, COURSE_WEEKS),
        days=_course(used_at, DAY, COURSE_DAYS),
    )


def _course(times: Iterable[int], step: int, steps: int) -> tuple[int, ...]:
    """Return how many of these times are in each of the last steps, the oldest first; the last one ends now."""
    end = now()
    counts = Counter((end - at) // step for at in times if 0 < at <= end)
    return tuple(counts[ago] for ago in reversed(range(steps)))


def _counted(names: Iterable[str]) -> dict[str, int]:
    """Return how often each name occurs: the most frequent first, ties by name."""
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))
