"""The tables of RFC-0011 that other programs read: their rows, publishing them after each write and
recall, and the export as a memory-mesh database.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..embed.embedder import Embedder
from ..exchange.memory_mesh import MeshContent, mesh_row, own_fields, write_mesh
from ..exchange.written_files import ExportedFiles
from ..files.blocks import LedgerRow
from ..files.ledger import count_blocks, last_blocks
from ..format.mesh_fields import metadata_in
from ..format.skill_files import skill_text_in
from ..format.yamo import chain_hashes
from ..index.stores.database import (
    MEMORY,
    SQLITE,
    StoreHome,
    plugin_names,
    store_plugin,
)
from ..learn.skills import SKILL_KIND, Skill, skill_of
from ..learn.syntheses import skill_as_yamo
from ..model.entries import Memory
from ..model.errors import NotFound
from ..model.filters import Filter
from ..model.values import ACTIVE, record
from ..state.strength import entry_row
from ..state.trust import IMPORTED, derived_from

if TYPE_CHECKING:
    from . import Repository
    from .core import Core


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


def block_rows(
    rows: Sequence[LedgerRow], before: LedgerRow | None = None
) -> list[dict[str, Any]]:
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


def skills_of(core: Core, memories: Iterable[Memory]) -> list[Skill]:
    """Return memories of kind `skill` as Skills, with their uses on this machine."""
    return [
        skill_of(memory, access.count, access.last)
        for memory, access in core.with_access(memories)
    ]


def skill_rows(core: Core) -> list[dict[str, Any]]:
    """Return the skills in use as rows of synthesized_skills (RFC-0011 §2.4)."""
    memories = core.inside(Filter(kinds=(SKILL_KIND,), statuses=(ACTIVE,)))
    rows = [skill_row(skill) for skill in skills_of(core, memories)]
    vectors = _embedded(core.index.embedder, [row["intent"] for row in rows])
    return [
        {**row, "vector": vector} for row, vector in zip(rows, vectors, strict=True)
    ]


def _embedded(embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
    vectors = embedder.embed([*texts]) if texts else ()
    return [list(array("f", vector)) for vector in vectors]


def skill_row(skill: Skill) -> dict[str, Any]:
    """Return a row of synthesized_skills without its vector.

    Its text is the imported one, or the block of a skill that was made here. An imported skill keeps its imported
    counts until somebody votes on it here.
    """
    memory = skill.memory
    extra = skill.memory.extra
    text = skill_text_in(memory.body) or memory.title
    metadata: dict[str, Any] = {**metadata_in(extra)}
    if memory.source:
        metadata["source"] = memory.source
    if IMPORTED not in extra or skill.uses:
        metadata |= {
            "reliability": skill.reliability,
            "use_count": skill.uses,
            "last_used": skill.last_used or None,
            "tags": [*memory.tags],
            "created_at": memory.created,
        }
    return {
        "id": memory.id,
        "name": memory.title,
        "intent": str(extra.get("intent") or extra.get("description") or memory.title),
        "yamo_text": skill_as_yamo(memory) if derived_from(memory) else text,
        "metadata": metadata,
        "created_at": memory.created,
    }


def _entries(core: Core, memories: Sequence[Memory]) -> dict[str, dict[str, Any]]:
    """Return the columns of memory_entries, by id."""
    return {
        memory.id: entry_row(memory, access.count, access.last)
        for memory, access in core.with_access(memories)
    }


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


def export_yamo(
    repository: Repository, folder: str, memories: Sequence[Memory]
) -> ExportedFiles:
    """Write these memories and skills, and all ledger blocks, with vectors of the model that memory-mesh uses.

    If that model is not available, warn and write the vectors of the index's embedder.
    """
    core = repository.core
    entries = [
        mesh_row(memory, access.count, access.last)
        for memory, access in core.with_access(memories)
        if memory.kind != SKILL_KIND
    ]
    skills = []
    for skill in skills_of(core, [one for one in memories if one.kind == SKILL_KIND]):
        row = skill_row(skill)
        row["metadata"] |= own_fields(skill.memory)
        skills.append({**row, "vector": []})
    embedder = core.index.open_deep()
    if embedder is None:
        embedder = core.index.embedder
        core.warn(
            f"the vectors are from {embedder.name}, so memory-mesh can find these memories by their words only"
        )
    blocks = block_rows(last_blocks(core.layout))
    embed = partial(_embedded, embedder)
    return write_mesh(
        folder, MeshContent(entries, blocks, skills, embedder.dims, embed)
    )
