"""The search store in LanceDB: a folder, or an object store, of tables that any Arrow reader understands.

`tables`: its tables, those of RFC-0011, and commits over several tables.
`store`: writing and searching.
"""

from __future__ import annotations

import os

# LanceDB reads it when it is imported: a warning of its own on stderr, such as "it will be created", tells a user nothing
os.environ.setdefault("LANCEDB_LOG", "error")
