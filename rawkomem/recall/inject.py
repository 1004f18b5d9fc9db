"""Choose the few memories for the prompt of a task: question, gather, score, gate, pack, render.

A prompt gets memories in two grades: the full text of the few that are surely relevant, and pointers
(title, condition, file) to the next ones, which an agent may open.
"""

from __future__ import annotations

from ..files.session_records import POINTER, checksum
from ..index.stores.database import DatabaseError
from ..model.entries import Memory, Task
from ..model.values import TYPE_CHECKING, record, replace
from ..state.trust import imported_from, why_withdrawn
from ..text.chunks import count_tokens, counted
from ..text.conditions import LINK, Fired
from ..text.language import is_copy
from ..text.safe import safe_item_id, safe_line, safe_name, safe_title
from .candidates import (
    Sources,
    best_first,
    corrections_first,
    gather,
    is_critical,
    mark_outdated,
    may_be_injected,
    newer_by_outdated,
)
from .excerpt import MAX_SHOWN_CHARS, excerpt
from .relevance import gate, is_pattern, is_sure, stands_alone, with_evidence
from .render import (
    MAX_POINTER_CHARS,
    POINTING,
    Page,
    mark_text,
    part_json,
    part_of,
    pointer_json,
    redact_marked,
    weak_label,
)
from .scoring import Profile, Reason, Scored, profile_of, score_candidates
from .signals import (
    MAX_POINTERS,
    MIN_BESIDE,
    MIN_POINTER,
    MIN_RULE_BESIDE,
    SHORT_RULE_CHARS,
    THIN_WORDS,
    Limits,
    Question,
    Signals,
    question_of_task,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Shorter = Callable[[Scored, int], Scored | None]


ReceivedKeys = frozenset[str]


# Pack ranked memories into the token budget of a prompt, and list the other memories with the
# reason.


@record
class Packed:
    """The chosen items in the order of the ranking, and the others with the reason."""

    items: tuple[Scored, ...]
    left_out: tuple[Scored, ...]
    tokens: int


def pack(
    ranked: Sequence[Scored],
    limits: Limits,
    cost: Callable[[Scored], int],
    shorter: Shorter = lambda item, budget: None,
    by_density: bool = False,
) -> Packed:
    """Choose items within the limits. Leave out those that are twins of others, or too many.

    Critical items are chosen first (SPEC-0009). Items that no person vouches for are chosen last, so that they do not
    displace others.
    """
    left = [item for item in ranked if item.out]
    wanted = (item for item in ranked if not item.out)
    current = sorted(wanted, key=lambda item: bool(item.signals.unverified))
    kept: list[Scored] = []
    for item in sorted(current, key=_packing_turn):
        confidence = item.signals.confidence
        least = _least_beside(item, limits)
        reason = _why_left_out(item, kept, limits)
        is_weak = confidence < least and not is_sure(item.signals)
        if not reason and kept and is_weak and not stands_alone(item):
            reason = Reason("not-confident", (confidence, least))
        (left if reason else kept).append(replace(item, out=reason))
    if by_density:
        kept.sort(
            key=lambda item: (_packing_turn(item), -item.score / max(1, cost(item)))
        )
    places = {item.memory.id: place for place, item in enumerate(current)}
    chosen, over, tokens = _fit_budget(kept, limits.budget, cost, shorter)
    chosen.sort(key=lambda item: places[item.memory.id])
    return Packed(tuple(chosen), tuple(left + over), tokens)


def _least_beside(item: Scored, limits: Limits) -> float:
    """Return the confidence that an item needs beside another one.

    A vouched rule that an import moved in needs less if the task names a word of its title. A short one needs no more
    than alone then: its pointer costs as much.
    """
    is_rule = imported_from(item.memory) and not item.signals.unverified
    if not (is_rule and item.shares_title):
        return limits.min_beside
    is_short = len(item.memory.body) <= SHORT_RULE_CHARS
    return 0.0 if is_short else min(limits.min_beside, MIN_RULE_BESIDE)


def _packing_turn(item: Scored) -> tuple[bool, bool, bool]:
    """Return a sort key: vouched items, then what a person said, then the rest; critical items first in each."""
    standing = item.signals.unverified
    return bool(standing), bool(standing and not standing.said), not is_critical(item)


def _why_left_out(
    item: Scored, before: Sequence[Scored], limits: Limits
) -> Reason | None:
    """Return why an item is left out after the items `before`; None if it may go in."""
    standing = item.signals.unverified
    if len(before) >= limits.max_injected:
        return Reason("full", (limits.max_injected,))
    for other in before:
        if _alike(item, other):
            if standing and not other.signals.unverified:
                return Reason("vouched-twin", (other.memory.id,))
            return Reason("twin", (other.memory.id,))
    if (
        standing
        and sum(bool(one.signals.unverified) for one in before) >= limits.max_unverified
    ):
        return Reason("unverified", (standing.why, item.memory.id))
    return None


def _alike(a: Scored, b: Scored) -> bool:
    one = a.memory
    other = b.memory
    if one.body and other.body:
        return is_copy(one.body, other.body)
    return (one.title, one.body, one.when) == (other.title, other.body, other.when)


def _fit_budget(
    items: list[Scored], budget: int, cost: Callable[[Scored], int], shorter: Shorter
) -> tuple[list[Scored], list[Scored], int]:
    """Choose items in order while they fit into the budget; shorten an item that is too long."""
    chosen: list[Scored] = []
    over: list[Scored] = []
    tokens = 0
    for item in items:
        needed = cost(item)
        left = budget - tokens
        fitting = item if needed <= left else shorter(item, left)
        if fitting:
            chosen.append(fitting)
            tokens += needed if fitting is item else cost(fitting)
        else:
            over.append(
                replace(item, out=Reason("over-budget", (needed, max(0, left))))
            )
    return chosen, over, tokens


def add_linked(
    packed: Packed,
    layers: Mapping[str, Sources],
    limits: Limits,
    cost: Callable[[Scored], int],
) -> Packed:
    """Add memories that the packed ones link to directly, while there is room.

    Linked memories that a person vouches for come before items that no person vouches for. The first of the latter is
    what a person said in a session against an item. Links lead to memories of the same layer.
    """
    items = [item for item in packed.items if not item.signals.unverified]
    doubted = {item.memory.id: item for item in packed.items if item.signals.unverified}
    linked = [*_linked_items(items, layers, limits, _links_of)]
    against = [*_linked_items(items, layers, limits, Sources.successors)]
    said = [
        item
        for item in against
        if item.signals.unverified and item.signals.unverified.said
    ]
    wanted = [item for item in linked if not item.signals.unverified]
    wanted += [doubted.get(item.memory.id, item) for item in said]
    wanted += [*doubted.values(), *(item for item in linked if item.signals.unverified)]
    tokens = packed.tokens - sum(map(cost, doubted.values()))
    left = {item.memory.id: item for item in packed.left_out}
    present = {item.memory.id for item in items}
    for item in wanted:
        id = item.memory.id
        needed = cost(item)
        room = limits.budget - tokens
        if id in present:
            continue
        reason = _why_left_out(item, items, limits)
        if not reason and needed > room:
            reason = Reason("over-budget", (needed, max(0, room)))
        if not reason:
            items.append(item)
            present.add(id)
            tokens += needed
        elif item.signals.unverified:
            left[id] = replace(item, out=reason)
    others = tuple(item for id, item in left.items() if id not in present)
    return Packed(tuple(items), others, tokens)


def _linked_items(
    items: Iterable[Scored],
    layers: Mapping[str, Sources],
    limits: Limits,
    linked: Callable[[Sources, Memory], Iterable[str]],
) -> Iterable[Scored]:
    """Yield the memories that items are linked to and that may be injected."""
    for item in items:
        sources = layers[item.memory.layer]
        for id in linked(sources, sources.own(item.memory)):
            memory = sources.view.memory(id)
            if memory is None or not may_be_injected(sources, memory, limits):
                continue
            if newer_by_outdated(sources, [memory], limits):
                continue
            signals = Signals(
                id,
                fired=Fired(LINK, item.memory.id),
                cited=sources.cited(memory),
                unverified=sources.unverified([memory]).get(id),
                weak=sources.view.believed.weak_sources(memory),
            )
            found = _shown(Scored(memory, signals, item.score / 2, ()), sources)
            if received_key(found) not in sources.told:
                yield found


def _links_of(sources: Sources, memory: Memory) -> Iterable[str]:
    related = [name.removesuffix(".md") for name in memory.related]
    return dict.fromkeys([*related, *(id for _, id in memory.links)])


# Leave out memories that the session has received before, to make room for others.

MAX_COMPARED = 12  # items of the project that those of other layers may be copies of
# a session may spend this many prompt budgets until its context is compacted
SESSION_BUDGETS = 5


def received_key(item: Scored) -> str:
    """Return the id of a memory with checksums of its content, so that a changed memory is injected again."""
    memory = item.memory
    unverified = item.signals.unverified
    shown = memory.kind, memory.importance, repr(memory.when), memory.status
    others = checksum(*shown, "unverified" if unverified else "")
    return f"{_text_key(memory, memory.id, memory.layer)}{others}"


def _text_key(memory: Memory, id: str, layer: str) -> str:
    """Return the beginning of a key: the id that is shown, a checksum of title and text, and the layer."""
    return f"{id}@{checksum(memory.title, memory.body)}/{layer}/"


def session_budget(budget: int, spent: int) -> int:
    """Return the budget of the next prompt in a session that has `spent` tokens since its last compaction."""
    return max(0, min(budget, SESSION_BUDGETS * budget - spent))


def tokens_spent(injection: Injection) -> int:
    """Return the tokens that an injection costs a session. Items that no person vouches for are not counted."""
    doubted = [item for item in injection.items if item.signals.unverified]
    if len(doubted) == len(injection.items):
        return 0
    texts = [f"{item.memory.title}\n{item.text or ''}" for item in doubted]
    return max(0, injection.tokens - sum(map(count_tokens, texts)))


def leave_out_received(gated: list[Scored], told: ReceivedKeys) -> list[Scored]:
    """Mark the items that the session has received before, and copies of them."""
    marked = []
    for item in gated:
        is_old = not item.out and received_key(item) in told
        marked.append(replace(item, out=Reason("told")) if is_old else item)
    before = [item for item in marked if item.out and item.out.code == "told"]
    return [_mark_copy(item, before) for item in marked]


def _mark_copy(item: Scored, before: Sequence[Scored]) -> Scored:
    """Mark a copy of one of the items `before`. An unvouched copy does not stop a vouched item."""
    for other in before if item.memory.body and not item.out else ():
        counts = item.signals.unverified or not other.signals.unverified
        if counts and _alike(item, other):
            return replace(item, out=Reason("twin", (other.memory.id,)))
    return item


# Point to the next candidates: memories that are not relevant enough for their full text, or for which
# there was no room.

# codes of memories that a prompt may point to
POINTED = ("nothing-fired", "not-confident", "full", "over-budget")


def _may_be_pointed_to(item: Scored) -> bool:
    """Return whether a prompt may point to an item. Nobody but a person may put a title into a prompt."""
    signals = item.signals
    return (
        item.out is not None
        and item.out.code in POINTED
        and (is_pattern(signals) or signals.confidence >= MIN_POINTER)
        and not signals.unverified
    )


def point_to(
    packed: Packed, question: Question, told: ReceivedKeys
) -> tuple[Scored, ...]:
    """Return the next candidates, best first; those whose pattern fired come before others.

    A short reply, thanks or pasted text alone gets only those whose pattern fired.
    """
    is_thin = len(question.content) < THIN_WORDS
    chosen: list[Scored] = []
    for item in sorted(filter(_may_be_pointed_to, packed.left_out), key=_pointer_turn):
        if len(chosen) == MAX_POINTERS:
            break
        known = {received_key(item), pointer_key(item)} & told
        if known or (is_thin and not is_pattern(item.signals)):
            continue
        if not any(_alike(item, other) for other in (*packed.items, *chosen)):
            chosen.append(item)
    return tuple(chosen)


def _pointer_turn(item: Scored) -> tuple[bool, bool, float]:
    signals = item.signals
    return not is_pattern(signals), not is_sure(signals), -signals.confidence


def pointer_key(item: Scored) -> str:
    """Return the key of a pointer in the record of a session. A text may follow a pointer, but not the reverse."""
    return received_key(item) + POINTER


# Write one line for each memory whose text the session received and that is no longer true or was changed.

MAX_NOTICES = 5  # in one prompt; the next prompt gets the others


@record
class Notice:
    """One line about a memory whose text the session received, and the key that records that the line was added."""

    id: str
    line: str  # marked for `redact_marked`
    key: str  # id@ if the memory is withdrawn, else the key of its new text


def find_notices(sources: Sources) -> Iterable[Notice]:
    """Yield a notice for each memory of a layer whose text the session received and that was withdrawn or changed."""
    for key in sorted(sources.told):
        id, _, version = key.rpartition("@")
        if version.split("/")[1:2] != [sources.layer] or key.endswith(POINTER):
            continue
        memory = sources.view.whole(id.removeprefix(sources.prefix))
        if why := _why_no_longer_true(sources, memory):
            line = f"No longer true: {_quoted(id, memory)} is {why}."
            yield Notice(id, line, f"{id}@")
        elif memory and not key.startswith(new := _text_key(memory, id, sources.layer)):
            text = excerpt(memory.title, memory.body) or memory.title
            said = f": {mark_text(safe_line(text, MAX_SHOWN_CHARS))}"
            if sources.unverified([memory]):
                said = " something that is not verified."
            line = f"Changed: {_quoted(id, memory)} now says{said}"
            yield Notice(id, line, f"{new}line")


def _why_no_longer_true(sources: Sources, memory: Memory | None) -> str:
    """Return why a memory is no longer true, as the end of a sentence; empty if it is true."""
    view = sources.view
    if memory is None:
        return "not in the repository"
    if memory.status == "superseded":
        id = memory.superseded_by
        return f"superseded by {_quoted(id, view.whole(id))}"
    weak = (one for one in view.believed.weak_sources(memory) if one.holds_back)
    made = (mark_text(weak_label(one)) for one in weak)
    return why_withdrawn(memory, view.at) or next(made, "")


def _quoted(id: str, memory: Memory | None) -> str:
    """Return the title of a memory in quotation marks, which it cannot contain; its id if it has no title to show."""
    title = memory.title if memory and memory.status != "quarantined" else ""
    return f'"{mark_text(safe_name(title, MAX_POINTER_CHARS) or safe_item_id(id))}"'


def _with_new_texts(items: Iterable[Scored], notices: Iterable[Notice]) -> list[Scored]:
    """Mark the items of which the session received an earlier text; they need no line."""
    old = {notice.id for notice in notices}
    return [
        replace(item, signals=replace(item.signals, is_new_text=item.memory.id in old))
        for item in items
    ]


@record
class Injection:
    """The text for a prompt, its items and pointers, what was left out with the reasons, and its cost in tokens."""

    text: str
    items: tuple[Scored, ...]
    pointers: tuple[Scored, ...]
    left_out: tuple[Scored, ...]
    tokens: int
    budget: int  # tokens at most
    profile: str
    vouched: bool = False  # whether the text labels each item as vouched for or not
    # conditions that were not tested, because the time for regular expressions was used up
    untried: int = 0
    # tokens of items that were left out because the session has received them before
    saved: int = 0
    notices: tuple[Notice, ...] = ()  # withdrawn or changed memories


@record
class Prompt:
    """Text for a model, and the injection in it."""

    text: str
    injection: Injection


def waiting_note(injection: Injection) -> str:
    """Return how many relevant memories are left out because no person vouches for them; empty if none is."""
    reasons = [
        item.out
        for item in injection.left_out
        if item.out and item.out.code == "unverified"
    ]
    whys = ", ".join(dict.fromkeys(str(reason.values[0]) for reason in reasons))
    return f"{counted(len(reasons), 'memory')} left out: {whys}" if reasons else ""


def with_memories(base: str, injection: Injection) -> Prompt:
    """Return the base prompt followed by the block of memories; without memories, the base prompt unchanged."""
    return Prompt(
        f"{base.rstrip()}\n\n{injection.text}" if injection.text else base, injection
    )


def inject(
    layers: Sequence[Sources],
    task: Task,
    profile: str,
    limits: Limits,
    form: str,
    warn: Callable[[str], None],
) -> Injection:
    """Return the few memories for the prompt of a task, within the limits. An empty injection is a valid result.

    Each layer judges its own memories. A layer whose index fails is left out with a warning, unless it is the first.
    """
    chosen = profile_of(profile)
    first = layers[0]
    if first.view.only.entities and chosen.min_similarity_with_entities:
        chosen = replace(chosen, min_similarity=chosen.min_similarity_with_entities)
    limits = _within(limits, chosen)
    question = question_of_task(task, first.view.at)
    gated: list[Scored] = []
    newer: dict[str, str] = {}
    notices: list[Notice] = []
    for sources in layers:
        try:
            gated += _judged(sources, question, chosen, limits, newer)
            notices += find_notices(sources)
        except DatabaseError as failure:
            if sources is first:
                raise
            warn(f"{sources.layer} is left out: its index cannot be read ({failure})")
    own = [item for item in gated if not item.out and not item.memory.layer][
        :MAX_COMPARED
    ]
    gated = [_mark_copy(item, own) if item.memory.layer else item for item in gated]
    page = Page(form, question, first.doubting)
    budget = limits.budget
    most = MAX_NOTICES if form in POINTING else 0
    reserved = sum(count_tokens(notice.line) for notice in notices[:most])
    limits = replace(limits, budget=budget - page.frame - reserved)
    wanted = mark_outdated(best_first(gated, chosen), newer)
    saved = 0
    if any(received_key(item) in first.told for item in wanted if not item.out):
        whole = pack(wanted, limits, page.cost).items
        saved = sum(
            page.cost(item) for item in whole if received_key(item) in first.told
        )
        wanted = leave_out_received(wanted, first.told)
    packed = pack(wanted, limits, page.cost, page.shorter, chosen.by_density)
    packed = add_linked(packed, {one.layer: one for one in layers}, limits, page.cost)
    items = corrections_first(_with_new_texts(map(page.shown, packed.items), notices))
    ids = {item.memory.id for item in items}
    notices = [one for one in notices if one.id not in ids][:most]
    lines = [notice.line for notice in notices]
    points = chosen.order and limits.max_injected
    pointers = point_to(packed, question, first.told) if points else ()
    text = page.write(items, pointers, lines)
    while pointers and count_tokens(text) > budget:
        pointers = pointers[:-1]
        text = page.write(items, pointers, lines)
    pointed = {item.memory.id for item in pointers}
    left_out = [
        replace(item, is_pointed=True) if item.memory.id in pointed else item
        for item in packed.left_out
    ]
    untried = question.situation.engine.untried if question.situation else 0
    return Injection(
        text,
        items,
        pointers,
        tuple(left_out),
        count_tokens(text),
        budget,
        chosen.name,
        page.vouched,
        untried,
        saved,
        tuple(notices),
    )


def _judged(
    sources: Sources,
    question: Question,
    profile: Profile,
    limits: Limits,
    newer: dict[str, str],
) -> list[Scored]:
    """Return a layer's candidates after the gate, and add its outdated memories to `newer`."""
    candidates = with_evidence(sources, question, gather(sources, question, profile))
    gated = gate(
        score_candidates(candidates, profile, question), profile, limits, question
    )
    passed = [item.memory for item in gated if not item.out or _may_be_pointed_to(item)]
    # Find outdated memories before anything else is left out.
    for older, other in newer_by_outdated(sources, passed, limits).items():
        newer[sources.shown(older)] = sources.shown(other)
    return [_shown(item, sources) for item in gated]


def _shown(item: Scored, sources: Sources) -> Scored:
    """Return an item of a layer with the id under which it is shown, and with its layer."""
    if not sources.prefix:
        return item
    id = sources.shown(item.memory.id)
    vouched = not item.signals.unverified
    memory = replace(item.memory, id=id, layer=sources.layer, vouched=vouched)
    return replace(item, memory=memory, signals=replace(item.signals, id=id))


def _within(limits: Limits, profile: Profile) -> Limits:
    """Return the limits with those of the profile."""
    most = limits.max_injected if limits.max_injected >= 0 else profile.max_injected
    most = min(most, profile.max_results) if profile.max_results else most
    beside = max(MIN_BESIDE, limits.min_confidence) if profile.order else 0.0
    return replace(limits, max_injected=most, min_beside=beside)


# Return an injection as JSON data, for `rawkomem inject TASK --json`.


def injection_json(injection: Injection) -> dict[str, object]:
    """Return the items with their shown text, the memories that were left out with the reasons, and the tokens."""
    return {
        "items": [_item_json(item, injection.vouched) for item in injection.items],
        "pointers": [pointer_json(item) for item in injection.pointers],
        "left_out": [_left_out_json(item) for item in injection.left_out],
        "tokens": injection.tokens,
        "budget": injection.budget,
        "profile": injection.profile,
        "text": injection.text,
    }


def _item_json(item: Scored, vouched: bool) -> dict[str, object]:
    part = part_json(part_of(item, vouched))
    why = [
        {"name": factor.name, "value": round(factor.value, 4), "weight": factor.weight}
        for factor in (*item.factors, *item.order)
    ]
    confidence = round(item.signals.confidence, 4)
    return {
        **part,
        "confidence": confidence,
        "tokens": count_tokens(str(part["text"])),
        "why": why,
    }


def _left_out_json(item: Scored) -> dict[str, object]:
    return {
        "id": item.memory.id,
        **({"layer": item.memory.layer} if item.memory.layer else {}),
        "title": redact_marked(mark_text(safe_title(item.memory.title))),
        "score": round(item.score, 4),
        "relevance": round(item.signals.relevance, 4),
        "code": item.out.code if item.out else "",
        "why_not": item.why_not,
    }
