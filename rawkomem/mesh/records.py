"""Between a memory and the RFC's record: content and metadata on one side, frontmatter and body on the other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..model.clock import iso
from ..model.entry import Entry
from ..model.errors import BadInput
from ..state.facets import session_of, type_of
from ..state.promoted import memory_type
from ..text.clean import one_line
from .types import AGENT, MemoryRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model.entry import Memory, Value

LONGEST = 100_000  # characters
TITLE = 80
FORBIDDEN = ("__proto__", "constructor", "prototype")
# Metadata that has a place in the frontmatter, read by people and by the rest of this program: the RFC's key → ours.
PLACES = {
    "type": "type",
    "rationale": "rationale",
    "hypothesis": "hypothesis",
    "skill_name": "skill_name",
    "session_id": "session",
    "status": "status",
    "error": "error",
    "error_pattern": "error_pattern",
    "source_skill_id": "source_skill_id",
}
REST = "metadata"  # the frontmatter key of all other metadata, as JSON: what went in comes out, numbers and all


def entry_of(content: object, metadata: object, agent: str) -> Entry:
    """What storing this means; content and metadata are checked."""
    text = checked_content(content)
    given = checked_metadata(metadata)
    extra: dict[str, Value] = {}
    for key, place in PLACES.items():
        if isinstance(given.get(key), str) and given[key]:
            extra[place] = given.pop(key)
    tags, source = given.pop("tags", ()), given.pop("source", "")
    if isinstance(tags, str) or not all(isinstance(tag, str) for tag in tags):
        raise BadInput("tags must be a list of texts", 'such as ["auth", "#lesson_learned"]')
    if given:
        extra[REST] = json.dumps(given, ensure_ascii=False, sort_keys=True)
    title = one_line(next(line for line in text.splitlines() if line.strip()).lstrip("# "), TITLE)
    by = "" if agent == AGENT else agent
    return Entry(title=title, tags=tuple(tags), by=by, source=str(source), extra=extra, body=text)


def checked_content(content: object) -> str:
    """The text without space around it."""
    if not isinstance(content, str) or not content.strip():
        raise BadInput("content must be a text that is not empty", "give --content")
    if len(content) > LONGEST:
        raise BadInput(f"content of {len(content)} characters", f"give at most {LONGEST:,}: split it")
    return content.strip()


def checked_metadata(metadata: object) -> dict[str, Any]:
    """A copy of the metadata; keys that could change more than a record are refused, however deep they stand."""
    if not isinstance(metadata, dict):
        raise BadInput("metadata must be an object", 'such as {"type": "event"}')
    _refuse(metadata)
    try:
        json.dumps(metadata)
    except (TypeError, ValueError):
        raise BadInput("metadata must be what JSON can say", "texts, numbers, lists and objects") from None
    return dict(metadata)


def _refuse(value: object) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in FORBIDDEN:
                raise BadInput(f"metadata must not hold the key {key!r}", "rename it")
            _refuse(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _refuse(inner)


def record_of(memory: Memory) -> MemoryRecord:
    """A memory as a record."""
    return MemoryRecord(memory.id, memory.body or memory.title, metadata_of(memory), iso(memory.created))


def metadata_of(memory: Memory) -> dict[str, Any]:
    """What the memory says of itself, by the RFC's keys; what it does not say is left out."""
    said = {key: memory.extra[place] for key, place in PLACES.items() if memory.extra.get(place)}
    known = {
        "type": type_of(memory) or memory.kind,
        "memory_type": memory_type(memory),
        "source": memory.source,
        "tags": list(memory.tags),
        "session_id": session_of(memory),
        "agent_id": memory.by,
        "importance": memory.importance,
    }
    return {**{key: value for key, value in known.items() if value}, **said, **_rest(memory.extra)}


def _rest(extra: Mapping[str, Value]) -> dict[str, Any]:
    try:
        rest = json.loads(str(extra.get(REST, "{}")))
    except ValueError:
        return {}
    return rest if isinstance(rest, dict) else {}
