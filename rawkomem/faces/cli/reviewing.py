"""Implement `rawkomem review`, `drafts`, `restore` and `supersede`: list what waits for a person's decision, and
decide: one item a screen at a terminal, or by options.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click
from click import Abort, confirm

from ...exchange.sources import place_of
from ...files.layout import read_stdin
from ...format.entries import entry_from_text
from ...format.frontmatter import emit_fields
from ...hosts.person import PERSON, confirmed, discard_typed
from ...model.entries import Draft, Memory
from ...model.errors import BadInput, RawkoError
from ...model.ids import file_stem
from ...model.values import ACTIVE, replace
from ...repository import Repository
from ...repository.beliefs import BOTH, DRAFT, DROP, KEEP, KINDS, PROPOSAL, Waiting
from ...repository.writing import as_one_change
from ...text.chunks import counted
from ...text.clean import one_line
from .adding import RESUME, STORED, answer_stored, write_in_editor
from .answers import Fields
from .declarations import answer, one_of, prints_json, shortened, verb, verbs
from .drafting import DRAFT as DRAFT_FIELDS
from .drafting import DRAFT_HEAD, WHOLE_DRAFT, edit_in_editor, whole_draft
from .listing import claim_line
from .opening import DECIDED, SIDE, author, report_decision
from .options import ALL, BY, LIMIT, REASON, YES
from .terminal import day, name_of, note, paint, say

SETTLE = one_of(
    "settle",
    supersede="Supersede the memory that it contradicts.",
    keep_both="Keep both memories in use and close the conflict.",
)
LIST = "--list >listing: At a terminal: list instead of asking."
# verdicts by which a person vouches for somebody else's words
VOUCHING = ("accept", "activate")
NOTHING_WAITS = "nothing waits for a decision"
REVIEWED = Fields(
    "*memory done",
    "{done:green}  {title:80}{status:mark}  {id:dim}",
    memory=SIDE,
)
WAITING = Fields(" ".join(KINDS))


@verb(
    "review",
    "[ID]",
    REASON,
    BY,
    ALL.but(parameter="most"),
    LIST,
    f"--kind {'|'.join(KINDS)}... >kinds: Only this kind; may be repeated.",
    "--all-from TEXT >place: All memories imported from this format, file or folder.",
    one_of(
        "action",
        activate="Put the memory into use.",
        reject="Archive the memory.",
        accept="Apply the proposed changes of a memory.",
        decline="Discard the proposed changes of a memory.",
        hold="Hold a memory back until a person reviews it.",
    ),
    YES,
    "--change TEXT... >changes: Only this change (the id of its entry); may be repeated.",
    SETTLE,
    WAITING,
    [REVIEWED],
    DECIDED,
)
def review_command(
    repository: Repository, id: str, action: str, place: str, kinds: tuple[str, ...], listing: bool, most: int,
    changes: tuple[str, ...], settle: str, by: str, reason: str, yes: bool, as_json: bool,
) -> None:  # fmt: skip
    """Decide on drafts, proposed changes, conflicts and imports.

    At a terminal, the command shows one item a screen and asks for a key: keep, edit, drop, later, undo or quit.
    Elsewhere it lists the items. Options decide on the memory ID without a question from the list.

    If a person vouches for a memory, agents can only propose changes to it: --accept applies the changes, --decline
    discards them. --activate and --reject decide on a memory in quarantine (held back until a person reviews it) or
    on one side of a conflict. An
    activated claim supersedes the claim that it contradicts if it is trusted as much or if you add --supersede.
    With --keep-both, both memories stay in use. Otherwise the conflict stays open.

    Examples:
      rawkomem review
      rawkomem review ID --activate
      rawkomem review --all-from CLAUDE.md --activate
    """
    verdict = action or ("activate" if settle else "")
    by = author(by)
    if id and place:
        raise BadInput("ID and --all-from exclude each other", "use one of them")
    if not verdict:
        items = _items(repository, id, place, kinds)
        if asks(repository, listing or as_json or bool(most)):
            walk(repository, items, by)
        else:
            _list_items(repository, shortened(items, most), id)
        return
    is_all = bool(place) and verdict in ("activate", "reject")
    if not id and not is_all:
        raise BadInput(
            f"--{action or settle.replace('_', '-')} needs the ID of a memory",
            "add an ID that 'rawkomem review' lists, or --all-from with a format, file or folder",
        )
    if verdict in VOUCHING:
        _ask_to_vouch(repository, id, place, yes)
    if is_all:
        memories = repository.beliefs.review_all(place, verdict, settle, reason, by)
        answer(
            [{"memory": memory, "done": _done(memory, verdict)} for memory in memories],
            REVIEWED,
        )
        return
    if verdict in ("accept", "decline"):
        written = repository.beliefs.decide(
            id, verdict == "accept", changes, reason, by
        )
        done = f"{verdict.removesuffix('e')}ed"
    elif verdict == "hold":
        written, done = [repository.beliefs.quarantine(id, reason, by)], "quarantined"
    else:
        written = repository.beliefs.review(id, verdict, settle, reason, by)
        done = _done(repository.get(id), verdict)
    report_decision(repository, id, written, done, as_json)


def _ask_to_vouch(repository: Repository, id: str, place: str, yes: bool) -> None:
    """Show a person the words that they vouch for, and ask. Raise Abort if they do not."""
    if repository.core.via == PERSON and not yes:
        _list_items(repository, _items(repository, id, place, ()), id)
        if not confirmed("Vouch for this?"):
            raise Abort
    if repository.core.via != PERSON and os.isatty(1):
        note(
            "this counts as an agent's decision; to vouch for the memory yourself, commit it"
        )


def _done(memory: Memory, verdict: str) -> str:
    """Return what a review did. A memory that was not active at its source keeps its status from there."""
    if verdict == "reject":
        return "rejected"
    return "activated" if memory.status == ACTIVE else f"let in as {memory.status}"


# List what waits.


def _items(
    repository: Repository, id: str, place: str, kinds: Sequence[str]
) -> Sequence[Waiting]:
    """Return what waits: everything, or only items of some kinds, of one memory, or of one imported source."""
    items = repository.waiting(kinds)
    if id or place:
        named = [repository.get(id)] if id else repository.beliefs.waiting(place)
        ids = {memory.id for memory in named}
        items = [item for item in items if item.id in ids]
    return items


def _list_items(repository: Repository, items: Sequence[Waiting], id: str) -> None:
    if prints_json():
        groups: dict[str, list[object]] = {kind: [] for kind in KINDS}
        for item in items:
            groups[item.kind].append(waiting_json(repository, item))
        answer(groups, WAITING)
        return
    for item in items:
        say(
            "\n".join(
                _whole_lines(repository, item) if id else _short_lines(repository, item)
            )
        )
    if not items:
        note(f"{id} does not wait for a decision" if id else NOTHING_WAITS)
    elif id:
        words = (
            "--accept' or --decline"
            if items[0].kind == PROPOSAL
            else "--activate' or --reject"
        )
        note(
            f"decide with 'rawkomem review {items[0].id} {words}, --supersede or --keep-both"
        )
    else:
        note(
            "'rawkomem review' at a terminal asks about each; 'rawkomem review ID' shows one"
        )


PROPOSED = Fields(
    "changes differences",
    changes=[Fields("id kind by reason=extra.reason")],
    differences=[Fields("field=0 now=1 proposed=2")],
)


def waiting_json(repository: Repository, item: Waiting) -> dict[str, object]:
    """Return an item that waits, for JSON."""
    if item.draft:
        return DRAFT_FIELDS.json(item.draft)  # type: ignore[no-any-return]
    assert item.memory
    data: dict[str, object] = _side(repository, item.memory)
    if item.other:
        data["other"] = _side(repository, item.other)
        data["says"], data["other_says"] = item.said
    if item.proposal:
        data.update(PROPOSED.json(item.proposal))
    return data


def _side(repository: Repository, memory: Memory) -> dict[str, object]:
    return {
        **SIDE.json(memory),
        "trust": round(repository.beliefs.trust(memory).value, 4),
    }


def _short_lines(repository: Repository, item: Waiting) -> Iterator[str]:
    """Yield an item as a list shows it."""
    if item.draft:
        yield DRAFT_FIELDS.text(item.draft)
        return
    assert item.memory
    head = f"{paint(item.kind, 'yellow')}  {name_of(item.memory)}"
    if item.proposal:
        yield head
        for entry in item.proposal.changes:
            yield f"  {entry.kind} by {one_line(entry.by or 'unknown', 40)}: {one_line(str(entry.extra.get('reason', '')), 100)}"
        for field, now, then in item.proposal.differences:
            yield from _field_diff(field, now, then)
    elif item.other:
        for side, memory, words in (
            (head, item.memory, item.said[0]),
            (f"  against {name_of(item.other)}", item.other, item.said[1]),
        ):
            trust = repository.beliefs.trust(memory).value
            yield f"{side}  {one_line(words or claim_line(memory), 80)}  trust {trust:.2f}"
    else:
        yield f"{head}  {one_line(item.memory.reason, 80)}"


def _whole_lines(repository: Repository, item: Waiting) -> Iterator[str]:
    """Yield an item with its whole text, or with what would change."""
    if item.draft:
        yield whole_draft(repository, item.draft).text(item.draft)
        return
    yield from _short_lines(repository, item)
    for memory in (item.memory, item.other) if not item.proposal else ():
        if memory:
            yield WHOLE_MEMORY.text(memory)


WHOLE_MEMORY = Fields(
    "title body when",
    "\n{title:bold}\n{body:indent}\n{when:200|?  when      %}\n{place:?  from      %}",
    place=lambda memory: place_of(memory.extra),
)


def _field_diff(field: str, now: object, then: object) -> Iterator[str]:
    """Yield the lines that show the change of one field; for a long text, only the lines that differ."""
    old, new = value_lines(now), value_lines(then)
    if len(old) <= 1 and len(new) <= 1:
        yield f"    {field}: {''.join(old) or 'nothing'} → {''.join(new) or 'nothing'}"
        return
    yield f"    {field}:"
    for line in difflib.ndiff(old, new):
        if line[0] in "+-":
            color = "green" if line[0] == "+" else "red"
            yield paint(f"      {line[0]} {one_line(line[2:], 160)}", color)


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
DONE_WORDS = {
    KEEP: "kept",
    DROP: "dropped",
    BOTH: "both kept",
    "edit": "edited",
    "later": "left for later",
}


def asks(repository: Repository, listing: bool) -> bool:
    """Return whether to walk through what waits: a person sits at the terminal and wants no list."""
    return (
        repository.core.via == PERSON
        and not listing
        and sys.stdin.isatty()
        and sys.stdout.isatty()
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
                    str(failure)
                    if isinstance(failure, RawkoError)
                    else "nothing was stored"
                )
        return [what for _, what, _ in self.done]

    def _choices(self, item: Waiting) -> list[str]:
        """Return the keys that work for an item."""
        words = {
            *item.decisions,
            "edit",
            "later",
            "quit",
            *(["undo"] if self.done else []),
        }
        return [key for key, word in KEYS.items() if word in words]

    def _show(self, item: Waiting, choices: list[str]) -> None:
        click.clear()
        when = f", {day(item.at)}" if item.at else ""
        say(paint(f"[{self.at + 1}/{len(self.items)}] {item.kind}{when}", "cyan"))
        say("\n".join(_whole_lines(self.repository, item)))
        if self.message:
            say(paint(self.message, "yellow"))
        keys = []
        for key in choices:
            effect = item.decisions.get(KEYS[key])
            keys.append(
                f"{paint(key, 'bold')} {KEYS[key]}{f' ({effect})' if effect else ''}"
            )
        say(f"\n{'   '.join(keys)}")
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
        self.done.append((self.at, DONE_WORDS[word], undo))
        self.at += 1

    def _decide(self, item: Waiting, word: str) -> Callable[[], object]:
        """Carry out a decision, and return how to undo it."""
        written = self.repository.decide(item, word, by=self.by)
        new = [one.entry.id for one in written if not one.again] or [item.id]
        return lambda: self.repository.undoing.undo(new[0], by=self.by)

    def _edit(self, item: Waiting) -> None:
        """Let the person edit title, text and conditions; a proposal is then decided, another item is shown again."""
        repository = self.repository
        if item.draft:
            changed = edit_in_editor(repository, item.draft)
            self.items[self.at] = Waiting(
                DRAFT, item.id, changed.title, item.at, draft=changed
            )
            return
        memory = item.proposal.proposed if item.proposal else item.memory
        assert memory
        with as_one_change(repository.core):
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
            fresh = [
                one for one in repository.waiting([item.kind]) if one.id == item.id
            ]
            self.items[self.at : self.at + 1] = fresh
            self.message = "" if fresh else "the edited memory no longer waits"


def amend_in_editor(repository: Repository, memory: Memory, by: str) -> str:
    """Let a person edit the title, the conditions and the text of a memory; return the id of the entry."""
    head = emit_fields({"title": memory.title, "whenToUse": [*memory.when]})

    def store(text: str) -> str:
        entry = entry_from_text(text)
        body, when = entry.body.strip(), [*entry.when]
        return repository.amend(
            memory.id, title=entry.title, body=body, when=when, by=by
        ).entry.id

    start = f"---\n{head}---\n\n{memory.body}\n"
    what = f"amend-{file_stem(memory.id)}"
    return write_in_editor(
        repository, what, start, store, f"rawkomem amend {memory.id}"
    )


# Implement `rawkomem drafts`, the daily view of what waits.

MAX_LISTED = 20
CHANGES = (  # the options that change the memory which a draft proposes
    "--title TEXT: A new title.",
    "--text TEXT: A new text.",
    "--when -w TEXT...: Replace the proposed conditions; may be repeated.",
)
KEPT = Fields(
    "draft=draft.id id=stored.id what=stored.outcome.what path=stored.path title=stored.entry.title redacted"
    " corrects=draft.corrects",
    redacted=lambda item: any(one.redacted for one in item["stored"].written),
)
HEAD = DRAFT_FIELDS.but(line=DRAFT_HEAD, nothing="there are no drafts")


@verbs("drafts", bare="list", default="list")
def drafts_command() -> None:
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


@drafts_command.verb(
    "list",
    "--session TEXT: Only drafts of this session (its id or the beginning of the id).",
    LIMIT.but(default=MAX_LISTED, least=0),
    LIST,
    [DRAFT_FIELDS],
)
def drafts_list(
    repository: Repository, session: str, limit: int, listing: bool, as_json: bool
) -> None:
    """Decide on drafts one by one at a terminal; elsewhere, list them.

    Examples:
      rawkomem drafts list
      rawkomem drafts list --session SESSION_ID
    """
    items = [
        item
        for item in repository.waiting([DRAFT])
        if item.draft and item.draft.session.startswith(session)
    ]
    if items and asks(repository, listing or as_json or limit != MAX_LISTED):
        walk(repository, items, author(""))
        return
    answer([item.draft for item in items])
    if items:
        note(
            f"'rawkomem drafts keep {items[0].id}' stores the first as a memory, 'rawkomem drafts drop ID' discards one"
        )


@drafts_command.verb("show", "ID>name", WHOLE_DRAFT)
def drafts_show(repository: Repository, name: str) -> None:
    """Show a draft with its exchange and the memory that it proposes.

    Examples:
      rawkomem drafts show DRAFT
    """
    draft = repository.drafts.get(name)
    answer(draft, whole_draft(repository, draft))


@drafts_command.verb("keep", "ID...>names", *CHANGES, BY, YES, [KEPT])
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
            say(whole_draft(repository, draft).text(draft) + "\n")
        if not confirmed(
            "Keep it?" if len(chosen) == 1 else f"Keep these {len(chosen)}?"
        ):
            raise Abort
    if changed:
        repository.drafts.store.put(chosen)
    kept: list[dict[str, Any]] = [
        {"draft": draft, "stored": repository.drafts.keep(draft.id, by=author(by))}
        for draft in chosen
    ]
    repository.core.follow()
    if as_json:
        answer(kept)
        return
    for one in kept:
        answer_stored(one["stored"])
        for old in one["draft"].corrects:
            _note_corrected(repository, old, one["stored"].id)


def _note_corrected(repository: Repository, old: str, id: str) -> None:
    """Print whether a new memory superseded the memory that it corrects."""
    if not repository.core.holds(old) or old == id:
        return
    memory = repository.get(old)
    if memory.superseded_by == id:
        say(f"  supersedes {name_of(memory)}")
    else:
        note(
            f"a person vouches for {old}: decide with 'rawkomem review {old}' whether it is superseded"
        )


@drafts_command.verb("edit", "ID>name", *CHANGES, RESUME, HEAD)
def drafts_edit(
    repository: Repository,
    name: str,
    title: str,
    text: str,
    when: tuple[str, ...],
    resume: str,
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
    answer(draft, HEAD.done("changed"))


@drafts_command.verb(
    "drop",
    "[ID]...>names",
    "--all >everything: Drop all drafts, after a confirmation.",
    YES,
    [HEAD],
)
def drafts_drop(
    repository: Repository, names: tuple[str, ...], everything: bool, yes: bool
) -> None:
    """Discard drafts.

    'rawkomem learn' does not propose a dropped draft again when it reads the same session.

    Examples:
      rawkomem drafts drop DRAFT
      rawkomem drafts drop --all
    """
    if bool(names) == everything:
        raise BadInput(
            "drop needs either IDs or --all",
            "'rawkomem drafts' lists the drafts with their IDs",
        )
    chosen = repository.drafts.all() if everything else _drafts_named(repository, names)
    if everything and chosen and not yes:
        confirm(f"Drop {counted(len(chosen), 'draft')}?", abort=True, err=True)
    for draft in chosen:
        repository.drafts.drop(draft.id)
    answer(chosen, HEAD.done("dropped"))


def _drafts_named(repository: Repository, names: Sequence[str]) -> list[Draft]:
    """Return the drafts with these ids, each once; raise an error if one of the ids is wrong."""
    drafts = [repository.drafts.get(name) for name in names]
    return [*{draft.id: draft for draft in drafts}.values()]


# Implement `rawkomem restore` and `supersede`.


@verb("restore", "ID", SETTLE, REASON, BY, DECIDED)
def restore_command(
    repository: Repository, id: str, settle: str, reason: str, by: str, as_json: bool
) -> None:
    """Bring back a deleted, archived, disputed or superseded memory.

    It also releases memories that somebody quarantined by hand. Use 'rawkomem review' for memories that wait for
    their first review.

    Examples:
      rawkomem restore ID
    """
    before = repository.get(id)
    written = repository.beliefs.restore(id, settle, reason, author(by))
    newer = f" by {before.superseded_by}" if before.status == "superseded" else ""
    note(
        f"{before.id} was {before.status}{newer}{before.reason and f': {before.reason}'}"
    )
    if repository.get(before.id).status == "quarantined":
        note(f"it still waits for a review: run 'rawkomem review {before.id}'")
    report_decision(repository, id, written, "restored", as_json)


@verb(
    "supersede",
    "[OLD]",
    "[NEW]",
    "--text TEXT: The new version as a text; '-' reads it from standard input.",
    "--title TEXT: With --text: the title. Default: the first line.",
    "--anyway: Supersede even if the new memory is trusted less.",
    REASON,
    BY,
    DECIDED,
    STORED,
)
def supersede_command(
    repository: Repository, old: str, new: str, text: str, title: str, anyway: bool, reason: str, by: str, as_json: bool
) -> None:  # fmt: skip
    """Replace an old memory with a newer one or a text.

    With --text alone, the command finds the memory that the text updates. If a memory says the same thing, the text
    confirms it. If a memory is clearly about the same subject and is not trusted more, the text supersedes it.
    Otherwise the text is stored as a new memory.

    Examples:
      rawkomem supersede OLD NEW --reason 'The port changed'
      rawkomem supersede --text 'The database listens on port 6432 now.'
    """
    if (old and new) if text else not (old and new):
        raise BadInput(
            "name two memories OLD and NEW, or pass --text", "run 'rawkomem list'"
        )
    by = author(by)
    if not text:
        written = repository.beliefs.supersede(old, new, reason, by, anyway)
        report_decision(repository, old, [written], "superseded", as_json)
        return
    entry = entry_from_text(read_stdin() if text == "-" else text)
    first = one_line(entry.body.strip().partition("\n")[0], 100)
    entry = replace(entry, title=title or entry.title or first, by=by)
    with as_one_change(repository.core):
        stored = repository.add(entry, evolve=not old)
        if old:
            repository.beliefs.supersede(old, stored.id, reason, by, anyway=True)
    repository.core.follow()
    answer_stored(stored)
