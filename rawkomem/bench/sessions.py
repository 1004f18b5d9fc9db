"""Replays recorded sessions through the prompt hook. A file of sessions holds Claude Code's records of each session.

Each prompt is sent with a transcript of the records before it, as the host would have written them by then.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from ..files.local.told import note_fresh
from ..hosts.hooks.prompt import recalled
from ..hosts.host import PROMPT, Call
from ..hosts.records import HOSTS
from ..learn.session.recorded import COMPACTED, read_records, with_paths
from ..model.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..recall.inject import Injection
    from ..repository import Repository

    Record = dict[str, Any]

HOST = "claude"
CLEARED = "<command-name>/clear</command-name>"


@record
class Session:
    """A recorded session: its id, its records, and the positions of a person's prompts in them."""

    id: str
    records: tuple[Record, ...]
    prompts: tuple[int, ...]

    def prompt(self, number: int) -> str:
        """Return the text of a prompt."""
        return _text(self.records[self.prompts[number]])

    def before(self, number: int) -> tuple[Record, ...]:
        """Return the records before a prompt."""
        return self.records[: self.prompts[number]]


def read_sessions(files: Iterable[str]) -> list[Session]:
    """Return the sessions of JSON files, compressed by xz or not."""
    return [_session(one) for file in files for one in read_records(file)]


def _session(one: Record) -> Session:
    records = tuple(with_paths(line) for line in one["records"] if isinstance(line, dict))
    prompts = tuple(at for at, line in enumerate(records) if line.get("type") == "user" and _text(line).strip())
    return Session(str(one.get("id", "")), records, prompts)


def _text(line: Record) -> str:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else ""
    if isinstance(content, str):
        return content
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")


def records_before(sessions: Sequence[Session], source: str, prompt: str) -> Sequence[Record]:
    """Return the records before a prompt, which a set names as "session.number", from 0; none if it is not found.

    If the number and the text do not match, the text decides.
    """
    name, _, number = source.partition(".")
    for session in sessions:
        if name and session.id.rpartition("/")[2] == name:
            same = [at for at in range(len(session.prompts)) if session.prompt(at).strip() == prompt.strip()]
            if same:
                return session.before(int(number) if number.isdecimal() and int(number) in same else same[0])
    return ()


def write_transcript(file: str, records: Iterable[Record]) -> str:
    """Write records as the host does, one per line, and return the file's name."""
    with open(file, "w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{json.dumps(line)}\n" for line in records)
    return file


def ask(repository: Repository, prompt: str, session: str, transcript: str) -> Injection:
    """Return the hook's injection for a prompt, and record its use as the hook does."""
    call = Call(HOST, PROMPT, {}, session, prompt, repository.layout.project, transcript)
    injection = recalled(repository, call, HOSTS[HOST].max_context_bytes)
    repository.note_use(injection, session)
    return injection


def replay(repository: Repository, sessions: Iterable[Session], folder: str) -> dict[str, Any]:
    """Return counts over all sessions: prompts, injections, memories, repeats, tokens, and tokens saved."""
    totals = dict.fromkeys(("sessions", "prompts", "injections", "items", "repeats", "tokens", "tokens_saved"), 0)
    for number, session in enumerate(sessions):
        totals["sessions"] += 1
        for name, count in _replayed(repository, session, f"bench-{number}", folder).items():
            totals[name] += count
    shares = {"repeated": round(totals["repeats"] / max(1, totals["items"]), 4)}
    return {**totals, **shares, "tokens_per_prompt": round(totals["tokens"] / max(1, totals["prompts"]), 1)}


def _replayed(repository: Repository, session: Session, name: str, folder: str) -> dict[str, int]:
    told: set[str] = set()
    counts = dict.fromkeys(("prompts", "injections", "items", "repeats", "tokens", "tokens_saved"), 0)
    for number in range(len(session.prompts)):
        prompt = session.prompt(number)
        if prompt.startswith(COMPACTED) or CLEARED in prompt:
            told.clear()
            note_fresh(repository.layout, name)
        transcript = write_transcript(os.path.join(folder, f"{name}.jsonl"), session.before(number))
        injection = ask(repository, prompt, name, transcript)
        ids = {item.memory.id for item in injection.items}
        row = {"prompts": 1, "injections": bool(ids), "items": len(ids), "repeats": len(ids & told)}
        row |= {"tokens": injection.tokens, "tokens_saved": injection.saved}
        counts = {key: counts[key] + value for key, value in row.items()}
        told |= ids
    return counts
