"""Store the metadata of RFC-0011 in the frontmatter: known keys as keys of their own, all others as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model.entry import Value

# The RFC's key → our key, for metadata that people and the rest of this program read.
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
OTHER_METADATA_KEY = "metadata"  # frontmatter key of all other metadata, as JSON, so that numbers stay numbers
SCRUBBED_KEY = "scrubber"  # frontmatter key of the scrubber profile that prepares the text for embedding
COLUMNS_KEY = "meshColumns"  # frontmatter key of the columns of a memory-mesh database, as JSON
STORE_KEY = "store"  # in the metadata of rows that we write, to recognize them
# RFC-0011 §9.2 highlights scores of 0.8 and more, and calls scores of 0.4 and less auxiliary.
LOWEST_SCORES = {"critical": 0.9, "high": 0.8, "medium": 0.41}
SCORE_DIGITS = 6  # to round to: a float32 column returns 0.4000000059 for 0.4


def extra_of(given: Mapping[str, Any]) -> dict[str, Value]:
    """Return metadata as frontmatter keys and values."""
    texts = {key: value for key, value in given.items() if key in PLACES and isinstance(value, str)}
    rest = {key: value for key, value in given.items() if key not in texts}
    extra: dict[str, Value] = {PLACES[key]: text for key, text in texts.items() if text}
    return {**extra, OTHER_METADATA_KEY: json.dumps(rest, ensure_ascii=False, sort_keys=True)} if rest else extra


def given_in(extra: Mapping[str, Value]) -> dict[str, Any]:
    """Return the metadata of a frontmatter, by the RFC's keys."""
    placed = {key: extra[place] for key, place in PLACES.items() if extra.get(place)}
    return {**json_object(extra.get(COLUMNS_KEY)), **placed, **json_object(extra.get(OTHER_METADATA_KEY))}


def json_object(said: object) -> dict[str, Any]:
    """Return the object in a JSON text, or an object as is; empty for anything else."""
    try:
        value = json.loads(said) if isinstance(said, str) and said else said
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def score_in(given: Mapping[str, Any]) -> float | None:
    """Return the importance score in metadata, from 0 to 1; None if it is missing or invalid."""
    score = given.get("importance_score")
    usable = isinstance(score, (int, float)) and not isinstance(score, bool) and 0 <= score <= 1
    return float(score) if usable and score is not None else None


def importance_for(score: float) -> str:
    """Return the word for an importance score: low, medium, high or critical."""
    score = round(score, SCORE_DIGITS)
    return next((word for word, least in LOWEST_SCORES.items() if score >= least), "low")
