"""Keys of a frontmatter: the description of a key, and the values that the JSON Schema allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..model.ids import ID_LENGTH
from ..model.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping

SCALAR = {"type": ["string", "number", "boolean", "null"]}
REQUIRED = {"type": ["string", "number", "boolean"]}
ID = {**SCALAR, "maxLength": ID_LENGTH}


def texts(max_items: int = 0) -> dict[str, Any]:
    """Return the schema of one text or a list of texts."""
    several: dict[str, Any] = {"type": "array", "items": REQUIRED}
    return {"anyOf": [SCALAR, {**several, "maxItems": max_items} if max_items else several]}


@record
class Key:
    """One key: its description, the schema of its values, and whether the values name memories."""

    says: str
    values: Mapping[str, Any] = SCALAR
    refers: bool = False


REASON = Key("Why a change was made")
CONFLICTS = Key("Memories that it contradicts", texts(), refers=True)
