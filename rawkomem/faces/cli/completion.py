"""Complete ids with titles, tags, kinds, statuses and pages when the user presses Tab."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial

import click
from click.shell_completion import CompletionItem

from ...files.installation import list_docs_pages
from ...model.errors import RawkoError
from ...model.filters import Filter
from ...model.values import CREATES, STATUSES
from ...repository import Repository
from ...text.chunks import counted as count
from ...text.clean import one_line
from .opening import open_repository

MAX_ITEMS = 100
TITLE_CHARS = 60


def ids_with_titles(repository: Repository) -> Iterable[tuple[str, str]]:
    """Return (id, title) of every memory, most recently changed first."""
    return [
        (row.id, row.title)
        for row in repository.core.rows(Filter(statuses=tuple(STATUSES), current=False))
    ]


def drafts_with_titles(repository: Repository) -> Iterable[tuple[str, str]]:
    """Return (id, title) of every draft."""
    return [(draft.id, draft.title) for draft in repository.drafts.all()]


def tags_with_counts(repository: Repository) -> Iterable[tuple[str, str]]:
    """Return every tag with the number of memories that have it."""
    counted = Counter(
        tag for memory in repository.core.inside(None) for tag in memory.tags
    )
    return [(tag, count(number, "memory")) for tag, number in sorted(counted.items())]


ListValues = Callable[[Repository], Iterable[tuple[str, str]]]
ID_PARAMETERS = ("id", "ids", "other", "old", "new", "related")
DRAFT_PARAMETERS = ("name", "names", "other")
TAG_PARAMETERS = ("tag", "tags", "untag", "wanted")
WORD_PARAMETERS = {"kind": CREATES, "kinds": CREATES, "include": (*STATUSES, "all")}


def enable_completion(command: click.Command, group: str = "") -> None:
    """Let Tab complete the parameters of a command, and of the commands of a group."""
    group = group or str(command.name)
    for parameter in command.params:
        values = _values_of(parameter, group)
        if values:
            setattr(parameter, "shell_complete", partial(_complete, values))  # noqa: B010
    for inner in getattr(command, "commands", {}).values():
        enable_completion(inner, group)


def _values_of(parameter: click.Parameter, group: str) -> ListValues | None:
    """Return the function that lists the values of a parameter, or None if click completes it."""
    name = str(parameter.name)
    if group == "docs" and name == "page":
        return lambda _: list_docs_pages()
    if name in TAG_PARAMETERS:
        return tags_with_counts
    if name in WORD_PARAMETERS and not isinstance(parameter.type, click.Choice):
        return lambda _: [(word, "") for word in WORD_PARAMETERS[name]]
    if group == "drafts" and name in DRAFT_PARAMETERS:
        return drafts_with_titles
    is_id = name in ID_PARAMETERS or (group == "feedback" and name == "arguments")
    return ids_with_titles if is_id else None


def _complete(
    values: ListValues, ctx: click.Context, incomplete: str
) -> list[CompletionItem]:
    """Return the values that start with `incomplete`; if there are none, those whose titles have its words."""
    folder = str(ctx.find_root().params.get("folder") or "")
    try:
        pairs = [*values(open_repository(folder))]
    except (RawkoError, OSError):
        return []
    words = incomplete.casefold().split()
    starting = [pair for pair in pairs if pair[0].startswith(incomplete)]
    titled = [
        pair for pair in pairs if all(word in pair[1].casefold() for word in words)
    ]
    found = (starting or titled)[:MAX_ITEMS]
    return [
        CompletionItem(value, help=one_line(title, TITLE_CHARS))
        for value, title in found
    ]
