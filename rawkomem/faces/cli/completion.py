"""Complete ids with titles, tags, kinds, statuses and pages when the user presses Tab."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, add_completion_class

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
BASH_SOURCE = """\
%(complete_func)s() {
    local IFS=$'\\n' line value title
    local -a values=() shown=()
    while IFS= read -r line; do
        [[ $line == plain,* || $line == dir,* || $line == file,* ]] || continue
        [[ $line == dir,* ]] && { COMPREPLY=(); compopt -o dirnames; continue; }
        [[ $line == file,* ]] && { COMPREPLY=(); compopt -o default; continue; }
        line=${line#plain,}; value=${line%%%%$'\\t'*}; title=${line#*$'\\t'}
        values+=("$value")
        [[ $title == "$line" ]] && shown+=("$value") || shown+=("$value  ($title)")
    done < <(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD %(complete_var)s=bash_complete "$1")
    if (( ${#values[@]} == 1 )); then COMPREPLY=("${values[0]}"); else COMPREPLY=("${shown[@]}"); fi
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""
FISH_SOURCE = """\
function %(complete_func)s
    set -lx COMP_WORDS (commandline -cp)
    set -lx COMP_CWORD (commandline -t)
    for line in (env %(complete_var)s=fish_complete %(prog_name)s)
        set -l parts (string split --max 1 , -- $line)
        switch $parts[1]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
            case plain
                echo $parts[2]
        end
    end
end

complete --no-files --keep-order --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


class BashWithTitles(BashComplete):
    """Bash completion that lists ids with their titles and inserts only the id."""

    source_template = BASH_SOURCE

    def format_completion(self, item: CompletionItem) -> str:
        return f"{item.type},{item.value}" + (f"\t{item.help}" if item.help else "")


class FishInOrder(FishComplete):
    """Fish completion that keeps commas in titles and lists the most recently changed memory first."""

    source_template = FISH_SOURCE


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
    counted: dict[str, int] = {}
    for memory in repository.core.inside(None):
        for tag in memory.tags:
            counted[tag] = counted.get(tag, 0) + 1
    return [(tag, count(number, "memory")) for tag, number in sorted(counted.items())]


ListValues = Callable[["Repository"], Iterable[tuple[str, str]]]
Complete = Callable[[click.Context, str], list[CompletionItem]]
# command → parameter → values; "" applies to every command
REPOSITORY_VALUES: dict[str, dict[str, ListValues]] = {
    "": dict.fromkeys(("id", "ids", "other", "old", "new", "related"), ids_with_titles),
    "drafts": {
        "name": drafts_with_titles,
        "names": drafts_with_titles,
        "other": drafts_with_titles,
    },
}
TAG_PARAMETERS = ("tag", "tags", "untag", "wanted")
# (command, parameter) of files and folders that click takes for plain texts
FILE_PARAMETERS = {
    ("skill", "file"),
    ("skill", "directory"),
    ("import", "sources"),
    ("export", "out"),
    ("toc", "out"),
    ("cite", "words"),
}
WORD_PARAMETERS = {"kind": CREATES, "kinds": CREATES, "include": (*STATUSES, "all")}


def enable_completion(command: click.Command, group: str = "") -> None:
    """Let Tab complete the parameters of a command, and of the commands of a group."""
    for parameter in command.params:
        complete = _complete_of(parameter, group or str(command.name))
        if complete:
            setattr(parameter, "shell_complete", complete)  # noqa: B010
    for inner in getattr(command, "commands", {}).values():
        enable_completion(inner, group or str(command.name))


def _complete_of(parameter: click.Parameter, group: str) -> Complete | None:
    """Return the function that completes a parameter, or None if click completes it."""
    if (group, parameter.name) in FILE_PARAMETERS:
        return lambda _, incomplete: [CompletionItem(incomplete, type="file")]
    values = _values_of(parameter, group)
    return _completing(values) if values else None


def _values_of(parameter: click.Parameter, group: str) -> ListValues | None:
    """Return the function that lists the values of a parameter, or None if click completes it."""
    name = str(parameter.name)
    if group == "docs" and name == "page":
        return lambda _: list_docs_pages()
    if group == "feedback" and name == "arguments":
        return ids_with_titles
    if name in TAG_PARAMETERS:
        return tags_with_counts
    if name in WORD_PARAMETERS and not isinstance(parameter.type, click.Choice):
        return lambda _: [(word, "") for word in WORD_PARAMETERS[name]]
    return {**REPOSITORY_VALUES[""], **REPOSITORY_VALUES.get(group, {})}.get(name)


def _completing(values: ListValues) -> Complete:
    def complete(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        folder = str(ctx.find_root().params.get("folder") or "")
        try:
            pairs = [*values(open_repository(folder))]
        except (RawkoError, OSError):
            return []
        words = incomplete.casefold().split()
        starting = [pair for pair in pairs if pair[0].startswith(incomplete)]
        titled = [pair for pair in pairs if all(word in pair[1].casefold() for word in words)]
        found = (starting or titled)[:MAX_ITEMS]
        return [CompletionItem(value, help=one_line(title, TITLE_CHARS)) for value, title in found]

    return complete


add_completion_class(BashWithTitles)
add_completion_class(FishInOrder)
