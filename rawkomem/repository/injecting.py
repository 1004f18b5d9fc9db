"""Inject: choose the memories for the prompt of a task, and explain the choice."""

from __future__ import annotations

from functools import partial

from ..files.session_records import Told, last_access, note_told, note_use, told_to
from ..index.statements import fired_by
from ..model.entries import Task
from ..model.errors import NotFound, check_known
from ..model.filters import DEFAULT_FILTER, Filter, without_records
from ..model.values import ACTIVE, IMPORTANCE, RECORDED, TYPE_CHECKING, now, replace
from ..recall.candidates import Sources
from ..recall.inject import (
    Injection,
    inject,
    pointer_key,
    received_key,
    session_budget,
    tokens_spent,
)
from ..recall.scoring import Reason, Scored
from ..recall.signals import Limits, Signals, cut_note
from .core import Core

if TYPE_CHECKING:
    from . import Repository

NO_ROOM = ("full", "over-budget")  # codes of memories that others left no room for
CONTEXT_TOKENS = 2_000  # of a context without a budget


def inject_for(
    repo: Repository,
    task: Task,
    form: str,
    only: Filter | None,
    strict: bool,
    **limits: str | float | None,
) -> Injection:
    """Inject for a task and log the recall. A limit that is None comes from the agent's settings."""
    limits["max_unverified"] = 0 if strict else None
    changed = {name: value for name, value in limits.items() if value is not None}
    within = replace(repo.core.settings.limits(task.agent), **changed)
    injection = _inject(repo, task, within, only, form, strict)
    most = max(within.max_injected, len(injection.items))
    repo.core.note_answers([(task.asked, injection.items)], most, only, task.agent)
    return injection


def context_for(
    repo: Repository,
    query: str,
    limit: int,
    budget: int,
    form: str,
    strict: bool,
    only: Filter | None,
) -> Injection:
    """Return the search results that fit, whether or not they would be injected into a prompt."""
    ids = [item.row.id for item in repo.search(query, limit, only) if item.fits]
    # no memory has an empty id
    only = replace(only or DEFAULT_FILTER, ids=tuple(ids) or ("",))
    return inject_for(
        repo,
        Task(query),
        form,
        only,
        strict,
        max_injected=limit,
        budget=budget or CONTEXT_TOKENS,
        min_confidence=0.0,
    )


def rehearse(repo: Repository, task: Task, told: Told, form: str) -> Injection:
    """Inject for a task as if the session already got `told`; do not log the recall."""
    limits = repo.core.settings.limits(task.agent)
    return _inject(repo, task, limits, None, form, told=told)


def _inject(
    repo: Repository,
    task: Task,
    limits: Limits,
    only: Filter | None,
    form: str = "rawko",
    strict: bool = False,
    told: Told | None = None,
    explained: str = "",
) -> Injection:
    """Inject with explicit limits; do not log the recall. The memory `explained` is always judged."""
    check_known("importance", limits.min_importance, IMPORTANCE)
    only = without_records(only)
    least = max(only.importance, IMPORTANCE.index(limits.min_importance))
    only = replace(only, statuses=(ACTIVE,), current=True, importance=least)
    if warning := cut_note([task.asked]):
        repo.core.warn(warning)
    keys = frozenset[str]()
    if task.session or told:
        told = told or told_to(repo.core.layout, task.session)
        keys = told.keys
        budget = session_budget(limits.budget, told.tokens)
        limits = replace(limits, budget=budget)
    layered = repo.layers if repo.core.is_layered else None
    layers = layered.fresh() if layered else ()

    def ask() -> Injection:
        if layered:
            chosen = layered.sources(only, strict, keys, layers)
        else:
            chosen = [sources(repo.core, only, strict, keys)]
        chosen = [replace(one, explained=explained) for one in chosen]
        return inject(chosen, task, limits.profile, limits, form, repo.core.warn)

    injection = repo.core.read(ask)
    if injection.untried:
        warning = f"{injection.untried} regexes of whenToUse were not tried: together they take too long"
        repo.core.warn(f"{warning}; 'rawkomem check' shows files with many conditions")
    return injection


def explain(
    repo: Repository, name: str, task: Task, profile: str, only: Filter | None
) -> tuple[Scored, bool]:
    """Return a memory's score for a task, and whether it would be injected; raise NotFound if nothing matches."""
    from ..state.history import why_not_in_use

    only = only or DEFAULT_FILTER
    limits = repo.core.settings.limits(task.agent)
    limits = replace(limits, profile=profile or limits.profile)
    injection = _inject(repo, task, limits, only)
    owner, own = repo.layers.owner(name)
    memory_there = owner.get(own)
    memory = repo.layers.shown(owner, memory_there)
    item = _about(memory.id, injection)
    if item:
        return item, not item.out
    bare = Scored(memory, Signals(memory.id), 0.0, ())
    why_not = why_not_in_use(memory, now())
    if why_not:
        return replace(bare, out=Reason("not-in-use", (why_not,))), False
    if memory.kind in RECORDED and memory.kind not in only.kinds:
        return replace(bare, out=Reason("record", (memory.kind,))), False
    anything = replace(limits, min_importance=IMPORTANCE[0])
    injection = _inject(repo, task, anything, only, explained=memory_there.id)
    item = _about(memory.id, injection)
    if item is None or not _is_found(item.signals):
        raise NotFound(
            f"{memory.id} shares neither words nor meaning nor a condition with this task",
            f"to inject it for such tasks, add a condition: rawkomem amend {memory.id} --when '…'",
        )
    if IMPORTANCE.index(memory.importance) < IMPORTANCE.index(limits.min_importance):
        return replace(
            item, out=Reason("unimportant", (memory.importance, limits.min_importance))
        ), False
    is_for_room = item.out is None or item.out.code in NO_ROOM
    out = Reason("crowded-out") if is_for_room else item.out
    return replace(item, out=out, is_pointed=False), False


def _is_found(signals: Signals) -> bool:
    """Return whether a memory shares words or meaning with the task, or its condition fired."""
    shared = (value for name, value in signals.evidence if name != "search")
    return bool(signals.fired or signals.score or any(value > 0 for value in shared))


def note_injection(repo: Repository, injection: Injection, session: str) -> None:
    """Count an injection in the local usage file, and record that the session got these memories."""
    layout = repo.core.layout
    items = injection.items
    at = now()
    if items or injection.saved:
        ids = [item.memory.id for item in items]
        why = note_use(layout, at, session, injection.tokens, ids, injection.saved)
        if why:
            repo.core.warn(f"this use of the memories was not counted: {why}")
    keys = [*map(received_key, items), *map(pointer_key, injection.pointers)]
    keys += [notice.key for notice in injection.notices]
    if keys and session:
        note_told(layout, session, tokens_spent(injection), keys)
    if any(item.memory.layer for item in items):
        repo.layers.note_use(injection, at, session)


def sources(
    core: Core, only: Filter | None, strict: bool, told: frozenset[str] = frozenset()
) -> Sources:
    """Return the sources for a recall from this repository alone. Call it only inside `Core.read`."""
    view = core.view(only, strict)
    spaces = core.spaces()

    authors = None if strict else view.authors
    doubting = strict or (authors is not None and authors.names_a_person())
    return Sources(
        view,
        core.index.store,
        spaces,
        partial(fired_by, view.catalogue.db),
        lambda: last_access(core.layout),
        core.citing(),
        doubting,
        told,
    )


def _about(id: str, injection: Injection) -> Scored | None:
    """Return a memory's item in an injection, injected or left out; None if it has no item."""
    for item in (*injection.items, *injection.left_out):
        if item.memory.id == id:
            return item
    return None
