"""Write files into a folder that others use; a hidden list of hashes shows which files are ours and unchanged."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING

from ..files.whole import refuse_exit
from ..model.errors import Refused, Unwritable
from ..model.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping

LIST_NAME = ".rawkomem-export.json"
MAX_NAMES_SHOWN = 5  # names in a message


@record
class Exported:
    """The result of an export: names of files below the folder."""

    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]  # files of an earlier export whose memories are no longer exported


def write_folder(folder: str, files: Mapping[str, str]) -> Exported:
    """Write these texts (name below the folder → text), and remove our files that are no longer needed.

    Raise Refused, before anything is written, if a file is not ours or was changed. Raise Unwritable on an I/O error.
    """
    before = _read_list(folder)
    found = {name: _hash_of(os.path.join(folder, *name.split("/"))) for name in {*files, *before}}
    theirs = [name for name in files if found[name] and found[name] not in (before.get(name), _hash(files[name]))]
    if theirs:
        names = ", ".join(sorted(theirs)[:MAX_NAMES_SHOWN])
        raise Refused(f"not written by rawkomem, or changed since: {names}", "name another folder, or move them away")
    gone = sorted(name for name in before if name not in files and found[name] == before[name])
    written = sorted(name for name in files if found[name] != _hash(files[name]))
    for name in [*written, *gone, LIST_NAME]:
        refuse_exit(os.path.join(folder, *name.split("/")), folder)
    try:
        for name in written:
            write_text(os.path.join(folder, *name.split("/")), files[name], folder)
        for name in gone:
            os.unlink(os.path.join(folder, *name.split("/")))
        hashes = {name: _hash(text) for name, text in sorted(files.items())}
        if hashes != before:
            write_text(os.path.join(folder, LIST_NAME), json.dumps(hashes, indent=1) + "\n")
    except OSError as failure:
        raise Unwritable(f"cannot write {folder}: {failure.strerror}", "check permissions and free space") from None
    return Exported(tuple(written), tuple(sorted(set(files) - set(written))), tuple(gone))


def write_text(file: str, text: str, within: str = "") -> None:
    """Write a file atomically; `within` is a folder that no link may lead out of."""
    if within:
        refuse_exit(file, within)
    os.makedirs(os.path.dirname(file) or ".", exist_ok=True)
    temporary = os.path.join(os.path.dirname(file), f".{os.path.basename(file)}.{os.urandom(4).hex()}")
    with open(temporary, "x", encoding="utf-8", newline="") as stream:
        stream.write(text)
    os.replace(temporary, file)


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


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _hash_of(file: str) -> str:
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
