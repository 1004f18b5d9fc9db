"""Implement `rawkomem hook HOST EVENT`: read the host's JSON on stdin, and answer in the host's format.

On any error the hook prints nothing and exits 0, so the host keeps working; the error is in `.rawko/local/hook.log`.
Modules that could fail to load are therefore imported where the failure can be caught.
"""

from __future__ import annotations

import json
import os

from ...files.layout import Layout, find_layout, personal_root
from ...files.local.background import unwaited
from ...model.errors import NotFound, RawkoError
from ...model.user_settings import GUARD
from ..host import COMPACT, END, LEARN, PROMPT, START, TALK, TURN, Call
from ..records import HOSTS
from .call import folders, read_call, read_stdin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...recall.inject import Injection
    from ...repository import Repository


def run(folder: str, arguments: list[str]) -> None:
    """Answer one call. Do nothing inside a model call of rawkomem itself: that would start an endless loop."""
    host, event, transcript, session, last = [*arguments, "", "", "", "", ""][:5]
    layout: Layout | None = None
    try:
        if event == LEARN:
            layout = find_layout(folder)
            _learn(layout, host, transcript, session, last == END)
            return
        data = read_stdin()
        if os.environ.get(GUARD):
            return
        layout = _layout(folder, None)
        call = read_call(host, event, data)
        layout = _layout(folder, call)
        if layout:
            _timed(layout, call)
    except Exception as failure:  # the host must keep working after any error
        if layout:
            said = failure.message if isinstance(failure, RawkoError) else f"{type(failure).__name__}: {failure}"
            _note(layout, host, event, said)


def _layout(folder: str, call: Call | None) -> Layout | None:
    """Return the repository of a call, or None if its folder has none.

    Without one, prompts, starts and compactions use the user's own repository, if it exists.
    """
    for start in [folder] if folder else folders(call):
        try:
            return find_layout(start)
        except NotFound:
            continue
    if call and call.event in (PROMPT, START, COMPACT) and os.path.isdir(personal_root()):
        return find_layout(os.path.dirname(personal_root()))
    return None


def _timed(layout: Layout, call: Call) -> None:
    """Answer a call and log how long it took. If the log has no end of a call, the host stopped it."""
    from .calls import begin, end

    began = begin(layout, call.host, call.event)
    try:
        _answer(layout, call)
    finally:
        end(layout, call.host, call.event, began)


def _answer(layout: Layout, call: Call) -> None:
    """Answer a call, or start the learner. Do nothing if the host ignores the answer, or if it was given already."""
    if call.event in (PROMPT, START):
        if HOSTS[call.host].is_heard(call) and (call.event == START or call.prompt.strip()) and _is_first(layout, call):
            (_inject if call.event == PROMPT else _open_session)(_open(layout, call), call)
    elif call.event == COMPACT:
        from ...files.local.told import note_fresh

        note_fresh(layout, call.session)
    elif call.event == TALK:
        from .behind import keep_messages

        keep_messages(layout, call)
    elif call.event in (TURN, END) and _is_first(layout, call):
        from .behind import leave_learner

        leave_learner(layout, call)


def _is_first(layout: Layout, call: Call) -> bool:
    """Tell whether this is the first call for its moment of a session."""
    from .once import COPIES_S, WINDOW_S, is_first

    if call.event in (PROMPT, START):
        said = call.prompt if call.event == PROMPT else call.why
        apart = call.host if HOSTS[call.host].is_apart(call) else ""
        within_s = WINDOW_S if call.event == START or call.prompt_id else COPIES_S
        return is_first(layout, call.event, call.session, said, apart, call.prompt_id, within_s=within_s)
    return is_first(layout, call.event, call.session, call.prompt, call.reply, _state(call.transcript), _last(call))


def _inject(repository: Repository, call: Call) -> None:
    from .prompt import recalled
    from .request import request_for

    request = request_for(repository.layout, call.session)
    injection = recalled(repository, call, HOSTS[call.host].max_context_bytes - len(request.encode()))
    _say(answer(call, injection.text + request, _notice(repository.layout, call, injection)))
    repository.note_use(injection, call.session)
    unwaited(lambda: _note_prompt(repository.layout, call))
    repository.core.deepen_in_background()


def _note_prompt(layout: Layout, call: Call) -> None:
    from .said import note_prompt

    note_prompt(layout, call)


def _open_session(repository: Repository, call: Call) -> None:
    from .session import begin
    from .start import opening

    if begin(repository.layout, call) and repository.layout.root != personal_root():
        _say(answer(call, opening(repository), _notice(repository.layout, call)))
    repository.core.wake_sinks()


def _notice(layout: Layout, call: Call, injection: Injection | None = None) -> str:
    """Return the line that the host shows to the person; empty if the host shows none, so that news are kept."""
    if not HOSTS[call.host].notice or call.is_subagents:
        return ""
    from .notice import notice_of

    return notice_of(layout, injection)


def answer(call: Call, context: str, notice: str = "") -> bytes:
    """Return the answer in the host's format: context for the model, and a line for the person; empty if neither."""
    host = HOSTS[call.host]
    said = host.answer(call, context) if context else {}
    if notice and isinstance(said, dict):
        said = {**said, host.notice: notice}
    if not said:
        return b""
    return said.encode("utf-8", "replace") if isinstance(said, str) else f"{json.dumps(said)}\n".encode()


def _learn(layout: Layout, host: str, transcript: str, session: str, ended: bool) -> None:
    import sys

    from .behind import learn_behind

    call = Call(host, LEARN, {}, session, transcript=transcript)
    learn_behind(_open(layout, call), call, sys.stdin.buffer, ended)


def _open(layout: Layout, call: Call) -> Repository:
    from ...repository import Repository

    return Repository(layout, lambda message: _note(layout, call.host, call.event, message), via="agent", layers=True)


def _say(data: bytes) -> None:
    """Write all bytes to stdout without Python's buffers, which would raise an error at exit if stdout is closed."""
    while data:
        data = data[os.write(1, data) :]


def _last(call: Call) -> str:
    """Return the last message of the call; a different one means that another turn ended."""
    messages = call.fields.get("messages")
    return repr(messages[-1]) if isinstance(messages, list) and messages else ""


def _state(transcript: str) -> str:
    """Return a transcript's name and size; a different size means that another turn ended."""
    try:
        return f"{transcript} {os.stat(transcript).st_size}" if transcript else ""
    except OSError:
        return transcript


def _note(layout: Layout, host: str, event: str, message: str) -> None:
    try:
        from .log import note

        note(layout, host, event, message)
    except Exception:  # the log cannot be loaded, and there is no other place to report it
        pass
