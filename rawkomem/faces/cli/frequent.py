"""Implement the commands that agents run most: `rawkomem search`, `inject` and `index sync`. Does not
import click.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from ...files.layout import find_layout, read_stdin, source_layout
from ...index.catalogue import SyncReport
from ...index.stores.database import SQLITE
from ...model.entries import Task
from ...model.values import as_dict
from ...recall.excerpt import in_brackets, layer_label
from ...recall.inject import Injection, injection_json
from ...recall.relevance import explain_score
from ...recall.scoring import Scored
from ...recall.search import Found, best_results, contributions, snippet
from ...recall.signals import filter_of, question_of
from ...repository import Repository
from ...text.chunks import counted
from ...text.clean import one_line
from .terminal import day, fields_of, note, paint, say, say_either, say_json, tell_nothing, wide

T = TypeVar("T")


# Implement `rawkomem search`: print the memories that fit a question.

MAX_NEAREST = 3  # results to show if none fits


def run_search(
    folder: str,
    arguments: list[str],
    limit: int,
    profile: str,
    explain: bool,
    as_json: bool,
    **which: Any,
) -> None:
    """Search and print the results."""
    repository = Repository.open(folder, layers=True)
    found = repository.search(" ".join(arguments), limit, filter_of(**which), profile)
    repository.core.deepen_in_background()
    if as_json:
        say_json([{**result_json(item), **(score_json(item) if explain else {})} for item in found])
        return
    if found and not any(item.fits for item in found):
        note("no memory fits well; the closest are:")
        found = best_results(found, MAX_NEAREST)
    words = question_of(" ".join(arguments)).query_words
    for number, item in enumerate(found, 1):
        say_result(number, item, words)
        if explain:
            say_score(item)
    if not found:
        tell_nothing(repository, "nothing found")


def result_json(item: Found) -> dict[str, object]:
    """Return a result for JSON."""
    known = fields_of(item.row, "id", "title", "kind", "status", "importance", "vouched", "waiting")
    layer = {"layer": item.layer} if item.layer else {}
    scores = {"score": round(item.score, 4), "relevance": round(item.relevance, 4)}
    return {
        **known,
        **layer,
        **scores,
        "fits": item.fits,
        **fields_of(item.row, "path", "line"),
        "text": item.text,
    }


def say_result(number: int, item: Found, words: tuple[str, ...] = ()) -> None:
    """Print a result: rank, score, title and facts on one line, then the passage that matched."""
    row = item.row
    title = one_line(row.title) or paint(f"(draft) {row.path}", "yellow")
    found = (
        *layer_label(item.layer),
        row.importance,
        day(row.created) if row.created else "",
        row.id,
    )
    said = (*found, "" if row.vouched else "not verified")
    facts = " · ".join(part for part in (*said, "change proposed" if row.waiting else "") if part)
    say(f"{number:2} {item.score:5.2f}  {paint(title, 'bold')}  {paint(facts, 'dim')}")
    say(f"   {snippet(item, words, wide() - 4)}")


def score_json(item: Found) -> dict[str, object]:
    """Return the parts of a result's score for JSON."""
    parts = contributions(item.signals)
    return {"explain": [fields_of(part, "name", "value", "weight", "why") for part in parts]}


def say_score(item: Found) -> None:
    """Print the parts of a result's score."""
    for part in contributions(item.signals):
        share = f"{part.value * part.weight:.3f} = {part.weight:.0%} of {part.value:.2f}"
        say(paint(f"   {share}  {part.name}: {part.why}", "dim"))
    say(
        paint(
            f"   {item.score:.3f} in total; relevance {item.relevance:.2f}: cosine of its closest passage",
            "dim",
        )
    )


# Implement `rawkomem inject`: print the memories that belong in the prompt of a task.

MAX_OMITTED_SHOWN = 20  # omitted memories that --explain lists


def run_inject(
    folder: str, arguments: list[str], agent: str, plan: str, session: str, limit: int | None, min_importance: str,
    budget: int, profile: str, format: str, strict: bool, explain: bool, as_json: bool, **which: Any,
) -> None:  # fmt: skip
    """Print the memories for a task and record their use."""
    text = " ".join(arguments)
    if arguments == ["-"]:
        text = read_stdin(strict=False)
    repository = Repository.open(folder, layers=True)
    task = Task(text, agent, plan, session)
    only = filter_of(**which)
    least = min_importance.lower()
    injection = repository.inject(
        task,
        profile=profile,
        form=format,
        limit=limit,
        min_importance=least,
        budget=budget,
        strict=strict,
        only=only,
    )
    if as_json:
        say_json(injection_json(injection))
    else:
        sys.stdout.write(injection.text)
    repository.note_use(injection, session)
    repository.core.deepen_in_background()
    tell_tight_budget(injection)
    if explain:
        tell_injection(injection)
        if not injection.items and not injection.left_out:
            tell_nothing(repository, "no memory matches this task by words, meaning or condition")


def tell_tight_budget(injection: Injection) -> None:
    """Print a note on stderr if the budget is too small for every relevant memory."""
    over = any(item.out and item.out.code == "over-budget" for item in injection.left_out)
    if over and not injection.items:
        note(
            f"nothing is injected: no memory fits into {injection.budget} tokens; use a larger --budget"
        )


def tell_injection(injection: Injection) -> None:
    """Print on stderr why each memory was injected or omitted; stdout is for the prompt."""

    sys.stderr.write(
        f"profile {injection.profile}: {len(injection.items)} injected, {injection.tokens} tokens\n"
    )
    for item in injection.items:
        sys.stderr.write(f"\nin   {item.score:.3f}  {_scored_title(item)}  {item.memory.id}\n")
        sys.stderr.writelines(f"       {line}\n" for line in explain_score(item))
    for item in injection.left_out[:MAX_OMITTED_SHOWN]:
        sys.stderr.write(f"out  {item.score:.3f}  {_scored_title(item, 60)}: {item.why_not}\n")
    if len(injection.left_out) > MAX_OMITTED_SHOWN:
        sys.stderr.write(
            f"out  {len(injection.left_out) - MAX_OMITTED_SHOWN} more: --json lists them all\n"
        )


def _scored_title(item: Scored, chars: int = 200) -> str:
    return in_brackets(layer_label(item.memory.layer)) + one_line(item.memory.title, chars)


# Implement `rawkomem index sync`, and the progress bar of commands that index.


def run_sync(folder: str, arguments: list[str], deep: bool, source: bool, as_json: bool) -> None:
    """Update the index and print a report."""
    layout = find_layout(folder)
    repository = (
        Repository(source_layout(layout.root), store=SQLITE) if source else Repository(layout)
    )
    report = with_bar(repository.sync, "reading")
    say_sync_report(report, as_json)
    if deep:
        filled = with_bar(repository.store.deepen, "contextual vectors")
        if not as_json:
            say(f"{counted(filled, 'memory')} got contextual vectors")


def with_bar(work: Callable[[Callable[[int, int], None]], T], label: str) -> T:
    """Run long work with a progress bar on stderr if that is a terminal."""
    if not sys.stderr.isatty():
        return work(lambda done, total: None)
    import click  # only at a terminal, where a person does not notice 50 ms

    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:

        def progress(done: int, total: int) -> None:
            bar.length = max(total, 1)
            bar.update(done - bar.pos)

        return work(progress)


def say_sync_report(report: SyncReport, as_json: bool) -> None:
    """Print the report of a sync."""
    said = f"{counted(report.files, 'file')}, {report.read} read, {report.seconds:.2f} s"
    say_either(as_json, as_dict(report), said)
