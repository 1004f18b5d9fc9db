"""Record prompts, transcripts, finished learning, changes, arrivals and open purges of this machine."""

from __future__ import annotations

import io
import os
import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from io import FileIO
from typing import IO
from zlib import crc32

from ..model.entries import Change, Entry
from ..model.errors import RawkoError, Unwritable
from ..model.values import now, record
from ..state.trust import sources_in
from .layout import Layout, read_bytes
from .private import INTENTS_FOLDER, LineFile, local_path, open_local, replace_local, seal_of
from .session_records import checksum, is_number

# Store the recent prompts of people: lines in `.rawko/local/said.tsv`, the latest last.
#
#     time, session, words      a prompt without pasted text, on one line
#
# Quotes are checked against this file, so that an agent cannot invent one. Sessions are checksums.
# Errors are ignored.

PROMPTS_FILE = "said.tsv"
MAX_PROMPTS_BYTES = 256 * 1024  # the older half is dropped
MAX_PROMPT_CHARS = 4_000  # of one prompt
LIVE_MS = 12 * 3_600_000  # older prompts are not part of the current session
ESCAPES = (("\\", "\\\\"), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r"))


@record
class TypedPrompt:
    """One prompt that a person typed."""

    at: int
    session: str  # its checksum
    text: str


def note_prompt(layout: Layout, session: str, text: str) -> None:
    """Store a prompt, which the caller has redacted; ignore errors."""
    text = text.strip()[:MAX_PROMPT_CHARS]
    if not text:
        return
    for sign, escape in ESCAPES:
        text = text.replace(sign, escape)
    try:
        line = "\t".join((str(now()), checksum(session), text))
        LineFile(local_path(layout, PROMPTS_FILE), MAX_PROMPTS_BYTES).append(line)
    except RawkoError:
        pass


def recent_prompts(layout: Layout) -> list[TypedPrompt]:
    """Return the prompts of the last LIVE_MS, oldest first."""
    try:
        found = LineFile(local_path(layout, PROMPTS_FILE)).parsed(_parsed_prompt)
    except RawkoError:
        return []
    return [one for one in found if 0 <= now() - one.at < LIVE_MS]


def forget_prompts(layout: Layout) -> None:
    """Remove all prompts after a purge, because they may contain the purged text."""
    LineFile(local_path(layout, PROMPTS_FILE)).replace()


def _parsed_prompt(line: str) -> TypedPrompt | None:
    at, _, rest = line.partition("\t")
    session, tab, text = rest.partition("\t")
    if not is_number(at) or not tab:
        return None
    parts = text.split("\\\\")
    for sign, escape in ESCAPES[1:]:
        parts = [part.replace(escape, sign) for part in parts]
    return TypedPrompt(int(at), session, "\\".join(parts))


# Record the path of each session's transcript, and read it: hosts store transcripts outside the
# repository.

SESSIONS = "transcripts.tsv"  # session → transcript
RECORDED = "recorded.tsv"  # transcript → its size in bytes when the session's work was recorded
TALKS = "talks"  # folder of talk files: one per session, for hosts without transcripts
LINE_ENDING = ".jsonl"  # of a transcript that grows line by line; others are read as a whole
MAX_READ_BYTES = 32 * 2**20  # of a longer transcript, only its end is read
MAX_FIRST_LINE_BYTES = 2**20  # of the first line, which names the session
MAX_TRANSCRIPTS = 100  # paths that are recorded
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
    try:
        if session and transcript_of(layout, session) != transcript:
            _put(layout, SESSIONS, session, transcript)
    except RawkoError:
        pass


def transcript_of(layout: Layout, session: str) -> str:
    """Return the last recorded transcript of a session; empty if there is none."""
    return _pairs(layout, SESSIONS).get(session, "") if session else ""


def transcript_of_mark(layout: Layout, mark: str) -> str:
    """Return the transcript or the talk file of a session with this checksum; empty if there is none."""
    named = (
        file for session, file in _pairs(layout, SESSIONS).items() if checksum(session) == mark
    )
    return next(named, "") or next(
        (file for file in _talks(layout) if os.path.basename(file) == f"{mark}.json"), ""
    )


def known_transcripts(layout: Layout) -> list[str]:
    """Return the transcripts of all recorded sessions, latest first, then the talk files."""
    return [*dict.fromkeys(reversed([*_pairs(layout, SESSIONS).values()])), *_talks(layout)]


def keep_talk(layout: Layout, session: str, talk: bytes) -> None:
    """Write the talk file of a session, whose host has no transcripts; replace an earlier one."""
    replace_local(layout, f"{TALKS}/{checksum(session)}.json", talk)
    for file in _talks(layout)[MAX_TALKS:]:
        os.remove(file)


def forget_talks(layout: Layout) -> None:
    """Remove all talk files after a purge, because they may contain the purged text."""
    for file in _talks(layout):
        os.remove(file)


def _talks(layout: Layout) -> list[str]:
    """Return the talk files, latest first; ignore links and folders."""
    try:
        with os.scandir(local_path(layout, TALKS)) as found:
            own = (file for file in found if file.is_file(follow_symlinks=False))
            files = sorted(
                ((file.stat(follow_symlinks=False).st_mtime, file.path) for file in own),
                reverse=True,
            )
    except (OSError, RawkoError):
        return []
    return [file for _, file in files]


def note_recorded(layout: Layout, transcript: str, size: int) -> None:
    """Record the size of a transcript whose work is in a trace; the caller holds the learner's lock."""
    _put(layout, RECORDED, transcript, str(size))


def unrecorded(layout: Layout) -> dict[str, str]:
    """Return transcript → session for transcripts that changed since their work was recorded, latest first."""
    known = _pairs(layout, RECORDED)
    sessions = {transcript: session for session, transcript in _pairs(layout, SESSIONS).items()}
    grown = (
        one
        for one in sessions
        if os.path.isfile(one) and known.get(one) != str(os.stat(one).st_size)
    )
    return {transcript: sessions[transcript] for transcript in reversed([*grown])}


def _put(layout: Layout, name: str, key: str, value: str) -> None:
    known = _pairs(layout, name)
    known.pop(key, None)  # so that the key becomes the latest
    known[key] = value
    lines = [f"{value}\t{key}" for key, value in known.items()]
    LineFile(local_path(layout, name)).replace(*lines[-MAX_TRANSCRIPTS:])


def _pairs(layout: Layout, name: str) -> dict[str, str]:
    """Return key → value of a file's lines; empty if it cannot be read. Skip lines that cannot be parsed."""
    try:
        lines = LineFile(local_path(layout, name)).lines()
    except RawkoError:
        return {}
    found = (line.partition("\t") for line in lines)
    return {key: value for value, _, key in found if key and value}


# Record the files with rules that were imported, to notice later edits: lines in
# `.rawko/local/rules.tsv`.
#
#     size-mtime-checksum, path      the file as it was imported; the path is relative to the project

RULE_FILES = "rules.tsv"
MAX_RULE_FILES = 1_000
MAX_NAMED_FILES = 3


def note_rule_files(layout: Layout, places: Iterable[str]) -> None:
    """Record the content of imported files with rules."""
    known = _pairs(layout, RULE_FILES) | {
        place: f"{_stamp_of(file)}{_checksum_of(file)}"
        for place in places
        if os.path.isfile(file := os.path.join(layout.project, place))
    }
    lines = [f"{stamp}\t{place}" for place, stamp in known.items()]
    LineFile(local_path(layout, RULE_FILES)).replace(*lines[-MAX_RULE_FILES:])


def changed_rule_files(layout: Layout) -> list[str]:
    """Return the files with rules that were edited after their import; one stat call for each file that was not."""
    found = []
    for place, stamp in _pairs(layout, RULE_FILES).items():
        file = os.path.join(layout.project, place)
        with suppress(OSError):
            is_same = stamp.startswith(_stamp_of(file)) or stamp.endswith(_checksum_of(file))
            found += [] if is_same else [place]
    return found


def note_of_changed_rules(layout: Layout) -> str:
    """Return one line about edited files with rules; empty if there are none."""
    names = changed_rule_files(layout)
    told = ", ".join(names[:MAX_NAMED_FILES]) + (" and others" if names[MAX_NAMED_FILES:] else "")
    command = f"rawkomem import {shlex.join(names[:MAX_NAMED_FILES])}"
    return (
        f"{told} changed after the import; to update the memories, run: {command}" if names else ""
    )


def _stamp_of(file: str) -> str:
    found = os.stat(file)
    return f"{found.st_size}-{found.st_mtime_ns}-"


def _checksum_of(file: str) -> str:
    return f"{crc32(read_bytes(file)):08x}"


# Record which transcripts were learned from, in `.rawko/local/learned.tsv`, so that a later run
# can continue.
#
#     time, source, part      this part of a transcript is done
#
# Sources are stored as checksums; no text of a session is written here.

LEARNED_FILE = "learned.tsv"
MAX_LEARNED_BYTES = 4 * 2**20  # some 50,000 parts; the older half is dropped


class LearnedParts:
    """The finished parts of each source; lines that other processes append later are not seen."""

    def __init__(self, layout: Layout):
        self._file = LineFile(local_path(layout, LEARNED_FILE), MAX_LEARNED_BYTES)
        self._done: set[tuple[str, str]] = set()
        for line in self._file.lines():
            _, source, what = (*line.split("\t", 2), "", "")[:3]
            self._done.add((source, what))

    def has(self, source: str, what: str) -> bool:
        """Tell whether a part of a source is done."""
        return (checksum(source), what) in self._done

    def add(self, source: str, what: str) -> None:
        """Record that a part of a source is done."""
        self._file.append(f"{now()}\t{checksum(source)}\t{what}")
        self._done.add((checksum(source), what))

    def forget(self, sources: Iterable[str]) -> None:
        """Remove the records of some sources, so that they are processed again."""
        gone = {checksum(source) for source in sources}
        self._file.replace(
            *(line for line in self._file.lines() if gone.isdisjoint(line.split("\t")[1:2]))
        )
        self._done = {pair for pair in self._done if pair[0] not in gone}


# Record the changes that this machine made, one line each, for `rawkomem undo`.
#
# A line contains the change's name, the name of the change that it undoes, and pairs of an entry's
# id and its memory's id. It contains no text. The writer appends lines while it holds the write
# lock.

CHANGES_FILE = "changes.tsv"
MAX_CHANGES_BYTES = 1 << 20  # some ten thousand changes; then the older half is dropped
NO_NAME = "-"
PURGED = "purged"  # the second field of a purge, and the prefix of its name


def note_change(
    layout: Layout, entries: Sequence[Entry], undoes: str = "", part_of: str = ""
) -> str:
    """Append a change and return its name; `part_of` names the change that the entries continue."""
    name = part_of or entries[0].id
    pairs = (id for entry in entries for id in (entry.id, entry.target))
    _changes_file(layout).append("\t".join((name, undoes or NO_NAME, *pairs)))
    return name


def note_purge(layout: Layout, id: str) -> None:
    """Append a line that says that a memory was purged."""
    _changes_file(layout).append("\t".join((f"{PURGED}:{id}", PURGED, "", id)))


def read_changes(layout: Layout) -> list[Change]:
    """Return the changes, oldest first; skip lines that cannot be parsed."""
    found: dict[str, Change] = {}
    for line in _changes_file(layout).lines():
        name, _, rest = line.partition("\t")
        undoes, *ids = rest.split("\t")
        if len(ids) % 2 or not ids:
            continue
        if undoes == PURGED:
            found.pop(name, None)
            found[name] = Change(name, (), purged=ids[1])
            continue
        before = found.pop(name).entries if name in found else ()
        pairs = tuple(zip(ids[::2], ids[1::2], strict=True))
        found[name] = Change(name, (*before, *pairs), undoes="" if undoes == NO_NAME else undoes)
    return [*found.values()]


def _changes_file(layout: Layout) -> LineFile:
    return LineFile(local_path(layout, CHANGES_FILE), MAX_CHANGES_BYTES)


# Record how entries arrived on this machine: one line per entry in `.rawko/local/arrivals.tsv`.
#
# An entry can claim any source, but it cannot write this file. A line contains the digest of the
# entry, so it becomes invalid when somebody edits the entry. The first line contains the file's
# inode, so a file that was copied from a clone or an archive is ignored.

ARRIVALS_FILE = "arrivals.tsv"
MAX_ARRIVALS_HEAD_BYTES = 200  # of the file's first line
PERSON = "person"


def note_arrivals(layout: Layout, arrived: Iterable[tuple[str, str, str]]) -> None:
    """Append a line for each (id, digest, how). Ignore errors: an entry without a line is trusted less."""
    try:
        if not _arrivals_data(layout, MAX_ARRIVALS_HEAD_BYTES):
            path = local_path(layout, ARRIVALS_FILE)
            if os.path.lexists(path):
                os.unlink(path)
            with open_local(layout, ARRIVALS_FILE, "x") as stream:
                stream.write(_arrivals_head(layout, stream))
        lines = (f"{id}\t{how}\t{digest}" for id, digest, how in arrived if id.isprintable())
        LineFile(local_path(layout, ARRIVALS_FILE)).append(*lines)
    except (OSError, RawkoError):
        pass


class Arrivals:
    """Looks up entries by searching the file without parsing it: callers ask about few of many entries."""

    def __init__(self, layout: Layout):
        self._data = _arrivals_data(layout)
        self._lines: frozenset[bytes] = frozenset()

    def knows(self, id: str) -> bool:
        """Return whether the file has a line for an entry; it has none for entries that came with a commit."""
        return f"\n{id}\t".encode() in self._data

    def of(self, id: str, digest: str) -> str:
        """Return how an entry with this digest first arrived; empty if there is no line for it."""
        begin = f"\n{id}\t".encode()
        end = f"\t{digest}".encode()
        at = self._data.find(begin)
        while at >= 0:
            stop = self._data.find(b"\n", at + 1)
            line = self._data[at + len(begin) : stop if stop >= 0 else None]
            if digest and stop >= 0 and line.endswith(end):
                return line[: -len(end)].decode("utf-8", "replace")
            at = self._data.find(begin, at + 1)
        return ""

    def by_person(self, id: str, digest: str) -> bool:
        """Return whether a person typed an entry. All lines are split once, because a sync asks about many entries."""
        if not self._lines:
            self._lines = frozenset(self._data.split(b"\n")[:-1])
        return bool(digest) and f"{id}\t{PERSON}\t{digest}".encode() in self._lines


def _arrivals_data(layout: Layout, max_bytes: int = -1) -> bytes:
    """Return the file's first `max_bytes` bytes, or all; empty if its first line names another inode."""
    try:
        with open_local(layout, ARRIVALS_FILE, "r") as stream:
            data = stream.read(max_bytes)
            return data if data.startswith(_arrivals_head(layout, stream)) else b""
    except OSError:
        return b""


def _arrivals_head(layout: Layout, stream: FileIO) -> bytes:
    seal = seal_of(local_path(layout, ARRIVALS_FILE), os.fstat(stream.fileno()).st_ino)
    return f"arrivals of the file {seal}\n".encode()


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


# Record which memories are being purged, one file each, so that the next command can finish a
# purge after a crash.
#
# An intent contains only the memory's id. It is on disk before the first text is removed, and is
# removed last. `any_intents` in private.py tells whether there are intents.

MAX_ID_BYTES = 4_096


def note_intent(layout: Layout, id: str) -> None:
    """Write an intent to disk; raise Unwritable if that fails."""
    from .replace import make_folder, sync_folder

    try:
        folder = os.path.dirname(local_path(layout, _intent_name(id)))
        make_folder(folder)
        replace_local(layout, _intent_name(id), id.encode(), durable=True)
        sync_folder(folder)
    except OSError as failure:
        hint = "nothing was removed; check permissions and free space"
        raise Unwritable(f"cannot record the purge of {id}: {failure.strerror}", hint) from None


def open_intents(layout: Layout) -> list[str]:
    """Return the ids of memories whose purge has not finished."""
    try:
        names = sorted(os.listdir(os.path.dirname(local_path(layout, f"{INTENTS_FOLDER}/x"))))
    except FileNotFoundError:
        return []
    except OSError as failure:
        raise Unwritable(
            f"cannot read the intents of purges: {failure.strerror}", "check permissions"
        ) from None
    found = []
    for name in names:
        with suppress(OSError), open_local(layout, f"{INTENTS_FOLDER}/{name}", "r") as stream:
            id = stream.read(MAX_ID_BYTES).decode("utf-8", "replace")
            if id and _intent_name(id) == f"{INTENTS_FOLDER}/{name}":
                found.append(id)
    return found


def close_intent(layout: Layout, id: str) -> None:
    """Remove the intent of a finished purge."""
    path = local_path(layout, _intent_name(id))
    try:
        with suppress(FileNotFoundError):
            os.unlink(path)
    except OSError as failure:
        raise Unwritable(f"cannot remove {path}: {failure.strerror}", "check permissions") from None


def clear_intents(layout: Layout) -> None:
    """Remove killed writers' temporary files from the folder, and the folder itself if no intent is in it."""
    folder = os.path.dirname(local_path(layout, f"{INTENTS_FOLDER}/x"))
    with suppress(OSError):  # the next command tries again
        for name in os.listdir(folder):
            if name.endswith(".writing"):
                os.unlink(os.path.join(folder, name))
        os.rmdir(folder)


def _intent_name(id: str) -> str:
    from hashlib import (
        sha256,  # hashed because an id may be a path; imported here because most commands have no intent
    )

    return f"{INTENTS_FOLDER}/{sha256(id.encode('utf-8', 'surrogateescape')).hexdigest()[:32]}"
