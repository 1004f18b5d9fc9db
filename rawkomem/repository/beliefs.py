"""Decisions about memories: trust, disputes, quarantine and review, supersession, validity, claims and
their conflicts; undoing changes that this machine made; and the list of what waits for a person.
"""

from __future__ import annotations

import shlex
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from functools import partial

from ..exchange.sources import is_from, places_of
from ..files.append import Written, in_one_change_file
from ..files.archive import FoundFile, without_entries
from ..files.kept_texts import keep_edited
from ..files.layout import Layout
from ..files.machine_records import PERSON, Arrivals, note_change, read_changes
from ..files.reading import read_data
from ..files.replace import Replacing
from ..git.runner import committed_files, tracked_files, untracked_files
from ..index.catalogue import (
    DERIVES,
    Believed,
    memories_claiming,
    memory_of,
    opposed_keys,
    pending_conflicts,
)
from ..model.entries import Change, Draft, Entry, Memory, Plan
from ..model.errors import BadInput, NotFound, Refused
from ..model.filters import Filter
from ..model.ids import new_id
from ..model.values import (
    ACTIVE,
    TYPE_CHECKING,
    checked_share,
    now,
    record,
    replace,
)
from ..state.changes import (
    Conflict,
    open_conflicts,
    plan_archive,
    plan_reinforce,
    plan_supersede,
    plan_validity,
    replacement_chain,
)
from ..state.claims import Predicate, read_claim, read_registry, rivals_of
from ..state.contradictions import (
    Contradiction,
    Pair,
    contradictions,
    opposed_pairs,
)
from ..state.fold import (
    ACTIVATE,
    REJECT,
    Review,
    Vouches,
    fold,
    fold_proposed,
    is_by_hand,
    is_deciding,
    plan_decide,
    plan_dispute,
    plan_quarantine,
    plan_restore,
    plan_review,
    quarantining,
    reviewed_name,
)
from ..state.history import (
    Explained,
    HistoryStep,
    Replaced,
    differences,
    history,
    is_present,
    last_change,
    plan_undo,
    replacements,
    why_not_in_use,
)
from ..state.plans import ENDING, PUT_AWAY
from ..state.strength import REINFORCED_IMPORTANCE
from ..state.trust import (
    AGENT,
    AUTHORS,
    HIDDEN_AUTHOR,
    UNCOMMITTED,
    UNKNOWN,
    Trust,
    Weak,
    author_state,
    standing_of_entry,
    trust_of,
)
from ..text.acts import ASK
from ..text.difference import Risk, compare, risks_of
from .core import Wing, batches
from .writing import arrival, as_one_change

if TYPE_CHECKING:
    from . import Repository

REVIEWS_AT_ONCE = 200  # written under one lock


# how an entry arrived on this machine → who wrote it
WRITERS = {
    PERSON: "a person",
    AGENT: "an agent",
    "import": "an import",
    "said": "an agent that quotes a person",
    "distilled": "rawkomem, from other memories",
}


@record
class Proposal:
    """A memory, its proposed changes, and the memory as it would be with these changes."""

    memory: Memory
    proposed: Memory
    changes: tuple[Entry, ...]

    @property
    def differences(self) -> tuple[tuple[str, object, object], ...]:
        """Return (field, current value, proposed value) for each field that would change."""
        return differences(self.memory, self.proposed)


class Beliefs(Wing):
    """Computes the trust in memories, and stores decisions that change it."""

    # a hash of the memories that were last compared, and their contradictions
    _compared: tuple[int, Sequence[Contradiction]] = (0, ())

    def trust(self, memory: Memory) -> Trust:
        """Return the trust in a memory: `value` from 0 to 1, and its parts."""
        return self.all().trust(memory)

    def all(self) -> Believed:
        """Return an object that computes standing and trust of many memories."""
        return self._core.read(lambda: self._core.view(None).believed)

    def weakened(self) -> Sequence[tuple[Memory, tuple[Weak, ...]]]:
        """Return the memories in use that have weak sources, with these sources."""
        weak_sources = self.all().weak_sources
        deriving = self._core.read(lambda: self._core.inside_with(DERIVES))
        pairs = [(one, weak_sources(one)) for one in deriving]
        return [(memory, weak) for memory, weak in pairs if weak]

    def origin(self, entry: Entry) -> str:
        """Return who wrote an entry, from this machine's records and from git. The name in the entry is only its signature."""
        how = Arrivals(self._layout).of(entry.id, entry.digest)
        authors = self._core.authors()
        author = authors.author(entry.path, entry.digest) if authors else HIDDEN_AUTHOR
        state = authors.state(author) if authors else author_state(author)
        if how:
            who = WRITERS.get(how, "a program")
            who += f", signed {entry.by}" if entry.by else ""
        elif state == UNCOMMITTED:
            who = f"hand in {entry.path}"
        elif state == AGENT:
            who = f"an agent, in another checkout or by hand in {entry.path}"
        else:
            who = WRITERS.get(state, "somebody unknown")
        if author in ("", HIDDEN_AUTHOR):
            return who
        names = author.replace(AUTHORS, ", ").replace("\t", ", committed by ")
        return f"{who} (git author {names})"

    def origins(self, memory: Memory) -> str:
        """Return who wrote the text of a memory: the entry that created it, and its amendments."""
        ids = (memory.id, *memory.amended_in)
        entries = self._core.read(lambda: self._core.entries(memory.id))
        writers = [self.origin(entry) for entry in entries if entry.id in ids]
        return "; ".join(dict.fromkeys(writers))

    # Decisions about one memory

    def reinforce(
        self,
        name: str,
        reason: str = "",
        by: str = "",
        boost: float = REINFORCED_IMPORTANCE,
    ) -> Written:
        """Append an entry that confirms a memory and raises its importance by 0.1; a boost of 0.3 appends three."""
        times = round(checked_share(boost, "boost") / REINFORCED_IMPORTANCE)

        def decide(memory: Memory) -> Plan:
            plans = [plan_reinforce(memory, reason, by) for _ in range(max(1, times))]
            return replace(plans[0], entries=tuple(plan.entries[0] for plan in plans))

        return self._core.append(decide, name)

    def dispute(self, name: str, reason: str = "", by: str = "") -> Written:
        """Append an entry that disputes a memory; at low trust, or at the third dispute, it is no longer used."""
        return self._core.append(plan_dispute, name, reason, by, self._value)

    def quarantine(self, name: str, reason: str = "", by: str = "") -> Written:
        """Hold a memory back until it is reviewed."""
        return self._core.append(plan_quarantine, name, reason, by)

    def review(
        self, name: str, action: str, settle: str = "", reason: str = "", by: str = ""
    ) -> Sequence[Written]:
        """Activate or reject a memory in quarantine; `settle` resolves its conflicts: supersede or keep_both."""

        def decide() -> Plan:
            memory = self._repo.get(name)
            rivals = self._rivals(memory)
            if not rivals and (settle or action == REJECT):
                rivals = self._contradicted(memory)
            return plan_review(
                self._to_review(memory, rivals, settle, reason, by), action
            )

        return self._core.write(decide)

    def restore(
        self, name: str, settle: str = "", reason: str = "", by: str = ""
    ) -> Sequence[Written]:
        """Bring back a memory that was deleted, archived, disputed, superseded, or quarantined by hand.

        A memory that waited for a review when it was deleted, archived or superseded waits for it again.
        """

        def decide() -> Plan:
            memory = self._repo.get(name)
            entries = [step.entry for step in self._repo.history(memory.id)]
            quarantines = [entry for entry in entries if entry.kind == "quarantine"]
            by_hand = bool(quarantines) and is_by_hand(quarantines[-1])
            before = fold([entry for entry in entries if entry.kind not in ENDING])
            if (
                memory.status in PUT_AWAY
                and before
                and before.status == "quarantined"
                and not by_hand
            ):
                again = quarantining(
                    memory, before.reason or reason, by, before.conflicts_with
                )
                return Plan((again,))
            rivals = self._rivals(memory)
            review = self._to_review(memory, rivals, settle, reason, by)
            return plan_restore(review, by_hand and memory.status == "quarantined")

        return self._core.write(decide)

    def supersede(
        self, old: str, new: str, reason: str = "", by: str = "", anyway: bool = False
    ) -> Written:
        """Replace the memory `old` by the memory `new`."""
        newer = self._repo.get(new)
        return self._core.append(
            plan_supersede, old, newer, reason, by, self._value, anyway
        )

    def validity(
        self, name: str, start: str = "", end: str = "", reason: str = "", by: str = ""
    ) -> Written:
        """Set the time window in which a memory is valid; `none` removes a limit."""
        return self._core.append(plan_validity, name, start, end, reason, by)

    def archive(self, name: str, reason: str = "", by: str = "") -> Written:
        """Take a memory out of use; `restore` brings it back."""
        return self._core.append(plan_archive, name, reason, by)

    # Proposed changes: written by somebody who cannot vouch for the memory

    def is_vouched(self, name: str) -> bool:
        """Return whether a person vouches for a memory; False if it does not exist or nobody vouches for any memory."""
        try:
            return self._repo.get(name).vouched and self._core.is_vouching()
        except NotFound:
            return False

    def proposal(self, name: str) -> Proposal:
        """Return a memory with the changes that wait for a review."""
        core = self._core

        def read() -> Proposal:
            id = core.resolve(name)
            vouches = core.vouching()
            together = core.together()
            memory = together.memory(id) or core.whole([id])[0]
            folded = fold_proposed(together.entries(id), vouches)
            if not folded:
                return Proposal(memory, memory, ())
            return Proposal(memory, folded[0], folded[1].proposed)

        return core.read(read)

    def proposals(self) -> Sequence[Proposal]:
        """Return all proposals that wait for a review, last changed memory first."""
        waiting = self._core.read(
            lambda: [row.id for row in self._core.catalogue.with_proposals()]
        )
        return [self.proposal(id) for id in waiting]

    def decide(
        self,
        name: str,
        accept: bool,
        changes: Sequence[str] = (),
        reason: str = "",
        by: str = "",
    ) -> Sequence[Written]:
        """Accept or decline proposed changes of a memory: all, or those with the given `id` or `id@digest`."""

        def decide() -> Plan:
            proposal = self.proposal(name)
            known = {
                key: entry
                for entry in proposal.changes
                for key in (entry.id, reviewed_name(entry))
            }
            unknown = [key for key in changes if key not in known]
            if unknown or not known:
                missing = f"no change {', '.join(unknown)}".rstrip()
                raise NotFound(
                    f"{missing} waits for a review of {proposal.memory.id}",
                    "run 'rawkomem review'",
                )
            chosen = [known[key] for key in changes] or list(proposal.changes)
            return plan_decide(proposal.memory, chosen, accept, reason, by)

        return self._core.write(decide)

    def _to_review(
        self,
        memory: Memory,
        rivals: Sequence[Memory],
        settle: str,
        reason: str,
        by: str,
    ) -> Review:
        """Return the input of a review, which lists the entries of the memory's text and other changes that wait."""

        def read() -> Review:
            vouches = self._core.vouching(strict=True)
            words: list[Entry] = []
            others: list[Entry] = []
            for entry in self._core.entries(memory.id):
                if entry.id in (memory.id, *memory.amended_in):
                    words.append(entry)
                elif is_deciding(entry) and not (vouches and vouches(entry)):
                    others.append(entry)
            return Review(
                memory, rivals, settle, reason, by, self._value, words, others
            )

        return self._core.read(read)

    # Review of imports, one source at a time

    def waiting(self, place: str = "") -> list[Memory]:
        """Return the imported memories in quarantine, of all sources or of one kind, file, folder or section."""
        quarantined = self._core.inside(Filter(statuses=("quarantined",)))
        return [memory for memory in quarantined if any(_is_from_place(memory, place))]

    def review_all(
        self,
        place: str,
        action: str,
        settle: str = "",
        reason: str = "",
        by: str = "",
        held_back: Collection[str] = (),
    ) -> Sequence[Memory]:
        """Activate or reject the waiting memories of one source, except `held_back`; return them after the review.

        A memory that also comes from another source is not rejected, because the reviewer may trust that source.
        """
        waiting = [
            memory
            for memory in self.waiting(place)
            if memory.id not in held_back
            and (action != REJECT or all(_is_from_place(memory, place)))
        ]
        if not waiting:
            alone = f"nothing from {place!r}{' alone' if action == REJECT else ''}"
            raise NotFound(
                f"{alone} waits for a review", "run 'rawkomem review' to see what waits"
            )
        plain: list[str] = []
        rest: list[str] = []
        for memory in waiting:
            is_plain = not memory.conflicts_with and "claim" not in memory.extra
            (plain if is_plain else rest).append(memory.id)

        def decide(ids: Sequence[str]) -> Plan:
            entries: list[Entry] = []
            for one in self._repo.get_many(ids):
                if one.status == "quarantined":
                    review = self._to_review(one, (), settle, reason, by)
                    entries += plan_review(review, action).entries
            return Plan(in_one_change_file(entries))

        with as_one_change(self._core):
            for ids in batches(plain, REVIEWS_AT_ONCE):
                self._core.write(partial(decide, ids))
            # an earlier review may have changed the memories that it contradicts
            for id in rest:
                self.review(id, action, settle, reason, by)
        return self._repo.get_many([memory.id for memory in waiting])

    # Claims and explanations

    def conflicts(self) -> Sequence[Conflict]:
        """Return the claims that contradict a memory in use and wait for a review."""
        return self._core.read(lambda: pending_conflicts(self._core.catalogue))

    def contradictions(self) -> Sequence[Contradiction]:
        """Return pairs of memories in use whose sentences contradict each other."""
        only = Filter(statuses=(ACTIVE,), current=True)

        def compared() -> tuple[list[Pair], list[str]]:
            """Return the pairs to compare, and their memories: reading the sentences of all takes long if there are many."""
            catalogue = self._core.catalogue
            in_use = {row.id for row in self._core.view(only).rows()}
            keys = opposed_keys(catalogue.db)
            pairs = sorted(opposed_pairs(key for key in keys if key[0] in in_use))
            ids = sorted({id for pair in pairs for id in pair})
            return pairs, [catalogue.doc(id) for id in ids]

        pairs, docs = self._core.read(compared)
        state = hash((*pairs, *docs))
        if state != self._compared[0]:
            self._compared = (state, contradictions(map(memory_of, docs), pairs))
        return self._compared[1]

    def _contradicted(self, memory: Memory) -> list[Memory]:
        """Return the memories in use whose sentences contradict a memory."""
        others = []
        for pair in self.contradictions():
            if memory.id == pair.newer.id:
                others.append(pair.older)
            elif memory.id == pair.older.id:
                others.append(pair.newer)
        return others

    def explain(self, name: str) -> Explained:
        """Return a memory's standing, trust, connections, conflicts, weak sources and history."""
        memory = self._repo.get(name)
        weak = self.all().weak_sources(memory)
        return Explained(
            memory,
            why_not_in_use(memory, now(), weak),
            self.trust(memory),
            tuple(self._repo.graph.load(statuses=()).around[memory.id]),
            tuple(self._rivals(memory)),
            weak,
            tuple(self._repo.history(memory.id)),
        )

    def explain_supersession(self, name: str) -> Sequence[Replaced]:
        """Return the chain of memories that superseded a memory, with the trust of both sides at each step."""
        core = self._core
        return replacements(
            core.read(lambda: replacement_chain(core.resolve(name), core.find)),
            self._value,
        )

    def predicates(self) -> Mapping[str, Predicate]:
        """Return the rules for predicates of claims, from `predicates:` in config.yaml."""
        return read_registry(
            {name: dict(rules) for name, rules in self._core.settings.predicates}
        )

    def claiming(self, subject: str, predicate: str) -> Sequence[Memory]:
        """Return the memories in use with a claim about this subject and predicate."""
        return self._core.read(
            lambda: memories_claiming(self._core.catalogue, subject, predicate)
        )

    def _rivals(self, memory: Memory) -> Sequence[Memory]:
        """Return the memories in use that a memory contradicts, by its claim or by an entry that says so."""
        claim = read_claim(memory.extra)
        # a memory that is no longer valid supersedes nothing
        ended = 0 < memory.valid_until <= now()
        others = self.claiming(*claim.key) if claim and not ended else ()
        conflicts = self._core.read(lambda: open_conflicts([memory], self._core.find))
        rivals = [*rivals_of(memory, others, self.predicates())]
        rivals += [conflict.other for conflict in conflicts]
        return sorted({one.id: one for one in rivals}.values(), key=lambda one: one.id)

    def trust_by(self, via: str) -> Callable[[Memory], float]:
        """Return a function that computes trust; for a memory that is not stored yet, from how it arrives (`via`)."""

        def trust(memory: Memory) -> float:
            if self._core.catalogue.row(memory.id):
                return self.trust(memory).value
            origin = arrival(self._core, memory.extra, via)
            return trust_of(memory, standing_of_entry(UNKNOWN, origin), now())

        return trust

    def _value(self, memory: Memory) -> float:
        return self.trust(memory).value


def _is_from_place(memory: Memory, place: str) -> list[bool]:
    """Return, for each place that a memory was imported from, whether it is inside `place`."""
    return [not place or is_from(one, place) for one in places_of(memory.extra)]


# Undo changes that this machine made: the last one, or the change that wrote an entry.

DROPPED = "drop"  # starts the names of changes that dropped a draft
EARLIER_HINT = "run 'rawkomem undo --list' to see earlier changes, and 'rawkomem undo CHANGE' to undo one"
MAX_UNDONE = 50  # memories; a larger change is undone only with `everything`


@record
class Undone:
    """A change that was undone, or in a dry run would be: its steps, and the plan that undoes it."""

    change: Change
    steps: tuple[HistoryStep, ...]
    plan: Plan
    written: tuple[Written, ...] = ()
    # memories whose entries of the change leave their files, because git does not have them
    removed: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()  # of these files
    reopened: tuple[str, ...] = ()  # dropped drafts that wait again


class Undoing(Wing):
    """Lists the changes that this machine made, and undoes them: by appending entries, or by removing uncommitted ones."""

    def undo(
        self,
        entry: str = "",
        everything: bool = False,
        by: str = "",
        dry_run: bool = False,
    ) -> Undone:
        """Undo the last change, or the one that wrote an entry or dropped a draft; raise NotFound if there is none.

        Raise Refused if the change is already undone, is a purge, or is not in the files of this branch.

        A change of more than 50 memories, such as a large import, needs `everything`. An agent's change that nobody
        committed is removed from its files; a copy of each file stays in `.rawko/local/edits`.
        """
        change = _chosen_change(read_changes(self._layout), entry)
        if change.name.startswith(DROPPED):
            (id,) = change.memories
            if id not in self._repo.drafts.dropped:
                message = f"the change dropped the draft {id}, whose text was removed"
                raise Refused(f"{message}: it cannot be undone", EARLIER_HINT)
            if not dry_run:
                self._repo.drafts.take_back(id)
                note_drop(self._layout, id, change.name)
            steps = _steps_of_change(change, {})
            return Undone(change, steps, Plan(()), reopened=change.memories)
        if dry_run:
            return self._decide(change, everything, by)
        undone: Undone

        def decide() -> Plan:
            nonlocal undone
            undone = self._decide(change, everything, by)
            if undone.removed:
                undone = replace(undone, copies=self._remove(undone))
            left = [
                one for one in undone.plan.entries if one.about not in undone.removed
            ]
            return replace(undone.plan, entries=tuple(left))

        written = self._core.write(decide)
        self._repo.drafts.store.reopen(change.ids)
        return replace(undone, written=tuple(written))

    def changes(self, limit: int = 0) -> list[tuple[Change, tuple[HistoryStep, ...]]]:
        """Return the changes that can be undone, with their steps, latest first; with a limit, only the last ones."""
        done = read_changes(self._layout)
        undone = {change.undoes for change in done}
        undoable = [
            one
            for one in reversed(done)
            if not (one.undoes or one.purged or one.name in undone)
            and (
                not one.name.startswith(DROPPED)
                or one.ids <= self._repo.drafts.dropped.keys()
            )
        ]
        return self._core.read(
            lambda: [
                (change, _steps_of_change(change, self._about(change)))
                for change in undoable[: limit or None]
            ]
        )

    def known(self, ids: Iterable[str]) -> dict[str, Memory]:
        """Return the memories that exist; the others were purged, or are on another branch."""
        return self._core.known(ids)

    def _uncommitted(
        self,
        change: Change,
        about: Mapping[str, Sequence[Entry]],
        vouches: Vouches | None,
    ) -> set[str]:
        """Return the memories whose entries of a change can be removed from their files, because git does not have them.

        What a person vouches for is not removed, except that a person may remove a memory that they added. A memory
        with later changes is deleted by an entry. If nobody vouches for anything, an entry undoes the change. Raise
        Refused if a program undoes entries that are staged: the next commit would contain them.
        """
        layout = self._layout
        ids = change.ids
        is_person = self._core.via == PERSON
        places: dict[str, set[str]] = {}  # memory → files
        for id, said in about.items():
            own = [entry for entry in said if entry.id in ids]
            is_vouched = vouches is not None and any(map(vouches, own))
            if any(entry.creates for entry in own):
                is_free = len(own) == len(said) and (is_person or not is_vouched)
            else:
                is_free = vouches is not None and not is_vouched
            if own and is_free:
                places[id] = {entry.path for entry in own}
        paths = set[str]().union(*places.values())
        uncommitted = untracked_files(layout, paths)
        in_git = paths - uncommitted
        if in_git and vouches and not is_person:
            committed = committed_files(layout, *in_git) or set()
            staged = tracked_files(layout, in_git) - committed
            if staged:
                files = " ".join(
                    shlex.quote(layout.path(path)) for path in sorted(staged)
                )
                raise Refused(
                    f"the change {change.name} is staged for the next commit",
                    f"run 'git restore --staged {files}', then 'rawkomem undo {change.name}'",
                )
        return {id for id, paths in places.items() if paths <= uncommitted}

    def _remove(self, undone: Undone) -> tuple[str, ...]:
        """Remove entries of a change from their files; return the paths of copies of these files."""
        layout = self._layout
        removed = undone.removed
        gone = [step.entry for step in undone.steps if step.entry.target in removed]
        ids = {entry.id for entry in gone}
        changing = Replacing(layout, self._core.warn)
        before: dict[str, bytes] = {}
        for path in {entry.path for entry in gone}:
            data = before[path] = changing.read(path) or b""
            file = FoundFile(data, read_data(data, path, advice=False))
            left = without_entries(file, lambda entry: entry.id in ids)
            changing.put(path, left or None)
        copies = keep_edited(layout, before)
        changing.finish()
        planned = [one for one in undone.plan.entries if one.about in removed]
        note_change(layout, planned, undone.change.name)
        return copies

    def _about(self, change: Change) -> dict[str, Sequence[Entry]]:
        return {id: self._core.entries(id) for id in change.memories}

    def _decide(self, change: Change, everything: bool, by: str) -> Undone:
        if len(change.memories) > MAX_UNDONE and not everything:
            raise Refused(
                f"the change {change.name} wrote {len(change.memories)} memories",
                f"run 'rawkomem undo {change.name} --all' to undo all of them",
            )

        def read() -> Undone:
            about = self._about(change)
            if not is_present(change, about):
                message = f"no file here contains the change {change.name}"
                raise Refused(
                    message,
                    "switch to its branch, or run 'rawkomem undo --list' to choose another change",
                )
            vouches = self._core.vouching()
            is_person = self._core.via == PERSON
            removed = self._uncommitted(change, about, vouches)
            plan = plan_undo(change, about, vouches, by, is_person, removed)
            steps = _steps_of_change(change, about)
            planned = {entry.about for entry in plan.entries}
            return Undone(change, steps, plan, removed=(*sorted(planned & removed),))

        return self._core.read(read)


def note_drop(layout: Layout, draft: str, undoes: str = "") -> None:
    """Record for `undo` that a draft was dropped, or that a drop was undone."""
    dropped = Entry(kind="delete", id=draft, about=draft)
    note_change(layout, [dropped], undoes, new_id(DROPPED, now()))


def _chosen_change(changes: Sequence[Change], entry: str) -> Change:
    if entry:
        matches = [change for change in changes if entry in (change.name, *change.ids)]
        if not matches:
            raise NotFound(
                f"this machine made no change {entry!r}",
                "run 'rawkomem undo --list' to see its changes",
            )
        if any(other.undoes == matches[-1].name for other in changes):
            raise Refused(f"the change {entry} is already undone", "nothing to do")
        return matches[-1]
    change = last_change(changes)
    if change is None:
        raise NotFound(
            "there is no change to undo",
            "run 'rawkomem history ID' to see the changes of a memory",
        )
    if change.purged:
        raise Refused(
            f"the last change was the purge of {change.purged}, which cannot be undone",
            EARLIER_HINT,
        )
    return change


def _steps_of_change(
    change: Change, about: Mapping[str, Sequence[Entry]]
) -> tuple[HistoryStep, ...]:
    if change.name.startswith(DROPPED):
        return tuple(
            HistoryStep(Entry(kind="delete", id=id, about=id), "dropped a draft", ())
            for id in change.ids
        )
    return tuple(
        replace(step, told=step.told.removeprefix("undone: "))
        for said in about.values()
        for step in history(said)
        if step.entry.id in change.ids
    )


# The list of everything that waits for a person's decision: drafts, proposed changes, conflicts and
# memories in quarantine; and the decisions about them.

KINDS = DRAFT, PROPOSAL, CONFLICT, QUARANTINED = (
    "draft",
    "proposal",
    "conflict",
    "quarantined",
)
MORE = "more"  # asks for the drafts of which the person is not asked; they are of the kind DRAFT
KEEP = "keep"
DROP = "drop"
BOTH = "both"
JOIN = "join"
# kind → decision → what it does
DECISIONS = {
    DRAFT: {KEEP: "store it as a memory", DROP: "discard it"},
    PROPOSAL: {KEEP: "apply the change", DROP: "discard the change"},
    CONFLICT: {
        KEEP: "use it in place of the other",
        DROP: "archive it; the other stays",
        BOTH: "use both",
    },
    QUARANTINED: {KEEP: "put it into use", DROP: "archive it"},
}
# about a draft that names acts of an agent
GUARD_DECISIONS = {
    KEEP: "store it; the agent is reminded when it does this",
    ASK: "store it; you are asked when an agent does this",
    DROP: "discard it",
}
# about a draft that says the same as a memory
AGREEING_DECISIONS = {
    KEEP: "confirm the memory that says the same",
    JOIN: "add these words to that memory",
    BOTH: "store it as a memory of its own",
    DROP: "discard it",
}


@record
class Waiting:
    """One item that waits for a person's decision."""

    kind: str  # one of KINDS
    id: str  # of the draft, or of the memory
    title: str
    at: int  # when it was found or last changed, in milliseconds
    draft: Draft | None = None
    memory: Memory | None = None  # all kinds except DRAFT
    # only PROPOSAL: the changes, and the memory with them
    proposal: Proposal | None = None
    # only CONFLICT: the memory in use that `memory` contradicts
    other: Memory | None = None
    # the contradicting sentences; empty if claims contradict
    said: tuple[str, str] = ("", "")

    @property
    def decisions(self) -> dict[str, str]:
        """Return the possible decisions, each with what it does."""
        if self.draft and self.draft.agrees:
            return AGREEING_DECISIONS
        names_acts = self.draft and self.draft.applies
        return GUARD_DECISIONS if names_acts else DECISIONS[self.kind]

    @property
    def risks(self) -> list[Risk]:
        """Return what looks dangerous: in what a proposal adds, or in the whole draft or memory."""
        if self.proposal:
            pairs = (change[1:] for change in self.proposal.differences)
            return [risk for pair in pairs for risk in compare(*pair).risks]
        item = self.draft or self.memory
        return risks_of(item) if item else []


def waiting(repository: Repository, kinds: Collection[str] = KINDS) -> list[Waiting]:
    """Return what waits: proposed changes, conflicts, drafts, then quarantined memories, each latest first.

    Drafts of which the person is not asked are included only if `kinds` has MORE.
    """
    items = [*_proposals(repository)] if PROPOSAL in kinds else []
    conflicts = [*_conflicts(repository)] if {CONFLICT, QUARANTINED} & {*kinds} else []
    items += conflicts if CONFLICT in kinds else []
    items += [
        Waiting(DRAFT, one.id, one.title or one.text, one.at, draft=one)
        for one in sorted(repository.drafts.all(), key=_asked_first)
        if (MORE if one.more else DRAFT) in kinds
    ]
    if QUARANTINED in kinds:
        listed = {item.id for item in conflicts}
        rows = repository.list(Filter(statuses=(QUARANTINED,), current=False))
        quarantined = repository.get_many(
            [row.id for row in rows if row.id not in listed]
        )
        items += [_of_memory(QUARANTINED, memory) for memory in quarantined]
    return items


def _asked_first(draft: Draft) -> tuple[bool, float]:
    """Return the key that sorts drafts which are less sure behind the others, by score."""
    return draft.more, -draft.score if draft.more else 0.0


def decide(
    repository: Repository, item: Waiting, decision: str, reason: str = "", by: str = ""
) -> Sequence[Written]:
    """Carry out a decision about an item and return the written entries; a dropped draft writes none."""
    if decision not in item.decisions:
        raise BadInput(
            f"{decision!r} is no decision about a {item.kind}",
            f"use one of {', '.join(item.decisions)}",
        )
    beliefs = repository.beliefs
    keeps = decision == KEEP
    if item.kind == DRAFT:
        if decision != DROP:
            how = decision if decision in (JOIN, BOTH) else ""
            guard = "" if keeps or how else decision
            return repository.drafts.keep(item.id, by=by, guard=guard, how=how).written
        repository.drafts.drop(item.id)
        return ()
    if item.kind == PROPOSAL:
        assert item.proposal
        names = [reviewed_name(entry) for entry in item.proposal.changes]
        return beliefs.decide(item.id, keeps, names, reason, by)
    if item.other:
        settle = {KEEP: "supersede", BOTH: "keep_both"}.get(decision, "")
    else:
        settle = ""
    return beliefs.review(
        item.id, REJECT if decision == DROP else ACTIVATE, settle, reason, by
    )


def _of_memory(
    kind: str,
    memory: Memory,
    other: Memory | None = None,
    said: tuple[str, str] = ("", ""),
) -> Waiting:
    title = memory.title or memory.path
    return Waiting(
        kind, memory.id, title, memory.updated, memory=memory, other=other, said=said
    )


def _proposals(repository: Repository) -> Iterator[Waiting]:
    for proposal in repository.beliefs.proposals():
        memory = proposal.memory
        at = max(entry.at for entry in proposal.changes)
        yield Waiting(
            PROPOSAL, memory.id, memory.title, at, memory=memory, proposal=proposal
        )


def _conflicts(repository: Repository) -> Iterator[Waiting]:
    for conflict in repository.beliefs.conflicts():
        yield _of_memory(CONFLICT, conflict.memory, conflict.other)
    for pair in repository.beliefs.contradictions():
        yield _of_memory(
            CONFLICT, pair.newer, pair.older, (pair.said.one, pair.said.other)
        )
