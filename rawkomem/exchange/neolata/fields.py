"""Map the fields of neolata's memories to ours, in both directions.

A field that we would write differently is kept unchanged, as JSON below the key `neolata` of the entry. An export
writes the kept value, unless that part of the memory has changed since.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ...format.read_entries import CLAIM, MAX_PATTERNS
from ...learn.skills.text import CONDITION_LENGTH, as_read
from ...model.aliases import said
from ...model.clock import iso, read_time
from ...model.entry import Entry
from ...model.kinds import ACTIVE
from ...model.record import record, replace
from ...state.belief.claims import (
    MAX_NAME_CHARS,
    MAX_VALUE_CHARS,
    SCOPES,
    SESSION,
    Claim,
    claim_of,
    read_claim,
)
from ...state.decide import TITLE_CHARS
from ...state.facets import EVENT_TIME, category_of
from ...state.lifecycle.strength import IMPORTANCES
from ...text.clean import clean, one_line
from ..entry import a_name, as_body, importance_of, labels, moment, texts
from ..notes import OWN_ID
from ..stores import item_entry, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...model.entry import Memory, Value

    Item = dict[str, Any]

KEPT = "neolata"  # frontmatter key of the fields without an exact equivalent here, each as JSON
OTHERS = "others"  # below it: an object with the fields whose names are not valid keys
KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
THEIR_ID = re.compile(rf"(?:mem|ep)_[A-Za-z0-9_-]{{1,90}}|{UUID}")  # ids of jsonStorage and supabaseStorage
USUAL_CATEGORY = "fact"
WINDOW = ("validFrom", "validUntil")
DERIVED = ("embedding", "title", "whenToUse", *WINDOW)  # not kept: rawkomem computes or stores them itself
ARCHIVED_AT, ARCHIVED_WHY = "archived_at", "archived_reason"
MAX_KEPT_CHARS = 40_000  # of all kept fields: a frontmatter has at most 64 KiB


@record
class Field:
    """One field: how to read it from an item, how to get it from a memory, and how to write it for neolata."""

    name: str
    read: Callable[[Item], Any]
    ours: Callable[[Memory], Any]
    write: Callable[[Any], Any] = lambda value: value
    says: str = ""  # our name for it, for the migration page


def id_of(given: object) -> str:
    """Return our id for an id of neolata: the same id if neolata or rawkomem made it, else one from its hash."""
    id = str(given)
    return (
        id
        if THEIR_ID.fullmatch(id) or OWN_ID.fullmatch(id)
        else f"mem_{sha256(id.encode('utf-8', 'replace')).hexdigest()[:12]}"
    )


def stamp(at: int) -> str | None:
    """Return a time as JavaScript writes it, always with milliseconds."""
    text = iso(at)
    return text if "." in text else text.replace("Z", ".000Z") or None


def status_of(item: Item) -> str:
    """Return the status of an item; an item with an archive time is `archived`."""
    return "archived" if item.get(ARCHIVED_AT) else str(item.get("status") or ACTIVE)


def importance_word(value: object) -> str:
    """Return the word whose number is closest, so that an exported word is imported as the same word."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return importance_of(value)
    return min(IMPORTANCES, key=lambda name: abs(IMPORTANCES[name] - value))


def time_text(value: object) -> str:
    """Return a text if it is a valid time; else an empty text."""
    return value.strip() if isinstance(value, str) and read_time(value)[0] else ""


def claim_in(item: Item) -> dict[str, Value]:
    """Return the claim of an item as frontmatter; empty if it is incomplete or invalid.

    A claim with an unreadable validity window is left out: without the window it would cause false contradictions.
    """
    claim = item.get("claim")
    if not isinstance(claim, dict) or not all(isinstance(claim.get(key), str) for key in CLAIM):
        return {}
    if claim.get("scope", SCOPES[0]) not in SCOPES or not isinstance(claim.get("exclusive", True), bool):
        return {}
    window = {key: time_text(claim[key]) for key in WINDOW if claim.get(key) is not None}
    if not all(window.values()) or (len(window) == 2 and _ends_early(window)):
        return {}
    said = {key: clean(claim[key]) for key in (*CLAIM, "sessionId") if isinstance(claim.get(key), str)}
    if not said["subject"].strip() or not said["predicate"].strip() or len(said["value"]) > MAX_VALUE_CHARS:
        return {}
    if max(len(said["subject"]), len(said["predicate"])) > MAX_NAME_CHARS:
        return {}
    if claim.get("scope") == SESSION and not said.get("sessionId", "").strip():
        return {}
    scope = {"scope": claim["scope"]} if claim.get("scope", SCOPES[0]) != SCOPES[0] else {}
    exclusive = {} if claim.get("exclusive", True) else {"exclusive": "false"}
    return {**said, **exclusive, **scope, **window}


def _ends_early(window: Mapping[str, str]) -> bool:
    start, end = (read_time(window[key])[0] or 0 for key in WINDOW)
    return start >= end


def _written_claim(claim: Claim | None) -> Item | None:
    if claim is None:
        return None
    ends = {"validFrom": stamp(claim.valid_from), "validUntil": stamp(claim.valid_until)}
    return {
        "subject": claim.subject,
        "predicate": claim.predicate,
        "value": claim.value,
        "exclusive": claim.exclusive,
        "scope": claim.scope,
        **({"sessionId": claim.session} if claim.session else {}),
        **{key: value for key, value in ends.items() if value},
        "normalizedValue": claim.value,
    }


def agent_of(item: Item) -> str:
    """Return the author of an item if the name is valid in our files; else an empty text."""
    return a_name(str(item.get("agent") or ""))


def body_of(item: Item) -> str:
    """Return the text of an item as it would read back from a file."""
    return as_read(as_body(text_of(item))).strip()


def _category(item: Item) -> str:
    given = item.get("category")
    return one_line(given, MAX_NAME_CHARS).lower() if isinstance(given, str) else ""


# For each field: name, value in an item, value in a memory, how neolata writes it.
FIELDS = (
    Field("id", lambda item: id_of(item.get("id", "")), lambda memory: memory.id, says="`id`"),
    Field("agent", agent_of, lambda memory: memory.by, says="`discoveredBy`"),
    Field("memory", body_of, lambda memory: memory.body.strip() or memory.title, says="the text"),
    Field(
        "category",
        lambda item: _category(item) or USUAL_CATEGORY,
        lambda memory: category_of(memory) or USUAL_CATEGORY,
        says="`category`",
    ),
    Field(
        "importance",
        lambda item: importance_word(item.get("importance")),
        lambda memory: memory.importance,
        lambda word: IMPORTANCES[word],
        "`importance`, the closest word",
    ),
    Field("tags", lambda item: labels(texts(item.get("tags"))), lambda memory: memory.tags, list, "`tags`"),
    Field("created_at", lambda item: moment(item.get("created_at")), lambda m: m.created, stamp, "`discoveredAt`"),
    Field(
        "event_at",
        lambda item: time_text(item.get("event_at")),
        lambda memory: str(said(memory.extra, EVENT_TIME)),
        lambda text: text or None,
        f"`{EVENT_TIME}`",
    ),
    Field(
        "claim",
        lambda item: read_claim({"claim": claim_in(item)}),
        claim_of,
        _written_claim,
        "`claim`, its window included",
    ),
    Field("status", status_of, lambda memory: memory.status, says="`importedState`; the status after a review"),
)


def entry_of(item: Item, place: str) -> Entry:
    """Return an item as an entry with our keys and limits, without its state."""
    title, provenance = item.get("title"), item.get("provenance")
    source = provenance.get("source") if isinstance(provenance, dict) else None
    extra: dict[str, Value] = {
        "category": _category(item),
        "claim": claim_in(item),
        "provenance": {"source": one_line(source, MAX_NAME_CHARS)} if isinstance(source, str) and source else {},
        EVENT_TIME: time_text(item.get("event_at")),
        **{key: time_text(item.get(key)) for key in WINDOW},
    }
    made = item_entry(
        item,
        place,
        title,
        tags=texts(item.get("tags")),
        importance=importance_word(item.get("importance")),
        by=agent_of(item),
        extra={key: value for key, value in extra.items() if value},
    )
    made = replace(made, id=id_of(item.get("id", "")))
    if "whenToUse" not in item:
        return made
    conditions = [one_line(condition, CONDITION_LENGTH) for condition in texts(item["whenToUse"])]  # of our export
    return replace(made, title=one_line(str(title or made.title), TITLE_CHARS), when=tuple(conditions)[:MAX_PATTERNS])


def kept_of(item: Item) -> tuple[dict[str, Value], list[str]]:
    """Return the fields of an item that we would write differently, and the names of fields too large to keep."""
    said = {name: value for name, value in item.items() if name not in DERIVED and value is not None}
    usual: Item = {"links": [], "updated_at": item.get("created_at")}  # values that are written if nothing is kept
    said = {name: value for name, value in said.items() if name not in usual or value != usual[name]}
    for field in FIELDS:
        written = field.write(field.read(item))
        if written == said.get(field.name):
            said.pop(field.name, None)
        elif field.name not in said:
            said[field.name] = None  # the item has no such field
    return as_kept(said)


def as_kept(said: Item) -> tuple[dict[str, Value], list[str]]:
    """Return fields as JSON texts, and the names of fields that are too large to keep, largest first."""
    odd = {name: said[name] for name in said if not KEY.fullmatch(name) or name == OTHERS}
    plain = {name: value for name, value in said.items() if name not in odd}
    kept = {name: _json(value) for name, value in (*plain.items(), *([(OTHERS, odd)] if odd else []))}
    dropped: list[str] = []
    while sum(map(len, kept.values())) > MAX_KEPT_CHARS:
        dropped.append(max(kept, key=lambda name: len(kept[name])))
        del kept[dropped[-1]]
    return dict(kept), dropped


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_kept(memory: Memory) -> Item:
    """Return the kept fields; skip those that a redaction or an edit made unreadable."""
    held = memory.extra.get(KEPT)
    found: Item = {}
    for name, text in held.items() if isinstance(held, dict) else ():
        try:
            found[name] = json.loads(str(text))
        except ValueError:
            continue
    others = found.pop(OTHERS, {})
    return {**found, **(others if isinstance(others, dict) else {})}


def write_fields(memory: Memory, kept: Item) -> Item:
    """Return an item with all fields: the kept value if the memory is unchanged in this respect, else a new one."""
    item: Item = {}
    for field in FIELDS:
        ours = field.ours(memory)
        value = kept[field.name] if field.name in kept and _is_same(field, kept, ours) else field.write(ours)
        if value is not None:
            item[field.name] = value
    return item


def _is_same(field: Field, kept: Item, ours: Any) -> bool:
    read = field.read(kept)
    return read == ours or (field.name == "created_at" and not read)  # an unreadable time was not changed
