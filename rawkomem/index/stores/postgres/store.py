"""The PostgreSQL search store: one index for a team, fed from many clones of many repositories.

Each version of a memory is stored once, and a clone holds the versions that are in its own files
(sql/0001_index.sql). So a clone's answers and word counts match its files, and it cannot change the
answers of another clone. See docs/postgres.md. Changes are collected until a question or a commit,
then written in one transaction that holds the repository's lock, a row of `repositories`: writers
of one repository take turns, readers never see a part of a version, and locks are taken in one
order. After a lost connection the changes are written again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeVar

from ....model.filters import ALL_OF, ANY_OF, AT_LEAST, BEFORE, Filter, asked
from ....model.values import record
from ..protocol import K1, B, BaseStore, phrases_of
from ..sqlite import (
    BATCH_FILES,
    BODY,
    DEEP,
    FIRST,
    MIN_IDF,
    REST,
    SCALE,
    SCORE_DIGITS,
    Document,
    Hit,
    pack,
    pack_all,
    rarest,
)
from .server import (
    COLUMNS,
    RENAMED,
    BitString,
    Connections,
    Vector,
    Version,
    hash_of_vectors,
    number_of,
    packed_vector,
    storable,
    terms_of,
    tokens_of,
    versions_of,
)

if TYPE_CHECKING:
    import psycopg
    from psycopg import Connection

    from ..bits import PostgresBits

    Kept = dict[str, PostgresBits | None]
    AnyConnection = psycopg.Connection[Any]
    Change = Callable[[AnyConnection, "Clone"], object]

Row = tuple[object, ...]
Values = dict[str, object]
Frequent = dict[str, dict[int, int]]
Place = tuple[str, int]
Search = tuple[tuple[str, ...], int, Filter, bool]  # words, limit, filter, around


# Writes to PostgreSQL. Each function runs in a transaction that holds the repository's lock, a row
# of `repositories`.
#
# So writers of one repository take turns, readers never see a part of a version, and locks are
# taken in one order.

STALE_AFTER = "90 days"  # a clone not used for this long is removed; if it is used again, its index is rebuilt
WRITE_TIMEOUT_MS = 600_000  # for one statement: erasing a million memories takes minutes
COPIED_COLUMNS = {
    "versions": "n int8, repository int4, id text, hash bytea, kind text, status text, title text, importance int2,"
    " created int8, agent text, tags text[], type text, category text, entities text[], session text, said_by text,"
    " said_tags text[], said_category text, passages int4, tokens int4, arounds int4, around_tokens int4,"
    " vouched int2, told jsonb",
    "passages": "version int8, number int4, field text, alone bool, heading text, line int4, text text",
    "vectors": "owner int8, number int4, repository int4, dims int4, vector halfvec",
    "deep_vectors": "owner int8, number int4, repository int4, dims int4, vector halfvec",
    "bits": "repository int4, dims int4, owner int8, number int4, bits varbit",
    "deep_bits": "repository int4, dims int4, owner int8, number int4, bits varbit",
    "words": "owner int8, number int4, tokens int8[]",
    "arounds": "owner int8, number int4, tokens int8[]",
    "depths": "n int8, version int8, hash bytea",
}


@record
class Clone:
    """A clone as the database knows it."""

    repository: int
    clone: int
    generation: str
    passages: int
    recent: bool  # used within a day


def find_clone(
    connection: Connection[Any], repository: str, clone: str, lock: bool = False
) -> Clone | None:
    """Return the clone of these names; with `lock`, lock its repository until the transaction ends."""
    sql = "SELECT r.n, c.n, c.generation, c.passages, c.seen > now() - interval '1 day' FROM repositories r"
    sql += (
        " JOIN clones c ON c.repository = r.n WHERE r.name = %s AND c.name = %s"
        + " FOR UPDATE OF r" * lock
    )
    found = connection.execute(sql.encode(), (storable(repository), storable(clone))).fetchone()
    return Clone(*found) if found else None


def lock_clone(connection: Connection[Any], repository: str, clone: str) -> Clone:
    """Return the clone of these names, adding it if missing; lock its repository until the transaction ends."""
    us = find_clone(connection, repository, clone, lock=True)
    if us is None:
        run = connection.execute
        run(
            "INSERT INTO repositories (name) VALUES (%s) ON CONFLICT DO NOTHING",
            (storable(repository),),
        )
        run("SELECT FROM repositories WHERE name = %s FOR UPDATE", (storable(repository),))
        run(
            "INSERT INTO clones (repository, name, generation) SELECT n, %s, %s FROM repositories WHERE name = %s"
            " ON CONFLICT DO NOTHING",
            (storable(clone), token_hex(8), storable(repository)),
        )
        us = find_clone(connection, repository, clone, lock=True)
        assert us is not None
    if not us.recent:
        connection.execute("UPDATE clones SET seen = now() WHERE n = %s", (us.clone,))
        stale = (
            f"DELETE FROM clones WHERE repository = %s AND seen < now() - interval '{STALE_AFTER}'"
        )
        connection.execute(stale.encode(), (us.repository,))
    return us


def put_versions(connection: Connection[Any], us: Clone, documents: Sequence[Document]) -> None:
    """Make the clone hold these memories, and add their versions that the database lacks."""
    latest = {document.id: document for document in documents}
    versions = versions_of(list(latest.values()))
    sql = "SELECT hash, n FROM versions WHERE repository = %s AND hash = ANY(%s)"
    known = dict(
        connection.execute(sql, (us.repository, [version.hash for version in versions])).fetchall()
    )
    fresh = [version for version in versions if version.hash not in known]
    numbered = list(zip(_new_numbers(connection, "versions", len(fresh)), fresh, strict=True))
    _add_versions(connection, us, numbered)
    known |= {version.hash: n for n, version in numbered}
    held = [(storable(v.document.id), known[v.hash], v.document.digest) for v in versions]
    connection.execute(
        "INSERT INTO holdings (clone, id, version, digest) SELECT %s, * FROM unnest(%s::text[], %s::int8[], %s::text[])"
        " ON CONFLICT (clone, id) DO UPDATE SET version = excluded.version, digest = excluded.digest,"
        " deep = CASE WHEN holdings.version = excluded.version THEN holdings.deep END",
        (us.clone, *map(list, zip(*held, strict=True))),
    )


def _new_numbers(connection: Connection[Any], table: str, count: int) -> list[int]:
    """Return `count` new row numbers."""
    sql = "SELECT nextval(pg_get_serial_sequence(%s, 'n')) FROM generate_series(1, %s)"
    return [n for (n,) in connection.execute(sql, (table, count)).fetchall()]


def _add_versions(
    connection: Connection[Any], us: Clone, numbered: Sequence[tuple[int, Version]]
) -> None:
    rows: dict[str, list[Row]] = {
        table: [] for table in ("versions", "passages", "vectors", "bits", "words", "arounds")
    }
    for n, version in numbered:
        document = version.document
        terms = [terms_of(document, passage) for passage in document.passages]
        words, arounds = [own for own, _ in terms], [around for _, around in terms if around]
        rows["versions"].append((n, us.repository, *version.columns(words, arounds)))
        for number, (passage, (own, around)) in enumerate(
            zip(document.passages, terms, strict=True)
        ):
            heading, text = storable(passage.heading), storable(passage.text)
            rows["passages"].append(
                (n, number, passage.field, not around, heading, passage.line, text)
            )
            rows["words"].append((n, number, tokens_of(us.repository, own)))
            if around:
                rows["arounds"].append((n, number, tokens_of(us.repository, around)))
        rows["vectors"] += _vector_rows(us, n, version.vectors)
        rows["bits"] += _bit_rows(us, n, version.vectors)
    for table, own_rows in rows.items():
        _copy_rows(connection, table, own_rows)


def _vector_rows(us: Clone, owner: int, vectors: Sequence[Vector]) -> Iterable[Row]:
    """Return a row for each vector, without vectors of zeros, which are close to nothing."""
    numbered = enumerate(vectors)
    return (
        (owner, number, us.repository, len(vector), vector)
        for number, vector in numbered
        if any(vector)
    )


def _bit_rows(us: Clone, owner: int, vectors: Sequence[Vector]) -> Iterable[Row]:
    """Return a row of bits for each vector, without vectors of zeros."""
    numbered = enumerate(vectors)
    return ((us.repository, len(v), owner, number, v.bits) for number, v in numbered if any(v))


def _copy_rows(connection: Connection[Any], table: str, rows: Iterable[Row]) -> None:
    columns = [column.rsplit(" ", 1) for column in COPIED_COLUMNS[table].split(", ")]
    names = ", ".join(name for name, _ in columns)
    sql = f"COPY {table} ({names}) FROM STDIN (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.copy(sql.encode()) as copy:
        vector_oid = connection.adapters.get_dumper(Vector, "b").oid  # type: ignore[arg-type]
        copy.set_types([vector_oid if name == "halfvec" else name for _, name in columns])
        for row in rows:
            copy.write_row(row)


def put_deep_vectors(
    connection: Connection[Any], us: Clone, vectors: Mapping[str, Sequence[bytes]]
) -> None:
    """Store contextual vectors of the clone's memories; skip a memory without one vector per passage."""
    sql = "SELECT h.id, h.version FROM holdings h JOIN versions v ON v.n = h.version"
    sql += " JOIN unnest(%s::text[], %s::int[]) AS given (id, passages) ON given.id = h.id"
    sql += " WHERE h.clone = %s AND v.passages = given.passages"
    ids = {storable(id): own for id, own in vectors.items()}
    found = connection.execute(
        sql.encode(), (list(ids), [len(own) for own in ids.values()], us.clone)
    ).fetchall()
    fine = iter(pack_all([vector for id, _ in found for vector in ids[id]]))
    sets = {(id, version): [packed_vector(*next(fine)) for _ in ids[id]] for id, version in found}
    hashes = {version: hash_of_vectors(own) for (_, version), own in sets.items()}
    known = _known_depths(connection, hashes)
    fresh = [(version, own) for (_, version), own in sets.items() if version not in known]
    numbered = list(zip(_new_numbers(connection, "depths", len(fresh)), fresh, strict=True))
    _copy_rows(
        connection, "depths", ((n, version, hashes[version]) for n, (version, _) in numbered)
    )
    _copy_rows(
        connection,
        "deep_vectors",
        (row for n, (_, own) in numbered for row in _vector_rows(us, n, own)),
    )
    _copy_rows(
        connection, "deep_bits", (row for n, (_, own) in numbered for row in _bit_rows(us, n, own))
    )
    known |= {version: n for n, (version, _) in numbered}
    connection.execute(
        "UPDATE holdings h SET deep = given.deep FROM unnest(%s::int8[], %s::int8[]) AS given (version, deep)"
        " WHERE h.clone = %s AND h.version = given.version",
        (list(known), list(known.values()), us.clone),
    )


def _known_depths(connection: Connection[Any], hashes: Mapping[int, bytes]) -> dict[int, int]:
    """Return version → number of the sets of vectors that exist."""
    sql = "SELECT version, n FROM depths JOIN unnest(%s::int8[], %s::bytea[]) AS given (version, hash)"
    sql += " USING (version, hash)"
    return dict(connection.execute(sql.encode(), (list(hashes), list(hashes.values()))).fetchall())


# Searches in PostgreSQL. Answers and word counts of a clone come only from the versions that the
# clone holds.

CANDIDATES_PER_HIT = 10  # vectors with the closest bits that are compared, per requested hit
MIN_CANDIDATES, MAX_CANDIDATES = 1_000, 30_000  # beyond the maximum, comparing all takes no longer
MORE_CANDIDATES = (
    5  # factor for the next try, if the filter passed less than half of the candidates
)
MAX_RANKED_PASSAGES = (
    2_000  # passages of a large index that are ranked by words; the server takes some 8 µs for each
)
RARE, RAREST = "rare", "rarest"  # which phrases of a question are ranked: see _rarest
SPARE_LOOKS = 10  # candidates that may be looked at beyond twice the limit: a few hits say little about a filter
COMPARED = {ANY_OF: "= ANY({})", ALL_OF: "@> {}::text[]", AT_LEAST: ">= {}", BEFORE: "< {}"}
HELD_VERSIONS = "holdings h JOIN versions v ON v.n = h.version"


def nearest_passages(
    connection: Connection[Any],
    us: Clone,
    vector: bytes,
    limit: int,
    only: Filter,
    tier: str,
    exact: bool,
    kept: Kept,
) -> list[Hit]:
    """Return the passages closest to a vector of this tier, best first.

    With `exact`, compare all passages, else those with the closest bits.
    """
    fine, bits = pack(vector)
    if not any(fine):
        return []
    where, values = filter_sql(only)
    where += " AND h.deep IS NULL" if tier == REST else ""
    values |= {"clone": us.clone, "asked": Vector(fine), "limit": limit}
    vectors, held = ("deep_vectors", "deep") if tier == DEEP else ("vectors", "version")
    close = max(MIN_CANDIDATES, CANDIDATES_PER_HIT * limit)
    while not exact and close <= MAX_CANDIDATES:
        sql, more = _candidates_by_bits(connection, us, tier, bits, fine, close, kept)
        found, looked_at = _by_distance(
            connection, _among(sql, vectors, held, where), {**values, **more}
        )
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
    hits = [
        Hit(row[0], row[1], 1 - row[2] * row[2] / (2 * SCALE * SCALE), row[3], row[4])
        for row in found
    ]
    return hits, max((row[5] for row in found), default=0)


def _exactly(vectors: str, held: str, where: str) -> str:
    inside = f"SELECT h.id, h.version, h.{held} AS owner FROM {HELD_VERSIONS} WHERE h.clone = %(clone)s {where}"
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
        f" (SELECT h.id, h.version FROM {HELD_VERSIONS} WHERE h.clone = %(clone)s AND h.{held} = c.owner {where} OFFSET 0) s"
        " ORDER BY c.distance FETCH FIRST %(limit)s ROWS WITH TIES"
    )


def _candidates_by_bits(
    connection: Connection[Any],
    us: Clone,
    tier: str,
    bits: bytes,
    fine: bytes,
    close: int,
    kept: Kept,
) -> tuple[str, Values]:
    """Return a query for the vectors with the closest bits. From its second question on, a process caches all bits."""
    table, dims = "deep_bits" if tier == DEEP else "bits", len(fine)
    if table not in kept:
        kept[table] = None
        where = f"repository = {us.repository} AND dims = {dims}"
        sql = f"SELECT owner, number FROM {table} WHERE {where} ORDER BY bit_count(bits # %(bits)b) LIMIT {close}"
        return sql, {"bits": BitString(bits)}
    from ..bits import PostgresBits  # loads numpy, which pays only in a long-running process

    known = kept[table]
    if known is None or (known.of.repository, known.of.generation) != (
        us.repository,
        us.generation,
    ):
        known = kept[table] = PostgresBits(us, table, dims)
    known.refresh(connection)
    owners, numbers = known.closest(bits, fine, close)
    sql = "SELECT * FROM unnest(%(owners)s::int8[], %(numbers)s::int4[]) AS u (owner, number)"
    return sql, {"owners": _array_text(owners), "numbers": _array_text(numbers)}


def _array_text(numbers: list[int]) -> str:
    """Return an array as text: the driver takes longer to convert a list than the server to answer."""
    return "{" + ",".join(map(str, numbers)) + "}"


def matching_passages(
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
    asked = [[number_of(us.repository, term) for term in phrase] for phrase in phrases_of(words)]
    if frequent is None:
        return _ranked(connection, us, asked, limit, only, table) if asked else []
    left = asked
    found: list[Hit] = []
    while left and not found:  # rare words may be in no passage at all
        rare = rarest(
            [(_estimated_rows(phrase, frequent[table]), phrase) for phrase in left],
            MAX_RANKED_PASSAGES,
        )
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
    where, values = filter_sql(only)
    rows, tokens = ("arounds", "around_tokens") if table == "arounds" else ("passages", "tokens")
    sql = f"""
        WITH everywhere AS MATERIALIZED ({_phrase_rows(table, asked, only_phrases == RARE)}), found AS MATERIALIZED (
            SELECT e.phrase, e.owner, e.number, e.length, e.times, s.id, s.vouched, s.inside
              FROM {_rarest(only_phrases) if only_phrases else "everywhere"} e CROSS JOIN LATERAL
                   (SELECT v.id, v.vouched, true {where} AS inside FROM {HELD_VERSIONS}
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


def _phrase_rows(table: str, asked: list[list[int]], is_cut: bool) -> str:
    """Return a query for the rows with the words of each phrase, and how often the phrase occurs in each row.

    With `is_cut`, it reads at most MAX_RANKED_PASSAGES + 1 rows of a phrase: enough to tell that it is frequent.
    """
    cut = f" LIMIT {MAX_RANKED_PASSAGES + 1}" if is_cut else ""
    return " UNION ALL ".join(
        f"(SELECT {at} AS phrase, w.owner, w.number, cardinality(w.tokens) - 1 AS length, {_times(phrase)} AS times"
        f" FROM {table} w WHERE w.tokens @> {_sql_array(phrase)}{cut})"
        for at, phrase in enumerate(asked)
    )


def _times(phrase: list[int]) -> str:
    first = f"array_positions(w.tokens, {phrase[0]}::int8)"
    if len(phrase) == 1:
        return f"cardinality({first})"
    side_by_side = f"w.tokens[at : at + {len(phrase) - 1}] = {_sql_array(phrase)}"
    return f"(SELECT count(*) FROM unnest({first}) AS at WHERE {side_by_side})"


def _sql_array(numbers: list[int]) -> str:
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


def _estimated_rows(phrase: list[int], frequent: dict[int, int]) -> int:
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


def body_vectors(connection: Connection[Any], us: Clone, only: Filter) -> list[tuple[str, bytes]]:
    """Return (id, vector) of every body passage inside the filter, sorted by id and number."""
    where, values = filter_sql(only)
    sql = (
        f"SELECT h.id, x.vector FROM {HELD_VERSIONS} JOIN vectors x ON x.owner = h.version"
        " JOIN passages p ON p.version = x.owner AND p.number = x.number"
        f" WHERE h.clone = %(clone)s AND p.field = '{BODY}' {where} ORDER BY h.id, x.number"
    )
    return connection.execute(sql.encode(), {**values, "clone": us.clone}, binary=True).fetchall()


def filter_sql(only: Filter) -> tuple[str, Values]:
    """Return a filter as SQL over `h` and `v`, and the values it names."""
    where: list[str] = []
    values: Values = {}
    for field, wanted in asked(only):
        column = RENAMED.get(field.column, field.column)
        values[field.name] = (
            [storable(name) for name in wanted] if isinstance(wanted, (list, tuple)) else wanted
        )
        where.append(f"AND v.{column} {COMPARED[field.compare].format(f'%({field.name})s')}")
    return " ".join(where), values


# The PostgreSQL search store: one index for a team, fed from many clones of many repositories.
#
# Each version of a memory is stored once, and a clone holds the versions that are in its own files
# (sql/0001_index.sql). So a clone's answers match its files, and it cannot change the answers of
# another clone. See docs/postgres.md. Changes are collected until a question or a commit, then
# written in one transaction. After a lost connection they are written again.

T = TypeVar("T")

AHEAD_THREADS = 2  # search for words while this process compares vectors
MAX_EXACT_PASSAGES = 10_000  # up to this many passages are all compared: some 20 ms, and exact
HUGE_PASSAGES = 20_000  # with more passages, frequent words are ignored
FETCHED_TEXTS = (
    30  # hits per question whose texts are fetched in one query: more than most answers show
)
# A GIN index collects new rows in a list, which each search scans until the rows are moved into the index.
SORT_IN = (
    "SELECT gin_clean_pending_list(oid) FROM pg_class WHERE relname IN ('words_tokens', 'arounds_tokens_idx')"
    " AND relnamespace = current_schema()::regnamespace AND pg_has_role(relowner, 'USAGE')"
)
ANALYZE_AFTER_CHANGES = 1_000  # changed memories after which the planner's statistics are updated
ANALYZED_TABLES = (
    "repositories, clones, holdings, versions, passages, vectors, deep_vectors, words, arounds"
)


class PostgresStore(BaseStore):
    """Implements OutsideStore, which documents the methods, for one clone of a repository."""

    columns = COLUMNS
    tells = True  # the views of neolata's tables show `Document.told`

    def __init__(self, connections: Connections, repository: str, clone: str, dims: int):
        self.dims = dims
        self._connections = connections
        self._names = repository, clone
        self._changes: list[Change] = []  # since the last commit
        self._applied = 0  # how many of them the writer has made
        self._writer: AnyConnection | None = (
            None  # in a transaction that holds the repository's lock
        )
        self._small: dict[
            tuple[Filter, str], bool
        ] = {}  # (filter, tier) → whether all inside are compared
        self._kept: Kept = {}
        self._frequent: Frequent | None = None
        self._hits: set[Place] = set()  # recent hits, whose texts are fetched together
        self._texts: dict[Place, str] = {}
        self._threads: ThreadPoolExecutor | None = None
        self._ahead: dict[Search, Future[list[Hit]]] = {}  # searches that `expect` has started
        self._put = self._unsettled = (
            0  # memories put since the last commit; since the last ANALYZE
        )
        try:
            self._us = connections.run(self._join)
        except BaseException:
            connections.close()
            raise

    def _join(self, connection: AnyConnection) -> Clone:
        """Return this clone; add it to the database if it is missing."""
        found = find_clone(connection, *self._names)
        if found and found.recent:
            return found
        with connection.transaction():
            return lock_clone(connection, *self._names)

    # Writing

    def put(self, documents: Sequence[Document]) -> None:
        if documents:
            self._put += len(documents)
            self._change(lambda connection, us: put_versions(connection, us, documents))

    def drop(self, ids: Sequence[str]) -> None:
        if ids:
            sql = "DELETE FROM holdings WHERE clone = %s AND id = ANY(%s)"
            wanted = [storable(id) for id in ids]
            self._change(lambda connection, us: connection.execute(sql, (us.clone, wanted)))

    def deepen(self, vectors: Mapping[str, Sequence[bytes]]) -> None:
        if vectors:
            self._put += len(vectors)
            self._change(lambda connection, us: put_deep_vectors(connection, us, vectors))

    def flatten(self) -> None:
        sql = "UPDATE holdings SET deep = NULL WHERE clone = %s AND deep IS NOT NULL"
        self._change(lambda connection, us: connection.execute(sql, (us.clone,)))

    def erase(self) -> None:
        """Remove everything that this clone holds, and change its generation."""
        self._changes.clear()
        self._abandon()
        self._put = 0
        sql = "UPDATE clones SET generation = %s WHERE n = %s"
        self._change(
            lambda connection, us: connection.execute(
                "DELETE FROM holdings WHERE clone = %s", (us.clone,)
            )
        )
        self._change(lambda connection, us: connection.execute(sql, (token_hex(8), us.clone)))

    def commit(self) -> None:
        if not self._changes:
            return
        self._retried(self._commit)
        put, self._put = self._put, 0
        self._unsettled += put
        if put < BATCH_FILES:
            self._settle()

    def _commit(self) -> None:
        self._written().execute("COMMIT")
        self._changes.clear()
        self._abandon()

    def _change(self, change: Change) -> None:
        self._small.clear()
        self._forget_texts()
        self._changes.append(change)

    def _written(self) -> AnyConnection:
        """Return the writer's connection, on which every change has been made."""
        if self._writer is None:
            self._writer = self._connections.take()
            self._writer.execute("BEGIN")
            self._writer.execute(f"SET LOCAL statement_timeout = {WRITE_TIMEOUT_MS}")
            self._us = lock_clone(self._writer, *self._names)
        while self._applied < len(self._changes):
            self._changes[self._applied](self._writer, self._us)
            self._applied += 1
        return self._writer

    def _abandon(self) -> None:
        """Return the writer to the pool. Its uncommitted changes are rolled back; the next writer makes them again."""
        if self._writer is not None:
            self._connections.give_back(self._writer)
        self._writer, self._applied = None, 0

    def _retried(self, work: Callable[[], T]) -> T:
        """Return what `work` returns, with retries; discard all changes if it fails in the end."""
        try:
            return self._connections.retried(work, undo=self._abandon)
        except BaseException:
            self._abandon()
            self._changes.clear()
            self._put = 0
            raise

    def _settle(self) -> None:
        """Move new words into their indexes after a sync, and update statistics if much has changed."""
        self._connections.run(lambda connection: connection.execute(SORT_IN))
        if self._unsettled >= ANALYZE_AFTER_CHANGES:
            self._unsettled, self._frequent = 0, None
            self._connections.run(
                lambda connection: connection.execute(f"ANALYZE {ANALYZED_TABLES}")
            )
            self.generation()

    def close(self) -> None:
        """Close all connections; discard changes that were not committed."""
        self._changes.clear()
        self._abandon()
        if self._threads:
            self._threads.shutdown(cancel_futures=True)
            self._threads = None
        self._ahead.clear()
        self._connections.close()

    # Asking

    def _ask(self, question: Callable[[AnyConnection, Clone], T]) -> T:
        """Return what a question returns, including changes that are not committed."""
        if self._changes:
            return self._retried(lambda: question(self._written(), self._us))
        return self._connections.run(lambda connection: question(connection, self._us))

    def _rows(self, sql: str, **values: object) -> list[Any]:
        """Return the rows of a query, which may name this clone as `%(clone)s`."""
        return self._ask(
            lambda connection, us: connection.execute(
                sql.encode(), {**values, "clone": us.clone}
            ).fetchall()
        )

    def nearest(self, vector: bytes, limit: int, only: Filter, tier: str = FIRST) -> list[Hit]:
        if not limit:
            return []
        exact = tier == REST or self._compares_all(only, tier)
        return self._noted(
            self._ask(
                lambda connection, us: nearest_passages(
                    connection, us, vector, limit, only, tier, exact, self._kept
                )
            )
        )

    def _compares_all(self, only: Filter, tier: str) -> bool:
        """Tell whether so few passages are inside the filter that all of them are compared."""
        if self._us.passages <= MAX_EXACT_PASSAGES:
            return True
        if (only, tier) not in self._small:
            where, values = filter_sql(only)
            inside = f"{HELD_VERSIONS} WHERE h.clone = %(clone)s {where}"
            few = f"SELECT v.passages FROM {inside} LIMIT {MAX_EXACT_PASSAGES + 1}"
            sql = f"SELECT coalesce(sum(passages), 0) <= {MAX_EXACT_PASSAGES} FROM ({few}) i"
            ((self._small[only, tier],),) = self._rows(sql, **values)
        return self._small[only, tier]

    def expect(self, words: Sequence[str], limit: int, only: Filter) -> None:
        """Start both questions of a search for words, so that the server works while this process compares vectors.

        A process that asks once does not: it would wait for further connections.
        """
        if self._kept and not self._changes and self._us.passages > HUGE_PASSAGES:
            self._threads = self._threads or ThreadPoolExecutor(AHEAD_THREADS, "rawkomem-ahead")
            frequent = self._frequent_words()
            for around in (False, True):
                key = (tuple(words), limit, only, around)
                if key not in self._ahead:
                    self._ahead[key] = self._threads.submit(self._search_ahead, key, frequent)

    def matching(
        self, words: Sequence[str], limit: int, only: Filter, around: bool = False
    ) -> list[Hit]:
        key = (tuple(words), limit, only, around)
        if started := self._ahead.pop(key, None):
            return self._noted(started.result())
        frequent = self._frequent_words() if self._us.passages > HUGE_PASSAGES else None
        return self._noted(
            self._ask(lambda connection, us: matching_passages(connection, us, *key, frequent))
        )

    def _search_ahead(self, key: Search, frequent: Frequent) -> list[Hit]:
        """Search for words in a thread: not on the writer's connection, which another thread has."""
        return self._connections.run(
            lambda connection: matching_passages(connection, self._us, *key, frequent)
        )

    def _frequent_words(self) -> Frequent:
        if self._frequent is None:
            self._frequent = self._ask(frequent_words)
        return self._frequent

    def _noted(self, found: list[Hit]) -> list[Hit]:
        """Return the hits; remember their passages, whose texts are needed next."""
        self._hits.update((hit.id, hit.passage) for hit in found[:FETCHED_TEXTS])
        return found

    def vectors(self, only: Filter) -> list[tuple[str, bytes]]:
        return self._ask(lambda connection, us: body_vectors(connection, us, only))

    def passage(self, id: str, number: int) -> str:
        """Return the text of one passage; fetch the texts of all recent hits at once."""
        place = (storable(id), number)
        if place not in self._texts:
            wanted = {*self._hits, place}
            sql = (
                "SELECT h.id, p.number, p.text FROM unnest(%(ids)s::text[], %(numbers)s::int[]) AS w (id, number)"
                " JOIN holdings h ON h.clone = %(clone)s AND h.id = w.id"
                " JOIN passages p ON p.version = h.version AND p.number = w.number"
            )
            ids, numbers = [id for id, _ in wanted], [number for _, number in wanted]
            found = self._rows(sql, ids=ids, numbers=numbers)
            self._texts |= {(id, number): text for id, number, text in found}
            self._hits.clear()
        return self._texts.get(place, "")

    def shallow(self, limit: int) -> list[str]:
        """Return memories without contextual vectors, oldest versions first."""
        sql = "SELECT id FROM holdings WHERE clone = %(clone)s AND deep IS NULL ORDER BY version LIMIT %(limit)s"
        return [id for (id,) in self._rows(sql, limit=limit)]

    def depth(self) -> tuple[int, int]:
        found = self._rows("SELECT deep, memories FROM clones WHERE n = %(clone)s")
        return found[0] if found else (0, 0)

    def held(self) -> dict[str, str]:
        return dict(self._rows("SELECT id, digest FROM holdings WHERE clone = %(clone)s"))

    def served(self) -> int:
        """Return the bytes of all tables and their indexes, of all clones."""
        sql = "SELECT sum(pg_total_relation_size(oid))::int8 FROM pg_class"
        ((size,),) = self._rows(
            f"{sql} WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
        )
        return int(size)

    def _forget_texts(self) -> None:
        self._ahead.clear()
        self._hits.clear()
        self._texts.clear()

    def generation(self) -> str:
        """Return the generation; clear the texts cached for the last question."""
        self._forget_texts()
        if self._changes:
            self._us = self._retried(lambda: self._join(self._written()))
        else:
            self._us = self._connections.run(self._join)
        return f"postgres {self._us.generation}"
