"""A census made by hand: memories as entries, similarity from vectors that a test chooses."""

from array import array
from zlib import crc32

from rawkomem.index.neighbors import Neighbors
from rawkomem.model.entries import Entry
from rawkomem.model.values import DAY, iso
from rawkomem.state.claims import KEEP_BOTH, REQUIRE_REVIEW, Predicate
from rawkomem.state.fold import fold
from rawkomem.state.housekeeping import Census
from rawkomem.state.trust import Standing, trust_of

NOW = 1_790_000_000_000
AT_NOW = iso(NOW)


def said(id: str, days: float = 0, **fields) -> Entry:
    return Entry(
        **{"id": id, "title": id.rstrip("0123456789") or id, "at": NOW - round(days * DAY), "by": "planner", **fields}
    )


def census_of(*entries: Entry, trust=None, vouched=()) -> Census:
    about: dict[str, list[Entry]] = {}
    for entry in entries:
        about.setdefault(entry.target, []).append(entry)
    memories = {id: memory for id, some in about.items() if (memory := fold(some))}
    return Census(memories, NOW, trust or (lambda memory: trust_of(memory, Standing(), NOW)), vouched)


def turned(*parts: tuple[str, float]) -> bytes:
    """A vector: the sum of directions at right angles, each with a weight; in 1,024 dimensions no two names meet here."""
    sums = [0] * 1024
    for name, weight in parts:
        sums[crc32(name.encode()) % 1024] += round(100 * weight)
    return array("b", sums).tobytes()


def similar(vectors: dict[str, bytes]) -> Neighbors:
    return Neighbors(sorted(vectors.items()))


RULES = {"reviewed": Predicate(conflict_policy=REQUIRE_REVIEW), "both": Predicate(conflict_policy=KEEP_BOTH)}
