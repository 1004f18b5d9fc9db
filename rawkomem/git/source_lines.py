"""The lines of a source file, searched in a bounded number of steps; and the sections of a Markdown file."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Span = tuple[int, int]  # lines [first, behind the last), counted from 0

MAX_STEPS = 500_000  # about the characters that are looked at for one symbol: a quarter of a second


class TooLong(Exception):
    """A search takes more steps than a symbol is worth: hooks wait for it, and anybody may have written the file."""


class Lines(list[str]):
    """The lines of a text, and the steps that a search in them may still take: the same number on every machine."""

    def __init__(self, text: str):
        super().__init__(text.split("\n"))
        self.left = MAX_STEPS

    def spend(self, steps: int) -> None:
        """Count steps; raise TooLong if there are too many."""
        self.left -= steps
        if self.left < 0:
            raise TooLong

    @property
    def spent(self) -> int:
        """Return how many steps were taken."""
        return MAX_STEPS - self.left


def sections(lines: Lines, anchor: str) -> list[Span]:
    """Return the Markdown section whose heading has this anchor, up to the next heading of its level."""
    lines.spend(len(lines))
    levels = [(n, len(line) - len(line.lstrip("#"))) for n, line in enumerate(lines) if line.startswith("#")]
    for at, (number, level) in enumerate(levels):
        lines.spend(len(lines[number]))
        if _anchor(lines[number]) == anchor.lower():
            following = (n for n, other in levels[at + 1 :] if other <= level)
            return [(number, next(following, len(lines)))]
    return []


def _anchor(heading: str) -> str:
    words = heading.strip("# ").lower()
    return "".join("-" if c in " -" else c for c in words if c.isalnum() or c in " -_")
