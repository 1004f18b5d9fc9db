"""Return the drafts that the page shows, and carry out a person's decisions about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...git.user import user_name
from ...learn.drafts.keep import exchange_of
from ...model.draft import Draft
from ...model.errors import BadInput
from ...repository import Repository
from ...text.clean import clean, one_line
from .decisions import text_of
from .difference import difference
from .markdown import Meant

MAX_CARDS = 50  # drafts; the page loads the next ones after decisions
MAX_TITLE_CHARS = 300
MAX_TEXT_CHARS = 12_000  # fit into one request (MAX_DECISION_BYTES) in any script
MAX_CONDITIONS = 20


def drafts(repository: Repository, render: Callable[[str, Meant], str]) -> dict[str, Any]:
    """Return the waiting drafts, the latest first."""
    waiting = repository.drafts.all()
    shown = [_card(repository, draft, lambda text: render(text, _no_links)) for draft in waiting[:MAX_CARDS]]
    return {"total": len(waiting), "items": shown}


def keep(repository: Repository, said: Mapping[str, Any]) -> dict[str, Any]:
    """Store a draft as a memory, with the title and text that the page showed."""
    corrected = [id for id in repository.drafts.get(text_of(said, "id")).corrects if repository.core.holds(id)]
    stored = repository.drafts.keep(text_of(said, "id"), **_proposed(said), by=user_name())
    superseded = [repository.history(id)[-1].entry.id for id in corrected if id != stored.id]
    entries = [item.entry.id for item in stored.written]
    return {"id": stored.id, "what": stored.outcome.what, "entries": [*entries, *superseded]}


def edit(repository: Repository, said: Mapping[str, Any]) -> dict[str, Any]:
    """Change title, text and conditions of a draft."""
    return {"id": repository.drafts.edit(text_of(said, "id"), **_proposed(said)).id}


def merge(repository: Repository, said: Mapping[str, Any]) -> dict[str, Any]:
    """Merge another draft into a draft."""
    return {"id": repository.drafts.merge(text_of(said, "id"), text_of(said, "other")).id}


def drop(repository: Repository, said: Mapping[str, Any]) -> dict[str, Any]:
    """Discard a draft."""
    return {"id": repository.drafts.drop(text_of(said, "id")).id}


def _proposed(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return title, text and conditions of a request. All are required, so that exactly the shown draft is stored."""
    title, text = text_of(said, "title", MAX_TITLE_CHARS), text_of(said, "text", MAX_TEXT_CHARS)
    when = said.get("when")
    if not title or not text:
        raise BadInput("a memory needs a title and a text", "fill in both")
    if not isinstance(when, list) or len(when) > MAX_CONDITIONS or not all(isinstance(one, str) for one in when):
        raise BadInput(f"conditions must be a list of at most {MAX_CONDITIONS} texts", "write one on each line")
    return {"title": title, "text": text, "when": [one.strip() for one in when if one.strip()]}


def _card(repository: Repository, draft: Draft, shown: Callable[[str], str]) -> dict[str, Any]:
    return {
        "id": draft.id,
        "kind": draft.kind,
        "title": one_line(draft.title, MAX_TITLE_CHARS),
        "text": clean(draft.text),
        "html": shown(draft.text),
        "when": [one_line(condition, MAX_TITLE_CHARS) for condition in draft.when],
        "exchange": [{"who": who, "words": clean(words)} for who, words in exchange_of(draft)],
        "corrects": [_corrected(repository, id, draft) for id in draft.corrects if repository.core.holds(id)],
        "score": round(draft.score, 2),
        "why": one_line(draft.why, 200),
        "at": draft.at,
        **{name: one_line(getattr(draft, name), 120) for name in ("host", "session", "task", "model")},
    }


def _corrected(repository: Repository, id: str, draft: Draft) -> dict[str, Any]:
    memory = repository.get(id)
    return {
        "id": id,
        "title": one_line(memory.title),
        "parts": difference(clean(memory.body).strip(), clean(draft.text).strip()),
    }


def _no_links(name: str) -> tuple[str, str]:
    """Resolve no link: a draft quotes a session and does not name memories."""
    return "", ""
