"""Write a database for memory-mesh: memory_entries in schema V2, yamo_blocks, synthesized_skills.

An existing database keeps its other rows, and the vectors of rows whose text does not change.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from ...format.mesh_metadata import COLUMNS_KEY, OTHER_METADATA_KEY, PLACES, STORE_KEY, json_object
from ...learn.lessons.lesson import TAG, lesson_of
from ...model.errors import BadInput, Refused, Unwritable
from ...model.kinds import DEFAULT_IMPORTANCE
from ...model.record import record
from ...state.lifecycle.mesh_row import entry_row
from ..conditions import from_headings
from ..entry import as_body, labels
from ..folder import Exported
from .database import connect, lance_folder
from .own import own_fields, without_own_window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...model.entry import Memory

    Embed = Callable[[Sequence[str]], list[list[float]]]  # texts → vectors
    Rows = list[dict[str, Any]]

FENCED = re.compile(r"\A(`{3,})markdown\n(.*)\n\1\Z", re.DOTALL)
DEFAULT_TYPE = "event"  # RFC-0011 §9.1: of a memory without a type
OWN_COLUMNS = ("id", "content", "metadata", "created_at")
LIVE_COLUMNS = ("importance_score", "access_count", "last_accessed")  # these change with use
LESSON = "lesson"


@record
class Content:
    """The rows to write, without vectors, and the function that embeds their texts."""

    entries: Rows
    blocks: Rows
    skills: Rows
    dims: int
    embed: Embed


def mesh_row(memory: Memory, accesses: int = 0, last_access: int = 0) -> dict[str, Any]:
    """Return a memory as a row of memory-mesh; an imported memory keeps the columns that it had."""
    row = entry_row(memory, accesses, last_access)
    content = _content(memory, row["content"])
    metadata = {**_metadata(memory, row["metadata"]), **own_fields(memory, *_derived(memory, content))}
    said = {**row, "content": content, "metadata": metadata}
    if COLUMNS_KEY not in memory.extra:
        return said
    kept = json_object(memory.extra[COLUMNS_KEY])
    live = {name: row[name] for name in LIVE_COLUMNS if name in kept or _changed_here(memory, row, name)}
    return {**{name: said[name] for name in OWN_COLUMNS}, **kept, **live}


def _derived(memory: Memory, content: str) -> tuple[tuple[str, ...], ...]:
    """Return the conditions that the import of a memory from memory-mesh derives from its title."""
    if COLUMNS_KEY not in memory.extra:
        return ()
    title = json_object(memory.extra.get(OTHER_METADATA_KEY)).get("title") or content.strip().partition("\n")[0]
    return from_headings(str(title)), from_headings(memory.title)


def _changed_here(memory: Memory, row: Mapping[str, Any], name: str) -> bool:
    """Tell whether a memory that was imported without this column has a value by now."""
    if name == "importance_score":
        usual = memory.extra.get("severity", DEFAULT_IMPORTANCE) if memory.kind == LESSON else DEFAULT_IMPORTANCE
        return bool(memory.reinforcements) or memory.importance != usual
    return bool(row[name])


def write_database(folder: str, content: Content) -> Exported:
    """Write all rows into a folder that is new, empty, or a database of memory-mesh; return the ids written.

    Raise Refused for any other folder, Unwritable on an I/O error.
    """
    if not lance_folder(folder):
        _refuse_other_files(folder)
    db = connect(lance_folder(folder) or folder)
    from .schemas import BLOCKS, ENTRIES, SKILLS, schema_of, table_names  # needs the package that `connect` checks for

    parts = {ENTRIES: (content.entries, "content"), BLOCKS: (content.blocks, ""), SKILLS: (content.skills, "intent")}
    written: list[str] = []
    unchanged: list[str] = []
    try:
        names = table_names(db)
        for name, (rows, embedded) in parts.items():
            table = (
                db.open_table(name) if name in names else db.create_table(name, schema=schema_of(name, content.dims))
            )
            new, same = _put(table, rows, embedded, content, replaces=name != BLOCKS)
            written += new
            unchanged += same
    except (OSError, RuntimeError) as failure:
        said = str(failure).partition("\n")[0][:200]
        raise Unwritable(f"cannot write {folder}: {said}", "check permissions and free space") from None
    return Exported(tuple(written), tuple(unchanged), ())


def _refuse_other_files(folder: str) -> None:
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise Refused(f"{folder} is not empty and not a memory-mesh database", "name another folder")


def _put(table: Any, rows: Rows, embedded: str, content: Content, replaces: bool) -> tuple[list[str], list[str]]:
    """Write the rows that differ from those of the table; return the ids of written and of unchanged rows.

    Without `replaces`, existing rows stay unchanged.
    """
    import pyarrow as pa

    schema = table.schema
    known = {row["id"]: row for row in table.to_arrow().to_pylist()} if rows else {}
    made = [{**row, "metadata": _as_text(row, known.get(row["id"], {}))} for row in rows]
    made = pa.Table.from_pylist([{key: row.get(key) for key in schema.names} for row in made], schema=_without(schema))
    different = [row for row in made.to_pylist() if not _same(row, known.get(row["id"]))]
    new = [row for row in different if replaces or row["id"] not in known]
    if embedded:
        _add_vectors(new, known, embedded, schema, content)
    if new:
        merging = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
        merging.execute(pa.Table.from_pylist(new, schema=schema))
    ids = {row["id"] for row in new}
    return [*ids], [row["id"] for row in rows if row["id"] not in ids]


def _without(schema: Any) -> Any:
    """Return a schema without its vector column, to convert values to the types of their columns."""
    import pyarrow as pa

    return pa.schema([field for field in schema if field.name != "vector"])


def _same(row: Mapping[str, Any], known: Mapping[str, Any] | None) -> bool:
    if known is None:
        return False
    same = all(value == known.get(name) for name, value in row.items() if name != "metadata")
    return same and _object(row["metadata"]) == _object(known["metadata"])


def _object(metadata: str | None) -> dict[str, Any]:
    return {key: value for key, value in json_object(metadata).items() if key != STORE_KEY}


def _add_vectors(rows: Rows, known: Mapping[str, Any], embedded: str, schema: Any, content: Content) -> None:
    """Add a vector to each row: the table's vector if the text is the same, else a new one.

    Raise BadInput if the table's vectors have another length.
    """
    lacking = [row for row in rows if known.get(row["id"], {}).get(embedded) != row[embedded]]
    size = schema.field("vector").type.list_size
    if lacking and size != content.dims:
        message = f"the vectors in that database have {size} numbers, those of this embedder {content.dims}"
        raise BadInput(message, "export into a new folder and let memory-mesh embed again")
    made = dict(zip([row["id"] for row in lacking], content.embed([row[embedded] for row in lacking]), strict=True))
    for row in rows:
        row["vector"] = made.get(row["id"]) or known[row["id"]]["vector"]


def _content(memory: Memory, text: str) -> str:
    """Return the text without the fence that an import added; for an imported lesson, memory-mesh's one line."""
    if memory.kind == "lesson" and COLUMNS_KEY in memory.extra:
        return text.partition("\n\n")[0]
    fenced = FENCED.match(text)
    return fenced[2] if fenced and as_body(fenced[2]) == text else text


def _metadata(memory: Memory, said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a row; for an imported memory, its original metadata with later changes."""
    kept = json_object(memory.extra.get(OTHER_METADATA_KEY))
    placed = {key: memory.extra[place] for key, place in PLACES.items() if memory.extra.get(place)}
    own = {"tags": _tags(kept.get("tags"), memory.tags), "source": kept.get("source", memory.source)}
    if COLUMNS_KEY in memory.extra:
        return {**kept, **placed, **{key: value for key, value in own.items() if value}}
    titled = {} if memory.body.startswith(memory.title) else {"title": memory.title}
    types = {"type": said.get("type", DEFAULT_TYPE)}
    lesson = _lesson(memory) if memory.kind == LESSON else {}
    return {**types, **titled, **kept, **placed, **{key: value for key, value in own.items() if value}, **lesson}


def _lesson(memory: Memory) -> dict[str, Any]:
    """Return the metadata by which memory-mesh finds lessons."""
    lesson = lesson_of(memory)
    return {
        "type": LESSON,
        "tags": [TAG, *(tag for tag in memory.tags if tag.lstrip("#") != TAG.lstrip("#"))],
        "lesson_id": memory.id,
        "lesson_pattern_id": lesson.pattern_id,
        "severity": lesson.context.severity,
        "oversight": lesson.context.oversight,
        "preventative_rule": lesson.context.preventative_rule,
        "rule_confidence": lesson.context.confidence,
        "applicable_scope": lesson.context.applicable_scope,
        "inverse_lesson": lesson.context.inverse_lesson,
        "yamo_wire_format": lesson.wire,
    }


def _tags(kept: object, tags: Sequence[str]) -> list[str]:
    """Return the current tags, each in memory-mesh's spelling if it has one."""
    before = {labels([tag])[0]: tag for tag in kept if labels([tag])} if isinstance(kept, list) else {}
    return [before.get(tag, tag) for tag in tags]


def _as_text(row: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """Return the metadata of a row as JSON, plus keys of the existing row that did not fit into our frontmatter."""
    there = without_own_window(_object(known.get("metadata")))
    return json.dumps({**there, **row["metadata"]}, ensure_ascii=False)
