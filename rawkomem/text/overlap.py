"""Natural-language conditions: do enough of a condition's specific words occur in a task?"""

from __future__ import annotations

from .stem import STOP_WORDS, stem, words

STARTERS = frozenset(
    ("when", "whenever", "if", "while", "before", "after", "once", "during", "upon", "where", "in case")
)
LANGUAGE_WORDS = 3  # this many words without metacharacters read as a sentence, fewer as a phrase
LIMITS = (" unless ", " except ", " but not ", " not for ", " not when ")  # what follows says when NOT to use it

# Words any task may hold: alone they say nothing about its subject. Kept as words; compared as stems.
GENERIC = """
add adding allow also answer app application approach area ask assist available based basic begin best better build
call case certain change check code come common consider content context create current data day deal decide detail
develop different easy ensure example existing explain feature file find first fix follow general gave give given good
handle happen help implement important improve include information interest involve issue item keep know last learn
list long look lot made main make manage mention modify month name new next number old open part people person place
possible problem process project proper provide put question read recommend relate request require result right run
said say see select set show similar simple solve specific start step stop suggest support system take talk task tell
text thank thing think time today tool touch try turn type understand update use user various week word work write
written wrong wrote year
"""

# Short forms people write for the same word, as stems.
SHORT_FORMS = {
    "admin": "administr", "async": "asynchron", "auth": "authent", "authn": "authent", "config": "configur",
    "db": "databas", "dep": "depend", "dir": "directori", "doc": "document", "env": "environ", "js": "javascript",
    "k8": "kubernet", "lib": "librari", "msg": "messag", "param": "paramet", "perf": "perform", "pkg": "packag",
    "py": "python", "repo": "repositori", "ts": "typescript",
}  # fmt: skip

# Their stems, written out: a cold command would spend a fifth of a start on stemming them (a test compares).
STEMS = """
ad add allow also answer app applic approach area ask assist avail base basic begin best better build call case
certain chang check code come common consid content context creat current dai data deal decid detail develop differ
easi ensur exampl exist explain featur file find first fix follow gave gener give given good handl happen help
implement import improv includ inform interest involv issu item keep know last learn list long look lot made main make
manag mention modifi month name new next number old open part peopl person place possibl problem process project
proper provid put question read recommend relat request requir result right run sai said see select set show similar
simpl solv specif start step stop suggest support system take talk task tell text thank thing think time todai tool
touch try turn type understand updat us user variou week word work write written wrong wrote year
"""
GENERIC_STEMS = frozenset(STEMS.split())


def is_language(text: str) -> bool:
    """Whether a text without metacharacters reads as a sentence or clause rather than phrases to look for."""
    parts = text.split()
    return _opens(text) or (len(parts) >= LANGUAGE_WORDS and "|" not in text)


def clauses(text: str) -> tuple[tuple[str, ...], ...]:
    """The specific stems of each alternative of a condition.

    After "when" and its like, "or" separates alternatives, and commas do beside it. In other sentences it does not:
    they describe rather than ask, and taking them apart halved the precision.
    """
    lower = f" {text.lower()} "
    for limit in LIMITS:
        lower = lower.partition(limit)[0] or lower
    if _opens(text):
        lower = lower.replace("|", " or ")
        lower = lower.replace(",", " or ") if " or " in lower else lower
        parts = lower.split(" or ")
    else:
        parts = [lower]
    found = (tuple(dict.fromkeys(specific(part))) for part in parts)
    return tuple(stems for stems in found if stems)


def specific(text: str) -> list[str]:
    """The stems of the words that say what a text is about."""
    found = (root_of(word) for word in words(text) if word not in STOP_WORDS and (len(word) > 1 or not word.isascii()))
    return [root for root in found if not _is_generic(root)]


def subject(text: str) -> str:
    """A text without the words that any text holds: function words, generic ones, those of one or two letters."""
    kept = (word for word in words(text) if word not in STOP_WORDS and (len(word) > 2 or not word.isascii()))
    return " ".join(word for word in kept if not _is_generic(root_of(word)))


def _is_generic(root: str) -> bool:
    return root in GENERIC_STEMS


def root_of(word: str) -> str:
    """A word's stem, the same for its usual short form."""
    root = stem(word)
    return SHORT_FORMS.get(root, root)


def named(text: str, stems: frozenset[str]) -> str:
    """The words of a text that have one of these stems, as they are written."""
    return ", ".join(dict.fromkeys(word for word in words(text) if root_of(word) in stems))


def enough(stems: int) -> int:
    """How many of a clause's specific words a task must hold.

    One of one; two of two or three; half of more. Over two sets of requests, asking for one of two or three fired
    wrongly five to ten times as often for twice the hits, and what words miss, embeddings find later.
    """
    return stems if stems < 3 else max(2, (stems + 1) // 2)


def body(text: str) -> str:
    """A condition in lower case without its "when", for tasks that quote it."""
    lower = text.lower().rstrip(".?!")
    return lower.partition(" ")[2].strip() if _opens(text) else lower


def _opens(text: str) -> bool:
    first, _, rest = text.partition(" ")
    return rest != "" and first.lower().strip(",:") in STARTERS
