"""Hashes all data that the index answers from. After any history the hashes equal those of a rebuild (law 3)."""

from hashlib import sha256

import apsw
from rawkomem.index.index import Index
from rawkomem.index.stores.sqlite import COLUMNS, WORD_TABLES

NUMBERED_CONDITIONS = "SELECT *, row_number() OVER (PARTITION BY memory ORDER BY n) AS place FROM conditions"
PASSAGE_PLACE, PASSAGE_DOCUMENT = "d.id, p.number", "LEFT JOIN documents d ON d.n = p.document"
# Row numbers and stamps depend on history: the queries join row numbers to ids, and leave stamps out.
DIGEST_PARTS = {
    "fingerprint": "SELECT value FROM meta WHERE key = 'fingerprint'",
    "files": "SELECT path, hash, verdict, entries FROM files",
    "entries": "SELECT path, number, id, target, digest, newer, doc FROM entries",
    "memories": "SELECT * FROM memories",
    "documents": f"SELECT {', '.join(COLUMNS)} FROM documents",
    "passages": f"SELECT {PASSAGE_PLACE}, p.field, p.alone, p.heading, p.line, p.text FROM passages p {PASSAGE_DOCUMENT}",
    "conditions": f"SELECT memory, place, packed, size FROM ({NUMBERED_CONDITIONS})",
    "triggers": f"SELECT memory, place, key, start FROM triggers LEFT JOIN ({NUMBERED_CONDITIONS}) c ON c.n = condition",
    "stems": f"SELECT memory, place, stem FROM stems LEFT JOIN ({NUMBERED_CONDITIONS}) c ON c.n = condition",
    "claims": "SELECT memory, subject, predicate FROM claims",
    "conflicts": "SELECT memory, other FROM conflicts",
    "statements": "SELECT memory, key, stance FROM statements",
    "fine": f"SELECT {PASSAGE_PLACE}, f.vector FROM fine f LEFT JOIN passages p ON p.n = f.n {PASSAGE_DOCUMENT}",
    "coarse": f"SELECT {PASSAGE_PLACE}, c.bits FROM coarse c LEFT JOIN passages p ON p.n = c.n {PASSAGE_DOCUMENT}",
}
for table in WORD_TABLES:
    terms = f"temp.terms_of_{table} t LEFT JOIN passages p ON p.n = t.doc"
    DIGEST_PARTS[table] = f"SELECT {PASSAGE_PLACE}, t.term, t.col, t.offset FROM {terms} {PASSAGE_DOCUMENT}"


def digest_parts(index: Index) -> dict[str, str]:
    """Return the hash of each part, to find where two indexes differ."""
    connection = index.reading()
    for table in WORD_TABLES:
        made = f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms_of_{table} USING fts5vocab(main, {table}, instance)"
        connection.execute(made)
    connection.execute("BEGIN")
    try:
        return {name: _hash_of_rows(connection, sql) for name, sql in DIGEST_PARTS.items()}
    finally:
        connection.execute("ROLLBACK")


def _hash_of_rows(connection: apsw.Connection, sql: str) -> str:
    lines = sorted(repr(row) for row in connection.execute(sql))
    return sha256("\n".join(lines).encode("utf-8", "backslashreplace")).hexdigest()
