"""What an editor shows about a memory: a card when the pointer rests on its name, and remarks above its entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..files.usage import Access
from ..model.clock import iso
from ..model.kinds import ACTIVE
from ..text.clean import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..model.entry import Memory
    from .shelf import Shelf

PREVIEW = 600  # characters of a body in a card
TASKS = 5  # that are named for a condition


def card(shelf: Shelf, memory: Memory) -> str:
    """A memory as Markdown: how it stands, how far it is believed, what it says."""
    trust = shelf.repository.trust_parts(memory)
    facts = [
        f"**{memory.status}**" + (f" ({one_line(memory.reason, 100)})" if memory.reason else ""),
        memory.kind,
        memory.importance,
        f"trust {trust.value:.2f}" + ("" if trust.standing.verified else " (unverified)"),
    ]
    body = memory.body if len(memory.body) <= PREVIEW else memory.body[:PREVIEW].rstrip() + " …"
    more = [*remarks(shelf, memory), f"`{memory.id}`"]
    return "\n\n".join(
        [f"### {one_line(memory.title or memory.id, 200)}", " · ".join(facts), " · ".join(more), "---", body]
    )


def remarks(shelf: Shelf, memory: Memory) -> list[str]:
    """What somebody who reads or edits a memory should know: what replaced it, what went stale, how it did."""
    said = []
    if memory.superseded_by:
        other = shelf.memories.get(memory.superseded_by)
        said.append(f"superseded by {one_line(other.title if other else memory.superseded_by, 80)}")
    elif memory.status != ACTIVE:
        said.append(memory.status)
    stale = [item for item in shelf.repository.cited(memory) if item.state in ("stale", "gone")]
    if stale:
        said.append("stale: " + ", ".join(f"{item.citation.place} {_changed(item.state)}" for item in stale[:3]))
    if memory.helpful or memory.harmful:
        said.append(f"{memory.helpful} helpful" + (f", {memory.harmful} harmful" if memory.harmful else ""))
    access = shelf.repository.accesses().get(memory.id, Access())
    if access.count:
        said.append(f"used {access.count} times, last {iso(access.last)[:10]}")
    return said


def _changed(state: str) -> str:
    return "is gone" if state == "gone" else "changed"


def fired(condition: str, lately: Sequence[tuple[int, str]]) -> str:
    """Which tasks a condition fired on lately, as Markdown."""
    if not lately:
        return f"`{condition}` fired on none of the tasks that the ledger remembers."
    tasks = "\n".join(f"- {iso(at)[:16].replace('T', ' ')} {one_line(task, 120)}" for at, task in lately[:TASKS])
    more = f"\n- … and {len(lately) - TASKS} more" if len(lately) > TASKS else ""
    return f"`{condition}` fired lately on:\n\n{tasks}{more}"
