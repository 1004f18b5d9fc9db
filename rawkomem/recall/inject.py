"""Injection: from a task to the few memories that belong in its prompt, or none."""

from __future__ import annotations

import sys

from ..model.checked import checked_text
from ..model.kinds import GROUPS
from ..model.record import record, replace
from ..state.facets import claimed_about, claimed_for
from ..text.clean import clean
from ..text.tokens import count_tokens
from ..text.when import fires_on_subject, read_condition
from .candidates import Signals, Spaces, gather
from .factors import Context
from .lessons import is_held_back, without_held_back
from .limits import SPECIALTIES, Limits
from .pack import Packed, pack, unvouched
from .profiles import Profile, profile_of
from .rank import FLOOR, WITHDRAWN, Scored, gate, rank, votes_against
from .render import render, render_item

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..git.citations import Cited
    from ..index.stores.protocol import SearchStore
    from ..index.views.view import View
    from ..model.entry import Memory

SHORTEST_KEY = 20  # characters of the shortest key that is found without RE2
FIRED = 50  # memories considered because a condition fired: where more do, those that fit best
CONSIDERED = 30  # candidates whose factors are computed: no profile lifts a memory from below that


@record
class Task:
    """What is about to be done, and by whom."""

    __check__ = dict.fromkeys(("text", "agent", "plan", "session"), checked_text)

    text: str
    agent: str = ""
    plan: str = ""
    session: str = ""

    @property
    def matched(self) -> str:
        """What conditions are matched against: SPEC-0009 adds the agent's name and the plan."""
        return " ".join(part for part in (self.text, self.agent, self.plan) if part)

    @property
    def asked(self) -> str:
        """What words and meaning are compared with."""
        return " ".join(part for part in (self.text, self.plan) if part)


@record
class Injection:
    """Text for the prompt, what is in it, what is left out and why, and what it costs."""

    text: str
    items: tuple[Scored, ...]
    left_out: tuple[Scored, ...]
    tokens: int
    profile: str


class Sources:
    """Where an injection takes its facts from; the repository fills it in."""

    def __init__(
        self,
        view: View,
        store: SearchStore,
        spaces: Spaces,
        fired: Callable[[str], Mapping[str, str]],
        accessed: Callable[[], Mapping[str, int]],
        cited: Callable[[Memory], tuple[Cited, ...]],
        doubting: bool,
    ):
        self.view = view
        self.store = store
        self.spaces = spaces
        self.fired = fired
        self.accessed = accessed
        self.cited = cited
        self.doubting = doubting  # whether it counts who vouches for a memory

    def unverified(self, memories: Iterable[Memory]) -> Mapping[str, str]:
        """Of these memories those that no person vouches for, and how they arrived, where that counts."""
        return self.view.believed.unverified(memories) if self.doubting else {}


def consider(sources: Sources, task: Task, profile: Profile) -> list[Scored]:
    """Every memory worth a look, scored and gated, the best first."""
    (found,) = gather(sources.store, sources.spaces, [task.asked], sources.view.stored)
    candidates = _candidates(sources, _with_fired(found, sources.fired(clean(task.matched))))
    candidates = _with_standing(_in_session(candidates, task.session), sources, task, profile)
    context = Context(task.text, task.agent, sources.view.at, SPECIALTIES.get(task.agent, ()))
    accessed = sources.accessed() if any(name == "decay" for name, _ in profile.weights) else {}
    return gate(rank(candidates, profile, context, accessed), profile, Limits().most, task.text)


def _candidates(sources: Sources, found: Iterable[Signals]) -> list[tuple[Memory, Signals]]:
    """The best ones that may be injected, and those of which a condition fired."""
    kept: list[tuple[Memory, Signals]] = []
    fired = 0
    for signals in found:
        fired += bool(signals.fired)
        if len(kept) < CONSIDERED or (signals.fired and fired <= FIRED):
            memory = sources.view.memory(signals.id)
            if memory and not memory.path.startswith("archive/") and memory.kind not in GROUPS:
                kept.append((memory, replace(signals, cited=sources.cited(memory))))
    return kept


def _in_session(candidates: list[tuple[Memory, Signals]], session: str) -> list[tuple[Memory, Signals]]:
    """What a session claims is nobody else's; in its own, it stands in for what is claimed about the same for all."""
    own = {claimed_about(memory) for memory, _ in candidates if session and claimed_for(memory) == session}
    return [
        (memory, signals)
        for memory, signals in candidates
        if claimed_for(memory) == session or (not claimed_for(memory) and claimed_about(memory) not in own)
    ]


def _with_standing(
    candidates: list[tuple[Memory, Signals]], sources: Sources, task: Task, profile: Profile
) -> list[tuple[Memory, Signals]]:
    """The candidates, marked where no person vouches for them; with their trust where the profile asks for it."""
    if any(name == "trust" for name, _ in profile.weights):
        trust = sources.view.believed.trust
        candidates = [(memory, replace(signals, trust=trust(memory))) for memory, signals in candidates]
    doubted = sources.unverified(memory for memory, _ in candidates)
    if not doubted:
        return candidates
    return [(memory, _doubt(memory, signals, doubted.get(memory.id, ""), task)) for memory, signals in candidates]


def _doubt(memory: Memory, signals: Signals, unverified: str, task: Task) -> Signals:
    """A condition for which nobody vouches must fire on a subject: one on stop words fires on every task."""
    if not unverified:
        return signals
    matched = clean(task.matched)
    faint = bool(signals.fired) and not any(fires_on_subject(read_condition(one), matched) for one in memory.when)
    return replace(signals, unverified=unverified, faint=faint)


def _with_fired(found: list[Signals], fired: Mapping[str, str]) -> list[Signals]:
    """What was found, marked where a condition fired, and what is known by its condition alone."""
    least = min((signals.relevance for signals in found), default=0.0)
    known = {signals.id for signals in found}
    marked = [replace(signals, fired=fired.get(signals.id, "")) for signals in found]
    others = [Signals(id, relevance=least, fired=part) for id, part in fired.items() if id not in known]
    return marked + sorted(others, key=lambda signals: (signals.fired.startswith("words:"), signals.id))


def inject(sources: Sources, task: Task, profile: str, limits: Limits, form: str) -> Injection:
    """The few memories that belong in the prompt of a task, within a budget; nothing is a good answer."""
    chosen = profile_of(profile)
    if sources.view.only.entities and chosen.floor_with_entities:
        chosen = replace(chosen, floor=chosen.floor_with_entities)
    if chosen.limit:
        limits = replace(limits, most=min(limits.most, chosen.limit))
    ranked = without_held_back(consider(sources, task, chosen), limits, sources.view.at)
    packed = pack(ranked, limits, _cost)
    packed = _with_linked(packed, sources, limits)
    items = tuple(_redacted(item) for item in packed.items)
    text = render(items, form, task.asked)
    return Injection(text, items, packed.left_out, count_tokens(text), chosen.name)


def _redacted(item: Scored) -> Scored:
    """The item without secrets: the index holds redacted copies, and what leaves for a prompt is looked at again."""
    memory = item.memory
    text = f"{memory.title}\n{memory.body}\n{memory.source}"
    if "re2" not in sys.modules and "@" not in text and all(len(word) < SHORTEST_KEY for word in text.split()):
        return item  # without its rules, a key is found by a known beginning and what follows it
    from ..redaction.find import leaks_again, redact  # a quarter of a start

    if not leaks_again(text):
        return item
    fields = {name: redact(getattr(memory, name)) for name in ("title", "body", "source")}
    return replace(item, memory=replace(memory, **fields))


def _cost(item: Scored) -> int:
    return count_tokens(render_item(item))


def _with_linked(packed: Packed, sources: Sources, limits: Limits) -> Packed:
    """Where room is left, the memories that the injected ones name as related, one hop away."""
    items, left, tokens = list(packed.items), list(packed.left_out), packed.tokens
    present = {item.memory.id for item in items}
    for item in packed.items:
        for id in _linked(item.memory):
            memory = sources.view.memory(id)
            if memory is None or memory.status != "active" or memory.id in present or len(items) >= limits.most:
                continue
            if memory.kind in GROUPS or votes_against(memory) >= WITHDRAWN:
                continue
            if is_held_back(memory, limits, sources.view.at):
                continue
            signals = Signals(id, fired=f"linked from {item.memory.id}", cited=sources.cited(memory))
            signals = replace(signals, unverified=sources.unverified([memory]).get(id, ""))
            linked = Scored(memory, signals, item.score / 2, ())
            if reason := unvouched(linked, items, limits):
                left = [*(other for other in left if other.memory.id != id), replace(linked, out=reason)]
            elif tokens + _cost(linked) <= limits.budget:
                items.append(linked)
                present.add(memory.id)
                tokens += _cost(linked)
    return Packed(tuple(items), tuple(item for item in left if item.memory.id not in present), tokens)


def _linked(memory: Memory) -> Iterable[str]:
    return dict.fromkeys([*(name.removesuffix(".md") for name in memory.related), *(id for _, id in memory.links)])


def explain(item: Scored) -> list[str]:
    """The factors of a score, a line each."""
    lines = [f"{f.name:16} {f.value:7.3f} × {f.weight:g}   {f.why}" for f in item.factors]
    if item.named:
        lines.append("the task holds the words of its title: no floor applies")
    if not item.factors:
        return [item.signals.fired]  # it came along with another one
    floor = f"the best one needs {FLOOR:g} where no condition fires"
    return [*lines, f"{'relevance':16} {item.signals.relevance:7.3f}       {floor}"]


def names(items: Sequence[Scored]) -> list[str]:
    """The ids of some items."""
    return [item.memory.id for item in items]
