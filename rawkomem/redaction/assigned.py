"""Finds secrets by the key or place before them: `password = …`, `"apiKey": "…"`, `--token …`, `Authorization: …`."""

from __future__ import annotations

from .keynames import PROVIDERS, kind_of, names_password, tells
from .looks_secret import (
    NO_VALUES,
    is_chosen,
    is_code,
    is_keylike,
    is_placeholder,
    is_random,
    is_short_key,
    is_spoken,
    is_strong,
    letter_runs,
)
from .patterns import compiled, occurring
from .places import GROUPED, HEADER, HEADS, URL, WORDS
from .words import KEY_PATTERN, PASSWORD_PATTERN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Hit = tuple[int, int, str]  # start, end, name of the rule

MAX_KEY_LENGTH = 48  # characters of a key before its telling word (password, token, key, …)
BADGE_REACH_CHARS = 24  # characters from "badge" to the token in a badge's address
MIN_PASSWORD_LENGTH = 4  # `root` is a password; shorter values are flags
LITERAL_OPERATORS = (":", "->", "-->")  # in notes and headers; names of variables come after other operators
MIN_BARE_TOKEN_LENGTH = 16  # characters after the word token alone: shorter ones are names such as `cl100k_base`
BETWEEN = ",;:)]}+"  # a value that starts with one of these is the text between two strings
BRACKETS = ((b")", b"("), (b"]", b"["), (b"}", b"{"))
QUOTES = ("'", '"', "`")
SYMBOLS = "!@#$%^&*?+~"  # in a quoted secret: names and sentences have none
UNQUOTED_ENDS = b" \t\r\n\"'`<,;"
MAX_VALUE_LENGTH = 4_096  # characters of a value that is judged as a whole: a longer one is a document
MAX_QUOTED_LENGTH = 16_384  # characters: a longer quoted text is not a value
JUDGED_LENGTH = 80  # characters of a value that are judged: a longer value is equally random at its start
TRAILING = b".,;:)]}*_\\\xff"  # punctuation after an unquoted value, and words of another script

MIN_PROVIDER_KEY_LENGTH = 14  # characters of a value whose key only names a provider

PAIRED = (b"id/", b"user/", b"username/", b"login/", b"account/")  # before `password`: user and password together
BETWEEN_WORDS = frozenset((b"and", b"or", b"&", b"with", b"+", b"/"))  # between the words user and password: prose
MESSAGE_WORDS = frozenset(
    "your the must enter please password invalid incorrect required should cannot not".split()  # noqa: SIM905
)

SPACED_KEY = rf"(?:api|access|secret|private|license|auth|account|encryption|signing) key|{KEY_PATTERN}"
WORD = (
    rf"passw(?:or)?d|passphrase|{PASSWORD_PATTERN}|pwd|pass|pw|psk|secrete?|token|key|credential|creds|auth|pat|login"
)
OPERATOR = (
    r"[:?.!]{0,3}={1,3}>?|:|,|\(|-{1,2}>|>\s*|\s\|{1,2}\s"  # assignments, comparisons, arguments, XML
    r"|\s(?:is|was|ist|lautet|est|es|jest|var|oli|on|er|\xe8|\xe9|\xe4r)(?: now)?[ :]"  # prose
    r"|\s+value[\"']?\s*[:=]|,\s*\"value\":"  # name and value side by side
)

# Group 1: the telling word; 2: the rest of the key; 3: the operator. The value follows.
ASSIGNMENT = (
    rf"(?i)({SPACED_KEY}|{WORD}|{'|'.join(sorted(PROVIDERS))})([\w.-]{{0,40}})"
    r"(?:\[\w*\])?[\\\"'`)*\]]{0,4}(?: string\b)?[ \t]{0,20}"
    rf"({OPERATOR})(?:\*{{1,3}}|_{{1,2}})?[ \t]{{0,20}}[*\\]{{0,2}}[^\s<,;]"
)


def find_assigned(data: bytes) -> Iterator[Hit]:
    """Yield every secret that its key or its place reveals."""
    seen = occurring(WORDS, data.lower())
    yield from _assignments(data, compiled(ASSIGNMENT, False), compiled(ASSIGNMENT))
    for test, groups, pattern in GROUPED:
        if not any(seen.isdisjoint(group) for group in groups):
            yield from _in_place(data, test, compiled(pattern))
    if not seen.isdisjoint(HEADS):
        for found in compiled(HEADER).finditer(data):
            scheme, value = (found.group(1) or found.group(2)).lower(), _text(data, *found.span(3))
            if _header_fits(scheme, value[:JUDGED_LENGTH], found.group(1) is not None or scheme == b"bearer"):
                yield *found.span(3), "authorization"
    if "://" in seen:
        for found in compiled(URL).finditer(data):
            if not is_placeholder(_text(data, *found.span(1))):
                yield *found.span(1), "url-password"


def _in_place(data: bytes, test: str, pattern: Any) -> Iterator[Hit]:
    pair = test.startswith("pair")
    for found in pattern.finditer(data):
        start, end = found.span(2 if pair else 1)
        end = end if _text(data, start - 1, start) in QUOTES and start else _trim(data, start, end)
        value = _text(data, start, min(end, start + JUDGED_LENGTH))
        if _fits(value, test) and not (pair and found.group(1).lower() in BETWEEN_WORDS):
            yield start, end, "password"


def _assignments(data: bytes, quick: Any, pattern: Any) -> Iterator[Hit]:
    """Yield assigned secrets. `quick` finds a match; `pattern`, the same but slower, reads the groups of this match."""
    at = 0
    while spot := quick.search(data, at):
        found = pattern.match(data, *spot.span())
        key = _key_start(data, found.start(1))
        kind = "" if _harmless(data, key) else kind_of(_text(data, key, found.end(2)))
        if not kind:
            at = max(found.start(3), found.start() + 1)
            continue
        operator = _text(data, *found.span(3)).strip()
        start, quoted = _opening(data, found.end() - 1)
        judged = _closing(data, start, quoted, min(len(data), start + JUDGED_LENGTH))
        tight = found.end(2) == found.start(3) and found.end(3) == found.end() - 1
        rule = _verdict(data, kind, (key, found.end(2)), operator, (start, judged), quoted, tight)
        end = _closing(data, start, quoted, len(data)) if rule else 0
        if rule and (operator != ">" or _closes_element(data, key, end)):
            yield start, end, rule
        at = max(end, found.start(3), found.start() + 1)


def _opening(data: bytes, at: int) -> tuple[int, str]:
    """Return the start of a value, and the quote before it, if any."""
    quote = _text(data, at, at + 1)
    return (at + 1, quote) if quote in QUOTES else (at, "")


def _closing(data: bytes, start: int, quote: str, limit: int) -> int:
    """Return the end of a value: its quote, the end of the line, or a character that cannot belong to it."""
    if quote:
        for mark in (
            quote.encode(),
            b"\n",
        ):  # search the line break only up to the quote: each byte is read at most twice
            found = data.find(mark, start, min(limit, start + MAX_QUOTED_LENGTH))
            limit = found if found >= 0 else limit
        return _cut(data, start, limit)
    end = start
    while end < limit and data[end] not in UNQUOTED_ENDS:
        end += 1
    return _trim(data, start, end)


def _closes_element(data: bytes, key: int, end: int) -> bool:
    """Return whether a value is the text of the XML element that the key names."""
    return data[key - 1 : key] == b"<" and data[end : end + MAX_KEY_LENGTH].lstrip().startswith(b"</")


def _text(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("latin-1")


def _key_start(data: bytes, start: int) -> int:
    """Return the start of the key whose telling word starts here."""
    first = start
    while first > max(0, start - MAX_KEY_LENGTH) and (data[first - 1 : first].isalnum() or data[first - 1] in b"_-."):
        first -= 1
    return first


def _cut(data: bytes, start: int, end: int) -> int:
    """Return the end of a value before an escaped quote or line break, as in JSON within JSON."""
    for escape in (b'\\"', b"\\n", b"\\r"):
        spot = data.find(escape, start, end)
        end = spot if spot > start else end
    return end


def _trim(data: bytes, start: int, end: int) -> int:
    """Return the end of an unquoted value without trailing punctuation, URL parameters or escaped line breaks."""
    end = _cut(data, start, end)
    spot = data.find(b"&", start, end)
    if spot > start and data.find(b"=", spot, end) > 0:
        end = spot
    surplus = {
        closing: data.count(closing, start, end) - data.count(opening, start, end) for closing, opening in BRACKETS
    }
    while end > start and data[end - 1] in TRAILING:
        last = data[end - 1 : end]
        if surplus.get(last, 1) <= 0:  # the value opens this bracket itself
            break
        if last in surplus:
            surplus[last] -= 1
        end -= 1
    return end


# --- the value ----------------------------------------------------------------------------------------------------


def _verdict(
    data: bytes, kind: str, name: tuple[int, int], operator: str, span: tuple[int, int], quoted: str, tight: bool
) -> str:
    """Return the rule that an assignment matches; empty if it holds no secret. `tight`: no blanks at the operator."""
    key, value = _text(data, *name), _text(data, *span)
    inner = value[: value.replace(":", "=").find("=") + 1]
    if inner and not quoted and kind_of(inner):
        return ""  # another assignment, which is judged next
    if not _plausible(key, value) or (not quoted and is_code(value)):
        return ""
    if kind == "provider" and not quoted and "=" in value[:-2]:
        return ""  # the value contains an assignment
    argument = operator in (",", "(")
    if argument and quoted in ("", "`"):  # `a`, `b`: a list of code spans
        return ""
    literal = not argument and (quoted != "" or not _is_name(data, name[0], span[1], value, operator, tight))
    if kind == "password" and not argument:
        taken = is_strong(value) or is_random(value) or (quoted != "" and _quoted_password(value))
        taken = taken or (literal and key.lower() != "pass" and is_chosen(value))
        taken = taken or (tight and operator == "=" and _is_environment(key, value))
    elif kind in ("password", "secret"):
        taken = is_random(value) or is_strong(value) or (quoted != "" and any(c in value[1:] for c in SYMBOLS))
        taken = taken or (literal and (is_keylike(value) or is_short_key(value)))
    else:
        taken = is_random(value) and operator != "(" and (kind == "token" or len(value) >= MIN_PROVIDER_KEY_LENGTH)
        taken = taken or (kind == "token" and operator in ("=", ":") and _says_secret(value, quoted))
        taken = taken or (kind == "token" and literal and (is_keylike(value) or _is_short_key(key, value)))
    return ("password" if kind == "password" else "secret") if taken else ""


def _is_name(data: bytes, at: int, end: int, value: str, operator: str, tight: bool) -> bool:
    """Tell whether an unquoted value is a variable's name: an argument, or a name that says that it holds a secret."""
    following = data[end : end + 1]
    if following in (b")", b",", b";") and (data[at - 1 : at] == b"(" or data[at - 2 : at] == b", "):
        return True
    if operator in LITERAL_OPERATORS or (tight and following not in (b")", b",", b";")):
        return False
    return value.isidentifier() and tells(value)


def _is_environment(key: str, value: str) -> bool:
    """Tell whether `KEY=value` sets a shell variable to a plain word, which is then not a variable's name."""
    return key.isupper() and names_password(key) and value.isalnum() and not tells(value)


def rule_of_value(key: str, value: str, plain: bool = True) -> str:
    """Return the rule that a whole value matches because of its key; empty if it holds no secret.

    With `plain`, words without digits count as a password, too.
    """
    kind = kind_of(key)
    if not kind or len(value) > MAX_VALUE_LENGTH or not _plausible(key, value):
        return ""
    if kind == "password":
        said = plain and names_password(key) and not any(c.isdigit() for c in value) and _quoted_password(value)
        said = said and not NO_VALUES.intersection(value.split())
        taken = said or is_strong(value) or is_random(value) or is_chosen(value)
    elif kind == "secret":
        taken = is_random(value) or is_strong(value) or is_keylike(value) or is_short_key(value)
    else:
        said = _says_secret(value, '"') or is_keylike(value) or _is_short_key(key, value)
        taken = is_random(value) or (kind == "token" and said)
    return ("password" if kind == "password" else "secret") if taken else ""


def _is_short_key(key: str, value: str) -> bool:
    """Tell whether a name that ends in `key` has a short key; after other names it may be a model or a version."""
    return key.lower().endswith("key") and is_short_key(value)


def _harmless(data: bytes, at: int) -> bool:
    """Tell whether the key here is part of a path (`/etc/passwd`), or the token of a badge, which is public."""
    before = data[max(0, at - 10) : at].lower()
    return (before.endswith(b"/") and not before.endswith(PAIRED)) or b"badge" in data[
        max(0, at - BADGE_REACH_CHARS) : at
    ]


def _plausible(key: str, value: str) -> bool:
    plain = value.strip().lower()
    if len(plain) < MIN_PASSWORD_LENGTH or plain[0] in BETWEEN or plain in NO_VALUES:
        return False
    return not _echoes(key, plain) and not is_placeholder(value)


def _echoes(key: str, value: str) -> bool:
    """Return whether a value only repeats its key: `challengePassword: "challenge_password"`."""
    name, said = ("".join(c for c in text.lower() if c.isalnum()) for text in (key, value))
    return (len(said) >= MIN_PASSWORD_LENGTH and said in name) or (len(letter_runs(key)) > 1 and name in said)


def _says_secret(value: str, quoted: str) -> bool:
    """Tell whether a value contains the word secret. Unquoted snake_case is a variable's name."""
    letters = value.replace("-", "") if quoted else value
    return len(value) >= MIN_PROVIDER_KEY_LENGTH and "secret" in value.lower() and letters.isalnum()


def _quoted_password(value: str) -> bool:
    """Tell whether quoted words are a password: messages start with a capital or use MESSAGE_WORDS."""
    if " " not in value:
        return value[0] != "."
    words = value.split()
    plain = value == value.lower() and "".join(words).isalpha()
    return plain and not MESSAGE_WORDS.intersection(words)


def _fits(value: str, test: str) -> bool:
    """Tell whether a value passes the test of its place."""
    if len(value) < MIN_PASSWORD_LENGTH or is_placeholder(value) or (test != "sure" and value.lower() in NO_VALUES):
        return False
    if test in TESTS:
        return any(looks(value) for looks in TESTS[test])
    return True


# The tests of `places`; "any", "pair" and "sure" accept every value that is not a placeholder.
TESTS = {
    "strong": (is_strong, is_random),
    "chosen": (is_strong, is_random, is_chosen),
    "login": (is_strong, is_random, is_chosen),
    "pair-strong": (is_strong, is_random, is_chosen),
    "shell": (is_random, is_keylike, is_chosen),
    "spoken": (is_spoken,),
    "spoken-key": (is_keylike,),
}


def _header_fits(scheme: bytes, value: str, told: bool) -> bool:
    """Tell whether a value after a scheme is a secret; `told`: `Authorization:` or `Bearer` comes before it."""
    if is_placeholder(value) or value.lower() in NO_VALUES:
        return False
    if scheme == b"basic":
        return _is_user_and_password(value) or is_random(value)
    if not told and len(value) < MIN_BARE_TOKEN_LENGTH:
        return False
    return is_random(value) or (is_strong(value) and len(value) >= 12) or (told and is_keylike(value))


def _is_user_and_password(value: str) -> bool:
    from base64 import b64decode

    try:
        plain = b64decode(value + "=" * (-len(value) % 4))
    except ValueError:
        return False
    return b":" in plain and plain.isascii()
