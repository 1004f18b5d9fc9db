"""Write memories as files for other tools, and keep a folder that others use: JSON Lines, Markdown, rules."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256

from ..files.layout import explained
from ..files.replace import refuse_exit, replace_whole
from ..format.frontmatter import emit_entry, emit_fields
from ..model.entries import Entry, Memory, Value, by_time
from ..model.errors import Refused
from ..model.ids import file_stem, hex_hash, numbered_names
from ..model.values import filled, iso, record, without
from ..state.changes import ENDS, RELATED
from ..state.trust import IMPORTED
from ..text.acts import PATHS_KEY, applies_of
from .notes import JSON_LISTS, JSON_STATE, JSON_TEXTS, OWN_FORMAT
from .sources import ALWAYS_KEY, DESCRIPTION_KEY

LIST_NAME = ".rawkomem-export.json"
MAX_NAMES_SHOWN = 5  # names in a message


@record
class ExportedFiles:
    """The result of an export: names of files below the folder."""

    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    # files of an earlier export whose memories are no longer exported
    removed: tuple[str, ...]


def write_folder(folder: str, files: Mapping[str, str]) -> ExportedFiles:
    """Write these texts (name below the folder → text), and remove our files that are no longer needed.

    Raise Refused, before anything is written, if a file is not ours or was changed. Raise Unwritable on an I/O error.
    """
    before = _read_list(folder)
    paths = {
        name: os.path.join(folder, *name.split("/"))
        for name in (*files, *before, LIST_NAME)
    }
    hashes = {name: hex_hash(text) for name, text in sorted(files.items())}
    on_disk = {name: _file_hash(path) for name, path in paths.items()}
    theirs = [
        name
        for name, hash in hashes.items()
        if on_disk[name] not in ("", before.get(name), hash)
    ]
    if theirs:
        names = ", ".join(theirs[:MAX_NAMES_SHOWN])
        raise Refused(
            f"not written by rawkomem, or changed since: {names}",
            "name another folder, or move them away",
        )
    gone = sorted(
        name for name in before if name not in files and on_disk[name] == before[name]
    )
    written = [name for name, hash in hashes.items() if on_disk[name] != hash]
    for name in [*written, *gone, LIST_NAME]:
        refuse_exit(paths[name], folder)
    with explained(f"cannot write {folder}"):
        for name in written:
            replace_whole(paths[name], files[name].encode(), within=folder)
        for name in gone:
            os.unlink(paths[name])
        if hashes != before:
            listed = json.dumps(hashes, indent=1) + "\n"
            replace_whole(paths[LIST_NAME], listed.encode())
    unchanged = tuple(name for name in hashes if name not in written)
    return ExportedFiles(tuple(written), unchanged, tuple(gone))


def _read_list(folder: str) -> dict[str, str]:
    """Return name → hash of each file that we wrote; skip names that lead out of the folder."""
    try:
        with open(os.path.join(folder, LIST_NAME), encoding="utf-8") as stream:
            known = json.load(stream)
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {
        name: str(hash)
        for name, hash in known.items()
        if not os.path.isabs(name) and ".." not in name.replace("\\", "/").split("/")
    }


def _file_hash(file: str) -> str:
    """Return the hash of a file; empty if it does not exist. Links and unreadable files get a text that is no hash."""
    if os.path.islink(file):
        return "a link"
    try:
        with open(file, "rb") as stream:
            return sha256(stream.read()).hexdigest()
    except FileNotFoundError:
        return ""
    except OSError:
        return "unreadable"


# Write memories for other tools: as JSON Lines, as Markdown files, as rules.
# neolata.py and memory_mesh.py write their own formats.

GLOBS_KEY = "globs"  # of Cursor's rules
APPLY_TO_KEY = "applyTo"  # of Copilot's instructions


def json_lines(memories: Iterable[Memory]) -> str:
    """Return one memory per line: the keys of its file, and its status, votes and links under `state`."""
    lines = (json.dumps(_memory_object(one), ensure_ascii=False) for one in memories)
    return "".join(f"{line}\n" for line in lines)


def json_lines_files(memories: Iterable[Memory], *_: object) -> dict[str, str]:
    """Return the JSON Lines of memories as the one file of an export."""
    return {"memories.jsonl": json_lines(memories)}


def _memory_object(memory: Memory) -> dict[str, object]:
    state = {key: getattr(memory, field) for key, field in JSON_STATE.items()}
    state |= {key: iso(getattr(memory, field)) for key, field in ENDS.items()}
    state |= {"updated": iso(memory.updated), "supersedes": [*memory.supersedes]}
    state["links"] = [{"type": type, "to": id} for type, id in memory.links]
    return {
        "format": OWN_FORMAT,
        **{key: getattr(memory, field) for key, field in JSON_TEXTS.items()},
        **{key: [*getattr(memory, field)] for key, field in JSON_LISTS.items()},
        "discoveredAt": iso(memory.created),
        "extra": dict(memory.extra),
        "state": state,
    }


def markdown_files(memories: Iterable[Memory], *_: object) -> dict[str, str]:
    """Return a file for each memory in its current state, without its history."""
    return {
        name: emit_entry(entry_of_memory(memory))
        for name, memory in _named_files(memories).items()
    }


def entry_of_memory(memory: Memory) -> Entry:
    """Return a memory as a single entry with its current values."""
    extra = without(memory.extra, *ENDS, IMPORTED)
    extra |= window_of(memory)
    fields = {
        name: getattr(memory, name) for name in (*JSON_TEXTS.values(), "when", "tags")
    }
    linked = [end for type, end in memory.links if type == RELATED]
    related = tuple(dict.fromkeys((*memory.related, *linked)))
    return Entry(**fields, related=related, at=memory.created, extra=extra)


def window_of(memory: Memory) -> dict[str, str]:
    """Return the ends of a memory's validity as they are written in files; only those that it has."""
    return filled({key: iso(getattr(memory, end)) for key, end in ENDS.items()})


def rule_files(key: str, ending: str) -> Callable[..., dict[str, str]]:
    """Return a writer of rules for a host: a page for each memory, with its paths under the host's key."""

    def files(memories: Iterable[Memory], *_: object) -> dict[str, str]:
        named = _named_files(memories)
        return {
            name.removesuffix(".md") + ending: _rule_page(memory, key)
            for name, memory in named.items()
        }

    return files


def _rule_page(memory: Memory, key: str) -> str:
    paths: list[Value] = [*applies_of(memory.extra).paths]
    joined = ",".join(map(str, paths))
    fields: dict[str, Value] = {}
    if key == PATHS_KEY:  # Claude Code knows no other key
        fields |= {key: paths} if paths else {}
    elif described := memory.extra.get(DESCRIPTION_KEY):
        fields[DESCRIPTION_KEY] = described
    if key == APPLY_TO_KEY:  # Copilot reads a page without files for no request
        fields[key] = joined or "**"
    front = emit_fields(fields)
    if key == GLOBS_KEY:  # Cursor reads the line as it is, without quotes
        always = str(memory.extra.get(ALWAYS_KEY)).lower() == "true"
        front += f"globs: {joined}\n{ALWAYS_KEY}: {str(always).lower()}\n"
    head = f"---\n{front}---\n\n" if front else ""
    return f"{head}# {memory.title}\n\n{memory.body}\n"


def _named_files(memories: Iterable[Memory]) -> dict[str, Memory]:
    """Return file name → memory, sorted; if titles are equal, later memories get a number."""
    taken: dict[str, Memory] = {}
    for memory in by_time(memories):
        for stem in numbered_names(file_stem(memory.title or memory.id)):
            if f"{stem}.md" not in taken:
                taken[f"{stem}.md"] = memory
                break
    return dict(sorted(taken.items()))
