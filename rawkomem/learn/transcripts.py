"""Find transcripts and read a whole session from one: a stream of turns without injected text, repeats
and sub-agents.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import IO, Any

from ..files.layout import walk
from ..model.errors import BadInput, RawkoError
from ..model.values import record, replace
from ..redaction.find import redact
from ..text.chunks import fence_after
from ..text.clean import clean
from ..text.json_values import MAX_DOCUMENT_BYTES, json_documents, json_values
from ..text.prompts import is_notice, without_markup
from ..text.safe import (
    ATTENTION_DIRECTIVE,
    FENCE_TAG,
    GROUPED_HEADING,
    INJECTED_HEADING,
    JSON_KEYS,
)
from .chat_logs import (
    AIDER,
    is_aiders,
    is_history,
    session_of_history,
    turns_of_aider,
    turns_of_history,
    turns_of_log,
)
from .turns import (
    ASSISTANT,
    PEOPLE,
    QUEUED,
    SUBAGENT,
    SYSTEM,
    USER,
    Did,
    RunFacts,
    Turn,
    host_of,
    is_subagents,
    opens_subagent,
    session_of,
    turns_of_record,
)

Record = dict[str, Any]


# Remove what rawkomem or the host put into a prompt, so that injected memories are not learned
# again.
#
# Only the fenced format marks its end. Any other block is removed up to the next line that cannot
# be part of it, or up to the end of the text. So some of a person's words may be lost, but no
# injected text is taken for a person's.

FENCED_BLOCK = re.compile(
    rf"<{FENCE_TAG}([0-9a-f]{{4,64}})[ >].*?(?:</{FENCE_TAG}\1>|\Z)", re.DOTALL
)
# the first item of a plain list, and all below it
PLAIN_ITEMS = re.compile(
    r"^.{1,200} \((?:low|medium|high|critical), .{1,200}\.md:\d+(?:, .*)?\)$[\s\S]*",
    re.MULTILINE,
)
JSON_LIST_START = re.compile(r"\[\s*\{")
MAX_TRIES = 50  # places that are tried as the start of a JSON list
# First line of a block → test for the first line after it. In the first format, items start with `###`, and memories
# have no other unescaped heading. In the second, each item is one line. The third runs to the end of the text.
INJECTED_BLOCKS: dict[str, Callable[[str], bool]] = {
    INJECTED_HEADING: lambda line: line.startswith(("# ", "## ")),
    GROUPED_HEADING: lambda line: bool(line) and line[:2] not in ("- ", "##"),
    ATTENTION_DIRECTIVE.partition("\n")[0]: lambda line: False,
}


def without_injected(text: str) -> tuple[str, int]:
    """Return a text without blocks of injected memories, and the number of blocks."""
    text, blocks = FENCED_BLOCK.subn("", text)
    for opening in INJECTED_BLOCKS:
        text, found = _without_block(text, opening)
        blocks += found
    text, plain = PLAIN_ITEMS.subn("", text)
    text, lists = _without_json_lists(text)
    return text, blocks + plain + lists


def without_scaffolding(text: str) -> str:
    """Return a text without the host's markup; the arguments that a person typed after a command stay."""
    bare, _, typed = without_markup(text)
    return f"{bare.strip()}\n{typed}".strip() if typed else bare


def _without_block(text: str, opening: str) -> tuple[str, int]:
    """Return a text without the blocks that start with the line `opening`, and the number of blocks."""
    if opening not in text:
        return text, 0
    kept: list[str] = []
    blocks = 0
    inside = False
    fence = ""
    for line in text.split("\n"):
        before = fence
        fence = fence_after(fence, line)
        first = line.startswith(opening)
        if first and not inside:
            inside = True
            blocks = blocks + 1
            fence = ""
        elif inside and not before and not first and INJECTED_BLOCKS[opening](line):
            inside = False
        if not inside:
            kept.append(line)
    return "\n".join(kept), blocks


def _without_json_lists(text: str) -> tuple[str, int]:
    """Return a text without JSON lists of memories, and the number of lists."""
    kept = ""
    blocks = after = 0
    for items, start, end in json_values(text, JSON_LIST_START, MAX_TRIES):
        if all(isinstance(one, dict) and one.keys() >= {*JSON_KEYS} for one in items):
            kept += text[after:start]
            after = end
            blocks += 1
    return kept + text[after:], blocks


# Clean up a session's turns: mark templates of commands, drop repeated turns, and match results
# with their calls.

# the same words of a speaker within this many turns are one turn that the host wrote twice
REPEAT_TURNS = 8
# a turn this soon after a command is its template: nobody types that fast
TEMPLATE_MILLISECONDS = 2_000
# how the record of a slash command begins
COMMANDS = ("<command-name>", "<command-message>")
# after these tools, hosts record the text of the skill as a user turn
SKILL_TOOLS = (
    "Skill",
    "SlashCommand",
)
# how the output after a command without a template begins
LOCAL_OUTPUT = "<local-command-"


class Flow:
    """The state that is needed to interpret the next turn of a session."""

    def __init__(self) -> None:
        self._recent: deque[tuple[str, str]] = deque(maxlen=REPEAT_TURNS)
        # a person's words that the host has not delivered yet
        self._queued: Counter[str] = Counter()
        # a slash command or a skill that was the last turn
        self._command: Turn | None = None
        # hashes of calls: some hosts write a message again when it grows longer
        self._asked: set[int] = set()
        self._calls: dict[str, tuple[str, str]] = {}  # call id → tool and command
        self._failed: dict[str, bool | None] = {}  # call id → whether the call failed

    def follow(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        """Yield each turn of a session once, with its corrected role."""
        for turn in turns:
            if turn.did:
                tool = self._tool(turn, turn.did)
                if tool:
                    yield tool
                continue
            turn = self._spoken(turn)
            if turn.text and not self._is_repeated(turn):
                yield turn

    def _spoken(self, turn: Turn) -> Turn:
        typed = turn.text.strip()
        if turn.role == QUEUED:
            self._queued[typed] += 1
            return replace(turn, role=SYSTEM if is_notice(turn.text) else USER)
        if turn.role == USER and self._queued[typed] > 0:
            self._queued[typed] -= 1
            return replace(turn, text="")
        if not turn.text:
            return turn
        before = self._command
        self._command = None
        if turn.role != USER:
            return turn
        if typed.startswith(COMMANDS):
            self._command = turn
            return turn
        if before and not typed.startswith(LOCAL_OUTPUT):
            is_timed = before.at and turn.at
            if not is_timed or turn.at - before.at <= TEMPLATE_MILLISECONDS:
                self._command = before if is_timed else None
                return replace(turn, role=SYSTEM)
        return replace(turn, role=SYSTEM) if is_notice(turn.text) else turn

    def _tool(self, turn: Turn, did: Did) -> Turn | None:
        """Return a call, or a result with the tool and the command of its call; None if it was recorded before."""
        tool, command = self._calls.get(did.id, ("", ""))
        self._command = turn if (turn.tool or tool) in SKILL_TOOLS else None
        if not turn.text and did.failed is None:
            if did.id and hash(did) in self._asked:
                return None
            self._asked.add(hash(did))
            if did.id:
                self._calls[did.id] = turn.tool, did.command
            return turn
        if (
            did.id
            and did.id in self._failed
            and (did.failed is None or self._failed[did.id] is not None)
        ):
            return None
        self._failed[did.id] = did.failed
        return replace(
            turn,
            tool=turn.tool or tool,
            did=replace(did, command=did.command or command),
        )

    def _is_repeated(self, turn: Turn) -> bool:
        said = turn.role, turn.text
        if said in self._recent:
            return True
        self._recent.append(said)
        return False


# Read a session's transcript as a stream of turns. Its content shows which host wrote it.
#
# Lines that cannot be parsed, lines that are too long, and records of an unknown kind are skipped
# and counted.

MAX_LINE_BYTES = 8 * 2**20  # longer records are screenshots
SAMPLE_LINES = 15  # read to decide whether each line is a record
MAX_TURN_CHARS = 200_000  # longer turns are cut
# may come before the first record: byte order mark and white space
BLANKS = b"\xef\xbb\xbf \t\r\n"
SAMPLE_BYTES = 4096  # searched for a zero byte, which shows a binary file
# where Claude Code and Cursor keep the transcripts of sub-agents
SUBAGENTS_FOLDER = "subagents"
# keys under which a document keeps its records
LIST_KEYS = (
    "messages",
    "turns",
    "conversation",
    "history",
    "items",
)
MARKDOWN = "text"


class Transcript:
    """The turns of one session, with counts, which are complete after all turns are read."""

    def __init__(self, stream: IO[bytes]):
        self._stream = stream
        # lines, and parts of lines that are too long
        self._chunks = iter(lambda: stream.readline(MAX_LINE_BYTES), b"")
        self._ahead: list[bytes] = []
        self.host = MARKDOWN  # that wrote the records; MARKDOWN: it is a text
        self.session = ""
        # broken, unknown, too long, injected, sub-agent
        self.counts: Counter[str] = Counter()
        name = getattr(stream, "name", "")
        self._name = name if isinstance(name, str) else "the transcript"
        self._is_subagents = (
            SUBAGENTS_FOLDER in self._name.replace("\\", "/").split("/")[:-1]
        )

    def turns(self) -> Iterator[Turn]:
        """Yield every turn in order, without injected text in the words of people and agents."""
        for turn in Flow().follow(self._raw()):
            text = self._spoken(turn.role, turn.text[:MAX_TURN_CHARS])
            if text or turn.did:
                yield replace(turn, text=text)

    def _spoken(self, role: str, text: str) -> str:
        if role in PEOPLE:
            text, blocks = without_injected(without_scaffolding(clean(text)))
            self.counts["injected"] += blocks
        return text.strip()

    def _raw(self) -> Iterator[Turn]:
        for turn in self._recorded():
            if self._is_subagents or turn.role == SUBAGENT:
                self.counts["sub-agent"] += 1
            else:
                yield turn

    def _recorded(self) -> Iterator[Turn]:
        start = self._look_ahead().lstrip(BLANKS)[:1]
        if start not in (b"{", b"["):
            head = [*map(_decoded_line, self._ahead)]
            read = turns_of_log
            if is_aiders(head):
                self.host = AIDER
                read = turns_of_aider
            elif is_history(head):
                stem = os.path.splitext(os.path.basename(self._name))[0]
                self.session = session_of_history(head) or stem
                read = turns_of_history
            return read(_decoded_line(line) for line in self._lines())
        spread = start == b"[" or not any(_read_record(line) for line in self._ahead)
        records = self._document() if spread else self._records()
        return chain.from_iterable(self._turns_of(record) for record in records)

    def _look_ahead(self) -> bytes:
        """Return the first line that is not blank, and keep SAMPLE_LINES more: the first record may be incomplete."""
        first = next((line for line in self._chunks if line.strip(BLANKS)), b"")
        if b"\0" in first[:SAMPLE_BYTES]:
            problem = "the transcript is a binary file"
            raise BadInput(problem, "unpack it, or give another file")
        self._ahead = [first, *islice(self._chunks, SAMPLE_LINES)]
        return first

    def _lines(self) -> Iterator[bytes]:
        """Yield lines; skip and count those that are too long."""
        is_rest = False  # of a line that is too long
        for line in chain(self._ahead, self._chunks):
            ends = line.endswith(b"\n") or len(line) < MAX_LINE_BYTES
            if ends and not is_rest:
                yield line
            elif ends:
                self.counts["too long"] += 1
            is_rest = not ends

    def _records(self) -> Iterator[Record]:
        for line in self._lines():
            if not line.strip():
                continue
            record = _read_record(line)
            if record is None:
                self.counts["broken"] += 1
            else:
                yield from self._listed(record)

    def _document(self) -> Iterator[Record]:
        data = b"".join(self._ahead) + self._stream.read(MAX_DOCUMENT_BYTES)
        hint = "check that the file is complete, and export the session again"
        for value in json_documents(data, self._name, hint):
            yield from self._listed(value)

    def _listed(self, value: Any) -> Iterator[Record]:
        """Yield the records in a value: the items of the list that it is or contains, or the value itself."""
        items = value if isinstance(value, list) else [value]
        if isinstance(value, dict):
            self._is_subagents = self._is_subagents or opens_subagent(value)
            lists = [value[name] for name in LIST_KEYS if name in value]
            lists = [held for held in lists if isinstance(held, list)]
            if lists:
                self.session = self.session or session_of(value)
                items = lists[0]
        for item in items:
            if isinstance(item, dict):
                yield item
            else:
                self.counts["unknown"] += 1

    def _turns_of(self, record: Record) -> Iterator[Turn]:
        host = host_of(record)
        if not host:
            self.counts["unknown"] += 1
            return iter(())
        self.host = host if self.host == MARKDOWN else self.host
        if self._is_subagents or is_subagents(record):
            self.counts["sub-agent"] += 1
            return iter(())
        self.session = self.session or session_of(record)
        return turns_of_record(record, host)


def _decoded_line(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r\n")


def _read_record(line: bytes) -> Record | None:
    try:
        record = json.loads(line.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


# Read a whole session: its turns, its host, and the counts of skipped records.


@record
class Heard:
    """A session that was read."""

    run: RunFacts
    turns: tuple[Turn, ...]
    host: str
    session: str
    # reason → records: broken, unknown, too long, injected, sub-agent
    counts: dict[str, int]

    @property
    def has_speakers(self) -> bool:
        """Return whether the transcript names speakers. Without them, no text counts as a person's words."""
        return any(turn.role in (USER, ASSISTANT) for turn in self.turns)


def read_session(stream: IO[bytes], run: RunFacts) -> Heard:
    """Return a session. Agent and session id of `run` are filled from the transcript if they are empty."""
    transcript = Transcript(stream)
    turns = tuple(transcript.turns())
    session = run.session or transcript.session
    host = transcript.host
    told = replace(
        run,
        agent=run.agent or ("" if host == MARKDOWN else host),
        task=redact(run.task),
        error=redact(run.error),
        session=session,
    )
    counts = dict(+transcript.counts)
    return Heard(told, turns, host, session, counts)


# Find transcripts in files and folders, and find out when each session began.

# of files in a folder that are read
TRANSCRIPT_SUFFIXES = (
    ".jsonl",
    ".json",
    ".md",
    ".markdown",
    ".txt",
    ".log",
)
DATED_TURNS = 20  # first turns that are searched for a session's date


def transcripts_in(paths: Iterable[str]) -> list[str]:
    """Return each file among the paths and in their folders once, those of the oldest sessions first."""
    found = dict.fromkeys(
        os.path.abspath(file) for path in paths for file in _transcript_files(path)
    )
    return sorted(found, key=session_began)


def session_began(path: str) -> int:
    """Return when a session began, in milliseconds since 1970, by its first turns or else by the file's time.

    0 if the path is not a regular file or cannot be read.
    """
    if not os.path.isfile(path):
        return 0  # a pipe can be read only once
    try:
        with open(path, "rb") as stream:
            turns = islice(Transcript(stream).turns(), DATED_TURNS)
            began = next((turn.at for turn in turns if turn.at), 0)
        return began or int(os.stat(path).st_mtime * 1000)
    except (RawkoError, OSError):
        return 0


def _transcript_files(path: str) -> Iterator[str]:
    """Yield a file; of a folder, all files below it that may be transcripts and are not hidden."""
    if not os.path.isdir(path):
        yield path
        return
    for folder, names, files in walk(path):
        names[:] = [name for name in names if not name.startswith(".")]
        for name in files:
            file = os.path.join(folder, name)
            is_hidden = name.startswith(".")
            if (
                name.endswith(TRANSCRIPT_SUFFIXES)
                and not is_hidden
                and os.path.isfile(file)
            ):
                yield file
