"""Read a store of neolata from a folder, rows of Supabase, or a dump.

graph.json, archived.json   memories in use, and archived memories
episodes.json               episodes, with the ids of their members
pending-conflicts.json      claims that contradict each other, and their resolutions
clusters.json               names that people gave to clusters
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ...model.errors import BadInput, NotFound
from ...model.record import record
from ..source import MAX_JSON_BYTES, Source
from ..stores import items_in, text_of
from .fields import ARCHIVED_AT
from .sql import COPY, copied_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Item = dict[str, Any]

GRAPH, ARCHIVE, EPISODES, CONFLICTS, CLUSTERS = FILES = (
    "graph.json", "archived.json", "episodes.json", "pending-conflicts.json", "clusters.json",
)  # fmt: skip
LINKS = "links"
TABLES = {  # table of Supabase → file with the same content
    "memories": GRAPH,
    "memories_archive": ARCHIVE,
    "memory_archive": ARCHIVE,
    "episodes": EPISODES,
    "pending_conflicts": CONFLICTS,
    "memory_clusters": CLUSTERS,
    "memory_links": LINKS,
}
COLUMNS = {  # column of Supabase → field
    "agent_id": "agent",
    "content": "memory",
    "access_count": "accessCount",
    "last_review_interval": "lastReviewInterval",
    "memory_ids": "memoryIds",
    "new_id": "newId",
    "existing_id": "existingId",
    "new_trust": "newTrust",
    "existing_trust": "existingTrust",
    "new_claim": "newClaim",
    "existing_claim": "existingClaim",
}
NEOLATA_FIELDS = ("agent", "agent_id", "links", "category", "claim", "importance")  # mem0's memories do not have these
MAX_SNIFFED_LINES = 20_000  # lines of a dump that are searched for a table


@record
class Store:
    """The content of a store, in the fields of neolata's JSON; `places` maps each part to its file."""

    memories: list[Item]  # archived ones have an archive time
    episodes: list[Item]
    conflicts: list[Item]
    clusters: list[Item]
    places: dict[str, str]


def is_neolata(source: Source) -> bool:
    """Tell whether neolata wrote a JSON file, a folder or a dump; other tools write a graph.json, too."""
    if not source.is_folder:
        return _is_dump(source.path) or (source.path.endswith(".json") and _are_neolata(_memories_in(source.json())))
    names = {name for name in os.listdir(source.path) if name in FILES or name.partition(".")[0] in TABLES}
    first = next((name for name in (GRAPH, "memories.json") if name in names), "")
    if not first:
        return _dump_in(source.path) != ""
    if first == GRAPH and len(names) > 1:
        return True
    try:
        return _are_neolata(_memories_in(Source(os.path.join(source.path, first)).json()))
    except BadInput:
        return False


def _are_neolata(items: Sequence[Item]) -> bool:
    return bool(items) and sum(name in items[0] for name in NEOLATA_FIELDS) >= 2


def _memories_in(document: Any) -> list[Item]:
    return items_in(document["memories"] if isinstance(document, dict) and "memories" in document else document)


def _is_dump(file: str) -> bool:
    if not file.endswith(".sql"):
        return False
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            heads = (COPY.match(line) for _, line in zip(range(MAX_SNIFFED_LINES), stream, strict=False))
            return any(found and found[1] in TABLES for found in heads)
    except OSError:
        return False


def _dump_in(folder: str) -> str:
    """Return the only dump in a folder; empty if there is none or several."""
    found = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".sql")]
    return found[0] if len(found) == 1 and not os.path.islink(found[0]) and _is_dump(found[0]) else ""


def read_store(source: Source) -> Store:
    """Return the whole store of a source."""
    parts: dict[str, list[Item]] = {}
    places: dict[str, str] = {}
    for name, rows, file in _parts(source):
        parts.setdefault(name, []).extend(rows)
        places[name] = source.place(file)
    linked = _linked(parts.get(LINKS, []))
    memories = [_with_links(item, linked) for item in parts.get(GRAPH, [])]
    graph = {str(item.get("id")) for item in memories}
    archived = [_put_away(item) for item in parts.get(ARCHIVE, []) if str(item.get("id")) not in graph]
    episodes, conflicts, clusters = (parts.get(name, []) for name in (EPISODES, CONFLICTS, CLUSTERS))
    return Store([*memories, *archived], episodes, conflicts, clusters, places)


def _parts(source: Source) -> Iterator[tuple[str, list[Item], str]]:
    """Yield (part, items, file) for each table or file."""
    dump = source.path if source.path.endswith(".sql") else _dump_in(source.path) if source.is_folder else ""
    if dump:
        yield from ((name, rows, dump) for name, rows in _dumped(dump).items())
    elif source.is_folder:
        for name in sorted(os.listdir(source.path)):
            part = name if name in FILES else TABLES.get(name.removesuffix(".json"), "")
            file = os.path.join(source.path, name)
            if part and os.path.islink(file):
                source.skip(source.place(file), "a link")
            elif part and name.endswith(".json"):
                yield part, _rows(source, Source(file).json(), file), file
    else:
        document = source.json()
        tables = document if isinstance(document, dict) and isinstance(document.get("memories"), list) else {}
        if any(isinstance(tables.get(name), list) for name in TABLES):
            for name in tables.keys() & TABLES.keys():
                yield TABLES[name], _rows(source, tables[name], source.path), source.path
        else:
            yield GRAPH, _rows(source, items_in(document), source.path), source.path


def _rows(source: Source, given: Any, file: str) -> list[Item]:
    if not isinstance(given, list):
        raise BadInput(f"{file} is not a list of objects", "name a file or folder that neolata wrote")
    sound = [row for row in given if isinstance(row, dict) and (row.get("id") or row.get("source_id"))]
    if len(sound) < len(given):
        source.skip(source.place(file), f"{len(given) - len(sound)} of its items are not objects with an id")
    return [_from_row(row) for row in sound]


def _dumped(file: str) -> dict[str, list[Item]]:
    try:
        if os.path.getsize(file) > MAX_JSON_BYTES:
            raise BadInput(f"{file} has more than {MAX_JSON_BYTES >> 20} MB", "dump neolata's tables only: pg_dump -t")
        with open(file, encoding="utf-8", errors="replace", newline="\n") as stream:
            found: dict[str, list[Item]] = {}
            for table, row in copied_rows(stream):
                if table in TABLES:
                    found.setdefault(TABLES[table], []).append(_from_row(row))
    except OSError as failure:
        raise NotFound(f"{file} cannot be read: {failure.strerror}", "check its permissions") from None
    if GRAPH not in found and ARCHIVE not in found:
        raise BadInput(f"{file} has no rows of memories", "write it with 'pg_dump --data-only', without --inserts")
    return found


def _from_row(row: Item) -> Item:
    """Return a row of Supabase with the field names of the JSON files; items of JSON files do not change."""
    item = {COLUMNS.get(name, name): value for name, value in row.items() if value is not None}
    start, end = item.pop("time_range_start", None), item.pop("time_range_end", None)
    return {**item, **({"timeRange": {"start": start, "end": end}} if start or end else {})}


def _linked(rows: Iterable[Item]) -> dict[str, list[Item]]:
    """Return id → links of each memory. As in neolata, a row is a link in both directions."""
    found: dict[str, list[Item]] = {}
    for row in rows:
        ends = str(row.get("source_id", "")), str(row.get("target_id", ""))
        for one, other in (ends, ends[::-1]):
            link = {"id": other, "similarity": row.get("strength"), "type": row.get("link_type") or "similar"}
            found.setdefault(one, []).append(link)
    return found


def _with_links(item: Item, linked: dict[str, list[Item]]) -> Item:
    links = linked.get(str(item.get("id")))
    return {**item, "links": links} if links and not item.get("links") else item


def _put_away(item: Item) -> Item:
    """Return an archived item with an archive time, which marks it as archived in this package."""
    return {ARCHIVED_AT: item.get("updated_at") or item.get("created_at") or "unknown", **item}


def has_text(item: Item) -> bool:
    """Tell whether an item has a text."""
    return bool(text_of(item).strip())
