"""neolata's JSON, in and out: a file of memories, or the folder that its `jsonStorage` writes.

graph.json, archived.json   memories: those that it searches, and those that it put away
episodes.json               episodes, with the ids of their members
pending-conflicts.json      claims that contradict each other, and wait for a review
clusters.json               names of clusters; they are derived, as vectors are, so neither is read or written

An import for a review (`read_neolata`) takes over what memories in use say. Who trusts a folder takes over what neolata
decided, too: `read_folder` keeps its ids, and `changes_of` tells what became of a memory.
"""

from __future__ import annotations

import json
import os
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ..format.read_entries import CLAIM, MAX_PATTERNS
from ..learn.skills.text import CONDITION_LENGTH
from ..model.clock import iso, read_time
from ..model.entry import Entry
from ..model.errors import BadInput
from ..model.ids import new_id
from ..model.record import record, replace
from ..state.belief.conflicts import open_conflicts
from ..state.decide import TITLE_CHARS
from ..state.facets import category_of
from ..state.lifecycle.strength import IMPORTANCES
from ..text.clean import one_line
from .entry import entry_from, importance_of, moment, texts
from .notes import OWN_ID
from .source import Page, Source
from .stores import GONE_STATUSES, item_entry, items_in

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from ..model.entry import Memory, Value

    Item = dict[str, Any]

GRAPH, ARCHIVE, EPISODES, CONFLICTS = "graph.json", "archived.json", "episodes.json", "pending-conflicts.json"
NEOLATA_FIELDS = ("agent", "links", "category", "claim", "importance")  # that mem0's memories do not have
SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}")
CLAIM_KEYS = (*CLAIM, "scope", "sessionId", "exclusive")  # keys of a claim
MAX_VALUE_LENGTH = 200  # characters of one of them
WINDOW_KEYS = ("validFrom", "validUntil")
MAX_COUNTED = 10  # reinforcements and disputes that become entries; more say nothing new
MAX_LINKS = 100  # links of one memory, and members of an episode


@record
class Folder:
    """What a folder of neolata holds: memories by id, those in graph.json before those that were put away."""

    memories: dict[str, Item]
    episodes: list[Item]


# In


def is_neolata(source: Source) -> bool:
    """Return whether neolata wrote a JSON file or a folder; other tools have a graph.json, too."""
    if not source.is_folder:
        return source.path.endswith(".json") and _are_neolata(items_in(source.json()))
    graph, *others = (os.path.join(source.path, name) for name in (GRAPH, ARCHIVE, EPISODES, CONFLICTS))
    if not os.path.isfile(graph) or any(map(os.path.isfile, others)):
        return os.path.isfile(graph)
    try:
        return _are_neolata(items_in(Source(graph).json()))
    except BadInput:
        return False


def _are_neolata(items: Sequence[Item]) -> bool:
    return bool(items) and sum(name in items[0] for name in NEOLATA_FIELDS) >= 2


def read_neolata(source: Source) -> Iterator[Entry]:
    """Yield each memory in use, for a review. What neolata decided, links and episodes stay behind."""
    for part in _parts(source, GRAPH, ARCHIVE) if source.is_folder else [source]:
        archived = source.is_folder and os.path.basename(part.path) == ARCHIVE
        for item in items_in(part.json()):
            status = "archived" if archived else item.get("status")
            if status in GONE_STATUSES:
                source.skip(str(item.get("id", "?")), f"it is {status} there")
                continue
            entry, id = entry_of(item, source.place(part.path)), str(item.get("id", ""))
            yield replace(entry, id=id if OWN_ID.fullmatch(id) else "")


def read_folder(source: Source) -> Folder:
    """Return all of a folder, which must be as neolata writes it."""
    if not os.path.isfile(os.path.join(source.path, GRAPH)):
        raise BadInput(f"there is no {GRAPH} in {source.path}", "name the folder that neolata's jsonStorage writes")
    found = {os.path.basename(part.path): _strictly(part) for part in _parts(source, GRAPH, ARCHIVE, EPISODES)}
    archived = [{**item, "status": "archived"} for item in found.get(ARCHIVE, ())]
    memories = {id_of(item["id"]): item for item in (*archived, *found.get(GRAPH, ()))}
    return Folder(memories, found.get(EPISODES, []))


def _parts(source: Source, *names: str) -> Iterator[Source]:
    """Yield those files of a folder that are there, and no links."""
    for name in names:
        file = os.path.join(source.path, name)
        if os.path.islink(file):
            source.skip(source.place(file), "a link")
        elif os.path.isfile(file):
            yield Source(file, source.project)


def _strictly(part: Source) -> list[Item]:
    items = part.json()
    if not isinstance(items, list) or not all(isinstance(item, dict) and item.get("id") for item in items):
        raise BadInput(f"{part.path} is not a list of objects with an id", "it should be what neolata wrote")
    return items


def id_of(given: object) -> str:
    """Return neolata's id as an id of ours: itself, where it can stand in a file."""
    id = str(given)
    return id if SAFE_ID.fullmatch(id) else f"mem_{sha256(id.encode('utf-8', 'replace')).hexdigest()[:12]}"


def entry_of(item: Item, place: str) -> Entry:
    """Return what a memory of neolata says, in our words and within our limits; without an id."""
    title, importance, tags = item.get("title"), _importance(item.get("importance")), texts(item.get("tags"))
    by = str(item.get("agent") or item.get("agent_id") or "")
    made = item_entry(item, place, title, tags=tags, importance=importance, by=by, extra=_facets(item))
    if "whenToUse" not in item:
        return made
    conditions = [one_line(condition, CONDITION_LENGTH) for condition in texts(item["whenToUse"])]  # we exported it
    return replace(made, title=one_line(str(title or made.title), TITLE_CHARS), when=tuple(conditions)[:MAX_PATTERNS])


def _importance(value: object) -> str:
    """Return our word whose number is closest, so that a word we exported comes back."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return importance_of(value)
    return min(IMPORTANCES, key=lambda name: abs(IMPORTANCES[name] - value))


def _facets(item: Item) -> dict[str, Value]:
    """Return category, claim, source class and window, as far as they have the shape that ours have."""
    claim, provenance, category = item.get("claim"), item.get("provenance"), _word(item.get("category"))
    extra: dict[str, Value] = {"category": category} if category else {}
    if isinstance(claim, dict) and all(_word(claim.get(key)) for key in CLAIM):
        extra["claim"] = {key: word for key in CLAIM_KEYS if (word := _word(claim.get(key)))}
    if isinstance(provenance, dict) and (source := _word(provenance.get("source"))):
        extra["provenance"] = {"source": source}
    times = {key: item[key] for key in WINDOW_KEYS if isinstance(item.get(key), str) and read_time(item[key])[0]}
    return extra | times


def _word(value: object) -> str:
    """Return a text, or a yes or no, on one line; empty for anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return one_line(value, MAX_VALUE_LENGTH) if isinstance(value, str) else ""


def changes_of(item: Item, known: Container[str], memory: Entry) -> list[Entry]:
    """Return what neolata decided about a memory: entries about it, each later than the one before."""
    says: list[tuple[str, dict[str, Value]]] = [("reinforce", {})] * _count(item.get("reinforcements"))
    says += [("dispute", {})] * _count(item.get("disputes"))
    linked = _known_ids([link.get("id") for link in _list(item.get("links")) if isinstance(link, dict)], known)
    if linked:
        says.append(("link", {"to": linked, "type": "related"}))
    says += _status(item)
    at = memory.at
    return [
        Entry(kind=kind, id=new_id(kind, at + later), about=memory.id, at=at + later, extra=extra)
        for later, (kind, extra) in enumerate(says, 1)
    ]


def _status(item: Item) -> list[tuple[str, dict[str, Value]]]:
    status, quarantine = item.get("status"), item.get("quarantine")
    if status == "superseded" and item.get("superseded_by"):
        return [("supersede", {"supersededBy": id_of(item["superseded_by"])})]
    if status == "disputed":
        return [("dispute", {"outcome": "disputed"})]
    if status in ("superseded", "archived"):
        return [("archive", {"reason": f"{status} in neolata"})]
    if status == "quarantined":
        why = _word(quarantine.get("reason")) if isinstance(quarantine, dict) else ""
        return [("quarantine", {"reason": why or "quarantined in neolata"})]
    return []


def episode_of(item: Item, known: Container[str], place: str) -> Entry:
    """Return one of neolata's episodes, with those of its members that are known."""
    page = Page(place, "", moment(item.get("created_at")))
    title, summary, tags = str(item.get("name") or "Episode"), item.get("summary"), texts(item.get("tags"))
    summary = summary if isinstance(summary, str) else ""
    extra: dict[str, Value] = {"members": _known_ids(_list(item.get("memoryIds") or item.get("memory_ids")), known)}
    made = entry_from(page, title, summary, str(item["id"]), tags=tags, kind="episode", extra=extra)
    return replace(made, id=id_of(item["id"]), when=())


def _known_ids(given: list[Any], known: Container[str]) -> list[Value]:
    return [id for id in map(id_of, given[:MAX_LINKS]) if id in known]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _count(value: object) -> int:
    return max(0, min(int(value), MAX_COUNTED)) if isinstance(value, (int, float)) and value == value else 0


# Out


def neolata_files(memories: Sequence[Memory], project: str = "") -> dict[str, str]:
    """Return the files of a folder that neolata reads, as name → text. It makes vectors and similarity links itself."""
    plain = [memory for memory in memories if memory.kind != "episode"]
    held = {memory.id: memory for memory in plain}
    pairs = [(conflict.memory.id, conflict.other.id) for conflict in open_conflicts(plain, held.get)]
    items: dict[str, list[Item]] = {
        GRAPH: [_item(memory) for memory in plain if memory.status != "archived"],
        ARCHIVE: [_item(memory) for memory in plain if memory.status == "archived"],
        EPISODES: [_episode(memory) for memory in memories if memory.kind == "episode"],
        CONFLICTS: [{"id": f"{one}:{other}", "newId": one, "existingId": other} for one, other in pairs],
    }
    return {name: json.dumps(own, ensure_ascii=False, indent=2) + "\n" for name, own in items.items()}


def _item(memory: Memory) -> Item:
    """Return a memory in neolata's words; title and conditions besides, which it keeps and we read again."""
    said: Item = {
        "id": memory.id, "agent": memory.by, "memory": memory.body.strip() or memory.title, "title": memory.title,
        "whenToUse": list(memory.when), "category": category_of(memory) or "fact",
        "importance": IMPORTANCES[memory.importance], "tags": list(memory.tags), "embedding": None,
        "links": [{"id": id, "type": type} for type, id in memory.links],
        "created_at": iso(memory.created), "updated_at": iso(memory.updated), "status": memory.status,
        "reinforcements": memory.reinforcements, "disputes": memory.disputes,
        "superseded_by": memory.superseded_by or None, "supersedes": list(memory.supersedes),
    }  # fmt: skip
    return said | {key: memory.extra[key] for key in ("claim", "provenance", *WINDOW_KEYS) if key in memory.extra}


def _episode(memory: Memory) -> Item:
    members = [id for type, id in memory.links if type == "member"]
    said = {"id": memory.id, "name": memory.title, "memoryIds": members, "tags": list(memory.tags)}
    return {**said, "summary": memory.body.strip(), "created_at": iso(memory.created)}
