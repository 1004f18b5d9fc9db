"""The tables of RFC-0011 that other programs read: their rows, publishing them after each write and
recall, and the export as a memory-mesh database.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..exchange.memory_mesh import MeshContent, mesh_row, own_fields, write_mesh
from ..exchange.written_files import ExportedFiles
from ..files.journal import Row
from ..files.ledger import count_blocks, last_blocks
from ..files.session_records import Access, accesses
from ..format.mesh_fields import metadata_in
from ..format.yamo import chain_hashes
from ..index.stores.database import (
    MEMORY,
    SQLITE,
    StoreHome,
    plugin_names,
    store_plugin,
)
from ..learn.skills import SKILL_KIND, Skill, skill_of, skill_text_in
from ..learn.syntheses import skill_as_yamo
from ..model.entries import Memory
from ..model.errors import BadInput, NotFound
from ..model.filters import Filter
from ..model.values import ACTIVE, record
from ..state.strength import entry_row
from ..state.trust import IMPORTED, derived_from

if TYPE_CHECKING:
    from . import Repository
    from .core import Core


# Update the tables of RFC-0011 after each write and each recall, if the store has these tables.


@record
class Published:
    """The number of rows of this repository in the tables of RFC-0011."""

    memories: int
    blocks: int
    skills: int


def publish_all(core: Core) -> Published:
    """Fill the three tables completely; return the number of rows."""
    core.index.refresh()
    skills = skill_rows(core)
    filled = _publish(core, core.inside(Filter()), skills, whole=True)
    return Published(filled, count_blocks(core.layout), len(skills))


def publish_new(core: Core, ids: Sequence[str]) -> None:
    """Add new ledger blocks and the rows of these memories; if one of them is a skill, update the skills, too."""
    core.index.refresh()
    memories = core.inside(Filter(ids=tuple(ids))) if ids else []
    is_skill = any(memory.kind == SKILL_KIND for memory in memories)
    _publish(core, memories, skill_rows(core) if is_skill else None, whole=False)


def _publish(
    core: Core,
    memories: Sequence[Memory],
    skills: list[dict[str, Any]] | None,
    whole: bool,
) -> int:
    return store_plugin(core.settings.store.name).publish(
        StoreHome(core.layout, core.settings.store),
        core.index.embedder.dims,
        _entries(core, memories),
        lambda held: _blocks_after(core, held),
        skills,
        whole,
    )


def has_tables(core: Core) -> bool:
    """Return whether the store has the tables of RFC-0011."""
    name = core.settings.store.name
    return name not in (SQLITE, MEMORY) and store_plugin(name).rfc_tables


def _blocks_after(core: Core, held: int) -> tuple[str, list[dict[str, Any]]]:
    """Return the last block of a table of `held` blocks, and the rows after it; no block if the table has too many."""
    blocks = count_blocks(core.layout)
    if blocks < held:
        return "", []
    rows = last_blocks(core.layout, blocks - held + (held > 0))
    before = rows.pop(0) if held and rows else None
    return before.id if before else "", block_rows(rows, before)


def block_rows(rows: Sequence[Row], before: Row | None = None) -> list[dict[str, Any]]:
    """Return ledger blocks as rows of yamo_blocks, hashed as the RFC says; `before` is the block before the first."""
    hashes = chain_hashes(
        [row.yamo_text for row in rows], before.yamo_text if before else None
    )
    return [
        {
            "id": row.id,
            "agent_id": row.agent_id or None,
            "operation_type": row.operation_type,
            "yamo_text": row.yamo_text,
            "timestamp": row.timestamp,
            "block_hash": own,
            "prev_hash": previous,
            "metadata": {"ledger_hash": row.block_hash},
        }
        for row, (own, previous) in zip(rows, hashes, strict=True)
    ]


def skill_rows(core: Core) -> list[dict[str, Any]]:
    """Return the skills in use as rows of synthesized_skills (RFC-0011 §2.4)."""
    used = accesses(core.layout)
    memories = core.inside(Filter(kinds=(SKILL_KIND,), statuses=(ACTIVE,)))
    counts = [(memory, used.get(memory.id, Access())) for memory in memories]
    vectors = (
        core.index.embedder.embed([intent_of(memory) for memory in memories])
        if memories
        else []
    )
    made = [skill_of(memory, access.count, access.last) for memory, access in counts]
    return [
        skill_row(skill, list(array("f", vector)))
        for skill, vector in zip(made, vectors, strict=True)
    ]


def skill_row(skill: Skill, vector: list[float]) -> dict[str, Any]:
    """Return a row of synthesized_skills."""
    memory = skill.memory
    return {
        "id": memory.id,
        "name": memory.title,
        "intent": intent_of(memory),
        "yamo_text": yamo_text_of(memory),
        "vector": vector,
        "metadata": _skill_metadata(skill),
        "created_at": memory.created,
    }


def _skill_metadata(skill: Skill) -> dict[str, Any]:
    """Return a skill's metadata. An imported skill keeps its imported counts until somebody votes on it here."""
    memory, given = skill.memory, metadata_in(skill.memory.extra)
    source = {"source": memory.source} if memory.source else {}
    if IMPORTED in memory.extra and not skill.uses:
        return {**given, **source}
    about = {
        "reliability": skill.reliability,
        "use_count": skill.uses,
        "last_used": skill.last_used or None,
    }
    return {
        **given,
        **source,
        **about,
        "tags": [*memory.tags],
        "created_at": memory.created,
    }


def yamo_text_of(memory: Memory) -> str:
    """Return the definition of a skill: the imported text, or the block of a skill that was made here."""
    return (
        skill_as_yamo(memory)
        if derived_from(memory)
        else skill_text_in(memory.body) or memory.title
    )


def intent_of(memory: Memory) -> str:
    """Return the purpose of a skill, on one line."""
    return str(
        memory.extra.get("intent") or memory.extra.get("description") or memory.title
    )


def _entries(core: Core, memories: Sequence[Memory]) -> dict[str, dict[str, Any]]:
    """Return the columns of memory_entries, by id."""
    used = accesses(core.layout)
    counts = [(memory, used.get(memory.id, Access())) for memory in memories]
    return {
        memory.id: entry_row(memory, access.count, access.last)
        for memory, access in counts
    }


# Publish a repository for programs that read the tables of RFC-0011.


def publish(repository: Repository) -> Published:
    """Fill the tables completely; raise BadInput for a store without these tables."""
    core = repository.core
    if not has_tables(core):
        name, other = core.settings.store.name, names_with_tables()[0]
        raise BadInput(
            f"the {name} store does not have the tables of RFC-0011",
            f"run 'rawkomem index store use {other}'",
        )
    return publish_all(core)


def names_with_tables() -> list[str]:
    """Return the stores that have the tables of RFC-0011; raise NotFound if no installed package provides one."""
    names = [name for name in plugin_names() if store_plugin(name).rfc_tables]
    if not names:
        raise NotFound(
            "no installed store has the tables of RFC-0011",
            "install a package that provides one",
        )
    return names


# Export a repository as a memory-mesh database.


def _skill_row(skill: Skill) -> dict[str, Any]:
    row = skill_row(skill, [])
    return {**row, "metadata": {**row["metadata"], **own_fields(skill.memory)}}


def export_yamo(
    repository: Repository, folder: str, memories: Sequence[Memory]
) -> ExportedFiles:
    """Write these memories and skills, and all ledger blocks, with vectors of the model that memory-mesh uses.

    If that model is not available, warn and write the vectors of the index's embedder.
    """
    core = repository.core
    used = accesses(core.layout)
    counted = [(memory, used.get(memory.id, Access())) for memory in memories]
    entries = [
        mesh_row(memory, access.count, access.last)
        for memory, access in counted
        if memory.kind != SKILL_KIND
    ]
    skills = [
        _skill_row(skill_of(memory, use.count, use.last))
        for memory, use in counted
        if memory.kind == SKILL_KIND
    ]
    embedder = core.index.open_deep()
    if embedder is None:
        embedder = core.index.embedder
        core.warn(
            f"the vectors are from {embedder.name}, so memory-mesh can find these memories by their words only"
        )
    made = embedder

    def embed(texts: Sequence[str]) -> list[list[float]]:
        return (
            [list(array("f", vector)) for vector in made.embed(list(texts))]
            if texts
            else []
        )

    return write_mesh(
        folder,
        MeshContent(
            entries, block_rows(last_blocks(core.layout)), skills, made.dims, embed
        ),
    )
