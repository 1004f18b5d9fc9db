"""What a change is: its functions, and the plan that appends an entry. Entries are checked here;
nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any

from ..format.entries import ENTRY_FIELD_KEYS, FORBIDDEN_KEYS, MAX_TAGS
from ..model.entries import Entry, Memory, Plan, Value
from ..model.errors import BadInput, Refused, check_known
from ..model.ids import new_id
from ..model.values import (
    AFTER,
    CHANGES,
    CREATES,
    REPLACES,
    extra_value,
    filled,
    is_empty_value,
    items_of,
    now,
    record,
    replace,
    time_of,
    without,
)
from ..text.acts import act_problem

# A kind of change: one for each row of CHANGES (model/values.py); REGISTRY in fold.py lists them.

Fields = dict[str, Any]
Reducer = Callable[[Fields, Entry], Fields]
Trust = Callable[[Memory], float]


@record
class ChangeKind:
    """The functions of one kind of change; its keys are described in schema.py."""

    # (fields of the memory so far, entry) → the fields that change; uses no clock and no weight
    reduce: Reducer
    # describes the entry in a few words, for `history` and `explain`
    tell: Callable[[Entry], str]


def with_status(status: str) -> Reducer:
    """Return a reducer that sets a status and its reason."""
    return lambda fields, entry: {
        "status": status,
        "reason": str(entry.extra.get("reason", "")),
    }


def ids_in(entry: Entry, key: str) -> tuple[str, ...]:
    """Return the texts of a key that contains one text or a list, without empty values such as `null`."""
    items = items_of(extra_value(entry.extra, key))
    return tuple(str(item) for item in items if not is_empty_value(item))


def claimed_time(extra: Mapping[str, Value], key: str) -> int:
    """Return a limit of an entry's validity window, or else of its claim's: a claim's window is the memory's."""
    claim = extra.get("claim")
    inner = claim if isinstance(claim, dict) else {}
    return time_of(extra_value(extra, key) or extra_value(inner, key))


def names_or_nothing(names: tuple[str, ...]) -> str:
    """Return names separated by commas, or "nothing"."""
    return ", ".join(names) or "nothing"


# Make plans that add a memory or append an entry about one, and check their entries. Nothing is
# written here.

TITLE_CHARS = 300  # characters; a longer text belongs into the body
MAX_BODY_WORDS = 20_000  # ten times the limit of the content rules
BY_CHARS = 64  # characters of a name (neolata)
BY_SIGNS = " _-.@'+()[]"  # allowed besides letters and digits of any script
TAG_CHARS = 100  # characters of a tag


def plan_add(entry: Entry) -> Plan:
    """Plan to store a new memory: check it, and set its id and time. Raise BadInput for a wrong value."""
    check_known("kind", entry.kind, CREATES)
    if not entry.title.strip():
        raise BadInput(
            "a memory needs a title",
            "pass --title, or start the text with a '# Heading'; or run: rawkomem add 'Title. Text.'",
        )
    check_entry(entry)
    at = entry.at or now()
    return Plan(
        (replace(entry, id=entry.id or new_id(entry.kind, at), at=at),),
        f"add {entry.title!r}",
    )


# An amendment names the values that it replaces, and a change that ends the use of a memory its text. So the fold
# notices a value that its author did not know: one of another branch, or one that somebody edited in the file.

REMOVES = "removes"
BODY = "body"
NAMED_VALUES = ("title", "importance")  # besides the text: fields that `replaces` names
ENDING = ("delete", "archive", "supersede")  # kinds that take a memory out of use
PUT_AWAY = ("deleted", "archived", "superseded")  # statuses after these
STATUS = "status"
NAME_SEPARATOR = "@"  # between an entry's id or a field and the start of a digest
# of a digest: 64 bits, so that nobody finds another text with the same ones
DIGEST_CHARS = 16


def values_set(entry: Entry) -> dict[str, str]:
    """Return the title, importance and text that an amendment sets, by field; nothing for other kinds."""
    if entry.kind != "amend":
        return {}
    values = {key: getattr(entry, key) for key in NAMED_VALUES if key in entry.given}
    if entry.body or BODY in ids_in(entry, REMOVES):
        values[BODY] = entry.body
    return values


def fields_known(entry: Entry) -> tuple[str, ...]:
    """Return the fields of a memory whose values a change names."""
    return (BODY,) if entry.kind in ENDING else tuple(values_set(entry))


def value_name(field: str, value: str) -> str:
    """Return the name of a value in `replaces`: field and digest."""
    digest = sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{field}{NAME_SEPARATOR}{digest[:DIGEST_CHARS]}"


def entry_about(memory: Memory, entry: Entry) -> Entry:
    """Return an entry about a memory, with an id, the memory's path, a time after its last change, and what it knew."""
    assert entry.kind in CHANGES
    at = entry.at or max(now(), memory.updated + 1)
    extra = without(entry.extra, REPLACES, AFTER)
    names = [value_name(field, getattr(memory, field)) for field in fields_known(entry)]
    if names and memory.status in PUT_AWAY:
        names.append(value_name(STATUS, memory.status))
    if names:
        extra[REPLACES] = [*names]
    if names and memory.proposed:
        extra[AFTER] = [*memory.proposed]
    return replace(
        entry,
        extra=extra,
        id=entry.id or new_id(entry.kind, at),
        at=at,
        about=memory.id,
        path=memory.path,
    )


def joined_plan(plans: Iterable[Plan], why: str = "") -> Plan:
    """Return the entries of several plans as one plan."""
    return Plan(tuple(entry for plan in plans for entry in plan.entries), why)


def change_entry(
    memory: Memory, kind: str, by: str, extra: Mapping[str, Value]
) -> Entry:
    """Return an entry of this kind about a memory, with the keys that are not empty."""
    return entry_about(memory, Entry(kind=kind, by=by, extra=filled(extra)))


def plan_change(
    memory: Memory,
    kind: str,
    by: str,
    extra: Mapping[str, Value],
    given: tuple[str, ...] = (),
) -> Plan:
    """Plan to append one entry about a memory with these keys, without empty ones."""
    check_in_use(memory)
    check_by(by)
    return Plan((replace(change_entry(memory, kind, by, extra), given=given),))


def check_in_use(memory: Memory) -> None:
    """Raise Refused for a deleted memory."""
    if memory.status == "deleted":
        raise Refused(
            f"{memory.id} is deleted", f"run 'rawkomem restore {memory.id}' first"
        )


def check_entry(entry: Entry) -> None:
    """Raise BadInput for an entry that a reader of the file could not use."""
    # these would override the entry's own fields
    refused = (FORBIDDEN_KEYS | ENTRY_FIELD_KEYS) & entry.extra.keys()
    if refused:
        raise BadInput(
            f"{', '.join(sorted(refused))} cannot be an extra key of a memory",
            "use another name",
        )
    if len(entry.title) > TITLE_CHARS:
        message = f"the title is longer than {TITLE_CHARS} characters"
        raise BadInput(message, "put the text into the body")
    if len(entry.body.split()) > MAX_BODY_WORDS:
        message = f"the body has more than {MAX_BODY_WORDS:,} words"
        raise BadInput(message, "split it into several memories")
    check_by(entry.by)
    if len(entry.tags) > MAX_TAGS or any(
        not tag.strip() or len(tag) > TAG_CHARS for tag in entry.tags
    ):
        message = f"tags are at most {MAX_TAGS} labels of 1 to {TAG_CHARS} characters"
        raise BadInput(message, "shorten them")
    check_window(entry.extra)
    _given_time(entry.extra, "eventTime")
    wrong, hint = act_problem(entry.extra)
    if wrong:
        raise BadInput(wrong, hint)


def check_by(by: str) -> None:
    """Raise BadInput for an invalid author name. Names are printed, filtered by, and may be used in paths."""
    if len(by) > BY_CHARS:
        raise BadInput(
            f"the author's name is longer than {BY_CHARS} characters", "shorten it"
        )
    if any(not (c.isalnum() or c in BY_SIGNS) for c in by):
        raise BadInput(
            f"the name {by!r} contains invalid characters",
            f"use letters, digits and {BY_SIGNS.strip()!r}",
        )


def check_window(given: Mapping[str, Value]) -> None:
    """Raise BadInput if a limit of the window, or of the claim's, is not a time, or the window ends too early."""
    claim = given.get("claim")
    inner = claim if isinstance(claim, dict) else {}
    start, end = (
        _given_time(inner, key) or _given_time(given, key)
        for key in ("validFrom", "validUntil")
    )
    if end and start >= end:
        raise BadInput(
            "the validity window ends before it begins",
            "set validFrom to a time before validUntil",
        )


def _given_time(extra: Mapping[str, Value], key: str) -> int:
    """Return the time under a key, 0 if the key has no value; raise BadInput for another value."""
    value = extra.get(key)
    at = time_of(value)
    if value and not at:
        raise BadInput(
            f"{key} {value!r} is not a time", "write 2026-01-23 or 2026-01-23T10:30:00Z"
        )
    return at
