"""`rawkomem search`: the memories that fit a question."""

from __future__ import annotations

from ..repository import Found, Repository, filter_of
from ..text.clean import one_line
from .terminal import day, note, paint, say, say_json, wide


def run(
    folder: str,
    arguments: list[str],
    limit: int,
    kind: list[str],
    tag: list[str],
    importance: str,
    include: list[str],
    json: bool,
) -> None:
    """Search and print."""
    repository = Repository.open(folder)
    found = repository.search(" ".join(arguments), limit, filter_of(kind, tag, importance, include))
    repository.deepen_behind()
    if json:
        say_json([as_json(item) for item in found])
        return
    for number, item in enumerate(found, 1):
        show(number, item)
    if not found:
        note("nothing found" if repository.list() else "no memories yet: 'rawkomem add' writes the first one")


def as_json(item: Found) -> dict[str, object]:
    """A result for programs."""
    row = item.row
    return {
        "id": row.id,
        "title": row.title,
        "kind": row.kind,
        "status": row.status,
        "importance": row.importance,
        "score": round(item.score, 4),
        "relevance": round(item.relevance, 4),
        "path": row.path,
        "line": row.line,
        "text": item.text,
    }


def show(number: int, item: Found) -> None:
    """A result for people: rank, title and facts on one line, then the passage that matched."""
    row = item.row
    title = one_line(row.title) or paint(f"(draft) {row.path}", "yellow")
    facts = " · ".join(part for part in (row.importance, day(row.created) if row.created else "", row.id) if part)
    say(f"{number:2} {paint(title, 'bold')}  {paint(facts, 'dim')}")
    say(f"   {one_line(item.text, wide() - 4)}")
