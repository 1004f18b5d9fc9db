"""Keeps in the index who committed which entry, as of HEAD, and folds memories again when that changes.
Computes from it the trust in memories; how entries arrived and their sources count, too.
"""

from __future__ import annotations

import time

import apsw

from ..files.git_folder import FETCH_ALL, FETCH_FILES, cut_off_at, find_git, git_stamp
from ..files.layout import FOLDER, Layout
from ..model.entries import Memory
from ..model.errors import Busy, Unwritable
from ..model.values import RECORDED, TYPE_CHECKING, Problem, replace, warning
from ..state.trust import (
    AGENTS,
    BASE_TRUST,
    HIDDEN_AUTHOR,
    PERSON,
    REVIEWED,
    UNKNOWN,
    Standing,
    Trust,
    Weak,
    author_state,
    derived_from,
    explain_trust,
    limited_by_sources,
    lowest_trust,
    standing_of,
    standing_of_entry,
    weak_sources,
)
from ..text.chunks import counted
from ..text.clean import one_line
from .catalogue import Catalogue, known_memory
from .stores.database import marks, open_database

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..files.machine_records import Arrivals
    from ..git.authorship import History
    from .index import Index


LOOK_UP_AUTHORS = """
SELECT e.target, e.id, e.path, e.digest, i.author FROM entries e
LEFT JOIN introduced i ON i.digest = e.digest AND EXISTS (SELECT 1 FROM committed c WHERE c.digest = e.digest)
WHERE e.target IN
"""
LOOK_UP_NOBODY = "SELECT target, id, path, '', NULL FROM entries WHERE target IN"
AUTHOR_OF = """
SELECT author FROM introduced WHERE digest = ?1 AND EXISTS (SELECT 1 FROM committed WHERE digest = ?1)
"""
UNCOMMITTED_FILES = (
    "SELECT path FROM entries WHERE digest NOT IN (SELECT digest FROM committed)"
)
# committed entries whose author git cannot tell, and their memories
HIDDEN = f"""
SELECT digest FROM introduced i WHERE author = '{HIDDEN_AUTHOR}'
AND EXISTS (SELECT 1 FROM committed c WHERE c.digest = i.digest)
"""
WITH_HIDDEN_AUTHOR = f"SELECT DISTINCT target FROM entries WHERE digest IN ({HIDDEN})"
VOUCHED = "SELECT c.digest, i.author FROM committed c JOIN introduced i ON i.digest = c.digest"
# Memories that change when vouching is switched on or off: those with copied entries, which then count once, those
# with several changes, because two branches may each have set a text, and records, for which no commit vouches.
FOLDED_OTHERWISE = (
    "SELECT target FROM entries GROUP BY target HAVING count(*) > 2 OR count(DISTINCT digest) < count(*)"
    f" UNION SELECT id FROM memories WHERE kind IN {RECORDED}"
)
SWITCHED_OFF = "switched off"
CHOSEN = {"": -1, UNKNOWN: 1, PERSON: 2}  # of entries that share an id, the highest
GIT_RETRY_S = 600  # after git has failed, it is asked again after this time
MAX_REASON_CHARS = 500
GIT_UNREADABLE = "git-unreadable"
UNREADABLE_HINT = "repair that, then run 'rawkomem index rebuild'"
CANNOT_WRITE = (
    apsw.ReadOnlyError,
    apsw.FullError,
    apsw.BusyError,
    apsw.LockedError,
    Busy,
    Unwritable,
)


class Authors:
    """Looks authors up in the index. Call `refresh` first; it takes almost no time unless HEAD has moved."""

    def __init__(self, index: Index, agents: Sequence[str] | None = ()):
        self.index = index
        # patterns of further identities that are agents; None: commits do not count
        self.agents = agents

    def of_memories(self, ids: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return memory → entry id → who committed it (see state/trust.py), for all entries about the memories.

        If two entries share an id, the one counts that the fold uses: a person's, else one whose author is unknown.
        """
        database = self.index.reading()
        asked = _is_git_known(database)
        ignored = _kept_fact(database, "ignored").split() if asked else []
        found: dict[str, dict[str, str]] = {}
        sql = f"{LOOK_UP_AUTHORS if asked else LOOK_UP_NOBODY} {marks(ids)}"
        for target, entry, path, digest, author in database.execute(sql, tuple(ids)):
            uncommitted = bool(digest) and path.partition("/")[0] not in ignored
            state = self.state(author or ("" if uncommitted else HIDDEN_AUTHOR))
            states = found.setdefault(target, {})
            if CHOSEN.get(state, 0) > CHOSEN.get(states.get(entry, ""), 0):
                states[entry] = state
        return found

    def author(self, path: str, digest: str) -> str:
        """Return who committed an entry (see `author_state`): empty if nobody did, HIDDEN_AUTHOR if git cannot tell."""
        database = self.index.reading()
        for (author,) in database.execute(AUTHOR_OF, (digest,)):
            return str(author)
        ignored = _kept_fact(database, "ignored").split()
        is_known = _is_git_known(database) and path.partition("/")[0] not in ignored
        return "" if is_known else HIDDEN_AUTHOR

    def uncommitted_files(self) -> set[str]:
        """Return the files with entries that HEAD does not contain; empty if git could not be read."""
        database = self.index.reading()
        if not _is_git_known(database):
            return set()
        ignored = _kept_fact(database, "ignored").split()
        paths = (path for (path,) in database.execute(UNCOMMITTED_FILES))
        return {path for path in paths if path.partition("/")[0] not in ignored}

    def hidden(self) -> set[str]:
        """Return the memories with a committed entry whose author git cannot tell: the clone lacks older commits."""
        database = self.index.reading()
        # entries have no index by digest, and most clones have no hidden author
        if _kept_fact(database, "hidden") != "on":
            return set()
        return {id for (id,) in database.execute(WITH_HIDDEN_AUTHOR)}

    def problems(self) -> list[Problem]:
        """Return a Problem if git cannot be read, or if this clone lacks commits that would vouch for memories."""
        why = _kept_fact(self.index.reading(), "why")
        if why and why != SWITCHED_OFF:
            message = "git cannot be read, so commits vouch for nothing new, and guards that nobody vouches for only remind"
            hint = f"{one_line(why, MAX_REASON_CHARS)}; {UNREADABLE_HINT}"
            return [warning(GIT_UNREADABLE, message, hint, path=FOLDER)]
        if not (hidden := self.hidden()):
            return []
        git = find_git(self.index.layout.project)
        hint = FETCH_ALL if git and cut_off_at(git) else FETCH_FILES
        memories = counted(len(hidden), "memory")
        message = f"this clone lacks older commits, so nobody vouches for {memories}: guards among them only ask, and --strict leaves them out"
        return [warning("missing-commits", message, hint, path=FOLDER)]

    def names_a_person(self) -> bool:
        """Return whether a person committed any entry that is in HEAD: only then do commits count."""
        return _kept_fact(self.index.reading(), "vouching") == "on"

    def state(self, author: str) -> str:
        """Return the state of an entry with this author (see state/trust.py)."""
        return author_state(author, (*AGENTS, *(self.agents or ())))

    def refresh(self) -> bool:
        """Update the authors from HEAD, after the index was updated from the files; return whether it did so.

        Return False if HEAD has not moved, or if the database cannot be written now.
        """
        stamp = self._stamp()
        if not _must_ask_git(self.index.reading(), stamp):
            return False
        try:
            with self.index.locked("authors"):
                database = open_database(self.index.path)
                try:
                    with database:
                        if _must_ask_git(database, stamp):
                            self._update(database, stamp)
                finally:
                    # the last connection to close moves the log into the database: a reader could not
                    self.index.release()
                    database.close()
        except CANNOT_WRITE:
            return False
        return True

    def hold(self, db: apsw.Connection) -> None:
        """Use the entries that a person committed and that left the files. If HEAD has moved, `refresh` does it."""
        if not _must_ask_git(db, self._stamp()):
            self.index.fold_again(db, set())

    def _stamp(self) -> str:
        stamp = git_stamp(self.index.layout.project) if self.agents is not None else ""
        return "\n".join((stamp, *(self.agents or ()))) if stamp else ""

    def _update(self, db: apsw.Connection, stamp: str) -> None:
        """Read the new part of the history, store its authors, and fold the memories again that are affected."""
        from ..git.authorship import History, read_history

        history = History(why=SWITCHED_OFF)
        if stamp:
            history = read_history(self.index.layout, _known_history(db))
        facts = {"stamp": stamp, "why": history.why, "at": str(time.time())}
        was_on = is_on = _kept_fact(db, "vouching") == "on"
        before = after = {
            digest for (digest,) in db.execute("SELECT digest FROM vouched")
        }
        hidden_before = hidden = {digest for (digest,) in db.execute(HIDDEN)}
        if self._may_replace(history, was_on):
            db.execute(
                "DELETE FROM introduced; DELETE FROM committed; DELETE FROM vouched"
            )
            db.executemany(
                "INSERT INTO introduced VALUES (?, ?)", history.authors.items()
            )
            for blob, digests in history.blobs.items():
                numbered = [
                    (blob, number, digest) for number, digest in enumerate(digests)
                ]
                db.executemany("INSERT INTO committed VALUES (?, ?, ?)", numbered)
            is_person = {
                name: self.state(name) == PERSON for name in history.authors.values()
            }
            after = {
                digest for digest, author in db.execute(VOUCHED) if is_person[author]
            }
            db.executemany(
                "INSERT INTO vouched VALUES (?)", [(digest,) for digest in after]
            )
            is_on = bool(after)
            facts |= {"head": history.head, "ignored": " ".join(history.ignored)}
            facts["vouching"] = "on" if is_on else "off"
            hidden = {digest for (digest,) in db.execute(HIDDEN)}
            facts["hidden"] = "on" if hidden else "off"
        else:  # but what HEAD no longer holds is not in use
            db.execute("DELETE FROM committed")
            facts["head"] = ""
        db.executemany("INSERT OR REPLACE INTO authorship VALUES (?, ?)", facts.items())
        # Where nobody vouches for anything, all entries count as vouched for.
        targets = {
            target
            for target, digest in db.execute("SELECT target, digest FROM entries")
            if (not was_on or digest in before) != (not is_on or digest in after)
            or digest in hidden ^ hidden_before
        }
        if was_on != is_on:
            targets |= {target for (target,) in db.execute(FOLDED_OTHERWISE)}
        self.index.fold_again(db, targets)

    def _may_replace(self, history: History, was_on: bool) -> bool:
        """Return whether the known authors may be replaced; warn if not.

        If people vouched before and git suddenly names no person (another `.git`, an orphan branch, a shallow history),
        the known authors stay. Otherwise anybody who can move HEAD could switch vouching off.
        """
        if self.agents is None or not was_on:
            return True
        if any(self.state(name) == PERSON for name in history.authors.values()):
            return True
        self.index.warn(
            "git no longer tells who committed memories: what was vouched for before still is"
        )
        return False


def _kept_fact(database: apsw.Connection, key: str) -> str:
    fact = database.execute(
        "SELECT value FROM authorship WHERE key = ?", (key,)
    ).fetchone()
    return str(fact[0]) if fact else ""


def _is_git_known(database: apsw.Connection) -> bool:
    """Return whether git was asked, and answered."""
    return bool(_kept_fact(database, "stamp")) and not _kept_fact(database, "why")


def _must_ask_git(database: apsw.Connection, stamp: str) -> bool:
    """Return whether HEAD has moved since git was asked, or git failed and may work now."""
    if _kept_fact(database, "stamp") != stamp:
        return True
    return (
        bool(stamp and _kept_fact(database, "why"))
        and time.time() - float(_kept_fact(database, "at")) > GIT_RETRY_S
    )


def _known_history(db: apsw.Connection) -> History:
    from ..git.authorship import History

    blobs: dict[str, tuple[str, ...]] = {}
    for blob, digest in db.execute(
        "SELECT blob, digest FROM committed ORDER BY blob, number"
    ):
        blobs[blob] = (*blobs.get(blob, ()), digest)
    authors = dict(db.execute("SELECT digest, author FROM introduced"))
    head, ignored, why = (_kept_fact(db, key) for key in ("head", "ignored", "why"))
    return History(head, authors, blobs, tuple(ignored.split()), why)


# The trust in memories: who committed their entries, how the entries arrived, and the sources.


class Believed:
    """Caches each memory's standing. Without authors, all commits count as unknown."""

    def __init__(
        self,
        layout: Layout,
        catalogue: Catalogue,
        authors: Authors | None,
        at: int,
        strict: bool = False,
    ):
        self.layout = layout
        self.catalogue = catalogue
        self.authors = authors
        self.at = at
        # commits and reviews count, other typed entries do not; sources must be verified too
        self.strict = strict
        # whether it matters who vouches
        self.counts = strict or bool(authors and authors.names_a_person())
        self._standings: dict[str, Standing] = {}
        self._sources: dict[str, tuple[float, Sequence[str]]] = {}
        self._arrivals: Arrivals | None = None

    def unverified(self, memories: Iterable[Memory]) -> dict[str, Standing]:
        """Return id → standing of the memories that no person vouches for."""
        memories = list(memories)
        self._look_up(
            [memory for memory in memories if memory.id not in self._standings]
        )
        found = {memory.id: self._standings[memory.id] for memory in memories}
        return {id: standing for id, standing in found.items() if not standing.verified}

    def weak_sources(self, memory: Memory) -> tuple[Weak, ...]:
        """Return the sources of a memory that were withdrawn, superseded, disputed, or have ended."""
        if derived_from(memory):
            return weak_sources(memory, self._find_source, self.at)
        return ()

    def trust(self, memory: Memory) -> Trust:
        """Return the trust in a memory, which is never higher than the lowest trust in one of its sources."""
        return limited_by_sources(
            self._own(memory), lowest_trust(derived_from(memory), self._source)
        )

    def _own(self, memory: Memory) -> Trust:
        if memory.id not in self._standings:
            self._look_up([memory])
        return explain_trust(memory, self._standings[memory.id], self.at)

    def _source(self, id: str) -> tuple[float, Sequence[str]]:
        """Return the own trust of a source, and its sources; a missing source has the trust `unknown`."""
        if id not in self._sources:
            memory = self._find(id)
            self._sources[id] = (
                (self._own(memory).value, derived_from(memory))
                if memory
                else (BASE_TRUST["unknown"], ())
            )
        return self._sources[id]

    def _find(self, id: str) -> Memory | None:
        return known_memory(self.catalogue, id)

    def _find_source(self, id: str) -> Memory | None:
        """Return a source; None also for an active or archived record of a run: a learning may have hundreds."""
        row = self.catalogue.row(id)
        if row is None or (
            row.kind in RECORDED and row.status in ("active", "archived")
        ):
            return None
        return self._find(id)

    def _look_up(self, memories: list[Memory]) -> None:
        if self.authors:
            commits = self.authors.of_memories([memory.id for memory in memories])
        else:
            commits = {}
        for memory in memories:
            states = commits.get(memory.id, {})
            ids = (memory.id, *memory.amended_in, *memory.reviewed_in)
            entries = {id: standing_of_entry(states.get(id, UNKNOWN), "") for id in ids}
            if not all(standing.verified for standing in entries.values()) and any(
                map(self._arrived().knows, ids)
            ):
                digests = self.catalogue.digests_about(memory.id)
                arrivals = {
                    id: self._arrived().of(id, digests.get(id, "")) for id in ids
                }
                entries = {
                    id: standing_of_entry(states.get(id, UNKNOWN), arrivals[id])
                    for id in ids
                }
            self._standings[memory.id] = self._decided(
                memory, standing_of(memory, entries), entries[memory.id]
            )

    def _decided(self, memory: Memory, weakest: Standing, first: Standing) -> Standing:
        """Return the standing of a memory. Where people vouch, the fold has decided whether it is vouched for."""
        if not self.counts:
            return weakest
        if not memory.vouched or (self.strict and self._rests_on_unverified(memory)):
            return replace(weakest, verified=False)
        return weakest if weakest.verified else first if first.verified else REVIEWED

    def _rests_on_unverified(self, memory: Memory) -> bool:
        """Return whether no person vouches for a source of a memory, unless a person reviewed the memory itself."""
        if memory.reviewed_in:
            return False
        sources = [
            source for id in derived_from(memory) if (source := self._find_source(id))
        ]
        return any(
            source.kind not in RECORDED and not source.vouched for source in sources
        )

    def _arrived(self) -> Arrivals:
        if self._arrivals is None:
            from ..files.machine_records import (
                Arrivals,  # not needed for entries that a person committed
            )

            self._arrivals = Arrivals(self.layout)
        return self._arrivals
