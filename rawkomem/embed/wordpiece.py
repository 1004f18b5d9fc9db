"""WordPiece: cuts a text into rows of a vocabulary, exactly as BERT's uncased models do.

Clean, lower-case and strip accents; split at spaces, punctuation and CJK characters; then take the longest known piece
from the left of each word. Special tokens such as `[MASK]` are not recognized, because a text is data.
"""

from __future__ import annotations

from itertools import chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_WORD_CHARS = 100  # a longer word is unknown, as in BERT; this also limits the work on hashes and base64
MAX_CACHED_WORDS = 65_536  # about 14 MB; a megabyte of mixed documentation has half as many distinct words
MAX_CACHED_CHARS = 8_192  # about 1 MB; enough for the scripts of one repository
LOWER = bytes(range(256)).lower()  # with CONTROLS and MARKS: plain() for ASCII
CONTROLS = bytes(code for code in range(128) if code == 127 or (code < 32 and code not in b"\t\n\r"))
MARKS = [(mark, f" {mark} ") for mark in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"]
INNER = "##"  # marks a piece that does not start its word
DROPPED = ("Cc", "Cf", "Co", "Cs", "Mn")  # controls, formats, private use, surrogates; accents, once decomposed
CJK = (  # the blocks that the `tokenizers` library splits; its error 2B920 (for 2B820) is kept, so that ids are equal
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """Cuts texts into rows. `find` looks a piece up (-1: unknown); `longest`: characters of the longest piece."""

    def __init__(self, find: Callable[[str], int], longest: int, unknown: tuple[int, ...] = ()):
        self.find = find
        self._longest = longest
        self._unknown = unknown  # the rows of an unknown word
        self._cut: dict[str, tuple[int, ...]] = {}

    def rows(self, text: str) -> list[int]:
        """Return the rows of a text's pieces, in order."""
        found = words(text)
        pieces = list(map(self._cut.get, found))
        if None in pieces:
            pieces = [self._learn(word) if known is None else known for word, known in zip(found, pieces, strict=True)]
        return list(chain.from_iterable(pieces))  # type: ignore[arg-type]

    def _learn(self, word: str) -> tuple[int, ...]:
        if len(self._cut) >= MAX_CACHED_WORDS:
            self._cut.clear()  # rare, and cheaper than tracking the order of use
        pieces = self._cut[word] = self._pieces(word)
        return pieces

    def _pieces(self, word: str) -> tuple[int, ...]:
        if len(word) > MAX_WORD_CHARS:
            return self._unknown
        rows = []
        start = 0
        while start < len(word):
            row, start = self._longest_from(word, start)
            if row < 0:
                return self._unknown
            rows.append(row)
        return tuple(rows)

    def _longest_from(self, word: str, start: int) -> tuple[int, int]:
        prefix = INNER if start else ""
        for end in range(min(len(word), start + self._longest), start, -1):
            row = self.find(prefix + word[start:end])
            if row >= 0:
                return row, end
        return -1, len(word)


def words(text: str) -> list[str]:
    """Return the words of a text: cleaned, lower-cased, without accents, split at punctuation and CJK characters."""
    if not text.isascii():
        from unicodedata import normalize  # a megabyte of tables that most queries do not need

        return normalize("NFD", text).translate(PLAIN).split()
    simple = text.encode().translate(LOWER, CONTROLS).decode()
    for mark, spaced in MARKS:  # twice as fast as one translate() to strings of several characters
        if mark in simple:
            simple = simple.replace(mark, spaced)
    return simple.split()


def knows(text: str) -> bool:
    """Return whether a model that was trained on English can embed a text.

    Its vocabulary has the letters of other scripts, but few of their words: any two such texts would look alike.
    """
    if text.isascii():
        return True
    from ..text.scripts.signs import is_mostly_foreign  # tables that most texts do not need

    return not is_mostly_foreign(words(text))


def plain(code: int) -> str:
    """Return what one decomposed character becomes: nothing, a space, itself lower-cased, or itself between spaces."""
    from unicodedata import category as category_of  # as in words()

    char = chr(code)
    category = category_of(char)
    if char in "\t\n\r" or (char.isspace() and category != "Cc"):
        return " "
    if category in DROPPED or char == "\ufffd":
        return ""
    char = char.lower()
    return f" {char} " if _stands_alone(char, category) else char


def _stands_alone(char: str, category: str) -> bool:
    if char.isascii():
        return not char.isalnum()  # also $+<=>^`|~, which are not punctuation in Unicode
    return category[0] == "P" or any(low <= ord(char) <= high for low, high in CJK if len(char) == 1)


class _Plain(dict[int, str]):
    """Caches plain() for str.translate."""

    def __missing__(self, code: int) -> str:
        found = plain(code)
        if len(self) < MAX_CACHED_CHARS:
            self[code] = found
        return found


PLAIN = _Plain()
