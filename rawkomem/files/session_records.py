"""Record injected memories, usage counts and drafts of sessions, in tables of `local-….db`.

asked, injected     prompts, and the memories that each session received
usage, accesses     each injection; how often each memory was injected
effects             what came of each memory: reminders, questions, refusals, corrections
drafts              drafts and the decisions about them

Sessions and prompts are stored as checksums, except in `usage`.
"""

from __future__ import annotations

import json

from ..model.entries import Draft
from ..model.errors import NotFound, RawkoError
from ..model.values import DAY, TYPE_CHECKING, as_dict, filled, now, record, replace
from ..text.acts import ASKED, DENIED, DONE_ANYWAY, REMINDED
from .layout import Layout
from .records import change, execute, insert, note, read

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import Any


# Record which memories each session received. Errors are ignored: a repeated memory is better than
# a failed prompt.

MAX_TOLD_DAYS = 7  # after that, a session receives a memory again
POINTER = (
    "+pointer"  # ends the key of a memory of which the session did not receive the text
)


# begins the key of a rule that always applies and with which the session started
AT_START = "start:"


@record
class Told:
    """The memories that a session received since its context was last empty, and its last prompt."""

    # the last key of each memory, id@version; recall/inject.py makes them
    keys: frozenset[str] = frozenset()
    tokens: int = 0
    prompt: str = ""  # checksum of the last prompt, or of its start
    at: int = 0  # time of that prompt
    heard: int = -1  # size of the transcript at that time; -1 if there was none


def checksum(*texts: str) -> str:
    """Return two checksums and the length of texts; a collision only repeats or omits one block of context."""
    from binascii import crc32  # importing hashlib takes longer than this whole module

    data = "\0".join(texts).encode("utf-8", "replace")
    return f"{crc32(data):08x}{crc32(data[::-1]):08x}-{len(data):x}"


def told_to(layout: Layout, session: str) -> Told:
    """Return what a session received; an empty record for a session without a name."""
    if not session:
        return Told()
    mark = checksum(session)
    oldest = now() - MAX_TOLD_DAYS * DAY
    sql = "SELECT tokens, keys FROM injected WHERE session = ? AND at >= ? ORDER BY number"
    received = read(layout, sql, mark, oldest)
    latest = {
        (key.rpartition("@")[0], key.endswith(POINTER)): key
        for _, keys in received
        for key in keys.split("\n")
    }
    sql = "SELECT prompt, at, heard FROM asked WHERE session = ? ORDER BY number DESC LIMIT 1"
    last = read(layout, sql, mark) or [("", 0, -1)]
    tokens = sum(tokens for tokens, _ in received)
    return Told(frozenset(latest.values()), tokens, *last[0])


def prompts_since(layout: Layout, session: str, at: int) -> int:
    """Return the number of prompts of a session since a time."""
    sql = "SELECT count(*) FROM asked WHERE session = ? AND at >= ?"
    return sum(count for (count,) in read(layout, sql, checksum(session), at))


def note_asked(layout: Layout, session: str, prompt: str, heard: int) -> None:
    """Record the checksum of a prompt, and the transcript's size in bytes (`heard`) when it came in."""
    if session:
        note(layout, "asked", now(), checksum(session), prompt, heard)


def note_told(layout: Layout, session: str, tokens: int, keys: Iterable[str]) -> None:
    """Record the memories that a session receives."""
    if session:
        sql = "SELECT max(number) FROM asked WHERE session = ?"
        asked = (read(layout, sql, checksum(session)) or [(None,)])[0][0]
        mark = checksum(session)
        lines = "\n".join(keys)
        note(layout, "injected", now(), mark, asked, tokens, lines)


def note_lost(layout: Layout, session: str) -> None:
    """Discard the memories since the last prompt, because the prompt was canceled."""
    last = "SELECT max(number) FROM asked WHERE session = ?1"
    _forget_told(
        layout, session, f"DELETE FROM injected WHERE session = ?1 AND asked = ({last})"
    )


def note_fresh(layout: Layout, session: str) -> None:
    """Discard all memories of a session, because the host compacted, cleared or rebuilt its context."""
    _forget_told(layout, session, "DELETE FROM injected WHERE session = ?1")
    _forget_told(layout, session, "UPDATE asked SET prompt = '' WHERE session = ?1")


def _forget_told(layout: Layout, session: str, sql: str) -> None:
    try:
        if session:
            execute(layout, sql, checksum(session))
    except RawkoError:
        pass


# Record each injection's time, tokens and memories, and count the injections of each memory.

MAX_SESSION_CHARS = 100
COUNT_ACCESS = """INSERT INTO accesses VALUES (?1, 1, ?2)
    ON CONFLICT (id) DO UPDATE SET count = count + 1, last = max(last, ?2)"""


@record
class Use:
    """One injection: time, session, tokens, memories. It has no memories if the session had received all before."""

    at: int
    session: str
    tokens: int
    ids: tuple[str, ...]
    saved: int = 0  # tokens of memories that were not repeated


@record
class Access:
    """How often a memory was injected, and the time of the last injection."""

    count: int = 0
    last: int = 0


def note_use(
    layout: Layout,
    at: int,
    session: str,
    tokens: int,
    ids: Sequence[str],
    saved: int = 0,
) -> str:
    """Record one injection. Return why that failed, or an empty text: a prompt gets its memories all the same."""
    name = "".join(c if c.isprintable() else " " for c in session)[:MAX_SESSION_CHARS]
    try:
        with change(layout) as db:
            insert(db, "usage", at, name, tokens, " ".join(ids), saved)
            db.executemany(COUNT_ACCESS, [(id, at) for id in ids])
    except RawkoError as failure:
        return failure.message
    return ""


def uses(layout: Layout, since: int = 0) -> list[Use]:
    """Return every injection since a time, oldest first."""
    sql = "SELECT at, session, tokens, ids, saved FROM usage WHERE at >= ? ORDER BY number"
    return [
        Use(at, session, tokens, tuple(ids.split()), saved)
        for at, session, tokens, ids, saved in read(layout, sql, since)
    ]


def accesses(layout: Layout) -> dict[str, Access]:
    """Return id → Access of each injected memory; empty if the records cannot be read."""
    return {id: Access(*row) for id, *row in read(layout, "SELECT * FROM accesses")}


def last_access(layout: Layout) -> dict[str, int]:
    """Return id → time of the last injection of each injected memory."""
    return dict(read(layout, "SELECT id, last FROM accesses"))


# Record what came of memories. Each row names a session, a draft or a time, so that nothing counts twice.

FOLLOWED = "followed"
OPENED = "opened"
CORRECTED = "corrected again"
EFFECTS = (REMINDED, FOLLOWED, DONE_ANYWAY, ASKED, DENIED, OPENED, CORRECTED)


def note_effects(layout: Layout, what: str, ids: Iterable[str], source: str) -> None:
    """Record what came of memories in a session, or of another source. Ignore errors."""
    rows = [(id, what, checksum(source), now()) for id in ids]
    try:
        if rows:
            with change(layout) as db:
                db.executemany(
                    "INSERT OR IGNORE INTO effects VALUES (?, ?, ?, ?)", rows
                )
    except RawkoError:
        pass


def reminded_before(layout: Layout, session: str, age_ms: int) -> set[str]:
    """Return the ids of the memories of which a session was first reminded at least `age_ms` ago."""
    sql = "SELECT id FROM effects WHERE what = ? AND source = ? AND at <= ?"
    rows = read(layout, sql, REMINDED, checksum(session), now() - age_ms)
    return {id for (id,) in rows}


def effects(layout: Layout) -> dict[str, dict[str, int]]:
    """Return id → what came of the memory → how often. A reminder counts as followed if the session did not repeat the act."""
    effects_by_id: dict[str, dict[str, int]] = {}
    sql = "SELECT id, what, count(*) FROM effects GROUP BY id, what"
    for id, what, count in read(layout, sql):
        effects_by_id.setdefault(id, dict.fromkeys(EFFECTS, 0))[what] = count
    for counts in effects_by_id.values():
        counts[FOLLOWED] = max(0, counts[REMINDED] - counts[DONE_ANYWAY])
    return effects_by_id


def effects_since(layout: Layout, since: int) -> dict[str, int]:
    """Return what came of all memories since a time → how often."""
    sql = "SELECT what, count(*) FROM effects WHERE at >= ? GROUP BY what"
    return dict(read(layout, sql, since))


# Store drafts on this machine, each with the decision about it.

MAX_CANDIDATES = 5  # drafts that an error lists for an ambiguous name
MAX_DRAFT_DAYS = 30  # after which a draft, or the decision about it, expires
KEPT = "kept"  # decisions
DROPPED = "dropped"  # no decision is an empty text
TUPLES = ("when", "applies", "tags", "corrects", "again")


class DraftRecords:
    """Reads and writes the drafts of a repository."""

    def __init__(self, layout: Layout):
        self._layout = layout

    def all(self) -> list[Draft]:
        """Return the undecided drafts, latest first."""
        return sorted(self._undecided(), key=lambda draft: (-draft.at, draft.id))

    def of_session(self, session: str) -> list[Draft]:
        """Return the undecided drafts of a session, oldest first."""
        if not session:
            return []
        drafts = self._undecided("AND session = ?", checksum(session))
        return sorted(drafts, key=lambda draft: (draft.at, draft.id))

    def get(self, name: str) -> Draft:
        """Return a draft by its id, by the start or the end of its id, or by words of its title.

        Raise NotFound if no draft or more than one draft matches.
        """
        drafts = self.all()
        words = {*name.casefold().split()}
        rules: tuple[Callable[[Draft], bool], ...] = (
            lambda draft: draft.id == name,
            lambda draft: draft.id.startswith(name),
            lambda draft: draft.id.endswith(name),
            lambda draft: words <= {*draft.title.casefold().split()},
        )
        matches = next(
            (some for rule in rules if words and (some := [*filter(rule, drafts)])), []
        )
        if len(matches) != 1:
            several = "; ".join(
                f"{draft.id} ({draft.title})" for draft in matches[:MAX_CANDIDATES]
            )
            if matches:
                wrong = f"{name!r} matches several drafts: {several}"
            else:
                wrong = f"there is no draft {name!r}"
            raise NotFound(wrong, "run 'rawkomem drafts' for a list")
        return matches[0]

    def decided(self) -> frozenset[str]:
        """Return the ids of drafts that were kept or dropped."""
        sql = "SELECT id FROM drafts WHERE decision != '' AND at >= ?"
        return frozenset(id for (id,) in read(self._layout, sql, _oldest_draft()))

    def put(self, drafts: Iterable[Draft]) -> None:
        """Store new drafts, or newer versions of undecided ones."""
        decided = self.decided()
        drafts = [*drafts]
        if not drafts:
            return
        with change(self._layout) as db:
            for draft in drafts:
                if draft.id not in decided:
                    known = db.execute(
                        "SELECT asked FROM drafts WHERE id = ?", (draft.id,)
                    )
                    asked = max([draft.asked, *(at for (at,) in known)])
                    _insert_draft(db, replace(draft, asked=asked), "", "")

    def asked_at(self, session: str) -> int:
        """Return when the agent of a session was last asked to write a draft; 0 if never."""
        sql = "SELECT max(asked) FROM drafts WHERE session = ?"
        return next(
            (at or 0 for (at,) in read(self._layout, sql, checksum(session))), 0
        )

    def note_asked(self, draft: Draft) -> None:
        """Record that the agent was asked to write a draft."""
        sql = "UPDATE drafts SET asked = ? WHERE id = ?"
        execute(self._layout, sql, now(), draft.id)

    def decide(self, draft: Draft, what: str, entry: str = "") -> None:
        """Record that a draft was DROPPED, or KEPT as a memory that `entry` created or changed.

        The same words of the same session make no new draft.
        """
        with change(self._layout) as db:
            _insert_draft(db, draft, what, entry)

    def decided_as(self, names: Collection[str]) -> list[str]:
        """Return the ids of the drafts that were dropped and have one of these ids, or that one of these entries keeps.

        Drafts that expired, or whose text was purged, cannot wait again and are left out.
        """
        sql = "SELECT id, entry FROM drafts WHERE decision != '' AND draft != '' AND at >= ?"
        rows = read(self._layout, sql, _oldest_draft())
        return [id for id, entry in rows if (entry or id) in names]

    def reopen(self, names: Collection[str]) -> None:
        """Let the drafts wait again that `decided_as` returns for these names."""
        if ids := self.decided_as(names):
            with change(self._layout) as db:
                sql = "UPDATE drafts SET decision = '', entry = '', at = ? WHERE id = ?"
                db.executemany(sql, [(now(), id) for id in ids])

    def expire(self) -> int:
        """Remove drafts older than MAX_DRAFT_DAYS; return how many of them were undecided."""
        oldest = _oldest_draft()
        gone = read(self._layout, "SELECT decision FROM drafts WHERE at < ?", oldest)
        if gone:
            execute(self._layout, "DELETE FROM drafts WHERE at < ?", oldest)
        return sum(not decision for (decision,) in gone)

    def _undecided(self, only: str = "", *values: str) -> list[Draft]:
        sql = f"SELECT draft, asked FROM drafts WHERE decision = '' AND at >= ? {only}"
        return [
            _parsed_draft(*row)
            for row in read(self._layout, sql, _oldest_draft(), *values)
        ]


def draft_id(session: str, words: str) -> str:
    """Return the id of a draft; the same words in the same session always get the same id."""
    return "drf_" + checksum(session, " ".join(words.split())).partition("-")[0][:12]


def _oldest_draft() -> int:
    return now() - MAX_DRAFT_DAYS * DAY


def _insert_draft(db: Any, draft: Draft, decision: str, entry: str) -> None:
    text = json.dumps(filled(as_dict(draft)), ensure_ascii=False)
    session = checksum(draft.session)
    insert(db, "drafts", draft.id, now(), session, text, draft.asked, decision, entry)


def _parsed_draft(text: str, asked: int) -> Draft:
    fields = json.loads(text)
    for name in TUPLES:
        fields[name] = tuple(fields.get(name, ()))
    fields["fields"] = tuple((key, value) for key, value in fields.get("fields", ()))
    return Draft(**{**fields, "asked": asked})
