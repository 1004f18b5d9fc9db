"""Where a memory stood in a folder of LLMos: its file, its place in it, and the bytes around its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.record import record, replace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...model.entry import Entry, Memory, Value

KEY = "llmos"  # of the frontmatter
LOG_FILE = "system/memory_log.md"
PROJECTS = "projects/"
MAX_KEPT_CHARS = 30_000  # of the bytes around a text: a frontmatter has 64 KiB


@record
class Origin:
    """A place in a folder of LLMos. A memory's text stands between `before` and `after`, or is `text` as a whole."""

    file: str
    number: int
    before: str = ""
    after: str = ""
    text: str = ""


def with_origin(entry: Entry, file: str, number: int, raw: str) -> tuple[Entry, bool]:
    """Return an entry that knows the piece of a file that it was, and whether the piece can be written again."""
    kept: dict[str, Value] = {"file": file, "number": str(number)}
    around = raw.split(entry.body) if entry.body and entry.kind != "experience" else []
    if len(around) == 2:
        kept |= {key: part for key, part in zip(("before", "after"), around, strict=True) if part}
    else:
        kept["text"] = raw
    exact = sum(map(len, map(str, kept.values()))) <= MAX_KEPT_CHARS
    return replace(entry, extra={**entry.extra, KEY: kept if exact else {"file": file, "number": str(number)}}), exact


def origin_of(extra: Mapping[str, Value]) -> Origin | None:
    """Return where a memory stood; None for one that comes from elsewhere, or names a file outside of the folder."""
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
    """Return the bytes of a memory in its file; empty where its words changed so that they are not these any more."""
    if origin.text:
        return "" if memory.amended else origin.text
    is_head = memory.kind == "trace"  # what stands before is its frontmatter
    if not (origin.before or origin.after) or (is_head and memory.amended):
        return ""
    return origin.before + memory.body + origin.after
