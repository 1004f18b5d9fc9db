"""What memories are connected with: links and walks along them, clusters, entities, episodes, and
cited places in the code.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ..files.append import Written
from ..format.blocks import read_citation
from ..git import citations
from ..git.citations import Cited
from ..index.catalogue import CITES
from ..index.summaries import load_graph, named_entities
from ..model.entries import Entry, Memory
from ..model.errors import BadInput, NotFound, Refused
from ..model.filters import READABLE, Filter
from ..model.values import ACTIVE, GROUPS, replace
from ..recall.search import Found
from ..recall.signals import DEFAULT_RESULTS
from ..state import digests as decide
from ..state import graph
from ..state.changes import plan_amend, plan_cite, plan_link, plan_unlink
from ..state.digests import Episode, plan_digest, without_contradicting
from ..state.graph import Cluster, LinkGraph, WalkStep
from ..state.trust import made_from_exactly
from .core import Wing

MIN_CLUSTER = 3  # memories of the smallest cluster


class Graph(Wing):
    """Adds and removes links between memories, and walks along them."""

    def link(
        self, name: str, other: str, type: str = "related", by: str = ""
    ) -> Sequence[Written]:
        """Append a link from one memory to another."""
        return self._core.write(
            plan_link(self._repo.get(name), self._repo.get(other), type, by)
        )

    def unlink(
        self, name: str, other: str, type: str = "", by: str = ""
    ) -> Sequence[Written]:
        """Remove the links between two memories, of one type or of all types."""
        return self._core.write(
            plan_unlink(self._repo.get(name), self._repo.get(other), type, by)
        )

    def load(
        self,
        statuses: tuple[str, ...] = READABLE,
        similar: float = 0.0,
        similar_to: str = "",
    ) -> LinkGraph:
        """Return memories and their edges; if `similar` is above 0, also connect memories at least that similar."""
        core = self._core
        return core.read(
            lambda: load_graph(
                core.catalogue,
                core.index.store,
                statuses,
                similar,
                core.warn,
                similar_to,
            )
        )

    def traverse(
        self,
        name: str,
        hops: int = 2,
        types: Collection[str] = (),
        similar: float = 0.0,
    ) -> Sequence[WalkStep]:
        """Return the memories around a memory, nearest first, each with the edge that leads to it."""
        return graph.traverse(
            self.load(similar=similar), self._repo.get(name).id, hops, types
        )

    def path(
        self, name: str, other: str, types: Collection[str] = (), similar: float = 0.0
    ) -> Sequence[WalkStep]:
        """Return the shortest path between two memories; empty if they are not connected."""
        return graph.shortest_path(
            self.load(similar=similar),
            self._repo.get(name).id,
            self._repo.get(other).id,
            types,
        )

    def clusters(
        self, min_size: int = MIN_CLUSTER, similar: float = 0.0
    ) -> Sequence[Cluster]:
        """Return groups of connected memories, largest first."""
        return graph.clusters(self.load(similar=similar), min_size)

    def entities(self) -> Mapping[str, Sequence[str]]:
        """Return every entity that readable memories name, with the ids of those memories."""
        return self._core.read(lambda: named_entities(self._core.catalogue, READABLE))


# Episodes: groups of memories, for example of one task.


class Episodes(Wing):
    """Creates, reads and compresses episodes."""

    def create(
        self,
        name: str,
        ids: Sequence[str],
        tags: Sequence[str] = (),
        text: str = "",
        by: str = "",
    ) -> Episode:
        """Create an episode with these memories."""
        plan = decide.plan_episode(name, self._repo.get_many(ids), tags, text, by)
        return self.get(self._core.write(plan)[0].entry.id)

    def capture(
        self,
        name: str,
        only: Filter,
        discoverer: str = "",
        tags: Sequence[str] = (),
        by: str = "",
    ) -> Episode:
        """Create an episode with all memories that pass a filter, of one discoverer or of all."""
        only = replace(only, statuses=only.statuses or READABLE)
        rows = [
            row
            for row in self._core.rows(only)
            if row.kind not in GROUPS and discoverer in ("", row.by)
        ]
        if len(rows) < decide.MIN_CAPTURED:
            count = "one memory" if rows else "no memory"
            raise NotFound(
                f"{count} matches: an episode needs at least two",
                "use a wider filter or time range",
            )
        return self.create(name, [row.id for row in rows], tags, "", by)

    def add(self, name: str, ids: Sequence[str], by: str = "") -> Episode:
        """Add memories to an episode."""
        self._core.write(decide.plan_join(self.get(name), self._repo.get_many(ids), by))
        return self.get(name)

    def remove(self, name: str, ids: Sequence[str], by: str = "") -> Episode:
        """Remove memories from an episode."""
        self._core.write(
            decide.plan_leave(self.get(name), self._repo.get_many(ids), by)
        )
        return self.get(name)

    def list(self) -> Sequence[Episode]:
        """Return all episodes, latest first."""
        return [one for one in self._all() if one.memory.status in READABLE]

    def get(self, name: str) -> Episode:
        """Return one episode, by its id, a part of the id, its file stem or its title."""
        memory = self._repo.get(name)
        if memory.kind not in GROUPS:
            raise BadInput(
                f"{memory.id} is a {memory.kind}, not an episode",
                "run 'rawkomem trace episode list'",
            )
        if memory.status == "deleted":
            raise Refused(
                f"{memory.id} is deleted", "run 'rawkomem trace episode list'"
            )
        return next(one for one in self._all() if one.memory.id == memory.id)

    def _all(self) -> Sequence[Episode]:
        return decide.episodes_in(self._repo.graph.load(statuses=()))

    def search(
        self, name: str, question: str, limit: int = DEFAULT_RESULTS
    ) -> Sequence[Found]:
        """Return the members of an episode that match a question best."""
        ids = tuple(memory.id for memory in self.get(name).members)
        only = Filter(ids=ids, statuses=READABLE)
        return self._repo.search(question, limit, only) if ids else []

    def summarize(self, name: str, max_words: int = decide.SUMMARY_WORDS) -> str:
        """Return a summary made of sentences of the episode's active members."""
        return decide.summary_of(self.get(name).active, max_words)

    def keep_summary(self, name: str, summary: str, by: str = "") -> Written:
        """Append an entry that makes a summary the episode's text."""
        if not summary:
            raise BadInput(
                "there is nothing to keep: no member has any text", "add members first"
            )
        text = Entry(kind="amend", body=summary, by=by)
        return self._core.append(plan_amend, self.get(name).memory.id, text)

    def compress(
        self, name: str, title: str = "", archive: bool = False, by: str = ""
    ) -> tuple[Written, Sequence[Entry], dict[str, str]]:
        """Store a digest of the active members that do not contradict each other.

        With `archive`, archive the members that the digest covers and that searches do not lose.

        Return the digest, the entries that archive members, and member → the reason why it is not archived.
        """
        episode = self.get(name)
        members = without_contradicting(episode.active)
        graph = self._repo.graph.load(statuses=(ACTIVE,))
        for known in made_from_exactly(graph.memories.values(), members):
            raise Refused(
                f"{known.id} is already a digest of exactly these memories",
                "delete it to make another",
            )
        title = title or f"Digest: {episode.memory.title}"
        written = self._core.write(
            plan_digest(title, members, f"episode {episode.memory.id}", by)
        )
        if not archive:
            return written[0], (), {}
        self._core.follow()
        done = self._repo.lifecycle.archive_sources(written[0].entry.id, by=by)
        return written[0], done.plan.entries, dict(done.staying)


# Citations: places in the code that memories cite. Recall warns about a memory when the cited code
# changed.


class Citations(Wing):
    """Adds citations to memories, and checks them against the code."""

    def add(self, name: str, places: Sequence[str], by: str = "") -> Written:
        """Append an entry with citations of these places in their current state."""
        citations = [self.now(place).citation for place in places]
        return self._core.append(plan_cite, name, citations, by)

    def now(self, place: str) -> Cited:
        """Return a citation of a place in the project (`path`, `path#symbol`, `path:10-20`) in its current state."""
        return citations.CitationChecks(self._layout).now(read_citation(place))

    def of(self, memory: Memory) -> Sequence[Cited]:
        """Return, for each place that a memory cites, whether it changed."""
        return self._core.citing()(memory)

    def all(self) -> Sequence[tuple[Memory, Sequence[Cited]]]:
        """Return every memory in use that cites code, and for each place whether it changed."""
        core = self._core
        cited = self._core.citing()
        citing = core.read(lambda: core.inside_with(CITES))
        pairs = [(memory, cited(memory)) for memory in citing]
        return [(memory, places) for memory, places in pairs if places]
