"""Implement `rawkomem hook HOST EVENT`: read the host's JSON on stdin as a Call, and answer in the
host's format.

A host may run a hook that was set up for another host, so the names of all hosts are understood in
every call. On any error the hook prints nothing and exits 0, so the host keeps working; the error
is in `.rawko/local/hook.log`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable

from ..files.journal import do_unwaited
from ..files.layout import Layout, find_layout, personal_root
from ..files.session_records import Drafts, note_fresh, prompts_since
from ..model.entries import AGREED, CORRECTION, DECISION, PREFERENCE, RULE, Draft
from ..model.errors import BadInput, NotFound, RawkoError
from ..model.user_settings import LEARNING_GUARD
from ..recall.inject import Injection
from ..recall.render import fence_lines, held, new_nonce
from ..repository import Repository
from ..text.safe import FENCE_TAG, safe_line
from .hook_calls import (
    COPIES_S,
    WINDOW_S,
    is_first_call,
    note_begin,
    note_end,
    note_failure,
    notice_of,
)
from .hook_prompt import begin_session, recalled
from .known_hosts import (
    ALIASES,
    COMPACT,
    END,
    EVENTS,
    HOSTS,
    LEARN,
    PROMPT,
    START,
    TALK,
    TURN,
    Call,
    Fields,
)

# Read the JSON that a host passes to a hook on stdin as a Call. Hosts use different names for its
# fields.
#
# A host may run a hook that was set up for another host (VS Code, Copilot and Cursor also read
# Claude Code's settings), so the names of all hosts are understood in every call.

# for the answers of a store outside this machine: hosts stop a hook after 5 to 10 s
MAX_STORE_WAIT_S = 2.0

FIELDS = (
    ("session_id", "session"), ("prompt", "prompt"), ("cwd", "folder"), ("transcript_path", "transcript"),
    ("last_assistant_message", "reply"), ("source", "why"), ("reason", "why"),
    ("prompt_id", "prompt_id"),
)  # fmt: skip  # Claude Code's names of fields → those of Call
MAX_INPUT_BYTES = (
    16 * 2**20
)  # enough for a prompt with a pasted log, or for the messages of a long turn
MAX_STDIN_BYTES = (
    512 * 2**20
)  # more input is read and dropped up to this, so that the host does not get a closed pipe
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # some Windows programs write it


def read_call(name: str, event: str, data: bytes) -> Call:
    """Return the call of a hook from its command line (host, event) and stdin. Raises BadInput if they are invalid."""
    name = ALIASES.get(name, name)
    if name not in HOSTS:
        raise BadInput(f"unknown host {name!r}", "one of " + ", ".join(HOSTS))
    event = dict(HOSTS[name].events).get(event, event)
    if event not in EVENTS:
        raise BadInput(f"unknown event {event!r}", "one of " + ", ".join(EVENTS))
    if len(data) > MAX_INPUT_BYTES:
        raise BadInput(f"more than {MAX_INPUT_BYTES >> 20} MB on stdin")
    try:
        fields = json.loads(data.removeprefix(BYTE_ORDER_MARK).decode(), strict=False)
    except (ValueError, RecursionError) as failure:
        raise BadInput(f"stdin is not JSON: {str(failure)[:80]}") from None
    if not isinstance(fields, dict):
        raise BadInput("stdin is not a JSON object")
    said = _call_fields(fields)
    if "transcript" not in said:
        said["transcript"] = next(filter(None, _environment("transcript_variable")), "")
    # Cursor marks its calls, even if it runs a hook of Claude Code's settings.
    marked = [
        other for other, host in HOSTS.items() if host.mark and host.mark in fields
    ]
    return Call(marked[0] if marked else name, event, fields, **said)


def _call_fields(fields: Fields) -> dict[str, str]:
    """Return the fields of a Call that the host passes; of several names, the first with a text counts."""
    said: dict[str, str] = {}
    for theirs, ours in (
        *FIELDS,
        *(pair for host in HOSTS.values() for pair in host.fields),
    ):
        if (
            ours not in said
            and theirs in fields
            and (text := _field_text(fields[theirs]))
        ):
            said[ours] = text
    return said


def read_stdin(descriptor: int = 0) -> bytes:
    """Return stdin up to about MAX_INPUT_BYTES; read and drop the rest. Return nothing if stdin is a terminal."""
    if os.isatty(descriptor):
        return b""
    kept: list[bytes] = []
    length = 0
    while length < MAX_STDIN_BYTES:
        piece = os.read(descriptor, 2**20)
        if not piece:
            break
        if length <= MAX_INPUT_BYTES:
            kept.append(piece)
        length += len(piece)
    return b"".join(kept)


def likely_folders(call: Call | None) -> list[str]:
    """Return the folders in which to look for the repository, the likeliest first."""
    named = [
        os.environ.get("RAWKOMEM_DIR", ""),
        call.folder if call else "",
        *_environment("project_variable"),
    ]
    return [*(folder for folder in named if folder), os.curdir]


def _environment(kind: str) -> list[str]:
    """Return the values of the environment variables that the hosts' field `kind` names."""
    return [
        os.environ.get(variable, "")
        for host in HOSTS.values()
        if (variable := getattr(host, kind))
    ]


def _field_text(value: object) -> str:
    """Return a text, or the first item of a list; empty for other values. Lone surrogates are replaced by `?`."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if not isinstance(value, str):
        return ""
    return (
        value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    )


# Ask the agent to store a statement of the person: one short request, at most once in five turns.

MIN_REQUEST_TURNS = 5  # human turns between two requests
# an agent can phrase these kinds better than the draft
ASKED_KINDS = (CORRECTION, RULE, PREFERENCE, DECISION, AGREED)
MAX_QUOTE_CHARS = 400
REQUEST_NOTE = "a request from rawkomem, not from the person"
LEADS = {
    CORRECTION: "The person corrected you",
    AGREED: "The person agreed with you",
}
OTHERWISE = "The person said"
REQUEST_TEXT = """\
{lead}: “{quote}”
If this should hold in future sessions, store it with remember(title, text, reason, when, quote) or with
`rawkomem add --title T --body B --when W --quote Q`. Quote the person's own words. Otherwise ignore this."""


def next_request(waiting: Iterable[Draft], turns_since: int) -> Draft | None:
    """Return the waiting draft with the highest score; None if none waits or the last request is too recent."""
    if turns_since < MIN_REQUEST_TURNS:
        return None
    open_ones = [
        draft for draft in waiting if not draft.asked and draft.kind in ASKED_KINDS
    ]
    return max(open_ones, key=lambda draft: draft.score, default=None)


def request_for(layout: Layout, session: str) -> str:
    """Return the request to add to a prompt, and record it; empty without a draft, or soon after the last request."""
    store = Drafts(layout)
    drafts = store.of_session(session)
    if not drafts:
        return ""
    last = store.asked_at(session)
    draft = next_request(
        drafts,
        prompts_since(layout, session, last) if last else MIN_REQUEST_TURNS,
    )
    if draft is None:
        return ""
    store.note_asked(draft)
    quote = held(safe_line(draft.said, MAX_QUOTE_CHARS))
    lead = LEADS.get(draft.kind, OTHERWISE)
    return fence_lines(
        FENCE_TAG,
        new_nonce(),
        REQUEST_NOTE,
        REQUEST_TEXT.format(lead=lead, quote=quote).split("\n"),
    )


# Implement `rawkomem hook HOST EVENT`: read the host's JSON on stdin, and answer in the host's
# format.
#
# On any error the hook prints nothing and exits 0, so the host keeps working; the error is in
# `.rawko/local/hook.log`. Modules that could fail to load are therefore imported where the failure
# can be caught.


def run_hook(folder: str, arguments: list[str]) -> None:
    """Answer one call. Do nothing inside a model call of rawkomem itself: that would start an endless loop."""
    host, event, transcript, session, last = [*arguments, "", "", "", "", ""][:5]
    layout: Layout | None = None
    try:
        if event == LEARN:
            layout = find_layout(folder)
            from .hook_sessions import learn_behind

            call = Call(host, LEARN, {}, session, transcript=transcript)
            learn_behind(
                _open_repository(layout, call), call, sys.stdin.buffer, last == END
            )
            return
        data = read_stdin()
        if os.environ.get(LEARNING_GUARD):
            return
        layout = _layout_of(folder, None)
        call = read_call(host, event, data)
        layout = _layout_of(folder, call)
        if layout:
            began = note_begin(layout, call.host, call.event)
            try:
                later = _answer(layout, call)
            finally:
                note_end(layout, began)
            if later:
                do_unwaited(later)
    except Exception as failure:  # the host must keep working after any error
        if layout:
            said = (
                failure.message
                if isinstance(failure, RawkoError)
                else f"{type(failure).__name__}: {failure}"
            )
            note_failure(layout, host, event, said)


def _layout_of(folder: str, call: Call | None) -> Layout | None:
    """Return the repository of a call, or None if its folder has none.

    Without one, prompts, starts and compactions use the user's own repository, if it exists.
    """
    for start in [folder] if folder else likely_folders(call):
        try:
            return find_layout(start)
        except NotFound:
            continue
    if (
        call
        and call.event in (PROMPT, START, COMPACT)
        and os.path.isdir(personal_root())
    ):
        return find_layout(os.path.dirname(personal_root()))
    return None


def _answer(layout: Layout, call: Call) -> Callable[[], None] | None:
    """Answer a call, or start the learner; return work for which the host does not wait.

    Do nothing if the host ignores the answer, or if it was given already.
    """
    if call.event in (PROMPT, START):
        if (
            HOSTS[call.host].is_heard(call)
            and (call.event == START or call.prompt.strip())
            and _is_first(layout, call)
        ):
            work = _inject if call.event == PROMPT else _open_session
            return work(_open_repository(layout, call), call)
    elif call.event == COMPACT:
        note_fresh(layout, call.session)
    elif call.event == TALK:
        from .hook_sessions import keep_messages

        keep_messages(layout, call)
    elif call.event in (TURN, END) and _is_first(layout, call):
        from .hook_sessions import leave_learner

        leave_learner(layout, call)
    return None


def _is_first(layout: Layout, call: Call) -> bool:
    """Tell whether this is the first call for its moment of a session."""
    within_s = WINDOW_S
    if call.event in (PROMPT, START):
        apart = call.host if HOSTS[call.host].is_apart(call) else ""
        words = (call.why if call.event == START else "", apart, call.prompt_id)
        if call.event == PROMPT and not call.prompt_id:
            within_s = COPIES_S
    else:
        words = (call.reply, _transcript_state(call.transcript), _last_message(call))
    return is_first_call(
        layout, call.event, call.session, call.prompt, *words, within_s=within_s
    )


def _inject(repository: Repository, call: Call) -> Callable[[], None]:
    request = request_for(repository.layout, call.session)
    injection = recalled(
        repository, call, HOSTS[call.host].max_context_bytes - len(request.encode())
    )
    _say(
        answer(
            call, injection.text + request, _notice(repository.layout, call, injection)
        )
    )
    repository.note_use(injection, call.session)
    repository.core.deepen_in_background()

    def note_prompt() -> None:
        from .hook_sessions import note_typed

        note_typed(repository.layout, call)

    return note_prompt


def _open_session(repository: Repository, call: Call) -> Callable[[], None] | None:
    from .hook_sessions import opening

    if (
        begin_session(repository.layout, call)
        and repository.layout.root != personal_root()
    ):
        _say(answer(call, opening(repository), _notice(repository.layout, call)))
    repository.core.wake_sinks()
    return None


def _notice(layout: Layout, call: Call, injection: Injection | None = None) -> str:
    """Return the line that the host shows to the person; empty if the host shows none, so that news are kept."""
    if not HOSTS[call.host].notice or call.is_subagents:
        return ""

    return notice_of(layout, injection)


def answer(call: Call, context: str, notice: str = "") -> bytes:
    """Return the answer in the host's format: context for the model, and a line for the person; empty if neither."""
    host = HOSTS[call.host]
    said = host.answer(call, context) if context else {}
    if notice and isinstance(said, dict):
        said = {**said, host.notice: notice}
    if not said:
        return b""
    return (
        said.encode("utf-8", "replace")
        if isinstance(said, str)
        else f"{json.dumps(said)}\n".encode()
    )


def _open_repository(layout: Layout, call: Call) -> Repository:
    repository = Repository(
        layout,
        lambda message: note_failure(layout, call.host, call.event, message),
        via="agent",
        layers=True,
    )
    repository.core.index.store_wait_s = MAX_STORE_WAIT_S
    return repository


def _say(data: bytes) -> None:
    """Write all bytes to stdout without Python's buffers, which would raise an error at exit if stdout is closed."""
    while data:
        data = data[os.write(1, data) :]


def _last_message(call: Call) -> str:
    """Return the last message of the call; a different one means that another turn ended."""
    messages = call.fields.get("messages")
    return repr(messages[-1]) if isinstance(messages, list) and messages else ""


def _transcript_state(transcript: str) -> str:
    """Return a transcript's name and size; a different size means that another turn ended."""
    try:
        return f"{transcript} {os.stat(transcript).st_size}" if transcript else ""
    except OSError:
        return transcript
