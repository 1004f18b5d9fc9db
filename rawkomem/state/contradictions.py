"""Find memories whose sentences contradict each other: another value, a negation, or another choice.

The rules prefer to miss a contradiction over a false alarm: without the same title or the same
condition, all other words must be the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..model.entries import Memory
from ..model.values import ACTIVE, GROUPS, KEPT_BOTH, RECORDED, record
from ..text.chunks import fence_after
from ..text.language import language, language_cache, language_code, word_set
from .facets import IMPORTED

# The words that reveal a contradiction between sentences, as data for each human language.


@record
class Cues:
    """The words of one language, in lower case without apostrophes."""

    negations: frozenset[str] = frozenset()  # they negate the words after them, or the sentence
    rejecting: frozenset[str] = frozenset()  # verbs whose object is no longer used
    leaving: frozenset[str] = (
        frozenset()
    )  # verbs after which the object of a `source` is no longer used
    sources: frozenset[str] = frozenset()  # prepositions such as "from" in "moved from"
    instead: tuple[tuple[str, str], ...] = ()  # pairs of words; the object after them is not used
    over: frozenset[str] = frozenset()  # as `instead`, after a choosing verb: "prefer X over Y"
    ended: frozenset[str] = frozenset()  # participles; the words before them are no longer used
    choosing: frozenset[str] = frozenset()  # verbs whose object is a choice
    placing: frozenset[str] = frozenset()  # verbs whose choice follows a preposition: "stored in"
    copulas: frozenset[str] = frozenset()  # a choice follows if the subject is in `slots`
    slots: frozenset[str] = frozenset()  # nouns that have one value at a time
    prepositions: frozenset[str] = frozenset()
    bounds: frozenset[str] = frozenset()  # words that end an object, besides prepositions
    reasons: frozenset[str] = frozenset()  # words after which a sentence only gives a reason
    conditions: frozenset[str] = frozenset()  # words that limit a sentence to certain cases
    adding: frozenset[str] = frozenset()  # words in sentences that allow other choices, too
    auxiliary: frozenset[str] = frozenset()  # words that do not describe the subject
    opposites: tuple[tuple[str, str], ...] = ()
    numerals: tuple[str, ...] = ()  # words for 1, 2, 3 …
    numbered: frozenset[str] = frozenset()  # nouns that a number identifies: "issue 12"
    units: frozenset[str] = frozenset()  # units; a number before one is a value


ROLES = (
    "over", "negations", "ended", "rejecting", "leaving", "choosing", "copulas", "prepositions", "bounds",
    "conditions", "adding", "placing", "auxiliary",
)  # fmt: skip


@record
class Known:
    """The cues of a language, prepared for lookup."""

    cues: Cues
    roles: Mapping[str, str]  # word → its field of Cues; if it is in several, the first in ROLES
    opposed: frozenset[str]  # words that have an opposite
    placing: frozenset[str]  # stems of the verbs of placing


ENGLISH = Cues(
    negations=word_set(
        "no not never none without cannot cant dont doesnt didnt isnt arent wasnt wont shouldnt mustnt wouldnt nor"
    ),
    rejecting=word_set(
        """
        abandon abandoned avoid avoiding ban banned banning deprecate deprecated deprecates discontinue discontinued
        drop dropped dropping forbid forbidden forbids prohibit prohibited remove removed removing replace replaced
        replaces replacing retire retired retiring skip stop stopped superseded supersedes
        """
    ),
    leaving=word_set(
        """
        migrate migrated migrating migration move moved moving switch switched switching change changed changing
        """
    ),
    sources=word_set("from off"),
    instead=(("instead", "of"), ("rather", "than"), ("place", "of"), ("away", "from")),
    over=word_set("over"),
    ended=word_set(
        """
        abandoned banned dead decommissioned deprecated disallowed discontinued dropped forbidden gone obsolete
        off-limits prohibited removed retired superseded
        """
    ),
    choosing=word_set(
        """
        adopt adopted adopts choose chose chosen favor favour pick picked prefer preferred prefers require requires rely
        use used uses using want wants
        """
    ),
    placing=word_set(
        """
        build built builds deploy deployed deploying deploys go goes host hosted hosts kept keep keeps live lives log
        logged logs publish published run running runs save saved send sends sent ship shipped ships store stored stores
        write written handled done managed based lint linted formatted hashed encrypted encoded signed served
        """
    ),
    copulas=word_set("is are be equals was were defaults default"),
    slots=word_set(
        """
        account address baseline branch broker budget cadence charset cloud cluster codename color colour convention
        currency database day deadline default driver encoding endpoint engine environment format framework
        frequency host hostname indent indentation interval key language layout length level library license licence
        limit linter locale lead maximum maintainer minimum mode name orchestrator owner palette password path platform
        policy port prefix protocol provider queue quota rate region registry retention runtime schedule schema size
        standard style suffix target theme threshold timeout timezone tool ttl url username value version vendor width
        window zone
        """
    ),
    prepositions=word_set(
        "across against around as at between by for from in inside into of on onto per through to under via with within"
    ),
    bounds=word_set("all and but each every or so then also any anymore instead rather than is are was were be"),
    reasons=word_set("because since otherwise"),
    conditions=word_set("if when unless except while until once only where whenever during outside besides"),
    adding=word_set("also too additionally either both besides optionally can may might could sometimes often"),
    auxiliary=word_set(
        """
        always anymore any have has had longer must need needs now only please rule should shall team strictly the
        there today we will would everyone everybody nobody ever more decided agreed currently still want wants allowed
        permitted
        """
    ),
    opposites=(
        ("enable", "disable"), ("enabled", "disabled"), ("on", "off"), ("before", "after"),
        ("required", "optional"), ("mandatory", "optional"), ("lowercase", "uppercase"),
        ("public", "private"), ("true", "false"), ("sync", "async"), ("synchronous", "asynchronous"),
        ("tabs", "spaces"), ("squash", "rebase"), ("always", "never"), ("manual", "automatic"),
        ("manually", "automatically"), ("ascending", "descending"), ("singular", "plural"), ("light", "dark"),
        ("safe", "unsafe"), ("mutable", "immutable"), ("internal", "external"), ("left", "right"), ("first", "last"),
        ("include", "exclude"), ("accept", "reject"), ("increase", "decrease"), ("strict", "lenient"),
        ("camelcase", "snakecase"), ("commit", "gitignore"), ("open", "closed"),
    ),
    numerals=("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    numbered=word_set(
        """
        adr appendix bug case chapter code commit error figure http issue item line page part phase pr question request
        rfc round rule section spec sprint status step table task ticket version-tag week
        """
    ),
    units=word_set(
        """
        approval approvals attempts bits bytes cents characters chars columns connections copies cores days dollars
        euros gb gib hours instances items kb kib lines mb members mib milliseconds minutes months ms nodes pages
        people percent pixels points processes px replicas requests retries reviewers rows seconds sec spaces tb
        threads time times tokens users weeks words workers years
        """
    ),
)  # fmt: skip
CUES = {"en": ENGLISH}
_known: dict[str, Known] = {}


def known_cues() -> Known:
    """Return the cues of the current language; empty for a language without cues, so that only numbers are compared."""
    code = language_code()
    if code not in _known:
        cues = CUES.get(code, Cues())
        roles = {word: role for role in reversed(ROLES) for word in getattr(cues, role)}
        opposed = frozenset(word for pair in cues.opposites for word in pair)
        placing = frozenset(language().roots(list(cues.placing)))
        _known[code] = Known(cues, roles | {":": "copulas"}, opposed, placing)
    return _known[code]


# Parse sentences into Statements: what they choose and reject, their numbers, and their subject.

MAX_SENTENCE_WORDS = 30  # a longer sentence says several things
MAX_ROOTS = 20_000  # cached stems
EDGES = ".,;:!?()[]{}\"'`*_“”‘’<>"
BREAK = ","  # separates clauses
BULLETS = "-*+>•0123456789.) \t"
SPLITS = ("; ", ". ", "! ", "? ", " — ", " – ", " -- ", "。")
CODE_SIGNS = (" = ", "==", "->", "()", '"""', "</")  # a sentence with one of these is code
SCOPE, CHOSEN, REJECTED = "scope", "chosen", "rejected"  # the role of a word in a sentence


@record
class Statement:
    """A sentence, parsed into stems."""

    text: str
    scope: frozenset[str]  # the subject without the chosen and rejected values
    chosen: frozenset[str]
    rejected: frozenset[str]
    numbers: frozenset[str]
    opposites: frozenset[str]  # words that have an opposite
    is_negative: bool
    is_limited: bool  # valid only in certain cases
    named: frozenset[
        tuple[str, str]
    ]  # things that a number or a date identifies, such as ("sprint", "12"); not values
    subject: frozenset[str]  # all its stems


def statement_sentences(body: str) -> Iterator[str]:
    """Yield the sentences of a body, without code, headings and tables; a list item starts a new sentence."""
    fence = ""
    lines: list[str] = []
    for line in [*body.split("\n"), ""]:
        before, fence = fence, fence_after(fence, line)
        text = line.strip()
        is_item = text[:2] in ("- ", "* ", "+ ") or (
            text[:1].isdigit() and text.lstrip("0123456789")[:2] in (". ", ") ")
        )
        if lines and (not text or is_item or before or fence or text[0] in "#|"):
            yield from _split_sentences(" ".join(lines))
            lines = []
        if text and not before and not fence and text[0] not in "#|":
            lines.append(text.lstrip(BULLETS) if is_item else text)


def _split_sentences(text: str) -> Iterator[str]:
    for end in SPLITS:
        text = text.replace(end, "\n")
    return (part.strip() for part in text.split("\n") if part.strip())


def _sentence_words(sentence: str) -> list[str]:
    """Return the words of a sentence in lower case, with a BREAK between clauses."""
    found: list[str] = []
    for raw in (
        sentence.lower().replace("'", "").replace("’", "").replace("any more", "anymore").split()
    ):
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


def read_statement(sentence: str, given: Known) -> Statement | None:
    """Return the statement of a sentence; None for code and for a sentence that is too long."""
    words = _sentence_words(sentence) if not any(sign in sentence for sign in CODE_SIGNS) else []
    if not 0 < len(words) <= MAX_SENTENCE_WORDS:
        return None
    reader = _StatementReader(given)
    for place, word in enumerate(words):
        if word in given.cues.reasons:
            break
        reader.read(word, words[place + 1] if place + 1 < len(words) else "")
    return reader.statement(sentence)


class _StatementReader:
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
        self.fresh = False  # the last word was a negation: "not on Fridays"
        self.before = ""  # the word before, if it is a content word
        self.named: set[tuple[str, str]] = set()
        self.equated = False  # the last word was a copula: "is 30"

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
            if word in self.opposed and (
                not following or self.roles.get(following) == "prepositions"
            ):  # "is on in"
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
        """Mark the words before a participle, or after a verb, as rejected; a negated rejection rejects nothing."""
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
            if self.denied:  # "never send names to X": X is rejected, the names are the subject
                self.words[SCOPE] += [word for word in self.words[REJECTED] if word in self.clause]
                self.words[REJECTED] = [
                    word for word in self.words[REJECTED] if word not in self.clause
                ]
            self.mode = REJECTED if self.denied else CHOSEN
            self.placed = False
        elif not self.fresh:
            self.mode = SCOPE

    def _bound(self, word: str) -> None:
        if not (word in ("and", "or") and self.mode == REJECTED):
            self.mode = SCOPE

    def _is_name(self, word: str, before: str, following: str) -> bool:
        """Return whether a number identifies a thing ("note 3") and is not an amount or a version."""
        if before in self.cues.numbered or _is_date(word):
            return True
        if not before or before in self.cues.slots or self.mode != SCOPE or not word[0].isalnum():
            return False
        counts = following in self.cues.units or (
            _ends_in_s(before) and _ends_in_s(following)
        )  # "holds 500 files"
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
            self.named.add(("" if _is_date(word) else root(before), number))
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
        """Return the statement of the words read so far."""
        stems = {mode: frozenset(map(root, words)) for mode, words in self.words.items()}
        if self.additive:
            stems[SCOPE], stems[CHOSEN] = stems[SCOPE] | stems[CHOSEN], frozenset()
        scope = stems[SCOPE] - stems[CHOSEN] - stems[REJECTED]
        numbers, opposites = frozenset(self.numbers), frozenset(self.opposites)
        negative = self.negative and bool(stems[REJECTED])  # "why, not what" negates nothing
        named = frozenset(self.named)
        facts = (
            scope,
            stems[CHOSEN],
            stems[REJECTED],
            numbers,
            opposites,
            negative,
            self.limited,
            named,
        )
        return Statement(text, *facts, scope | stems[CHOSEN] | stems[REJECTED])


_roots: dict[str, str] = language_cache()


def root(word: str) -> str:
    """Return the stem of a word."""
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
    """Return a number, with its unit if both are one word; empty for any other word."""
    if word in given.numerals:
        return str(given.numerals.index(word) + 1)
    digits = word[1:] if word[0] in "$€£v" else word
    return digits if digits[:1].isdigit() else ""


# Find memories whose sentences contradict each other: another value, a negation, or another
# choice.
#
# Statements are compared as sets of words, so the time is linear in the number of words. The rules
# prefer to miss a contradiction over a false alarm: without the same title or the same condition,
# all other words must be the same.

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
    named: frozenset[
        tuple[str, str]
    ]  # things that numbers in the title identify: sprint 12 and sprint 13 differ
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
    by_id = {memory.id: memory for memory in memories if has_comparable_prose(memory)}
    prose = {id: prose_of(memory) for id, memory in by_id.items()}
    found = []
    for pair in _candidate_pairs(prose.values()):
        newer, older = sorted(
            (by_id[id] for id in pair), key=lambda memory: (-memory.worded, memory.id)
        )
        said = disagreement(prose[newer.id], prose[older.id])
        if said:
            found.append(Contradiction(newer, older, said))
    return sorted(found, key=lambda one: (one.newer.id, one.older.id))


def has_comparable_prose(memory: Memory) -> bool:
    """Return whether a memory's prose is compared. Claims are not, because they have their own rules."""
    return (
        memory.status == ACTIVE
        and memory.kind not in (*GROUPS, *RECORDED)
        and "claim" not in memory.extra
    )


def _candidate_pairs(said: Iterable[Prose]) -> set[tuple[str, str]]:
    """Return pairs of memories that may contradict each other: they share a key and differ in a fact."""
    groups: dict[object, dict[str, object]] = {}
    for one in said:
        for key, fact in _prose_keys(one):
            groups.setdefault(key, {})[one.id] = fact
    pairs: set[tuple[str, str]] = set()
    for group in groups.values():
        if len(group) > 1 and len(pairs) < MAX_PAIRS:
            pairs.update(_differing(sorted(group)[:MAX_GROUP], group))
    return pairs


def _differing(ids: list[str], facts: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for place, id in enumerate(ids):
        yield from ((id, other) for other in ids[place + 1 :] if facts[id] != facts[other])


def _prose_keys(one: Prose) -> Iterator[tuple[object, object]]:
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
    title_says = read_statement(_own_title(memory), words)
    named = title_says.named if title_says else frozenset()
    heading = (title_says,) if title_says and len(title_says.subject) > 1 else ()
    found = (
        read_statement(sentence, words)
        for sentence in statement_sentences(memory.body[:MAX_BODY_CHARS])
    )
    statements = tuple(one for one in found if one)[:MAX_STATEMENTS]
    title = frozenset(language().stems(memory.title))
    conditions = frozenset(" ".join(condition.lower().split()) for condition in memory.when)
    settled = frozenset(id for type, id in memory.links if type == KEPT_BOTH)
    return Prose(memory.id, title, conditions, heading, statements, named, settled)


def _own_title(memory: Memory) -> str:
    """Return a memory's title without the prefix of an import: "Worker: Limits" does not choose limits."""
    section = str(memory.extra.get(IMPORTED, "")).partition("#")[2].rpartition(" / ")[2]
    return section if section and memory.title.endswith(f": {section}") else memory.title


def disagreement(one: Prose, other: Prose) -> Disagreement | None:
    """Return two contradicting sentences of two memories, or None."""
    if one.id in other.settled or other.id in one.settled or _are_others(one.named, other.named):
        return None
    tie = (
        TITLE
        if one.title and one.title == other.title
        else CONDITION
        if one.conditions & other.conditions
        else ""
    )
    opposite = known_cues().cues.opposites
    ours, others = (
        said.statements if tie == TITLE else said.heading + said.statements for said in (one, other)
    )
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


def _contradicts(
    one: Statement, other: Statement, tie: str, opposite: Iterable[tuple[str, str]]
) -> bool:
    if _are_others(one.named, other.named):
        return False
    if one.rejected & other.chosen or other.rejected & one.chosen:
        return _rejects(one, other, tie) or _rejects(other, one, tie)
    if one.is_negative != other.is_negative:
        return _denies(one, other, tie) if one.is_negative else _denies(other, one, tie)
    if one.is_limited != other.is_limited:
        return False
    if one.numbers - other.numbers and other.numbers - one.numbers:
        return len(one.numbers) == len(other.numbers) and _is_same(
            one.subject, other.subject, tie, 3
        )
    if one.numbers != other.numbers:
        return False
    return _chooses_otherwise(one, other, tie) or _is_opposite(one, other, tie, opposite)


def _rejects(one: Statement, other: Statement, tie: str) -> bool:
    """Return whether `one` rejects the choice of `other`, for the same purpose."""
    if (
        not one.rejected & other.chosen
        or one.rejected & other.rejected
        or one.is_limited
        or other.is_limited
    ):
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


def _is_opposite(
    one: Statement, other: Statement, tie: str, opposite: Iterable[tuple[str, str]]
) -> bool:
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
