"""Memories from other tools' folders, and into them: one function for each source, all ending in a Plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...learn.traces.llmos import read_llmos, write_llmos
from ...model.entry import Plan
from ...model.errors import BadInput
from ...model.kinds import ACTIVE
from ...state.decide import plan_add

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...model.entry import Memory
    from .. import Repository

EXPORTED = ("trace", "experience", "learning", "memory", "lesson")
ENTRIES_AT_ONCE = 200  # entries written under one lock


def import_llmos(repository: Repository, folder: str, dry_run: bool = False) -> Plan:
    """Store what is below an LLMos folder and not known yet; a second import adds nothing."""
    core = repository.core
    entries = read_llmos(folder)
    known = core.read(lambda: {entry.id for entry in entries if core.index.catalogue.row(entry.id)})
    new = [plan_add(entry).entries[0] for entry in entries if entry.id not in known]
    plan = Plan(tuple(new), f"import {len(new)} memories of LLMos")
    for start in range(0, 0 if dry_run else len(new), ENTRIES_AT_ONCE):
        core.writer.write(Plan(plan.entries[start : start + ENTRIES_AT_ONCE], plan.why), via="import")
    return plan


def export_llmos(repository: Repository, folder: str, project: str) -> Sequence[str]:
    """Write what is in use, and archived traces, as a project of LLMos; the files that were written to."""
    if not project or "/" in project or "\\" in project or project.startswith("."):
        raise BadInput(f"{project!r} is no name for a project", "give --name with a plain name")
    leaving = (memory for memory in repository.core.reading.all() if _leaves(memory))
    return write_llmos(folder, project, leaving)


def _leaves(memory: Memory) -> bool:
    return memory.kind in EXPORTED and (
        memory.status == ACTIVE or (memory.kind == "trace" and memory.status == "archived")
    )
