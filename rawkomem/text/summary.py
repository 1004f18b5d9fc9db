"""Summarize texts by their most informative sentences. The result is deterministic, and no model is used.

Each next sentence is the one with most words that are common in the texts and not yet in the summary (a greedy heap).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from math import log, sqrt

from ..model.record import record
from .language import language
from .prose import sentences

MIN_NEW_SHARE = 1 / 3  # of a sentence's words: less allows repetitions, more loses facts next to known names
OPENING_WEIGHT = 1.25  # a text's first sentence usually names its subject
MAX_SENTENCE_WORDS = 60  # a longer text is a listing or a log, not a sentence
SENTENCE_ENDS = (".", "!", "?", "…", ":", ";", "。", "！", "？", '"', ")")
MAX_SENTENCES = 10_000  # limits the time for a huge episode


@record
class Sentence:
    """A sentence, its place (number of the text, number in the text), its stems, and the weight of its text."""

    text: str
    place: tuple[int, int]
    stems: frozenset[str]
    weight: float


def summarize(texts: Sequence[tuple[str, float]], most_words: int) -> str:
    """Return the most informative sentences of (body, weight from 0 to 1) pairs, at most `most_words` words."""
    return join(sentence for said in extract(texts, most_words) for sentence in said)


def extract(texts: Sequence[tuple[str, float]], most_words: int) -> list[list[str]]:
    """Return the chosen sentences of each text; an empty list for a text that only repeats the others."""
    found = _found(texts)
    chosen = _chosen([sentence for sentence in found if len(sentence.text.split()) <= MAX_SENTENCE_WORDS], most_words)
    said: list[list[str]] = [[] for _ in texts]
    for sentence in sorted(chosen, key=lambda sentence: sentence.place):
        said[sentence.place[0]].append(sentence.text)
    if not chosen and found:  # all sentences are too long: take the start of the first
        said[found[0].place[0]] = [" ".join(found[0].text.split()[: min(MAX_SENTENCE_WORDS, most_words)]) + " …"]
    return said


def join(parts: Iterable[str]) -> str:
    """Return sentences as one text: with missing full stops added, and with the words before a list only once."""
    text = lead = ""
    for part in parts:
        before, (lead, colon, rest) = lead, part.partition(": ")
        if colon and lead == before:
            text = f"{text.rstrip('.')}; {rest}"
        else:
            text += (" " if text.endswith(SENTENCE_ENDS) else ". " if text else "") + part
    return text


def _found(texts: Sequence[tuple[str, float]]) -> list[Sentence]:
    found: list[Sentence] = []
    for number, (body, weight) in enumerate(texts):
        for place, text in enumerate(sentences(body)):
            stems = frozenset(language().stems(text))
            if stems:
                found.append(Sentence(text, (number, place), stems, weight))
        if len(found) > MAX_SENTENCES:
            break
    return found[:MAX_SENTENCES]


def _chosen(found: list[Sentence], most_words: int) -> list[Sentence]:
    common: dict[str, int] = {}
    for sentence in found:
        for root in sentence.stems:
            common[root] = common.get(root, 0) + 1
    said: set[str] = set()
    chosen: list[Sentence] = []
    heap = [(-_gain(sentence, said, common), sentence.place, number) for number, sentence in enumerate(found)]
    heapify(heap)
    while heap:
        old, place, number = heappop(heap)
        sentence = found[number]
        gain = -_gain(sentence, said, common)
        if gain > old:
            if gain < 0:
                heappush(heap, (gain, place, number))
        elif len(sentence.text.split()) <= most_words:
            most_words -= len(sentence.text.split())
            chosen.append(sentence)
            said |= sentence.stems
    return chosen


def _gain(sentence: Sentence, said: set[str], common: dict[str, int]) -> float:
    """Return how much a sentence adds to the summary; 0 if most of its words are in it already."""
    new = sentence.stems - said
    if len(new) < MIN_NEW_SHARE * len(sentence.stems):
        return 0.0
    told = sum(sorted(log(1 + common[root]) for root in new))  # sorted for equal sums
    opening = OPENING_WEIGHT if sentence.place[1] == 0 else 1.0
    return told / sqrt(len(sentence.stems)) * (1 + sentence.weight) * opening
