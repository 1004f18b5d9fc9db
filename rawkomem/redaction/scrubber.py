"""The scrubber of RFC-0011 §6: redaction, then six stages that clean a text, cut it into chunks and
check them. Callers must keep only text from `sanitize`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from ..model.ids import hex_hash, slug
from ..model.values import record, replace
from ..text.chunks import (
    Chunk,
    count_tokens,
    fenced_lines,
    heading_level,
)
from ..text.clean import clean, with_newlines
from ..text.language import identity
from ..text.prose import code_spans
from .find import redact

# characters; like RFC-0011's scrubber, it drops "short" and keeps sentences
MIN_LENGTH = 10
SENTENCE_ENDS = (".", "!", "?")
# share of letters and digits among all characters of a paragraph
MIN_SIGNAL_RATIO = 0.3
MAX_CHUNK_TOKENS = 500
HARD_MAX_TOKENS = 2_000  # a single paragraph of up to this size stays whole
MAX_CHUNK_LENGTH = 10_000  # characters


@record
class ScrubProfile:
    """What differs between the uses of the scrubber."""

    min_tokens: int = 10  # of a chunk
    # characters of a paragraph and of a chunk
    min_length: int = MIN_LENGTH


# RFC-0011 §6.2: short memories are kept. So are short paragraphs: without "Stop", the next one says the opposite.
MESH = ScrubProfile(min_tokens=1, min_length=0)
# Separates prose from code in a text, so that a stage changes only prose.


def in_prose(text: str, change: Callable[[str], str]) -> str:
    """Return the text with its prose changed; repeat until nothing changes, because code may become prose."""
    while (
        changed := "".join(
            part if code else change(part) for part, code in _prose_and_code(text)
        )
    ) != text:
        text = changed
    return text


def paragraphs(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each paragraph of a text, without blank lines around it, and whether it starts with a code fence.

    A fenced block belongs to one paragraph.
    """
    lines: list[str] = []
    starts_in_code = False
    for line, is_code in [*fenced_lines(text), ("", False)]:
        if line.strip() or is_code:
            starts_in_code = starts_in_code if lines else is_code
            lines.append(line)
        elif lines:
            yield "\n".join(lines).rstrip("\n"), starts_in_code
            lines = []


def _prose_and_code(text: str) -> Iterator[tuple[str, bool]]:
    """Yield pieces of the text, each with whether it is code: fenced lines, or text between backticks in a line."""
    pieces: list[tuple[str, bool]] = []
    for line, is_code in fenced_lines(text):
        pieces += [(line, True)] if is_code else code_spans(line)
        pieces.append(("\n", is_code))
    for code, parts in groupby(pieces[:-1], key=itemgetter(1)):
        yield "".join(part for part, _ in parts), code


# Stage 1, structural cleaning: removes scripts, styles, tags and Markdown's signs; corrects
# headings and blanks.

HTML_BLOCKS = str.split("""
    p div section article header footer h1 h2 h3 h4 h5 h6 ul ol li table tr blockquote pre
""")
HTML_TAG = re.compile(r"[/!]?[A-Za-z][^<>]*|!--[^<>]*--")
# An element whose text is not shown; without an end tag it goes on to the end, as in a browser.
SILENT_ELEMENT = re.compile(
    r"<(script|style)\b.*?(?:</\1[^<>]*>|\Z)", re.IGNORECASE | re.DOTALL
)
# Text between these tags does not hold; Markdown writes them as ~~.
STRUCK_TAG = re.compile(r"</?(?:del|s|strike)(?:\s[^<>]*)?>", re.IGNORECASE)
# a line of #tags is not a heading
TIGHT_HEADING = re.compile(r"^(#{1,6})(?=[^\W\d_][\w'-]*[ \t]+[^#\s])", re.MULTILINE)
LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|__)(?=[^\s*_])([^*_\n]*[^\s*_])\1(?![\w*])")
HORIZONTAL_RULE = re.compile(r"^[ \t]*(?:[-*_][ \t]*){3,}$", re.MULTILINE)
BLANKS = re.compile(r"[ \t\f\v]+")
BLANKS_AT_LINE_END = re.compile(r" *\n *")
BLANK_LINES = re.compile(r"\n{3,}")


def clean_structure(text: str) -> str:
    """Return the text without markup; code stays unchanged."""
    return in_prose(with_newlines(text), _clean_prose)


def _clean_prose(prose: str) -> str:
    if "<" in prose:
        prose = STRUCK_TAG.sub("~~", SILENT_ELEMENT.sub("", prose))
        prose = _without_tags(prose)
    prose = HORIZONTAL_RULE.sub("", EMPHASIS.sub(r"\2", LINK.sub(r"\1", prose)))
    prose = TIGHT_HEADING.sub(r"\1 ", prose)
    return BLANK_LINES.sub("\n\n", BLANKS_AT_LINE_END.sub("\n", BLANKS.sub(" ", prose)))


def _without_tags(text: str) -> str:
    """Remove tags in one pass. After removing an inner tag, check the outer one again, so that no tag can hide."""
    out: list[str] = []
    opened: list[int] = []
    for part in re.split(r"([<>])", text):
        if part == "<":
            opened.append(len(out))
        elif part == ">" and opened:
            inside = "".join(out[opened[-1] + 1 :])
            if HTML_TAG.fullmatch(inside):
                del out[opened.pop() :]
                name = re.split(r"[\s/]", inside.lstrip("/!"), maxsplit=1)[0].lower()
                ends_block = name in HTML_BLOCKS and inside.startswith("/")
                out.append("\n\n" if ends_block else "")
                continue
            opened.clear()
        out.append(part)
    return "".join(out)


# Stage 2, semantic filtering: removes paragraphs without content, and repeated paragraphs.

MAX_BOILERPLATE_LENGTH = 120  # characters; a longer paragraph has content
BOILERPLATE = re.compile(
    r"(?:©|\(c\)|copyright\b)[^\n]*|all rights reserved\.?|(?:powered|generated) by \S+|(?:back to )?top"
    r"|skip to (?:main )?content|(?:we|this (?:web)?site) uses? cookies[^\n]*|(?:accept|reject) all(?: cookies)?"
    r"|subscribe to our newsletter[^\n]*"
    r"|(?:\w+(?: \w+)?\s*[|»›·•]\s*){1,9}\w+(?: \w+)?",
    re.IGNORECASE,
)


def filter_semantics(text: str, min_length: int = MIN_LENGTH) -> str:
    """Return the paragraphs that have content, each once, with a blank line between them.

    A repeated paragraph that is the beginning of a sentence, such as "It is wrong that", stays with what follows it.
    """
    kept: list[str] = []
    seen: set[str] = set()
    before = ""
    for paragraph, code in paragraphs(text):
        key = identity(paragraph)
        is_repeated = key in seen and (key == before or key.endswith(SENTENCE_ENDS))
        if not is_repeated and (code or not _is_noise(paragraph.strip(), min_length)):
            kept.append(paragraph)
            seen.add(key)
            before = key
    return "\n\n".join(kept)


def _is_noise(paragraph: str, min_length: int) -> bool:
    if len(paragraph) < min_length:
        return True
    if len(paragraph) <= MAX_BOILERPLATE_LENGTH and BOILERPLATE.fullmatch(paragraph):
        return True
    return sum(c.isalnum() for c in paragraph) < MIN_SIGNAL_RATIO * len(paragraph)


# Stage 3, normalization: writes headings, lists and punctuation in one form. Backticks, `#tags`
# and numbers stay.

DEEP_HEADING = re.compile(r"^#{7,}(?=\s)", re.MULTILINE)
ANY_HEADING = re.compile(r"^#{1,6} [^\n]*$", re.MULTILINE)
BULLET = re.compile(r"^([ \t]*)[*+•‣◦](?=[ \t]+[^\s*])", re.MULTILINE)
LIST_NUMBER = re.compile(r"^([ \t]*\d{1,9})\)(?=[ \t])", re.MULTILINE)
ELLIPSIS = re.compile(r"…|\.{4,}")
ASCII_PUNCTUATION = str.maketrans("“”„‘’\u00a0\u202f", '"""\'\'  ')


def normalize_text(text: str) -> str:
    """Return the text with normalized prose; code stays unchanged."""
    return in_prose(text, _normalize_prose)


def _without_closing_signs(heading: re.Match[str]) -> str:
    """Return `## Title ##` without the signs at its end; `# C#` stays unchanged."""
    line = heading[0].rstrip()
    bare = line.rstrip("#")
    return (
        bare.rstrip()
        if bare != line and bare[-1:].isspace() and bare.strip("# ")
        else heading[0]
    )


def _normalize_prose(prose: str) -> str:
    prose = ANY_HEADING.sub(_without_closing_signs, DEEP_HEADING.sub("######", prose))
    prose = LIST_NUMBER.sub(r"\1.", BULLET.sub(r"\1-", prose))
    return ELLIPSIS.sub("...", prose.translate(ASCII_PUNCTUATION))


# Stage 4, chunking: collects paragraphs under their headings until a chunk is full.

UNNAMED_SECTION = "unnamed-section"
HEADING_SEPARATOR = " > "  # between the headings of a chunk, as in the index


Group = tuple[list[str], str, int]  # paragraphs, the headings above them, tokens


def segment_text(
    text: str, min_tokens: int, max_tokens: int = MAX_CHUNK_TOKENS
) -> list[Chunk]:
    """Return the chunks of a text, in order. A chunk that is too small joins the chunk before it, if that has room."""
    groups: list[Group] = []
    trail: list[str] = []
    is_open = False
    for paragraph, code in paragraphs(text):
        level = 0 if code else heading_level(paragraph)
        if level:
            trail = [*trail[: level - 1], paragraph.partition("\n")[0][level:].strip()]
            is_open = False
        fits = count_tokens(paragraph) <= HARD_MAX_TOKENS
        for piece in [paragraph] if fits else _cut_paragraph(paragraph, max_tokens):
            heading = HEADING_SEPARATOR.join(part for part in trail if part)
            group = [piece], heading, count_tokens(piece)
            _add_group(groups, group, is_open, max_tokens)
            is_open = True
    chunks: list[Group] = []
    for group in groups:
        _add_group(chunks, group, group[2] < min_tokens, max_tokens)
    return [
        Chunk("\n\n".join(texts), heading)
        for texts, heading, tokens in chunks
        if tokens >= min_tokens
    ]


def _add_group(
    groups: list[Group], group: Group, may_join: bool, max_tokens: int
) -> None:
    """Append a group, or join it with the last one if that has room."""
    texts, heading, tokens = group
    if may_join and groups and groups[-1][2] + tokens <= max_tokens:
        before, heading, already = groups.pop()
        texts = before + texts
        tokens = already + tokens
    groups.append((texts, heading, tokens))


def _cut_paragraph(paragraph: str, most: int) -> list[str]:
    """Return a paragraph that is too long for a chunk in pieces of whole words."""
    pieces: list[str] = []
    words: list[str] = []
    tokens = 0
    for word in paragraph.split():
        cost = count_tokens(word + " ")
        if words and tokens + cost > most:
            pieces.append(" ".join(words))
            words = []
            tokens = 0
        words.append(word)
        tokens += cost
    return [*pieces, " ".join(words)]


@record
class Scrubbed:
    """One chunk with its provenance. `heading` is the path of headings above it."""

    text: str
    heading: str = ""
    section: str = UNNAMED_SECTION
    position: int = 0
    tokens: int = 0
    digest: str = ""  # SHA-256 of the text
    rejected: str = ""  # why the chunk is not indexed; empty if it is


@record
class ScrubStages:
    """The text after each stage, and all chunks."""

    redacted: str
    structural: str
    semantic: str
    normalization: str
    chunks: tuple[Scrubbed, ...]


def scrub(text: str, profile: ScrubProfile) -> list[Scrubbed]:
    """Return the chunks of a text that are indexed, in order."""
    chunks = scrub_stages(text, profile).chunks
    return [chunk for chunk in chunks if not chunk.rejected]


def scrub_stages(text: str, profile: ScrubProfile) -> ScrubStages:
    """Return the text after each stage, and the chunks."""
    redacted = sanitize(text)
    structural = clean_structure(redacted)
    semantic = filter_semantics(structural, profile.min_length)
    normal = normalize_text(semantic)
    chunks = annotate_chunks(segment_text(normal, profile.min_tokens))
    validated = tuple(
        replace(chunk, rejected=chunk_fault(chunk.text, profile.min_length))
        for chunk in chunks
    )
    return ScrubStages(redacted, structural, semantic, normal, validated)


def sanitize(text: str) -> str:
    """Return the text without invisible characters, secrets, personal data and surrounding blanks."""
    return redact(clean(text)).strip()


def annotate_chunks(chunks: Sequence[Chunk]) -> list[Scrubbed]:
    """Run stage 5, metadata: return each chunk with its position, size and hash."""
    return [
        Scrubbed(
            text=chunk.text,
            heading=chunk.heading,
            section=slug(chunk.heading.rpartition(HEADING_SEPARATOR)[2])
            if chunk.heading
            else UNNAMED_SECTION,
            position=position,
            tokens=sum(count_tokens(part) for part in chunk.text.split("\n\n")),
            digest=hex_hash(chunk.text),
        )
        for position, chunk in enumerate(chunks)
    ]


def chunk_fault(text: str, min_length: int) -> str:
    """Run stage 6, validation: return why a chunk is not indexed; empty if it is."""
    length = len(text.strip())
    if length < max(1, min_length):
        return f"shorter than {min_length} characters" if length else "empty"
    is_long = length > MAX_CHUNK_LENGTH
    return f"longer than {MAX_CHUNK_LENGTH} characters" if is_long else ""


def scrubbed_text(text: str) -> str:
    """Return the scrubbed text; if nothing is left, return the redacted text."""
    return "\n\n".join(chunk.text for chunk in scrub(text, MESH)) or sanitize(text)
