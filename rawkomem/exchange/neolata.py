"""Import and export neolata-mem: its JSON folder, and dumps of its Supabase tables.

A field that we would write differently is kept unchanged, as JSON below the key `neolata` of the
entry. An export writes the kept value, unless that part of the memory has changed since.
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
from ..learn.skills import CONDITION_LENGTH, as_read_back
from ..model.entries import Entry, Memory, Value
from ..model.errors import BadInput, NotFound
from ..model.values import ACTIVE, DAY, KEPT_BOTH, extra_value, iso, now, read_time, record, replace
from ..state.changes import kept_both, open_conflicts
from ..state.claims import (
    MAX_NAME_CHARS,
    MAX_VALUE_CHARS,
    SCOPES,
    SESSION,
    Claim,
    claim_of,
    read_claim,
)
from ..state.facets import EVENT_TIME, category_of
from ..state.fold import IMPORTED_STATE, MAX_VOTES
from ..state.plans import TITLE_CHARS
from ..state.strength import IMPORTANCES
from ..state.trust import Trust, claimed_source, compute_trust
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
Row = dict[str, Any]
StoredItem = dict[str, Any]
GivenItem = dict[str, Any]
WrittenItem = dict[str, Any]


# Map the fields of neolata's memories to ours, in both directions.
#
# A field that we would write differently is kept unchanged, as JSON below the key `neolata` of the
# entry. An export writes the kept value, unless that part of the memory has changed since.

KEPT_KEY = "neolata"  # frontmatter key of the fields without an exact equivalent here, each as JSON
OTHERS = "others"  # below it: an object with the fields whose names are not valid keys
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
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
ARCHIVED_AT, ARCHIVED_WHY = "archived_at", "archived_reason"
MAX_KEPT_CHARS = 40_000  # of all kept fields: a frontmatter has at most 64 KiB


@record
class Field:
    """One field: how to read it from an item, how to get it from a memory, and how to write it for neolata."""

    name: str
    read: Callable[[Item], Any]
    ours: Callable[[Memory], Any]
    write: Callable[[Any], Any] = lambda value: value
    says: str = ""  # our name for it, for the migration page


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
    if not isinstance(claim, dict) or not all(
        isinstance(claim.get(key), str) for key in CLAIM_KEYS
    ):
        return {}
    if claim.get("scope", SCOPES[0]) not in SCOPES or not isinstance(
        claim.get("exclusive", True), bool
    ):
        return {}
    window = {key: time_text(claim[key]) for key in WINDOW if claim.get(key) is not None}
    if not all(window.values()) or (len(window) == 2 and _ends_early(window)):
        return {}
    said = {
        key: clean(claim[key])
        for key in (*CLAIM_KEYS, "sessionId")
        if isinstance(claim.get(key), str)
    }
    if (
        not said["subject"].strip()
        or not said["predicate"].strip()
        or len(said["value"]) > MAX_VALUE_CHARS
    ):
        return {}
    if max(len(said["subject"]), len(said["predicate"])) > MAX_NAME_CHARS:
        return {}
    if claim.get("scope") == SESSION and not said.get("sessionId", "").strip():
        return {}
    scope = {"scope": claim["scope"]} if claim.get("scope", SCOPES[0]) != SCOPES[0] else {}
    exclusive = {} if claim.get("exclusive", True) else {"exclusive": "false"}
    return {**said, **exclusive, **scope, **window}


def _ends_early(window: Mapping[str, str]) -> bool:
    start, end = (read_time(window[key])[0] or 0 for key in WINDOW)
    return start >= end


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


def item_body(item: Item) -> str:
    """Return the text of an item as it would read back from a file."""
    return as_read_back(as_one_body(item_text(item))).strip()


def _category(item: Item) -> str:
    given = item.get("category")
    return one_line(given, MAX_NAME_CHARS).lower() if isinstance(given, str) else ""


# For each field: name, value in an item, value in a memory, how neolata writes it.
FIELDS = (
    Field("id", lambda item: our_id(item.get("id", "")), lambda memory: memory.id, says="`id`"),
    Field("agent", agent_of, lambda memory: memory.by, says="`discoveredBy`"),
    Field("memory", item_body, lambda memory: memory.body.strip() or memory.title, says="the text"),
    Field(
        "category",
        lambda item: _category(item) or USUAL_CATEGORY,
        lambda memory: category_of(memory) or USUAL_CATEGORY,
        says="`category`",
    ),
    Field(
        "importance",
        lambda item: importance_word(item.get("importance")),
        lambda memory: memory.importance,
        lambda word: IMPORTANCES[word],
        "`importance`, the closest word",
    ),
    Field(
        "tags",
        lambda item: valid_tags(texts_in(item.get("tags"))),
        lambda memory: memory.tags,
        list,
        "`tags`",
    ),
    Field(
        "created_at",
        lambda item: past_time(item.get("created_at")),
        lambda m: m.created,
        js_time,
        "`discoveredAt`",
    ),
    Field(
        "event_at",
        lambda item: time_text(item.get("event_at")),
        lambda memory: str(extra_value(memory.extra, EVENT_TIME)),
        lambda text: text or None,
        f"`{EVENT_TIME}`",
    ),
    Field(
        "claim",
        lambda item: read_claim({"claim": claim_in(item)}),
        claim_of,
        _written_claim,
        "`claim`, its window included",
    ),
    Field(
        "status",
        neolata_status,
        lambda memory: memory.status,
        says="`importedState`; the status after a review",
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


def kept_of(item: Item) -> tuple[dict[str, Value], list[str]]:
    """Return the fields of an item that we would write differently, and the names of fields too large to keep."""
    said = {
        name: value for name, value in item.items() if name not in DERIVED and value is not None
    }
    usual: Item = {
        "links": [],
        "updated_at": item.get("created_at"),
    }  # values that are written if nothing is kept
    said = {
        name: value for name, value in said.items() if name not in usual or value != usual[name]
    }
    for field in FIELDS:
        written = field.write(field.read(item))
        if written == said.get(field.name):
            said.pop(field.name, None)
        elif field.name not in said:
            said[field.name] = None  # the item has no such field
    return as_kept(said)


def as_kept(said: Item) -> tuple[dict[str, Value], list[str]]:
    """Return fields as JSON texts, and the names of fields that are too large to keep, largest first."""
    odd = {name: said[name] for name in said if not PLAIN_KEY.fullmatch(name) or name == OTHERS}
    plain = {name: value for name, value in said.items() if name not in odd}
    kept = {
        name: _compact_json(value)
        for name, value in (*plain.items(), *([(OTHERS, odd)] if odd else []))
    }
    dropped: list[str] = []
    while sum(map(len, kept.values())) > MAX_KEPT_CHARS:
        dropped.append(max(kept, key=lambda name: len(kept[name])))
        del kept[dropped[-1]]
    return dict(kept), dropped


def _compact_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_kept(memory: Memory) -> Item:
    """Return the kept fields; skip those that a redaction or an edit made unreadable."""
    held = memory.extra.get(KEPT_KEY)
    found: Item = {}
    for name, text in held.items() if isinstance(held, dict) else ():
        try:
            found[name] = json.loads(str(text))
        except ValueError:
            continue
    others = found.pop(OTHERS, {})
    return {**found, **(others if isinstance(others, dict) else {})}


def write_fields(memory: Memory, kept: Item) -> Item:
    """Return an item with all fields: the kept value if the memory is unchanged in this respect, else a new one."""
    item: Item = {}
    for field in FIELDS:
        ours = field.ours(memory)
        value = (
            kept[field.name]
            if field.name in kept and _is_unchanged(field, kept, ours)
            else field.write(ours)
        )
        if value is not None:
            item[field.name] = value
    return item


def _is_unchanged(field: Field, kept: Item, ours: Any) -> bool:
    read = field.read(kept)
    return read == ours or (
        field.name == "created_at" and not read
    )  # an unreadable time was not changed


# Read the rows of `COPY … FROM stdin` blocks, which pg_dump and the Supabase CLI write for each
# table.

COPY_HEAD = re.compile(
    r'COPY\s+(?:"?\w+"?\.)?"?(\w+)"?\s*\(([^)]*)\)\s+FROM\s+stdin;', re.IGNORECASE
)
COPY_END = "\\."
COPY_NULL = "\\N"
ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
OBJECT_COLUMNS = (
    "claim",
    "provenance",
    "quarantine",
    "compressed",
    "metadata",
    "new_claim",
    "existing_claim",
)
LIST_COLUMNS = ("tags", "supersedes", "agents", "memory_ids")
NUMBER_COLUMNS = ("importance", "access_count", "confidence", "stability", "last_review_interval", "reinforcements",
           "disputes", "strength", "new_trust", "existing_trust")  # fmt: skip
SQL_TIME = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)([+-]\d\d)(?::?(\d\d))?")
ARRAY_ITEM = re.compile(r'"((?:[^"\\]|\\.)*)"|([^,{}]+)', re.DOTALL)


def copied_rows(lines: Iterable[str]) -> Iterator[tuple[str, Row]]:
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
        if column in OBJECT_COLUMNS:
            return json.loads(text)
        if column in NUMBER_COLUMNS:
            return json.loads(text)
    except ValueError:
        return text
    if column in LIST_COLUMNS:
        return _text_array(text)
    if column.endswith(("_at", "_start", "_end")) and (found := SQL_TIME.fullmatch(text)):
        return f"{found[1]}T{found[2]}{found[3]}:{found[4] or '00'}"
    return text


def _unescaped(code: str) -> str:
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    return chr(int(code, 8)) if code.isdigit() else ESCAPED.get(code, code)


def _text_array(text: str) -> list[str]:
    """Return the items of a text array in PostgreSQL's notation: {a,"b c"}."""
    found = ARRAY_ITEM.finditer(text.removeprefix("{").removesuffix("}"))
    return [
        re.sub(r"\\(.)", r"\1", one[1], flags=re.DOTALL) if one[1] is not None else one[2]
        for one in found
    ]


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

    memories: list[StoredItem]  # archived ones have an archive time
    episodes: list[StoredItem]
    conflicts: list[StoredItem]
    clusters: list[StoredItem]
    places: dict[str, str]


def is_neolata(source: Source) -> bool:
    """Tell whether neolata wrote a JSON file, a folder or a dump; other tools write a graph.json, too."""
    if not source.is_folder:
        return _is_dump(source.path) or (
            source.path.endswith(".json") and _are_neolata(_memories_in(source.json()))
        )
    names = {
        name
        for name in os.listdir(source.path)
        if name in FILES or name.partition(".")[0] in TABLES
    }
    first = next((name for name in (GRAPH, "memories.json") if name in names), "")
    if not first:
        return _dump_in(source.path) != ""
    if first == GRAPH and len(names) > 1:
        return True
    try:
        return _are_neolata(_memories_in(Source(os.path.join(source.path, first)).json()))
    except BadInput:
        return False


def _are_neolata(items: Sequence[StoredItem]) -> bool:
    return bool(items) and sum(name in items[0] for name in NEOLATA_FIELDS) >= 2


def _memories_in(document: Any) -> list[StoredItem]:
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


def _dump_in(folder: str) -> str:
    """Return the only dump in a folder; empty if there is none or several."""
    found = [
        os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".sql")
    ]
    return (
        found[0] if len(found) == 1 and not os.path.islink(found[0]) and _is_dump(found[0]) else ""
    )


def read_neolata_store(source: Source) -> NeolataStore:
    """Return the whole store of a source."""
    parts: dict[str, list[StoredItem]] = {}
    places: dict[str, str] = {}
    for name, rows, file in _store_parts(source):
        parts.setdefault(name, []).extend(rows)
        places[name] = source.place(file)
    linked = _linked(parts.get(LINK_ROWS, []))
    memories = [_with_links(item, linked) for item in parts.get(GRAPH, [])]
    graph = {str(item.get("id")) for item in memories}
    archived = [
        _put_away(item) for item in parts.get(ARCHIVE, []) if str(item.get("id")) not in graph
    ]
    episodes, conflicts, clusters = (
        parts.get(name, []) for name in (EPISODES, CONFLICTS, CLUSTERS)
    )
    return NeolataStore([*memories, *archived], episodes, conflicts, clusters, places)


def _store_parts(source: Source) -> Iterator[tuple[str, list[StoredItem], str]]:
    """Yield (part, items, file) for each table or file."""
    dump = (
        source.path
        if source.path.endswith(".sql")
        else _dump_in(source.path)
        if source.is_folder
        else ""
    )
    if dump:
        yield from ((name, rows, dump) for name, rows in _dumped(dump).items())
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
        tables = (
            document
            if isinstance(document, dict) and isinstance(document.get("memories"), list)
            else {}
        )
        if any(isinstance(tables.get(name), list) for name in TABLES):
            for name in tables.keys() & TABLES.keys():
                yield TABLES[name], _rows_in(source, tables[name], source.path), source.path
        else:
            yield GRAPH, _rows_in(source, items_in(document), source.path), source.path


def _rows_in(source: Source, given: Any, file: str) -> list[StoredItem]:
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


def _dumped(file: str) -> dict[str, list[StoredItem]]:
    try:
        if os.path.getsize(file) > MAX_JSON_BYTES:
            raise BadInput(
                f"{file} has more than {MAX_JSON_BYTES >> 20} MB",
                "dump neolata's tables only: pg_dump -t",
            )
        with open(file, encoding="utf-8", errors="replace", newline="\n") as stream:
            found: dict[str, list[StoredItem]] = {}
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


def _from_row(row: StoredItem) -> StoredItem:
    """Return a row of Supabase with the field names of the JSON files; items of JSON files do not change."""
    item = {COLUMNS.get(name, name): value for name, value in row.items() if value is not None}
    start, end = item.pop("time_range_start", None), item.pop("time_range_end", None)
    return {**item, **({"timeRange": {"start": start, "end": end}} if start or end else {})}


def _linked(rows: Iterable[StoredItem]) -> dict[str, list[StoredItem]]:
    """Return id → links of each memory. As in neolata, a row is a link in both directions."""
    found: dict[str, list[StoredItem]] = {}
    for row in rows:
        ends = str(row.get("source_id", "")), str(row.get("target_id", ""))
        for one, other in (ends, ends[::-1]):
            link = {
                "id": other,
                "similarity": row.get("strength"),
                "type": row.get("link_type") or "similar",
            }
            found.setdefault(one, []).append(link)
    return found


def _with_links(item: StoredItem, linked: dict[str, list[StoredItem]]) -> StoredItem:
    links = linked.get(str(item.get("id")))
    return {**item, "links": links} if links and not item.get("links") else item


def _put_away(item: StoredItem) -> StoredItem:
    """Return an archived item with an archive time, which marks it as archived in this package."""
    return {ARCHIVED_AT: item.get("updated_at") or item.get("created_at") or "unknown", **item}


def has_text(item: StoredItem) -> bool:
    """Tell whether an item has a text."""
    return bool(item_text(item).strip())


# Make entries from a store of neolata. Each entry records its state there; a review restores it in
# that state.

REFUSED_STATUSES = ("deleted", "rejected")  # statuses that are not imported
CONFLICTS_KEPT, CLUSTERS_KEPT = (
    "pendingConflicts",
    "labeledClusters",
)  # kept with a memory; neolata has files for them
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
                f"it is {neolata_status(item)} there" if has_text(item) else "it has no text",
            )
            continue
        file = store.places.get(ARCHIVE if item.get(ARCHIVED_AT) else GRAPH, source.path)
        kept, dropped = kept_of({**item, **with_records.get(str(item["id"]), {})})
        for name in dropped:
            source.skip(str(item["id"]), f"its field {name!r} is too large to be kept")
        made = neolata_entry(item, file)
        state = _state_there(item, store, known)
        yield replace(
            made, extra={**made.extra, IMPORTED_STATE: state, **({KEPT_KEY: kept} if kept else {})}
        )
    for item in store.episodes:
        yield _episode_entry(item, known, store.places[EPISODES])


def _is_wanted(item: GivenItem) -> bool:
    return has_text(item) and neolata_status(item) not in REFUSED_STATUSES


def _with_records(store: NeolataStore, source: Source) -> dict[str, dict[str, list[GivenItem]]]:
    """Return id → conflicts and clusters that are kept with that memory: the first of their members that we import."""
    found: dict[str, dict[str, list[GivenItem]]] = {}
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


def _state_there(item: GivenItem, store: NeolataStore, known: Container[str]) -> dict[str, Value]:
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
        "reinforcements": str(votes_of(item, "reinforcements") or ""),
        "disputes": str(votes_of(item, "disputes") or ""),
        "links": links_of(item, known),
    }
    return {key: value for key, value in state.items() if value}


def votes_of(item: GivenItem, name: str) -> int:
    """Return a count of votes, at most MAX_VOTES."""
    return min(count_of(item, name), MAX_VOTES)


def count_of(item: GivenItem, name: str) -> int:
    """Return a count, at least 0; 0 if the value is not a number."""
    value = item.get(name)
    return max(0, int(value)) if isinstance(value, (int, float)) and math.isfinite(value) else 0


def links_of(item: GivenItem, known: Container[str]) -> dict[str, Value]:
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


def link_type(link: GivenItem) -> str:
    """Return our type of a link."""
    type = one_line(str(link.get("type") or SIMILAR), 32)
    plain = type.replace("_", "").replace("-", "")
    return type if type != SIMILAR and plain.isascii() and plain.isalnum() else RELATED


def _episode_entry(item: GivenItem, known: Container[str], place: str) -> Entry:
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
    kept, _ = as_kept({name: value for name, value in item.items() if value is not None})
    extra = {**made.extra, IMPORTED_STATE: {"status": ACTIVE}, KEPT_KEY: kept}
    return replace(made, id=our_id(item["id"]), when=(), extra=extra)


def _known_ids(given: list[Any], known: Container[str]) -> list[Value]:
    return [id for id in map(our_id, given[:MAX_MEMBERS]) if id in known]


def list_of(value: object) -> list[Any]:
    """Return a list, or an empty one for anything else."""
    return value if isinstance(value, list) else []


# Write a folder for neolata's jsonStorage. Imported fields are written as they were, unless they
# changed.

THEIR_STATUSES = {
    "draft": "quarantined",
    "conflicted": "quarantined",
}  # our status → neolata's, if it has no such status
QUARANTINE_REASONS = (
    "trust_insufficient",
    "predicate_requires_review",
    "suspicious_input",
    "manual",
)  # of neolata's quarantine
UNSPOKEN_LINKS = (KEPT_BOTH, "member")  # types that neolata stores in other files
VOTE_COUNTS = ("reinforcements", "disputes")
CLAIM_FIELD = next(field for field in FIELDS if field.name == "claim")


@record
class Leaving:
    """The data for an export: all memories by id, their ids in neolata, and how far each is trusted."""

    held: Mapping[str, Memory]
    names: Mapping[str, str]
    newer: Mapping[str, list[str]]  # id → ids of the memories that it superseded here
    trust: Callable[[Memory], tuple[str, float]]


def neolata_files(
    memories: Sequence[Memory], project: str = "", trust: Callable[[Memory], Trust] | None = None
) -> dict[str, str]:
    """Return file name → text of the folder. neolata computes vectors and similarity links itself."""
    plain = [memory for memory in memories if memory.kind != "episode"]
    kept = {memory.id: read_kept(memory) for memory in memories}
    names = {id: str(fields.get("id", id)) for id, fields in kept.items()}
    newer: dict[str, list[str]] = {}
    for memory in plain:
        if memory.superseded_by in names:
            newer.setdefault(memory.superseded_by, []).append(memory.id)
    leaving = Leaving({memory.id: memory for memory in plain}, names, newer, _believed(trust))
    items = {memory.id: _memory_item(memory, kept[memory.id], leaving) for memory in plain}
    _link_back(items, plain, names)
    archived = {memory.id for memory in plain if memory.status == "archived"}
    files: dict[str, list[WrittenItem]] = {
        GRAPH: [item for id, item in items.items() if id not in archived],
        ARCHIVE: [item for id, item in items.items() if id in archived],
        EPISODES: [
            _episode_item(memory, kept[memory.id], names)
            for memory in memories
            if memory.kind == "episode"
        ],
        CONFLICTS: _conflicts(plain, kept, leaving, items),
        CLUSTERS: [
            cluster for fields in kept.values() for cluster in list_of(fields.get(CLUSTERS_KEPT))
        ],
    }
    return {
        name: json.dumps(own, ensure_ascii=False, indent=2) + "\n" for name, own in files.items()
    }


def _believed(trust: Callable[[Memory], Trust] | None) -> Callable[[Memory], tuple[str, float]]:
    """Return a function for the source class and trust of a memory; without `trust`, it uses only the memory itself."""

    def alone(memory: Memory) -> tuple[str, float]:
        source = claimed_source(memory.extra) or "inference"
        age = max(0, now() - memory.created) / DAY
        return source, compute_trust(
            source, memory.corroborations + 1, memory.reinforcements, memory.disputes, age
        )

    def asked(memory: Memory) -> tuple[str, float]:
        found = trust(memory) if trust else None
        return (found.source, found.value) if found else alone(memory)

    return asked


def _memory_item(memory: Memory, kept: WrittenItem, leaving: Leaving) -> WrittenItem:
    """Return a memory as an item of neolata."""
    item = write_fields(memory, kept)
    item["status"] = THEIR_STATUSES.get(memory.status, item.get("status", ACTIVE))
    if "status" in kept and kept["status"] is None and memory.status == ACTIVE:
        del item["status"]  # neolata's storeMany writes no status
    item |= _own_words(memory, item)
    known = {field.name for field in FIELDS} | {CONFLICTS_KEPT, CLUSTERS_KEPT}
    item |= {name: value for name, value in kept.items() if name not in known}
    votes = {name: _votes(memory, kept, name) for name in VOTE_COUNTS}
    item |= {
        name: count
        for name, count in votes.items()
        if count != count_of(kept, name) or IMPORTED_STATE not in memory.extra
    }
    links = _links(memory, kept, leaving)
    item |= {"embedding": None, "links": links}
    stood = _stood_as(memory) == memory.status
    voted = (
        any(votes[name] != count_of(kept, name) for name in VOTE_COUNTS)
        or memory.corroborations > 0
    )
    item |= _trusted(memory, kept, leaving, votes, voted)
    item |= _placed(memory, kept, leaving, stood)
    same = (
        stood
        and not voted
        and not memory.amended_in
        and links == (kept.get("links") or [])
        and _same_claim(memory, kept)
    )
    item["updated_at"] = (
        kept.get("updated_at", item.get("created_at")) if same else js_time(memory.updated)
    )
    return {name: value for name, value in item.items() if value is not None or name == "embedding"}


def _stood_as(memory: Memory) -> str:
    """Return the status that a memory was imported with; empty if it was not imported."""
    state = memory.extra.get(IMPORTED_STATE)
    return str(state.get("status", "")) if isinstance(state, dict) else ""


def _same_claim(memory: Memory, kept: WrittenItem) -> bool:
    return "claim" not in kept or CLAIM_FIELD.read(kept) == claim_of(memory)


def _own_words(memory: Memory, item: WrittenItem) -> WrittenItem:
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


def _votes(memory: Memory, kept: WrittenItem, name: str) -> int:
    """Return the votes in neolata plus those made here; imported votes, which the review stored here, count once."""
    state = memory.extra.get(IMPORTED_STATE)
    brought = (
        int(str(state.get(name) or 0)) if isinstance(state, dict) and memory.reviewed_in else 0
    )
    here: int = memory.reinforcements if name == "reinforcements" else memory.disputes
    return count_of(kept, name) + max(0, here - brought)


def _trusted(
    memory: Memory, kept: WrittenItem, leaving: Leaving, votes: Mapping[str, int], voted: bool
) -> WrittenItem:
    """Return provenance and confidence: based on neolata's numbers for an imported text, on ours for our own text."""
    there = kept.get("provenance")
    if memory.amended_in or IMPORTED_STATE not in memory.extra:
        source, value = leaving.trust(memory)
        told = {
            "source": source,
            "corroboration": memory.corroborations + 1,
            "trust": round(value, 6),
        }
        return {"provenance": told, "confidence": round(value, 4)}
    if not voted:
        return {}
    given: WrittenItem = (
        there if isinstance(there, dict) else {"source": "inference", "corroboration": 1}
    )
    corroboration = max(1, count_of(given, "corroboration")) + memory.corroborations
    age = max(0, now() - memory.created) / DAY
    value = compute_trust(
        str(given.get("source")), corroboration, votes["reinforcements"], votes["disputes"], age
    )
    return {
        "provenance": {**given, "corroboration": corroboration, "trust": round(value, 6)},
        "confidence": round(value, 4),
    }


def _placed(memory: Memory, kept: WrittenItem, leaving: Leaving, stood: bool) -> WrittenItem:
    """Return the fields of a status: supersession in both directions, quarantine, and archive time and reason."""
    older = [leaving.names[id] for id in leaving.newer.get(memory.id, [])]
    supersedes = [*dict.fromkeys((*map(str, list_of(kept.get("supersedes"))), *older))]
    placed: WrittenItem = {"supersedes": supersedes or None}
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


def _links(memory: Memory, kept: WrittenItem, leaving: Leaving) -> list[WrittenItem]:
    """Return the links of a memory: imported links that still exist, then links that were made here."""
    state = memory.extra.get(IMPORTED_STATE)
    brought = state.get("links") if isinstance(state, dict) else None
    came = {
        (type, str(id))
        for type, ids in (brought.items() if isinstance(brought, dict) else ())
        for id in ids
    }
    removed = came - {*memory.links} if memory.reviewed_in else set()
    there = [link for link in list_of(kept.get("links")) if isinstance(link, dict)]
    links = [link for link in there if (link_type(link), our_id(link.get("id"))) not in removed]
    known = {str(link.get("id")) for link in links}
    for type, id in memory.links:
        if (
            (type, id) not in came
            and type not in UNSPOKEN_LINKS
            and id in leaving.held
            and leaving.names[id] not in known
        ):
            links.append(_link_to(leaving.names[id], type))
    for id in leaving.newer.get(memory.id, []):
        if not any(
            link.get("id") == leaving.names[id] and link.get("type") == SUPERSEDES for link in links
        ):
            links.append(_link_to(leaving.names[id], SUPERSEDES))
    return links


def _link_to(id: str, type: str) -> WrittenItem:
    return {"id": id, "similarity": 1.0, "type": SIMILAR if type == RELATED else type}


def _link_back(
    items: Mapping[str, WrittenItem], memories: Sequence[Memory], names: Mapping[str, str]
) -> None:
    """Add the opposite direction of each link that was made here, because neolata stores both."""
    for memory in memories:
        for type, id in memory.links:
            other = items.get(id)
            if other is None or type in UNSPOKEN_LINKS or IMPORTED_STATE in memory.extra:
                continue
            if not any(link.get("id") == names[memory.id] for link in other["links"]):
                other["links"].append(_link_to(names[memory.id], type))


def _episode_item(memory: Memory, kept: WrittenItem, names: Mapping[str, str]) -> WrittenItem:
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
    kept: Mapping[str, WrittenItem],
    leaving: Leaving,
    items: Mapping[str, WrittenItem],
) -> list[WrittenItem]:
    """Return neolata's conflicts, with resolutions made here, and then our open conflicts."""
    ours = {name: id for id, name in leaving.names.items()}
    told: list[WrittenItem] = []
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
    for found in open_conflicts(
        [_only_new(one, known, leaving.names) for one in memories], leaving.held.get
    ):
        one, other = found.memory, found.other
        new, existing = leaving.names[one.id], leaving.names[other.id]
        trusts = {"newTrust": leaving.trust(one)[1], "existingTrust": leaving.trust(other)[1]}
        claims = {
            "newClaim": items[one.id].get("claim"),
            "existingClaim": items[other.id].get("claim"),
        }
        start: WrittenItem = {"id": f"{new}:{existing}", "newId": new, "existingId": existing}
        told.append({**start, **trusts, **claims, "created_at": js_time(one.updated)})
    return told


def _only_new(memory: Memory, known: Set[frozenset[str]], names: Mapping[str, str]) -> Memory:
    """Return a memory with only the conflicts that neolata does not know."""
    new = (
        id
        for id in memory.conflicts_with
        if frozenset((names[memory.id], names.get(id, id))) not in known
    )
    return replace(memory, conflicts_with=tuple(new))


def _settled(conflict: WrittenItem, new: Memory | None, existing: Memory | None) -> WrittenItem:
    """Return the resolution, made here, of a conflict that was open in neolata; empty while it is open."""
    if conflict.get("resolved_at") or not new or not existing:
        return {}
    if new.status == "archived" != _stood_as(new):
        how = "reject"
    elif existing.superseded_by == new.id:
        how = "supersede"
    elif kept_both(new, existing):
        how = "keep_both"
    else:
        return {}
    return {"resolved_at": js_time(max(new.updated, existing.updated)), "resolution": how}


# Import and export neolata-mem: its JSON folder, and dumps of its Supabase tables. `fields.py`
# maps the fields.
