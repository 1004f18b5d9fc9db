"""What `import` reads: a file or folder with its texts, and the place `kind:path#section` that a
memory comes from.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from ..files.layout import MAX_FILE_BYTES, explained, read_bytes, relative_path, walk
from ..files.reading import decode_file
from ..files.replace import leads_out
from ..model.entries import Value
from ..model.errors import BadInput, NotFound
from ..model.values import now, record
from ..state.trust import IMPORTED

MAX_FILES = 5_000  # of one folder; a folder with more is probably the wrong one
MAX_JSON_BYTES = 512 * 2**20  # no store of memories is larger
SKIPPED_FOLDERS = ("node_modules", "__pycache__")  # also skipped: hidden folders


@record
class SourcePage:
    """A text, the name of its place for people and later imports, and the time of its last change."""

    place: str
    text: str
    at: int

    @property
    def stem(self) -> str:
        """Return the file's name without its suffix."""
        return os.path.splitext(os.path.basename(self.place))[0]


class Source:
    """A file or folder that `import` reads. Places are relative to the project, or to the source if outside."""

    def __init__(self, path: str, project: str = ""):
        self.path = os.path.abspath(os.path.expanduser(path))
        self.is_folder = os.path.isdir(self.path)
        if not self.is_folder and not os.path.isfile(self.path):
            raise NotFound(f"there is no file or folder {path}", "check the path")
        self.project = project
        self.skipped: list[tuple[str, str]] = []  # (place, why)
        self.unreadable = 0  # how many of the skipped could not be read
        self._document: Any = None

    def skip(self, place: str, why: str) -> None:
        """Record that something is not imported, and why."""
        self.skipped.append((place, why))

    def refuse(self, place: str, why: str) -> None:
        """Record that something is not imported because it cannot be read."""
        self.skip(place, why)
        self.unreadable += 1

    def place(self, file: str) -> str:
        """Return a name for a file that is the same on every machine."""
        folder, name = os.path.split(file)
        file = os.path.join(os.path.realpath(folder), name)  # a link keeps its own name
        base = os.path.realpath(
            self.path if self.is_folder else os.path.dirname(self.path)
        )
        project = os.path.realpath(self.project) if self.project else ""
        if project and file.startswith(project + os.sep):
            base = project
        return relative_path(file, base)

    def files(self, *endings: str) -> list[str]:
        """Return the file itself, or the files below the folder with these endings, in order of their paths."""
        if not self.is_folder:
            return [self.path]
        paths = sorted(_walk(self.path, endings))
        if len(paths) > MAX_FILES:
            raise BadInput(
                f"{self.path} holds more than {MAX_FILES:,} files",
                "name the folder with the memories",
            )
        return paths

    def pages(self, *endings: str) -> Iterator[SourcePage]:
        """Yield the texts of these files; skip files that cannot be read."""
        for file in self.files(*endings):
            if page := self.page(file):
                yield page

    def page(self, file: str) -> SourcePage | None:
        """Return the text of one file; None if it cannot be read or leads out of the project, which is recorded."""
        place = self.place(file)
        is_link = os.path.islink(file) and file != self.path
        if is_link and (not self.project or leads_out(file, self.project)):
            self.skip(place, "a link that leads out of the project")
            return None
        try:
            data = read_bytes(file)
            at = min(now(), int(os.stat(file).st_mtime * 1000))
        except OSError as failure:
            self.refuse(place, f"cannot be read: {failure.strerror}")
            return None
        text, refused, _ = decode_file(data)
        if refused or len(data) > MAX_FILE_BYTES:
            self.refuse(place, refused.message if refused else "too large")
            return None
        return SourcePage(place, text, at)

    def json(self) -> Any:
        """Return the JSON document of the file, which is read once; raise BadInput if it is not valid JSON."""
        if self._document is None:
            with self._opened() as stream:
                try:
                    self._document = json.load(stream, strict=False)
                except (ValueError, RecursionError) as failure:
                    raise BadInput(
                        f"{self.path} is not valid JSON: {failure}",
                        "check that the file is complete",
                    ) from None
        return self._document

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file that are not blank."""
        with self._opened() as stream:
            yield from (line for line in stream if line.strip())

    def _opened(self) -> TextIO:
        """Open the file; raise BadInput if it is too large, NotFound if it cannot be read."""
        with explained(f"cannot read {self.path}", "check its permissions", NotFound):
            if os.path.getsize(self.path) > MAX_JSON_BYTES:
                raise BadInput(
                    f"{self.path} has more than {MAX_JSON_BYTES >> 20} MB", "split it"
                )
            return open(self.path, encoding="utf-8-sig", errors="replace")


def _walk(folder: str, endings: tuple[str, ...]) -> Iterator[str]:
    for root, folders, names in walk(folder):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") and name not in SKIPPED_FOLDERS
        ]
        yield from (
            os.path.join(root, name)
            for name in names
            if name.endswith(endings) and not name.startswith(".")
        )


ALSO_IN = "alsoIn"  # frontmatter key of the other places of a memory
# frontmatter key of a rule that every session needs, as in Cursor
ALWAYS_KEY = "alwaysApply"
DESCRIPTION_KEY = "description"
# frontmatter key of its status in another system that no longer uses it
GONE_THERE = "goneThere"


def place_of(extra: Mapping[str, Value]) -> str:
    """Return the place that an entry names; empty if it was not imported."""
    return str(extra.get(IMPORTED, ""))


def places_of(extra: Mapping[str, Value]) -> tuple[str, ...]:
    """Return all places of an entry's text: its own place and those of copies that were not imported."""
    first = place_of(extra)
    others = extra.get(ALSO_IN)
    kind = first.partition(":")[0]
    copies = others if isinstance(others, list) else ()
    return (first, *(f"{kind}:{path}" for path in copies)) if first else ()


def is_from(imported: str, place: str) -> bool:
    """Return whether a memory comes from a place: a kind, a file, a folder, or a section."""
    kind, _, path = imported.partition(":")
    place = place.removeprefix("./").rstrip("/")
    return place in (kind, path, imported) or path.startswith(
        (f"{place}#", f"{place}/")
    )
