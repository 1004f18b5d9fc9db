"""Record which memories each session received: lines in `.rawko/local/told.tsv`, the latest last.

    time, session, asked, prompt, bytes of the transcript      a prompt came in
    time, session, told, tokens, keys                          the session received these memories
    time, session, lost                                        memories since the last prompt did not reach the model
    time, session, fresh                                       the host starts with an empty context

Sessions and prompts are stored as checksums. Errors are ignored: a repeated memory is better than a failed prompt.
"""

from __future__ import annotations

from ...model.clock import DAY, now
from ...model.errors import RawkoError
from ...model.record import record
from .private import LineFile, local_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..layout import Layout

FILE_NAME = "told.tsv"
MAX_FILE_BYTES = 128 * 1024  # some 600 prompts; the older half is dropped
MAX_AGE_DAYS = 7  # after that, a session receives a memory again
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
        lines = LineFile(local_path(layout, FILE_NAME)).lines()
    except RawkoError:
        return Told()
    mark, oldest = f"\t{checksum(session)}\t", now() - MAX_AGE_DAYS * DAY
    return _folded([line.split("\t") for line in lines if mark in line], oldest)


def _folded(lines: Iterable[list[str]], oldest: int) -> Told:
    """Fold the lines of a session; leave out memories that were lost or came before a fresh context."""
    before: list[tuple[int, list[str]]] = []  # tokens and keys of earlier prompts, and of the last one
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
        lines = LineFile(local_path(layout, FILE_NAME)).lines()
    except RawkoError:
        return 0
    mark = f"\t{checksum(session)}\t{ASKED}\t"
    times = (line.partition("\t")[0] for line in lines if mark in line)
    return sum(is_number(time) and int(time) >= at for time in times)


def note_asked(layout: Layout, session: str, prompt: str, heard: int) -> None:
    """Record the checksum of a prompt, and the transcript's size in bytes (`heard`) when it came in."""
    _note(layout, session, ASKED, prompt, str(heard))


def note_told(layout: Layout, session: str, tokens: int, keys: Iterable[str]) -> None:
    """Record the memories that a session receives."""
    _note(layout, session, TOLD, str(tokens), " ".join(keys))


def note_lost(layout: Layout, session: str) -> None:
    """Discard the memories since the last prompt, because the prompt was canceled."""
    _note(layout, session, LOST)


def note_fresh(layout: Layout, session: str) -> None:
    """Discard all memories of a session, because the host compacted, cleared or rebuilt its context."""
    _note(layout, session, FRESH)


def _note(layout: Layout, session: str, *fields: str) -> None:
    if not session:
        return
    try:
        line = "\t".join((str(now()), checksum(session), *fields))
        LineFile(local_path(layout, FILE_NAME), MAX_FILE_BYTES).append(line)
    except RawkoError:
        pass
