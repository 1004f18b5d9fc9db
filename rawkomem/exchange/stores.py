"""Memories that other programs keep as JSON: mem0, neolata, and our own JSON Lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..model.kinds import CREATES, IMPORTANCE
from ..model.record import replace
from ..text.entries import CLAIM
from .entry import entry_from, importance_of, moment, texts
from .notes import OWN_ID
from .source import Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model.entry import Entry, Value
    from .source import Source

    Item = dict[str, Any]

LISTS = ("results", "memories", "items", "data")  # where a document keeps its memories
NEOLATA = ("agent", "links", "category", "claim", "importance")  # fields that mem0 does not have
FORMAT = "rawkomem/1"  # says of each line of our JSON Lines what it is
GONE = ("superseded", "archived", "deleted", "rejected")  # statuses of what is no longer in use there


def items_in(value: Any) -> list[Item]:
    """The memories of a document: the list that it is, or that it holds, or one for each agent."""
    if isinstance(value, dict):
        inner = next((value[name] for name in LISTS if isinstance(value.get(name), (list, dict))), None)
        if inner is None:
            inner = [item for part in value.values() if isinstance(part, list) for item in part]
        value = list(inner.values()) if isinstance(inner, dict) else inner
    return [item for item in value if isinstance(item, dict) and _text(item)] if isinstance(value, list) else []


def is_neolata(items: list[Item]) -> bool:
    """Whether these memories are neolata's."""
    return bool(items) and sum(name in items[0] for name in NEOLATA) >= 2


def read_mem0(source: Source) -> Iterator[Entry]:
    """mem0: one sentence each, with whatever metadata the program that stored it gave."""
    for item in items_in(source.json()):
        given = item.get("metadata")
        about: Item = given if isinstance(given, dict) else {}
        tags = texts(item.get("categories")) or texts(about.get("tags") or about.get("category"))
        importance = importance_of(about.get("importance"))
        by = str(item.get("agent_id") or "")
        yield _entry(source, item, tags=tags, importance=importance, by=by)


def read_neolata(source: Source) -> Iterator[Entry]:
    """neolata: text, category, importance from 0 to 1, tags, a claim. Vectors and links stay behind."""
    for item in items_in(source.json()):
        if item.get("status") in GONE:
            source.skip(str(item.get("id", "?")), f"it is {item['status']} there")
            continue
        importance = importance_of(item.get("importance"))
        by = str(item.get("agent") or item.get("agent_id") or "")
        yield _entry(source, item, tags=texts(item.get("tags")), importance=importance, by=by, extra=_facets(item))


def _facets(item: Item) -> dict[str, Value]:
    """Category, claim and source class, as far as they have the shape that ours have."""
    claim, provenance, category = item.get("claim"), item.get("provenance"), item.get("category")
    extra: dict[str, Value] = {"category": category} if isinstance(category, str) and category else {}
    if isinstance(claim, dict) and all(isinstance(claim.get(key), str) for key in CLAIM):
        extra["claim"] = {key: claim[key] for key in CLAIM}
    if isinstance(provenance, dict) and isinstance(provenance.get("source"), str):
        extra["provenance"] = {"source": provenance["source"]}
    return extra


def read_own(source: Source) -> Iterator[Entry]:
    """Our own JSON Lines: everything that a memory says; who believed or used it stays behind."""
    for number, line in enumerate(_lines(source), 1):
        try:
            item = json.loads(line)
        except ValueError:
            item = None
        if not isinstance(item, dict) or item.get("format") != FORMAT:
            source.skip(f"{source.place(source.path)}:{number}", "no memory of rawkomem")
            continue
        yield _whole(source, item)


def _whole(source: Source, item: Item) -> Entry:
    page = Page(source.place(source.path), "", 0)
    id = str(item.get("id", ""))
    said = item.get("extra")
    extra = {str(key): value for key, value in said.items()} if isinstance(said, dict) else {}
    kind, importance = item.get("kind"), item.get("importance")
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
        title=str(item.get("title", "")),
        when=tuple(texts(item.get("whenToUse"))),
        found_in=str(item.get("discoveredIn") or ""),
        source=str(item.get("source") or ""),
        related=tuple(texts(item.get("relatedMemories"))),
        extra={**extra, **made.extra},
    )


def _lines(source: Source) -> Iterator[str]:
    with open(source.path, encoding="utf-8", errors="replace") as stream:
        yield from (line for line in stream if line.strip())


def _text(item: Item) -> str:
    return next((item[key] for key in ("memory", "text", "content") if isinstance(item.get(key), str)), "")


def _entry(source: Source, item: Item, **said: Any) -> Entry:
    at = moment(item.get("created_at")) or moment(item.get("updated_at"))
    page = Page(source.place(source.path), "", at)
    text = _text(item)
    return entry_from(page, text.partition("\n")[0], text, str(item.get("id", "")), **said)
