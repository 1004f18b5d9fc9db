"""The words that reveal a contradiction between sentences, as data for each human language."""

from __future__ import annotations

from ...model.record import record
from ...text.language import language, language_code, word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


@record
class Cues:
    """The words of one language, in lower case without apostrophes."""

    negations: frozenset[str] = frozenset()  # they negate the words after them, or the sentence
    rejecting: frozenset[str] = frozenset()  # verbs whose object is no longer used
    leaving: frozenset[str] = frozenset()  # verbs after which the object of a `source` is no longer used
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
