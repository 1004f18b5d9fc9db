"""Separate the text of memories from the frame of a prompt, and redact the finished text.

A writer puts each text of a memory between two marks with `held`, and `finish` removes the marks. Only text between
marks is redacted, so redaction cannot remove the end of a fence.
"""

from __future__ import annotations

import os
import sys

from ...text.clean import one_line
from ...text.safe import FENCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OPEN, CLOSE = "\ufdd0", "\ufdd1"  # non-characters: `clean` removes them from every text of a memory
MIN_KEY_CHARS = 20  # of the shortest key that can be found without RE2
MAX_ATTRIBUTE_CHARS = 600
SEPARATORS = str.maketrans("-_./:", "     ")


def held(text: str) -> str:
    """Return the cleaned text of a memory between marks."""
    return f"{OPEN}{text}{CLOSE}"


def unmarked(text: str) -> str:
    """Return a text without marks, not redacted."""
    return text.replace(OPEN, "").replace(CLOSE, "")


def finish(text: str) -> str:
    """Return a text without marks, with secrets and personal data in the text of memories redacted."""
    pieces = text.replace(CLOSE, OPEN).split(OPEN)  # alternately frame and memory
    final = "".join(pieces)
    if "re2" not in sys.modules and not any(map(_may_leak, pieces[1::2])):
        return final  # without RE2, only keys with a known prefix can be found
    from ...redaction.find import find_secrets, leaks_again  # a quarter of the start time

    if not leaks_again(final):
        return final
    while True:  # it ends: each round leaves fewer characters outside of tags
        redacted = _redact(pieces, [(secret.start, secret.end, secret.tag) for secret in find_secrets(final)])
        if redacted == pieces:
            return final
        pieces, final = redacted, "".join(redacted)


def fenced(note: str, items: Sequence[tuple[Mapping[str, str], str]]) -> str:
    """Return items, each with facts and a defused text, in a fence whose nonce no memory can know."""
    nonce = new_nonce()
    lines = [f'<{FENCE}{nonce} note="{note}">']
    for facts, text in items:
        named = " ".join(f'{key}="{held(_attribute(value))}"' for key, value in facts.items() if value)
        lines.append(f"<memory-{nonce} {named}>\n{held(text)}\n</memory-{nonce}>")
    return finish("\n".join([*lines, f"</{FENCE}{nonce}>"]) + "\n")


def new_nonce(size: int = 4) -> str:
    """Return `size` random bytes in hexadecimal, for the tags of a fence: no memory can know them."""
    return os.urandom(size).hex()


def fence_lines(name: str, nonce: str, note: str, lines: Sequence[str]) -> str:
    """Return marked lines in a fence whose tags contain a nonce."""
    return finish("\n".join([f'<{name}{nonce} note="{note}">', *lines, f"</{name}{nonce}>"]) + "\n")


def _attribute(text: str) -> str:
    line = one_line(text, MAX_ATTRIBUTE_CHARS)
    return line.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


def _may_leak(text: str) -> bool:
    """Tell whether a text has an `@` or a word as long as a key. Paths and ids of short words do not count."""
    return "@" in text or any(len(word) >= MIN_KEY_CHARS and not _is_slug(word) for word in text.split())


def _is_slug(word: str) -> bool:
    return word.islower() and all(len(part) < MIN_KEY_CHARS for part in word.translate(SEPARATORS).split())


def _redact(pieces: Sequence[str], secrets: Sequence[tuple[int, int, str]]) -> list[str]:
    """Return the pieces with each secret replaced by its tag, up to the end of the memory's piece that it is in."""
    redacted, waiting, begin = [], [*reversed(secrets)], 0
    for number, piece in enumerate(pieces):
        end, out, at = begin + len(piece), "", 0
        while number % 2 and waiting and waiting[-1][0] < end:
            start, stop, tag = waiting.pop()
            first, last = max(start - begin, at), min(stop - begin, len(piece))
            if first < last:
                out, at = out + piece[at:first] + tag, last
        redacted.append(out + piece[at:])
        begin = end
    return redacted
