"""Import and export of memories: one method for each direction and shape."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from ...exchange.copies import with_places
from ...exchange.folder import Exported, write_folder, write_text
from ...exchange.formats import FORMATS, format_of, read_format, usual_sources, write_format
from ...exchange.forms import json_lines
from ...exchange.llmos.origin import origin_of
from ...exchange.llmos.read import read_llmos
from ...exchange.llmos.write import write_llmos
from ...exchange.place import ALSO_IN
from ...exchange.plan import Decided, Here, decide_import, entries_to_write
from ...exchange.source import Source
from ...exchange.stores import FORMAT
from ...files.local.ledger.seal import append_rows
from ...files.lock import lock
from ...files.whole import leads_out, refuse_exit
from ...model.aliases import ALIASES, NAMES
from ...model.entry import Plan
from ...model.errors import BadInput, RawkoError, Refused, Unwritable
from ...model.kinds import ACTIVE
from ...model.record import record
from ...state.decide import plan_add
from ...state.facets import IMPORTED
from ..lazy import Wing
from ..tables import SEAL_WAIT_S
from .yamo import export_yamo

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...model.entry import Entry, Memory
    from ...model.filters import Filter

ENTRIES_AT_ONCE = 200  # entries written under one lock
VIA = "import"
READ_KEYS = {*NAMES, *ALIASES, IMPORTED, ALSO_IN, "category", "claim", "provenance", "quote", "intent", "topic"}
YAMO = "yamo"  # the format that is a database
LLMOS_KINDS = ("trace", "experience", "learning", "memory", "lesson")  # that LLMos knows


@record
class Import:
    """What one source brought, or would bring."""

    path: str
    kind: str
    decided: tuple[Decided, ...]
    skipped: tuple[tuple[str, str], ...]  # (place, why)
    unreadable: int = 0  # how many of the skipped could not be read
    blocks: int = 0  # operations that were added to the ledger

    @property
    def news(self) -> tuple[Decided, ...]:
        """Return what was, or would be, written."""
        return tuple(item for item in self.decided if item.plan.entries)

    @property
    def held(self) -> dict[str, int]:
        """Return how many memories are held back, by the code of the reason."""
        return dict(Counter(item.held for item in self.news if item.held))

    @property
    def kept_fields(self) -> dict[str, int]:
        """Return the fields that mean nothing to us and are kept, with the number of memories that have each."""
        found = Counter(key for item in self.news for key in item.entry.extra if key not in READ_KEYS)
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


@record
class LlmosImport:
    """What an import of LLMos projects stored, or would store."""

    entries: tuple[Entry, ...]
    known: int  # memories that were here already
    deleted: tuple[str, ...]  # ids of those that somebody deleted here
    skipped: tuple[tuple[str, str], ...]  # (place, why)


class Exchange(Wing):
    """Imports memories of other tools, and exports memories for them."""

    def import_from(self, path: str, kind: str = "", dry_run: bool = False) -> Import:
        """Import from a file or a folder. Everything waits for a review; what was imported before adds nothing."""
        return self.import_all([path], kind, dry_run)[0]

    def import_all(self, paths: Sequence[str], kind: str = "", dry_run: bool = False) -> list[Import]:
        """Import from several files and folders: what more than one of them says is stored once."""
        read = [self._read_source(path, kind) for path in paths]
        with lock(self._core.layout, "import"), self._core.writer.as_one_change():
            decided = _decide(read, self._core.reading.all())
            for items in [] if dry_run else decided:
                for plan in entries_to_write(items, ENTRIES_AT_ONCE):
                    self._core.writer.write(plan, VIA)
        blocks = [0 if dry_run else self._log(source, kind) for source, kind, _ in read]
        found = zip(read, decided, blocks, strict=True)
        return [
            Import(source.path, kind, tuple(items), tuple(source.skipped), source.unreadable, logged)
            for (source, kind, _), items, logged in found
        ]

    def _log(self, source: Source, kind: str) -> int:
        """Add the operations that a source logged to the ledger; return how many were new."""
        read = FORMATS[kind].blocks
        if read is None or self._core.settings.ledger == "off":
            return 0
        blocks, unusable = read(source)
        if unusable:
            source.skip("blocks", f"{unusable} tell of operations that the ledger does not have")
        return append_rows(self._core.layout, blocks, SEAL_WAIT_S) if blocks else 0

    def _read_source(self, path: str, kind: str) -> tuple[Source, str, list[Entry]]:
        source = Source(path, self._core.layout.project)
        refuse_exit(source.path, self._core.layout.project)
        if _is_ours(source.path, self._core.layout.root):
            raise BadInput(f"{path} is this repository itself", "name another folder")
        if os.path.realpath(source.path) == os.path.realpath(self._core.layout.project):
            raise BadInput("that is the whole project", "'rawkomem import' alone lists what it has to import from")
        kind = kind or format_of(source)
        return source, kind, read_format(kind, source)

    def sources(self) -> list[tuple[str, str]]:
        """Return (path, kind) of what this project has to import from."""
        return find_sources(self._core.layout.project)

    def export_text(self, only: Filter | None = None) -> str:
        """Return the memories inside a filter as JSON Lines, the oldest first."""
        return json_lines(self._chosen(only))

    def export_file(self, file: str, only: Filter | None = None) -> int:
        """Write JSON Lines to a file, over an earlier export only; return how many memories it holds."""
        self._refuse_inside(file)
        memories = self._chosen(only)
        if os.path.lexists(file) and not _is_export(file):
            raise Refused(f"{file} was not written by rawkomem", "name another file, or move it away")
        try:
            write_text(file, json_lines(memories))
        except OSError as failure:
            raise Unwritable(f"cannot write {file}: {failure.strerror}", "check permissions and free space") from None
        return len(memories)

    def export_folder(self, folder: str, form: str, only: Filter | None = None) -> Exported:
        """Write the memories inside a filter as the files of a format into a folder; return what was written."""
        self._refuse_inside(folder)
        if form == YAMO:
            return export_yamo(self._repo, folder, self._chosen(only))
        name = os.path.basename(self._core.layout.project)
        return write_folder(folder, write_format(form, self._chosen(only), name, self._repo.beliefs.trust))

    def _chosen(self, only: Filter | None) -> list[Memory]:
        return sorted(self._core.reading.inside(only), key=lambda memory: (memory.created, memory.id))

    def _refuse_inside(self, path: str) -> None:
        if _is_ours(path, self._core.layout.root):
            raise Refused("memories are not exported into the repository itself", "name a folder outside of .rawko")
        refuse_exit(path, self._core.layout.project)

    # Projects of LLMos

    def import_llmos(self, folder: str, dry_run: bool = False) -> LlmosImport:
        """Store what a folder of LLMos projects holds and is not known yet; return what was read and stored."""
        held = read_llmos(folder)
        entries = held.entries
        find = self._core.reading.find
        known = self._core.read(lambda: {entry.id: found for entry in entries if (found := find(entry.id))})
        new = tuple(plan_add(entry).entries[0] for entry in entries if entry.id not in known)
        why = f"import {len(new)} memories of LLMos"
        with self._core.writer.as_one_change():
            for start in range(0, 0 if dry_run else len(new), ENTRIES_AT_ONCE):
                self._core.writer.write(Plan(new[start : start + ENTRIES_AT_ONCE], why), VIA)
        deleted = tuple(id for id, memory in known.items() if memory.status == "deleted")
        return LlmosImport(new, len(known), deleted, held.skipped)

    def export_llmos(self, folder: str, project: str = "") -> Sequence[str]:
        """Write what is in use, and archived traces, as a project of LLMos; return the files that were written."""
        rename = bool(project)
        project = project or os.path.basename(self._core.layout.project)
        if not project or "/" in project or "\\" in project or project.startswith("."):
            raise BadInput(f"{project!r} is no name for a project", "give --name with a plain name")
        self._refuse_inside(folder)
        of_kind = [memory for memory in self._core.reading.all() if memory.kind in LLMOS_KINDS]
        leaving = [one for one in of_kind if one.status == ACTIVE or _is_put_away(one)]
        return write_llmos(folder, project, leaving, rename)

    def write_contents(self, file: str = "") -> tuple[str, bool]:
        """Write MEMORY.md, which links to every memory in use; return its path, and whether it changed."""
        return self._core.writer.write_contents(file)


def find_sources(project: str) -> list[tuple[str, str]]:
    """Return (path, kind) of what a project has to import from."""
    found = [path for path in usual_sources(project, os.path.expanduser("~")) if not leads_out(path, project)]
    return [(path, format_of(Source(path, project))) for path in found]


def preview_import(project: str, memories: Iterable[Memory] = ()) -> list[Import]:
    """Return what importing everything that a project has to import would bring, if it holds some memories already.

    Writes nothing, so that it works in a project without a repository. A source that cannot be read is skipped.
    """
    read = []
    for path, kind in find_sources(project):
        source = Source(path, project)
        try:
            read.append((source, kind, read_format(kind, source)))
        except RawkoError as failure:
            source.refuse(source.place(path), failure.message)
            read.append((source, kind, []))
    decided = _decide(read, memories)
    return [
        Import(source.path, kind, tuple(items), tuple(source.skipped), source.unreadable)
        for (source, kind, _), items in zip(read, decided, strict=True)
    ]


def _decide(read: Sequence[tuple[Source, str, list[Entry]]], memories: Iterable[Memory]) -> list[list[Decided]]:
    """Return what becomes of the entries of each source: what several sources say is stored once."""
    here = Here(memories)
    decided = [decide_import(entries, kind, here, source) for source, kind, entries in read]
    everything = [item for items in decided for item in items]
    return [with_places(items, everything) for items in decided]


def _is_put_away(memory: Memory) -> bool:
    """Return whether a memory is archived as its folder says, and has its place in a project of LLMos."""
    if memory.status != "archived":
        return False
    return memory.kind == "trace" or (memory.path.startswith("archive/") and origin_of(memory.extra) is not None)


def _is_export(file: str) -> bool:
    """Return whether a file is an earlier export of ours, or empty."""
    if os.path.islink(file) or not os.path.isfile(file):
        return False
    with open(file, encoding="utf-8", errors="replace") as stream:
        first = stream.readline(200)
    return not first or first.startswith(f'{{"format": "{FORMAT}"')


def _is_ours(path: str, root: str) -> bool:
    inside, ours = os.path.realpath(path), os.path.realpath(root)
    return inside == ours or inside.startswith(ours + os.sep)
