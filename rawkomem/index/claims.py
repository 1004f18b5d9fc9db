"""Finds memories that make claims about the same thing or contradict each other, without reading any other memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lists import known_memory, memory_of
from .stores.database import rows

if TYPE_CHECKING:
    import apsw

    from ..model.entry import Memory
    from ..state.belief.conflicts import Conflict
    from .catalogue import Catalogue


def put_claim(db: apsw.Connection, memory: Memory) -> None:
    """Replace the stored claim and conflicts of a memory."""
    drop_claim(db, memory.id)
    if "claim" in memory.extra:
        from ..state.belief.claims import read_claim  # few memories make a claim

        claim = read_claim(memory.extra)
        if claim:
            db.execute("INSERT INTO claims VALUES (?, ?, ?)", (memory.id, *claim.key))
    others = [(memory.id, other) for other in dict.fromkeys(memory.conflicts_with)]
    db.executemany("INSERT INTO conflicts VALUES (?, ?)", others)


def drop_claim(db: apsw.Connection, id: str) -> None:
    """Remove the claim and the conflicts of a memory."""
    db.execute("DELETE FROM claims WHERE memory = ?", (id,))
    db.execute("DELETE FROM conflicts WHERE memory = ?", (id,))


def claiming(catalogue: Catalogue, subject: str, predicate: str) -> list[Memory]:
    """Return every memory with a claim about this subject and predicate, of any status."""
    sql = "SELECT doc FROM memories WHERE id IN (SELECT memory FROM claims WHERE subject = ? AND predicate = ?)"
    return [memory_of(doc) for (doc,) in rows(catalogue.db, f"{sql} ORDER BY id", (subject, predicate))]


def pending(catalogue: Catalogue) -> list[Conflict]:
    """Return every conflict that is still open."""
    from ..state.belief.conflicts import open_conflicts

    ids = [id for (id,) in rows(catalogue.db, "SELECT DISTINCT memory FROM conflicts ORDER BY memory")]
    memories = [memory for id in ids if (memory := known_memory(catalogue, id))]
    return open_conflicts(memories, lambda id: known_memory(catalogue, id))
