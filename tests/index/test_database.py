"""How a writer opens the index."""

import zlib
from contextlib import closing

from rawkomem.index.index import REDACTION
from rawkomem.index.stores.database import open_database
from rawkomem.redaction import assigned, values


def test_a_writer_does_not_wait_for_the_disk_at_every_commit(tmp_path):
    with closing(open_database(str(tmp_path / "index.db"))) as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (1,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_changed_table_renews_the_index():
    """The index holds redacted copies: whoever changes the table must change the index's checksum with it."""
    rows = (
        (values.DATA, values.TAGS, assigned.ASCII_SIGNS),
        (assigned.URL, assigned.ASSIGNMENT, assigned.DECLARATION, assigned.EXPRESSION, assigned.HEADINGS),
        [sorted(names) for names in (assigned.PASSWORDS, assigned.SECRETS, assigned.TOKENS, assigned.KEY_OWNERS)],
        (values.MIN_STRONG_LENGTH, values.MIN_RANDOM_LENGTH, values.CHOSEN.pattern),
    )
    assert f"{zlib.crc32(repr(rows).encode()):08x}" == REDACTION, "write this checksum into rawkomem/index/index.py"
