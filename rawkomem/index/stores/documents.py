"""The records that a search store takes and returns."""

from __future__ import annotations

from ...model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.entry import Memory
    from ...model.filters import Facets

# Files in one transaction of a sync: an aborted sync repeats at most one batch. Stores take a smaller one for the last.
BATCH_FILES = 256
BODY, WHEN = "body", "when"  # fields of a memory that passages come from
# Tiers of vectors, which are never compared: the first holds every passage, the second is filled in the background.
FIRST, DEEP = "first", "deep"
REST = "rest"  # first-tier vectors of the memories that are not in the second tier yet


@record
class Passage:
    """A piece of a memory that is matched and embedded on its own. `vector`: float32 bytes, normalized."""

    text: str
    vector: bytes
    field: str = BODY
    heading: str = ""
    line: int = 1
    around: str = ""  # the passage with its surroundings in the file; empty if it has none


@record
class Document:
    """A memory as a store keeps it: the columns that filters compare, and its passages."""

    facets: Facets
    title: str
    passages: tuple[Passage, ...]
    digest: str = ""  # hash of the document without its vectors
    memory: Memory | None = None  # the whole memory, for stores with tables for other programs
    told: str = ""  # JSON for other programs that read the store; only if the store has `tells`

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
