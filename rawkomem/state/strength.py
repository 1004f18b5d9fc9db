"""The strength of a memory, and its columns in RFC-0011, for filters, `show --json` and the mesh."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from math import exp
from typing import Any

import apsw

from ..format.mesh_fields import (
    LESSON_TAG,
    OTHER_METADATA_KEY,
    SCRUBBED_KEY,
    importance_for,
    importance_score,
    json_object,
    lesson_context,
    lesson_pattern,
    lesson_wire_values,
    metadata_in,
)
from ..format.yamo import build_block, emit_yamo
from ..model.entries import LESSON, Memory, Value
from ..model.errors import BadInput
from ..model.values import (
    days_since,
    extra_value,
    filled,
    iso,
    items_of,
    read_moment,
    read_time,
    record,
    time_of,
)
from ..redaction.scrubber import scrubbed_text
from ..text.chunks import counted
from .changes import CHAIN
from .trust import EVENT_TIME, category_of, session_of, type_of

FieldValue = str | int | float | bool | Sequence[str] | None
Fields = Mapping[str, FieldValue]
Test = Callable[[Fields], bool]

MAX_FILTER_LENGTH = 4_000  # characters
CONTAINS = ("array_contains", "array_has")
FUNCTIONS = (
    *CONTAINS, "coalesce", "glob", "ifnull", "instr", "length", "like", "lower", "nullif", "substr", "trim", "upper",
)  # fmt: skip
# a text, which DataFusion's SQL may mark as a time, or a word
TOKENS = re.compile(r"(?i:timestamp\s+)?('(?:[^']|'')*')|\w+")


def parse_expression(
    text: str, fields: Sequence[str], times: Sequence[str] = ()
) -> Test:
    """Return a function that tests a memory's fields. Raise BadInput for an error or an unknown field.

    A date, a time or an age in quotes after one of the fields `times` means its milliseconds since 1970.
    """
    if len(text) > MAX_FILTER_LENGTH:
        raise BadInput(
            f"the filter is {len(text)} characters long",
            f"use at most {MAX_FILTER_LENGTH}",
        )
    database = apsw.Connection(":memory:")
    # text in double quotes is never a value
    database.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    for name in CONTAINS:
        database.create_scalar_function(name, _contains, 2)
    database.execute(f"CREATE TABLE memory ({', '.join(fields)})")
    insert = f"INSERT INTO memory VALUES ({', '.join('?' * len(fields))})"
    database.execute(insert, [None] * len(fields))
    query = f"SELECT ({_with_moments(text, fields, times)}\n) IS TRUE FROM memory"
    try:
        database.authorizer = _authorizer(fields)
        widths = [len(row) for row in database.execute(query)]
    except (apsw.Error, UnicodeError) as error:
        raise _refusal(str(error), fields) from error
    if widths != [1]:
        raise _refusal("it is not one condition", fields)
    database.authorizer = None  # the query is known now

    def test(values: Fields) -> bool:
        row = [values[field] for field in fields]
        database.execute("DELETE FROM memory")
        database.execute(
            insert, [json.dumps(one) if isinstance(one, tuple) else one for one in row]
        )
        return database.execute(query).fetchall() == [(1,)]

    return test


def _with_moments(text: str, fields: Sequence[str], times: Sequence[str]) -> str:
    """Return a condition in which the texts after a field of times are milliseconds."""
    field = ""

    def moment(match: re.Match[str]) -> str:
        nonlocal field
        token = match[0]
        if token in fields:
            field = token
        at = read_moment(match[1][1:-1]) if match[1] and field in times else None
        return token if at is None else str(at)

    return TOKENS.sub(moment, text)


def _authorizer(fields: Sequence[str]) -> Callable[..., int]:
    """Return what decides whether SQLite may do a thing: read the row once, by one SELECT."""
    selects = iter([apsw.SQLITE_OK])

    def decide(
        action: int, first: str | None, second: str | None, *_: str | None
    ) -> int:
        if action == apsw.SQLITE_SELECT:
            return next(selects, apsw.SQLITE_DENY)
        if action == apsw.SQLITE_READ and first == "memory":
            return apsw.SQLITE_OK if second in ("", *fields) else apsw.SQLITE_DENY
        if action == apsw.SQLITE_FUNCTION and second in FUNCTIONS:
            return apsw.SQLITE_OK
        return apsw.SQLITE_DENY

    return decide


def _refusal(problem: str, fields: Sequence[str]) -> BadInput:
    return BadInput(
        f"the filter is not understood: {problem}",
        f"its columns are {', '.join(fields)}",
    )


def _contains(*values: Any) -> bool | None:
    """Return whether a list in JSON contains an item."""
    items, item = values
    if items is None or item is None:
        return None
    return str(item) in json.loads(str(items))


# The strength of a memory: neolata's formula, except that `stability` can only slow decay down.
# Pure.

# neolata's default is 0.7, which is our default importance, medium.
IMPORTANCES = {"low": 0.4, "medium": 0.7, "high": 0.85, "critical": 1.0}
REINFORCED_IMPORTANCE = 0.1  # added for each reinforcement, up to 1
CATEGORY_FACTORS = {"decision": 1.3, "preference": 1.4, "insight": 1.1}
AGE_HALF_LIFE_DAYS = 30  # since it was created
TOUCH_HALF_LIFE_DAYS = 60  # since it was last changed or used
MIN_FACTOR = 0.1  # minimum of the factors age and touch
STABILITY_EXPONENT = 0.5  # exponent after `stability` days without a change or use
LINK_STRENGTH = 0.05
MAX_LINK_STRENGTH = 0.3
USE_STRENGTH = 0.02
MAX_USE_STRENGTH = 0.2
WEAK_BELOW = 0.3
FADED_BELOW = 0.15  # below it, prune archives a memory


@record
class StrengthPart:
    """One part of a strength. Importance, age, touch and category are multiplied; links and uses are added."""

    name: str
    value: float
    why: str


@record
class Strength:
    """The strength of a memory from 0 to 1, and its parts."""

    value: float
    parts: tuple[StrengthPart, ...]

    def __str__(self) -> str:
        return f"strength {self.value:.2f}: {', '.join(part.why for part in self.parts if part.why)}"


def strength_of(
    memory: Memory, links: int, now: int, uses: int = 0, last_use: int = 0
) -> Strength:
    """Return the strength of a memory with this number of links.

    Pass uses on this machine only for display, never where a change of files depends on the strength.
    """
    parts = strength_parts(memory, links, uses, last_use, now)
    importance, age, touch, category, linked, used = (part.value for part in parts)
    faded = importance * age * touch * category
    stability = _number(memory.extra.get("stability"))
    if stability > 0:
        idle = _untouched(memory, last_use, now)
        faded = max(faded, importance * exp(-STABILITY_EXPONENT * idle / stability))
    return Strength(round(min(1.0, faded + linked + used), 4), parts)


def strength_parts(
    memory: Memory, links: int, uses: int, last_use: int, now: int
) -> tuple[StrengthPart, ...]:
    """Return importance, age (0 if unknown), touch and category, which multiply; links and uses, which are added."""
    age = days_since(memory.created, now)
    touch = _untouched(memory, last_use, now)
    category = category_of(memory)
    weight = CATEGORY_FACTORS.get(category, 1.0)
    if memory.reinforcements:
        again = f" and {counted(memory.reinforcements, 'time')} reinforced"
    else:
        again = ""
    used = f"{counted(uses, 'use')} on this machine"
    touched = "used" if last_use > memory.updated else "changed"
    return (
        StrengthPart(
            "importance",
            importance_of(memory),
            f"importance {memory.importance}{again}",
        ),
        StrengthPart(
            "age",
            fading_factor(age, AGE_HALF_LIFE_DAYS),
            f"found {counted(round(age), 'day')} ago",
        ),
        StrengthPart(
            "touch",
            fading_factor(touch, TOUCH_HALF_LIFE_DAYS),
            f"last {touched} {counted(round(touch), 'day')} ago",
        ),
        StrengthPart("category", weight, f"a {category}" if weight != 1.0 else ""),
        StrengthPart(
            "links",
            min(MAX_LINK_STRENGTH, LINK_STRENGTH * links),
            counted(links, "link") if links else "",
        ),
        StrengthPart(
            "uses", min(MAX_USE_STRENGTH, USE_STRENGTH * uses), used if uses else ""
        ),
    )


def importance_of(memory: Memory) -> float:
    """Return importance as a number from 0 to 1, raised by each reinforcement."""
    return min(
        1.0,
        IMPORTANCES[memory.importance] + REINFORCED_IMPORTANCE * memory.reinforcements,
    )


def fading_factor(days: float, half: float) -> float:
    """Return the factor that is left after some days: a half after `half` days, at least MIN_FACTOR."""
    return float(max(MIN_FACTOR, 0.5 ** (days / half)))


def _number(said: object) -> float:
    try:
        return float(str(said))
    except ValueError:
        return 0.0


def _untouched(memory: Memory, last_use: int, now: int) -> float:
    return days_since(max(memory.updated, last_use), now)


MEMORY_TYPES = ("global", "session", "agent", "lesson", "reflection")


def rfc_columns(
    memory: Memory, accesses: int, last_access: int
) -> dict[str, FieldValue]:
    """Return the V2 columns of a memory; None if unknown. Times are milliseconds, the heritage is JSON.

    Values in the memory's metadata win; uses on this machine are added to the uses in the metadata.
    """
    metadata = metadata_in(memory.extra)
    chain = chain_of(memory)
    return {
        "session_id": session_of(memory) or None,
        "agent_id": _text_or_none(metadata.get("agent_id")) or memory.by or None,
        "memory_type": memory_type(memory),
        "importance_score": score_of(memory),
        "access_count": accesses + _positive_int(metadata.get("access_count")),
        "last_accessed": max(last_access, _moment(metadata.get("last_accessed")))
        or None,
        "heritage_chain": json.dumps(chain, ensure_ascii=False) if chain else None,
        "lesson_pattern_id": lesson_pattern(memory.extra)
        or _text_or_none(metadata.get("lesson_pattern_id")),
        "source_skill_id": _text_or_none(metadata.get("source_skill_id")),
    }


def score_of(memory: Memory) -> float:
    """Return the importance as a number: that of the metadata, unless somebody changed the importance since."""
    stated = importance_score(metadata_in(memory.extra))
    if stated is None or importance_for(stated) != memory.importance:
        return importance_of(memory)
    return min(1.0, stated + REINFORCED_IMPORTANCE * memory.reinforcements)


def filter_columns(
    memory: Memory, accesses: int, last_access: int
) -> dict[str, FieldValue]:
    """Return all columns that a filter may name."""
    return {
        "id": memory.id,
        "kind": memory.kind,
        "status": memory.status,
        "title": memory.title,
        "content": memory.body,
        "type": type_of(memory) or memory.kind,
        "tags": memory.tags,
        "source": memory.source or None,
        "importance": memory.importance,
        "created_at": memory.created,
        "updated_at": memory.updated,
        "event_at": time_of(extra_value(memory.extra, EVENT_TIME)) or None,
        "skill_name": _text_or_none(memory.extra.get("skill_name")),
        "rationale": _text_or_none(memory.extra.get("rationale")),
        "hypothesis": _text_or_none(memory.extra.get("hypothesis")),
        "metadata": _text_or_none(memory.extra.get(OTHER_METADATA_KEY)),
        **rfc_columns(memory, accesses, last_access),
    }


def memory_type(memory: Memory) -> str:
    """Return the RFC's memory type of a memory, one of MEMORY_TYPES."""
    stated = metadata_in(memory.extra).get("memory_type")
    type = stated if stated in MEMORY_TYPES else type_of(memory)
    if memory.kind in ("lesson", "reflection"):
        return memory.kind
    if type in MEMORY_TYPES:
        return type
    return "session" if session_of(memory) else "global"


def chain_of(memory: Memory) -> dict[str, list[Value]]:
    """Return the chain of intents that led to a memory, by the RFC's keys; empty if it has none."""
    chain: dict[str, list[Value]] = {}
    for key in CHAIN:
        chain[key] = items_of(memory.extra.get(key, []))
    if any(chain.values()):
        return chain
    stated = json_object(metadata_in(memory.extra).get("heritage_chain"))
    if any(stated.get(key) for key in CHAIN):
        return {key: stated.get(key, []) for key in CHAIN}
    return {}


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _positive_int(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    return 0


def _moment(value: object) -> int:
    """Return a number or an ISO time as milliseconds since 1970; 0 for any other value."""
    if isinstance(value, str):
        return read_time(value)[0] or 0
    return _positive_int(value)


FILTER_FIELDS = tuple(filter_columns(Memory(""), 0, 0))  # names that a filter may use
TIME_FIELDS = ("created_at", "updated_at", "event_at", "last_accessed")


# A memory as a record of RFC-0011: its content, its metadata, and its row in memory_entries.


def metadata_of(
    memory: Memory, accesses: int = 0, last_access: int = 0
) -> dict[str, Any]:
    """Return a memory's metadata by the RFC's keys, without empty values, including the columns that filters use."""
    columns = rfc_columns(memory, accesses, last_access)
    last = columns["last_accessed"]
    shown = {
        **columns,
        "last_accessed": iso(last) if isinstance(last, int) else "",
        "heritage_chain": chain_of(memory),
    }
    known = {
        "type": type_of(memory) or memory.kind,
        "source": memory.source,
        "tags": list(memory.tags),
        "importance": memory.importance,
    }
    return {
        **filled(known),
        **metadata_in(memory.extra),
        **filled(shown),
        **(lesson_metadata(memory) if memory.kind == LESSON else {}),
    }


def lesson_metadata(memory: Memory) -> dict[str, Any]:
    """Return a lesson as metadata of RFC-0011, with its wire block."""
    context = lesson_context(memory)
    pattern = lesson_pattern(memory.extra)
    values = lesson_wire_values(memory.id, pattern, context)
    bare = LESSON_TAG.lstrip("#")
    tags = [tag for tag in memory.tags if tag.lstrip("#") != bare]
    return {
        "type": LESSON,
        "tags": [LESSON_TAG, *tags],
        "lesson_id": memory.id,
        "lesson_pattern_id": pattern,
        "severity": context.severity,
        "oversight": context.oversight,
        "preventative_rule": context.preventative_rule,
        "rule_confidence": context.confidence,
        "applicable_scope": context.applicable_scope,
        "inverse_lesson": context.inverse_lesson,
        "yamo_wire_format": emit_yamo(
            build_block("lesson", memory.by, memory.created, **values)
        ),
    }


def entry_row(
    memory: Memory, accesses: int = 0, last_access: int = 0
) -> dict[str, Any]:
    """Return the columns of memory_entries without the vector; times are milliseconds, metadata is an object."""
    return {
        "id": memory.id,
        "content": sanitized_text(memory),
        "metadata": {
            "title": memory.title,
            "status": memory.status,
            **metadata_of(memory, accesses, last_access),
        },
        "created_at": memory.created,
        "updated_at": memory.updated if memory.updated != memory.created else None,
        **rfc_columns(memory, accesses, last_access),
    }


def sanitized_text(memory: Memory) -> str:
    """Return a memory's text after layer 0 (RFC-0011 §6) if a mesh stored it; the file keeps the original text."""
    text = memory.body or memory.title
    if SCRUBBED_KEY not in memory.extra:
        return text

    return scrubbed_text(text)
