"""The JSON Schema of a frontmatter, for editors. It also allows numbers and booleans, which other YAML
readers make.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..format.entries import CLAIM_KEYS, FORBIDDEN_KEYS, MAX_PATTERNS, MAX_TAGS
from ..format.frontmatter import LLMOS_MARKS
from ..model.ids import ID_LENGTH
from ..model.values import CHANGES, CREATES, IMPORTANCE, TYPES, record
from ..text.acts import (
    APPLIES_KEY,
    APPLIES_KEYS,
    GUARD_KEY,
    GUARDS,
    MAX_ACT_PATTERNS,
)
from .changes import SIGNALS
from .fold import ACTIONS, DECIDE

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCALAR = {"type": ["string", "number", "boolean", "null"]}
REQUIRED = {"type": ["string", "number", "boolean"]}


@record
class Key:
    """One key: its description, the schema of its values, and whether the values name memories."""

    says: str
    values: Mapping[str, Any]
    refers: bool


def texts_schema(limit: Mapping[str, int]) -> dict[str, Any]:
    """Return the schema of one text or a list of texts, with a limit such as `maxItems`."""
    return {"anyOf": [SCALAR, {"type": "array", "items": REQUIRED, **limit}]}


CONDITION = {
    "anyOf": [
        REQUIRED,
        {
            "type": "object",
            "properties": {"pattern": REQUIRED},
            "required": ["pattern"],
        },
    ]
}
CONDITIONS = {
    "anyOf": [
        SCALAR,
        CONDITION,
        {"type": "array", "items": CONDITION, "maxItems": MAX_PATTERNS},
    ]
}
CLAIMED: dict[str, Any] = {
    "type": "object",
    "properties": dict.fromkeys(CLAIM_KEYS, REQUIRED),
    "required": [*CLAIM_KEYS],
}
PROVENANCE = {"anyOf": [SCALAR, {"type": "object", "properties": {"source": SCALAR}}]}

FORMS: dict[str, Any] = {
    "id": {**SCALAR, "maxLength": ID_LENGTH},
    "text": SCALAR,
    "texts": texts_schema({}),
}
OWN_FORMS: dict[str, Any] = {
    "title": REQUIRED,
    "whenToUse": CONDITIONS,
    "tags": texts_schema({"maxItems": MAX_TAGS}),
    "importance": {
        "enum": [
            *(
                form
                for word in IMPORTANCE
                for form in (word, word.title(), word.upper())
            ),
            None,
        ]
    },
    "claim": CLAIMED,
    APPLIES_KEY: {
        "type": "object",
        "properties": dict.fromkeys(
            APPLIES_KEYS, texts_schema({"maxItems": MAX_ACT_PATTERNS})
        ),
        "additionalProperties": False,
    },
    GUARD_KEY: {"enum": [*GUARDS]},
    "provenance": PROVENANCE,
    "importedState": {"type": "object"},
    "type": {**SCALAR, "examples": [*TYPES]},
    "signal": {"enum": [*SIGNALS]},
    "action": {"enum": [*ACTIONS, DECIDE]},
}
# Keys of memories, then keys of changes: name, form, description; * marks values that name memories.
KEY_ROWS = """
    id              id     The id, written by rawkomem; without one, the file's path is the id
    about           id*    The id of the memory that a change is about
    title           own    One line that states the main point
    whenToUse       own    When to use the memory: words, a|b, a pattern or a sentence
    appliesTo       own    What an agent does when the memory applies: paths, commands, text
    guard           own    What happens then: remind the agent, ask the person, deny the act
    tags            own    Labels
    importance      own    How important it is; default: medium
    discoveredAt    text   When it was discovered: 2026-01-23T10:30:00Z
    at              text   When a change was made
    discoveredBy    text   Who discovered it
    by              text   Who made a change
    discoveredIn    text   The task in which it was discovered
    source          text   Where it comes from
    relatedMemories texts* Ids or file stems of related memories
    cites           texts  Places in the project's code: path#symbol
    members         texts* Memories that belong to an episode
    derivedFrom     texts* Memories that it was made from
    supersedes      texts* Memories that it superseded
    claim           own    What it claims: subject, predicate, value
    provenance      own    source: the source class that the entry declares
    eventTime       text   When the thing happened: 2026-01-23 or 2026-01-23T10:30:00Z
    importedState   own    Its state in the system it comes from; the first review restores it
    type            own    Memory Lane's type; for a link, the kind of link
    category        text   decision, finding, preference, insight, fact, event, task or another word
    entity          texts  What it is about: project:api, person:mark
    entities        texts  What it is about: project:api, person:mark
    session         text   The session it comes from
    confidence      text   0 to 100
    intent          text   What a skill is for
    description     text   When to use a skill
    topic           text   What a reflection is about
    reason          text   Why a change was made
    cause           text   housekeeping: nobody decided to archive it; manual: it was in use before its quarantine
    removes         texts  Keys that the memory no longer has; body: its text
    whenToUseAdded  texts  Values of whenToUse that are added
    whenToUseRemoved texts Values of whenToUse that are removed
    tagsAdded       texts  Values of tags that are added
    tagsRemoved     texts  Values of tags that are removed
    relatedMemoriesAdded texts* Values of relatedMemories that are added
    relatedMemoriesRemoved texts* Values of relatedMemories that are removed
    with            id*    The memory that says the same
    signal          own    The vote
    from            texts* The source memories
    intentChain     texts  The intents that led to it; earliest first
    hypotheses      texts  The hypotheses at each level of its intents
    rationales      texts  The reasons at each level of its intents
    to              texts* The memories that a link leads to
    removed         text   true: the link or the sources are removed
    supersededBy    id*    The memory that supersedes it
    validFrom       text   Valid from this time
    validUntil      text   Valid until this time
    outcome         text   disputed: the memory's trust is too low
    conflictsWith   texts* Memories that it contradicts
    action          own    The decision of a review
    accepts         texts  Entries that a review accepts: id@digest
    declines        texts  Entries that a review declines: id@digest
    undoes          texts  Entries that a review undoes: id@digest
"""


def frontmatter_keys() -> dict[str, Key]:
    """Return every key that a memory or a change may have, by name."""
    words = {**{kind: row.says for kind, row in CREATES.items()}, **CHANGES}
    kinds = {"enum": [*words], "enumDescriptions": [*words.values()]}
    keys = {"kind": Key("The kind of entry: a new memory, or a change", kinds, False)}
    for row in KEY_ROWS.strip().split("\n"):
        name, form, says = row.split(None, 2)
        values = OWN_FORMS[name] if form == "own" else FORMS[form.rstrip("*")]
        keys[name] = Key(says, values, form.endswith("*"))
    return keys


def frontmatter_schema() -> dict[str, Any]:
    """Return the schema of one entry's frontmatter. Unknown keys are allowed, as in the format itself."""
    change = {"properties": {"kind": {"enum": [*CHANGES]}}, "required": ["kind"]}
    titles = [{"required": [key]} for key in ("title", *LLMOS_MARKS)]
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
        "else": {"anyOf": titles},
    }
