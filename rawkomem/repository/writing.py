"""Store and change memories: the keyword arguments of `add` and `amend`, the checks of an entry, and
the only write path, which updates sinks and the ledger after the write.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ..files.append import RETRY_MS, Written, write_locked
from ..files.installation import read_templates
from ..files.layout import FOLDER
from ..files.ledger import note_written
from ..files.machine_records import note_arrivals, note_change, operation_of
from ..files.private import lock
from ..files.reading import is_implicit
from ..format.entries import KEY_OF_FLAG, entry_from_text, first_heading
from ..git.runner import people_here, tracked_files
from ..index.stores.database import DatabaseError
from ..model.entries import Entry, Memory, Plan, Value
from ..model.errors import BadInput, RawkoError, Refused, check_known
from ..model.values import (
    ACTIVE,
    FORMAT,
    GROUPS,
    NEWER_KINDS,
    RECORDED,
    now,
    record,
    replace,
)
from ..redaction.entries import anonymize_entry, redact_entry
from ..state.changes import newer_in, plan_amend
from ..state.claims import (
    MAX_CANDIDATES,
    Outcome,
    plan_claims,
    plan_evolve,
    related_to,
    stored_outcome,
)
from ..state.fold import changes_of_earlier_file, fold
from ..state.plans import joined_plan, values_set
from ..state.trust import ARRIVALS, BASE_TRUST, claimed_source
from ..text.acts import APPLIES_KEY, GUARD_KEY, guard_of, is_idle_guard
from ..text.clean import one_line
from ..text.conditions import (
    COMMON_HINT,
    MAX_SHOWN_PATTERN_CHARS,
    why_too_common,
    why_unusable,
)

if TYPE_CHECKING:
    from . import Repository
    from .core import Core


DISTILLED = "distilled"  # origin of texts that a program made from other texts


def write(
    core: Core,
    plan: Plan | Callable[[], Plan],
    via: str = "",
    given_ids: Collection[str] | None = None,
) -> Sequence[Written]:
    """Write a plan. If it is a function, run it under the write lock, so that no other process writes in between.

    `via` is the origin of the entries: person, agent, import, distilled, or a source class. An entry may repeat one
    that a killed call stored, except if its id is in `given_ids` or these are None.
    """
    if via:
        check_known("origin (via)", via, (*ARRIVALS, *BASE_TRUST))
    layout = core.layout
    core.finish_purges()

    def note_origins(entries: Sequence[Entry]) -> None:
        # before the entries are written, because the next reader needs it
        arrived = [
            (one.id, one.digest, arrival(core, one.extra, via)) for one in entries
        ]
        note_arrivals(layout, arrived)

    with lock(layout, "write"):
        core.index.expect_changes()
        plan = _anonymized(core, plan() if callable(plan) else plan, via)
        core.index.expect_changes()
        if core.settings.format < FORMAT and any(
            entry.kind in NEWER_KINDS for entry in plan.entries
        ):
            # YAML: only once for each repository
            from .settings_table import raise_format

            with as_warning(core, "an older rawkomem may misread this change"):
                raise_format(layout)
        changed = {entry.about: entry.path for entry in plan.entries if entry.changes}
        named = _replacements(core, plan)
        _refuse_reused_names(core, {**named, **changed})
        # The rename in write_locked is the only commit point.
        written = write_locked(
            layout,
            plan,
            core.warn,
            lambda entry: given_ids is not None and entry.id not in given_ids,
            lambda stored: _still_holds(core, stored),
            note_origins,
            lambda paths: tracked_files(layout, paths),
            named,
        )
        new = [item.entry for item in written if not item.again]
        with as_warning(core, "'rawkomem undo' cannot undo this change"):
            if new:
                name = note_change(layout, new, plan.undoes, core.change)
                core.change = name if core.joins else ""
    targets = (*dict.fromkeys(item.entry.target for item in written),)
    core.written += targets
    core.unpublished += targets
    settings = core.settings
    with as_warning(core, "written, but the sinks were not notified"):
        if new and settings.sinks.any:
            from ..exchange.sinks import tell_sinks  # an HTTP client

            tell_sinks(layout, settings.sinks, plan.code, new, core.warn)
    with as_warning(core, "written, but not in the ledger"):
        if settings.ledger != "off" and any(map(operation_of, new)):
            note_written(layout, new, settings.ledger_days)
    return written


def _replacements(core: Core, plan: Plan) -> dict[str, str]:
    """Return id → file of the memories that supersede others; None of them may be known by the name of its file only."""
    ids = {*filter(None, map(newer_in, plan.entries))}
    known = core.known(ids) if ids else {}
    return {id: memory.path for id, memory in known.items()}


def _refuse_reused_names(core: Core, places: Mapping[str, str]) -> None:
    """Raise Refused if a memory without an id has the name of an earlier file that was changed, or no file at all.

    `places` is id → file. An `id` line with that name would give it the changes of the earlier file.
    """
    for id, path in places.items():
        if is_implicit(id, path):
            known = core.read(lambda id=id: core.entries(id))  # type: ignore[misc]
            is_gone = not os.path.lexists(core.layout.path(path))
            if is_gone and any(one.creates and one.is_nameless for one in known):
                raise Refused(
                    f"{path} was removed and not committed, and states no id, so that no change can name it",
                    f"commit the removal, or run 'git restore {FOLDER}/{path}'",
                )
            if older := changes_of_earlier_file(known, path):
                raise Refused(
                    f"{older[0].path} changes an earlier file that was called {path}",
                    "run 'rawkomem check --fix', which gives the new file an id, or remove the old change; then try again",
                )


def store_derived(core: Core, plan: Plan, dry_run: bool) -> Memory:
    """Write the plan of a memory that is made from others, and return that memory; with `dry_run`, write nothing."""
    if not dry_run:
        return core.get(write(core, plan, DISTILLED)[0].entry.id)
    memory = fold(plan.entries)
    assert memory is not None
    return memory


def arrival(core: Core, extra: Mapping[str, Value], via: str) -> str:
    """Return the origin of a text: that of the call, else of this program, else the one that the text declares."""
    return core.claimed(via) or core.via or claimed_source(extra) or "unknown"


def _anonymized(core: Core, plan: Plan, via: str) -> Plan:
    """Replace names by ids in recorded and distilled entries, because no person checked them."""
    is_distilled = (via or core.via) == DISTILLED
    unchecked = {one.id for one in plan.entries if is_distilled or one.kind in RECORDED}
    if not unchecked:
        return plan
    people = people_here(core.layout.project, core.settings.names)
    entries = [
        anonymize_entry(entry, people) if entry.id in unchecked else entry
        for entry in plan.entries
    ]
    return replace(plan, entries=tuple(entries))


@contextmanager
def as_one_change(core: Core) -> Iterator[None]:
    """Join all writes inside a `with` block into one change for `undo`."""
    outer = core.joins
    core.joins = True
    try:
        yield
    finally:
        core.joins = outer
        if not outer:
            core.change = ""


def _still_holds(core: Core, stored: Entry) -> bool:
    """Return whether a memory is in use and says what a stored entry says, or an amendment waits for a review."""
    memory = core.read(lambda: core.find(stored.target))
    if memory is None:
        return False
    if stored.changes:
        values = values_set(stored)
        current = {field: getattr(memory, field) for field in values}
        return stored.id in memory.proposed or current == values
    return memory.status == ACTIVE and _told_in(memory) == _told_in(stored)


@contextmanager
def as_warning(core: Core, otherwise: str) -> Iterator[None]:
    """Turn a failure of a step that follows a write into a warning, because the entries are on disk."""
    try:
        yield
    except (RawkoError, OSError, DatabaseError) as failure:
        core.warn(f"{otherwise}: {failure}")


# The keyword arguments of `add` and `amend`, and the entries they become.

# fields of an Entry that `add` and `amend` accept
ENTRY_FIELDS = (*KEY_OF_FLAG, "body", "by")
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


def amendment(entry: Entry | None, fields: Mapping[str, Any]) -> Entry:
    """Return the entry that changes a memory: `fields`, and the fields that `entry` lists or sets."""
    entry = entry or Entry(kind="amend")
    if entry.kind not in ("memory", "amend"):
        raise BadInput(
            f"an amendment cannot be a {entry.kind}",
            "a memory cannot change its kind: leave `kind` out",
        )
    set_in = entry.given or [
        KEY_OF_FLAG[key]
        for key in KEY_OF_FLAG
        if getattr(entry, key) != getattr(EMPTY_ENTRY, key)
    ]
    given = dict.fromkeys(
        [*set_in, *(KEY_OF_FLAG[key] for key in fields if key in KEY_OF_FLAG)]
    )
    amend = replace(_with_fields(entry, fields, AMEND_FIELDS), given=tuple(given))
    if "title" in given and not amend.title.strip():
        raise BadInput(
            "the title is empty", "pass a title, or leave it out to keep the old one"
        )
    return amend


def _with_fields(
    entry: Entry, fields: Mapping[str, Any], known: tuple[str, ...]
) -> Entry:
    unknown = [name for name in fields if name not in known]
    if unknown:
        near = get_close_matches(unknown[0], known, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise BadInput(
            f"unknown field {unknown[0]!r}", f"{hint}use one of {', '.join(known)}"
        )
    own: dict[str, Any] = {"extra": {**entry.extra, **fields.get("extra", {})}}
    for name, value in fields.items():
        if name in IN_EXTRA:
            is_tuple = isinstance(value, tuple)
            own["extra"][IN_EXTRA[name]] = list(value) if is_tuple else value
        elif name != "extra":
            own[name] = value
    return replace(entry, **own)


# Check an entry before it is stored: unusable conditions, a title that exists already, template
# text.

UNUSABLE = "unusable-condition"
FIRES_ALWAYS = "fires-always"
SAME_TITLE = "same-title"
TEMPLATE = "template-text"
MAX_TITLE_CHARS = 80  # of a title in a message


@record
class Doubt:
    """A reason not to store an entry as it is: a code for programs, a message and a hint."""

    code: str
    message: str
    hint: str
    concerns: str = ""  # the condition, or the id of the memory that has the title


def doubts_about(core: Core, entry: Entry, about: str = "") -> list[Doubt]:
    """Return the doubts about an entry, or about a change of the memory that `about` names."""
    about = about and core.get(about).id
    return [
        *_condition_doubts(entry.when),
        *_same_title(core, entry, about),
        *_template_text(core, entry),
    ]


def check_conditions(core: Core, patterns: Iterable[str], outcome: str) -> None:
    """Raise BadInput for unusable conditions; warn about conditions that fire on nearly every task."""
    for doubt in _condition_doubts(patterns):
        if doubt.code == UNUSABLE:
            raise BadInput(f"{doubt.message}: {outcome}", doubt.hint)
        core.warn(f"{doubt.message}: {doubt.hint}")


def check_guard(extra: Mapping[str, Value], when: Iterable[str]) -> None:
    """Raise BadInput for a guard that names no acts."""
    if is_idle_guard(extra, when):
        raise BadInput(
            f"guard {guard_of(extra)} does nothing without {APPLIES_KEY}: nothing was stored",
            "add --applies-to 'commands=git push*' or --applies-to 'paths=src/**'",
        )


def _condition_doubts(patterns: Iterable[str]) -> Iterator[Doubt]:
    """Yield a doubt for each condition that never fires, fires on nearly everything, or means something else."""
    for pattern in patterns:
        if note := why_unusable(pattern):
            wrong = note.text.rpartition(": it ")[0] or note.text
            message = (
                f"whenToUse {one_line(pattern, MAX_SHOWN_PATTERN_CHARS)!r} {wrong}"
            )
            yield Doubt(UNUSABLE, message, note.hint, pattern)
        elif message := why_too_common(pattern):
            yield Doubt(FIRES_ALWAYS, message, COMMON_HINT, pattern)


def _same_title(core: Core, entry: Entry, about: str) -> Iterator[Doubt]:
    """Yield a doubt if an active memory has this title. Claims and retries of the same text are checked later."""
    if (
        not entry.title.strip()
        or entry.kind in (*GROUPS, *RECORDED)
        or "claim" in entry.extra
    ):
        return
    for id in core.read(lambda: core.catalogue.titled(entry.title)):
        memory = core.get(id)
        is_retry = not about and now() - memory.created <= RETRY_MS
        if id == about or (is_retry and _told_in(memory) == _told_in(entry)):
            continue
        title = one_line(entry.title, MAX_TITLE_CHARS)
        message = f"the memory {id} already has the title {title!r}"
        hint = f"change it with 'rawkomem amend {id}', or use another title"
        yield Doubt(SAME_TITLE, message, hint, id)
        return


def _told_in(what: Entry | Memory | None) -> tuple[object, ...]:
    return tuple(
        str(getattr(what, name)).strip()
        for name in ("kind", "body", "by", *KEY_OF_FLAG)
    )


def _template_text(core: Core, entry: Entry) -> Iterator[Doubt]:
    """Yield a doubt if the body is a template, or contains a placeholder line of a shipped template."""
    kind = entry.kind if entry.creates else "memory"
    body = entry.body.strip()
    for is_shipped, text in read_templates(core.layout, kind):
        try:
            template = entry_from_text(text).body.strip()
        except BadInput:
            continue  # a broken template of the project: the command that opens it reports this
        lines = [
            line for line in template.split("\n") if line.strip() and line[0] != "#"
        ]
        left = [line for line in lines if line in body.split("\n")]
        if template and (body == template or (is_shipped and left)):
            words = one_line(next(iter(left), template), MAX_TITLE_CHARS)
            message = f"the text still contains words of the template: {words!r}"
            yield Doubt(TEMPLATE, message, "replace or remove them")
            return


# Store and change memories: `add`, `amend`, `delete` and `feedback`.


@record
class Stored:
    """The outcome of storing a memory, and the entries that were written."""

    outcome: Outcome
    written: tuple[Written, ...]
    why: str

    @property
    def id(self) -> str:
        """Return the id of the new memory, or of the memory that a claim confirms."""
        return self.outcome.id

    @property
    def entry(self) -> Entry:
        """Return the first entry as it was written."""
        return self.written[0].entry

    @property
    def path(self) -> str:
        """Return the file of the first entry, relative to .rawko."""
        return self.entry.path

    @property
    def again(self) -> bool:
        """Return whether an earlier call already stored the memory, so that nothing was written."""
        return all(item.again for item in self.written)

    @property
    def redacted(self) -> bool:
        """Return whether a secret or personal data was redacted before the write."""
        return any(item.redacted for item in self.written)


def add(
    repo: Repository,
    entry: str | Entry,
    fields: Mapping[str, object],
    on_conflict: str,
    evolve: bool,
    via: str,
) -> Stored:
    """Store a memory; with `evolve`, supersede the memory that it clearly updates."""
    new = _with_fields(
        Entry(body=entry.strip("\n")) if isinstance(entry, str) else entry,
        fields,
        ADD_FIELDS,
    )
    if isinstance(entry, str) and not new.title:
        new = redact_entry(new)
        first = new.body.strip().partition("\n")[0]
        title = first_heading(new.body) or one_line(first, TITLE_CHARS)
        new = replace(new, title=title)
    # a claim names its subject itself
    evolves = evolve and "claim" not in new.extra
    return add_many(repo, [new], on_conflict, via, evolves)[0]


def add_many(
    repo: Repository,
    entries: Sequence[Entry],
    on_conflict: str,
    via: str,
    evolve: bool = False,
) -> Sequence[Stored]:
    """Store several memories; if one of them is rejected, write none. With `evolve`, see `add`."""
    entries = [redact_entry(entry) for entry in entries]
    for entry in entries:
        check_conditions(repo.core, entry.when, "nothing was stored")
        check_guard(entry.extra, entry.when)
    plans: list[Plan] = []
    beliefs = repo.beliefs

    def decide() -> Plan:
        trust = beliefs.trust_by(via)
        if evolve:
            (made,) = entries
            near = repo.core.near(made.title_and_body, MAX_CANDIDATES)
            plans.append(plan_evolve(made, related_to(made, near), trust))
        else:
            has_claims = any("claim" in entry.extra for entry in entries)
            registry = beliefs.predicates() if has_claims else {}
            plans.extend(
                plan_claims(entries, beliefs.claiming, registry, trust, on_conflict)
            )
        return joined_plan(plans)

    rest = list(repo.core.write(decide, via, {one.id for one in entries if one.id}))
    stored: list[Stored] = []
    for plan in plans:
        own = rest[: len(plan.entries)]
        rest = rest[len(plan.entries) :]
        outcome = stored_outcome([item.entry for item in own])
        stored.append(Stored(outcome, tuple(own), plan.why))
    return stored


def amend(
    repo: Repository,
    name: str,
    entry: Entry | None,
    fields: Mapping[str, object],
    via: str,
    one_by_one: bool,
) -> Written:
    """Append an entry that changes a memory; for `one_by_one`, see `plan_amend`."""
    change = redact_entry(amendment(entry, fields))
    check_conditions(repo.core, change.when, "nothing was stored")
    memory = repo.get(name)
    if GUARD_KEY in change.extra:
        check_guard({**memory.extra, **change.extra}, change.when or memory.when)
    plan = plan_amend(memory, change, one_by_one)
    return repo.core.write(plan, via, {entry.id} if entry else ())[0]
