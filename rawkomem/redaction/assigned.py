"""Finds secrets by what they are assigned to: `password = …`, `"apiKey": "…"`, `--token …`, `Authorization: …`."""

from __future__ import annotations

from .keynames import PROVIDERS, kind_of
from .looks_secret import NO_VALUES, is_code, is_placeholder, is_random, is_strong, letter_runs
from .patterns import compiled, occurring

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Hit = tuple[int, int, str]  # start, end, name of the rule

MAX_KEY_LENGTH = 48  # characters before the telling word that still belong to the key
BADGE_REACH_CHARS = 24  # characters from "badge" to the token in a badge's address
MIN_PASSWORD_LENGTH = 4  # `root` is one; shorter values are flags
MIN_CHOSEN_LENGTH = 6  # letters and digits: shorter ones are numbered names
BETWEEN = ",;:)]}+"  # a value that starts so lies between two strings
BRACKETS = {b")": b"(", b"]": b"[", b"}": b"{"}
QUOTES = ("'", '"', "`")
SYMBOLS = "!@#$%^&*?+~"  # in a quoted secret: names and sentences have none
UNQUOTED_ENDS = b" \t\r\n\"'`<,;"
JUDGED_LENGTH = 80  # characters of a value that are looked at: a longer one is as random at its beginning
TRAILING = b".,;:)]}*_\\"  # punctuation after an unquoted value

MIN_PROVIDER_KEY_LENGTH = 14  # characters, where only the provider's name is said

BETWEEN_WORDS = frozenset((b"and", b"or", b"&", b"with", b"+", b"/"))  # between the words user and password: prose
MESSAGE_WORDS = frozenset(
    "your the must enter please password invalid incorrect required should cannot not".split()  # noqa: SIM905
)

SPACED_KEY = "(?:api|access|secret|private|license|auth|account|encryption) key"
WORD = r"passw(?:or)?d|passwort|passphrase|pwd|pass|pw|secrete?|token|key|credential|creds|auth|pat|login"
OPERATOR = (
    r"[:?.!]{0,3}={1,3}>?|:|,|\(|>\s*|\s\|{1,2}\s|\s(?:is|was)[ :]"  # assignments, comparisons, arguments, XML, prose
    r"|\s+value[\"']?\s*[:=]|,\s*\"value\":"  # name and value side by side
)

# Group 1 the telling word, 2 the rest of the key, 3 the operator; the value comes right after.
ASSIGNMENT = (
    rf"(?i)({SPACED_KEY}|{WORD}|{'|'.join(sorted(PROVIDERS))})([\w.-]{{0,40}})"
    r"(?:\[\w*\])?[\\\"'`)*\]]{0,4}(?: string\b)?[ \t]{0,20}"
    rf"({OPERATOR})[ \t]{{0,20}}[*\\]{{0,2}}[^\s<,;]"
)

# Other places for a password: how it is tested, words of which one must occur in some case, and the pattern with the
# value in the last group.
USER = r"(?:user ?id|uid|user_?name|user|login)"
PASSWORD = r"(?:password|passwd|pwd|pass|pw)"
PLACES = (
    ("sure", ";", rf"(?i){USER}\s*=[^;\n]*;[\s\"&+]*{PASSWORD}\s*=\s*([^;\"'\s]+)"),
    ("any", "pass|pw", rf"(?im)^\W{{0,4}}{USER}\s*[:=]\s*\S+[^\n]*\n(?:[ \t]*(?:#|//)[^\n]*\n){{0,3}}"
            rf"\W{{0,4}}{PASSWORD}\s*[:=]\s*(\S+)$"),
    ("any", "machine", r"(?i)machine\s+\S+\s+login\s+\S+\s+password\s+(\S+)"),
    ("pair", "pass|pw", rf"(?i)\b{USER}[ \t]+([^\s:=,]+)[ \t]+{PASSWORD}[ \t]+([^\s:=,|`]+)"),
    ("sure", "pass|pw", rf"(?i)\b{USER}\s+[\"'][^\"'\n]*[\"']\s+{PASSWORD}\s+[\"']([^\"'\n]+)[\"']"),
    ("any", "mysql|mariadb", r"\b(?:mysql\w*|mariadb)\b[^\n]*\s-p['\"]?([^\s'\"]+)"),
    ("any", "redis-cli", r"redis-cli\b[^\n]*\s(?:-a|--pass)\s+['\"]?([^\s'\"]+)"),
    ("any", "securestring", r"(?i)ConvertTo-SecureString\s+(?:-String\s+)?[\"']([^\"'\n]+)[\"']"),
    ("any", "variable \"", r"variable\s+\"\w*(?:password|secret|token)\w*\"\s*\{[^}]*?\bdefault\s*=\s*\"([^\"\n]+)\""),
    ("strong", "cookie:", r"(?i)cookie:[^\n]*?\b(?:session\w*|[\w.]*sid|auth\w*|jwt)=([^\s;,\"']{16,})"),
    ("strong", "passw|passphrase", r"(?i)\b(?:password|passwd|passphrase)(?: is| was)?:? +`([^`\s]+)`"),
    ("random", "token|secret|api key", r"(?i)\b(?:token|secret|api key)(?: is| was)?:? +`([^`\s]{16,})`"),
    ("any", "sshpass|psexec", r"(?i)(?:sshpass\s+-p\s*|psexec[^\n]*\s-p\s+)['\"]?([^\s'\"]+)"),
    ("any", "password", r"(?m)^\s*password\s+[\"']([^\"'\n]+)[\"']"),
    ("any", "==", r"(?i)[\"']([^\"'\n]{4,})[\"']\s*[!=]==?\s*[\w.]*(?:passw|pwd|secret)"),
    ("strong", "-u",
     r"(?:curl|wget|http)[^\n]*(?:\\\s*\n[^\n]*)*\s(?:-u|--user)[ =]+[\"']?[^\s:\"'$]+:[\"']?([^\s\"']+)"),
    ("strong", "--|-pass|-token|-api|-secret|-auth",
     r"(?i)(?:^|\s)--?[\w-]*(?:password|passwd|pass|token|api-?key|secret|auth)[ =]+[\"']?([^\s\"']+)"),
)  # fmt: skip

HEADS = ("bearer", "basic ", "token ", "apikey ", "authorization")
WORDS = tuple(sorted({"://", *HEADS, *(word for _, words, _ in PLACES for word in words.split("|"))}))
MAX_ASSIGNMENTS = 5_000  # judged in one text: a page holds a few, and each takes up to 0.15 ms on hostile ones

# Group 1 or 2 the scheme, 3 the value.
HEADER = (
    r"(?i)(?:authorization[\"']?\s*[:=]\s*[\"']?([a-z][\w-]{1,19}) |\b(bearer|basic|token|api-?token|apikey) )"
    r"\s*([\w.~+/=:-]{8,})"
)
URL = r"[A-Za-z][A-Za-z0-9+.-]*://[^\s:/@\"'`<>]*:([^\s/\"'`<>]+)@[\w\[]"


def find_assigned(data: bytes) -> Iterator[Hit]:
    """Yield every secret that its surroundings give away."""
    seen = occurring(WORDS, data.lower())
    yield from _assignments(data, compiled(ASSIGNMENT, False), compiled(ASSIGNMENT))
    for test, words, pattern in PLACES:
        if not seen.isdisjoint(words.split("|")):
            yield from _in_place(data, test, compiled(pattern))
    if not seen.isdisjoint(HEADS):
        for found in compiled(HEADER).finditer(data):
            if _header_fits((found.group(1) or found.group(2)).lower(), _text(data, *found.span(3))):
                yield *found.span(3), "authorization"
    if "://" in seen:
        for found in compiled(URL).finditer(data):
            if not is_placeholder(_text(data, *found.span(1))):
                yield *found.span(1), "url-password"


def _in_place(data: bytes, test: str, pattern: Any) -> Iterator[Hit]:
    for found in pattern.finditer(data):
        start, end = found.span(2 if test == "pair" else 1)
        end = end if _text(data, start - 1, start) in QUOTES and start else _trim(data, start, end)
        if _fits(_text(data, start, end), test) and (test != "pair" or found.group(1).lower() not in BETWEEN_WORDS):
            yield start, end, "password"


def _assignments(data: bytes, quick: Any, pattern: Any) -> Iterator[Hit]:
    """Yield assigned secrets. `quick` finds a place; `pattern`, the same with groups, is slower and sees only that."""
    at = 0
    for _ in range(MAX_ASSIGNMENTS):
        spot = quick.search(data, at)
        if not spot:
            return
        found = pattern.match(data, *spot.span())
        operator = _text(data, *found.span(3)).strip()
        start, quoted = _opening(data, found.end() - 1)
        judged = _closing(data, start, quoted, min(len(data), start + JUDGED_LENGTH))
        key = _key_start(data, found.start(1))
        kind = _verdict(data, key, _text(data, key, found.end(2)), operator, _text(data, start, judged), quoted)
        end = _closing(data, start, quoted, len(data)) if kind else 0
        if kind and (operator != ">" or _closes_element(data, key, end)):
            yield start, end, kind
        at = max(end, found.start(3), found.start() + 1)


def _opening(data: bytes, at: int) -> tuple[int, str]:
    """Return where a value begins, and the quote it stands in."""
    quote = _text(data, at, at + 1)
    return (at + 1, quote) if quote in QUOTES else (at, "")


def _closing(data: bytes, start: int, quote: str, limit: int) -> int:
    """Return where a value ends: at its quote, the end of the line, or what cannot belong to it."""
    if quote:
        ends = (data.find(mark, start, limit) for mark in (quote.encode(), b"\n"))
        return _cut(data, start, min((end for end in ends if end >= 0), default=limit))
    end = start
    while end < limit and data[end] not in UNQUOTED_ENDS:
        end += 1
    return _trim(data, start, end)


def _closes_element(data: bytes, key: int, end: int) -> bool:
    """Return whether a value between angle brackets is the text of the XML element that the key names."""
    return data[key - 1 : key] == b"<" and data[end : end + MAX_KEY_LENGTH].lstrip().startswith(b"</")


def _text(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("latin-1")


def _key_start(data: bytes, start: int) -> int:
    """Return where the key begins whose telling word begins here."""
    first = start
    while first > max(0, start - MAX_KEY_LENGTH) and (data[first - 1 : first].isalnum() or data[first - 1] in b"_-."):
        first -= 1
    return first


def _cut(data: bytes, start: int, end: int) -> int:
    """Cut a value before an escaped quote or line break: JSON within JSON."""
    for escape in (b'\\"', b"\\n", b"\\r"):
        spot = data.find(escape, start, end)
        end = spot if spot > start else end
    return end


def _trim(data: bytes, start: int, end: int) -> int:
    """Cut an unquoted value before the punctuation after it, the next URL parameter, or an escaped line break."""
    end = _cut(data, start, end)
    spot = data.find(b"&", start, end)
    if spot > start and data.find(b"=", spot, end) > 0:
        end = spot
    while end > start and data[end - 1] in TRAILING and not _balanced(data[start:end]):
        end -= 1
    return end


def _balanced(value: bytes) -> bool:
    """Return whether a value ends with a bracket that it also opens."""
    opening = BRACKETS.get(value[-1:], b"")
    return opening != b"" and value.count(opening) >= value.count(value[-1:])


# --- the value ----------------------------------------------------------------------------------------------------


def _verdict(data: bytes, at: int, key: str, operator: str, value: str, quoted: str) -> str:
    """Return the rule an assignment falls under; empty when it holds no secret."""
    kind = "" if _harmless(data, at) else kind_of(key)
    if not kind or not _plausible(key, value) or (not quoted and is_code(value)):
        return ""
    if kind == "provider" and not quoted and "=" in value[:-2]:
        return ""  # the value holds an assignment of its own
    argument = operator in (",", "(")
    if argument and quoted in ("", "`"):  # `a`, `b`: a list of code spans
        return ""
    if kind == "password" and not argument:
        taken = is_strong(value) or is_random(value) or _is_chosen(value) or (quoted != "" and _quoted_password(value))
    elif kind in ("password", "secret"):
        taken = is_random(value) or is_strong(value) or (quoted != "" and any(c in value[1:] for c in SYMBOLS))
    else:
        taken = is_random(value) and operator != "(" and (kind == "token" or len(value) >= MIN_PROVIDER_KEY_LENGTH)
        taken = taken or (kind == "token" and operator in ("=", ":") and _says_secret(value, quoted))
    return ("password" if kind == "password" else "secret") if taken else ""


def _harmless(data: bytes, at: int) -> bool:
    """Tell whether this is `/etc/passwd`, or the token of a badge, which is public."""
    return data[at - 1 : at] == b"/" or b"badge" in data[max(0, at - BADGE_REACH_CHARS) : at]


def _plausible(key: str, value: str) -> bool:
    plain = value.strip().lower()
    if len(plain) < MIN_PASSWORD_LENGTH or plain[0] in BETWEEN or plain in NO_VALUES:
        return False
    return not _echoes(key, plain) and not is_placeholder(value)


def _echoes(key: str, value: str) -> bool:
    """Return whether a value only repeats its key: `challengePassword: "challenge_password"`."""
    name, said = ("".join(c for c in text.lower() if c.isalnum()) for text in (key, value))
    return (len(said) >= MIN_PASSWORD_LENGTH and said in name) or (len(letter_runs(key)) > 1 and name in said)


def _is_chosen(value: str) -> bool:
    """Tell whether a value is like `hunter2`, as people choose it. Only where a password is being set."""
    word = value.rstrip("0123456789")
    return len(value) >= MIN_CHOSEN_LENGTH and MIN_PASSWORD_LENGTH <= len(word) < len(value) and word.isalpha()


def _says_secret(value: str, quoted: str) -> bool:
    """Tell whether a value calls itself a secret. Unquoted snake_case is the name of a variable."""
    letters = value.replace("-", "") if quoted else value
    return len(value) >= MIN_PROVIDER_KEY_LENGTH and "secret" in value.lower() and letters.isalnum()


def _quoted_password(value: str) -> bool:
    """Tell whether quoted words are a password: messages start with a capital or speak of passwords."""
    if " " not in value:
        return value[0] != "."
    plain = value == value.lower() and value.replace(" ", "").isalpha()
    return plain and not MESSAGE_WORDS.intersection(value.split())


def _fits(value: str, test: str) -> bool:
    if len(value) < MIN_PASSWORD_LENGTH or is_placeholder(value) or (test != "sure" and value.lower() in NO_VALUES):
        return False
    if test == "random":
        return is_random(value)
    return test != "strong" or is_strong(value) or is_random(value)


def _header_fits(scheme: bytes, value: str) -> bool:
    if is_placeholder(value) or value.lower() in NO_VALUES:
        return False
    if scheme == b"basic":
        return _is_user_and_password(value) or is_random(value)
    return is_random(value) or (is_strong(value) and len(value) >= 12)


def _is_user_and_password(value: str) -> bool:
    from base64 import b64decode

    try:
        plain = b64decode(value + "=" * (-len(value) % 4))
    except ValueError:
        return False
    return b":" in plain and plain.isascii()
