"""Show long output of a command in a pager, as git does: `less -FRX`, $RAWKOMEM_PAGER or $PAGER."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import TextIO

PAGER_VARIABLES = ("RAWKOMEM_PAGER", "PAGER")
DEFAULT_PAGER = "less"
# quit if the text fits one screen, show colors, leave the text on the screen
LESS_OPTIONS = "FRX"
NO_PAGER = ("", "cat")


class HeldOutput(io.StringIO):
    """A buffer for stdout that claims to be the terminal, so that colors and encoding stay the same."""

    def __init__(self, terminal: TextIO):
        super().__init__()
        self.terminal = terminal

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self.terminal.encoding

    def isatty(self) -> bool:
        return True


@contextlib.contextmanager
def paged() -> Iterator[None]:
    """Buffer stdout; then show it in a pager if it is longer than the terminal, else print it."""
    terminal = sys.stdout
    words = pager_command()
    if not words or not terminal.isatty():
        yield
        return
    held = HeldOutput(terminal)
    sys.stdout = held
    try:
        yield
    finally:
        sys.stdout = terminal
        show_paged(held.getvalue(), words)


def pager_command() -> list[str]:
    """Return the command line of the pager; empty if the user turned it off or it is not installed."""
    chosen = next(
        (os.environ[name] for name in PAGER_VARIABLES if name in os.environ),
        DEFAULT_PAGER,
    )
    words = shlex.split(chosen) if chosen not in NO_PAGER else []
    return words if words and shutil.which(words[0]) else []


def show_paged(text: str, words: list[str]) -> None:
    """Show a text in the pager if it is longer than the terminal; print it otherwise."""
    if text.count("\n") < shutil.get_terminal_size().lines:
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    environment = {"LESS": LESS_OPTIONS, "LV": "-c", **os.environ}
    with contextlib.suppress(KeyboardInterrupt):
        subprocess.run(
            words, input=text.encode("utf-8", "replace"), env=environment, check=False
        )
