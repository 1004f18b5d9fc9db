"""Hashes all data that the index answers from. After any history the hash equals that of a rebuild (law 3)."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from .stores.database import rows
from .stores.sqlite import COLUMNS, WORD_TABLES

if TYPE_CHECKING:
    import apsw

    from .index import Index

CONDITIONS = "SELECT *, row_number() OVER (PARTITION BY memory ORDER BY n) AS place FROM conditions"
PLACE, OF_DOCUMENT = "d.id, p.number", "LEFT JOIN documents d ON d.n = p.document"
# Row numbers and stamps depend on history: the queries join row numbers to ids, and leave stamps out.
PARTS = {
    "fingerprint": "SELECT value FROM meta WHERE key = 'fingerprint'",
    "files": "SELECT path, hash, verdict, entries, tail FROM files",
    "entries": "SELECT path, number, id, target, digest, doc FROM entries",
    "memories": "SELECT * FROM memories",
    "documents": f"SELECT {', '.join(COLUMNS)} FROM documents",
    "passages": f"SELECT {PLACE}, p.field, p.alone, p.heading, p.line, p.text FROM passages p {OF_DOCUMENT}",
    "conditions": f"SELECT memory, place, packed, size FROM ({CONDITIONS})",
    "triggers": f"SELECT memory, place, key, start FROM triggers LEFT JOIN ({CONDITIONS}) c ON c.n = condition",
    "stems": f"SELECT memory, place, stem FROM stems LEFT JOIN ({CONDITIONS}) c ON c.n = condition",
    "claims": "SELECT memory, subject, predicate FROM claims",
    "conflicts": "SELECT memory, other FROM conflicts",
    "fine": f"SELECT {PLACE}, f.vector FROM fine f LEFT JOIN passages p ON p.n = f.n {OF_DOCUMENT}",
    "coarse": f"SELECT {PLACE}, c.bits FROM coarse c LEFT JOIN passages p ON p.n = c.n {OF_DOCUMENT}",
}
for table in WORD_TABLES:
    terms = f"temp.terms_of_{table} t LEFT JOIN passages p ON p.n = t.doc"
    PARTS[table] = f"SELECT {PLACE}, t.term, t.col, t.offset FROM {terms} {OF_DOCUMENT}"


def digest(index: Index) -> str:
    """Return the hash of the index; files are not read."""
    return sha256("\n".join(f"{name} {value}" for name, value in parts(index).items()).encode()).hexdigest()


def parts(index: Index) -> dict[str, str]:
    """Return the hash of each part, to find where two indexes differ."""
    connection = index.reading()
    for table in WORD_TABLES:
        made = f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms_of_{table} USING fts5vocab(main, {table}, instance)"
        connection.execute(made)
    connection.execute("BEGIN")
    try:
        return {name: _hash(connection, sql) for name, sql in PARTS.items()}
    finally:
        connection.execute("ROLLBACK")


def _hash(connection: apsw.Connection, sql: str) -> str:
    lines = sorted(repr(row) for row in rows(connection, sql))
    return sha256("\n".join(lines).encode("utf-8", "backslashreplace")).hexdigest()
