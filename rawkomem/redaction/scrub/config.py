"""The settings of the scrubber's stages. Overrides are merged deeply: other settings keep their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...model.errors import BadInput
from ...model.record import record, replace


@record
class Structural:
    """Stage 1: removes markup, and corrects headings and blanks."""

    enabled: bool = True
    strip_html: bool = True
    strip_markdown: bool = True
    collapse_whitespace: bool = True


@record
class Semantic:
    """Stage 2: removes paragraphs without content, and repeated ones."""

    enabled: bool = True
    deduplicate: bool = True
    drop_boilerplate: bool = True
    min_length: int = 10  # characters of a paragraph; like RFC-0011's scrubber, it drops "short" and keeps sentences
    min_signal_ratio: float = 0.3  # share of letters and digits among all characters


@record
class Normalization:
    """Stage 3: writes headings, lists and punctuation in one form."""

    enabled: bool = True
    headings: bool = True
    lists: bool = True
    punctuation: bool = True


@record
class Chunking:
    """Stage 4: cuts the text into chunks that are small enough for one vector."""

    enabled: bool = True
    whole_lines: bool = False  # cut as the index does: by characters, and every line is kept
    min_tokens: int = 10
    max_tokens: int = 500
    hard_max_tokens: int = 2_000  # a single paragraph of up to this size stays whole


@record
class Metadata:
    """Stage 5: adds source, position, size and hash to each chunk."""

    enabled: bool = True
    scan_for_injection: bool = True


@record
class Validation:
    """Stage 6: rejects chunks that are too short or too long, with a reason."""

    enabled: bool = True
    enforce_min_length: bool = True
    min_length: int = 10  # characters
    max_length: int = 10_000


@record
class Config:
    """All six stages."""

    enabled: bool = True
    structural: Structural = Structural()
    semantic: Semantic = Semantic()
    normalization: Normalization = Normalization()
    chunking: Chunking = Chunking()
    metadata: Metadata = Metadata()
    validation: Validation = Validation()


DEFAULT = Config()


def configure(*overrides: Mapping[str, Any]) -> Config:
    """Return the defaults with all overrides; later ones win. Keys may be RFC-0011's (`minTokens`)."""
    config = DEFAULT
    for override in overrides:
        config = _over(config, override, "")
    return config


def _over(section: Any, override: Mapping[str, Any], where: str) -> Any:
    changes: dict[str, Any] = {}
    for key, value in override.items():
        name = "".join(f"_{c.lower()}" if c.isupper() else c for c in key)
        if name not in vars(section):
            names = ", ".join(map(_camel, vars(section)))
            raise BadInput(f"the scrubber has no setting {where}{key}", f"use one of {names}")
        known = getattr(section, name)
        if isinstance(known, (bool, int, float)):
            fits = isinstance(value, (int, float)) and isinstance(value, bool) == isinstance(known, bool)
        else:
            fits = isinstance(value, dict)
        if fits:
            changes[name] = _over(known, value, f"{where}{key}.") if isinstance(value, dict) else value
        else:
            raise BadInput(f"scrubber setting {where}{key} cannot be {value!r}", f"the default is {known!r}")
    return replace(section, **changes)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)


# RFC-0011 §6.2: short memories are kept.
MEMORY_MESH = configure({"enabled": True, "chunking": {"minTokens": 1}, "validation": {"enforceMinLength": False}})
# The index keeps all words, so that each of them finds the memory. Recall is measured with these passages.
INDEX = configure(
    {stage: {"enabled": False} for stage in ("structural", "semantic", "normalization", "metadata", "validation")},
    {"chunking": {"wholeLines": True}},
)
PROFILES = {"default": DEFAULT, "mesh": MEMORY_MESH, "index": INDEX}
