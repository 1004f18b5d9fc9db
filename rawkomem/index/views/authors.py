"""Who committed each entry, kept in the index: git is asked when HEAD moved, files are read when they changed.

introduced  digest of an entry → author of the first commit that brought it, in all of history up to `head`
committed   the digests of the entries of each file in HEAD, by blob: a blob that is known is not read again
said        the digests of the entries of each file as it is now, and the hash of the file they were made from
authorship  stamp, head, ignored, why, at: what was asked when; listing: of the files that `said` was made from;
            names: of everybody who committed an entry that is in HEAD

All of it can be asked of git again, and is, when the index is made anew.
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
CREATE TABLE IF NOT EXISTS said (path TEXT, number INTEGER, digest TEXT, hash TEXT, PRIMARY KEY (path, number))
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS authorship (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
"""
LOOK_UP = """
SELECT e.target, e.id, e.path, s.digest, i.author FROM entries e JOIN files f ON f.path = e.path
LEFT JOIN said s ON s.path = e.path AND s.number = e.number AND s.hash = f.hash
LEFT JOIN introduced i ON i.digest = s.digest AND EXISTS (SELECT 1 FROM committed c WHERE c.digest = s.digest)
WHERE e.target IN
"""
NOBODY = "SELECT target, id, path, NULL, NULL FROM entries WHERE target IN"
NAMES = "SELECT DISTINCT author FROM introduced WHERE digest IN (SELECT digest FROM committed) ORDER BY author"
SAME_FILES = """
SELECT (SELECT value FROM meta WHERE key = 'listing') IS (SELECT value FROM authorship WHERE key = 'listing')
"""
CHANGED = """
SELECT path FROM files f WHERE NOT EXISTS (SELECT 1 FROM said s WHERE s.path = f.path AND s.hash = f.hash)
"""
KEEP_LISTING = "INSERT OR REPLACE INTO authorship SELECT key, value FROM meta WHERE key = 'listing'"
RETRY_S = 600  # seconds after which git is asked again where it had no answer: somebody may have mended it
CANNOT_WRITE = (apsw.ReadOnlyError, apsw.FullError, apsw.BusyError, apsw.LockedError, Busy, Unwritable)


class Authors:
    """Looks authors up in the index. Call `refresh` first: it is nearly free while neither HEAD nor a file moved."""

    def __init__(self, index: Index, agents: Sequence[str] = ()):
        self.index = index
        self.agents = agents  # patterns of identities that are agents, besides those that everybody knows

    def of_memory(self, id: str) -> dict[str, str]:
        """Return entry id → who committed it (see state/belief/committer.py), for all entries about a memory."""
        return self.of_memories([id]).get(id, {})

    def of_memories(self, ids: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return `of_memory` of several memories. Of two entries under one id, the one not by a person counts."""
        database, asked = self.index.reading(), self._exists()
        ignored = _kept(database, "ignored").split() if asked else []
        found: dict[str, dict[str, str]] = {}
        sql = f"{LOOK_UP if asked else NOBODY} ({', '.join('?' * len(ids))})"
        for target, entry, path, digest, author in rows(database, sql, tuple(ids)):
            uncommitted = digest is not None and path.partition("/")[0] not in ignored
            state = self._state(author or ("" if uncommitted else HIDDEN))
            states = found.setdefault(target, {})
            if entry not in states or state != PERSON:
                states[entry] = state
        return found

    def names_a_person(self) -> bool:
        """Tell whether a person committed any entry that is in HEAD: only then does committing mean something."""
        names = _kept(self.index.reading(), "names") if self._exists() else ""
        return any(self._state(name) == PERSON for name in names.split("\n") if name)

    def _state(self, author: str) -> str:
        return state_of(author, (*AGENTS, *self.agents))

    def why_unknown(self) -> str:
        """Return why git had no answer; empty when it had."""
        return _kept(self.index.reading(), "why") if self._exists() else "no git"

    def refresh(self) -> bool:
        """Catch up with HEAD and with the files, after the index did; return whether there was anything to do."""
        stamp = git_stamp(self.index.layout.root)
        if not self._is_behind(stamp):
            return False
        try:
            with self.index.locked("authors"):
                _Update(self.index, stamp).run()
        except CANNOT_WRITE:
            return False
        return True

    def _is_behind(self, stamp: str) -> bool:
        if not self._exists():
            return bool(stamp)
        database = self.index.reading()
        return _must_ask(database, stamp) or (bool(stamp) and not first(database, SAME_FILES)[0])

    def _exists(self) -> bool:
        return first(self.index.reading(), "SELECT 1 FROM sqlite_master WHERE name = 'authorship'") is not None


def _kept(database: apsw.Connection, key: str) -> str:
    found = first(database, "SELECT value FROM authorship WHERE key = ?", (key,))
    return str(found[0]) if found else ""


def _must_ask(database: apsw.Connection, stamp: str) -> bool:
    """Tell whether HEAD moved since git was asked, or git had no answer and may have one now."""
    if _kept(database, "stamp") != stamp:
        return True
    return bool(stamp and _kept(database, "why")) and time.time() - float(_kept(database, "at")) > RETRY_S


class _Update:
    """Catches up once, under the index lock, in one transaction."""

    def __init__(self, index: Index, stamp: str):
        self.index = index
        self.stamp = stamp
        self.db = open_database(index.path)

    def run(self) -> None:
        try:
            with self.db:
                self.db.execute(SCHEMA)
                history = self._ask_git() if _must_ask(self.db, self.stamp) else self._known()
                self._follow_files(history)
                self.db.execute(KEEP_LISTING)
        finally:
            self.db.close()

    def _ask_git(self) -> History:
        """Read what is new in history, and store it."""
        from ...git.authorship import History, read_history

        known = self._known()
        history = read_history(self.index.layout, known) if self.stamp else History(why="no git")
        self.db.execute("DELETE FROM introduced; DELETE FROM committed")
        self.db.executemany("INSERT INTO introduced VALUES (?, ?)", history.authors.items())
        blobs = [(blob, n, digest) for blob, digests in history.blobs.items() for n, digest in enumerate(digests)]
        self.db.executemany("INSERT INTO committed VALUES (?, ?, ?)", blobs)
        facts = {"stamp": self.stamp, "head": history.head, "ignored": " ".join(history.ignored), "why": history.why}
        names = "\n".join(name for (name,) in rows(self.db, NAMES))
        kept = {**facts, "names": names, "at": str(time.time())}
        self.db.executemany("INSERT OR REPLACE INTO authorship VALUES (?, ?)", kept.items())
        return history

    def _known(self) -> History:
        from ...git.authorship import History

        blobs: dict[str, tuple[str, ...]] = {}
        for blob, digest in rows(self.db, "SELECT blob, digest FROM committed ORDER BY blob, number"):
            blobs[blob] = (*blobs.get(blob, ()), digest)
        authors = dict(rows(self.db, "SELECT digest, author FROM introduced"))
        head, ignored, why = (_kept(self.db, key) for key in ("head", "ignored", "why"))
        return History(head, authors, blobs, tuple(ignored.split()), why)

    def _follow_files(self, history: History) -> None:
        """Read the files that changed. Without an answer of git nothing is known of any."""
        from hashlib import sha256

        from ...files.contents import read_bytes
        from ...git.authorship import digests_in

        gone = "DELETE FROM said WHERE path NOT IN (SELECT path FROM files)"
        self.db.execute("DELETE FROM said" if history.why else gone)
        for (path,) in rows(self.db, CHANGED) if not history.why else ():
            self.db.execute("DELETE FROM said WHERE path = ?", (path,))
            try:
                data = read_bytes(self.index.layout.path(path))
            except OSError:
                continue
            hash = sha256(data).hexdigest()  # of these very bytes: a row for others than the index knows is not used
            found = [(path, number, digest, hash) for number, digest in enumerate(digests_in(data, history.blobs))]
            self.db.executemany("INSERT INTO said VALUES (?, ?, ?, ?)", found)
