"""Implement `rawkomem hook HOST EVENT`: read the host's JSON on stdin as a Call, and answer in the
host's format.

A host may run a hook that was set up for another host, so the names of all hosts are understood in
every call. On any error the hook prints nothing and exits 0, so the host keeps working; the error
is in `.rawko/local/hook.log`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable

from ..files.background import do_unwaited
from ..files.layout import Layout, find_layout, personal_root
from ..files.session_records import (
    AT_START,
    DraftRecords,
    note_fresh,
    note_told,
    prompts_since,
)
from ..model.entries import AGREED, CORRECTION, DECISION, PREFERENCE, RULE, Draft
from ..model.errors import RawkoError
from ..model.user_settings import LEARNING_GUARD
from ..recall.inject import Injection
from ..recall.render import fence_lines, mark_text, new_nonce
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
from .hook_prompt import (
    begin_session,
    recalled,
    recalled_for_subagent,
    received_ids,
    transcript_size,
)
from .known_hosts import (
    ACT_EVENTS,
    COMPACT,
    END,
    HOSTS,
    LEARN,
    PROMPT,
    START,
    SUBAGENT,
    TALK,
    TURN,
    Call,
    as_json,
    project_of,
    read_call,
    read_stdin,
    say,
)

# for the answers of a store outside this machine: hosts stop a hook after 5 to 10 s
MAX_STORE_WAIT_S = 2.0

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
        draft
        for draft in waiting
        if not draft.asked and not draft.more and draft.kind in ASKED_KINDS
    ]
    return max(open_ones, key=lambda draft: draft.score, default=None)


def request_for(layout: Layout, session: str) -> str:
    """Return the request to add to a prompt, and record it; empty without a draft, or soon after the last request."""
    store = DraftRecords(layout)
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
    quote = mark_text(safe_line(draft.said, MAX_QUOTE_CHARS))
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
            if isinstance(failure, RawkoError):
                reason = failure.message
            else:
                reason = f"{type(failure).__name__}: {failure}"
            note_failure(layout, host, event, reason)


def _layout_of(folder: str, call: Call | None) -> Layout | None:
    """Return the repository of a call, or None if its folder has none.

    Without one, prompts, starts and compactions use the user's own repository, if it exists.
    """
    layout = project_of(folder, call)
    if (
        not layout
        and call
        and call.event in (PROMPT, START, COMPACT)
        and os.path.isdir(personal_root())
    ):
        return find_layout(os.path.dirname(personal_root()))
    return layout


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
    elif call.event == SUBAGENT and _is_first(layout, call):
        _open_subagent(_open_repository(layout, call), call)
    elif call.event == COMPACT:
        note_fresh(layout, call.session)
    elif call.event in ACT_EVENTS:  # by the host's own name
        from ..index.act_table import guarding
        from .hook_acts import answer_act

        if response := answer_act(guarding(layout, ""), call, {}):
            say(as_json(response))
    elif call.event == TALK:
        from .hook_sessions import keep_messages

        keep_messages(layout, call)
    elif call.event in (TURN, END) and _is_first(layout, call):
        from .hook_sessions import leave_learner

        leave_learner(layout, call)
    return None


def _is_first(layout: Layout, call: Call) -> bool:
    """Return whether this is the first call for its moment of a session."""
    within_s = WINDOW_S
    if call.event in (PROMPT, START, SUBAGENT):
        apart = call.host if HOSTS[call.host].is_apart(call) else ""
        words = (call.why if call.event == START else "", apart, call.prompt_id)
        if call.event == PROMPT and not call.prompt_id:
            within_s = COPIES_S
    else:
        # a different size, or a different last message, means that another turn ended
        state = f"{call.transcript} {transcript_size(call.transcript)}"
        words = (call.reply, state, _last_message(call))
    return is_first_call(
        layout, call.event, call.session, call.prompt, *words, within_s=within_s
    )


def _inject(repository: Repository, call: Call) -> Callable[[], None]:
    request = request_for(repository.layout, call.session)
    injection = recalled(
        repository, call, HOSTS[call.host].max_context_bytes - len(request.encode())
    )
    say(
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

    received: Collection[str] = ()
    if call.why == COMPACT:
        received = received_ids(repository.layout, call.session)
    if (
        begin_session(repository.layout, call)
        and repository.layout.root != personal_root()
    ):
        begun = opening(repository, received, HOSTS[call.host].max_context_bytes)
        say(answer(call, begun.text, _notice(repository.layout, call)))
        keys = [f"{AT_START}{memory.id}@{memory.worded}" for memory in begun.in_full]
        if keys:
            note_told(repository.layout, call.session, 0, keys)
    repository.core.wake_sinks()
    return None


def _open_subagent(repository: Repository, call: Call) -> None:
    """Answer with the rules that always apply, and with the memories for the sub-agent's task if the transcript shows it.

    A host that also calls us at the prompt of a sub-agent gets the memories there.
    """
    from .hook_sessions import rules_for_subagent

    rules = rules_for_subagent(repository)
    injection = recalled_for_subagent(repository, call)
    say(answer(call, rules + (injection.text if injection else "")))
    if injection:
        repository.note_use(injection, call.session)


def _notice(layout: Layout, call: Call, injection: Injection | None = None) -> str:
    """Return the line that the host shows to the person; empty if the host shows none, so that news are kept."""
    if not HOSTS[call.host].notice or call.is_subagents:
        return ""

    return notice_of(layout, injection)


def answer(call: Call, context: str, notice: str = "") -> bytes:
    """Return the answer in the host's format: context for the model, and a line for the person; empty if neither."""
    host = HOSTS[call.host]
    response = host.answer(call, context) if context else {}
    if notice and isinstance(response, dict):
        response = {**response, host.notice: notice}
    if not response:
        return b""
    if isinstance(response, str):
        return response.encode("utf-8", "replace")
    return as_json(response)


def _open_repository(layout: Layout, call: Call) -> Repository:
    repository = Repository(
        layout,
        lambda message: note_failure(layout, call.host, call.event, message),
        via="agent",
        layers=True,
    )
    repository.core.index.store_wait_s = MAX_STORE_WAIT_S
    return repository


def _last_message(call: Call) -> str:
    """Return the last message of the call; empty if it passes none."""
    messages = call.fields.get("messages")
    return repr(messages[-1]) if isinstance(messages, list) and messages else ""
