"""Store where a memory was in a folder of LLMos: its file, its position, and the text around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.record import record, replace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...model.entry import Entry, Memory, Value

KEY = "llmos"  # frontmatter key
LOG_FILE = "system/memory_log.md"
PROJECTS = "projects/"
MAX_KEPT_CHARS = 30_000  # of the text around a memory: a frontmatter has at most 64 KiB


@record
class Origin:
    """A place in a folder of LLMos. The piece of the file is `before`, the memory's text, `after`; or it is `text`."""

    file: str
    number: int
    before: str = ""
    after: str = ""
    text: str = ""


def with_origin(entry: Entry, file: str, number: int, raw: str) -> tuple[Entry, bool]:
    """Return the entry with its origin, and whether the piece of the file can be restored exactly."""
    kept: dict[str, Value] = {"file": file, "number": str(number)}
    around = raw.split(entry.body) if entry.body and entry.kind != "experience" else []
    if len(around) == 2:
        kept |= {key: part for key, part in zip(("before", "after"), around, strict=True) if part}
    else:
        kept["text"] = raw
    exact = sum(map(len, map(str, kept.values()))) <= MAX_KEPT_CHARS
    return replace(entry, extra={**entry.extra, KEY: kept if exact else {"file": file, "number": str(number)}}), exact


def origin_of(extra: Mapping[str, Value]) -> Origin | None:
    """Return the origin of a memory; None if it has none or names a file outside the folder."""
    kept = extra.get(KEY)
    if not isinstance(kept, dict):
        return None
    said = {key: value for key, value in kept.items() if isinstance(value, str)}
    number = said.get("number", "")
    if not _is_inside(said.get("file", "")) or not number.isdecimal() or len(number) > 6:
        return None
    return Origin(said["file"], int(number), said.get("before", ""), said.get("after", ""), said.get("text", ""))


def _is_inside(file: str) -> bool:
    parts = file.split("/")
    if file == LOG_FILE:
        return True
    plain = all(part and not part.startswith(".") and "\\" not in part and "\0" not in part for part in parts)
    return file.startswith(PROJECTS) and len(parts) > 2 and plain


def as_it_stood(memory: Memory, origin: Origin) -> str:
    """Return the exact text of a memory in its file; empty if the memory changed so that it cannot be restored."""
    if origin.text:
        return "" if memory.amended else origin.text
    is_head = memory.kind == "trace"  # `before` is its frontmatter
    if not (origin.before or origin.after) or (is_head and memory.amended):
        return ""
    return origin.before + memory.body + origin.after
