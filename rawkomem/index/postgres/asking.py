"""What the PostgreSQL store is asked: the nearest vectors, exactly or by HNSW, and words ranked as FTS5 ranks them.

A clone is answered from the versions that it holds, and from nothing else: hits, how often a word occurs, and how long
passages are on average are those of its own files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..bm25 import K1, LEAST_IDF, B, phrases
from ..documents import BODY, DEEP, REST, Filter, Hit
from ..sqlite_store import RANKED, SCALE, pack
from .rows import Vector, names, number_of, storable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import Connection

    from .writing import Clone

    Values = dict[str, object]

SPARE = 32  # rows asked of HNSW beyond the limit, so that ties are broken by id and not by chance
HELD = "holdings h JOIN versions v ON v.n = h.version"


def nearest(
    connection: Connection[Any], us: Clone, vector: bytes, limit: int, only: Filter, tier: str, exact: bool
) -> list[Hit]:
    """The passages closest to a vector of this tier, best first."""
    asked = Vector(pack(vector)[0])
    if not any(asked):
        return []
    table, column = ("deep_vectors", "deep") if tier == DEEP else ("vectors", "version")
    where, values = conditions(only)
    where += " AND h.deep IS NULL" if tier == REST else ""
    values |= {"clone": us.clone, "asked": asked, "limit": limit, "more": limit + SPARE}
    found = _exactly(table, column, where) if exact else _closely(us, table, column, where, len(asked))
    return _hits(connection, found, "distance", values, lambda distance: 1 - distance * distance / (2 * SCALE * SCALE))


def _exactly(table: str, column: str, where: str) -> str:
    return (
        f"SELECT h.id, h.version, x.number, x.vector <-> %(asked)b AS distance FROM {HELD}"
        f" JOIN {table} x ON x.owner = h.{column} WHERE h.clone = %(clone)s {where}"
        " ORDER BY distance, h.id, x.number LIMIT %(limit)s"
    )


def _closely(us: Clone, table: str, column: str, where: str, dims: int) -> str:
    """By the partial index of this repository. The filter is a scalar query, which the planner cannot turn into a join
    that would be sorted: it is asked of each row that the index yields, until enough have passed."""
    inside = f"SELECT true FROM {HELD} WHERE h.clone = %(clone)s AND h.{column} = x.owner {where} LIMIT 1"
    distance = f"x.vector::halfvec({dims}) <-> %(asked)b"
    return (
        f"SELECT h.id, h.version, c.number, c.distance FROM (SELECT x.owner, x.number, {distance} AS distance"
        f" FROM {table} x WHERE x.repository = {us.repository} AND x.dims = {dims} AND ({inside})"
        f" ORDER BY {distance} LIMIT %(more)s) c JOIN holdings h ON h.clone = %(clone)s AND h.{column} = c.owner"
    )


def count_inside(connection: Connection[Any], us: Clone, only: Filter, most: int) -> int:
    """How many memories of the clone are inside the filter; counted up to `most`."""
    where, values = conditions(only)
    sql = f"SELECT count(*) FROM (SELECT 1 FROM {HELD} WHERE h.clone = %(clone)s {where} LIMIT %(most)s) i"
    found = connection.execute(sql.encode(), {**values, "clone": us.clone, "most": most}).fetchone()
    return int(found[0]) if found else 0


def matching(
    connection: Connection[Any], us: Clone, words: Sequence[str], limit: int, only: Filter, around: bool, huge: bool
) -> list[Hit]:
    """The passages that hold any of these words, or stand beside them with `around`; best first."""
    table = "arounds" if around else "words"
    asked = [[number_of(us.repository, term) for term in phrase] for phrase in phrases(words)]
    asked = _telling(connection, table, asked) if huge else asked
    if not asked:
        return []
    where, values = conditions(only)
    sql = f"""
        WITH found AS MATERIALIZED (
            SELECT w.owner, w.number, cardinality(w.tokens) - 1 AS length, ARRAY[{_times(asked)}]::float8[] AS times
              FROM {table} w
             WHERE ({_holding(asked)})
               AND EXISTS (SELECT FROM holdings h WHERE h.clone = %(clone)s AND h.version = w.owner)
        ), rarity AS (
            SELECT {_weights(table, len(asked))}, c.{_tokens(table)}::float8 / nullif(c.{_rows(table)}, 0) AS average
              FROM clones c LEFT JOIN found ON true WHERE c.n = %(clone)s GROUP BY c.n
        )
        SELECT h.id, h.version, f.number, {_score(len(asked))} AS score
          FROM rarity r CROSS JOIN found f
          CROSS JOIN LATERAL (SELECT {K1}::float8 * (1 - {B}::float8 + {B}::float8 * f.length / r.average) AS short) s
          JOIN holdings h ON h.clone = %(clone)s AND h.version = f.owner JOIN versions v ON v.n = h.version
         WHERE f.times <> array_fill(0::float8, ARRAY[{len(asked)}]) {where}
         ORDER BY score DESC, h.id, f.number LIMIT %(limit)s"""
    return _hits(connection, sql, "score DESC", {**values, "clone": us.clone, "limit": limit}, float)


def _rows(table: str) -> str:
    """The column of `clones` that counts the rows of a table of words."""
    return "arounds" if table == "arounds" else "passages"


def _tokens(table: str) -> str:
    return "around_tokens" if table == "arounds" else "tokens"


def _times(asked: list[list[int]]) -> str:
    """How often each phrase stands in a row."""
    return ", ".join(_times_of(phrase) for phrase in asked)


def _times_of(phrase: list[int]) -> str:
    first = f"array_positions(w.tokens, {phrase[0]}::int8)"
    if len(phrase) == 1:
        return f"cardinality({first})"
    side_by_side = f"w.tokens[at : at + {len(phrase) - 1}] = {_array(phrase)}"
    return f"(SELECT count(*) FROM unnest({first}) AS at WHERE {side_by_side})"


def _holding(asked: list[list[int]]) -> str:
    """What the index over words can tell: rows with any single word, or with all words of a phrase."""
    single = [phrase[0] for phrase in asked if len(phrase) == 1]
    found = [f"w.tokens @> {_array(phrase)}" for phrase in asked if len(phrase) > 1]
    return " OR ".join([*found, f"w.tokens && {_array(single)}"] if single else found)


def _array(numbers: list[int]) -> str:
    return f"ARRAY[{', '.join(map(str, numbers))}]::int8[]"


def _weights(table: str, count: int) -> str:
    """The idf of each phrase, as bm25.idf reckons it."""
    weights = []
    for at in range(1, count + 1):
        held = f"count(*) FILTER (WHERE found.times[{at}] > 0)"
        told = f"ln((c.{_rows(table)} - {held} + 0.5)::float8 / ({held} + 0.5)::float8)"
        weights.append(f"CASE WHEN {told} > 0 THEN {told} ELSE {LEAST_IDF}::float8 END AS weight{at}")
    return ", ".join(weights)


def _score(count: int) -> str:
    """As bm25.bm25 reckons it."""
    of = "r.weight{0} * (f.times[{0}] * {1}::float8) / (f.times[{0}] + s.short)"
    return " + ".join(of.format(at, K1 + 1) for at in range(1, count + 1))


def _telling(connection: Connection[Any], table: str, asked: list[list[int]]) -> list[list[int]]:
    """The rarest phrases that together occur in at most so many passages: ranking each of them takes its time."""
    counted = []
    for phrase in asked:
        sql = f"SELECT count(*) FROM (SELECT 1 FROM {table} w WHERE {_holding([phrase])} LIMIT {RANKED}) f"
        found = connection.execute(sql.encode()).fetchone()
        counted.append((int(found[0]) if found else 0, phrase))
    kept: list[list[int]] = []
    total = 0
    for held, phrase in sorted(counted):
        total += held
        if kept and total > RANKED:
            break
        kept.append(phrase)
    return kept


def _hits(connection: Connection[Any], inner: str, order: str, values: Values, score: Any) -> list[Hit]:
    """The best rows of a query with the fields of their passages; equals by id and place."""
    sql = (
        f"SELECT b.id, b.number, b.{order.split()[0]}, p.field, p.alone FROM ({inner}) b"
        " JOIN passages p ON p.version = b.version AND p.number = b.number"
        f" ORDER BY b.{order}, b.id, b.number LIMIT %(limit)s"
    )
    found = connection.execute(sql.encode(), values).fetchall()
    return [Hit(id, number, score(value), field, alone) for id, number, value, field, alone in found]


def vectors(connection: Connection[Any], us: Clone, only: Filter) -> list[tuple[str, bytes]]:
    """(id, vector) of every body passage inside the filter, by id and place."""
    where, values = conditions(only)
    sql = (
        f"SELECT h.id, x.vector FROM {HELD} JOIN vectors x ON x.owner = h.version"
        " JOIN passages p ON p.version = x.owner AND p.number = x.number"
        f" WHERE h.clone = %(clone)s AND p.field = '{BODY}' {where} ORDER BY h.id, x.number"
    )
    return connection.execute(sql.encode(), {**values, "clone": us.clone}, binary=True).fetchall()


def passage(connection: Connection[Any], us: Clone, id: str, number: int) -> str:
    """The text of one passage."""
    sql = "SELECT text FROM holdings JOIN passages USING (version) WHERE clone = %s AND id = %s AND number = %s"
    found = connection.execute(sql, (us.clone, storable(id), number)).fetchone()
    return str(found[0]) if found else ""


def held(connection: Connection[Any], us: Clone) -> dict[str, str]:
    """The memories that a clone holds, with their digests."""
    return dict(connection.execute("SELECT id, digest FROM holdings WHERE clone = %s", (us.clone,)).fetchall())


def shallow(connection: Connection[Any], us: Clone, limit: int) -> list[str]:
    """Some memories without vectors in the second tier, by version: those that came first."""
    sql = "SELECT id FROM holdings WHERE clone = %s AND deep IS NULL ORDER BY version LIMIT %s"
    return [id for (id,) in connection.execute(sql, (us.clone, limit)).fetchall()]


def depth(connection: Connection[Any], us: Clone) -> tuple[int, int]:
    """How many memories the second tier holds, and how many there are."""
    found = connection.execute("SELECT deep, memories FROM clones WHERE n = %s", (us.clone,)).fetchone()
    return (found[0], found[1]) if found else (0, 0)


def conditions(only: Filter) -> tuple[str, Values]:
    """A filter as SQL over `h` and `v`, and the values it names."""
    any_of = {
        "id": [storable(id) for id in only.ids],
        "kind": list(only.kinds),
        "status": list(only.statuses),
        "type": names(only.types),
        "category": names(only.categories),
        "agent": names(only.agents),
        "session": [storable(name) for name in only.sessions],
    }
    all_of = {"tags": names(only.tags), "entities": names(only.entities)}
    bounds = {"importance >=": only.importance, "created >=": only.since, "created <": only.until}
    where = [f"AND v.{column} = ANY(%({column})s)" for column, wanted in any_of.items() if wanted]
    where += [f"AND v.{column} @> %({column})s::text[]" for column, wanted in all_of.items() if wanted]
    where += [f"AND v.{bound} %({bound})s" for bound, value in bounds.items() if value]
    return " ".join(where), {**any_of, **all_of, **bounds}
