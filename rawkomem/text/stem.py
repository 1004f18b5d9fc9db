"""Words of a text, English function words, and Porter's stemmer as SQLite's FTS5 applies it."""

from __future__ import annotations

# Function words carry no subject: they never make a condition fire. Odd ones are what is left of "don't" and "we'll".
STOP_WORDS = frozenset(
    """
    a about above after again against all also although always am an and any anyone anything are around as at
    be because been before being below between both but by can cannot could d did do does doing don done down during
    each either else etc even ever every few for from further get gets getting go goes going got
    had has have having he hence her here hers herself him himself his how however
    i if in instead into is isn it its itself just kind let like ll m many may me might mine more most much must
    my myself need needed needs neither never no nor not nothing now of off often on once one only onto or other others
    our ours ourselves out over own per please quite rather re really s same shall she should since so some someone
    something sometimes still such t than that the their theirs them themselves then there these they this those though
    through thus to together too under unless until up upon us usually ve very via want wants was way we well were
    what when whenever where whether which while who whom whose why will with within without would
    yes yet you your yours yourself
    """.split()  # noqa: SIM905 - a list of two hundred quoted words reads worse
)

LONGEST = 64  # FTS5 passes longer tokens through: they are hashes or base64, not words
KNOWN_STEMS = 20_000  # the vocabulary of a large repository; the cache is emptied beyond it, so memory stays bounded

# Longer endings first: the first one found decides, even where the rest of the word is too short to change.
STEP_2 = (
    ("ational", "ate"), ("ization", "ize"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"),
    ("tional", "tion"), ("biliti", "ble"),
    ("entli", "ent"), ("ousli", "ous"), ("ation", "ate"), ("alism", "al"), ("aliti", "al"), ("iviti", "ive"),
    ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("logi", "log"), ("alli", "al"), ("ator", "ate"),
    ("bli", "ble"), ("eli", "e"),
)  # fmt: skip
STEP_3 = (("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ness", ""), ("ful", ""))
STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment",
    "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion", "al", "er", "ic", "ou",
)  # fmt: skip


class _Letters(dict[int, str]):
    """A translation table that learns: letters, digits and the marks on them stay, all else becomes a space."""

    def __missing__(self, code: int) -> str:
        from unicodedata import category

        character = chr(code)
        kept = character if character.isalnum() or category(character)[0] == "M" else " "
        self[code] = kept
        return kept


_letters = _Letters()
_stems: dict[str, str] = {}


def words(text: str) -> list[str]:
    """The lower-case words of a text, in order: runs of letters and digits of any script."""
    text = text.lower()
    if not text.isascii():
        from unicodedata import normalize

        text = normalize("NFC", text)
    return text.translate(_letters).split()


def stem(word: str) -> str:
    """The Porter stem of a lower-case word; words of other scripts and very short or long ones stay as they are."""
    known = _stems.get(word)
    if known is None:
        if len(_stems) >= KNOWN_STEMS:
            _stems.clear()
        known = _stems[word] = _porter(word) if 2 < len(word) <= LONGEST and word.isascii() else word
    return known


def _porter(word: str) -> str:
    word = _step_1c(_step_1b(_step_1a(word)))
    word = _replace(word, STEP_2)
    word = _replace(word, STEP_3)
    return _step_5(_step_4(word))


def _step_1a(word: str) -> str:
    if not word.endswith("s"):
        return word
    if word.endswith(("sses", "ies")) and len(word) > 3:
        return word[:-2]
    return word if word.endswith("ss") else word[:-1]


def _step_1b(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return _mend(rest) if _has_vowel(rest) else word
    return word


def _mend(word: str) -> str:
    """What -ed and -ing took away: fil(ing) → file, hopp(ing) → hop."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeioulsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _short_end(word) else word


def _step_1c(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and _has_vowel(word[:-1]) else word


def _replace(word: str, table: tuple[tuple[str, str], ...]) -> str:
    for ending, instead in table:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + instead if _measure(rest) > 0 else word
    return word


def _step_4(word: str) -> str:
    for ending in STEP_4:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            fits = _measure(rest) > 1 and (ending != "ion" or rest.endswith(("s", "t")))
            return rest if fits else word
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _short_end(rest)):
            word = rest
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word


def _shape(word: str) -> str:
    """One letter per letter: v for a vowel, c for a consonant. A y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """How often a consonant follows a vowel: Porter's m."""
    return _shape(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _short_end(word: str) -> bool:
    """Consonant, vowel, consonant other than w, x and y at the end: hop, not snow."""
    return len(word) > 2 and word[-1] not in "wxy" and _shape(word).endswith("cvc")
