"""Keeps parsed whenToUse conditions: SQLite finds those that may fire in a few milliseconds, and `fires` decides."""

from __future__ import annotations

from ..text.condition import PIECES, REFUSED, WORDS, Condition, pack, read_condition, unpack
from ..text.when import fires
from .stores.database import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from ..text.when import Fired, Situation

START_CHARS = 3  # of a trigger that are looked up
MAX_STARTS = 4_000  # of a task; a longer one tries every trigger


def put_conditions(db: apsw.Connection, memory: str, patterns: Sequence[str]) -> None:
    """Replace the conditions kept for a memory."""
    drop_conditions(db, memory)
    for condition in map(read_condition, patterns):
        if condition.form == REFUSED:
            continue
        db.execute("INSERT INTO conditions (memory, packed) VALUES (?, ?)", (memory, pack(condition)))
        n = db.last_insert_rowid()
        triggers = [(n, key, key[:START_CHARS]) for key in _keys(condition)]
        db.executemany("INSERT INTO triggers VALUES (?, ?, ?)", triggers)
        db.executemany("INSERT OR IGNORE INTO stems VALUES (?, ?)", [(stem, n) for stem in _stems(condition)])


def drop_conditions(db: apsw.Connection, memory: str) -> None:
    """Remove a memory's conditions."""
    for row in rows(db, "SELECT n FROM conditions WHERE memory = ?", (memory,)):
        db.execute("DELETE FROM triggers WHERE condition = ?", row)
        db.execute("DELETE FROM stems WHERE condition = ?", row)
    db.execute("DELETE FROM conditions WHERE memory = ?", (memory,))


def fired_by(db: apsw.Connection, situation: Situation) -> dict[str, Fired]:
    """Return memory → the part of its first condition that fires in a situation."""
    stems = sorted(situation.stems)
    starts = _starts(situation.lower)
    among = f"start IN ({', '.join('?' * len(starts))}) AND " if len(starts) <= MAX_STARTS else ""
    sql = (
        "SELECT memory, packed FROM conditions"
        f" WHERE n IN (SELECT condition FROM triggers WHERE {among}instr(?, key) > 0)"
        f" OR n IN (SELECT condition FROM stems WHERE stem IN ({', '.join('?' * len(stems))})) ORDER BY n"
    )
    found: dict[str, Fired] = {}
    for memory, packed in rows(db, sql, (*(starts if among else ()), situation.lower, *stems)):
        if memory not in found and (fired := fires(unpack(packed), situation)):
            found[memory] = fired
    return found


def _starts(task: str) -> set[str]:
    """Return every text of up to three letters in a task: a trigger that occurs in the task starts with one of them."""
    return {task[at : at + size] for at in range(len(task)) for size in range(START_CHARS + 1)} | {""}


def _keys(condition: Condition) -> set[str]:
    if condition.how == PIECES:
        return {max(pieces, key=len) for pieces in condition.parts}
    return {condition.phrase} if condition.how == WORDS else {""}


def _stems(condition: Condition) -> set[str]:
    return {stem for clause in condition.parts for stem in clause} if condition.how == WORDS else set()
