"""Record what was injected, when, and at what cost: one line per injection in `.rawko/local/usage.tsv`."""

from __future__ import annotations

from ...model.errors import RawkoError
from ...model.record import record
from .private import LineFile, local_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout import Layout

FILE_NAME = "usage.tsv"
MAX_SESSION_CHARS = 100


@record
class Use:
    """One injection: when, in which session, how many tokens, which memories."""

    at: int
    session: str
    tokens: int
    ids: tuple[str, ...]


def note_use(layout: Layout, at: int, session: str, tokens: int, ids: Sequence[str]) -> None:
    """Append one injection. A failure is ignored: a full disk must not keep a prompt from its memories."""
    name = "".join(c if c.isprintable() and c != "\t" else " " for c in session)[:MAX_SESSION_CHARS]
    try:
        LineFile(local_path(layout, FILE_NAME)).append(f"{at}\t{name}\t{tokens}\t{' '.join(ids)}")
    except RawkoError:
        pass


def uses(layout: Layout) -> list[Use]:
    """Return every injection so far; lines that cannot be parsed are skipped."""
    try:
        return LineFile(local_path(layout, FILE_NAME)).read(_use)[0]
    except RawkoError:
        return []


def _use(line: str) -> Use | None:
    parts = line.split("\t")
    if len(parts) != 4 or not parts[0].isdecimal() or not parts[2].isdecimal():
        return None
    return Use(int(parts[0]), parts[1], int(parts[2]), tuple(parts[3].split()))


@record
class Access:
    """How often a memory was injected, and when last."""

    count: int = 0
    last: int = 0


def accesses(layout: Layout) -> dict[str, Access]:
    """Return for each injected memory how often and when last that was."""
    found: dict[str, Access] = {}
    for use in uses(layout):
        for id in use.ids:
            known = found.get(id, Access())
            found[id] = Access(known.count + 1, max(known.last, use.at))
    return found


def last_access(layout: Layout) -> dict[str, int]:
    """Return for each injected memory when that was last."""
    return {id: use.at for use in uses(layout) for id in use.ids}
