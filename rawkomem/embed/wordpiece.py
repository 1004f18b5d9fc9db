"""WordPiece: a text as rows of a vocabulary, exactly as BERT's uncased models cut it.

Clean, lower-case and strip accents; split at spaces, punctuation and CJK characters; then take the longest known piece
from the left of each word. Special tokens such as `[MASK]` are not recognized in a text: it is data.
"""

from __future__ import annotations

from itertools import chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_CHARS = 100  # BERT: a longer word is unknown; it also bounds the work on hashes and base64
MAX_WORDS = 65_536  # cached words: about 14 MB; a megabyte of mixed documentation has half as many distinct ones
MAX_PLAIN = 8_192  # cached characters: about 1 MB; enough for the scripts of one repository
LOWER = bytes(range(256)).lower()  # plain() for ASCII: this table, less the controls, the marks between spaces
CONTROLS = bytes(code for code in range(128) if code == 127 or (code < 32 and code not in b"\t\n\r"))
MARKS = [(mark, f" {mark} ") for mark in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"]
INNER = "##"  # marks a piece that does not start its word
DROPPED = ("Cc", "Cf", "Co", "Cs", "Mn")  # controls, formats, private use, surrogates; accents, once decomposed
CJK = (  # the blocks that the `tokenizers` library spaces out; its 2B920 (for 2B820) is kept, so that ids stay equal
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
    """Cuts texts into rows; `find` looks a piece up (-1: not there), `longest` is the most characters a piece has."""

    def __init__(self, find: Callable[[str], int], longest: int, unknown: tuple[int, ...] = ()):
        self.find = find
        self._longest = longest
        self._unknown = unknown  # what an unknown word gives
        self._cut: dict[str, tuple[int, ...]] = {}

    def rows(self, text: str) -> list[int]:
        """Return the rows of a text's pieces, in order."""
        found = words(text)
        pieces = list(map(self._cut.get, found))
        if None in pieces:
            pieces = [self._learn(word) if known is None else known for word, known in zip(found, pieces, strict=True)]
        return list(chain.from_iterable(pieces))  # type: ignore[arg-type]

    def _learn(self, word: str) -> tuple[int, ...]:
        if len(self._cut) >= MAX_WORDS:
            self._cut.clear()  # rare, and cheaper than keeping an order of use
        pieces = self._cut[word] = self._pieces(word)
        return pieces

    def _pieces(self, word: str) -> tuple[int, ...]:
        if len(word) > MAX_CHARS:
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
    """Return the text cleaned, lower-cased, without accents, split at spaces, punctuation and CJK characters."""
    if not text.isascii():
        from unicodedata import normalize  # a megabyte of tables that most queries do without

        return normalize("NFD", text).translate(PLAIN).split()
    simple = text.encode().translate(LOWER, CONTROLS).decode()
    for mark, spaced in MARKS:  # twice as quick as one translate() to strings of several characters
        if mark in simple:
            simple = simple.replace(mark, spaced)
    return simple.split()


def knows(text: str) -> bool:
    """Return whether a model that was trained on English can say anything about a text.

    Its vocabulary holds the letters of other scripts, but few of their words: any two such texts would look alike.
    """
    if text.isascii():
        return True
    from ..text.scripts.signs import is_mostly_foreign  # tables that most texts do without

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
        return not char.isalnum()  # also $+<=>^`|~, which are no punctuation to Unicode
    return category[0] == "P" or any(low <= ord(char) <= high for low, high in CJK if len(char) == 1)


class _Plain(dict[int, str]):
    """Caches plain() for str.translate."""

    def __missing__(self, code: int) -> str:
        found = plain(code)
        if len(self) < MAX_PLAIN:
            self[code] = found
        return found


PLAIN = _Plain()
