"""Carry out votes and reviews that a person makes on the page. Each function makes one library call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...git.user import user_name
from ...model.errors import BadInput
from ...repository import Repository

MAX_REASON_CHARS = 500


def feedback(repository: Repository, said: Mapping[str, Any]) -> dict[str, Any]:
    """Store a vote: helpful or harmful."""
    id, signal, reason = (text_of(said, key) for key in ("id", "signal", "reason"))
    return done(repository, id, [repository.feedback(id, signal, reason, user_name()).entry.id])


def review(repository: Repository, said: Mapping[str, Any]) -> dict[str, Any]:
    """Activate or reject a quarantined memory; `settle` says how its conflicts end."""
    id, action, settle, reason = (text_of(said, key) for key in ("id", "action", "settle", "reason"))
    written = repository.beliefs.review(id, action, settle, reason, user_name())
    return done(repository, id, [item.entry.id for item in written])


def decide(repository: Repository, said: Mapping[str, Any]) -> dict[str, Any]:
    """Accept or decline the proposed changes that the page showed."""
    id, action, reason = (text_of(said, key) for key in ("id", "action", "reason"))
    changes = said.get("changes")
    if action not in ("accept", "decline") or not isinstance(changes, list) or not changes:
        raise BadInput("the decision is missing", "accept or decline the changes that are shown")
    written = repository.beliefs.decide(id, action == "accept", [*map(str, changes)], reason, user_name())
    return done(repository, id, [item.entry.id for item in written])


def done(repository: Repository, id: str, entries: list[str]) -> dict[str, Any]:
    """Return a memory's status after a decision, and the ids of the entries that the decision wrote."""
    memory = repository.get(id)
    return {"id": memory.id, "status": memory.status, "entries": entries}


def text_of(said: Mapping[str, Any], key: str, most: int = MAX_REASON_CHARS) -> str:
    """Return a field of a request, stripped. Raises BadInput if it is no text or too long, or if an id is missing."""
    value = said.get(key, "")
    if not isinstance(value, str) or len(value) > most:
        raise BadInput(f"{key} must be a text of at most {most:,} characters", "shorten it")
    if key in ("id", "other") and not value:
        raise BadInput(f"{key} is missing", "choose a memory or a draft")
    return value.strip()
