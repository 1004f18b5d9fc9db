"""Parse sentences into Statements: what they choose and reject, their numbers, and their subject."""

from __future__ import annotations

from ...model.record import record
from ...text.chunk import fence_after
from ...text.language import language, language_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .contrary import Cues, Known

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
    named: frozenset[tuple[str, str]]  # things that a number or a date identifies, such as ("sprint", "12"); not values
    subject: frozenset[str]  # all its stems


def sentences(body: str) -> Iterator[str]:
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


def statement(sentence: str, given: Known) -> Statement | None:
    """Return the statement of a sentence; None for code and for a sentence that is too long."""
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
                self.words[REJECTED] = [word for word in self.words[REJECTED] if word not in self.clause]
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
        facts = (scope, stems[CHOSEN], stems[REJECTED], numbers, opposites, negative, self.limited, named)
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
