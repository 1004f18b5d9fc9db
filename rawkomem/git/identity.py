"""Name a repository and a clone of it in a shared store.

A repository's id is made from its first commit and the path of `.rawko`; without history it is the clone's name. A
clone has a random name in its local folder, bound to the file's inode, so that a copied folder is another clone.
"""

from __future__ import annotations

import os
from hashlib import sha256
from secrets import token_hex

from ..files.layout import Layout
from ..files.local.private import local_path, open_local
from .run import Git, GitFailed

FILE_NAME = "clone"
NAME_DIGITS = 16  # hexadecimal digits: enough to be unique among a team's repositories


def repository_id(layout: Layout) -> str:
    """Return an id that is the same in every full clone; shallow clones need the setting `store.repository`."""
    try:
        git = Git(layout.project)
        if git.run("rev-parse", "--is-shallow-repository").strip() == b"true":
            return clone_id(layout)
        roots = sorted(git.run("rev-list", "--max-parents=0", "HEAD").split())
        top = git.run("rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").rstrip("\n")
    except GitFailed:
        return clone_id(layout)
    inside = os.path.relpath(os.path.realpath(layout.root), os.path.realpath(top)).replace(os.sep, "/")
    said = b"\0".join([*roots[:1], inside.encode("utf-8", "surrogateescape")])
    return sha256(said).hexdigest()[:NAME_DIGITS]


def clone_id(layout: Layout) -> str:
    """Return the name of this clone; create it on the first call."""
    return _known(layout) or _named(layout)


def _known(layout: Layout) -> str:
    try:
        with open_local(layout, FILE_NAME, "r") as stream:
            inode, _, name = stream.read(100).decode("ascii").strip().partition(" ")
            return name if inode == str(os.fstat(stream.fileno()).st_ino) else ""
    except (OSError, UnicodeDecodeError):
        return ""


def _named(layout: Layout) -> str:
    path, name = local_path(layout, FILE_NAME), token_hex(NAME_DIGITS // 2)
    with open_local(layout, f"{FILE_NAME}.{os.getpid()}", "w") as stream:
        stream.write(f"{os.fstat(stream.fileno()).st_ino} {name}\n".encode())
    os.replace(f"{path}.{os.getpid()}", path)
    return name
