"""Episodes: groups of memories, for example of one task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.entry import Entry, Plan
from ...model.errors import BadInput, NotFound, Refused
from ...model.filters import READABLE, Filter
from ...model.kinds import ACTIVE, GROUPS
from ...model.record import replace
from ...recall.limits import DEFAULT_RESULTS
from ...state.changes.amend import plan_amend
from ...state.derive import derived_from, made_of
from ...state.graph import episode as decide
from ...state.graph.digest import agreeing, archive_held, digest_of, plan_digest
from ...text.clean import one_line
from ...text.count import count
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...files.append import Written
    from ...recall.search import Found
    from ...state.graph.episode import Episode

ONLY_BY_NAME = "it is critical, or a person vouches for it; to archive it, run 'rawkomem archive ID'"


class Episodes(Wing):
    """Creates, reads and compresses episodes."""

    def create(self, name: str, ids: Sequence[str], tags: Sequence[str] = (), text: str = "", by: str = "") -> Episode:
        """Create an episode with these memories."""
        plan = decide.plan_episode(name, self._repo.get_many(ids), tags, text, by)
        return self.get(self._core.writer.write(plan)[0].entry.id)

    def capture(self, name: str, only: Filter, discoverer: str = "", tags: Sequence[str] = (), by: str = "") -> Episode:
        """Create an episode with all memories that pass a filter, of one discoverer or of all."""
        only = replace(only, statuses=only.statuses or READABLE)
        rows = [row for row in self._core.rows(only) if row.kind not in GROUPS and discoverer in ("", row.by)]
        if len(rows) < decide.MIN_CAPTURED:
            found = "one memory" if rows else "no memory"
            raise NotFound(f"{found} matches: an episode needs at least two", "use a wider filter or time range")
        return self.create(name, [row.id for row in rows], tags, "", by)

    def add(self, name: str, ids: Sequence[str], by: str = "") -> Episode:
        """Add memories to an episode."""
        self._core.writer.write(decide.plan_join(self.get(name), self._repo.get_many(ids), by))
        return self.get(name)

    def remove(self, name: str, ids: Sequence[str], by: str = "") -> Episode:
        """Remove memories from an episode."""
        self._core.writer.write(decide.plan_leave(self.get(name), self._repo.get_many(ids), by))
        return self.get(name)

    def list(self) -> Sequence[Episode]:
        """Return all episodes, latest first."""
        found = decide.episodes_in(self._repo.graph.load(statuses=()))
        return [episode for episode in found if episode.memory.status in READABLE]

    def get(self, name: str) -> Episode:
        """Return one episode, by its id, a part of the id, its file stem or its title."""
        memory = self._repo.get(name)
        if memory.kind not in GROUPS:
            raise BadInput(f"{memory.id} is a {memory.kind}, not an episode", "run 'rawkomem episode list'")
        if memory.status == "deleted":
            raise Refused(f"{memory.id} is deleted", "run 'rawkomem episode list'")
        found = decide.episodes_in(self._repo.graph.load(statuses=()))
        return next(episode for episode in found if episode.memory.id == memory.id)

    def search(self, name: str, question: str, limit: int = DEFAULT_RESULTS) -> Sequence[Found]:
        """Return the members of an episode that match a question best."""
        ids = tuple(memory.id for memory in self.get(name).members)
        return self._repo.search(question, limit, Filter(ids=ids, statuses=READABLE)) if ids else []

    def summarize(self, name: str, max_words: int = decide.SUMMARY_WORDS) -> str:
        """Return a summary made of sentences of the episode's active members."""
        return decide.summary_of(self.get(name).active, max_words)

    def keep_summary(self, name: str, summary: str, by: str = "") -> Written:
        """Append an entry that makes a summary the episode's text."""
        if not summary:
            raise BadInput("there is nothing to keep: no member has any text", "add members first")
        return self._core.writer.write(plan_amend(self.get(name).memory, Entry(kind="amend", body=summary, by=by)))[0]

    def compress(
        self, name: str, title: str = "", archive: bool = False, by: str = ""
    ) -> tuple[Sequence[Written], dict[str, str]]:
        """Store a digest of the active members that do not contradict each other.

        With `archive`, archive the members that the digest covers and that searches do not lose.

        Return the entries written, and member → the reason why it is not archived.
        """
        episode = self.get(name)
        members = agreeing(episode.active)
        graph = self._repo.graph.load(statuses=(ACTIVE,))
        for known in made_of(graph.memories.values(), members):
            raise Refused(f"{known.id} is already a digest of exactly these memories", "delete it to make another")
        title = title or f"Digest: {episode.memory.title}"
        written = self._core.writer.write(plan_digest(title, members, f"episode {episode.memory.id}", by))
        if not archive:
            return written, {}
        self._core.follow()
        plan, staying = self._held(written[0].entry.id, by)
        return (*written, *(self._core.writer.write(plan) if plan.entries else ())), staying

    def _held(self, id: str, by: str) -> tuple[Plan, dict[str, str]]:
        """Return the plan that archives the sources of a digest, and source → the reason why it is not archived."""
        census = self._repo.lifecycle.census()
        digest = census.memories[id]
        sources = [census.memories[source] for source in derived_from(digest)]
        missing = digest_of(sources).missing
        staying = {one: f"the digest does not contain {one_line(text, 80)!r}" for one, text in missing.items()}
        staying |= {one.id: ONLY_BY_NAME for one in sources if census.is_spared(one)}
        held = [entry for entry in archive_held(digest, sources, by) if entry.about not in staying]
        plan = Plan(tuple(held), f"archive {count(len(held), 'memory')} of {id}")
        return self._repo.lifecycle.recallable(census, plan, {one.id: id for one in sources}, staying), staying
