"""`rawkomem hook HOST EVENT`: read what the host says on stdin, answer in its dialect.

A hook never breaks its host: whatever goes wrong is no output, exit code 0, and one line in a local log. What could
fail to load is therefore imported where it can be caught.
"""

from __future__ import annotations

import os

from ..files.layout import Layout, find_layout
from ..learn.config import GUARD
from ..model.errors import NotFound, RawkoError
from .call import END, LEARN, PROMPT, START, TURN, Call, folders, read_call, read_stdin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..repository import Repository


def run(folder: str, arguments: list[str]) -> None:
    """Answer one call. Below a model that rawkomem itself asked there is nothing to say, or it would never end."""
    host, event, *rest = *arguments, "", ""
    layout: Layout | None = None
    try:
        if event == LEARN:
            layout = find_layout(folder)
            _learn(layout, host, rest[0])
            return
        data = read_stdin()
        if os.environ.get(GUARD):
            return
        layout = _layout(folder, None)
        call = read_call(host, event, data)
        layout = _layout(folder, call)
        if layout:
            _answer(layout, call)
    except Exception as failure:  # the host goes on, whatever it was
        if layout:
            _note(layout, host, event, failure)


def _layout(folder: str, call: Call | None) -> Layout | None:
    """The repository that the call is about; most folders on a machine have none, and that is nothing to tell."""
    for start in [folder] if folder else folders(call):
        try:
            return find_layout(start)
        except NotFound:
            continue
    return None


def _answer(layout: Layout, call: Call) -> None:
    from .once import is_first

    if call.event == PROMPT:
        if call.prompt.strip() and is_first(layout, PROMPT, call.session, call.prompt):
            _inject(_open(layout, call), call)
    elif call.event == START:
        if is_first(layout, START, call.session, call.why):
            _open_session(_open(layout, call), call)
    elif call.event in (TURN, END) and is_first(layout, call.event, call.session, call.reply, _state(call.transcript)):
        from .behind import leave_learner

        leave_learner(layout, call)


def _inject(repository: Repository, call: Call) -> None:
    from .dialect import ROOM, answer
    from .prompt import recalled

    injection = recalled(repository, call, ROOM[call.host])
    _say(answer(call, injection.text))
    repository.note_use(injection, call.session)
    repository.deepen_behind()


def _open_session(repository: Repository, call: Call) -> None:
    from .dialect import answer
    from .start import opening

    _say(answer(call, opening(repository)))
    repository.wake_sinks()


def _learn(layout: Layout, host: str, transcript: str) -> None:
    import sys

    from .behind import learn_behind

    learn_behind(_open(layout, Call(host, LEARN, {})), host, transcript, sys.stdin.buffer)


def _open(layout: Layout, call: Call) -> Repository:
    from ..repository import Repository

    return Repository(layout, lambda message: _warn(layout, call, message), via="agent")


def _warn(layout: Layout, call: Call, message: str) -> None:
    from .log import note

    note(layout, call.host, call.event, message)


def _say(data: bytes) -> None:
    """All of it, past Python's buffers: what a full disk or a closed pipe left in them would fail again at the end."""
    while data:
        data = data[os.write(1, data) :]


def _state(transcript: str) -> str:
    """A transcript as it is now: with more in it, the end of a turn is another one."""
    try:
        return f"{transcript} {os.stat(transcript).st_size}" if transcript else ""
    except OSError:
        return transcript


def _note(layout: Layout, host: str, event: str, failure: Exception) -> None:
    from .log import note

    try:
        said = failure.message if isinstance(failure, RawkoError) else f"{type(failure).__name__}: {failure}"
        note(layout, host, event, said)
    except Exception:  # the log itself cannot be loaded: there is nobody left to tell
        pass
