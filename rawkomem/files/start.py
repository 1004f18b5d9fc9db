"""Write the files of a new repository."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..model.errors import Refused, Unwritable
from ..model.record import record
from .layout import FOLDER
from .local.marker import FOLDER_MODE

CONFIG = """\
# Settings of this repository; every line is optional. 'rawkomem docs settings' lists them all.
# Endpoints, keys and commands belong in your own config, never here.

# embedder: static        # the bundled vectors: no download, no server; minilm is better with code and much slower
"""

IGNORE = """\
# What belongs to this machine: the index, usage counts, the ledger, locks. Never to be committed.
# The index is made again by itself; deleting the rest loses it: see 'rawkomem docs format'.
/local/
"""

ATTRIBUTES = """\
# Memories have the same bytes on every system, and are merged entry by entry once 'rawkomem connect git' has run.
*.md text eol=lf
*.md merge=rawkomem
# The generated page keeps the lines of both sides; the next write, or 'rawkomem toc', puts them in order.
MEMORY.md merge=union
"""


@record
class Step:
    """One file that `init` writes; if the file exists, it is not changed."""

    path: str
    text: str
    exists: bool


def plan_start(project: str) -> list[Step]:
    """Return the files that `init` would write into a project."""
    root = os.path.join(project, FOLDER)
    files = {"config.yaml": CONFIG, ".gitignore": IGNORE, ".gitattributes": ATTRIBUTES, "memories/.gitkeep": ""}
    paths = {os.path.normpath(os.path.join(root, name)): text for name, text in files.items()}
    return [Step(path, text, os.path.lexists(path)) for path, text in paths.items()]


def make_personal_folder(folder: str) -> None:
    """Create the folder of the user's own repository, readable only by the user."""
    try:
        os.makedirs(folder, FOLDER_MODE, exist_ok=True)
        os.chmod(folder, FOLDER_MODE)
    except OSError as failure:
        hint = "check permissions, or set XDG_DATA_HOME to a folder that you can write"
        raise Unwritable(f"cannot make {folder}: {failure.strerror}", hint) from None


def write_start(steps: Iterable[Step]) -> None:
    """Write the files that do not exist yet; raise Refused if a folder is a link."""
    for step in steps:
        if step.exists:
            continue
        folder = os.path.dirname(step.path)
        root = folder.rpartition(FOLDER)[0] + FOLDER
        if link := next((path for path in (root, folder) if os.path.islink(path)), ""):
            raise Refused(f"{link} is a link", "remove it, then run the command again")
        try:
            os.makedirs(os.path.dirname(step.path), exist_ok=True)
            with open(step.path, "x", encoding="utf-8", newline="\n") as stream:
                stream.write(step.text)
        except OSError as failure:
            raise Unwritable(f"cannot write {step.path}: {failure.strerror}", "check permissions") from None
