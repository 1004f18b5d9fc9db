"""The prose of a Markdown body: lines outside of code, sentences, summaries, the words that name a
subject, text that reads like instructions to a model, entities, and sums of money.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import log, sqrt

from ..model.entries import Memory, Value
from ..model.ids import slug
from ..model.values import items_of, names_of_key, record
from .chunks import fenced_lines
from .clean import late_regex
from .conditions import subject_words
from .language import language
from .paths import paths_in

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


# [text](place), [text][label], ![image](place), [[name]], [[name|text]]: its first or second group is the text
ENTITY_KINDS = ("project", "agent", "feature", "person", "business", "chore")
# Folders, the kind of entity that the name below them stands for, and a suffix for the name; in this order.
ENTITY_FOLDERS = (
    (("feature", "features"), "feature", ""),
    (("component", "components"), "feature", "-component"),
    (("packages", "apps", "services"), "project", ""),
    (("docs",), "feature", "-docs"),
    (("skill", "tool", "tools"), "agent", ""),
)
ENTITY_KEYS = names_of_key("entities")  # of the frontmatter
# A sign like a slash before a kind shows that it is part of a URL or of a longer name.
ENTITY = re.compile(rf"(?i)(?<![\w\-/.:@])({'|'.join(ENTITY_KINDS)}):([\w-]+)")
MAX_NAMED_ENTITIES = 8  # in a message


@record
class ResolvedEntity:
    """The entity that a name means. `slugs` is empty if the name is unknown or ambiguous; `message` says which."""

    slugs: tuple[str, ...]
    message: str = ""
    candidates: tuple[str, ...] = ()


def entities_in(text: str) -> tuple[str, ...]:
    """Return each `kind:slug` of a text once, in lower case and in order."""
    small = text.lower()
    if not any(f"{kind}:" in small for kind in ENTITY_KINDS):
        return ()  # much faster than the regex
    named = [(kind, slug.strip("-_")) for kind, slug in ENTITY.findall(text)]
    return tuple(
        dict.fromkeys(f"{kind}:{slug}".lower() for kind, slug in named if slug)
    )


def entities_in_path(path: str) -> tuple[str, ...]:
    """Return the entities that a path's folders stand for: `packages/mail/src` gives `project:mail`."""
    parts = path.lower().replace("\\", "/").split("/")
    entities = []
    for folders, kind, ending in ENTITY_FOLDERS:
        below = next(
            (name for folder, name in pairwise(parts) if folder in folders), ""
        )
        name = re.split(r"[^\w-]", below)[0].strip("-_")
        if name:
            entities.append(f"{kind}:{name}{ending}")
    return tuple(entities)


def entities_of(memory: Memory) -> tuple[str, ...]:
    """Return the entities in a memory's frontmatter, title, tags and body, and in the paths that it names."""
    named = [
        entity
        for key in ENTITY_KEYS
        for entity in _frontmatter_entities(memory.extra.get(key, []))
    ]
    text = "\n".join((memory.title, *memory.tags, memory.body))
    paths = [*_clear_paths(memory.source), *_clear_paths(memory.body)]
    from_paths = [entity for path in paths for entity in entities_in_path(path)]
    return tuple(dict.fromkeys([*named, *entities_in(text), *from_paths]))


def _frontmatter_entities(value: Value) -> Iterable[str]:
    """Yield the entities in the frontmatter, which are `kind:slug` texts or mappings with `type` and `slug`."""
    for item in items_of(value):
        if isinstance(item, dict):
            item = f"{item.get('type', '')}:{item.get('slug', '')}"
        if isinstance(item, str):
            yield from entities_in(item) or [
                word for word in item.lower().split() if ":" not in word
            ]


def _clear_paths(text: str) -> Iterable[str]:
    """Yield the clear paths in a text: those of three parts or with a file name. `tools/list` may be something else."""
    if "/" not in text:
        return

    for path in paths_in(text):
        if "://" not in path and (
            path.count("/") > 1 or ("/" in path and "." in path.rsplit("/", 1)[1])
        ):
            yield path


def matching_entities(typed: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the entities that a typed name may mean: itself if it has a kind, else known ones of a similar name.

    Similar: the typed words are part of the name, also without spaces, or contain the whole name.
    """
    typed = typed.strip().lower()
    if ":" in typed:
        return (typed,)
    words = _plain_name(typed)
    names = {entity: _plain_name(entity.rpartition(":")[2]) for entity in known}
    named = [(entity, name) for entity, name in names.items() if name and words]
    exact = tuple(entity for entity, name in named if name == words)
    compact = words.replace(" ", "")
    return exact or tuple(
        entity
        for entity, name in named
        if compact in name.replace(" ", "") or f" {name} " in f" {words} "
    )


def _plain_name(text: str) -> str:
    """Return the words of a name, with single spaces."""
    plain = "".join(c if c.isalnum() else " " for c in text.lower())
    return " ".join(plain.split())


def resolve_entity(typed: str, known: Iterable[str]) -> ResolvedEntity:
    """Return the one entity that a person means, or a message that the name is unknown or ambiguous."""
    known = sorted(set(known))
    entities = matching_entities(typed, known)
    if len(entities) > 1:
        return ResolvedEntity(
            (), f"{typed!r} may be {_entity_listing(entities)}", entities
        )
    if entities and entities[0] in known:
        return ResolvedEntity(entities)
    there = f"there are {_entity_listing(known)}"
    there = there if known else "no memory names any entity yet"
    return ResolvedEntity(entities, f"no memory names the entity {typed!r}; {there}")


def _entity_listing(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMED_ENTITIES
    listing = ", ".join(names[:MAX_NAMED_ENTITIES])
    return f"{listing} and {more} more" if more > 0 else listing


# Normalize sums of money: `$1,250.50`, `1250.5 USD` and `dollar1250.50` all become `USD 1250.5`.

# A line for each currency: its code, then its names in lower case.
CURRENCIES = """
    USD us$ $ dollar dollars buck bucks
    EUR € euro euros
    GBP £ pound pounds
    JPY ¥ yen
    INR ₹ rupee rupees
    CAD ca$ c$
    AUD au$ a$
    NZD nz$
    HKD hk$
    SGD s$
    BRL r$
    MXN mx$
    KRW ₩
    RUB ₽
    TRY ₺
    ILS ₪
    CNY\nCHF\nSEK\nNOK\nDKK\nPLN\nCZK\nHUF\nZAR\nTHB\nAED
"""
SUM_SCALES = {"k": 1_000, "m": 1_000_000, "bn": 1_000_000_000}
CURRENCY_NAMES = {
    name.lower(): names[0]
    for names in map(str.split, CURRENCIES.strip().split("\n"))
    for name in names
}
CURRENCY_PATTERN = "|".join(
    re.escape(name) for name in sorted(CURRENCY_NAMES, key=len, reverse=True)
)
SUM_PATTERN = re.compile(
    rf"(?P<minus>-)?\s*(?P<before>{CURRENCY_PATTERN})?\s*(?P<sign>-)?\s*"
    rf"(?P<number>\d[\d.,]*)\s*(?P<scale>bn|k|m)?\s*(?P<after>{CURRENCY_PATTERN})?",
    re.IGNORECASE,
)
# 1,250 and the Indian form 1,00,000
GROUPED_DIGITS = re.compile(r"\d{1,3}(?:,\d{2,3})*,\d{3}")


def normalize_currency(text: str) -> str:
    """Return one sum in one currency as `CODE number`; any other text, also a range, unchanged."""
    match = SUM_PATTERN.fullmatch(text.strip())
    if not match:
        return text
    names = {
        CURRENCY_NAMES[name.lower()]
        for name in (match["before"], match["after"])
        if name
    }
    number = _sum_number(match["number"])
    if len(names) != 1 or number is None:
        return text
    number *= SUM_SCALES.get((match["scale"] or "").lower(), 1)
    minus = "-" if match["minus"] or match["sign"] else ""
    return f"{names.pop()} {minus}{_plain_number(number)}"


def _sum_number(text: str) -> Decimal | None:
    """Return the value of digits with separators. If both `,` and `.` occur, the last one is the decimal point."""
    plain = text
    if "," in text and "." in text:
        last = max(text.rfind(","), text.rfind("."))
        plain = f"{text[:last].replace(',', '').replace('.', '')}.{text[last + 1 :]}"
    elif "," in text:
        if GROUPED_DIGITS.fullmatch(text):
            plain = text.replace(",", "")
        else:
            plain = text.replace(",", ".")
    return Decimal(plain) if re.fullmatch(r"\d+(?:\.\d+)?", plain) else None


def _plain_number(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
