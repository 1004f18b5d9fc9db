"""Answer the GET requests of the page: each function calls the repository and returns values for JSON."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from ...files.records import records_path
from ...files.session_records import accesses, effects_since, uses
from ...git.citations import GONE, STALE
from ...index.catalogue import Row
from ...index.stores.database import DRAWN, in_memory
from ...learn.drafts import exchange_of_draft
from ...model.entries import Draft, Memory, Task
from ...model.errors import BadInput, NotFound
from ...model.filters import (
    FILTER_FIELDS,
    INCLUDE_ALL,
    INCLUDE_EXPIRED,
    READABLE,
    Filter,
)
from ...model.values import (
    CREATES,
    DAY,
    EXPIRED,
    GROUPS,
    IMPORTANCE,
    NEED_WHEN,
    RECORDED,
    STATUSES,
    now,
    replace,
)
from ...recall.signals import filter_of
from ...repository import Repository
from ...repository.beliefs import Proposal
from ...repository.waiting import CONFLICT, MORE, PROPOSAL, QUARANTINED, Waiting
from ...repository.waiting import KINDS as WAITING_KINDS
from ...state.changes import Names
from ...state.fold import NEEDS_REVIEW, TRUST_INSUFFICIENT
from ...state.graph import Edge
from ...state.history import Explained, FieldChange
from ...state.trust import is_valid, type_of
from ...text.clean import clean, one_line
from ...text.difference import compare
from ..cli.answers import Fields
from ..cli.showing import claim_line
from .page_changes import (
    DECIDED_FIELDS,
    KINDS,
    LINK_TYPES,
    MAX_TITLE_CHARS,
    checksum,
    checksum_of,
    form_of,
    key_of,
)
from .page_markdown import Meant

Render = Callable[[str, Meant], str]
MAX_LISTED = 200  # memories in a list at first; the page asks for more
MAX_RESULTS = 40  # of a search
# results with less than this share of the best score are left out
MIN_SCORE_SHARE = 0.2
MAX_GRAPH_NODES = 2_000  # memories in the graph: the most connected
# the newest memories, shown one by one; older ones are counted per day
MAX_TAGS_OFFERED = 60  # tags in the filter: the most frequent
WEEK_DAYS = 7  # that the first view sums up
MAX_MOST_USED = 5
# least cosine for a line in the graph, as for `rawkomem link list`
MIN_SIMILARITY = 0.5
MAX_QUESTION_CHARS = 4_000
EXCERPT_CHARS = 220  # of a memory in a list
SETTLED_MS = 1_000  # a younger index may change again with the same stamp
EVERYTHING = "everything"  # a value of the status filter: all statuses except deleted
HIDDEN_STATUS = "deleted"  # the page lists deleted memories without title and text
SHOWN_STATUSES = tuple(status for status in STATUSES if status != HIDDEN_STATUS)
# Codes of reasons that are about the moment when a claim was stored: trust may have changed since.
HELD_REASONS = {
    TRUST_INSUFFICIENT: "it contradicted a memory in use when it was stored",
    NEEDS_REVIEW: "a person must decide on claims like this",
}

# Markdown that lists leave out: marks at the beginning of a line, emphasis, code marks, brackets of links.
MARKDOWN_MARKS = re.compile(
    r"^\s*(?:#{1,6}|>|[-*+]|\d{1,3}[.)])\s+|\*\*|__|`+|\[\[|\]\]", re.MULTILINE
)

Query = Mapping[str, str]  # the fields of a query
Facts = dict[str, Any]


def excerpt_of(memory: Memory, text: str) -> str:
    """Return the beginning of a text for a list, without Markdown and without the title that the list shows above it."""
    plain = " ".join(MARKDOWN_MARKS.sub("", text).split())
    title = " ".join(MARKDOWN_MARKS.sub("", memory.title).split()).rstrip("…. ")
    rest = plain[len(title) :]
    repeats = plain[: len(title)].casefold() == title.casefold()
    if title and repeats and not rest[:1].isalnum():
        plain = rest.lstrip(" .:;,–-")
    return one_line(plain, EXCERPT_CHARS)


# The facts that the page gets: the keys of its JSON, each with the most characters of a text.
ROW = Fields(
    "id title kind status importance created updated by:64",
    title=lambda row: (
        "(deleted)" if row.status == HIDDEN_STATUS else one_line(row.title or row.path)
    ),
)
MEMORY = ROW.but(
    "type tags:40 excerpt",
    type=lambda memory: one_line(type_of(memory), 40),
    excerpt=lambda memory: excerpt_of(_shown(memory), _shown(memory).body),
)
WHOLE = Fields(
    "when:300 source:120 path:300 line claim valid_from valid_until helpful harmful",
    claim=lambda memory: one_line(claim_line(memory), 200),
)
TRUST = Fields(
    "value:round verified=standing.verified parts",
    parts=[Fields("name=0 amount:round=1 why:200=2")],
)
CITATION = Fields("text:300=citation.text state note:200")
SCORE = Fields(
    "why_not:300 score:round factors",
    factors=[Fields("name value:round weight:round why:300")],
)
EDGE = Fields("source target type:40 weight")
RISK = Fields("why text")
COMPARED = Fields("parts risks", risks=[RISK])
STEP = Fields(
    "kind=entry.kind at=entry.at by:64=entry.by reason:300=entry.extra.reason signal:20=entry.extra.signal changes",
    changes=lambda step: _change_facts(_flat(step.changes)),
)


def _change_facts(changes: Iterable[FieldChange]) -> list[Facts]:
    """Return each field that changes with its parts and what looks dangerous in the added ones."""
    return [
        {"field": one_line(name, 40), **COMPARED.json(compare(old, new))}
        for name, old, new in changes
    ]


def state_of(repository: Repository) -> object:
    """Return a value that differs when the answer of a view of all memories may differ; None for an index in memory.

    It holds the stamps of the index, which is updated first, and of the records, the settings, the day, and how many
    memories have become valid or expired.
    """
    core = repository.core
    sql = "SELECT count(*) FILTER (WHERE valid_from <= ?1), count(*) FILTER (WHERE valid_until <= ?1) FROM memories"
    at = now()
    counts = core.read(lambda: [*core.index.catalogue.db.execute(sql, (at,))])
    if in_memory(core.index.path):
        return None
    try:
        files = [core.index.path, records_path(core.layout)]
    except OSError:  # a fresh clone has no folder of records
        files = [core.index.path]
    return *map(_stamp, files), counts, at // DAY, repository.settings


def _stamp(database: str) -> tuple[int, ...]:
    """Return what changes when a database is written: an empty log beside it is made by a reader."""
    found: tuple[int, ...] = ()
    for file in (database, f"{database}-wal"):
        try:
            stat = os.stat(file)
        except OSError:
            continue
        if stat.st_size:
            found += stat.st_ino, stat.st_size, stat.st_mtime_ns
    return found


def overview_view(repository: Repository, query: Query, render: Render) -> Facts:
    """Return counts, and the values of the filters and forms."""
    core = repository.core
    states, ids, types, tags = core.read(
        lambda: (
            core.catalogue.states(now()),
            core.catalogue.ids(READABLE, now()),
            core.index.store.values("type"),
            core.index.store.values("tags"),
        )
    )
    shown = [row for row in states if row[1] != HIDDEN_STATUS]
    kinds: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for kind, status, valid, number in shown:
        if valid and status in READABLE:
            kinds[kind] += number
        else:
            others[INCLUDE_EXPIRED if status in READABLE else status] += number
    tagged: Counter[str] = Counter()
    for listed, number in tags:
        for tag in {one_line(tag, 40) for tag in listed.split("\n") if tag}:
            tagged[tag] += number
    return {
        "project": one_line(os.path.basename(repository.layout.project), 60),
        "memories": len(ids),  # the number that the list shows without a filter
        "others": _counted(others, STATUSES),
        "kinds": _counted(kinds, CREATES),
        "filters": {
            "kind": [*_counted((kind for kind, *_ in shown), CREATES)],
            "type": [*_counted(type for type, _ in types if type)],
            "importance": [*IMPORTANCE[1:]],
            "status": [*_counted((status for _, status, *_ in shown), STATUSES)],
            "tag": sorted(tag for tag, _ in tagged.most_common(MAX_TAGS_OFFERED)),
        },
        "waiting": len(repository.waiting()),
        "week": _week(repository, ids),
        "writes_as": core.via,
        "forms": {"kind": KINDS, "importance": [*IMPORTANCE], "link": [*LINK_TYPES]},
    }


def _week(repository: Repository, in_use: set[str]) -> Facts:
    """Return what the memories cost and did on this machine in the last seven days."""
    since = now() - WEEK_DAYS * DAY
    received = [use for use in uses(repository.layout, since) if use.ids]
    counts = Counter(id for use in received for id in use.ids)
    most = [pair for pair in counts.most_common() if pair[0] in in_use][:MAX_MOST_USED]
    memories = repository.core.known(id for id, _ in most)
    return {
        "prompts": len(received),
        "tokens": sum(use.tokens for use in received),
        "most": [
            {
                "id": id,
                "title": one_line(memories[id].title or memories[id].path, 80),
                "count": count,
            }
            for id, count in most
            if id in memories
        ],
        "effects": effects_since(repository.layout, since),
        "never": len(in_use - accesses(repository.layout).keys()),
    }


def memories_view(repository: Repository, query: Query, render: Render) -> Facts:
    """Return the memories that pass the filters: results of a question, best first, or all, last changed first."""
    only = _filter(query)
    question = _question(query.get("q", ""))
    every = repository.list(only)
    if query.get("status") == EXPIRED:  # also those that are not valid yet
        every = [row for row in every if not is_valid(row, now())]
    results = repository.search(question, MAX_RESULTS, only) if question else ()
    texts = {
        item.row.id: item.text
        for item in results
        if item.score >= MIN_SCORE_SHARE * results[0].score
    }
    rows = _found_rows(every, list(texts), question) if question else every
    most = query.get("most", "")
    limit = int(most) if most.isdecimal() and len(most) < 7 else MAX_LISTED
    memories = repository.get_many([row.id for row in rows[:limit]])
    return {
        "total": len(rows),
        "items": [
            {
                **MEMORY.json(memory),
                "excerpt": excerpt_of(memory, texts.get(memory.id) or memory.body),
            }
            for memory in map(_shown, memories)
        ],
    }


def _found_rows(every: Sequence[Row], ids: Sequence[str], question: str) -> list[Row]:
    """Return memories whose title contains the question, then those that the search found."""
    named = [row.id for row in every if question.lower() in row.title.lower()]
    by_id = {row.id: row for row in every}
    best_first = sorted(named, key=lambda id: ids.index(id) if id in ids else len(ids))
    return [by_id[id] for id in dict.fromkeys((*best_first, *ids)) if id in by_id]


def memory_view(repository: Repository, query: Query, render: Render) -> Facts:
    """Return one memory with its text, trust, citations, links, conflicts and history."""
    explained = repository.beliefs.explain(_id_of(repository, query.get("id", "")))
    memory = explained.memory
    hidden = memory.status == HIDDEN_STATUS
    form = {} if hidden else form_of(memory)
    whole = {**MEMORY.json(memory), **WHOLE.json(_shown(memory))}
    if not hidden:
        whole["title"] = one_line(memory.title or memory.path, MAX_TITLE_CHARS)
    return {
        **whole,
        "html": render(_shown(memory).body, _meanings(repository)),
        "form": form,
        "seen": {name: checksum(value) for name, value in form.items()},
        "waits": [
            _waiting_card(repository, item, render)
            for item in _waiting_for(repository, memory)
        ],
        "standing": one_line(explained.standing, 300),
        "trust": TRUST.json(explained.trust),
        "citations": [*map(CITATION.json, repository.citations.of(memory))],
        "links": _link_facts(repository, explained),
        "conflicts": [*map(MEMORY.json, explained.conflicts)],
        "history": [
            {**STEP.json(step), **({"changes": []} if hidden else {})}
            for step in explained.steps
        ],
    }


def _shown(memory: Memory) -> Memory:
    """Return a memory as the page may show it: of a deleted one, neither title nor text."""
    if memory.status != HIDDEN_STATUS:
        return memory
    return replace(memory, title="", body="", when=(), extra={})


def _waiting_for(repository: Repository, memory: Memory) -> list[Waiting]:
    """Return the decisions about a memory that wait. Compares its claim with others, but not its sentences."""
    kinds = [PROPOSAL] if memory.proposed else []
    if memory.status == QUARANTINED or memory.conflicts_with:
        kinds += [CONFLICT, QUARANTINED]
    waiting = repository.waiting(kinds) if kinds else ()
    return [item for item in waiting if item.id == memory.id]


def why_view(repository: Repository, query: Query, render: Render) -> Facts:
    """Return how a memory scores for a task, whether it would be injected, and if not, why."""
    name = query.get("id", "")
    task = _question(query.get("task", ""))
    if not task:
        raise BadInput(
            "the task is empty", "type a task as a person would ask an agent"
        )
    try:
        item, inside = repository.explain(name, Task(task))
    except NotFound as failure:
        repository.get(name)  # raises NotFound if the name itself is unknown
        nothing = {"why_not": failure.message, "score": 0.0, "factors": []}
        return {"injected": False, **nothing}
    return {"injected": inside, **SCORE.json(item)}


def graph_view(repository: Repository, query: Query, render: Render) -> Facts:
    """Return active memories and their connections: at most MAX_GRAPH_NODES, the most connected ones."""
    # the index and the time decide, not the records of this machine
    state = state_of(repository)
    if not isinstance(state, tuple):
        return _drawn(repository)
    index, *_, counts, day, _ = state
    if now() - max(index[2::3]) // 1_000_000 < SETTLED_MS:
        return _drawn(repository)
    return repository.core.index.kept(
        DRAWN, repr((index, counts, day)), lambda: _drawn(repository)
    )


def _drawn(repository: Repository) -> Facts:
    graph = repository.graph.load(similar=MIN_SIMILARITY)
    by_degree = sorted(
        graph.memories.values(),
        key=lambda memory: (-len(graph.around[memory.id]), memory.id),
    )
    drawn = {memory.id: memory for memory in by_degree[:MAX_GRAPH_NODES]}
    return {
        "total": len(graph.memories),
        "nodes": [*map(MEMORY.json, drawn.values())],
        "edges": [
            EDGE.json(edge)
            for edge in graph.edges
            if edge.source in drawn and edge.target in drawn
        ],
    }


def waiting_view(repository: Repository, query: Query, render: Render) -> Facts:
    """Return what waits for a decision, and one item in full: the one that is query for, or else the first."""
    kinds = (*WAITING_KINDS, MORE) if query.get("more") else WAITING_KINDS
    waiting = {key_of(item): item for item in repository.waiting(kinds)}
    first = waiting.get(query.get("key", "")) or next(iter(waiting.values()), None)
    return {
        "more": len(repository.waiting([MORE])),
        "items": [_waiting_facts(item) for item in waiting.values()],
        "item": first and _waiting_card(repository, first, render),
    }


def _waiting_facts(item: Waiting) -> Facts:
    """Return what a decision about an item names: its key, and a checksum of the words that the page shows."""
    return {
        "id": key_of(item),
        "shown": checksum_of(item),
        "waits": item.kind,
        "title": one_line(item.title),
        "at": item.at,
        "risks": [*map(RISK.json, item.risks)],
    }


def _waiting_card(repository: Repository, item: Waiting, render: Render) -> Facts:
    """Return everything that a person needs to decide on an item, and what each decision does."""
    if item.draft:
        facts = _draft_facts(repository, item.draft, render)
        form = item.draft
        values = {"title": form.title, "text": form.text, "when": [*form.when]}
    else:
        assert item.memory
        facts = _held_facts(repository, item, item.memory, render)
        proposed = item.proposal
        values = form_of(proposed.proposed if proposed else item.memory)
    return {
        **facts,
        **_waiting_facts(item),
        "title": one_line(item.title, MAX_TITLE_CHARS),
        "decisions": item.decisions,
        "form": {name: values[name] for name in DECIDED_FIELDS},
    }


def _draft_facts(repository: Repository, draft: Draft, render: Render) -> Facts:
    tied = [*draft.corrects, draft.agrees]
    corrected = repository.get_many(
        [*filter(repository.core.holds, filter(None, tied))]
    )
    exchange = [(who, clean(words)) for who, words in exchange_of_draft(draft)]
    is_said = any(words.strip() == clean(draft.text).strip() for _, words in exchange)
    return {
        "kind": draft.kind,
        "agrees": draft.agrees,
        "exchange": [{"who": who, "words": words} for who, words in exchange],
        "html": "" if is_said else render(draft.text, _meanings(repository)),
        "when": [one_line(condition, MAX_TITLE_CHARS) for condition in draft.when],
        "rivals": [
            _rival_facts(repository, one, (one.body, draft.text)) for one in corrected
        ],
        "facts": [
            one_line(fact, 120)
            for fact in (*draft.applies, draft.why, draft.host, draft.model)
            if fact
        ],
    }


def _held_facts(
    repository: Repository, item: Waiting, memory: Memory, render: Render
) -> Facts:
    trust = repository.beliefs.trust(memory).value
    reason = HELD_REASONS.get(memory.reason, one_line(memory.reason, 200))
    return {
        **MEMORY.json(memory),
        "memory": memory.id,
        "html": "" if item.proposal else render(memory.body, _meanings(repository)),
        "when": [one_line(condition, MAX_TITLE_CHARS) for condition in memory.when],
        "reason": reason if memory.status == QUARANTINED else "",
        "rivals": [_rival_facts(repository, item.other, _opposed(item))]
        if item.other
        else [],
        "proposal": item.proposal and _proposal_facts(repository, item.proposal),
        "facts": [
            "" if item.proposal else f"by {repository.beliefs.origins(memory)}",
            f"trust {trust:.2f}",
        ],
    }


def _proposal_facts(repository: Repository, proposal: Proposal) -> Facts:
    """Return who proposes a change and why, and all that it changes."""
    changes = [
        {
            "kind": entry.kind,
            "by": one_line(repository.beliefs.origin(entry), 300),
            "reason": one_line(str(entry.extra.get("reason", "")), 300),
        }
        for entry in proposal.changes
    ]
    return {"changes": changes, "fields": _change_facts(proposal.differences)}


def _opposed(item: Waiting) -> tuple[str, str]:
    """Return the old and the new words that contradict each other: two sentences, claims, or else texts."""
    if any(item.said):
        return item.said[1], item.said[0]
    pair = [memory for memory in (item.other, item.memory) if memory]
    claims = [*map(claim_line, pair)]
    old, new = claims if all(claims) else (memory.body for memory in pair)
    return old, new


def _rival_facts(
    repository: Repository, other: Memory, words: tuple[str, str]
) -> Facts:
    """Return a memory that a decision would replace, and how its words differ from the new ones."""
    return {
        **MEMORY.json(other),
        "trust": round(repository.beliefs.trust(other).value, 4),
        "parts": compare(*(text.strip() for text in words)).parts,
    }


def _id_of(repository: Repository, name: str) -> str:
    """Return the id of the memory that an address names. Names are resolved as in commands and links."""
    if not name:
        raise BadInput("the id of the memory is missing", "choose a memory in the list")
    try:
        return repository.get(name).id
    except NotFound:
        ids = Names(_all_memories(repository)).find(name)
        if len(ids) != 1:
            raise
        return ids[0]


def _meanings(repository: Repository) -> Meant:
    """Return a function that resolves links. It loads all names once, at the first link."""

    @cache
    def known() -> tuple[Names, dict[str, Memory]]:
        every = _all_memories(repository)
        return Names(every), {memory.id: memory for memory in every}

    def meant(name: str) -> tuple[str, str]:
        names, memories = known()
        ids = names.find(name)
        if len(ids) != 1:
            return "", ""
        memory = _shown(memories[ids[0]])
        return memory.id, one_line(memory.title)

    return meant


def _all_memories(repository: Repository) -> list[Memory]:
    return [*repository.core.all()]


def _counted(
    names: Iterable[str] | Mapping[str, int], order: Iterable[str] = ()
) -> dict[str, int]:
    """Return counts by name, of names or of counts that may have the same line: first the names of a vocabulary in its order, then all others sorted."""
    counts: Counter[str] = Counter()
    for name, number in Counter(names).items():
        counts[one_line(name, 40)] += number
    ordered = dict.fromkeys((*order, *sorted(counts)))
    return {name: counts[name] for name in ordered if name in counts}


def _filter(query: Mapping[str, str]) -> Filter:
    """Return the filter for the fields of the page. Unlike on the command line, a type may be any word."""
    words = {
        field.word: query[field.word]
        for field in FILTER_FIELDS
        if query.get(field.word) and field.word != "type"
    }
    status = query.get("status", "")
    if status:
        words["include"] = INCLUDE_ALL if status == EVERYTHING else status
    only = filter_of(**words)
    if status == EVERYTHING:
        only = replace(only, statuses=SHOWN_STATUSES)
    elif status:
        statuses = READABLE if status == EXPIRED else (status,)
        only = replace(only, statuses=statuses, current=False)
    return replace(only, types=(query["type"],)) if query.get("type") else only


def _question(text: str) -> str:
    if len(text) > MAX_QUESTION_CHARS:
        raise BadInput(
            f"the question has {len(text):,} characters, more than {MAX_QUESTION_CHARS:,}",
            "shorten it",
        )
    return clean(text).strip()


def _link_facts(repository: Repository, explained: Explained) -> list[Facts]:
    """Return the connections of a memory, each once per type and direction."""
    id = explained.memory.id
    others = {edge.other(id) for edge in explained.edges}
    others_by_id = {memory.id: memory for memory in repository.get_many(sorted(others))}
    ends = {**others_by_id, id: explained.memory}

    def can_unlink(edge: Edge) -> bool:
        """Return whether `unlink` can remove the edge: a link entry made it, not a text or a decision."""
        return (edge.type, edge.target) in ends[edge.source].links

    return [
        {
            **ROW.json(others_by_id[edge.other(id)]),
            "link": one_line(edge.type, 40),
            "outward": edge.source == id,
            "can_unlink": can_unlink(edge),
        }
        for edge in explained.edges
    ]


def _flat(
    changes: Iterable[FieldChange],
) -> Iterable[FieldChange]:
    """Yield changes; of a nested mapping, one change for each key that differs."""
    for name, before, after in changes:
        if isinstance(before, dict) and isinstance(after, dict):
            for key in (*before, *(key for key in after if key not in before)):
                if before.get(key, "") != after.get(key, ""):
                    yield key, before.get(key, ""), after.get(key, "")
        else:
            yield name, before, after


MAX_FINDINGS = 100  # of one check; the page loads the next ones after decisions
MIN_UNUSED_DAYS = 14  # a younger memory may not have had a chance to be used

# id of a memory, the finding in words, and a function that returns more facts for the page
Finding = tuple[str, str, Callable[[], Facts]]


def health_view(repository: Repository, query: Query, render: Render) -> Facts:
    """Return the findings of each check and their number."""
    rows = repository.list()
    checks: dict[str, Iterable[Finding]] = {
        "stale": _find_stale(repository),
        "contradicted": _find_contradicted(repository),
        "weak": (
            (memory.id, f"sources that no longer hold: {len(sources)}", dict)
            for memory, sources in repository.beliefs.weakened()
        ),
        "unconditional": _find_unconditional(repository, rows),
        "unused": _find_unused(repository, rows),
        "unverified": _find_unverified(repository, rows),
    }
    lists = []
    for name, findings in checks.items():
        items = list(findings)
        shown = items[:MAX_FINDINGS]
        memories = repository.core.known(id for id, *_ in shown)
        lists.append(
            {
                "name": name,
                "total": len(items),
                "items": [
                    {
                        **MEMORY.json(memories[id]),
                        "found": one_line(text, 300),
                        **facts(),
                    }
                    for id, text, facts in shown
                    if id in memories
                ],
            }
        )
    return {"memories": len(rows), "checks": lists}


def stale_places(repository: Repository) -> tuple[tuple[str, str], ...]:
    """Return the memories that cite code which changed or is gone, and these places: code changes without the index."""
    return tuple((id, text) for id, text, _ in _find_stale(repository))


def _find_stale(repository: Repository) -> Iterable[Finding]:
    """Yield memories that cite code which changed or is gone."""
    for memory, cited in repository.citations.all():
        changed = [item for item in cited if item.state in (STALE, GONE)]
        if changed:
            text = "; ".join(
                f"{item.citation.place} is {item.state}" for item in changed
            )
            is_stale = any(item.state == STALE for item in changed)
            yield memory.id, text, partial(dict, can_confirm=is_stale)


def _find_contradicted(repository: Repository) -> Iterable[Finding]:
    """Yield memories that contradict another memory in use, by a claim or by a sentence."""
    for item in repository.waiting([CONFLICT]):
        if item.memory and item.other:
            text = f"contradicts “{one_line(item.other.title)}”"
            yield item.memory.id, text, partial(_contradiction_facts, item)


def _contradiction_facts(item: Waiting) -> Facts:
    return {"parts": compare(*_opposed(item)).parts, "key": key_of(item)}


def _find_unconditional(
    repository: Repository, rows: Iterable[Row]
) -> Iterable[Finding]:
    """Yield memories of kinds that need a condition and have none."""
    core = repository.core
    conditional = core.read(core.catalogue.conditional)
    ids = [
        row.id for row in rows if row.kind in NEED_WHEN and row.id not in conditional
    ]
    for id, memory in core.known(ids).items():
        if not memory.when:
            yield id, "has no condition", dict


def _find_unused(repository: Repository, rows: Iterable[Row]) -> Iterable[Finding]:
    """Yield memories that were never injected into a prompt on this machine, the oldest first."""
    used = accesses(repository.layout)
    at = now()
    skipped = {*GROUPS, *RECORDED}
    for row in sorted(rows, key=lambda row: (row.created, row.id)):
        days = (at - row.created) // DAY
        is_old = bool(row.created) and days >= MIN_UNUSED_DAYS
        if is_old and row.kind not in skipped and row.id not in used:
            yield row.id, f"not injected on this machine in {days} days", dict


def _find_unverified(repository: Repository, rows: Iterable[Row]) -> Iterable[Finding]:
    """Yield memories that no person vouches for."""
    believed = repository.beliefs.all()
    ids = [row.id for row in rows if not (believed.counts and row.vouched)]
    memories = repository.core.known(ids)
    for id, standing in believed.unverified(memories.values()).items():
        can_vouch = not memories[id].vouched
        yield id, one_line(standing.why, 200), partial(dict, can_vouch=can_vouch)
