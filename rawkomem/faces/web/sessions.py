"""List the past sessions of a project, and replay one, for the Replay view of the page."""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from ...hosts.replay.find import find_sessions
from ...hosts.replay.past import Past, read_past
from ...hosts.replay.replay import Answer, Correction, replay
from ...model.entry import Memory
from ...model.errors import NotFound
from ...model.record import replace
from ...redaction.find import redact
from ...repository import Repository
from ...text.clean import clean, one_line

MAX_SESSIONS = 50  # in the list: the latest
MAX_PROMPTS = 200  # that are replayed in one session: each prompt costs one recall


def sessions(repository: Repository) -> dict[str, Any]:
    """Return the transcripts of this project, the latest first. The id of one is a checksum of its path."""
    files = find_sessions(repository.layout)
    return {"total": len(files), "items": [_listed(file) for file in files[:MAX_SESSIONS]]}


def replayed(repository: Repository, name: str) -> dict[str, Any]:
    """Return the memories that each prompt of a session would get now, and which corrections a memory covers."""
    for file in find_sessions(repository.layout)[:MAX_SESSIONS]:
        if _name(file) == name:
            return {"items": [_replayed(repository, past) for past in read_past(file)]}
    raise NotFound("this session no longer exists", "reload the page to update the list of sessions")


def _name(file: str) -> str:
    return sha256(os.fsencode(file)).hexdigest()[:16]


def _listed(file: str) -> dict[str, Any]:
    stat = os.stat(file)
    return {"id": _name(file), "file": one_line(os.path.basename(file), 80), "at": stat.st_mtime_ns // 1_000_000,
            "bytes": stat.st_size}  # fmt: skip


def _replayed(repository: Repository, past: Past) -> dict[str, Any]:
    done = replay(repository, replace(past, moments=past.moments[:MAX_PROMPTS]))
    return {
        "host": one_line(past.host or "text", 40),
        "at": past.at,
        "prompts": len(past.moments),
        "answers": [_answer(answer) for answer in done.answers],
        "corrections": [_correction(correction) for correction in done.corrections],
    }


def _answer(answer: Answer) -> dict[str, Any]:
    prompt = clean(answer.prompt)
    return {"number": answer.number, "prompt": prompt, "tokens": answer.tokens, "memories": _memories(answer.memories)}


def _correction(correction: Correction) -> dict[str, Any]:
    said = one_line(redact(correction.draft.said or correction.draft.text), 600)
    memories = _memories([correction.memory] if correction.memory else [])
    return {"said": said, "prompt": correction.prompt, "verdict": correction.verdict, "memories": memories}


def _memories(memories: Iterable[Memory]) -> list[dict[str, str]]:
    return [{"id": memory.id, "title": one_line(memory.title), "kind": memory.kind} for memory in memories]
