"""Move memory files to the archive, pack months into bundles, rotate the experience log, purge a
memory.

A bundle, `archive/2025-03.<hash>.tar.gz`, never changes: its name contains the hash of its bytes,
so two clones that pack the same files make the same bundle, and a month is the union of its
bundles. Its bytes are read back before they are written, and the packed files are removed last.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from itertools import pairwise

from ..model.entries import Entry
from ..model.errors import Refused, Unwritable
from ..model.ids import holds_id, numbered_names
from ..model.values import filled, iso, record, replace
from .append import place_entry
from .layout import (
    MAX_FILE_BYTES,
    Layout,
    explained,
    is_memory_name,
    is_plain_file,
    is_text_path,
    read_bytes,
    sweep,
    walk,
)
from .private import lock
from .reading import QUARANTINE, Reading, implicit_id, read_data, read_texts
from .replace import (
    ChangedMeanwhile,
    Replacing,
    make_folder,
    refuse_links,
    remove_temporary,
    remove_unfinished,
    sync_folder,
    temporary_folder,
)

# Move memory files between the short-term folders and the archive, under the write lock, by atomic
# renames.

TRACES = "traces"
ARCHIVE = "archive"


@record
class Move:
    """A move of a file from one path to another, both below .rawko, and its reason."""

    source: str
    target: str
    why: str = ""


def to_archive(path: str, why: str = "") -> Move:
    """Return the move of a trace to the same path below the archive, so that an id made from its path stays valid."""
    return Move(path, f"{ARCHIVE}/{path.partition('/')[2]}", why)


def from_archive(path: str) -> Move:
    """Return the move of an archived trace back to the traces."""
    return Move(path, f"{TRACES}/{path.partition('/')[2]}")


def move_files(layout: Layout, moves: Sequence[Move]) -> list[Move]:
    """Move files for a caller that holds the write lock, and return the moves that were made; skip missing files.

    If the target's name is taken, add a number. Remove folders that become empty. Raise Unwritable on an I/O error.
    """
    done: list[Move] = []
    for move in moves:
        source = layout.path(move.source)
        if is_plain_file(source):
            target = _free_path(layout, move.target)
            with explained(f"cannot move {move.source}"):
                make_folder(os.path.dirname(layout.path(target)))
                for end in (layout.path(target), source):
                    refuse_links(layout, os.path.dirname(end))
                os.rename(source, layout.path(target))
            done.append(replace(move, target=target))
    sources = {os.path.dirname(move.source) for move in done}
    targets = {os.path.dirname(move.target) for move in done}
    with explained("cannot sync the moved files", "check the disk"):
        for folder in (*sorted(targets), *sorted(sources)):
            sync_folder(layout.path(folder))
    for folder in sources:
        remove_empty(layout, folder)
    return done


def _free_path(layout: Layout, path: str) -> str:
    paths = (f"{name}.md" for name in numbered_names(path.removesuffix(".md")))
    return next(path for path in paths if not os.path.lexists(layout.path(path)))


def remove_empty(layout: Layout, folder: str) -> None:
    """Remove a folder below an area if it is empty; ignore errors."""
    place = layout.path(folder)
    if "/" in folder:
        with suppress(OSError):
            os.rmdir(place)
            sync_folder(os.path.dirname(place))


# Pack months of the archive into compressed bundles, `archive/2025-03.<hash>.tar.gz`, and unpack
# them.

BUNDLE_SUFFIX = ".tar.gz"
HASH_CHARS = 12  # hexadecimal digits of the hash in a bundle's name
BUNDLE_NAME = re.compile(
    rf"(.+?)(?:\.[0-9a-f]{{{HASH_CHARS}}})?{re.escape(BUNDLE_SUFFIX)}"
)
# total size of the unpacked files; a larger bundle is rejected
MAX_BUNDLE_BYTES = 512 * 1024 * 1024


def is_bundle(path: str) -> bool:
    """Return whether a path below .rawko names a bundle."""
    return path.startswith(f"{ARCHIVE}/") and path.endswith(BUNDLE_SUFFIX)


def folder_of_bundle(bundle: str) -> str:
    """Return the folder whose files a bundle holds."""
    match = BUNDLE_NAME.fullmatch(bundle)
    return match[1] if match else bundle


def pack_folder(layout: Layout, folder: str) -> int:
    """Move a folder's memory files into a bundle and return their number; the caller holds the write lock."""
    files = Replacing(layout)
    known = {
        name: data
        for name in markdown_in(layout, folder)
        if (data := files.read(f"{folder}/{name}")) is not None
    }
    bundled = [read_bundle(layout, bundle) for bundle in bundles_of(layout, folder)]
    new = {
        name: data
        for name, data in known.items()
        if all(some.get(name) != data for some in bundled)
    }
    if new:
        _put_bundle(files, folder, new)
    for name in known:
        files.put(f"{folder}/{name}", None)
    try:
        files.finish()
    except ChangedMeanwhile:
        return 0  # the next run packs the new version
    remove_empty(layout, folder)
    return len(known)


def unpack_folder(layout: Layout, folder: str) -> int:
    """Move the files of a folder's bundles back into the folder and return the number of files written.

    Existing files stay. Raise Refused if the folder changes meanwhile.
    """
    files = Replacing(layout)
    count = 0
    for bundle in bundles_of(layout, folder):
        files.put(bundle, None)
        for name, data in read_bundle(layout, bundle).items():
            path = _free_place(files, f"{folder}/{name}", data)
            if path:
                files.put(path, data)
                count += 1
    files.finish()
    return count


def _free_place(files: Replacing, path: str, data: bytes) -> str:
    """Return a free path for these bytes, numbered if needed; empty if a file with the same bytes exists."""
    for name in numbered_names(path.removesuffix(".md")):
        known = files.read(f"{name}.md")
        if known is None or known == data:
            break
    return f"{name}.md" if known is None else ""


def bundles(layout: Layout) -> Iterator[str]:
    """Yield the paths of all bundles, by name."""
    for place, folders, names in walk(layout.path(ARCHIVE)):
        folders.sort()
        for name in sorted(names):
            file = os.path.join(place, name)
            if (
                name.endswith(BUNDLE_SUFFIX)
                and not name.startswith(".")
                and is_plain_file(file)
            ):
                yield layout.relative(file)


def bundles_of(layout: Layout, folder: str) -> list[str]:
    """Return the paths of the bundles that hold files of a folder."""
    return [bundle for bundle in bundles(layout) if folder_of_bundle(bundle) == folder]


def bundle_holding(layout: Layout, id: str) -> str:
    """Return the path of the first bundle with a file that names this id; empty if there is none."""
    for bundle in bundles(layout):
        texts = read_bundle(layout, bundle).values()
        if any(holds_id(data.decode("utf-8", "replace"), id) for data in texts):
            return bundle
    return ""


def markdown_in(layout: Layout, folder: str) -> list[str]:
    """Return the names of the memory files directly in a folder."""
    place = layout.path(folder)
    markdown = sorted(filter(is_memory_name, os.listdir(place)))
    return [name for name in markdown if is_plain_file(os.path.join(place, name))]


def read_bundle(layout: Layout, path: str) -> dict[str, bytes]:
    """Return name → bytes of the files in a bundle; raise Refused if it cannot be read."""
    hint = "check its permissions and the disk"
    with (
        explained(f"{path} cannot be read", hint, Refused),
        open(layout.path(path), "rb") as stream,
    ):
        return bundled_files(stream.read(), path)


def bundled_files(data: bytes, path: str) -> dict[str, bytes]:
    """Return name → bytes of the regular files with plain names in a bundle's bytes; `path` names it in errors."""
    files: dict[str, bytes] = {}
    room = MAX_BUNDLE_BYTES
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
            for member in archive:
                is_plain = "/" not in member.name and "\\" not in member.name
                if (
                    not member.isreg()
                    or not is_plain
                    or not is_memory_name(member.name)
                ):
                    continue
                room -= member.size
                if member.size > MAX_FILE_BYTES or room < 0:
                    hint = "check where it comes from: 'tar -tzvf' lists its files"
                    raise Refused(
                        f"{path} is larger than any bundle that rawkomem reads", hint
                    )
                stream = archive.extractfile(member)
                files[member.name] = stream.read() if stream else b""
    except (tarfile.TarError, EOFError, OSError, zlib.error) as failure:
        raise Refused(
            f"{path} cannot be read: {failure}", "restore it from git or a backup"
        ) from None
    return files


def _put_bundle(files: Replacing, folder: str, held: Mapping[str, bytes]) -> None:
    """Stage a bundle of these files; raise Refused or Unwritable unless the same files can be read back."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(held):
            member = tarfile.TarInfo(name)
            member.size = len(held[name])
            member.mode = 0o644
            member.mtime = 0
            archive.addfile(member, io.BytesIO(held[name]))
    data = gzip.compress(stream.getvalue(), mtime=0)
    path = f"{folder}.{sha256(data).hexdigest()[:HASH_CHARS]}{BUNDLE_SUFFIX}"
    if bundled_files(data, path) != held:
        raise Unwritable(f"{path} could not be read back", "check the memory files")
    files.put(path, data)


# Number the entries of the experience log, and move older entries to the archive.
#
# A number is only shown to people: two branches may use the same one. An entry that is already in
# the archive is recognized by its text. Both functions read the files, not the index, because they
# run under the write lock.

LOG = "log"
ARCHIVED_LOG = "archive/log"
LOG_FILE = "memory_log.md"  # of the log, and of each month's log in the archive
# entries of the log (LLMos); older ones are archived, never deleted
MAX_LOG_ENTRIES = 1_000
UNDATED = "undated"  # the folder for entries without a time
EXPERIENCE = "experience"
EXPERIENCE_NUMBER = re.compile(
    rb"experience_id\W{1,6}exp_(\d{1,12})\b|^id:[ \t]*\"?exp_(\d{1,12})\"?[ \t]*$"
    rb"|^experience_number:[ \t]*(\d{1,12})[ \t]*\r?$",
    re.MULTILINE,
)
OWN_ID = re.compile(
    rb"^(?:experience_id|id):[ \t]*\"?exp_\w+\"?[ \t]*\r?$", re.MULTILINE
)


Logged = tuple[Entry, str]  # an entry of the log, and its text


def next_experience_number(layout: Layout) -> int:
    """Return one more than the highest number in the log or its archive."""
    numbers = (
        int(next(group for group in match.groups() if group))
        for path in _log_files(layout, LOG, ARCHIVED_LOG)
        for match in EXPERIENCE_NUMBER.finditer(read_bytes(layout.path(path)))
    )
    return max(numbers, default=0) + 1


def rotate_log(layout: Layout, keep: int = MAX_LOG_ENTRIES) -> list[str]:
    """Move the oldest experiences above `keep` to the archive and return their ids; the caller holds the lock.

    Each entry is on disk in the archive before it is removed from the log. After a kill in between it is in both, and
    the next rotation removes it from the log. Logs with a text before their first entry are not changed.
    """
    files = Replacing(layout)
    logs = {
        path: data
        for path in _log_files(layout, LOG)
        if (data := files.read(path) or b"")
        .lstrip(b"\xef\xbb\xbf \t\r\n")
        .startswith(b"---")
    }
    if sum(len(OWN_ID.findall(data)) for data in logs.values()) <= keep:
        return []
    pieces = {path: read_texts(data, path) for path, data in logs.items()}
    known = [
        piece
        for some in pieces.values()
        for piece in some
        if piece[0].kind == EXPERIENCE
    ]
    known.sort(key=lambda piece: (piece[0].at, *_as_number(piece[0].id)))
    number = max(0, len(known) - keep)
    leaving = [entry.id for entry, _ in known[:number]]
    texts = {text for _, text in known[:number]}
    ids = {*leaving} - {entry.id for entry, _ in known[number:]}
    for path, some in pieces.items():
        gone: list[Logged] = []
        left: list[str] = []
        for entry, text in some:
            if text in texts or entry.about in ids:
                gone.append((entry, text))
            else:
                left.append(text)
        if gone:
            _put_archived(files, gone)
            rest = "\n---\n\n".join(left).encode()
            files.put(path, rest or None)
    files.finish()
    return leaving


def _as_number(id: str) -> tuple[int, str]:
    """Return a sort key for an id; ids of older logs, such as `exp_12`, sort by number."""
    digits = id.removeprefix("exp_")
    return (int(digits), id) if digits.isdecimal() else (0, id)


def _put_archived(files: Replacing, pieces: Sequence[Logged]) -> None:
    """Stage the entries that the archived log of their month does not hold yet.

    A change goes to the month of its experience.
    """
    months: dict[str, str] = {}
    archived: dict[str, set[str]] = {}
    for entry, text in pieces:
        month = iso(entry.at)[:7] or UNDATED
        month = month if entry.creates else months.get(entry.target, month)
        months.setdefault(entry.target, month)
        folder = f"{ARCHIVED_LOG}/{month}"
        if folder not in archived:
            archived[folder] = {
                known
                for path in _log_files(files.layout, folder)
                for _, known in read_texts(files.read(path) or b"", path)
            }
        if text not in archived[folder]:
            entry = replace(entry, path=f"{folder}/{LOG_FILE}")
            place_entry(files, entry, text)


def _log_files(layout: Layout, *folders: str) -> Iterator[str]:
    """Yield the path of every log file in some folders."""
    for folder in folders:
        for place, _, names in walk(layout.path(folder)):
            for name in sorted(names):
                file = os.path.join(place, name)
                if is_memory_name(name) and is_plain_file(file):
                    yield layout.relative(file)


# Remove every entry about one memory from files and bundles, for example because it holds a leaked
# secret.

SEPARATOR_AT_END = re.compile(rb"\r?\n---[ \t]*(?:\r?\n)*\Z")


@record
class FoundFile:
    """A file that may hold entries about a memory: its bytes, its reading, and its bundle, if it is in one.

    The reading of a file in a bundle has its path before it was packed.
    """

    data: bytes
    reading: Reading
    bundle: str = ""

    def about(self, id: str) -> list[Entry]:
        """Return the entries about a memory."""
        return [entry for entry in self.reading.entries if entry.target == id]


def entries_about(layout: Layout, id: str) -> tuple[list[Entry], list[str]]:
    """Return every entry about a memory in files and bundles, and the unreadable files that name the memory.

    Raise Refused if the entries cannot be removed.
    """
    files = list(_files_with(Replacing(layout), partial(may_speak_of, id)))
    for one in files:
        if one.about(id):
            without_entries(one, lambda entry: entry.target == id)
    unread = [
        one.bundle or one.reading.path
        for one in files
        if one.reading.verdict == QUARANTINE and not one.about(id)
    ]
    return [entry for one in files for entry in one.about(id)], unread


def purge_files(layout: Layout, id: str) -> list[str]:
    """Remove the entries about `id` from every file and bundle, delete empty files, and return the changed paths.

    If another program saved one of the files meanwhile, change no file and raise Refused. Raise OSError if a killed
    writer's temporary file, which may hold the text, cannot be removed.
    """
    changed: set[str] = set()
    with lock(layout, "write"):
        files = Replacing(layout)
        # bundle → its files without the entries
        rewritten: dict[str, dict[str, bytes]] = {}
        for one in _files_with(files, partial(may_speak_of, id)):
            if one.about(id):
                path = one.reading.path
                data = without_entries(one, lambda entry: entry.target == id)
                changed.add(one.bundle or path)
                if one.bundle:
                    rewritten.setdefault(one.bundle, read_bundle(layout, one.bundle))
                    rewritten[one.bundle][os.path.basename(path)] = data
                else:
                    files.put(path, data or None)
        for bundle, some in rewritten.items():
            left = filled(some)
            if left:
                _put_bundle(files, folder_of_bundle(bundle), left)
            files.put(bundle, None)
        files.finish()
        remove_temporary(temporary_folder(layout))
        remove_unfinished(layout.root)
    return sorted(changed)


def memories_holding(
    layout: Layout, holds: Callable[[str], bool]
) -> dict[str, set[str]]:
    """Return path → the memories whose text passes a test; a path without memories has the text elsewhere."""
    holders: dict[str, set[str]] = {}
    for one in _files_with(
        Replacing(layout), lambda data, _: holds(data.decode("utf-8", "replace"))
    ):
        holders.setdefault(one.bundle or one.reading.path, set()).update(
            entry.target
            for entry in one.reading.entries
            if holds(f"{entry.title}\n{entry.body}\n{entry.when}\n{entry.extra}")
        )
    return holders


def _files_with(
    files: Replacing, wanted: Callable[[bytes, str], bool]
) -> Iterator[FoundFile]:
    """Yield the memory files, also those in bundles, whose bytes and path pass a test."""
    layout = files.layout
    swept = sweep(layout)
    for folder in swept.unreadable:
        if not os.path.islink(layout.path(folder)):
            raise Refused(
                f"{folder} cannot be read, and may contain the text",
                "check its permissions and the disk",
            )
    for path in filter(is_text_path, swept.paths):
        data = files.read(path) or b""
        if wanted(data, path):
            yield FoundFile(data, read_data(data, path, advice=False))
    for bundle in list(bundles(layout)):
        files.read(bundle)
        for name, data in read_bundle(layout, bundle).items():
            path = f"{folder_of_bundle(bundle)}/{name}"
            if wanted(data, path):
                yield FoundFile(data, read_data(data, path, advice=False), bundle)


def may_speak_of(id: str, data: bytes, path: str) -> bool:
    """Return whether a file's bytes may hold an entry about a memory."""
    stem = implicit_id(path)
    return (
        id == stem
        or id.startswith(f"{stem}#")
        or holds_id(data.decode("utf-8", "replace"), id)
    )


def without_entries(found: FoundFile, gone: Callable[[Entry], bool]) -> bytes:
    """Return the file's bytes without the entries for which `gone` is true; empty if no other entry is left.

    Other entries keep every byte. Raise Refused if the ids of entries without an `id:` line would change.
    """
    path = found.reading.path
    entries = found.reading.entries
    kept = [entry for entry in entries if not gone(entry)]
    if not kept:
        return b""
    new = _cut_out(found.data, entries, gone)
    after = read_data(new, path, advice=False).entries
    if [entry.id for entry in kept] != [entry.id for entry in after]:
        hint = "give each of them an 'id:' line, or edit the file by hand"
        raise Refused(
            f"{path} holds entries without an 'id:' line, and their ids would change",
            hint,
        )
    return new


def _cut_out(
    data: bytes, entries: Sequence[Entry], gone: Callable[[Entry], bool]
) -> bytes:
    lines = data.splitlines(keepends=True)
    starts = [entry.line - 1 for entry in entries] + [len(lines)]
    pieces = [b"".join(lines[a:b]) for a, b in pairwise(starts)]
    text = b"".join(lines[: starts[0]])
    text += b"".join(
        piece for piece, entry in zip(pieces, entries, strict=True) if not gone(entry)
    )
    if not gone(entries[-1]):
        return text
    trimmed = SEPARATOR_AT_END.sub(b"", text)  # the separator before the removed entry
    return trimmed if trimmed.endswith(b"\n") else trimmed + b"\n"
