"""Finds memories that contradict each other in plain sentences: another value, a negation, one instead of another.

Two statements are compared as sets, so that the time is linear in the words. It is better to miss a contradiction than
to raise a false alarm: without the same title or the same condition, all other words must be the same.
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

MAX_BODY_CHARS = 2_000  # of a body that are looked at: a rule stands in its beginning
MAX_STATEMENTS = 24  # of a memory
MAX_GROUP = 20  # memories with something in common that are compared with each other
MAX_PAIRS = 3_000  # pairs of memories that are compared, a quarter of a second
MAX_CHOICE_WORDS = 3  # of a value: more is a description
MIN_SHARED = 0.75  # share of the other words that two sentences under one title must have in common
OPPOSITE = "opposite"
TITLE, CONDITION = "title", "condition"  # what two memories have in common


@record
class Prose:
    """What a memory says, ready to be compared with others."""

    id: str
    title: frozenset[str]
    conditions: frozenset[str]
    heading: tuple[Statement, ...]  # the title as a statement, unless it only names a subject
    statements: tuple[Statement, ...]
    named: frozenset[tuple[str, str]]  # what a number in the title names: of a series each member stands for itself
    settled: frozenset[str]  # memories of which somebody said that both hold


@record
class Disagreement:
    """Two sentences of two memories that contradict each other."""

    one: str
    other: str


@record
class Contradiction:
    """Two memories in use of which the newer contradicts the older."""

    newer: Memory
    older: Memory
    said: Disagreement  # by the newer, by the older


def contradictions(memories: Iterable[Memory]) -> list[Contradiction]:
    """Return the memories that contradict each other, by the id of the newer one."""
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
    """Return whether a memory says something in prose that others may contradict: claims have rules of their own."""
    return memory.status == ACTIVE and memory.kind not in (*GROUPS, *RECORDED) and "claim" not in memory.extra


def _candidates(said: Iterable[Prose]) -> set[tuple[str, str]]:
    """Return pairs of memories that may contradict each other: they have something in common, and differ in a fact."""
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
    """Yield (what a memory has in common with those that it may contradict, the fact in which they differ)."""
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
    """Return what a memory says."""
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
    """Return the title of a memory without what an import put before it: in "Worker: Limits", no limit is chosen."""
    section = str(memory.extra.get(IMPORTED, "")).partition("#")[2].rpartition(" / ")[2]
    return section if section and memory.title.endswith(f": {section}") else memory.title


def disagreement(one: Prose, other: Prose) -> Disagreement | None:
    """Return two sentences by which two memories contradict each other; None where they do not."""
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
    """Return whether somebody who says the first does not want the second: it contradicts it, or rejects its choice."""
    if disagreement(one, other):
        return True
    ours, others = one.heading + one.statements, other.heading + other.statements
    return any(
        mine.rejected & theirs.chosen and (not mine.scope or mine.scope & theirs.scope)
        for mine in ours
        for theirs in others
    )


def _is_free_choice(said: Statement) -> bool:
    """Return whether a statement only chooses something, for no purpose that it names: "Use ruff"."""
    return bool(said.chosen) and not (said.scope or said.rejected)


def _free_choices(statements: Iterable[Statement]) -> int:
    return len({said.chosen for said in statements if _is_free_choice(said)})


def _are_others(one: frozenset[tuple[str, str]], other: frozenset[tuple[str, str]]) -> bool:
    """Return whether numbers name two things of one kind, like sprint 12 and sprint 13."""
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
    """Return whether a statement rejects what the other one chooses, for the same purpose."""
    if not one.rejected & other.chosen or one.rejected & other.rejected or one.is_limited or other.is_limited:
        return False
    if not (one.rejected <= other.chosen or other.chosen <= one.rejected):
        return False
    verbs = known_cues().placing
    ours, theirs = one.scope - verbs, other.scope - verbs
    return not ours.isdisjoint(theirs) or (bool(tie) and not (ours and theirs))


def _denies(negative: Statement, other: Statement, tie: str) -> bool:
    """Return whether a statement says of something that it is not so, and the other one that it is."""
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
    """Return whether two statements speak about the same: with a tie most stems must be shared, else all of several."""
    if not tie:
        return len(one) >= least and one == other
    if one - other and other - one:  # "the web service", "the mail service"
        return False
    return bool(one) and len(one & other) >= MIN_SHARED * len(one | other)
