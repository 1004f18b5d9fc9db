"""The values of a frontmatter, and the failure to read one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.record import record

if TYPE_CHECKING:
    from ..model.entry import Value
    from ..model.problem import Problem

MAX_NODES = 4_000  # bounds the work on flat but endless mappings
NULLS = {"", "~", "null", "Null", "NULL"}


@record
class Field:
    """A top-level value with the line it stands on; `plain` tells `~` from `"~"`."""

    value: Value
    line: int
    plain: bool = False

    @property
    def missing(self) -> bool:
        """Tell whether the value is YAML's null."""
        return self.plain and self.value in NULLS


class Unreadable(Exception):
    """Raised where frontmatter cannot be used; `problem` says why and where."""

    def __init__(self, problem: Problem):
        super().__init__(problem.message)
        self.problem = problem
