"""Renumber experiences that two branches logged under the same number: the later one gets the next free number.

If another new entry of the same side mentions the number, it is kept and becomes a conflict, so that a mention of
`exp_5` never refers to another task.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...model.ids import holds_id
from ...model.record import replace
from .version import Item, Version

NUMBERED = re.compile(r"exp_(\d{1,12})")
OWN_NUMBER = r"^((?:experience_)?id:[ \t]*\"?){}(\"?[ \t]*)$"


def renumbered(base: Version, ours: Version, theirs: Version) -> tuple[Version, Version]:
    """Return both sides, with new numbers for experiences that share a number, where renumbering is safe."""
    free = max((_number(item) for side in (base, ours, theirs) for item in side.items.values()), default=0)
    new: dict[int, dict[str, Item]] = {0: {}, 1: {}}
    twice = [key for key in ours.items if key not in base.items and _collide(ours.items[key], theirs.items.get(key))]
    for key in sorted(twice, key=lambda key: _number(ours.items[key])):
        late = int(theirs.items[key].rank > ours.items[key].rank)
        side = (ours, theirs)[late]
        if not _is_mentioned(key, side, base):
            free += 1
            new[late][key] = _with_number(side.items[key], free)
    return _replaced(ours, new[0]), _replaced(theirs, new[1])


def _collide(ours: Item, theirs: Item | None) -> bool:
    return theirs is not None and ours.text != theirs.text and ours.entry.kind == "experience" and _number(ours) > 0


def _number(item: Item) -> int:
    found = NUMBERED.fullmatch(item.entry.id)
    return int(found[1]) if found else 0


def _is_mentioned(key: str, side: Version, base: Version) -> bool:
    id = side.items[key].entry.id
    others = (item.text for other, item in side.items.items() if other != key and other not in base.items)
    return any(holds_id(text, id) for text in others)


def _with_number(item: Item, number: int) -> Item:
    id = f"exp_{number}"
    own = re.compile(OWN_NUMBER.format(re.escape(item.entry.id)), re.MULTILINE)
    text = own.sub(lambda match: f"{match[1]}{id}{match[2]}", item.text, count=1)
    return replace(item, entry=replace(item.entry, id=id), piece=replace(item.piece, text=text))


def _replaced(side: Version, new: Mapping[str, Item]) -> Version:
    items = {f"id {new[key].entry.id}" if key in new else key: new.get(key, item) for key, item in side.items.items()}
    return replace(side, items=items)
