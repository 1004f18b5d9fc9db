"""Finds memories that make claims about the same thing or contradict each other, without reading any other memory."""

from __future__ import annotations

from ..model.values import TYPE_CHECKING
from .catalogue import STATES, Catalogue, known_memory, memory_of
from .stores.database import marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from ..model.entries import Memory
    from ..state.changes import Conflict

# (title, body) → keys of its sentences (state/contradictions.py)
Statements = dict[tuple[str, str], set[tuple[int, int]]]


def put_claim(db: apsw.Connection, memory: Memory, statements: Statements) -> None:
    """Store the claim, the conflicts and the statements of a memory that has none in the index.

    `statements` holds the keys of some texts that were computed before.
    """
    from ..state.contradictions import has_comparable_prose, prose_of, statement_keys

    if "claim" in memory.extra:
        from ..state.claims import read_claim  # few memories make a claim

        claim = read_claim(memory.extra)
        if claim:
            db.execute("INSERT INTO claims VALUES (?, ?, ?)", (memory.id, *claim.key))
    for other in dict.fromkeys(memory.conflicts_with):
        db.execute("INSERT INTO conflicts VALUES (?, ?)", (memory.id, other))
    if has_comparable_prose(memory):
        text = (memory.title, memory.body)
        if text in statements:
            keys = statements[text]
        else:
            keys = statement_keys(prose_of(memory))
        rows = [(memory.id, key, stance) for key, stance in keys]
        db.executemany("INSERT INTO statements VALUES (?, ?, ?)", rows)


def drop_facts(db: apsw.Connection, memory: str) -> None:
    """Remove the conditions, the claim, the conflicts and the statements of a memory."""
    for row in list(db.execute("SELECT n FROM conditions WHERE memory = ?", (memory,))):
        db.execute("DELETE FROM triggers WHERE condition = ?", row)
        db.execute("DELETE FROM stems WHERE condition = ?", row)
    for table in ("conditions", "claims", "conflicts", "statements"):
        db.execute(f"DELETE FROM {table} WHERE memory = ?", (memory,))


MAX_OPPOSED = 100  # pairs whose sentences are compared for a prompt
OPPOSED = f"""
SELECT DISTINCT one.memory, other.memory FROM statements one
JOIN statements other ON other.key = one.key AND other.stance != one.stance AND other.memory != one.memory
JOIN {STATES} ON memories.id = other.memory AND status = 'active'
WHERE one.memory IN {{}} LIMIT {MAX_OPPOSED}
"""


def opposed(db: apsw.Connection, ids: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of memories, the first of them one of `ids`, with sentences that may contradict each other."""
    return list(db.execute(OPPOSED.format(marks(ids)), ids))


def opposed_keys(db: apsw.Connection) -> Iterable[tuple[str, int, int]]:
    """Return (memory, key, stance) of all sentences that a sentence of another memory may contradict."""
    keys = "SELECT key FROM statements GROUP BY key HAVING min(stance) < max(stance)"
    sql = f"SELECT memory, key, stance FROM statements WHERE key IN ({keys}) ORDER BY key, memory, stance"
    return db.execute(sql)


def memories_claiming(
    catalogue: Catalogue, subject: str, predicate: str
) -> list[Memory]:
    """Return every memory with a claim about this subject and predicate, of any status."""
    sql = "SELECT doc FROM memories WHERE id IN (SELECT memory FROM claims WHERE subject = ? AND predicate = ?)"
    return [
        memory_of(doc)
        for (doc,) in catalogue.db.execute(f"{sql} ORDER BY id", (subject, predicate))
    ]


def pending_conflicts(catalogue: Catalogue) -> list[Conflict]:
    """Return every conflict that is still open."""
    from ..state.changes import open_conflicts

    ids = [
        id
        for (id,) in catalogue.db.execute(
            "SELECT DISTINCT memory FROM conflicts ORDER BY memory"
        )
    ]
    memories = [memory for id in ids if (memory := known_memory(catalogue, id))]
    return open_conflicts(memories, lambda id: known_memory(catalogue, id))
