"""Judges a value by itself: whether it looks like a secret, a placeholder, words or code, and whether
it really is a card, an IBAN, a telephone number or an address. The shapes of keys and personal data are in rules.json.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from functools import cache
from itertools import count
from math import log2

from ..model.values import TYPE_CHECKING, record
from ..text.clean import late_regex

if TYPE_CHECKING:
    from typing import Any


Hit = tuple[int, int, str]  # start and end of a secret, and the name of its rule

MAX_SHORT_BYTES = 1_000  # of a text in which each word is searched by itself
MAX_PLAIN_LOOKUPS = (
    16  # together they take less than making the sets, which are much faster
)
MAX_PATTERN_BYTES = 8 << 20  # bytes RE2 may use for one pattern
# RFC-0011 has one tag for values of passwords, secrets and tokens
TAGS = {"password": "secret"}

with open(
    os.path.join(os.path.dirname(__file__), "rules.json"), encoding="utf-8"
) as _file:
    DATA = json.load(_file)

# Lists of words about keys and values, by name.
WORD_SETS = {
    name: frozenset(words.split()) for name, words in DATA["word_sets"].items()
}


@record
class Rule:
    """One kind of secret or personal data."""

    name: str
    literals: tuple[str, ...] = ()
    pattern: str = ""
    pii: bool = False
    check: str = ""

    @property
    def tag(self) -> str:
        """Return the tag that replaces a secret."""
        return f"[REDACTED_{TAGS.get(self.name, self.name).upper().replace('-', '_')}]"


def _rules(table: str, start: str = "", pii: bool = False) -> tuple[Rule, ...]:
    """Return the rules of a table; their patterns begin with `start`."""
    rules = []
    for row in DATA[table]:
        literals = tuple(row["literals"].split())
        rules.append(
            Rule(
                row["name"], literals, start + row["pattern"], pii, row.get("check", "")
            )
        )
    return tuple(rules)


PREFIX_RULES = _rules("prefixed", "{START}")
SHAPE_RULES = _rules("shaped")
PERSONAL_RULES = _rules("personal", pii=True)
# Rules in code, not in a single pattern: see assigned.py and find.py.
CODE_RULES = tuple(
    Rule(name)
    for name in "private-key password secret url-password authorization kubernetes-secret".split()  # noqa: SIM905
)
# A rule is tried only if one of its literals occurs in the text.
ALL_RULES = (*PREFIX_RULES, *SHAPE_RULES, *PERSONAL_RULES, *CODE_RULES)
RULES = {rule.name: rule for rule in ALL_RULES}
LITERALS = tuple(sorted({literal for rule in ALL_RULES for literal in rule.literals}))


@cache
def compiled(pattern: str, groups: bool = True) -> Any:
    """Return a pattern that reads one byte per character; without groups it matches faster."""
    import re2

    for name, part in DATA["parts"].items():
        pattern = pattern.replace(f"{{{name}}}", part)
    options = _re2_options()
    options.never_capture = not groups
    return re2.compile(pattern.encode("latin-1"), options)


_lookups = count()


@cache
def _word_set(words: tuple[str, ...]) -> Any:
    import re2

    options = _re2_options()
    options.literal = True
    searched = re2.Set.SearchSet(options)
    for word in words:
        searched.Add(word)
    searched.Compile()
    return searched


def occurring(words: tuple[str, ...], data: bytes) -> frozenset[str]:
    """Return which of these words occur. The first short texts of a process do not wait for the set of all words."""
    if len(data) <= MAX_SHORT_BYTES and next(_lookups) < MAX_PLAIN_LOOKUPS:
        return frozenset(word for word in words if word.encode() in data)
    return frozenset(words[number] for number in _word_set(words).Match(data) or ())


def _re2_options() -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_PATTERN_BYTES
    options.encoding = re2.Options.Encoding.LATIN1
    return options


VALUES = DATA["values"]  # lists of rules.json
MIN_STRONG_LENGTH = 6  # a shorter value may be an abbreviation
MIN_RANDOM_LENGTH = 10  # a shorter value may be a name
MIN_LETTERS_LENGTH = 16  # of letters alone: a shorter value may be an abbreviation
MIN_MIXED_LENGTH = 12  # of letters alone that often change their case
# bits per character: 16 random hex digits have about 3.4, `aaaaaaaaaa1111111111` has 1
MIN_ENTROPY_BITS = 2.8
MIN_DIGIT_ENTROPY_BITS = 2.2  # a random number of 16 digits has about 2.9
LONG_NAME_LETTERS = 20  # letters: an attribute with a longer name is made of words
LONG_NUMBER_DIGITS = 14  # digits: times in milliseconds have 13
# share of common letter pairs: English has about .85, random letters .25
MIN_WORDY_SHARE = 0.55
MIN_WORD_LETTERS = 4  # letters in a row before they can be a word
PLACEHOLDER_SHARE = 0.6  # share of one filler character
FILLERS = "xX*#.0-_ "

# characters of a key in base64: a shorter value that starts with a slash is a path
MIN_BASE64_LENGTH = 40
MIN_SPOKEN_LENGTH = 8  # of a password after the word password in a sentence
LETTER_RUN = late_regex(r"[^\W\d_]+")
CAMEL_CASE = late_regex("(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])")
LETTER = late_regex(r"[^\W\d_]")
DIGIT = late_regex(r"\d")
SYMBOL = late_regex(r"[^\w./:,()\[\]-]")
UUID = late_regex(r"(?:^|.*-)[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
# `$NAME`, `%NAME%`, `${NAME}`
VARIABLE = late_regex(
    r"\$[^\W\d_]|%.*%$|.*(?:\$\{[\w. -]*\}|\{\{[\w. -]*\}\}|#\{[\w. -]*\})"
)
# An expression: a call, an index, or an operator.
CODE = late_regex(r"[\w.$]*[(\[]|.*(?:->|::|=>|==|\(\))")
# Three letters and a digit, without characters of paths, code and lists.
CHOSEN = late_regex(
    r"(?=\D*\d)(?=(?:[\W\d_]*[^\W\d_]){3})(?![.-])[^/\\(){}\[\]<>=|:,;\"'`]{6,}"
)
# Three letters and two digits.
KEYLIKE = late_regex(r"(?=(?:\D*\d){2})(?=(?:[\W\d_]*[^\W\d_]){3})[\w+/=-]{12,}")
# Four letters and two digits, one of them between letters.
SHORT_KEY = late_regex(
    r"(?=(?:\D*\d){2})(?=(?:\d*\D){4})(?=.*\D\d+\D)[0-9A-Za-z]{8,12}"
)
KEY_PARTS = WORD_SETS["key_parts"]
# Starts of names that look like passwords with digits: algorithms, versions, libraries, steps.
TECHNICAL = tuple(WORD_SETS["technical"])

# The commonest letter pairs of English: enough to tell `getMasterUserPassword` from `qgsnaioxokrw`.
PAIRS = WORD_SETS["pairs"]

TEMPLATES = tuple(VALUES["templates"])  # starts of values that are filled in later
TEMPLATE_PARTS = VALUES["template_parts"]
# the last is the one-time password seed of every tutorial
FILLED_IN = VALUES["filled_in"]
# Words in the place of a value: types, states, prose, and names of keys.
NO_VALUES = WORD_SETS["no_values"]


def entropy(value: str) -> float:
    """Return the entropy in bits per character, from the value's character counts."""
    total = len(value)
    if total:
        return -sum(n / total * log2(n / total) for n in map(value.count, set(value)))
    return 0.0


def is_placeholder(value: str) -> bool:
    """Return whether a value is a template, a blank to fill in, or one character over and over."""
    lower = value.lower()
    if any(word in lower for word in FILLED_IN) or VARIABLE.match(value):
        return True
    if lower.startswith(TEMPLATES) and not (
        value[0] == "/" and len(value) >= MIN_BASE64_LENGTH and is_random(value)
    ):
        # a value that starts with a slash is a path, unless it is long and random (base64)
        return True
    return any(part in value for part in TEMPLATE_PARTS) or is_filler(value)


def is_filler(value: str) -> bool:
    """Return whether most of a value is one filler character, as in `xxxxxxxx`."""
    return (
        any(value.count(c) >= max(4, PLACEHOLDER_SHARE * len(value)) for c in FILLERS)
        or "EXAMPLE" in value
    )


def letter_runs(value: str) -> list[str]:
    """Return the runs of letters in a value, in lower case; camelCase is split, too."""
    return LETTER_RUN.findall(CAMEL_CASE.sub(" ", value).lower())


def is_wordy(value: str) -> bool:
    """Return whether a value is made of words: at least half of it is in runs of letters that look like English."""
    covered = 0
    for run in letter_runs(value):
        pairs = [run[at : at + 2] in PAIRS for at in range(len(run) - 1)]
        if len(run) >= MIN_WORD_LETTERS and sum(pairs) >= MIN_WORDY_SHARE * len(pairs):
            covered += len(run)
    return covered >= 0.5 * len(
        value.replace("_", "").replace("-", "").replace(".", "")
    )


def is_random(value: str) -> bool:
    """Return whether a value looks like the output of a key generator: long, varied, and not made of words."""
    if UUID.match(value):
        return True
    if len(value) < MIN_RANDOM_LENGTH or " " in value or is_wordy(value):
        return False
    digits = _digits(value)
    if digits == len(value):
        return digits >= LONG_NUMBER_DIGITS and entropy(value) >= MIN_DIGIT_ENTROPY_BITS
    if entropy(value) < MIN_ENTROPY_BITS:
        return False
    if digits:
        return _alternations(value) >= 2
    if len(value) >= MIN_LETTERS_LENGTH or any(
        not c.isalnum() and c not in "._-/" for c in value
    ):
        return True
    switches = sum(
        value[at].isupper() != value[at - 1].isupper() for at in range(1, len(value))
    )
    return len(value) >= MIN_MIXED_LENGTH and switches >= len(value) // 3


def _alternations(value: str) -> int:
    """Return how often letters and digits alternate, plus one for a long value; in versions and dates it is rare."""
    kinds = "".join("d" if c.isdigit() else "l" for c in value if c.isalnum())
    return kinds.count("dl") + kinds.count("ld") + (len(value) >= 20)


def is_strong(value: str) -> bool:
    """Return whether a short value looks like a password: letters with digits or symbols, not a name or a path."""
    if len(value) < MIN_STRONG_LENGTH or " " in value or not LETTER.search(value):
        return False
    has_symbol = SYMBOL.search(value) is not None
    if DIGIT.search(value):
        return has_symbol or not is_wordy(value)
    return has_symbol and _has_both_cases(value)


def is_chosen(value: str) -> bool:
    """Return whether a value is like `hunter2` or `blue-horse-42`. Use it only where a password is expected."""
    return CHOSEN.fullmatch(value) is not None and not is_technical(value)


def is_keylike(value: str) -> bool:
    """Return whether a value is like `myKeyValue12345`: words and digits, which are a secret only after a telling key."""
    if not KEYLIKE.fullmatch(value) or is_technical(value):
        return False
    return _has_both_cases(value) or is_random(value)


def is_short_key(value: str) -> bool:
    """Return whether a value is like `zq81kkslw`: letters with digits among them, not a word or a numbered name."""
    fits = SHORT_KEY.fullmatch(value) is not None
    return fits and not is_wordy(value) and not is_technical(value)


def _has_both_cases(value: str) -> bool:
    return value.lower() != value and value.upper() != value


def is_spoken(value: str) -> bool:
    """Return whether a word after the word password in a sentence is a password."""
    symbols = any(c in "!@#$%^&*+~" for c in value[1:])
    return (
        is_chosen(value)
        and (symbols or not value.isupper())
        and (len(value) >= MIN_SPOKEN_LENGTH or symbols)
    )


def is_generated(value: str) -> bool:
    """Return whether `vendor_live_…` ends with a key: a part before is one of KEY_PARTS, and the last is random."""
    *head, tail = value.split("_")
    return (
        not KEY_PARTS.isdisjoint(head) and is_random(tail) and not is_placeholder(value)
    )


def is_technical(value: str) -> bool:
    """Return whether a value names an algorithm, a version, a ticket or a date."""
    lower = value.lower()
    if lower.startswith(TECHNICAL) or lower.replace(".", "").replace("-", "").isdigit():
        return True
    head, dash, tail = value.partition("-")
    return bool(dash) and head.isupper() and tail.isdigit()  # a ticket


def is_code(value: str) -> bool:
    """Return whether an unquoted value is an expression or a name, not a literal."""
    if CODE.match(value):
        return True
    parts = value.rstrip(";,").split(".")
    named = (
        part.isidentifier() and (len(part) <= LONG_NAME_LETTERS or is_wordy(part))
        for part in parts
    )
    return len(parts) > 1 and all(named)


# Checks whether a match that looks like a card, an IBAN, a number or an address really is one.

# Length of an IBAN by country, from the registry; a match of another length is not an IBAN.
IBAN_LENGTHS = {
    code: int(length)
    for length, codes in VALUES["ibans"].items()
    for code in codes.split()
}

# First digits and lengths of payment cards: Amex, Diners, JCB, Visa, Mastercard, Discover, UnionPay, Mir, Maestro.
CARDS = VALUES["cards"]
FILE_ENDINGS = tuple(VALUES["file_endings"])
# `ssh deploy@host` names a machine
LOGINS = ("ssh", "sftp", "rsync", "mosh", "ssh-copy-id")
PHONE_DIGITS = range(8, 16)  # E.164 allows 15; fewer than 8 are extensions or years
SSN = late_regex(
    r"(?!000|666|9|078.?05.?1120|219.?09.?9999|123.?45.?6789)\d{3}([-. ]?)(?!00)\d\d(?:\1|\B)(?!0000)\d{4}"
)
REMOTE_PATH = late_regex(r":[\w/~]")  # after the host of an scp or git address
# shorter keys (JFrog's) may have a run of one letter and be no placeholder
SHORT_KEY_LENGTH = 20
OBJECT_IDS = ("1.3.", "2.5.")  # ISO object identifiers look like addresses
MIN_ADDRESS_OCTET = 30  # four numbers all below this are a version, not an address


def is_card(value: str) -> bool:
    """Return whether digits are a card number: a known issuer, the right length, and Luhn's checksum."""
    digits = "".join(c for c in value if c.isdigit())
    known = any(
        len(digits) in lengths and digits.startswith(tuple(starts.split()))
        for starts, lengths in CARDS
    )
    # add the digits of 14: 1 + 4
    doubled = "".join(str(int(digit) * 2) for digit in digits[-2::-2])
    return known and sum(map(int, digits[-1::-2] + doubled)) % 10 == 0


def iban_in(value: str) -> str:
    """Return the IBAN at the start of a match, with spaces and hyphens; empty if there is none."""
    more = IBAN_LENGTHS.get(value[:2], 0) - 1
    if more > 0:
        match = re.match(rf"\w(?:[ -]*[^\W_]){{{more}}}(?![^\W_])", value)
    else:
        match = None
    if not match:
        return ""
    plain = match[0].replace(" ", "").replace("-", "")
    number = int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4]))
    return match[0] if number % 97 == 1 else ""


def phone_in(value: str) -> str:
    """Return the telephone number at the start of a match: whole groups, with as many digits as a number may have."""
    while _digits(value.partition("x")[0]) >= PHONE_DIGITS.stop:
        value = value[: max(0, *(value.rfind(c) for c in " .-"))]
    return value if _digits(value) in PHONE_DIGITS or "x" in value else ""


def _digits(value: str) -> int:
    return sum(c.isdigit() for c in value)


def _is_email(value: str, before: str, after: str) -> bool:
    local, _, domain = value.rpartition("@")
    if domain.rpartition(".")[2].lower() in FILE_ENDINGS or local.strip(
        "."
    ).lower() in ("", "git"):
        return False
    return not REMOTE_PATH.match(after) and not any(
        f"{word} " in before for word in LOGINS
    )


def _is_public_address(value: str, before: str, after: str) -> bool:
    from ipaddress import ip_address

    if before.rstrip(" =:").lower().endswith(("version", "v", "release")):
        return False
    try:
        address = ip_address(value)
    except ValueError:
        return False
    if value.startswith(OBJECT_IDS):
        return False
    version = address.version == 4 and all(
        int(part) < MIN_ADDRESS_OCTET for part in value.split(".")
    )
    return address.is_global and not address.is_multicast and not version


# The checks of rules.json: whether a value is what its rule looks for.
CHECKS: dict[str, Callable[[str], object]] = {
    "": lambda value: not is_filler(value),
    "any": bool,
    "random": lambda value: is_random(value) and not is_filler(value),
    "generic": is_generated,
    "no-placeholder": lambda value: not is_placeholder(value),
    "digit": lambda value: DIGIT.search(value) and not is_filler(value),
    "short": lambda value: len(value) < SHORT_KEY_LENGTH or not is_filler(value),
    "card": is_card,
    "iban": iban_in,
    "ssn": lambda value: SSN.fullmatch(value),  # noqa: PLW0108 - compiled when it is first used
    "phone": phone_in,
}
# Checks that also read the text before and after the value.
CONTEXT_CHECKS: dict[str, Callable[[str, str, str], bool]] = {
    "email": _is_email,
    "ip": _is_public_address,
}
NUMBER_CHECKS = ("card", "iban", "ssn", "phone")
