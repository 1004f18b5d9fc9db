"""Finds memories that contradict each other in plain sentences: another value, a negation, one instead of another.

A sentence becomes a Statement: what it chooses, what it rejects, its numbers, and what else it speaks about. Two
statements are compared as sets, so that the time is linear in the words. It is better to miss a contradiction than to
raise a false alarm: without the same title or the same condition, all other words must be the same.
"""

from __future__ import annotations

from ...model.kinds import ACTIVE, GROUPS, KEPT_BOTH, RECORDED
from ...model.record import record
from ...text.chunk import fence_after
from ...text.language import language, language_cache
from .contrary import known_cues

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ...model.entry import Memory
    from .contrary import Cues, Known

MAX_BODY_CHARS = 2_000  # of a body that are looked at: a rule stands in its beginning
MAX_STATEMENTS = 24  # of a memory
MAX_SENTENCE_WORDS = 30  # of a sentence: a longer one says several things
MAX_GROUP = 20  # memories with something in common that are compared with each other
MAX_PAIRS = 3_000  # pairs of memories that are compared, a quarter of a second
MAX_ROOTS = 20_000  # stems remembered
MAX_CHOICE_WORDS = 3  # of a value: more is a description
MIN_SHARED = 0.75  # share of the other words that two sentences under one title must have in common
EDGES = ".,;:!?()[]{}\"'`*_“”‘’<>"
BREAK = ","  # stands between clauses
BULLETS = "-*+>•0123456789.) \t"
SPLITS = ("; ", ". ", "! ", "? ", " — ", " – ", " -- ", "。")
CODE_SIGNS = (" = ", "==", "->", "()", '"""', "</")  # a sentence with one of these is code
OPPOSITE = "opposite"
TITLE, CONDITION = "title", "condition"  # what two memories have in common
SCOPE, CHOSEN, REJECTED = "scope", "chosen", "rejected"  # where a word of a sentence belongs


@record
class Statement:
    """A sentence, taken apart into stems."""

    text: str
    scope: frozenset[str]  # what it is about, besides the values
    chosen: frozenset[str]
    rejected: frozenset[str]
    numbers: frozenset[str]
    opposites: frozenset[str]  # words that have an opposite
    is_negative: bool
    is_limited: bool  # to certain cases
    named: frozenset[tuple[str, str]]  # things that a number or a date names: ("sprint", "12"); these are no values
    subject: frozenset[str]  # all its stems


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
            yield (OPPOSITE, said.subject - {*map(_root, said.opposites)}), said.opposites
        if said.chosen and len(said.scope) > 1:
            yield (SCOPE, said.scope), said.chosen
        for about in said.scope:
            yield from (((REJECTED, word, about), True) for word in said.rejected)
            yield from (((REJECTED, word, about), False) for word in said.chosen)


def prose_of(memory: Memory) -> Prose:
    """Return what a memory says."""
    words = known_cues()
    title_says = _statement(memory.title, words)
    named = title_says.named if title_says else frozenset()
    heading = (title_says,) if title_says and len(title_says.subject) > 1 else ()
    found = (_statement(sentence, words) for sentence in _sentences(memory.body[:MAX_BODY_CHARS]))
    statements = tuple(statement for statement in found if statement)[:MAX_STATEMENTS]
    title = frozenset(language().stems(memory.title))
    conditions = frozenset(" ".join(condition.lower().split()) for condition in memory.when)
    settled = frozenset(id for type, id in memory.links if type == KEPT_BOTH)
    return Prose(memory.id, title, conditions, heading, statements, named, settled)


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
            gone = frozenset((_root(left), _root(right)))
            return _is_same(one.subject - gone, other.subject - gone, tie, 2)
    return False


def _is_same(one: frozenset[str], other: frozenset[str], tie: str, least: int) -> bool:
    """Return whether two statements speak about the same: with a tie most stems must be shared, else all of several."""
    if not tie:
        return len(one) >= least and one == other
    if one - other and other - one:  # "the web service", "the mail service"
        return False
    return bool(one) and len(one & other) >= MIN_SHARED * len(one | other)


def _sentences(body: str) -> Iterator[str]:
    """Yield the sentences of a body outside code, headings and tables; a list item is a sentence."""
    fence = ""
    lines: list[str] = []
    for line in [*body.split("\n"), ""]:
        before, fence = fence, fence_after(fence, line)
        text = line.strip()
        is_item = text[:2] in ("- ", "* ", "+ ") or (
            text[:1].isdigit() and text.lstrip("0123456789")[:2] in (". ", ") ")
        )
        if lines and (not text or is_item or before or fence or text[0] in "#|"):
            yield from _split(" ".join(lines))
            lines = []
        if text and not before and not fence and text[0] not in "#|":
            lines.append(text.lstrip(BULLETS) if is_item else text)


def _split(text: str) -> Iterator[str]:
    for end in SPLITS:
        text = text.replace(end, "\n")
    return (part.strip() for part in text.split("\n") if part.strip())


def _words(sentence: str) -> list[str]:
    """Return the words of a sentence in lower case, with a BREAK between clauses."""
    found: list[str] = []
    for raw in sentence.lower().replace("'", "").replace("’", "").replace("any more", "anymore").split():
        if raw[0] in "([":
            found.append(BREAK)
        word = raw.strip(EDGES)
        if word:
            found.append(word)
        if raw[-1] == ":" and word:
            found.append(":")
        elif raw[-1] in ",;)]":
            found.append(BREAK)
    return found


def _statement(sentence: str, given: Known) -> Statement | None:
    words = _words(sentence) if not any(sign in sentence for sign in CODE_SIGNS) else []
    if not 0 < len(words) <= MAX_SENTENCE_WORDS:
        return None
    reader = _Reader(given)
    for place, word in enumerate(words):
        if word in given.cues.reasons:
            break
        reader.read(word, words[place + 1] if place + 1 < len(words) else "")
    return reader.statement(sentence)


class _Reader:
    """Reads the words of one sentence."""

    def __init__(self, given: Known):
        self.cues = given.cues
        self.opposed = given.opposed
        self.roles = given.roles
        self.words: dict[str, list[str]] = {SCOPE: [], CHOSEN: [], REJECTED: []}
        self.mode = SCOPE
        self.clause: list[str] = []  # content words of this clause so far
        self.numbers: set[str] = set()
        self.opposites: set[str] = set()
        self.negative = self.limited = self.additive = False
        self.denied = self.placed = self.left = self.chose = self.skip = False
        self.fresh = False  # a negation was the last that was read: "not on Fridays"
        self.before = ""  # the word before, if that is a content word
        self.named: set[tuple[str, str]] = set()
        self.equated = False  # a copula was the last that was read: "is 30"

    def read(self, word: str, following: str) -> None:
        """Read the next word."""
        role = self.roles.get(word, "")
        if self.skip:
            self.skip = False
        elif (word, following) in self.cues.instead:
            self.mode, self.skip = REJECTED, True
        elif self.left and word in self.cues.sources:
            self.mode = REJECTED
        elif self.left and word == "to":
            self.mode, self.left = CHOSEN, False
        elif role == "over" and self.chose:
            self.mode = REJECTED
        elif role == "negations":
            self._deny(following)
        elif role in ("rejecting", "ended"):
            self._reject(role == "ended")
        elif role == "leaving":
            self.left = True
        elif role == "choosing":
            self._choose()
        elif role == "copulas":
            self._equate()
        elif role == "prepositions":
            self._turn()
            if word in self.opposed and (not following or self.roles.get(following) == "prepositions"):  # "is on in"
                self.opposites.add(word)
        elif role == "bounds":
            self._bound(word)
        elif word == BREAK:
            self._end_clause()
        else:
            self._content(word, role, following)
            return
        self.before, self.equated = "", role == "copulas"

    def _end_clause(self) -> None:
        self.mode, self.clause = SCOPE, []
        self.denied = self.placed = self.left = self.fresh = False

    def _deny(self, following: str) -> None:
        self.negative = self.denied = True
        if following in ("longer", "anymore") or not following:
            self._reject_clause()
        self.mode, self.fresh = REJECTED, True

    def _reject(self, ended: bool) -> None:
        """Take the words before a participle, or the words after a verb, as rejected; a denied rejection is none."""
        if self.denied:
            self.negative = self.denied = False
            self.mode = SCOPE
            return
        self.negative = True
        if ended and self.clause:
            self._reject_clause()
        else:
            self.mode, self.denied = REJECTED, True

    def _reject_clause(self) -> None:
        for kept in (SCOPE, CHOSEN):
            self.words[REJECTED] += [word for word in self.words[kept] if word in self.clause]
            self.words[kept] = [word for word in self.words[kept] if word not in self.clause]

    def _choose(self) -> None:
        if self.denied and self.clause:
            self._reject_clause()
        self.mode = REJECTED if self.denied else CHOSEN
        self.chose = True

    def _equate(self) -> None:
        if any(known in self.cues.slots for known in self.clause):
            self.mode, self.chose = CHOSEN, True

    def _turn(self) -> None:
        if self.placed:
            if self.denied:  # "never send names to X": the names are what it is about
                self.words[SCOPE] += [word for word in self.words[REJECTED] if word in self.clause]
                self.words[REJECTED] = [word for word in self.words[REJECTED] if word not in self.clause]
            self.mode = REJECTED if self.denied else CHOSEN
            self.placed = False
        elif not self.fresh:
            self.mode = SCOPE

    def _bound(self, word: str) -> None:
        if not (word in ("and", "or") and self.mode == REJECTED):
            self.mode = SCOPE

    def _is_name(self, word: str, before: str, following: str) -> bool:
        """Return whether a number tells which one of its kind is meant ("note 3"), not how much or which version."""
        if before in self.cues.numbered or _is_date(word):
            return True
        if not before or before in self.cues.slots or self.mode != SCOPE or not word[0].isalnum():
            return False
        counts = following in self.cues.units or (_ends_in_s(before) and _ends_in_s(following))  # "holds 500 files"
        return not counts and word[-1] != "%"

    def _content(self, word: str, role: str, following: str) -> None:
        known = self.cues
        equated, self.equated = self.equated, False
        if word in self.opposed:
            self.opposites.add(word)
        self.limited |= role == "conditions"
        self.additive |= role == "adding"
        number, before = _number(word, known), self.before
        self.before = word
        if number and not equated and self._is_name(word, before, following):
            self.named.add(("" if _is_date(word) else _root(before), number))
        elif number:
            self.numbers.add(number)
        elif role == "placing":
            self.placed = True
            self._keep(SCOPE, word)
        elif role != "auxiliary" and not language().is_stop(word):
            self._keep(self.mode, word)

    def _keep(self, mode: str, word: str) -> None:
        self.words[mode].append(word)
        self.clause.append(word)
        self.fresh = False

    def statement(self, text: str) -> Statement | None:
        """Return what was read; None where nothing in it can contradict anything."""
        stems = {mode: frozenset(map(_root, words)) for mode, words in self.words.items()}
        if self.additive:
            stems[SCOPE], stems[CHOSEN] = stems[SCOPE] | stems[CHOSEN], frozenset()
        scope = stems[SCOPE] - stems[CHOSEN] - stems[REJECTED]
        numbers, opposites = frozenset(self.numbers), frozenset(self.opposites)
        negative = self.negative and bool(stems[REJECTED])  # "why, not what" denies nothing
        named = frozenset(self.named)
        facts = (scope, stems[CHOSEN], stems[REJECTED], numbers, opposites, negative, self.limited, named)
        return Statement(text, *facts, scope | stems[CHOSEN] | stems[REJECTED])


_roots: dict[str, str] = language_cache()


def _root(word: str) -> str:
    if word not in _roots:
        if len(_roots) >= MAX_ROOTS:
            _roots.clear()
        _roots[word] = language().roots([word])[0]
    return _roots[word]


def _ends_in_s(word: str) -> bool:
    return word[-1:] == "s" and word[-2:] != "ss"


def _is_date(word: str) -> bool:
    """Return whether a word is a date or a year."""
    parts = word.replace("/", "-").split("-")
    is_year = len(parts[0]) == 4 and parts[0][:2] in ("19", "20")
    return all(part.isdigit() for part in parts) and (len(parts) == 3 or is_year)


def _number(word: str, given: Cues) -> str:
    """Return a number, with its unit if that is written together; empty for any other word."""
    if word in given.numerals:
        return str(given.numerals.index(word) + 1)
    digits = word[1:] if word[0] in "$€£v" else word
    return digits if digits[:1].isdigit() else ""
