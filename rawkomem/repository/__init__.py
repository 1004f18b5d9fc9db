"""Repository: the library's front door. Inner modules and wings/ (`repo.skills`, …) are loaded when first used."""

from __future__ import annotations

from ..files.layout import Layout, find_layout
from ..model.errors import BadInput
from ..recall.filters import filter_of
from ..recall.limits import DEFAULT_RESULTS
from ..recall.question import cut_note
from .core import Core, warn_on_stderr
from .lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike
    from typing import Self, TypedDict, Unpack

    from ..files.append import Written
    from ..files.check import Checked
    from ..files.local.told import Told
    from ..index.catalogue import Row
    from ..index.report import SyncReport
    from ..index.views.stats import Stats
    from ..model.entry import Entry, Memory, Value
    from ..model.filters import Filter, Words
    from ..model.task import Task
    from ..recall.inject import Injection, Prompt
    from ..recall.score import Scored
    from ..recall.search import Answer, Found
    from ..state.history import Step
    from .layers import Layers
    from .recalling import Recalling
    from .settings import Settings
    from .wings.beliefs import Beliefs
    from .wings.citations import Citations
    from .wings.drafts import Drafts
    from .wings.edits import Edits
    from .wings.episodes import Episodes
    from .wings.exchange import Exchange
    from .wings.gathering import Gathering
    from .wings.graph import Graph
    from .wings.learning import Learning
    from .wings.ledger import Ledger
    from .wings.lessons import Lessons
    from .wings.lifecycle import Lifecycle
    from .wings.remembering import Remembering
    from .wings.retention import Retention
    from .wings.sinks import Sinks
    from .wings.skills import Skills
    from .wings.staging import Staging
    from .wings.store import Store
    from .wings.traces import Traces
    from .wings.transcripts import Transcripts
    from .wings.undoing import Undoing
    from .writing import Stored, Writing

    StrPath = str | PathLike[str]

    class Changes(TypedDict, total=False):
        """The keyword arguments of `amend`; fields.py knows what each becomes."""

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
        claim: Mapping[str, Value]
        valid_from: str
        valid_until: str
        extra: Mapping[str, Value]

    class Fields(Changes, total=False):
        """The keyword arguments of `add`: also what only a new memory gets."""

        kind: str
        id: str
        at: int


class Repository:
    """A project's memories: files in `.rawko/` and the index that follows them."""

    beliefs: Beliefs = lazy("wings.beliefs", "Trust, disputes, quarantine, review, supersession, validity, conflicts.")
    citations: Citations = lazy("wings.citations", "Places in the code that memories cite.")
    edits: Edits = lazy("wings.edits", "Edits of committed memories by hand, and what must not be committed.")
    episodes: Episodes = lazy("wings.episodes", "Groups of memories that belong to one stretch of work.")
    exchange: Exchange = lazy("wings.exchange", "Import and export, in all formats.")
    gathering: Gathering = lazy("wings.gathering", "Changes that have files of their own, moved into the memories'.")
    graph: Graph = lazy("wings.graph", "Links between memories, walks, clusters, entities.")
    learning: Learning = lazy("wings.learning", "Drafts from a session's transcript.")
    drafts: Drafts = lazy("wings.drafts", "Drafts that wait on this machine.")
    remembering: Remembering = lazy("wings.remembering", "Memories that rest on a quote of a person.")
    ledger: Ledger = lazy("wings.ledger", "The tamper-evident log of what was stored and asked.")
    lessons: Lessons = lazy("wings.lessons", "Lessons from failures, and the intents behind a memory.")
    lifecycle: Lifecycle = lazy("wings.lifecycle", "Duplicates, digests, faded memories, removal for good.")
    retention: Retention = lazy("wings.retention", "What moves to the archive, and back.")
    sinks: Sinks = lazy("wings.sinks", "Where changes are sent: a daily log, a webhook.")
    skills: Skills = lazy("wings.skills", "Skills: take in, find, rate, export, propose from memories.")
    staging: Staging = lazy("wings.staging", "What the next commit brings, compared with other memories.")
    store: Store = lazy("wings.store", "The index and its search stores: status, rebuild, copy, publish.")
    traces: Traces = lazy("wings.traces", "Runs and what they taught: traces, the experience log, briefs.")
    transcripts: Transcripts = lazy("wings.transcripts", "Drafts from old transcripts, also by a language model.")
    layers: Layers = lazy("layers", "The project's memories, the user's own, and those of shared repositories.")
    undoing: Undoing = lazy("wings.undoing", "The last changes of this machine, and how to take them back.")
    _recalling: Recalling = lazy("recalling")
    _writing: Writing = lazy("writing")

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
        """Open the repository of a folder or of one of its parents; raise NotFound where there is none.

        `via` says how what you write arrives (person, agent, import, distilled, or a source class such as
        tool_output); `store` names another search store than the settings do. With `layers`, the user's own memories
        and shared repositories are recalled, too; without a project, the user's own alone.
        """
        return cls(find_layout(str(path), layers), warn, via, store=store, layers=layers)

    @classmethod
    def init(
        cls, path: StrPath = "", warn: Callable[[str], None] = warn_on_stderr, via: str = "", store: str = ""
    ) -> Self:
        """Start a repository in a folder, as `rawkomem init` does, and open it; open one that is there already."""
        from ..files.start import plan_start, write_start

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
        """Return where this repository is: `root` is the .rawko folder, `project` the folder that holds it."""
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

        Without a title, a text gets its first heading or line. A claim confirms, supersedes or waits for a review:
        `outcome` tells. With `evolve`, the memory takes the place of the one that it clearly is a newer version of.
        """
        return self._writing.add(text, fields, on_conflict, evolve, via)

    def add_many(self, entries: Sequence[Entry], on_conflict: str = "quarantine", via: str = "") -> Sequence[Stored]:
        """Store up to 1,000 memories, each as `add` would; nothing is written where one of them is refused."""
        return self._writing.add_many(entries, on_conflict, via)

    def amend(self, name: str, entry: Entry | None = None, via: str = "", **fields: Unpack[Changes]) -> Written:
        """Change exactly the fields that you name, by appending; the earlier text stays in the file as history.

        Of an Entry, the fields that differ from their defaults are changed.
        """
        return self._writing.amend(name, entry, fields, via)

    def delete(self, name: str, reason: str = "", by: str = "") -> Written:
        """Hide a memory by appending a tombstone; its text stays in the file and in history."""
        return self._writing.delete(name, reason, by)

    def feedback(self, name: str, signal: str, reason: str = "", by: str = "") -> Written:
        """Vote on a memory: `helpful` or `harmful`."""
        return self._writing.feedback(name, signal, reason, by)

    # Read

    def get(self, name: str, as_of: int = 0) -> Memory:
        """Return the memory of an id, a part of one, a file stem or a title; with `as_of` (ms), as it stood then."""
        return self.core.reading.get(name, as_of)

    def get_many(self, names: Sequence[str]) -> Sequence[Memory]:
        """Return the memories of several names, in their order, each once."""
        return self.core.reading.get_many(names)

    def list(self, only: Filter | None = None, **words: Words) -> Sequence[Row]:
        """Return all memories inside a filter, the last changed first: `list(importance="high", tag="x")`."""
        return self.core.rows(_filter(only, words))

    def search(
        self, text: str, limit: int = DEFAULT_RESULTS, only: Filter | None = None, profile: str = "", **words: Words
    ) -> Sequence[Found]:
        """Return the memories that fit a question best, best first: `search("…", tag="x", since="7d")`.

        They are ranked by words and meaning, or as a profile scores them.
        """
        return [*self.search_many([text], limit, only, profile, **words)[0].found]

    def search_many(
        self,
        texts: Sequence[str],
        limit: int = DEFAULT_RESULTS,
        only: Filter | None = None,
        profile: str = "",
        **words: Words,
    ) -> Sequence[Answer]:
        """Search for up to 100 texts, answered from one state of the index and embedded together."""
        only = _filter(only, words)
        if said := cut_note(texts):
            self.core.warn(said)
        asked = self.layers if self.core.is_layered else self.core
        answers = asked.look(texts, limit, only, profile=profile)
        self.core.note_answers([(answer.question, answer.found) for answer in answers], limit, only)
        return answers

    def history(self, name: str) -> Sequence[Step]:
        """Return every entry about a memory, in order, and what each changed."""
        return self.core.reading.history(name)

    def stats(self, only: Filter | None = None, **words: Words) -> Stats:
        """Return counts over the memories that `list` returns for the same filter."""
        return self.core.reading.stats(_filter(only, words))

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
        """Return the few memories that belong in the prompt of a task; what is not given: the agent's setting.

        A filter narrows them down further; only what is active and valid is ever injected, and with `strict` only what
        a person vouches for.
        """
        asked, only = _task(task, agent, session), _filter(only, words)
        limits = {"max_injected": limit, "min_importance": min_importance or None, "budget": budget or None}
        return self._recalling.inject(asked, profile, form, only, strict, **limits)

    def rehearse(self, task: Task, told: Told, form: str = "rawko") -> Injection:
        """Return what `inject` would for a session that was told this much; nothing is counted or logged."""
        return self._recalling.rehearse(task, told, form)

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
        """Return a prompt with the memories for a task below it, and count them as used."""
        from ..recall.inject import with_memories

        asked = _task(task, agent, session)
        injection = self.inject(asked, profile=profile, form=form, strict=strict)
        self.note_use(injection, asked.session)
        return with_memories(base_prompt, injection)

    def note_use(self, injection: Injection, session: str = "") -> None:
        """Count an injection in the local usage file."""
        self._recalling.note_use(injection, session)

    def explain(
        self, name: str, task: str | Task, profile: str = "", only: Filter | None = None, **words: Words
    ) -> tuple[Scored, bool]:
        """Return how a memory scores for a task, and whether it would be injected."""
        return self._recalling.explain(name, _task(task), profile, _filter(only, words))

    # Keep

    def sync(self, progress: Callable[[int, int], None] | None = None) -> SyncReport:
        """Bring the index up to date with the files, and with who committed them; every question does so, too.

        It also removes old copies of files that were edited by hand.
        """
        from ..files.local.edited import remove_old_edited

        report = self.core.index.refresh(progress)
        authors = self.core.authors()
        if authors:
            authors.refresh()
        self.core.follow_tables()
        remove_old_edited(self.layout)
        return report

    def check(self) -> Sequence[Checked]:
        """Return what is wrong with each file, and with MEMORY.md where there is one."""
        from ..files.check import check_page, check_repository
        from ..files.page import PAGE

        page = check_page(self.layout, lambda: self.core.writer.contents(self.layout.path(PAGE)))
        return [*page, *check_repository(self.layout)]


def _filter(only: Filter | None, words: Mapping[str, Words]) -> Filter | None:
    """Return the filter that keyword arguments ask for; a single string where several may be given is one item."""
    if not words:
        return only
    if only is not None:
        raise BadInput(f"both only= and {next(iter(words))}=", "give one filter, or the words of one")
    return filter_of(**words)


def _task(task: str | Task, agent: str = "", session: str = "") -> Task:
    """Return the task that is meant; a Task says itself who works on it."""
    if not isinstance(task, str):
        if agent or session:
            raise BadInput("agent= and session= beside a Task", "put them into the Task")
        return task
    from ..model.task import Task

    return Task(task, agent, session=session)
