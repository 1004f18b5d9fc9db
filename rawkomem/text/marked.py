"""Our lines in a file of somebody else, between two marks: put in once, and taken out to the byte."""

from __future__ import annotations

import re

FILE, LINES, LINES_AND_BREAK = "this file", "these lines", "these lines and the line end above them"


def put_block(data: bytes | None, name: str, text: str, head: str = "", below_first_line: bool = False) -> bytes:
    """The file with our lines at its end, or below its first line; a new one starts with `head`.

    Lines of the same name that are there already are replaced. The first mark tells what goes with the lines.
    """
    known = _find(data or b"", name)
    if data is not None and known:
        return data[: known.start("lines")] + _block(name, known["what"].decode(), text) + data[known.end("lines") :]
    if data is None:
        return head.encode() + _block(name, FILE, text)
    at = data.find(b"\n") + 1 if below_first_line else len(data)
    if not data or data[:at].endswith(b"\n"):
        return data[:at] + _block(name, LINES, text) + data[at:]
    return data + b"\n" + _block(name, LINES_AND_BREAK, text)


def cut_block(data: bytes, name: str) -> bytes | None:
    """The file as it was before: without our lines, or None where all of it was ours. As it is, without any."""
    known = _find(data, name)
    if not known:
        return data
    what = known["what"].decode()
    left = data[: known.start("lines")] + data[known.end("lines") :]
    if what == FILE and left.count(b"\n") <= 1 and (not left or left.startswith(b"#!")):
        return None
    return data[: known.start("lines") - 1] + data[known.end("lines") :] if what == LINES_AND_BREAK else left


def _block(name: str, what: str, text: str) -> bytes:
    return f"# >>> {name}: {what} >>>\n{text}# <<< {name} <<<\n".encode()


def _find(data: bytes, name: str) -> re.Match[bytes] | None:
    quoted = re.escape(name.encode())
    lines = rb"(?P<lines>^# >>> %s: (?P<what>[a-z ]+) >>>\n.*?^# <<< %s <<<(?:\n|\Z))" % (quoted, quoted)
    return re.search(lines, data, re.MULTILINE | re.DOTALL)
