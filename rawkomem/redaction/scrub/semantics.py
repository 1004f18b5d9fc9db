"""Stage 2, semantic filtering: removes paragraphs without content, and repeated paragraphs."""

from __future__ import annotations

import re
from hashlib import sha256

from .code import paragraphs
from .config import Semantic

MAX_BOILERPLATE_LENGTH = 120  # characters; a longer paragraph has content
BOILERPLATE = re.compile(
    r"(?:©|\(c\)|copyright\b)[^\n]*|all rights reserved\.?|(?:powered|generated) by \S+|(?:back to )?top"
    r"|skip to (?:main )?content|(?:we|this (?:web)?site) uses? cookies[^\n]*|(?:accept|reject) all(?: cookies)?"
    r"|subscribe to our newsletter[^\n]*"
    r"|(?:\w+(?: \w+)?\s*[|»›·•]\s*){1,9}\w+(?: \w+)?",
    re.IGNORECASE,
)


def filter_semantics(text: str, config: Semantic) -> str:
    """Return the paragraphs that have content, each once, with a blank line between them."""
    kept: list[str] = []
    seen: set[str] = set()
    for paragraph, code in paragraphs(text):
        digest = _digest(paragraph)
        if (config.deduplicate and digest in seen) or (not code and _is_noise(paragraph.strip(), config)):
            continue
        seen.add(digest)
        kept.append(paragraph)
    return "\n\n".join(kept)


def _is_noise(paragraph: str, config: Semantic) -> bool:
    if len(paragraph) < config.min_length:
        return True
    if config.drop_boilerplate and len(paragraph) <= MAX_BOILERPLATE_LENGTH and BOILERPLATE.fullmatch(paragraph):
        return True
    return sum(c.isalnum() for c in paragraph) < config.min_signal_ratio * len(paragraph)


def _digest(paragraph: str) -> str:
    return sha256(" ".join(paragraph.lower().split()).encode("utf-8", "surrogatepass")).hexdigest()
