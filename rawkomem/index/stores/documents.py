"""What goes into a search store and what comes out of it."""

from __future__ import annotations

from ...model.checked import (
    ANY_RANK,
    NO_MOMENT,
    NO_TEXTS,
    checked_flag,
    checked_kinds,
    checked_last_moment,
    checked_moment,
    checked_rank,
    checked_share,
    checked_statuses,
    checked_text,
    checked_texts,
)
from ...model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.checked import Moment, Rank, Texts

BATCH = 256  # files that a sync puts in one transaction: an abort repeats at most as many; a smaller batch is the last
BODY, WHEN = "body", "when"  # fields of a memory that passages come from
# Tiers of vectors, two spaces that are never compared: the first holds every passage, the second is filled in behind.
FIRST, DEEP = "first", "deep"
REST = "rest"  # the first tier of those memories that are not in the second yet


@record
class Passage:
    """A piece of a memory that is matched and embedded on its own. `vector`: float32 bytes, normalised."""

    text: str
    vector: bytes
    field: str = BODY
    heading: str = ""
    line: int = 1
    around: str = ""  # the passage with its surroundings in the file; empty where it stands alone


@record
class Document:
    """A memory as a store keeps it: the columns that filters look at, and its passages."""

    id: str
    kind: str
    status: str
    title: str
    importance: int
    created: int
    tags: tuple[str, ...]
    by: str
    passages: tuple[Passage, ...]
    type: str = ""
    category: str = ""
    entities: tuple[str, ...] = ()
    session: str = ""
    digest: str = ""  # over all of the above but the vectors


@record
class Filter:
    """A closed set of conditions; empty means any. Never raw SQL.

    Of kinds, statuses, types, categories, agents and sessions one must fit; of tags and entities all. The last four
    depend on the clock, on history or on uses: they are checked above the store (view.py), which does not look at them.
    """

    __check__ = {
        **dict.fromkeys(("ids", "tags", "types", "categories", "entities", "agents", "sessions"), checked_texts),
        "kinds": checked_kinds,
        "statuses": checked_statuses,
        "importance": checked_rank,
        "since": checked_moment,
        "until": checked_last_moment,
        "as_of": checked_last_moment,
        "trust": checked_share,
        "current": checked_flag,
        "where": checked_text,
    }

    ids: Texts = NO_TEXTS
    kinds: Texts = NO_TEXTS
    statuses: Texts = NO_TEXTS
    tags: Texts = NO_TEXTS
    importance: Rank = ANY_RANK  # at least
    since: Moment = NO_MOMENT
    until: Moment = NO_MOMENT
    types: Texts = NO_TEXTS
    categories: Texts = NO_TEXTS
    entities: Texts = NO_TEXTS
    agents: Texts = NO_TEXTS  # who found it out
    sessions: Texts = NO_TEXTS
    trust: float = 0.0  # at least
    current: bool = False  # its validity window holds the present, or `as_of`
    as_of: Moment = NO_MOMENT  # as memories stood then, instead of now
    where: str = ""  # a condition over the columns of state/lifecycle/promoted.py, see text/expression.py


@record
class Hit:
    """One passage that a store found, with the store's own score: cosine for nearest, BM25 (positive) for matching."""

    id: str
    passage: int
    score: float
    field: str = BODY
    alone: bool = True  # whether the passage has no surroundings
