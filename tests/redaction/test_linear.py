"""No text costs more than its length: processor time grows with the size, whatever a hostile text repeats."""

from math import inf

import pytest
from rawkomem.redaction.assigned import find_in_tables
from rawkomem.redaction.entries import Person, anonymize
from rawkomem.redaction.find import find_kubernetes, find_private_keys, redact
from rawkomem.redaction.scrubber import scrubbed_text
from rawkomem.redaction.values import is_placeholder, is_random, is_strong

from tests.cpu import cpu_seconds

pytestmark = pytest.mark.time

SIZE, LARGE = 1_000, 5_000  # characters, for slow and for fast functions; the second text has TIMES as many
TIMES = 16
MAX_RATIO = 40  # of the time for TIMES the text; 16 is linear, 256 is quadratic
NOISE_S = 0.02  # a run that takes less says nothing about a ratio
TRIES = 4  # a busy machine stretches single runs

BEGIN = "-----BEGIN PRIVATE KEY-----"
UNITS = {
    "private keys": f"{BEGIN}\n",
    "private keys in a line": BEGIN,
    "torn private keys": f"{BEGIN}\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n",
    "PuTTY keys": "Private-Lines: 9\nAAAA\n",
    "ends of keys": "-----END PRIVATE KEY-----",
    "passwords": "password=",
    "quoted passwords": 'password="kU7#xQz9" ',
    "open quotes": 'password="',
    "types": "password: str | ",
    "typed passwords": 'password: str = "kU7#xQz9" ',
    "open calls": "token = f(",
    "defaults": 'token = f("a", ',
    "quoted words": 'my_token "a" ',
    "brackets": "password=kU7#xQz9" + ")" * 200,
    "values": "password=x9Y8z7Q6w5 ",
    "spoken": "password kU7xQz9m ",
    "keys of providers": "okta ",
    "base64": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo",
    "hexadecimal": "9a038989604e8da62ecddbe2094b16ce",
    "digits": "4111",
    "spaced digits": "4111 ",
    "at signs": "@",
    "addresses": "a@b.co ",
    "half addresses": "a@",
    "quotes": "\"'`",
    "backslashes": "\\_",
    "tags": "[REDACTED_",
    "known beginnings": "ghp_sk_live_AKIA",
    "tables": "| password | a |\n|---|---|\n| kU7xQz9m | b |\n",
    "headings": "user,password\n",
    "wide tables": "password,",
    "headers": "Authorization: Bearer ",
    "addresses of pages": "http://a:",
    "commands": "curl -u a:",
    "database commands": "mysql -p",
    "terraform": 'variable "password" {',
    "wide words": "密码是",
    "kubernetes": "kind: Secret\ndata:\n  a: QUJDREVGR0hJSktM\n",
    "telephone": "+1 ",
    "accounts": "GB29 NWBK ",
    "escapes": "\x1b]",
    "invisible": "a\u200b",
    "home folders": "/home/",
    "tags of HTML": "<b>",
    "comments": "<!--",
    "headings of Markdown": "# a\n",
    "fences": "```\n",
    "colons": ":",
    "blanks": " ",
    "line breaks": "\n",
}
FINDERS = {
    "find_private_keys": lambda text: list(find_private_keys(text.encode())),
    "find_kubernetes": lambda text: list(find_kubernetes(text.encode())),
    "find_in_tables": lambda text: list(find_in_tables(text.encode())),
    "looks": lambda text: (is_placeholder(text), is_random(text), is_strong(text)),
    "anonymize": lambda text: anonymize(text, [Person(("ada lovelace", "ada"))]),
}


def ratio(run, unit: str, length: int) -> float:
    """Return how much more time TIMES the text takes, the least of some tries; 0 where that is too little to tell."""
    small, large = (unit * (size // len(unit)) for size in (length, TIMES * length))
    least = inf
    for _ in range(TRIES):
        long = cpu_seconds(lambda: run(large))
        if long < NOISE_S:
            return 0.0
        least = min(least, long / max(cpu_seconds(lambda: run(small)), 1e-6))
        if least <= MAX_RATIO:
            break
    return least


@pytest.mark.parametrize("name", UNITS)
def test_finding_is_linear(name):
    slow = {finder: found for finder, run in FINDERS.items() if (found := ratio(run, UNITS[name], LARGE)) > MAX_RATIO}
    assert slow == {}


@pytest.mark.parametrize("name", UNITS)
def test_redacting_is_linear(name):
    assert ratio(redact, UNITS[name], SIZE) <= MAX_RATIO


@pytest.mark.parametrize("name", UNITS)
def test_scrubbing_is_linear(name):
    assert ratio(scrubbed_text, UNITS[name], SIZE) <= MAX_RATIO


def test_a_megabyte_of_beginnings_of_keys_takes_seconds_at_most():
    """It took 15 seconds when each beginning searched the rest of the text for its end."""
    text = f"{BEGIN}\n" * (960_000 // 28)
    assert cpu_seconds(lambda: list(find_private_keys(text.encode()))) < 1


def test_the_test_finds_quadratic_time():
    def quadratic(text: str) -> int:
        return sum(1 for _ in text[::40] for _ in text[::40])

    assert ratio(quadratic, "a", LARGE) > MAX_RATIO
