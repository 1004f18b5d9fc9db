"""Finds secrets and personal data in a text, and redacts them: the rules, assigned secrets, and keys
of several lines.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..model.values import record
from ..text.clean import visible_text
from .assigned import find_assigned, find_in_tables, is_plain_secret, with_english_words
from .values import (
    CHECKS,
    CONTEXT_CHECKS,
    LITERALS,
    NUMBER_CHECKS,
    PERSONAL_RULES,
    PREFIX_RULES,
    RULES,
    SHAPE_RULES,
    Hit,
    Rule,
    compiled,
    iban_in,
    is_random,
    occurring,
    phone_in,
)

# The start of a block, its end, and the maximum number of bytes between them (0: no maximum).
MAX_KEY_BYTES = 16_384  # bytes of a cut-off key: an RSA key of 16,384 bits has 12,700
KEY_BLOCKS = (
    (rb"-----BEGIN [^\n]{0,60}?-----", rb"-----END (?:[^\n]{0,60}?-----)?", 0),
    (rb"Private-Lines: [^\n]*\n?", rb"Private-MAC: [^\n]*", MAX_KEY_BYTES),  # PuTTY
)
BASE64 = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
KEY_HEADERS = (b"Proc-Type:", b"DEK-Info:", b"Version:", b"Comment:")
# quotes, string concatenation, quoted mail, comments around the lines of a key
WRAPPING = b" \t\r\"'`+,;\\>|#*"

KUBERNETES_KIND = r"(?im)^\s*[\"']?kind[\"']?:\s*[\"']?secret[\"']?\s*,?\s*$"
KUBERNETES_DATA = (
    r"(?m)^[\"']?(data|stringData)[\"']?:[ \t]*\n((?:[ \t]+[^\n]*(?:\n|$))+)"
)
KUBERNETES_VALUE = r"(?m)^\s+(?:[\"']?[\w.-]+[\"']?:\s*(?:[>|]-?\s*\n\s*)?)[\"']?([0-9A-Za-z+/]{10,}={0,2})[\"']?\s*$"
# A line below `stringData`. Group 1: the key; 2: the value.
KUBERNETES_LINE = r"(?m)^[ \t]+[\"']?([\w.-]+)[\"']?:[ \t]+[\"']?([^\s\"'|>][^\"'\n]*[^\s\"'])[\"']?\s*$"


def find_private_keys(data: bytes) -> Iterator[Hit]:
    """Yield each whole PEM, PGP or PuTTY private key; a cut-off key up to the last line that belongs to it."""
    for begin, finish, most in KEY_BLOCKS:
        blocks = list(re.finditer(begin, data))
        limits = [block.start() for block in blocks[1:]] + [len(data)]
        for block, limit in zip(blocks, limits, strict=False):
            if b"PRIVATE KEY" not in block[0] and not most:
                continue  # a certificate or a public key
            limit = min(limit, block.end() + most) if most else limit
            closing = re.compile(finish).search(data, block.end(), limit)
            end = closing.end() if closing else _torn_end(data, block.end(), limit)
            yield block.start(), end, "private-key"


def _torn_end(data: bytes, at: int, limit: int) -> int:
    """Return the end of the lines before `limit` that can belong to a key without an END line."""
    end = at
    for line in (
        data[at : min(limit, at + MAX_KEY_BYTES)].replace(b"\\n", b" \n").split(b"\n")
    ):
        body = line.strip(WRAPPING)
        if not BASE64.issuperset(body) and not body.startswith(KEY_HEADERS):
            break
        at += len(line) + 1
        end = at - 1 if body else end
    return min(end, len(data))


def find_kubernetes(data: bytes) -> Iterator[Hit]:
    """Yield the base64 values under `data:` of a Kubernetes secret, and the passwords under `stringData:`."""
    if (
        b"ata" not in data
        or b"kind" not in data
        or not compiled(KUBERNETES_KIND).search(data)
    ):
        return
    for block in compiled(KUBERNETES_DATA).finditer(data):
        for value in compiled(KUBERNETES_VALUE).finditer(data, *block.span(2)):
            yield *value.span(1), "kubernetes-secret"
        lines = compiled(KUBERNETES_LINE) if block.group(1) == b"stringData" else None
        for line in lines.finditer(data, *block.span(2)) if lines else ():
            if is_plain_secret(
                *(line.group(part).decode("latin-1") for part in (1, 2))
            ):
                yield *line.span(2), "kubernetes-secret"


ESCAPES = ("\\_", "\\-", "\\.", "\\*", "\\~")  # how Markdown writes characters of keys
TAG = re.compile(rb"\[REDACTED_[^\]\n]{1,60}\]")
# a card, account or telephone number has at least nine digits
LONG_NUMBER = r"\d(?:[ .()/-]{0,3}\d){8,}"
# Rules whose literal is only a punctuation mark are tried if the text has a run of characters as long as their keys.
LONG_RUNS = (
    (r"[\w-]{24}", frozenset((".", "_", "|"))),
    ("[0-9a-f]{24}", frozenset((":", "-"))),
)
# checks whose patterns may match too much
TRIMMING_CHECKS = {"iban": iban_in, "phone": phone_in}
# marks of characters that are in a tag or in a hit already
IN_TAG = b"\1"
IN_HIT = b"\2"
CONTEXT_LENGTH = 16  # characters before and after a match that a check may read
MAX_CHECKSUM_LENGTH = 96  # characters: `sha512-` and 88 in base64
PLAIN_ADDRESS = r"[\w.%+-]{1,64}@(?:[^\W_][\w-]*\.)+[^\W\d_]{2,}\b"


@record
class Secret:
    """One secret or piece of personal data: its position in characters, and the rule that found it."""

    start: int
    end: int
    rule: str
    line: int

    @property
    def pii(self) -> bool:
        """Return whether it is personal data rather than a credential."""
        return RULES[self.rule].pii

    @property
    def tag(self) -> str:
        """Return the tag that replaces it."""
        return RULES[self.rule].tag


def find_secrets(text: str, pii: bool = True) -> list[Secret]:
    """Return every secret in a text, in order and without overlaps; with `pii`, also personal data."""
    seen, places = without_escapes(*visible_text(text))
    data = _bytes(seen)
    english = data if (known := with_english_words(seen)) == seen else _bytes(known)
    secrets = []
    line = 1
    counted = 0
    for start, end, name in _merged_hits(data, _all_hits(data, english, pii)):
        if places is not None:
            start = places[start]
            end = places[end - 1] + 1
        line = line + text.count("\n", counted, start)
        counted = start
        secrets.append(Secret(start, end, name, line))
    return secrets


def redact(text: str, pii: bool = True) -> str:
    """Return the text with a tag such as [REDACTED_AWS_KEY] for each secret; with `pii`, also for personal data."""
    # Terminates: each round leaves fewer characters outside tags.
    while secrets := find_secrets(text, pii):
        text = replaced(text, [(one.start, one.end, one.rule) for one in secrets])
    return text


def replaced(
    text: str, hits: Iterable[Hit], stand_in: Callable[[str], str] | None = None
) -> str:
    """Return the text with the tag of its rule for each hit, or `stand_in` for personal data."""
    pieces = []
    at = 0
    for start, end, name in hits:
        rule = RULES[name]
        tag = stand_in(text[start:end]) if stand_in and rule.pii else rule.tag
        pieces += [text[at:start], tag]
        at = end
    return "".join([*pieces, text[at:]])


def has_patterns() -> bool:
    """Return whether this process has compiled patterns of secrets."""
    return compiled.cache_info().currsize > 0


def leaks_again(text: str) -> bool:
    """Return whether a redacted text still holds a secret or personal data.

    If no pattern is compiled yet, only plain string search is used, because the patterns would slow a cold command down.
    """
    if has_patterns():
        return bool(find_secrets(text))
    seen, _ = visible_text(text)
    return any(_plain_hits(seen)) or any(find_private_keys(_bytes(seen)))


def without_escapes(
    text: str, places: Sequence[int] | None
) -> tuple[str, Sequence[int] | None]:
    """Return the text without the backslashes of Markdown, and the old position of each character."""
    if "\\" not in text or not any(mark in text for mark in ESCAPES):
        return text, places
    kept = [
        at
        for at in range(len(text))
        if text[at] != "\\" or text[at : at + 2] not in ESCAPES
    ]
    return "".join([text[at] for at in kept]), kept if places is None else [
        places[at] for at in kept
    ]


def engine() -> str:
    """Return `re2`, or `plain` if google-re2 is missing: then only plain string search is used."""
    try:
        import re2  # noqa: F401
    except ImportError:
        return "plain"
    return "re2"


def _bytes(text: str) -> bytes:
    return text.encode("latin-1", "rawkomem-wide")


def _all_hits(data: bytes, english: bytes, pii: bool) -> Iterator[Hit]:
    """Yield the hits in a text; `english` is the same text with words such as password translated into English."""
    yield from find_private_keys(data)
    if engine() == "plain":
        yield from _plain_hits(data.decode("latin-1"))
        return
    words = found = occurring(LITERALS, data)
    for run, marks in LONG_RUNS:
        if not compiled(run, False).search(data):
            words -= marks
    for rule in (*PREFIX_RULES, *SHAPE_RULES):
        if not words.isdisjoint(rule.literals):
            yield from _rule_hits(rule, data)
    yield from find_assigned(english)
    yield from find_kubernetes(data)
    yield from find_in_tables(english)
    numbers = pii and compiled(LONG_NUMBER, False).search(data)
    for rule in PERSONAL_RULES if pii else ():
        if (numbers or rule.check not in NUMBER_CHECKS) and not found.isdisjoint(
            rule.literals
        ):
            yield from _rule_hits(rule, data)


def _rule_hits(rule: Rule, data: bytes) -> Iterator[Hit]:
    for match in compiled(rule.pattern).finditer(data):
        start, end = match.span(1)
        # the period of the sentence
        end -= data[start:end].endswith(b".") and not rule.pii
        value = data[start:end].decode("latin-1")
        if rule.check in TRIMMING_CHECKS:
            end = start + len(TRIMMING_CHECKS[rule.check](value))
        if end > start and _accepted(rule.check, value, data, start, end):
            yield start, end, rule.name


def _accepted(check: str, value: str, data: bytes, start: int, end: int) -> bool:
    if check and _in_checksum(data, start):
        return False
    if check not in CONTEXT_CHECKS:
        return bool(CHECKS[check](value))
    before = data[max(0, start - CONTEXT_LENGTH) : start].decode("latin-1")
    return CONTEXT_CHECKS[check](
        value, before, data[end : end + CONTEXT_LENGTH].decode("latin-1")
    )


def _in_checksum(data: bytes, at: int) -> bool:
    """Return whether this position is inside a base64 hash, as in lock files: `sha256=…`, `sha512-…`."""
    before = data[max(0, at - MAX_CHECKSUM_LENGTH) : at]
    start = before.rfind(b"sha")
    return start >= 0 and not any(c in b" \t\r\n,;\"'" for c in before[start:])


def _plain_hits(text: str) -> Iterator[Hit]:
    """Yield keys with a known prefix and mail addresses, without RE2."""
    for rule in PREFIX_RULES:
        for literal in rule.literals:
            # one pattern of all literals would take longer to compile than a prompt may wait
            if len(literal) > 3 and literal in text:
                key = rf"(?=({re.escape(literal)}[\w.=+/~-]{{16,100}}))"
                for match in re.finditer(key, text, re.ASCII):
                    if is_random(match[1]):
                        yield *match.span(1), rule.name
    for match in re.finditer(PLAIN_ADDRESS, text) if "@" in text else ():
        start, end = match.span()
        around = (
            text[max(0, start - CONTEXT_LENGTH) : start],
            text[end : end + CONTEXT_LENGTH],
        )
        if CONTEXT_CHECKS["email"](match[0], *around):
            yield start, end, "email"


def _merged_hits(data: bytes, hits: Iterator[Hit]) -> list[Hit]:
    """Return the hits in order: overlapping secrets are merged, a secret wins over personal data, tags stay."""
    marks = bytearray(len(data))
    for tag in TAG.finditer(data):
        marks[tag.start() : tag.end()] = IN_TAG * len(tag[0])
    merged: list[Hit] = []
    for start, end, name in sorted(
        hits, key=lambda hit: (RULES[hit[2]].pii, hit[0], -hit[1])
    ):
        is_personal = RULES[name].pii
        before = bytes(marks[start:end])
        if (is_personal and before.strip(b"\0")) or (
            name != "private-key" and IN_TAG in before
        ):
            continue
        if merged and not is_personal and start < merged[-1][1]:
            first, last, rule = merged[-1]
            merged[-1] = (first, max(end, last), rule)
        else:
            merged.append((start, end, name))
        marks[start:end] = IN_HIT * (end - start)
    return sorted(merged)


def _encode_wide(failure: UnicodeError) -> tuple[bytes, int]:
    """Encode a character beyond Latin-1 as one byte, so that positions stay; patterns treat it as a letter."""
    assert isinstance(failure, UnicodeEncodeError)
    return b"\xff" * (failure.end - failure.start), failure.end


codecs.register_error("rawkomem-wide", _encode_wide)
