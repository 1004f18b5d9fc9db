"""Implement `rawkomem list`, `show`, `link cite`, `link entities` and `tidy toc`."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from click import Path, argument

from ...files.check import printable
from ...files.session_records import Access, accesses, effects
from ...git.citations import GONE, STALE, UNKNOWN, Cited, place_from
from ...git.runner import user_name
from ...index.catalogue import Row
from ...model.entries import Memory
from ...model.values import ACTIVE, as_dict, extra_value, now
from ...recall.excerpt import layer_label
from ...recall.signals import filter_of
from ...repository import Repository
from ...state.claims import claim_of
from ...state.strength import rfc_columns
from ...state.trust import EVENT_TIME, Trust, shown_status
from ...text.acts import GUARD_KEY, applies_of
from ...text.chunks import counted
from ...text.clean import one_line
from ...text.prose import resolve_entity
from .answers import Fields
from .declarations import answer, prints_json, shortened, verb
from .opening import PROPOSED_REMARK, effect_line
from .options import ALL, BY, FILTERS
from .terminal import day, note, paint, say, tell_nothing, wide

CITATION = Fields(
    "citation=citation.text state note",
    "{state:<7|hue} {citation:200}{note:200|?  %|dim}",
)
NEW_CITATIONS = Fields(
    "id? about? path? citations", "{citations}", remarks=f"{{waits:?{PROPOSED_REMARK}}}"
)
DOUBTFUL = Fields(
    "id=memory.id file line=memory.line *cited",
    "{file}:{line}: " + str(CITATION.line),
    file=lambda item: printable(item["memory"].path),
    cited=CITATION,
)


@verb(
    "cite",
    argument(
        "words", metavar="[ID] PATH[#SYMBOL]...", nargs=-1, required=True, type=Path()
    ),
    BY,
    NEW_CITATIONS,
)
def cite_command(
    folder: str, repository: Repository, words: tuple[str, ...], by: str
) -> Any:
    """Tie a memory to code; it ranks lower when the code changes.

    With one PATH, PATH#SYMBOL or PATH:10-20, the command prints a citation of the code as it is now, for the key
    'cites'. With the ID of a memory before the paths, it appends the citations to that memory.

    Examples:
      rawkomem link cite FILE
      rawkomem link cite ID FILE
    """
    base = folder or os.getcwd()
    places = [place_from(repository.layout, word, base) for word in words[1:] or words]
    now = [repository.citations.now(place) for place in places]
    for item in now:
        if item.note:
            note(item.note)
    citations = [item.citation.text for item in now]
    if len(words) == 1:
        return answer({"citations": citations}, waits="")
    entry = repository.citations.add(words[0], places, by or user_name()).entry
    waits = entry.about if repository.core.waits_for_review(entry) else ""
    done = "proposed" if waits else "cited"
    return answer(entry, NEW_CITATIONS.done(done), citations=citations, waits=waits)


def answer_stale(cited: Sequence[tuple[Memory, Sequence[Cited]]]) -> int:
    """Print the citations that are not fresh. Return 1 if one is stale or gone, else 0."""
    doubtful: list[dict[str, Any]] = [
        {"memory": memory, "cited": item}
        for memory, items in cited
        for item in items
        if item.state in (STALE, GONE, UNKNOWN)
    ]
    answer(doubtful, DOUBTFUL)
    counts = Counter(item["cited"].state for item in doubtful)
    states = ", ".join(f"{count} {state}" for state, count in counts.items())
    is_wrong = bool(counts[STALE] or counts[GONE])
    hint = "; correct the memory, or confirm it with 'rawkomem link cite ID PLACE'"
    number = sum(len(items) for _, items in cited)
    note(
        f"{counted(number, 'citation')}, {states or 'all fresh'}{hint if is_wrong else ''}"
    )
    return 1 if is_wrong else 0


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
{0.memory.waiting:?proposed    % changes: 'rawkomem review' shows them}
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


ENTITY = Fields("entity=0 count:count=1 ids=1", "{count:5}  {entity}")


@verb("entities", "[NAME]", ALL, [ENTITY])
def entities_command(repository: Repository, name: str) -> int:
    """List the people, projects and features that memories name.

    Write an entity as 'kind:slug' in a text, in tags or under 'entities' in the frontmatter. Kinds are project,
    agent, feature, person, business and chore. Paths such as packages/mail/ also name entities. With NAME, the
    command lists the entities that match and their memories; the exit code is 1 if none or several match.

    Examples:
      rawkomem link entities
      rawkomem link entities --json
    """
    entities = repository.graph.entities()
    match = resolve_entity(name, entities) if name else None
    rows = [
        (entity, ids)
        for entity, ids in entities.items()
        if match is None or entity in match.slugs + match.candidates
    ]
    answer(rows, ENTITY.but(line="{count:5}  {entity}  {ids:dim}") if name else None)
    if match is not None and match.message:
        note(match.message + (": name one of them" if match.candidates else ""))
    elif not entities:
        note(
            "no memory names an entity yet: write 'project:name' or 'person:name' into a text"
        )
    return 0 if match is None or not match.message else 1


@verb(
    "toc",
    "--out -o FILE: Write this file instead.",
    Fields("file changed", "{changed:yes written/unchanged|green}  {file}"),
)
def toc_command(repository: Repository, out: str) -> Any:
    """Write .rawko/MEMORY.md, a page that links to every memory.

    Read the page in an editor or on a site such as GitHub. Its order is stable, and it has no dates or counts, so it
    changes only when memories change. With 'contents: on' in .rawko/config.yaml, every write updates it. A page that
    rawkomem did not write is never replaced.

    Examples:
      rawkomem tidy toc
    """
    file, changed = repository.exchange.write_contents(out)
    return {"file": os.path.relpath(file), "changed": changed}
