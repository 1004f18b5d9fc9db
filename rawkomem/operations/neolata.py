"""neolata's JSON folder, read and written: graph.json, archived.json, episodes.json, pending-conflicts.json.

A memory keeps its id, so that importing a folder twice adds nothing. What neolata counts (reinforcements, disputes) and
decides (superseded, quarantined, archived) becomes entries. Vectors and clusters are not read: both are derived.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from ..index.documents import Filter
from ..model.clock import iso, read_time
from ..model.entry import Entry, Plan
from ..model.errors import BadInput
from ..model.ids import new_id
from ..model.record import record, replace
from ..state.decide import plan_add
from ..state.facets import category_of
from ..state.strength import IMPORTANCES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..model.entry import Memory, Value
    from ..repository import Repository

GRAPH, ARCHIVE, EPISODES, CONFLICTS = "graph.json", "archived.json", "episodes.json", "pending-conflicts.json"
BATCH = 500  # memories in one plan
COUNTED = 10  # reinforcements and disputes that are written as entries; more say nothing new
TITLE = 80  # characters of a text that become its title
KEPT = ("claim", "provenance", "validFrom", "validUntil")  # said in the same words by both
STATUSES = {"superseded": "superseded", "disputed": "disputed", "quarantined": "quarantined", "archived": "archived"}


@record
class Imported:
    """What an import did."""

    added: int
    known: int  # memories that were here already


def import_neolata(repository: Repository, folder: str) -> Imported:
    """Store the memories and episodes of a folder that are not known yet."""
    live, archived = _read(folder, GRAPH), _read(folder, ARCHIVE)
    if not live and not archived and not os.path.exists(os.path.join(folder, GRAPH)):
        raise BadInput(f"there is no {GRAPH} in {folder}", "name the folder that neolata's jsonStorage writes")
    items = {_id(item): item for item in (*({**item, "status": "archived"} for item in archived), *live)}
    known = {row.id for row in repository.list(Filter())}
    plans = [plan_memory(item, items.keys() | known) for id, item in items.items() if id not in known]
    plans += [plan_episode(item, items.keys() | known) for item in _read(folder, EPISODES) if _id(item) not in known]
    for start in range(0, len(plans), BATCH):
        entries = tuple(entry for plan in plans[start : start + BATCH] for entry in plan.entries)
        repository.write(Plan(entries, f"import from neolata: {folder}"), via="import")
    return Imported(len(plans), len(known & items.keys()))


def plan_memory(item: dict[str, Any], known: Iterable[str]) -> Plan:
    """One of neolata's memories, and what became of it."""
    text = str(item.get("memory") or item.get("content") or "")
    at = _moment(item.get("created_at"))
    extra = {key: _value(item[key]) for key in KEPT if item.get(key)}
    if item.get("category"):
        extra["category"] = str(item["category"])
    entry = Entry(
        id=_id(item),
        title=_title(text),
        body=text,
        tags=tuple(str(tag) for tag in item.get("tags") or ()),
        importance=_importance(item.get("importance")),
        at=at,
        by=str(item.get("agent") or item.get("agent_id") or ""),
        source="neolata",
        extra=extra,
    )
    plan = plan_add(entry)
    (first,) = plan.entries
    changes = _changes(item, set(known), first.at)
    return replace(plan, entries=(first, *(replace(change, about=first.id) for change in changes)))


def _changes(item: dict[str, Any], known: set[str], at: int) -> list[Entry]:
    """Entries about a memory, each later than the one before."""
    says: list[tuple[str, dict[str, Value]]] = []
    says += [("reinforce", {})] * min(int(item.get("reinforcements") or 0), COUNTED)
    says += [("dispute", {})] * min(int(item.get("disputes") or 0), COUNTED)
    linked: list[Value] = [str(link["id"]) for link in item.get("links") or () if str(link.get("id")) in known]
    if linked:
        says.append(("link", {"to": linked, "type": "related"}))
    status = STATUSES.get(str(item.get("status")), "")
    if status == "superseded" and item.get("superseded_by"):
        says.append(("supersede", {"supersededBy": str(item["superseded_by"])}))
    elif status == "disputed":
        says.append(("dispute", {"outcome": "disputed"}))
    elif status:
        reason = item.get("quarantine")
        why = str(reason.get("reason") or "") if isinstance(reason, dict) else ""
        says.append(("quarantine" if status == "quarantined" else "archive", {"reason": why or "so in neolata"}))
    return [
        Entry(kind=kind, id=new_id(kind, at + later), at=at + later, extra=extra)
        for later, (kind, extra) in enumerate(says, 1)
    ]


def plan_episode(item: dict[str, Any], known: Iterable[str]) -> Plan:
    """One of neolata's episodes, with the members that are known."""
    held = set(known)
    members: list[Value] = [str(id) for id in item.get("memoryIds") or item.get("memory_ids") or () if str(id) in held]
    entry = Entry(
        kind="episode",
        id=_id(item),
        title=_title(str(item.get("name") or "Episode")),
        body=str(item.get("summary") or ""),
        tags=tuple(str(tag) for tag in item.get("tags") or ()),
        at=_moment(item.get("created_at")),
        source="neolata",
        extra={"members": members},
    )
    return plan_add(entry)


def export_neolata(repository: Repository, folder: str) -> int:
    """Write all memories into a folder as neolata reads it; returns how many. Nothing of it is vectors."""
    rows = [row.id for row in repository.list(Filter())]
    memories = [memory for memory in repository.get_all(rows) if memory.status != "deleted"]
    plain = [memory for memory in memories if memory.kind != "episode"]
    os.makedirs(folder, exist_ok=True)
    _write(folder, GRAPH, [_item(memory) for memory in plain if memory.status != "archived"])
    _write(folder, ARCHIVE, [_item(memory) for memory in plain if memory.status == "archived"])
    _write(folder, EPISODES, [_episode(memory) for memory in memories if memory.kind == "episode"])
    _write(
        folder,
        CONFLICTS,
        [
            {
                "id": f"{conflict.memory.id}:{conflict.other.id}",
                "newId": conflict.memory.id,
                "existingId": conflict.other.id,
            }
            for conflict in repository.conflicts()
        ],
    )
    return len(memories)


def _item(memory: Memory) -> dict[str, Any]:
    """A memory in neolata's words."""
    said: dict[str, Any] = {
        "id": memory.id,
        "agent": memory.by,
        "memory": memory.body.strip() or memory.title,
        "category": category_of(memory) or "fact",
        "importance": IMPORTANCES[memory.importance],
        "tags": list(memory.tags),
        "embedding": None,
        "links": [{"id": id, "type": type} for type, id in memory.links],
        "created_at": iso(memory.created),
        "updated_at": iso(memory.updated),
        "status": memory.status,
        "reinforcements": memory.reinforcements,
        "disputes": memory.disputes,
        "superseded_by": memory.superseded_by or None,
        "supersedes": list(memory.supersedes),
    }
    return said | {key: memory.extra[key] for key in KEPT if key in memory.extra}


def _episode(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "name": memory.title,
        "memoryIds": [id for type, id in memory.links if type == "member"],
        "tags": list(memory.tags),
        "summary": memory.body.strip(),
        "created_at": iso(memory.created),
    }


def _read(folder: str, name: str) -> Sequence[dict[str, Any]]:
    file = os.path.join(folder, name)
    try:
        with open(file, encoding="utf-8-sig") as stream:
            items = json.load(stream)
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as failure:
        raise BadInput(f"cannot read {file}: {failure}", "it should be what neolata wrote") from None
    if not isinstance(items, list) or not all(isinstance(item, dict) and item.get("id") for item in items):
        raise BadInput(f"{file} is not a list of objects with an id", "it should be what neolata wrote")
    return items


def _write(folder: str, name: str, items: list[dict[str, Any]]) -> None:
    file = os.path.join(folder, name)
    with open(f"{file}.{os.getpid()}", "w", encoding="utf-8") as stream:
        json.dump(items, stream, ensure_ascii=False, indent=2)
    os.replace(stream.name, file)


def _id(item: dict[str, Any]) -> str:
    return str(item["id"])


def _title(text: str) -> str:
    """The first line, or as many whole words of it as a title holds."""
    line = " ".join(text.strip().partition("\n")[0].lstrip("# ").split())
    return (line if len(line) <= TITLE else line[:TITLE].rpartition(" ")[0] + " …") or "Untitled"


def _importance(value: object) -> str:
    """The highest of our names that neolata's number reaches."""
    number = float(value) if isinstance(value, int | float) else IMPORTANCES["medium"]
    reached = [name for name, least in IMPORTANCES.items() if number >= least]
    return reached[-1] if reached else "low"


def _moment(value: object) -> int:
    return (read_time(value)[0] or 0) if isinstance(value, str) else 0


def _value(value: Any) -> Value:
    """Any JSON as frontmatter holds it: all scalars are strings."""
    if isinstance(value, dict):
        return {str(key): _value(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_value(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else str(value)
