"""Show memories: `rawkomem list`, `show`, `why`, `context` and `history`."""

from __future__ import annotations

import shlex
import sys
from typing import Any

from ...files.layout import read_stdin
from ...files.session_records import Access, accesses, effects
from ...index.catalogue import Row
from ...model.entries import Memory, Task
from ...model.values import ACTIVE, as_dict, extra_value, filled, iso, now, replace
from ...recall.earlier_tasks import MAX_BRIEF_TOKENS, NO_BRIEF, Brief
from ...recall.excerpt import in_brackets, layer_label
from ...recall.inject import injection_json
from ...recall.relevance import explain_score, votes_against
from ...recall.render import FORMS, GROUPED, NOTHING_FOUND
from ...recall.scoring import Scored, why_fired
from ...recall.signals import filter_of
from ...repository import Repository
from ...state.changes import how_settled
from ...state.claims import claim_of
from ...state.history import Explained
from ...state.strength import rfc_columns
from ...state.trust import EVENT_TIME, Trust, shown_status
from ...text.acts import GUARD_KEY, applies_of
from ...text.chunks import counted
from ...text.clean import one_line
from .answers import Fields
from .declarations import answer, prints_json, shortened, verb
from .injecting import INJECT_ANSWER, tell_injection
from .opening import effect_line
from .options import EXPLAIN, FILTERS, PROFILE, SESSION, STRICT, WHICH
from .terminal import day, note, paint, say, tell_nothing, wide

CITATION = Fields(
    "citation=citation.text state note",
    "{state:<7|hue} {citation:200}{note:200|?  %|dim}",
)
# terminal columns needed to show this part of a line
MIN_WITH_DATE = 72
MIN_WITH_IMPORTANCE = 56
MIN_TITLE_CHARS = 12
PAGE_ROWS = 200  # that `list` prints at a terminal
TIMES = "created:iso updated:iso valid_from:iso valid_until:iso"
USES = "accesses=access.count last_access:iso=access.last"


def _row_line(item: dict[str, Any]) -> str:
    """Return a memory as a line that fits the terminal."""
    row = item["row"]
    status = shown_status(row, now())
    marks = [
        status if status != ACTIVE else "",
        *layer_label(item["layer"]),
        "" if row.vouched else "not vouched",
        "change proposed" if row.waiting else "",
    ]
    id = row.id + "".join(f" [{mark}]" for mark in marks if mark)
    columns = wide()
    head = f"{day(row.updated)}  " if columns >= MIN_WITH_DATE else ""
    head += f"{row.importance:8}  " if columns >= MIN_WITH_IMPORTANCE else ""
    room = max(MIN_TITLE_CHARS, columns - len(id) - 2 - len(head))
    title = one_line(row.title or row.path, room)
    return f"{head}{title:{room if sys.stdout.isatty() else 0}}  {paint(id, 'dim')}"


ROW = Fields(f"*row layer? {USES}", _row_line, row=Fields(TIMES, of=Row))


@verb(
    "list",
    "--layer TEXT: Only this layer: project, personal, the name of a source, or all.",
    f"--limit -n 0..: Maximum number of results; 0 shows all. Default: {PAGE_ROWS} at a terminal, else all.",
    *FILTERS,
    [ROW],
)
def list_command(
    layered: Repository, layer: str, limit: int | None, as_json: bool, **options: Any
) -> None:
    """List memories, most recently changed first.

    At a terminal, it prints the first 200; -n 0 prints all. 'rawkomem ls' is the same command.

    Examples:
      rawkomem list -n 20
      rawkomem list --tag payments
      rawkomem list --include archived
    """
    layers = layered.layers.named(layer) if layer else layered.layers.all[:1]
    only = filter_of(**options)
    is_page = limit is None and not as_json and sys.stdout.isatty()
    most = PAGE_ROWS if is_page else limit or 0
    pages = [(one, *one.repository.core.page(only, most)) for one in layers]
    rows = [(one, row) for one, page, _ in pages for row in page]
    total = sum(count for *_, count in pages)
    used = {one.name: accesses(one.repository.layout) for one in layers}
    answer(
        [
            {
                "row": row,
                "layer": one.name,
                "access": used[one.name].get(row.id, Access()),
            }
            for one, row in (
                rows[:PAGE_ROWS] if is_page else shortened(rows, most, total)
            )
        ]
    )
    if is_page and total > PAGE_ROWS:
        say(paint(f"{total - PAGE_ROWS:,} more: -n 0 shows all", "dim"))
    if not rows:
        tell_nothing(layered, "no memory matches these filters")


def trust_line(trust: Trust) -> str:
    """Return the parts of a trust as a line."""
    parts = ", ".join(
        f"{name} {amount:+.2f} ({why})" for name, amount, why in trust.parts
    )
    return one_line(parts if trust.standing.verified else f"not vouched; {parts}", 400)


TRUST = Fields(
    "value:round source verified=standing.verified standing=standing.why parts",
    trust_line,
    parts=[Fields("name=0 amount:round=1 why=2")],
)


def claim_line(memory: Memory) -> str:
    """Return the claim of a memory as a line; empty if it has none."""
    claim = claim_of(memory)
    return f"{claim.subject} {claim.predicate} = {claim.value}" if claim else ""


def applies_line(memory: Memory) -> str:
    """Return the patterns of acts for which a memory applies as a line; empty if there are none."""
    applies = as_dict(applies_of(memory.extra))
    return "; ".join(
        f"{key} {', '.join(some)}" for key, some in applies.items() if some
    )


SHOWN = Fields(
    f"*memory *columns last_accessed:iso=access.last {USES} strength=strength.value strength_parts=strength.parts"
    " trust citations?=cited",
    """\
{title:~(draft)|bold}
id          {id}
{kind_shown:?kind        %}
status      {status}{reason:? (%)}
{valid_from:?valid from  %}
{valid_until:?valid until %}
{claim:?claims      %}
importance  {importance}
{when:?whenToUse   %}
{applies:?appliesTo   %}
{guard:?guard       %}
{tags:?tags        %}
{created:?found       %}{by:? by %}
{happened:?happened    %}
{found_in:?in          %}
{source:?source      %}
{related:?related     %}
{updated:?changed     %}
feedback    {helpful} helpful, {harmful} harmful
{waits:?proposed    %: 'rawkomem review' shows them}
{accesses:?used        %×}{last_access:?, last %}
{effect:?effect      %}
file        {path}:{line}
trust       {trust_text:text}
{citations_lines:text}

{body:text}""",
    memory=Fields(TIMES, of=Memory),
    trust=TRUST,
    citations=[CITATION],
    trust_text=lambda item: f"{item['trust'].value:.2f}  {trust_line(item['trust'])}",
    kind_shown=lambda item: (
        "" if item["memory"].kind == "memory" else item["memory"].kind
    ),
    claim=lambda item: claim_line(item["memory"]),
    applies=lambda item: applies_line(item["memory"]),
    guard=lambda item: item["memory"].extra.get(GUARD_KEY),
    effect=lambda item: effect_line(item.get("came") or {}),
    waits=lambda item: (number := item["memory"].waiting) and counted(number, "change"),
    happened=lambda item: str(extra_value(item["memory"].extra, EVENT_TIME)),
)


@verb("show", "ID", SHOWN)
def show_command(repository: Repository, id: str) -> Any:
    """Show one memory.

    ID is an id, its beginning or end, the name of a file, or words of the title.

    Examples:
      rawkomem show ID
      rawkomem show 'Why apsw'
      rawkomem show ID --json
    """
    memory = repository.get(id)
    access = accesses(repository.layout).get(memory.id, Access())
    return {
        "memory": memory,
        "columns": rfc_columns(memory, access.count, access.last),
        "access": access,
        # only JSON has it, and it counts the links of all memories
        "strength": repository.lifecycle.strength(memory) if prints_json() else None,
        "trust": repository.beliefs.trust(memory),
        "cited": repository.citations.of(memory),
        "came": effects(repository.layout).get(memory.id),
    }


# Explain memories.

CHANGE = Fields(
    "field=0 before=1 after=2", "    {field}: {before:60|~(none)} → {after:60|~(none)}"
)
STEP = Fields(
    "id=entry.id kind=entry.kind at:iso=entry.at by=entry.by path=entry.path line=entry.line told said=entry.extra changes",
    "{at:~unknown time|<20}  {kind:bold}{by:?  by %}  {path}:{line}\n"
    "    {told:200}{reason:200|?, because %}\n{changes_lines:text}",
    changes=[CHANGE],
    reason=lambda step: step.entry.extra.get("reason"),
)


@verb(
    "history",
    "ID",
    "--limit -n 0.. =0 >last: Only show this many of the last entries. Default: all.",
    [STEP],
)
def history_command(repository: Repository, id: str, last: int) -> Any:
    """Show every change of a memory, oldest first.

    Each entry is shown with the fields that it changed; of a list of more than 20 items, with the items that it added or removed.

    Examples:
      rawkomem history ID
    """
    return repository.history(id)[-last:]


FACTOR = Fields("name value weight why")
WHY = Fields(
    "id=item.memory.id layer?=item.memory.layer injected pointed=item.is_pointed score=item.score why_not=item.why_not why_not_code"
    " relevance=item.signals.relevance fired factors=item.factors trust",
    "{label:text}{0.item.memory.title:bold}  score {score:.3f}\n{parts:text}\n"
    "  {0:=trust|<16} {0.trust.value:7.3f}       {trust_text}\n{injected:yes injected/not injected}{why_not:?: %}\n"
    "{0.effect:?effect: %}",
    factors=[FACTOR],
    trust=TRUST,
    why_not_code=lambda item: item["item"].out.code if item["item"].out else "",
    fired=lambda item: why_fired(item["item"]),
    label=lambda item: in_brackets(layer_label(item["item"].memory.layer)),
    parts=lambda item: "\n".join(f"  {line}" for line in explain_score(item["item"])),
    trust_text=lambda item: trust_line(item["trust"]),
)


def _settled(explained: Explained) -> dict[str, str]:
    """Return how the contradictions of a memory were settled, by the id of the other memory."""
    memory = explained.memory
    return filled({one.id: how_settled(memory, one) for one in explained.conflicts})


def _conflict_lines(explained: Explained) -> str:
    settled = _settled(explained)
    lines = []
    for other in explained.conflicts:
        how = settled.get(other.id)
        word = "conflicted with" if how else paint("conflicts with", "yellow")
        end = f"  settled: {how}" if how else ""
        lines.append(
            f"{word}  {one_line(other.title, 80)}  {paint(other.id, 'dim')}{end}"
        )
    return "\n".join(lines)


def _seen(explained: Explained) -> str:
    """Return when a memory was observed."""
    first = iso(explained.memory.first_observed)
    last = iso(explained.memory.last_observed)
    if not first:
        return "at an unknown time"
    return f"first {first}, last {last}" if first != last else first


TRUSTED = Fields(
    "id=memory.id title=memory.title status=memory.status reason=memory.reason standing trust claim=memory.extra.claim"
    " provenance=memory.extra.provenance observed=memory feedback=memory links=edges weak_sources=weak"
    " conflicts=conflicts.id settled entries=steps",
    """\
{title:~(no title)|bold}  {status}  {id:dim}
{standing:200|?not in use: %}
trust {0.trust.value:.2f}{vouched:yes /  not vouched}
{trust_parts:text}
observed {0.memory.times_observed:n time}, {seen}
votes: {0.memory.helpful} helpful, {0.memory.harmful} harmful
{links_lines:text}
{weak_sources_lines:text}
{conflict_lines:text}
{entries_lines:text}""",
    trust=TRUST,
    observed=Fields(
        "times=times_observed first:iso=first_observed last:iso=last_observed"
    ),
    feedback=Fields("helpful harmful"),
    links=[Fields("source target type", "{source} → {type:32} → {target}")],
    weak_sources=[
        Fields("id why holds_back", "{0:=made from|yellow}  {id}, which is {why}")
    ],
    entries=[STEP.but(line="{at:~unknown time|<20}  {kind}  {told:200}")],
    settled=_settled,
    vouched=lambda explained: explained.trust.standing.verified,
    trust_parts=lambda explained: "\n".join(
        f"  {name:12} {amount:+.3f}  {why}"
        for name, amount, why in explained.trust.parts
    ),
    seen=_seen,
    conflict_lines=_conflict_lines,
)
COMPARISON = Fields("original:round=old_trust superseding:round=new_trust delta")
SUPERSESSION = Fields(
    "id=old.id superseded_by=new.id reason=old.reason trustComparison=.",
    "{0.old.title:80}  {id:dim}  trust {0.old_trust:.2f}\n"
    "  superseded by {0.new.title:80}  {superseded_by:dim}  trust {0.new_trust:.2f}\n"
    "  reason: {reason:200|~not recorded}",
    trustComparison=COMPARISON.but(
        delta=lambda step: round(step.new_trust - step.old_trust, 4)
    ),
)
CHAIN = Fields(
    "id superseded:bool=chain chain",
    "{chain_lines:text}",
    remarks="{superseded:yes /no memory superseded it}",
    chain=[SUPERSESSION],
)


@verb(
    "why",
    "ID>name",
    "[TASK]...",
    PROFILE,
    "--agent -a TEXT: The agent.",
    SESSION,
    "--supersession: Without TASK: only show which memory superseded it, and why.",
    WHY,
    TRUSTED,
    CHAIN,
)
def why_command(
    layered: Repository, name: str, task: tuple[str, ...], profile: str, agent: str, session: str, supersession: bool,
) -> int:  # fmt: skip
    """Explain why a memory is injected or trusted, or why not.

    With TASK, the command prints each factor of the score with its value, its weight and the reason; the exit code is
    0 if the memory's text is injected for the task, else 1. Without TASK, it prints the parts of the trust, the
    sources, the links, the contradictions and every entry of the memory.

    Examples:
      rawkomem why ID 'make the payment retry configurable'
      rawkomem why ID
    """
    if not task:
        owner, id = layered.layers.owner(name)
        if not supersession:
            return answer(owner.beliefs.explain(id), TRUSTED)
        steps = owner.beliefs.explain_supersession(id)
        return answer({"id": owner.get(id).id, "chain": steps}, CHAIN)
    job = Task(" ".join(task), agent, session=session)
    item, inside = layered.explain(name, job, profile)
    owner, id = layered.layers.owner(item.memory.id)
    trust = owner.beliefs.trust(replace(item.memory, id=id))
    effect = effect_line(effects(owner.layout).get(id, {}))
    answer({"item": item, "injected": inside, "trust": trust, "effect": effect})
    _suggest_condition(item, inside)
    return 0 if inside else 1


def _suggest_condition(item: Scored, inside: bool) -> None:
    """Suggest a new condition if no condition of the memory matched and nobody voted against it."""
    was_told = item.out and item.out.code == "told"
    if (
        inside
        or was_told
        or item.signals.fired
        or not item.factors
        or votes_against(item.memory)
    ):
        return
    # 'amend' replaces all conditions
    conditions = "".join(f" --when {shlex.quote(old)}" for old in item.memory.when)
    note(
        f"to inject it for similar tasks, add a condition: rawkomem amend {item.memory.id}{conditions} --when '…'"
    )


BRIEF = Fields(of=Brief, line="{text:text}")


@verb(
    "context",
    "QUERY...",
    "--budget -b 0.. =0: Maximum number of tokens. Default: 2,000; 1,000 with --goal.",
    "--limit -n 1.. =20: Maximum number of memories.",
    f"--format -f {'|'.join(FORMS)} =plain >form: The output format; grouped sorts by category.",
    EXPLAIN,
    "--goal: QUERY is a goal: print what earlier work teaches about it.",
    STRICT,
    *WHICH,
    INJECT_ANSWER,
    BRIEF,
)
def context_command(
    layered: Repository, query: tuple[str, ...], budget: int, limit: int, form: str, explain: bool, goal: bool,
    strict: bool, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Print what is known about a subject, within a token budget.

    These are the results of a search that fit, whether or not they would be injected into a prompt. With --goal, the
    command prints the recommended approach, anti-patterns, lessons, what worked and what failed in earlier tasks, each
    with the id of its source. If QUERY is '-', it is read from standard input.

    Examples:
      rawkomem context payments --budget 500
      rawkomem context --goal 'release a new version'
    """
    text = read_stdin(strict=False) if query == ("-",) else " ".join(query)
    if goal:
        brief = layered.traces.brief(text, budget or MAX_BRIEF_TOKENS)
        answer(brief, BRIEF)
        if brief.left_out and not brief.points:
            note(f"{brief.left_out} points do not fit into the budget: raise --budget")
        elif not brief.points:
            note(NO_BRIEF)
        return
    injection = layered.context(text, limit, budget, form, strict, filter_of(**options))
    answer(injection_json(injection))
    if not injection.text and form == GROUPED and not as_json:
        say(NOTHING_FOUND)
    if explain:
        tell_injection(injection)
