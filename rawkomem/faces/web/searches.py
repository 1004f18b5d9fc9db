"""Save and remove the searches that the page lists below its filters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...files.local.searches import Searches
from ...repository import Repository
from .decisions import text_of

FIELDS = ("q", "kind", "type", "importance", "status", "tag")
MAX_NAME_CHARS = 60


def save(repository: Repository, said: Mapping[str, Any]) -> dict[str, Any]:
    """Save the question and filters of the page under a name; return that search."""
    asked = {key: text_of(said, key) for key in FIELDS}
    return {"searches": [Searches(repository.layout).save(text_of(said, "name", MAX_NAME_CHARS), asked)]}


def remove(repository: Repository, said: Mapping[str, Any]) -> dict[str, Any]:
    """Remove a saved search; return the others."""
    Searches(repository.layout).remove(text_of(said, "name", MAX_NAME_CHARS))
    return {"searches": Searches(repository.layout).all()}
