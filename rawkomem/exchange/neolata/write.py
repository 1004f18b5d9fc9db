"""Write a folder for neolata's jsonStorage. Imported fields are written as they were, unless they changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...model.clock import DAY, now
from ...model.kinds import ACTIVE, KEPT_BOTH
from ...model.record import record, replace
from ...state.belief.arrived import ARRIVED
from ...state.belief.claims import claim_of
from ...state.belief.conflicts import kept_both, open_conflicts
from ...state.belief.trust import claimed_source, compute_trust
from ..entry import entry_from
from ..source import Page
from .fields import ARCHIVED_AT, ARCHIVED_WHY, FIELDS, WINDOW, id_of, read_kept, stamp, write_fields
from .read import CLUSTERS_KEPT, CONFLICTS_KEPT, RELATED, SIMILAR, SUPERSEDES, count_of, list_of, type_of
from .store import ARCHIVE, CLUSTERS, CONFLICTS, EPISODES, GRAPH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence, Set

    from ...model.entry import Memory
    from ...state.belief.trust import Trust

    Item = dict[str, Any]

STATUSES = {"draft": "quarantined", "conflicted": "quarantined"}  # our status → neolata's, if it has no such status
REASONS = ("trust_insufficient", "predicate_requires_review", "suspicious_input", "manual")  # of neolata's quarantine
UNSPOKEN_LINKS = (KEPT_BOTH, "member")  # types that neolata stores in other files
VOTES = ("reinforcements", "disputes")
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
    items = {memory.id: _item(memory, kept[memory.id], leaving) for memory in plain}
    _link_back(items, plain, names)
    archived = {memory.id for memory in plain if memory.status == "archived"}
    files: dict[str, list[Item]] = {
        GRAPH: [item for id, item in items.items() if id not in archived],
        ARCHIVE: [item for id, item in items.items() if id in archived],
        EPISODES: [_episode(memory, kept[memory.id], names) for memory in memories if memory.kind == "episode"],
        CONFLICTS: _conflicts(plain, kept, leaving, items),
        CLUSTERS: [cluster for fields in kept.values() for cluster in list_of(fields.get(CLUSTERS_KEPT))],
    }
    return {name: json.dumps(own, ensure_ascii=False, indent=2) + "\n" for name, own in files.items()}


def _believed(trust: Callable[[Memory], Trust] | None) -> Callable[[Memory], tuple[str, float]]:
    """Return a function for the source class and trust of a memory; without `trust`, it uses only the memory itself."""

    def alone(memory: Memory) -> tuple[str, float]:
        source = claimed_source(memory.extra) or "inference"
        age = max(0, now() - memory.created) / DAY
        return source, compute_trust(source, memory.corroborations + 1, memory.reinforcements, memory.disputes, age)

    def asked(memory: Memory) -> tuple[str, float]:
        found = trust(memory) if trust else None
        return (found.source, found.value) if found else alone(memory)

    return asked


def _item(memory: Memory, kept: Item, leaving: Leaving) -> Item:
    """Return a memory as an item of neolata."""
    item = write_fields(memory, kept)
    item["status"] = STATUSES.get(memory.status, item.get("status", ACTIVE))
    if "status" in kept and kept["status"] is None and memory.status == ACTIVE:
        del item["status"]  # neolata's storeMany writes no status
    item |= _own_words(memory, item)
    known = {field.name for field in FIELDS} | {CONFLICTS_KEPT, CLUSTERS_KEPT}
    item |= {name: value for name, value in kept.items() if name not in known}
    votes = {name: _votes(memory, kept, name) for name in VOTES}
    item |= {
        name: count for name, count in votes.items() if count != count_of(kept, name) or ARRIVED not in memory.extra
    }
    links = _links(memory, kept, leaving)
    item |= {"embedding": None, "links": links}
    stood = _stood_as(memory) == memory.status
    voted = any(votes[name] != count_of(kept, name) for name in VOTES) or memory.corroborations > 0
    item |= _trusted(memory, kept, leaving, votes, voted)
    item |= _placed(memory, kept, leaving, stood)
    same = (
        stood
        and not voted
        and not memory.amended_in
        and links == (kept.get("links") or [])
        and _same_claim(memory, kept)
    )
    item["updated_at"] = kept.get("updated_at", item.get("created_at")) if same else stamp(memory.updated)
    return {name: value for name, value in item.items() if value is not None or name == "embedding"}


def _stood_as(memory: Memory) -> str:
    """Return the status that a memory was imported with; empty if it was not imported."""
    state = memory.extra.get(ARRIVED)
    return str(state.get("status", "")) if isinstance(state, dict) else ""


def _same_claim(memory: Memory, kept: Item) -> bool:
    return "claim" not in kept or CLAIM_FIELD.read(kept) == claim_of(memory)


def _own_words(memory: Memory, item: Item) -> Item:
    """Return title and conditions if they cannot be derived from the text, and the validity if there is no claim."""
    derived = entry_from(Page("", "", 0), str(item["memory"]).partition("\n")[0], str(item["memory"]))
    ends = dict(zip(WINDOW, (memory.valid_from, memory.valid_until), strict=True))
    return {
        **({"title": memory.title} if memory.title != derived.title else {}),
        **({"whenToUse": [*memory.when]} if memory.when != derived.when else {}),
        **({} if claim_of(memory) else {name: stamp(at) for name, at in ends.items() if at}),
    }


def _votes(memory: Memory, kept: Item, name: str) -> int:
    """Return the votes in neolata plus those made here; imported votes, which the review stored here, count once."""
    state = memory.extra.get(ARRIVED)
    brought = int(str(state.get(name) or 0)) if isinstance(state, dict) and memory.reviewed_in else 0
    here: int = memory.reinforcements if name == "reinforcements" else memory.disputes
    return count_of(kept, name) + max(0, here - brought)


def _trusted(memory: Memory, kept: Item, leaving: Leaving, votes: Mapping[str, int], voted: bool) -> Item:
    """Return provenance and confidence: based on neolata's numbers for an imported text, on ours for our own text."""
    there = kept.get("provenance")
    if memory.amended_in or ARRIVED not in memory.extra:
        source, value = leaving.trust(memory)
        told = {"source": source, "corroboration": memory.corroborations + 1, "trust": round(value, 6)}
        return {"provenance": told, "confidence": round(value, 4)}
    if not voted:
        return {}
    given: Item = there if isinstance(there, dict) else {"source": "inference", "corroboration": 1}
    corroboration = max(1, count_of(given, "corroboration")) + memory.corroborations
    age = max(0, now() - memory.created) / DAY
    value = compute_trust(str(given.get("source")), corroboration, votes["reinforcements"], votes["disputes"], age)
    return {
        "provenance": {**given, "corroboration": corroboration, "trust": round(value, 6)},
        "confidence": round(value, 4),
    }


def _placed(memory: Memory, kept: Item, leaving: Leaving, stood: bool) -> Item:
    """Return the fields of a status: supersession in both directions, quarantine, and archive time and reason."""
    older = [leaving.names[id] for id in leaving.newer.get(memory.id, [])]
    supersedes = [*dict.fromkeys((*map(str, list_of(kept.get("supersedes"))), *older))]
    placed: Item = {"supersedes": supersedes or None}
    if stood:
        return {**placed, ARCHIVED_AT: None} if kept.get(ARCHIVED_AT) == "unknown" else placed
    quarantine = kept.get("quarantine")
    if memory.status == "quarantined":
        reason = memory.reason if memory.reason in REASONS else "manual"
        quarantine = {"reason": reason, "details": memory.reason, "created_at": stamp(memory.updated)}
    elif isinstance(quarantine, dict) and not quarantine.get("resolved_at"):
        done = {"resolved_at": stamp(memory.updated), "resolution": "rejected" if memory.retracted else "activated"}
        quarantine = {**quarantine, **done}
    put_away = memory.status == "archived"
    return {
        **placed,
        "superseded_by": leaving.names.get(memory.superseded_by, memory.superseded_by) or None,
        "quarantine": quarantine,
        ARCHIVED_AT: stamp(memory.updated) if put_away else None,
        ARCHIVED_WHY: memory.reason or "archived" if put_away else None,
    }


def _links(memory: Memory, kept: Item, leaving: Leaving) -> list[Item]:
    """Return the links of a memory: imported links that still exist, then links that were made here."""
    state = memory.extra.get(ARRIVED)
    brought = state.get("links") if isinstance(state, dict) else None
    came = {(type, str(id)) for type, ids in (brought.items() if isinstance(brought, dict) else ()) for id in ids}
    removed = came - {*memory.links} if memory.reviewed_in else set()
    there = [link for link in list_of(kept.get("links")) if isinstance(link, dict)]
    links = [link for link in there if (type_of(link), id_of(link.get("id"))) not in removed]
    known = {str(link.get("id")) for link in links}
    for type, id in memory.links:
        if (
            (type, id) not in came
            and type not in UNSPOKEN_LINKS
            and id in leaving.held
            and leaving.names[id] not in known
        ):
            links.append(_link(leaving.names[id], type))
    for id in leaving.newer.get(memory.id, []):
        if not any(link.get("id") == leaving.names[id] and link.get("type") == SUPERSEDES for link in links):
            links.append(_link(leaving.names[id], SUPERSEDES))
    return links


def _link(id: str, type: str) -> Item:
    return {"id": id, "similarity": 1.0, "type": SIMILAR if type == RELATED else type}


def _link_back(items: Mapping[str, Item], memories: Sequence[Memory], names: Mapping[str, str]) -> None:
    """Add the opposite direction of each link that was made here, because neolata stores both."""
    for memory in memories:
        for type, id in memory.links:
            other = items.get(id)
            if other is None or type in UNSPOKEN_LINKS or ARRIVED in memory.extra:
                continue
            if not any(link.get("id") == names[memory.id] for link in other["links"]):
                other["links"].append(_link(names[memory.id], type))


def _episode(memory: Memory, kept: Item, names: Mapping[str, str]) -> Item:
    """Return an episode as an item of neolata; members that are not in this repository stay in it."""
    here = [names.get(id, id) for type, id in memory.links if type == "member"]
    there = [*map(str, list_of(kept.get("memoryIds")))]
    strange = [id for id in there if id_of(id) not in names]
    members = there if {*here, *strange} == {*there} else [*here, *strange]
    title = str(kept.get("name") or "")
    return {
        "agents": [],
        **kept,
        "id": names[memory.id],
        "name": title if entry_from(Page("", "", 0), title, "").title == memory.title else memory.title,
        **({"summary": memory.body.strip()} if memory.body.strip() else {}),
        "memoryIds": members,
        "tags": [*memory.tags],
        "created_at": kept.get("created_at", stamp(memory.created)),
        "updated_at": kept.get("updated_at", stamp(memory.updated)),
    }


def _conflicts(
    memories: Sequence[Memory], kept: Mapping[str, Item], leaving: Leaving, items: Mapping[str, Item]
) -> list[Item]:
    """Return neolata's conflicts, with resolutions made here, and then our open conflicts."""
    ours = {name: id for id, name in leaving.names.items()}
    told: list[Item] = []
    for fields in kept.values():
        for conflict in (one for one in list_of(fields.get(CONFLICTS_KEPT)) if isinstance(one, dict)):
            pair = [leaving.held.get(ours.get(str(conflict.get(name)), "")) for name in ("newId", "existingId")]
            told.append({**conflict, **_settled(conflict, *pair)})
    known = {frozenset((str(one.get("newId")), str(one.get("existingId")))) for one in told}
    for found in open_conflicts([_only_new(one, known, leaving.names) for one in memories], leaving.held.get):
        one, other = found.memory, found.other
        new, existing = leaving.names[one.id], leaving.names[other.id]
        trusts = {"newTrust": leaving.trust(one)[1], "existingTrust": leaving.trust(other)[1]}
        claims = {"newClaim": items[one.id].get("claim"), "existingClaim": items[other.id].get("claim")}
        start: Item = {"id": f"{new}:{existing}", "newId": new, "existingId": existing}
        told.append({**start, **trusts, **claims, "created_at": stamp(one.updated)})
    return told


def _only_new(memory: Memory, known: Set[frozenset[str]], names: Mapping[str, str]) -> Memory:
    """Return a memory with only the conflicts that neolata does not know."""
    new = (id for id in memory.conflicts_with if frozenset((names[memory.id], names.get(id, id))) not in known)
    return replace(memory, conflicts_with=tuple(new))


def _settled(conflict: Item, new: Memory | None, existing: Memory | None) -> Item:
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
    return {"resolved_at": stamp(max(new.updated, existing.updated)), "resolution": how}
