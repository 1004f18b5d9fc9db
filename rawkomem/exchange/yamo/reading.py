"""Read a database of memory-mesh: memories, lessons and skills as entries, and blocks for the ledger.

Columns and metadata without a key of their own are kept as JSON, so that an export can write them again.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from ...files.local.ledger.chain import Row
from ...format.lesson import LessonContext, body_of, checked, keys_of, title_of
from ...format.mesh_metadata import COLUMNS_KEY, STORE_KEY, extra_of, importance_for, json_object, score_in
from ...format.yamo import read_block
from ...format.yamo_blocks import OPERATIONS
from ...learn.skills.text import body_of as skill_body
from ...learn.skills.text import read_skill
from ...model.errors import BadInput
from ...model.record import replace
from ...text.clean import clean, one_line
from ..entry import a_name, entry_from, labels
from ..notes import OWN_ID
from ..place import GONE_THERE
from ..source import Page
from .database import BLOCKS, EDGES, MEMORIES, SKILLS, lance_folder, not_later_than_now, open_database
from .own import take_own_fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...model.entry import Entry, Value
    from ..source import Source
    from .database import Database

PLAIN_COLUMNS = ("id", "content", "metadata", "created_at")  # these become parts of an entry
GONE_STATES = ("superseded", "archived", "deprecated")  # of a memory that memory-mesh no longer uses
NOT_CARRIED = "rows of this table are not imported"
LESSON_TYPE = "lesson"
MAX_KEPT_BYTES = (
    20_000  # of metadata, and of columns, as JSON: a frontmatter has 64 KiB, and quoting doubles some characters
)
FORBIDDEN_KEYS = ("__proto__", "constructor", "prototype")  # RFC-0011: keys that are dangerous in JavaScript


def is_yamo(source: Source) -> bool:
    """Tell whether a folder is a LanceDB, with any tables: no other format here uses LanceDB."""
    return source.is_folder and bool(lance_folder(source.path))


def read_yamo(source: Source) -> Iterator[Entry]:
    """Yield memories, lessons and skills; those that memory-mesh superseded or archived are imported as archived."""
    database = open_database(source.path)
    place = source.place(database.folder)
    place = os.path.basename(source.path) if place == "." else place
    related = _related(database)
    for row in database.rows(MEMORIES):
        if entry := _memory(source, row, place):
            yield replace(entry, related=related.get(entry.id, ()))
    for row in database.rows(SKILLS):
        yield _skill(source, row, place)
    for name in database.others:
        source.skip(name, NOT_CARRIED)


def read_blocks(source: Source) -> tuple[list[Row], int]:
    """Return the blocks that the ledger can store, oldest first, and the number of others."""
    rows = [_block(row) for row in open_database(source.path).rows(BLOCKS)]
    usable = [row for row in rows if row.operation_type in OPERATIONS and row.id and row.yamo_text]
    return sorted(usable, key=lambda row: (row.timestamp, row.id)), len(rows) - len(usable)


def _block(row: Mapping[str, Any]) -> Row:
    id, agent, operation, text = (
        str(row.get(name) or "") for name in ("id", "agent_id", "operation_type", "yamo_text")
    )
    return Row(id, agent, operation, int(row.get("timestamp") or 0), text)


def _related(database: Database) -> dict[str, tuple[str, ...]]:
    """Return id → ids of the memories that its edges lead to."""
    found: dict[str, dict[str, None]] = {}
    for row in database.rows(EDGES):
        found.setdefault(str(row["source_id"]), {})[str(row["target_id"])] = None
    return {id: tuple(targets) for id, targets in found.items()}


def _memory(source: Source, row: dict[str, Any], place: str) -> Entry | None:
    content = row.get("content")
    if not isinstance(content, str) or not content.strip():
        source.skip(str(row.get("id", "?")), "it has no text")
        return None
    id = str(row["id"])
    metadata = _fitting(source, id, _metadata(row))
    held = {key: value for key, value in row.items() if key not in PLAIN_COLUMNS and value is not None}
    columns = _fitting(source, id, held if OWN_ID.fullmatch(id) else {**held, "id": id})
    if "importance_score" in columns:
        columns["importance_score"] = round(columns["importance_score"], 6)  # a float32 column returns 0.9300000072
    made = _lesson(content, metadata, place, row) or _plain(content, metadata, place, row)
    made, metadata = take_own_fields(made, metadata)
    score = score_in({**columns, **metadata})
    agent = columns.get("agent_id") or metadata.get("agent_id")
    return replace(
        made,
        id=id if OWN_ID.fullmatch(id) else "",
        importance=importance_for(score) if score is not None else made.importance,
        by=made.by or (a_name(agent) if isinstance(agent, str) else ""),
        source=_source(metadata),
        extra={**made.extra, **_kept(metadata), COLUMNS_KEY: _json(columns), **_gone(columns)},
    )


def _plain(content: str, metadata: Mapping[str, Any], place: str, row: Mapping[str, Any]) -> Entry:
    page = Page(place, "", not_later_than_now(row.get("created_at")))
    title = str(metadata.get("title") or content.strip().partition("\n")[0])
    tags = [tag for tag in _list(metadata.get("tags")) if isinstance(tag, str)]
    return entry_from(page, title, content, str(row["id"]), tags=tags)


def _lesson(content: str, metadata: Mapping[str, Any], place: str, row: Mapping[str, Any]) -> Entry | None:
    """Return the lesson in a memory and its wire block; None if the memory is not a complete lesson."""
    pattern = metadata.get("lesson_pattern_id")
    if metadata.get("type") != LESSON_TYPE or not isinstance(pattern, str):
        return None
    block, _ = read_block(str(metadata.get("yamo_wire_format", "")))
    said = {key: str(metadata.get(key) or "") for key in ("oversight", "preventative_rule", "severity")}
    try:
        context = checked(
            LessonContext(
                situation=block.value("context", "original_context") if block else said["oversight"],
                error_pattern=pattern,
                fix=block.value("meta", "rationale") if block else said["preventative_rule"],
                applicable_scope=str(metadata.get("applicable_scope") or ""),
                inverse_lesson=str(metadata.get("inverse_lesson") or ""),
                confidence=float(metadata.get("rule_confidence", 0)),
                **said,
            )
        )
    except (BadInput, ValueError, TypeError):
        return None
    tags = [tag for tag in _list(metadata.get("tags")) if isinstance(tag, str)]
    page = Page(place, "", not_later_than_now(row.get("created_at")))
    body, title = body_of(context), title_of(context)
    if not body.startswith(" ".join(content.split())):
        return None  # its text was changed: import it as a plain memory
    made = entry_from(page, title, body, str(row["id"]), tags=tags, importance=context.severity, kind="lesson")
    return replace(made, extra={**made.extra, **keys_of(context, pattern)})


def _skill(source: Source, row: Mapping[str, Any], place: str) -> Entry:
    skill = read_skill(str(row["yamo_text"]))
    page = Page(place, "", not_later_than_now(row.get("created_at")))
    metadata = _fitting(source, str(row["id"]), _metadata(row))
    said: dict[str, Value] = {"intent": one_line(str(row["intent"])), "description": skill.description}
    extra = {key: text for key, text in said.items() if text}
    id, name = str(row["id"]), str(row["name"]) or skill.name
    made = entry_from(page, name, "", id, skill.when, skill.tags, kind="skill", extra=extra)
    made, metadata = take_own_fields(made, metadata)
    id = id if OWN_ID.fullmatch(id) else ""
    extra = {**made.extra, **_kept(metadata)}
    return replace(made, id=id, body=skill_body(skill.text), source=_source(metadata), extra=extra)


def _metadata(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a row; if it is not an object, keep it as a text."""
    said = row.get("metadata")
    return json_object(said) if not said or json_object(said) or said == "{}" else {"metadata": said}


def _fitting(source: Source, id: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that fit into a frontmatter; the largest are left out and reported as skipped."""
    sizes = {key: len(_json({key: value}).encode("utf-8", "replace")) for key, value in values.items()}
    kept = {key: value for key, value in values.items() if key != STORE_KEY and key not in FORBIDDEN_KEYS}
    for key in sorted(sizes, key=lambda name: sizes[name], reverse=True):
        if sum(sizes[name] for name in kept) <= MAX_KEPT_BYTES:
            break
        if kept.pop(key, None) is not None:
            source.skip(f"{id} {key}", f"its {sizes[key]:,} bytes do not fit into a frontmatter")
    return kept


def _kept(metadata: Mapping[str, Any]) -> dict[str, Value]:
    """Return metadata as frontmatter, without values that the entry's own keys contain."""
    said = {"source"} if _source(metadata) == metadata.get("source") else set()
    tags = _list(metadata.get("tags"))
    if [*labels(tag for tag in tags if isinstance(tag, str))] == tags:
        said.add("tags")
    return extra_of({key: value for key, value in metadata.items() if key not in said})


def _source(metadata: Mapping[str, Any]) -> str:
    source = metadata.get("source")
    return one_line(clean(source)) if isinstance(source, str) else ""


def _gone(columns: Mapping[str, Any]) -> dict[str, Value]:
    state = str(columns.get("state") or ("superseded" if columns.get("superseded_at") else ""))
    return {GONE_THERE: state} if state in GONE_STATES else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
