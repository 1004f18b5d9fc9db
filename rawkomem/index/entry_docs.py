"""Packs entries for the catalogue, so that a changed memory is folded without reading its other files."""

from __future__ import annotations

import json

from ..model.entry import Entry
from ..model.record import unchecked
from ..redaction.entry import redact_entry

DEFAULTS: dict[str, object] = Entry.__defaults__  # type: ignore[attr-defined]
TUPLES = frozenset(name for name, value in DEFAULTS.items() if isinstance(value, tuple))  # JSON has lists only


def pack_entry(entry: Entry) -> str:
    """Return an entry as JSON, without secrets and without fields that have their default."""
    if entry.leaks:
        entry = redact_entry(entry)
    fields = {name: value for name, usual in DEFAULTS.items() if (value := getattr(entry, name)) != usual}
    return json.dumps(fields, separators=(",", ":"))


def unpack_entries(docs: list[str]) -> list[Entry]:
    """Return entries from the JSON that `pack_entry` returned."""
    return [unchecked(Entry, **_fields(said)) for said in json.loads(f"[{','.join(docs)}]")]


def _fields(said: dict[str, object]) -> dict[str, object]:
    return {name: tuple(value) if name in TUPLES else value for name, value in said.items()}  # type: ignore[arg-type]
