"""The SQLite search store: FTS5 for words, sqlite-vec for vectors, in the index's own database; and
the records of all stores.

documents  one row per memory: its facets, which filters compare
passages   its passages, in order; `n` is the row number in the tables below
words      FTS5 over passages (Porter stems; `searched`); contentless, since passages hold the text
around     the same over body passages together with their surroundings
unvouched_words, unvouched_around   the same for passages that nobody vouches for. Each FTS5 table has its own BM25
           statistics, so these passages do not change the scores of passages that people vouch for
fine       each passage's vector as int8, for distances; without vectors of zeros, which are close to nothing
coarse     the same vectors with one bit per dimension, to select candidates for `fine` in a large index
deep_fine, deep_coarse   the same for the second tier's vectors
shallow    the memories that the second tier does not hold yet

Distances are computed by sqlite-vec's functions over plain tables: its vec0 tables took eight times
as long to fill and no less time to search, because they keep the k best of a scan in a list that is
searched k times.
"""

from __future__ import annotations

import sys
from itertools import count
from math import log

from ...model.entries import Memory
from ...model.filters import (
    ALL_OF,
    ANY_OF,
    AT_LEAST,
    FILTER_FIELDS,
    Facets,
    Filter,
    asked,
)
from ...model.values import TYPE_CHECKING, record, unchecked
from ...text.clean import late_regex
from ...text.language import hump_parts
from .database import marks

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import TypeVar

    import apsw

    from .bits import SqliteBits

    T = TypeVar("T", str, int)
    Key = TypeVar("Key")

Placed = tuple[int, int, int, str, "Passage"]


Scored = tuple[int, float]
Compared = tuple[str, int, str, float]  # memory, passage, field, cosine
Holders = tuple[int, frozenset[str]]  # how many memories hold a word, and some of them


# The records that a search store takes and returns.

# Files in one transaction of a sync: an aborted sync repeats at most one batch. Stores take a smaller one for the last.
BATCH_FILES = 256
# fields of a memory that passages come from
BODY = "body"
WHEN = "when"
# Tiers of vectors, which are never compared: the first holds every passage, the second is filled in the background.
FIRST = "first"
DEEP = "deep"
REST = "rest"  # first-tier vectors of the memories that are not in the second tier yet


@record
class Passage:
    """A piece of a memory that is matched and embedded on its own. `vector`: float32 bytes, normalized."""

    text: str
    vector: bytes = b""
    field: str = BODY
    heading: str = ""
    line: int = 1
    # the passage with its surroundings in the file; empty if it has none
    around: str = ""


@record
class Document:
    """A memory as a store keeps it: the columns that filters compare, and its passages."""

    facets: Facets
    title: str
    passages: tuple[Passage, ...]
    digest: str = ""  # hash of the document without its vectors
    # the whole memory, for stores with tables for other programs
    memory: Memory | None = None
    # JSON for other programs that read the store; only if the store has `tells`
    told: str = ""

    @property
    def id(self) -> str:
        """Return the memory's id."""
        return self.facets.id


@record
class Hit:
    """One passage that a store found, with the store's own score: cosine for nearest, BM25 (positive) for matching."""

    id: str
    passage: int
    score: float
    field: str = BODY
    alone: bool = True  # whether the passage has no surroundings


def best_hits(hits: Iterable[Hit], limit: int) -> list[Hit]:
    """Return the hits with the highest scores; ties go to the smaller id."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.id, hit.passage))[:limit]


# components of unit vectors beyond ±0.3 are clipped: 384 dimensions rarely hold larger ones
MAX_COMPONENT = 0.3
SCALE = 127 / MAX_COMPONENT
# with more passages, an open process caches bits in memory, and frequent words are ignored
HUGE_PASSAGES = 200_000
MAX_RANKED_PASSAGES = 5_000  # passages of a huge index that are ranked by words
# an exact scan of more passages takes longer than the rest of a search
MAX_EXACT_PASSAGES = 4_000
# get an exact distance; they contain 98 % of the true top 10 and 99.7 % of the top 1
COARSE_CANDIDATES = 200
SPARE_ROWS = 32  # rows requested beyond the limit: enough to see the end of most ties
# the same for bits: their distances are small integers, so many passages tie with the last
SPARE_CANDIDATES = 128
BULK_VECTORS = 64  # for fewer vectors, importing numpy takes longer than it saves
MIN_IDF = 1e-6  # FTS5's weight of a word that more than half of all rows contain
# decimal digits of a BM25 score: ties stay ties, although stores add its parts in different orders
SCORE_DIGITS = 12
# Marks are part of a token, because they are vowels in many scripts; so are emoji, which `searched` separates.
CATEGORIES = "L* N* Co Mn Mc So"
TOKENIZER = f"porter unicode61 categories '{CATEGORIES}'"

FTS5 = (
    f"""fts5 (head, text, content='', contentless_delete=1, tokenize="{TOKENIZER}")"""
)
UNVOUCHED = "unvouched_"  # prefix of table names
# a name with inner capitals: see `hump_parts`
HAS_HUMP = late_regex("[a-z0-9][A-Z]|[A-Z][A-Z][a-z]")

COLUMNS: tuple[str, ...] = Facets.__fields__  # type: ignore[attr-defined]
LOWERED = {field.column for field in FILTER_FIELDS if field.any_case}

# the columns of an index, and the few combinations of their values: each is looked up after the one before
STATE_COLUMNS = ("status", "kind", "vouched")
STATE = ", ".join(STATE_COLUMNS)
# one of several columns at a time: a comparison of rows would read every row with the same first column
EACH_STATE = f"""
WITH RECURSIVE states AS (
    SELECT * FROM (SELECT {STATE} FROM documents ORDER BY {STATE} LIMIT 1)
    UNION ALL
    SELECT d.status, d.kind, d.vouched FROM states s JOIN documents d ON d.n = coalesce(
        (SELECT n FROM documents WHERE status = s.status AND kind = s.kind AND vouched > s.vouched
         ORDER BY vouched LIMIT 1),
        (SELECT n FROM documents WHERE status = s.status AND kind > s.kind ORDER BY kind, vouched LIMIT 1),
        (SELECT n FROM documents WHERE status > s.status ORDER BY {STATE} LIMIT 1))
)
"""

STORE_SCHEMA = f"""
CREATE TABLE documents (n INTEGER PRIMARY KEY, {", ".join(COLUMNS)}, UNIQUE (id));
CREATE INDEX documents_state ON documents ({STATE});
CREATE INDEX documents_unvouched ON documents (vouched) WHERE vouched = 0;
CREATE TABLE passages (n INTEGER PRIMARY KEY, document INTEGER NOT NULL, number INTEGER, field TEXT, alone INTEGER,
                       heading TEXT, line INTEGER, text TEXT);
CREATE INDEX passages_place ON passages (n, document, number, field, alone);
CREATE INDEX passages_document ON passages (document, number, field);
CREATE VIRTUAL TABLE words USING {FTS5};
CREATE VIRTUAL TABLE around USING {FTS5};
CREATE VIRTUAL TABLE unvouched_words USING {FTS5};
CREATE VIRTUAL TABLE unvouched_around USING {FTS5};
CREATE TABLE fine (n INTEGER PRIMARY KEY, vector BLOB);
CREATE TABLE coarse (n INTEGER PRIMARY KEY, bits BLOB);
CREATE TABLE deep_fine (n INTEGER PRIMARY KEY, vector BLOB);
CREATE TABLE deep_coarse (n INTEGER PRIMARY KEY, bits BLOB);
CREATE TABLE shallow (document INTEGER PRIMARY KEY);
"""
# this index has an eighth of the table's pages, which hold the texts
PLACES = "passages p INDEXED BY passages_place"
WORD_TABLES = ("words", "around", "unvouched_words", "unvouched_around")


class SqliteStore:
    """Implements SearchStore, which documents the methods, on an open connection; the caller controls transactions."""

    columns = COLUMNS
    tells = False

    def __init__(self, connection: apsw.Connection, dims: int):
        self.db = connection
        self.dims = dims
        self._outside: dict[
            Filter, str
        ] = {}  # filter → it or its negation; empty if nothing is outside
        self._bits: dict[str, SqliteBits] = {}
        # whether this process has searched before, so that it is a long-running one
        self._asked = False

    def erase(self) -> None:
        """Create the tables in a new database."""
        self.db.execute(STORE_SCHEMA)

    def put(self, documents: Sequence[Document]) -> None:
        self._outside.clear()
        SqliteStore.drop(self, [document.id for document in documents])
        (last,) = next(self.db.execute("SELECT max(n) FROM passages"))
        numbers = count((last or 0) + 1)
        placed: dict[str, list[Placed]] = {"": [], UNVOUCHED: []}
        for document in documents:
            owner = self._put_document(document)
            group = placed["" if document.facets.vouched else UNVOUCHED]
            for number, passage in enumerate(document.passages):
                group.append(
                    (next(numbers), owner, number, head_of(document, passage), passage)
                )
        for prefix, group in placed.items():
            self._put_passages(group, prefix)

    def _put_document(self, document: Document) -> int:
        columns = comparable(document.facets)
        sql = f"INSERT INTO documents ({', '.join(columns)}) VALUES {marks(columns)}"
        self.db.execute(sql, tuple(columns.values()))
        owner = self.db.last_insert_rowid()
        self.db.execute("INSERT INTO shallow VALUES (?)", (owner,))
        return owner

    def _put_passages(self, placed: list[Placed], prefix: str) -> None:
        """Insert table by table: repeating one statement is faster than alternating several."""
        fill = self.db.executemany
        passages = [
            (n, owner, at, p.field, not p.around, p.heading, p.line, p.text)
            for n, owner, at, _, p in placed
        ]
        fill("INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", passages)
        words = [(n, searched(head), searched(p.text)) for n, _, _, head, p in placed]
        fill(f"INSERT INTO {prefix}words (rowid, head, text) VALUES (?, ?, ?)", words)
        around = [
            (n, searched(head), searched(p.around))
            for n, _, _, head, p in placed
            if p.around
        ]
        fill(f"INSERT INTO {prefix}around (rowid, head, text) VALUES (?, ?, ?)", around)
        self._put_vectors(
            [row[0] for row in placed], [passage.vector for *_, passage in placed]
        )

    def _put_vectors(
        self, numbers: Sequence[int], vectors: Sequence[bytes], prefix: str = ""
    ) -> None:
        packed = zip(numbers, pack_all(vectors), strict=True)
        known = [(n, fine, coarse) for n, (fine, coarse) in packed if any(fine)]
        fill = self.db.executemany
        fill(
            f"INSERT OR REPLACE INTO {prefix}fine (n, vector) VALUES (?, ?)",
            [(n, fine) for n, fine, _ in known],
        )
        fill(
            f"INSERT OR REPLACE INTO {prefix}coarse (n, bits) VALUES (?, ?)",
            [(n, bits) for n, _, bits in known],
        )

    def drop(self, ids: Sequence[str]) -> None:
        self._outside.clear()
        for id in ids:
            found = self.db.execute(
                "SELECT n, vouched FROM documents WHERE id = ?", (id,)
            ).fetchone()
            if found is None:
                continue
            owner = found[:1]
            prefix = "" if found[1] else UNVOUCHED
            for (n,) in list(
                self.db.execute("SELECT n FROM passages WHERE document = ?", owner)
            ):
                for table in (
                    f"{prefix}words",
                    f"{prefix}around",
                    "fine",
                    "coarse",
                    "deep_fine",
                    "deep_coarse",
                ):
                    self.db.execute(f"DELETE FROM {table} WHERE rowid = ?", (n,))
            for table in ("shallow", "passages"):
                self.db.execute(f"DELETE FROM {table} WHERE document = ?", owner)
            self.db.execute("DELETE FROM documents WHERE n = ?", owner)

    def deepen(self, vectors: Mapping[str, Sequence[bytes]]) -> None:
        placed: list[int] = []
        given: list[bytes] = []
        for id, own in vectors.items():
            sql = "SELECT p.n FROM passages p JOIN documents d ON d.n = p.document WHERE d.id = ? ORDER BY p.number"
            numbers = [n for (n,) in self.db.execute(sql, (id,))]
            if len(numbers) == len(own):
                placed += numbers
                given += own
                self.db.execute(
                    "DELETE FROM shallow WHERE document = (SELECT n FROM documents WHERE id = ?)",
                    (id,),
                )
        self._put_vectors(placed, given, "deep_")

    def shallow(self, limit: int) -> list[str]:
        sql = "SELECT d.id FROM shallow s JOIN documents d ON d.n = s.document ORDER BY s.document LIMIT ?"
        return [id for (id,) in self.db.execute(sql, (limit,))]

    def values(self, column: str) -> list[tuple[str, int]]:
        """Return each value of a facet, and how many memories have it; deleted memories do not count."""
        return list(
            self.db.execute(
                f"SELECT {column}, count(*) FROM documents GROUP BY {column}"
            )
        )

    def depth(self) -> tuple[int, int]:
        (missing, count) = next(
            self.db.execute(
                "SELECT (SELECT count(*) FROM shallow), (SELECT count(*) FROM documents)",
            )
        )
        return count - missing, count

    def flatten(self) -> None:
        self.db.execute("DELETE FROM deep_fine; DELETE FROM deep_coarse")
        self.db.execute("INSERT OR IGNORE INTO shallow SELECT n FROM documents")

    def nearest(
        self, vector: bytes, limit: int, only: Filter, tier: str = FIRST
    ) -> list[Hit]:
        fine, bits = pack(vector)
        if not any(fine):
            return []
        prefix = "deep_" if tier == DEEP else ""
        inside, values = self._inside(only)
        if tier != REST and self._is_large(only):
            close = self._candidates(
                prefix + "coarse", bits, max(COARSE_CANDIDATES, limit), only
            )
            inside = f"AND n IN ({', '.join(close)})"
            values = []
        if tier == REST:
            inside += " AND n IN (SELECT p.n FROM shallow s JOIN passages p ON p.document = s.document)"
        distance = "vec_distance_l2(vec_int8(vector), vec_int8(?))"
        sql = f"SELECT n, {distance} AS d FROM {prefix}fine WHERE true {inside} ORDER BY d LIMIT ?"
        found = with_ties(
            lambda most: list(self.db.execute(sql, (fine, *values, most))), limit
        )
        return self._hits(
            ((n, cosine_of(distance * distance)) for n, distance in found),
            limit,
        )

    def _candidates(
        self, table: str, bits: bytes, limit: int, only: Filter
    ) -> list[str]:
        """Return the row numbers of the passages with the fewest differing bits."""
        if self._asked and self._is_huge():
            # loads numpy, which pays only in a long-running process
            from .bits import SqliteBits

            (version,) = next(self.db.execute("PRAGMA data_version"))
            if table not in self._bits or self._bits[table].version != version:
                self._bits[table] = SqliteBits(
                    self.db.execute(f"SELECT n, bits FROM {table} ORDER BY n"), version
                )
            near = self._bits[table]
            found = near.closest(
                bits, limit, lambda numbers: self._allowed(numbers, only)
            )
            return [str(n) for n in found]
        self._asked = True
        inside, values = self._inside(only)
        distance = "vec_distance_hamming(vec_bit(bits), vec_bit(?))"
        sql = f"SELECT n, {distance} AS d FROM {table} WHERE true {inside} ORDER BY d LIMIT ?"
        tied = with_ties(
            lambda most: list(self.db.execute(sql, (bits, *values, most))),
            limit,
            SPARE_CANDIDATES,
        )
        return [str(n) for n, _ in tied]

    def _allowed(self, numbers: list[int], only: Filter) -> Collection[int]:
        inside, values = self._inside(only)
        if not inside:
            return set(numbers)
        listed = ", ".join(map(str, numbers))
        return {
            n
            for (n,) in self.db.execute(
                f"SELECT n FROM passages WHERE n IN ({listed}) {inside}",
                values,
            )
        }

    def _is_huge(self) -> bool:
        (last,) = next(self.db.execute("SELECT max(n) FROM passages"))
        return bool(last and last > HUGE_PASSAGES)

    def _is_large(self, only: Filter) -> bool:
        """Return whether there are too many passages to compare all of them.

        If the filter asks for vouched or unvouched memories, count only their passages.
        """
        if not self._exceeds("coarse", MAX_EXACT_PASSAGES):
            return False
        if not (only.vouched or only.unvouched) or not self._has_unvouched():
            return True
        prefix = "" if only.vouched else UNVOUCHED
        return self._exceeds(f"{prefix}words_docsize", MAX_EXACT_PASSAGES)

    def _exceeds(self, rows: str, most: int) -> bool:
        """Return whether there are more than `most` rows."""
        return (
            self.db.execute(f"SELECT 1 FROM {rows} LIMIT 1 OFFSET {most}").fetchone()
            is not None
        )

    def _has_unvouched(self) -> bool:
        return self._exceeds("documents WHERE vouched = 0", 0)

    def _prefixes(self, only: Filter) -> list[str]:
        """Return the prefixes of the full-text tables that hold the memories inside a filter."""
        prefixes = [] if only.unvouched else [""]
        if not only.vouched and self._has_unvouched():
            return [*prefixes, UNVOUCHED]
        return prefixes

    def matching(
        self, words: Sequence[str], limit: int, only: Filter, around: bool = False
    ) -> list[Hit]:
        if not words:
            return []
        table = "around" if around else "words"
        quoted = [_phrase(word) for word in words]
        found: list[Scored] = []
        for prefix in self._prefixes(only):
            scale = self._scale(table, quoted) if prefix else 1.0
            found += self._ranked(prefix, table, quoted, limit, only, scale)
        return self._hits(found, limit)

    def _ranked(
        self,
        prefix: str,
        table: str,
        quoted: list[str],
        limit: int,
        only: Filter,
        scale: float,
    ) -> list[Scored]:
        """Return the best rows of a full-text table."""
        name = prefix + table
        # ranking by a frequent word takes time
        if self._is_huge() and (
            not self._has_unvouched()
            or self._exceeds(f"{prefix}words_docsize", HUGE_PASSAGES)
        ):
            held = zip(self._holding(name, quoted), quoted, strict=True)
            quoted = rarest(held)
        query = " OR ".join(quoted)
        # `+`: match once, not again for each row inside
        inside, values = self._inside(only, "+rowid")
        score = f"round(-rank * {scale!r}, {SCORE_DIGITS})"
        sql = f"SELECT rowid, {score} FROM {name} WHERE {name} MATCH ? {inside} ORDER BY rank LIMIT ?"
        return with_ties(
            lambda most: list(self.db.execute(sql, (query, *values, most))), limit
        )

    def _scale(self, table: str, quoted: list[str]) -> float:
        """Return the factor for the BM25 of unvouched passages that makes a word as rare as in both tables together.

        Without it, FTS5 would take any word of a table with three rows for a common word.
        """
        sql = f"SELECT (SELECT count(*) FROM {UNVOUCHED}{table}_docsize), (SELECT count(*) FROM {table}_docsize)"
        own_rows, vouched_rows = next(self.db.execute(sql))
        held = [self._holding(name, quoted) for name in (UNVOUCHED + table, table)]
        of_all = of_own = 0.0
        for own, vouched in zip(*held, strict=True):
            if own:
                of_all += idf(own_rows + vouched_rows, own + vouched)
                of_own += idf(own_rows, own)
        return of_all / of_own if of_own else 1.0

    def _holding(self, table: str, quoted: Iterable[str]) -> list[int]:
        """Return how many rows contain each word; the count stops at MAX_RANKED_PASSAGES."""
        sql = f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT {MAX_RANKED_PASSAGES})"
        return [next(self.db.execute(sql, (word,)))[0] for word in quoted]

    def vectors(self, only: Filter) -> list[tuple[str, bytes]]:
        where, values = filter_sql(only)
        tables = (
            "documents d JOIN passages p ON p.document = d.n JOIN fine f ON f.n = p.n"
        )
        inside = f"p.field = '{BODY}' {'AND' if where else ''} {where}"
        sql = f"SELECT d.id, f.vector FROM {tables} WHERE {inside} ORDER BY d.id, p.number"
        return list(self.db.execute(sql, values))

    def holders(
        self, words: Sequence[str], most: int, only: Filter, among: Sequence[str]
    ) -> dict[str, Holders]:
        inside, values = self._inside(only, "+w.rowid")
        tables = [f"{prefix}words" for prefix in self._prefixes(only)]
        select = f"SELECT DISTINCT p.document FROM {{0}} w JOIN {PLACES} ON p.n = w.rowid WHERE {{0}} MATCH ?"
        asked = [f"{select.format(table)} {inside} LIMIT {most}" for table in tables]
        found = [
            [
                n
                for sql in asked
                for (n,) in self.db.execute(sql, (_phrase(word), *values))
            ][:most]
            for word in words
        ]
        ids = dict(
            self.db.execute(
                f"SELECT n, id FROM documents WHERE id IN {marks(among)}",
                among,
            )
        )
        return {
            word: (len(several), frozenset(ids[n] for n in several if n in ids))
            for word, several in zip(words, found, strict=True)
        }

    def compared(
        self, vectors: Sequence[bytes], ids: Sequence[str], tier: str, most: int
    ) -> list[list[Compared]]:
        asked = [quantized(memoryview(vector).cast("f")) for vector in vectors]
        known = [any(fine) for fine in asked]
        if not any(known):
            return [[] for _ in vectors]
        measured = ", ".join(
            ["vec_distance_l2(vec_int8(f.vector), vec_int8(?))"] * len(asked)
        )
        fine = "deep_fine" if tier == DEEP else "fine"
        sql = (
            f"SELECT d.id, p.number, p.field, {measured} FROM documents d JOIN passages p ON p.document = d.n"
            f" JOIN {fine} f ON f.n = p.n WHERE d.id IN {marks(ids)} LIMIT {most}"
        )
        found = list(self.db.execute(sql, (*asked, *ids)))
        if not found:
            return [[] for _ in vectors]
        id, number, field, *distances = zip(*found, strict=True)
        cosines = ([cosine_of(d * d) for d in own] for own in distances)
        hits = (zip(id, number, field, own, strict=True) for own in cosines)
        return [
            list(own) if is_known else []
            for own, is_known in zip(hits, known, strict=True)
        ]

    def passage(self, id: str, number: int) -> str:
        sql = "SELECT p.text FROM passages p JOIN documents d ON d.n = p.document WHERE d.id = ? AND p.number = ?"
        row = self.db.execute(sql, (id, number)).fetchone()
        return row[0] if row else ""

    def _inside(
        self, only: Filter, column: str = "n"
    ) -> tuple[str, list[str | int | bytes]]:
        """Return an SQL condition that keeps a query inside the filter; empty if nothing is outside."""
        where, values = filter_sql(only)
        if where and only not in self._outside and self._holds_all(only):
            self._outside[only] = ""
        if where and only not in self._outside:
            sql = f"SELECT count(*), (SELECT count(*) FROM documents) FROM documents d WHERE NOT ({where})"
            outside, count = next(self.db.execute(sql, values))
            self._outside[only] = (
                ""
                if not outside
                else f"NOT ({where})"
                if 2 * outside < count
                else where
            )
        if not where or not self._outside[only]:
            return "", []
        # the shorter list of the two
        within = "IN" if self._outside[only] == where else "NOT IN"
        select = f"SELECT p.n FROM passages p JOIN documents d ON d.n = p.document WHERE {self._outside[only]}"
        return f"AND {column} {within} ({select})", values

    def _holds_all(self, only: Filter) -> bool:
        """Return whether a filter compares the STATE_COLUMNS alone, and every memory is inside."""
        if not all(field.column in STATE_COLUMNS for field, _ in asked(only)):
            return False
        where, values = filter_sql(only)
        sql = f"{EACH_STATE} SELECT 1 FROM states d WHERE NOT ({where}) LIMIT 1"
        return self.db.execute(sql, values).fetchone() is None

    def _hits(self, found: Iterable[tuple[int, float]], limit: int) -> list[Hit]:
        scores = dict(found)
        sql = f"SELECT p.n, d.id, p.number, p.field, p.alone FROM {PLACES} JOIN documents d ON d.n = p.document"
        places = self.db.execute(f"{sql} WHERE p.n IN ({', '.join(map(str, scores))})")
        hits = [
            unchecked(
                Hit,
                id=id,
                passage=number,
                score=scores[n],
                field=field,
                alone=bool(alone),
            )
            for n, id, number, field, alone in places
        ]
        return best_hits(hits, limit)


def head_of(document: Document, passage: Passage) -> str:
    """Return the text of a passage's first column: title, heading and tags."""
    return f"{document.title} {passage.heading} {' '.join(document.facets.tags)}"


def searched(text: str) -> str:
    """Return a text for the tokenizer: scripts without spaces sign by sign, compound names with their parts."""
    parts: Sequence[str] = ()
    # most words of a question need no regex
    if text != text.lower() and HAS_HUMP.search(text):
        parts = hump_parts(text)
    if not text.isascii():
        from ...text.scripts import spread_signs  # tables that most texts do not need

        text = spread_signs(text)
    return " ".join([text, *parts]) if parts else text


def comparable(facets: Facets) -> dict[str, str | int]:
    """Return the facets as SQL compares them: lists as one text, and in lower case where case does not matter."""
    return {
        column: lined(value)
        if isinstance(value, tuple)
        else value.lower()
        if column in LOWERED
        else value
        for column, value in facets.__dict__.items()
    }


def _phrase(word: str) -> str:
    """Return a word as a phrase of an FTS5 query."""
    return '"' + searched(word).replace('"', "") + '"'


def idf(rows: int, holding: int) -> float:
    """Return FTS5's weight of a word that `holding` of all `rows` contain."""
    return max(log((rows - holding + 0.5) / (holding + 0.5)), 0.0) or MIN_IDF


def lined(names: Sequence[str]) -> str:
    """Return names as one text, each between two line ends and in lower case, so that a whole name can be found."""
    return "\n".join(["", *(name.lower() for name in names), ""])


def with_ties(
    ask: Callable[[int], list[tuple[Key, float]]], limit: int, spare: int = SPARE_ROWS
) -> list[tuple[Key, float]]:
    """Return the best rows and all ties with the last one: a query with LIMIT would choose ties by row number."""
    most = limit + spare
    found = ask(most)
    while limit and len(found) == most and found[limit - 1][1] == found[-1][1]:
        most *= 4
        found = ask(most)
    last = found[limit - 1][1] if 0 < limit <= len(found) else None
    return found[:limit] + [row for row in found[limit:] if row[1] == last]


def rarest(counted: Iterable[tuple[int, T]]) -> list[T]:
    """Return the rarest of counted words: at least one, together in at most MAX_RANKED_PASSAGES passages."""
    kept: list[T] = []
    total = 0
    for held, word in sorted(counted):
        total += held
        if kept and total > MAX_RANKED_PASSAGES:
            break
        kept.append(word)
    return kept


def filter_sql(only: Filter) -> tuple[str, list[str | int | bytes]]:
    """Return a filter as SQL over `d`, and the values it takes."""
    where: list[str] = []
    values: list[str | int | bytes] = []
    for field, wanted in asked(only):
        column = f"d.{field.column}"
        if field.compare == ANY_OF:
            where.append(f"{column} IN {marks(wanted)}")
            values.extend(wanted)
        elif field.compare == ALL_OF:
            where.extend([f"instr({column}, ?) > 0"] * len(wanted))
            values.extend(lined([name]) for name in wanted)
        else:
            where.append(f"{column} {'>=' if field.compare == AT_LEAST else '<'} ?")
            values.append(wanted)
    return " AND ".join(where), values


def cosine_of(squared: float) -> float:
    """Return the cosine of two vectors, from the squared distance between them as whole numbers."""
    return 1 - squared / (2 * SCALE * SCALE)


def pack_all(vectors: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    """Return `pack` of many vectors."""
    if len(vectors) < BULK_VECTORS and "numpy" not in sys.modules:
        return [pack(vector) for vector in vectors]
    import numpy as np  # many vectors: worth its start-up time

    if not vectors:
        return []
    matrix = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), -1)
    exact = matrix.astype(np.float64) * SCALE  # as in `pack`, so that both round alike
    fine = np.clip(np.rint(exact), -127, 127).astype(np.int8)
    coarse = np.packbits(matrix > 0, axis=1)
    return [(f.tobytes(), c.tobytes()) for f, c in zip(fine, coarse, strict=True)]


def pack(vector: bytes) -> tuple[bytes, bytes]:
    """Return a float32 vector as int8 and as bits, as the tables `fine` and `coarse` hold it."""
    numbers = memoryview(vector).cast("f")
    bits = int("".join(["1" if number > 0 else "0" for number in numbers]), 2)
    return quantized(numbers), bits.to_bytes(len(numbers) // 8, "big")


def quantized(numbers: Sequence[float]) -> bytes:
    """Return the numbers of a vector as int8."""
    whole = [round(number * SCALE) for number in numbers]
    if max(whole) > 127 or min(whole) < -127:
        whole = [max(-127, min(127, number)) for number in whole]
    return bytes([number & 0xFF for number in whole])
