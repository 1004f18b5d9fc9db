"""Return an injection as JSON data, for `rawkomem inject TASK --json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...text.safe import safe_title
from ...text.tokens import count_tokens
from .frame import finish, held
from .render import part_json, part_of

if TYPE_CHECKING:
    from ..inject import Injection
    from ..score import Scored


def injection_json(injection: Injection) -> dict[str, object]:
    """Return the items with their shown text, the memories that were left out with the reasons, and the tokens."""
    return {
        "items": [_item(item, injection.vouched) for item in injection.items],
        "left_out": [_left_out(item) for item in injection.left_out],
        "tokens": injection.tokens,
        "budget": injection.budget,
        "profile": injection.profile,
        "text": injection.text,
    }


def _item(item: Scored, vouched: bool) -> dict[str, object]:
    part = part_json(part_of(item, vouched))
    why = [{"name": factor.name, "value": round(factor.value, 4), "weight": factor.weight} for factor in item.factors]
    return {**part, "tokens": count_tokens(str(part["text"])), "why": why}


def _left_out(item: Scored) -> dict[str, object]:
    return {
        "id": item.memory.id,
        **({"layer": item.memory.layer} if item.memory.layer else {}),
        "title": finish(held(safe_title(item.memory.title))),
        "score": round(item.score, 4),
        "relevance": round(item.signals.relevance, 4),
        "code": item.out.code if item.out else "",
        "why_not": item.why_not,
    }
