"""A model of random histories: which operations a clone knows, and what must hold of its memories because of them.

A memory is known by its key, a word that starts its title and stands in each of its texts. Every value that a person
writes is a word of its own, so that it can be found again wherever it ends up.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from rawkomem.files.layout import is_text_path, read_bytes, sweep
from rawkomem.files.reading import read_data
from rawkomem.model.values import ACTIVE, DEFAULT_IMPORTANCE, STYLE
from rawkomem.repository import Repository

TEXT, TITLE, LEVEL, TAG, PROPOSAL = "text", "title", "importance", "tag", "proposal"
DELETE, ARCHIVE, SUPERSEDE, REMOVE = "delete", "archive", "supersede", "remove"
MOVE_TO_ARCHIVE, REVERT = "move to archive", "revert"
STATEMENTS = (TEXT, TITLE, LEVEL)
# operation → the status of the memory afterwards; a memory whose file was removed has none
STATUS_AFTER = {
    DELETE: "deleted",
    ARCHIVE: "archived",
    SUPERSEDE: "superseded",
    MOVE_TO_ARCHIVE: "archived",
    REMOVE: "",
}
# operations that must not take a text out of use that they did not know, without a word
MUST_KNOW = dict.fromkeys((DELETE, ARCHIVE, SUPERSEDE), (TEXT,))
RULE = re.compile(r"follows rule (\w+)")
# Problems of single texts, which say nothing about what a merge did.
UNRELATED_CODES = ("contradicted", "future-time", "name-clash")


@dataclass(frozen=True)
class Operation:
    """What somebody did to a memory, and the numbers of the operations that were known then."""

    number: int
    kind: str
    memory: str  # its key
    value: str = ""
    past: frozenset[int] = frozenset()
    takes_back: frozenset[int] = frozenset()  # only REVERT

    def __str__(self) -> str:
        return f"{self.number} ({self.kind} {self.value} of {self.memory})"


@dataclass(frozen=True)
class Answer:
    """What a repository says about one memory."""

    id: str
    path: str
    status: str
    title: str
    body: str
    when: tuple[str, ...]
    tags: tuple[str, ...]
    importance: str
    superseded_by: str
    vouched: bool
    waiting: tuple[tuple[str, str, str, str], ...]  # kind, text, title and importance of each proposed change

    @property
    def key(self) -> str:
        return self.title.partition(" ")[0]

    @property
    def values(self) -> dict[str, str]:
        """Return kind of statement → the value in use."""
        return {TEXT: rule_in(self.body), TITLE: self.title, LEVEL: self.importance}

    def proposes(self, kind: str, value: str) -> bool:
        """Return whether a value waits for a review."""
        proposed = ({TEXT: rule_in(text), TITLE: title, LEVEL: level} for _, text, title, level in self.waiting)
        return any(change[kind] == value for change in proposed)


def rule_in(text: str) -> str:
    """Return the word that a memory's text gives as its rule; empty if there is none."""
    found = RULE.search(text)
    return found[1] if found else ""


def answers_of(repository: Repository) -> dict[str, Answer]:
    """Return id → what the repository says about each memory."""
    proposals = {
        one.memory.id: tuple(
            sorted(
                (
                    change.kind,
                    change.body,
                    change.title if "title" in change.given else "",
                    change.importance if "importance" in change.given else "",
                )
                for change in one.changes
            )
        )
        for one in repository.beliefs.proposals()
    }
    rows = repository.list(include=["all"])
    found = {}
    for row, memory in zip(rows, repository.get_many([row.id for row in rows]), strict=True):
        assert (row.id, row.status, row.title) == (memory.id, memory.status, memory.title)
        found[row.id] = Answer(
            id=memory.id,
            path=memory.path,
            status=memory.status,
            title=memory.title,
            body=memory.body,
            when=tuple(memory.when),
            tags=tuple(sorted(memory.tags)),
            importance=memory.importance,
            superseded_by=memory.superseded_by,
            vouched=bool(row.vouched),
            waiting=proposals.get(row.id, ()),
        )
    return found


def differences(one: Mapping[str, Answer], other: Mapping[str, Answer]) -> list[str]:
    """Return where two repositories say something different about a memory."""
    found = []
    for name in sorted({*one, *other}):
        if name not in one or name not in other:
            found.append(f"{name}: only the {'first' if name in one else 'second'} has it")
            continue
        ours, theirs = vars(one[name]), vars(other[name])
        found += [f"{name}: {key} {ours[key]!r}, {theirs[key]!r}" for key in ours if ours[key] != theirs[key]]
    return found


def meaning_of(answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """Return key → answer without what a move may change: paths, and ids of memories that a person wrote without one."""
    keys = {id: answer.key for id, answer in answers.items()}
    without = {"id": "", "path": ""}
    return {
        answer.key: Answer(**{**vars(answer), **without, "superseded_by": keys.get(answer.superseded_by, "")})
        for answer in answers.values()
    }


def reported_in(repository: Repository) -> str:
    """Return what `check` reports, as one text."""
    problems = [problem for checked in repository.check() for problem in checked.problems]
    return "\n".join(
        f"{problem.code} {problem.path} {problem.message} {problem.quote}"
        for problem in problems
        if problem.level != STYLE and problem.code not in UNRELATED_CODES
    )


def created_in(repository: Repository) -> dict[str, str]:
    """Return memory id → path of the entry that creates it, for all memories in files."""
    layout = repository.layout
    found = {}
    for path in filter(is_text_path, sweep(layout).paths):
        for entry in read_data(read_bytes(layout.path(path)), path, advice=False).entries:
            if entry.creates and not entry.draft:
                found[entry.id] = path
    return found


@dataclass
class Model:
    """All operations of a history, in the order in which they happened."""

    operations: list[Operation] = field(default_factory=list)
    ids: dict[str, set[str]] = field(default_factory=dict)  # key of a memory → ids that it had

    def record(
        self, kind: str, memory: str, value: str, known: Collection[int], takes_back: Collection[int] = ()
    ) -> Operation:
        """Record an operation of a clone that knows some other operations."""
        past = frozenset(known).union(*(self.operations[number].past for number in known))
        made = Operation(len(self.operations), kind, memory, value, past, frozenset(takes_back))
        self.operations.append(made)
        return made

    def live(self, known: Collection[int]) -> list[Operation]:
        """Return the known operations that no known revert took back. A revert may be taken back itself."""
        taken_back: set[int] = set()
        found = []
        for number in sorted(known, reverse=True):
            if number not in taken_back:
                found.append(self.operations[number])
                taken_back |= self.operations[number].takes_back
        return found[::-1]

    def violations(self, known: Collection[int], answers: Mapping[str, Answer], reported: str) -> Iterator[str]:
        """Yield what must not be: a person's value lost silently, a wrong status, a memory that nobody vouches for."""
        view = _View(self, known, answers, reported)
        yield from view.double_keys()
        for operation in view.live:
            if operation.kind in STATEMENTS:
                yield from view.silent_loss(operation)
            elif operation.kind == TAG:
                yield from view.lost_tag(operation)
            elif operation.kind == PROPOSAL:
                yield from view.used_proposal(operation)
            elif operation.kind in STATUS_AFTER:
                yield from view.without_effect(operation)
        for answer in view.by_key.values():
            yield from view.without_cause(answer)


class _View:
    """What one clone knows and answers."""

    def __init__(self, model: Model, known: Collection[int], answers: Mapping[str, Answer], reported: str):
        self.everywhere = (
            model.operations
        )  # a cherry-pick of a move brings values of operations that HEAD does not name
        self.operations = [model.operations[number] for number in sorted(known)]
        self.live, self.ids = model.live(known), model.ids
        self.answers, self.reported = answers, reported
        self.by_key = {answer.key: answer for answer in answers.values()}
        self.put_away: dict[str, list[Operation]] = {}
        for operation in self.live:
            if operation.kind in STATUS_AFTER:
                self.put_away.setdefault(operation.memory, []).append(operation)
        self.taken_back = {number for operation in self.operations for number in operation.takes_back}

    def is_reported(self, key: str) -> bool:
        """Return whether `check` names a memory, by its key or by its id."""
        return any(name in self.reported for name in (key, *self.ids.get(key, ())))

    def double_keys(self) -> Iterator[str]:
        seen: dict[str, str] = {}
        for answer in self.answers.values():
            other = seen.setdefault(answer.key, answer.id)
            if other != answer.id and answer.id not in self.reported:
                yield f"names: {answer.id} and {other} are both {answer.key}"

    def silent_loss(self, stated: Operation) -> Iterator[str]:
        """Yield a value that is neither in use nor replaced by somebody who knew it, nor waits, nor is reported."""
        put_away = self.put_away.get(stated.memory, [])
        if any(stated.number in o.past for o in put_away) or self.is_reported(stated.memory):
            return
        answer = self.by_key.get(stated.memory)
        later = [
            o
            for o in self.everywhere
            if (o.memory, o.kind) == (stated.memory, stated.kind) and (o is stated or stated.number in o.past)
        ]
        if answer is None:
            yield f"{'loser' if put_away else 'names'}: {stated}: there is no such memory"
        elif not any(answer.proposes(o.kind, o.value) for o in later):
            in_use = answer.values[stated.kind]
            if not any(o.value == in_use for o in later):
                yield f"loser: {stated}: {in_use!r} is in use, status {answer.status}"
            elif answer.status != ACTIVE and any(
                stated.kind in MUST_KNOW.get(o.kind, ()) for o in put_away if o.number not in stated.past
            ):
                yield f"loser: {stated}: the memory is {answer.status}, by somebody who did not know the value"

    def lost_tag(self, tagged: Operation) -> Iterator[str]:
        answer = self.by_key.get(tagged.memory)
        if answer and tagged.value not in answer.tags and not self.is_reported(tagged.memory):
            yield f"loser: {tagged}: the tags are {answer.tags}"

    def used_proposal(self, proposed: Operation) -> Iterator[str]:
        answer = self.by_key.get(proposed.memory)
        if answer and rule_in(answer.body) == proposed.value and proposed.number not in self.taken_back:
            yield f"moves: {proposed}: an agent's text is in use"

    def without_effect(self, decided: Operation) -> Iterator[str]:
        """Yield a decision that put a memory away without effect."""
        answer = self.by_key.get(decided.memory)
        if not answer or answer.status != ACTIVE or self.is_reported(decided.memory):
            return
        if decided.kind == REMOVE or (decided.kind == MOVE_TO_ARCHIVE and not answer.path.startswith("archive/")):
            return  # another branch put the memory into another file
        if decided.kind == SUPERSEDE and not self._is_in_use(decided.value):
            return
        yield f"status: {decided}: the memory is in use"

    def _is_in_use(self, key: str) -> bool:
        answer = self.by_key.get(key)
        return answer is not None and answer.status == ACTIVE

    def without_cause(self, answer: Answer) -> Iterator[str]:
        """Yield what nobody gave to a memory: a value, a tag, a status; and a memory that nobody vouches for."""
        mine = [o for o in self.everywhere if o.memory == answer.key]
        name = f"{answer.key} ({answer.id})"
        if not answer.vouched:
            yield f"moves: nobody vouches for {name}"
        for kind, value in [*answer.values.items(), *((TAG, tag) for tag in answer.tags)]:
            if value not in [DEFAULT_IMPORTANCE, *(o.value for o in mine if o.kind in (kind, PROPOSAL))]:
                yield f"names: {name} has the {kind} {value!r}, which nobody gave it"
        if answer.path.startswith("archive/"):
            return  # git moves an entry there, too, that one branch put into a file that the other branch archived
        if answer.status != ACTIVE and answer.status not in [STATUS_AFTER.get(o.kind) for o in mine]:
            yield f"status: {name} is {answer.status}, and nobody decided that"
