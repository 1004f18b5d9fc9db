"""Reads whole memories back from the catalogue: lists of them, conditions that fire, claims, and the
trust in a memory.
"""

from __future__ import annotations

from ..files.layout import Layout
from ..model.entries import Memory
from ..model.filters import Filter, asked, passes_field
from ..model.values import IMPORTANCE, RECORDED, TYPE_CHECKING, replace, unchecked
from ..state.committers import UNKNOWN
from ..state.facets import facet_of, is_valid
from ..state.trust import (
    BASE_TRUST,
    REVIEWED,
    Standing,
    Trust,
    Weak,
    derived_from,
    explain_trust,
    limited_by_sources,
    lowest_trust,
    standing_of,
    standing_of_entry,
    weak_sources,
)
from .catalogue import STATES, Authors, Catalogue, Row
from .stores.database import rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import apsw

    from ..files.machine_records import Arrivals
    from ..state.changes import Conflict


# Reads whole memories back from the catalogue, and filters lists of them.

ROW_COLUMNS: tuple[str, ...] = Row.__fields__  # type: ignore[attr-defined]
MEMORY_DEFAULTS: dict[str, object] = Memory.__defaults__  # type: ignore[attr-defined]
MEMORY_TUPLES = [
    name for name, value in MEMORY_DEFAULTS.items() if isinstance(value, tuple)
]  # JSON has lists only


def memory_of(doc: str) -> Memory:
    """Return the memory that a catalogue row holds."""
    import json  # a search does not need it

    fields = json.loads(doc)
    for name in MEMORY_TUPLES:
        fields[name] = tuple(fields[name])
    fields["links"] = tuple((kind, id) for kind, id in fields["links"])
    return unchecked(Memory, **fields)


def known_memory(catalogue: Catalogue, id: str) -> Memory | None:
    """Return a memory of the catalogue; None where it is unknown."""
    doc = catalogue.doc(id)
    return memory_of(doc) if doc else None


def row_of(memory: Memory) -> Row:
    """Return a memory as lists show it."""
    return Row(**{name: getattr(memory, name) for name in ROW_COLUMNS})


def passes_filter(memory: Memory, only: Filter, at: int, trust: Callable[[Memory], float]) -> bool:
    """Return whether a memory, as of a time, passes a filter; `trust` returns its trust."""
    if only.current and not is_valid(memory, at):
        return False
    if not all(
        passes_field(field, wanted, facet_of(memory, field.column)) for field, wanted in asked(only)
    ):
        return False
    return not only.trust or trust(memory) >= only.trust


def rows_inside(rows: Iterable[Row], only: Filter, at: int) -> list[Row]:
    """Return the rows that pass a filter; parts of it that need more than a row's columns are ignored."""
    told = [(field, wanted) for field, wanted in asked(only) if field.column in ROW_COLUMNS]
    valid = (row for row in rows if not only.current or is_valid(row, at))
    return [
        row
        for row in valid
        if all(passes_field(field, wanted, _row_facet(row, field.column)) for field, wanted in told)
    ]


def asks_for_facts(only: Filter) -> bool:
    """Return whether a filter needs more than a row's columns."""
    return bool(
        only.trust or only.where or any(field.column not in ROW_COLUMNS for field, _ in asked(only))
    )


def _row_facet(row: Row, column: str) -> object:
    """Return a row's value of a facet."""
    return IMPORTANCE.index(row.importance) if column == "importance" else getattr(row, column)


# Finds memories that make claims about the same thing or contradict each other, without reading
# any other memory.


def put_claim(db: apsw.Connection, memory: Memory) -> None:
    """Store the claim, the conflicts and the statements of a memory that has none in the index."""
    from ..state.contradictions import has_comparable_prose, prose_of, statement_keys

    if "claim" in memory.extra:
        from ..state.claims import read_claim  # few memories make a claim

        claim = read_claim(memory.extra)
        if claim:
            db.execute("INSERT INTO claims VALUES (?, ?, ?)", (memory.id, *claim.key))
    others = [(memory.id, other) for other in dict.fromkeys(memory.conflicts_with)]
    db.executemany("INSERT INTO conflicts VALUES (?, ?)", others)
    if has_comparable_prose(memory):
        said = [(memory.id, key, stance) for key, stance in statement_keys(prose_of(memory))]
        db.executemany("INSERT INTO statements VALUES (?, ?, ?)", said)


def drop_facts(db: apsw.Connection, memory: str) -> None:
    """Remove the conditions, the claim, the conflicts and the statements of a memory."""
    for row in rows(db, "SELECT n FROM conditions WHERE memory = ?", (memory,)):
        db.execute("DELETE FROM triggers WHERE condition = ?", row)
        db.execute("DELETE FROM stems WHERE condition = ?", row)
    for table in ("conditions", "claims", "conflicts", "statements"):
        db.execute(f"DELETE FROM {table} WHERE memory = ?", (memory,))


MAX_OPPOSED = 100  # pairs whose sentences are compared for a prompt
OPPOSED = f"""
SELECT DISTINCT one.memory, other.memory FROM statements one
JOIN statements other ON other.key = one.key AND other.stance != one.stance AND other.memory != one.memory
JOIN {STATES} ON memories.id = other.memory AND status = 'active'
WHERE one.memory IN ({{}}) LIMIT {MAX_OPPOSED}
"""


def opposed(db: apsw.Connection, ids: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of memories, the first of them one of `ids`, with sentences that may contradict each other."""
    return rows(db, OPPOSED.format(", ".join("?" * len(ids))), ids)


def memories_claiming(catalogue: Catalogue, subject: str, predicate: str) -> list[Memory]:
    """Return every memory with a claim about this subject and predicate, of any status."""
    sql = "SELECT doc FROM memories WHERE id IN (SELECT memory FROM claims WHERE subject = ? AND predicate = ?)"
    return [
        memory_of(doc) for (doc,) in rows(catalogue.db, f"{sql} ORDER BY id", (subject, predicate))
    ]


def pending_conflicts(catalogue: Catalogue) -> list[Conflict]:
    """Return every conflict that is still open."""
    from ..state.changes import open_conflicts

    ids = [
        id for (id,) in rows(catalogue.db, "SELECT DISTINCT memory FROM conflicts ORDER BY memory")
    ]
    memories = [memory for id in ids if (memory := known_memory(catalogue, id))]
    return open_conflicts(memories, lambda id: known_memory(catalogue, id))


# Computes the trust in memories from who committed their entries, how the entries arrived, and the
# sources.


class Believed:
    """Caches each memory's standing. Without authors, all commits count as unknown."""

    def __init__(
        self,
        layout: Layout,
        catalogue: Catalogue,
        authors: Authors | None,
        at: int,
        strict: bool = False,
    ):
        self.layout = layout
        self.catalogue = catalogue
        self.authors = authors
        self.at = at
        self.strict = strict  # commits and reviews count, other typed entries do not; sources must be verified too
        self.counts = strict or bool(
            authors and authors.names_a_person()
        )  # whether it matters who vouches
        self._standings: dict[str, Standing] = {}
        self._sources: dict[str, tuple[float, Sequence[str]]] = {}
        self._arrivals: Arrivals | None = None

    def unverified(self, memories: Iterable[Memory]) -> dict[str, Standing]:
        """Return id → standing of the memories that no person vouches for."""
        memories = list(memories)
        self._look_up([memory for memory in memories if memory.id not in self._standings])
        found = {memory.id: self._standings[memory.id] for memory in memories}
        return {id: standing for id, standing in found.items() if not standing.verified}

    def weak_sources(self, memory: Memory) -> tuple[Weak, ...]:
        """Return the sources of a memory that were withdrawn, superseded, disputed, or have ended."""
        return weak_sources(memory, self._find_source, self.at) if derived_from(memory) else ()

    def trust(self, memory: Memory) -> Trust:
        """Return the trust in a memory, which is never higher than the lowest trust in one of its sources."""
        return limited_by_sources(
            self._own(memory), lowest_trust(derived_from(memory), self._source)
        )

    def _own(self, memory: Memory) -> Trust:
        if memory.id not in self._standings:
            self._look_up([memory])
        return explain_trust(memory, self._standings[memory.id], self.at)

    def _source(self, id: str) -> tuple[float, Sequence[str]]:
        """Return the own trust of a source, and its sources; a missing source has the trust `unknown`."""
        if id not in self._sources:
            memory = self._find(id)
            self._sources[id] = (
                (self._own(memory).value, derived_from(memory))
                if memory
                else (BASE_TRUST["unknown"], ())
            )
        return self._sources[id]

    def _find(self, id: str) -> Memory | None:

        return known_memory(self.catalogue, id)

    def _find_source(self, id: str) -> Memory | None:
        """Return a source; None also for an active or archived record of a run: a learning may have hundreds."""
        row = self.catalogue.row(id)
        if row is None or (row.kind in RECORDED and row.status in ("active", "archived")):
            return None
        return self._find(id)

    def _look_up(self, memories: list[Memory]) -> None:
        commits = (
            self.authors.of_memories([memory.id for memory in memories]) if self.authors else {}
        )
        for memory in memories:
            states = commits.get(memory.id, {})
            ids = (memory.id, *memory.amended_in, *memory.reviewed_in)
            entries = {id: standing_of_entry(states.get(id, UNKNOWN), "") for id in ids}
            if not all(standing.verified for standing in entries.values()) and any(
                map(self._arrived().knows, ids)
            ):
                digests = self.catalogue.digests_about(memory.id)
                arrivals = {id: self._arrived().of(id, digests.get(id, "")) for id in ids}
                entries = {
                    id: standing_of_entry(states.get(id, UNKNOWN), arrivals[id]) for id in ids
                }
            self._standings[memory.id] = self._decided(
                memory, standing_of(memory, entries), entries[memory.id]
            )

    def _decided(self, memory: Memory, weakest: Standing, first: Standing) -> Standing:
        """Return the standing of a memory. Where people vouch, the fold has decided whether it is vouched for."""
        if not self.counts:
            return weakest
        if not memory.vouched or (self.strict and self._rests_on_unverified(memory)):
            return replace(weakest, verified=False)
        return weakest if weakest.verified else first if first.verified else REVIEWED

    def _rests_on_unverified(self, memory: Memory) -> bool:
        """Return whether no person vouches for a source of a memory, unless a person reviewed the memory itself."""
        if memory.reviewed_in:
            return False
        sources = [source for id in derived_from(memory) if (source := self._find_source(id))]
        return any(source.kind not in RECORDED and not source.vouched for source in sources)

    def _arrived(self) -> Arrivals:
        if self._arrivals is None:
            from ..files.machine_records import (
                Arrivals,  # not needed for entries that a person committed
            )

            self._arrivals = Arrivals(self.layout)
        return self._arrivals
