"""Write a generated page beside the memories, only if it changed, and never over a page that a person wrote."""

from __future__ import annotations

import os

from ..model.errors import Refused, Unwritable
from .contents import MAX_FILE_BYTES
from .whole import replace_whole

PAGE = "MEMORY.md"  # lies beside the areas that the index follows, so it is never taken for a memory
OURS = "<!-- rawkomem:"  # what every generated page begins with


def is_generated(text: str) -> bool:
    """Tell whether a text is a generated page."""
    return text.startswith(OURS)


def write_page(file: str, text: str) -> bool:
    """Write a generated text and return whether the file had to change."""
    known = read_page(file)
    if known == text:
        return False
    if os.path.islink(file) or (known and not is_generated(known)):
        raise Refused(f"{file} was not written by rawkomem", "move it away, or name another file with --out")
    try:
        replace_whole(file, text.encode())
    except OSError as failure:
        raise Unwritable(f"cannot write {file}: {failure.strerror}", "check permissions and free space") from None
    return True


def read_page(file: str) -> str:
    r"""Return the text of a page, with \n line ends whatever git made of them; empty if there is none."""
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            return stream.read(MAX_FILE_BYTES)
    except FileNotFoundError:
        return ""
    except OSError as failure:
        raise Unwritable(f"cannot read {file}: {failure.strerror}", "check permissions") from None
