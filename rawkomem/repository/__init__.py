"""Repository: the entry point of the library. Its parts (`repo.skills`, …) are loaded on first use.

`acts`: The memories that apply to acts of an agent, for the hooks that run at each act
`beliefs`: Decisions about memories: trust, disputes, quarantine and review, supersession, validity, claims and their conflicts
`commits`: Memories and git commits: manual edits of committed memories, staged memories compared with others, and changes moved into the files of their memories
`connections`: What memories are connected with: links and walks along them, clusters, entities, episodes, and cited places in the code
`core`: The object that the facade and all parts of the library share: one repository's files, settings and index
`experience`: What earlier work taught: traces of runs, the experience log, a brief before the next task, lessons from failures, and skills: import, find, rate and export them, propose skills and write reflections
`injecting`: Inject: choose the memories for the prompt of a task, and explain the choice
`layers`: Layers: the project's memories, the user's own, and those of shared repositories, which are read- only
`learning`: Learn from sessions: drafts that wait for a decision, statements and requests in transcripts, and memories that a quote of a person proves
`machine`: The index and its search stores on this machine: status, rebuild, choose a store, copy, migrate tables; and the checks of `rawkomem doctor`
`maintenance`: Maintenance of memories: consolidate, digest, prune, purge, and retention in the archive
`mesh_tables`: The tables of RFC-0011 that other programs read: their rows, publishing them after each write and recall, and the export as a memory-mesh database
`purging`: Remove a memory's text for good
`settings`: Settings from config.yaml of the repository and of the user
`settings_table`: The table of settings, one row each, the types of their values, and the reader of a settings file
`transfer`: What enters and leaves a repository: import and export in the formats of other tools, the ledger of writes and recalls, and sinks that receive changes
`undoing`: Undo changes that this machine made: the last one, or the change that wrote an entry
`waiting`: The list of everything that waits for a person's decision: drafts, proposed changes, conflicts and memories in quarantine; and the decisions about them
`writing`: Store and change memories: the keyword arguments of `add` and `amend`, the checks of an entry, and the only write path, which updates sinks, the ledger and MEMORY.md after the write; the text of MEMORY.md
"""

from __future__ import annotations

import os
from os import PathLike

from ..files.git_folder import kept_folder
from ..files.layout import Layout, find_layout
from ..files.private import EDITS
from ..index.catalogue import Row, SyncReport
from ..model.entries import Entry, Memory, Task
from ..model.errors import BadInput
from ..model.filters import Filter, read_share, without_records
from ..model.values import TYPE_CHECKING
from ..recall.signals import DEFAULT_RESULTS, cut_note, filter_of
from .core import Core, lazy, warn_on_stderr
from .settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Self, TypedDict, Unpack

    from ..files.append import Written
    from ..files.check import Checked
    from ..index.summaries import Stats
    from ..model.filters import Words
    from ..recall.inject import Injection, Prompt
    from ..recall.scoring import Scored
    from ..recall.search import Answer, Found
    from ..state.history import HistoryStep
    from .beliefs import Beliefs
    from .commits import Edits
    from .connections import Citations, Episodes, Graph
    from .experience import Lessons, Skills, Traces
    from .layers import Layers
    from .learning import Drafts, Learning
    from .machine import Store
    from .maintenance import Lifecycle, Retention
    from .transfer import Exchange, Ledger, Sinks
    from .undoing import Undoing
    from .waiting import Waiting
    from .writing import Stored

    class Changes(TypedDict, total=False):
        """The keyword arguments of `amend`; writing.py maps each to a field or a frontmatter key."""

        title: str
        body: str
        tags: str | Sequence[str]
        when: str | Sequence[str]
        importance: str
        by: str
        found_in: str
        source: str
        related: str | Sequence[str]
        type: str
        category: str
        entity: str | Sequence[str]
        session: str
        claim: Mapping[str, object]
        valid_from: str
        valid_until: str
        extra: Mapping[str, object]

    class Fields(Changes, total=False):
        """The keyword arguments of `add`: those of `amend`, and those that only a new memory has."""

        kind: str
        id: str
        at: int


StrPath = str | PathLike[str]


class Repository:
    """A project's memories: the files in `.rawko/` and the index that is built from them."""

    beliefs: Beliefs = lazy(
        "beliefs.Beliefs",
        "Trust, disputes, quarantine, review, supersession, validity, conflicts.",
    )
    citations: Citations = lazy(
        "connections.Citations", "Citations: places in the code that memories refer to."
    )
    edits: Edits = lazy(
        "commits.Edits",
        "Memories and commits: manual edits, checks, staged memories, gathered changes.",
    )
    episodes: Episodes = lazy("connections.Episodes", "Episodes: groups of memories.")
    exchange: Exchange = lazy("transfer.Exchange", "Import and export, in all formats.")
    graph: Graph = lazy(
        "connections.Graph", "Links between memories, walks, clusters, entities."
    )
    learning: Learning = lazy(
        "learning.Learning",
        "Drafts from transcripts, and memories that quote a person.",
    )
    drafts: Drafts = lazy(
        "learning.Drafts", "Drafts that wait for a decision on this machine."
    )
    ledger: Ledger = lazy(
        "transfer.Ledger", "The tamper-evident log of writes and recalls."
    )
    lessons: Lessons = lazy(
        "experience.Lessons", "Lessons from failures, and the intents behind a memory."
    )
    lifecycle: Lifecycle = lazy(
        "maintenance.Lifecycle", "Duplicates, digests, pruning, purging."
    )
    retention: Retention = lazy(
        "maintenance.Retention", "Move memories to the archive and back."
    )
    sinks: Sinks = lazy("transfer.Sinks", "Send changes to a daily log or a webhook.")
    skills: Skills = lazy(
        "experience.Skills",
        "Skills: import, find, rate, export, propose from memories.",
    )
    store: Store = lazy(
        "machine.Store",
        "The index and its search stores: status, rebuild, copy, publish.",
    )
    traces: Traces = lazy(
        "experience.Traces", "Traces of runs, the experience log, briefs."
    )
    layers: Layers = lazy(
        "layers.Layers",
        "The project's memories, the user's own, and those of shared repositories.",
    )
    undoing: Undoing = lazy(
        "undoing.Undoing", "The last changes made on this machine; undo them."
    )

    def __init__(
        self,
        layout: Layout,
        warn: Callable[[str], None] = warn_on_stderr,
        via: str = "",
        adjust: Callable[[Settings], Settings] | None = None,
        store: str = "",
        layers: bool = False,
    ):
        self.core = Core(layout, warn, via, adjust, store, layers)

    # Open and close

    @classmethod
    def open(
        cls,
        path: StrPath = "",
        warn: Callable[[str], None] = warn_on_stderr,
        via: str = "",
        store: str = "",
        layers: bool = False,
    ) -> Self:
        """Open the repository of a folder or one of its parents; raise NotFound if there is none.

        `via` is the origin of the entries that you write: agent, import, distilled, or a source class such as
        tool_output. `person` counts as unknown; see `hosts.person.ask_person`. `store` overrides the search store of the settings. With `layers`, recall also searches
        the user's own memories and shared repositories; outside of a project, only the user's own.
        """
        return cls(
            find_layout(str(path), layers), warn, via, store=store, layers=layers
        )

    @classmethod
    def init(
        cls,
        path: StrPath = "",
        warn: Callable[[str], None] = warn_on_stderr,
        via: str = "",
        store: str = "",
    ) -> Self:
        """Create a repository in a folder, as `rawkomem init` does, and open it; open it if it already exists."""
        from ..files.installation import plan_start, write_start

        folder = str(path) or "."
        write_start(plan_start(folder))
        return cls.open(folder, warn, via, store)

    def close(self) -> None:
        """Close the index."""
        if "layers" in self.__dict__:
            self.layers.close()
        self.core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    @property
    def layout(self) -> Layout:
        """Return the paths of this repository: `root` is the .rawko folder, `project` is its parent."""
        return self.core.layout

    @property
    def settings(self) -> Settings:
        """Return the settings of this repository for this user."""
        return self.core.settings

    # Write

    def add(
        self,
        text: str | Entry,
        on_conflict: str = "quarantine",
        evolve: bool = False,
        via: str = "",
        **fields: Unpack[Fields],
    ) -> Stored:
        """Store a memory: a text with fields, or an Entry. Secrets are redacted before anything is written.

        A text without a title gets its first heading or line as title. A claim may confirm or supersede another claim,
        or wait for a review; see `outcome`. With `evolve`, the memory supersedes the memory that it clearly updates.
        """
        from .writing import add

        return add(self, text, fields, on_conflict, evolve, via)

    def add_many(
        self, entries: Sequence[Entry], on_conflict: str = "quarantine", via: str = ""
    ) -> Sequence[Stored]:
        """Store up to 1,000 memories as `add` does; if one of them is rejected, write none."""
        from .writing import add_many

        return add_many(self, entries, on_conflict, via)

    def amend(
        self,
        name: str,
        entry: Entry | None = None,
        via: str = "",
        one_by_one: bool = False,
        **fields: Unpack[Changes],
    ) -> Written:
        """Change only the fields that you pass, by appending an entry; the earlier text stays in the file as history.

        If you pass an Entry, the fields that differ from their defaults are changed. A list replaces the old one; with
        `one_by_one`, the entry adds and removes single values, so that changes in two branches are both kept.
        """
        from .writing import amend

        return amend(self, name, entry, fields, via, one_by_one)

    def delete(self, name: str, reason: str = "", by: str = "") -> Written:
        """Hide a memory by appending a tombstone; its text stays in the file and in history."""
        from ..state.changes import plan_delete

        return self.core.append(plan_delete, name, reason, by)

    def feedback(
        self, name: str, signal: str, reason: str = "", by: str = ""
    ) -> Written:
        """Vote on a memory: `helpful` or `harmful`."""
        from ..state.changes import plan_feedback

        return self.core.append(plan_feedback, name, signal, reason, by)

    # Read

    def get(self, name: str) -> Memory:
        """Return the memory with an id, a part of one, a file stem or a title."""
        return self.core.get(name)

    def get_many(self, names: Sequence[str]) -> Sequence[Memory]:
        """Return the memories with these names, in this order, without duplicates."""
        return self.core.get_many(names)

    def list(self, only: Filter | None = None, **words: Words) -> Sequence[Row]:
        """Return all memories that pass a filter, last changed first: `list(importance="high", tag="x")`."""
        return self.core.rows(_filter(only, words))

    def search(
        self,
        text: str,
        limit: int = DEFAULT_RESULTS,
        only: Filter | None = None,
        profile: str = "",
        min_similarity: float = 0.0,
        **words: Words,
    ) -> Sequence[Found]:
        """Return the best matches for a question, best first: `search("…", tag="x", since="7d")`.

        They are ranked by words and meaning, or by the scores of a profile. Each has at least the relevance
        `min_similarity`, a cosine.
        """
        answers = self.search_many(
            [text], limit, only, profile, min_similarity, **words
        )
        return list(answers[0].found)

    def search_many(
        self,
        texts: Sequence[str],
        limit: int = DEFAULT_RESULTS,
        only: Filter | None = None,
        profile: str = "",
        min_similarity: float = 0.0,
        **words: Words,
    ) -> Sequence[Answer]:
        """Search for up to 100 texts on one state of the index; embed them in one batch."""
        only = _filter(only, words)
        least = read_share(min_similarity, "min_similarity")
        if said := cut_note(texts):
            self.core.warn(said)
        look = self.layers.look if self.core.is_layered else self.core.look
        answers = look(texts, limit, without_records(only), profile, least)
        self.core.note_answers(
            [(answer.question, answer.found) for answer in answers], limit, only
        )
        return answers

    def history(self, name: str) -> Sequence[HistoryStep]:
        """Return every entry about a memory, in order, with the changes that it made."""
        return self.core.history(name)

    def stats(self, only: Filter | None = None, **words: Words) -> Stats:
        """Return counts over the memories that `list` returns for the same filter."""
        from ..index.summaries import count_memories

        inside = _filter(only, words)
        return self.core.read(lambda: count_memories(self.core.view(inside)))

    # Before a run

    def inject(
        self,
        task: str | Task,
        agent: str = "",
        session: str = "",
        profile: str = "",
        form: str = "rawko",
        limit: int | None = None,
        min_importance: str = "",
        budget: int = 0,
        strict: bool = False,
        only: Filter | None = None,
        **words: Words,
    ) -> Injection:
        """Return the memories for the prompt of a task. A limit that you do not pass comes from the agent's settings.

        Only active, currently valid memories are injected; with `strict`, only those that a person vouches for. A
        filter narrows them down further.
        """
        from .injecting import inject_for

        return inject_for(
            self,
            _task(task, agent, session),
            form,
            _filter(only, words),
            strict,
            profile=profile or None,
            max_injected=limit,
            min_importance=min_importance or None,
            budget=budget or None,
        )

    def context(
        self,
        query: str,
        limit: int = DEFAULT_RESULTS,
        budget: int = 0,
        form: str = "plain",
        strict: bool = False,
        only: Filter | None = None,
        **words: Words,
    ) -> Injection:
        """Return the results of a search that fit into a budget of tokens, also those that `inject` leaves out."""
        from .injecting import context_for

        return context_for(
            self, query, limit, budget, form, strict, _filter(only, words)
        )

    def prompt_for(
        self,
        task: str | Task,
        base_prompt: str,
        agent: str = "",
        session: str = "",
        profile: str = "",
        form: str = "rawko",
        strict: bool = False,
    ) -> Prompt:
        """Return a prompt with the memories for a task appended, and count these memories as used."""
        from ..recall.inject import with_memories

        whole = _task(task, agent, session)
        injection = self.inject(whole, profile=profile, form=form, strict=strict)
        self.note_use(injection, whole.session)
        return with_memories(base_prompt, injection)

    def note_use(self, injection: Injection, session: str = "") -> None:
        """Count an injection in the local usage file."""
        from .injecting import note_injection

        note_injection(self, injection, session)

    def explain(
        self,
        name: str,
        task: str | Task,
        profile: str = "",
        only: Filter | None = None,
        **words: Words,
    ) -> tuple[Scored, bool]:
        """Return a memory's score for a task, and whether it would be injected."""
        from .injecting import explain

        return explain(self, name, _task(task), profile, _filter(only, words))

    # Decide

    def waiting(self, kinds: Collection[str] = ()) -> Sequence[Waiting]:
        """Return what waits for a person's decision: proposed changes, conflicts, drafts, quarantined memories.

        `kinds` limits the list to some of "proposal", "conflict", "draft" and "quarantined"; "more" adds the drafts
        that are less sure.
        """
        from .waiting import KINDS, waiting

        return waiting(self, kinds or KINDS)

    def decide(
        self, item: Waiting, decision: str, reason: str = "", by: str = ""
    ) -> Sequence[Written]:
        """Carry out one of `item.decisions` ("keep", "drop", "both") and return the written entries."""
        from .waiting import decide

        return decide(self, item, decision, reason, by)

    # Keep

    def catch_up(
        self,
        progress: Callable[[int, int], None] | None = None,
        rebuild: bool = False,
    ) -> SyncReport:
        """Update the index and its store from the files, even if the store failed a moment ago.

        Raise StoreAway if the store fails again; the index is up to date then.
        """
        self.core.finish_purges()
        index = self.core.index
        wait_s, index.store_wait_s = index.store_wait_s, float("inf")
        try:
            index.retry_store()
            is_forced = rebuild or index.outside() is not None
            forced = index.sync(progress, rebuild) if is_forced else None
            report = self.sync(progress)
            index.require_store()
        finally:
            index.store_wait_s = wait_s
        return forced or report

    def sync(self, progress: Callable[[int, int], None] | None = None) -> SyncReport:
        """Update the index from the files and from git authorship. Every read does this, too.

        `sync` also removes old copies of files that were edited by hand.
        """
        self.core.finish_purges()
        report = self.core.index.refresh(progress)
        authors = self.core.authors()
        if authors:
            authors.refresh()
        self.core.follow_tables()
        if os.path.isdir(os.path.join(kept_folder(self.layout), EDITS)):
            from ..files.kept_texts import remove_old_edited

            remove_old_edited(self.layout)
        return report

    def check(self) -> Sequence[Checked]:
        """Return the problems of each file, including MEMORY.md if it exists."""
        from ..files.check import check_page, check_repository
        from ..files.replace import PAGE
        from ..git.staged import missing_files
        from ..index.status import held_problems
        from .writing import contents

        _ = self.settings  # raises NewerFormat: this program reads the files wrongly
        page = check_page(
            self.layout, lambda: contents(self.core, self.layout.path(PAGE))
        )
        held = self.core.read(lambda: held_problems(self.core.catalogue))
        more = [*missing_files(self.layout), *held, *self.core.hidden_authors()]
        return [*page, *check_repository(self.layout, more)]


def _filter(only: Filter | None, words: Mapping[str, Words]) -> Filter | None:
    """Return the filter for keyword arguments; a single string counts as a list of one."""
    if not words:
        return only
    if only is not None:
        raise BadInput(
            f"only= together with {next(iter(words))}=",
            "pass either a Filter or keyword arguments",
        )
    return filter_of(**words)


def _task(task: str | Task, agent: str = "", session: str = "") -> Task:
    """Return the task; raise BadInput if `agent` or `session` is passed together with a Task, which has its own."""
    if not isinstance(task, str):
        if agent or session:
            raise BadInput(
                "agent= or session= together with a Task", "set them in the Task"
            )
        return task

    return Task(task, agent, session=session)
