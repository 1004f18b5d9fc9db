"""Append the entries of a Plan to files, atomically and under the write lock. Existing bytes never change."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice, takewhile

from ..format.emit import emit_entry
from ..format.split import append_holds, join
from ..model.entry import Entry, Plan
from ..model.errors import BadInput, Refused
from ..model.ids import is_id, order_key
from ..model.kinds import CREATES
from ..model.names import file_stem, folded, numbered
from ..model.problem import ERROR
from ..model.record import record, replace
from ..redaction.entry import redact_entry, was_redacted
from .change_file import amendments_near, change_path, is_change_file, keep_folder
from .contents import is_plain_file, read_bytes
from .layout import Layout
from .lock import lock
from .read import QUARANTINE, decode, read_data
from .replace import Replacing, refuse_links, remove_leftovers

Step = tuple[list[Entry], str]  # entries that are written together, and their joined text

FULL_FILE_BYTES = 64 * 1024  # a larger file gets no more entries, because each change reads and folds the whole file
MAX_SIBLINGS = 10_000  # file names that are tried for one entry
MAX_RETRIES = 20  # attempts when another program saves a file between our read and our rename
RETRY_MS = 10 * 60 * 1000  # an identical entry that is younger than this was stored by a killed command
MAX_READ_SIBLINGS = 4  # sibling files that are searched for an identical entry
OWN_FIELDS = {"id": "", "at": 0, "path": "", "line": 0, "given": (), "leaks": False, "digest": ""}  # not compared


@record
class Written:
    """An entry as it is stored in a file."""

    entry: Entry
    redacted: bool = False
    again: bool = False  # True: an earlier call had already stored it


def write_plan(layout: Layout, plan: Plan) -> list[Written]:
    """Redact the plan's entries and append them; all are on disk when this returns."""
    with lock(layout, "write"):
        return write_locked(layout, plan)


def write_locked(
    layout: Layout,
    plan: Plan,
    warn: Callable[[str], None] | None = None,
    may_be_retry: Callable[[Entry], bool] = lambda entry: False,
    before: Callable[[Sequence[Entry]], None] | None = None,
    tracked: Callable[[Collection[str]], Collection[str]] = lambda paths: (),
) -> list[Written]:
    """Append the plan's entries for a caller that holds the write lock; on a failure, none of them is stored.

    `warn` is called with a message if something fails after the entries are in place. `may_be_retry` returns True for
    an entry that may repeat a killed command: if an identical entry was stored a few minutes ago, that one is returned.
    `before` is called with the final entries and their digests right before they are written. `tracked` returns the
    paths that git tracks: a change of a memory in such a file gets a file of its own, so that branches cannot conflict.
    """
    remove_leftovers(layout)
    if odd := next((entry.id for entry in plan.entries if not is_id(entry.id)), ""):
        raise BadInput(f"{odd!r} cannot be an id", "use letters, digits, _ - and .")
    redacted = [redact_entry(entry) for entry in plan.entries]
    known = {e.id: same for e in redacted if may_be_retry(e) and (same := _stored_before(layout, e, redacted))}
    texts = {entry.id: _readable(emit_entry(entry)) for entry in redacted if entry.id not in known}
    new = [replace(entry, digest=texts[entry.id][1]) for entry in redacted if entry.id in texts]
    shared = tracked({entry.path for entry in new if entry.changes and entry.path})
    new = [replace(e, path=change_path(e)) if e.changes and e.path in shared else e for e in new]
    steps = _steps([(entry, texts[entry.id][0]) for entry in new])
    if before and new:
        before(new)
    paths: dict[str, str] = {}
    _write_all(layout, steps, paths, warn)
    placed = {entry.id: replace(entry, path=paths[entry.id]) for entry in new}
    return [
        Written(known.get(entry.id) or placed[entry.id], was_redacted(given, entry), again=entry.id in known)
        for given, entry in zip(plan.entries, redacted, strict=True)
    ]


def _stored_before(layout: Layout, entry: Entry, plan: Sequence[Entry]) -> Entry | None:
    """Return the identical memory or amendment that a killed command stored, because its caller retries; else None.

    It is in a file where this entry may go, differs only in id and time, and is at most a few minutes older. A memory
    that the plan also changes is always new. An amendment is compared only with the latest amendment of its memory.
    """
    if entry.path if entry.creates else entry.kind != "amend":
        return None  # traces and log entries name their file: they record events, which may repeat
    if any(other.about == entry.id for other in plan):
        return None
    near = [known for known in _entries_near(layout, entry) if (known.kind, known.about) == (entry.kind, entry.about)]
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
    own = takewhile(lambda path: is_plain_file(layout.path(path)), islice(_candidates(entry), MAX_READ_SIBLINGS))
    for path in [*own, *(amendments_near(layout, entry, RETRY_MS) if entry.changes else ())]:
        file = layout.path(path)
        try:
            data = read_bytes(file)
        except OSError:
            continue  # the append reports the error
        if is_change_file(path) or first_line in data:
            yield from read_data(data, path, advice=False).entries


def _said(entry: Entry) -> Entry:
    """Return an entry without the fields that differ between two copies, for a comparison."""
    return replace(entry, body=entry.body.strip("\n"), **OWN_FIELDS)


def _steps(entries: Sequence[tuple[Entry, str]]) -> list[Step]:
    """Group entries and their texts into steps, in the order of writing.

    A new memory and its changes in the plan are one step, so that a kill cannot leave a memory in use that should be
    quarantined. If one file cannot hold both (the memory has an open code fence), the memory is written last.
    """
    steps: dict[str, Step] = {}
    before: list[Step] = []
    for entry, text in entries:
        if entry.path or entry.about not in steps:
            steps[entry.id] = ([entry], text)
        elif append_holds(steps[entry.about][1], text):
            together, above = steps[entry.about]
            steps[entry.about] = ([*together, entry], join(above, text))
        else:
            before.append(([entry], text))
    return [*before, *steps.values()]


def _write_all(
    layout: Layout, todo: list[Step], paths: dict[str, str], warn: Callable[[str], None] | None = None
) -> None:
    """Write all steps together and put each entry's path into `paths`; retry if another program saves a file."""
    for _ in range(MAX_RETRIES):
        files = Replacing(layout, warn)
        taken: dict[str, set[str]] = {}
        for entries, text in todo:
            is_new = entries[0].creates and not entries[0].path
            path = _create(layout, files, entries[0], text, taken) if is_new else place(layout, files, entries[0], text)
            paths |= {entry.id: path for entry in entries}
        meddled = files.finish()
        if not meddled:
            return
        time.sleep(0.01)
    path = layout.relative(min(meddled))
    raise Refused(f"{path} keeps changing while we write", "close the program that saves it, then try again")


def append_text(layout: Layout, path: str, text: str) -> str:
    """Append a text of entries unchanged, under the caller's write lock; return its path, maybe a numbered sibling."""
    remove_leftovers(layout)
    paths: dict[str, str] = {}
    _write_all(layout, [([Entry(path=path, id=path)], text)], paths)
    return paths[path]


def _create(layout: Layout, files: Replacing, entry: Entry, text: str, taken: dict[str, set[str]]) -> str:
    """Stage a file for a new memory and return its path; `taken` caches the names that each folder has."""
    folder = layout.path(CREATES[entry.kind].folder)
    refuse_links(layout, folder)
    if folder not in taken:
        taken[folder] = {folded(name) for name in os.listdir(folder)} if os.path.isdir(folder) else set()
    path = next(path for path in _candidates(entry) if folded(os.path.basename(path)) not in taken[folder])
    taken[folder].add(folded(os.path.basename(path)))
    files.read(layout.path(path))
    files.put(layout.path(path), text.encode())
    return path


def place(layout: Layout, files: Replacing, entry: Entry, text: str) -> str:
    """Stage a text for the first file that can hold the entry; return its path, or raise Refused if there is none."""
    for path in islice(_candidates(entry), MAX_SIBLINGS):
        file = layout.path(path)
        refuse_links(layout, os.path.dirname(file))
        if is_change_file(path):
            if os.path.lexists(file):
                continue
            keep_folder(layout, files, path)
        if _append_to(files, file, text):
            return path
    raise Refused(f"no free file name for {entry.title or entry.id!r}", "give it another title")


def _readable(text: str) -> tuple[str, str]:
    """Return the text and its entry's digest; raise BadInput or Refused unless it reads back as exactly one entry."""
    try:
        reading = read_data(text.encode(), "")
    except UnicodeEncodeError:
        raise BadInput("the text contains characters that are not valid in UTF-8", "remove these characters") from None
    if len(reading.entries) > 1:
        raise Refused("the text cannot be one entry: it would read back as several", "indent or fence its --- lines")
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
    return (f"{name}.md" for name in numbered(stem))


def _append_to(files: Replacing, file: str, entry: str) -> bool:
    """Stage an append to this file; return False if it cannot hold the entry (no plain file, open fence, too long)."""
    if os.path.islink(file) or (os.path.exists(file) and not os.path.isfile(file)):
        return False
    data = files.read(file)
    if data is None:
        files.put(file, entry.encode())
        return True
    text, refused, _ = decode(data)
    if refused or len(data) + len(entry) > FULL_FILE_BYTES or not append_holds(text, entry):
        return False
    whole = data.decode("utf-8-sig")  # with the file's own line ends, which join() uses
    files.put(file, data + join(whole, entry).encode()[len(whole.encode()) :])
    return True
