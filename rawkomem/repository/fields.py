"""The keyword arguments of `add` and `amend`, and the entries they become."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ..format.compose import KEY_OF, heading
from ..model.entry import Entry
from ..model.errors import BadInput
from ..model.record import replace
from ..text.clean import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

ENTRY_FIELDS = (*KEY_OF, "body", "by")  # fields of an Entry that `add` and `amend` accept
NEW_ONLY_FIELDS = ("kind", "id", "at")  # fields that only `add` accepts
IN_EXTRA = {  # keyword → key in the frontmatter
    **{name: name for name in ("type", "category", "entity", "session", "claim")},
    "event_time": "eventTime",
    "valid_from": "validFrom",
    "valid_until": "validUntil",
}
EMPTY_ENTRY = Entry()
ADD_FIELDS = (*ENTRY_FIELDS, *NEW_ONLY_FIELDS, *IN_EXTRA, "extra")
AMEND_FIELDS = (*ENTRY_FIELDS, *IN_EXTRA, "extra")
TITLE_CHARS = 100  # characters of a title that is taken from the first line


def as_entry(entry: str | Entry, fields: Mapping[str, Any]) -> Entry:
    """Return the entry to store; `fields` override its own. A text without a title gets its first heading or line."""
    made = _with(Entry(body=entry.strip("\n")) if isinstance(entry, str) else entry, fields, ADD_FIELDS)
    if isinstance(entry, str) and not made.title:
        first = made.body.strip().partition("\n")[0]
        return replace(made, title=heading(made.body) or one_line(first, TITLE_CHARS))
    return made


def amendment(entry: Entry | None, fields: Mapping[str, Any]) -> Entry:
    """Return the entry that changes a memory: `fields`, and the fields that `entry` lists or sets."""
    entry = entry or Entry(kind="amend")
    if entry.kind not in ("memory", "amend"):
        raise BadInput(f"an amendment cannot be a {entry.kind}", "a memory cannot change its kind: leave `kind` out")
    set_in = entry.given or [KEY_OF[key] for key in KEY_OF if getattr(entry, key) != getattr(EMPTY_ENTRY, key)]
    given = dict.fromkeys([*set_in, *(KEY_OF[key] for key in fields if key in KEY_OF)])
    made = replace(_with(entry, fields, AMEND_FIELDS), given=tuple(given))
    if "title" in given and not made.title.strip():
        raise BadInput("the title is empty", "pass a title, or leave it out to keep the old one")
    return made


def _with(entry: Entry, fields: Mapping[str, Any], known: tuple[str, ...]) -> Entry:
    unknown = [name for name in fields if name not in known]
    if unknown:
        near = get_close_matches(unknown[0], known, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise BadInput(f"unknown field {unknown[0]!r}", f"{hint}use one of {', '.join(known)}")
    extra = {**entry.extra, **fields.get("extra", {})}
    extra |= {IN_EXTRA[name]: _plain(value) for name, value in fields.items() if name in IN_EXTRA}
    own = {name: value for name, value in fields.items() if name in ENTRY_FIELDS or name in NEW_ONLY_FIELDS}
    return replace(entry, **own, extra=extra)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
