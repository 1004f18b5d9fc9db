"""Remove a purged text from what this machine remembers: from the tables of `local-….db`, from the ledger, and from the
files in `.rawko/local` and in the folder of records; and find the files that still hold it.

ROWS and FILES name every table and every file. Add a row there for a new table or file.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from unicodedata import normalize

from .git_folder import kept_folder
from .layout import MARKER, Layout, is_own_file, relative_path, walk
from .ledger import PURGED_TEXT, forget_in_ledger
from .private import (
    ASIDE,
    EDITS,
    RECORDS,
    SHORTENED,
    TALKS,
    UNSAVED,
    replace_private,
)
from .records import change, erase_removed
from .session_records import DROPPED

# Compare texts by their letters and digits: a record may hold a text on one line, cut short, quoted or escaped.

MIN_CHARS = 8  # letters and digits of a text: a shorter one is found by chance
MIN_LINE_CHARS = 16  # of a line of a longer text
PIECE_CHARS = 40  # letters and digits: a record with so many of a text in a row holds a part of it
SIGNS = bytes(number for number in range(128) if not chr(number).isalnum())
MAX_LINES = 50  # of a text, looked for in the bytes of files
ESCAPED = re.compile(r"\\(?:u([0-9a-f]{4})|.)")  # in JSON
SEVERAL = re.compile(rf"{re.escape(PURGED_TEXT)}(?:[ \t]+{re.escape(PURGED_TEXT)})+")


class PurgedText:
    """Texts that are purged, without those that are too short to be found."""

    def __init__(self, texts: Iterable[str]):
        letters = {text: _letters(text) for text in texts}
        letters = {text: all for text, all in letters.items() if len(all) >= MIN_CHARS}
        lines = {
            line.strip(): _letters(line)
            for text in letters
            for line in text.split("\n")
        }
        letters |= {
            line: all for line, all in lines.items() if len(all) >= MIN_LINE_CHARS
        }
        self._letters = {*letters.values()}
        # parts of each text, which overlap, and its end
        self._parts = {
            text[first : first + PIECE_CHARS]
            for text in self._letters
            for first in (
                *range(0, len(text) - PIECE_CHARS, PIECE_CHARS // 2),
                max(0, len(text) - PIECE_CHARS),
            )
        }
        starts = {
            re.escape(text[:PIECE_CHARS].lower().encode("utf-8", "replace"))
            for text in [*letters][:MAX_LINES]
        }
        self._bytes = re.compile(b"|".join(starts) or b"$^")

    def __bool__(self) -> bool:
        return bool(self._letters)

    def is_in(self, text: str) -> bool:
        """Return whether a text, plain or escaped as in JSON, holds one of the texts or a long part of one."""
        plain = {text, ESCAPED.sub(_unescaped, text)} if "\\" in text else {text}
        return any(
            part in letters for letters in map(_letters, plain) for part in self._parts
        )

    def is_in_bytes(self, data: bytes) -> bool:
        """Return whether bytes hold the start of a line of the texts."""
        return bool(self._bytes.search(data.lower()))

    def cut(self, text: str) -> str:
        """Return a text in which `[PURGED]` replaces each word that belongs to one of the texts."""
        sizes = {gone: min(len(gone), PIECE_CHARS) for gone in self._letters}
        parts = {part for gone in sizes for part in _windows(gone, sizes[gone])}
        signs = [
            (letter, at) for at, sign in enumerate(text) for letter in _letters(sign)
        ]
        whole = "".join(letter for letter, _ in signs)
        marked = set[int]()
        for size in {*sizes.values()}:
            for first, part in enumerate(_windows(whole, size)):
                if part in parts:
                    marked.update(at for _, at in signs[first : first + size])

        def without(word: re.Match[str]) -> str:
            return word[0] if marked.isdisjoint(range(*word.span())) else PURGED_TEXT

        return SEVERAL.sub(PURGED_TEXT, re.sub(r"\S+", without, text))


def _letters(text: str) -> str:
    """Return the letters and digits of a text in lower case, without accents."""
    if text.isascii():  # a ledger has thousands of blocks
        return text.lower().encode().translate(None, SIGNS).decode()
    return "".join(filter(str.isalnum, normalize("NFKD", text).casefold()))


def _windows(letters: str, size: int) -> Iterator[str]:
    """Yield every part of a text that has this length."""
    return (letters[first : first + size] for first in range(len(letters) - size + 1))


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else " "


# Every table of `local-….db`: what happens to a row that holds the text. An empty statement: the table holds no text of
# a person, but ids, checksums, times and numbers. The blocks of the ledger are rewritten by ledger.py.

REMOVE = "DELETE FROM {} WHERE number = ?"
# The id of a draft stays, so that the same words of the same session make no new draft.
EMPTY = f"UPDATE {{}} SET draft = '', decision = coalesce(nullif(decision, ''), '{DROPPED}') WHERE number = ?"
ROWS = {
    **dict.fromkeys(("prompts", "news", "usage", "transcripts", "recorded", "rule_files"), REMOVE),
    **dict.fromkeys(("sink_queue", "sink_dropped"), REMOVE),
    "drafts": EMPTY,
    **dict.fromkeys(("facts", "asked", "injected", "accesses", "effects", "learned", "changes", "arrivals", "purges"), ""),
    **dict.fromkeys(("calls", "seen", "blocks", "chain", "chain_notes"), ""),
}  # fmt: skip
# Every file in a local folder, by the pattern of its path: what happens to it if it holds the text. The index is
# rebuilt by the caller, and the other files hold no text.
CUT = "cut"
DELETE = "delete"
OTHER = ""
FILES = {
    f"{TALKS}/*": DELETE, "*.log": DELETE, "*.writing": DELETE, f"{UNSAVED}/*": CUT, f"{EDITS}/*": CUT, f"{SHORTENED}/*": CUT,
    f"{RECORDS}-*.db*": OTHER, "index-*.db*": OTHER, "acts-*.table": DELETE, "*.lock": OTHER, f"{MARKER}*": OTHER, ".gitignore": OTHER,
}  # fmt: skip


def forget_text(layout: Layout, text: PurgedText) -> Counter[str]:
    """Remove a text from the records and files of this machine; return place → how often it was there.

    Raise Unwritable or OSError.
    """
    gone: Counter[str] = Counter()
    with change(layout) as db:
        for table in filter(ROWS.get, ROWS):
            for number, *cells in db.execute(f"SELECT * FROM {table}").fetchall():
                if any(isinstance(cell, str) and text.is_in(cell) for cell in cells):
                    db.execute(ROWS[table].format(table), (number,))
                    gone[table] += 1
    if count := forget_in_ledger(layout, "", (), text.is_in):
        gone["ledger"] = count
    erase_removed(layout)
    folders = dict.fromkeys((layout.local, kept_folder(layout)))
    for folder, path in ((top, path) for top in folders for path in files_in(top)):
        what = how_purged(relative_path(path, folder))
        if what not in (DELETE, CUT) or ASIDE in path:
            continue
        with open(path, "rb") as stream:
            old = stream.read().decode("utf-8", "surrogateescape")
        if text.is_in(old):
            gone[path] += 1
            new = text.cut(old) if what == CUT else ""
            if new.strip() in ("", PURGED_TEXT):
                os.unlink(path)
            else:
                data = new.encode("utf-8", "surrogateescape")
                replace_private(path, data, durable=True)
    return gone


def how_purged(path: str) -> str | None:
    """Return what a purge does with a file, by its path below a local folder; None if the file is not known."""
    return next(
        (what for pattern, what in FILES.items() if fnmatch(path, pattern)), None
    )


def files_in(folder: str) -> Iterator[str]:
    """Yield the plain files of this user below a folder. Raise Refused if a folder cannot be listed."""
    for place, _, names in walk(folder):
        yield from filter(is_own_file, (os.path.join(place, name) for name in names))
