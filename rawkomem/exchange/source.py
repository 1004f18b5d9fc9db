"""A file or folder to import from: its texts with their place and time, and what had to be skipped."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from ..files.contents import MAX_FILE_BYTES, read_bytes
from ..files.read import decode
from ..model.clock import now
from ..model.errors import BadInput, NotFound
from ..model.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_FILES = 5_000  # of one folder: more is a wrong folder
MAX_JSON_BYTES = 512 * 2**20  # bytes: a ChatGPT export of years
SKIPPED_FOLDERS = ("node_modules", "__pycache__")  # besides hidden folders: nobody's memories


@record
class Page:
    """A text, how people and later imports name its place, and when it was last changed."""

    place: str
    text: str
    at: int
    file: str = ""

    @property
    def stem(self) -> str:
        """Return the file's name without its ending."""
        return os.path.splitext(os.path.basename(self.place))[0]


class Source:
    """What one argument of `import` names. Places below the project are told from there, others from the source."""

    def __init__(self, path: str, project: str = ""):
        self.path = os.path.abspath(os.path.expanduser(path))
        self.is_folder = os.path.isdir(self.path)
        if not self.is_folder and not os.path.isfile(self.path):
            raise NotFound(f"there is no file or folder {path}", "name a file or a folder")
        self.project = project
        self.skipped: list[tuple[str, str]] = []  # (place, why)
        self.unreadable = 0  # how many of them could not be read
        self._document: Any = None

    def skip(self, place: str, why: str) -> None:
        """Note that something is not taken over."""
        self.skipped.append((place, why))

    def refuse(self, place: str, why: str) -> None:
        """Note that something is not taken over because it cannot be read."""
        self.skip(place, why)
        self.unreadable += 1

    def place(self, file: str) -> str:
        """Return a name for a file that is the same on every machine that has the same files."""
        folder, name = os.path.split(file)
        file = os.path.join(os.path.realpath(folder), name)  # a link keeps its own name
        base = os.path.realpath(self.path if self.is_folder else os.path.dirname(self.path))
        project = os.path.realpath(self.project) if self.project else ""
        if project and file.startswith(project + os.sep):
            base = project
        return os.path.relpath(file, base).replace(os.sep, "/")

    def files(self, *endings: str) -> list[str]:
        """Return the file itself, or those below the folder whose names end so, in order of their paths."""
        if not self.is_folder:
            return [self.path]
        found = sorted(_walk(self.path, endings))
        if len(found) > MAX_FILES:
            raise BadInput(f"{self.path} holds more than {MAX_FILES:,} files", "name the folder with the memories")
        return found

    def pages(self, *endings: str) -> Iterator[Page]:
        """Yield the texts of those files; one that cannot be read is skipped."""
        for file in self.files(*endings):
            if page := self.page(file):
                yield page

    def page(self, file: str) -> Page | None:
        """Return the text of one file."""
        place = self.place(file)
        if os.path.islink(file) and file != self.path:
            self.skip(place, "a link")
            return None
        try:
            data = read_bytes(file)
            at = min(now(), int(os.stat(file).st_mtime * 1000))
        except OSError as failure:
            self.refuse(place, f"cannot be read: {failure.strerror}")
            return None
        text, refused, _ = decode(data)
        if refused or len(data) > MAX_FILE_BYTES:
            self.refuse(place, refused.message if refused else "too large")
            return None
        return Page(place, text, at, file)

    def json(self) -> Any:
        """Return the JSON document that the file is, read once; raise BadInput where it is none."""
        if self._document is not None:
            return self._document
        try:
            if os.path.getsize(self.path) > MAX_JSON_BYTES:
                raise BadInput(f"{self.path} has more than {MAX_JSON_BYTES >> 20} MB", "split it")
            with open(self.path, encoding="utf-8-sig", errors="replace") as stream:
                self._document = json.load(stream, strict=False)
        except (ValueError, RecursionError) as failure:
            raise BadInput(f"{self.path} is no JSON that can be read: {failure}", "is it complete?") from None
        except OSError as failure:
            raise NotFound(f"{self.path} cannot be read: {failure.strerror}", "check its permissions") from None
        return self._document

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file that are not blank."""
        try:
            with open(self.path, encoding="utf-8", errors="replace") as stream:
                yield from (line for line in stream if line.strip())
        except OSError as failure:
            raise NotFound(f"{self.path} cannot be read: {failure.strerror}", "name a file") from None


def _walk(folder: str, endings: tuple[str, ...]) -> Iterator[str]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in SKIPPED_FOLDERS]
        yield from (os.path.join(root, name) for name in names if name.endswith(endings) and not name.startswith("."))
