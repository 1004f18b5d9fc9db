"""Make entries from a store of neolata. Each entry records its state there; a review restores it in that state."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...model.kinds import ACTIVE
from ...model.record import replace
from ...state.belief.arrived import ARRIVED, MAX_VOTES
from ...text.clean import one_line
from ..entry import entry_from, moment, texts
from ..source import Page
from .fields import ARCHIVED_AT, ARCHIVED_WHY, KEPT, as_kept, entry_of, id_of, kept_of, status_of
from .store import ARCHIVE, EPISODES, GRAPH, has_text, read_store

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from ...model.entry import Entry, Value
    from ..source import Source
    from .store import Store

    Item = dict[str, Any]

REFUSED = ("deleted", "rejected")  # statuses that are not imported
CONFLICTS_KEPT, CLUSTERS_KEPT = (
    "pendingConflicts",
    "labeledClusters",
)  # kept with a memory; neolata has files for them
MAX_LINKS = 200  # links of one memory that are imported
MAX_MEMBERS = 1_000  # of an episode: neolata's largest batch
SIMILAR, SUPERSEDES, RELATED = "similar", "supersedes", "related"


def read_neolata(source: Source) -> Iterator[Entry]:
    """Yield each memory and each episode, with all of neolata's fields."""
    store = read_store(source)
    known = {id_of(item["id"]) for item in store.memories if _is_wanted(item)}
    with_records = _with_records(store, source)
    for item in store.memories:
        if not _is_wanted(item):
            source.skip(str(item["id"]), f"it is {status_of(item)} there" if has_text(item) else "it has no text")
            continue
        file = store.places.get(ARCHIVE if item.get(ARCHIVED_AT) else GRAPH, source.path)
        kept, dropped = kept_of({**item, **with_records.get(str(item["id"]), {})})
        for name in dropped:
            source.skip(str(item["id"]), f"its field {name!r} is too large to be kept")
        made = entry_of(item, file)
        state = _state(item, store, known)
        yield replace(made, extra={**made.extra, ARRIVED: state, **({KEPT: kept} if kept else {})})
    for item in store.episodes:
        yield _episode(item, known, store.places[EPISODES])


def _is_wanted(item: Item) -> bool:
    return has_text(item) and status_of(item) not in REFUSED


def _with_records(store: Store, source: Source) -> dict[str, dict[str, list[Item]]]:
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


def _state(item: Item, store: Store, known: Container[str]) -> dict[str, Value]:
    """Return the state of an item in neolata, for the review that restores it."""
    status, quarantine, newer = status_of(item), item.get("quarantine"), item.get("superseded_by")
    reason = item.get(ARCHIVED_WHY) if status == "archived" else None
    if status == "quarantined" and isinstance(quarantine, dict):
        reason = quarantine.get("reason")
    rivals = [
        str(one.get("existingId"))
        for one in store.conflicts
        if one.get("newId") == item["id"] and not one.get("resolved_at")
    ]
    state: dict[str, Value] = {
        "status": status if status in (ACTIVE, "superseded", "disputed", "quarantined", "archived") else "quarantined",
        "reason": one_line(reason) if isinstance(reason, str) else "",
        "supersededBy": id_of(newer) if newer else "",
        "conflictsWith": _known_ids(rivals, known),
        "reinforcements": str(votes_of(item, "reinforcements") or ""),
        "disputes": str(votes_of(item, "disputes") or ""),
        "links": links_of(item, known),
    }
    return {key: value for key, value in state.items() if value}


def votes_of(item: Item, name: str) -> int:
    """Return a count of votes, at most MAX_VOTES."""
    return min(count_of(item, name), MAX_VOTES)


def count_of(item: Item, name: str) -> int:
    """Return a count, at least 0; 0 if the value is not a number."""
    value = item.get(name)
    return max(0, int(value)) if isinstance(value, (int, float)) and math.isfinite(value) else 0


def links_of(item: Item, known: Container[str]) -> dict[str, Value]:
    """Return link type → ids of the memories that an item links to; the type `similar` becomes `related`."""
    found: dict[str, list[Value]] = {}
    for link in list_of(item.get("links"))[:MAX_LINKS]:
        if isinstance(link, dict) and (id := id_of(link.get("id"))) in known and link.get("type") != SUPERSEDES:
            ids = found.setdefault(type_of(link), [])
            if id not in ids and id != id_of(item["id"]):
                ids.append(id)
    return {type: [*ids] for type, ids in found.items() if ids}


def type_of(link: Item) -> str:
    """Return our type of a link."""
    type = one_line(str(link.get("type") or SIMILAR), 32)
    plain = type.replace("_", "").replace("-", "")
    return type if type != SIMILAR and plain.isascii() and plain.isalnum() else RELATED


def _episode(item: Item, known: Container[str], place: str) -> Entry:
    """Return an episode, with the members that are imported."""
    title, summary = str(item.get("name") or "Episode"), item.get("summary")
    members = list_of(item.get("memoryIds"))
    page = Page(place, "", moment(item.get("created_at")))
    made = entry_from(
        page,
        title,
        summary if isinstance(summary, str) else "",
        str(item["id"]),
        tags=texts(item.get("tags")),
        kind="episode",
        extra={"members": _known_ids(members, known)},
    )
    kept, _ = as_kept({name: value for name, value in item.items() if value is not None})
    extra = {**made.extra, ARRIVED: {"status": ACTIVE}, KEPT: kept}
    return replace(made, id=id_of(item["id"]), when=(), extra=extra)


def _known_ids(given: list[Any], known: Container[str]) -> list[Value]:
    return [id for id in map(id_of, given[:MAX_MEMBERS]) if id in known]


def list_of(value: object) -> list[Any]:
    """Return a list, or an empty one for anything else."""
    return value if isinstance(value, list) else []
