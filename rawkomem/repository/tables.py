"""Update the tables of RFC-0011 after each write and each recall, if the store has these tables."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from ..files.local.ledger.chain import read_head
from ..files.local.ledger.latest import last_blocks
from ..files.local.ledger.seal import seal
from ..files.local.usage import Access, accesses
from ..format.mesh_metadata import given_in
from ..format.yamo_chain import chained
from ..index.open_store import MEMORY, SQLITE, StoreHome, plugin
from ..learn.skills.skill import KIND, skill_of
from ..learn.skills.synthesize import skill_as_yamo
from ..learn.skills.text import text_in
from ..model.filters import Filter
from ..model.kinds import ACTIVE
from ..model.record import record
from ..state.derive import derived_from
from ..state.facets import IMPORTED
from ..state.lifecycle.mesh_row import entry_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..files.local.ledger.chain import Row
    from ..learn.skills.skill import Skill
    from ..model.entry import Memory
    from .core import Core

SEAL_WAIT_S = 30.0  # for another process that seals the ledger


@record
class Published:
    """The number of rows of this repository in the tables of RFC-0011."""

    memories: int
    blocks: int
    skills: int


def publish_all(core: Core) -> Published:
    """Fill the three tables completely; return the number of rows."""
    core.index.refresh()
    seal(core.layout, SEAL_WAIT_S)
    blocks = block_rows(last_blocks(core.layout))
    made = skill_rows(core)
    known = _entries(core, core.reading.inside(Filter()))
    home = StoreHome(core.layout, core.settings.store)
    filled = plugin(core.settings.store.name).publish(home, core.index.embedder.dims, known, blocks, made)
    return Published(filled, len(blocks), len(made))


def publish_new(core: Core, ids: Sequence[str]) -> None:
    """Add new ledger blocks and the rows of these memories; if one of them is a skill, update the skills, too."""
    core.index.refresh()
    seal(core.layout, SEAL_WAIT_S)
    memories = core.reading.inside(Filter(ids=tuple(ids))) if ids else []
    skills = skill_rows(core) if any(memory.kind == KIND for memory in memories) else None
    home, known = StoreHome(core.layout, core.settings.store), _entries(core, memories)
    store, dims = plugin(core.settings.store.name), core.index.embedder.dims
    if not store.publish_new(home, dims, known, lambda held: _missing(core, held), skills):
        publish_all(core)


def has_tables(core: Core) -> bool:
    """Return whether the store has the tables of RFC-0011."""
    name = core.settings.store.name
    return name not in (SQLITE, MEMORY) and plugin(name).rfc_tables


def _missing(core: Core, held: int) -> tuple[str, list[dict[str, Any]]] | None:
    """Return the last block of a table of `held` blocks, and the rows after it; None if the table has too many."""
    head = read_head(core.layout)
    blocks = head.blocks if head else 0
    if blocks < held:
        return None
    rows = last_blocks(core.layout, blocks - held + (held > 0))
    before = rows.pop(0) if held and rows else None
    return before.id if before else "", block_rows(rows, before)


def block_rows(rows: Sequence[Row], before: Row | None = None) -> list[dict[str, Any]]:
    """Return ledger blocks as rows of yamo_blocks, hashed as the RFC says; `before` is the block before the first."""
    hashes = chained([row.yamo_text for row in rows], before.yamo_text if before else None)
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
    memories = core.reading.inside(Filter(kinds=(KIND,), statuses=(ACTIVE,)))
    counts = [(memory, used.get(memory.id, Access())) for memory in memories]
    vectors = core.index.embedder.embed([intent_of(memory) for memory in memories]) if memories else []
    made = [skill_of(memory, access.count, access.last) for memory, access in counts]
    return [skill_row(skill, list(array("f", vector))) for skill, vector in zip(made, vectors, strict=True)]


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
    memory, given = skill.memory, given_in(skill.memory.extra)
    source = {"source": memory.source} if memory.source else {}
    if IMPORTED in memory.extra and not skill.uses:
        return {**given, **source}
    about = {"reliability": skill.reliability, "use_count": skill.uses, "last_used": skill.last_used or None}
    return {**given, **source, **about, "tags": [*memory.tags], "created_at": memory.created}


def yamo_text_of(memory: Memory) -> str:
    """Return the definition of a skill: the imported text, or the block of a skill that was made here."""
    return skill_as_yamo(memory) if derived_from(memory) else text_in(memory.body) or memory.title


def intent_of(memory: Memory) -> str:
    """Return the purpose of a skill, on one line."""
    return str(memory.extra.get("intent") or memory.extra.get("description") or memory.title)


def _entries(core: Core, memories: Sequence[Memory]) -> dict[str, dict[str, Any]]:
    """Return the columns of memory_entries, by id."""
    used = accesses(core.layout)
    counts = [(memory, used.get(memory.id, Access())) for memory in memories]
    return {memory.id: entry_row(memory, access.count, access.last) for memory, access in counts}
