"""Carry out what a person does on the page: add, edit, link, decide on memories and drafts, undo."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Any

from ...files.append import Written
from ...git.runner import user_name
from ...learn.drafts import exchange_of_draft
from ...model.entries import Draft, Memory
from ...model.errors import BadInput, RawkoError, Refused
from ...model.values import CREATES, GROUPS
from ...redaction.find import redact
from ...repository import Repository
from ...repository.core import warn_on_stderr
from ...text.clean import clean, one_line
from .page_markdown import Meant

# Compare two texts word by word, so that a reviewer sees what changes.

MAX_WORDS = 8_000  # and spaces of one text; longer texts are not compared: both are shown in full
WORD_PATTERN = re.compile(r"\w+|[^\w\s]|\s+")
MIN_SHARED = 0.4  # least common share of the shorter text; below it, both texts are shown in full
SAME, OLD, NEW = "same", "old", "new"


def difference(old: str, new: str) -> list[tuple[str, str]]:
    """Return the parts of both texts in reading order, each marked as SAME, OLD (removed) or NEW (added)."""
    one, other = WORD_PATTERN.findall(old), WORD_PATTERN.findall(new)
    parts: list[tuple[str, str]] = []
    if max(len(one), len(other)) <= MAX_WORDS:
        for what, i, j, k, m in SequenceMatcher(None, one, other).get_opcodes():
            if what == "equal":
                parts.append((SAME, "".join(one[i:j])))
            else:
                parts += [(OLD, "".join(one[i:j])), (NEW, "".join(other[k:m]))]
    shared = sum(len(text) for what, text in parts if what == SAME)
    if shared < MIN_SHARED * min(len(old), len(new)):
        parts = [(OLD, old), (NEW, new)]
    return [part for part in parts if part[1]]


# Carry out votes and reviews that a person makes on the page. Each function makes one library
# call.

MAX_REASON_CHARS = 500


def vote(repository: Repository, said: Mapping[str, Any]) -> dict[str, Any]:
    """Store a vote: helpful or harmful."""
    id, signal, reason = (text_of(said, key) for key in ("id", "signal", "reason"))
    return decided(repository, id, [repository.feedback(id, signal, reason, user_name())])


def review_memory(repository: Repository, said: Mapping[str, Any]) -> dict[str, Any]:
    """Activate or reject a quarantined memory; `settle` says how its conflicts end."""
    id, action, settle, reason = (
        text_of(said, key) for key in ("id", "action", "settle", "reason")
    )
    written = repository.beliefs.review(id, action, settle, reason, user_name())
    return decided(repository, id, written)


def decide_proposal(repository: Repository, said: Mapping[str, Any]) -> dict[str, Any]:
    """Accept or decline the proposed changes that the page showed."""
    id, action, reason = (text_of(said, key) for key in ("id", "action", "reason"))
    changes = said.get("changes")
    if action not in ("accept", "decline") or not isinstance(changes, list) or not changes:
        raise BadInput("the decision is missing", "accept or decline the changes that are shown")
    written = repository.beliefs.decide(
        id, action == "accept", [*map(str, changes)], reason, user_name()
    )
    return decided(repository, id, written)


def decided(repository: Repository, id: str, written: Sequence[Written]) -> dict[str, Any]:
    """Return a memory's status after a decision, and the ids of the entries that the decision wrote."""
    memory = repository.get(id)
    return {
        "id": memory.id,
        "status": memory.status,
        "entries": [item.entry.id for item in written],
    }


def text_of(said: Mapping[str, Any], key: str, most: int = MAX_REASON_CHARS) -> str:
    """Return a field of a request, stripped. Raises BadInput if it is no text or too long, or if an id is missing."""
    value = said.get(key, "")
    if not isinstance(value, str) or len(value) > most:
        raise BadInput(f"{key} must be a text of at most {most:,} characters", "shorten it")
    if key in ("id", "other") and not value:
        raise BadInput(f"{key} is missing", "choose a memory or a draft")
    return value.strip()


def texts_of(said: Mapping[str, Any], key: str, most: int, chars: int) -> tuple[str, ...]:
    """Return a list of texts in a request, stripped. Raises BadInput if it is none, or too long."""
    value = said.get(key)
    if (
        not isinstance(value, list)
        or len(value) > most
        or not all(isinstance(one, str) for one in value)
    ):
        raise BadInput(f"{key} must be a list of at most {most} texts", "remove some of them")
    if any(len(one) > chars for one in value):
        raise BadInput(f"{key}: a text has more than {chars} characters", "shorten it")
    return tuple(one.strip() for one in value if one.strip())


# Return the drafts that the page shows, and carry out a person's decisions about them.

MAX_CARDS = 50  # drafts; the page loads the next ones after decisions
MAX_TITLE_CHARS = 300
MAX_TEXT_CHARS = 12_000  # fit into one request (MAX_DECISION_BYTES) in any script
MAX_CONDITIONS = 20


def waiting_drafts(
    repository: Repository, asked: Mapping[str, str], render: Callable[[str, Meant], str]
) -> dict[str, Any]:
    """Return the waiting drafts, the latest first."""
    waiting = repository.drafts.all()
    return {
        "total": len(waiting),
        "items": [
            _draft_card(repository, draft, render(draft.text, lambda name: ("", "")))
            for draft in waiting[:MAX_CARDS]
        ],
    }


def keep_draft(repository: Repository, said: Mapping[str, Any]) -> dict[str, Any]:
    """Store a draft as a memory, with the title and text that the page showed."""
    corrected = [
        id
        for id in repository.drafts.get(text_of(said, "id")).corrects
        if repository.core.holds(id)
    ]
    stored = repository.drafts.keep(text_of(said, "id"), **_proposed_memory(said), by=user_name())
    superseded = [repository.history(id)[-1].entry.id for id in corrected if id != stored.id]
    entries = [item.entry.id for item in stored.written]
    return {"id": stored.id, "what": stored.outcome.what, "entries": [*entries, *superseded]}


def edit_draft(repository: Repository, said: Mapping[str, Any]) -> dict[str, Any]:
    """Change title, text and conditions of a draft."""
    return {"id": repository.drafts.edit(text_of(said, "id"), **_proposed_memory(said)).id}


def merge_drafts(repository: Repository, said: Mapping[str, Any]) -> dict[str, Any]:
    """Merge another draft into a draft."""
    return {"id": repository.drafts.merge(text_of(said, "id"), text_of(said, "other")).id}


def drop_draft(repository: Repository, said: Mapping[str, Any]) -> dict[str, Any]:
    """Discard a draft."""
    return {"id": repository.drafts.drop(text_of(said, "id")).id}


def _proposed_memory(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return title, text and conditions of a request. All are required, so that exactly the shown draft is stored."""
    title, text = text_of(said, "title", MAX_TITLE_CHARS), text_of(said, "text", MAX_TEXT_CHARS)
    if not title or not text:
        raise BadInput("a memory needs a title and a text", "fill in both")
    when = texts_of(said, "when", MAX_CONDITIONS, MAX_TEXT_CHARS)
    return {"title": title, "text": text, "when": list(when)}


def _draft_card(repository: Repository, draft: Draft, html: str) -> dict[str, Any]:
    return {
        "id": draft.id,
        "kind": draft.kind,
        "title": one_line(draft.title, MAX_TITLE_CHARS),
        "text": clean(draft.text),
        "html": html,
        "when": [one_line(condition, MAX_TITLE_CHARS) for condition in draft.when],
        "exchange": [
            {"who": who, "words": clean(words)} for who, words in exchange_of_draft(draft)
        ],
        "corrects": [
            {
                "id": memory.id,
                "title": one_line(memory.title),
                "parts": difference(clean(memory.body).strip(), clean(draft.text).strip()),
            }
            for memory in repository.get_many([*filter(repository.core.holds, draft.corrects)])
        ],
        "score": round(draft.score, 2),
        "why": one_line(draft.why, 200),
        "at": draft.at,
        **{
            name: one_line(getattr(draft, name), 120)
            for name in ("host", "session", "task", "model")
        },
    }


# Carry out changes that a person makes on the page: add, edit, link, act on several memories,
# undo.

KINDS = [
    kind for kind in CREATES if kind not in GROUPS
]  # episodes are created with 'rawkomem trace episode'
LINK_TYPES = (
    "related",
    "supports",
    "refines",
    "depends_on",
    "contradicts",
    "example_of",
)  # suggestions
MAX_TAGS = 30
MAX_TAG_CHARS = 60
MAX_CHOSEN = 200  # memories or drafts in one bulk action
MAX_CHANGES = 500  # latest changes of this machine in which undo looks for those of the page

Said = Mapping[str, Any]
Facts = dict[str, Any]


class Warnings:
    """Prints warnings on stderr and collects them for the answer to the page."""

    def __init__(self) -> None:
        self._collected: list[str] = []

    def __call__(self, message: str) -> None:
        """Print and collect a warning."""
        warn_on_stderr(message)
        self._collected.append(one_line(redact(message, pii=False), 300))

    def take(self) -> list[str]:
        """Return and clear the warnings since the last call."""
        told, self._collected = self._collected, []
        return told


def version_of(memory: Memory) -> str:
    """Return a checksum of the fields of a memory that the form of the page shows."""
    shown = (memory.title, memory.body, memory.when, memory.tags, memory.importance)
    return sha256(repr(shown).encode("utf-8", "replace")).hexdigest()[:16]


def add_memory(repository: Repository, said: Said) -> Facts:
    """Store a new memory."""
    form = _form_fields(said)
    text = form.pop("body", "")
    kind = text_of(said, "kind") or KINDS[0]
    if kind not in KINDS:
        raise BadInput(f"unknown kind {kind!r}", f"one of {', '.join(KINDS)}")
    if not text and not form.get("title"):
        raise BadInput("a memory needs a title or a text", "fill in one of them")
    _take_warnings(repository)
    stored = repository.add(
        text, kind=kind, by=user_name(), **{key: value for key, value in form.items() if value}
    )
    return {
        **decided(repository, stored.id, stored.written),
        "what": stored.outcome.what,
        "redacted": stored.redacted,
        "warnings": _take_warnings(repository),
    }


def amend_memory(repository: Repository, said: Said) -> Facts:
    """Amend the passed fields of a memory. Raises Refused if the memory changed since the page loaded it."""
    memory = repository.get(text_of(said, "id"))
    if said.get("version") != version_of(memory):
        raise Refused(
            "the memory changed after you opened it",
            "copy your text from the form, open the memory again, and repeat the change",
        )
    form = _form_fields(said)
    if not form:
        raise BadInput("nothing was changed", "change a field before you save")
    if not form.get("body", memory.body):
        raise BadInput("the text is empty", "write a text, or delete the memory")
    _take_warnings(repository)
    written = repository.amend(memory.id, by=user_name(), **form)
    return {
        **decided(repository, memory.id, [written]),
        "proposed": written.entry.id in repository.get(memory.id).proposed,
        "redacted": written.redacted,
        "warnings": _take_warnings(repository),
    }


def archive_memory(repository: Repository, said: Said) -> Facts:
    """Archive a memory."""
    id, reason = repository.get(text_of(said, "id")).id, text_of(said, "reason")
    return decided(repository, id, [repository.beliefs.archive(id, reason, user_name())])


def restore_memory(repository: Repository, said: Said) -> Facts:
    """Restore a memory."""
    id = repository.get(text_of(said, "id")).id
    settle, reason = text_of(said, "settle"), text_of(said, "reason")
    return decided(repository, id, repository.beliefs.restore(id, settle, reason, user_name()))


def delete_memory(repository: Repository, said: Said) -> Facts:
    """Delete a memory by appending a tombstone."""
    id, reason = repository.get(text_of(said, "id")).id, text_of(said, "reason")
    return decided(repository, id, [repository.delete(id, reason, user_name())])


def confirm_citations(repository: Repository, said: Said) -> Facts:
    """Confirm a memory whose cited code changed: cite the present code. Raises Refused if all cited code is gone."""
    memory = repository.get(text_of(said, "id"))
    places = [
        item.citation.place for item in repository.citations.of(memory) if item.state != "gone"
    ]
    if not places:
        raise Refused("all code that this memory cites is gone", "edit the memory or archive it")
    return decided(
        repository, memory.id, [repository.citations.add(memory.id, places, user_name())]
    )


def link_memories(repository: Repository, said: Said) -> Facts:
    """Link a memory to another one."""
    id, other, type = (text_of(said, key) for key in ("id", "other", "type"))
    written = repository.graph.link(id, other, type or LINK_TYPES[0], user_name())
    return decided(repository, id, written)


def unlink_memories(repository: Repository, said: Said) -> Facts:
    """Remove the links between two memories."""
    id, other, type = (text_of(said, key) for key in ("id", "other", "type"))
    return decided(repository, id, repository.graph.unlink(id, other, type, user_name()))


def act_on_many(repository: Repository, said: Said) -> Facts:
    """Run one action on several memories or drafts. If it fails for one, the others are still processed."""
    action, reason, items = text_of(said, "action"), text_of(said, "reason"), said.get("items")
    if action not in ACTIONS:
        raise BadInput(f"unknown action {action!r}", f"one of {', '.join(ACTIONS)}")
    if (
        not isinstance(items, list)
        or not 0 < len(items) <= MAX_CHOSEN
        or not all(isinstance(one, dict) for one in items)
    ):
        raise BadInput(f"choose 1 to {MAX_CHOSEN} items", "choose fewer of them")
    entries: list[str] = []
    finished, failed = 0, []
    for item in items:
        try:
            entries += ACTIONS[action](repository, {**item, "reason": reason}).get("entries", ())
            finished += 1
        except RawkoError as failure:
            failed.append(
                {
                    "id": str(item.get("id", ""))[:200],
                    "error": redact(failure.message, pii=False),
                    "hint": failure.hint,
                }
            )
    return {"done": finished, "failed": failed, "entries": entries}


def undo_action(repository: Repository, said: Said) -> Facts:
    """Undo an action of the page, the latest change first."""
    entries = said.get("entries")
    if (
        not isinstance(entries, list)
        or not entries
        or not all(isinstance(one, str) for one in entries)
    ):
        raise BadInput("nothing to undo", "undo follows an action on this page")
    changes = [
        change
        for change, _ in repository.undoing.changes(MAX_CHANGES)
        if not change.ids.isdisjoint(entries)
    ]
    if not changes:
        raise Refused(
            "this action can no longer be undone",
            "run 'rawkomem undo --list' to see what can be undone",
        )
    for change in changes:
        repository.undoing.undo(change.name, everything=True, by=user_name())
    return {"undone": len(changes)}


def _reviewing(action: str, of_proposal: str) -> Callable[[Repository, Said], Facts]:
    def decide(repository: Repository, item: Said) -> Facts:
        if item.get("changes"):
            return decide_proposal(repository, {**item, "action": of_proposal})
        return review_memory(repository, {**item, "action": action})

    return decide


ACTIONS: dict[str, Callable[[Repository, Said], Facts]] = {
    "archive": archive_memory,
    "restore": restore_memory,
    "delete": delete_memory,
    "activate": _reviewing("activate", "accept"),
    "reject": _reviewing("reject", "decline"),
    "keep": keep_draft,
    "drop": drop_draft,
}


def _form_fields(said: Said) -> Facts:
    """Return the checked fields of a memory that a request holds; other fields stay unchanged."""
    given: Facts = {}
    for key, name, most in (("title", "title", MAX_TITLE_CHARS), ("text", "body", MAX_TEXT_CHARS)):
        if key in said:
            given[name] = text_of(said, key, most)
    if "importance" in said:
        given["importance"] = text_of(said, "importance")
    for key, most, chars in (
        ("tags", MAX_TAGS, MAX_TAG_CHARS),
        ("when", MAX_CONDITIONS, MAX_TITLE_CHARS),
    ):
        if key in said:
            given[key] = texts_of(said, key, most, chars)
    return given


def _take_warnings(repository: Repository) -> list[str]:
    """Return and clear the warnings since the last call."""
    return repository.core.warn.take() if isinstance(repository.core.warn, Warnings) else []
