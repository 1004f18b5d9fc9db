"""Finds secrets by the key, heading or place before them: `password = …`, `--token …`, `Authorization:
…`, a column of a table; in English and in other languages.

A row of `places` in rules.json has the test of the value (see PLACE_TESTS), words that must occur, in
any case (`a|b&c`: a or b, and c), and the pattern with the value in its last group.
Patterns read one byte per character: a word beyond Latin-1 is replaced with an English word of the
same length, and typographic colons, quotes and blanks with ASCII characters, so that all positions
stay.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from functools import lru_cache

from ..model.values import TYPE_CHECKING
from ..text.clean import late_regex
from .values import (
    DATA,
    NO_VALUES,
    WORD_SETS,
    Hit,
    compiled,
    is_chosen,
    is_code,
    is_keylike,
    is_placeholder,
    is_random,
    is_short_key,
    is_spoken,
    is_strong,
    is_technical,
    letter_runs,
    occurring,
)

if TYPE_CHECKING:
    import re
    from typing import Any

Columns = dict[int, str]

# Words in other languages; `wide` ones have letters beyond Latin-1. Forms that only add an ending are left out.
WORDS = DATA["words"]
NO_PHRASE = frozenset(WORDS["no_phrase"])
COPULAS = "是为為はがの이가는은"  # "is" between a word and its value without a blank
# English words that replace words of other scripts: the longest that is not longer.
STAND_INS = {
    "wide_password": ("password", "passwd", "pwds", "pwd", "pw"),
    "wide_key": ("secret", "token", "auth", "pat", "pw"),
}

ASCII_SIGNS = str.maketrans(
    "：﹕＝→⇒➜\xa0\u202f\u2009\u3000’‘“”„«»「」『』",
    '::=:::    \'\'"""""""""',
)


def _wide_words() -> re.Pattern[str]:
    """Return a pattern of the words with letters beyond Latin-1, in each letter case, and a copula after them."""
    groups = []
    for group in STAND_INS:
        words = WORDS[group]
        forms = {
            form for word in words for form in (word, word.capitalize(), word.upper())
        }
        groups.append(f"(?P<{group}>{'|'.join(sorted(forms, key=len, reverse=True))})")
    return late_regex(f"(?:{'|'.join(groups)})([{COPULAS}]?)")


WIDE_WORDS = _wide_words()


def with_english_words(text: str) -> str:
    """Return the text with words for passwords and keys of other scripts in English; its length stays the same."""
    if text.isascii():
        return text
    return WIDE_WORDS.sub(_in_english, text.translate(ASCII_SIGNS))


def _in_english(word: re.Match[str]) -> str:
    """Return a stand-in of the same length for a word, and a colon for the copula after it."""
    group = "wide_password" if word["wide_password"] else "wide_key"
    length = len(word[group])
    stand_in = next(text for text in STAND_INS[group] if len(text) <= length)
    return stand_in.rjust(length, "_") + (":" if word[3] else "")


# Classifies keys by their names: a password, a secret, a token, a value of a known provider, or
# none of these.

MAX_KNOWN_KEYS = 2_000  # keys whose kind is cached
# Length of a provider's name that may start a longer one; `sumo` starts `sumOfExposures`.
PREFIX_LETTERS = range(6, 13)

PASSWORDS = WORD_SETS["passwords"].union(WORDS["password"])
SECRETS = WORD_SETS["secrets"]
TOKENS = WORD_SETS["tokens"].union(WORDS["key"])
KEY_OWNERS = WORD_SETS["key_owners"]
NO_PASSWORDS = WORD_SETS["no_passwords"]
PUBLIC_KEY_PARTS = WORD_SETS["public_key_parts"]
NOT_THE_SECRET = WORD_SETS["not_the_secret"]
PROVIDERS = WORD_SETS["providers"]


# The kind of a key by one of its words, or by how its last word ends.
PASSWORD_ENDINGS = ("password", "passwd", "pwd")
KEY_KINDS = (
    ("password", PASSWORDS, PASSWORD_ENDINGS),
    ("secret", SECRETS, ("secret", "secretkey", "secretaccesskey")),
    ("token", TOKENS, ("token", "apikey", "accesskey", "privatekey", "authkey")),
)


@lru_cache(MAX_KNOWN_KEYS)  # a text repeats a few keys
def kind_of_key(key: str) -> str:
    """Return the kind of a key: "password", "secret", "token", "provider", or an empty text."""
    parts = letter_runs(key)
    if not parts or PUBLIC_KEY_PARTS.intersection(parts):
        return ""
    if parts[-1] in NOT_THE_SECRET:
        if parts[-2:] == ["access", "id"] and _has_provider(parts):
            return "provider"
        return ""
    for kind, words, endings in KEY_KINDS:
        if not words.isdisjoint(parts) or parts[-1].endswith(endings):
            return kind
    if parts[-1].endswith("pass") and parts[-1] not in NO_PASSWORDS:
        return "secret"
    if "key" in parts:
        owner = parts[parts.index("key") - 1] if parts[0] != "key" else ""
        if owner in KEY_OWNERS or (owner and key.isupper()):
            return "token"
        return "token" if _has_provider(parts) else ""
    return "provider" if _has_provider(parts) else ""


def names_secret(name: str) -> bool:
    """Return whether a name says that it holds a secret: `dbPassword`, `access_token`."""
    return any(
        word in name.lower()
        for word in ("pass", "pwd", "secret", "token", "key", "cred", "auth")
    )


def is_plain_secret(key: str, value: str) -> bool:
    """Return whether a line of a Kubernetes secret holds a password: of words, or with digits or symbols."""
    if is_placeholder(value) or not NOT_THE_SECRET.isdisjoint(letter_runs(key)[-1:]):
        return False
    return is_chosen(value) or is_strong(value) or value.count(" ") > 1


def names_password(key: str) -> bool:
    """Return whether a key names a password itself: `db_password`, not `password_changed`."""
    parts = letter_runs(key)
    return bool(parts) and (
        parts[-1] in PASSWORDS or parts[-1].endswith(PASSWORD_ENDINGS)
    )


def _has_provider(parts: list[str]) -> bool:
    """Return whether one part, or two joined parts, name a provider: `message_bird`, `softlayerapikey`."""
    names = parts + [parts[at] + parts[at + 1] for at in range(len(parts) - 1)]
    return any(
        name in PROVIDERS or any(name[:end] in PROVIDERS for end in PREFIX_LETTERS)
        for name in names
    )


# Places other than assignments, with their words in groups: one word of each group must occur.
PLACES = tuple(
    (row, [group.split("|") for group in row["words"].split("&")])
    for row in DATA["places"]
)
PLACE_WORDS = tuple(
    sorted(
        {"://", *(word for _, groups in PLACES for group in groups for word in group)}
    )
)

# Group 1: the user; 2: the password; 3: a host on the same machine.
URL = r"[A-Za-z][A-Za-z0-9+.-]*://([^\s:/@\"'`<>]*):([^\s/\"'`<>]+)@(?:(localhost|127\.0\.0\.1)\b|[\w\[])"
SAMPLE_PASSWORDS = ("password", "passwd", "pass", "pwd", "yourpassword", "mypassword")


# characters of a key before its telling word (password, token, key, …)
MAX_KEY_LENGTH = 48
KEY_CHARACTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
BADGE_REACH_CHARS = 24  # characters from "badge" to the token in a badge's address
MIN_PASSWORD_LENGTH = 4  # `root` is a password; shorter values are flags
ARGUMENT_OPERATORS = (",", "(")
# in notes and headers; names of variables come after other operators
LITERAL_OPERATORS = (":", "->", "-->")
MIN_STRONG_TOKEN_LENGTH = 12  # of a token in a header that is not random
# a value that starts with one of these is the text between two strings
VALUE_SEPARATORS = ",;:)]}+"
BRACKETS = ((b")", b"("), (b"]", b"["), (b"}", b"{"))
QUOTES = ("'", '"', "`")
SYMBOLS = "!@#$%^&*?+~"  # in a quoted secret: names and sentences have none
UNQUOTED_ENDS = b" \t\r\n\"'`<,;"
# characters of a value that is judged as a whole: a longer one is a document
MAX_VALUE_LENGTH = 4_096
MAX_QUOTED_LENGTH = 16_384  # characters: a longer quoted text is not a value
# characters of a value that are judged: a longer value is equally random at its start
JUDGED_LENGTH = 80
# punctuation after an unquoted value, and words of another script
TRAILING = b".,;:)]}*_\\\xff"

MAX_EXPRESSION_LENGTH = 100  # characters of code before a quoted text
MAX_QUOTED_TEXTS = 4  # of one expression: `env("NAME", default="…")` has two
# an argument that can be a secret: other characters are of formats, patterns and messages
ARGUMENT = late_regex(r"(?=\D*\d)[\w+/=.~!@#&-]{8,}")
# letters before a quote that say how to read the text: b"…", r#"…"#, @"…"
STRING_PREFIX = late_regex(r"(?<!\w)[bBrRfFuULc@$]{1,2}#*$")
# the text after it is the value of an expression or a default, whatever was called before
DEFAULT_OPERATOR = late_regex(
    r"\?\?|\|\||\|_\||\?:?| : |[=-]>|//|lambda:|[=:]\s*$|\b(?:or|else|return|by)\b"
)
# before a key whose colon starts a block, not a type
CONDITIONAL_WORDS = frozenset(b"if elif while case when unless in not and or".split())
# words in the names of calls that only convert or hold their argument
WRAPPERS = WORD_SETS["wrappers"]

MIN_PROVIDER_KEY_LENGTH = 14  # characters of a value whose key only names a provider

# before `password`: user and password together
PAIRED = (b"id/", b"user/", b"username/", b"login/", b"account/")
# between the words user and password: prose
BETWEEN_WORDS = frozenset((b"and", b"or", b"&", b"with", b"+", b"/"))
MESSAGE_WORDS = WORD_SETS["message_words"]

SPACED_KEY = "(?:api|access|secret|private|license|auth|account|encryption|signing) key|{FOREIGN_KEY}"
TELLING_WORD = r"passw(?:or)?d|passphrase|{FOREIGN_PASSWORD}|pwd|pass|pw|psk|secrete?|token|key|credential|creds|auth|pat|login"
OPERATOR = (
    # assignments, comparisons, arguments, XML
    r"[:?.!]{0,3}={1,3}>?|:-?|,|\(|-{1,2}>|>\s*|\s\|{1,2}\s"
    # prose
    r"|\s(?:is|was|ist|lautet|est|es|jest|var|oli|on|er|\xe8|\xe9|\xe4r)(?: now)?[ :]"
    r"|\s+value[\"']?\s*[:=]|,\s*\"value\":"  # name and value side by side
)

# Group 1: the telling word; 2: the rest of the key; 3: the operator. The value follows.
ASSIGNMENT = (
    rf"(?i)({SPACED_KEY}|{TELLING_WORD}|{'|'.join(sorted(PROVIDERS))})([\w.-]{{0,40}})"
    r"(?:\[\w*\])?[\\\"'`)*\]]{0,4}(?: string\b)?[ \t]{0,20}"
    rf"({OPERATOR})(?:\*{{1,3}}|_{{1,2}})?[ \t]{{0,20}}[*\\]{{0,2}}[^\s<,;]"
)

# In code, a type, a wrapping call or a default may stand between a key and its quoted value.
# Group 1: the telling word; 2: the rest of the key; 3: a type; 4: the operator, or the blank of `#define KEY "…"`.
DECLARATION = (
    rf"(?i)({TELLING_WORD})((?:[\w.-]|::){{0,40}})(?:\[\w*\])?[\\\"'`)*\]}}]{{0,4}}"
    r"(\s?[?!]?\s?::?\s?{TYPE}{1,36}|\s(?:{STRING_TYPE})|\s?\(\)[\w\s&'>:-]{0,40}|\s?\{[\w;\s]{1,30}\})?"
    r"(\s{0,20}(?:[:?|&/]{0,2}=>?|<-|[:({]|\sby\s)|,[\w\s:,=]{0,40}\b{DEFAULT}\s?[=:]|[ \t]{1,20}(?:\w{1,8}\()?[\"'])"
)
# The code before a quoted text in the same expression: names, brackets, and operators of a default.
EXPRESSION = r"(?:[\w.$&*!?|<>@/ \t(){}\[\],-]|::|\?:| : |=>|lambda:|{DEFAULT}\s?[=:]|=[\w.]+,|[({\[=,]\s{1,40})*([\"'`])"


def find_assigned(data: bytes) -> Iterator[Hit]:
    """Yield every secret that its key or its place reveals."""
    seen = occurring(PLACE_WORDS, data.lower())
    yield from _assignments(data)
    word = compiled(f"(?i){TELLING_WORD}", False).search(data)
    # a question without such a word and a quote after it does not wait for the largest pattern
    if word and any(data.find(quote.encode(), word.end()) >= 0 for quote in QUOTES):
        yield from _declarations(data)
    for row, groups in PLACES:
        if not any(seen.isdisjoint(group) for group in groups):
            yield from _in_place(data, row)
    if "://" in seen:
        for match in compiled(URL).finditer(data):
            user = _text(data, *match.span(1))
            value = _text(data, *match.span(2))
            is_local = bool(match.group(3)) and value == user
            if not (
                is_placeholder(value) or value.lower() in SAMPLE_PASSWORDS or is_local
            ):
                yield *match.span(2), "url-password"


def _in_place(data: bytes, row: dict[str, str]) -> Iterator[Hit]:
    test = row["test"]
    pair = test.startswith("pair")
    for match in compiled(row["pattern"]).finditer(data):
        start, end = match.span(2 if pair else 1)
        if not start or _text(data, start - 1, start) not in QUOTES:
            end = _trimmed_end(data, start, end)
        value = _text(data, start, min(end, start + JUDGED_LENGTH))
        if _fits_place(value, test) and not (
            pair and match.group(1).lower() in BETWEEN_WORDS
        ):
            yield start, end, row.get("rule", "password")


def _next_match(pattern: str, data: bytes, at: int) -> Any:
    """Return the next match. It is found without groups, which is faster; they are read only in this match."""
    spot = compiled(pattern, False).search(data, at)
    return spot and compiled(pattern).match(data, *spot.span())


def _assignments(data: bytes) -> Iterator[Hit]:
    """Yield assigned secrets."""
    at = 0
    while match := _next_match(ASSIGNMENT, data, at):
        key = _key_start(data, match.start(1))
        if _harmless(data, key):
            kind = ""
        else:
            kind = kind_of_key(_text(data, key, match.end(2)))
        if not kind:
            at = max(match.start(3), match.start() + 1)
            continue
        operator = _text(data, *match.span(3)).strip()
        start, quoted = _value_start(data, match.end() - 1)
        judged = _value_end(data, start, quoted, min(len(data), start + JUDGED_LENGTH))
        tight = match.end(2) == match.start(3) and match.end(3) == match.end() - 1
        rule = _verdict(
            data, kind, (key, match.end(2)), operator, (start, judged), quoted, tight
        )
        end = _value_end(data, start, quoted, len(data)) if rule else 0
        below = data[end : end + MAX_KEY_LENGTH].lstrip()
        is_element = data[key - 1 : key] == b"<" and below.startswith(b"</")
        if rule and (operator != ">" or is_element):
            yield start, end, rule
        at = max(end, match.start(3), match.start() + 1)


def _declarations(data: bytes) -> Iterator[Hit]:
    """Yield the secrets behind a type, a wrapping call or a default."""
    at = 0
    while match := _next_match(DECLARATION, data, at):
        key = _key_start(data, match.start(1))
        name = _text(data, key, match.end(2))
        kind = "" if _harmless(data, key) else kind_of_key(name)
        hit = _declared(data, kind, name, match, key) if kind else None
        if hit:
            yield hit
        at = hit[1] if hit else max(match.end(2), match.start() + 1)


def _declared(data: bytes, kind: str, key: str, match: Any, begin: int) -> Hit | None:
    """Return the first quoted text that is a secret in the expression after a key; None if there is none."""
    operator = _text(data, *match.span(4)).strip()
    at = match.end(4)
    line = data[max(0, begin - MAX_KEY_LENGTH) : begin].rpartition(b"\n")[2]
    before = line.split()[-1:]
    if operator.endswith(QUOTES):
        if key.isalpha() and key in (key.lower(), key.capitalize()):
            return None  # a word of prose before a quoted text
        at = match.start(4)
        operator = "=" if before == [b"#define"] else ""
    elif match.group(3) and CONDITIONAL_WORDS.intersection(before):
        return None  # `if token: name = "…"`
    is_default = False
    for code, (start, end), quote in _quoted_texts(data, at, operator == "("):
        value = _text(data, start, min(end, start + JUDGED_LENGTH))
        if not _plausible(key, value) or (code.strip() and is_technical(value)):
            rule = ""
        elif "=" in operator and (is_default or _only_wraps(code)):
            rule = _rule_of(kind, key, value, "=", quote, key.lower() != "pass")
        else:
            rule = _rule_of_argument(kind, value)
        if rule:
            return start, end, rule
        is_default = value.isupper() and bool(kind_of_key(value))
    return None


def _quoted_texts(
    data: bytes, at: int, is_open: bool
) -> Iterator[tuple[str, tuple[int, int], str]]:
    """Yield the quoted texts of the expression that starts here: the code before each, its position, and its quote."""
    depth = int(is_open)
    for _ in range(MAX_QUOTED_TEXTS):
        limit = min(len(data), at + MAX_EXPRESSION_LENGTH)
        before = compiled(EXPRESSION).match(data, at, limit)
        if not before:
            return
        code = _text(data, at, before.start(1))
        for character in code:
            depth += (character in "([{") - (character in ")]}")
            if depth < 0 or (character == "," and not depth):
                return  # the expression ends here
        start, quote = _value_start(data, before.start(1))
        end = _value_end(data, start, quote, len(data))
        yield code, (start, end), quote
        if data[end : end + 1] != quote.encode():
            return  # the text goes on after an escaped quote
        at = end + 1


def _only_wraps(code: str) -> bool:
    """Return whether the code before a quoted text only wraps it or makes it a default: `Some(String::from(`, `x or `."""
    last = DEFAULT_OPERATOR.split(STRING_PREFIX.sub("", code))[-1]
    return "," not in last and WRAPPERS.issuperset(letter_runs(last))


def _rule_of_argument(kind: str, value: str) -> str:
    """Return the rule of an argument of a call, which is a secret only if it is random or, for a password, strong."""
    if not ARGUMENT.fullmatch(value):
        return ""
    likely = is_random(value) or (kind in ("password", "secret") and is_strong(value))
    return ("password" if kind == "password" else "secret") if likely else ""


def _value_start(data: bytes, at: int) -> tuple[int, str]:
    """Return the start of a value, and the quote before it, if any."""
    quote = _text(data, at, at + 1)
    if data[at : at + 3] == b'"\\"':  # a quoted text in a quoted text
        at += 2
    return (at + 1, quote) if quote in QUOTES else (at, "")


def _value_end(data: bytes, start: int, quote: str, limit: int) -> int:
    """Return the end of a value: its quote, the end of the line, or a character that cannot belong to it."""
    if quote:
        # search the line break only up to the quote: each byte is read at most twice
        for mark in (quote.encode(), b"\n"):
            place = data.find(mark, start, min(limit, start + MAX_QUOTED_LENGTH))
            limit = place if place >= 0 else limit
        return min(limit, _before_escape(data, start, limit + 1))
    end = start
    while end < limit and data[end] not in UNQUOTED_ENDS:
        end += 1
    return _trimmed_end(data, start, end)


def _text(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("latin-1")


def _key_start(data: bytes, start: int) -> int:
    """Return the start of the key whose telling word starts here."""
    before = data[max(0, start - MAX_KEY_LENGTH) : start]
    return start - len(before) + len(before.rstrip(KEY_CHARACTERS))


def _before_escape(data: bytes, start: int, end: int) -> int:
    """Return the end of a value before an escaped quote or line break, as in JSON within JSON."""
    for escape in (b'\\"', b"\\n", b"\\r"):
        spot = data.find(escape, start, end)
        end = spot if spot > start else end
    return end


def _trimmed_end(data: bytes, start: int, end: int) -> int:
    """Return the end of an unquoted value without trailing punctuation, URL parameters or escaped line breaks."""
    end = _before_escape(data, start, end)
    spot = data.find(b"&", start, end)
    if spot > start and data.find(b"=", spot, end) > 0:
        end = spot
    surplus = {
        closing: data.count(closing, start, end) - data.count(opening, start, end)
        for closing, opening in BRACKETS
    }
    while end > start and data[end - 1] in TRAILING:
        last = data[end - 1 : end]
        if surplus.get(last, 1) <= 0:  # the value opens this bracket itself
            break
        if last in surplus:
            surplus[last] -= 1
        end -= 1
    return end


def _verdict(
    data: bytes,
    kind: str,
    name: tuple[int, int],
    operator: str,
    span: tuple[int, int],
    quoted: str,
    tight: bool,
) -> str:
    """Return the rule that an assignment matches; empty if it holds no secret. `tight`: no blanks at the operator."""
    key = _text(data, *name)
    value = _text(data, *span)
    if not _plausible(key, value):
        return ""
    argument = operator in ARGUMENT_OPERATORS
    if argument and quoted in ("", "`"):  # `a`, `b`: a list of code spans
        return ""
    if quoted:
        return _rule_of(
            kind, key, value, operator, quoted, key.lower() != "pass" and not argument
        )
    inner = value[: value.replace(":", "=").find("=") + 1]
    if is_code(value) or (inner and kind_of_key(inner)):
        return ""  # an expression, or another assignment, which is judged next
    if kind == "provider" and "=" in value[:-2]:
        return ""  # the value contains an assignment
    # `KEY=value` sets a shell variable to a plain word, which is then not a variable's name
    if tight and operator == "=" and key.isupper() and names_password(key):
        quoted = "=" if value.isalnum() and not names_secret(value) else ""
    variable = _is_variable(data, name[0], span[1], value, operator, tight)
    return _rule_of(
        kind, key, value, operator, quoted, key.lower() != "pass" and not variable
    )


def _rule_of(
    kind: str, key: str, value: str, operator: str, quoted: str, literal: bool
) -> str:
    """Return the rule that a value matches; empty if it is no secret.

    `quoted`: the text is a value for certain; `literal`: it is not the name of a variable.
    """
    random = is_random(value)
    if kind == "password" and operator not in ARGUMENT_OPERATORS:
        likely = random or is_strong(value) or (quoted and _quoted_password(value))
        return "password" if likely or (literal and is_chosen(value)) else ""
    if kind in ("password", "secret"):
        likely = (
            random
            or is_strong(value)
            or (quoted and any(c in value[1:] for c in SYMBOLS))
        )
        likely = likely or (literal and (is_keylike(value) or is_short_key(value)))
        return ("password" if kind == "password" else "secret") if likely else ""
    if kind == "provider":
        likely = random and operator != "(" and len(value) >= MIN_PROVIDER_KEY_LENGTH
        return "secret" if likely else ""
    # after other names than `key`, a short key may be a model or a version
    keylike = is_keylike(value) or (key.lower().endswith("key") and is_short_key(value))
    likely = (random and operator != "(") or (literal and keylike)
    likely = likely or (operator in ("=", ":") and _says_secret(value, quoted))
    return "secret" if likely else ""


def _is_variable(
    data: bytes, at: int, end: int, value: str, operator: str, tight: bool
) -> bool:
    """Return whether an unquoted value is a variable's name: an argument, or a name that says that it holds a secret."""
    following = data[end : end + 1]
    if following in (b")", b",", b";") and (
        data[at - 1 : at] == b"(" or data[at - 2 : at] == b", "
    ):
        return True
    if operator in LITERAL_OPERATORS or (tight and following not in (b")", b",", b";")):
        return False
    return value.isidentifier() and names_secret(value)


def rule_of_value(key: str, value: str, plain: bool = True) -> str:
    """Return the rule that a whole value matches because of its key; empty if it holds no secret.

    With `plain`, words without digits count as a password, too.
    """
    kind = kind_of_key(key)
    if not kind or len(value) > MAX_VALUE_LENGTH or not _plausible(key, value):
        return ""
    is_phrase = plain and names_password(key) and not any(c.isdigit() for c in value)
    is_phrase = is_phrase and not NO_VALUES.intersection(value.split())
    return _rule_of(
        kind, key, value, ":", '"' if is_phrase or kind == "token" else "", True
    )


def _harmless(data: bytes, at: int) -> bool:
    """Return whether the key here is part of a path (`/etc/passwd`), or the token of a badge, which is public."""
    before = data[max(0, at - 10) : at].lower()
    return (before.endswith(b"/") and not before.endswith(PAIRED)) or b"badge" in data[
        max(0, at - BADGE_REACH_CHARS) : at
    ]


def _plausible(key: str, value: str) -> bool:
    plain = value.strip().lower()
    if (
        len(plain) < MIN_PASSWORD_LENGTH
        or plain[0] in VALUE_SEPARATORS
        or plain.rstrip("?!") in NO_VALUES
    ):
        return False
    return not _echoes(key, plain) and not is_placeholder(value)


def _echoes(key: str, value: str) -> bool:
    """Return whether a value only repeats its key: `challengePassword: "challenge_password"`."""
    name, content = (
        "".join(c for c in text.lower() if c.isalnum()) for text in (key, value)
    )
    return (len(content) >= MIN_PASSWORD_LENGTH and content in name) or (
        len(letter_runs(key)) > 1 and name in content
    )


def _says_secret(value: str, quoted: str) -> bool:
    """Return whether a value contains the word secret. Unquoted snake_case is a variable's name."""
    letters = value.replace("-", "") if quoted else value
    return (
        len(value) >= MIN_PROVIDER_KEY_LENGTH
        and "secret" in value.lower()
        and letters.isalnum()
    )


def _quoted_password(value: str) -> bool:
    """Return whether quoted words are a password: messages start with a capital or use MESSAGE_WORDS."""
    if " " not in value:
        return value[0] != "."
    words = value.split()
    plain = value == value.lower() and "".join(words).isalpha()
    return plain and not MESSAGE_WORDS.intersection(words)


def _fits_place(value: str, test: str) -> bool:
    """Return whether a value passes the test of its place."""
    if (
        len(value) < MIN_PASSWORD_LENGTH
        or is_placeholder(value)
        or (test != "sure" and value.lower() in NO_VALUES)
    ):
        return False
    if test in PLACE_TESTS:
        return any(looks(value) for looks in PLACE_TESTS[test])
    return True


def _is_phrase(value: str) -> bool:
    """Return whether words after the word passphrase are one: none of them is a function word."""
    return not NO_PHRASE.intersection(value.lower().replace("-", " ").split())


def _is_long_and_strong(value: str) -> bool:
    return len(value) >= MIN_STRONG_TOKEN_LENGTH and is_strong(value)


# The tests of `places`; "any", "pair" and "sure" accept every value that is not a placeholder.
PLACE_TESTS = {
    "strong": (is_strong, is_random),
    "chosen": (is_strong, is_random, is_chosen),
    "login": (is_strong, is_random, is_chosen),
    "pair-strong": (is_strong, is_random, is_chosen),
    "shell": (is_random, is_keylike, is_chosen),
    "spoken": (is_spoken,),
    "spoken-key": (is_keylike,),
    "phrase": (_is_phrase,),
    "header": (is_random, is_keylike, _is_long_and_strong),
    "token": (is_random, _is_long_and_strong),
    "basic": (is_random,),
}


# Finds secrets in table columns with a telling heading, in Markdown tables and separated values.

PIPE = b"|"
SEPARATORS = (PIPE, b"\t", b";", b",")
MAX_HEADING_LENGTH = 1_000  # characters of the line of headings
IN_HEADINGS = r"[\w\x80-\xff \t|,;\"'`*./#()-]*"
HEADINGS = rf"(?im)^{IN_HEADINGS}(?:pass|pwd|\bpw\b|secret|token|key|cred|{{FOREIGN_PASSWORD}}|{{FOREIGN_KEY}}){IN_HEADINGS}\r?$"
AROUND_CELLS = b" \t\r\"'`*"
HEADING = late_regex(r"[\w ./#()-]{1,40}")
# below the headings of a Markdown table
UNDERLINE = r"\n[|:+ \t\r-]*-[|:+ \t\r-]*(?:\n|$)"


def find_in_tables(data: bytes) -> Iterator[Hit]:
    """Yield the cells that are secrets because of the heading of their column."""
    if b"\n" not in data:
        return
    done = 0
    for line in compiled(HEADINGS, False).finditer(data):
        start, end = line.span()
        if start < done or end - start > MAX_HEADING_LENGTH:
            continue
        for separator in SEPARATORS:
            cells = data[start:end].split(separator)
            names = _telling_headings(cells, separator == PIPE)
            if names and (separator != PIPE or compiled(UNDERLINE).match(data, end)):
                done = yield from _secrets_in_rows(
                    data, end + 1, separator, len(cells), names
                )
                break


def _telling_headings(cells: list[bytes], has_edges: bool) -> Columns:
    """Return column → heading that names a secret; none if a cell is not a heading. Cells at edges may be empty."""
    names = {}
    for number, cell in enumerate(cells):
        name = cell.strip(AROUND_CELLS).decode("latin-1")
        at_edge = has_edges and len(cells) > 2 and number in (0, len(cells) - 1)
        if not HEADING.fullmatch(name) and (name or not at_edge):
            return {}
        if kind_of_key(name):
            names[number] = name
    return names if len(cells) > 1 else {}


def _secrets_in_rows(
    data: bytes, at: int, separator: bytes, width: int, names: Columns
) -> Generator[Hit, None, int]:
    """Yield the secrets of the rows that start here; return the end of the table."""
    while at < len(data):
        newline = data.find(b"\n", at)
        end = newline if newline >= 0 else len(data)
        cells = data[at:end].split(separator)
        if len(cells) != width and (separator != PIPE or len(cells) < 2):
            return at
        for number, cell in enumerate(cells):
            value = cell.strip(AROUND_CELLS)
            name = names.get(number)
            if name and value:
                rule = rule_of_value(name, value.decode("latin-1"), plain=False)
            else:
                rule = ""
            if rule:
                start = at + cell.index(value)
                yield start, start + len(value), rule
            at += len(cell) + len(separator)
        at = end + 1
    return at
