"""Pack months of the archive into compressed bundles, `archive/2025-03.<hash>.tar.gz`, and unpack them.

A bundle's name contains the hash of its bytes, and a bundle never changes. Two clones that pack the same files make the
same bundle. If their files differ, git keeps both bundles without a conflict, and a month is the union of its bundles.
A bundle is read back before the packed files are removed. After a kill each file is in its folder, in a bundle or in
both, and the next run finishes. Bundles are not indexed.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from hashlib import sha256

from ..model.errors import Refused, Unwritable
from ..model.ids import holds_id
from .contents import MAX_FILE_BYTES, is_memory_name, is_plain_file
from .layout import Layout
from .move import ARCHIVE, remove_empty
from .replace import Replacing, refuse_links

BUNDLE_SUFFIX = ".tar.gz"
HASH_CHARS = 12  # hexadecimal digits of the hash in a bundle's name
BUNDLE_NAME = re.compile(rf"(.+?)(?:\.[0-9a-f]{{{HASH_CHARS}}})?{re.escape(BUNDLE_SUFFIX)}")
MAX_BUNDLE_BYTES = 512 * 1024 * 1024  # total size of the unpacked files; a larger bundle is rejected


def is_bundle(path: str) -> bool:
    """Tell whether a path below .rawko names a bundle."""
    return path.startswith(f"{ARCHIVE}/") and path.endswith(BUNDLE_SUFFIX)


def folder_of(bundle: str) -> str:
    """Return the folder whose files a bundle holds."""
    named = BUNDLE_NAME.fullmatch(bundle)
    return named[1] if named else bundle


def pack(layout: Layout, folder: str) -> int:
    """Move a folder's memory files into a bundle and return their number; the caller holds the write lock."""
    reading = Replacing(layout)
    paths = {name: layout.path(f"{folder}/{name}") for name in markdown_in(layout, folder)}
    files = {name: data for name, path in paths.items() if (data := reading.read(path)) is not None}
    held = [read_bundle(layout, bundle) for bundle in bundles_of(layout, folder)]
    new = {name: data for name, data in files.items() if all(some.get(name) != data for some in held)}
    if new:
        _write(layout, folder, new)
    for name in files:
        reading.remove(paths[name])
    if reading.finish():
        return 0  # another program saved one of the files: the next run packs the new version
    remove_empty(layout, folder)
    return len(files)


def unpack(layout: Layout, folder: str) -> int:
    """Move the files of a folder's bundles back into the folder and return the number of files written.

    Existing files stay. Raise Refused if the folder changes meanwhile.
    """
    held = bundles_of(layout, folder)
    files = Replacing(layout)
    refuse_links(layout, layout.path(folder))
    count = 0
    for bundle in held:
        files.read(layout.path(bundle))
        for name, data in read_bundle(layout, bundle).items():
            file = _place(layout, files, f"{folder}/{name}", data)
            if file:
                files.put(file, data)
                count += 1
        files.remove(layout.path(bundle))
    if files.finish():
        raise Refused(f"{folder} changed while it was unpacked", "try again")
    return count


def _place(layout: Layout, files: Replacing, path: str, data: bytes) -> str:
    """Return a free file for these bytes, numbered if needed; empty if a file with the same bytes exists."""
    stem, number = path.removesuffix(".md"), 1
    while (known := files.read(layout.path(path))) is not None:
        if known == data:
            return ""
        number += 1
        path = f"{stem}-{number}.md"
    return layout.path(path)


def replace_bundle(layout: Layout, bundle: str, kept: Mapping[str, bytes]) -> None:
    """Replace a bundle by one with only the `kept` files, for a purge; the caller holds the write lock."""
    files = Replacing(layout)
    files.read(layout.path(bundle))
    if kept:
        _write(layout, folder_of(bundle), kept)
    files.remove(layout.path(bundle))
    if files.finish():
        raise Refused(f"{bundle} changed while it was rewritten", "try again")


def bundles(layout: Layout) -> Iterator[str]:
    """Yield the paths of all bundles, by name."""
    for place, folders, names in os.walk(layout.path(ARCHIVE)):
        folders.sort()
        for name in sorted(names):
            file = os.path.join(place, name)
            if name.endswith(BUNDLE_SUFFIX) and not name.startswith(".") and is_plain_file(file):
                yield layout.relative(file)


def bundles_of(layout: Layout, folder: str) -> list[str]:
    """Return the paths of the bundles that hold files of a folder."""
    return [bundle for bundle in bundles(layout) if folder_of(bundle) == folder]


def holding(layout: Layout, id: str) -> str:
    """Return the path of the first bundle with a file that names this id; empty if there is none."""
    for bundle in bundles(layout):
        held = read_bundle(layout, bundle).values()
        if any(holds_id(data.decode("utf-8", "replace"), id) for data in held):
            return bundle
    return ""


def markdown_in(layout: Layout, folder: str) -> list[str]:
    """Return the names of the memory files directly in a folder."""
    place = layout.path(folder)
    markdown = sorted(filter(is_memory_name, os.listdir(place)))
    return [name for name in markdown if is_plain_file(os.path.join(place, name))]


def read_bundle(layout: Layout, path: str) -> dict[str, bytes]:
    """Return name → bytes of the files in a bundle; raise Refused if it cannot be read."""
    try:
        with open(layout.path(path), "rb") as stream:
            return bundled_files(stream.read(), path)
    except FileNotFoundError:
        return {}
    except OSError as failure:
        raise Refused(f"{path} cannot be read: {failure.strerror}", "check its permissions and the disk") from None


def bundled_files(data: bytes, path: str) -> dict[str, bytes]:
    """Return name → bytes of the regular files with plain names in a bundle's bytes; `path` names it in errors."""
    held: dict[str, bytes] = {}
    room = MAX_BUNDLE_BYTES
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
            for member in archive:
                if not member.isreg() or not _is_plain(member.name):
                    continue
                room -= member.size
                if member.size > MAX_FILE_BYTES or room < 0:
                    hint = "check where it comes from: 'tar -tzvf' lists its files"
                    raise Refused(f"{path} is larger than any bundle that rawkomem reads", hint)
                stream = archive.extractfile(member)
                held[member.name] = stream.read() if stream else b""
    except (tarfile.TarError, EOFError, OSError, zlib.error) as failure:
        raise Refused(f"{path} cannot be read: {failure}", "restore it from git or a backup") from None
    return held


def _is_plain(name: str) -> bool:
    return is_memory_name(name) and "/" not in name and "\\" not in name


def _bytes_of(files: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.mtime = len(files[name]), 0o644, 0
            archive.addfile(member, io.BytesIO(files[name]))
    return gzip.compress(stream.getvalue(), mtime=0)


def _write(layout: Layout, folder: str, held: Mapping[str, bytes]) -> None:
    """Write a bundle of these files; raise Unwritable unless the same files can be read back."""
    data = _bytes_of(held)
    path = f"{folder}.{sha256(data).hexdigest()[:HASH_CHARS]}{BUNDLE_SUFFIX}"
    file = layout.path(path)
    refuse_links(layout, os.path.dirname(file))
    files = Replacing(layout)
    if files.read(file) != data:
        files.put(file, data)
    if files.finish():
        raise Refused(f"{path} changed while it was written", "try again")
    if read_bundle(layout, path) != dict(held):
        raise Unwritable(f"{path} could not be read back", "check the disk; nothing was removed")
