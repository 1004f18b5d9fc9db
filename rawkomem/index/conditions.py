"""whenToUse conditions, kept read and ready, so that a task meets ten thousand of them in a few milliseconds.

SQLite narrows down to the conditions that may fire; whether they do is decided by the same `fires` as everywhere.
"""

from __future__ import annotations

from ..text.condition import PIECES, REFUSED, WORDS, Condition, pack, read_condition, unpack
from ..text.when import fires, prepare
from .stores.database import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

START = 3  # letters of a trigger that are looked up
MOST_STARTS = 4_000  # of a task; a longer one tries every trigger


def put_conditions(db: apsw.Connection, memory: str, patterns: Sequence[str]) -> None:
    """Keep a memory's conditions instead of those it had."""
    drop_conditions(db, memory)
    for condition in map(read_condition, patterns):
        if condition.form == REFUSED:
            continue
        db.execute("INSERT INTO conditions (memory, packed) VALUES (?, ?)", (memory, pack(condition)))
        n = db.last_insert_rowid()
        db.executemany("INSERT INTO triggers VALUES (?, ?, ?)", [(n, key, key[:START]) for key in _keys(condition)])
        db.executemany("INSERT OR IGNORE INTO stems VALUES (?, ?)", [(stem, n) for stem in _stems(condition)])


def drop_conditions(db: apsw.Connection, memory: str) -> None:
    """Forget a memory's conditions."""
    for row in rows(db, "SELECT n FROM conditions WHERE memory = ?", (memory,)):
        db.execute("DELETE FROM triggers WHERE condition = ?", row)
        db.execute("DELETE FROM stems WHERE condition = ?", row)
    db.execute("DELETE FROM conditions WHERE memory = ?", (memory,))


def fired_by(db: apsw.Connection, task: str) -> dict[str, tuple[Condition, str]]:
    """memory → (the condition that fires on a task, which part of it does)."""
    ready = prepare(task)
    stems = sorted(ready.stems)
    starts = _starts(ready.lower)
    among = f"start IN ({', '.join('?' * len(starts))}) AND " if len(starts) <= MOST_STARTS else ""
    sql = (
        "SELECT memory, packed FROM conditions"
        f" WHERE n IN (SELECT condition FROM triggers WHERE {among}instr(?, key) > 0)"
        f" OR n IN (SELECT condition FROM stems WHERE stem IN ({', '.join('?' * len(stems))})) ORDER BY n"
    )
    found: dict[str, tuple[Condition, str]] = {}
    for memory, packed in rows(db, sql, (*(starts if among else ()), ready.lower, *stems)):
        if memory not in found:
            condition = unpack(packed)
            part = fires(condition, task)
            if part:
                found[memory] = (condition, part)
    return found


def _starts(task: str) -> set[str]:
    """Every text of up to three letters that occurs in a task: a trigger that occurs in it starts with one of them."""
    return {task[at : at + size] for at in range(len(task)) for size in range(START + 1)} | {""}


def _keys(condition: Condition) -> set[str]:
    if condition.how == PIECES:
        return {max(pieces, key=len) for pieces in condition.parts}
    return {condition.phrase} if condition.how == WORDS else {""}


def _stems(condition: Condition) -> set[str]:
    return {stem for clause in condition.parts for stem in clause} if condition.how == WORDS else set()
