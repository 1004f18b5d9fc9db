"""Read a session's transcript as a stream of turns. Its content shows which host wrote it.

Lines that cannot be parsed, lines that are too long, and records of an unknown kind are skipped and counted.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any

from ...model.errors import BadInput
from ...model.record import replace
from ...text.clean import clean
from .chatlog import turns_in
from .flow import Flow
from .hosts import host_of, is_subagents, opens_subagent, turns_of
from .injected import without_injected, without_scaffolding
from .specstory import is_history, turns_of_history
from .turns import NOBODY, PEOPLE, SUBAGENT, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    Record = dict[str, Any]

MAX_LINE_BYTES = 8 * 2**20  # longer records are screenshots
SAMPLE_LINES = 15  # read to decide whether each line is a record
MAX_DOCUMENT_BYTES = 128 * 2**20  # of a transcript that is one JSON document: all of it must be in memory
MAX_TURN_CHARS = 200_000  # longer turns are cut
BLANKS = b"\xef\xbb\xbf \t\r\n"  # may come before the first record: byte order mark and white space
SAMPLE_BYTES = 4096  # searched for a zero byte, which shows a binary file
MIN_TALK_CHARS = 20_000  # warn if a longer text names no speaker
SUBAGENTS_FOLDER = "subagents"  # where Claude Code and Cursor keep the transcripts of sub-agents
READ = "transcripts of agents, JSON lists of role and content, SpecStory histories, and texts with lines like `## User`"
LIST_KEYS = ("messages", "turns", "conversation", "history", "items")  # keys under which a document keeps its records
MARKDOWN = "text"
UNPACKERS = {b"\x28\xb5\x2f\xfd": "zstd -d", b"\x1f\x8b": "gunzip"}


class Transcript:
    """The turns of one session, with counts and warnings, which are complete after all turns are read."""

    def __init__(self, stream: IO[bytes]):
        self._stream = stream
        self._ahead: list[bytes] = []
        self._hosts: Counter[str] = Counter()
        self.session = ""
        self.line = b""  # the record that was read last; empty if records are not lines
        self.counts: Counter[str] = Counter()  # broken, unknown, too long, injected, sub-agent
        self.warnings: list[str] = []
        name = getattr(stream, "name", "")
        self._name = name if isinstance(name, str) else ""
        self._is_subagents = SUBAGENTS_FOLDER in self._name.replace("\\", "/").split("/")[:-1]

    @property
    def host(self) -> str:
        """Return the name of the host that wrote most of the records; MARKDOWN for a text."""
        return self._hosts.most_common(1)[0][0] if self._hosts else MARKDOWN

    def turns(self) -> Iterator[Turn]:
        """Yield every turn in order, without injected text in the words of people and agents."""
        talk = 0
        for turn in Flow().follow(self._seen(self._raw())):
            turn = replace(turn, text=self._spoken(turn.role, turn.text[:MAX_TURN_CHARS]))
            talk = talk + len(turn.text) if turn.role == NOBODY and talk >= 0 else -1
            if turn.text or turn.did:
                yield turn
        if talk > MIN_TALK_CHARS:
            self.warnings.append(f"no speakers found; supported formats: {READ}")

    def _seen(self, turns: Iterator[Turn]) -> Iterator[Turn]:
        for turn in turns:
            self.session = self.session or turn.session
            yield turn

    def _spoken(self, role: str, text: str) -> str:
        if role in PEOPLE:
            text, blocks = without_injected(without_scaffolding(clean(text)))
            self.counts["injected"] += blocks
        return text.strip()

    def _raw(self) -> Iterator[Turn]:
        start = self._look_ahead().lstrip(BLANKS)[:1]
        if start not in (b"{", b"["):
            read = turns_of_history if is_history(_line(line) for line in self._ahead) else turns_in
            return self._own(read(_line(line) for line in self._lines()))
        spread = start == b"[" or not any(_read_record(line) for line in self._ahead)
        records = self._document() if spread else self._records()
        return chain.from_iterable(self._turns_of(record) for record in records)

    def _own(self, turns: Iterator[Turn]) -> Iterator[Turn]:
        """Yield the turns that are not a sub-agent's; count the others."""
        for turn in turns:
            if self._is_subagents or turn.role == SUBAGENT:
                self.counts["sub-agent"] += 1
            else:
                yield turn

    def _look_ahead(self) -> bytes:
        """Return the first line that is not blank, and keep SAMPLE_LINES more: the first record may be incomplete."""
        line = self._stream.readline(MAX_LINE_BYTES)
        _refuse_binary(line)
        while line and not line.strip(BLANKS):
            line = self._stream.readline(MAX_LINE_BYTES)
        self._ahead = [line, *islice(iter(lambda: self._stream.readline(MAX_LINE_BYTES), b""), SAMPLE_LINES)]
        return line

    def _lines(self) -> Iterator[bytes]:
        """Yield lines; skip and count those that are too long."""
        for line in chain(self._ahead, iter(lambda: self._stream.readline(MAX_LINE_BYTES), b"")):
            if len(line) < MAX_LINE_BYTES or line.endswith(b"\n"):
                yield line
                continue
            self.counts["too long"] += 1
            while line and not line.endswith(b"\n"):
                line = self._stream.readline(MAX_LINE_BYTES)

    def _records(self) -> Iterator[Record]:
        for line in self._lines():
            self.line = line
            if not line.strip():
                continue
            record = _read_record(line)
            if record is None:
                self.counts["broken"] += 1
            else:
                yield from self._listed(record)

    def _document(self) -> Iterator[Record]:
        data = b"".join(self._ahead) + self._stream.read(MAX_DOCUMENT_BYTES)
        if len(data) > MAX_DOCUMENT_BYTES:
            size = f"more than {MAX_DOCUMENT_BYTES >> 20} MB"
            raise BadInput(f"{self._name or 'the transcript'} is one JSON document of {size}", "split the file")
        try:
            value = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
        except (ValueError, RecursionError) as failure:
            what = f"{self._name or 'the transcript'} is not valid JSON: {failure}"
            raise BadInput(what, "check that the file is complete, and export the session again") from None
        return self._listed(value)

    def _listed(self, value: Any) -> Iterator[Record]:
        """Yield the records in a value: the items of the list that it is or contains, or the value itself."""
        if isinstance(value, dict):
            self._is_subagents = self._is_subagents or opens_subagent(value)
            within = next((value[name] for name in LIST_KEYS if isinstance(value.get(name), list)), None)
            if within is None:
                yield value
                return
            self.session = self.session or _session(value)
            self.line = b""
            value = within
        for record in value:
            if isinstance(record, dict):
                yield record
            else:
                self.counts["unknown"] += 1

    def _turns_of(self, record: Record) -> Iterator[Turn]:
        host = host_of(record)
        if not host:
            self.counts["unknown"] += 1
            return iter(())
        self._hosts[host] += 1
        if self._is_subagents or is_subagents(record):
            self.counts["sub-agent"] += 1
            return iter(())
        return turns_of(record, host)


def _refuse_binary(data: bytes) -> None:
    for magic, command in UNPACKERS.items():
        if data.startswith(magic):
            raise BadInput("the transcript is compressed", f"unpack it first, with: {command}")
    if b"\0" in data[:SAMPLE_BYTES]:
        raise BadInput("the transcript is a binary file", "give a .jsonl, .json, .md or .txt file")


def _line(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r\n")


def _read_record(line: bytes) -> Record | None:
    try:
        record = json.loads(line.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _session(document: Record) -> str:
    info = document.get("info")
    id = info.get("id") if isinstance(info, dict) else None
    named = id or document.get("sessionId") or document.get("session_id")
    return named if isinstance(named, str) else ""
