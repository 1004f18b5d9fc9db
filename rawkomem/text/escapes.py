"""Find terminal escape sequences (ECMA-48) in a text."""

from __future__ import annotations

ESCAPE = "\x1b"
STRINGS = "]PX^_\x9d\x90\x98\x9e\x9f"  # OSC, DCS, SOS, PM, APC: the character after ESC, and the one-character form
INTRODUCERS = "\x1b\x9b\x9d\x90\x98\x9e\x9f"


def sequences(text: str) -> list[tuple[int, int]]:
    """Return start and end of each escape sequence, in order."""
    if not any(character in text for character in INTRODUCERS):
        return []
    found = []
    at = 0
    while at < len(text):
        end = _end(text, at) if text[at] in INTRODUCERS else at
        if end > at:
            found.append((at, end))
        at = max(end, at + 1)
    return found


def without_sequences(text: str) -> str:
    """Return the text without its escape sequences."""
    pieces, end = [], 0
    for start, stop in sequences(text):
        pieces.append(text[end:start])
        end = stop
    return "".join([*pieces, text[end:]]) if pieces else text


def _end(text: str, at: int) -> int:
    kind = text[at]
    if kind == ESCAPE:
        at += 1
        kind = text[at : at + 1]
        if kind == "":
            return at
    if kind in STRINGS:
        return _string_end(text, at + 1)
    if kind in "[\x9b":
        return _final(text, _run(text, at + 1, "0", "?"), "@")
    return _final(text, at, "0")


def _final(text: str, at: int, lowest: str) -> int:
    """Return the index after the intermediate characters and the final one, if there is one."""
    at = _run(text, at, " ", "/")
    return at + 1 if lowest <= text[at : at + 1] <= "~" else at


def _run(text: str, at: int, lowest: str, highest: str) -> int:
    while lowest <= text[at : at + 1] <= highest:
        at += 1
    return at


def _string_end(text: str, at: int) -> int:
    """Return the index after the terminator. An unterminated string ends with its line: later lines are kept."""
    while at < len(text) and text[at] not in "\x07\x9c\x1b\r\n":
        at += 1
    if text.startswith("\x1b\\", at):
        return at + 2
    return at + 1 if text[at : at + 1] in ("\x07", "\x9c") else at
