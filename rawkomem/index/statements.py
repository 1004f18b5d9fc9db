"""Stores what memories state besides their text, and finds it without reading any memory: the parsed whenToUse
conditions, of which SQLite finds those that may fire in a few milliseconds (`fires` decides); claims, conflicts,
and sentences that may contradict each other."""

from __future__ import annotations

from ..model.values import TYPE_CHECKING, replace
from ..text.conditions import (
    PATHS,
    PIECES,
    REFUSED,
    WORDS,
    Condition,
    Fired,
    Situation,
    fires,
    known_condition,
    pack_condition,
    read_conditions,
    trigger_text,
    unpack_condition,
)
from .catalogue import STATES, Catalogue, known_memory, memory_of
from .stores.database import marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from ..model.entries import Memory
    from ..state.changes import Conflict


START_CHARS = 3  # characters at the start of a trigger, by which it is looked up
MAX_STARTS = 4_000  # for a task with more starts, every trigger is compared
# conditions tried per task, 50 ms; a task that triggers more would fire for nearly every memory
MAX_TRIGGERED = 5_000
# regexes sorted per task; the time budget for trying them ends earlier
MAX_REGEXES = 3_000
REGEXES = """
SELECT conditions.memory, packed, path, vouched FROM conditions JOIN memories ON memories.id = conditions.memory
WHERE size > 0 ORDER BY vouched DESC, size, n LIMIT ?
"""


def put_conditions(db: apsw.Connection, memory: str, patterns: Sequence[str]) -> None:
    """Store the conditions of a memory that has none in the index."""
    for condition in read_conditions(patterns):
        if condition.form == REFUSED:
            continue
        values = (memory, pack_condition(condition), condition.size)
        db.execute(
            "INSERT INTO conditions (memory, packed, size) VALUES (?, ?, ?)", values
        )
        n = db.last_insert_rowid()
        triggers = [(n, key, key[:START_CHARS]) for key in _trigger_keys(condition)]
        db.executemany("INSERT INTO triggers VALUES (?, ?, ?)", triggers)
        if condition.how == WORDS:
            stems = [(stem, n) for clause in condition.parts for stem in clause]
            db.executemany("INSERT OR IGNORE INTO stems VALUES (?, ?)", stems)


def fired_by(db: apsw.Connection, situation: Situation) -> dict[str, Fired]:
    """Return memory → the part of its first condition that fires in a situation."""
    stems = sorted(situation.stems)
    starts = {
        situation.lower[at : at + size]
        for at in range(len(situation.lower))
        for size in range(START_CHARS + 1)
    } | {""}
    among = f"start IN {marks(starts)} AND " if len(starts) <= MAX_STARTS else ""
    sql = (
        f"SELECT memory, packed FROM conditions JOIN {STATES} ON memories.id = conditions.memory"
        f" WHERE n IN (SELECT condition FROM triggers WHERE {among}instr(?, key) > 0"
        f" UNION ALL SELECT condition FROM stems WHERE stem IN {marks(stems)})"
        f" ORDER BY vouched DESC, n LIMIT {MAX_TRIGGERED}"
    )
    found: dict[str, Fired] = {}
    for memory, packed in db.execute(
        sql, (*(starts if among else ()), situation.lower, *stems)
    ):
        if memory not in found and (
            fired := fires(unpack_condition(packed), situation)
        ):
            found[memory] = fired
    apart = replace(situation, engine=situation.engine.apart())
    for memory, packed, vouched in _regexes(db):
        regex = known_condition(packed)
        if memory not in found and (
            fired := fires(regex, situation if vouched else apart)
        ):
            found[memory] = fired
    return found


def _regexes(db: apsw.Connection) -> list[tuple[str, str, bool]]:
    """Return (memory, condition, vouched) of regexes, in the order in which they are tried until a budget is spent.

    Regexes of vouched memories come first. In each group, the smallest regex of every file comes first, then the second
    smallest of every file, so that an author of many regexes does not crowd out the others.
    """
    turns: dict[str, int] = {}
    found = []
    for memory, packed, path, vouched in db.execute(REGEXES, (MAX_REGEXES,)):
        turns[path] = turns.get(path, 0) + 1
        found.append((not vouched, turns[path], memory, packed))
    found.sort(key=lambda turn: turn[:2])
    return [(memory, packed, not doubted) for doubted, _, memory, packed in found]


def _trigger_keys(condition: Condition) -> set[str]:
    if condition.how == PIECES:
        return {trigger_text(pieces) for pieces in condition.parts}
    if condition.how == WORDS:
        return {condition.phrase}
    if condition.how == PATHS:
        return {""}
    return set()


# Claims and contradictions.

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
