"""Take over neolata's JSON folder with ids and statuses, without a review (unlike `rawkomem import`), and write one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...exchange.folder import write_folder
from ...exchange.neolata import (
    ARCHIVE,
    EPISODES,
    GRAPH,
    changes_of,
    entry_of,
    episode_of,
    id_of,
    neolata_files,
    read_folder,
)
from ...exchange.source import Source
from ...model.entry import Plan
from ...model.errors import BadInput
from ...model.filters import Filter
from ...model.record import record, replace
from ...state.decide import plan_add
from ...state.facets import IMPORTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...exchange.neolata import Folder
    from ...model.entry import Entry
    from .. import Repository

MEMORIES_AT_ONCE = 500  # memories in one plan
REFUSED = ("deleted", "rejected")  # statuses of what nobody wants any more


@record
class Imported:
    """What an import did."""

    added: int
    known: int  # memories that were here already
    skipped: tuple[tuple[str, str], ...] = ()  # (id, why)


def import_neolata(repository: Repository, folder: str) -> Imported:
    """Store the memories and episodes of a folder that are not known yet."""
    source = Source(folder, repository.layout.project)
    held = read_folder(source)
    known = {row.id for row in repository.core.rows(Filter())}
    plans = list(_plans(held, known, source))
    for start in range(0, len(plans), MEMORIES_AT_ONCE):
        entries = tuple(entry for plan in plans[start : start + MEMORIES_AT_ONCE] for entry in plan.entries)
        repository.core.writer.write(Plan(entries, f"import from neolata: {folder}"), via="import")
    return Imported(len(plans), len(known & held.memories.keys()), tuple(source.skipped))


def _plans(held: Folder, known: set[str], source: Source) -> Iterator[Plan]:
    """Plan what is written for each memory and episode that is not known; skip those that cannot be written."""
    ids = held.memories.keys() | known
    for id, item in held.memories.items():
        if id in known:
            continue
        if item.get("status") in REFUSED:
            source.skip(id, f"it is {item['status']} there")
            continue
        place = ARCHIVE if item.get("status") == "archived" else GRAPH
        if plan := _added(replace(entry_of(item, place), id=id), source):
            yield replace(plan, entries=(*plan.entries, *changes_of(item, ids, plan.entries[0])))
    for item in held.episodes:
        if id_of(item["id"]) not in known and (plan := _added(episode_of(item, ids, EPISODES), source)):
            yield plan


def _added(entry: Entry, source: Source) -> Plan | None:
    extra = {**entry.extra, IMPORTED: f"neolata:{entry.extra[IMPORTED]}"}
    try:
        return plan_add(replace(entry, source="neolata", extra=extra))
    except BadInput as failure:
        source.skip(entry.id, failure.message)
        return None


def export_neolata(repository: Repository, folder: str) -> int:
    """Write all memories, whatever their status, into a folder as neolata reads it; returns how many."""
    memories = [memory for memory in repository.core.reading.inside(Filter()) if memory.status != "deleted"]
    write_folder(folder, neolata_files(memories))
    return len(memories)
