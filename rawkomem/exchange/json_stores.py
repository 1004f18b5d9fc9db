"""Read memories in JSON: those of mem0, and our own JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..format.entries import ENTRY_FIELD_KEYS, MAX_PATTERNS
from ..format.mesh_fields import json_object
from ..learn.skills import CONDITION_LENGTH
from ..model.entries import Entry, Memory
from ..model.values import CREATES, IMPORTANCE, without
from ..state.changes import ENDS, RELATED
from ..state.plans import TITLE_CHARS
from ..state.trust import IMPORTED
from ..text.clean import one_line
from .imported_entries import (
    as_values,
    dicts_in,
    entry_from,
    importance_of,
    list_of,
    past_time,
    text_of,
    texts_in,
)
from .notes import own_entry, renamed_fields, with_long_fields
from .sources import GONE_THERE, Source, SourcePage

Item = dict[str, Any]


# keys of the list of memories in a document
LIST_KEYS = ("results", "memories", "items", "data")
# fields of mem0 that become parts of an entry, or that depend on a search or on the text
MEM0_READ = str.split("""
    id memory text content metadata categories category tags importance agent_id created_at updated_at score hash embedding
""")
OWN_FORMAT = "rawkomem/1"  # the format of each line of our JSON Lines
# Key of our JSON Lines → field of a memory.
JSON_TEXTS = {
    "id": "id",
    "kind": "kind",
    "title": "title",
    "importance": "importance",
    "discoveredBy": "by",
    "discoveredIn": "found_in",
    "source": "source",
    "body": "body",
}
JSON_LISTS = {"whenToUse": "when", "tags": "tags", "relatedMemories": "related"}
JSON_STATE = {
    "status": "status",
    "helpful": "helpful",
    "harmful": "harmful",
    "reinforcements": "reinforcements",
    "corroborations": "corroborations",
    "disputes": "disputes",
    "supersededBy": "superseded_by",
    "path": "path",
}
# of memories that the other system no longer uses
GONE_STATUSES = ("superseded", "archived", "deleted", "rejected")


def items_in(value: Any) -> list[Item]:
    """Return the memories of a document: from a list, from a list under a known key, or from one list per agent."""
    if isinstance(value, dict):
        named = [value.get(name) for name in LIST_KEYS]
        inner = next((part for part in named if isinstance(part, (list, dict))), None)
        if inner is None:
            inner = [item for part in value.values() for item in list_of(part)]
        value = list(inner.values()) if isinstance(inner, dict) else inner
    return [item for item in dicts_in(value) if item_text(item)]


def is_mem0(source: Source) -> bool:
    """Return whether a JSON file contains a list of memories with texts."""
    return source.path.endswith(".json") and bool(items_in(source.json()))


def is_own_export(source: Source) -> bool:
    """Return whether a file is JSON Lines of `rawkomem export`."""
    return source.path.endswith(".jsonl") and OWN_FORMAT in next(source.lines(), "")


def read_mem0(source: Source) -> Iterator[Entry]:
    """Yield mem0's memories, with their tags, importance and author; other fields are kept in the frontmatter."""
    for item in items_in(source.json()):
        about = json_object(item.get("metadata"))
        tags = texts_in(item.get("categories")) or texts_in(
            about.get("tags") or about.get("category")
        )
        others = as_values({**without(about, *MEM0_READ), **without(item, *MEM0_READ)})
        assert isinstance(others, dict)
        extra, text = with_long_fields(renamed_fields(others), item_text(item))
        yield item_entry(
            {**item, "memory": text},
            source.place(source.path),
            tags=tags,
            importance=importance_of(about.get("importance")),
            by=text_of(item.get("agent_id")),
            extra=extra,
        )


def read_own_export(source: Source) -> Iterator[Entry]:
    """Yield the memories of our own JSON Lines with all their keys and their status; votes are not imported."""
    for number, line in enumerate(source.lines(), 1):
        try:
            item = json.loads(line)
        except ValueError:
            item = None
        if not isinstance(item, dict) or item.get("format") != OWN_FORMAT:
            source.skip(
                f"{source.place(source.path)}:{number}",
                "this line is not a memory of rawkomem",
            )
            continue
        yield _own_line_entry(source, item)


def _own_line_entry(source: Source, item: Item) -> Entry:
    texts = {field: str(item.get(key) or "") for key, field in JSON_TEXTS.items()}
    lists = {field: texts_in(item.get(key)) for key, field in JSON_LISTS.items()}
    state = json_object(item.get("state"))
    values = as_values(json_object(item.get("extra")))
    assert isinstance(values, dict)
    extra = without(values, *ENTRY_FIELD_KEYS, *ENDS, IMPORTED)
    extra |= {key: one_line(str(state[key])) for key in ENDS if state.get(key)}
    if state.get("status") in GONE_STATUSES:
        extra[GONE_THERE] = str(state["status"])
    for link in dicts_in(state.get("links")):
        if link.get("type") == RELATED:  # other types have no frontmatter key
            lists["related"].append(str(link.get("to", "")))
    known = {"kind": CREATES, "importance": IMPORTANCE}
    usable: dict[str, Any] = {
        field: text if field == "body" else one_line(text, TITLE_CHARS)
        for field, text in texts.items()
        if text in known.get(field, (text,))
    }
    conditions = [one_line(text, CONDITION_LENGTH) for text in lists["when"]]
    memory = Memory(
        **usable,
        when=tuple(conditions[:MAX_PATTERNS]),
        tags=tuple(lists["tags"]),
        related=tuple(map(one_line, lists["related"])),
        created=past_time(item.get("discoveredAt")),
        extra=extra,
    )
    return own_entry(SourcePage(source.place(source.path), "", 0), memory, memory.id)


def item_text(item: Item) -> str:
    """Return the text of a memory of another program; empty if it has none."""
    named = (item.get(key) for key in ("memory", "text", "content"))
    return next((text for text in named if isinstance(text, str)), "")


def item_entry(item: Item, place: str, title: object = "", **arguments: Any) -> Entry:
    """Return the entry of a memory of another program; `arguments` are further arguments of entry_from."""
    page = SourcePage(
        place,
        "",
        past_time(item.get("created_at")) or past_time(item.get("updated_at")),
    )
    text = item_text(item)
    return entry_from(
        page,
        str(title or text.partition("\n")[0]),
        text,
        str(item.get("id", "")),
        **arguments,
    )
