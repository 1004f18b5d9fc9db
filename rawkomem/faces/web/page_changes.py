"""Carry out what a person does on the page: add, edit, link, decide on what waits, undo."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from ...files.append import Written
from ...git.runner import user_name
from ...model.entries import Memory
from ...model.errors import BadInput, RawkoError, Refused
from ...model.values import CREATES, GROUPS
from ...redaction.find import redact
from ...repository import Repository
from ...repository.core import warn_on_stderr
from ...repository.waiting import BOTH, DROP, JOIN, KEEP, MORE, Waiting
from ...state.fold import ACTIVATE, reviewed_name
from ...text.acts import ASK
from ...text.clean import clean, one_line

Request = Mapping[str, Any]  # the fields of a request
Facts = dict[str, Any]

MAX_REASON_CHARS = 500
MAX_TITLE_CHARS = 300
MAX_TEXT_CHARS = 12_000  # fit into one request (MAX_DECISION_BYTES) in any script
MAX_CONDITIONS = 20
MAX_TAGS = 30
MAX_TAG_CHARS = 60


def text_of(request: Request, key: str, most: int = MAX_REASON_CHARS) -> str:
    """Return a field of a request, stripped. Raises BadInput if it is no text or too long, or if an id is missing."""
    value = request.get(key, "")
    if not isinstance(value, str) or len(value) > most:
        raise BadInput(
            f"{key} must be a text of at most {most:,} characters", "shorten it"
        )
    if key in ("id", "other") and not value:
        raise BadInput(f"{key} is missing", "choose a memory")
    return value.strip()


def texts_of(request: Request, key: str, most: int, chars: int) -> tuple[str, ...]:
    """Return a list of texts in a request, stripped. Raises BadInput if it is none, or too long."""
    value = request.get(key)
    if (
        not isinstance(value, list)
        or len(value) > most
        or not all(isinstance(one, str) for one in value)
    ):
        raise BadInput(
            f"{key} must be a list of at most {most} texts", "remove some of them"
        )
    if any(len(one) > chars for one in value):
        raise BadInput(f"{key}: a text has more than {chars} characters", "shorten it")
    return tuple(one.strip() for one in value if one.strip())


def _form_fields(request: Request) -> Facts:
    """Return the checked fields of a form that a request holds; other fields stay unchanged."""
    form: Facts = {}
    for key, most in (
        ("title", MAX_TITLE_CHARS),
        ("text", MAX_TEXT_CHARS),
        ("importance", 20),
    ):
        if key in request:
            form[key] = text_of(request, key, most)
    for key, most, chars in (
        ("tags", MAX_TAGS, MAX_TAG_CHARS),
        ("when", MAX_CONDITIONS, MAX_TITLE_CHARS),
    ):
        if key in request:
            form[key] = texts_of(request, key, most, chars)
    return form


# episodes are created with 'rawkomem trace episode'
KINDS = [kind for kind in CREATES if kind not in GROUPS]
# suggestions
LINK_TYPES = (
    "related",
    "supports",
    "refines",
    "depends_on",
    "contradicts",
    "example_of",
)


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
        warnings = self._collected
        self._collected = []
        return warnings


def form_of(memory: Memory) -> Facts:
    """Return the values of the form of a memory, in full: a field that is cut here would be stored cut."""
    return {
        "title": clean(memory.title),
        "text": clean(memory.body),
        "when": [*memory.when],
        "importance": memory.importance,
        "tags": [*memory.tags],
    }


def checksum(value: object) -> str:
    """Return a short checksum of what the page shows, by which a later request names it."""
    return sha256(repr(value).encode("utf-8", "replace")).hexdigest()[:16]


def add_memory(repository: Repository, request: Request) -> Facts:
    """Store a new memory."""
    form = {key: value for key, value in _form_fields(request).items() if value}
    text = form.pop("text", "")
    kind = text_of(request, "kind") or KINDS[0]
    if kind not in KINDS:
        raise BadInput(f"unknown kind {kind!r}", f"one of {', '.join(KINDS)}")
    if not text and not form.get("title"):
        raise BadInput("a memory needs a title or a text", "fill in one of them")
    _take_warnings(repository)
    stored = repository.add(text, kind=kind, by=user_name(), **form)
    return {
        **_done(repository, stored.id, stored.written),
        "what": stored.outcome.what,
        "redacted": stored.redacted,
        "warnings": _take_warnings(repository),
    }


def amend_memory(repository: Repository, request: Request) -> Facts:
    """Amend the passed fields of a memory.

    `seen` holds the checksum of each of these fields that the form showed. Raises Refused if somebody else changed one.
    """
    memory = repository.get(text_of(request, "id"))
    form = _form_fields(request)
    seen = request.get("seen")
    current = form_of(memory)
    if not form:
        raise BadInput("nothing was changed", "change a field before you save")
    if not isinstance(seen, dict):
        raise BadInput("seen is missing", "reload the page")
    changed = [name for name in form if seen.get(name) != checksum(current[name])]
    if changed:
        raise Refused(
            f"somebody else changed the {' and the '.join(changed)} meanwhile",
            "compare it with your text, then save again",
        )
    if not form.get("text", memory.body):
        raise BadInput("the text is empty", "write a text, or delete the memory")
    _take_warnings(repository)
    written = _amend(repository, memory.id, form)
    return {
        **_done(repository, memory.id, [written]),
        "proposed": repository.core.waits_for_review(written.entry),
        "redacted": written.redacted,
        "warnings": _take_warnings(repository),
    }


def _amend(repository: Repository, id: str, form: Facts) -> Written:
    fields = {"body" if name == "text" else name: value for name, value in form.items()}
    return repository.amend(id, by=user_name(), **fields)


def confirm_citations(repository: Repository, request: Request) -> Facts:
    """Confirm a memory whose cited code changed: cite the present code. Raises Refused if all cited code is gone."""
    memory = repository.get(text_of(request, "id"))
    places = [
        item.citation.place
        for item in repository.citations.of(memory)
        if item.state != "gone"
    ]
    if not places:
        raise Refused(
            "all code that this memory cites is gone", "edit the memory or archive it"
        )
    return _done(
        repository,
        memory.id,
        [repository.citations.add(memory.id, places, user_name())],
    )


def vote(repository: Repository, request: Request) -> Facts:
    """Store a vote: helpful or harmful."""
    id, signal, reason = (text_of(request, key) for key in ("id", "signal", "reason"))
    return _done(repository, id, [repository.feedback(id, signal, reason, user_name())])


def link_memories(repository: Repository, request: Request) -> Facts:
    """Link a memory to another one."""
    id, other, type = (text_of(request, key) for key in ("id", "other", "type"))
    written = repository.graph.link(id, other, type or LINK_TYPES[0], user_name())
    return _done(repository, id, written)


def unlink_memories(repository: Repository, request: Request) -> Facts:
    """Remove the links between two memories."""
    id, other, type = (text_of(request, key) for key in ("id", "other", "type"))
    return _done(repository, id, repository.graph.unlink(id, other, type, user_name()))


def _done(repository: Repository, id: str, written: Sequence[Written]) -> Facts:
    """Return a memory's status after a change, and the ids of the entries that the change wrote."""
    memory = repository.get(id)
    return {"id": memory.id, "status": memory.status, "entries": _ids(written)}


def _ids(written: Sequence[Written]) -> list[str]:
    return [item.entry.id for item in written]


def _take_warnings(repository: Repository) -> list[str]:
    """Return and clear the warnings since the last call."""
    if isinstance(repository.core.warn, Warnings):
        return repository.core.warn.take()
    return []


MAX_CHOSEN = 500  # items of one action
DECISIONS = (KEEP, ASK, DROP, BOTH, JOIN)
DECIDED_FIELDS = ("title", "text", "when")  # that a person may change while deciding
MAX_UNDONE = 5_000  # entries of one action
# latest changes of this machine in which undo looks for those of the page
MAX_CHANGES = 500


def act(repository: Repository, request: Request) -> Facts:
    """Run one action on one or several items. If it fails for one, the others are still processed."""
    action = text_of(request, "action")
    reason = text_of(request, "reason")
    items = request.get("items")
    if action not in ACTIONS and action not in DECISIONS:
        raise BadInput(
            f"unknown action {action!r}", f"one of {', '.join((*ACTIONS, *DECISIONS))}"
        )
    if (
        not isinstance(items, list)
        or not 0 < len(items) <= MAX_CHOSEN
        or not all(isinstance(one, dict) for one in items)
    ):
        raise BadInput(f"choose 1 to {MAX_CHOSEN} items", "choose fewer of them")
    is_decision = action in DECISIONS
    waiting = _waiting(repository, items) if is_decision else {}
    entries: list[str] = []
    failed = []
    proposed = 0
    waits = repository.core.waits_for_review
    for item in items:
        try:
            if is_decision:
                written = _decide(action, waiting, repository, item, reason)
            else:
                id = text_of(item, "id")
                written = ACTIONS[action](repository, id, reason, user_name())
            # of a dropped draft, undo gets its own id
            entries += _ids(written) or [text_of(item, "id").partition(":")[2]]
            proposed += any(waits(one.entry) for one in written)
        except RawkoError as failure:
            error = redact(failure.message, pii=False)
            failed.append(
                {
                    "id": str(item.get("id", ""))[:200],
                    "error": error,
                    "hint": failure.hint,
                }
            )
    done = len(items) - len(failed) - proposed
    return {"done": done, "proposed": proposed, "failed": failed, "entries": entries}


def key_of(item: Waiting) -> str:
    """Return the key of an item that waits: a memory may wait for several reasons."""
    return ":".join((item.kind, item.id, *([item.other.id] if item.other else [])))


def checksum_of(item: Waiting) -> str:
    """Return a checksum of the words that a decision about an item is about."""
    if item.draft:
        draft = item.draft
        return checksum((draft.title, draft.text, draft.when, draft.applies))
    if item.proposal:
        changes = [reviewed_name(entry) for entry in item.proposal.changes]
    else:
        changes = []
    words = [(one.title, one.body) for one in (item.memory, item.other) if one]
    return checksum(changes or words)


def _waiting(repository: Repository, items: Sequence[Request]) -> dict[str, Waiting]:
    """Return what waits, by key, of the kinds that some items have."""
    kinds = {str(item.get("id", "")).partition(":")[0] for item in items}
    return {key_of(item): item for item in repository.waiting({*kinds, MORE})}


def _decide(
    decision: str,
    waiting: Mapping[str, Waiting],
    repository: Repository,
    request: Request,
    reason: str,
) -> Sequence[Written]:
    """Carry out a decision about an item that waits, with the words that the person changed.

    Raises Refused if the item was decided or changed after the page showed it.
    """
    item = waiting.get(text_of(request, "id"))
    if item is None or request.get("shown") != checksum_of(item):
        raise Refused(
            "somebody else decided or changed it meanwhile", "look at it again"
        )
    form = _form_fields(
        {name: request[name] for name in DECIDED_FIELDS if name in request}
    )
    edited: list[Written] = []
    if item.draft and form:
        repository.drafts.edit(item.id, **form)
    elif (
        form and not item.proposal
    ):  # before the review, which vouches for the words of the memory
        edited.append(_amend(repository, item.id, form))
    written = repository.decide(item, decision, reason, user_name())
    # after it, because the form began with the proposed words
    if form and item.proposal:
        edited.append(_amend(repository, item.id, form))
    return [*written, *edited]


ACTIONS: dict[str, Callable[[Repository, str, str, str], Sequence[Written]]] = {
    "archive": lambda repository, id, reason, by: [
        repository.beliefs.archive(id, reason, by)
    ],
    "restore": lambda repository, id, reason, by: repository.beliefs.restore(
        id, "", reason, by
    ),
    "delete": lambda repository, id, reason, by: [repository.delete(id, reason, by)],
    "vouch": lambda repository, id, reason, by: repository.beliefs.review(
        id, ACTIVATE, "", reason, by
    ),
}


def undo_action(repository: Repository, request: Request) -> Facts:
    """Undo an action of the page, the latest change first."""
    entries = texts_of(request, "entries", MAX_UNDONE, MAX_REASON_CHARS)
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
