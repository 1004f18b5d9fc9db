"""Open a LanceDB folder and recognize its tables by their columns: memories, blocks, skills, edges."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ...model.clock import now
from ...model.errors import BadInput
from ...model.installed import how_to_add
from ...model.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

ENDING = ".lance"  # suffix of the folder of each table
USUAL_PLACES = ("", "lancedb", "data/lancedb", "runtime/data/lancedb")  # below the folder that the user names
BACKUP = "memory_entries_v1_backup"  # RFC-0011 §11: old rows from before a migration; memory_entries contains them, too
MEMORIES, BLOCKS, SKILLS, EDGES = "memories", "blocks", "skills", "edges"
COLUMNS = {  # content of a table → columns that identify it
    BLOCKS: {"operation_type", "yamo_text"},
    SKILLS: {"name", "intent", "yamo_text", "vector"},
    MEMORIES: {"id", "vector", "content", "metadata"},
    EDGES: {"source_id", "target_id", "relation"},
}


@record
class Database:
    """The tables of a memory-mesh by their content, and the names of all other tables."""

    folder: str
    tables: dict[str, list[Any]]
    others: tuple[str, ...]

    def rows(self, what: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of all tables with this content, without vectors; times are milliseconds since 1970."""
        for table in self.tables.get(what, ()):
            names = [name for name in table.schema.names if name != "vector"]
            for batch in table.search().select(names).limit(None).to_batches():
                yield from ({key: _plain(value) for key, value in row.items()} for row in batch.to_pylist())


def lance_folder(path: str) -> str:
    """Return the LanceDB folder at a path or at a usual place below it; empty if there is none."""
    for place in USUAL_PLACES:
        folder = os.path.join(path, *place.split("/")) if place else path
        if os.path.isdir(folder) and _table_names(folder):
            return folder
    return ""


def open_database(path: str) -> Database:
    """Open the database of a memory-mesh; raise BadInput if the folder is anything else."""
    folder = lance_folder(path)
    if not folder:
        raise BadInput(f"{path} is not a LanceDB folder", "name the folder that contains memory_entries.lance")
    db = connect(folder)
    tables: dict[str, list[Any]] = {}
    others: list[str] = []
    for name in _table_names(folder):
        if name == BACKUP:
            continue
        table = opened(db, name, folder)
        what = next((what for what, known in COLUMNS.items() if known <= set(table.schema.names)), "")
        if what:
            tables.setdefault(what, []).append(table)
        else:
            others.append(name)
    if not {MEMORIES, BLOCKS, SKILLS} & tables.keys():
        found = ", ".join(others) or "no tables"
        raise BadInput(
            f"{folder} is a LanceDB, but not one of memory-mesh: it has {found}",
            "memory-mesh has tables such as memory_entries, with the columns id, vector, content and metadata",
        )
    return Database(folder, tables, tuple(others))


def connect(folder: str) -> Any:
    """Return a connection to a LanceDB folder; raise BadInput if the package lancedb is missing."""
    try:
        import lancedb
    except ModuleNotFoundError:
        raise BadInput("a memory-mesh database needs the package lancedb", f"run: {how_to_add('lancedb')}") from None
    return lancedb.connect(folder)


def opened(db: Any, name: str, folder: str) -> Any:
    """Return a table; raise BadInput if it cannot be read."""
    try:
        return db.open_table(name)
    except (ValueError, OSError, RuntimeError) as failure:
        said = str(failure).partition("\n")[0][:200]
        raise BadInput(f"the table {name} in {folder} cannot be read: {said}", "check that it is complete") from None


def _table_names(folder: str) -> Sequence[str]:
    return sorted(name.removesuffix(ENDING) for name in os.listdir(folder) if _is_table(folder, name))


def _is_table(folder: str, name: str) -> bool:
    return name.endswith(ENDING) and os.path.isdir(os.path.join(folder, name))


def _plain(value: Any) -> Any:
    """Return a column's value as a JSON value."""
    return milliseconds(value) if hasattr(value, "timestamp") else value


def milliseconds(moment: datetime) -> int:
    """Return the milliseconds since 1970 of a column's time, which is in UTC."""
    from datetime import UTC, datetime

    since = moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000


def not_later_than_now(at: Any) -> int:
    """Return a time in milliseconds, at most the current time; 0 if there is none."""
    return min(int(at), now()) if isinstance(at, int) and at > 0 else 0
