"""The metadata of RFC-0011 in the frontmatter: keys that people read have a place of their own, all others are JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model.entry import Value

# Metadata that has a place in the frontmatter, read by people and by the rest of this program: the RFC's key → ours.
PLACES = {
    "type": "type",
    "rationale": "rationale",
    "hypothesis": "hypothesis",
    "skill_name": "skill_name",
    "session_id": "session",
    "status": "status",
    "error": "error",
    "error_pattern": "error_pattern",
    "fix": "fix",
    "preventative_rule": "preventative_rule",
    "source_skill_id": "source_skill_id",
}
OTHER_METADATA_KEY = "metadata"  # the frontmatter key of all other metadata, as JSON: numbers stay numbers
SCRUBBED_KEY = "scrubber"  # the frontmatter key that says by which profile of the scrubber a text is embedded
COLUMNS_KEY = "meshColumns"  # the frontmatter key of columns that a database of memory-mesh had, as JSON
STORE_KEY = "store"  # in the metadata of rows that we write: they are ours
# RFC-0011 §9.2 points to 0.8 and more, and calls 0.4 and less auxiliary.
LOWEST_SCORES = {"critical": 0.9, "high": 0.8, "medium": 0.41}
SCORE_DIGITS = 6  # of a score: a column of float32 gives 0.4000000059 for 0.4


def extra_of(given: Mapping[str, Any]) -> dict[str, Value]:
    """Return metadata as frontmatter."""
    texts = {key: value for key, value in given.items() if key in PLACES and isinstance(value, str)}
    rest = {key: value for key, value in given.items() if key not in texts}
    extra: dict[str, Value] = {PLACES[key]: text for key, text in texts.items() if text}
    return {**extra, OTHER_METADATA_KEY: json.dumps(rest, ensure_ascii=False, sort_keys=True)} if rest else extra


def given_in(extra: Mapping[str, Value]) -> dict[str, Any]:
    """Return the metadata that a frontmatter holds, by the RFC's keys."""
    placed = {key: extra[place] for key, place in PLACES.items() if extra.get(place)}
    return {**json_object(extra.get(COLUMNS_KEY)), **placed, **json_object(extra.get(OTHER_METADATA_KEY))}


def json_object(said: object) -> dict[str, Any]:
    """Return the object that JSON text holds; empty where it holds none."""
    try:
        value = json.loads(said) if isinstance(said, str) and said else said
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def score_in(given: Mapping[str, Any]) -> float | None:
    """Return the importance that metadata states as a number from 0 to 1; None where it states none."""
    score = given.get("importance_score")
    usable = isinstance(score, (int, float)) and not isinstance(score, bool) and 0 <= score <= 1
    return float(score) if usable and score is not None else None


def importance_for(score: float) -> str:
    """Return our word for an importance from 0 to 1."""
    score = round(score, SCORE_DIGITS)
    return next((word for word, least in LOWEST_SCORES.items() if score >= least), "low")
