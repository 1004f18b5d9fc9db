"""Makes rows out of memories: for our own passages, and for the RFC's memory_entries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ....state.lifecycle.promoted import memory_type_of
from ....state.lifecycle.strength import IMPORTANCES
from ..documents import BODY, Document, Passage
from ..sqlite import comparable, head_of
from .conditions import RENAMED
from .rfc import entries_v2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

STORE = {"store": "rawkomem"}  # in the metadata of each row that we write to the tables of the RFC
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
    """Return the rows of memory_entries; what is not known here is null."""
    scores = list(IMPORTANCES.values())
    schema = entries_v2(dims)
    rows = [
        {
            "id": document.id,
            "content": "\n\n".join(passage.text for passage in document.passages if passage.field == BODY),
            "metadata": json.dumps(_metadata(document), ensure_ascii=False),
            "created_at": document.facets.created,
            "session_id": document.facets.session or None,
            "agent_id": document.facets.by or None,
            "memory_type": memory_type_of(document.facets.kind, document.facets.type, document.facets.session),
            "importance_score": scores[document.facets.importance],
        }
        for document in documents
    ]
    vectors = np.concatenate([_whole(document, dims) for document in documents])
    columns = {"vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors), dims)}
    columns |= {
        field.name: pa.array([row.get(field.name) for row in rows], type=field.type)
        for field in schema
        if field.name not in columns
    }
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _metadata(document: Document) -> dict[str, Any]:
    said = {
        **STORE,
        "type": document.facets.type or document.facets.kind,
        "source": document.facets.by,
        "tags": list(document.facets.tags),
        "title": document.title,
        "status": document.facets.status,
        "category": document.facets.category,
        "entities": list(document.facets.entities),
    }
    return {key: value for key, value in said.items() if value}


def _whole(document: Document, dims: int) -> NDArray[np.float32]:
    """Return a memory's own vector: the direction of the sum of its passages' vectors."""
    total = np.zeros(dims, dtype=np.float32)
    for passage in document.passages:
        if passage.field == BODY:
            total += np.frombuffer(passage.vector, dtype="<f4")
    size = float(np.linalg.norm(total))
    return total / np.float32(size) if size else total
