"""Record prompts, transcripts, finished learning, changes, arrivals and open purges of this machine, in
tables of `local-….db`.
"""

from __future__ import annotations

import io
import os
import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import IO
from zlib import crc32

from ..model.entries import Change, Entry
from ..model.errors import RawkoError
from ..model.values import now, record
from ..state.trust import sources_in
from .layout import Layout, read_bytes
from .private import TALKS, kept_path, replace_kept
from .records import change, checkout_of, execute, insert, note, open_intents, read
from .session_records import checksum

# Store the recent prompts of people, without pasted text. Quotes are checked against them, so that
# an agent cannot invent one. Sessions are checksums.

MAX_PROMPT_CHARS = 4_000  # of one prompt
LIVE_MS = 12 * 3_600_000  # older prompts are not part of the current session


@record
class TypedPrompt:
    """One prompt that a person typed."""

    at: int
    session: str  # its checksum
    text: str


def note_prompt(layout: Layout, session: str, text: str) -> None:
    """Store a prompt, which the caller has redacted; ignore errors."""
    text = text.strip()[:MAX_PROMPT_CHARS]
    if text:
        note(layout, "prompts", now(), checksum(session), text)


def recent_prompts(layout: Layout) -> list[TypedPrompt]:
    """Return the prompts of the last LIVE_MS, oldest first."""
    sql = "SELECT at, session, text FROM prompts WHERE at > ? ORDER BY number"
    return [TypedPrompt(*row) for row in read(layout, sql, now() - LIVE_MS)]


def forget_prompts(layout: Layout) -> None:
    """Remove all prompts and notices after a purge, because they may contain the purged text in other words."""
    with change(layout) as db:
        db.execute("DELETE FROM prompts; DELETE FROM news")


# Record the path of each session's transcript, and read it: hosts store transcripts outside the
# repository.

# of a transcript that grows line by line; others are read as a whole
LINE_ENDING = ".jsonl"
MAX_READ_BYTES = 32 * 2**20  # of a longer transcript, only its end is read
MAX_FIRST_LINE_BYTES = 2**20  # of the first line, which names the session
MAX_TALKS = 5  # files that are kept, for the current sessions


def open_transcript(transcript: str) -> IO[bytes]:
    """Return a transcript up to its last complete line; for a long one, its first line and its end."""
    if not transcript.endswith(LINE_ENDING):
        return open(transcript, "rb")
    with open(transcript, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        first = stream.readline(MAX_FIRST_LINE_BYTES) if size > MAX_READ_BYTES else b""
        stream.seek(max(0, size - MAX_READ_BYTES))
        if first:
            stream.readline()  # skip the rest of an incomplete line
        read = stream.read(MAX_READ_BYTES)
    return io.BytesIO(first + read[: read.rfind(b"\n") + 1])


def note_transcript(layout: Layout, session: str, transcript: str) -> None:
    """Record a session's transcript, because some hosts do not name it when the session ends. Ignore errors."""
    if session and transcript_of(layout, session) != transcript:
        note(layout, "transcripts", session, transcript)


def transcript_of(layout: Layout, session: str) -> str:
    """Return the last recorded transcript of a session; empty if there is none."""
    return _transcripts(layout).get(session, "") if session else ""


def transcript_of_mark(layout: Layout, mark: str) -> str:
    """Return the transcript or the talk file of a session with this checksum; empty if there is none."""
    for session, path in _transcripts(layout).items():
        if checksum(session) == mark:
            return path
    talk = f"{mark}.json"
    return next((file for file in _talks(layout) if os.path.basename(file) == talk), "")


def hosts_transcripts(layout: Layout) -> list[str]:
    """Return the transcripts of all recorded sessions, which hosts wrote, latest first."""
    return [*dict.fromkeys(reversed([*_transcripts(layout).values()]))]


def known_transcripts(layout: Layout) -> list[str]:
    """Return the transcripts of all recorded sessions, then the talk files, which a program may have made up."""
    return [*hosts_transcripts(layout), *_talks(layout)]


def _transcripts(layout: Layout) -> dict[str, str]:
    """Return session → transcript, the latest last."""
    return dict(read(layout, "SELECT session, path FROM transcripts ORDER BY number"))


def keep_talk(layout: Layout, session: str, talk: bytes) -> None:
    """Write the talk file of a session, whose host has no transcripts; replace an earlier one."""
    replace_kept(layout, f"{TALKS}/{checksum(session)}.json", talk)
    for file in _talks(layout)[MAX_TALKS:]:
        os.remove(file)


def forget_talks(layout: Layout) -> None:
    """Remove all talk files after a purge, because they may contain the purged text."""
    for file in _talks(layout):
        os.remove(file)


def _talks(layout: Layout) -> list[str]:
    """Return the talk files, latest first; ignore links and folders."""
    try:
        with os.scandir(kept_path(layout, TALKS)) as found:
            own = (file for file in found if file.is_file(follow_symlinks=False))
            files = sorted(
                (
                    (file.stat(follow_symlinks=False).st_mtime, file.path)
                    for file in own
                ),
                reverse=True,
            )
    except (OSError, RawkoError):
        return []
    return [file for _, file in files]


def note_recorded(layout: Layout, transcript: str, size: int) -> None:
    """Record the size of a transcript whose work is in a trace; the caller holds the learner's lock."""
    with change(layout) as db:
        insert(db, "recorded", transcript, size)


def unrecorded(layout: Layout) -> dict[str, str]:
    """Return transcript → session for transcripts that changed since their work was recorded, latest first."""
    known = dict(read(layout, "SELECT path, size FROM recorded"))
    sessions = {
        transcript: session for session, transcript in _transcripts(layout).items()
    }
    grown = (
        one
        for one in sessions
        if os.path.isfile(one) and known.get(one) != os.stat(one).st_size
    )
    return {transcript: sessions[transcript] for transcript in reversed([*grown])}


# Record the files with rules that were imported, to notice later edits: a checksum of each file as it
# was imported. Paths are relative to the project.

MAX_NAMED_FILES = 3


def note_rule_files(layout: Layout, places: Iterable[str]) -> None:
    """Record the content of imported files with rules."""
    with change(layout) as db:
        for place in places:
            file = os.path.join(layout.project, place)
            if os.path.isfile(file):
                insert(db, "rule_files", place, _checksum_of(file))


def changed_rule_files(layout: Layout) -> list[str]:
    """Return the files with rules that were edited after their import; a file that is gone is not named.

    Of several names of a file, such as a link from CLAUDE.md to AGENTS.md, the record of the latest counts for all.
    """
    rows = read(layout, "SELECT path, checksum FROM rule_files ORDER BY number")
    files = {place: os.path.join(layout.project, place) for place, _ in rows}
    latest = {os.path.realpath(files[place]): known for place, known in rows}
    edited = []
    for place, file in files.items():
        with suppress(OSError):
            if _checksum_of(file) != latest[os.path.realpath(file)]:
                edited.append(place)
    return edited


def note_of_changed_rules(layout: Layout) -> str:
    """Return one line about edited files with rules; empty if there are none."""
    names = changed_rule_files(layout)
    listed = ", ".join(names[:MAX_NAMED_FILES]) + (
        " and others" if names[MAX_NAMED_FILES:] else ""
    )
    command = f"rawkomem import {shlex.join(names[:MAX_NAMED_FILES])}"
    if names:
        return (
            f"{listed} changed after the import; to update the memories, run: {command}"
        )
    return ""


def _checksum_of(file: str) -> str:
    return f"{crc32(read_bytes(file)):08x}"


# Record which parts of transcripts were learned from, so that a later run can continue. Sources are
# stored as checksums; no text of a session is written here.


class LearnedParts:
    """The finished parts of each source."""

    def __init__(self, layout: Layout):
        self._layout = layout

    def has(self, source: str, what: str) -> bool:
        """Return whether a part of a source is done."""
        sql = "SELECT 1 FROM learned WHERE source = ? AND part = ?"
        return bool(read(self._layout, sql, checksum(source), what))

    def add(self, source: str, what: str) -> None:
        """Record that a part of a source is done."""
        with change(self._layout) as db:
            insert(db, "learned", checksum(source), what)

    def forget(self, sources: Iterable[str]) -> None:
        """Remove the records of some sources, so that they are processed again."""
        gone = [(checksum(source),) for source in sources]
        with change(self._layout) as db:
            db.executemany("DELETE FROM learned WHERE source = ?", gone)


# Record the changes that this machine made, for `rawkomem undo`: a row for each entry, with the
# change's name, the name of the change that it undoes, and the ids of the entry and its memory.

PURGED = "purged"  # the second field of a purge, and the prefix of its name


def note_change(
    layout: Layout, entries: Sequence[Entry], undoes: str = "", part_of: str = ""
) -> str:
    """Record a change and return its name; `part_of` names the change that the entries continue."""
    name = part_of or entries[0].id
    with change(layout) as db:
        for entry in entries:
            insert(db, "changes", name, undoes, entry.id, entry.target)
    return name


def note_purge(layout: Layout, id: str) -> None:
    """Record that a memory was purged."""
    with change(layout) as db:
        insert(db, "changes", f"{PURGED}:{id}", PURGED, "", id)


def purged_ids(layout: Layout) -> set[str]:
    """Return the ids of the memories that were purged here, or whose purge has not finished."""
    sql = "SELECT memory FROM changes WHERE undoes = ?"
    return {*open_intents(layout), *(id for (id,) in read(layout, sql, PURGED))}


def read_changes(layout: Layout) -> list[Change]:
    """Return the changes, in the order of their last entries."""
    changes: dict[str, Change] = {}
    sql = "SELECT name, undoes, entry, memory FROM changes ORDER BY number"
    for name, undoes, entry, memory in read(layout, sql):
        before = changes.pop(name).entries if name in changes else ()
        if undoes == PURGED:
            changes[name] = Change(name, (), purged=memory)
        else:
            changes[name] = Change(name, (*before, (entry, memory)), undoes=undoes)
    return [*changes.values()]


# Record how entries arrived on this machine.
#
# An entry can claim any source, but it cannot write this table. A row contains the digest of the
# entry, so it becomes invalid when somebody edits the entry.

PERSON = "person"


def note_arrivals(layout: Layout, arrived: Iterable[tuple[str, str, str]]) -> None:
    """Record each (id, digest, how). Ignore errors: an entry without a row is trusted less."""
    rows = [row for row in arrived if row[0].isprintable()]
    with suppress(RawkoError), change(layout) as db:
        db.executemany("INSERT OR IGNORE INTO arrivals VALUES (?, ?, ?)", rows)


class Arrivals:
    """Looks up how entries arrived."""

    def __init__(self, layout: Layout):
        self._layout = layout
        self._by_person: frozenset[tuple[str, str]] | None = None

    def knows(self, id: str) -> bool:
        """Return whether there is a row for an entry; there is none for entries that came with a commit."""
        return bool(
            read(self._layout, "SELECT 1 FROM arrivals WHERE id = ? LIMIT 1", id)
        )

    def of(self, id: str, digest: str) -> str:
        """Return how an entry with this digest first arrived; empty if there is no row for it."""
        sql = "SELECT how FROM arrivals WHERE id = ? AND digest = ?"
        rows = read(self._layout, sql, id, digest) if digest else []
        return rows[0][0] if rows else ""

    def by_person(self, id: str, digest: str) -> bool:
        """Return whether a person typed an entry. All rows are read once, because a sync asks about many entries."""
        if self._by_person is None:
            sql = "SELECT id, digest FROM arrivals WHERE how = ?"
            self._by_person = frozenset(read(self._layout, sql, PERSON))
        return bool(digest) and (id, digest) in self._by_person


# Map a written entry to its operation in the ledger.


def operation_of(entry: Entry) -> str:
    """Return the entry's operation; empty for entries that change no content, such as votes."""
    if entry.kind == "lesson" and "patternId" in entry.extra:
        return "lesson"
    if entry.kind == "skill" and sources_in(entry.extra):
        return "synthesize"
    if entry.kind == "reflection":
        return "reflect"
    if entry.kind == "delete":
        return "delete"
    return "retain" if entry.creates or entry.kind == "amend" else ""


# Record which memories are being purged, so that the next command can finish a purge after a crash.
#
# The record is on disk before the first text is removed, and is removed last. `open_intents` in
# records.py reads it.


def note_intent(layout: Layout, id: str) -> None:
    """Record that a memory is going to be purged in this checkout, on disk; raise Unwritable if that fails."""
    sql = "INSERT OR IGNORE INTO purges VALUES (?, ?)"
    execute(layout, sql, id, checkout_of(layout), durable=True)


def close_intent(layout: Layout, id: str) -> None:
    """Remove the record of a finished purge."""
    sql = "DELETE FROM purges WHERE id = ? AND checkout = ?"
    execute(layout, sql, id, checkout_of(layout))
