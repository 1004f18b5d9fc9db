"""Ranking with numpy: BM25 over posting lists, and the best of many scores with all that tie with the last of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..bm25 import K1, B, idf, occurrences

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int32]
    Postings = tuple[Numbers, NDArray[np.uint16]]  # rows that hold a phrase, and how often
    Scores = NDArray[np.float64]  # by row number


def score_rows(found: Sequence[Postings], lengths: NDArray[np.int32], rows: int, tokens: int) -> Scores:
    """BM25 of every row number, 0 where no phrase occurs. `lengths`: tokens by row number."""
    scores = np.zeros(len(lengths))
    for numbers, times in found:
        shortness = K1 * (1 - B + B * lengths[numbers] / (tokens / rows))
        scores[numbers] += idf(rows, len(numbers)) * (times * (K1 + 1)) / (times + shortness)
    return scores


def phrase_postings(phrase: Sequence[str], of: Callable[[str], Postings], row: Callable[[int], list[str]]) -> Postings:
    """The postings of a phrase: of several terms, `row` tells whether they stand side by side."""
    if len(phrase) == 1:
        return of(phrase[0])
    numbers = of(phrase[0])[0]
    for term in phrase[1:]:
        numbers = np.intersect1d(numbers, of(term)[0], assume_unique=True)
    times = np.array([occurrences(phrase, row(int(number))) for number in numbers], dtype=np.uint16)
    return numbers[times > 0], times[times > 0]


def best(scores: Scores, limit: int, least: float = 0.0) -> NDArray[np.int64]:
    """The row numbers of the highest scores above `least`, best first, with all that equal the last of them."""
    above = np.flatnonzero(scores > least)
    if limit and len(above) > limit:
        last = np.partition(scores[above], len(above) - limit)[len(above) - limit]
        above = above[scores[above] >= last]
    return above[np.argsort(-scores[above], kind="stable")] if limit else above[:0]
