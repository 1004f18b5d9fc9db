"""Importing into a repository and exporting from it, for the faces."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...exchange.folder import Exported, write_folder, write_text
from ...exchange.formats import format_of, read_format, usual_sources, write_format
from ...exchange.forms import json_lines
from ...exchange.plan import Decided, Here, decide_import, entries_to_write
from ...exchange.source import Source
from ...exchange.stores import FORMAT
from ...files.lock import lock
from ...index.lists import memory_of
from ...model.errors import BadInput, Refused, Unwritable
from ...model.record import record

if TYPE_CHECKING:
    from ...model.entry import Memory
    from ...model.filters import Filter
    from .. import Repository

AT_ONCE = 200  # entries written under one lock
VIA = "import"


@record
class Import:
    """What one source brought, or would bring."""

    path: str
    kind: str
    decided: tuple[Decided, ...]
    skipped: tuple[tuple[str, str], ...]  # (place, why)

    @property
    def news(self) -> tuple[Decided, ...]:
        """What was, or would be, written."""
        return tuple(item for item in self.decided if item.plan.entries)


def take_in(repository: Repository, path: str, kind: str = "", dry_run: bool = False) -> Import:
    """Import from a file or a folder. Everything waits for a review; what was imported before adds nothing."""
    source = Source(path, repository.layout.project)
    if _is_ours(source.path, repository.layout.root):
        raise BadInput(f"{path} is this repository itself", "name another folder")
    if os.path.realpath(source.path) == os.path.realpath(repository.layout.project):
        raise BadInput("that is the whole project", "'rawkomem import' alone lists what it has to import from")
    kind = kind or format_of(source)
    entries = read_format(kind, source)
    with lock(repository.layout, "import"):
        decided = decide_import(entries, kind, Here(_memories(repository)), source)
        for plan in [] if dry_run else entries_to_write(decided, AT_ONCE):
            repository.write(plan, VIA)
    return Import(source.path, kind, tuple(decided), tuple(source.skipped))


def sources_here(repository: Repository) -> list[tuple[str, str]]:
    """(path, kind) of what this project has to import from."""
    found = usual_sources(repository.layout.project, os.path.expanduser("~"))
    return [(path, format_of(Source(path, repository.layout.project))) for path in found]


# Exporting


def export_text(repository: Repository, only: Filter | None = None) -> str:
    """The memories inside a filter as JSON Lines, the oldest first."""
    return json_lines(_chosen(repository, only))


def export_file(repository: Repository, file: str, only: Filter | None = None) -> int:
    """Write them to a file; one that is there must be an earlier export. How many memories it holds."""
    _refuse_inside(repository, file)
    memories = _chosen(repository, only)
    if os.path.lexists(file) and not _is_export(file):
        raise Refused(f"{file} was not written by rawkomem", "name another file, or move it away")
    try:
        write_text(file, json_lines(memories))
    except OSError as failure:
        raise Unwritable(f"cannot write {file}: {failure.strerror}", "check permissions and free space") from None
    return len(memories)


def export_folder(repository: Repository, folder: str, form: str, only: Filter | None = None) -> Exported:
    """Write them as the files of a format into a folder; return what was written."""
    _refuse_inside(repository, folder)
    name = os.path.basename(repository.layout.project)
    return write_folder(folder, write_format(form, _chosen(repository, only), name))


def _chosen(repository: Repository, only: Filter | None) -> list[Memory]:
    ids = [row.id for row in repository.list(only)]
    found = repository.get_all(ids) if ids else ()
    return sorted(found, key=lambda memory: (memory.created, memory.id))


def _refuse_inside(repository: Repository, path: str) -> None:
    if _is_ours(path, repository.layout.root):
        raise Refused("memories are not exported into the repository itself", "name a folder outside of .rawko")


def _is_export(file: str) -> bool:
    """Whether a file is an earlier export of ours, or empty."""
    if os.path.islink(file) or not os.path.isfile(file):
        return False
    with open(file, encoding="utf-8", errors="replace") as stream:
        first = stream.readline(200)
    return not first or first.startswith(f'{{"format": "{FORMAT}"')


def _memories(repository: Repository) -> list[Memory]:
    """Every memory, whatever its status."""
    return repository.read(lambda: [memory_of(doc) for doc in repository.index.catalogue.docs()])


def _is_ours(path: str, root: str) -> bool:
    inside, ours = os.path.realpath(path), os.path.realpath(root)
    return inside == ours or inside.startswith(ours + os.sep)
