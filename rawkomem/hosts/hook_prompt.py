"""Find the memories for a prompt: the last exchange of the transcript, the memories
that the session has in its context already, and the injection within the host's size limit.

A prompt waits for this file, so it reads a limited number of bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence

from ..files.layout import Layout
from ..files.session_records import (
    POINTER,
    Told,
    checksum,
    note_asked,
    note_fresh,
    note_lost,
    note_told,
    told_to,
)
from ..learn.turns import (
    ASSISTANT,
    USER,
    Turn,
    host_of,
    is_subagents,
    turns_of_record,
)
from ..model.entries import Task
from ..model.values import now, record, replace
from ..recall.inject import Injection
from ..recall.render import render
from ..repository import Repository
from ..text.chunks import count_tokens
from ..text.safe import FENCE_TAG
from .hook_calls import is_first_call
from .known_hosts import HOSTS, Call

MAX_TAIL_BYTES = 256 * 1024
# of the agent's last message: its end, because people answer the end
MAX_SAID_CHARS = 1_200
MAX_ASKED_CHARS = 600  # of the prompt before it: its beginning
MAX_UNKNOWN = 30  # records of no known host, after which a transcript is not read on
# every line of an agent has one of these
AGENT_MARKS = (b'"assistant', b'"ai', b'"model', b'"gemini', b'"agent')
# texts of the host
HOSTS_OWN = (
    "<",
    "[Request interrupted",
    "Caveat: ",
    "This session is being continued from",
)


@record
class Lately:
    """The last exchange of a session; what the transcript does not show is empty."""

    said: str = ""  # the agent's last message
    asked: str = ""  # the person's prompt before it

    @property
    def exchange(self) -> str:
        """Return the person's prompt, then the agent's message."""
        return "\n\n".join(part for part in (self.asked, self.said) if part)


def lately(transcript: str, prompt: str = "") -> Lately:
    """Return the last exchange of a transcript.

    `prompt` is the present one. It is skipped if the transcript already holds it.
    """
    end = transcript_tail(transcript)
    lines = end.split(b"\n")[::-1]
    marks = [mark for mark in AGENT_MARKS if mark in end]
    agents = _turns_of_lines(_lines_with(marks, lines))
    return lately_in(_turns_of_lines(lines), agents, prompt)


def _lines_with(marks: Sequence[bytes], lines: Iterable[bytes]) -> Iterable[bytes]:
    """Return the lines with one of the marks; parsing the others would take ten times as long."""
    if marks:
        return (line for line in lines if any(map(line.__contains__, marks)))
    return ()


def lately_in(
    people: Iterable[Turn],
    agents: Iterable[Turn],
    prompt: str,
) -> Lately:
    """Return the last exchange from turns with the latest first."""
    replies = (turn.text.strip() for turn in agents if turn.role == ASSISTANT)
    last_said = next(filter(None, replies), "")
    asked = (turn.text.strip() for turn in people if turn.role == USER)
    last_asked = next(
        (
            text
            for text in asked
            if text and text != prompt.strip() and not text.startswith(HOSTS_OWN)
        ),
        "",
    )
    return Lately(last_said[-MAX_SAID_CHARS:], last_asked[:MAX_ASKED_CHARS])


def transcript_tail(transcript: str, start: int = 0) -> bytes:
    """Return the last bytes of a transcript, at most MAX_TAIL_BYTES and from `start` on; empty if it is unreadable."""
    try:
        if not os.path.isfile(transcript):
            return b""
        with open(transcript, "rb", buffering=0) as stream:
            stream.seek(max(start, stream.seek(0, os.SEEK_END) - MAX_TAIL_BYTES))
            return stream.read(MAX_TAIL_BYTES)
    except OSError:
        return b""


def _turns_of_lines(lines: Iterable[bytes]) -> Iterator[Turn]:
    """Yield the turns of lines, the latest first, without lines that are incomplete or not records of the session."""
    unknown = 0
    for line in lines:
        try:
            record = json.loads(line.decode("utf-8", "replace"), strict=False)
        except (ValueError, RecursionError):
            continue
        host = host_of(record) if isinstance(record, dict) else ""
        unknown += not host
        if unknown > MAX_UNKNOWN:
            return
        if host and not is_subagents(record):
            yield from [*turns_of_record(record, host)][::-1]


# Track which memories a session has in its context: a compaction removes all, a cancelled prompt
# removes its own.

RESUMED = "resume"
# reasons for a start after which the old context may be gone
REBUILT = ("compact", "clear", RESUMED)
OPENING = "opening"  # the key of the text at the start of a session
# after this time, a repeated prompt counts as new, not as a cancelled one
MAX_CANCEL_MS = 120_000
# prompts with the same beginning count as the same: people edit what they cancelled
HEAD_CHARS = 40
# Text that a transcript holds once the agent began to answer: Claude Code, Cursor and Copilot; Codex; Gemini CLI
ANSWERED = (
    b'"assistant',
    b'"agent_message"',
    b'"reasoning"',
    b'"function_call"',
    b'"custom_tool_call"',
    b'"gemini"',
)


def received_ids(layout: Layout, session: str) -> frozenset[str]:
    """Return the ids of the memories of which a session has received the text."""
    keys = told_to(layout, session).keys
    return frozenset(
        key.rpartition("@")[0] for key in keys if not key.endswith(POINTER)
    )


def begin_session(layout: Layout, call: Call) -> bool:
    """Record that a session starts; return whether it needs an opening. A resumed session may still have one."""
    has_opening = call.why == RESUMED and OPENING in told_to(layout, call.session).keys
    if call.why in REBUILT:
        note_fresh(layout, call.session)
    note_told(layout, call.session, 0, [OPENING])
    return not has_opening


def hear_prompt(layout: Layout, call: Call) -> None:
    """Record a prompt. If the prompt before was cancelled, its memories no longer count as injected."""
    if not HOSTS[call.host].keeps_context:
        note_fresh(layout, call.session)
        return
    injected = told_to(layout, call.session)
    head = checksum(call.prompt.strip()[:HEAD_CHARS])
    if injected.prompt == head and _is_unanswered(injected, call.transcript):
        note_lost(layout, call.session)
    note_asked(layout, call.session, head, transcript_size(call.transcript))


def _is_unanswered(injected: Told, transcript: str) -> bool:
    """Return whether the last prompt is recent and the transcript shows no answer to it."""
    if not 0 <= now() - injected.at < MAX_CANCEL_MS:
        return False
    since = transcript_tail(transcript, max(0, injected.heard)) if transcript else b""
    return not any(mark in since for mark in ANSWERED)


def transcript_size(transcript: str) -> int:
    """Return the size of a transcript in bytes; -1 if there is none."""
    try:
        return os.stat(transcript).st_size if transcript else -1
    except OSError:
        return -1


FORM = "xml"  # has an end tag, which separates memories from the person's text below
MAX_SUBAGENT_TOKENS = 250  # of the memories for the task of a sub-agent
SUBAGENT_TOOLS = ("Agent", "Task")  # with which Claude Code starts a sub-agent


def recalled(repository: Repository, call: Call, room: int) -> Injection:
    """Record a prompt and return its injection, without the last memories if they exceed `room` bytes."""
    hear_prompt(repository.layout, call)
    budget = MAX_SUBAGENT_TOKENS if call.is_subagents else 0
    task = _task(repository, call)
    return _fitting(repository.inject(task, form=FORM, budget=budget), room)


def recalled_for_subagent(repository: Repository, call: Call) -> Injection | None:
    """Return the injection for the task of a sub-agent that starts; None if the transcript does not show its task."""
    task = _subagent_task(repository.layout, call)
    if not task:
        return None
    return repository.inject(
        Task(task, session=call.session), form=FORM, budget=MAX_SUBAGENT_TOKENS
    )


def _subagent_task(layout: Layout, call: Call) -> str:
    """Return the prompt that the agent wrote for a sub-agent: the first that none took yet, in its last message with one.

    The agent may have gone on meanwhile, because Claude Code does not wait for a sub-agent in the background.
    """
    tasks: list[tuple[str, str]] = []
    message = ""
    for line in transcript_tail(call.transcript).split(b"\n")[::-1]:
        if b'"tool_use"' not in line:
            continue
        try:
            reply = json.loads(line)["message"]
            started = [
                (str(part["id"]), str(part["input"]["prompt"]))
                for part in reply["content"][::-1]
                if part["type"] == "tool_use" and part["name"] in SUBAGENT_TOOLS
            ]
            if started and reply["id"] != (message or reply["id"]):
                break
            if started:
                message = reply["id"]
                tasks += started
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    free = (task for id, task in tasks[::-1] if is_first_call(layout, call.event, id))
    return next(free, "")


def rehearsed(
    repository: Repository,
    prompt: str,
    before: Sequence[Turn],
    injected: Told,
    room: int,
) -> Injection:
    """Return the injection for a prompt that follows some turns. Records nothing."""
    from ..repository.injecting import rehearse  # only replays need it

    turns = before[::-1]
    task = Task(prompt, lately=lately_in(turns, turns, prompt).exchange)
    return _fitting(rehearse(repository, task, injected, FORM), room)


def _fitting(injection: Injection, room: int) -> Injection:
    """Return an injection without its pointers, last memories and last notices if they exceed `room` bytes."""
    items = injection.items
    notices = injection.notices
    while len(injection.text.encode()) > room:
        if items and not injection.pointers:
            items = items[:-1]
        elif not injection.pointers:
            notices = notices[:-1]
        lines = [notice.line for notice in notices]
        text = render(items, FORM, vouched=injection.vouched, notices=lines)
        injection = replace(
            injection,
            items=items,
            pointers=(),
            notices=notices,
            text=text,
            tokens=count_tokens(text),
        )
    return injection


def _task(repository: Repository, call: Call) -> Task:
    """Return the task of a prompt, with the last exchange if there is a transcript."""
    prompt = call.prompt
    if call.is_subagents and FENCE_TAG in prompt:  # Copilot puts the rules before it
        from ..learn.transcripts import without_injected

        prompt, _ = without_injected(prompt)
    if not call.transcript:
        return Task(prompt, session=call.session)

    before = lately(call.transcript, prompt)
    return Task(prompt, session=call.session, lately=before.exchange)
