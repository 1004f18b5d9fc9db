"""What may stand at a place: keys, words of closed vocabularies, tags, names of memories."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from ..model.kinds import IMPORTANCE
from ..model.record import record
from ..state.schema import KEYS, REFERRING
from .places import KEY, fronts, key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .shelf import Shelf

TYPED_LINK = re.compile(r"\[\[([^\[\]|\n]*)$")
TYPED_VALUE = re.compile(r"""[^\s,\[\]"'{}][^,\[\]"'{}]*$""")
TAGS = "tags"


@record
class Choice:
    """One thing to write from `start` of the line on: what, what it means, and what may be typed to find it."""

    text: str
    says: str = ""
    start: int = 0
    found_by: str = ""
    sort: str = "enum"  # enum, key, tag or memory: how the editor draws it


def choices(shelf: Shelf, lines: Sequence[str], line: int, column: int) -> list[Choice]:
    """What may stand at a position of a memory file."""
    typed = lines[line][:column] if line < len(lines) else ""
    front = next((front for front in fronts(lines) if front.holds(line)), None)
    if front is None:
        link = TYPED_LINK.search(typed)
        return _memories(shelf, link.start(1)) if link else []
    head = KEY.match(typed)
    if not head and not typed.startswith((" ", "\t", "-")):
        return [Choice(f"{key}: ", text, 0, key, "key") for key, (text, _) in KEYS.items()]
    key = key_of(lines, front, line)
    start = _start_of_value(typed, head.end() if head else 0)
    if key in REFERRING:
        return _memories(shelf, start)
    return _tags(shelf, start) if key == TAGS else _words(key, start)


def _start_of_value(typed: str, after: int) -> int:
    value = TYPED_VALUE.search(typed, after)
    text = value[0] if value else ""
    dash = len(text) - len(text.lstrip("- \t")) if not after else 0  # of an item of a list
    return len(typed) - len(text) + dash


def _words(key: str, start: int) -> list[Choice]:
    """The words of a closed vocabulary, or those that a key is usually given."""
    text, values = KEYS.get(key, ("", {}))
    words: Iterable[str] = IMPORTANCE if key == "importance" else values.get("enum", values.get("examples", ()))
    return [Choice(word, text, start) for word in words]


def _tags(shelf: Shelf, start: int) -> list[Choice]:
    counts = Counter(tag for memory in shelf.memories.values() for tag in memory.tags)
    return [Choice(tag, f"{count} memories", start, sort="tag") for tag, count in counts.most_common()]


def _memories(shelf: Shelf, start: int) -> list[Choice]:
    """Ids, found by their titles, too."""
    latest = sorted(shelf.memories.values(), key=lambda memory: (-memory.updated, memory.id))
    return [Choice(one.id, one.title, start, f"{one.id} {one.title}", "memory") for one in latest]
