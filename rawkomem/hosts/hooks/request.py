"""Ask the agent to store a statement of the person: one short request, at most once in five turns."""

from __future__ import annotations

import os

from ...files.local.drafts import FILE_NAME
from ...files.local.private import local_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...files.layout import Layout
    from ...model.draft import Draft

MAX_QUOTE_CHARS = 400
NOTE = "a request from rawkomem, not from the person"
LEADS = {"correction": "The person corrected you", "agreed": "The person agreed with you"}
OTHERWISE = "The person said"
TEXT = """\
{lead}: “{quote}”
If this should hold in future sessions, store it with remember(title, text, reason, when, quote) or with
`rawkomem add --title T --body B --when W --quote Q`. Quote the person's own words. Otherwise ignore this."""


def request_for(layout: Layout, session: str) -> str:
    """Return the request to add to a prompt, and record it; empty without a draft, or soon after the last request."""
    if not session or not os.path.exists(local_path(layout, FILE_NAME)):
        return ""
    from ...files.local.drafts import Drafts
    from ...files.local.told import prompts_since
    from ...learn.drafts.requests import MIN_TURNS, next_request

    store = Drafts(layout)
    last = store.asked_at(session)
    draft = next_request(store.of_session(session), prompts_since(layout, session, last) if last else MIN_TURNS)
    if draft is None:
        return ""
    store.note_asked(draft)
    return _text(draft)


def _text(draft: Draft) -> str:
    from ...recall.show.frame import fence_lines, held, new_nonce
    from ...text.clean import one_line
    from ...text.safe import FENCE, safe_title

    quote = held(one_line(safe_title(draft.said), MAX_QUOTE_CHARS))
    lead = LEADS.get(draft.kind, OTHERWISE)
    return fence_lines(FENCE, new_nonce(), NOTE, TEXT.format(lead=lead, quote=quote).split("\n"))
