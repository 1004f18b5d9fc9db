"""Store the recent prompts of people: lines in `.rawko/local/said.tsv`, the latest last.

    time, session, words      a prompt without pasted text, on one line

Quotes are checked against this file, so that an agent cannot invent one. Sessions are checksums. Errors are ignored.
"""

from __future__ import annotations

from ...model.clock import now
from ...model.errors import RawkoError
from ...model.record import record
from .private import LineFile, local_path
from .told import checksum, is_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..layout import Layout

FILE_NAME = "said.tsv"
MAX_FILE_BYTES = 256 * 1024  # the older half is dropped
MAX_WORDS_CHARS = 4_000  # of one prompt
LIVE_MS = 12 * 3_600_000  # older prompts are not part of the current session
ESCAPES = (("\\", "\\\\"), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r"))


@record
class Saying:
    """One prompt that a person typed."""

    at: int
    session: str  # its checksum
    text: str


def note_said(layout: Layout, session: str, text: str) -> None:
    """Store a prompt, which the caller has redacted; ignore errors."""
    text = text.strip()[:MAX_WORDS_CHARS]
    if not text:
        return
    for sign, escape in ESCAPES:
        text = text.replace(sign, escape)
    try:
        line = "\t".join((str(now()), checksum(session), text))
        LineFile(local_path(layout, FILE_NAME), MAX_FILE_BYTES).append(line)
    except RawkoError:
        pass


def said_lately(layout: Layout) -> list[Saying]:
    """Return the prompts of the last LIVE_MS, oldest first."""
    try:
        found, _ = LineFile(local_path(layout, FILE_NAME)).read(_saying)
    except RawkoError:
        return []
    return [one for one in found if 0 <= now() - one.at < LIVE_MS]


def forget_said(layout: Layout) -> None:
    """Remove all prompts after a purge, because they may contain the purged text."""
    LineFile(local_path(layout, FILE_NAME)).replace()


def _saying(line: str) -> Saying | None:
    at, _, rest = line.partition("\t")
    session, tab, text = rest.partition("\t")
    if not is_number(at) or not tab:
        return None
    parts = text.split("\\\\")
    for sign, escape in ESCAPES[1:]:
        parts = [part.replace(escape, sign) for part in parts]
    return Saying(int(at), session, "\\".join(parts))
