"""Carry out changes that a person makes on the page: add, edit, link, act on several memories, undo."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from ...git.user import user_name
from ...model.entry import Memory
from ...model.errors import BadInput, RawkoError, Refused
from ...model.kinds import CREATES, GROUPS
from ...redaction.find import redact
from ...repository import Repository
from ...repository.core import warn_on_stderr
from ...text.clean import one_line
from . import decisions, drafts
from .decisions import done, text_of
from .drafts import MAX_CONDITIONS, MAX_TEXT_CHARS, MAX_TITLE_CHARS

KINDS = [kind for kind in CREATES if kind not in GROUPS]  # episodes are created with 'rawkomem episode'
LINK_TYPES = ("related", "supports", "refines", "depends_on", "contradicts", "example_of")  # suggestions
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


def add(repository: Repository, said: Said) -> Facts:
    """Store a new memory."""
    form = _form(said)
    text = form.pop("body", "")
    kind = text_of(said, "kind") or KINDS[0]
    if kind not in KINDS:
        raise BadInput(f"unknown kind {kind!r}", f"one of {', '.join(KINDS)}")
    if not text and not form.get("title"):
        raise BadInput("a memory needs a title or a text", "fill in one of them")
    _warnings(repository)
    stored = repository.add(text, kind=kind, by=user_name(), **{key: value for key, value in form.items() if value})
    written = {"what": stored.outcome.what, "redacted": stored.redacted, "warnings": _warnings(repository)}
    return {**done(repository, stored.id, [item.entry.id for item in stored.written]), **written}


def amend(repository: Repository, said: Said) -> Facts:
    """Amend the passed fields of a memory. Raises Refused if the memory changed since the page loaded it."""
    memory = repository.get(text_of(said, "id"))
    if said.get("version") != version_of(memory):
        hint = "copy your text from the form, open the memory again, and repeat the change"
        raise Refused("the memory changed after you opened it", hint)
    form = _form(said)
    if not form:
        raise BadInput("nothing was changed", "change a field before you save")
    if not form.get("body", memory.body):
        raise BadInput("the text is empty", "write a text, or delete the memory")
    _warnings(repository)
    written = repository.amend(memory.id, by=user_name(), **form)
    is_proposed = written.entry.id in repository.get(memory.id).proposed
    told = {"proposed": is_proposed, "redacted": written.redacted, "warnings": _warnings(repository)}
    return {**done(repository, memory.id, [written.entry.id]), **told}


def archive(repository: Repository, said: Said) -> Facts:
    """Archive a memory."""
    return _of_one(repository, said, "archive")


def restore(repository: Repository, said: Said) -> Facts:
    """Restore a memory."""
    return _of_one(repository, said, "restore")


def delete(repository: Repository, said: Said) -> Facts:
    """Delete a memory by appending a tombstone."""
    return _of_one(repository, said, "delete")


def cite(repository: Repository, said: Said) -> Facts:
    """Confirm a memory whose cited code changed: cite the present code. Raises Refused if all cited code is gone."""
    memory = repository.get(text_of(said, "id"))
    places = [item.citation.place for item in repository.citations.of(memory) if item.state != "gone"]
    if not places:
        raise Refused("all code that this memory cites is gone", "edit the memory or archive it")
    return done(repository, memory.id, [repository.citations.add(memory.id, places, user_name()).entry.id])


def link(repository: Repository, said: Said) -> Facts:
    """Link a memory to another one."""
    id, other, type = (text_of(said, key) for key in ("id", "other", "type"))
    written = repository.graph.link(id, other, type or LINK_TYPES[0], user_name())
    return done(repository, id, [item.entry.id for item in written])


def unlink(repository: Repository, said: Said) -> Facts:
    """Remove the links between two memories."""
    id, other, type = (text_of(said, key) for key in ("id", "other", "type"))
    written = repository.graph.unlink(id, other, type, user_name())
    return done(repository, id, [item.entry.id for item in written])


def bulk(repository: Repository, said: Said) -> Facts:
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
            entries += ACTIONS[action](repository, {**item, "reason": reason})
            finished += 1
        except RawkoError as failure:
            told = redact(failure.message, pii=False)
            failed.append({"id": str(item.get("id", ""))[:200], "error": told, "hint": failure.hint})
    return {"done": finished, "failed": failed, "entries": entries}


def can_undo(repository: Repository) -> bool:
    """Tell whether this version of the library can undo changes."""
    return hasattr(repository, "undoing")


def undo(repository: Repository, said: Said) -> Facts:
    """Undo an action of the page, the latest change first."""
    entries = said.get("entries")
    if not isinstance(entries, list) or not entries or not all(isinstance(one, str) for one in entries):
        raise BadInput("nothing to undo", "undo follows an action on this page")
    if not can_undo(repository):
        raise Refused("this version of rawkomem cannot undo", "restore a memory with 'rawkomem restore ID'")
    undoing: Any = getattr(repository, "undoing")  # noqa: B009 - mypy must not look it up
    changes = [change for change, _ in undoing.changes(MAX_CHANGES) if not change.ids.isdisjoint(entries)]
    if not changes:
        raise Refused("this action can no longer be undone", "run 'rawkomem undo --list' to see what can be undone")
    for change in changes:
        undoing.undo(change.name, everything=True, by=user_name())
    return {"undone": len(changes)}


def _archive(repository: Repository, item: Said) -> Sequence[str]:
    return [repository.beliefs.archive(text_of(item, "id"), text_of(item, "reason"), user_name()).entry.id]


def _restore(repository: Repository, item: Said) -> Sequence[str]:
    id, settle, reason = (text_of(item, key) for key in ("id", "settle", "reason"))
    return [written.entry.id for written in repository.beliefs.restore(id, settle, reason, user_name())]


def _delete(repository: Repository, item: Said) -> Sequence[str]:
    return [repository.delete(text_of(item, "id"), text_of(item, "reason"), user_name()).entry.id]


def _review(action: str, of_proposal: str) -> Callable[[Repository, Said], Sequence[str]]:
    def decide(repository: Repository, item: Said) -> Sequence[str]:
        if item.get("changes"):
            return [*decisions.decide(repository, {**item, "action": of_proposal})["entries"]]
        return [*decisions.review(repository, {**item, "action": action})["entries"]]

    return decide


def _keep(repository: Repository, item: Said) -> Sequence[str]:
    return [*drafts.keep(repository, item)["entries"]]


def _drop(repository: Repository, item: Said) -> Sequence[str]:
    drafts.drop(repository, item)
    return []


ACTIONS: dict[str, Callable[[Repository, Said], Sequence[str]]] = {
    "archive": _archive,
    "restore": _restore,
    "delete": _delete,
    "activate": _review("activate", "accept"),
    "reject": _review("reject", "decline"),
    "keep": _keep,
    "drop": _drop,
}


def _of_one(repository: Repository, said: Said, action: str) -> Facts:
    id = repository.get(text_of(said, "id")).id
    return done(repository, id, [*ACTIONS[action](repository, {**said, "id": id})])


def _form(said: Said) -> Facts:
    """Return the checked fields of a memory that a request holds; other fields stay unchanged."""
    given: Facts = {}
    for key, name, most in (("title", "title", MAX_TITLE_CHARS), ("text", "body", MAX_TEXT_CHARS)):
        if key in said:
            given[name] = text_of(said, key, most)
    if "importance" in said:
        given["importance"] = text_of(said, "importance")
    for key, most, chars in (("tags", MAX_TAGS, MAX_TAG_CHARS), ("when", MAX_CONDITIONS, MAX_TITLE_CHARS)):
        if key in said:
            given[key] = _list(said, key, most, chars)
    return given


def _list(said: Said, key: str, most: int, chars: int) -> tuple[str, ...]:
    value = said[key]
    if not isinstance(value, list) or len(value) > most or not all(isinstance(one, str) for one in value):
        raise BadInput(f"{key} must be a list of at most {most} texts", "remove some of them")
    if any(len(one) > chars for one in value):
        raise BadInput(f"{key}: a text has more than {chars} characters", "shorten it")
    return tuple(one.strip() for one in value if one.strip())


def _warnings(repository: Repository) -> list[str]:
    """Return and clear the warnings since the last call."""
    return repository.core.warn.take() if isinstance(repository.core.warn, Warnings) else []
