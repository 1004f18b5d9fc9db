"""Check an entry before it is stored: unusable conditions, a title that exists already, template text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..files.append import RETRY_MS
from ..format.compose import entry_from_text
from ..model.clock import now
from ..model.errors import BadInput
from ..model.kinds import CREATES, GROUPS, RECORDED
from ..model.record import record
from ..text.clean import one_line
from ..text.when import COMMON_HINT, MAX_SHOWN_CHARS, why_too_common, why_unusable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..model.entry import Entry, Memory
    from .core import Core

UNUSABLE, FIRES_ALWAYS, SAME_TITLE, TEMPLATE = "unusable-condition", "fires-always", "same-title", "template-text"
MAX_TITLE_CHARS = 80  # of a title in a message


@record
class Doubt:
    """A reason not to store an entry as it is: a code for programs, a message and a hint."""

    code: str
    message: str
    hint: str
    concerns: str = ""  # the condition, or the id of the memory that has the title


def doubts_about(core: Core, entry: Entry, about: str = "") -> list[Doubt]:
    """Return the doubts about an entry, or about a change of the memory that `about` names."""
    about = about and core.reading.get(about).id
    found = [*unusable_conditions(entry.when)]
    for pattern in entry.when:
        if not why_unusable(pattern) and (said := why_too_common(pattern)):
            found.append(Doubt(FIRES_ALWAYS, said, COMMON_HINT, pattern))
    return [*found, *_same_title(core, entry, about), *_template_text(core, entry)]


def unusable_conditions(patterns: Iterable[str]) -> Iterator[Doubt]:
    """Yield a doubt for each condition that would never fire, fire on everything, or mean something else."""
    for pattern in patterns:
        if note := why_unusable(pattern):
            wrong = note.text.rpartition(": it ")[0] or note.text
            said = f"whenToUse {one_line(pattern, MAX_SHOWN_CHARS)!r} {wrong}"
            yield Doubt(UNUSABLE, said, note.hint, pattern)


def _same_title(core: Core, entry: Entry, about: str) -> Iterator[Doubt]:
    """Yield a doubt if an active memory has this title. Claims and retries of the same text are checked later."""
    if not entry.title.strip() or entry.kind in (*GROUPS, *RECORDED) or "claim" in entry.extra:
        return
    for id in core.read(lambda: core.index.catalogue.titled(entry.title)):
        if id == about:
            continue
        memory = core.reading.get(id)
        if not about and now() - memory.created <= RETRY_MS and _said(memory) == _said(entry):
            continue
        title = one_line(entry.title, MAX_TITLE_CHARS)
        hint = f"change it with 'rawkomem amend {id}', or use another title"
        yield Doubt(SAME_TITLE, f"the memory {id} already has the title {title!r}", hint, id)
        return


def _said(what: Entry | Memory) -> tuple[object, ...]:
    fields = what.by, what.when, what.tags, what.importance, what.related, what.found_in, what.source
    return what.kind, what.body.strip(), *fields


def _template_text(core: Core, entry: Entry) -> Iterator[Doubt]:
    """Yield a doubt if the body is a template, or contains a placeholder line of a shipped template."""
    from ..files.templates import read_templates  # only a write needs it

    kind = entry.kind if entry.kind in CREATES else "memory"
    body, lines = entry.body.strip(), {line.strip() for line in entry.body.split("\n")}
    for is_shipped, text in read_templates(core.layout, kind):
        try:
            template = entry_from_text(text).body.strip()
        except BadInput:  # a broken template of the project: the command that opens it reports this
            continue
        left = [line for line in template.split("\n") if line.strip() and not line.startswith("#")]
        unedited = [line for line in left if line.strip() in lines] if is_shipped else []
        if template and (body == template or unedited):
            shown = one_line(unedited[0] if unedited else left[0], MAX_TITLE_CHARS) if left else "its headings"
            said = f"the text still contains words of the template: {shown!r}"
            yield Doubt(TEMPLATE, said, "replace or remove them")
            return
