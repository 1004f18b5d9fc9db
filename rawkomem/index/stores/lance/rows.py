"""Turns memories into rows of our own table `passages`, and of RFC-0011's memory_entries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ....format.mesh_metadata import STORE_KEY
from ....model.entry import Memory
from ....model.kinds import IMPORTANCE
from ....state.lifecycle.mesh_row import entry_row
from ..documents import BODY, Document, Passage
from ..sqlite import comparable, head_of
from .conditions import RENAMED
from .rfc import entries_v2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

STORE = {STORE_KEY: "rawkomem"}  # in the metadata of each row that we write to the tables of the RFC
OURS = f"metadata LIKE '%{json.dumps(STORE)[1:-1]}%'"


def passage_row(n: int, document: Document, at: int, passage: Passage) -> dict[str, Any]:
    """Return a row of `passages`, without its vector and its counts of words."""
    return {
        "n": n,
        "number": at,
        "field": passage.field,
        "alone": not passage.around,
        "head": head_of(document, passage),
        "text": passage.text,
        "around": passage.around,
        "heading": passage.heading,
        "line": passage.line,
        **{RENAMED.get(column, column): value for column, value in comparable(document.facets).items()},
    }


def entry_rows(documents: Sequence[Document], dims: int) -> pa.Table:
    """Return the rows of memory_entries; unknown columns are null."""
    schema = entries_v2(dims)
    rows = [_entry_row(document) for document in documents]
    vectors = np.concatenate([_whole(document, dims) for document in documents])
    columns = {"vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors), dims)}
    columns |= {
        field.name: pa.array([row.get(field.name) for row in rows], type=field.type)
        for field in schema
        if field.name not in columns
    }
    return pa.table([columns[name] for name in schema.names], schema=schema)


def marked(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for a table of the RFC, with metadata (JSON text) that marks it as ours."""
    return {**row, "metadata": json.dumps({**STORE, **row.get("metadata", {})}, ensure_ascii=False)}


def _entry_row(document: Document) -> dict[str, Any]:
    """Return the row of a document. An access count of 0 becomes null, because usage is not known here."""
    row = entry_row(document.memory or _memory(document))
    return marked({**row, "access_count": row["access_count"] or None})


def _memory(document: Document) -> Memory:
    """Return a memory made from a document alone, for a document without a memory."""
    facets = document.facets
    return Memory(
        document.id,
        facets.kind,
        title=document.title,
        body="\n\n".join(passage.text for passage in document.passages if passage.field == BODY),
        tags=facets.tags,
        importance=IMPORTANCE[facets.importance],
        status=facets.status,
        by=facets.by,
        created=facets.created,
        updated=facets.created,
        extra={"type": facets.type, "session": facets.session},
    )


def _whole(document: Document, dims: int) -> NDArray[np.float32]:
    """Return a memory's own vector: the direction of the sum of its passages' vectors."""
    total = np.zeros(dims, dtype=np.float32)
    for passage in document.passages:
        if passage.field == BODY:
            total += np.frombuffer(passage.vector, dtype="<f4")
    size = float(np.linalg.norm(total))
    return total / np.float32(size) if size else total
