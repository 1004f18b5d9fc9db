"""Answer the GET requests of the page: each function calls the repository and returns values for JSON."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from ...files.local.searches import Searches
from ...git.citations import Cited
from ...index.catalogue import Row
from ...model.clock import DAY
from ...model.entry import Memory
from ...model.errors import BadInput, NotFound
from ...model.filters import ALL, EXPIRED, FILTER_FIELDS, READABLE, Filter
from ...model.kinds import CREATES, IMPORTANCE, STATUSES
from ...model.record import replace
from ...model.task import Task
from ...recall.explain import why_fired
from ...recall.filters import filter_of
from ...recall.score import Scored
from ...repository import Repository
from ...repository.wings.beliefs import Proposal
from ...state.belief.claims import claim_of
from ...state.belief.explained import Explained
from ...state.belief.trust import Trust
from ...state.facets import type_of
from ...state.graph.graph import Edge
from ...state.history import Step
from ...state.references import Names
from ...state.vouch import named
from ...text.clean import clean, one_line
from .difference import difference
from .markdown import Meant
from .work import KINDS, LINK_TYPES, can_undo, version_of

Render = Callable[[str, Meant], str]
MAX_LISTED = 200  # memories in a list; to see others, a person searches
MAX_RESULTS = 40  # of a search
MIN_SCORE_SHARE = 0.2  # results with less than this share of the best score are left out
MAX_GRAPH_NODES = 2_000  # memories in the graph: the most connected
MAX_TIMELINE_ITEMS = 1_500  # the newest memories, shown one by one; older ones are counted per day
MAX_TAGS_OFFERED = 60  # tags in the filter: the most frequent
MIN_SIMILARITY = 0.5  # least cosine for a line in the graph, as for `rawkomem link list`
MAX_REVIEW_CARDS = 50  # the page loads the next cards after decisions
MAX_QUESTION_CHARS = 4_000
EXCERPT_CHARS = 220  # of a memory in a list
EVERYTHING = "everything"  # a value of the status filter: all statuses except deleted
HIDDEN_STATUS = "deleted"  # the page lists deleted memories without title and text

# Markdown that lists leave out: marks at the beginning of a line, emphasis, code marks, brackets of links.
MARKDOWN_MARKS = re.compile(r"^\s*(?:#{1,6}|>|[-*+]|\d{1,3}[.)])\s+|\*\*|__|`+|\[\[|\]\]", re.MULTILINE)

Facts = dict[str, Any]


def overview(repository: Repository) -> Facts:
    """Return counts, the values of the filters and forms, and saved searches."""
    memories = [memory for memory in _all(repository) if memory.status != HIDDEN_STATUS]
    listed = {row.id for row in repository.list()}
    in_use = [memory for memory in memories if memory.id in listed]
    tags = Counter(tag for memory in memories for tag in {one_line(tag.lower(), 40) for tag in memory.tags})
    return {
        "project": one_line(os.path.basename(repository.layout.project), 60),
        "memories": len(in_use),  # the number that the list shows without a filter
        "others": _counted((_unlisted_as(memory) for memory in memories if memory.id not in listed), STATUSES),
        "kinds": _counted((memory.kind for memory in in_use), CREATES),
        "filters": {
            "kind": [*_counted((memory.kind for memory in memories), CREATES)],
            "type": [*_counted(type_of(memory) for memory in memories if type_of(memory))],
            "importance": [*IMPORTANCE[1:]],
            "status": [*_counted((memory.status for memory in memories), STATUSES)],
            "tag": sorted(tag for tag, _ in tags.most_common(MAX_TAGS_OFFERED)),
        },
        "waiting": len(_waiting(repository)),
        "drafts": len(repository.drafts.all()),
        "writes_as": repository.core.via,
        "can_undo": can_undo(repository),
        "forms": {"kind": KINDS, "importance": [*IMPORTANCE], "link": [*LINK_TYPES]},
        "searches": Searches(repository.layout).all(),
    }


def _unlisted_as(memory: Memory) -> str:
    """Return why a memory is not listed: its status, or EXPIRED because of its validity window."""
    return EXPIRED if memory.status in READABLE else memory.status


def memories(repository: Repository, asked: Mapping[str, str]) -> Facts:
    """Return the memories that pass the filters: results of a question, best first, or all, last changed first."""
    only, question = _filter(asked), _question(asked.get("q", ""))
    every = repository.list(only)
    found = repository.search(question, MAX_RESULTS, only) if question else ()
    texts = {item.row.id: item.text for item in found if item.score >= MIN_SCORE_SHARE * found[0].score}
    rows = _found(every, list(texts), question) if question else every
    shown = repository.get_many([row.id for row in rows[:MAX_LISTED]])
    return {"total": len(rows), "items": [listed(memory, texts.get(memory.id, "")) for memory in shown]}


def _found(every: Sequence[Row], ids: Sequence[str], question: str) -> list[Row]:
    """Return memories whose title contains the question, then those that the search found."""
    named = [row.id for row in every if question.lower() in row.title.lower()]
    known = {row.id: row for row in every}
    best_first = sorted(named, key=lambda id: ids.index(id) if id in ids else len(ids))
    return [known[id] for id in dict.fromkeys((*best_first, *ids)) if id in known]


def memory(repository: Repository, name: str, render: Render) -> Facts:
    """Return one memory with its text, trust, citations, links, conflicts and history."""
    explained = repository.beliefs.explain(_named(repository, name))
    known = explained.memory
    hidden = known.status == HIDDEN_STATUS
    claim = claim_of(known)
    return {
        **listed(known),
        "html": "" if hidden else render(known.body, _meanings(repository)),
        "text": "" if hidden else clean(known.body),
        "version": version_of(known),
        "when": [] if hidden else [one_line(part, 300) for part in known.when],
        "found_in": one_line(known.found_in),
        "source": one_line(known.source),
        "path": one_line(known.path, 300),
        "line": known.line,
        "claim": one_line(f"{claim.subject} {claim.predicate} = {claim.value}", 200) if claim and not hidden else "",
        "standing": one_line(explained.standing, 300),
        **{name: getattr(known, name) for name in ("valid_from", "valid_until", "helpful", "harmful")},
        "observed": known.times_observed,
        "trust": _trust(explained.trust),
        "citations": [_cited(item) for item in repository.citations.of(known)],
        "links": _links(repository, explained),
        "conflicts": [listed(other) for other in explained.conflicts],
        "history": [_step(step, hidden) for step in explained.steps],
    }


def why(repository: Repository, name: str, task: str) -> Facts:
    """Return how a memory scores for a task, whether it would be injected, and if not, why."""
    task = _question(task)
    if not task:
        raise BadInput("the task is empty", "type a task as a person would ask an agent")
    try:
        item, inside = repository.explain(name, Task(task))
    except NotFound as failure:
        repository.get(name)  # raises NotFound if the name itself is unknown
        return {"injected": False, "why_not": failure.message, "score": 0.0, "fired": "", "factors": []}
    return {
        "injected": inside,
        "why_not": one_line(item.why_not, 300),
        "score": round(item.score, 4),
        "fired": one_line(why_fired(item), 200),
        "factors": _factors(item),
    }


def graph(repository: Repository) -> Facts:
    """Return active memories and their connections: at most MAX_GRAPH_NODES, the most connected ones."""
    known = repository.graph.load(similar=MIN_SIMILARITY)
    by_degree = sorted(known.memories.values(), key=lambda memory: (-len(known.around[memory.id]), memory.id))
    drawn = {memory.id: memory for memory in by_degree[:MAX_GRAPH_NODES]}
    return {
        "total": len(known.memories),
        "nodes": [listed(memory) for memory in drawn.values()],
        "edges": [_edge(edge) for edge in known.edges if edge.source in drawn and edge.target in drawn],
    }


def timeline(repository: Repository) -> Facts:
    """Return the newest MAX_TIMELINE_ITEMS dated memories, newest first, and counts per day of older ones."""
    rows = repository.list(Filter(statuses=tuple(status for status in STATUSES if status != HIDDEN_STATUS)))
    dated = sorted((row for row in rows if row.created), key=lambda row: (-row.created, row.id))
    older = Counter(row.created - row.created % DAY for row in dated[MAX_TIMELINE_ITEMS:])
    return {
        "total": len(dated),
        "undated": len(rows) - len(dated),
        "items": [_row(row) for row in dated[:MAX_TIMELINE_ITEMS]],
        "older": sorted(older.items()),
    }


def waiting(repository: Repository, render: Render) -> Facts:
    """Return the memories that wait for a review, each with the memories that it contradicts."""
    meant = _meanings(repository)
    held = _waiting(repository)
    items = [
        _held(repository, memory, others, lambda body: render(body, meant))
        for memory, others in held[:MAX_REVIEW_CARDS]
    ]
    return {"total": len(held), "items": items}


def _waiting(repository: Repository) -> list[tuple[Memory, list[Memory]]]:
    """Return memories that are quarantined, contradicted or have proposed changes, each with those it contradicts."""
    held = repository.get_many([row.id for row in repository.list(Filter(statuses=("quarantined",)))])
    proposed = [proposal.memory for proposal in repository.beliefs.proposals()]
    found: dict[str, tuple[Memory, list[Memory]]] = {memory.id: (memory, []) for memory in (*held, *proposed)}
    for conflict in repository.beliefs.conflicts():
        found.setdefault(conflict.memory.id, (conflict.memory, []))[1].append(conflict.other)
    return [*found.values()]


def _proposal(proposal: Proposal) -> Facts:
    """Return proposed changes with their authors and reasons, and the fields that would change."""
    changes = [
        {
            "name": named(entry),  # with a digest, so that a decision applies only to the change that was shown
            **{key: one_line(str(getattr(entry, key)), 100) for key in ("kind", "by")},
            "reason": one_line(str(entry.extra.get("reason", "")), 200),
        }
        for entry in proposal.changes
    ]
    fields = [
        {"field": field, "parts": difference(clean(_as_text(now)), clean(_as_text(then)))}
        for field, now, then in proposal.differences
    ]
    return {"changes": changes, "fields": fields}


def _as_text(value: object) -> str:
    return "\n".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _held(repository: Repository, memory: Memory, others: Sequence[Memory], shown: Callable[[str], str]) -> Facts:
    return {
        **listed(memory),
        "html": shown(memory.body),
        "reason": one_line(memory.reason.replace("_", " "), 200),
        "trust": _trust(repository.beliefs.trust(memory)),
        "proposal": _proposal(repository.beliefs.proposal(memory.id)) if memory.proposed else None,
        "conflicts": [_rival(repository, memory, other) for other in others],
    }


def _rival(repository: Repository, memory: Memory, other: Memory) -> Facts:
    """Return a contradicted memory, and how the two texts differ."""
    parts = difference(clean(other.body).strip(), clean(memory.body).strip())
    return {**listed(other), "trust": _trust(repository.beliefs.trust(other)), "parts": parts}


def _named(repository: Repository, name: str) -> str:
    """Return the id of the memory that an address names. Names are resolved as in commands and links."""
    if not name:
        raise BadInput("the id of the memory is missing", "choose a memory in the list")
    try:
        return repository.get(name).id
    except NotFound:
        found = Names(_all(repository)).find(name)
        if len(found) != 1:
            raise
        return found[0]


def _meanings(repository: Repository) -> Meant:
    """Return a function that resolves links. It loads all names once, at the first link."""

    @cache
    def known() -> tuple[Names, dict[str, Memory]]:
        every = _all(repository)
        return Names(every), {memory.id: memory for memory in every}

    def meant(name: str) -> tuple[str, str]:
        names, memories = known()
        found = names.find(name)
        if len(found) != 1:
            return "", ""
        memory = memories[found[0]]
        return memory.id, one_line(memory.title) if memory.status != HIDDEN_STATUS else ""

    return meant


def _all(repository: Repository) -> list[Memory]:
    return [*repository.core.reading.all()]


def _counted(names: Iterable[str], order: Iterable[str] = ()) -> dict[str, int]:
    """Return counts by name: first the names of a vocabulary in its order, then all others sorted."""
    counts = Counter(one_line(name, 40) for name in names)
    return {name: counts[name] for name in (*(n for n in order if n in counts), *sorted(set(counts) - set(order)))}


def _filter(asked: Mapping[str, str]) -> Filter:
    """Return the filter for the fields of the page. Unlike on the command line, a type may be any word."""
    words = {field.word: asked[field.word] for field in FILTER_FIELDS if asked.get(field.word) and field.word != "type"}
    status = asked.get("status", "")
    if status:
        words["include"] = ALL if status == EVERYTHING else status
    only = filter_of(**words)
    if status == EVERYTHING:
        only = replace(only, statuses=tuple(name for name in STATUSES if name != HIDDEN_STATUS))
    elif status:
        only = replace(only, statuses=(status,), current=False)
    return replace(only, types=(asked["type"],)) if asked.get("type") else only


def _question(text: str) -> str:
    if len(text) > MAX_QUESTION_CHARS:
        said = f"the question has {len(text):,} characters, more than {MAX_QUESTION_CHARS:,}"
        raise BadInput(said, "shorten it")
    return clean(text).strip()


def listed(memory: Memory, text: str = "") -> Facts:
    """Return the facts about a memory that every list shows; `text` replaces its body in the excerpt."""
    hidden = memory.status == HIDDEN_STATUS
    return {
        **_row(memory),
        "type": one_line(type_of(memory), 40),
        "tags": [one_line(tag, 40) for tag in memory.tags],
        "excerpt": "" if hidden else one_line(MARKDOWN_MARKS.sub("", text or memory.body), EXCERPT_CHARS),
    }


def _row(row: Row | Memory) -> Facts:
    title = "(deleted)" if row.status == HIDDEN_STATUS else one_line(row.title or row.path)
    known = {name: getattr(row, name) for name in ("kind", "status", "importance", "created", "updated")}
    return {"id": row.id, "title": title, **known, "by": one_line(row.by, 64)}


def _trust(trust: Trust) -> Facts:
    parts = [{"name": name, "amount": round(amount, 4), "why": one_line(why, 200)} for name, amount, why in trust.parts]
    return {"value": round(trust.value, 4), "verified": trust.standing.verified, "parts": parts}


def _cited(item: Cited) -> Facts:
    return {"text": one_line(item.citation.text, 300), "state": item.state, "note": one_line(item.note, 200)}


def _links(repository: Repository, explained: Explained) -> list[Facts]:
    """Return the connections of a memory, each once per type and direction."""
    id = explained.memory.id
    others = {edge.other(id) for edge in explained.edges}
    known = {memory.id: memory for memory in repository.get_many(sorted(others))}
    ends = {**known, id: explained.memory}

    def can_unlink(edge: Edge) -> bool:
        """Tell whether `unlink` can remove the edge: a link entry made it, not a text or a decision."""
        return (edge.type, edge.target) in ends[edge.source].links

    return [
        {
            **_row(known[edge.other(id)]),
            "link": one_line(edge.type, 40),
            "outward": edge.source == id,
            "can_unlink": can_unlink(edge),
        }
        for edge in explained.edges
    ]


def _edge(edge: Edge) -> Facts:
    return {"source": edge.source, "target": edge.target, "type": one_line(edge.type, 40), "weight": edge.weight}


def _factors(item: Scored) -> list[Facts]:
    return [
        {"name": f.name, "value": round(f.value, 4), "weight": round(f.weight, 4), "why": one_line(f.why, 300)}
        for f in item.factors
    ]


def _step(step: Step, hidden: bool) -> Facts:
    """Return one entry of a history; if the memory is deleted, without the changes."""
    reason = step.entry.extra.get("reason")
    changes = [] if hidden else [_change(*change) for change in _flat(step.changes)]
    return {
        "kind": step.entry.kind,
        "at": step.entry.at,
        "by": one_line(step.entry.by, 64),
        "reason": one_line(reason, 300) if isinstance(reason, str) else "",
        "signal": one_line(str(step.entry.extra.get("signal", "")), 20),
        "changes": changes,
    }


def _flat(changes: Iterable[tuple[str, object, object]]) -> Iterable[tuple[str, object, object]]:
    """Yield changes; of a nested mapping, one change for each key that differs."""
    for name, before, after in changes:
        if isinstance(before, dict) and isinstance(after, dict):
            for key in (*before, *(key for key in after if key not in before)):
                if before.get(key, "") != after.get(key, ""):
                    yield key, before.get(key, ""), after.get(key, "")
        else:
            yield name, before, after


def _change(field: str, before: object, after: object) -> Facts:
    return {"field": one_line(field, 40), "before": _value(before), "after": _value(after)}


def _value(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return one_line(", ".join(_value(part) for part in value), EXCERPT_CHARS)
    return one_line(str(value), EXCERPT_CHARS)
