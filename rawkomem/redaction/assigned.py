"""Finds secrets by the key, heading or place before them: `password = …`, `--token …`, `Authorization:
…`, a column of a table; in English and in other languages.

A row of `places` in rules.json has the test of the value (see PLACE_TESTS), words that must occur, in
any case (`a|b&c`: a or b, and c), and the pattern with the value in its last group.
Patterns read one byte per character: a word beyond Latin-1 is replaced with an English word of the
same length, and typographic colons, quotes and blanks with ASCII characters, so that all positions
stay.
"""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Generator, Iterator
from functools import lru_cache

from ..model.values import TYPE_CHECKING
from .rules import DATA, Hit, compiled, occurring
from .values import (
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

if TYPE_CHECKING:
    from typing import Any

Columns = dict[int, str]

# Words in other languages; `wide` ones have letters beyond Latin-1. Forms that only add an ending are left out.
WORDS = DATA["words"]
TYPOGRAPHY = "…–—•≤≥−✓"  # characters beyond Latin-1 in English texts
NO_PHRASE = frozenset(WORDS["no_phrase"])
COPULAS = "是为為はがの이가는은"  # "is" between a word and its value without a blank
STAND_INS = ("", "", "pw", "pwd", "pwds", "_pwds", "passwd", "_passwd", "password")  # by length
KEY_STAND_INS = ("", "", "pw", "pat", "auth", "token", "secret")

ASCII_SIGNS = str.maketrans(
    "：﹕＝→⇒➜\xa0\u202f\u2009\u3000’‘“”„«»「」『』",
    '::=:::    \'\'"""""""""',
)


def _by_first_character() -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """Return first character → the words that start with it, in each letter case, with their stand-ins."""
    words: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for listed, stand_ins in (
        (WORDS["wide_password"], STAND_INS),
        (WORDS["wide_key"], KEY_STAND_INS),
    ):
        for word in listed:
            for form in sorted({word, word.capitalize(), word.upper()}):
                if len(form) == len(word):
                    words.setdefault(form[0], []).append((form, stand_ins))
    return words


WIDE_WORDS = _by_first_character()


def with_english_words(text: str) -> str:
    """Return the text with words for passwords and keys of other scripts in English; its length stays the same."""
    if text.isascii():
        return text
    text = text.translate(ASCII_SIGNS)
    if len(text.encode("latin-1", "ignore")) + sum(map(text.count, TYPOGRAPHY)) == len(text):
        return text  # no letter beyond Latin-1
    for character, words in WIDE_WORDS.items():
        for word, stand_ins in words if character in text else ():
            if word in text:
                text = _with_stand_in(text, word, stand_ins)
    return text


def _with_stand_in(text: str, word: str, stand_ins: tuple[str, ...]) -> str:
    """Return the text with a stand-in of the same length for a word, and a colon for a copula after it."""
    longest = stand_ins[-1]
    said = (
        stand_ins[len(word)]
        if len(word) < len(stand_ins)
        else "_" * (len(word) - len(longest)) + longest
    )
    for copula in COPULAS:
        text = text.replace(word + copula, said + ":")
    return text.replace(word, said)


# Classifies keys by their names: a password, a secret, a token, a value of a known provider, or
# none of these.

MAX_KNOWN_KEYS = 2_000  # keys whose kind is cached
# Length of a provider's name that may start a longer one; `sumo` starts `sumOfExposures`.
PREFIX_LETTERS = range(6, 13)

PASSWORDS = frozenset(
    """
    password passwords passwd passphrase passphrases passcode pwd pwds pass pw psk
    """.split()  # noqa: SIM905 - a list of quoted words reads worse
).union(WORDS["password"])
SECRETS = frozenset("secret secrete secrets credential credentials creds jwtsecret".split())  # noqa: SIM905
TOKENS = frozenset(
    "token tokens authtoken auth authorization apikey apikeys pat accesskey".split()  # noqa: SIM905
).union(WORDS["key"])
KEY_OWNERS = frozenset(
    """
    access account admin anon api app application auth authorization client cloud consumer crypt decryption deploy dev
    developer encryption fernet hmac iam insert jwt license licence live master preshared private prod production psk
    rest secret server service session shared signing ssh storage subscription user webhook write
    aws azure gcp google ibm sl oci openai anthropic gemini stripe slack sentry github gitlab twilio sendgrid supabase
    vault
    """.split()  # noqa: SIM905 - a list of quoted words reads worse
)
NO_PASSWORDS = frozenset(
    "bypass compass encompass surpass trespass overpass underpass".split()  # noqa: SIM905
)
PUBLIC_KEY_PARTS = frozenset(
    "public pub publishable primary foreign partition sort cache unique".split()  # noqa: SIM905
)
NOT_THE_SECRET = frozenset(
    """
    alias algorithm arn attempts class cli config count counter dir dirs duration endpoint env error expiration expires
    expiry field file filename format generator hash header hint host id ids index info input issuer label
    length level limit lifetime limits list location manager max message method min mode model name names path paths
    placeholder policy prefix provider ref refs regex required rotation rule scope service size source status store
    suffix table template tiktoken tokenizer ttl type types uri url usage user username validator version
    """.split()  # noqa: SIM905 - as above
)
PROVIDERS = frozenset(
    """
    adafruit adobe airtable algolia alibaba artifactory asana atlassian auth0 beamer bitbucket bittrex blynk
    bugsnag clickhouse cloudflare codeclimate codecov cohere coinbase confluent contentful datadog digitalocean
    discord droneci dropbox easypost etsy facebook fastly finicity finnhub flickr freemius freshbooks gitter
    gocardless grafana heroku hubspot intercom jfrog jira kraken kucoin launchdarkly linkedin looker mailchimp
    mailgun mapbox mattermost maxmind meraki messagebird netlify newrelic nytimes okta pagerduty plaid postmark
    privateai rapidapi rollbar saucelabs sendbird shodan snyk softlayer sonar sourcegraph squarespace sumo
    sumologic telegram travis trello twitch twitter typeform yandex zendesk
    """.split()  # noqa: SIM905 - as above
)  # services whose name in a key makes a random value a secret


@lru_cache(MAX_KNOWN_KEYS)  # a text repeats a few keys
def kind_of_key(key: str) -> str:
    """Return the kind of a key: "password", "secret", "token", "provider", or an empty text."""
    parts = letter_runs(key)
    if not parts or PUBLIC_KEY_PARTS.intersection(parts):
        return ""
    if parts[-1] in NOT_THE_SECRET:
        return "provider" if parts[-2:] == ["access", "id"] and _has_provider(parts) else ""
    if PASSWORDS.intersection(parts) or parts[-1].endswith(("password", "passwd", "pwd")):
        return "password"
    if SECRETS.intersection(parts) or parts[-1].endswith(
        ("secret", "secretkey", "secretaccesskey")
    ):
        return "secret"
    if parts[-1].endswith("pass") and parts[-1] not in NO_PASSWORDS:
        return "secret"
    if TOKENS.intersection(parts) or parts[-1].endswith(
        ("token", "apikey", "accesskey", "privatekey", "authkey")
    ):
        return "token"
    if "key" in parts:
        owner = parts[parts.index("key") - 1] if parts[0] != "key" else ""
        return (
            "token"
            if owner in KEY_OWNERS or (owner and key.isupper()) or _has_provider(parts)
            else ""
        )
    return "provider" if _has_provider(parts) else ""


def names_secret(name: str) -> bool:
    """Return whether a name says that it holds a secret: `dbPassword`, `access_token`."""
    return any(
        word in name.lower() for word in ("pass", "pwd", "secret", "token", "key", "cred", "auth")
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
        parts[-1] in PASSWORDS or parts[-1].endswith(("password", "passwd", "pwd"))
    )


def _has_provider(parts: list[str]) -> bool:
    """Return whether one part, or two joined parts, name a provider: `message_bird`, `softlayerapikey`."""
    names = parts + [parts[at] + parts[at + 1] for at in range(len(parts) - 1)]
    return any(
        name in PROVIDERS or any(name[:end] in PROVIDERS for end in PREFIX_LETTERS)
        for name in names
    )


HEADER_WORDS = ("bearer", "basic ", "token ", "apikey ", "authorization", "ssws")
# Places other than assignments, with their words in groups: one word of each group must occur.
PLACES = tuple(
    (row["test"], [group.split("|") for group in row["words"].split("&")], row["pattern"])
    for row in DATA["places"]
)
PLACE_WORDS = tuple(
    sorted(
        {"://", *HEADER_WORDS, *(w for _, groups, _ in PLACES for group in groups for w in group)}
    )
)

# Group 1 or 2: the scheme; 3: the value.
HEADER = (
    r"(?i)(?:authorization[\"']?\s*[:=]\s*[\"'`]?([a-z][\w-]{1,19}) |\b(bearer|basic|token|api-?token|apikey|ssws) )"
    r"\s*([\w.~+/=:^#-]{8,})"
)
# Group 1: the user; 2: the password; 3: a host on the same machine.
URL = r"[A-Za-z][A-Za-z0-9+.-]*://([^\s:/@\"'`<>]*):([^\s/\"'`<>]+)@(?:(localhost|127\.0\.0\.1)\b|[\w\[])"
SAMPLE_PASSWORDS = ("password", "passwd", "pass", "pwd", "yourpassword", "mypassword")


# Finds secrets by the key or place before them: `password = …`, `"apiKey": "…"`, `--token …`,
# `Authorization: …`.

MAX_KEY_LENGTH = 48  # characters of a key before its telling word (password, token, key, …)
BADGE_REACH_CHARS = 24  # characters from "badge" to the token in a badge's address
MIN_PASSWORD_LENGTH = 4  # `root` is a password; shorter values are flags
LITERAL_OPERATORS = (
    ":",
    "->",
    "-->",
)  # in notes and headers; names of variables come after other operators
MIN_BARE_TOKEN_LENGTH = (
    16  # characters after the word token alone: shorter ones are names such as `cl100k_base`
)
VALUE_SEPARATORS = (
    ",;:)]}+"  # a value that starts with one of these is the text between two strings
)
BRACKETS = ((b")", b"("), (b"]", b"["), (b"}", b"{"))
QUOTES = ("'", '"', "`")
SYMBOLS = "!@#$%^&*?+~"  # in a quoted secret: names and sentences have none
UNQUOTED_ENDS = b" \t\r\n\"'`<,;"
MAX_VALUE_LENGTH = (
    4_096  # characters of a value that is judged as a whole: a longer one is a document
)
MAX_QUOTED_LENGTH = 16_384  # characters: a longer quoted text is not a value
JUDGED_LENGTH = (
    80  # characters of a value that are judged: a longer value is equally random at its start
)
TRAILING = b".,;:)]}*_\\\xff"  # punctuation after an unquoted value, and words of another script

MIN_PROVIDER_KEY_LENGTH = 14  # characters of a value whose key only names a provider

PAIRED = (
    b"id/",
    b"user/",
    b"username/",
    b"login/",
    b"account/",
)  # before `password`: user and password together
BETWEEN_WORDS = frozenset(
    (b"and", b"or", b"&", b"with", b"+", b"/")
)  # between the words user and password: prose
MESSAGE_WORDS = frozenset(
    "your the must enter please password invalid incorrect required should cannot not".split()  # noqa: SIM905
)

SPACED_KEY = (
    "(?:api|access|secret|private|license|auth|account|encryption|signing) key|{FOREIGN_KEY}"
)
TELLING_WORD = r"passw(?:or)?d|passphrase|{FOREIGN_PASSWORD}|pwd|pass|pw|psk|secrete?|token|key|credential|creds|auth|pat|login"
OPERATOR = (
    r"[:?.!]{0,3}={1,3}>?|:|,|\(|-{1,2}>|>\s*|\s\|{1,2}\s"  # assignments, comparisons, arguments, XML
    r"|\s(?:is|was|ist|lautet|est|es|jest|var|oli|on|er|\xe8|\xe9|\xe4r)(?: now)?[ :]"  # prose
    r"|\s+value[\"']?\s*[:=]|,\s*\"value\":"  # name and value side by side
)

# Group 1: the telling word; 2: the rest of the key; 3: the operator. The value follows.
ASSIGNMENT = (
    rf"(?i)({SPACED_KEY}|{TELLING_WORD}|{'|'.join(sorted(PROVIDERS))})([\w.-]{{0,40}})"
    r"(?:\[\w*\])?[\\\"'`)*\]]{0,4}(?: string\b)?[ \t]{0,20}"
    rf"({OPERATOR})(?:\*{{1,3}}|_{{1,2}})?[ \t]{{0,20}}[*\\]{{0,2}}[^\s<,;]"
)


def find_assigned(data: bytes) -> Iterator[Hit]:
    """Yield every secret that its key or its place reveals."""
    seen = occurring(PLACE_WORDS, data.lower())
    yield from _assignments(data, compiled(ASSIGNMENT, False), compiled(ASSIGNMENT))
    for test, groups, pattern in PLACES:
        if not any(seen.isdisjoint(group) for group in groups):
            yield from _in_place(data, test, compiled(pattern))
    if not seen.isdisjoint(HEADER_WORDS):
        for found in compiled(HEADER).finditer(data):
            scheme, value = (found.group(1) or found.group(2)).lower(), _text(data, *found.span(3))
            if _header_fits(
                scheme, value[:JUDGED_LENGTH], found.group(1) is not None or scheme == b"bearer"
            ):
                yield *found.span(3), "authorization"
    if "://" in seen:
        for found in compiled(URL).finditer(data):
            user, value = _text(data, *found.span(1)), _text(data, *found.span(2))
            is_local = bool(found.group(3)) and value == user
            if not (is_placeholder(value) or value.lower() in SAMPLE_PASSWORDS or is_local):
                yield *found.span(2), "url-password"


def _in_place(data: bytes, test: str, pattern: Any) -> Iterator[Hit]:
    pair = test.startswith("pair")
    for found in pattern.finditer(data):
        start, end = found.span(2 if pair else 1)
        end = (
            end
            if _text(data, start - 1, start) in QUOTES and start
            else _trimmed_end(data, start, end)
        )
        value = _text(data, start, min(end, start + JUDGED_LENGTH))
        if _fits_place(value, test) and not (pair and found.group(1).lower() in BETWEEN_WORDS):
            yield start, end, "password"


def _assignments(data: bytes, quick: Any, pattern: Any) -> Iterator[Hit]:
    """Yield assigned secrets. `quick` finds a match; `pattern`, the same but slower, reads the groups of this match."""
    at = 0
    while spot := quick.search(data, at):
        found = pattern.match(data, *spot.span())
        key = _key_start(data, found.start(1))
        kind = "" if _harmless(data, key) else kind_of_key(_text(data, key, found.end(2)))
        if not kind:
            at = max(found.start(3), found.start() + 1)
            continue
        operator = _text(data, *found.span(3)).strip()
        start, quoted = _value_start(data, found.end() - 1)
        judged = _value_end(data, start, quoted, min(len(data), start + JUDGED_LENGTH))
        tight = found.end(2) == found.start(3) and found.end(3) == found.end() - 1
        rule = _verdict(data, kind, (key, found.end(2)), operator, (start, judged), quoted, tight)
        end = _value_end(data, start, quoted, len(data)) if rule else 0
        below = data[end : end + MAX_KEY_LENGTH].lstrip()
        is_element = data[key - 1 : key] == b"<" and below.startswith(b"</")
        if rule and (operator != ">" or is_element):
            yield start, end, rule
        at = max(end, found.start(3), found.start() + 1)


def _value_start(data: bytes, at: int) -> tuple[int, str]:
    """Return the start of a value, and the quote before it, if any."""
    quote = _text(data, at, at + 1)
    return (at + 1, quote) if quote in QUOTES else (at, "")


def _value_end(data: bytes, start: int, quote: str, limit: int) -> int:
    """Return the end of a value: its quote, the end of the line, or a character that cannot belong to it."""
    if quote:
        for mark in (
            quote.encode(),
            b"\n",
        ):  # search the line break only up to the quote: each byte is read at most twice
            found = data.find(mark, start, min(limit, start + MAX_QUOTED_LENGTH))
            limit = found if found >= 0 else limit
        return _before_escape(data, start, limit)
    end = start
    while end < limit and data[end] not in UNQUOTED_ENDS:
        end += 1
    return _trimmed_end(data, start, end)


def _text(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("latin-1")


def _key_start(data: bytes, start: int) -> int:
    """Return the start of the key whose telling word starts here."""
    first = start
    while first > max(0, start - MAX_KEY_LENGTH) and (
        data[first - 1 : first].isalnum() or data[first - 1] in b"_-."
    ):
        first -= 1
    return first


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


# --- the value ----------------------------------------------------------------------------------------------------


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
    key, value = _text(data, *name), _text(data, *span)
    inner = value[: value.replace(":", "=").find("=") + 1]
    if inner and not quoted and kind_of_key(inner):
        return ""  # another assignment, which is judged next
    if not _plausible(key, value) or (not quoted and is_code(value)):
        return ""
    if kind == "provider" and not quoted and "=" in value[:-2]:
        return ""  # the value contains an assignment
    argument = operator in (",", "(")
    if argument and quoted in ("", "`"):  # `a`, `b`: a list of code spans
        return ""
    literal = not argument and (
        quoted != "" or not _is_variable(data, name[0], span[1], value, operator, tight)
    )
    if kind == "password" and not argument:
        taken = is_strong(value) or is_random(value) or (quoted != "" and _quoted_password(value))
        taken = taken or (literal and key.lower() != "pass" and is_chosen(value))
        # `KEY=value` sets a shell variable to a plain word, which is then not a variable's name
        plain = key.isupper() and names_password(key) and value.isalnum()
        taken = taken or (tight and operator == "=" and plain and not names_secret(value))
    elif kind in ("password", "secret"):
        taken = (
            is_random(value)
            or is_strong(value)
            or (quoted != "" and any(c in value[1:] for c in SYMBOLS))
        )
        taken = taken or (literal and (is_keylike(value) or is_short_key(value)))
    else:
        taken = (
            is_random(value)
            and operator != "("
            and (kind == "token" or len(value) >= MIN_PROVIDER_KEY_LENGTH)
        )
        taken = taken or (
            kind == "token" and operator in ("=", ":") and _says_secret(value, quoted)
        )
        taken = taken or (
            kind == "token" and literal and (is_keylike(value) or _has_short_key(key, value))
        )
    return ("password" if kind == "password" else "secret") if taken else ""


def _is_variable(data: bytes, at: int, end: int, value: str, operator: str, tight: bool) -> bool:
    """Tell whether an unquoted value is a variable's name: an argument, or a name that says that it holds a secret."""
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
    if kind == "password":
        said = (
            plain
            and names_password(key)
            and not any(c.isdigit() for c in value)
            and _quoted_password(value)
        )
        said = said and not NO_VALUES.intersection(value.split())
        taken = said or is_strong(value) or is_random(value) or is_chosen(value)
    elif kind == "secret":
        taken = is_random(value) or is_strong(value) or is_keylike(value) or is_short_key(value)
    else:
        said = _says_secret(value, '"') or is_keylike(value) or _has_short_key(key, value)
        taken = is_random(value) or (kind == "token" and said)
    return ("password" if kind == "password" else "secret") if taken else ""


def _has_short_key(key: str, value: str) -> bool:
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
    if len(plain) < MIN_PASSWORD_LENGTH or plain[0] in VALUE_SEPARATORS or plain in NO_VALUES:
        return False
    return not _echoes(key, plain) and not is_placeholder(value)


def _echoes(key: str, value: str) -> bool:
    """Return whether a value only repeats its key: `challengePassword: "challenge_password"`."""
    name, said = ("".join(c for c in text.lower() if c.isalnum()) for text in (key, value))
    return (len(said) >= MIN_PASSWORD_LENGTH and said in name) or (
        len(letter_runs(key)) > 1 and name in said
    )


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


def _fits_place(value: str, test: str) -> bool:
    """Tell whether a value passes the test of its place."""
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
    """Tell whether words after the word passphrase are one: none of them is a function word."""
    return not NO_PHRASE.intersection(value.lower().replace("-", " ").split())


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
}


def _header_fits(scheme: bytes, value: str, told: bool) -> bool:
    """Tell whether a value after a scheme is a secret; `told`: `Authorization:` or `Bearer` comes before it."""
    if is_placeholder(value) or value.lower() in NO_VALUES:
        return False
    if scheme == b"basic":
        return _is_user_and_password(value) or is_random(value)
    if not told and len(value) < MIN_BARE_TOKEN_LENGTH:
        return False
    return (
        is_random(value) or (is_strong(value) and len(value) >= 12) or (told and is_keylike(value))
    )


def _is_user_and_password(value: str) -> bool:
    try:
        plain = a2b_base64(value + "=" * (-len(value) % 4))
    except ValueError:
        return False
    return b":" in plain and plain.isascii()


# Finds secrets in table columns with a telling heading, in Markdown tables and separated values.

PIPE, CELL_SEPARATORS = b"|", (b"\t", b";", b",")
MAX_HEADING_LENGTH = 1_000  # characters of the line of headings
MAX_NAME_LENGTH = 40  # characters of one heading
IN_HEADINGS = r"[\w\x80-\xff \t|,;\"'`*./#()-]*"
HEADINGS = rf"(?im)^{IN_HEADINGS}(?:pass|pwd|\bpw\b|secret|token|key|cred|{{FOREIGN_PASSWORD}}|{{FOREIGN_KEY}}){IN_HEADINGS}\r?$"
AROUND_CELLS = b" \t\r\"'`*"


def find_in_tables(data: bytes) -> Iterator[Hit]:
    """Yield the cells that are secrets because of the heading of their column."""
    if not any(separator in data for separator in (PIPE, *CELL_SEPARATORS)) or b"\n" not in data:
        return
    done = 0
    for line in compiled(HEADINGS, False).finditer(data):
        start, end = line.span()
        if start < done or end - start > MAX_HEADING_LENGTH:
            continue
        for separator in (PIPE, *CELL_SEPARATORS):
            names = _telling_headings(data[start:end], separator)
            if names is not None and _has_rows(data, end, separator):
                done = yield from _secrets_in_rows(
                    data, end + 1, separator, len(data[start:end].split(separator)), names
                )
                break


def _telling_headings(line: bytes, separator: bytes) -> Columns | None:
    """Return column → heading that names a secret; None if there is none, or if the line has no headings."""
    cells = line.split(separator)
    edges = (0, len(cells) - 1) if separator == PIPE and len(cells) > 2 else ()
    names = {}
    for number, cell in enumerate(cells if len(cells) > 1 else ()):
        name = cell.strip(AROUND_CELLS).decode("latin-1")
        plain = all(c.isalnum() or c in " _-./#()" for c in name)
        if not (plain and 0 < len(name) <= MAX_NAME_LENGTH) and (name or number not in edges):
            return None
        if kind_of_key(name):
            names[number] = name
    return names or None


def _has_rows(data: bytes, end: int, separator: bytes) -> bool:
    """Tell whether the next line underlines the headings, as Markdown requires; other tables need no such line."""
    below = data[end + 1 : _line_end(data, end + 1)]
    return separator != PIPE or (b"-" in below and not below.strip(b"|:- \t\r+"))


def _secrets_in_rows(
    data: bytes, at: int, separator: bytes, width: int, names: Columns
) -> Generator[Hit, None, int]:
    """Yield the secrets of the rows that start here; return the end of the table."""
    while at < len(data):
        end = _line_end(data, at)
        cells = data[at:end].split(separator)
        if len(cells) != width and (separator != PIPE or len(cells) < 2):
            return at
        for number, cell in enumerate(cells):
            value = cell.strip(AROUND_CELLS)
            name = names.get(number)
            if (
                name
                and value
                and (rule := rule_of_value(name, value.decode("latin-1"), plain=False))
            ):
                start = at + cell.index(value)
                yield start, start + len(value), rule
            at += len(cell) + len(separator)
        at = end + 1
    return at


def _line_end(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end
