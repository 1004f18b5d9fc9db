"""Implement `rawkomem search`: print the memories that fit a question. Does not import click."""

from __future__ import annotations

from ...files.layout import read_stdin
from ...model.filters import read_share
from ...model.values import ACTIVE, TYPE_CHECKING, now
from ...recall.excerpt import layer_label
from ...recall.search import Found, best_results, contributions, snippet
from ...recall.signals import filter_of, question_of
from ...repository import Repository
from ...state.trust import shown_status
from ...text.clean import one_line
from .answers import Fields
from .terminal import day, paint, say, tell_nothing, wide

if TYPE_CHECKING:
    from typing import Any


MAX_NEAREST = 3  # results to show if none fits
PART = Fields("name value weight why")
RESULT = Fields(
    "id=row.id title=row.title kind=row.kind status=row.status importance=row.importance vouched=row.vouched"
    " waiting=row.waiting layer? score:round relevance:round fits path=row.path line=row.line text"
)
EXPLAINED = RESULT.but(
    "explain?",
    explain=lambda item: [PART.json(part) for part in contributions(item.signals)],
)
SEARCH_ANSWER = [EXPLAINED]  # --explain adds a key


def run_search(
    folder: str,
    arguments: list[str],
    limit: int,
    profile: str,
    min_similarity: str,
    explain: bool,
    as_json: bool,
    **which: Any,
) -> None:
    """Search and print the results."""
    text = read_stdin(strict=False) if arguments == ["-"] else " ".join(arguments)
    repository = Repository.open(folder, layers=True)
    only = filter_of(**which)
    least = read_share(min_similarity, "--min-similarity")
    (answer,) = repository.search_many([text], limit, only, profile, least)
    results = answer.found
    repository.core.deepen_in_background()
    if as_json:
        (EXPLAINED if explain else RESULT).say(results, True)
        return
    if results and not any(item.fits for item in results):
        say("no memory fits well; the closest are:")
        results = best_results(results, MAX_NEAREST)
    words = question_of(text).query_words
    for number, item in enumerate(results, 1):
        say_result(number, item, words)
        if explain:
            say_score(item)
    if not results:
        tell_nothing(repository, "nothing found")


def say_result(number: int, item: Found, words: tuple[str, ...] = ()) -> None:
    """Print a result: rank, score, title and facts on one line, then the passage that matched."""
    row = item.row
    title = one_line(row.title) or paint(f"(draft) {row.path}", "yellow")
    status = shown_status(row, now())
    parts = (
        *layer_label(item.layer),
        status if status != ACTIVE else "",
        row.importance,
        day(row.created) if row.created else "",
        row.id,
        "" if row.vouched else "not vouched",
        "change proposed" if row.waiting else "",
    )
    facts = " · ".join(filter(None, parts))
    say(f"{number:2} {item.score:5.2f}  {paint(title, 'bold')}  {paint(facts, 'dim')}")
    say(f"   {snippet(item, words, wide() - 4)}")


def say_score(item: Found) -> None:
    """Print the parts of a result's score."""
    for part in contributions(item.signals):
        share = (
            f"{part.value * part.weight:.3f} = {part.weight:.0%} of {part.value:.2f}"
        )
        say(paint(f"   {share}  {part.name}: {part.why}", "dim"))
    say(
        paint(
            f"   {item.score:.3f} in total; relevance {item.relevance:.2f}: cosine of its closest passage",
            "dim",
        )
    )
