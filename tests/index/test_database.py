"""How a writer opens the index."""

from __future__ import annotations

from contextlib import closing

from rawkomem.index.stores.database import open_database


def test_a_writer_does_not_wait_for_the_disk_at_every_commit(tmp_path):
    with closing(open_database(str(tmp_path / "index.db"))) as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (1,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
