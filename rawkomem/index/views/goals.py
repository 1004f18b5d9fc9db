"""Groups similar goals: each text joins the first similar text, by the bundled vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...embed.chain import bundled
from ...text.language import language
from .neighbors import Neighbors

if TYPE_CHECKING:
    from collections.abc import Sequence


def leaders(texts: Sequence[str], least: float) -> list[int]:
    """Return for each text the position of its group's first text, which is its own if no earlier one is similar."""
    first: dict[str, int] = {}
    same = [first.setdefault(" ".join(language().words(text)), place) for place, text in enumerate(texts)]
    names = {str(place): place for place in first.values()}
    vectors = bundled().embed([texts[place] for place in names.values()]) if names else []
    near = Neighbors([(name, _whole(vector)) for name, vector in zip(names, vectors, strict=True)])
    lead: dict[str, int] = {}
    for name, close in near.later(list(names), least, lead):
        lead[name] = names[name]
        for other, _ in close:
            lead.setdefault(other, names[name])
    return [lead[str(place)] for place in same]


def _whole(vector: bytes) -> bytes:
    numbers = np.frombuffer(vector, "<f4")
    return np.rint(numbers / (np.abs(numbers).max() or 1) * 127).astype(np.int8).tobytes()
