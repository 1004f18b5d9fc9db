"""Implement `rawkomem drafts`: list, keep, edit, merge and drop the drafts that were found in
sessions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from click import Abort, Context, argument, confirm, group, pass_context

from ...format.entries import entry_from_text
from ...format.frontmatter import emit_fields
from ...hosts.person import PERSON, confirmed
from ...learn.drafts import AGENT_LABEL, EVIDENCE_LABEL, exchange_of_draft
from ...model.entries import Draft
from ...model.errors import BadInput
from ...model.ids import file_stem
from ...repository import Repository
from ...repository.writing import Stored
from ...text.chunks import counted
from ...text.clean import one_line
from .adding import RESUME, say_stored, unsaved_path, write_in_editor
from .commands import pass_repository
from .declarations import flag, list_option, text_option
from .opening import author, open_repository
from .options import BY, JSON, LIMIT, YES, together
from .terminal import day, fields_of, note, paint, say, say_either, say_json, say_rows, wide

MAX_LISTED = 20
LABEL_CHARS = 10  # of the column with "agent", "person", "when"
NOTHING_WAITS = "there are no drafts: hooks and 'rawkomem learn FILE' find them in sessions"
MIN_WORDS_CHARS = 40  # of a line of an exchange on a narrow terminal
PROPOSED = together(  # the options that change the memory which a draft proposes
    text_option("--title", help="A new title."),
    text_option("--text", help="A new text."),
    list_option("--when", "-w", help="Replace the proposed conditions; may be repeated."),
)


@group("drafts", invoke_without_command=True)
@text_option("--session", help="Only drafts of this session (its id or the beginning of the id).")
@LIMIT.but(default=MAX_LISTED)
@JSON
@pass_context
def drafts_command(ctx: Context, /, session: str, limit: int, as_json: bool) -> None:
    """List drafts from sessions; keep, edit, merge or drop them.

    A draft is something that a person said or agreed to in a session with an agent, or a lesson that 'rawkomem
    lesson distill' proposes. Drafts stay on this machine: they are not committed, searched or injected until you
    keep them. They expire after 30 days.

    Without a command, it lists the drafts, newest first, with the exchange that each draft comes from.

    Examples:
      rawkomem drafts
      rawkomem drafts keep DRAFT
      rawkomem drafts drop DRAFT
    """
    if ctx.invoked_subcommand:
        return
    found = [
        draft
        for draft in open_repository(ctx.obj).drafts.all()
        if draft.session.startswith(session)
    ]
    shown = found[:limit]
    if as_json:
        say_json([draft_json(draft) for draft in shown])
    elif shown:
        say("\n\n".join("\n".join(_draft_lines(draft, wide())) for draft in shown))
    else:
        note(f"session {session} has no drafts" if session else NOTHING_WAITS)
    if len(found) > limit:
        note(
            f"showing {len(shown)} of {counted(len(found), 'draft')}: --limit {len(found)} shows all"
        )
    if found and not as_json:
        note(
            f"'rawkomem drafts keep {shown[0].id}' stores the first as a memory, 'rawkomem drafts drop ID' discards one"
        )


@drafts_command.command("show")
@argument("name", metavar="ID")
@JSON
@pass_repository
def drafts_show(repository: Repository, name: str, as_json: bool) -> None:
    """Show a draft with its exchange and the memory that it proposes.

    Examples:
      rawkomem drafts show DRAFT
    """
    draft = repository.drafts.get(name)
    if as_json:
        say_json(draft_json(draft))
    else:
        _say_whole(repository, draft)


@drafts_command.command("keep")
@argument("names", metavar="ID...", nargs=-1, required=True)
@PROPOSED
@BY
@YES
@JSON
@pass_repository
def drafts_keep(
    repository: Repository, names: tuple[str, ...], title: str, text: str, when: tuple[str, ...], by: str, yes: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Turn drafts into memories.

    At a terminal, the command shows each draft and asks, because the memory then counts as written by you. If an
    agent runs it, the memory counts as written by an agent and quotes the person. If the draft corrects a memory,
    the new memory supersedes it; if a person vouches for the corrected memory, an agent can only propose the change.

    Examples:
      rawkomem drafts keep DRAFT
      rawkomem drafts keep DRAFT --title 'Run tests with pnpm'
    """
    chosen = _drafts_named(repository, names)
    changed = title or text or when
    if changed and len(chosen) > 1:
        raise BadInput(
            "--title, --text and --when work with one draft only",
            "keep the other drafts separately",
        )
    if changed:
        chosen = [repository.drafts.changed(chosen[0].id, title, text, when or None)]
    if repository.core.via == PERSON and not yes:
        for draft in chosen:
            _say_whole(repository, draft)
            say()
        if not confirmed("Keep it?" if len(chosen) == 1 else f"Keep these {len(chosen)}?"):
            raise Abort
    if changed:
        repository.drafts.store.put(chosen)
    kept = [(draft, repository.drafts.keep(draft.id, by=author(by))) for draft in chosen]
    if as_json:
        repository.core.follow()
        say_json(
            [
                {
                    "draft": draft.id,
                    **fields_of(stored.outcome, "id", "what"),
                    "path": stored.path,
                    "title": stored.entry.title,
                    "redacted": stored.redacted,
                    "corrects": [*draft.corrects],
                }
                for draft, stored in kept
            ]
        )
        return
    for draft, stored in kept:
        say_stored(repository, stored, as_json)
        for old in draft.corrects:
            _say_corrected(repository, old, stored)


@drafts_command.command("edit")
@argument("name", metavar="ID")
@PROPOSED
@RESUME
@JSON
@pass_repository
def drafts_edit(
    repository: Repository,
    name: str,
    title: str,
    text: str,
    when: tuple[str, ...],
    resume: str,
    as_json: bool,
) -> None:
    """Change the title, text or conditions that a draft proposes.

    Without options, the draft opens in $EDITOR. The quoted exchange does not change.

    Examples:
      rawkomem drafts edit DRAFT --when 'tests|pnpm'
    """
    if title or text or when:
        draft = repository.drafts.edit(name, title, text, when or None)
    else:
        draft = _edit_in_editor(repository, repository.drafts.get(name), resume)
    say_either(as_json, draft_json(draft), f"{paint('changed', 'green')}  {_draft_head(draft)}")


@drafts_command.command("merge")
@argument("name", metavar="ID")
@argument("other", metavar="OTHER")
@JSON
@pass_repository
def drafts_merge(repository: Repository, name: str, other: str, as_json: bool) -> None:
    """Merge two drafts into one.

    ID gets the text, the conditions and the exchange of OTHER in addition to its own. OTHER is dropped.

    Examples:
      rawkomem drafts merge DRAFT OTHER_DRAFT
    """
    draft = repository.drafts.merge(name, other)
    say_either(as_json, draft_json(draft), f"{paint('merged', 'green')}  {_draft_head(draft)}")


@drafts_command.command("drop")
@argument("names", metavar="[ID]...", nargs=-1)
@flag("--all", "everything", help="Drop all drafts, after a confirmation.")
@YES
@JSON
@pass_repository
def drafts_drop(
    repository: Repository, names: tuple[str, ...], everything: bool, yes: bool, as_json: bool
) -> None:
    """Discard drafts.

    'rawkomem learn' does not propose a dropped draft again when it reads the same session.

    Examples:
      rawkomem drafts drop DRAFT
      rawkomem drafts drop --all
    """
    if bool(names) == everything:
        raise BadInput(
            "drop needs either IDs or --all", "'rawkomem drafts' lists the drafts with their IDs"
        )
    chosen = repository.drafts.all() if everything else _drafts_named(repository, names)
    if everything and chosen and not yes:
        confirm(f"Drop {counted(len(chosen), 'draft')}?", abort=True, err=True)
    for draft in chosen:
        repository.drafts.drop(draft.id)
    dropped = paint("dropped", "yellow")
    say_rows(
        as_json,
        chosen,
        draft_json,
        lambda draft: f"{dropped}  {_draft_head(draft)}",
        "there are no drafts",
    )


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


def _drafts_named(repository: Repository, names: Sequence[str]) -> list[Draft]:
    """Return the drafts with these ids, each once; raise an error if one of the ids is wrong."""
    found = [repository.drafts.get(name) for name in names]
    return [*{draft.id: draft for draft in found}.values()]


def _draft_head(draft: Draft) -> str:
    title = one_line(draft.title or draft.text, max(MIN_WORDS_CHARS, wide() - 30))
    return f"{paint(draft.id, 'cyan')}  {draft.kind}  {paint(title, 'bold')}"


def _draft_lines(draft: Draft, columns: int) -> Iterator[str]:
    """Yield a draft as a list shows it: each part on one line."""
    yield _draft_head(draft)
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


def _say_whole(repository: Repository, draft: Draft) -> None:
    say(_draft_head(draft))
    for label, words in exchange_of_draft(draft):
        say(
            f"\n{paint('what happened' if label == EVIDENCE_LABEL else f'the {label} said', 'dim')}\n{_indented(words)}"
        )
    say(f"\n{paint('the memory it proposes', 'dim')}\n{_indented(draft.text)}\n")
    for condition in draft.when:
        say(f"  {'when':{LABEL_CHARS}}{one_line(condition, 200)}")
    for old in draft.corrects:
        say(f"  {'corrects':{LABEL_CHARS}}{_title_of(repository, old)}")
    if draft.session:
        say(f"  {'session':{LABEL_CHARS}}{one_line(draft.session, 100)}")
    if draft.task:
        say(f"  {'task':{LABEL_CHARS}}{one_line(draft.task, 200)}")
    say(paint(f"  {_reasons(draft)}", "dim"))


def _indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.strip().splitlines())


def _title_of(repository: Repository, id: str) -> str:
    if not repository.core.holds(id):
        return f"{one_line(id, 80)} (no longer exists)"
    return f"{one_line(repository.get(id).title, 80)}  {paint(id, 'dim')}"


def _say_corrected(repository: Repository, old: str, stored: Stored) -> None:
    """Print whether a new memory superseded the memory that it corrects."""
    if not repository.core.holds(old) or old == stored.id:
        return
    if repository.get(old).superseded_by == stored.id:
        say(f"  supersedes {_title_of(repository, old)}")
    else:
        note(
            f"a person vouches for {old}: decide with 'rawkomem review {old}' whether it is superseded"
        )


def _edit_in_editor(repository: Repository, draft: Draft, resume: str) -> Draft:
    head = emit_fields({"title": draft.title, "whenToUse": [*draft.when]})
    what = f"draft-{file_stem(draft.id)}"

    def store(text: str) -> Draft:
        entry = entry_from_text(text)
        return repository.drafts.edit(draft.id, entry.title, entry.body.strip(), entry.when)

    start = f"---\n{head}---\n\n{draft.text}\n"
    return write_in_editor(
        repository, what, lambda: start, store, unsaved_path(repository, resume, what)
    )
