"""Write memories as a project of LLMos: imported pieces exactly as they were, other memories as sections."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from ...files.contents import read_bytes
from ...files.whole import refuse_exit
from ...format.emit import emit_entry
from ...model.entry import Entry
from ...model.ids import holds_id
from ...model.record import replace
from ...state.facets import category_of, type_of
from ...state.run import EXPERIENCE, TRACE
from ...text.clean import one_line
from .origin import KEY, LOG_FILE, PROJECTS, as_it_stood, origin_of
from .read import ID_MARK, LONG_TERM, SHORT_TERM, TITLE_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...model.entry import Memory

    Piece = tuple[int, int, str, str, Memory]  # position in the file, creation time, id, original text, memory

DECISION = "decision"
LEARNED_KINDS = ("learning", "lesson")
LAST_PLACE = 10**6  # position of a memory that was not imported


def write_llmos(folder: str, project: str, memories: Iterable[Memory], rename: bool = False) -> list[str]:
    """Append memories to files below a folder, and return the file of each memory that was written.

    Memories that came from LLMos go back to their own project or, with `rename`, to `project`.
    """
    memories = list(memories)
    origins = {memory.id: origin for memory in memories if (origin := origin_of(memory.extra))}
    homes = {origin.file.split("/")[1] for origin in origins.values() if origin.file.startswith(PROJECTS)}
    home = project if rename or len(homes) != 1 else next(iter(homes))
    files: dict[str, list[Piece]] = {}
    for memory in memories:
        origin = origins.get(memory.id)
        file = _renamed(origin.file, home if rename else "") if origin else _file_of(memory, home)
        stood = as_it_stood(memory, origin) if origin else ""
        place = origin.number if origin else LAST_PLACE
        files.setdefault(file, []).append((place, memory.created, memory.id, stood, memory))
    return [done for file, pieces in sorted(files.items()) for done in _put(folder, file, sorted(pieces, key=_order))]


def _order(piece: Piece) -> tuple[int, int, str]:
    return piece[:3]


def _renamed(file: str, project: str) -> str:
    if not project or not file.startswith(PROJECTS):
        return file
    return "/".join(["projects", project, *file.split("/")[2:]])


def _file_of(memory: Memory, project: str) -> str:
    """Return the file in which LLMos stores a memory of this kind."""
    if memory.kind == EXPERIENCE:
        return LOG_FILE
    if memory.kind == TRACE:
        return f"{PROJECTS}{project}/memory/{SHORT_TERM}/{os.path.basename(memory.path) or memory.id + '.md'}"
    name = "learnings.md" if memory.kind in LEARNED_KINDS else "decisions.md" if _is_decision(memory) else "patterns.md"
    return f"{PROJECTS}{project}/memory/{LONG_TERM}/{name}"


def _is_decision(memory: Memory) -> bool:
    """Tell whether a memory is a decision, by its category, its type or a tag."""
    tags = {tag.lower().rstrip("s") for tag in memory.tags}
    return DECISION in (category_of(memory), type_of(memory)) or bool(tags & {DECISION, "adr"})


def _put(folder: str, name: str, pieces: list[Piece]) -> list[str]:
    """Append the pieces that a file does not contain yet; return the file once for each piece that was written."""
    file = os.path.join(folder, *name.split("/"))
    refuse_exit(file, folder)
    known = read_bytes(file).decode("utf-8", "replace") if os.path.exists(file) else ""
    held = Counter({stood: known.count(stood) for *_, stood, _ in pieces if stood})
    added: list[str] = []
    for _, _, id, stood, memory in pieces:
        if held[stood] > 0 or (not stood and holds_id(known, id)):
            held[stood] -= 1
            continue
        text = stood or _text(memory)
        gap = "" if stood or not (known or added) else "\n"
        added.append(gap + text)
    if added:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "a", encoding="utf-8", newline="") as stream:
            stream.write("".join(added))
    return [file] * len(added)


def _text(memory: Memory) -> str:
    """Return a memory in LLMos format: a trace, an experience, or a section with its title."""
    if memory.kind in (TRACE, EXPERIENCE):
        extra = {key: value for key, value in memory.extra.items() if key != KEY}
        said = Entry(memory.kind, memory.id, title=memory.title, at=memory.created, by=memory.by, extra=extra)
        return emit_entry(replace(said, body=memory.body) if memory.kind == TRACE else said)
    title = one_line(memory.title, TITLE_CHARS)
    first, _, rest = memory.body.partition("\n")
    body = rest if first.lstrip("# ").strip() == title else memory.body
    return f"# {title}\n\n{ID_MARK}{memory.id} -->\n{body.strip()}\n"
