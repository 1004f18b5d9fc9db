"""The words about memories: a card for when the pointer rests on a name, remarks for above an entry.

A card is Markdown that an editor renders, and a memory may come from anybody: nothing invisible, no images to fetch,
and no text of what waits for a person's decision.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...files.local.usage import Access
from ...git.citations import GONE, STALE, Citations
from ...model.clock import iso
from ...model.kinds import ACTIVE
from ...text.clean import clean, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...model.entry import Memory
    from .shelf import Shelf

PREVIEW = 600  # characters of a body in a card
TASKS = 5  # that are named for a condition
STALE_PLACES = 3  # that are named in a remark
UNSEEN = ("quarantined", "deleted")  # statuses whose text is not shown
SUPERSEDED = "superseded by "


class Teller:
    """Tells about the memories of one request: uses are counted once, and each cited file is looked at once."""

    def __init__(self, shelf: Shelf):
        self.shelf = shelf
        self.uses = shelf.repository.lifecycle.accesses()
        self.citations = Citations(shelf.layout)

    def card(self, memory: Memory) -> str:
        """A memory as Markdown: how it stands, how far it is believed, what it says."""
        if memory.status in UNSEEN:
            hint = "not shown: open its file, then decide with 'rawkomem review' or 'rawkomem restore'"
            return harmless(f"### {_code(memory.id)}\n\n**{memory.status}** · {memory.kind}\n\n({hint})")
        trust = self.shelf.repository.beliefs.trust(memory)
        facts = [
            f"**{memory.status}**" + (f" ({one_line(memory.reason, 100)})" if memory.reason else ""),
            memory.kind,
            memory.importance,
            f"trust {trust.value:.2f}" + ("" if trust.standing.verified else " (unverified)"),
        ]
        body = memory.body if len(memory.body) <= PREVIEW else memory.body[:PREVIEW].rstrip() + " …"
        more = [*self.remarks(memory), _code(memory.id)]
        title = f"### {one_line(memory.title or memory.id, 200)}"
        return harmless("\n\n".join([title, " · ".join(facts), " · ".join(more), "---", body]))

    def remarks(self, memory: Memory) -> list[str]:
        """What somebody who reads or edits a memory should know: what replaced it, what went stale, how it did."""
        said = []
        if memory.superseded_by:
            newer = self.shelf.memories.get(memory.superseded_by)
            said.append(SUPERSEDED + one_line(newer.title if newer else memory.superseded_by, 80))
        elif memory.status != ACTIVE:
            said.append(memory.status)
        stale = [item for item in self.citations.of(memory.extra) if item.state in (STALE, GONE)]
        if stale:
            places = (f"{item.citation.place} {'is gone' if item.state == GONE else 'changed'}" for item in stale)
            said.append("stale: " + ", ".join([*places][:STALE_PLACES]))
        if memory.helpful or memory.harmful:
            said.append(f"{memory.helpful} helpful" + (f", {memory.harmful} harmful" if memory.harmful else ""))
        access = self.uses.get(memory.id, Access())
        if access.count:
            said.append(f"used {access.count} times, last {iso(access.last)[:10]}")
        return said


def fired(condition: str, lately: Sequence[tuple[int, str]]) -> str:
    """Which tasks a condition fired on lately, as Markdown."""
    named = _code(one_line(condition, 200))
    if not lately:
        return harmless(f"{named} fired on none of the tasks that the ledger remembers.")
    tasks = "\n".join(f"- {iso(at)[:16].replace('T', ' ')} {one_line(task, 120)}" for at, task in lately[:TASKS])
    more = f"\n- … and {len(lately) - TASKS} more" if len(lately) > TASKS else ""
    return harmless(f"{named} fired lately on:\n\n{tasks}{more}")


def harmless(text: str) -> str:
    """Markdown without what no reader can see, and without images: showing one asks a server for it."""
    return clean(text).replace("![", "!\\[")


def _code(text: str) -> str:
    """A text as it stands, between more backticks than it holds in a row."""
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{blank}{text}{blank}{ticks}"
