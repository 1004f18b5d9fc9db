"""Tells whether a value looks like a secret, by the value alone: randomness, placeholders, words and code."""

from __future__ import annotations

MIN_STRONG_LENGTH = 6  # shorter ones cannot be told from abbreviations
MIN_RANDOM_LENGTH = 10  # shorter ones cannot be told from names
MIN_ENTROPY_BITS = 2.8  # bits a character: 16 random hex digits have about 3.4, `aaaaaaaaaa1111111111` has 1
MIN_DIGIT_ENTROPY_BITS = 2.2  # a random number of 16 digits has about 2.9
LONG_NAME_LETTERS = 20  # letters: an attribute with a longer name is made of words
LONG_NUMBER_DIGITS = 14  # digits: times in milliseconds have 13
MIN_WORDY_SHARE = 0.55  # share of common letter pairs: English has about .85, random letters .25
MIN_WORD_LETTERS = 4  # letters in a row before they can be a word
PLACEHOLDER_SHARE = 0.6  # of one and the same filler character
FILLERS = "xX*#.0-_ "

# The commonest letter pairs of English: enough to tell `getMasterUserPassword` from `qgsnaioxokrw`.
PAIRS = frozenset(
    """
    th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ne
    ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so rs un lo wa
    ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev ld ry mp
    fe bl ab gh ty op wo sa ay ex ke fr oo av ag if ap gr od bo sp rd do uc bu ei ov by rm ep tt oc fa ef cu rn sc gi da
    yo cr cl du ga qu ue ff ba ey ls va um pp up lu go ht ru ug ds pi rc rr eg au ck ew mu br bi pt ak pu ui rg ib ki rk
    """.split()  # noqa: SIM905 - a list of two hundred quoted pairs reads worse
)

TEMPLATES = (  # how a value that is filled in later begins
    "some-", "${", "{{", "<%", "$(", "%(", "#{", "@{", "%{", "<", "&lt;", "[", "(", "{", "#", "\\", "...", "/", "~/",
)  # fmt: skip
TEMPLATE_PARTS = ("[REDACTED_", "%s", "…", "********", "://", "process.env", "os.environ", "secrets.", "ENV[")
FILLED_IN = (
    "example", "placeholder", "changeme", "change_me", "change-me", "your", "insert", "redacted", "dummy", "fake",
    "todo", "replace", "not-set", "not_set", "notset", "password_here", "key_here", "token_here", "my-token",
    "sample", "jbswy3dpehpk3pxp",  # the last is the one-time password seed of every tutorial
)  # fmt: skip
# Words that stand where a value would: types, states, prose, and what the key is called itself.
NO_VALUES = frozenset(
    """
    none null nil true false undefined required optional string str text bytes int integer number boolean bool any
    object varchar char void self this default unknown empty is are was and or not for to the a an of in on with
    from see use set get has have must should can will field fields input value values type name label param
    parameter argument password passwd passwords pass pwd secret secrets token tokens key keys auth credentials
    username user login email basic bearer digest oauth oauth2 disabled enabled hidden prompt ask env file vault
    stdin
    """.split()  # noqa: SIM905 - as above
)


def entropy(value: str) -> float:
    """Return the bits a character, from the value's own character counts."""
    from math import log2

    total = len(value)
    return -sum(n / total * log2(n / total) for n in map(value.count, set(value))) if total else 0.0


def is_placeholder(value: str) -> bool:
    """Return whether a value is a template, a blank to fill in, or one character over and over."""
    lower = value.lower()
    if any(word in lower for word in FILLED_IN) or lower.startswith(TEMPLATES) or _variable(value):
        return True
    return any(part in value for part in TEMPLATE_PARTS) or is_filler(value)


def is_filler(value: str) -> bool:
    """Return whether most of a value is one filler character, as in `xxxxxxxx`."""
    return any(value.count(c) >= max(4, PLACEHOLDER_SHARE * len(value)) for c in FILLERS) or "EXAMPLE" in value


def _variable(value: str) -> bool:
    """Tell whether a value holds `$NAME`, `%NAME%` or `${NAME}`."""
    if (value.startswith("$") and value[1:2].isalpha()) or (value.startswith("%") and value.endswith("%")):
        return True
    for opening, closing in (("${", "}"), ("{{", "}}"), ("#{", "}")):
        inner, closed, _ = value.partition(opening)[2].partition(closing)
        if closed and all(c.isalnum() or c in "_.- " for c in inner):
            return True
    return False


def letter_runs(value: str) -> list[str]:
    """Return the runs of letters in a value, in lower case, cut also where camelCase starts a new word."""
    runs, before = [""], ""
    for c in value:
        if not c.isalpha() or (c.isupper() and before.islower()):
            runs.append("")
        if c.isalpha():
            runs[-1] += c.lower()
        before = c
    return [run for run in runs if run]


def is_wordy(value: str) -> bool:
    """Return whether a value reads as words: most of it stands in runs of letters that look like English."""
    covered = 0
    for run in letter_runs(value):
        pairs = [run[at : at + 2] in PAIRS for at in range(len(run) - 1)]
        if len(run) >= MIN_WORD_LETTERS and sum(pairs) >= MIN_WORDY_SHARE * len(pairs):
            covered += len(run)
    return covered >= 0.5 * len(value.replace("_", "").replace("-", "").replace(".", ""))


def is_uuid(value: str) -> bool:
    """Return whether a value holds a UUID."""
    groups = value.split("-")
    sizes = [len(group) for group in groups][-5:]
    return sizes == [8, 4, 4, 4, 12] and all(c in "0123456789abcdefABCDEF-" for c in value[-36:])


def is_random(value: str) -> bool:
    """Return whether a value looks like the output of a key generator: long, varied, and not made of words."""
    if is_uuid(value):
        return True
    if len(value) < MIN_RANDOM_LENGTH or " " in value or is_wordy(value):
        return False
    digits = sum(c.isdigit() for c in value)
    if digits == len(value):
        return digits >= LONG_NUMBER_DIGITS and entropy(value) >= MIN_DIGIT_ENTROPY_BITS
    if entropy(value) < MIN_ENTROPY_BITS:
        return False
    if digits:
        return _mixes(value) >= 2
    return len(value) >= 16 or any(not c.isalnum() and c not in "._-/" for c in value)


def _mixes(value: str) -> int:
    """Return how often letters and digits change places: versions and dates do it rarely."""
    kinds = "".join("d" if c.isdigit() else "l" for c in value if c.isalnum())
    return kinds.count("dl") + kinds.count("ld") + (len(value) >= 20)


def is_strong(value: str) -> bool:
    """Tell whether a shorter value looks like a chosen password: letters with digits or symbols, no name or path."""
    letters = sum(c.isalpha() for c in value)
    digits = sum(c.isdigit() for c in value)
    symbols = sum(not c.isalnum() and c not in "._-/:,()[]" for c in value)
    cases = value.lower() != value and value.upper() != value
    if len(value) < MIN_STRONG_LENGTH or not letters or " " in value:
        return False
    return (digits > 0 and (symbols > 0 or not is_wordy(value))) or (symbols > 0 and cases)


def is_code(value: str) -> bool:
    """Return whether an unquoted value is an expression or a name rather than a literal."""
    name = 0
    while name < len(value) and (value[name].isalnum() or value[name] in "_.$"):
        name += 1
    if value[name : name + 1] in ("(", "[") or any(mark in value for mark in ("->", "::", "=>", "==", "()")):
        return True
    parts = value.rstrip(";,").split(".")
    named = (part.isidentifier() and (len(part) <= LONG_NAME_LETTERS or is_wordy(part)) for part in parts)
    return len(parts) > 1 and all(named)
