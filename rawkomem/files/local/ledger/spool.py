"""What waits to be sealed into the ledger: a line for each operation, appended in microseconds by whoever did it.

A recall must not wait for hashes, so it leaves a line here and seal.py makes blocks of the lines later. A lock of its
own is held for the length of one write, and while the file is put aside to be sealed: no line falls between.
"""

from __future__ import annotations

import os

from ....model.errors import RawkoError
from ...lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...layout import Layout

WAIT = 2.0  # seconds for the lock; it is held for microseconds
LONG = 256 * 1024  # bytes: about a thousand recalls; whoever makes it longer seals it
SAID = 4_000  # characters of a question that are looked at for secrets
SHOWN = 500  # … and that are kept: a ledger tells what was asked, it is no second copy of long prompts
SHORTEST_KEY = 20  # letters: no shorter word without digits or signs is a key
NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # Windows has none
BLANKS = {9: " ", 10: " ", 13: " "}


def ledger_folder(layout: Layout) -> str:
    """Where the ledger lies: local, git-ignored."""
    return os.path.join(layout.local, "ledger")


def spool_file(layout: Layout) -> str:
    """The lines that wait."""
    return os.path.join(ledger_folder(layout), "spool.tsv")


def spool_lock(layout: Layout) -> Lock:
    """Held while a line is written, and while the file is put aside."""
    return Lock(os.path.join(ledger_folder(layout), "spool.lock"), WAIT)


def spool_line(operation: str, at: int, agent: str, values: Mapping[str, str]) -> str:
    """An operation as one line."""
    said = (f"{key}={value}" for key, value in values.items())
    return "\t".join(part.translate(BLANKS) for part in (operation, str(at), agent, *said))


def append_lines(layout: Layout, lines: Iterable[str]) -> int:
    """Append lines and return how long the file is now; 0: it could not be written, which keeps nobody from an answer.

    Each line starts with its line end: it cannot be taken for the rest of one that was torn by a crash.
    """
    data = "".join(f"\n{line}" for line in lines).encode("utf-8", "replace")
    try:
        if os.path.islink(ledger_folder(layout)):
            return 0  # it came with the repository: nothing is written through it
        with spool_lock(layout):
            descriptor = os.open(spool_file(layout), os.O_WRONLY | os.O_APPEND | os.O_CREAT | NO_LINK, 0o600)
            try:
                os.write(descriptor, data)
                return os.fstat(descriptor).st_size
            finally:
                os.close(descriptor)
    except (OSError, RawkoError):
        return 0


def recall_line(
    at: int, agent: str, query: str, limit: int, filter: str, found: int, score: float, confidence: float
) -> str:
    """A question and how well it was answered, without secrets."""
    values = {
        "query": _without_secrets(query)[:SHOWN],
        "limit": str(limit),
        "filter": _without_secrets(filter)[:SHOWN],
        "found": str(found),
        "score": f"{score:.4f}",
        "confidence": f"{confidence:.4f}",
    }
    return spool_line("recall", at, agent, values)


def note_recalls(layout: Layout, lines: Iterable[str]) -> None:
    """Append recalls; now and then, when there are many, seal them."""
    if append_lines(layout, lines) > LONG:
        from .seal import seal  # hashes: once in a thousand recalls

        try:
            seal(layout)
        except RawkoError:
            pass  # they wait for the next one


def _without_secrets(text: str) -> str:
    """Plain words hold no key, no number and no address; for anything else the rules are loaded."""
    text = text[:SAID]
    if all(len(word) < SHORTEST_KEY and word.strip(".,?!").isalpha() for word in text.split()):
        return text
    from ....redaction.find import redact  # a quarter of a start

    return redact(text)
