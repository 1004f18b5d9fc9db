"""Show drafts that were found in sessions, and let a person edit one."""

from __future__ import annotations

from collections.abc import Sequence

from ...format.entries import entry_from_text
from ...format.frontmatter import emit_fields
from ...learn.drafts import AGENT_LABEL, EVIDENCE_LABEL, exchange_of_draft
from ...model.entries import Draft
from ...model.ids import file_stem
from ...repository import Repository
from ...text.chunks import counted
from ...text.clean import one_line
from .adding import write_in_editor
from .answers import Fields, indented
from .terminal import day, note, wide

MIN_WORDS_CHARS = 40  # of a line of an exchange on a narrow terminal


def end_of(words: str, room: int) -> str:
    """Return the end of an agent's words, because a person usually answers the end."""
    line = one_line(words, len(words) + 1)
    return line if len(line) <= room else f"…{line[1 - room :].partition(' ')[2]}"


def exchange_lines(draft: Draft) -> str:
    """Return the exchange of a draft, each speaker on one line."""
    room = max(MIN_WORDS_CHARS, wide() - 14)
    lines = []
    for label, words in exchange_of_draft(draft):
        shown = end_of(words, room) if label == AGENT_LABEL else one_line(words, room)
        lines.append(f"  {label:10}{shown}")
    return "\n".join(lines)


def _whole_exchange(draft: Draft) -> str:
    parts = []
    for label, words in exchange_of_draft(draft):
        heading = "what happened" if label == EVIDENCE_LABEL else f"the {label} said"
        parts.append(f"{heading}\n{indented(words)}\n")
    return "\n".join(parts)


def _origin(draft: Draft) -> str:
    """Return when, where and by which model a draft was found."""
    model = draft.model and f"found by {draft.model}"
    parts = (day(draft.at) if draft.at else "", draft.host, model)
    return ", ".join(one_line(part, 60) for part in parts if part)


WHEN = "{whenToUse:200|?  when      %}"
SCORE = "  score {score:.1f}{why:120|?: %}{origin:? (%)}"
DRAFT_HEAD = "{id:cyan}  {kind}  {title:wide 30|bold}"
DRAFT = Fields(
    "id kind title text said before score why session host task whenToUse=when tags corrects again at asked model",
    f"{DRAFT_HEAD}\n{{exchange:text}}\n{{proposal:wide 14|?  proposes  %}}\n{WHEN}\n{{corrects:?  corrects  %}}\n{SCORE}\n",
    "there are no drafts: hooks and 'rawkomem learn FILE' find them in sessions",
    exchange=exchange_lines,
    whole_exchange=_whole_exchange,
    proposal=lambda draft: (
        "" if draft.text in (draft.said, draft.title) else draft.text
    ),
    origin=_origin,
)
WHOLE_DRAFT = DRAFT.but(
    line=f"{DRAFT_HEAD}\n\n{{whole_exchange:text}}\n\nthe memory it proposes\n{{text:indent}}\n\n{WHEN}\n{{corrected:text}}\n"
    f"{{session:100|?  session   %}}\n{{task:200|?  task      %}}\n{SCORE}",
)


def whole_draft(repository: Repository, draft: Draft) -> Fields:
    """Return the fields of a draft with its whole exchange and the memories that it corrects."""
    lines = []
    for id in draft.corrects:
        title = (
            repository.get(id).title
            if repository.core.holds(id)
            else "(no longer exists)"
        )
        lines.append(f"  corrects  {one_line(title, 80)}  {one_line(id, 80)}")
    return WHOLE_DRAFT.but(corrected=lambda _: "\n".join(lines))


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


def edit_in_editor(repository: Repository, draft: Draft, resume: str = "") -> Draft:
    """Let a person edit the title, the conditions and the text that a draft proposes; return the changed draft."""
    head = emit_fields({"title": draft.title, "whenToUse": [*draft.when]})
    what = f"draft-{file_stem(draft.id)}"

    def store(text: str) -> Draft:
        entry = entry_from_text(text)
        return repository.drafts.edit(
            draft.id, entry.title, entry.body.strip(), entry.when
        )

    start = f"---\n{head}---\n\n{draft.text}\n"
    return write_in_editor(
        repository, what, start, store, f"rawkomem drafts edit {draft.id}", resume
    )
