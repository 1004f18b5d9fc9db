"""The values of a frontmatter with their lines, and the exception for unreadable ones."""

from __future__ import annotations

from ..model.entries import Value
from ..model.values import Problem, record

MAX_VALUES = 4_000  # limits the work on very long mappings
NULLS = {"", "~", "null", "Null", "NULL"}


@record
class Field:
    """A top-level value and its line; `plain` is False for a quoted text, so that `~` and `"~"` differ."""

    value: Value
    line: int
    plain: bool = False

    @property
    def missing(self) -> bool:
        """Tell whether the value is YAML's null."""
        return self.plain and self.value in NULLS


class Unreadable(Exception):
    """Raised if a frontmatter cannot be read; `problem` says why and where."""

    def __init__(self, problem: Problem):
        super().__init__(problem.message)
        self.problem = problem
