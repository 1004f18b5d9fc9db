"""Append entries to memory files and change files, and gather change files; existing bytes never
change.

A change file, `changes/2026-11/deploy-feedback-3fa2c1.md`, holds one change, or all that an import
or its review writes at once. Two branches never write the same one, so git merges them without a
merge driver. Gathering writes all entries before it removes change files: after a kill an entry may
be in both places, and the fold counts it once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice, takewhile

from ..format.blocks import append_holds, join_entry, with_id, with_keys
from ..format.frontmatter import emit_entry
from ..model.entries import Entry, Memory, Plan
from ..model.errors import BadInput, Refused
from ..model.ids import (
    file_stem,
    folded_name,
    is_id,
    new_id,
    numbered_names,
    order_key,
)
from ..model.values import (
    AFTER,
    CREATES,
    DRAFT_STATUS,
    ERROR,
    REPLACES,
    iso,
    record,
    replace,
)
from ..redaction.entries import redact_entry
from .layout import (
    CHANGED,
    Layout,
    is_memory_name,
    is_plain_file,
    is_text_path,
    names_in,
    read_bytes,
    sweep,
)
from .reading import (
    QUARANTINE,
    Reading,
    decode_file,
    is_implicit,
    read_data,
    read_texts,
)
from .replace import ChangedMeanwhile, Replacing

ID_DIGITS = 6  # hexadecimal digits of the change's id in the name of its file
# of the memory's file name: some file systems allow only 143 bytes for a name
STEM_BYTES = 120
# start of the name of a file with the changes of many imported memories
IMPORTED = "imported"
# keeps each month's folder: git's rename detection would move new files out of a removed folder
GITKEEP = ".gitkeep"


def change_path(entry: Entry) -> str:
    """Return the path of a change's own file; `entry.path` is the file of its memory."""
    return (
        f"{_month_folder(entry.at)}/{_change_stem(entry)}{_change_digits(entry.id)}.md"
    )


def in_one_change_file(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return entries; the changes of new or imported memories get one file for all, so that memory files stay short."""
    path = next(
        (change_path(replace(one, path=IMPORTED)) for one in entries if one.changes), ""
    )
    return tuple(replace(one, path=path) if one.changes else one for one in entries)


def is_change_file(path: str) -> bool:
    """Return whether a path below .rawko is in the folder of change files."""
    return path.startswith(f"{CHANGED}/")


def amendments_near(layout: Layout, entry: Entry) -> Iterator[str]:
    """Yield the change files of an entry's memory and kind, from the months of the RETRY_MS before it."""
    start = _change_stem(entry)
    for month in dict.fromkeys(
        (_month_folder(entry.at - RETRY_MS), _month_folder(entry.at))
    ):
        yield from (
            f"{month}/{name}"
            for name in names_in(layout.path(month))
            if name.startswith(start) and is_memory_name(name)
        )


def _month_folder(at: int) -> str:
    return f"{CHANGED}/{iso(at)[:7]}"


def _change_stem(entry: Entry) -> str:
    """Return the common prefix of the file names of all changes of this kind to the same memory file."""
    stem = os.path.basename(entry.path).removesuffix(".md").encode()[:STEM_BYTES]
    return f"{stem.decode('utf-8', 'ignore')}-{entry.kind}-"


def _change_digits(id: str) -> str:
    """Return the random digits at the end of an id that rawkomem made; for other ids, digits of their hash."""
    end = id.rpartition("_")[2]
    if len(end) == ID_DIGITS and not end.strip("0123456789abcdef"):
        return end

    return sha256(id.encode()).hexdigest()[:ID_DIGITS]


# entries that are written together, and their joined text
Step = tuple[list[Entry], str]

# a larger file gets no more entries, because each change reads and folds the whole file
FULL_FILE_BYTES = 64 * 1024
MAX_SIBLINGS = 10_000  # file names that are tried for one entry
# attempts when another program saves a file between our read and our rename
MAX_RETRIES = 20
# an identical entry that is younger than this was stored by a killed command
RETRY_MS = 10 * 60 * 1000
MAX_READ_SIBLINGS = 4  # sibling files that are searched for an identical entry
# not compared
OWN_FIELDS = {
    "id": "",
    "at": 0,
    "path": "",
    "line": 0,
    "given": (),
    "leaks": False,
    "digest": "",
}


@record
class Written:
    """An entry as it is stored in a file."""

    entry: Entry
    redacted: bool = False
    again: bool = False  # True: an earlier call had already stored it


def write_locked(
    layout: Layout,
    plan: Plan,
    warn: Callable[[str], None],
    may_be_retry: Callable[[Entry], bool],
    still_holds: Callable[[Entry], bool],
    before: Callable[[Sequence[Entry]], None],
    tracked: Callable[[Collection[str]], Collection[str]],
    named: Mapping[str, str] | None = None,
) -> list[Written]:
    """Append the plan's entries for a caller that holds the write lock; on a failure, none of them is stored.

    `warn` is called with a message if something fails after the entries are in place. `may_be_retry` returns True for
    an entry that may repeat a killed command: if an identical entry was stored a few minutes ago, and `still_holds`
    returns True for that entry, it is returned.
    `before` is called with the final entries and their digests right before they are written. `tracked` returns the
    paths that git tracks: a change of a memory in such a file gets a file of its own, so that branches cannot conflict.
    `named` is id → file of other memories that the entries name: they get an `id` line, too.
    """
    if odd := next((entry.id for entry in plan.entries if not is_id(entry.id)), ""):
        raise BadInput(f"{odd!r} cannot be an id", "use letters, digits, _ - and .")
    redacted = [redact_entry(entry) for entry in plan.entries]
    known = {
        e.id: same
        for e in redacted
        if may_be_retry(e)
        and (same := _stored_before(layout, e, redacted))
        and still_holds(same)
    }
    texts = {
        entry.id: _readable(emit_entry(entry))
        for entry in redacted
        if entry.id not in known
    }
    new = [
        replace(entry, digest=texts[entry.id][1])
        for entry in redacted
        if entry.id in texts
    ]
    homes = {entry.about: entry.path for entry in new if entry.changes and entry.path}
    nameless = {
        path for id, path in homes.items() if not _can_have_id(layout, path, id)
    }
    shared = {*tracked({*homes.values()})} - nameless
    new = [
        replace(e, path=change_path(e)) if e.changes and e.path in shared else e
        for e in new
    ]
    steps = _steps([(entry, texts[entry.id][0]) for entry in new])
    if new:
        before(new)
    paths: dict[str, str] = {}
    _write_all(layout, steps, paths, warn, {**(named or {}), **homes})
    placed = {entry.id: replace(entry, path=paths[entry.id]) for entry in new}
    return [
        Written(
            known.get(entry.id) or placed[entry.id],
            entry.leaks,
            again=entry.id in known,
        )
        for entry in redacted
    ]


def _stored_before(layout: Layout, entry: Entry, plan: Sequence[Entry]) -> Entry | None:
    """Return the identical memory or amendment that a killed command stored, because its caller retries; else None.

    It is in a file where this entry may go, differs only in id and time, and is at most a few minutes older. A memory
    that the plan also changes is always new. An amendment is compared only with the latest amendment of its memory.
    """
    if entry.path if entry.creates else entry.kind != "amend":
        # traces and log entries name their file: they record events, which may repeat
        return None
    if any(other.about == entry.id for other in plan):
        return None
    near = [
        known
        for known in _entries_near(layout, entry)
        if (known.kind, known.about) == (entry.kind, entry.about)
    ]
    near.sort(key=lambda known: order_key(known.at, known.id))
    for known in near if entry.creates else near[-1:]:
        if 0 <= entry.at - known.at <= RETRY_MS and _said(known) == _said(entry):
            return known
    return None


def _entries_near(layout: Layout, entry: Entry) -> Iterator[Entry]:
    """Yield the entries of the first files where an entry may go; for a change, also those of its change files.

    A memory file that does not contain the entry's first line is not parsed.
    """
    first_line = entry.body.strip("\n").partition("\n")[0].encode("utf-8", "replace")
    own = takewhile(
        lambda path: is_plain_file(layout.path(path)),
        islice(_candidates(entry), MAX_READ_SIBLINGS),
    )
    for path in [
        *own,
        *(amendments_near(layout, entry) if entry.changes else ()),
    ]:
        file = layout.path(path)
        try:
            data = read_bytes(file)
        except OSError:
            continue  # the append reports the error
        if is_change_file(path) or first_line in data:
            yield from read_data(data, path, advice=False).entries


def _said(entry: Entry) -> Entry:
    """Return an entry without the fields that differ between two copies, for a comparison."""
    extra = {
        key: entry.extra[key] for key in entry.extra if key not in (AFTER, REPLACES)
    }
    return replace(entry, body=entry.body.strip("\n"), extra=extra, **OWN_FIELDS)


def _steps(entries: Sequence[tuple[Entry, str]]) -> list[Step]:
    """Group entries and their texts into steps, in the order of writing.

    A new memory and its changes in the plan are one step, so that a kill cannot leave a memory in use that should be
    quarantined. If one file does not hold both (the memory has an open code fence), the memory is written last.
    """
    steps: dict[str, Step] = {}
    before: list[Step] = []
    for entry, text in entries:
        if entry.about in steps and is_change_file(entry.path):
            before.append(([entry], text))
        elif entry.path or entry.about not in steps:
            steps[entry.id] = ([entry], text)
        elif append_holds(steps[entry.about][1], text):
            together, above = steps[entry.about]
            steps[entry.about] = ([*together, entry], join_entry(above, text))
        else:
            before.append(([entry], text))
    return [*before, *steps.values()]


def _write_all(
    layout: Layout,
    todo: list[Step],
    paths: dict[str, str],
    warn: Callable[[str], None],
    homes: Mapping[str, str],
) -> None:
    """Write all steps together and put each entry's path into `paths`; retry if another program saves a file.

    `homes` is id → file of the changed memories and of those that they name.
    """
    for attempt in range(MAX_RETRIES):
        files = Replacing(layout, warn)
        taken: dict[str, set[str]] = {}
        for id, path in homes.items():
            if is_implicit(id, path):
                is_link = os.path.islink(layout.path(path))
                data = b"" if is_link else files.read(path) or b""
                named = _with_id_line(data, path, id)
                if named and named != data:
                    files.put(path, named)
        for entries, text in todo:
            is_new = entries[0].creates and not entries[0].path
            if is_new:
                path = _create(files, entries[0], text, taken)
            else:
                path = place_entry(files, entries[0], text)
            paths |= {entry.id: path for entry in entries}
        try:
            files.finish()
            break
        except ChangedMeanwhile:
            if attempt == MAX_RETRIES - 1:
                raise
        time.sleep(0.01)


def _can_have_id(layout: Layout, path: str, id: str) -> bool:
    """Return whether a memory's file states its id, or an id line can be written; else its changes stay in its file."""
    if not is_implicit(id, path):
        return True
    try:
        return bool(_with_id_line(read_bytes(layout.path(path)), path, id))
    except OSError:
        return True  # the append reports the error


def _with_id_line(data: bytes, path: str, id: str) -> bytes:
    """Return a file with an `id` line for a memory, so that only changes of this text apply to it.

    The line changes neither ids nor digests of the file; return nothing where it would.
    """
    entries = read_data(data, path, advice=False).entries
    lines = [entry.line for entry in entries if entry.id == id and entry.is_nameless]
    if not lines:
        return data
    rows = data.decode().split("\n")
    above = rows[: lines[0] - 1]
    below = rows[lines[0] - 1 :]
    named = "\n".join([*above, with_id("\n".join(below), id)]).encode()
    after = read_data(named, path, advice=False).entries
    same = [(e.id, e.digest) for e in after] == [(e.id, e.digest) for e in entries]
    return named if same and len(lines) == 1 else b""


def with_new_id(data: bytes, path: str, old: str, new: str) -> bytes:
    """Return a file in which a memory has a new id, and its changes there follow it; raise Refused if it has no id line.

    If the new id is the old one, the file states it now.
    """
    entries = read_data(data, path, advice=False).entries
    rows = data.decode().split("\n")
    about = [entry for entry in entries if entry.target == old]
    for entry in reversed([e for e in about if e.creates or old != new]):
        text = "\n".join(rows[entry.line - 1 :])
        if entry.is_nameless:
            text = with_id(text, new)
        else:
            own = new if entry.creates else new_id(entry.kind)
            text = with_keys(text, {"id": own, "about": new})
        rows[entry.line - 1 :] = text.split("\n")
    changed = "\n".join(rows).encode()
    after = read_data(changed, path, advice=False).entries
    wanted = [new if entry.target == old else entry.target for entry in entries]
    if [entry.target for entry in after] != wanted:
        raise Refused(
            f"no new id can be written into {path}", f"replace {old!r} there by hand"
        )
    return changed


def _create(
    files: Replacing, entry: Entry, text: str, taken: dict[str, set[str]]
) -> str:
    """Stage a file for a new memory and return its path; `taken` caches the names that each folder has."""
    folder = files.layout.path(CREATES[entry.kind].folder)
    if folder not in taken:
        taken[folder] = (
            {folded_name(name) for name in os.listdir(folder)}
            if os.path.isdir(folder)
            else set()
        )
    path = next(
        path
        for path in _candidates(entry)
        if folded_name(os.path.basename(path)) not in taken[folder]
    )
    taken[folder].add(folded_name(os.path.basename(path)))
    files.put(path, text.encode())
    return path


def place_entry(files: Replacing, entry: Entry, text: str) -> str:
    """Stage a text for the first file that can hold the entry; return its path, or raise Refused if there is none."""
    for path in islice(_candidates(entry), MAX_SIBLINGS):
        if is_change_file(path):
            if os.path.lexists(files.layout.path(path)):
                continue
            kept = f"{path.rpartition('/')[0]}/{GITKEEP}"
            # A link keeps the folder, too.
            if (
                not os.path.lexists(files.layout.path(kept))
                and files.read(kept) is None
            ):
                files.put(kept, b"")
        if _append_to(files, path, text):
            return path
    raise Refused(
        f"no free file name for {entry.title or entry.id!r}", "give it another title"
    )


def _readable(text: str) -> tuple[str, str]:
    """Return the text and its entry's digest; raise BadInput or Refused unless it reads back as exactly one entry."""
    try:
        reading = read_data(text.encode(), "")
    except UnicodeEncodeError:
        raise BadInput(
            "the text contains characters that are not valid in UTF-8",
            "remove these characters",
        ) from None
    if len(reading.entries) > 1:
        raise Refused(
            "the text cannot be one entry: it would read back as several",
            "indent or fence its --- lines",
        )
    if reading.verdict == QUARANTINE:
        wrong = next(problem for problem in reading.problems if problem.level == ERROR)
        raise BadInput(f"the entry could not be read back: {wrong.message}", wrong.hint)
    return text, reading.entries[0].digest


def _candidates(entry: Entry) -> Iterable[str]:
    """Return the paths where an entry may go: its own path or one made from its title, then numbered siblings."""
    if entry.path:
        stem = entry.path.removesuffix(".md")
    else:
        folder = CREATES.get(entry.kind, CREATES["memory"]).folder
        stem = f"{folder}/{file_stem(entry.title or entry.about)}"
    return (f"{name}.md" for name in numbered_names(stem))


def _append_to(files: Replacing, path: str, entry: str) -> bool:
    """Stage an append to this file; return False if it cannot hold the entry (no plain file, open fence, too long)."""
    file = files.layout.path(path)
    if os.path.lexists(file) and not is_plain_file(file):
        return False
    data = files.read(path)
    if data is None:
        files.put(path, entry.encode())
        return True
    longer = appended(data, entry)
    if not longer or len(data) + len(entry) > FULL_FILE_BYTES:
        return False
    files.put(path, longer)
    return True


def appended(data: bytes, entry: str) -> bytes:
    """Return a file's bytes with another entry below; empty if the file cannot hold it (no text, an open fence)."""
    text, refused, _ = decode_file(data)
    if refused or not append_holds(text, entry):
        return b""
    whole = data.decode("utf-8-sig")  # with the file's own line ends, which join() uses
    return data + join_entry(whole, entry).encode()[len(whole.encode()) :]


# Move changes from change files into the files of their memories, in the order of the fold.

# a memory, and every entry about it
KnownMemory = tuple[Memory | None, Sequence[Entry]]


@record
class LeftFile:
    """A change file that is not moved, and the reason."""

    path: str
    why: str


@record
class Gathered:
    """The result of a gather or its dry run: entries with their new paths, files that are removed, files that stay."""

    entries: tuple[Entry, ...] = ()
    removed: tuple[str, ...] = ()
    left: tuple[LeftFile, ...] = ()
    written: bool = False


def gather_changes(
    layout: Layout,
    find: Callable[[Collection[str]], Mapping[str, KnownMemory]],
    committed: Collection[str] | None = None,
    wanted: Callable[[Memory], bool] = lambda memory: True,
    dry_run: bool = False,
) -> Gathered:
    """Move the changes of wanted memories, for a caller that holds the lock.

    `find` returns the memory and the entries of each id. Only files in `committed` are moved; None means all files.
    """
    files = Replacing(layout)
    paths = [
        path
        for path in sweep(layout).paths
        if is_change_file(path) and is_text_path(path)
    ]
    readings = [
        read_data(files.read(path) or b"", path, advice=False) for path in paths
    ]
    known = find({entry.about for one in readings for entry in one.entries})
    moving: list[str] = []
    left: list[LeftFile] = []
    for reading in readings:
        about = [known[entry.about] for entry in reading.entries]
        if any(memory and not wanted(memory) for memory, _ in about):
            continue
        path = reading.path
        why = "" if committed is None or path in committed else "not committed yet"
        why = (
            why
            or _why_unreadable(reading)
            or next(filter(None, map(_why_homeless, about)), "")
        )
        if why:
            left.append(LeftFile(path, why))
        else:
            moving.append(path)
    placed = tuple(_placed(files, moving, known))
    for path in moving:
        files.put(path, None)
    if not dry_run:
        files.finish()
    return Gathered(placed, tuple(moving), tuple(left), bool(moving) and not dry_run)


def _why_unreadable(reading: Reading) -> str:
    entries = reading.entries
    if reading.verdict == QUARANTINE or any(e.draft or e.conflicted for e in entries):
        return "it cannot be read as changes: run 'rawkomem check'"
    if not all(entry.changes for entry in entries):
        return "it also holds entries that are not changes"
    if not all("id" in entry.given and "at" in entry.given for entry in entries):
        return "an entry in it has no id or no time of its own"
    return ""


def _why_homeless(known: KnownMemory) -> str:
    memory, entries = known
    if memory is None or is_change_file(memory.path):
        return "its memory has no file"
    if any(
        entry.is_nameless and entry.path == memory.path
        for entry in entries
        if entry.creates
    ):
        return "it was made for an earlier file of this name"
    return "its memory is a draft" if memory.status == DRAFT_STATUS else ""


def _placed(
    files: Replacing, moving: Sequence[str], known: Mapping[str, KnownMemory]
) -> Iterator[Entry]:
    """Stage the entries that no memory file holds yet, and yield all with their new paths.

    Raise Refused if a memory's file is missing.
    """
    pairs = [
        pair for path in moving for pair in read_texts(files.read(path) or b"", path)
    ]
    for entry, text in sorted(
        pairs, key=lambda pair: order_key(pair[0].at, pair[0].id)
    ):
        memory, entries = known[entry.about]
        copies = (e for e in entries if (e.id, e.digest) == (entry.id, entry.digest))
        home = next((copy.path for copy in copies if not is_change_file(copy.path)), "")
        if not home:
            assert memory
            if not is_plain_file(files.layout.path(memory.path)):
                raise Refused(
                    f"{memory.path} is gone",
                    "run 'rawkomem index sync', then try again",
                )
            home = place_entry(files, replace(entry, path=memory.path), text)
        yield replace(entry, path=home)
