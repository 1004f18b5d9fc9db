"""Injection: from a task to the few memories that belong into its prompt, or none."""

from __future__ import annotations

from ..model.clock import now
from ..model.kinds import GROUPS
from ..model.record import record, replace
from ..text.clean import clean
from ..text.tokens import count_tokens
from .candidates import Signals, gather
from .factors import Context
from .limits import SPECIALTIES, Limits
from .pack import Packed, pack
from .profiles import Profile, profile_of
from .rank import Scored, gate, rank
from .render import render, render_item

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..embed.protocol import Embedder
    from ..index.documents import Filter
    from ..index.protocol import SearchStore
    from ..model.entry import Memory

CONSIDERED = 30  # candidates whose factors are computed: no profile lifts a memory from below that


@record
class Task:
    """What is about to be done, and by whom."""

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
        store: SearchStore,
        embedder: Embedder,
        fired: Callable[[str], Mapping[str, str]],
        memory: Callable[[str], Memory | None],
        accessed: Callable[[], Mapping[str, int]],
    ):
        self.store = store
        self.embedder = embedder
        self.fired = fired
        self.memory = memory
        self.accessed = accessed


def consider(sources: Sources, task: Task, profile: Profile, only: Filter) -> list[Scored]:
    """Every memory worth a look, scored and gated, the best first."""
    at = now()
    fired = sources.fired(clean(task.matched))
    candidates = [
        (memory, signals)
        for signals in _with_fired(gather(sources.store, sources.embedder, task.asked, only), fired)
        if (memory := sources.memory(signals.id)) and _is_current(memory, only, at)
    ]
    context = Context(task.text, task.agent, at, SPECIALTIES.get(task.agent, ()))
    accessed = sources.accessed() if any(name == "decay" for name, _ in profile.weights) else {}
    return gate(rank(candidates, profile, context, accessed), profile, Limits().most, len(task.text.split()))


def _is_current(memory: Memory, only: Filter, at: int) -> bool:
    """Of a wanted status, valid now, not in the archive, and not merely a group of others."""
    wanted = not only.statuses or memory.status in only.statuses
    valid = memory.valid_from <= at and (not memory.valid_until or at < memory.valid_until)
    return wanted and valid and not memory.path.startswith("archive/") and memory.kind not in GROUPS


def _with_fired(found: list[Signals], fired: Mapping[str, str]) -> list[Signals]:
    """The best candidates, and every memory one of whose conditions fired."""
    least = min((signals.relevance for signals in found), default=0.0)
    known = {signals.id for signals in found}
    marked = [replace(signals, fired=fired.get(signals.id, "")) for signals in found]
    others = [Signals(id, relevance=least, fired=part) for id, part in fired.items() if id not in known]
    return [signals for at, signals in enumerate(marked) if at < CONSIDERED or signals.fired] + others


def inject(sources: Sources, task: Task, profile: str, limits: Limits, form: str, only: Filter) -> Injection:
    """The few memories that belong into the prompt of a task, within a budget; nothing is a good answer."""
    chosen = profile_of(profile)
    if chosen.limit:
        limits = replace(limits, most=min(limits.most, chosen.limit))
    packed = pack(consider(sources, task, chosen, only), limits, _cost)
    packed = _with_linked(packed, sources, limits)
    text = render(packed.items, form)
    return Injection(text, packed.items, packed.left_out, count_tokens(text), chosen.name)


def _cost(item: Scored) -> int:
    return count_tokens(render_item(item))


def _with_linked(packed: Packed, sources: Sources, limits: Limits) -> Packed:
    """Where room is left, the memories that the injected ones name as related, one hop away."""
    items, tokens = list(packed.items), packed.tokens
    present = {item.memory.id for item in items}
    for item in packed.items:
        for id in _linked(item.memory):
            memory = sources.memory(id)
            if memory is None or memory.status != "active" or memory.id in present or len(items) >= limits.most:
                continue
            if memory.kind in GROUPS:
                continue
            linked = Scored(memory, Signals(id, fired=f"linked from {item.memory.id}"), item.score / 2, ())
            if tokens + _cost(linked) <= limits.budget:
                items.append(linked)
                present.add(memory.id)
                tokens += _cost(linked)
    left = tuple(item for item in packed.left_out if item.memory.id not in present)
    return Packed(tuple(items), left, tokens)


def _linked(memory: Memory) -> Iterable[str]:
    return dict.fromkeys([*(name.removesuffix(".md") for name in memory.related), *(id for _, id in memory.links)])


def explain(item: Scored) -> list[str]:
    """The factors of a score, a line each."""
    lines = [f"{f.name:16} {f.value:7.3f} × {f.weight:g}   {f.why}" for f in item.factors]
    return [*lines, f"{'relevance':16} {item.signals.relevance:7.3f}       floor for injection: see docs/recall.md"]


def names(items: Sequence[Scored]) -> list[str]:
    """The ids of some items."""
    return [item.memory.id for item in items]
