"""Find memories whose sentences contradict each other: another value, a negation, or another choice.

Statements are compared as sets of words, so the time is linear in the number of words. The rules prefer to miss a
contradiction over a false alarm: without the same title or the same condition, all other words must be the same.
"""

from __future__ import annotations

from ...model.kinds import ACTIVE, GROUPS, KEPT_BOTH, RECORDED
from ...model.record import record
from ...text.language import language
from ..facets import IMPORTED
from .contrary import known_cues
from .sentences import REJECTED, SCOPE, root, sentences, statement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ...model.entry import Memory
    from .sentences import Statement

MAX_BODY_CHARS = 2_000  # of a body that are read: a rule is at its beginning
MAX_STATEMENTS = 24  # per memory
MAX_GROUP = 20  # memories with a common key that are compared with each other
MAX_PAIRS = 3_000  # pairs of memories that are compared; takes a quarter of a second
MAX_CHOICE_WORDS = 3  # a choice of more words is a description
MIN_SHARED = 0.75  # share of common words that two sentences under one title must have
OPPOSITE = "opposite"
TITLE, CONDITION = "title", "condition"  # what two memories have in common


@record
class Prose:
    """The statements of a memory, prepared for comparison."""

    id: str
    title: frozenset[str]
    conditions: frozenset[str]
    heading: tuple[Statement, ...]  # the title as a statement, unless it only names a subject
    statements: tuple[Statement, ...]
    named: frozenset[tuple[str, str]]  # things that numbers in the title identify: sprint 12 and sprint 13 differ
    settled: frozenset[str]  # ids of contradicting memories that are kept, too


@record
class Disagreement:
    """Two sentences of two memories that contradict each other."""

    one: str
    other: str


@record
class Contradiction:
    """Two memories in use that contradict each other."""

    newer: Memory
    older: Memory
    said: Disagreement  # `one` is the newer memory's sentence


def contradictions(memories: Iterable[Memory]) -> list[Contradiction]:
    """Return the contradictions between memories, sorted by the id of the newer memory."""
    by_id = {memory.id: memory for memory in memories if speaks(memory)}
    prose = {id: prose_of(memory) for id, memory in by_id.items()}
    found = []
    for pair in _candidates(prose.values()):
        newer, older = sorted((by_id[id] for id in pair), key=lambda memory: (-memory.worded, memory.id))
        said = disagreement(prose[newer.id], prose[older.id])
        if said:
            found.append(Contradiction(newer, older, said))
    return sorted(found, key=lambda one: (one.newer.id, one.older.id))


def speaks(memory: Memory) -> bool:
    """Return whether a memory's prose is compared. Claims are not, because they have their own rules."""
    return memory.status == ACTIVE and memory.kind not in (*GROUPS, *RECORDED) and "claim" not in memory.extra


def _candidates(said: Iterable[Prose]) -> set[tuple[str, str]]:
    """Return pairs of memories that may contradict each other: they share a key and differ in a fact."""
    groups: dict[object, dict[str, object]] = {}
    for one in said:
        for key, fact in _keys(one):
            groups.setdefault(key, {})[one.id] = fact
    pairs: set[tuple[str, str]] = set()
    for group in groups.values():
        if len(group) > 1 and len(pairs) < MAX_PAIRS:
            pairs.update(_differing(sorted(group)[:MAX_GROUP], group))
    return pairs


def _differing(ids: list[str], facts: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for place, id in enumerate(ids):
        yield from ((id, other) for other in ids[place + 1 :] if facts[id] != facts[other])


def _keys(one: Prose) -> Iterator[tuple[object, object]]:
    """Yield (key, fact) pairs. Two memories with the same key and different facts may contradict each other."""
    if one.title:
        yield (TITLE, one.title), one.id
    yield from (((CONDITION, condition), one.id) for condition in one.conditions)
    for said in one.heading + one.statements:
        if len(said.subject) > 1:
            yield said.subject, (said.is_negative, said.numbers)
        if said.opposites:
            yield (OPPOSITE, said.subject - {*map(root, said.opposites)}), said.opposites
        if said.chosen and len(said.scope) > 1:
            yield (SCOPE, said.scope), said.chosen
        for about in said.scope:
            yield from (((REJECTED, word, about), True) for word in said.rejected)
            yield from (((REJECTED, word, about), False) for word in said.chosen)


def prose_of(memory: Memory) -> Prose:
    """Return the statements of a memory."""
    words = known_cues()
    title_says = statement(_heading(memory), words)
    named = title_says.named if title_says else frozenset()
    heading = (title_says,) if title_says and len(title_says.subject) > 1 else ()
    found = (statement(sentence, words) for sentence in sentences(memory.body[:MAX_BODY_CHARS]))
    statements = tuple(one for one in found if one)[:MAX_STATEMENTS]
    title = frozenset(language().stems(memory.title))
    conditions = frozenset(" ".join(condition.lower().split()) for condition in memory.when)
    settled = frozenset(id for type, id in memory.links if type == KEPT_BOTH)
    return Prose(memory.id, title, conditions, heading, statements, named, settled)


def _heading(memory: Memory) -> str:
    """Return a memory's title without the prefix of an import: "Worker: Limits" does not choose limits."""
    section = str(memory.extra.get(IMPORTED, "")).partition("#")[2].rpartition(" / ")[2]
    return section if section and memory.title.endswith(f": {section}") else memory.title


def disagreement(one: Prose, other: Prose) -> Disagreement | None:
    """Return two contradicting sentences of two memories, or None."""
    if one.id in other.settled or other.id in one.settled or _are_others(one.named, other.named):
        return None
    tie = TITLE if one.title and one.title == other.title else CONDITION if one.conditions & other.conditions else ""
    opposite = known_cues().cues.opposites
    ours, others = (said.statements if tie == TITLE else said.heading + said.statements for said in (one, other))
    is_list = max(_free_choices(ours), _free_choices(others)) > 1
    for mine in ours:
        for theirs in others:
            if is_list and _is_free_choice(mine) and _is_free_choice(theirs):
                continue
            may = tie == TITLE or not mine.subject.isdisjoint(theirs.subject)
            if may and _contradicts(mine, theirs, tie, opposite):
                return Disagreement(mine.text, theirs.text)
    return None


def overrules(one: Prose, other: Prose) -> bool:
    """Return whether the first memory contradicts the second, or rejects its choice."""
    if disagreement(one, other):
        return True
    ours, others = one.heading + one.statements, other.heading + other.statements
    return any(
        mine.rejected & theirs.chosen and (not mine.scope or mine.scope & theirs.scope)
        for mine in ours
        for theirs in others
    )


def _is_free_choice(said: Statement) -> bool:
    """Return whether a statement only makes a choice and names no purpose: "Use ruff"."""
    return bool(said.chosen) and not (said.scope or said.rejected)


def _free_choices(statements: Iterable[Statement]) -> int:
    return len({said.chosen for said in statements if _is_free_choice(said)})


def _are_others(one: frozenset[tuple[str, str]], other: frozenset[tuple[str, str]]) -> bool:
    """Return whether numbers identify two things of one kind, like sprint 12 and sprint 13."""
    return one != other and not {kind for kind, _ in one}.isdisjoint(kind for kind, _ in other)


def _contradicts(one: Statement, other: Statement, tie: str, opposite: Iterable[tuple[str, str]]) -> bool:
    if _are_others(one.named, other.named):
        return False
    if one.rejected & other.chosen or other.rejected & one.chosen:
        return _rejects(one, other, tie) or _rejects(other, one, tie)
    if one.is_negative != other.is_negative:
        return _denies(one, other, tie) if one.is_negative else _denies(other, one, tie)
    if one.is_limited != other.is_limited:
        return False
    if one.numbers - other.numbers and other.numbers - one.numbers:
        return len(one.numbers) == len(other.numbers) and _is_same(one.subject, other.subject, tie, 3)
    if one.numbers != other.numbers:
        return False
    return _chooses_otherwise(one, other, tie) or _is_opposite(one, other, tie, opposite)


def _rejects(one: Statement, other: Statement, tie: str) -> bool:
    """Return whether `one` rejects the choice of `other`, for the same purpose."""
    if not one.rejected & other.chosen or one.rejected & other.rejected or one.is_limited or other.is_limited:
        return False
    if not (one.rejected <= other.chosen or other.chosen <= one.rejected):
        return False
    verbs = known_cues().placing
    ours, theirs = one.scope - verbs, other.scope - verbs
    return not ours.isdisjoint(theirs) or (bool(tie) and not (ours and theirs))


def _denies(negative: Statement, other: Statement, tie: str) -> bool:
    """Return whether `negative` denies what `other` states."""
    if negative.chosen or other.rejected or negative.is_limited != other.is_limited:
        return False
    return negative.numbers == other.numbers and _is_same(negative.subject, other.subject, tie, 2)


def _chooses_otherwise(one: Statement, other: Statement, tie: str) -> bool:
    if one.rejected or other.rejected or one.chosen <= other.chosen or other.chosen <= one.chosen:
        return False
    if max(len(one.chosen), len(other.chosen)) > MAX_CHOICE_WORDS:
        return False
    if tie == TITLE and not (one.scope or other.scope):
        return True
    if one.scope & other.chosen or other.scope & one.chosen:
        return False
    return _is_same(one.scope, other.scope, tie, 2)


def _is_opposite(one: Statement, other: Statement, tie: str, opposite: Iterable[tuple[str, str]]) -> bool:
    if not one.opposites or not other.opposites or one.opposites & other.opposites:
        return False
    for left, right in opposite:
        if {left, right} <= one.opposites | other.opposites and not {left, right} <= one.opposites:
            gone = frozenset((root(left), root(right)))
            return _is_same(one.subject - gone, other.subject - gone, tie, 2)
    return False


def _is_same(one: frozenset[str], other: frozenset[str], tie: str, least: int) -> bool:
    """Return whether two subjects are the same: with a tie, most stems are equal; else all, and at least `least`."""
    if not tie:
        return len(one) >= least and one == other
    if one - other and other - one:  # "the web service", "the mail service"
        return False
    return bool(one) and len(one & other) >= MIN_SHARED * len(one | other)
