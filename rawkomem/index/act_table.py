"""The memories that apply to acts of an agent, in one small file beside the index: a hook reads it at every act.

The file names the state that it was made from: the sweep of the index, HEAD, and the settings. If one of them has
changed, the file counts as missing, and the hook makes another one (repository/acts.py).
"""

from __future__ import annotations

import os

from ..files.git_folder import git_stamp
from ..files.layout import Layout, find_layout, user_config
from ..files.private import open_private, replace_private, secret_name
from ..model.errors import RawkoError
from ..model.values import TYPE_CHECKING, as_dict, now, record
from ..text.acts import REMIND, Act, Applies, fits, marks_of

if TYPE_CHECKING:
    from collections.abc import Iterable

ACT_TABLE = "acts"  # start of the file's name
TABLE_VERSION = "7"  # raise it if the rows or what they hold change
MARK_END = b"\0"


@record
class ActRule:
    """A memory in use that applies to acts."""

    key: str  # id@version, for the record of what a session received
    guard: str  # what it may do; see `act_rules`
    title: str
    applies: Applies
    lines: tuple[str, ...]  # why an act is stopped: title, text, file
    reminder: str  # the same for the context of an agent, in a fence
    valid_from: int = 0
    valid_until: int = 0
    is_doubted: bool = False  # no person vouches for it
    is_at_start: bool = (
        False  # it only reminds, and sessions start with it while there is room
    )

    @property
    def id(self) -> str:
        """Return the id of the memory."""
        return self.key.rpartition("@")[0]

    def holds_for_any(self, acts: Iterable[Act]) -> bool:
        """Return whether the memory is valid now, and one of the acts fits it."""
        at = now()
        is_valid = self.valid_from <= at and not 0 < self.valid_until <= at
        return is_valid and any(fits(self.applies, act) for act in acts)


@record
class ActTable:
    """The rules as JSON, and their marks: every act that fits a rule holds one of these words.

    The exception is a write through a link: its path may hold no mark. `guards_paths` says whether a rule that asks or
    denies has paths.
    """

    marks: tuple[bytes, ...]
    guards_paths: bool
    rows: bytes

    @property
    def rules(self) -> list[ActRule]:
        """Return the rules."""
        import json  # the usual call needs no rules

        return [
            ActRule(**{**row, "applies": Applies(*map(tuple, row["applies"]))})
            for row in json.loads(self.rows)
        ]


def read_table(layout: Layout, swept: str) -> ActTable | None:
    """Return the table; None if there is none, or if it was made from another state than this sweep of the files."""
    try:
        with open_private(_path(layout), "r") as stream:
            state, guards_paths, marks, rows = stream.readall().split(b"\n", 3)
    except (OSError, ValueError):
        return None
    if state != _state(layout, swept):
        return None
    return ActTable(tuple(marks.split(MARK_END)[:-1]), bool(guards_paths), rows)


def write_table(layout: Layout, swept: str, rules: list[ActRule]) -> None:
    """Write the rules that were made from this sweep of the files. Raise OSError."""
    import json

    rows = [
        {**as_dict(one), "applies": [*as_dict(one.applies).values()]} for one in rules
    ]
    marks = {mark for one in rules for mark in marks_of(one.applies)}
    head = b"".join(mark.encode() + MARK_END for mark in sorted(marks))
    guards_paths = any(one.guard != REMIND and one.applies.paths for one in rules)
    lines = (
        _state(layout, swept),
        b"1" * guards_paths,
        head,
        json.dumps(rows).encode(),
    )
    replace_private(_path(layout, make=True), b"\n".join(lines))


def _path(layout: Layout, make: bool = False) -> str:
    database = secret_name(layout.local, ACT_TABLE, make)
    return f"{database.removesuffix('.db')}.table"


def _state(layout: Layout, swept: str) -> bytes:
    """Return what decides which memories are in use and vouched for: files, HEAD, settings."""
    settings = [_changed(file) for file in (layout.config, user_config())]
    said = " ".join((TABLE_VERSION, swept, *settings, git_stamp(layout.project)))
    return said.replace("\n", " ").encode("utf-8", "replace")


def _changed(file: str) -> str:
    try:
        return str(os.stat(file).st_mtime_ns)
    except OSError:
        return "-"


# the environment variables with which hosts name the project that they were started in
PROJECT_VARIABLES = ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR")
Tables = dict[Layout, ActTable]


def guarding(nearest: Layout | None, folder: str) -> list[Layout]:
    """Return the repositories whose guards hold: the nearest one, and that of the project in which the host was started.

    Otherwise an agent would be free of them in any folder that has memories of its own. `folder`, if it is not empty,
    names the only repository.
    """
    found = [nearest] if nearest else []
    for variable in PROJECT_VARIABLES if not folder else ():
        if start := os.environ.get(variable):
            try:
                found.append(find_layout(start))
            except RawkoError:
                pass  # a project without memories
    unique: dict[str, Layout] = {}
    for layout in found:
        unique.setdefault(os.path.realpath(layout.root), layout)
    return [*unique.values()]
