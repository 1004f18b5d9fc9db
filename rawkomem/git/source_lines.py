"""Search the lines of a source file in a limited number of steps; find the sections of a Markdown file."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Span = tuple[int, int]  # first line and line after the last, counted from 0

MAX_STEPS = 500_000  # about as many characters are read for one symbol; takes a quarter of a second


class TooLong(Exception):
    """Raised if a search takes too many steps: hooks wait for it, and the file may be hostile."""


class Lines(list[str]):
    """The lines of a text, and the number of steps left for searches; the limit is the same on every machine."""

    def __init__(self, text: str):
        super().__init__(text.split("\n"))
        self.left = MAX_STEPS

    def spend(self, steps: int) -> None:
        """Count steps; raise TooLong if none are left."""
        self.left -= steps
        if self.left < 0:
            raise TooLong

    @property
    def spent(self) -> int:
        """Return the number of steps so far."""
        return MAX_STEPS - self.left


def sections(lines: Lines, anchor: str) -> list[Span]:
    """Return the span of the Markdown section with this anchor, up to the next heading of its level or above."""
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
