"""Questions to PostgreSQL. A clone is answered, and words are counted, only from the versions that it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....model.filters import ALL_OF, ANY_OF, AT_LEAST, BEFORE, Filter, asked
from ..bm25 import K1, B, phrases
from ..documents import BODY, DEEP, REST, Hit
from ..sqlite import MAX_RANKED_PASSAGES, MIN_IDF, SCALE, SCORE_DIGITS, pack, rarest
from .rows import RENAMED, Vector, number_of, storable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from psycopg import Connection

    from .writing import Clone

    Values = dict[str, object]
    Place = tuple[str, int]  # of a passage: the memory's id, and its number in it

SPARE_ROWS = 32  # rows asked of HNSW beyond the limit, so that ties are broken by id and not by chance
COMPARED = {ANY_OF: "= ANY({})", ALL_OF: "@> {}::text[]", AT_LEAST: ">= {}", BEFORE: "< {}"}
HELD = "holdings h JOIN versions v ON v.n = h.version"


def nearest(
    connection: Connection[Any], us: Clone, vector: bytes, limit: int, only: Filter, tier: str, exact: bool
) -> list[Hit]:
    """Return the passages closest to a vector of this tier, best first."""
    asked = Vector(pack(vector)[0])
    if not any(asked):
        return []
    table, column = ("deep_vectors", "deep") if tier == DEEP else ("vectors", "version")
    where, values = conditions(only)
    where += " AND h.deep IS NULL" if tier == REST else ""
    values |= {"clone": us.clone, "asked": asked, "limit": limit, "more": limit + SPARE_ROWS}
    found = _exactly(table, column, where) if exact else _closely(us, table, column, where, len(asked))
    return _hits(connection, found, "distance", values, lambda distance: 1 - distance * distance / (2 * SCALE * SCALE))


def _exactly(table: str, column: str, where: str) -> str:
    return (
        f"SELECT h.id, h.version, x.number, x.vector <-> %(asked)b AS distance FROM {HELD}"
        f" JOIN {table} x ON x.owner = h.{column} WHERE h.clone = %(clone)s {where}"
        " ORDER BY distance, h.id, x.number LIMIT %(limit)s"
    )


def _closely(us: Clone, table: str, column: str, where: str, dims: int) -> str:
    """Return a query that uses the partial index of this repository; its filter is asked of each row in turn."""
    # A scalar query, which the planner cannot turn into a join that would be sorted.
    inside = f"SELECT true FROM {HELD} WHERE h.clone = %(clone)s AND h.{column} = x.owner {where} LIMIT 1"
    distance = f"x.vector::halfvec({dims}) <-> %(asked)b"
    return (
        f"SELECT h.id, h.version, c.number, c.distance FROM (SELECT x.owner, x.number, {distance} AS distance"
        f" FROM {table} x WHERE x.repository = {us.repository} AND x.dims = {dims} AND ({inside})"
        f" ORDER BY {distance} LIMIT %(more)s) c JOIN holdings h ON h.clone = %(clone)s AND h.{column} = c.owner"
    )


def count_inside(connection: Connection[Any], us: Clone, only: Filter, most: int) -> int:
    """Return how many memories of the clone are inside the filter, at most `most`."""
    where, values = conditions(only)
    sql = f"SELECT count(*) FROM (SELECT 1 FROM {HELD} WHERE h.clone = %(clone)s {where} LIMIT %(most)s) i"
    found = connection.execute(sql.encode(), {**values, "clone": us.clone, "most": most}).fetchone()
    return int(found[0]) if found else 0


def size(connection: Connection[Any], us: Clone) -> int:
    """Return the bytes of all tables and their indexes."""
    sql = "SELECT sum(pg_total_relation_size(oid))::int8 FROM pg_class"
    sql += " WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
    found = connection.execute(sql.encode()).fetchone()
    return int(found[0]) if found else 0


def matching(
    connection: Connection[Any], us: Clone, words: Sequence[str], limit: int, only: Filter, around: bool, huge: bool
) -> list[Hit]:
    """Return the passages that hold any of these words, or stand beside them with `around`; best first."""
    table = "arounds" if around else "words"
    asked = [[number_of(us.repository, term) for term in phrase] for phrase in phrases(words)]
    asked = _telling(connection, table, asked) if huge else asked
    if not asked:
        return []
    where, values = conditions(only)
    rows, tokens = ("arounds", "around_tokens") if around else ("passages", "tokens")
    sql = f"""
        WITH everywhere AS MATERIALIZED ({_found(table, asked)}), found AS MATERIALIZED (
            SELECT e.*, h.id, v.vouched FROM everywhere e JOIN holdings h ON h.clone = %(clone)s AND h.version = e.owner
              JOIN versions v ON v.n = e.owner WHERE e.times > 0
        ), counted AS (
            SELECT 1 AS vouched, {rows} - unvouched_{rows} AS rows, {tokens} - unvouched_{tokens} AS tokens
              FROM clones WHERE n = %(clone)s
             UNION ALL SELECT 0, {rows}, {tokens} FROM clones WHERE n = %(clone)s
        ), telling AS MATERIALIZED (
            SELECT f.phrase, c.vouched, ln((c.rows - f.held + 0.5::float8) / (f.held + 0.5::float8)) AS idf,
                   c.tokens::float8 / c.rows AS average
              FROM counted c JOIN LATERAL (SELECT phrase, count(*) AS held FROM found WHERE vouched >= c.vouched
                                            GROUP BY phrase) f ON c.rows > 0
        ), ranked AS (
            SELECT f.owner, f.number, f.id,
                   round((sum(CASE WHEN t.idf > 0 THEN t.idf ELSE {MIN_IDF}::float8 END * (f.times * {K1 + 1}::float8)
                       / (f.times + {K1}::float8 * (1 - {B}::float8 + {B}::float8 * f.length / t.average))
                       ORDER BY f.phrase))::numeric, {SCORE_DIGITS})::float8 AS score
              FROM found f JOIN telling t USING (phrase, vouched) GROUP BY f.owner, f.number, f.id
        )
        SELECT r.id, r.owner AS version, r.number, r.score FROM ranked r JOIN versions v ON v.n = r.owner
         WHERE true {where} ORDER BY r.score DESC, r.id, r.number LIMIT %(limit)s"""
    return _hits(connection, sql, "score DESC", {**values, "clone": us.clone, "limit": limit}, float)


def _found(table: str, asked: list[list[int]]) -> str:
    """Return a query for the rows with the words of each phrase, and how often the phrase occurs in each row."""
    return " UNION ALL ".join(
        f"SELECT {at} AS phrase, w.owner, w.number, cardinality(w.tokens) - 1 AS length, {_times(phrase)} AS times"
        f" FROM {table} w WHERE w.tokens @> {_array(phrase)}"
        for at, phrase in enumerate(asked)
    )


def _times(phrase: list[int]) -> str:
    first = f"array_positions(w.tokens, {phrase[0]}::int8)"
    if len(phrase) == 1:
        return f"cardinality({first})"
    side_by_side = f"w.tokens[at : at + {len(phrase) - 1}] = {_array(phrase)}"
    return f"(SELECT count(*) FROM unnest({first}) AS at WHERE {side_by_side})"


def _array(numbers: list[int]) -> str:
    return f"ARRAY[{', '.join(map(str, numbers))}]::int8[]"


def _telling(connection: Connection[Any], table: str, asked: list[list[int]]) -> list[list[int]]:
    """Return the rarest phrases; ranking each phrase takes time."""
    counted = []
    for phrase in asked:
        held = f"SELECT 1 FROM {table} w WHERE w.tokens @> {_array(phrase)} LIMIT {MAX_RANKED_PASSAGES}"
        found = connection.execute(f"SELECT count(*) FROM ({held}) f".encode()).fetchone()
        counted.append((int(found[0]) if found else 0, phrase))
    return rarest(counted, MAX_RANKED_PASSAGES)


def _hits(connection: Connection[Any], inner: str, order: str, values: Values, score: Any) -> list[Hit]:
    """Return the best rows of a query with the fields of their passages; equals by id and place."""
    sql = (
        f"SELECT b.id, b.number, b.{order.split()[0]}, p.field, p.alone FROM ({inner}) b"
        " JOIN passages p ON p.version = b.version AND p.number = b.number"
        f" ORDER BY b.{order}, b.id, b.number LIMIT %(limit)s"
    )
    found = connection.execute(sql.encode(), values).fetchall()
    return [Hit(id, number, score(value), field, alone) for id, number, value, field, alone in found]


def vectors(connection: Connection[Any], us: Clone, only: Filter) -> list[tuple[str, bytes]]:
    """Return (id, vector) of every body passage inside the filter, by id and place."""
    where, values = conditions(only)
    sql = (
        f"SELECT h.id, x.vector FROM {HELD} JOIN vectors x ON x.owner = h.version"
        " JOIN passages p ON p.version = x.owner AND p.number = x.number"
        f" WHERE h.clone = %(clone)s AND p.field = '{BODY}' {where} ORDER BY h.id, x.number"
    )
    return connection.execute(sql.encode(), {**values, "clone": us.clone}, binary=True).fetchall()


def texts(connection: Connection[Any], us: Clone, places: Collection[Place]) -> dict[Place, str]:
    """Return the texts of those of these passages that exist."""
    sql = (
        "SELECT h.id, p.number, p.text FROM unnest(%s::text[], %s::int[]) AS w (id, number)"
        " JOIN holdings h ON h.clone = %s AND h.id = w.id"
        " JOIN passages p ON p.version = h.version AND p.number = w.number"
    )
    ids, numbers = [id for id, _ in places], [number for _, number in places]
    return {(id, number): text for id, number, text in connection.execute(sql, (ids, numbers, us.clone)).fetchall()}


def held(connection: Connection[Any], us: Clone) -> dict[str, str]:
    """Return the memories that a clone holds, with their digests."""
    return dict(connection.execute("SELECT id, digest FROM holdings WHERE clone = %s", (us.clone,)).fetchall())


def shallow(connection: Connection[Any], us: Clone, limit: int) -> list[str]:
    """Return some memories without vectors in the second tier, oldest versions first."""
    sql = "SELECT id FROM holdings WHERE clone = %s AND deep IS NULL ORDER BY version LIMIT %s"
    return [id for (id,) in connection.execute(sql, (us.clone, limit)).fetchall()]


def depth(connection: Connection[Any], us: Clone) -> tuple[int, int]:
    """Return how many memories the second tier holds, and how many there are."""
    found = connection.execute("SELECT deep, memories FROM clones WHERE n = %s", (us.clone,)).fetchone()
    return (found[0], found[1]) if found else (0, 0)


def conditions(only: Filter) -> tuple[str, Values]:
    """Return a filter as SQL over `h` and `v`, and the values it names."""
    where: list[str] = []
    values: Values = {}
    for field, wanted in asked(only):
        column = RENAMED.get(field.column, field.column)
        values[field.name] = [storable(name) for name in wanted] if isinstance(wanted, (list, tuple)) else wanted
        where.append(f"AND v.{column} {COMPARED[field.compare].format(f'%({field.name})s')}")
    return " ".join(where), values
