"""The JSON Schema of a frontmatter, for editors. It also allows numbers and booleans, which other YAML
readers make.
"""

from __future__ import annotations

from typing import Any

from ..format.entries import CLAIM_KEYS, FORBIDDEN_KEYS, MAX_PATTERNS, MAX_TAGS
from ..format.fields import LLMOS_MARKS
from ..model.values import CHANGES, CREATES, IMPORTANCE, TYPES
from .fold import REGISTRY
from .plans import ID, REQUIRED, SCALAR, Key, texts_schema

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def _any_case(words: tuple[str, ...]) -> list[str]:
    return [form for word in words for form in (word, word.title(), word.upper())]


CONDITION = {
    "anyOf": [
        REQUIRED,
        {"type": "object", "properties": {"pattern": REQUIRED}, "required": ["pattern"]},
    ]
}
CONDITIONS = {
    "anyOf": [SCALAR, CONDITION, {"type": "array", "items": CONDITION, "maxItems": MAX_PATTERNS}]
}
CLAIMED: dict[str, Any] = {
    "type": "object",
    "properties": dict.fromkeys(CLAIM_KEYS, REQUIRED),
    "required": [*CLAIM_KEYS],
}
PROVENANCE = {"anyOf": [SCALAR, {"type": "object", "properties": {"source": SCALAR}}]}

# Keys of memories; those of changes are in state/changes/.
MEMORY_KEYS = {
    "id": Key("The id, written by rawkomem; without one, the file's path is the id", ID),
    "about": Key("The id of the memory that a change is about", ID, refers=True),
    "title": Key("One line that states the main point", REQUIRED),
    "whenToUse": Key("When to use the memory: words, a|b, a pattern or a sentence", CONDITIONS),
    "tags": Key("Labels", texts_schema(MAX_TAGS)),
    "importance": Key(
        "How important it is; default: medium", {"enum": [*_any_case(IMPORTANCE), None]}
    ),
    "discoveredAt": Key("When it was discovered: 2026-01-23T10:30:00Z"),
    "at": Key("When a change was made"),
    "discoveredBy": Key("Who discovered it"),
    "by": Key("Who made a change"),
    "discoveredIn": Key("The task in which it was discovered"),
    "source": Key("Where it comes from"),
    "relatedMemories": Key("Ids or file stems of related memories", texts_schema(), refers=True),
    "cites": Key("Places in the project's code: path#symbol", texts_schema()),
    "members": Key("Memories that belong to an episode", texts_schema(), refers=True),
    "derivedFrom": Key("Memories that it was made from", texts_schema(), refers=True),
    "supersedes": Key("Memories that it superseded", texts_schema(), refers=True),
    "claim": Key("What it claims: subject, predicate, value", CLAIMED),
    "provenance": Key("source: the source class that the entry declares", PROVENANCE),
    "eventTime": Key("When the thing happened: 2026-01-23 or 2026-01-23T10:30:00Z"),
    "importedState": Key(
        "Its state in the system it comes from; the first review restores it", {"type": "object"}
    ),
    "type": Key(
        "Memory Lane's type; for a link, the kind of link", {**SCALAR, "examples": [*TYPES]}
    ),
    "category": Key("decision, finding, preference, insight, fact, event, task or another word"),
    "entity": Key("What it is about: project:api, person:mark", texts_schema()),
    "entities": Key("What it is about: project:api, person:mark", texts_schema()),
    "session": Key("The session it comes from"),
    "confidence": Key("0 to 100"),
    "intent": Key("What a skill is for"),
    "description": Key("When to use a skill"),
    "topic": Key("What a reflection is about"),
}


def frontmatter_keys() -> dict[str, Key]:
    """Return every key that a memory or a change may have, by name."""
    words = {**{kind: row.says for kind, row in CREATES.items()}, **CHANGES}
    kind = Key("The kind of entry: a new memory, or a change of a memory",
               {"enum": [*words], "enumDescriptions": [*words.values()]})  # fmt: skip
    changes = {name: key for change in CHANGES for name, key in REGISTRY[change].keys.items()}
    return {"kind": kind, **MEMORY_KEYS, **changes}


def frontmatter_schema() -> dict[str, Any]:
    """Return the schema of one entry's frontmatter. Unknown keys are allowed, as in the format itself."""
    change = {"properties": {"kind": {"enum": [*CHANGES]}}, "required": ["kind"]}
    named = [{"required": [key]} for key in ("title", *LLMOS_MARKS)]
    return {
        "$schema": SCHEMA_DIALECT,
        "title": "rawkomem frontmatter",
        "description": "One entry of a memory file: see docs/format.md",
        "type": "object",
        "properties": {
            **{
                name: {"description": key.says, **key.values}
                for name, key in frontmatter_keys().items()
            },
            **dict.fromkeys(sorted(FORBIDDEN_KEYS), False),
        },
        "if": change,
        "then": {"required": ["about"]},
        "else": {"anyOf": named},
    }
