"""Name the paths of a repository, of its local folder, and of the user's folders."""

from __future__ import annotations

import os
import sys

from ..model.errors import NotFound, Refused
from ..model.record import record

FOLDER = ".rawko"
TRUST = "RAWKOMEM_TRUST"  # environment variable: paths of other users' projects that this user trusts
PERSONAL = "personal"  # the user's own repository: its folder, and its name among layers
CHANGED = "changes"  # the area of change files, which hold one change each: branches merge without a merge driver
AREAS = ("memories", "traces", "log", "archive", CHANGED)  # the index reads these folders, in this order
EDITS = "edits"  # the folder below `local` for copies of files that were edited by hand
LOCAL = "local"  # files of this machine: git ignores them, so they stay when another branch is checked out


@record
class Layout:
    """The paths of one repository, as plain strings: importing pathlib is too slow for a cold command."""

    root: str  # the .rawko folder itself
    elsewhere: str = ""  # the local folder of a read-only repository: nothing is written below its root

    @property
    def local(self) -> str:
        """Return the git-ignored folder of the index, usage counts, locks and caches."""
        return self.elsewhere or os.path.join(self.root, LOCAL)

    @property
    def edits(self) -> str:
        """Return the folder of copies of files that were edited by hand."""
        return os.path.join(self.local, EDITS)

    @property
    def config(self) -> str:
        """Return the file of the committed settings."""
        return os.path.join(self.root, "config.yaml")

    @property
    def templates(self) -> str:
        """Return the folder of the project's own templates, which are used before the shipped ones."""
        return os.path.join(self.root, "templates")

    @property
    def project(self) -> str:
        """Return the folder that holds .rawko."""
        return os.path.dirname(self.root)

    def path(self, relative: str) -> str:
        """Return the file for a path relative to .rawko, as entries and the index store it."""
        return os.path.join(self.root, *relative.split("/"))

    def relative(self, path: str) -> str:
        """Return a file's path relative to .rawko, with forward slashes, as entries and the index store it."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def from_file(self, file: str) -> str:
        """Return the prefix for links from a file to paths below .rawko; empty for a file in .rawko itself."""
        way = os.path.relpath(self.root, os.path.dirname(os.path.abspath(file))).replace(os.sep, "/")
        return "" if way == "." else f"{way}/"


def find_layout(start: str = "", personal: bool = False) -> Layout:
    """Return the repository of a folder or of its nearest parent; without `start`, RAWKOMEM_DIR or the current folder.

    If there is none, return the user's own repository with `personal`, else raise NotFound.
    """
    start = os.path.abspath(start or os.environ.get("RAWKOMEM_DIR") or os.getcwd())
    folder, bare = start, ""
    while True:
        if os.path.basename(folder) == FOLDER and os.path.isdir(os.path.join(folder, AREAS[0])):
            return _checked(folder)
        root = os.path.join(folder, FOLDER)
        if _is_repository(root):
            return _checked(root)
        bare = bare or (root if os.path.isdir(root) else "")
        parent = os.path.dirname(folder)
        if parent == folder:
            if personal and os.path.isdir(personal_root()):
                return _checked(personal_root())
            raise _not_found(start, bare)
        folder = parent


def _not_found(start: str, bare: str) -> NotFound:
    if bare:
        message = f"no repository here: {bare} holds only local files of this machine"
        return NotFound(message, "check out a branch with memories, or run 'rawkomem init' in your project")
    return NotFound(f"no {FOLDER} folder in {start} or above it", "run 'rawkomem init' in your project")


def _is_repository(root: str) -> bool:
    """Tell whether a .rawko folder holds more than this machine's local folder."""
    if os.path.isdir(os.path.join(root, AREAS[0])):
        return True
    try:
        return os.listdir(root) != [LOCAL]
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # the folder exists: the command reports why it cannot be read


def _checked(root: str) -> Layout:
    """Return the layout of a .rawko folder; raise Refused if it is a link or belongs to an untrusted user."""
    seen = os.lstat(root)
    if seen.st_mode & 0o170000 == 0o120000:
        target = os.path.realpath(root)
        raise Refused(f"{root} is a link to {target}", f"to use that folder, run the command with -C {target}")
    if not is_own(seen) and not _is_trusted(os.path.dirname(root)):
        hint = f"run the command as that user; or, if you trust them, set {TRUST}={os.path.dirname(root)}"
        raise Refused(f"{root} belongs to {_user_name(seen.st_uid)}, not to you", hint)
    return Layout(root)


def is_own(seen: os.stat_result) -> bool:
    """Tell whether a file belongs to this user; on Windows, always."""
    return not hasattr(os, "geteuid") or seen.st_uid == os.geteuid()


def _is_trusted(project: str) -> bool:
    """Tell whether the RAWKOMEM_TRUST variable lists a project, or `*` for all projects."""
    named = os.environ.get(TRUST, "").split(os.pathsep)
    return "*" in named or os.path.realpath(project) in [os.path.realpath(path) for path in named if path]


def _user_name(number: int) -> str:
    try:
        import pwd

        return f"the user {pwd.getpwuid(number).pw_name}"
    except (ImportError, KeyError):
        return f"the user {number}"


def user_config() -> str:
    """Return the user's settings file (endpoints, keys, commands), which is never read from a repository."""
    base = os.environ.get("XDG_CONFIG_HOME") or _home("AppData/Roaming", "Library/Application Support", ".config")
    return os.path.join(base, "rawkomem", "config.yaml")


def user_repository_config(layout: Layout) -> str:
    """Return the user's settings file for one repository: settings that the repository itself is not allowed to set."""
    place = os.path.realpath(layout.root).replace(":", "").lstrip("/\\")
    return os.path.join(os.path.dirname(user_config()), "repositories", place, "config.yaml")


def personal_root() -> str:
    """Return the .rawko folder of the user's own repository, which is recalled in every project."""
    base = os.environ.get("XDG_DATA_HOME") or _home("AppData/Roaming", "Library/Application Support", ".local/share")
    return os.path.join(base, "rawkomem", PERSONAL, FOLDER)


def source_layout(root: str) -> Layout:
    """Return the layout of a shared repository that is only read: its local folder is in the user's cache."""
    from binascii import crc32  # importing hashlib takes longer than asking a source

    real = os.path.realpath(root)
    name = "".join(c if c.isalnum() else "-" for c in os.path.basename(os.path.dirname(real)))[-60:]
    data = os.fsencode(real)
    return Layout(root, os.path.join(user_cache(), "sources", f"{name}-{crc32(data):08x}{crc32(data[::-1]):08x}"))


def user_cache() -> str:
    """Return the user's cache folder, for indexes that cannot be stored next to their files."""
    base = os.environ.get("XDG_CACHE_HOME") or _home("AppData/Local", "Library/Caches", ".cache")
    return os.path.join(base, "rawkomem")


def _home(windows: str, mac: str, other: str) -> str:
    choice = windows if os.name == "nt" else mac if sys.platform == "darwin" else other
    return os.path.join(os.path.expanduser("~"), *choice.split("/"))
