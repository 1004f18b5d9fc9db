"""Keeps in the index who committed each entry. Git is asked again when HEAD has moved.

introduced  digest of an entry in HEAD → author of the commit that added it (git/authorship.py)
committed   the digests of the entries of each file in HEAD, by blob; a known blob is not read again
vouched     the digests of the entries in HEAD that a person committed
authorship  stamp, head, ignored, why, at: the last question to git and its outcome; names: the authors of all entries
            in HEAD; vouching: `on` if one of them is a person

All of it comes from git, and is read again when the index is rebuilt. When an entry becomes vouched for, or is no
longer vouched for, its memory is folded again.
"""

from __future__ import annotations

import time

import apsw

from ...git.head import git_stamp
from ...model.errors import Busy, Unwritable
from ...state.belief.committer import AGENTS, HIDDEN, PERSON, state_of
from ..stores.database import first, open_database, rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...git.authorship import History
    from ..index import Index

SCHEMA = """
CREATE TABLE IF NOT EXISTS introduced (digest TEXT PRIMARY KEY, author TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS committed (blob TEXT, number INTEGER, digest TEXT, PRIMARY KEY (blob, number)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS committed_digest ON committed (digest);
CREATE TABLE IF NOT EXISTS vouched (digest TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS authorship (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
"""
LOOK_UP = """
SELECT e.target, e.id, e.path, e.digest, i.author FROM entries e
LEFT JOIN introduced i ON i.digest = e.digest AND EXISTS (SELECT 1 FROM committed c WHERE c.digest = e.digest)
WHERE e.target IN
"""
NOBODY = "SELECT target, id, path, '', NULL FROM entries WHERE target IN"
NAMES = "SELECT DISTINCT author FROM introduced WHERE digest IN (SELECT digest FROM committed) ORDER BY author"
VOUCHED = """
INSERT OR IGNORE INTO temp.vouched_now
SELECT c.digest FROM committed c JOIN introduced i ON i.digest = c.digest WHERE i.author IN ({})
"""
# Where nobody vouches for anything, all entries count as vouched for.
DIFFERING = """
SELECT DISTINCT target FROM entries e
WHERE (? OR e.digest IN (SELECT digest FROM vouched)) IS NOT (? OR e.digest IN (SELECT digest FROM temp.vouched_now))
"""
# With vouching, copies of an entry count once: these memories change when it is switched on or off.
COPIED = "SELECT target FROM entries GROUP BY target, digest HAVING count(*) > 1"
SWITCHED_OFF = "switched off"
RETRY_S = 600  # after git has failed, it is asked again after this time
CANNOT_WRITE = (apsw.ReadOnlyError, apsw.FullError, apsw.BusyError, apsw.LockedError, Busy, Unwritable)


class Authors:
    """Looks authors up in the index. Call `refresh` first; it takes almost no time unless HEAD has moved."""

    def __init__(self, index: Index, agents: Sequence[str] | None = ()):
        self.index = index
        self.agents = agents  # patterns of further identities that are agents; None: commits do not count

    def of_memory(self, id: str) -> dict[str, str]:
        """Return entry id → who committed it (see state/belief/committer.py), for all entries about a memory."""
        return self.of_memories([id]).get(id, {})

    def of_memories(self, ids: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return `of_memory` of several memories. If two entries share an id, a person's entry counts."""
        database = self.index.reading()
        asked = self._exists() and not _kept(database, "why")
        ignored = _kept(database, "ignored").split() if asked else []
        found: dict[str, dict[str, str]] = {}
        sql = f"{LOOK_UP if asked else NOBODY} ({', '.join('?' * len(ids))})"
        for target, entry, path, digest, author in rows(database, sql, tuple(ids)):
            uncommitted = bool(digest) and path.partition("/")[0] not in ignored
            state = self.state(author or ("" if uncommitted else HIDDEN))
            states = found.setdefault(target, {})
            if entry not in states or state == PERSON:
                states[entry] = state
        return found

    def names_a_person(self) -> bool:
        """Tell whether a person committed any entry that is in HEAD: only then do commits count."""
        return self._exists() and _kept(self.index.reading(), "vouching") == "on"

    def state(self, author: str) -> str:
        """Return the state of an entry with this author (see state/belief/committer.py)."""
        return state_of(author, (*AGENTS, *(self.agents or ())))

    def why_unknown(self) -> str:
        """Return why git gave no answer; empty if it gave one."""
        return _kept(self.index.reading(), "why") if self._exists() else "no git"

    def refresh(self) -> bool:
        """Update the authors from HEAD, after the index was updated from the files; return whether it did so.

        Return False if HEAD has not moved, or if the database cannot be written now.
        """
        stamp = self._stamp()
        if not self._is_behind(stamp):
            return False
        try:
            with self.index.locked("authors"):
                _Update(self, stamp).run()
        except CANNOT_WRITE:
            return False
        self.index.release()
        return True

    def _stamp(self) -> str:
        """Return a text that changes when git's answer may change; empty if commits do not count."""
        stamp = git_stamp(self.index.layout.root) if self.agents is not None else ""
        return "\n".join((stamp, *(self.agents or ()))) if stamp else ""

    def _is_behind(self, stamp: str) -> bool:
        return _must_ask(self.index.reading(), stamp) if self._exists() else bool(stamp)

    def _exists(self) -> bool:
        return first(self.index.reading(), "SELECT 1 FROM sqlite_master WHERE name = 'authorship'") is not None


def _kept(database: apsw.Connection, key: str) -> str:
    found = first(database, "SELECT value FROM authorship WHERE key = ?", (key,))
    return str(found[0]) if found else ""


def _must_ask(database: apsw.Connection, stamp: str) -> bool:
    """Tell whether HEAD has moved since git was asked, or git failed and may work now."""
    if _kept(database, "stamp") != stamp:
        return True
    return bool(stamp and _kept(database, "why")) and time.time() - float(_kept(database, "at")) > RETRY_S


class _Update:
    """Updates the authors once, under the lock `authors`, in one transaction."""

    def __init__(self, authors: Authors, stamp: str):
        self.authors = authors
        self.index = authors.index
        self.stamp = stamp
        self.db = open_database(self.index.path)

    def run(self) -> None:
        try:
            with self.db:
                self.db.execute(SCHEMA)
                if _must_ask(self.db, self.stamp):
                    was_on = _kept(self.db, "vouching") == "on"
                    self._ask_git()
                    self._fold_again(was_on)
        finally:
            self.db.close()

    def _ask_git(self) -> None:
        """Read the new part of the history, and store its authors."""
        from ...git.authorship import History, read_history

        history = read_history(self.index.layout, self._known()) if self.stamp else History(why=SWITCHED_OFF)
        facts = {"stamp": self.stamp, "why": history.why, "at": str(time.time())}
        self.db.execute("CREATE TEMP TABLE vouched_now (digest TEXT PRIMARY KEY) WITHOUT ROWID")
        if not self._may_replace(history):
            self.db.execute("INSERT INTO temp.vouched_now SELECT digest FROM vouched")
            self.db.executemany("INSERT OR REPLACE INTO authorship VALUES (?, ?)", facts.items())
            return
        self.db.execute("DELETE FROM introduced; DELETE FROM committed")
        self.db.executemany("INSERT INTO introduced VALUES (?, ?)", history.authors.items())
        blobs = [(blob, n, digest) for blob, digests in history.blobs.items() for n, digest in enumerate(digests)]
        self.db.executemany("INSERT INTO committed VALUES (?, ?, ?)", blobs)
        names = [name for (name,) in rows(self.db, NAMES)]
        people = [name for name in names if self.authors.state(name) == PERSON]
        self.db.execute(VOUCHED.format(", ".join("?" * len(people))), people)
        kept = {**facts, "head": history.head, "ignored": " ".join(history.ignored), "names": "\n".join(names)}
        kept["vouching"] = "on" if people else "off"
        self.db.executemany("INSERT OR REPLACE INTO authorship VALUES (?, ?)", kept.items())

    def _may_replace(self, history: History) -> bool:
        """Return whether the known authors may be replaced; warn if not.

        If people vouched before and git suddenly names no person (another `.git`, an orphan branch, a shallow history),
        the known authors stay. Otherwise anybody who can move HEAD could switch vouching off.
        """
        if self.authors.agents is None or _kept(self.db, "vouching") != "on":
            return True
        if any(self.authors.state(name) == PERSON for name in history.authors.values()):
            return True
        self.index.warn("git no longer tells who committed memories: what was vouched for before still is")
        return False

    def _fold_again(self, was_on: bool) -> None:
        """Fold the memories again that have an entry which is now vouched for, or no longer."""
        is_on = _kept(self.db, "vouching") == "on"
        targets = {target for (target,) in rows(self.db, DIFFERING, (not was_on, not is_on))}
        if was_on != is_on:
            targets |= {target for (target,) in rows(self.db, COPIED)}
        self.db.execute("DELETE FROM vouched; INSERT INTO vouched SELECT digest FROM temp.vouched_now")
        if targets:
            self.index.fold_again(self.db, targets)

    def _known(self) -> History:
        from ...git.authorship import History

        blobs: dict[str, tuple[str, ...]] = {}
        for blob, digest in rows(self.db, "SELECT blob, digest FROM committed ORDER BY blob, number"):
            blobs[blob] = (*blobs.get(blob, ()), digest)
        authors = dict(rows(self.db, "SELECT digest, author FROM introduced"))
        head, ignored, why = (_kept(self.db, key) for key in ("head", "ignored", "why"))
        return History(head, authors, blobs, tuple(ignored.split()), why)
