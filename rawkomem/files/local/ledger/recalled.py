"""Record a recall in the ledger: the query, without secrets, and the quality of the answer."""

from __future__ import annotations

from ....model.errors import RawkoError
from .spool import append_lines, spool_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...layout import Layout

MAX_SPOOL_BYTES = 256 * 1024  # about a thousand recalls; the process that exceeds it seals the spool
MAX_SCANNED_CHARS = 4_000  # of a query, searched for secrets
MAX_KEPT_CHARS = 500  # of a query: the ledger does not store long prompts
MIN_KEY_CHARS = 20  # a shorter word of letters only is not a key


def recall_line(
    at: int, agent: str, query: str, limit: int, filter: str, found: int, score: float, confidence: float
) -> str:
    """Return a spool line with a query and the quality of its answer."""
    values = {
        "query": _without_secrets(query)[:MAX_KEPT_CHARS],
        "limit": str(limit),
        "filter": _without_secrets(filter)[:MAX_KEPT_CHARS],
        "found": str(found),
        "score": f"{score:.4f}",
        "confidence": f"{confidence:.4f}",
    }
    return spool_line("recall", at, agent, values)


def note_recalls(layout: Layout, lines: Iterable[str], keep_days: int = 0) -> None:
    """Append recalls; if many are waiting, seal them and remove blocks older than `keep_days`."""
    if append_lines(layout, lines) > MAX_SPOOL_BYTES:
        from .trim import seal_and_trim  # imports hashlib, and runs once in a thousand recalls

        try:
            seal_and_trim(layout, keep_days)
        except RawkoError:
            pass  # a later recall seals them


def _without_secrets(text: str) -> str:
    """Redact a text. Plain words contain no key, number or address, so only other texts load the rules."""
    text = text[:MAX_SCANNED_CHARS]
    if all(len(word) < MIN_KEY_CHARS and word.strip(".,?!").isalpha() for word in text.split()):
        return text
    from ....redaction.find import redact  # takes a quarter of a command's start time

    return redact(text)
