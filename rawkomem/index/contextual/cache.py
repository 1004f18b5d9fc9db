"""Caches contextual vectors by the hash of their text, so that a rebuild reuses them; int8, as in the store."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING

import apsw
import numpy as np

from ...embed.wordpiece import knows
from ...files.local.private import make_private_folder
from ..stores.database import check_database, first, remove_database
from ..stores.sqlite import SCALE, pack_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...embed.protocol import Embedder

MAX_VECTORS = 400_000  # about 170 MB; beyond it the oldest vectors are deleted


class Kept:
    """Wraps an embedder with a cache file, which only one process may use at a time."""

    def __init__(self, inner: Embedder, path: str):
        self.name = inner.name
        self.dims = inner.dims
        self.inner = inner
        self.path = path
        self._db = self._open()

    def __enter__(self) -> Kept:
        return self

    def __exit__(self, *error: object) -> None:
        self._db.close()

    def _open(self) -> apsw.Connection:
        if self.path != ":memory:":
            make_private_folder(os.path.dirname(self.path))
        try:
            return self._connect()
        except apsw.Error:  # foreign or corrupt: its vectors can be computed again
            remove_database(self.path)
            return self._connect()

    def _connect(self) -> apsw.Connection:
        if self.path != ":memory:":
            check_database(self.path, make=True)
        connection = apsw.Connection(self.path)
        connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
        connection.execute("CREATE TABLE IF NOT EXISTS vectors (n INTEGER PRIMARY KEY, key BLOB UNIQUE, vector BLOB)")
        too_many = "SELECT n FROM vectors ORDER BY n DESC LIMIT 1 OFFSET ?"
        connection.execute(f"DELETE FROM vectors WHERE n <= ({too_many})", (MAX_VECTORS,))
        return connection

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of texts, in int8 precision; call the wrapped embedder for those not in the cache."""
        keys = {text: sha256(f"{self.name}\0{text}".encode("utf-8", "surrogatepass")).digest()[:16] for text in texts}
        known = {text: row[0] for text, key in keys.items() if knows(text) and (row := self._find(key))}
        missing = [text for text in keys if text not in known]
        packed = [fine for fine, _ in pack_all(self.inner.embed(missing))]
        made = dict(zip(missing, packed, strict=True))
        with self._db:
            rows = [(keys[text], vector) for text, vector in made.items()]
            self._db.executemany("INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)", rows)
        kept = {**known, **made}
        return [(np.frombuffer(kept[text], np.int8) / SCALE).astype("<f4").tobytes() for text in texts]

    def _find(self, key: bytes) -> tuple[bytes] | None:
        row = first(self._db, "SELECT vector FROM vectors WHERE key = ?", (key,))
        return row if row and len(row[0]) == self.dims else None
