"""Pack a month of the archive into one compressed bundle, `archive/2025-03.tar.gz`, and unpack it.

A bundle is written and read back before a file is removed: a kill leaves each file in its folder, in the bundle or in
both, and the next run finishes. The same files give the same bytes on every machine. Bundles are not indexed.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Iterator

from ..model.errors import Refused, Unwritable
from ..model.ids import holds_id
from .contents import MAX_FILE_BYTES, is_plain_file, read_bytes
from .layout import Layout
from .move import remove_empty
from .replace import Replacing, refuse_links, sync_folder

BUNDLE_SUFFIX = ".tar.gz"
MAX_BUNDLE_BYTES = 512 * 1024 * 1024  # of all files in a bundle that we are willing to unpack


def bundle_of(folder: str) -> str:
    """Return the path of a folder's bundle."""
    return folder + BUNDLE_SUFFIX


def pack(layout: Layout, folder: str) -> int:
    """Move the Markdown files of a folder into its bundle and return how many; the caller holds the lock."""
    names = markdown_in(layout, folder)
    files = {name: read_bytes(layout.path(f"{folder}/{name}")) for name in names}
    held = read_bundle(layout, bundle_of(folder))
    clash = next((name for name in files if held.get(name, files[name]) != files[name]), "")
    if clash:
        raise Refused(f"{folder}/{clash} differs from the one in its bundle", "rename it, then try again")
    whole = {**held, **files}
    if whole != held:
        _write(layout, bundle_of(folder), _bytes_of(whole))
    if read_bundle(layout, bundle_of(folder)) != whole:
        raise Unwritable(f"{bundle_of(folder)} could not be read back", "check the disk; nothing was removed")
    for name in names:
        os.unlink(layout.path(f"{folder}/{name}"))
    remove_empty(layout, folder)
    return len(names)


def unpack(layout: Layout, folder: str) -> int:
    """Move a bundle's files back into their folder, keep files that are there already, and return how many."""
    held = read_bundle(layout, bundle_of(folder))
    files = Replacing(layout)
    refuse_links(layout, layout.path(folder))
    for name, data in held.items():
        file = layout.path(f"{folder}/{name}")
        known = files.read(file)
        if known is None:
            files.put(file, data)
        elif known != data:
            raise Refused(f"{folder}/{name} differs from the one in its bundle", "rename it, then try again")
    if files.finish():
        raise Refused(f"{folder} changed while it was unpacked", "try again")
    if held:
        os.unlink(layout.path(bundle_of(folder)))
        sync_folder(os.path.dirname(layout.path(folder)))
    return len(held)


def bundles(layout: Layout) -> Iterator[str]:
    """Yield the folders that have a bundle."""
    for place, folders, names in os.walk(layout.path("archive")):
        folders.sort()
        for name in sorted(names):
            if name.endswith(BUNDLE_SUFFIX):
                yield layout.relative(os.path.join(place, name)).removesuffix(BUNDLE_SUFFIX)


def holding(layout: Layout, id: str) -> str:
    """Return the folder whose bundle holds an entry of this id; empty if there is none."""
    for folder in bundles(layout):
        held = read_bundle(layout, bundle_of(folder)).values()
        if any(holds_id(data.decode("utf-8", "replace"), id) for data in held):
            return folder
    return ""


def markdown_in(layout: Layout, folder: str) -> list[str]:
    """Return the names of the Markdown files directly in a folder."""
    place = layout.path(folder)
    markdown = sorted(name for name in os.listdir(place) if name.endswith(".md"))
    return [name for name in markdown if is_plain_file(os.path.join(place, name))]


def read_bundle(layout: Layout, path: str) -> dict[str, bytes]:
    """Return name → bytes of the regular files with plain names in a bundle; raise Refused if it cannot be read."""
    file = layout.path(path)
    if not is_plain_file(file):
        return {}
    held: dict[str, bytes] = {}
    room = MAX_BUNDLE_BYTES
    try:
        with tarfile.open(file, "r:gz") as archive:
            for member in archive:
                if not member.isreg() or not _is_plain(member.name):
                    continue
                room -= member.size
                if member.size > MAX_FILE_BYTES or room < 0:
                    raise Refused(f"{path} holds more than a bundle of ours would", "look into it by hand")
                stream = archive.extractfile(member)
                held[member.name] = stream.read() if stream else b""
    except (tarfile.TarError, EOFError, OSError) as failure:
        raise Refused(f"{path} cannot be read: {failure}", "bring it back from git or a backup") from None
    return held


def _is_plain(name: str) -> bool:
    return name.endswith(".md") and not name.startswith(".") and "/" not in name and "\\" not in name


def _bytes_of(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.mtime = len(files[name]), 0o644, 0
            archive.addfile(member, io.BytesIO(files[name]))
    return gzip.compress(stream.getvalue(), mtime=0)


def _write(layout: Layout, path: str, data: bytes) -> None:
    file = layout.path(path)
    refuse_links(layout, os.path.dirname(file))
    files = Replacing(layout)
    files.read(file)
    files.put(file, data)
    if files.finish():
        raise Refused(f"{path} changed while it was written", "try again")
