"""Write the text of hover cards and code lenses.

The editor renders a card as Markdown, and anybody may have written the memory. So cards hold no invisible characters,
no images, and no text of quarantined or deleted memories.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...files.local.usage import Access
from ...git.citations import GONE, STALE, Citations
from ...model.clock import iso
from ...model.entry import Memory
from ...model.kinds import ACTIVE
from ...text.clean import clean, one_line
from ...text.count import count
from .shelf import Shelf

PREVIEW_CHARS = 600  # of a body in a card
MAX_TASKS_SHOWN = 5  # for one condition
MAX_STALE_PLACES = 3  # in one remark
HIDDEN_STATUSES = ("quarantined", "deleted")  # the text of these memories is not shown
SUPERSEDED = "superseded by "
CARD_MARKS = re.compile(r"^### |^---\n+|\*\*([^*\n]+)\*\*|`+([^`\n]+)`+", re.MULTILINE)


class Teller:
    """Describes the memories of one request. Counts uses once and reads each cited file once."""

    def __init__(self, shelf: Shelf):
        self.shelf = shelf
        self.uses = shelf.repository.lifecycle.accesses()
        self.citations = Citations(shelf.layout)

    def card(self, memory: Memory) -> str:
        """Return a memory as Markdown: status, trust and text."""
        if memory.status in HIDDEN_STATUSES:
            hint = "text not shown: open its file, then run 'rawkomem review' or 'rawkomem restore'"
            return harmless(f"### {_code(memory.id)}\n\n**{memory.status}** · {memory.kind}\n\n({hint})")
        trust = self.shelf.repository.beliefs.trust(memory)
        facts = [
            f"**{memory.status}**" + (f" ({one_line(memory.reason, 100)})" if memory.reason else ""),
            memory.kind,
            memory.importance,
            f"trust {trust.value:.2f}" + ("" if trust.standing.verified else " (unverified)"),
        ]
        body = memory.body if len(memory.body) <= PREVIEW_CHARS else memory.body[:PREVIEW_CHARS].rstrip() + " …"
        more = [*self.remarks(memory), _code(memory.id)]
        title = f"### {one_line(memory.title or memory.id, 200)}"
        return harmless("\n\n".join([title, " · ".join(facts), " · ".join(more), "---", body]))

    def remarks(self, memory: Memory) -> list[str]:
        """Return remarks about a memory: what supersedes it, its status, stale citations, votes, uses."""
        said = []
        if memory.superseded_by:
            newer = self.shelf.memories.get(memory.superseded_by)
            said.append(SUPERSEDED + one_line(newer.title if newer else memory.superseded_by, 80))
        elif memory.status != ACTIVE:
            said.append(memory.status)
        stale = [item for item in self.citations.of(memory.extra, memory.updated) if item.state in (STALE, GONE)]
        if stale:
            places = (f"{item.citation.place} {'is gone' if item.state == GONE else 'changed'}" for item in stale)
            said.append("stale: " + ", ".join([*places][:MAX_STALE_PLACES]))
        if memory.helpful or memory.harmful:
            said.append(f"{memory.helpful} helpful" + (f", {memory.harmful} harmful" if memory.harmful else ""))
        access = self.uses.get(memory.id, Access())
        if access.count:
            said.append(f"used {count(access.count, 'time')}, last {iso(access.last)[:10]}")
        return said


def fired(condition: str, lately: Sequence[tuple[int, str]]) -> str:
    """Return the tasks that a condition fired on recently, as Markdown."""
    named = _code(one_line(condition, 200))
    if not lately:
        return harmless(f"{named} fired on none of the tasks in the ledger.")
    tasks = "\n".join(
        f"- {iso(at)[:16].replace('T', ' ')} {one_line(task, 120)}" for at, task in lately[:MAX_TASKS_SHOWN]
    )
    more = f"\n- … and {len(lately) - MAX_TASKS_SHOWN} more" if len(lately) > MAX_TASKS_SHOWN else ""
    return harmless(f"{named} fired recently on:\n\n{tasks}{more}")


def harmless(text: str) -> str:
    """Return Markdown without invisible characters and images; showing an image would contact a server."""
    return clean(text).replace("![", "!\\[")


def plain(card: str) -> str:
    """Return a card without its Markdown marks, for an editor that shows plain text."""
    return CARD_MARKS.sub(lambda found: found[1] or found[2] or "", card)


def _code(text: str) -> str:
    """Return a text as inline code, between more backticks than it holds in a row."""
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{blank}{text}{blank}{ticks}"
