"""Runs the scrubber over a text: redaction first, then its stages. Callers must keep only text from `sanitize`."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from ...model.ids import slug
from ...model.record import record, replace
from ...text.chunk import Chunk
from ...text.clean import clean
from ...text.injection import scan_for_injection
from ...text.tokens import count_tokens
from ..find import redact
from .config import DEFAULT, Config, Metadata, Validation
from .normalize import normalize
from .segment import PATH, UNNAMED, segment
from .semantics import filter_semantics
from .structure import clean_structure


@record
class Scrubbed:
    """One chunk with its provenance. `heading` is the path of headings above it."""

    text: str
    heading: str = ""
    section: str = UNNAMED
    source: str = ""
    position: int = 0
    tokens: int = 0
    digest: str = ""  # SHA-256 of the text
    suspicions: tuple[str, ...] = ()  # patterns that look like instructions to a model; a hint for reviewers only
    rejected: str = ""  # why the chunk is not indexed; empty if it is


@record
class Stages:
    """The text after each stage, and all chunks."""

    redacted: str
    structural: str
    semantic: str
    normalization: str
    chunks: tuple[Scrubbed, ...]


def scrub(text: str, config: Config = DEFAULT, source: str = "") -> list[Scrubbed]:
    """Return the chunks of a text that are indexed, in order."""
    return [chunk for chunk in stages(text, config, source).chunks if not chunk.rejected]


def stages(text: str, config: Config = DEFAULT, source: str = "") -> Stages:
    """Return the text after each stage, and the chunks. A disabled stage does not change the text."""
    redacted = sanitize(text)
    structural = semantic = normal = redacted
    if config.enabled and config.structural.enabled:
        structural = semantic = normal = clean_structure(redacted, config.structural)
    if config.enabled and config.semantic.enabled:
        semantic = normal = filter_semantics(structural, config.semantic)
    if config.enabled and config.normalization.enabled:
        normal = normalize(semantic, config.normalization)
    chunks = segment(normal, config.chunking) if config.chunking.enabled else []
    annotated = annotate(chunks, config.metadata, source)
    return Stages(redacted, structural, semantic, normal, tuple(validate(annotated, config.validation)))


def sanitize(text: str) -> str:
    """Return the text without invisible characters, secrets, personal data and surrounding blanks."""
    return redact(clean(text)).strip()


def annotate(chunks: Sequence[Chunk], config: Metadata, source: str = "") -> list[Scrubbed]:
    """Run stage 5, metadata: return each chunk with its source, position, size and hash."""
    if not config.enabled:
        return [Scrubbed(chunk.text, chunk.heading) for chunk in chunks]
    return [
        Scrubbed(
            text=chunk.text,
            heading=chunk.heading,
            section=slug(chunk.heading.rpartition(PATH)[2]) if chunk.heading else UNNAMED,
            source=source,
            position=position,
            tokens=sum(count_tokens(part) for part in chunk.text.split("\n\n")),
            digest=sha256(chunk.text.encode("utf-8", "surrogatepass")).hexdigest(),
            suspicions=scan_for_injection(chunk.text).patterns if config.scan_for_injection else (),
        )
        for position, chunk in enumerate(chunks)
    ]


def validate(chunks: Sequence[Scrubbed], config: Validation) -> list[Scrubbed]:
    """Run stage 6, validation: return each chunk, with the reason if it is rejected."""
    if not config.enabled:
        return list(chunks)
    return [replace(chunk, rejected=_fault(chunk, config)) for chunk in chunks]


def _fault(chunk: Scrubbed, config: Validation) -> str:
    length = len(chunk.text.strip())
    if not length:
        return "empty"
    if config.enforce_min_length and length < config.min_length:
        return f"shorter than {config.min_length} characters"
    return f"longer than {config.max_length} characters" if length > config.max_length else ""
