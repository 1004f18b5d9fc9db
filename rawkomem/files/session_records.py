"""Record injected memories, usage counts and drafts of sessions, in one file of lines each.

told.tsv          prompts, and the memories that each session received
usage.tsv         each injection; usage-counts.tsv caches the counts
drafts.tsv        drafts and the decisions about them
"""

from __future__ import annotations

import json
import os
from io import FileIO

from ..model.entries import Draft
from ..model.errors import NotFound, RawkoError
from ..model.values import DAY, TYPE_CHECKING, as_dict, now, record, replace
from .layout import Layout
from .private import LineFile, local_path, open_local

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence


Counts = dict[str, tuple[int, int]]


# Record which memories each session received: lines in `.rawko/local/told.tsv`, the latest last.
#
#     time, session, asked, prompt, bytes of the transcript      a prompt came in
#     time, session, told, tokens, keys                          the session received these memories
#     time, session, lost                                        memories since the last prompt did not reach the model
#     time, session, fresh                                       the host starts with an empty context
#
# Sessions and prompts are stored as checksums. Errors are ignored: a repeated memory is better
# than a failed prompt.

TOLD_FILE = "told.tsv"
MAX_TOLD_BYTES = 128 * 1024  # some 600 prompts; the older half is dropped
MAX_TOLD_DAYS = 7  # after that, a session receives a memory again
MAX_DIGITS = 18  # of a time or a size in a line
ASKED, TOLD, LOST, FRESH = "asked", "told", "lost", "fresh"


@record
class Told:
    """The memories that a session received since its context was last empty, and its last prompt."""

    keys: frozenset[str] = frozenset()
    tokens: int = 0
    prompt: str = ""  # checksum of the last prompt, or of its start
    at: int = 0  # time of that prompt
    heard: int = -1  # size of the transcript at that time; -1 if there was none


def checksum(*texts: str) -> str:
    """Return two checksums and the length of texts; a collision only repeats or omits one block of context."""
    from binascii import crc32  # importing hashlib takes longer than this whole module

    data = "\0".join(texts).encode("utf-8", "replace")
    return f"{crc32(data):08x}{crc32(data[::-1]):08x}-{len(data):x}"


def is_number(text: str) -> bool:
    """Tell whether a field is a number of at most MAX_DIGITS; Python cannot parse one with thousands of digits."""
    return text.isdecimal() and len(text) <= MAX_DIGITS


def told_to(layout: Layout, session: str) -> Told:
    """Return what a session received; an empty record for a session without a name."""
    if not session:
        return Told()
    try:
        lines = LineFile(local_path(layout, TOLD_FILE)).lines()
    except RawkoError:
        return Told()
    mark, oldest = f"\t{checksum(session)}\t", now() - MAX_TOLD_DAYS * DAY
    return _folded_told([line.split("\t") for line in lines if mark in line], oldest)


def _folded_told(lines: Iterable[list[str]], oldest: int) -> Told:
    """Fold the lines of a session; leave out memories that were lost or came before a fresh context."""
    before: list[
        tuple[int, list[str]]
    ] = []  # tokens and keys of earlier prompts, and of the last one
    last: list[tuple[int, list[str]]] = []
    prompt, asked_at, heard = "", 0, -1
    for at, _, what, *rest in (line for line in lines if len(line) > 2 and is_number(line[0])):
        if what == FRESH:
            before, last, prompt = [], [], ""
        elif what == LOST:
            last = []
        elif what == ASKED and len(rest) == 2:
            before, last = before + last, []
            prompt, asked_at, heard = rest[0], int(at), int(rest[1]) if is_number(rest[1]) else -1
        elif what == TOLD and len(rest) == 2 and is_number(rest[0]) and int(at) >= oldest:
            last.append((int(rest[0]), rest[1].split()))
    told = before + last
    keys = frozenset(key for _, own in told for key in own)
    return Told(keys, sum(tokens for tokens, _ in told), prompt, asked_at, heard)


def prompts_since(layout: Layout, session: str, at: int) -> int:
    """Return the number of prompts of a session since a time."""
    try:
        lines = LineFile(local_path(layout, TOLD_FILE)).lines()
    except RawkoError:
        return 0
    mark = f"\t{checksum(session)}\t{ASKED}\t"
    times = (line.partition("\t")[0] for line in lines if mark in line)
    return sum(is_number(time) and int(time) >= at for time in times)


def note_asked(layout: Layout, session: str, prompt: str, heard: int) -> None:
    """Record the checksum of a prompt, and the transcript's size in bytes (`heard`) when it came in."""
    _append_told(layout, session, ASKED, prompt, str(heard))


def note_told(layout: Layout, session: str, tokens: int, keys: Iterable[str]) -> None:
    """Record the memories that a session receives."""
    _append_told(layout, session, TOLD, str(tokens), " ".join(keys))


def note_lost(layout: Layout, session: str) -> None:
    """Discard the memories since the last prompt, because the prompt was canceled."""
    _append_told(layout, session, LOST)


def note_fresh(layout: Layout, session: str) -> None:
    """Discard all memories of a session, because the host compacted, cleared or rebuilt its context."""
    _append_told(layout, session, FRESH)


def _append_told(layout: Layout, session: str, *fields: str) -> None:
    if not session:
        return
    try:
        line = "\t".join((str(now()), checksum(session), *fields))
        LineFile(local_path(layout, TOLD_FILE), MAX_TOLD_BYTES).append(line)
    except RawkoError:
        pass


# Record each injection's time, tokens and memories: one line per injection in
# `.rawko/local/usage.tsv`.
#
# The file is never shortened. A second file caches the counts, so that each line is counted once:
# usage-counts.tsv   the number of counted bytes and the last counted line; then `id, count, last
# time` for each memory

USAGE_FILE = "usage.tsv"
COUNTS_FILE = "usage-counts.tsv"
MAX_SESSION_CHARS = 100
MAX_UNCOUNTED_BYTES = 256 * 1024  # some two thousand injections, quick to count; more are cached
MAX_LINE_BYTES = 64 * 1024  # of one line, for the binary search


@record
class Use:
    """One injection: time, session, tokens, memories. It has no memories if the session had received all before."""

    at: int
    session: str
    tokens: int
    ids: tuple[str, ...]
    saved: int = 0  # tokens of memories that were not repeated


@record
class Access:
    """How often a memory was injected, and the time of the last injection."""

    count: int = 0
    last: int = 0


def note_use(
    layout: Layout, at: int, session: str, tokens: int, ids: Sequence[str], saved: int = 0
) -> None:
    """Append one injection. Ignore errors: a prompt gets its memories even if the disk is full."""
    name = "".join(c if c.isprintable() and c != "\t" else " " for c in session)[:MAX_SESSION_CHARS]
    line = f"{at}\t{name}\t{tokens}\t{' '.join(ids)}" + (f"\t{saved}" if saved else "")
    try:
        size = LineFile(local_path(layout, USAGE_FILE)).append(line)
        if size // MAX_UNCOUNTED_BYTES > (size - len(line) - 1) // MAX_UNCOUNTED_BYTES:
            _counts(layout)
    except (RawkoError, OSError):
        pass


def uses(layout: Layout, since: int = 0) -> list[Use]:
    """Return every injection since a time, oldest first; skip lines that cannot be parsed."""
    try:
        with open_local(layout, USAGE_FILE, "r") as stream:
            stream.seek(_offset(stream, since) if since else 0)
            lines = stream.read().split(b"\n")
    except (OSError, RawkoError):
        return []
    return [use for use in _parsed_uses(lines) if use.at >= since]


def accesses(layout: Layout) -> dict[str, Access]:
    """Return id → Access of each injected memory; empty if the file cannot be read."""
    try:
        return {id: Access(*counted) for id, counted in _counts(layout).items()}
    except (OSError, RawkoError):
        return {}


def last_access(layout: Layout) -> dict[str, int]:
    """Return id → time of the last injection of each injected memory; empty if the file cannot be read."""
    return {id: access.last for id, access in accesses(layout).items()}


def _parsed_uses(lines: Sequence[bytes]) -> Iterator[Use]:
    for line in lines:
        parts = line.split(b"\t")
        if _is_use(parts):
            session, ids = parts[1].decode("utf-8", "replace"), parts[3].decode("utf-8", "replace")
            yield Use(
                int(parts[0]),
                session,
                int(parts[2]),
                (*ids.split(),),
                int(parts[4]) if parts[4:] else 0,
            )


def _is_use(parts: list[bytes]) -> bool:
    return (
        len(parts) in (4, 5)
        and parts[0].isdigit()
        and parts[2].isdigit()
        and (len(parts) == 4 or parts[4].isdigit())
    )


def _offset(stream: FileIO, since: int) -> int:
    """Return an offset at or before the first line since a time, by binary search: lines are ordered by time."""
    low, high = 0, stream.seek(0, os.SEEK_END)
    while high - low > MAX_LINE_BYTES:
        middle = (low + high) // 2
        stream.seek(middle)
        head, _, rest = stream.read(MAX_LINE_BYTES).partition(b"\n")
        at = rest.partition(b"\t")[0]
        if at.isdigit() and int(at) < since:
            low = middle + len(head) + 1
        else:
            high = middle
    return low


def _counts(layout: Layout) -> Counts:
    """Return the counts of all lines; cache them if many lines were not cached yet. Raises OSError and RawkoError."""
    try:
        with open_local(layout, USAGE_FILE, "r") as stream:
            start, counts = _cached(layout, stream)
            stream.seek(start)
            data = stream.read()
    except FileNotFoundError:
        return {}
    _count(data, counts)
    if len(data) > MAX_UNCOUNTED_BYTES and data.endswith(b"\n"):
        last_line = (
            data[-MAX_LINE_BYTES:].rstrip(b"\n").rpartition(b"\n")[2].decode("utf-8", "replace")
        )
        rows = (f"{id}\t{times}\t{last}" for id, (times, last) in counts.items())
        LineFile(local_path(layout, COUNTS_FILE)).replace(
            f"{start + len(data)}\t{last_line}", *rows
        )
    return counts


def _count(data: bytes, counts: Counts) -> None:
    """Add the injections in `data` to counts, without an object per line: a year has some 70,000 lines."""
    found: dict[bytes, list[int]] = {}
    for line in data.split(b"\n"):
        parts = line.split(b"\t")
        if _is_use(parts):
            at = int(parts[0])
            for id in parts[3].split():
                if id in found:
                    found[id].append(at)
                else:
                    found[id] = [at]
    for id, times in found.items():
        name = id.decode("utf-8", "replace")
        before, last = counts.get(name, (0, 0))
        counts[name] = before + len(times), max(last, *times)


def _cached(layout: Layout, stream: FileIO) -> tuple[int, Counts]:
    """Return the number of cached bytes and their counts; 0 and no counts if the file is another one."""
    try:
        head, *lines = LineFile(local_path(layout, COUNTS_FILE)).lines() or [""]
    except RawkoError:
        return 0, {}
    counted, _, last_line = head.partition("\t")
    ending = f"{last_line}\n".encode("utf-8", "replace")
    if not counted.isdecimal() or int(counted) < len(ending):
        return 0, {}
    stream.seek(int(counted) - len(ending))
    if stream.read(len(ending)) != ending:
        return 0, {}
    rows = (line.split("\t") for line in lines)
    return int(counted), {row[0]: (int(row[1]), int(row[2])) for row in rows}


# Store drafts on this machine: lines in `.rawko/local/drafts.tsv`, the latest last.
#
#     time, session, draft, id, JSON      a draft, or a newer version of it
#     time, session, asked, id            the agent of this session was asked to write the draft
#     time, session, kept, id, entry      the draft became a memory, which this entry created or changed
#     time, session, dropped, id          the draft was discarded; the same words of this session make no new draft
#     time, session, reopened, id         the decision was undone
#
# Sessions are checksums, so that a prompt finds the lines of its own session without reading JSON.

DRAFTS_FILE = "drafts.tsv"
MAX_DRAFTS_BYTES = 4 * 2**20  # some 4,000 drafts; the older half is dropped
MAX_CANDIDATES = 5  # drafts that an error lists for an ambiguous name
MAX_DRAFT_DAYS = 30  # after which a draft expires
DRAFT, AGENT_ASKED, KEPT, DROPPED, REOPENED = "draft", "asked", "kept", "dropped", "reopened"
TUPLES = ("when", "tags", "corrects", "again")


class Drafts:
    """Reads and writes the drafts of a repository."""

    def __init__(self, layout: Layout):
        self._layout = layout

    def all(self) -> list[Draft]:
        """Return the undecided drafts, latest first."""
        found, _ = _folded_drafts(self._lines())
        return sorted(found.values(), key=lambda draft: (-draft.at, draft.id))

    def of_session(self, session: str) -> list[Draft]:
        """Return the undecided drafts of a session, oldest first."""
        if not session:
            return []
        mark = f"\t{checksum(session)}\t"
        found, _ = _folded_drafts([line for line in self._lines() if mark in line])
        return sorted(found.values(), key=lambda draft: (draft.at, draft.id))

    def get(self, name: str) -> Draft:
        """Return a draft by its id, by the start or the end of its id, or by words of its title.

        Raise NotFound if no draft or more than one draft matches.
        """
        drafts = self.all()
        words = {*name.casefold().split()}
        rules: tuple[Callable[[Draft], bool], ...] = (
            lambda draft: draft.id == name,
            lambda draft: draft.id.startswith(name),
            lambda draft: draft.id.endswith(name),
            lambda draft: words <= {*draft.title.casefold().split()},
        )
        found = next((some for rule in rules if words and (some := [*filter(rule, drafts)])), [])
        if len(found) != 1:
            several = "; ".join(f"{draft.id} ({draft.title})" for draft in found[:MAX_CANDIDATES])
            wrong = (
                f"{name!r} matches several drafts: {several}"
                if found
                else f"there is no draft {name!r}"
            )
            raise NotFound(wrong, "run 'rawkomem drafts' for a list")
        return found[0]

    def decided(self) -> frozenset[str]:
        """Return the ids of drafts that were kept or dropped."""
        return _folded_drafts(self._lines())[1]

    def put(self, drafts: Iterable[Draft]) -> None:
        """Store new drafts, or newer versions of known ones."""

        lines = ((draft, json.dumps(_draft_fields(draft), ensure_ascii=False)) for draft in drafts)
        self._append(*((draft.session, DRAFT, draft.id, text) for draft, text in lines))

    def asked_at(self, session: str) -> int:
        """Return when the agent of a session was last asked to write a draft; 0 if never."""
        marks = f"\t{checksum(session)}\t{AGENT_ASKED}\t"
        return max((_time_of_line(line) for line in self._lines() if marks in line), default=0)

    def forget(self, texts: Iterable[str]) -> None:
        """Remove every draft that shares text with purged texts."""
        gone = [" ".join(text.split()) for text in texts]
        lines = self._lines()
        kept = [
            line for line in lines if not _shares_text(_folded_drafts([line], 0)[0].values(), gone)
        ]
        if len(kept) < len(lines):
            self._file().replace(*kept)

    def note_asked(self, draft: Draft) -> None:
        """Record that the agent was asked to write a draft."""
        self._append((draft.session, AGENT_ASKED, draft.id))

    def decide(self, draft: Draft, what: str, entry: str = "") -> None:
        """Record that a draft was DROPPED, or KEPT as a memory that `entry` created or changed."""
        self._append((draft.session, what, draft.id, entry))

    def reopen(self, ids: Collection[str] = (), kept_as: Collection[str] = ()) -> list[str]:
        """Let decided drafts wait again: those with these ids, and those kept by these entries; return their ids."""
        found = {}
        for line in self._lines():
            _, session, what, id, entry = (*line.split("\t", 4), "", "", "", "")[:5]
            if what in (KEPT, DROPPED) and (id in ids or entry in kept_as):
                found[id] = "\t".join((str(now()), session, REOPENED, id))
        if found:
            self._file().append(*found.values())
        return [*found]

    def expire(self) -> int:
        """Remove lines older than MAX_DRAFT_DAYS; return how many undecided drafts were removed."""
        lines, oldest = self._lines(), now() - MAX_DRAFT_DAYS * DAY
        kept = [line for line in lines if _time_of_line(line) >= oldest]
        gone = len(_folded_drafts(lines, 0)[0]) - len(_folded_drafts(kept, 0)[0])
        if len(kept) < len(lines):
            self._file().replace(*kept)
        return gone

    def _append(self, *records: tuple[str, ...]) -> None:
        if records:
            at = str(now())
            self._file().append(
                *("\t".join((at, checksum(session), *rest)) for session, *rest in records)
            )

    def _file(self) -> LineFile:
        return LineFile(local_path(self._layout, DRAFTS_FILE), MAX_DRAFTS_BYTES)

    def _lines(self) -> list[str]:
        try:
            return self._file().lines()
        except RawkoError:
            return []


def draft_id(session: str, words: str) -> str:
    """Return the id of a draft; the same words in the same session always get the same id."""
    return "drf_" + checksum(session, " ".join(words.split())).partition("-")[0][:12]


def _folded_drafts(
    lines: Iterable[str], oldest: int = -1
) -> tuple[dict[str, Draft], frozenset[str]]:
    """Return the undecided drafts by id, and the ids of decided ones; `oldest` = 0 includes expired drafts."""
    oldest = now() - MAX_DRAFT_DAYS * DAY if oldest < 0 else oldest
    found: dict[str, Draft] = {}
    known: dict[str, Draft] = {}
    decided: set[str] = set()
    for line in lines:
        at, _, what, id, *rest = (*line.split("\t", 4), "", "", "")[:5]
        if not is_number(at) or int(at) < oldest or not id:
            continue
        if what in (KEPT, DROPPED):
            decided.add(id)
            if id in found:
                known[id] = found.pop(id)
        elif what == REOPENED:
            decided.discard(id)
            if id in known:
                found[id] = known.pop(id)
        elif what == AGENT_ASKED and id in found:
            found[id] = replace(found[id], asked=int(at))
        elif what == DRAFT and id not in decided:
            draft = _parsed_draft(rest[0])
            if draft:
                found[id] = draft
    return found, frozenset(decided)


def _shares_text(drafts: Iterable[Draft], texts: Sequence[str]) -> bool:
    """Tell whether a line of a draft contains one of the texts, or is part of one."""
    for draft in drafts:
        said = [draft.said, draft.text, draft.title, draft.before, draft.task]
        said += [value for _, value in draft.fields]
        words = [" ".join(part.split()) for one in said for part in one.split("\n")]
        if any(word and (word in text or text in word) for word in words for text in texts if text):
            return True
    return False


def _time_of_line(line: str) -> int:
    at = line.partition("\t")[0]
    return int(at) if is_number(at) else 0


def _draft_fields(draft: Draft) -> dict[str, object]:
    """Return the non-empty fields as JSON values."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in as_dict(draft).items() if v}


def _parsed_draft(text: str) -> Draft | None:
    """Parse the JSON of a draft; return None if it is not one, for example because somebody edited the file."""
    try:
        given = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict) or not all(
        isinstance(given.get(key), str) for key in ("id", "kind")
    ):
        return None
    fields = {name: given[name] for name in Draft.__annotations__ if name in given}
    for name, value in fields.items():
        if name == "fields":
            pairs = (
                [pair for pair in value if isinstance(pair, list)]
                if isinstance(value, list)
                else []
            )
            fields[name] = tuple((str(pair[0]), str(pair[1])) for pair in pairs if len(pair) == 2)
        elif name in TUPLES:
            fields[name] = tuple(str(part) for part in value) if isinstance(value, list) else ()
        elif name in ("at", "asked"):
            fields[name] = value if isinstance(value, int) else 0
        elif name == "score":
            fields[name] = float(value) if isinstance(value, int | float) else 0.0
        else:
            fields[name] = str(value)
    return Draft(**fields)
