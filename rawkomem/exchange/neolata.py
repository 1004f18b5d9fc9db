"""Import and export neolata-mem: its JSON folder, and dumps of its Supabase tables.

The fields that we would write differently are kept unchanged, as one JSON text under the key
`neolata` of the entry. An export writes a kept field, unless that part of the memory has changed
since.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from hashlib import sha256
from typing import Any

from ..format.entries import CLAIM_KEYS, MAX_PATTERNS
from ..format.mesh_fields import json_object
from ..learn.skills import CONDITION_LENGTH, as_read_back
from ..model.entries import Entry, Memory, Value
from ..model.errors import BadInput, NotFound
from ..model.values import ACTIVE, DAY, KEPT_BOTH, extra_value, iso, now, read_time, record, replace
from ..state.changes import kept_both, open_conflicts
from ..state.claims import MAX_NAME_CHARS, SCOPES, Claim, check_claim, claim_of, read_claim
from ..state.fold import IMPORTED_STATE, MAX_VOTES
from ..state.plans import TITLE_CHARS, time_of
from ..state.strength import IMPORTANCES
from ..state.trust import EVENT_TIME, Trust, category_of, compute_trust
from ..text.clean import clean, one_line
from .imported_entries import (
    as_one_body,
    entry_from,
    importance_of,
    past_time,
    texts_in,
    valid_name,
    valid_tags,
)
from .json_stores import item_entry, item_text, items_in
from .notes import OWN_ID
from .sources import MAX_JSON_BYTES, Page, Source

Item = dict[str, Any]


# Map the fields of neolata's memories to ours, in both directions.

KEPT_KEY = "neolata"  # frontmatter key of the fields without an exact equivalent here, as JSON
UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
THEIR_ID = re.compile(
    rf"(?:mem|ep)_[A-Za-z0-9_-]{{1,90}}|{UUID}"
)  # ids of jsonStorage and supabaseStorage
USUAL_CATEGORY = "fact"
WINDOW = ("validFrom", "validUntil")
DERIVED = (
    "embedding",
    "title",
    "whenToUse",
    *WINDOW,
)  # not kept: rawkomem computes or stores them itself
THEIR_STATUSES = {  # our status → neolata's, if it has no such status
    "draft": "quarantined",
    "conflicted": "quarantined",
}
ARCHIVED_AT, ARCHIVED_WHY = "archived_at", "archived_reason"
MAX_KEPT_CHARS = 40_000  # of all kept fields: a frontmatter has at most 64 KiB


@record
class Field:
    """One field: how to read it from an item, how to get it from a memory, and how to write it for neolata."""

    name: str
    read: Callable[[Item], Any]
    ours: Callable[[Memory], Any]
    write: Callable[[Any], Any] = lambda value: value


def our_id(given: object) -> str:
    """Return our id for an id of neolata: the same id if neolata or rawkomem made it, else one from its hash."""
    id = str(given)
    return (
        id
        if THEIR_ID.fullmatch(id) or OWN_ID.fullmatch(id)
        else f"mem_{sha256(id.encode('utf-8', 'replace')).hexdigest()[:12]}"
    )


def js_time(at: int) -> str | None:
    """Return a time as JavaScript writes it, always with milliseconds."""
    text = iso(at)
    return text if "." in text else text.replace("Z", ".000Z") or None


def neolata_status(item: Item) -> str:
    """Return the status of an item; an item with an archive time is `archived`."""
    return "archived" if item.get(ARCHIVED_AT) else str(item.get("status") or ACTIVE)


def importance_word(value: object) -> str:
    """Return the word whose number is closest, so that an exported word is imported as the same word."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return importance_of(value)
    return min(IMPORTANCES, key=lambda name: abs(IMPORTANCES[name] - value))


def time_text(value: object) -> str:
    """Return a text if it is a valid time; else an empty text."""
    return value.strip() if isinstance(value, str) and read_time(value)[0] else ""


def claim_in(item: Item) -> dict[str, Value]:
    """Return the claim of an item as frontmatter; empty if it is incomplete or invalid.

    A claim with an unreadable validity window is left out: without the window it would cause false contradictions.
    """
    claim = item.get("claim")
    if not isinstance(claim, dict):
        return {}
    known = (*CLAIM_KEYS, "sessionId", "scope", *WINDOW)
    said: dict[str, Value] = {
        key: clean(claim[key]) for key in known if isinstance(claim.get(key), str)
    }
    if claim.get("exclusive", True) is not True:
        said["exclusive"] = str(claim["exclusive"]).lower()
    if said.get("scope") == SCOPES[0]:
        del said["scope"]
    ends = [time_of(said.get(key)) for key in WINDOW if claim.get(key) is not None]
    try:
        check_claim({"claim": said}, "")
    except BadInput:
        return {}
    is_sound = all(ends) and (len(ends) < 2 or ends[0] < ends[1])
    return said if is_sound else {}


def _written_claim(claim: Claim | None) -> Item | None:
    if claim is None:
        return None
    ends = {"validFrom": js_time(claim.valid_from), "validUntil": js_time(claim.valid_until)}
    return {
        "subject": claim.subject,
        "predicate": claim.predicate,
        "value": claim.value,
        "exclusive": claim.exclusive,
        "scope": claim.scope,
        **({"sessionId": claim.session} if claim.session else {}),
        **{key: value for key, value in ends.items() if value},
        "normalizedValue": claim.value,
    }


def agent_of(item: Item) -> str:
    """Return the author of an item if the name is valid in our files; else an empty text."""
    return valid_name(str(item.get("agent") or ""))


def _category(item: Item) -> str:
    given = item.get("category")
    return one_line(given, MAX_NAME_CHARS).lower() if isinstance(given, str) else ""


def text_of(item: Item) -> str:
    """Return the text of an item as a body of ours."""
    return as_read_back(as_one_body(item_text(item))).strip()


# For each field: name, value in an item, value in a memory, how neolata writes it.
FIELDS = (
    Field("id", lambda item: our_id(item.get("id", "")), lambda memory: memory.id),
    Field("agent", agent_of, lambda memory: memory.by),
    Field(
        "memory",
        text_of,
        lambda memory: memory.body.strip() or memory.title,
    ),
    Field(
        "category",
        lambda item: _category(item) or USUAL_CATEGORY,
        lambda memory: category_of(memory) or USUAL_CATEGORY,
    ),
    Field(
        "importance",
        lambda item: importance_word(item.get("importance")),
        lambda memory: memory.importance,
        lambda word: IMPORTANCES[word],
    ),
    Field(
        "tags",
        lambda item: valid_tags(texts_in(item.get("tags"))),
        lambda memory: memory.tags,
        list,
    ),
    Field(
        "created_at", lambda item: past_time(item.get("created_at")), lambda m: m.created, js_time
    ),
    Field(
        "event_at",
        lambda item: time_text(item.get("event_at")),
        lambda memory: str(extra_value(memory.extra, EVENT_TIME)),
        lambda text: text or None,
    ),
    Field("claim", lambda item: read_claim({"claim": claim_in(item)}), claim_of, _written_claim),
    Field(
        "status",
        neolata_status,
        lambda memory: THEIR_STATUSES.get(memory.status, memory.status),
    ),
)


def neolata_entry(item: Item, place: str) -> Entry:
    """Return an item as an entry with our keys and limits, without its state."""
    title, provenance = item.get("title"), item.get("provenance")
    source = provenance.get("source") if isinstance(provenance, dict) else None
    extra: dict[str, Value] = {
        "category": _category(item),
        "claim": claim_in(item),
        "provenance": {"source": one_line(source, MAX_NAME_CHARS)}
        if isinstance(source, str) and source
        else {},
        EVENT_TIME: time_text(item.get("event_at")),
        **{key: time_text(item.get(key)) for key in WINDOW},
    }
    made = item_entry(
        item,
        place,
        title,
        tags=texts_in(item.get("tags")),
        importance=importance_word(item.get("importance")),
        by=agent_of(item),
        extra={key: value for key, value in extra.items() if value},
    )
    made = replace(made, id=our_id(item.get("id", "")))
    if "whenToUse" not in item:
        return made
    conditions = [
        one_line(condition, CONDITION_LENGTH) for condition in texts_in(item["whenToUse"])
    ]  # of our export
    return replace(
        made,
        title=one_line(str(title or made.title), TITLE_CHARS),
        when=tuple(conditions)[:MAX_PATTERNS],
    )


def kept_of(item: Item) -> Item:
    """Return an item as it is kept with its entry: without what rawkomem computes, and without the text if it is ours."""
    kept = {
        name: value for name, value in item.items() if name not in DERIVED and value is not None
    }
    if kept.get("memory") == text_of(item):
        del kept["memory"]
    return kept


def kept_text(kept: Item, source: Source, id: str) -> str:
    """Return fields as JSON; leave out and report the largest ones if they are too long in all."""
    while len(text := json.dumps(kept, ensure_ascii=False)) > MAX_KEPT_CHARS:
        largest = max(kept, key=lambda name: len(json.dumps(kept[name])))
        source.skip(id, f"its field {largest!r} is too large to be kept")
        kept = {name: value for name, value in kept.items() if name != largest}
    return text


def write_fields(memory: Memory, kept: Item) -> Item:
    """Return an item: what neolata wrote, and our value for each field that changed here."""
    item = dict(kept)
    for field in FIELDS:
        ours = field.ours(memory)
        if not kept or field.read(kept) not in (ours, 0):  # 0: an unreadable time was not changed
            item[field.name] = field.write(ours)
    return item


# Read the rows of `COPY … FROM stdin` blocks, which pg_dump and the Supabase CLI write for each
# table.

COPY_HEAD = re.compile(
    r'COPY\s+(?:"?\w+"?\.)?"?(\w+)"?\s*\(([^)]*)\)\s+FROM\s+stdin;', re.IGNORECASE
)
COPY_END = "\\."
COPY_NULL = "\\N"
ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
LIST_COLUMNS = ("tags", "supersedes", "agents", "memory_ids")
JSON_COLUMNS = (
    "claim", "provenance", "quarantine", "compressed", "metadata", "new_claim", "existing_claim",
    "importance", "access_count", "confidence", "stability", "last_review_interval", "reinforcements",
    "disputes", "similarity", "strength", "new_trust", "existing_trust",
)  # fmt: skip
SQL_TIME = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)([+-]\d\d)(?::?(\d\d))?")
ARRAY_ITEM = re.compile(r'"((?:[^"\\]|\\.)*)"|([^,{}]+)', re.DOTALL)


def copied_rows(lines: Iterable[str]) -> Iterator[tuple[str, Item]]:
    """Yield (table, row) for each row of the dump, with lists, numbers, objects and times as in JSON."""
    table, columns = "", [""]
    for raw in lines:
        line = raw.rstrip("\n").removesuffix("\r")
        if not table:
            if found := COPY_HEAD.match(line):
                table, columns = found[1], [name.strip(' "') for name in found[2].split(",")]
        elif line == COPY_END:
            table = ""
        else:
            values = line.split("\t")
            if len(values) == len(columns):
                yield (
                    table,
                    {
                        name: _column_value(name, text)
                        for name, text in zip(columns, values, strict=True)
                    },
                )


def _column_value(column: str, text: str) -> Any:
    if text == COPY_NULL:
        return None
    text = ESCAPE.sub(lambda found: _unescaped(found[1]), text)
    try:
        if column in JSON_COLUMNS:
            return json.loads(text)
    except ValueError:
        return text
    if column in LIST_COLUMNS:
        items = ARRAY_ITEM.finditer(text.removeprefix("{").removesuffix("}"))
        return [
            re.sub(r"\\(.)", r"\1", one[1], flags=re.DOTALL) if one[1] is not None else one[2]
            for one in items
        ]
    if column.endswith(("_at", "_start", "_end")) and (found := SQL_TIME.fullmatch(text)):
        return f"{found[1]}T{found[2]}{found[3]}:{found[4] or '00'}"
    return text


def _unescaped(code: str) -> str:
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    return chr(int(code, 8)) if code.isdigit() else ESCAPED.get(code, code)


# Read a store of neolata from a folder, rows of Supabase, or a dump.
#
# graph.json, archived.json   memories in use, and archived memories episodes.json
# episodes, with the ids of their members pending-conflicts.json      claims that contradict each
# other, and their resolutions clusters.json               names that people gave to clusters

GRAPH, ARCHIVE, EPISODES, CONFLICTS, CLUSTERS = FILES = (
    "graph.json", "archived.json", "episodes.json", "pending-conflicts.json", "clusters.json",
)  # fmt: skip
LINK_ROWS = "links"
TABLES = {  # table of Supabase → file with the same content
    "memories": GRAPH,
    "memories_archive": ARCHIVE,
    "memory_archive": ARCHIVE,
    "episodes": EPISODES,
    "pending_conflicts": CONFLICTS,
    "memory_clusters": CLUSTERS,
    "memory_links": LINK_ROWS,
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
NEOLATA_FIELDS = (
    "agent",
    "agent_id",
    "links",
    "category",
    "claim",
    "importance",
)  # mem0's memories do not have these
MAX_SNIFFED_LINES = 20_000  # lines of a dump that are searched for a table


@record
class NeolataStore:
    """The content of a store, in the fields of neolata's JSON; `places` maps each part to its file."""

    memories: list[Item]  # archived ones have an archive time
    episodes: list[Item]
    conflicts: list[Item]
    clusters: list[Item]
    places: dict[str, str]


def is_neolata(source: Source) -> bool:
    """Tell whether neolata wrote a JSON file, a folder or a dump; other tools write a graph.json, too."""
    if not source.is_folder:
        return _is_dump(source.path) or (
            source.path.endswith(".json") and _are_neolata(_memories_in(source.json()))
        )
    names = {name for name in os.listdir(source.path) if name in FILES}
    if GRAPH in names and len(names) > 1:
        return True
    first = os.path.join(source.path, GRAPH if GRAPH in names else "memories.json")
    try:
        return os.path.isfile(first) and _are_neolata(_memories_in(Source(first).json()))
    except BadInput:
        return False


def _are_neolata(items: Sequence[Item]) -> bool:
    return bool(items) and sum(name in items[0] for name in NEOLATA_FIELDS) >= 2


def _memories_in(document: Any) -> list[Item]:
    return items_in(
        document["memories"] if isinstance(document, dict) and "memories" in document else document
    )


def _is_dump(file: str) -> bool:
    if not file.endswith(".sql"):
        return False
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            heads = (
                COPY_HEAD.match(line)
                for _, line in zip(range(MAX_SNIFFED_LINES), stream, strict=False)
            )
            return any(found and found[1] in TABLES for found in heads)
    except OSError:
        return False


def read_neolata_store(source: Source) -> NeolataStore:
    """Return the whole store of a source."""
    parts: dict[str, list[Item]] = {}
    places: dict[str, str] = {}
    for name, rows, file in _store_parts(source):
        parts.setdefault(name, []).extend(rows)
        places[name] = source.place(file)
    linked = _linked(parts.get(LINK_ROWS, []))
    memories = {str(item["id"]): item for item in parts.get(ARCHIVE, [])}
    for item in memories.values():  # an archive time marks an archived item in this module
        item.setdefault(ARCHIVED_AT, item.get("updated_at") or item.get("created_at") or "unknown")
    graph = {str(item["id"]): item for item in parts.get(GRAPH, [])}
    for id, item in graph.items():
        if id in linked and not item.get("links"):
            item["links"] = linked[id]
    episodes, conflicts, clusters = (
        parts.get(name, []) for name in (EPISODES, CONFLICTS, CLUSTERS)
    )
    memories = {**graph, **{id: item for id, item in memories.items() if id not in graph}}
    return NeolataStore([*memories.values()], episodes, conflicts, clusters, places)


def _store_parts(source: Source) -> Iterator[tuple[str, list[Item], str]]:
    """Yield (part, items, file) for each table or file."""
    if source.path.endswith(".sql"):
        yield from ((name, rows, source.path) for name, rows in _dumped(source.path).items())
    elif source.is_folder:
        for name in sorted(os.listdir(source.path)):
            part = name if name in FILES else TABLES.get(name.removesuffix(".json"), "")
            file = os.path.join(source.path, name)
            if part and os.path.islink(file):
                source.skip(source.place(file), "a link")
            elif part and name.endswith(".json"):
                yield part, _rows_in(source, Source(file).json(), file), file
    else:
        document = source.json()
        if isinstance(document, dict) and isinstance(document.get("memories"), list):
            for name in document.keys() & TABLES.keys():
                yield TABLES[name], _rows_in(source, document[name], source.path), source.path
        else:
            yield GRAPH, _rows_in(source, items_in(document), source.path), source.path


def _rows_in(source: Source, given: Any, file: str) -> list[Item]:
    if not isinstance(given, list):
        raise BadInput(
            f"{file} is not a list of objects", "name a file or folder that neolata wrote"
        )
    sound = [
        row for row in given if isinstance(row, dict) and (row.get("id") or row.get("source_id"))
    ]
    if len(sound) < len(given):
        source.skip(
            source.place(file), f"{len(given) - len(sound)} of its items are not objects with an id"
        )
    return [_from_row(row) for row in sound]


def _dumped(file: str) -> dict[str, list[Item]]:
    try:
        if os.path.getsize(file) > MAX_JSON_BYTES:
            raise BadInput(
                f"{file} has more than {MAX_JSON_BYTES >> 20} MB",
                "dump neolata's tables only: pg_dump -t",
            )
        with open(file, encoding="utf-8", errors="replace", newline="\n") as stream:
            found: dict[str, list[Item]] = {}
            for table, row in copied_rows(stream):
                if table in TABLES:
                    found.setdefault(TABLES[table], []).append(_from_row(row))
    except OSError as failure:
        raise NotFound(
            f"{file} cannot be read: {failure.strerror}", "check its permissions"
        ) from None
    if GRAPH not in found and ARCHIVE not in found:
        raise BadInput(
            f"{file} has no rows of memories",
            "write it with 'pg_dump --data-only', without --inserts",
        )
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
            link = {
                "id": other,
                "similarity": row.get("similarity", row.get("strength")),
                "type": row.get("link_type") or "similar",
            }
            found.setdefault(one, []).append(link)
    return found


# Make entries from a store of neolata. Each entry records its state there; a review restores it in
# that state.

REFUSED_STATUSES = ("deleted", "rejected")  # statuses that are not imported
CONFLICTS_KEPT, CLUSTERS_KEPT = (
    "pendingConflicts",
    "labeledClusters",
)  # kept with a memory; neolata has files for them
VOTE_COUNTS = ("reinforcements", "disputes")
MAX_LINKS = 200  # links of one memory that are imported
MAX_MEMBERS = 1_000  # of an episode: neolata's largest batch
SIMILAR, SUPERSEDES, RELATED = "similar", "supersedes", "related"


def read_neolata(source: Source) -> Iterator[Entry]:
    """Yield each memory and each episode, with all of neolata's fields."""
    store = read_neolata_store(source)
    known = {our_id(item["id"]) for item in store.memories if _is_wanted(item)}
    with_records = _with_records(store, source)
    for item in store.memories:
        if not _is_wanted(item):
            source.skip(
                str(item["id"]),
                f"it is {neolata_status(item)} there"
                if item_text(item).strip()
                else "it has no text",
            )
            continue
        file = store.places.get(ARCHIVE if item.get(ARCHIVED_AT) else GRAPH, source.path)
        kept = kept_of({**item, **with_records.get(str(item["id"]), {})})
        state = {
            IMPORTED_STATE: _state_there(item, store, known),
            KEPT_KEY: kept_text(kept, source, str(item["id"])),
        }
        made = neolata_entry(item, file)
        yield replace(made, extra={**made.extra, **state})
    for item in store.episodes:
        yield _episode_entry(item, known, store.places[EPISODES], source)


def _is_wanted(item: Item) -> bool:
    return bool(item_text(item).strip()) and neolata_status(item) not in REFUSED_STATUSES


def _with_records(store: NeolataStore, source: Source) -> dict[str, dict[str, list[Item]]]:
    """Return id → conflicts and clusters that are kept with that memory: the first of their members that we import."""
    found: dict[str, dict[str, list[Item]]] = {}
    here = {str(item["id"]) for item in store.memories if _is_wanted(item)}
    for name, records in ((CONFLICTS_KEPT, store.conflicts), (CLUSTERS_KEPT, store.clusters)):
        for one in records:
            members = [one.get("newId"), one.get("existingId"), *list_of(one.get("memoryIds"))]
            holder = next((str(id) for id in members if str(id) in here), "")
            if holder:
                found.setdefault(holder, {}).setdefault(name, []).append(one)
            else:
                source.skip(str(one["id"]), f"none of the memories of these {name} is imported")
    return found


def _state_there(item: Item, store: NeolataStore, known: Container[str]) -> dict[str, Value]:
    """Return the state of an item in neolata, for the review that restores it."""
    status, quarantine, newer = (
        neolata_status(item),
        item.get("quarantine"),
        item.get("superseded_by"),
    )
    reason = item.get(ARCHIVED_WHY) if status == "archived" else None
    if status == "quarantined" and isinstance(quarantine, dict):
        reason = quarantine.get("reason")
    rivals = [
        str(one.get("existingId"))
        for one in store.conflicts
        if one.get("newId") == item["id"] and not one.get("resolved_at")
    ]
    state: dict[str, Value] = {
        "status": status
        if status in (ACTIVE, "superseded", "disputed", "quarantined", "archived")
        else "quarantined",
        "reason": one_line(reason) if isinstance(reason, str) else "",
        "supersededBy": our_id(newer) if newer else "",
        "conflictsWith": _known_ids(rivals, known),
        **{name: str(min(count_of(item, name), MAX_VOTES) or "") for name in VOTE_COUNTS},
        "links": links_of(item, known),
    }
    return {key: value for key, value in state.items() if value}


def count_of(item: Item, name: str) -> int:
    """Return a count, at least 0; 0 if the value is not a number."""
    value = item.get(name)
    return max(0, int(value)) if isinstance(value, (int, float)) and math.isfinite(value) else 0


def links_of(item: Item, known: Container[str]) -> dict[str, Value]:
    """Return link type → ids of the memories that an item links to; the type `similar` becomes `related`."""
    found: dict[str, list[Value]] = {}
    for link in list_of(item.get("links"))[:MAX_LINKS]:
        if (
            isinstance(link, dict)
            and (id := our_id(link.get("id"))) in known
            and link.get("type") != SUPERSEDES
        ):
            ids = found.setdefault(link_type(link), [])
            if id not in ids and id != our_id(item["id"]):
                ids.append(id)
    return {type: [*ids] for type, ids in found.items() if ids}


def link_type(link: Item) -> str:
    """Return our type of a link."""
    type = one_line(str(link.get("type") or SIMILAR), 32)
    plain = type.replace("_", "").replace("-", "")
    return type if type != SIMILAR and plain.isascii() and plain.isalnum() else RELATED


def _episode_entry(item: Item, known: Container[str], place: str, source: Source) -> Entry:
    """Return an episode, with the members that are imported."""
    title, summary = str(item.get("name") or "Episode"), item.get("summary")
    members = list_of(item.get("memoryIds"))
    page = Page(place, "", past_time(item.get("created_at")))
    made = entry_from(
        page,
        title,
        summary if isinstance(summary, str) else "",
        str(item["id"]),
        tags=texts_in(item.get("tags")),
        kind="episode",
        extra={"members": _known_ids(members, known)},
    )
    kept = kept_text(item, source, str(item["id"]))
    extra = {**made.extra, IMPORTED_STATE: {"status": ACTIVE}, KEPT_KEY: kept}
    return replace(made, id=our_id(item["id"]), when=(), extra=extra)


def _known_ids(given: list[Any], known: Container[str]) -> list[Value]:
    return [id for id in map(our_id, given[:MAX_MEMBERS]) if id in known]


def list_of(value: object) -> list[Any]:
    """Return a list, or an empty one for anything else."""
    return value if isinstance(value, list) else []


# Write a folder for neolata's jsonStorage. Imported fields are written as they were, unless they
# changed.

QUARANTINE_REASONS = (
    "trust_insufficient",
    "predicate_requires_review",
    "suspicious_input",
    "manual",
)  # of neolata's quarantine
UNSPOKEN_LINKS = (KEPT_BOTH, "member")  # types that neolata stores in other files


@record
class Leaving:
    """The data for an export: all memories by id, their ids in neolata, and how far each is trusted."""

    held: Mapping[str, Memory]
    names: Mapping[str, str]
    newer: Mapping[str, list[str]]  # id → ids of the memories that it superseded here
    trust: Callable[[Memory], Trust]


def _as_superseded(memory: Memory) -> Memory:
    """Return a memory that neolata superseded as superseded, also if the other memory is not in use here."""
    state = _imported_state(memory)
    if memory.status != ACTIVE or not memory.superseded_at or state.get("status") != "superseded":
        return memory
    return replace(memory, status="superseded", superseded_by=str(state.get("supersededBy", "")))


def neolata_files(
    memories: Sequence[Memory], project: str, trust: Callable[[Memory], Trust]
) -> dict[str, str]:
    """Return file name → text of the folder. neolata computes vectors and similarity links itself."""
    plain = [_as_superseded(memory) for memory in memories if memory.kind != "episode"]
    episodes = [memory for memory in memories if memory.kind == "episode"]
    kept = {memory.id: json_object(memory.extra.get(KEPT_KEY)) for memory in memories}
    names = {id: str(fields.get("id", id)) for id, fields in kept.items()}
    newer: dict[str, list[str]] = {}
    for memory in plain:
        newer.setdefault(memory.superseded_by, []).append(memory.id)
    leaving = Leaving({memory.id: memory for memory in plain}, names, newer, trust)
    items = {memory.id: _memory_item(memory, kept[memory.id], leaving) for memory in plain}
    _link_back(items, plain, names)
    files: dict[str, list[Item]] = {name: [] for name in FILES}
    for memory in plain:
        name = ARCHIVE if memory.status == "archived" else GRAPH
        files[name].append(items[memory.id])
    files[EPISODES] = [_episode_item(memory, kept[memory.id], names) for memory in episodes]
    files[CONFLICTS] = _conflicts(plain, kept, leaving, items)
    for fields in kept.values():
        files[CLUSTERS] += list_of(fields.get(CLUSTERS_KEPT))
    return {
        name: json.dumps(own, ensure_ascii=False, indent=2) + "\n" for name, own in files.items()
    }


def _memory_item(memory: Memory, kept: Item, leaving: Leaving) -> Item:
    """Return a memory as an item of neolata."""
    item = write_fields(memory, kept)
    item |= _own_words(memory, item)
    votes = {name: _votes(memory, kept, name) for name in VOTE_COUNTS}
    voted = {name: n for name, n in votes.items() if n != count_of(kept, name) or not kept}
    links = _links(memory, kept, leaving)
    stood = _imported_state(memory).get("status") == memory.status
    has_votes = bool(voted) or memory.corroborations > 0
    item |= {**voted, "links": links, CONFLICTS_KEPT: None, CLUSTERS_KEPT: None}
    item |= _trusted(memory, kept, leaving, votes, has_votes)
    item |= _placed(memory, kept, leaving, stood)
    is_same = stood and not has_votes and not memory.amended_in
    if not is_same or links != kept.get("links", []) or item.get("claim") != kept.get("claim"):
        item["updated_at"] = js_time(memory.updated)
    item.setdefault("updated_at", item.get("created_at"))
    told = {name: value for name, value in item.items() if value is not None}
    return {**told, "embedding": None}


def _imported_state(memory: Memory) -> dict[str, Value]:
    """Return the state that a memory was imported with; empty if it was not imported."""
    state = memory.extra.get(IMPORTED_STATE)
    return state if isinstance(state, dict) else {}


def _own_words(memory: Memory, item: Item) -> Item:
    """Return title and conditions if they cannot be derived from the text, and the validity if there is no claim."""
    derived = entry_from(
        Page("", "", 0), str(item["memory"]).partition("\n")[0], str(item["memory"])
    )
    ends = dict(zip(WINDOW, (memory.valid_from, memory.valid_until), strict=True))
    return {
        **({"title": memory.title} if memory.title != derived.title else {}),
        **({"whenToUse": [*memory.when]} if memory.when != derived.when else {}),
        **({} if claim_of(memory) else {name: js_time(at) for name, at in ends.items() if at}),
    }


def _votes(memory: Memory, kept: Item, name: str) -> int:
    """Return the votes in neolata plus those made here; imported votes, which the review stored here, count once."""
    brought = int(str(_imported_state(memory).get(name) or 0)) if memory.reviewed_in else 0
    here: int = getattr(memory, name)
    return count_of(kept, name) + max(0, here - brought)


def _trusted(
    memory: Memory, kept: Item, leaving: Leaving, votes: Mapping[str, int], voted: bool
) -> Item:
    """Return provenance and confidence: based on neolata's numbers for an imported text, on ours for our own text."""
    there = kept.get("provenance")
    if memory.amended_in or IMPORTED_STATE not in memory.extra:
        trust = leaving.trust(memory)
        told = {"source": trust.source, "corroboration": memory.corroborations + 1}
        return _with_trust(told, trust.value)
    if not voted:
        return {}
    given: Item = there if isinstance(there, dict) else {"source": "inference", "corroboration": 1}
    corroboration = max(1, count_of(given, "corroboration")) + memory.corroborations
    age = max(0, now() - memory.created) / DAY
    value = compute_trust(
        str(given.get("source")), corroboration, votes["reinforcements"], votes["disputes"], age
    )
    return _with_trust({**given, "corroboration": corroboration}, value)


def _with_trust(provenance: Item, value: float) -> Item:
    return {"provenance": {**provenance, "trust": round(value, 6)}, "confidence": round(value, 4)}


def _placed(memory: Memory, kept: Item, leaving: Leaving, stood: bool) -> Item:
    """Return the fields of a status: supersession in both directions, quarantine, and archive time and reason."""
    older = [leaving.names[id] for id in leaving.newer.get(memory.id, [])]
    supersedes = [*dict.fromkeys((*map(str, list_of(kept.get("supersedes"))), *older))]
    placed: Item = {"supersedes": supersedes or None}
    if stood:
        return {**placed, ARCHIVED_AT: None} if kept.get(ARCHIVED_AT) == "unknown" else placed
    quarantine = kept.get("quarantine")
    if memory.status == "quarantined":
        reason = memory.reason if memory.reason in QUARANTINE_REASONS else "manual"
        quarantine = {
            "reason": reason,
            "details": memory.reason,
            "created_at": js_time(memory.updated),
        }
    elif isinstance(quarantine, dict) and not quarantine.get("resolved_at"):
        done = {
            "resolved_at": js_time(memory.updated),
            "resolution": "rejected" if memory.retracted else "activated",
        }
        quarantine = {**quarantine, **done}
    put_away = memory.status == "archived"
    return {
        **placed,
        "superseded_by": leaving.names.get(memory.superseded_by, memory.superseded_by) or None,
        "quarantine": quarantine,
        ARCHIVED_AT: js_time(memory.updated) if put_away else None,
        ARCHIVED_WHY: memory.reason or "archived" if put_away else None,
    }


def _links(memory: Memory, kept: Item, leaving: Leaving) -> list[Item]:
    """Return the links of a memory: imported links that still exist, then links that were made here."""
    brought = _imported_state(memory).get("links")
    there = brought if isinstance(brought, dict) else {}
    came = {(type, str(id)) for type, ids in there.items() for id in ids}
    removed = came - {*memory.links} if memory.reviewed_in else set()
    links = [
        link
        for link in list_of(kept.get("links"))
        if isinstance(link, dict) and (link_type(link), our_id(link.get("id"))) not in removed
    ]
    made = [(SUPERSEDES, id) for id in leaving.newer.get(memory.id, [])]
    for type, id in (*memory.links, *made):
        name = leaving.names.get(id, "")
        is_known = any(
            link.get("id") == name and (type != SUPERSEDES or link.get("type") == type)
            for link in links
        )
        if (type, id) in came or is_known or type in UNSPOKEN_LINKS or id not in leaving.held:
            continue
        links.append(_link_to(name, type))
    return links


def _link_to(id: str, type: str) -> Item:
    return {"id": id, "similarity": 1.0, "type": SIMILAR if type == RELATED else type}


def _link_back(
    items: Mapping[str, Item], memories: Sequence[Memory], names: Mapping[str, str]
) -> None:
    """Add the opposite direction of each link that was made here, because neolata stores both."""
    for memory in memories:
        for type, id in memory.links:
            other = items.get(id)
            if other is None or type in UNSPOKEN_LINKS or IMPORTED_STATE in memory.extra:
                continue
            if not any(link.get("id") == names[memory.id] for link in other["links"]):
                other["links"].append(_link_to(names[memory.id], type))


def _episode_item(memory: Memory, kept: Item, names: Mapping[str, str]) -> Item:
    """Return an episode as an item of neolata; members that are not in this repository stay in it."""
    here = [names.get(id, id) for type, id in memory.links if type == "member"]
    there = [*map(str, list_of(kept.get("memoryIds")))]
    strange = [id for id in there if our_id(id) not in names]
    members = there if {*here, *strange} == {*there} else [*here, *strange]
    title = str(kept.get("name") or "")
    return {
        "agents": [],
        **kept,
        "id": names[memory.id],
        "name": title
        if entry_from(Page("", "", 0), title, "").title == memory.title
        else memory.title,
        **({"summary": memory.body.strip()} if memory.body.strip() else {}),
        "memoryIds": members,
        "tags": [*memory.tags],
        "created_at": kept.get("created_at", js_time(memory.created)),
        "updated_at": kept.get("updated_at", js_time(memory.updated)),
    }


def _conflicts(
    memories: Sequence[Memory],
    kept: Mapping[str, Item],
    leaving: Leaving,
    items: Mapping[str, Item],
) -> list[Item]:
    """Return neolata's conflicts, with resolutions made here, and then our open conflicts."""
    ours = {name: id for id, name in leaving.names.items()}
    told: list[Item] = []
    for fields in kept.values():
        for conflict in (
            one for one in list_of(fields.get(CONFLICTS_KEPT)) if isinstance(one, dict)
        ):
            pair = [
                leaving.held.get(ours.get(str(conflict.get(name)), ""))
                for name in ("newId", "existingId")
            ]
            told.append({**conflict, **_settled(conflict, *pair)})
    known = {frozenset((str(one.get("newId")), str(one.get("existingId")))) for one in told}
    with_new = [_only_new(one, known, leaving.names) for one in memories]
    for found in open_conflicts(with_new, leaving.held.get):
        one, other = found.memory, found.other
        new, existing = leaving.names[one.id], leaving.names[other.id]
        trusts = {"newTrust": leaving.trust(one).value, "existingTrust": leaving.trust(other).value}
        claims = {
            "newClaim": items[one.id].get("claim"),
            "existingClaim": items[other.id].get("claim"),
        }
        start: Item = {"id": f"{new}:{existing}", "newId": new, "existingId": existing}
        told.append({**start, **trusts, **claims, "created_at": js_time(one.updated)})
    return told


def _only_new(memory: Memory, known: Set[frozenset[str]], names: Mapping[str, str]) -> Memory:
    """Return a memory with only the conflicts that neolata does not know."""
    name = names[memory.id]
    new = (id for id in memory.conflicts_with if {name, names.get(id, id)} not in known)
    return replace(memory, conflicts_with=tuple(new))


def _settled(conflict: Item, new: Memory | None, existing: Memory | None) -> Item:
    """Return the resolution, made here, of a conflict that was open in neolata; empty while it is open."""
    if conflict.get("resolved_at") or not new or not existing:
        return {}
    if new.status == "archived" != _imported_state(new).get("status"):
        how = "reject"
    elif existing.superseded_by == new.id:
        how = "supersede"
    elif kept_both(new, existing):
        how = "keep_both"
    else:
        return {}
    return {"resolved_at": js_time(max(new.updated, existing.updated)), "resolution": how}
