"""Write memories for other tools: as JSON Lines, as Markdown files, as an OKF bundle; see also neolata/ and yamo/."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ..format.emit import emit_entry
from ..model.clock import iso
from ..model.entry import Entry
from ..model.kinds import CREATES
from ..model.names import file_stem, numbered
from ..model.record import replace
from ..state.facets import IMPORTED
from ..state.references import RELATED
from ..text.clean import one_line
from ..text.prose import sentences
from .contents import link_text
from .notes import RESERVED_FILES
from .stores import FORMAT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..model.entry import Memory, Value

DESCRIPTION_LENGTH = 200  # characters of a memory that an index shows
SHARED_FIELDS = ("kind", "id", "title", "when", "tags", "importance", "by", "found_in", "source", "related", "body")
FOLDERS = {kind: row.folder.rpartition("/")[2] for kind, row in CREATES.items()}


def json_lines(memories: Iterable[Memory]) -> str:
    """Return one memory per line: the keys of its file, and its status, votes and links under `state`."""
    return "".join(json.dumps(_whole(memory), ensure_ascii=False) + "\n" for memory in memories)


def json_lines_files(memories: Iterable[Memory], project: str = "") -> dict[str, str]:
    """Return the JSON Lines of memories as the one file of an export."""
    return {"memories.jsonl": json_lines(memories)}


def _whole(memory: Memory) -> dict[str, object]:
    state = {
        "status": memory.status, "updated": iso(memory.updated), "helpful": memory.helpful, "harmful": memory.harmful,
        "reinforcements": memory.reinforcements, "corroborations": memory.corroborations, "disputes": memory.disputes,
        "validFrom": iso(memory.valid_from), "validUntil": iso(memory.valid_until),
        "supersedes": [*memory.supersedes], "supersededBy": memory.superseded_by,
        "links": [{"type": type, "to": id} for type, id in memory.links], "path": memory.path,
    }  # fmt: skip
    return {
        "format": FORMAT, "id": memory.id, "kind": memory.kind, "title": memory.title, "whenToUse": [*memory.when],
        "tags": [*memory.tags], "importance": memory.importance, "discoveredAt": iso(memory.created),
        "discoveredBy": memory.by, "discoveredIn": memory.found_in, "source": memory.source,
        "relatedMemories": [*memory.related], "extra": dict(memory.extra), "body": memory.body, "state": state,
    }  # fmt: skip


def markdown_files(memories: Iterable[Memory], project: str = "") -> dict[str, str]:
    """Return a file for each memory in its current state, without its history."""
    return {name: emit_entry(as_entry(memory)) for name, memory in _named(memories, lambda memory: "").items()}


def as_entry(memory: Memory) -> Entry:
    """Return a memory as a single entry with its current values."""
    windows = {"validFrom": memory.valid_from, "validUntil": memory.valid_until}
    extra = {key: value for key, value in memory.extra.items() if key not in (*windows, IMPORTED)}
    extra |= {key: iso(at) for key, at in windows.items() if at}
    fields = {name: getattr(memory, name) for name in SHARED_FIELDS}
    linked = [end for type, end in memory.links if type == RELATED]
    related = tuple(dict.fromkeys((*memory.related, *linked)))
    return Entry(**{**fields, "related": related}, at=memory.created, extra=extra)


def okf_files(memories: Sequence[Memory], project: str) -> dict[str, str]:
    """Return an Open Knowledge Format bundle: typed concepts in folders by kind, an index of each folder, and a log."""
    named = _named(memories, lambda memory: f"{FOLDERS[memory.kind]}/")
    files = {path: emit_entry(_concept(memory)) for path, memory in named.items()}
    folders: dict[str, dict[str, Memory]] = {}
    for path, memory in named.items():
        folders.setdefault(path.partition("/")[0], {})[path.partition("/")[2]] = memory
    root = "".join(f"* [{folder}]({folder}/index.md) - {len(held)} concepts\n" for folder, held in folders.items())
    files["index.md"] = f"# {link_text(project or 'Memories')}\n\n{root}"
    for folder, held in folders.items():
        lines = "".join(f"* [{link_text(m.title)}]({path}) - {description(m)}\n" for path, m in held.items())
        files[f"{folder}/index.md"] = f"# {folder.capitalize()}\n\n{lines}"
    files["log.md"] = _log(named)
    return files


def _concept(memory: Memory) -> Entry:
    """Return our entry plus the keys that OKF requires; OKF readers keep unknown keys."""
    entry = as_entry(memory)
    said: dict[str, Value] = {
        "type": str(memory.extra.get("type") or memory.kind),
        "description": str(memory.extra.get("description") or description(memory)),
        "timestamp": iso(memory.updated or memory.created),
    }
    if memory.source.startswith(("http://", "https://")):
        said["resource"] = memory.source
    return replace(entry, extra={**entry.extra, **{key: value for key, value in said.items() if value}})


def description(memory: Memory) -> str:
    """Return the first sentence of a memory, on one line."""
    return one_line(next(iter(sentences(memory.body)), memory.title), DESCRIPTION_LENGTH)


def _log(named: Mapping[str, Memory]) -> str:
    """Return a log of new memories by day, newest first."""
    days: dict[str, list[str]] = {}
    for path, memory in sorted(named.items(), key=lambda item: (-item[1].created, item[0])):
        line = f"* **Creation**: [{link_text(memory.title)}]({path})\n"
        days.setdefault(iso(memory.created)[:10] or "undated", []).append(line)
    return "# Log\n" + "".join(f"\n## {day}\n\n{''.join(lines)}" for day, lines in days.items())


def _named(memories: Iterable[Memory], folder_of: Callable[[Memory], str]) -> dict[str, Memory]:
    """Return file name → memory, sorted; if titles are equal, later memories get a number."""
    taken: dict[str, Memory] = {}
    for memory in sorted(memories, key=lambda memory: (memory.created, memory.id)):
        folder = folder_of(memory)
        names = (f"{stem}.md" for stem in numbered(file_stem(memory.title or memory.id)))
        taken[next(folder + name for name in names if folder + name not in taken and name not in RESERVED_FILES)] = (
            memory
        )
    return dict(sorted(taken.items()))
