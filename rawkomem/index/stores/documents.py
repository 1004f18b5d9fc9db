"""The records that go into a search store and come out of it."""

from __future__ import annotations

from ...model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.entry import Memory
    from ...model.filters import Facets

BATCH_FILES = 256  # in one transaction of a sync: an abort repeats at most as many; a smaller batch is the last
BODY, WHEN = "body", "when"  # fields of a memory that passages come from
# Tiers of vectors, two spaces that are never compared: the first holds every passage, the second is filled in behind.
FIRST, DEEP = "first", "deep"
REST = "rest"  # the first tier of those memories that are not in the second yet


@record
class Passage:
    """A piece of a memory that is matched and embedded on its own. `vector`: float32 bytes, normalized."""

    text: str
    vector: bytes
    field: str = BODY
    heading: str = ""
    line: int = 1
    around: str = ""  # the passage with its surroundings in the file; empty where it stands alone


@record
class Document:
    """A memory as a store keeps it: the columns that filters compare, and its passages."""

    facets: Facets
    title: str
    passages: tuple[Passage, ...]
    digest: str = ""  # over all of the above but the vectors
    memory: Memory | None = None  # as files tell it, for stores with tables for other programs
    told: str = ""  # JSON for other programs that read the store; only where it says that it `tells`

    @property
    def id(self) -> str:
        """Return the memory's id."""
        return self.facets.id


@record
class Hit:
    """One passage that a store found, with the store's own score: cosine for nearest, BM25 (positive) for matching."""

    id: str
    passage: int
    score: float
    field: str = BODY
    alone: bool = True  # whether the passage has no surroundings
