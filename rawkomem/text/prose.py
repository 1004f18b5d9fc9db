"""The prose of a Markdown body: lines outside of code, sentences, summaries, the words that name a
subject, and text that reads like instructions to a model.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import log, sqrt

from ..model.ids import slug
from ..model.values import record
from .chunks import fenced_lines
from .clean import late_regex
from .conditions import subject_words
from .language import language

HEADING = "heading"
ITEM = "item"
PARAGRAPH = "paragraph"
BULLET = late_regex(r"\s*(?:[-*+]|\d{1,9}[.)])\s+")
BACKTICKS = late_regex(r"(`+)")
# A sentence ends at a mark, a space and then no small letter. Scripts without spaces have their own marks.
SENTENCE_END = late_regex(
    r"(?<=[.!?…])[\"')\]]{0,2}\s+(?=[^\sa-z.,;:!?])|(?<=[。！？])"
)


def prose_lines(body: str) -> Iterator[str]:
    """Yield the lines of a body that are not in a code fence."""
    yield from (line for line, is_code in fenced_lines(body) if not is_code)


def without_code(line: str) -> str:
    """Return a line without its `code spans`."""
    return "".join(part for part, code in code_spans(line) if not code)


def code_spans(line: str) -> Iterator[tuple[str, bool]]:
    """Yield (text, is code) for each piece of a line. A code span ends at a run of as many backticks as it started."""
    pieces = BACKTICKS.split(line)  # a text, a run, a text, …
    plain = [pieces[0]]
    at = 1
    while at < len(pieces):
        try:
            end = pieces.index(pieces[at], at + 1)
        except ValueError:  # nothing closes this run
            plain += pieces[at : at + 2]
            at += 2
            continue
        yield "".join(plain), False
        yield "".join(pieces[at : end + 1]), True
        plain = [pieces[end + 1]]
        at = end + 2
    yield "".join(plain), False


def sentences(body: str, most: int = sys.maxsize) -> list[str]:
    """Return the first sentences of a body in order, without headings, tables and code.

    Each list item is a sentence that starts with the heading or words before the list: "Do not: …" negates it.
    """
    result: list[str] = []
    lead = ""
    for kind, text in _prose_blocks(body):
        parts = list(split_sentences(" ".join(text.split())))
        if kind == HEADING:
            lead = text
            continue
        if kind == ITEM:
            parts[:1] = [f"{lead}: {part}" if lead else part for part in parts[:1]]
        else:
            lead = parts.pop().rstrip(": ") if text.endswith(":") else ""
        result += parts
        if len(result) >= most:
            break
    return result[:most]


def first_sentence(body: str) -> str:
    """Return the first sentence of a body; empty if it has none."""
    return "".join(sentences(body, 1))


def _prose_blocks(body: str) -> Iterator[tuple[str, str]]:
    """Yield headings, list items and paragraphs, without their marks."""
    kind = PARAGRAPH
    block = list[str]()
    for line in [*prose_lines(body), ""]:
        text = line.strip().lstrip(">").strip()
        bullet = BULLET.match(line)
        heading = text.startswith("#")
        apart = (
            heading
            or bool(bullet)
            or text.startswith(("|", "<!--"))
            or not text.strip("-=*_ ")
        )
        if apart and block:
            yield kind, " ".join(block)
            kind = PARAGRAPH
            block = []
        if heading and text.strip("# "):
            yield HEADING, text.strip("# ")
        elif bullet:
            kind = ITEM
            block = [line[bullet.end() :].strip()]
        elif not apart:
            block.append(text)


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text on one line."""
    start = 0
    abbreviations = language().abbreviations
    for end in SENTENCE_END.finditer(text):
        sentence = text[start : end.start()]
        if sentence.lower().endswith(abbreviations):
            continue
        closing = text[end.start() : end.end()].rstrip()
        yield sentence.strip() + closing
        start = end.end()
    rest = text[start:].strip()
    if rest:
        yield rest


# Summarize texts by their most informative sentences. The result is deterministic, and no model is
# used.
#
# Each next sentence is the one with most words that are common in the texts and not yet in the
# summary (a greedy heap).

# of a sentence's words: less allows repetitions, more loses facts next to known names
MIN_NEW_SHARE = 1 / 3
OPENING_WEIGHT = 1.25  # a text's first sentence usually names its subject
MAX_SENTENCE_WORDS = 60  # a longer text is a listing or a log, not a sentence
SENTENCE_ENDS = (".", "!", "?", "…", ":", ";", "。", "！", "？", '"', ")")
MAX_SUMMARIZED_SENTENCES = 10_000  # limits the time for a huge episode


@record
class Sentence:
    """A sentence, its place (number of the text, number in the text), its stems, and the weight of its text."""

    text: str
    place: tuple[int, int]
    stems: frozenset[str]
    weight: float


def summarize(texts: Sequence[tuple[str, float]], most_words: int) -> str:
    """Return the most informative sentences of (body, weight from 0 to 1) pairs, at most `most_words` words."""
    chosen = extract_sentences(texts, most_words)
    return join_sentences(sentence for several in chosen for sentence in several)


def extract_sentences(
    texts: Sequence[tuple[str, float]], most_words: int
) -> list[list[str]]:
    """Return the chosen sentences of each text; an empty list for a text that only repeats the others."""
    candidates = _weighed_sentences(texts)
    short = [one for one in candidates if len(one.text.split()) <= MAX_SENTENCE_WORDS]
    chosen = _chosen_sentences(short, most_words)
    summaries: list[list[str]] = [[] for _ in texts]
    for sentence in sorted(chosen, key=lambda sentence: sentence.place):
        summaries[sentence.place[0]].append(sentence.text)
    if not chosen and candidates:
        # all sentences are too long: take the start of the first
        first = candidates[0]
        words = first.text.split()[: min(MAX_SENTENCE_WORDS, most_words)]
        summaries[first.place[0]] = [" ".join(words) + " …"]
    return summaries


def join_sentences(parts: Iterable[str]) -> str:
    """Return sentences as one text: with missing full stops added, and with the words before a list only once."""
    text = lead = ""
    for part in parts:
        before, (lead, colon, rest) = lead, part.partition(": ")
        if colon and lead == before:
            text = f"{text.rstrip('.')}; {rest}"
        else:
            text += (
                " " if text.endswith(SENTENCE_ENDS) else ". " if text else ""
            ) + part
    return text


def _weighed_sentences(texts: Sequence[tuple[str, float]]) -> list[Sentence]:
    weighed: list[Sentence] = []
    for number, (body, weight) in enumerate(texts):
        for place, text in enumerate(sentences(body)):
            stems = frozenset(language().stems(text))
            if stems:
                weighed.append(Sentence(text, (number, place), stems, weight))
        if len(weighed) > MAX_SUMMARIZED_SENTENCES:
            break
    return weighed[:MAX_SUMMARIZED_SENTENCES]


def _chosen_sentences(candidates: list[Sentence], most_words: int) -> list[Sentence]:
    common = Counter(root for sentence in candidates for root in sentence.stems)
    covered: set[str] = set()
    chosen: list[Sentence] = []
    heap = [
        (-_sentence_gain(sentence, covered, common), sentence.place, number)
        for number, sentence in enumerate(candidates)
    ]
    heapify(heap)
    while heap:
        old, place, number = heappop(heap)
        sentence = candidates[number]
        gain = -_sentence_gain(sentence, covered, common)
        if gain > old:
            if gain < 0:
                heappush(heap, (gain, place, number))
        elif len(sentence.text.split()) <= most_words:
            most_words -= len(sentence.text.split())
            chosen.append(sentence)
            covered |= sentence.stems
    return chosen


def _sentence_gain(
    sentence: Sentence, covered: set[str], common: Mapping[str, int]
) -> float:
    """Return how much a sentence adds to the summary; 0 if most of its words are in it already."""
    new = sentence.stems - covered
    if len(new) < MIN_NEW_SHARE * len(sentence.stems):
        return 0.0
    gains = sorted(log(1 + common[root]) for root in new)  # so that sums are equal
    information = sum(gains)
    opening = OPENING_WEIGHT if sentence.place[1] == 0 else 1.0
    return information / sqrt(len(sentence.stems)) * (1 + sentence.weight) * opening


# Find the words that name the subject of texts, for labels of clusters and topics.


class Vocabulary:
    """The number of texts that each stem occurs in, and the usual spelling of each stem."""

    def __init__(self, texts: Iterable[str]):
        self.texts = 0
        self.count = Counter[str]()
        self.forms = defaultdict[str, Counter[str]](Counter)
        for text in texts:
            self.texts += 1
            words = subjects_of(text)
            for root, form in dict(
                zip(language().stemmer(words), words, strict=True)
            ).items():
                self.count[root] += 1
                self.forms[root][form] += 1

    def written(self, root: str) -> str:
        """Return the most common word of a stem."""
        return min(self.forms[root].items(), key=lambda form: (-form[1], form[0]))[0]


def subjects_of(text: str) -> list[str]:
    """Return the words of a text that may name its subject, without numbers."""
    return [word for word in subject_words(text) if not word.isdecimal()]


def telling_words(texts: Sequence[str], among: Vocabulary, most: int) -> list[str]:
    """Return the `most` words that distinguish these texts: common in them, rare in `among`."""
    own = Vocabulary(texts)
    rarity = {
        root: log(1 + among.texts / among.count.get(root, 1)) for root in own.count
    }
    scored = sorted(
        own.count, key=lambda root: (-own.count[root] / own.texts * rarity[root], root)
    )
    return [own.written(root) for root in scored[:most]]


def topic_slug(text: str, synonyms: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the most common word of a text as a slug; empty if it has none. A synonym counts as its main word."""
    stem = language().stem
    stands_for = {
        stem(word): name for name, others in (synonyms or {}).items() for word in others
    }
    words = subjects_of(text) or language().content_words(text)
    counts = Counter(stands_for.get(stem(word), word) for word in words)
    return slug(counts.most_common(1)[0][0]) if counts else ""


# Find text that reads like instructions to a model: a hint for reviewers, never a filter
# (docs/security.md).

INSTRUCTION_PATTERNS = (
    ("ignore_instructions",
     r"\b(?:ignore|disregard|forget|override) (?:all |any |the |your |my )*(?:(?:previous|prior|above|earlier) )?"
     r"(?:instructions?|prompts?|rules|directions|guidelines)\b"),
    ("new_role", r"\byou are now\b|\bact as (?:if you|an? (?:unrestricted|admin|root))|\bpretend (?:to be|you are)\b"),
    ("system_prompt",
     r"\b(?:reveal|print|show|repeat|output) (?:me )?(?:your|the) (?:system|hidden|initial) (?:prompt|instructions)\b"),
    ("role_tokens",
     r"<\|(?:im_start|im_end|system|user|assistant)\|>|\[/?INST\]|<</?SYS>>|^[ \t]*(?:system|assistant)[ \t]*:"),
    ("hide_from_user",
     r"\b(?:do not|don't|never) (?:tell|inform|mention (?:this|it) to|reveal (?:this|it) to) the user\b"),
)  # fmt: skip
PATTERN_SCORE = 0.4  # of one pattern; three patterns give the maximum of 1

_instruction_regexes = tuple(
    (name, late_regex(f"(?im){pattern}")) for name, pattern in INSTRUCTION_PATTERNS
)


@record
class InjectionScan:
    """How much a text reads like instructions to a model, from 0 to 1, and the names of the patterns that matched."""

    score: float
    patterns: tuple[str, ...]


def scan_for_injection(text: str) -> InjectionScan:
    """Return the score of a text and the patterns of injected instructions in it."""
    names = tuple(
        name for name, pattern in _instruction_regexes if pattern.search(text)
    )
    return InjectionScan(round(min(1.0, PATTERN_SCORE * len(names)), 1), names)
