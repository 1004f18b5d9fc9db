"""Write a generated page next to the memories if its text changed; never overwrite a page that a person wrote."""

from __future__ import annotations

import os

from ..model.errors import Refused, Unwritable
from .contents import read_bytes
from .whole import replace_whole

PAGE = "MEMORY.md"  # outside the areas that the index reads, so it is never read as a memory
OURS = "<!-- rawkomem:"  # the start of every generated page


def is_generated(text: str) -> bool:
    """Tell whether a text is a generated page."""
    return text.startswith(OURS)


def write_page(file: str, text: str) -> bool:
    """Write a generated page and return whether the file changed; raise Refused if a person wrote the file."""
    known = "" if os.path.islink(file) else read_page(file)
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
    r"""Return a page's text with \n line ends, also where git checked out \r\n; empty if the file does not exist."""
    try:
        return read_bytes(file).decode("utf-8", "replace").replace("\r\n", "\n")
    except FileNotFoundError:
        return ""
    except OSError as failure:
        raise Unwritable(f"cannot read {file}: {failure.strerror}", "check permissions") from None
