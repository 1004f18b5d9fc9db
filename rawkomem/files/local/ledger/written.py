"""Record a written entry in the ledger: as a retain, a lesson, a reflection, a synthesis or a deletion."""

from __future__ import annotations

from collections.abc import Iterable

from ....format.lesson import context_of, pattern_of, wire_values
from ....format.yamo_blocks import PREVIEW_LENGTH
from ....model.entry import Entry
from ....model.errors import Unwritable
from ....state.derive import sources_in
from ....state.facets import type_of
from ....state.fold import created
from ....state.lifecycle.promoted import memory_type
from ...layout import Layout
from ..private import local_path
from .operation import operation_of
from .spool import SPOOL, append_lines, spool_line
from .trim import seal_and_trim


def note_written(layout: Layout, entries: Iterable[Entry], keep_days: int = 0) -> None:
    """Record entries as they are on disk, redacted; seal them; remove blocks older than `keep_days`.

    Raise Unwritable if the spool cannot be written.
    """
    lines = [line for line in map(_line, entries) if line]
    if not lines:
        return
    if not append_lines(layout, lines):
        raise Unwritable(f"cannot write {local_path(layout, SPOOL)}", "check permissions and free space")
    seal_and_trim(layout, keep_days)


def _line(entry: Entry) -> str:
    """Return the entry as a line for the spool; empty for entries that change no content, such as votes."""
    operation = operation_of(entry)
    return spool_line(operation, entry.at, entry.by, VALUES[operation](entry)) if operation else ""


def _retained(entry: Entry) -> dict[str, str]:
    text = entry.body or entry.title
    length, hypothesis = str(len(text.encode())), _text(entry, "hypothesis")
    said = {"id": entry.target, "type": _type(entry), "length": length, "preview": text[: 4 * PREVIEW_LENGTH]}
    return {**said, "hypothesis": hypothesis} if hypothesis else said


def _type(entry: Entry) -> str:
    """Return the type of a retained memory in the RFC's terms: the stated type, else one of five derived ones."""
    if not entry.creates:
        return "amend"  # the memory already has a type
    memory = created(entry)
    return type_of(memory) or memory_type(memory)


def _learned(entry: Entry) -> dict[str, str]:
    context = context_of(entry.title, entry.importance, entry.extra, entry.body)
    return wire_values(entry.id, pattern_of(entry.extra), context)


def _reflected(entry: Entry) -> dict[str, str]:
    sources, said = str(len(sources_in(entry.extra))), _text(entry, "confidence")
    confidence = str(int(said) / 100) if said.isdecimal() else "0.5"  # files use 0 to 100
    preview = (entry.body or entry.title)[: 4 * PREVIEW_LENGTH]
    topic = _text(entry, "topic") or entry.title
    return {"id": entry.id, "topic": topic, "sources": sources, "preview": preview, "confidence": confidence}


def _synthesized(entry: Entry) -> dict[str, str]:
    preview = _text(entry, "intent") or entry.body or entry.title
    sources = str(len(sources_in(entry.extra)))
    return {"id": entry.id, "name": entry.title, "sources": sources, "preview": preview[: 4 * PREVIEW_LENGTH]}


def _deleted(entry: Entry) -> dict[str, str]:
    return {"id": entry.about, "reason": _text(entry, "reason")}


VALUES = {
    "retain": _retained,
    "lesson": _learned,
    "reflect": _reflected,
    "synthesize": _synthesized,
    "delete": _deleted,
}


def _text(entry: Entry, key: str) -> str:
    value = entry.extra.get(key, "")
    return value if isinstance(value, str) else ""
