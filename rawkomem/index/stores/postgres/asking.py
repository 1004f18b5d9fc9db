"""Searches in PostgreSQL. Answers and word counts of a clone come only from the versions that the clone holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....model.filters import ALL_OF, ANY_OF, AT_LEAST, BEFORE, Filter, asked
from ..bm25 import K1, B, phrases
from ..documents import BODY, DEEP, REST, Hit
from ..sqlite import MIN_IDF, SCALE, SCORE_DIGITS, pack, rarest
from .rows import RENAMED, BitString, Vector, number_of, storable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from psycopg import Connection

    from .bits import Bits
    from .writing import Clone

    Values = dict[str, object]
    Kept = dict[str, Bits | None]  # table → its bits; None after the first question
    Frequent = dict[str, dict[int, int]]  # table → word → number of rows that contain it
    Place = tuple[str, int]  # of a passage: its memory's id, and its number

CANDIDATES_PER_HIT = 10  # vectors with the closest bits that are compared, per requested hit
MIN_CANDIDATES, MAX_CANDIDATES = 1_000, 30_000  # beyond the maximum, comparing all takes no longer
MORE_CANDIDATES = 5  # factor for the next try, if the filter passed less than half of the candidates
MAX_RANKED_PASSAGES = 2_000  # passages of a large index that are ranked by words; the server takes some 8 µs for each
RARE, RAREST = "rare", "rarest"  # which phrases of a question are ranked: see _rarest
SPARE_LOOKS = 10  # candidates that may be looked at beyond twice the limit: a few hits say little about a filter
COMPARED = {ANY_OF: "= ANY({})", ALL_OF: "@> {}::text[]", AT_LEAST: ">= {}", BEFORE: "< {}"}
HELD = "holdings h JOIN versions v ON v.n = h.version"


def nearest(
    connection: Connection[Any], us: Clone, vector: bytes, limit: int, only: Filter, tier: str, exact: bool, kept: Kept
) -> list[Hit]:
    """Return the passages closest to a vector of this tier, best first.

    With `exact`, compare all passages, else those with the closest bits.
    """
    fine, bits = pack(vector)
    if not any(fine):
        return []
    where, values = conditions(only)
    where += " AND h.deep IS NULL" if tier == REST else ""
    values |= {"clone": us.clone, "asked": Vector(fine), "limit": limit}
    vectors, held = ("deep_vectors", "deep") if tier == DEEP else ("vectors", "version")
    close = max(MIN_CANDIDATES, CANDIDATES_PER_HIT * limit)
    while not exact and close <= MAX_CANDIDATES:
        sql, more = _candidates(connection, us, tier, bits, fine, close, kept)
        found, looked_at = _by_distance(connection, _among(sql, vectors, held, where), {**values, **more})
        if len(found) == limit and looked_at <= 2 * limit + SPARE_LOOKS:
            return found
        close *= MORE_CANDIDATES  # few pass the filter, or most belong to other clones
    return _by_distance(connection, _exactly(vectors, held, where), values)[0]


def _by_distance(connection: Connection[Any], best: str, values: Values) -> tuple[list[Hit], int]:
    """Return the hits of a query for the best vectors, and the rank of the last hit among all candidates."""
    sql = (
        f"SELECT b.id, b.number, b.distance, p.field, p.alone, b.place FROM ({best}) b JOIN passages p"
        " ON p.version = b.version AND p.number = b.number ORDER BY b.distance, b.id, b.number LIMIT %(limit)s"
    )
    found = connection.execute(sql.encode(), values).fetchall()
    hits = [Hit(row[0], row[1], 1 - row[2] * row[2] / (2 * SCALE * SCALE), row[3], row[4]) for row in found]
    return hits, max((row[5] for row in found), default=0)


def _exactly(vectors: str, held: str, where: str) -> str:
    inside = f"SELECT h.id, h.version, h.{held} AS owner FROM {HELD} WHERE h.clone = %(clone)s {where}"
    return (
        f"SELECT i.id, i.version, x.number, x.vector <-> %(asked)b AS distance, 0 AS place FROM ({inside}) i"
        f" JOIN {vectors} x ON x.owner = i.owner ORDER BY distance, i.id, x.number LIMIT %(limit)s"
    )


def _among(candidates: str, vectors: str, held: str, where: str) -> str:
    """Return a query that compares the candidates, then keeps those that the clone holds, from the best on."""
    compared = (
        f"SELECT x.owner, x.number, x.vector <-> %(asked)b AS distance FROM ({candidates}) c"
        f" JOIN {vectors} x ON x.owner = c.owner AND x.number = c.number"
    )
    return (
        "SELECT s.id, s.version, c.number, c.distance, c.place FROM"
        f" (SELECT *, row_number() OVER (ORDER BY distance) AS place FROM ({compared} OFFSET 0) x) c CROSS JOIN LATERAL"
        f" (SELECT h.id, h.version FROM {HELD} WHERE h.clone = %(clone)s AND h.{held} = c.owner {where} OFFSET 0) s"
        " ORDER BY c.distance FETCH FIRST %(limit)s ROWS WITH TIES"
    )


def _candidates(
    connection: Connection[Any], us: Clone, tier: str, bits: bytes, fine: bytes, close: int, kept: Kept
) -> tuple[str, Values]:
    """Return a query for the vectors with the closest bits. From its second question on, a process caches all bits."""
    table, dims = "deep_bits" if tier == DEEP else "bits", len(fine)
    if table not in kept:
        kept[table] = None
        where = f"repository = {us.repository} AND dims = {dims}"
        sql = f"SELECT owner, number FROM {table} WHERE {where} ORDER BY bit_count(bits # %(bits)b) LIMIT {close}"
        return sql, {"bits": BitString(bits)}
    from .bits import Bits  # loads numpy, which pays only in a long-running process

    known = kept[table]
    if known is None or (known.of.repository, known.of.generation) != (us.repository, us.generation):
        known = kept[table] = Bits(us, table, dims)
    known.refresh(connection)
    owners, numbers = known.closest(bits, fine, close)
    sql = "SELECT * FROM unnest(%(owners)s::int8[], %(numbers)s::int4[]) AS u (owner, number)"
    return sql, {"owners": _literal(owners), "numbers": _literal(numbers)}


def _literal(numbers: list[int]) -> str:
    """Return an array as text: the driver takes longer to convert a list than the server to answer."""
    return "{" + ",".join(map(str, numbers)) + "}"


def has_more_passages(connection: Connection[Any], us: Clone, only: Filter, most: int) -> bool:
    """Tell whether the clone's memories inside the filter have more than `most` passages."""
    where, values = conditions(only)
    passages = f"SELECT v.passages FROM {HELD} WHERE h.clone = %(clone)s {where} LIMIT %(most)s + 1"
    sql = f"SELECT coalesce(sum(passages), 0) > %(most)s FROM ({passages}) i"
    found = connection.execute(sql.encode(), {**values, "clone": us.clone, "most": most}).fetchone()
    return bool(found and found[0])


def size(connection: Connection[Any], us: Clone) -> int:
    """Return the bytes of all tables and their indexes."""
    sql = "SELECT sum(pg_total_relation_size(oid))::int8 FROM pg_class"
    sql += " WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
    found = connection.execute(sql.encode()).fetchone()
    return int(found[0]) if found else 0


def matching(
    connection: Connection[Any],
    us: Clone,
    words: Sequence[str],
    limit: int,
    only: Filter,
    around: bool,
    frequent: Frequent | None,
) -> list[Hit]:
    """Return the passages that contain any of these words, with `around` also in their surroundings; best first.

    With `frequent`, use only the rarest words, which together occur in at most MAX_RANKED_PASSAGES passages.
    """
    table = "arounds" if around else "words"
    asked = [[number_of(us.repository, term) for term in phrase] for phrase in phrases(words)]
    if frequent is None:
        return _ranked(connection, us, asked, limit, only, table) if asked else []
    left = asked
    found: list[Hit] = []
    while left and not found:  # rare words may be in no passage at all
        rare = rarest([(_held(phrase, frequent[table]), phrase) for phrase in left], MAX_RANKED_PASSAGES)
        found = _ranked(connection, us, rare, limit, only, table, RARE) if len(rare) > 1 else []
        found = found or _ranked(connection, us, rare, limit, only, table, RAREST)
        left = [phrase for phrase in left if phrase not in rare]
    return found


def _ranked(
    connection: Connection[Any],
    us: Clone,
    asked: list[list[int]],
    limit: int,
    only: Filter,
    table: str,
    only_phrases: str = "",
) -> list[Hit]:
    """Return the best rows that contain any of these phrases, or only the RARE or the RAREST of them."""
    where, values = conditions(only)
    rows, tokens = ("arounds", "around_tokens") if table == "arounds" else ("passages", "tokens")
    sql = f"""
        WITH everywhere AS MATERIALIZED ({_found(table, asked, only_phrases == RARE)}), found AS MATERIALIZED (
            SELECT e.phrase, e.owner, e.number, e.length, e.times, s.id, s.vouched, s.inside
              FROM {_rarest(only_phrases) if only_phrases else "everywhere"} e CROSS JOIN LATERAL
                   (SELECT v.id, v.vouched, true {where} AS inside FROM {HELD}
                     WHERE h.clone = %(clone)s AND h.version = e.owner OFFSET 0) s
             WHERE e.times > 0
        ), counted AS (
            SELECT 1 AS vouched, {rows} - unvouched_{rows} AS rows, {tokens} - unvouched_{tokens} AS tokens
              FROM clones WHERE n = %(clone)s
             UNION ALL SELECT 0, {rows}, {tokens} FROM clones WHERE n = %(clone)s
        ), telling AS MATERIALIZED (
            SELECT f.phrase, c.vouched, ln((c.rows - f.held + 0.5::float8) / (f.held + 0.5::float8)) AS idf,
                   c.tokens::float8 / c.rows AS average
              FROM counted c JOIN LATERAL (SELECT phrase, count(*) AS held FROM found WHERE vouched >= c.vouched
                                            GROUP BY phrase) f ON c.rows > 0
        )
        SELECT f.id, f.owner AS version, f.number,
               round(sum(CASE WHEN t.idf > 0 THEN t.idf ELSE {MIN_IDF}::float8 END * (f.times * {K1 + 1}::float8)
                   / (f.times + {K1}::float8 * (1 - {B}::float8 + {B}::float8 * f.length / t.average))
                   ORDER BY f.phrase) * {10**SCORE_DIGITS}::float8) / {10**SCORE_DIGITS}::float8 AS score
          FROM found f JOIN telling t USING (phrase, vouched) WHERE f.inside GROUP BY f.owner, f.number, f.id
         ORDER BY score DESC, f.id, f.number LIMIT %(limit)s"""
    return _hits(connection, sql, {**values, "clone": us.clone, "limit": limit})


def _found(table: str, asked: list[list[int]], is_cut: bool) -> str:
    """Return a query for the rows with the words of each phrase, and how often the phrase occurs in each row.

    With `is_cut`, it reads at most MAX_RANKED_PASSAGES + 1 rows of a phrase: enough to tell that it is frequent.
    """
    cut = f" LIMIT {MAX_RANKED_PASSAGES + 1}" if is_cut else ""
    return " UNION ALL ".join(
        f"(SELECT {at} AS phrase, w.owner, w.number, cardinality(w.tokens) - 1 AS length, {_times(phrase)} AS times"
        f" FROM {table} w WHERE w.tokens @> {_array(phrase)}{cut})"
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


def _rarest(only_phrases: str) -> str:
    """Return a query for the rows of the rarest phrases that are in at most MAX_RANKED_PASSAGES rows together.

    For RAREST, it returns the rows of one phrase even if these are more.
    """
    least_one = " OR k.place = 1" if only_phrases == RAREST else ""
    return (
        "(SELECT w.* FROM everywhere w JOIN (SELECT phrase, row_number() OVER rarer AS place, sum(count(*)) OVER rarer"
        " AS held FROM everywhere GROUP BY phrase WINDOW rarer AS (ORDER BY count(*), phrase)) k USING (phrase)"
        f" WHERE k.held <= {MAX_RANKED_PASSAGES}{least_one})"
    )


def _held(phrase: list[int], frequent: dict[int, int]) -> int:
    """Estimate how many rows contain a phrase: as many as its rarest word, 0 for a word that is not frequent."""
    return min(frequent.get(word, 0) for word in phrase)


def frequent_words(connection: Connection[Any], us: Clone) -> Frequent:
    """Return the frequent words in the server's statistics, and about how many rows of all repositories have them."""
    sql = (
        "SELECT s.tablename, s.most_common_elems::text::int8[], s.most_common_elem_freqs, c.reltuples FROM pg_stats s"
        " JOIN pg_class c ON c.relname = s.tablename AND c.relnamespace = s.schemaname::regnamespace"
        " WHERE s.schemaname = current_schema() AND s.attname = 'tokens' AND s.most_common_elems IS NOT NULL"
    )
    found: Frequent = {"words": {}, "arounds": {}}
    for table, words, shares, rows in connection.execute(sql.encode()).fetchall():
        found[table] = {word: int(share * rows) for word, share in zip(words, shares, strict=False)}
    return found


def _hits(connection: Connection[Any], inner: str, values: Values) -> list[Hit]:
    """Return the best rows of a query with the fields of their passages; ties are sorted by id and number."""
    sql = (
        f"SELECT b.id, b.number, b.score, p.field, p.alone FROM ({inner}) b"
        " JOIN passages p ON p.version = b.version AND p.number = b.number"
        " ORDER BY b.score DESC, b.id, b.number LIMIT %(limit)s"
    )
    return [Hit(*row) for row in connection.execute(sql.encode(), values).fetchall()]


def vectors(connection: Connection[Any], us: Clone, only: Filter) -> list[tuple[str, bytes]]:
    """Return (id, vector) of every body passage inside the filter, sorted by id and number."""
    where, values = conditions(only)
    sql = (
        f"SELECT h.id, x.vector FROM {HELD} JOIN vectors x ON x.owner = h.version"
        " JOIN passages p ON p.version = x.owner AND p.number = x.number"
        f" WHERE h.clone = %(clone)s AND p.field = '{BODY}' {where} ORDER BY h.id, x.number"
    )
    return connection.execute(sql.encode(), {**values, "clone": us.clone}, binary=True).fetchall()


def texts(connection: Connection[Any], us: Clone, places: Collection[Place]) -> dict[Place, str]:
    """Return the texts of these passages; passages that do not exist are left out."""
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
    """Return up to `limit` memories without contextual vectors, oldest versions first."""
    sql = "SELECT id FROM holdings WHERE clone = %s AND deep IS NULL ORDER BY version LIMIT %s"
    return [id for (id,) in connection.execute(sql, (us.clone, limit)).fetchall()]


def depth(connection: Connection[Any], us: Clone) -> tuple[int, int]:
    """Return how many memories have contextual vectors, and how many there are."""
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
