"""Read memories in JSON: those of mem0, and our own JSON Lines. For neolata see neolata/."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..format.read_entries import DROPPED, KEYS, MAX_PATTERNS
from ..learn.skills.text import CONDITION_LENGTH
from ..model.kinds import CREATES, IMPORTANCE
from ..model.record import replace
from ..state.changes.validity import ENDS
from ..state.decide import TITLE_CHARS
from ..state.references import RELATED
from ..text.clean import clean, one_line
from .entry import entry_from, importance_of, moment, texts
from .notes import OWN_ID
from .place import GONE_THERE
from .source import Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model.entry import Entry, Value
    from .source import Source

    Item = dict[str, Any]

LIST_KEYS = ("results", "memories", "items", "data")  # keys of the list of memories in a document
FORMAT = "rawkomem/1"  # the format of each line of our JSON Lines
MAX_DEPTH = 5  # levels of a value; a frontmatter may have eight in all
GONE_STATUSES = ("superseded", "archived", "deleted", "rejected")  # of memories that the other system no longer uses


def items_in(value: Any) -> list[Item]:
    """Return the memories of a document: from a list, from a list under a known key, or from one list per agent."""
    if isinstance(value, dict):
        inner = next((value[name] for name in LIST_KEYS if isinstance(value.get(name), (list, dict))), None)
        if inner is None:
            inner = [item for part in value.values() if isinstance(part, list) for item in part]
        value = list(inner.values()) if isinstance(inner, dict) else inner
    return [item for item in value if isinstance(item, dict) and text_of(item)] if isinstance(value, list) else []


def is_mem0(source: Source) -> bool:
    """Tell whether a JSON file contains a list of memories with texts."""
    return source.path.endswith(".json") and bool(items_in(source.json()))


def is_own(source: Source) -> bool:
    """Tell whether a file is JSON Lines of `rawkomem export`."""
    return source.path.endswith(".jsonl") and FORMAT in next(source.lines(), "")


def read_mem0(source: Source) -> Iterator[Entry]:
    """Yield mem0's memories, with their tags, importance and author."""
    for item in items_in(source.json()):
        given = item.get("metadata")
        about: Item = given if isinstance(given, dict) else {}
        tags = texts(item.get("categories")) or texts(about.get("tags") or about.get("category"))
        importance = importance_of(about.get("importance"))
        by = str(item.get("agent_id") or "")
        yield item_entry(item, source.place(source.path), tags=tags, importance=importance, by=by)


def read_own(source: Source) -> Iterator[Entry]:
    """Yield the memories of our own JSON Lines with all their keys and their status; votes are not imported."""
    for number, line in enumerate(source.lines(), 1):
        try:
            item = json.loads(line)
        except ValueError:
            item = None
        if not isinstance(item, dict) or item.get("format") != FORMAT:
            source.skip(f"{source.place(source.path)}:{number}", "this line is not a memory of rawkomem")
            continue
        yield _whole(source, item)


def _whole(source: Source, item: Item) -> Entry:
    page = Page(source.place(source.path), "", 0)
    id = str(item.get("id", ""))
    kind, importance = item.get("kind"), item.get("importance")
    told = item.get("state")
    state: Item = told if isinstance(told, dict) else {}
    made = entry_from(
        page,
        str(item.get("title", "")),
        str(item.get("body", "")),
        id,
        tags=texts(item.get("tags")),
        importance=importance if importance in IMPORTANCE else "medium",
        kind=kind if kind in CREATES else "memory",
        at=moment(item.get("discoveredAt")),
        by=str(item.get("discoveredBy") or ""),
    )
    return replace(
        made,
        id=id if OWN_ID.fullmatch(id) else "",
        title=one_line(str(item.get("title") or made.title), TITLE_CHARS),
        when=tuple(one_line(condition, CONDITION_LENGTH) for condition in texts(item.get("whenToUse")))[:MAX_PATTERNS],
        found_in=one_line(str(item.get("discoveredIn") or "")),
        source=one_line(str(item.get("source") or "")),
        related=tuple(one_line(name) for name in (*texts(item.get("relatedMemories")), *_linked(state))),
        extra={**_without_window(_values(item.get("extra"))), **_standing(state), **made.extra},
    )


def _linked(state: Item) -> Iterator[str]:
    """Yield the targets of `related` links; links of other types have no frontmatter key."""
    links = state.get("links")
    for link in links if isinstance(links, list) else ():
        if isinstance(link, dict) and link.get("type") == RELATED:
            yield str(link.get("to", ""))


def _standing(state: Item) -> dict[str, Value]:
    """Return the validity of a memory, and its status if the other repository no longer uses it."""
    window = {key: one_line(str(state[key])) for key in ENDS if state.get(key)}
    status = state.get("status")
    return {**window, **({GONE_THERE: str(status)} if status in GONE_STATUSES else {})}


def _without_window(extra: dict[str, Value]) -> dict[str, Value]:
    return {key: value for key, value in extra.items() if key not in ENDS}


def _values(said: Any) -> dict[str, Value]:
    """Return the other keys of a memory as frontmatter values, without keys that have a meaning of their own."""
    held = as_values(said) if isinstance(said, dict) else {}
    return {key: value for key, value in held.items() if key not in KEYS} if isinstance(held, dict) else {}


def as_values(value: Any, depth: int = 0) -> Value:
    """Return a JSON value as texts, lists and mappings; null and values that are too deep become an empty text."""
    if isinstance(value, dict) and depth < MAX_DEPTH:
        return {clean(str(key)): as_values(item, depth + 1) for key, item in value.items() if str(key) not in DROPPED}
    if isinstance(value, list) and depth < MAX_DEPTH:
        return [as_values(item, depth + 1) for item in value]
    if isinstance(value, str):
        return clean(value)
    return "" if value is None or isinstance(value, (dict, list)) else json.dumps(value)


def text_of(item: Item) -> str:
    """Return the text of a memory of another program; empty if it has none."""
    return next((item[key] for key in ("memory", "text", "content") if isinstance(item.get(key), str)), "")


def item_entry(item: Item, place: str, title: object = "", **said: Any) -> Entry:
    """Return the entry of a memory of another program; `said` are further arguments of entry_from."""
    page = Page(place, "", moment(item.get("created_at")) or moment(item.get("updated_at")))
    text = text_of(item)
    return entry_from(page, str(title or text.partition("\n")[0]), text, str(item.get("id", "")), **said)
