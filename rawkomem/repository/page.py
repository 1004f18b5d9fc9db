"""MEMORY.md: the page that links to every memory in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..exchange.contents import contents
from ..files.check import check_page, check_repository
from ..files.lock import lock
from ..files.page import PAGE, write_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..files.check import Checked
    from .core import Core


class Page:
    """Writes and checks the page of one repository."""

    def __init__(self, core: Core):
        self._core = core

    def write(self, file: str = "") -> tuple[str, bool]:
        """Write the page; return its path, and whether it changed."""
        file = file or self._core.layout.path(PAGE)
        with lock(self._core.layout, "write"):
            return file, write_page(file, self._text(file))

    def check_all(self) -> Sequence[Checked]:
        """Return what is wrong with the page, where there is one, and with each file."""
        layout = self._core.layout
        return [*check_page(layout, lambda: self._text(layout.path(PAGE))), *check_repository(layout)]

    def _text(self, file: str) -> str:
        return contents(self._core.reading.all(), self._core.layout.from_file(file))
