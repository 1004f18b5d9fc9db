"""Show drafts that were found in sessions, and let a person edit one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...format.entries import entry_from_text
from ...format.frontmatter import emit_fields
from ...learn.drafts import AGENT_LABEL, EVIDENCE_LABEL, exchange_of_draft
from ...model.entries import Draft
from ...model.ids import file_stem
from ...repository import Repository
from ...text.chunks import counted
from ...text.clean import one_line
from .adding import unsaved_path, write_in_editor
from .terminal import day, fields_of, note, paint, wide

LABEL_CHARS = 10  # of the column with "agent", "person", "when"
MIN_WORDS_CHARS = 40  # of a line of an exchange on a narrow terminal


def draft_json(draft: Draft) -> dict[str, Any]:
    """Return a draft for JSON."""
    return {
        **fields_of(draft, "id", "kind", "title", "text", "said", "before", "score", "why"),
        **fields_of(draft, "session", "host", "task"),
        "whenToUse": [*draft.when],
        "tags": [*draft.tags],
        "corrects": [*draft.corrects],
        "again": [*draft.again],
        **fields_of(draft, "at", "asked", "model"),
    }


def tell_next(drafts: Sequence[Draft]) -> None:
    """Print what to do with new drafts."""
    if drafts:
        made = counted(len(drafts), "new draft")
        note(
            f"{made}, on this machine only: a draft is not committed, searched or injected until you keep it"
        )
        note(
            f"'rawkomem drafts' shows the exchanges, 'rawkomem drafts keep {drafts[0].id}' stores the first as a memory"
        )


def end_of(words: str, room: int) -> str:
    """Return the end of an agent's words, because a person usually answers the end."""
    line = one_line(words, len(words) + 1)
    return line if len(line) <= room else f"…{line[1 - room :].partition(' ')[2]}"


def draft_head(draft: Draft) -> str:
    """Return the id, the kind and the title of a draft as a line."""
    title = one_line(draft.title or draft.text, max(MIN_WORDS_CHARS, wide() - 30))
    return f"{paint(draft.id, 'cyan')}  {draft.kind}  {paint(title, 'bold')}"


def draft_lines(draft: Draft, columns: int) -> Iterator[str]:
    """Yield a draft as a list shows it: each part on one line."""
    yield draft_head(draft)
    room = max(MIN_WORDS_CHARS, columns - LABEL_CHARS - 4)
    parts = [*exchange_of_draft(draft)]
    if draft.text.strip() not in ("", draft.said.strip(), draft.title.strip()):
        parts.append(("proposes", draft.text))
    if draft.when:
        parts.append(("when", "; ".join(draft.when)))
    if draft.corrects:
        parts.append(("corrects", ", ".join(draft.corrects)))
    for label, words in parts:
        yield f"  {label:{LABEL_CHARS}}{end_of(words, room) if label == AGENT_LABEL else one_line(words, room)}"
    yield paint(f"  {_reasons(draft)}", "dim")


def _reasons(draft: Draft) -> str:
    """Return the score of a draft with its reasons, and the origin of the draft."""
    found_by = draft.model and f"found by {one_line(draft.model, 40)}"
    origin = ", ".join(
        part
        for part in (day(draft.at) if draft.at else "", one_line(draft.host, 40), found_by)
        if part
    )
    why = f": {one_line(draft.why, 120)}" if draft.why else ""
    return f"score {draft.score:.1f}{why}{f' ({origin})' if origin else ''}"


def whole_draft_lines(repository: Repository, draft: Draft) -> Iterator[str]:
    """Yield a draft with its whole exchange and the memory that it proposes."""
    yield draft_head(draft)
    for label, words in exchange_of_draft(draft):
        heading = "what happened" if label == EVIDENCE_LABEL else f"the {label} said"
        yield f"\n{paint(heading, 'dim')}\n{indented(words)}"
    yield f"\n{paint('the memory it proposes', 'dim')}\n{indented(draft.text)}\n"
    facts = [("when", one_line(condition, 200)) for condition in draft.when]
    facts += [("corrects", title_of(repository, old)) for old in draft.corrects]
    facts += [("session", one_line(draft.session, 100)), ("task", one_line(draft.task, 200))]
    yield from (f"  {name:{LABEL_CHARS}}{text}" for name, text in facts if text)
    yield paint(f"  {_reasons(draft)}", "dim")


def indented(text: str) -> str:
    """Return a text with two spaces before each line."""
    return "\n".join(f"  {line}".rstrip() for line in text.strip().splitlines())


def title_of(repository: Repository, id: str) -> str:
    """Return the title and the id of a memory that a draft corrects."""
    if not repository.core.holds(id):
        return f"{one_line(id, 80)} (no longer exists)"
    return f"{one_line(repository.get(id).title, 80)}  {paint(id, 'dim')}"


def edit_in_editor(repository: Repository, draft: Draft, resume: str = "") -> Draft:
    """Let a person edit the title, the conditions and the text that a draft proposes; return the changed draft."""
    head = emit_fields({"title": draft.title, "whenToUse": [*draft.when]})
    what = f"draft-{file_stem(draft.id)}"

    def store(text: str) -> Draft:
        entry = entry_from_text(text)
        return repository.drafts.edit(draft.id, entry.title, entry.body.strip(), entry.when)

    start = f"---\n{head}---\n\n{draft.text}\n"
    unsaved, again = unsaved_path(repository, resume, what), f"rawkomem drafts edit {draft.id}"
    return write_in_editor(repository, what, lambda: start, store, unsaved, again)
