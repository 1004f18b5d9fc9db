"""The catalogue: the tables in which the index keeps files, entries and memories, what it was built
from, and who committed what (authors.py). Whole memories are read back from it.

meta      fingerprint (schema, chunker, embedder), swept (the digest of the sweep that the index was built from), the
          embedder's name and dimensions, the inode of the database
files     one row per Markdown file: its stamp, the hash of its bytes, and the verdict of `check`
entries   one row per entry: the memory that it is about, its file, a digest of its content, the memory that supersedes
          it (`newer`), and the entry as redacted JSON. When a file changes, its memories are folded again from these
          rows, with the memories that they supersede. Rows with a number from FIRST_HELD are entries that a person
          committed and that no file holds now: they count until a commit removes them
memories  one row per folded memory: columns for lists and filters, `doc` (the whole Memory as JSON), `digest` (a hash
          of the document in the store). A memory with an unchanged digest is not embedded again
conditions  one row per whenToUse condition: its memory, the parsed condition, packed, and the size of a regex
triggers  texts, at least one of which must occur in a task for the condition to fire; an empty text: try the condition
          for every task (globs). `start`: the first three letters, to look triggers up for a short task
stems     stems of which some must occur, for conditions that are sentences
claims    subject and predicate of each memory that makes a claim, to find memories that may contradict a new one
conflicts pairs of memories: the first declares that it contradicts the second
statements  checksums of each memory's sentences: two sentences with the same key and another stance may contradict each
          other
introduced  digest of an entry in HEAD → author of the commit that added it (git/authorship.py)
committed   the digests of the entries of each file in HEAD, by blob; a known blob is not read again
vouched     the digests of the entries in HEAD that a person committed
authorship  stamp, head, ignored, why, at: the last question to git and its outcome; vouching: `on` if a person
            committed one of the entries in HEAD

All of it is derived from the files and from git: a missing, foreign, corrupt or outdated database
is deleted and rebuilt. Git is asked again when HEAD has moved; a memory whose entries become
vouched for, or no longer are, is folded again.
"""

from __future__ import annotations

import os

import apsw

from ..files.private import seal_of
from ..model.entries import Memory
from ..model.filters import Filter, asked, passes_field
from ..model.values import (
    IMPORTANCE,
    TYPE_CHECKING,
    record,
    unchecked,
)
from ..state.trust import (
    facet_of,
    is_valid,
)
from .stores.database import marks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apsw


@record
class SyncReport:
    """The outcome of a sync."""

    read: int = 0  # files that changed or are gone
    files: int = 0
    rebuilt: str = ""  # why the index was rebuilt; empty when it was not
    seconds: float = 0.0
    # files left for the next sync, because this sync had used up its time
    left: int = 0


SCHEMA_VERSION = "29"
# number of an entry that HEAD holds, but no file: larger than that of any entry in a file
FIRST_HELD = 1 << 30
# stamp of a file that the next sync must read again; until then its old rows stay
UNREAD = "unread"
# longest name that `resolve` looks up: a path's limit; SQLite rejects long patterns
MAX_NAME_CHARS = 4_096
MIN_SUFFIX_CHARS = 4  # a shorter text matches the end of an id by chance

ROW_LIST = "id, kind, status, title, importance, created, updated, by, path, line, valid_from, valid_until, vouched, waiting"
# Each has an index with the few rows that match, which a query uses if it says the same words.
CITES = "instr(doc, '\"cites\"')"
DERIVES = "instr(doc, '\"derivedFrom\"')"
APPLIES = "instr(doc, '\"applies')"
IS_GLOB = "instr(packed, '\x1fglob\x1f')"  # see `pack_condition`

CATALOGUE_SCHEMA = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE files (path TEXT PRIMARY KEY, stamp TEXT, hash TEXT, verdict TEXT, entries INTEGER) WITHOUT ROWID;
CREATE TABLE entries (path TEXT, number INTEGER, id TEXT, target TEXT, digest TEXT, newer TEXT, doc TEXT,
                      PRIMARY KEY (path, number)) WITHOUT ROWID;
CREATE INDEX entries_target ON entries (target, id);
CREATE INDEX entries_newer ON entries (newer, target) WHERE newer != '';
CREATE TABLE memories (id TEXT PRIMARY KEY, kind TEXT, status TEXT, title TEXT, importance TEXT, created INTEGER,
                       updated INTEGER, by TEXT, path TEXT, line INTEGER, valid_from INTEGER, valid_until INTEGER,
                       vouched INTEGER, waiting INTEGER, doc TEXT, digest TEXT) WITHOUT ROWID;
CREATE INDEX memories_state ON memories (id, status, vouched);
CREATE INDEX memories_vouched ON memories (vouched) WHERE vouched = 0;
CREATE INDEX memories_waiting ON memories (waiting) WHERE waiting > 0;
CREATE INDEX memories_path ON memories (path, line);
CREATE INDEX memories_title ON memories (status, title);
CREATE INDEX memories_list ON memories (updated DESC, {ROW_LIST});
CREATE INDEX memories_citing ON memories (id) WHERE {CITES};
CREATE INDEX memories_deriving ON memories (id) WHERE {DERIVES};
CREATE INDEX memories_applying ON memories (id) WHERE {APPLIES};
CREATE TABLE conditions (n INTEGER PRIMARY KEY, memory TEXT, packed TEXT, size INTEGER);
CREATE INDEX conditions_memory ON conditions (memory);
CREATE INDEX conditions_size ON conditions (size, n) WHERE size > 0;
CREATE INDEX conditions_globs ON conditions (memory) WHERE {IS_GLOB};
CREATE TABLE triggers (condition INTEGER, key TEXT, start TEXT);
CREATE INDEX triggers_start ON triggers (start, key, condition);
CREATE INDEX triggers_condition ON triggers (condition);
CREATE TABLE stems (stem TEXT, condition INTEGER, PRIMARY KEY (stem, condition)) WITHOUT ROWID;
CREATE INDEX stems_condition ON stems (condition);
CREATE TABLE claims (memory TEXT PRIMARY KEY, subject TEXT, predicate TEXT) WITHOUT ROWID;
CREATE INDEX claims_about ON claims (subject, predicate);
CREATE TABLE conflicts (memory TEXT, other TEXT, PRIMARY KEY (memory, other)) WITHOUT ROWID;
CREATE TABLE statements (memory TEXT, key INTEGER, stance INTEGER, PRIMARY KEY (memory, key, stance)) WITHOUT ROWID;
CREATE INDEX statements_key ON statements (key, stance);
CREATE TABLE introduced (digest TEXT PRIMARY KEY, author TEXT) WITHOUT ROWID;
CREATE TABLE committed (blob TEXT, number INTEGER, digest TEXT, PRIMARY KEY (blob, number)) WITHOUT ROWID;
CREATE INDEX committed_digest ON committed (digest);
CREATE TABLE vouched (digest TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE authorship (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
"""
# this index has few pages; the table's pages hold whole memories
STATES = "memories INDEXED BY memories_state"
VALID = "(valid_from <= ?1 AND (valid_until = 0 OR ?2 < valid_until))"


@record
class Row:
    """A memory as lists and searches show it."""

    id: str
    kind: str
    status: str
    title: str
    importance: str
    created: int
    updated: int
    by: str
    path: str
    line: int
    valid_from: int = 0
    valid_until: int = 0
    vouched: int = 1  # see Memory.vouched
    waiting: int = 0  # proposed changes that wait for a review


class Catalogue:
    """Reads and writes the catalogue's tables on an open connection; the caller controls transactions."""

    def __init__(self, connection: apsw.Connection):
        self.db = connection

    def meta(self) -> dict[str, str]:
        """Return the rows of `meta` as key → value."""
        return dict(self.db.execute("SELECT key, value FROM meta"))

    def set_meta(self, key: str, value: str) -> None:
        """Write one row of `meta`."""
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def stamps(self) -> dict[str, str]:
        """Return path → stamp of every known file."""
        return dict(self.db.execute("SELECT path, stamp FROM files"))

    def hashes(self) -> dict[str, str]:
        """Return path → hash of every known file."""
        return dict(self.db.execute("SELECT path, hash FROM files"))

    def unread(self) -> list[str]:
        """Return the files that the next sync must read again."""
        return self._texts(
            "SELECT path FROM files WHERE stamp = ? ORDER BY path", UNREAD
        )

    def set_stamp(self, path: str, stamp: str) -> None:
        """Set the stamp of a file."""
        self.db.execute("UPDATE files SET stamp = ? WHERE path = ?", (stamp, path))

    def paths_about(self, target: str) -> set[str]:
        """Return the files that hold entries about a memory."""
        return set(self._texts("SELECT path FROM entries WHERE target = ?", target))

    def digests_about(self, target: str) -> dict[str, str]:
        """Return entry id → digest of the entries about a memory; of two versions, the one that a person committed."""
        sql = "SELECT id, digest FROM entries WHERE target = ? ORDER BY number"
        return dict(self.db.execute(sql, (target,)))

    def digest(self, id: str) -> str:
        """Return the digest of a memory's document in the store; empty when there is none."""
        return self._text("SELECT digest FROM memories WHERE id = ?", id)

    def digests(self) -> dict[str, str]:
        """Return id → digest of all memories in the store."""
        return dict(
            self.db.execute("SELECT id, digest FROM memories WHERE digest != ''")
        )

    def doubt(self, id: str) -> None:
        """Make the next sync read a memory's files and store it again, because its document may be wrong."""
        self.db.execute("UPDATE memories SET digest = '' WHERE id = ?", (id,))
        for path in self.paths_about(id):
            self.set_stamp(path, UNREAD)

    def row(self, id: str) -> Row | None:
        """Return a memory's columns; None when unknown."""
        found = self.db.execute(
            f"SELECT {ROW_LIST} FROM memories WHERE id = ?", (id,)
        ).fetchone()
        return Row(*found) if found else None

    def weights(self, ids: Sequence[str]) -> dict[str, tuple[str, int]]:
        """Return id → importance and time of the last change of the memories that exist."""
        sql = f"SELECT id, importance, updated FROM memories WHERE id IN {marks(ids)}"
        return {id: weight for id, *weight in self.db.execute(sql, ids)}

    def page(
        self, statuses: Sequence[str], at: int, limit: int
    ) -> tuple[list[Row], int]:
        """Return the newest memories with one of these statuses that are valid at a time, and how many there are.

        `at` is 0 if memories need not be valid.
        """
        inside, values = _inside(statuses, at)
        count = self._text(f"SELECT count(*) FROM memories {inside}", *values)
        return self.rows(statuses, at, limit), int(count)

    def rows(
        self, statuses: Sequence[str] = (), at: int = 0, limit: int = -1
    ) -> list[Row]:
        """Return the newest memories with one of these statuses (none: any) that are valid at a time (0: any)."""
        inside, values = _inside(statuses, at)
        return self._rows(inside, limit, values)

    def ids(self, statuses: Sequence[str], at: int) -> set[str]:
        """Return the ids of the memories with one of these statuses that are valid at a time."""
        inside, values = _inside(statuses, at)
        return {*self._texts(f"SELECT id FROM memories {inside}", *values)}

    def states(self, at: int) -> list[tuple[str, str, int, int]]:
        """Return kind, status, whether they are valid at a time, and number of the memories for which these are the same."""
        sql = f"SELECT kind, status, {VALID}, count(*) FROM memories INDEXED BY memories_list GROUP BY 1, 2, 3"
        return list(self.db.execute(sql, (at, at)))

    def count(self, vouched: bool) -> int:
        """Return the number of active memories; with `vouched`, only of those vouched for."""
        select = "(SELECT count(*) FROM memories"
        others = (
            f"{select} WHERE status < 'active') - {select} WHERE status > 'active')"
        )
        if vouched:
            others += f" - {select} WHERE vouched = 0 AND status = 'active')"
        # the others are few; counting all memories reads no row
        return int(self._text(f"SELECT {select}) - {others}"))

    def unvouched(self) -> set[str]:
        """Return the ids of the memories in the store that nobody vouches for."""
        return {
            *self._texts("SELECT id FROM memories WHERE vouched = 0 AND digest != ''")
        }

    def has_unvouched(self) -> bool:
        """Return whether there is a memory that nobody vouches for."""
        return bool(self._text("SELECT 1 FROM memories WHERE vouched = 0 LIMIT 1"))

    def with_proposals(self) -> list[Row]:
        """Return the memories with changes that wait for a review, most recently changed first."""
        return self._rows("INDEXED BY memories_waiting WHERE waiting > 0")

    def copied(self) -> list[str]:
        """Return the ids that several memories have, of which only one is in use."""
        sql = f"""
        SELECT id FROM entries WHERE number < {FIRST_HELD} AND id = target AND target IN (
            SELECT target FROM entries INDEXED BY entries_target WHERE id = target AND number < {FIRST_HELD}
            GROUP BY target HAVING count(*) > 1
        ) GROUP BY id HAVING count(DISTINCT digest) > 1
        """
        return self._texts(sql)

    def held(self) -> list[tuple[str, str, str, str]]:
        """Return path, entry, memory and title of each entry that a person committed and that no file holds now.

        Deleted memories are left out.
        """
        sql = f"""
        SELECT e.path, e.id, e.target, m.title FROM entries e INDEXED BY entries_target JOIN memories m ON m.id = e.target
        WHERE e.number >= {FIRST_HELD} AND m.status != 'deleted' ORDER BY e.path, e.number
        """
        return list(self.db.execute(sql))

    def version_in_file(self, path: str, id: str) -> str:
        """Return the entry with this id in a file as JSON; empty if the file holds none."""
        sql = f"SELECT doc FROM entries WHERE path = ? AND id = ? AND number < {FIRST_HELD}"
        return self._text(sql, path, id)

    def doc(self, id: str) -> str:
        """Return a whole memory as JSON; empty when unknown."""
        return self._text("SELECT doc FROM memories WHERE id = ?", id)

    def docs_of(self, ids: Sequence[str]) -> dict[str, str]:
        """Return id → whole memory as JSON, for the ids that exist."""
        sql = f"SELECT id, doc FROM memories WHERE id IN {marks(ids)}"
        return dict(self.db.execute(sql, ids))

    def holds(self, text: str) -> bool:
        """Return whether any memory contains this text, ignoring case."""
        sql = "SELECT 1 FROM memories WHERE instr(lower(doc), lower(?)) LIMIT 1"
        return bool(self._text(sql, text))

    def docs(self) -> list[str]:
        """Return every whole memory as JSON, ordered by id."""
        return self._texts("SELECT doc FROM memories ORDER BY id")

    def with_key(self, holds: str) -> set[str]:
        """Return the ids of the memories that may cite code (`CITES`), or are made from others (`DERIVES`)."""
        return {*self._texts(f"SELECT id FROM memories WHERE {holds}")}

    def conditional(self) -> set[str]:
        """Return the ids of the memories with a condition that can fire."""
        return {*self._texts("SELECT DISTINCT memory FROM conditions")}

    def docs_applying(self) -> list[str]:
        """Return the active memories that may apply to acts: with a key for it, or a condition that is a glob."""
        ids = f"SELECT id FROM memories WHERE {APPLIES} UNION SELECT memory FROM conditions WHERE {IS_GLOB}"
        return self._texts(
            f"SELECT doc FROM memories WHERE id IN ({ids}) AND status = 'active' ORDER BY id"
        )

    def titled(self, title: str) -> list[str]:
        """Return the ids of active memories with this title, ignoring case and spacing."""
        wanted = " ".join(title.split()).casefold()
        active = self.db.execute(
            "SELECT id, title FROM memories INDEXED BY memories_title WHERE status = 'active'",
        )
        return [
            id for id, other in active if " ".join(other.split()).casefold() == wanted
        ]

    def resolve(self, name: str) -> list[str]:
        """Return the ids that a name may mean, from the first of these rules that finds any.

        The name is an id; ids start with it; it is the name of a file, and the memories are in that file; ids end with
        it; titles equal it; titles contain all of its words, then also those between hyphens.
        """
        if len(name) > MAX_NAME_CHARS:
            return []
        for id in (name, name.removesuffix(".md")):
            if self.row(id):
                return [id]
        like = name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        stem = like.removesuffix(".md")
        with_id = (
            "SELECT id FROM memories WHERE id LIKE ? ESCAPE '\\' ORDER BY id LIMIT 20"
        )
        in_file = "SELECT id FROM memories WHERE path LIKE ? ESCAPE '\\' ORDER BY line LIMIT 20"
        return (
            self._texts(with_id, like + "%")
            or self._texts(in_file, f"%/{stem}.md")
            or (
                self._texts(with_id, "%" + like)
                if len(like) >= MIN_SUFFIX_CHARS
                else []
            )
            or self.with_words(name)
            or self.with_words(name.replace("-", " "))
        )

    def with_words(self, name: str) -> list[str]:
        """Return the ids of memories whose title is a name, else of those whose title contains all of its words.

        Deleted memories are returned only if no other memory matches.
        """
        wanted = _title_words(name)
        if not wanted:
            return []
        titled = [(id, status, _title_words(title)) for id, title, status in
                  self.db.execute("SELECT id, title, status FROM memories ORDER BY id")]  # fmt: skip
        fitting = [
            (id, status, words) for id, status, words in titled if {*wanted} <= {*words}
        ]
        same = [
            (id, status, words) for id, status, words in fitting if words == wanted
        ] or fitting
        return [id for id, status, _ in same if status != "deleted"] or [
            id for id, _, _ in same
        ]

    def _rows(
        self, where: str = "", limit: int = -1, values: Sequence[str | int] = ()
    ) -> list[Row]:
        """Return the memories that a condition selects, most recently changed first."""
        sql = f"SELECT {ROW_LIST} FROM memories {where} ORDER BY updated DESC, id LIMIT {limit}"
        return [Row(*row) for row in self.db.execute(sql, values)]

    def _texts(self, sql: str, *values: str | int) -> list[str]:
        """Return the first column of all rows."""
        return [row[0] for row in self.db.execute(sql, values)]

    def _text(self, sql: str, *values: str | int) -> str:
        """Return the first column of the first row; empty if there is no row."""
        found = self.db.execute(sql, values).fetchone()
        return found[0] if found else ""

    def counts(self) -> tuple[int, int, dict[str, int]]:
        """Return how many files and entries there are, and how many memories of each status."""
        files, entries = next(
            self.db.execute(
                "SELECT count(*), coalesce(sum(entries), 0) FROM files",
            )
        )
        by_status = self.db.execute(
            "SELECT status, count(*) FROM memories GROUP BY status ORDER BY status",
        )
        return files, entries, dict(by_status)


def _inside(statuses: Sequence[str], at: int) -> tuple[str, tuple[str | int, ...]]:
    """Return the condition of a list, and its values. Its index is in the order of the list and holds all columns."""
    inside = "INDEXED BY memories_list WHERE "
    inside += VALID if at else "?1 = ?2"
    if statuses:
        inside += f" AND status IN {marks(statuses)}"
    return inside, (at, at, *statuses)


def own_inode(path: str) -> str:
    """Return the inode of a database and its folder's secret: a copied database has others, and is rebuilt."""
    try:
        return seal_of(path, os.stat(path).st_ino)
    except OSError:
        return "gone"


def _title_words(text: str) -> list[str]:
    """Return the words of a title, in lower case and without punctuation around them."""
    plain = "".join(
        sign if sign.isalnum() or sign in "_-" else " " for sign in text.casefold()
    )
    return plain.split()


ROW_COLUMNS: tuple[str, ...] = Row.__fields__  # type: ignore[attr-defined]
MEMORY_DEFAULTS: dict[str, object] = Memory.__defaults__  # type: ignore[attr-defined]
# JSON has lists only
MEMORY_TUPLES = [
    name for name, value in MEMORY_DEFAULTS.items() if isinstance(value, tuple)
]


def memory_of(doc: str) -> Memory:
    """Return the memory that a catalogue row holds."""
    import json  # a search does not need it

    fields = json.loads(doc)
    for name in MEMORY_TUPLES:
        fields[name] = tuple(fields[name])
    fields["links"] = tuple((kind, id) for kind, id in fields["links"])
    return unchecked(Memory, **fields)


def known_memory(catalogue: Catalogue, id: str) -> Memory | None:
    """Return a memory of the catalogue; None where it is unknown."""
    doc = catalogue.doc(id)
    return memory_of(doc) if doc else None


def row_of(memory: Memory) -> Row:
    """Return a memory as lists show it."""
    return Row(**{name: getattr(memory, name) for name in ROW_COLUMNS})


def passes_filter(
    memory: Memory, only: Filter, at: int, trust: Callable[[Memory], float]
) -> bool:
    """Return whether a memory, as of a time, passes a filter; `trust` returns its trust."""
    if only.current and not is_valid(memory, at):
        return False
    if not all(
        passes_field(field, wanted, facet_of(memory, field.column))
        for field, wanted in asked(only)
    ):
        return False
    return not only.trust or trust(memory) >= only.trust


def rows_inside(rows: list[Row], only: Filter) -> list[Row]:
    """Return the rows that pass a filter; parts of it that need more than a row's columns are ignored, and validity."""
    told = [
        (field, wanted) for field, wanted in asked(only) if field.column in ROW_COLUMNS
    ]
    return [
        row
        for row in rows
        if not told
        or all(
            passes_field(field, wanted, _row_facet(row, field.column))
            for field, wanted in told
        )
    ]


def asks_for_facts(only: Filter) -> bool:
    """Return whether a filter needs more than a row's columns."""
    return bool(
        only.trust
        or only.where
        or any(field.column not in ROW_COLUMNS for field, _ in asked(only))
    )


def _row_facet(row: Row, column: str) -> object:
    """Return a row's value of a facet."""
    if column == "importance":
        return IMPORTANCE.index(row.importance)
    return getattr(row, column)
