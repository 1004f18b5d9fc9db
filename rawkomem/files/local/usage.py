"""What was injected, when and at what cost: a local append-only file. Counts that are local and frequent live here."""

from __future__ import annotations

import os

from ...model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..layout import Layout


@record
class Use:
    """One injection: when, in which session, how many tokens, which memories."""

    at: int
    session: str
    tokens: int
    ids: tuple[str, ...]


def usage_file(layout: Layout) -> str:
    """Where it lies: local, git-ignored."""
    return os.path.join(layout.local, "usage.tsv")


def note_use(layout: Layout, at: int, session: str, tokens: int, ids: Sequence[str]) -> None:
    """Append one line. Best effort: a full disk must not keep a prompt from its memories."""
    name = "".join(c if c.isprintable() and c != "\t" else " " for c in session)[:100]
    line = f"{at}\t{name}\t{tokens}\t{' '.join(ids)}\n"
    try:
        os.makedirs(layout.local, exist_ok=True)
        descriptor = os.open(usage_file(layout), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)
    except OSError:
        pass


def uses(layout: Layout) -> Iterator[Use]:
    """Every injection so far; a torn line is skipped."""
    try:
        with open(usage_file(layout), encoding="utf-8", errors="replace") as stream:
            lines = stream.read().split("\n")
    except OSError:
        return
    for line in lines:
        parts = line.split("\t")
        if len(parts) == 4 and parts[0].isdecimal() and parts[2].isdecimal():
            yield Use(int(parts[0]), parts[1], int(parts[2]), tuple(parts[3].split()))


@record
class Access:
    """How often a memory was injected, and when last."""

    count: int = 0
    last: int = 0


def accesses(layout: Layout) -> dict[str, Access]:
    """memory → how often and when last it was injected; those that never were are not in it."""
    found: dict[str, Access] = {}
    for use in uses(layout):
        for id in use.ids:
            known = found.get(id, Access())
            found[id] = Access(known.count + 1, max(known.last, use.at))
    return found


def last_access(layout: Layout) -> dict[str, int]:
    """memory → when it was last injected."""
    return {id: use.at for use in uses(layout) for id in use.ids}
