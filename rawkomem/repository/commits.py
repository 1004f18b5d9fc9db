"""Memories and git commits: manual edits of committed memories, staged memories compared with others,
and changes moved into the files of their memories.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ..files.append import (
    Gathered,
    KnownMemory,
    Written,
    gather_changes,
    with_new_id,
)
from ..files.layout import CHANGED, read_bytes
from ..files.machine_records import purged_ids
from ..files.private import lock
from ..files.reading import is_implicit
from ..files.replace import Replacing
from ..git.authorship import settled_settings
from ..git.commit_checks import (
    AddedMemories,
    CheckedCommit,
    check_commit,
)
from ..git.runner import committed_files, committing_people
from ..git.staged import Staged
from ..model.entries import Entry, Memory, Plan
from ..model.filters import without_records
from ..model.values import CREATES, Problem, record, replace, warning
from ..state.changes import superseding
from ..state.contradictions import contradictions
from ..state.fold import changes_of_earlier_file, is_made_for
from ..state.housekeeping import is_comparable, missing_fact, same_subject
from ..state.trust import AGENT, AGENTS, author_state
from ..text.clean import one_line
from ..text.language import NEAR_DUPLICATE, is_identical, says_same, statement_of
from .core import Wing
from .settings_table import changed_settings, read_values

# Manual edits of committed memories: check them before a commit, or turn them into amendments.


# codes of proposals
NEAR = "near-duplicate"
PROSE = "contradiction"
# staged memories that are compared; a larger import waits for `consolidate`
MAX_SEARCHED = 50
MAX_RESULTS = 8  # of the search for one staged memory
MAX_QUESTION_CHARS = 400
SHOWN_CHARS = 60  # of a sentence that is quoted
NEW_ID_DIGITS = 12  # of a digest, in the id of a copy


@record
class StagedProposal:
    """Two memories, one of which may be redundant or wrong: a message, and a hint with the command that keeps one."""

    code: str
    memory: Memory  # added or changed by the commit
    other: Memory
    message: str
    hint: str


@record
class Separated:
    """A memory that had the id of another one or states none, and its new id."""

    path: str
    title: str
    old: str
    new: str


SETTINGS_FILE = "config.yaml"
SETTINGS = "settings"  # the name of the group of warnings about changed settings
SETTING_HINT = "a setting counts once a person has committed it"


def setting_changes(
    staged: Staged, settled: bytes | None = None
) -> list[tuple[str, str, str]]:
    """Return the name, the value before and the value after of each setting that a commit or a branch changes.

    `settled` is the file that counts, if that is not the one of the parent commit.
    """
    before = staged.texts({SETTINGS_FILE} & staged.head.keys(), staged.head)
    after = staged.texts({SETTINGS_FILE} & staged.now.keys())
    old, new = (
        read_values(data, SETTINGS_FILE, repository=True)[0]
        for data in (
            before.get(SETTINGS_FILE, b"") if settled is None else settled,
            after.get(SETTINGS_FILE, b""),
        )
    )
    return changed_settings(old, new)


def setting_problems(staged: Staged, settled: bytes | None = None) -> list[Problem]:
    """Return a warning for each setting that a commit or a branch changes."""
    return [
        replace(
            warning("setting", f"{name}: {before} → {after}", SETTING_HINT, 1),
            path=staged.name(SETTINGS_FILE),
        )
        for name, before, after in setting_changes(staged, settled)
    ]


class Edits(Wing):
    """Checks and converts manual changes of committed files, compares staged memories, and gathers changes."""

    def check(
        self, skip: Sequence[str], agent: bool, staged: Staged | None = None
    ) -> dict[str, list[Problem]]:
        """Return the problems of staged files. An agent must not edit committed entries, whatever the settings are."""
        core = self._core
        agent = agent or self.is_agents_commit()
        purged = () if agent else purged_ids(core.layout)
        registry = self._repo.beliefs.predicates()
        staged = staged or Staged(core.layout)
        commit = CheckedCommit(
            core.layout, staged, registry, agent or core.settings.append_only, purged
        )
        problems = check_commit(commit, skip)
        if staged.now.get(SETTINGS_FILE) != staged.head.get(SETTINGS_FILE):
            # a person's commit also accepts what agents changed before
            if core.settings.commits:
                agents = (*AGENTS, *core.settings.identities)
            else:
                agents = ()
            settled = settled_settings(core.layout, agents)
            problems[SETTINGS] = setting_problems(staged, settled and settled[1])
        return problems

    def is_agents_commit(self) -> bool:
        """Return whether the author or the committer of the next commit is an agent."""
        settings = self._core.settings
        if not settings.commits:
            return False
        who = committing_people(self._layout.project)
        return bool(who) and author_state(who, (*AGENTS, *settings.identities)) == AGENT

    def separate_copies(self) -> list[Separated]:
        """Give each memory whose id another memory has a new id in its file; raise Refused if a file has no line for it.

        The memory that is in use keeps the id. Changes below a copy in the same file follow it. A memory that has the
        name of an earlier, changed file gets an id, too: its name if one of the changes was made for this text, because
        then its file only lost the `id` line.
        """
        files: dict[str, bytes] = {}
        separated: list[Separated] = []
        core = self._core
        copied = core.read(core.catalogue.copied)
        reused = {
            memory.id: older
            for memory in core.all()
            if is_implicit(memory.id, memory.path)
            and (older := changes_of_earlier_file(core.entries(memory.id), memory.path))
        }
        for id in dict.fromkeys((*copied, *reused)):
            kept = self._repo.get(id)
            for entry in core.entries(id):
                if not entry.creates or (entry.path == kept.path and id in copied):
                    continue
                data = files.get(entry.path) or read_bytes(
                    self._layout.path(entry.path)
                )
                # the same in every clone, so that two people who separate the same copy agree
                new = f"{CREATES[entry.kind].prefix}_{entry.digest[:NEW_ID_DIGITS]}"
                if id not in copied and any(
                    is_made_for(change, entry) for change in reused[id]
                ):
                    new = id
                files[entry.path] = with_new_id(data, entry.path, id, new)
                separated.append(Separated(entry.path, entry.title, id, new))
        self._replace(files)
        self._core.follow()
        return separated

    def _replace(self, files: Mapping[str, bytes | None]) -> None:
        """Replace the files together under one lock; None removes a file."""
        layout = self._layout
        with lock(layout, "write"):
            changing = Replacing(layout, self._core.warn)
            for path, data in files.items():
                changing.put(path, data)
            changing.finish()

    # Staged memories, compared with others; only `settle` writes

    def brought(self) -> AddedMemories:
        """Return the memories that the next commit adds or changes; raise NotFound without git."""
        return AddedMemories(Staged(self._layout))

    def proposals(self, brought: AddedMemories) -> list[StagedProposal]:
        """Return near duplicates and contradicting sentences of the staged memories; `check` reports claims.

        Only memories that the commit contains are compared.
        """
        memories = list(brought.memories.values())[:MAX_SEARCHED]
        questions = [memory.title_and_body[:MAX_QUESTION_CHARS] for memory in memories]
        if memories:
            answers = self._core.look(questions, MAX_RESULTS, without_records(None))
        else:
            answers = ()
        proposals: dict[frozenset[str], StagedProposal] = {}
        known = self._core.known(
            item.row.id for answer in answers for item in answer.found
        )
        for memory, answer in zip(memories, answers, strict=True):
            others = [
                known[item.row.id] for item in answer.found if item.row.id in known
            ]
            around = [
                brought.memories.get(other.id, other)
                for other in others
                if other.id != memory.id and brought.holds(other.path)
            ]
            for one in (*_near(memory, around), *_opposed(memory, around)):
                proposals.setdefault(frozenset((one.memory.id, one.other.id)), one)
        return list(proposals.values())

    def settle(self, brought: AddedMemories, by: str = "") -> Sequence[Written]:
        """Supersede each added memory that duplicates another one; change no other memory."""
        near = [one for one in self.proposals(brought) if one.code == NEAR]
        entries: dict[str, Entry] = {}
        for memory, other in brought.twins() + [
            (one.memory, one.other) for one in near
        ]:
            if (
                memory.id in brought.created
                and entries.keys().isdisjoint((memory.id, other.id))
                and not missing_fact(memory, other)
            ):
                why = f"duplicate of {other.id}"
                entries[memory.id] = superseding(memory, other.id, why, by)
        if not entries:
            return ()
        written = self._core.write(Plan(tuple(entries.values())))
        self._core.follow()
        return written

    # Changes in files of their own

    def gather(self, dry_run: bool = False) -> Gathered:
        """Move committed changes into the files of their memories; without git, all changes. Run it on one branch only."""
        with lock(self._layout, "write"):
            self._core.index.expect_changes()
            committed = committed_files(self._layout, CHANGED)
            done = gather_changes(self._layout, self._known, committed, dry_run=dry_run)
        self._core.follow()
        return done

    def gather_locked(self, wanted: Callable[[Memory], bool]) -> Gathered:
        """Move the changes of some memories, committed or not, for a caller that holds the lock."""
        self._core.index.expect_changes()
        return gather_changes(self._layout, self._known, wanted=wanted)

    def _known(self, ids: Collection[str]) -> dict[str, KnownMemory]:
        core = self._core
        return core.read(lambda: {id: (core.find(id), core.entries(id)) for id in ids})


def _near(memory: Memory, around: Sequence[Memory]) -> Iterator[StagedProposal]:
    own = memory.title_and_body
    for other in around:
        text = other.title_and_body
        if (
            is_comparable(memory, other)
            and same_subject(memory, other)
            and not is_identical(own, text)
            and says_same(statement_of(own), statement_of(text), NEAR_DUPLICATE)
        ):
            title = one_line(other.title, SHOWN_CHARS)
            message = f"says nearly the same as {other.id}, {title!r}"
            yield _staged_proposal(NEAR, memory, other, message)


def _opposed(memory: Memory, around: Sequence[Memory]) -> Iterator[StagedProposal]:
    for pair in contradictions([memory, *around]):
        sides = [(pair.newer, pair.said.one), (pair.older, pair.said.other)]
        if pair.older.id == memory.id:
            sides.reverse()
        (own, sentence), (other, against) = sides
        if own.id == memory.id:
            quoted = f"{one_line(sentence, SHOWN_CHARS)!r} against {one_line(against, SHOWN_CHARS)!r}"
            message = f"contradicts {other.id}: {quoted}"
            yield _staged_proposal(PROSE, memory, other, message)


def _staged_proposal(
    code: str, memory: Memory, other: Memory, message: str
) -> StagedProposal:
    """Return a proposal. Its command keeps `other` for a duplicate, and `memory` for a contradiction."""
    old, new = (memory, other) if code == NEAR else (other, memory)
    hint = f"'rawkomem supersede {old.id} {new.id}' keeps one"
    return StagedProposal(code, memory, other, f"{memory.id} {message}", hint)
