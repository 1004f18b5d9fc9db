"""Read and write databases of YAMO's memory-mesh: LanceDB folders with the tables of RFC-0011.

Columns and metadata without a key of their own are kept as JSON, so that an export can write them
again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ..files.blocks import LedgerRow
from ..format.entries import FORBIDDEN_KEYS, MAX_PATTERNS
from ..format.mesh_fields import (
    COLUMNS_KEY,
    METADATA_KEYS,
    OTHER_METADATA_KEY,
    STORE_MARK_KEY,
    LessonContext,
    checked_lesson,
    compact_json,
    extra_from_metadata,
    importance_for,
    importance_score,
    json_object,
    lesson_body,
    lesson_keys,
    lesson_title,
    sorted_json,
)
from ..format.skill_files import read_skill, skill_body
from ..format.yamo import YAMO_OPERATIONS, read_yamo_block
from ..learn.lessons import lesson_conditions
from ..model.entries import Entry, Memory, Value
from ..model.errors import BadInput, Refused, Unwritable
from ..model.installed import how_to_add
from ..model.values import (
    filled,
    iso,
    now,
    read_time,
    record,
    replace,
    text_of,
    without,
)
from ..state.changes import ENDS
from ..state.strength import entry_row, lesson_metadata
from .imported_entries import (
    OWN_ID,
    as_one_body,
    entry_from,
    fitting_values,
    line_of,
    texts_in,
    valid_name,
    valid_tags,
)
from .sources import GONE_THERE, Source, SourcePage, place_of
from .written_files import ExportedFiles, window_of

Embed = Callable[[Sequence[str]], list[list[float]]]
Rows = list[dict[str, Any]]


TABLE_ENDING = ".lance"  # suffix of the folder of each table
# below the folder that the user names
USUAL_PLACES = ("", "lancedb", "data/lancedb", "runtime/data/lancedb")
# RFC-0011 §11: old rows from before a migration; memory_entries contains them, too
BACKUP_TABLE = "memory_entries_v1_backup"
MEMORY_ROWS = "memories"
BLOCK_ROWS = "blocks"
SKILL_ROWS = "skills"
EDGE_ROWS = "edges"
TABLE_COLUMNS = {  # content of a table → columns that identify it
    BLOCK_ROWS: {"operation_type", "yamo_text"},
    SKILL_ROWS: {"name", "intent", "yamo_text", "vector"},
    MEMORY_ROWS: {"id", "vector", "content", "metadata"},
    EDGE_ROWS: {"source_id", "target_id", "relation"},
}


@record
class MeshDatabase:
    """The tables of a memory-mesh by their content, and the names of all other tables."""

    folder: str
    tables: dict[str, list[Any]]
    others: tuple[str, ...]

    def rows(self, what: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of all tables with this content, without vectors; times are milliseconds since 1970."""
        for table in self.tables.get(what, ()):
            names = [name for name in table.schema.names if name != "vector"]
            for batch in table.search().select(names).limit(None).to_batches():
                for row in batch.to_pylist():
                    yield {
                        key: milliseconds(value)
                        if isinstance(value, datetime)
                        else value
                        for key, value in row.items()
                    }


def lance_folder(path: str) -> str:
    """Return the LanceDB folder at a path or at a usual place below it; empty if there is none."""
    for place in USUAL_PLACES:
        folder = os.path.join(path, *place.split("/")) if place else path
        if os.path.isdir(folder) and _table_names(folder):
            return folder
    return ""


def open_mesh(path: str) -> MeshDatabase:
    """Open the database of a memory-mesh; raise BadInput if the folder is anything else."""
    folder = lance_folder(path)
    if not folder:
        raise BadInput(
            f"{path} is not a LanceDB folder",
            "name the folder that contains memory_entries.lance",
        )
    db = connect_lance(folder)
    tables: dict[str, list[Any]] = {}
    others: list[str] = []
    for name in _table_names(folder):
        if name == BACKUP_TABLE:
            continue
        table = opened_table(db, name, folder)
        what = next(
            (
                what
                for what, known in TABLE_COLUMNS.items()
                if known <= set(table.schema.names)
            ),
            "",
        )
        if what:
            tables.setdefault(what, []).append(table)
        else:
            others.append(name)
    if not {MEMORY_ROWS, BLOCK_ROWS, SKILL_ROWS} & tables.keys():
        listing = ", ".join(others) or "no tables"
        raise BadInput(
            f"{folder} is a LanceDB, but not one of memory-mesh: it has {listing}",
            "memory-mesh has tables such as memory_entries, with the columns id, vector, content and metadata",
        )
    return MeshDatabase(folder, tables, tuple(others))


def connect_lance(folder: str) -> Any:
    """Return a connection to a LanceDB folder; raise BadInput if the package lancedb is missing."""
    try:
        import lancedb
    except ModuleNotFoundError:
        raise BadInput(
            "a memory-mesh database needs the package lancedb",
            f"run: {how_to_add('lancedb')}",
        ) from None
    return lancedb.connect(folder)


def opened_table(db: Any, name: str, folder: str) -> Any:
    """Return a table; raise BadInput if it cannot be read."""
    try:
        return db.open_table(name)
    except (ValueError, OSError, RuntimeError) as failure:
        reason = str(failure).partition("\n")[0][:200]
        raise BadInput(
            f"the table {name} in {folder} cannot be read: {reason}",
            "check that it is complete",
        ) from None


def _table_names(folder: str) -> Sequence[str]:
    names = sorted(name for name in os.listdir(folder) if name.endswith(TABLE_ENDING))
    return [
        name.removesuffix(TABLE_ENDING)
        for name in names
        if os.path.isdir(os.path.join(folder, name))
    ]


def milliseconds(moment: datetime) -> int:
    """Return the milliseconds since 1970 of a column's time, which is in UTC."""

    return round(moment.replace(tzinfo=UTC).timestamp() * 1000)


def not_later_than_now(at: Any) -> int:
    """Return a time in milliseconds, at most the current time; 0 if there is none."""
    return min(int(at), now()) if isinstance(at, int) and at > 0 else 0


# Carries conditions and validity windows in the metadata of a row: memory-mesh has no columns for
# them.

WHEN_KEY = "whenToUse"


def own_fields(memory: Memory) -> dict[str, Any]:
    """Return the conditions and the window of a memory as metadata; without conditions if its import made them."""
    fields: dict[str, Any] = {}
    if memory.amended_in or not place_of(memory.extra).startswith("yamo:"):
        fields[WHEN_KEY] = [*memory.when]
    return fields | window_of(memory)


def take_own_fields(
    entry: Entry, metadata: Mapping[str, Any]
) -> tuple[Entry, dict[str, Any]]:
    """Return an entry with the conditions and the window that metadata states as we write them, and the other metadata."""
    ends = {key: metadata[key] for key in ENDS if is_own_time(metadata.get(key))}
    entry = replace(entry, extra={**entry.extra, **ends})
    when = metadata.get(WHEN_KEY)
    if (
        isinstance(when, list)
        and len(when) <= MAX_PATTERNS
        and len(texts_in(when)) == len(when)
    ):
        entry = replace(entry, when=tuple(when))
    return entry, without(metadata, *ends)


def is_own_time(value: object) -> bool:
    """Return whether a value is a time in the form that we write."""
    return (
        isinstance(value, str)
        and bool(value)
        and iso(read_time(value)[0] or 0) == value
    )


# these become parts of an entry
PLAIN_COLUMNS = ("id", "content", "metadata", "created_at")
# of a memory that memory-mesh no longer uses
GONE_STATES = ("superseded", "archived", "deprecated")
LESSON_KIND = "lesson"  # also the type in metadata
# memory-mesh writes this above each passage of a text: its source or its heading, which metadata and text have, too
PASSAGE_CONTEXT = re.compile(r"^\[Document Context: [^\n]*\]\n", re.MULTILINE)
NOT_CARRIED = "rows of this table are not imported"
# of metadata, and of columns, as JSON: a frontmatter has 64 KiB, and quoting doubles some
# characters
MAX_KEPT_CHARS = 20_000


def is_yamo(source: Source) -> bool:
    """Return whether a folder is a LanceDB, with any tables: no other format here uses LanceDB."""
    return source.is_folder and bool(lance_folder(source.path))


def read_yamo(source: Source) -> Iterator[Entry]:
    """Yield memories, lessons and skills; those that memory-mesh superseded or archived are imported as archived."""
    database = open_mesh(source.path)
    place = source.place(database.folder)
    place = os.path.basename(source.path) if place == "." else place
    related = _related(database)
    for row in (*database.rows(MEMORY_ROWS), *database.rows(SKILL_ROWS)):
        if entry := _row_entry(source, row, place):
            yield replace(entry, related=related.get(entry.id, ()))
    for name in database.others:
        source.skip(name, NOT_CARRIED)


def read_blocks(source: Source) -> tuple[list[LedgerRow], int]:
    """Return the blocks that the ledger can store, oldest first, and the number of others."""
    rows = [_block_row(row) for row in open_mesh(source.path).rows(BLOCK_ROWS)]
    usable = [
        row
        for row in rows
        if row.operation_type in YAMO_OPERATIONS and row.id and row.yamo_text
    ]
    return sorted(usable, key=lambda row: (row.timestamp, row.id)), len(rows) - len(
        usable
    )


def _block_row(row: Mapping[str, Any]) -> LedgerRow:
    id, agent, operation, text = (
        str(row.get(name) or "")
        for name in ("id", "agent_id", "operation_type", "yamo_text")
    )
    return LedgerRow(id, agent, operation, int(row.get("timestamp") or 0), text)


def _related(database: MeshDatabase) -> dict[str, tuple[str, ...]]:
    """Return id → ids of the memories that its edges lead to."""
    targets_of: dict[str, dict[str, None]] = {}
    for row in database.rows(EDGE_ROWS):
        targets_of.setdefault(str(row["source_id"]), {})[str(row["target_id"])] = None
    return {id: tuple(targets) for id, targets in targets_of.items()}


def _row_entry(source: Source, row: dict[str, Any], place: str) -> Entry | None:
    """Return a row of memories or skills as an entry; None if it has no text."""
    id = str(row["id"])
    is_skill = "yamo_text" in row
    content = without_context(
        str(row.get("yamo_text" if is_skill else "content") or "")
    )
    if not content.strip():
        source.skip(id, "it has no text")
        return None
    metadata = _fitting(source, id, json_object(row.get("metadata")))
    page = SourcePage(place, "", not_later_than_now(row.get("created_at")))
    if is_skill:
        entry = _skill_entry(row, page, id)
    else:
        lesson = _lesson_entry(content, metadata, page, id)
        entry = _with_columns(
            source, lesson or _plain_entry(content, metadata, page, id), row, metadata
        )
    entry, metadata = take_own_fields(entry, metadata)
    return replace(
        entry,
        id=id if OWN_ID.fullmatch(id) else "",
        source=_source_text(metadata),
        extra={**entry.extra, **_kept_metadata(metadata)},
    )


def _with_columns(
    source: Source, entry: Entry, row: dict[str, Any], metadata: Mapping[str, Any]
) -> Entry:
    """Return a memory with its importance, author and state from its columns, and with all columns for an export."""
    id = str(row["id"])
    values = {
        key: value
        for key, value in row.items()
        if key not in PLAIN_COLUMNS and value is not None
    }
    columns = _fitting(
        source, id, values if OWN_ID.fullmatch(id) else {**values, "id": id}
    )
    if "importance_score" in columns:
        # a float32 column returns 0.9300000072
        columns["importance_score"] = round(columns["importance_score"], 6)
    score = importance_score({**columns, **metadata})
    agent = columns.get("agent_id") or metadata.get("agent_id")
    state = columns.get("state") or (
        "superseded" if columns.get("superseded_at") else ""
    )
    gone = {GONE_THERE: state} if state in GONE_STATES else {}
    return replace(
        entry,
        importance=importance_for(score) if score is not None else entry.importance,
        by=entry.by or valid_name(text_of(agent)),
        extra={**entry.extra, COLUMNS_KEY: sorted_json(columns), **gone},
    )


def without_context(content: str) -> str:
    """Return a text of memory-mesh without the lines that it wrote above each passage."""
    return PASSAGE_CONTEXT.sub("", content)


def _one_line(content: str) -> str:
    """Return a lesson's text on one line: memory-mesh cuts it into passages, and we keep the first paragraph for it."""
    return " ".join(content.split())


def _plain_entry(
    content: str, metadata: Mapping[str, Any], page: SourcePage, id: str
) -> Entry:
    first = content.strip().partition("\n")[0]
    title = str(metadata.get("title") or first.lstrip("# ") or first)
    return entry_from(page, title, content, id, tags=texts_in(metadata.get("tags")))


def _lesson_entry(
    content: str, metadata: Mapping[str, Any], page: SourcePage, id: str
) -> Entry | None:
    """Return the lesson in a memory and its wire block; None if the memory is not a complete lesson."""
    pattern = metadata.get("lesson_pattern_id")
    if metadata.get("type") != LESSON_KIND or not isinstance(pattern, str):
        return None
    block, _ = read_yamo_block(str(metadata.get("yamo_wire_format", "")))
    texts = {
        key: str(metadata.get(key) or "")
        for key in ("oversight", "preventative_rule", "severity")
    }
    try:
        context = checked_lesson(
            LessonContext(
                situation=block.value("context", "original_context")
                if block
                else texts["oversight"],
                error_pattern=pattern,
                fix=block.value("meta", "rationale")
                if block
                else texts["preventative_rule"],
                applicable_scope=str(metadata.get("applicable_scope") or ""),
                inverse_lesson=str(metadata.get("inverse_lesson") or ""),
                confidence=float(metadata.get("rule_confidence", 0)),
                **texts,
            )
        )
    except (BadInput, ValueError, TypeError):
        return None
    _, _, sections = lesson_body(context).partition("\n\n")
    return entry_from(
        page,
        lesson_title(context),
        f"{_one_line(content)}\n\n{sections}",
        id,
        lesson_conditions(pattern, context.applicable_scope),
        tags=texts_in(metadata.get("tags")),
        importance=context.severity,
        kind=LESSON_KIND,
        extra=lesson_keys(context, pattern),
    )


def _skill_entry(row: Mapping[str, Any], page: SourcePage, id: str) -> Entry:
    skill = read_skill(str(row["yamo_text"]))
    fields = {"intent": line_of(row["intent"]), "description": skill.description}
    name = str(row["name"]) or skill.name
    extra = filled(fields)
    entry = entry_from(
        page, name, "", id, skill.when, skill.tags, kind="skill", extra=extra
    )
    return replace(entry, body=skill_body(skill.text))


def _fitting(source: Source, id: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that fit into a frontmatter; the largest are left out and reported as skipped."""
    refused = (STORE_MARK_KEY, *FORBIDDEN_KEYS)
    kept = without(values, *refused)
    return fitting_values(source, id, kept, MAX_KEPT_CHARS)


def _kept_metadata(metadata: Mapping[str, Any]) -> dict[str, Value]:
    """Return metadata as frontmatter, without values that the entry's own keys contain."""
    in_entry = {"source"} if _source_text(metadata) == metadata.get("source") else set()
    tags = metadata.get("tags", [])
    if [*valid_tags(texts_in(tags))] == tags:
        in_entry.add("tags")
    return extra_from_metadata(without(metadata, *in_entry))


def _source_text(metadata: Mapping[str, Any]) -> str:
    return line_of(metadata.get("source"))


# Write a database for memory-mesh: memory_entries in schema V2, yamo_blocks, synthesized_skills.
#
# An existing database keeps its other rows, and the vectors of rows whose text does not change.

MARKDOWN_FENCE = re.compile(r"\A(`{3,})markdown\n(.*)\n\1\Z", re.DOTALL)
DEFAULT_TYPE = "event"  # RFC-0011 §9.1: of a memory without a type
# these change with use
LIVE_COLUMNS = ("importance_score", "access_count", "last_accessed")


@record
class MeshContent:
    """The rows to write, without vectors, and the function that embeds their texts."""

    entries: Rows
    blocks: Rows
    skills: Rows
    dims: int
    embed: Embed


def mesh_row(memory: Memory, accesses: int = 0, last_access: int = 0) -> dict[str, Any]:
    """Return a memory as a row of memory-mesh; an imported memory keeps the columns that it had."""
    row = entry_row(memory, accesses, last_access)
    metadata = {**_written_metadata(memory, row["metadata"]), **own_fields(memory)}
    row = {
        **row,
        "content": _mesh_content(memory, row["content"]),
        "metadata": metadata,
    }
    if COLUMNS_KEY not in memory.extra:
        return row
    kept = json_object(memory.extra[COLUMNS_KEY])
    used = {name for name in LIVE_COLUMNS[1:] if row[name]}
    if memory.amended_in or memory.reinforcements:
        used.add(LIVE_COLUMNS[0])
    live = {name: row[name] for name in LIVE_COLUMNS if name in kept or name in used}
    return {**{name: row[name] for name in PLAIN_COLUMNS}, **kept, **live}


def write_mesh(folder: str, content: MeshContent) -> ExportedFiles:
    """Write all rows into a folder that is new, empty, or a database of memory-mesh; return the ids written.

    Raise Refused for any other folder, Unwritable on an I/O error.
    """
    known = lance_folder(folder)
    is_taken = os.path.lexists(folder) and (
        not os.path.isdir(folder) or os.listdir(folder)
    )
    if is_taken and not known:
        what = f"{folder} is not empty and not a memory-mesh database"
        raise Refused(what, "name another folder")
    db = connect_lance(known or folder)
    # these need packages that `connect_lance` checks for
    import pyarrow as pa

    from ..index.stores.lance import tables

    dims = content.dims
    lifecycle = tables.optional_columns(
        superseded_at=tables.MOMENT,
        state=tables.TEXT,
        pinned=pa.bool_(),
        defer_until=tables.MOMENT,
    )
    entries = pa.schema([*tables.entries_v2(dims), *lifecycle])
    parts = {
        tables.ENTRIES: (content.entries, "content", entries),
        tables.BLOCKS: (content.blocks, "", tables.blocks_schema()),
        tables.SKILLS: (content.skills, "intent", tables.skills_schema(dims)),
    }
    written: list[str] = []
    unchanged: list[str] = []
    try:
        names = tables.table_names(db)
        for name, (rows, embedded, schema) in parts.items():
            if name in names:
                table = db.open_table(name)
            else:
                table = db.create_table(name, schema=schema)
            new, same = _put_rows(table, rows, embedded, content)
            written += new
            unchanged += same
    except (OSError, RuntimeError) as failure:
        reason = str(failure).partition("\n")[0][:200]
        raise Unwritable(
            f"cannot write {folder}: {reason}", "check permissions and free space"
        ) from None
    return ExportedFiles(tuple(written), tuple(unchanged), ())


def _put_rows(
    table: Any, rows: Rows, embedded: str, content: MeshContent
) -> tuple[list[str], list[str]]:
    """Write the rows that differ from those of the table; return the ids of written and of unchanged rows.

    Existing rows without an embedded text, which are blocks, stay unchanged.
    """
    import pyarrow as pa

    schema = table.schema
    known = {row["id"]: row for row in table.to_arrow().to_pylist()} if rows else {}
    converted = [_as_known(row, known.get(row["id"], {}), embedded) for row in rows]
    plain = pa.schema([field for field in schema if field.name != "vector"])
    converted = pa.Table.from_pylist(
        [{key: row.get(key) for key in schema.names} for row in converted],
        schema=plain,  # converts values to the types of their columns
    )
    different = [
        row for row in converted.to_pylist() if not _same_row(row, known.get(row["id"]))
    ]
    new = [row for row in different if embedded or row["id"] not in known]
    if embedded:
        _add_vectors(new, known, embedded, schema, content)
    if new:
        merging = (
            table.merge_insert("id")
            .when_matched_update_all()
            .when_not_matched_insert_all()
        )
        merging.execute(pa.Table.from_pylist(new, schema=schema))
    ids = {row["id"] for row in new}
    return [*ids], [row["id"] for row in rows if row["id"] not in ids]


def _same_row(row: Mapping[str, Any], known: Mapping[str, Any] | None) -> bool:
    if known is None:
        return False
    same = all(
        value == known.get(name) for name, value in row.items() if name != "metadata"
    )
    return same and _metadata_object(row["metadata"]) == _metadata_object(
        known["metadata"]
    )


def _metadata_object(metadata: str | None) -> dict[str, Any]:
    return without(json_object(metadata), STORE_MARK_KEY)


def _add_vectors(
    rows: Rows,
    known: Mapping[str, Any],
    embedded: str,
    schema: Any,
    content: MeshContent,
) -> None:
    """Add a vector to each row: the table's vector if the text is the same, else a new one.

    Raise BadInput if the table's vectors have another length.
    """
    lacking = [
        row for row in rows if known.get(row["id"], {}).get(embedded) != row[embedded]
    ]
    size = schema.field("vector").type.list_size
    if lacking and size != content.dims:
        message = f"the vectors in that database have {size} numbers, those of this embedder {content.dims}"
        raise BadInput(
            message, "export into a new folder and let memory-mesh embed again"
        )
    for row in rows:
        row["vector"] = known.get(row["id"], {}).get("vector")
    vectors = content.embed([row[embedded] for row in lacking])
    for row, vector in zip(lacking, vectors, strict=True):
        row["vector"] = vector


def _mesh_content(memory: Memory, text: str) -> str:
    """Return the text without the fence that an import added; for an imported lesson, memory-mesh's one line."""
    if memory.kind == LESSON_KIND and COLUMNS_KEY in memory.extra:
        return text.partition("\n\n")[0]
    fenced = MARKDOWN_FENCE.match(text)
    return fenced[2] if fenced and as_one_body(fenced[2]) == text else text


def _written_metadata(memory: Memory, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a row; for an imported memory, its original metadata with later changes."""
    kept = json_object(memory.extra.get(OTHER_METADATA_KEY))
    placed = {
        key: memory.extra[place]
        for key, place in METADATA_KEYS.items()
        if memory.extra.get(place)
    }
    own = {"source": memory.source, "tags": [*memory.tags]}
    merged = {**filled(own), **kept, **placed}
    if memory.amended_in:
        merged["tags"] = own["tags"]
    if COLUMNS_KEY in memory.extra:
        return merged
    titled = {} if memory.body.startswith(memory.title) else {"title": memory.title}
    lesson = lesson_metadata(memory) if memory.kind == LESSON_KIND else {}
    return {"type": metadata.get("type", DEFAULT_TYPE), **titled, **merged, **lesson}


def _as_known(
    row: Mapping[str, Any], known: Mapping[str, Any], embedded: str
) -> dict[str, Any]:
    """Return a row with its metadata as JSON, plus keys of the existing row that did not fit into our frontmatter.

    A text that differs only in what an import normalizes, such as line ends, stays as it is in the table.
    """
    there = {
        key: value
        for key, value in _metadata_object(known.get("metadata")).items()
        # our window may have been removed since
        if key not in ENDS or not is_own_time(value)
    }
    result = {**row, "metadata": compact_json({**there, **row["metadata"]})}
    text = known.get(embedded)
    bare = without_context(text or "")
    if text and as_one_body(row[embedded]) in (as_one_body(bare), _one_line(bare)):
        result[embedded] = text
    return result
