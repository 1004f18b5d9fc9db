"""Words as SQLite counts them: FTS5's own tokens, and its BM25, for stores that have no FTS5.

A text is taken apart by the very tokenizer of the SQLite store, so that every store finds and ranks the same words.
What a store adds is how many rows it holds, how many tokens they have, and which rows hold a term.
"""

from __future__ import annotations

from functools import cache
from math import log
from typing import cast

import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

K1, B = 1.2, 0.75  # FTS5's bm25() knows no others
LEAST_IDF = 1e-6  # FTS5's weight of a term that more than half of all rows hold
LONGEST = 32_768  # bytes of a token that FTS5 tells from another
BREAK = ""  # stands between the columns of a row: no term equals it, so that no phrase reaches across


@cache
def _tokenizer() -> apsw.FTS5Tokenizer:
    return apsw.Connection(":memory:").fts5_tokenizer("porter", ["unicode61"])


def terms(text: str) -> list[str]:
    """The stems of a text, in order, as FTS5's `porter unicode61` makes them."""
    options = {"include_offsets": False, "include_colocated": False}
    found = cast("list[str]", _tokenizer()(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, **options))
    if 4 * len(text) <= LONGEST:
        return found
    return [term.encode()[:LONGEST].decode(errors="ignore") for term in found]


def row_terms(*columns: str) -> list[str]:
    """The terms of all columns of a row, with a BREAK between two columns."""
    joined = terms(columns[0])
    for column in columns[1:]:
        joined += [BREAK, *terms(column)]
    return joined


def length(row: Sequence[str]) -> int:
    """How many tokens a row has."""
    return len(row) - row.count(BREAK)


def phrases(words: Iterable[str]) -> list[tuple[str, ...]]:
    """What a query asks for: a word is a phrase of one term, or of several where the tokenizer sees more in it."""
    return [phrase for word in words if (phrase := tuple(terms(word.replace('"', ""))))]


def occurrences(phrase: Sequence[str], row: Sequence[str]) -> int:
    """How often a phrase stands in a row of terms."""
    if len(phrase) == 1:
        return row.count(phrase[0])
    wanted = list(phrase)
    starts = (at for at, term in enumerate(row) if term == wanted[0])
    return sum(1 for at in starts if list(row[at : at + len(wanted)]) == wanted)


def idf(rows: int, holding: int) -> float:
    """How much a phrase tells that so many of all rows hold."""
    return max(log((rows - holding + 0.5) / (holding + 0.5)), 0.0) or LEAST_IDF


def bm25(found: Iterable[tuple[float, int]], length: int, average: float) -> float:
    """The score of a row: of each phrase in it the idf and how often it occurs, by the row's length in tokens."""
    shortness = K1 * (1 - B + B * length / average)
    return sum(weight * (times * (K1 + 1)) / (times + shortness) for weight, times in found)
