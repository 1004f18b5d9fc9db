"""Map a written entry to its operation in the ledger."""

from __future__ import annotations

from ....model.entry import Entry


def operation_of(entry: Entry) -> str:
    """Return the entry's operation; empty for entries that change no content, such as votes."""
    if entry.kind == "lesson" and "patternId" in entry.extra:
        return "lesson"
    if entry.kind == "skill" and _is_derived(entry):
        return "synthesize"
    if entry.kind == "reflection":
        return "reflect"
    if entry.kind == "delete":
        return "delete"
    return "retain" if entry.creates or entry.kind == "amend" else ""


def _is_derived(entry: Entry) -> bool:
    from ....state.derive import sources_in

    return bool(sources_in(entry.extra))
