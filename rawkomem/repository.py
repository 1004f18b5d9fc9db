"""Repository: the library's front door. Wiring only: each method makes one or two calls into the layers below.

Modules that only writing, checking or parsing need are imported inside the methods that use them: a cold search answers
in the time that importing them would take.
"""

from __future__ import annotations

import sys

from .embed.chain import AUTO, open_deep, open_embedder
from .files.layout import Layout, find_layout
from .index.documents import Filter
from .index.index import BROKEN, Index, SyncReport
from .model.errors import BadInput, IndexBroken, NotFound, RawkoError
from .model.kinds import ACTIVE, IMPORTANCE
from .model.record import record, replace
from .recall.candidates import Spaces
from .recall.filters import DEFAULT, READABLE, as_text
from .recall.limits import LEAST_SIMILAR, SIMILAR
from .recall.search import LIMIT, Answer, Found, search
from .settings import Settings, load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence
    from typing import TypeVar

    from .embed.protocol import Embedder
    from .files.append import Written
    from .files.check import Checked
    from .files.citations import Citations, Cited
    from .files.usage import Access
    from .index.authors import Authors
    from .index.believed import Believed
    from .index.catalogue import Row
    from .index.past import Past
    from .index.stats import Stats
    from .index.status import Status
    from .index.view import View
    from .model.entry import Entry, Memory, Plan, Value
    from .recall.cache import AnswerCache
    from .recall.inject import Injection, Sources, Task
    from .recall.patterns import PatternMatch
    from .recall.prompt import Prompt
    from .recall.rank import Scored
    from .sinks.tell import SinkStatus
    from .sinks.webhook import Flushed
    from .state.claims import Outcome, Predicate
    from .state.conflicts import Conflict
    from .state.explained import Explained, Replaced
    from .state.graph import Graph
    from .state.history import Step
    from .state.trust import Trust

    T = TypeVar("T")

LIST_ALL = "'rawkomem list' shows them all"
QUESTIONS = 100  # at once: more is a job, not a question


@record
class Stored:
    """A memory that was to be stored: what became of it, and the entries that were written."""

    outcome: Outcome
    written: tuple[Written, ...]
    why: str


def _stored(plans: Sequence[Plan], written: Sequence[Written]) -> list[Stored]:
    from .state.claims import outcome_of

    stored: list[Stored] = []
    rest = list(written)
    for plan in plans:
        own, rest = rest[: len(plan.entries)], rest[len(plan.entries) :]
        stored.append(Stored(outcome_of([item.entry for item in own]), tuple(own), plan.why))
    return stored


def _asks_trust(only: Filter | None) -> bool:
    return only is not None and only.trust > 0


def warn_on_stderr(message: str) -> None:
    """The default for warnings: one line on stderr."""
    print(f"rawkomem: {message}", file=sys.stderr)


class Repository:
    """A project's memories: files in `.rawko/` and the index that follows them."""

    def __init__(
        self,
        layout: Layout,
        warn: Callable[[str], None] = warn_on_stderr,
        via: str = "",
        adjust: Callable[[Settings], Settings] | None = None,
    ):
        self.layout = layout
        self.via = via  # how what is written through here arrives, where a call does not say; see files/arrivals.py
        self.warn = warn
        self.index = Index(layout, self._open_embedder, warn, lambda: open_deep(self.settings.embedder))
        self._settings: Settings | None = None
        self._adjust = adjust  # settings as the host program wants them
        self._cache: AnswerCache | None = None
        self._asked = False

    @classmethod
    def open(cls, start: str = "", warn: Callable[[str], None] = warn_on_stderr, via: str = "") -> Repository:
        """The repository of a folder or of one of its parents."""
        return cls(find_layout(start), warn, via)

    @property
    def settings(self) -> Settings:
        """Settings of this repository for this user."""
        if self._settings is None:
            loaded = load_settings(self.layout, self.warn)
            self._settings = self._adjust(loaded) if self._adjust else loaded
        return self._settings

    def _open_embedder(self) -> Embedder:
        return open_embedder(self.settings.embedder, self.warn)

    def close(self) -> None:
        """Let go of the index."""
        self.index.close()

    # Reading

    def search(self, text: str, limit: int = LIMIT, only: Filter | None = None) -> Sequence[Found]:
        """The memories that fit a question best, best first."""
        return [*self.search_many([text], limit, only)[0].found]

    def search_many(self, texts: Sequence[str], limit: int = LIMIT, only: Filter | None = None) -> Sequence[Answer]:
        """The same for many questions, answered from one state of the index and embedded in one go."""
        if len(texts) > QUESTIONS:
            raise BadInput(f"{len(texts)} questions at once", f"ask at most {QUESTIONS}")

        def find() -> Sequence[Answer]:
            return search(self._view(only), self.index.store, self._spaces(), texts, limit)

        answers = self._answer(find, ("search", tuple(texts), limit, only), believing=_asks_trust(only))
        self._note_recalls([(answer.question, answer.found) for answer in answers], limit, only)
        return answers

    def query(
        self,
        text: str,
        limit: int = SIMILAR,
        min_similarity: float = LEAST_SIMILAR,
        time_window: tuple[str, str] = ("", ""),
        only: Filter | None = None,
    ) -> Sequence[PatternMatch]:
        """Earlier tasks that resemble this one (LLMos): traces and experiences, unless a filter names other kinds."""
        from .recall.filters import window
        from .recall.patterns import match_patterns
        from .state.run import TASKS

        only = window(only or replace(DEFAULT, kinds=TASKS), *time_window)

        def find() -> Sequence[PatternMatch]:
            return match_patterns(self._view(only), self.index.store, self._spaces(), text, limit, min_similarity)

        return self._answer(find, ("query", text, limit, min_similarity, only), believing=_asks_trust(only))

    def list(self, only: Filter | None = None) -> Sequence[Row]:
        """All memories that pass a filter, the last changed first."""
        return self._answer(lambda: self._view(only).rows(), believing=_asks_trust(only))

    def stats(self, only: Filter | None = None) -> Stats:
        """Counts over the memories that `list` shows with the same filter."""
        from .index.stats import stats

        return self._answer(lambda: stats(self._view(only)), believing=_asks_trust(only))

    def accesses(self) -> Mapping[str, Access]:
        """How often, and when last, each memory was injected on this machine."""
        from .files.usage import accesses

        return accesses(self.layout)

    def _view(self, only: Filter | None) -> View:
        """Memories through a filter; its entities may be given by parts of their names."""
        from .index.view import View

        only = only or DEFAULT
        if only.entities:
            from .index.entities import resolved

            only = replace(only, entities=resolved(only.entities, self.index.catalogue, self.warn))
        return View(self.layout, self.index.catalogue, only, self._authors)

    def get(self, name: str, as_of: int = 0) -> Memory:
        """The memory of an id, of the start of one, or of a file stem; as it stood at a time, if one is given."""
        from .index.lists import memory_of

        def find() -> Memory:
            id = self._resolve(name)
            memory = self._past(as_of).memory(id) if as_of else memory_of(self.index.catalogue.doc(id))
            if memory is None:
                raise NotFound(f"{id} was not known then", "'rawkomem history' tells when it was stored")
            return memory

        return self._answer(find)

    def get_all(self, names: Sequence[str]) -> Sequence[Memory]:
        """The memories of several names, in their order, each once."""
        from .index.lists import memory_of

        def find() -> Sequence[Memory]:
            ids = dict.fromkeys(self._resolve(name) for name in names)
            return [memory_of(self.index.catalogue.doc(id)) for id in ids]

        return self._answer(find)

    def graph(self, statuses: tuple[str, ...] = READABLE, similar: float = 0.0, similar_to: str = "") -> Graph:
        """Memories and what connects them; above zero, `similar` also connects those at least that similar."""
        from .index.graph import load_graph

        index = self.index
        return self._answer(lambda: load_graph(index.catalogue, index.store, statuses, similar, self.warn, similar_to))

    def entities(self) -> Mapping[str, Sequence[str]]:
        """Every entity that readable memories name, with the ids of those memories."""
        from .index.entities import named_entities

        return self._answer(lambda: named_entities(self.index.catalogue, READABLE))

    def read(self, ask: Callable[[], T]) -> T:
        """Whatever a question to the index gives, once that is fresh: for decisions that look at everything."""
        return self._answer(ask)

    def _resolve(self, name: str) -> str:
        ids = self.index.catalogue.resolve(name)
        if not ids:
            raise NotFound(f"no memory {name!r}", self._where(name))
        if len(ids) > 1:
            raise BadInput(f"{name!r} may be {', '.join(ids[:5])}", "give more of the id")
        return ids[0]

    def _where(self, name: str) -> str:
        """What to do about a name that is none: it may lie in a compressed month of the archive."""
        from .files.bundle import holding

        folder = holding(self.layout, name)
        return f"'rawkomem retention restore {name}' takes it out of {folder}.tar.gz" if folder else LIST_ALL

    def _answer(self, ask: Callable[[], T], key: Hashable = None, believing: bool = False) -> T:
        """Answer from a fresh index. One that depends on who committed what is given again where that changed since."""
        answer = self._asked_once(self._keeping(ask, key) if key else ask)
        authors = self._authors() if believing else None
        return self._asked_once(ask) if authors and authors.refresh() else answer

    def _asked_once(self, ask: Callable[[], T]) -> T:
        """An index that turns out to be broken is made anew and asked once more."""
        try:
            return self.index.answer(ask)
        except BROKEN as failure:
            self.warn(f"the index cannot be read ({failure}): making it anew")
            self.index.discard()
        try:
            return self.index.answer(ask)
        except BROKEN as failure:
            raise IndexBroken(f"the index cannot be read: {failure}", "run 'rawkomem doctor'") from None

    def _keeping(self, ask: Callable[[], T], key: Hashable) -> Callable[[], T]:
        """An answer with a key is kept for a while. A command asks once: the cache begins with the second question."""
        if not self._asked:
            self._asked = True
            return ask
        return lambda: self._cached(ask, key)

    def _cached(self, ask: Callable[[], T], key: Hashable) -> T:
        from .index.database import first
        from .recall.cache import AnswerCache

        if self._cache is None:
            self._cache = AnswerCache()
        database = self.index.reading()
        (version,) = first(database, "PRAGMA data_version")  # differs after every commit of another connection
        answer = self._cache.get(key, (database, version))
        if answer is None:
            answer = ask()
            self._cache.put(key, answer)
        return answer  # type: ignore[return-value]

    # Injecting

    def inject(
        self,
        task: Task,
        profile: str = "",
        form: str = "rawko",
        most: int = 0,
        least_importance: str = "",
        budget: int = 0,
        only: Filter | None = None,
        strict: bool = False,
    ) -> Injection:
        """The few memories that belong into the prompt of a task; zero and empty mean: the agent's setting.

        A filter narrows them down further; only what is active and valid is ever injected; with `strict`, only what a
        person vouches for.
        """
        injection = self._inject(task, profile, form, most, least_importance, budget, only, strict)
        self._note_recalls(
            [(task.asked, injection.items)], most or self.settings.limits(task.agent).most, only, task.agent
        )
        return injection

    def _inject(
        self,
        task: Task,
        profile: str = "",
        form: str = "rawko",
        most: int = 0,
        least_importance: str = "",
        budget: int = 0,
        only: Filter | None = None,
        strict: bool = False,
    ) -> Injection:
        from .recall.inject import inject

        limits = self.settings.limits(task.agent)
        unverified = 0 if strict else limits.unverified
        least = least_importance or limits.least_importance
        most, budget = most or limits.most, budget or limits.budget
        limits = replace(limits, most=most, least_importance=least, budget=budget, unverified=unverified)
        if limits.least_importance not in IMPORTANCE:
            raise BadInput(f"unknown importance {limits.least_importance!r}", "one of " + ", ".join(IMPORTANCE))
        only = replace(only or DEFAULT, statuses=(ACTIVE,), current=True)
        return self._answer(lambda: inject(self._sources(only, strict), task, profile, limits, form), believing=True)

    def prompt_for(
        self, task: Task, base_prompt: str, profile: str = "", form: str = "rawko", strict: bool = False
    ) -> Prompt:
        """What an orchestrator calls before a run: the prompt with the memories for the task; counted as a use."""
        from .recall.prompt import with_memories

        injection = self.inject(task, profile, form, strict=strict)
        self.note_use(injection, task.session)
        return with_memories(base_prompt, injection)

    def explain(self, name: str, task: Task, profile: str = "", only: Filter | None = None) -> tuple[Scored, bool]:
        """How a memory scores for a task, and whether it would be injected; one that is not in use says why."""
        from .model.clock import now
        from .recall.rank import out_of_use
        from .state.belief import standing

        injection = self._inject(task, profile, only=only)
        at = (only or DEFAULT).as_of
        memory = self.get(name, at)
        id = memory.id
        for item in (*injection.items, *injection.left_out):
            if item.memory.id == id:
                return item, not item.out
        why_not = standing(memory, at or now())
        if why_not:
            return out_of_use(memory, why_not), False
        raise NotFound(f"{id} shares neither words nor meaning nor a condition with this task", "reword its whenToUse")

    def note_use(self, injection: Injection, session: str) -> None:
        """Count an injection in the local usage file."""
        from .files.usage import note_use
        from .model.clock import now

        if injection.items:
            note_use(self.layout, now(), session, injection.tokens, [item.memory.id for item in injection.items])

    def _note_recalls(
        self,
        asked: Sequence[tuple[str, Sequence[Found | Scored]]],
        limit: int,
        only: Filter | None,
        agent: str = "",
    ) -> None:
        """Leave a line for each question to the ledger, unless the user does not want that."""
        if self.settings.ledger != "on":
            return
        from .files.ledger.spool import note_recalls, recall_line
        from .model.clock import now

        at, filter = now(), as_text(only) if only else ""
        scores = [(found[0].score, found[0].signals.relevance) if found else (0.0, 0.0) for _, found in asked]
        lines = (
            recall_line(at, agent, question, limit, filter, len(found), *best)
            for (question, found), best in zip(asked, scores, strict=True)
        )
        note_recalls(self.layout, lines)

    def _sources(self, only: Filter, strict: bool) -> Sources:
        from .files.usage import last_access
        from .index.conditions import fired_by
        from .recall.inject import Sources

        view = self._view(only)

        def fired(task: str) -> dict[str, str]:
            found = {id: part for id, (_, part) in fired_by(view.catalogue.db, task).items()}
            return view.past.fired(found, task) if only.as_of else found

        def accessed() -> dict[str, int]:
            return last_access(self.layout)

        authors = None if strict else view.authors
        doubting = strict or (authors is not None and authors.names_a_person())
        return Sources(view, self.index.store, self._spaces(), fired, accessed, self._citing(), doubting)

    def _spaces(self) -> Spaces:
        return Spaces(self.index.embedder, self.index.deep())

    # Believing

    def trust(self, memory: Memory) -> float:
        """How far a memory is believed, from 0 to 1."""
        return self.trust_parts(memory).value

    def trust_parts(self, memory: Memory) -> Trust:
        """The same with what it is made of, and whether a person vouches for the memory."""
        return self._answer(lambda: self._view(None).believed.trust(memory), believing=True)

    def believing(self) -> Believed:
        """Standing and trust of many memories, as they are now."""
        return self._answer(lambda: self._view(None).believed, believing=True)

    def _authors(self) -> Authors | None:
        """Who committed what; None without git, or where the user does not want it to count."""
        from .files.gitdir import find_git

        if not self.settings.commits or find_git(self.layout.root) is None:
            return None
        from .index.authors import Authors

        return Authors(self.index, self.settings.identities)

    # Citing code

    def _citing(self) -> Callable[[Memory], tuple[Cited, ...]]:
        """How it stands with what a memory cites. Loads nothing and reads nothing until one cites something."""
        looked: list[Citations] = []

        def cited(memory: Memory) -> tuple[Cited, ...]:
            if "cites" not in memory.extra:
                return ()
            if not looked:
                from .files.citations import Citations

                looked.append(Citations(self.layout))
            return looked[0].of(memory.extra)

        return cited

    def cited(self, memory: Memory) -> Sequence[Cited]:
        """How it stands with each place in the code that a memory cites."""
        return self._citing()(memory)

    def citation(self, place: str) -> Cited:
        """A citation of a place in the project (`path`, `path#symbol`, `path:10-20`) as it is now."""
        from .files.citations import Citations
        from .text.cite import read_citation

        return Citations(self.layout).now(read_citation(place))

    def cite(self, name: str, places: Sequence[str], by: str = "") -> Written:
        """Append an entry that makes a memory cite these places as they are now."""
        from .state.decide import plan_cite

        citations = [self.citation(place).citation for place in places]
        return self.write(plan_cite(self.get(name), citations, by))[0]

    def all_cited(self) -> Sequence[tuple[Memory, Sequence[Cited]]]:
        """Every memory that cites code and is in use, and how it stands with each citation."""
        from .index.lists import memory_of

        rows = self.list()
        docs = self._answer(lambda: [doc for row in rows if '"cites"' in (doc := self.index.catalogue.doc(row.id))])
        found = [(memory, self.cited(memory)) for memory in map(memory_of, docs)]
        return [(memory, cited) for memory, cited in found if cited]

    # Writing

    def add(self, entry: Entry, on_conflict: str = "quarantine", via: str = "") -> Written:
        """Store a new memory; secrets are redacted, the entry gets an id and a time if it has none.

        A claim is resolved: see `store`, which also tells what became of it. `via` tells how it arrived: see `write`.
        """
        return self.store(entry, on_conflict, via).written[0]

    def amend(self, name: str, entry: Entry, via: str = "") -> Written:
        """Append an entry that changes what a memory says."""
        from .state.decide import plan_amend

        return self.write(plan_amend(self.get(name), entry), via)[0]

    def delete(self, name: str, reason: str = "", by: str = "") -> Written:
        """Append a tombstone; the text stays in the file and in history."""
        from .state.decide import plan_delete

        return self.write(plan_delete(self.get(name), reason, by))[0]

    def link(self, name: str, other: str, type: str = "related", by: str = "") -> Sequence[Written]:
        """Append a link from one memory to another."""
        from .state.link import plan_link

        return self.write(plan_link(self.get(name), self.get(other), type, by))

    def unlink(self, name: str, other: str, type: str = "", by: str = "") -> Sequence[Written]:
        """Take back the links between two memories, of one type or all."""
        from .state.link import plan_unlink

        return self.write(plan_unlink(self.get(name), self.get(other), type, by))

    def write(self, plan: Plan, via: str = "") -> Sequence[Written]:
        """Carry out a plan. `via` tells how it arrived: person, agent, import, distilled, or a source class."""
        return self._write_decided(lambda: plan, via)

    def write_decided(self, decide: Callable[[], Plan], via: str = "") -> Sequence[Written]:
        """Carry out a plan that is decided under the same lock: for numbers and names that others may take, too."""
        return self._write_decided(decide, via)

    def _write_decided(self, decide: Callable[[], Plan], via: str = "") -> Sequence[Written]:
        """Decide and write under one lock, on fresh answers: no other writer comes between the two."""
        from .files.append import repository_lock, write_locked
        from .state.trust import ARRIVALS, BASES

        if via and via not in (*ARRIVALS, *BASES):
            raise BadInput(f"unknown way to arrive: {via!r}", "one of " + ", ".join((*ARRIVALS, *BASES)))
        with repository_lock(self.layout):
            self.forget_answers()
            self.index.expect_changes()
            plan = self._anonymised(decide(), via)
            self.index.expect_changes()
            written = write_locked(self.layout, plan)
            self._note_arrivals(written, via)  # before others decide about these words
        self._tell_sinks(plan, written)
        self._note_written(written)
        self._keep_contents()
        return written

    def _anonymised(self, plan: Plan, via: str) -> Plan:
        """Names become ids in what was recorded or distilled: no person looked at it."""
        from .text.anonymise import anonymise_entry, unseen

        if not any(unseen(entry, via or self.via) for entry in plan.entries):
            return plan
        from .files.people import people_here

        people = people_here(self.layout.project, self.settings.names)
        entries = (anonymise_entry(e, people) if unseen(e, via or self.via) else e for e in plan.entries)
        return replace(plan, entries=tuple(entries))

    def _note_arrivals(self, written: Sequence[Written], via: str) -> None:
        from .files.arrivals import note_arrivals

        ways: dict[str, list[str]] = {}
        for item in written:
            ways.setdefault(self._arrival(item.entry.extra, via), []).append(item.entry.id)
        for way, ids in ways.items():
            note_arrivals(self.layout, ids, way)

    def _arrival(self, extra: Mapping[str, Value], via: str) -> str:
        """How words arrive: as the caller says, else by what the host program declares with them."""
        from .state.trust import claimed_source

        return via or self.via or claimed_source(extra) or "unknown"

    def _tell_sinks(self, plan: Plan, written: Sequence[Written]) -> None:
        """The entries are on disk: whatever is wrong from here on is a warning."""
        try:
            sinks = self.settings.sinks
        except RawkoError as failure:
            self.warn(f"sinks not told: {failure.message}")
            return
        if sinks.any:
            from .sinks.tell import tell_sinks

            tell_sinks(self.layout, sinks, plan.why, [item.entry for item in written], self.warn)

    def _note_written(self, written: Sequence[Written]) -> None:
        """Tell the ledger. The entries are on disk: whatever is wrong from here on is a warning."""
        try:
            if self.settings.ledger == "off":
                return
            from .files.ledger.written import note_written

            note_written(self.layout, [item.entry for item in written])
        except RawkoError as failure:
            self.warn(f"not in the ledger: {failure.message}")

    def forget_answers(self) -> None:
        """Empty the cache of answers."""
        if self._cache is not None:
            self._cache.clear()

    @property
    def kept_answers(self) -> int:
        """How many answers the cache holds."""
        return len(self._cache) if self._cache is not None else 0

    # Believing: claims, conflicts, and decisions about memories

    def store(self, entry: Entry, on_conflict: str = "quarantine", via: str = "") -> Stored:
        """Store a memory and tell what became of it: a claim confirms, supersedes, or waits for a review."""
        return self.add_many([entry], on_conflict, via)[0]

    def add_many(self, entries: Sequence[Entry], on_conflict: str = "quarantine", via: str = "") -> Sequence[Stored]:
        """Store up to 1,000 memories, each as `store` would; nothing is written where one of them is refused."""
        from .model.entry import Plan
        from .state.claims import plan_claims

        plans: list[Plan] = []
        registry = self.predicates() if any("claim" in entry.extra for entry in entries) else {}

        def decide() -> Plan:
            trust = self._believing(via)
            plans.extend(plan_claims(entries, self._claiming, registry, trust, on_conflict))
            return Plan(tuple(entry for plan in plans for entry in plan.entries), plans[0].why if plans else "nothing")

        written = self._write_decided(decide, via)
        return _stored(plans, written)

    def evolve(self, entry: Entry, via: str = "") -> Stored:
        """Store a text in the place of the memory that it clearly is a newer version of; without one, just store it.

        A claim says itself what it is about: it is resolved as in `store`.
        """
        from .state.evolve import CANDIDATES, plan_evolve, related_to

        if "claim" in entry.extra:
            return self.store(entry, via=via)
        plans: list[Plan] = []

        def decide() -> Plan:
            found = self.search(f"{entry.title}\n{entry.body}", CANDIDATES)
            near = [(self.get(item.row.id), item.relevance) for item in found]
            plans.append(plan_evolve(entry, related_to(entry, near), self._believing(via)))
            return plans[0]

        written = self._write_decided(decide, via)
        return _stored(plans, written)[0]

    def feedback(self, name: str, signal: str, reason: str = "", by: str = "") -> Written:
        """Vote on a memory: helpful or harmful."""
        from .state.belief import plan_feedback

        return self._write_decided(lambda: plan_feedback(self.get(name), signal, reason, by))[0]

    def reinforce(self, name: str, reason: str = "", by: str = "") -> Written:
        """Say that a memory turned out to be true."""
        from .state.belief import plan_reinforce

        return self._write_decided(lambda: plan_reinforce(self.get(name), reason, by))[0]

    def dispute(self, name: str, reason: str = "", by: str = "") -> Written:
        """Say that a memory is doubtful; below a floor of trust, or the third time, it is no longer used."""
        from .state.belief import plan_dispute

        return self._write_decided(lambda: plan_dispute(self.get(name), reason, by, self.trust))[0]

    def quarantine(self, name: str, reason: str = "", by: str = "") -> Written:
        """Hold a memory back until it is reviewed."""
        from .state.belief import plan_quarantine

        return self._write_decided(lambda: plan_quarantine(self.get(name), reason, by))[0]

    def review(self, name: str, action: str, settle: str = "", reason: str = "", by: str = "") -> Sequence[Written]:
        """Activate or reject a memory in quarantine; `settle` says how its conflicts end: supersede or keep_both."""
        from .state.belief import plan_review

        def decide() -> Plan:
            memory = self.get(name)
            return plan_review(memory, self._rivals(memory), action, settle, reason, by, self.trust)

        return self._write_decided(decide)

    def restore(self, name: str, settle: str = "", reason: str = "", by: str = "") -> Sequence[Written]:
        """Bring back a memory that was archived, disputed or superseded."""
        from .state.belief import plan_restore

        def decide() -> Plan:
            memory = self.get(name)
            return plan_restore(memory, self._rivals(memory), settle, reason, by, self.trust)

        return self._write_decided(decide)

    def supersede(self, old: str, new: str, reason: str = "", by: str = "", anyway: bool = False) -> Written:
        """Put one memory into the place of another."""
        from .state.belief import plan_supersede

        def decide() -> Plan:
            return plan_supersede(self.get(old), self.get(new), self._find, reason, by, self.trust, anyway)

        return self._write_decided(decide)[0]

    def validity(self, name: str, start: str = "", end: str = "", reason: str = "", by: str = "") -> Written:
        """Say from when until when a memory holds; `none` opens an end."""
        from .state.belief import plan_validity

        return self._write_decided(lambda: plan_validity(self.get(name), start, end, reason, by))[0]

    def archive(self, name: str, reason: str = "", by: str = "") -> Written:
        """Take a memory out of use."""
        from .state.belief import plan_archive

        return self._write_decided(lambda: plan_archive(self.get(name), reason, by))[0]

    def conflicts(self) -> Sequence[Conflict]:
        """Claims that contradict what is in use, and wait for a review."""
        from .index.claims import pending

        return self._answer(lambda: pending(self.index.catalogue))

    def history(self, name: str) -> Sequence[Step]:
        """Everything that was said about a memory, in order, and what each entry changed."""
        from .state.history import history

        return self._answer(lambda: history(self._past().entries_about(self._resolve(name))))

    def explain_memory(self, name: str) -> Explained:
        """How far a memory is believed, and by what: trust, connections, conflicts, history."""
        from .model.clock import now
        from .state.belief import standing
        from .state.explained import Explained

        memory = self.get(name)
        return Explained(
            memory,
            standing(memory, now()),
            self.trust_parts(memory),
            tuple(self.graph(statuses=()).around[memory.id]),
            tuple(self._rivals(memory)),
            tuple(self.history(memory.id)),
        )

    def explain_supersession(self, name: str) -> Sequence[Replaced]:
        """What took the place of a memory, and of that, with the trust of both sides."""
        from .state.conflicts import chain
        from .state.explained import replacements

        return replacements(self._answer(lambda: chain(self._resolve(name), self._find)), self.trust)

    def predicates(self) -> Mapping[str, Predicate]:
        """How predicates of claims behave: what config.yaml says below `predicates:`."""
        from .state.claims import read_registry

        return read_registry({name: dict(rules) for name, rules in self.settings.predicates})

    def _believing(self, via: str) -> Callable[[Memory], float]:
        """The trust that a decision about new words goes by: theirs follows from how they arrive."""
        from .model.clock import now
        from .state.committer import UNKNOWN
        from .state.trust import standing_of_entry, trust_of

        def trust(memory: Memory) -> float:
            if self.index.catalogue.row(memory.id):
                return self.trust(memory)
            return trust_of(memory, standing_of_entry(UNKNOWN, self._arrival(memory.extra, via)), now())

        return trust

    def _claiming(self, subject: str, predicate: str) -> Sequence[Memory]:
        from .index.claims import claiming

        return self._answer(lambda: claiming(self.index.catalogue, subject, predicate))

    def _rivals(self, memory: Memory) -> Sequence[Memory]:
        """What a memory contradicts, by its claim or as an entry says, as far as it is in use."""
        from .state.claims import read_claim, rivals_of
        from .state.conflicts import open_conflicts

        claim = read_claim(memory.extra)
        others = self._claiming(*claim.key) if claim else ()
        named = [conflict.other for conflict in self._answer(lambda: open_conflicts([memory], self._find))]
        rivals = {other.id: other for other in (*rivals_of(memory, others, self.predicates()), *named)}
        return [rivals[id] for id in sorted(rivals)]

    def _find(self, id: str) -> Memory | None:
        from .index.lists import memory_of

        doc = self.index.catalogue.doc(id)
        return memory_of(doc) if doc else None

    def _past(self, at: int = 0) -> Past:
        from .index.past import Past

        return Past(self.layout, self.index.catalogue, at)

    # Removing for good

    def purge(self, name: str) -> Sequence[str]:
        """Rewrite files without any entry about this memory. Returns the paths that changed.

        The index is made anew, not updated: freed pages of a database still hold what was in them.
        """
        from .files.ledger.forget import forget as forget_in_ledger
        from .files.purge import purge
        from .index.deep import forget_vectors
        from .sinks.tell import forget

        memory = self.get(name)
        paths = sorted(self.index.catalogue.paths_about(memory.id))
        said = [f"{entry.title} {entry.body}" for entry in self._past().entries_about(memory.id)]
        changed = purge(self.layout, memory.id, paths)
        forget(self.layout, memory.id)
        self.forget_answers()
        self.index.discard()
        forget_vectors(self.index)
        self.index.sync()
        forget_in_ledger(self.layout, memory.id, said)
        self._keep_contents()
        return changed

    # Keeping

    def sync(self, progress: Callable[[int, int], None] | None = None) -> SyncReport:
        """Bring the index up to date with the files, and with who committed them: the next injection need not."""
        report = self.index.refresh(progress)
        authors = self._authors()
        if authors:
            authors.refresh()
        return report

    def deepen(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Fill in the contextual vectors that are missing: minutes for a thousand memories. Returns how many it did."""
        from .index.deep import deepen

        return deepen(self.index, progress)

    def deepen_behind(self) -> bool:
        """Leave a worker behind that does so; whether one was started."""
        from .index.behind import fill_behind

        return self.settings.embedder.provider == AUTO and fill_behind(self.index)

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> SyncReport:
        """Make the index anew from the files."""
        return self.index.sync(progress, rebuild=True)

    def status(self) -> Status:
        """Files against index, proven by hashes."""
        from .index.status import status

        return status(self.index)

    def write_contents(self, file: str = "") -> tuple[str, bool]:
        """Write MEMORY.md, which links to every memory in use: where it lies, and whether it changed."""
        from .exchange.contents import contents
        from .files.append import repository_lock
        from .files.page import PAGE, write_page
        from .index.lists import memory_of

        file = file or self.layout.path(PAGE)
        with repository_lock(self.layout):
            memories = self._answer(lambda: [memory_of(doc) for doc in self.index.catalogue.docs()])
            return file, write_page(file, contents(memories, self.layout.from_file(file)))

    def _keep_contents(self) -> None:
        """Let the page follow a write, where the project wants that; the write itself is done: a failure is told."""
        try:
            if self.settings.contents:
                self.write_contents()
        except RawkoError as failure:
            self.warn(f"MEMORY.md is not up to date: {failure.message}")

    # Sinks

    def sinks(self) -> Sequence[SinkStatus]:
        """How each sink of the user stands."""
        from .sinks.tell import sink_statuses

        return sink_statuses(self.layout, self.settings.sinks)

    def flush_sinks(self, due_only: bool = False) -> Flushed:
        """Send what waits for the webhook, now and in this process."""
        from .sinks.webhook import Flushed, flush, open_client

        webhook = self.settings.sinks.webhook
        if not webhook.url:
            return Flushed(0, 0, 0)
        return flush(self.layout, open_client(webhook), self.warn, due_only)

    def wake_sinks(self) -> None:
        """Start a sender in the background where something is due."""
        if self.settings.sinks.webhook.url:
            from .sinks.worker import wake_sender

            wake_sender(self.layout)

    def check(self) -> Sequence[Checked]:
        """What is wrong with each file."""
        from .files.check import check_repository

        return check_repository(self.layout)
