"""What every wing starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .. import Repository


class Wing:
    """A part of the library around one repository, loaded when it is first used."""

    def __init__(self, repository: Repository):
        self._repo = repository
        self._core = repository.core
