"""Keeps posting lists in LanceDB tables: which passages contain a term, and how often.

A segment holds the postings of one batch, with one row per term. Eight segments of a level are merged into one of the
next level, so that a term has few rows. Deleted passages stay in the lists until a merge.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..bm25 import BREAK, occurrences
from .conditions import among
from .rfc import TEXT, required

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Postings = tuple[NDArray[np.int32], NDArray[np.uint16]]  # rows that contain a phrase, and how often

SEGMENTS_PER_LEVEL = 8
SCHEMA = pa.schema(required(term=TEXT, segment=pa.int32(), numbers=pa.list_(pa.int32()), times=pa.list_(pa.uint16())))

Levels = list[list[int]]  # the segments of each level


def segment_of(rows: Iterable[tuple[int, list[str]]], segment: int) -> pa.Table:
    """Return the posting lists of these passages, by term."""
    known: dict[str, int] = {}
    terms: list[int] = []
    numbers: list[int] = []
    for number, row in rows:
        own = [known.setdefault(term, len(known)) for term in row if term != BREAK]
        terms += own
        numbers += [number] * len(own)
    pairs = np.array(terms, dtype=np.int64) << 32 | np.array(numbers, dtype=np.int64)
    unique, times = np.unique(pairs, return_counts=True)
    return _table(list(known), unique >> 32, unique & 0xFFFFFFFF, times, segment)


def merged(table: pa.Table, alive: NDArray[np.bool_], segment: int) -> pa.Table:
    """Return several segments as one, without deleted passages."""
    encoded = table["term"].combine_chunks().dictionary_encode()
    lists = table["numbers"].combine_chunks()
    sizes = np.diff(lists.offsets.to_numpy())
    codes = np.repeat(encoded.indices.to_numpy(), sizes)
    numbers = lists.flatten().to_numpy()
    times = table["times"].combine_chunks().flatten().to_numpy()
    kept = alive[numbers]
    codes, numbers, times = codes[kept], numbers[kept], times[kept]
    order = np.lexsort((numbers, codes))
    return _table(encoded.dictionary.to_pylist(), codes[order], numbers[order], times[order], segment)


def _table(
    terms: Sequence[str], codes: NDArray[Any], numbers: NDArray[Any], times: NDArray[Any], segment: int
) -> pa.Table:
    """Return rows of SCHEMA from postings that are sorted by term."""
    present, starts = np.unique(codes, return_index=True)
    offsets = pa.array([*starts, len(codes)], type=pa.int32())
    lists = pa.ListArray.from_arrays(offsets, pa.array(numbers.astype(np.int32)))
    counts = pa.ListArray.from_arrays(offsets, pa.array(np.minimum(times, 65_535).astype(np.uint16)))
    held = pa.array([terms[code] for code in present], type=TEXT)
    return pa.table([held, pa.array(np.full(len(present), segment, dtype=np.int32)), lists, counts], schema=SCHEMA)


def look_up(table: Any, terms: Collection[str], alive: NDArray[np.bool_]) -> dict[str, Postings]:
    """Return the postings of these terms, without deleted passages."""
    nothing = (np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.uint16))
    if not terms:
        return {}
    found = table.search().where(among("term", terms)).select(["term", "numbers", "times"]).to_arrow()
    parts: dict[str, list[Postings]] = {term: [nothing] for term in terms}
    for term, numbers, times in zip(*(found[name] for name in ("term", "numbers", "times")), strict=True):
        parts[term.as_py()].append((numbers.values.to_numpy(), times.values.to_numpy()))
    return {term: _joined(own, alive) for term, own in parts.items()}


def _joined(parts: Sequence[Postings], alive: NDArray[np.bool_]) -> Postings:
    numbers = np.concatenate([numbers for numbers, _ in parts])
    times = np.concatenate([times for _, times in parts])
    kept = alive[numbers]
    order = np.argsort(numbers[kept], kind="stable")  # quick, because each part is sorted
    return numbers[kept][order], times[kept][order]


def phrase_postings(
    phrase: Sequence[str], postings: Mapping[str, Postings], row: Callable[[int], list[str]]
) -> Postings:
    """Return the postings of a phrase; `row` returns a row's terms, to check that the phrase's terms are adjacent."""
    numbers, times = postings[phrase[0]]
    if len(phrase) == 1:
        return numbers, times
    for term in phrase[1:]:
        numbers = np.intersect1d(numbers, postings[term][0], assume_unique=True)
    times = np.array([occurrences(phrase, row(int(number))) for number in numbers], dtype=np.uint16)
    return numbers[times > 0], times[times > 0]


def full_level(levels: Levels) -> int | None:
    """Return the lowest level that has enough segments to be merged."""
    return next((level for level, segments in enumerate(levels) if len(segments) >= SEGMENTS_PER_LEVEL), None)
