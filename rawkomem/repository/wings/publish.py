"""Shows a repository to other programs that read the tables of RFC-0011."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from ...files.local.usage import Access, accesses
from ...index.open_store import MEMORY, SQLITE, StoreHome, plugin, plugin_names
from ...learn.skills.synthesize import skill_as_yamo
from ...model.errors import BadInput, NotFound
from ...model.filters import Filter
from ...model.kinds import ACTIVE
from ...model.record import as_dict, record
from ...state.lifecycle.promoted import promoted

if TYPE_CHECKING:
    from ...files.local.ledger.chain import Row
    from ...learn.skills.skill import Skill
    from ...model.entry import Memory
    from .. import Repository


@record
class Published:
    """How many rows the tables of the RFC have of this repository."""

    memories: int
    blocks: int
    skills: int


def publish(repository: Repository) -> Published:
    """Fill what the store alone cannot: yamo_blocks, synthesized_skills, and columns of memory_entries."""
    core = repository.core
    settings = core.settings.store
    if settings.name in (SQLITE, MEMORY) or not plugin(settings.name).rfc_tables:
        raise BadInput(f"the {settings.name} store has no such tables", f"rawkomem store use {names_with_tables()[0]}")
    core.index.refresh()
    used = accesses(core.layout)
    memories = core.reading.inside(Filter())
    known = {memory.id: _columns(memory, used.get(memory.id, Access())) for memory in memories}
    blocks = [_block(row) for row in repository.ledger.blocks()]
    in_use = [skill for skill in repository.skills.list() if skill.memory.status == ACTIVE]
    vectors = core.index.embedder.embed([_intent(skill.memory) for skill in in_use]) if in_use else []
    made = [_skill(skill, vector) for skill, vector in zip(in_use, vectors, strict=True)]
    home = StoreHome(core.layout, settings)
    filled = plugin(settings.name).publish(home, core.index.embedder.dims, known, blocks, made)
    return Published(filled, len(blocks), len(made))


def names_with_tables() -> list[str]:
    """Return the stores that have the tables of RFC-0011; raise NotFound if no installed package provides one."""
    names = [name for name in plugin_names() if plugin(name).rfc_tables]
    if not names:
        raise NotFound("no installed store has the tables of RFC-0011", "install a package that provides one")
    return names


def _columns(memory: Memory, access: Access) -> dict[str, Any]:
    """Return the columns of memory_entries that depend on a memory's whole history."""
    return {**promoted(memory, access.count, access.last), "updated_at": memory.updated}


def _block(row: Row) -> dict[str, Any]:
    return {**as_dict(row), "agent_id": row.agent_id or None}


def _skill(skill: Skill, vector: bytes) -> dict[str, Any]:
    """Return a row of RFC-0011 §2.4."""
    memory = skill.memory
    about = {"reliability": skill.reliability, "use_count": skill.uses, "last_used": skill.last_used or None}
    return {
        "id": memory.id,
        "name": memory.title,
        "intent": _intent(memory),
        "yamo_text": skill_as_yamo(memory),
        "vector": list(array("f", vector)),
        "metadata": {**about, "created_at": memory.created},
        "created_at": memory.created,
    }


def _intent(memory: Memory) -> str:
    return str(memory.extra.get("intent") or memory.extra.get("description") or memory.title)
