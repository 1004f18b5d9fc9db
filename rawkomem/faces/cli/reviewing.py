"""Implement `rawkomem review` and `drafts`: list what waits for a person's decision, and decide: one item
a screen at a terminal, or by options.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click
from click import Abort, Choice, Context, argument, confirm, group, option, pass_context

from ...exchange.sources import place_of
from ...format.entries import entry_from_text
from ...format.frontmatter import emit_fields
from ...hosts.person import PERSON, confirmed, discard_typed
from ...model.entries import Draft, Entry, Memory
from ...model.errors import BadInput, RawkoError
from ...model.ids import file_stem
from ...model.values import ACTIVE
from ...repository import Repository
from ...repository.beliefs import Proposal
from ...repository.waiting import BOTH, CONFLICT, DRAFT, DROP, KEEP, KINDS, PROPOSAL, Waiting
from ...repository.writing import Stored
from ...text.chunks import counted
from ...text.clean import one_line
from .adding import RESUME, say_stored, write_in_editor
from .commands import pass_repository
from .declarations import flag, list_option, one_of, text_option
from .drafting import (
    draft_head,
    draft_json,
    draft_lines,
    edit_in_editor,
    indented,
    title_of,
    whole_draft_lines,
)
from .listing import claim_line
from .opening import author, decided_json, open_repository, report_decision
from .options import ALL, BY, JSON, LIMIT, REASON, YES, together
from .terminal import (
    day,
    fields_of,
    name_of,
    note,
    paint,
    say,
    say_either,
    say_json,
    say_rows,
    shortened,
    wide,
)

SUPERSEDE = flag("--supersede", help="Supersede the memory that it contradicts.")
KEEP_BOTH = flag("--keep-both", help="Keep both memories in use and close the conflict.")
LIST = flag("--list", "listing", help="At a terminal: list instead of asking.")
VOUCHING = ("accept", "activate")  # verdicts by which a person vouches for somebody else's words
PROPOSAL_VERDICTS = {"accept": "accepted", "decline": "declined"}  # on proposed changes
NOTHING_WAITS = "nothing waits for a decision"
MAX_SAID_CHARS = 80  # characters of a sentence in a list


@click.command("review")
@argument("id", required=False)
@together(REASON, BY, ALL, JSON, LIST)
@option(
    "--kind", "kinds", multiple=True, type=Choice(KINDS), help="Only this kind; may be repeated."
)
@text_option(
    "--all-from",
    "place",
    help="All memories imported from this format, file or folder.",
)
@one_of(
    "action",
    activate="Put the memory into use.",
    reject="Archive the memory.",
    accept="Apply the proposed changes of a memory.",
    decline="Discard the proposed changes of a memory.",
    hold="Hold a memory back until a person reviews it.",
)
@YES
@list_option(
    "--change",
    "changes",
    help="Only this change (the id of its entry); may be repeated.",
)
@SUPERSEDE
@KEEP_BOTH
@pass_repository
def review_command(
    repository: Repository, id: str | None, action: str | None, place: str, kinds: tuple[str, ...], listing: bool,
    changes: tuple[str, ...], supersede: bool, keep_both: bool, **how: Any,
) -> None:  # fmt: skip
    """Decide on drafts, proposed changes, conflicts and imports.

    At a terminal, the command shows one item a screen and asks for a key: keep, edit, drop, later, undo or quit.
    Elsewhere it lists the items. Options decide on the memory ID without a question from the list.

    If a person vouches for a memory, agents can only propose changes to it: --accept applies the changes, --decline
    discards them. --activate and --reject decide on a memory in quarantine or on one side of a conflict. An
    activated claim supersedes the claim that it contradicts if it is trusted as much or if you add --supersede.
    With --keep-both, both memories stay in use. Otherwise the conflict stays open.

    Examples:
      rawkomem review
      rawkomem review ID --activate
      rawkomem review --all-from CLAUDE.md --activate
    """
    how_settled = settlement(supersede, keep_both)
    verdict = action or ("activate" if how_settled else "")
    by, reason, as_json = author(how["by"]), how["reason"], how["as_json"]
    if id and place:
        raise BadInput("ID and --all-from exclude each other", "use one of them")
    items = _items(repository, id, place, kinds) if not verdict or verdict in VOUCHING else []
    if not verdict and asks(repository, listing or as_json or bool(how["limit"])):
        walk(repository, items, by)
        return
    vouching = repository.core.via == PERSON and verdict in VOUCHING and (id or place)
    if vouching and not how["yes"]:
        _list_items(repository, items, id, False)
        if not confirmed("Vouch for this?"):
            raise Abort
    if repository.core.via != PERSON and verdict in VOUCHING and os.isatty(1):
        note("this counts as an agent's decision; to vouch for the memory yourself, commit it")
    if not verdict:
        shown = shortened(as_json, items, how["limit"])
        _list_items(repository, shown, id, as_json, f" from {place}" if place else "")
    elif verdict != "hold" and place and verdict not in PROPOSAL_VERDICTS:
        say_rows(
            as_json,
            repository.beliefs.review_all(place, verdict, how_settled, reason, by),
            lambda memory: {**decided_json(memory), "done": _verdict_done(memory, verdict)},
            lambda memory: f"{paint(_verdict_done(memory, verdict), 'green')}  {name_of(memory)}",
        )
    elif not id:
        raise BadInput(
            f"--{action or how_settled.replace('_', '-')} needs the ID of a memory",
            "add an ID that 'rawkomem review' lists, or --all-from with a format, file or folder",
        )
    elif verdict in PROPOSAL_VERDICTS:
        written = repository.beliefs.decide(id, verdict == "accept", changes, reason, by)
        report_decision(repository, id, written, PROPOSAL_VERDICTS[verdict], as_json)
    elif verdict == "hold":
        written = [repository.beliefs.quarantine(id, reason, by)]
        report_decision(repository, id, written, "quarantined", as_json)
    else:
        written = repository.beliefs.review(id, verdict, how_settled, reason, by)
        done = _verdict_done(repository.get(id), verdict)
        report_decision(repository, id, written, done, as_json)


def settlement(supersede: bool, keep_both: bool) -> str:
    """Return how to settle a conflict: 'supersede', 'keep_both' or empty; raise BadInput if both options are set."""
    if supersede and keep_both:
        raise BadInput("--supersede and --keep-both exclude each other", "use one of them")
    return "supersede" if supersede else "keep_both" if keep_both else ""


def _verdict_done(memory: Memory, verdict: str) -> str:
    """Return what a review did. A memory that was not active at its source keeps its status from there."""
    if verdict == "reject":
        return "rejected"
    return "activated" if memory.status == ACTIVE else f"let in as {memory.status}"


# List what waits.


def _items(
    repository: Repository, id: str | None, place: str, kinds: Sequence[str]
) -> Sequence[Waiting]:
    """Return what waits: everything, or only items of some kinds, of one memory, or of one imported source."""
    items = repository.waiting(kinds)
    if id or place:
        named = [repository.get(id)] if id else repository.beliefs.waiting(place)
        ids = {memory.id for memory in named}
        items = [item for item in items if item.id in ids]
    return items


def _list_items(
    repository: Repository, items: Sequence[Waiting], id: str | None, as_json: bool, place: str = ""
) -> None:
    if as_json:
        found: dict[str, list[object]] = {kind: [] for kind in KINDS}
        for item in items:
            found[item.kind].append(waiting_json(repository, item))
        say_json(found)
        return
    for item in items:
        lines = _whole_lines(repository, item) if id else _short_lines(repository, item)
        say("\n".join(lines))
    if not items:
        note(f"{id} does not wait for a decision" if id else f"{NOTHING_WAITS}{place}")
    elif id:
        id = items[0].id
        how = f"'rawkomem review {id} --activate' or 'rawkomem review {id} --reject'"
        if items[0].kind == PROPOSAL:
            how = f"'rawkomem review {id} --accept' or 'rawkomem review {id} --decline'"
        elif items[0].kind == CONFLICT:
            how += ", --supersede or --keep-both"
        note(f"decide with {how}")
    else:
        note("'rawkomem review' at a terminal asks about each; 'rawkomem review ID' shows one")


def waiting_json(repository: Repository, item: Waiting) -> dict[str, object]:
    """Return an item that waits, for JSON."""
    if item.draft:
        return draft_json(item.draft)
    assert item.memory
    trust = round(repository.beliefs.trust(item.memory).value, 4)
    told: dict[str, object] = {**decided_json(item.memory), "trust": trust}
    if item.other:
        other = round(repository.beliefs.trust(item.other).value, 4)
        told["other"] = {**decided_json(item.other), "trust": other}
        told["says"], told["other_says"] = item.said
    if item.proposal:
        told["changes"] = [
            {**fields_of(entry, "id", "kind", "by"), "reason": entry.extra.get("reason", "")}
            for entry in item.proposal.changes
        ]
        told["differences"] = [
            {"field": field, "now": now, "proposed": then}
            for field, now, then in item.proposal.differences
        ]
    return told


def _short_lines(repository: Repository, item: Waiting) -> Iterator[str]:
    """Yield an item as a list shows it."""
    if item.draft:
        yield from draft_lines(item.draft, wide())
        return
    assert item.memory
    head = f"{paint(item.kind, 'yellow')}  {name_of(item.memory)}"
    if item.proposal:
        yield f"{head}  {paint(item.memory.path, 'dim')}"
        yield from _proposal_lines(item.proposal)
    elif item.other:
        sides = (
            (head, item.memory, item.said[0]),
            (f"  against {name_of(item.other)}", item.other, item.said[1]),
        )
        for side, memory, said in sides:
            trust = repository.beliefs.trust(memory).value
            told = one_line(said or claim_line(memory), MAX_SAID_CHARS)
            yield f"{side}  {told}  trust {trust:.2f}"
    else:
        yield f"{head}  {one_line(item.memory.reason, 80)}"


def _whole_lines(repository: Repository, item: Waiting) -> Iterator[str]:
    """Yield an item with its whole text, or with what would change."""
    if item.draft:
        yield from whole_draft_lines(repository, item.draft)
        return
    yield from _short_lines(repository, item)
    for memory in (item.memory, item.other) if not item.proposal else ():
        if memory:
            title = one_line(memory.title, wide())
            yield f"\n{paint(title, 'bold')}\n{indented(memory.body)}"
            yield from (f"  when      {one_line(condition, 200)}" for condition in memory.when)
            yield from (f"  from      {place}" for place in [place_of(memory.extra)] if place)


def _proposal_lines(proposal: Proposal) -> Iterator[str]:
    for entry in proposal.changes:
        yield f"  {entry.kind}{_author_and_reason(entry)}  {paint(entry.id, 'dim')}"
    for field, now, then in proposal.differences:
        yield from (f"    {line}" for line in _field_diff(field, now, then))


def _author_and_reason(entry: Entry) -> str:
    reason = entry.extra.get("reason")
    by = f" by {one_line(entry.by, 40)}" if entry.by else ""
    return by + (f": {one_line(str(reason), 100)}" if reason else "")


def _field_diff(field: str, now: object, then: object) -> Iterator[str]:
    """Yield the lines that show the change of one field; for a long text, only the lines that differ."""
    old, new = value_lines(now), value_lines(then)
    if len(old) <= 1 and len(new) <= 1:
        yield f"{field}: {one_line(''.join(old), 100) or 'nothing'} → {one_line(''.join(new), 100) or 'nothing'}"
        return
    yield f"{field}:"
    for line in difflib.ndiff(old, new):
        if line[0] in "+-":
            color = "green" if line[0] == "+" else "red"
            yield paint(f"  {line[0]} {one_line(line[2:], 160)}", color)


def value_lines(value: object) -> list[str]:
    """Return a value of a memory as lines of text."""
    if isinstance(value, tuple):
        return [one_line(str(item), 160) for item in value]
    return str(value).splitlines() if value not in ("", None) else []


# Walk through what waits: one item a screen, one key for each decision.

KEYS = {
    "k": KEEP,
    "d": DROP,
    "b": BOTH,
    "e": "edit",
    "l": "later",
    "u": "undo",
    "q": "quit",
}
DECIDED = {
    KEEP: "kept",
    DROP: "dropped",
    BOTH: "both kept",
    "edit": "edited",
    "later": "left for later",
}


def asks(repository: Repository, listing: bool) -> bool:
    """Return whether to walk through what waits: a person sits at the terminal and wants no list."""
    return (
        repository.core.via == PERSON and not listing and sys.stdin.isatty() and sys.stdout.isatty()
    )


def walk(repository: Repository, items: Sequence[Waiting], by: str) -> None:
    """Ask a person about each item; print a summary at the end."""
    if not items:
        note(NOTHING_WAITS)
        return
    done = Walk(repository, items, by).run()
    if done:
        say(", ".join(f"{number} {what}" for what, number in Counter(done).items()))


class Walk:
    """A walk through items. `run` asks about each and returns what was done."""

    def __init__(self, repository: Repository, items: Sequence[Waiting], by: str):
        self.repository, self.items, self.by = repository, [*items], by
        self.at = 0
        self.message = ""
        # what was done: the position and the words for it, and how to undo it (None: nothing to undo)
        self.done: list[tuple[int, str, Callable[[], object] | None]] = []

    def run(self) -> list[str]:
        """Ask until all items are decided or the person quits."""
        while self.at < len(self.items):
            item = self.items[self.at]
            choices = self._choices(item)
            self._show(item, choices)
            word = KEYS.get(self._key(choices), "")
            if word == "quit":
                break
            try:
                self._do(item, word)
            except (RawkoError, SystemExit) as failure:
                self.message = (
                    str(failure) if isinstance(failure, RawkoError) else "nothing was stored"
                )
        return [what for _, what, _ in self.done]

    def _choices(self, item: Waiting) -> list[str]:
        """Return the keys that work for an item."""
        words = {*item.decisions, "edit", "later", "quit", *(["undo"] if self.done else [])}
        return [key for key, word in KEYS.items() if word in words]

    def _show(self, item: Waiting, choices: list[str]) -> None:
        click.clear()
        when = f", {day(item.at)}" if item.at else ""
        say(paint(f"[{self.at + 1}/{len(self.items)}] {item.kind}{when}", "cyan"))
        say("\n".join(_whole_lines(self.repository, item)))
        if self.message:
            say(paint(self.message, "yellow"))
        told = (f"{paint(key, 'bold')} {_key_help(item, KEYS[key])}" for key in choices)
        say(f"\n{'   '.join(told)}")
        sys.stdout.flush()
        self.message = ""

    def _key(self, choices: Sequence[str]) -> str:
        """Return the key that the person presses. Keys typed before the item was shown do not count."""
        discard_typed()
        while (key := click.getchar().lower()) not in choices:
            if key in ("\x03", "\x04"):
                return "q"
            note(f"press one of {' '.join(choices)}")
        return key

    def _do(self, item: Waiting, word: str) -> None:
        if word == "undo":
            self.at, what, undo = self.done.pop()
            if undo:
                undo()
            self.message = f"undone: {what}"
        elif word == "edit":
            self._edit(item)
        elif word == "later":
            self._next(word, None)
        else:
            self._next(word, self._decide(item, word))

    def _next(self, word: str, undo: Callable[[], object] | None) -> None:
        self.done.append((self.at, DECIDED[word], undo))
        self.at += 1

    def _decide(self, item: Waiting, word: str) -> Callable[[], object]:
        """Carry out a decision, and return how to undo it."""
        written = self.repository.decide(item, word, by=self.by)
        new = [one.entry.id for one in written if not one.again]
        if new:
            return lambda: self.repository.undoing.undo(new[0], by=self.by)
        return lambda: self.repository.drafts.store.reopen([item.id])

    def _edit(self, item: Waiting) -> None:
        """Let the person edit title, text and conditions; a proposal is then decided, another item is shown again."""
        repository = self.repository
        if item.draft:
            changed = edit_in_editor(repository, item.draft)
            self.items[self.at] = Waiting(DRAFT, item.id, changed.title, item.at, draft=changed)
            return
        memory = item.proposal.proposed if item.proposal else item.memory
        assert memory
        with repository.core.writer.as_one_change():
            written = repository.decide(item, KEEP, by=self.by) if item.proposal else ()
            try:
                entry = amend_in_editor(repository, memory, self.by)
            except BaseException:
                if written:
                    repository.undoing.undo(written[0].entry.id, by=self.by)
                raise
        if item.proposal:
            self._next("edit", lambda: repository.undoing.undo(entry, by=self.by))
        else:
            fresh = [one for one in repository.waiting([item.kind]) if one.id == item.id]
            self.items[self.at : self.at + 1] = fresh
            self.message = "" if fresh else "the edited memory no longer waits"


def amend_in_editor(repository: Repository, memory: Memory, by: str) -> str:
    """Let a person edit the title, the conditions and the text of a memory; return the id of the entry."""
    head = emit_fields({"title": memory.title, "whenToUse": [*memory.when]})

    def store(text: str) -> str:
        entry = entry_from_text(text)
        body, when = entry.body.strip(), [*entry.when]
        return repository.amend(memory.id, title=entry.title, body=body, when=when, by=by).entry.id

    start = f"---\n{head}---\n\n{memory.body}\n"
    what = f"amend-{file_stem(memory.id)}"
    again = f"rawkomem amend {memory.id}"
    return write_in_editor(repository, what, lambda: start, store, again=again)


def _key_help(item: Waiting, word: str) -> str:
    told = item.decisions.get(word)
    return f"{word} ({told})" if told else word


# Implement `rawkomem drafts`, the daily view of what waits.

MAX_LISTED = 20
NO_DRAFTS = "there are no drafts: hooks and 'rawkomem learn FILE' find them in sessions"
PROPOSED = together(  # the options that change the memory which a draft proposes
    text_option("--title", help="A new title."),
    text_option("--text", help="A new text."),
    list_option("--when", "-w", help="Replace the proposed conditions; may be repeated."),
)


@group("drafts", invoke_without_command=True)
@text_option("--session", help="Only drafts of this session (its id or the beginning of the id).")
@LIMIT.but(default=MAX_LISTED)
@together(LIST, JSON)
@pass_context
def drafts_command(ctx: Context, /, session: str, limit: int, listing: bool, as_json: bool) -> None:
    """Decide on drafts from sessions: keep, edit or drop them.

    A draft is something that a person said or agreed to in a session with an agent, or a lesson that 'rawkomem
    lesson distill' proposes. Drafts stay on this machine: they are not committed, searched or injected until you
    keep them. They expire after 30 days.

    At a terminal, the command shows one draft a screen, newest first, with the exchange that it comes from, and asks
    for a key: keep, edit, drop, later, undo or quit. Elsewhere it lists the drafts.

    Examples:
      rawkomem drafts
      rawkomem drafts keep DRAFT
      rawkomem drafts drop DRAFT
    """
    if ctx.invoked_subcommand:
        return
    repository = open_repository(ctx.obj)
    items = [
        item
        for item in repository.waiting([DRAFT])
        if item.draft and item.draft.session.startswith(session)
    ]
    if items and asks(repository, listing or as_json or limit != MAX_LISTED):
        walk(repository, items, author(""))
        return
    found = [item.draft for item in items if item.draft]
    shown = found[:limit]
    if as_json:
        say_json([draft_json(draft) for draft in shown])
    elif shown:
        say("\n\n".join("\n".join(draft_lines(draft, wide())) for draft in shown))
    else:
        note(f"session {session} has no drafts" if session else NO_DRAFTS)
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
        say("\n".join(whole_draft_lines(repository, draft)))


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
            say("\n".join(whole_draft_lines(repository, draft)) + "\n")
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
        draft = edit_in_editor(repository, repository.drafts.get(name), resume)
    say_either(as_json, draft_json(draft), f"{paint('changed', 'green')}  {draft_head(draft)}")


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
        lambda draft: f"{dropped}  {draft_head(draft)}",
        "there are no drafts",
    )


def _drafts_named(repository: Repository, names: Sequence[str]) -> list[Draft]:
    """Return the drafts with these ids, each once; raise an error if one of the ids is wrong."""
    found = [repository.drafts.get(name) for name in names]
    return [*{draft.id: draft for draft in found}.values()]


def _say_corrected(repository: Repository, old: str, stored: Stored) -> None:
    """Print whether a new memory superseded the memory that it corrects."""
    if not repository.core.holds(old) or old == stored.id:
        return
    if repository.get(old).superseded_by == stored.id:
        say(f"  supersedes {title_of(repository, old)}")
    else:
        note(
            f"a person vouches for {old}: decide with 'rawkomem review {old}' whether it is superseded"
        )
