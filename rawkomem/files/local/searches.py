"""Keep the searches that a user saved on this machine: lines of JSON in `.rawko/local/searches.jsonl`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ...model.errors import BadInput, NotFound
from .private import LineFile, local_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..layout import Layout

FILE_NAME = "searches.jsonl"
MAX_SEARCHES = 50

Search = dict[str, str]  # its name, words and filters


class Searches:
    """Reads and writes the saved searches of a repository."""

    def __init__(self, layout: Layout):
        self._file = LineFile(local_path(layout, FILE_NAME))

    def all(self) -> list[Search]:
        """Return the saved searches, oldest first; skip lines that cannot be parsed."""
        return self._file.read(_parsed)[0]

    def save(self, name: str, asked: Mapping[str, str]) -> Search:
        """Save a search and return it; replace one of this name. Raise BadInput if it is empty or too many exist."""
        if not name or not any(asked.values()):
            raise BadInput("a saved search needs a name and something to search for", "type words or choose a filter")
        others = [one for one in self.all() if one["name"] != name]
        if len(others) >= MAX_SEARCHES:
            raise BadInput(f"{MAX_SEARCHES} searches are saved already", "remove one of them first")
        saved = {"name": name, **{key: value for key, value in asked.items() if value}}
        self._write([*others, saved])
        return saved

    def remove(self, name: str) -> None:
        """Remove a saved search; raise NotFound if there is none of this name."""
        known = self.all()
        others = [one for one in known if one["name"] != name]
        if len(others) == len(known):
            raise NotFound(f"there is no saved search {name!r}", "reload the page to see which ones there are")
        self._write(others)

    def _write(self, searches: list[Search]) -> None:
        self._file.replace(*(json.dumps(one, ensure_ascii=False) for one in searches))


def _parsed(line: str) -> Search | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not found.get("name") or not all(isinstance(one, str) for one in found.values()):
        return None
    return found
