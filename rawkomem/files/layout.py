"""Name the paths of a repository, of its local folder, and of the user's folders."""

from __future__ import annotations

import os
import sys

from ..model.errors import NotFound
from ..model.record import record

FOLDER = ".rawko"
AREAS = ("memories", "traces", "log", "archive")  # what the index follows, in the order people read it


@record
class Layout:
    """The paths of one repository, as plain strings: importing pathlib is too slow for a cold command."""

    root: str  # the .rawko folder itself

    @property
    def local(self) -> str:
        """Return the git-ignored folder of the index, usage counts, locks and caches."""
        return os.path.join(self.root, "local")

    @property
    def config(self) -> str:
        """Return the file of the committed settings."""
        return os.path.join(self.root, "config.yaml")

    @property
    def templates(self) -> str:
        """Return the folder of the project's own templates, which precede the shipped ones."""
        return os.path.join(self.root, "templates")

    @property
    def project(self) -> str:
        """Return the folder that holds .rawko."""
        return os.path.dirname(self.root)

    def path(self, relative: str) -> str:
        """Return the file of a path as entries and the index name it."""
        return os.path.join(self.root, *relative.split("/"))

    def relative(self, path: str) -> str:
        """Return the path of a file as entries and the index name it: below .rawko, with forward slashes."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def from_file(self, file: str) -> str:
        """Return the relative way from a file's folder to .rawko, as a prefix; empty for a file in .rawko itself."""
        way = os.path.relpath(self.root, os.path.dirname(os.path.abspath(file))).replace(os.sep, "/")
        return "" if way == "." else f"{way}/"


def find_layout(start: str = "") -> Layout:
    """Return the repository of a folder or one of its parents; RAWKOMEM_DIR names another start."""
    start = os.path.abspath(start or os.environ.get("RAWKOMEM_DIR") or os.getcwd())
    folder = start
    while True:
        if os.path.basename(folder) == FOLDER and os.path.isdir(os.path.join(folder, AREAS[0])):
            return Layout(folder)
        root = os.path.join(folder, FOLDER)
        if os.path.isdir(root):
            return Layout(root)
        parent = os.path.dirname(folder)
        if parent == folder:
            raise NotFound(f"no {FOLDER} folder in {start} or above it", "run 'rawkomem init' in your project")
        folder = parent


def user_config() -> str:
    """Return the user's settings file (endpoints, keys, commands), which is never read from a repository."""
    base = os.environ.get("XDG_CONFIG_HOME") or _home("AppData/Roaming", "Library/Application Support", ".config")
    return os.path.join(base, "rawkomem", "config.yaml")


def user_repository_config(layout: Layout) -> str:
    """Return the user's settings file for one repository: settings that the repository itself must not make."""
    place = os.path.realpath(layout.root).replace(":", "").lstrip("/\\")
    return os.path.join(os.path.dirname(user_config()), "repositories", place, "config.yaml")


def user_cache() -> str:
    """Return the user's cache folder, for indexes that cannot be stored beside their files."""
    base = os.environ.get("XDG_CACHE_HOME") or _home("AppData/Local", "Library/Caches", ".cache")
    return os.path.join(base, "rawkomem")


def _home(windows: str, mac: str, other: str) -> str:
    choice = windows if os.name == "nt" else mac if sys.platform == "darwin" else other
    return os.path.join(os.path.expanduser("~"), *choice.split("/"))
