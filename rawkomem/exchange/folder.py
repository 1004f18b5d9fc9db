"""Writes files into a folder that others use; a hidden list of hashes tells which files are ours and unchanged."""

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

LIST = ".rawkomem-export.json"
MAX_NAMES_SHOWN = 5  # names in a message


@record
class Exported:
    """What an export did to a folder: files by name below it."""

    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]  # written before, of memories that are not exported any more


def write_folder(folder: str, files: Mapping[str, str]) -> Exported:
    """Make the folder hold these texts (name below it → text)."""
    before = _read_list(folder)
    found = {name: _hash_of(os.path.join(folder, *name.split("/"))) for name in {*files, *before}}
    theirs = [name for name in files if found[name] and found[name] not in (before.get(name), _hash(files[name]))]
    if theirs:
        names = ", ".join(sorted(theirs)[:MAX_NAMES_SHOWN])
        raise Refused(f"not written by rawkomem, or changed since: {names}", "name another folder, or move them away")
    gone = sorted(name for name in before if name not in files and found[name] == before[name])
    written = sorted(name for name in files if found[name] != _hash(files[name]))
    for name in [*written, *gone, LIST]:
        refuse_exit(os.path.join(folder, *name.split("/")), folder)
    try:
        for name in written:
            write_text(os.path.join(folder, *name.split("/")), files[name], folder)
        for name in gone:
            os.unlink(os.path.join(folder, *name.split("/")))
        hashes = {name: _hash(text) for name, text in sorted(files.items())}
        if hashes != before:
            write_text(os.path.join(folder, LIST), json.dumps(hashes, indent=1) + "\n")
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
    """Return the hash of each file that we wrote, by name; skip names that lead out of the folder."""
    try:
        with open(os.path.join(folder, LIST), encoding="utf-8") as stream:
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
    """Return the hash of a file; empty where there is none; a link, or what cannot be read, is nobody's we know."""
    if os.path.islink(file):
        return "a link"
    try:
        with open(file, "rb") as stream:
            return sha256(stream.read()).hexdigest()
    except FileNotFoundError:
        return ""
    except OSError:
        return "unreadable"
