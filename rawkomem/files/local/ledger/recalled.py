"""Note a recall in the ledger: the query and how well it was answered, without secrets."""

from __future__ import annotations

from ....model.errors import RawkoError
from .spool import append_lines, spool_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...layout import Layout

MAX_SPOOL_BYTES = 256 * 1024  # about a thousand recalls; whoever makes it longer seals it
MAX_SCANNED_CHARS = 4_000  # of a question, looked at for secrets
MAX_KEPT_CHARS = 500  # of a question: the ledger is no second copy of long prompts
MIN_KEY_CHARS = 20  # no shorter word without digits or signs is a key


def recall_line(
    at: int, agent: str, query: str, limit: int, filter: str, found: int, score: float, confidence: float
) -> str:
    """Return a question, and how well it was answered, as a line for the spool."""
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
        from .trim import seal_and_trim  # hashes: once in a thousand recalls

        try:
            seal_and_trim(layout, keep_days)
        except RawkoError:
            pass  # they wait for the next one


def _without_secrets(text: str) -> str:
    """Return the text, redacted. Plain words hold no key, number or address: only other texts load the rules."""
    text = text[:MAX_SCANNED_CHARS]
    if all(len(word) < MIN_KEY_CHARS and word.strip(".,?!").isalpha() for word in text.split()):
        return text
    from ....redaction.find import redact  # a quarter of a start

    return redact(text)
