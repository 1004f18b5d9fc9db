"""Export a repository as a memory-mesh database."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from ...exchange.yamo.own import own_fields_of_skill
from ...exchange.yamo.writing import Content, mesh_row, write_database
from ...files.local.ledger.latest import last_blocks
from ...files.local.ledger.seal import seal
from ...files.local.usage import Access, accesses
from ...learn.skills.skill import KIND, skill_of
from ..tables import SEAL_WAIT_S, block_rows, skill_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...exchange.folder import Exported
    from ...learn.skills.skill import Skill
    from ...model.entry import Memory
    from .. import Repository


def _skill_row(skill: Skill) -> dict[str, Any]:
    row = skill_row(skill, [])
    return {**row, "metadata": {**row["metadata"], **own_fields_of_skill(skill.memory, row["yamo_text"])}}


def export_yamo(repository: Repository, folder: str, memories: Sequence[Memory]) -> Exported:
    """Write these memories and skills, and all ledger blocks, with vectors of the model that memory-mesh uses.

    If that model is not available, warn and write the vectors of the index's embedder.
    """
    core = repository.core
    seal(core.layout, SEAL_WAIT_S)
    used = accesses(core.layout)
    counted = [(memory, used.get(memory.id, Access())) for memory in memories]
    entries = [mesh_row(memory, access.count, access.last) for memory, access in counted if memory.kind != KIND]
    skills = [_skill_row(skill_of(memory, use.count, use.last)) for memory, use in counted if memory.kind == KIND]
    embedder = core.index.open_deep() if core.index.open_deep else None
    if embedder is None:
        embedder = core.index.embedder
        core.warn(f"the vectors are from {embedder.name}, so memory-mesh can find these memories by their words only")
    made = embedder

    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [list(array("f", vector)) for vector in made.embed(list(texts))] if texts else []

    return write_database(folder, Content(entries, block_rows(last_blocks(core.layout)), skills, made.dims, embed))
