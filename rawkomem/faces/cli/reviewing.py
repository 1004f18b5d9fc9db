"""Implement `rawkomem review`, `drafts`, `restore` and `supersede`: list what waits for a person's decision, and
decide: one item a screen at a terminal, or by options.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click
from click import Abort, confirm

from ...exchange.sources import place_of
from ...files.layout import read_stdin
from ...format.entries import entry_from_text
from ...format.frontmatter import emit_fields
from ...hosts.person import PERSON, confirmed, discard_typed
from ...learn.drafts import AGENT_LABEL, EVIDENCE_LABEL, exchange_of_draft
from ...model.entries import Draft, Memory
from ...model.errors import BadInput, RawkoError
from ...model.ids import file_stem
from ...model.values import ACTIVE, replace
from ...redaction.entries import redact_entry
from ...repository import Repository
from ...repository.beliefs import Proposal
from ...repository.learning import NO_GUARD
from ...repository.waiting import (
    BOTH,
    CONFLICT,
    DRAFT,
    DROP,
    JOIN,
    KEEP,
    KINDS,
    MORE,
    PROPOSAL,
    QUARANTINED,
    Waiting,
)
from ...repository.writing import as_one_change
from ...text.acts import ASK, GUARDS
from ...text.chunks import counted
from ...text.clean import one_line
from ...text.difference import Risk, compare, risk_lines, risks_of
from .adding import REDACTED_REMARK, RESUME, STORED, write_in_editor
from .answers import Fields, indented
from .declarations import answer, one_of, prints_json, shortened, verb, verbs
from .opening import DECIDED, SIDE, count_as_agent, decision
from .options import BY, REASON, YES
from .showing import claim_line
from .terminal import day, name_of, note, paint, say, wide

T = TypeVar("T")

MIN_WORDS_CHARS = 40  # of a line of an exchange on a narrow terminal


def end_of(words: str, room: int) -> str:
    """Return the end of an agent's words, because a person usually answers the end."""
    line = one_line(words, len(words) + 1)
    return line if len(line) <= room else f"…{line[1 - room :].partition(' ')[2]}"


def exchange_lines(draft: Draft) -> str:
    """Return the exchange of a draft, each speaker on one line."""
    room = max(MIN_WORDS_CHARS, wide() - 14)
    return "\n".join(
        f"  {label:10}{(end_of if label == AGENT_LABEL else one_line)(words, room)}"
        for label, words in exchange_of_draft(draft)
    )


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


def _risk_text(risks: Iterable[Risk]) -> str:
    """Return a line for each thing that looks dangerous."""
    return "\n".join(f"  {paint(line, 'red')}" for line in risk_lines(risks))


WHEN = """{whenToUse:200|?  when      %}
{appliesTo:200|?  applies   %}{guard:? (said more than once: proposes the guard '%')}"""
SCORE = "  score {score:.1f}{more:?, less sure}{why:120|?: %}{origin:? (%)}"
RISK = Fields("why text")
DRAFT_HEAD = "{id:cyan}  {kind}  {title:wide 30|bold}"
DRAFT_FIELDS = Fields(
    "id kind title text said before score more why session host task whenToUse=when appliesTo=applies guard tags corrects agrees again at asked model risks",
    f"{DRAFT_HEAD}\n{{exchange:text}}\n{{proposal:wide 14|?  proposes  %}}\n{WHEN}\n{{marks:text}}\n{{corrects:?  corrects  %}}\n{{agrees:?  agrees    %}}\n{SCORE}\n",
    "there are no drafts: hooks and 'rawkomem learn FILE' find them in sessions",
    exchange=exchange_lines,
    whole_exchange=_whole_exchange,
    proposal=lambda draft: (
        "" if draft.text in (draft.said, draft.title) else draft.text
    ),
    origin=_origin,
    risks=lambda draft: [*map(RISK.json, risks_of(draft))],
    marks=lambda draft: _risk_text(risks_of(draft)),
)
HEAD = DRAFT_FIELDS.but(line=DRAFT_HEAD)
WHOLE_DRAFT = DRAFT_FIELDS.but(
    line=f"{DRAFT_HEAD}\n\n{{whole_exchange:text}}\n\nthe memory it proposes\n{{text:indent}}\n\n{WHEN}\n{{marks:text}}\n{{corrected:text}}\n"
    f"{{session:100|?  session   %}}\n{{task:200|?  task      %}}\n{SCORE}",
)


def whole_draft(repository: Repository, draft: Draft) -> Fields:
    """Return the fields of a draft with its whole exchange and the memories that it corrects or agrees with."""
    lines = []
    tied = dict.fromkeys(draft.corrects, "corrects")
    if draft.agrees:
        tied[draft.agrees] = "agrees"
    for id, how in tied.items():
        title = "(no longer exists)"
        if repository.core.holds(id):
            title = repository.get(id).title
        lines.append(f"  {how:10}{one_line(title, 80)}  {one_line(id, 80)}")
    return WHOLE_DRAFT.but(corrected=lambda _: "\n".join(lines))


def note_more(count: int) -> None:
    """Print how to see the drafts of which the person is not asked."""
    if count:
        note(f"{counted(count, 'draft')} less sure: 'rawkomem drafts --more' shows all")


def tell_next(new: Sequence[Draft]) -> None:
    """Print what to do with new drafts."""
    drafts = [draft for draft in new if not draft.more]
    note_more(len(new) - len(drafts))
    if drafts:
        number = counted(len(drafts), "new draft")
        note(
            f"{number}, on this machine only: a draft is not committed, searched or injected until you keep it"
        )
        note(
            f"'rawkomem drafts' shows the exchanges, 'rawkomem drafts keep {drafts[0].id}' stores the first as a memory"
        )


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
    "--limit -n 0.. =0 >most: Maximum number of results. Default: all.",
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
) -> int:  # fmt: skip
    """Decide on drafts, proposed changes, conflicts and imports.

    At a terminal, the command shows one item a screen and asks for a key: keep, edit, drop, later, undo or quit.
    Elsewhere it lists the items. Options decide on the memory ID without a question from the list.

    If a person vouches for a memory, agents can only propose changes to it: --accept applies the changes, --decline
    discards them. --activate and --reject decide on a memory in quarantine (held back until a person reviews it) or
    on one side of a conflict. A person vouches for what they activate; nobody vouches for what an agent activates. An
    activated claim supersedes the claim that it contradicts if it is trusted as much or if you add --supersede.
    With --keep-both, both memories stay in use. Otherwise the conflict stays open.

    Examples:
      rawkomem review
      rawkomem review ID --activate
      rawkomem review --all-from CLAUDE.md --activate
    """
    verdict = action or ("activate" if settle else "")
    if id and place:
        raise BadInput("ID and --all-from exclude each other", "use one of them")
    if not verdict:
        items = _items(repository, id, place, kinds)
        if asks(repository, listing or as_json or bool(most)):
            Walk(repository, items, by).run()
        else:
            _list_items(repository, shortened(items, most), id)
        return 0
    is_all = bool(place) and verdict in ("activate", "reject")
    if not id and not is_all:
        raise BadInput(
            f"--{action or settle.replace('_', '-')} needs the ID of a memory",
            "add an ID that 'rawkomem review' lists, or --all-from with a format, file or folder",
        )
    if verdict in VOUCHING:
        _ask_to_vouch(repository, id, place, yes)
    beliefs = repository.beliefs
    if is_all:
        memories = beliefs.review_all(place, verdict, settle, reason, by)
        rows = [{"memory": one, "done": _done(one, verdict)} for one in memories]
        return answer(rows, REVIEWED)
    if verdict in ("accept", "decline"):
        written = beliefs.decide(id, verdict == "accept", changes, reason, by)
        done = f"{verdict.removesuffix('e')}ed"
    elif verdict == "hold":
        written = [beliefs.quarantine(id, reason, by)]
        done = "quarantined"
    else:
        written = beliefs.review(id, verdict, settle, reason, by)
        done = _done(repository.get(id), verdict)
    return answer(decision(repository, id, written, done), DECIDED)


def _ask_to_vouch(repository: Repository, id: str, place: str, yes: bool) -> None:
    """Show a person the words that they vouch for, and ask. Raise Abort if they do not."""
    if yes:
        count_as_agent(repository)
        return
    if repository.core.via != PERSON:
        note(
            "this counts as an agent's decision: no person vouches for the memory until one reviews or commits it"
        )
        return
    items = [*_items(repository, id, place, ())]
    if id and not items:  # a memory in use that nobody vouches for
        memory = repository.get(id)
        items = [Waiting(memory.kind, memory.id, memory.title, 0, memory=memory)]
    for item in items:
        say(waiting_text(repository, item, whole=True))
    if not confirmed("Vouch for this?"):
        raise Abort


def _done(memory: Memory, verdict: str) -> str:
    """Return what a review did. A memory that was not active at its source keeps its status from there."""
    if memory.proposed and memory.status == "quarantined":
        return "proposed"
    if verdict == "reject":
        return "rejected"
    return "activated" if memory.status == ACTIVE else f"let in as {memory.status}"


# kind → the commands that decide on an item
HOW = {
    DRAFT: "'rawkomem drafts keep {id}' or 'rawkomem drafts drop {id}'",
    PROPOSAL: "'rawkomem review {id} --accept' or --decline",
    CONFLICT: "'rawkomem review {id} --supersede', --keep-both or --reject",
    QUARANTINED: "'rawkomem review {id} --activate' or --reject",
}


def _items(
    repository: Repository, id: str, place: str, kinds: Sequence[str]
) -> Sequence[Waiting]:
    """Return what waits: everything, or only items of some kinds, of one memory, or of one imported source."""
    items = repository.waiting(kinds)
    if id and all(item.id != id for item in items):  # no draft: a name of a memory
        id = repository.get(id).id
    if id or place:
        named = repository.beliefs.waiting(place) if place else ()
        ids = {id, *(memory.id for memory in named)}
        items = [item for item in items if item.id in ids]
    return items


def _list_items(repository: Repository, items: Sequence[Waiting], id: str) -> None:
    read = repository.core.read  # once for all items
    if prints_json():
        texts = read(lambda: [waiting_json(repository, one) for one in items])
        pairs = [*zip(items, texts, strict=True)]
        groups = {
            kind: [text for one, text in pairs if one.kind == kind] for kind in KINDS
        }
        answer(groups, WAITING)
        return
    for text in read(
        lambda: [waiting_text(repository, one, whole=bool(id)) for one in items]
    ):
        say(text)
    if not items:
        note(f"{id} does not wait for a decision" if id else NOTHING_WAITS)
    elif id:
        for item in items:
            how = HOW[item.kind]
            if item.other and item.memory and item.memory.status == QUARANTINED:
                how = f"{HOW[QUARANTINED]}, --supersede or --keep-both"
            note(f"decide on the {item.kind} with {how.format(id=item.id)}")
    else:
        note(
            "'rawkomem review' at a terminal asks about each; 'rawkomem review ID' shows one"
        )


MAX_LISTED_CHARS = 400  # of the changes of a field in a list
PROPOSED = Fields(
    "changes differences",
    changes=[
        Fields(
            "id=entry.id kind=entry.kind by=entry.by origin reason=entry.extra.reason",
            "  {kind} by {origin:300}{reason:300|?: %}",
        )
    ],
    differences=[
        Fields("field now proposed risks=compared.risks", risks=[RISK]),
    ],
)
HELD = Fields(
    "*memory trust:round origin risks",
    "{name:text}{0.words:80|?  %}  trust {0.trust:.2f}",
    memory=SIDE,
    risks=[RISK],
    name=lambda side: name_of(side["memory"]),
)
WHOLE_MEMORY = Fields(
    "title body when",
    "\n{title:bold}\n{body:indent}\n{when:200|?  when      %}\n{place:?  from      %}",
    place=lambda memory: place_of(memory.extra),
)


def _sides(repository: Repository, item: Waiting) -> list[dict[str, Any]]:
    """Return the memory that waits, and the one that it contradicts, with their trust and the words in question."""
    beliefs = repository.beliefs
    return [
        {
            "memory": memory,
            "trust": beliefs.trust(memory).value,
            "words": words or claim_line(memory) or memory.reason,
            "origin": beliefs.origins(memory),
            "risks": [] if item.proposal else risks_of(memory),
        }
        for memory, words in zip((item.memory, item.other), item.said, strict=True)
        if memory
    ]


def _proposed(repository: Repository, proposal: Proposal) -> dict[str, Any]:
    """Return the proposed changes with who wrote each, and the fields that they change."""
    origin = repository.beliefs.origin
    changes = [{"entry": one, "origin": origin(one)} for one in proposal.changes]
    differences = [
        {"field": name, "now": old, "proposed": new, "compared": compare(old, new)}
        for name, old, new in proposal.differences
    ]
    return {"changes": changes, "differences": differences}


def _difference_text(change: dict[str, Any], id: str, whole: bool) -> str:
    """Return the change of one field: in full, or its first changes and the command that shows the others."""
    most = 0 if whole else MAX_LISTED_CHARS
    lines = change["compared"].lines(most, f"'rawkomem review {id}' shows all")
    separator = "\n      " if len(lines) > 1 else " "
    return separator.join([f"    {change['field']}:", *lines])


def waiting_json(repository: Repository, item: Waiting) -> Any:
    """Return an item that waits, for JSON."""
    if item.draft:
        return DRAFT_FIELDS.json(item.draft)
    data, *others = map(HELD.json, _sides(repository, item))
    if others:
        data |= {"other": others[0]}
        data["says"], data["other_says"] = item.said
    if item.proposal:
        data |= PROPOSED.json(_proposed(repository, item.proposal))
    return data


def waiting_text(repository: Repository, item: Waiting, whole: bool) -> str:
    """Return an item as a list shows it, or with its whole text. What looks dangerous is always shown."""
    if item.draft:
        fields = whole_draft(repository, item.draft) if whole else DRAFT_FIELDS
        return fields.text(item.draft)
    heads = (f"{paint(item.kind, 'yellow')} ", "  against")
    lines = []
    for head, side in zip(heads, _sides(repository, item), strict=False):
        lines.append(f"{head} {HELD.text(side)}")
        if not item.proposal:
            lines += [
                f"  by {one_line(side['origin'], 300)}",
                _risk_text(side["risks"]),
            ]
            lines += [WHOLE_MEMORY.text(side["memory"])] if whole else []
    if item.proposal:
        proposed = _proposed(repository, item.proposal)
        lines += map(PROPOSED.parts["changes"][0].text, proposed["changes"])
        lines += [
            _difference_text(one, item.id, whole) for one in proposed["differences"]
        ]
    return "\n".join(filter(None, lines))


# The first letter of a word is its key.
DECISION_WORDS = (KEEP, ASK, DROP, JOIN, BOTH, "edit", "later", "undo", MORE, "quit")
ALWAYS = ("edit", "later", "quit")
DONE_WORDS = {
    KEEP: "kept",
    ASK: "kept with a guard that asks",
    DROP: "dropped",
    JOIN: "joined with a memory",
    BOTH: "both kept",
    "edit": "edited",
    "later": "left for later",
}


def asks(repository: Repository, listing: bool) -> bool:
    """Return whether to walk through what waits: a person sits at the terminal and wants no list."""
    is_person = repository.core.via == PERSON and not listing
    return is_person and sys.stdin.isatty() and sys.stdout.isatty()


class Walk:
    """A walk through items."""

    def __init__(self, repository: Repository, items: Sequence[Waiting], by: str):
        self.repository = repository
        self.items = [*items]
        self.by = by
        self.at = 0
        self.message = ""
        # what was done: the position, the decision, and the entry to undo (empty: nothing to undo)
        self.done: list[tuple[int, str, str]] = []

    def run(self) -> None:
        """Ask about each item until all are decided or the person quits; print a summary."""
        if not self.items:
            note(NOTHING_WAITS)
        while self.at < len(self.items):
            item = self.items[self.at]
            possible = {*item.decisions, *ALWAYS, *(["undo"] if self.done else [])}
            possible |= {MORE} if self._others() else set()
            words = [word for word in DECISION_WORDS if word in possible]
            self._show(item, words)
            word = self._ask({word[0]: word for word in words})
            if word == "quit":
                break
            try:
                self._do(item, word)
            except RawkoError as failure:
                self.message = str(failure)
            except SystemExit:
                self.message = "nothing was stored"
        counts = Counter(DONE_WORDS[word] for _, word, _ in self.done)
        if counts:
            say(", ".join(f"{number} {what}" for what, number in counts.items()))
        note_more(len(self._others()))

    def _others(self) -> list[Waiting]:
        """Return the drafts of which the person is not asked and that are not in this walk."""
        ids = {item.id for item in self.items}
        return [one for one in self.repository.waiting([MORE]) if one.id not in ids]

    def _show(self, item: Waiting, words: Sequence[str]) -> None:
        click.clear()
        when = f", {day(item.at)}" if item.at else ""
        say(paint(f"[{self.at + 1}/{len(self.items)}] {item.kind}{when}", "cyan"))
        say(waiting_text(self.repository, item, whole=True))
        if self.message:
            say(paint(self.message, "yellow"))
        keys = {word: f"{paint(word[0], 'bold')} {word}" for word in words}
        lines = [
            f"{keys.pop(word)} ({item.decisions[word]})"
            for word in words
            if word in item.decisions
        ]
        say("\n".join(["", *lines, "   ".join(keys.values())]))
        sys.stdout.flush()
        self.message = ""

    def _ask(self, words: dict[str, str]) -> str:
        """Return the word whose key the person presses. Keys typed before the item was shown do not count."""
        discard_typed()
        while (key := click.getchar().lower()) not in words:
            if key in ("\x03", "\x04"):
                return "quit"
            note(f"press one of {' '.join(words)}")
        return words[key]

    def _do(self, item: Waiting, word: str) -> None:
        """Carry out a decision and go to the next item, or undo the last decision."""
        entry = ""
        if word == "undo":
            self.at, word, entry = self.done.pop()
            if entry:
                self.repository.undoing.undo(entry, by=self.by)
            self.message = f"undone: {DONE_WORDS[word]}"
            return
        if word == MORE:
            others = self._others()
            self.items += others
            self.message = f"{counted(len(others), 'draft')} added at the end"
            return
        if word == "edit":
            entry = self._edit(item)
            if not item.proposal:
                return
        elif word != "later":
            written = self.repository.decide(item, word, by=self.by)
            new = [one.entry.id for one in written if not one.again]
            entry = new[0] if new else item.id
        self.done.append((self.at, word, entry))
        self.at += 1

    def _edit(self, item: Waiting) -> str:
        """Let the person edit title, text and conditions; return the entry of a decided proposal.

        Another item is shown again.
        """
        repository = self.repository
        if item.draft:
            draft = edit_draft(repository, item.draft)
            self.items[self.at] = replace(item, title=draft.title, draft=draft)
            return ""
        memory = item.proposal.proposed if item.proposal else item.memory
        assert memory
        with as_one_change(repository.core):
            written = repository.decide(item, KEEP, by=self.by) if item.proposal else ()
            try:
                entry = self._amend(memory)
            except BaseException:
                if written:
                    repository.undoing.undo(written[0].entry.id, by=self.by)
                raise
        if not item.proposal:
            waiting = repository.waiting([item.kind])
            fresh = [one for one in waiting if one.id == item.id]
            self.items[self.at : self.at + 1] = fresh
            self.message = "" if fresh else "the edited memory no longer waits"
        return entry

    def _amend(self, memory: Memory) -> str:
        def store(title: str, body: str, when: Sequence[str]) -> str:
            written = self.repository.amend(
                memory.id, by=self.by, title=title, body=body, when=[*when]
            )
            return written.entry.id

        command = f"rawkomem amend {memory.id}"
        return edit_words(self.repository, memory, memory.body, store, command)


def edit_words(
    repository: Repository, item: Memory | Draft, text: str, store: Callable[[str, str, Sequence[str]], T], command: str,
    resume: str = "",
) -> T:  # fmt: skip
    """Let a person edit the title, the conditions and the text of an item; return what `store` returns for them."""
    head = emit_fields({"title": item.title, "whenToUse": [*item.when]})

    def read(edited: str) -> T:
        entry = entry_from_text(edited)
        return store(entry.title, entry.body.strip(), entry.when)

    kind = "draft" if isinstance(item, Draft) else "amend"
    start = f"---\n{head}---\n\n{text}\n"
    what = f"{kind}-{file_stem(item.id)}"
    return write_in_editor(repository, what, start, read, command, resume)


def edit_draft(repository: Repository, draft: Draft, resume: str = "") -> Draft:
    """Let a person edit what a draft proposes; return the changed draft."""

    def store(title: str, body: str, when: Sequence[str]) -> Draft:
        return repository.drafts.edit(draft.id, title, body, when)

    command = f"rawkomem drafts edit {draft.id}"
    return edit_words(repository, draft, draft.text, store, command, resume)


MAX_LISTED = 20
CHANGES = (  # the options that change the memory which a draft proposes
    "--title TEXT: A new title.",
    "--text TEXT: A new text.",
    "--when -w TEXT...: Replace the proposed conditions; may be repeated.",
)
KEPT = Fields(
    "draft=draft.id id=stored.id what=stored.outcome.what path=stored.path title=stored.entry.title redacted"
    " corrects=draft.corrects",
    "{text:text}\n{superseded:?  supersedes %}",
    remarks=f"{{redacted:?{REDACTED_REMARK}}}\n"
    "{0.waiting:?a person vouches for %: decide with 'rawkomem review %' whether it is superseded}",
    redacted=lambda item: item["stored"].redacted,
    text=lambda item: STORED.text(item["stored"]),
    superseded=lambda item: [f"{one.title} {one.id}" for one in item["done"]],
)


@verbs("drafts", bare="list", default="list")
def drafts_command() -> None:
    """Decide on drafts from sessions: keep, edit or drop them.

    A draft is something that a person said or agreed to in a session with an agent, or a lesson that 'rawkomem
    lesson distill' proposes. Drafts stay on this machine: they are not committed, searched or injected until you
    keep them. They expire after 30 days.

    At a terminal, the command shows one draft a screen, newest first, with the exchange that it comes from, and asks
    for a key: keep, edit, drop, later, undo or quit. Elsewhere it lists the drafts. For a draft that names a command or
    a file, the key 'ask' keeps it as a guard: the host asks you when an agent does this.

    Examples:
      rawkomem drafts
      rawkomem drafts keep DRAFT
      rawkomem drafts drop DRAFT
    """


@drafts_command.verb(
    "list",
    "--session TEXT: Only drafts of this session (its id or the beginning of the id).",
    f"--limit -n 0.. ={MAX_LISTED}: Maximum number of results.",
    "--more: Also the drafts that are less sure.",
    LIST,
    [DRAFT_FIELDS],
)
def drafts_list(
    repository: Repository, session: str, limit: int, more: bool, listing: bool, by: str, as_json: bool
) -> None:  # fmt: skip
    """Decide on drafts one by one at a terminal; elsewhere, list them.

    Without --more, the command leaves out drafts with weak cues, such as a single wish.

    Examples:
      rawkomem drafts list
      rawkomem drafts list --more
      rawkomem drafts list --session SESSION_ID
    """
    items = [
        item
        for item in repository.waiting([DRAFT, MORE] if more else [DRAFT])
        if item.draft and item.draft.session.startswith(session)
    ]
    if items and asks(repository, listing or as_json or limit != MAX_LISTED):
        Walk(repository, items, by).run()
        return
    answer([item.draft for item in items])
    if items:
        note(
            f"'rawkomem drafts keep {items[0].id}' stores the first as a memory, 'rawkomem drafts drop ID' discards one"
        )
    note_more(0 if more else len(repository.waiting([MORE])))


@drafts_command.verb("show", "ID>draft", WHOLE_DRAFT)
def drafts_show(repository: Repository, draft: str) -> None:
    """Show a draft with its exchange and the memory that it proposes.

    Examples:
      rawkomem drafts show DRAFT
    """
    whole = repository.drafts.get(draft)
    answer(whole, whole_draft(repository, whole))


@drafts_command.verb(
    "keep",
    "ID...>drafts",
    *CHANGES,
    f"--guard {'|'.join((*GUARDS, NO_GUARD))}: What happens when an agent does what the draft names. Default: remind it.",
    one_of(
        "how",
        join="Add the text to the memory that says the same.",
        both="Store it as a memory of its own; those that it corrects or that say the same stay.",
    ),
    BY,
    YES,
    [KEPT],
)
def drafts_keep(
    repository: Repository, drafts: tuple[str, ...], title: str, text: str, when: tuple[str, ...], guard: str, how: str,
    by: str, yes: bool,
) -> Any:  # fmt: skip
    """Turn drafts into memories.

    At a terminal, the command shows each draft and asks, because the memory then counts as written by you. If an
    agent runs it, the memory counts as written by an agent and quotes the person. If the draft corrects a memory,
    the new memory supersedes it; if a person vouches for the corrected memory, an agent can only propose the change.
    If a memory says the same, the draft confirms that memory instead of adding another one.

    If the draft names a command or a file, the memory applies to it: an agent that runs the command or writes the
    file is reminded. With --guard ask or deny, the host asks you or refuses; with --guard none, nothing happens.

    Examples:
      rawkomem drafts keep DRAFT
      rawkomem drafts keep DRAFT --title 'Run tests with pnpm'
      rawkomem drafts keep DRAFT --guard ask
    """
    chosen = _drafts_named(repository, drafts)
    changed = title or text or when
    if changed and len(chosen) > 1:
        raise BadInput(
            "--title, --text and --when work with one draft only",
            "keep the other drafts separately",
        )
    if changed:
        chosen = [repository.drafts.changed(chosen[0].id, title, text, when or None)]
    if yes:
        count_as_agent(repository)
    if repository.core.via == PERSON and not yes:
        for draft in chosen:
            say(whole_draft(repository, draft).text(draft) + "\n")
        if not confirmed(
            "Keep it?" if len(chosen) == 1 else f"Keep these {len(chosen)}?"
        ):
            raise Abort
    if changed:
        repository.drafts.store.put(chosen)
    rows = []
    for draft in chosen:
        stored = repository.drafts.keep(draft.id, by=by, guard=guard, how=how)
        corrects = () if how == BOTH else draft.corrects
        old = repository.get_many([*filter(repository.core.holds, corrects)])
        superseded = [one for one in old if one.superseded_by == stored.id]
        waiting = [
            one.id for one in old if one not in superseded and one.id != stored.id
        ]
        row = {"draft": draft, "stored": stored, "done": superseded, "waiting": waiting}
        rows.append(row)
    return rows


@drafts_command.verb("edit", "ID>draft", *CHANGES, RESUME, HEAD)
def drafts_edit(
    repository: Repository,
    draft: str,
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
        changed = repository.drafts.edit(draft, title, text, when or None)
    else:
        changed = edit_draft(repository, repository.drafts.get(draft), resume)
    answer(changed, HEAD.done("changed"))


@drafts_command.verb(
    "drop",
    "[ID]...>drafts",
    "--all >everything: Drop all drafts, after a confirmation.",
    YES,
    [HEAD],
)
def drafts_drop(
    repository: Repository, drafts: tuple[str, ...], everything: bool, yes: bool
) -> None:
    """Discard drafts; 'rawkomem undo' brings them back until they expire.

    'rawkomem learn' does not propose a dropped draft again when it reads the same session.

    Examples:
      rawkomem drafts drop DRAFT
      rawkomem drafts drop --all
    """
    if bool(drafts) == everything:
        raise BadInput(
            "drop needs either IDs or --all",
            "'rawkomem drafts' lists the drafts with their IDs",
        )
    if everything:
        chosen = repository.drafts.all()
    else:
        chosen = _drafts_named(repository, drafts)
    if everything and chosen and not yes:
        confirm(f"Drop {counted(len(chosen), 'draft')}?", abort=True, err=True)
    if chosen:
        repository.drafts.drop(*(draft.id for draft in chosen))
        note("'rawkomem undo' brings back what you dropped")
    answer(chosen, HEAD.done("dropped"))


def _drafts_named(repository: Repository, names: Sequence[str]) -> list[Draft]:
    """Return the drafts with these ids, each once; raise an error if one of the ids is wrong."""
    drafts = [repository.drafts.get(name) for name in names]
    return [*{draft.id: draft for draft in drafts}.values()]


@verb("restore", "ID", SETTLE, REASON, BY, DECIDED)
def restore_command(
    repository: Repository, id: str, settle: str, reason: str, by: str
) -> Any:
    """Bring back a deleted, archived, disputed or superseded memory.

    It also releases memories that somebody quarantined by hand. Use 'rawkomem review' for memories that wait for
    their first review.

    Examples:
      rawkomem restore ID
    """
    before = repository.get(id)
    written = repository.beliefs.restore(id, settle, reason, by)
    newer = f" by {before.superseded_by}" if before.status == "superseded" else ""
    note(
        f"{before.id} was {before.status}{newer}{before.reason and f': {before.reason}'}"
    )
    if repository.get(before.id).status == "quarantined":
        note(f"it still waits for a review: run 'rawkomem review {before.id}'")
    return decision(repository, id, written, "restored")


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
    repository: Repository, old: str, new: str, text: str, title: str, anyway: bool, reason: str, by: str
) -> Any:  # fmt: skip
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
    if not text:
        written = repository.beliefs.supersede(old, new, reason, by, anyway)
        return decision(repository, old, [written], "superseded")
    entry = redact_entry(entry_from_text(read_stdin() if text == "-" else text))
    first = one_line(entry.body.strip().partition("\n")[0], 100)
    entry = replace(entry, title=title or entry.title or first, by=by)
    with as_one_change(repository.core):
        stored = repository.add(entry, evolve=not old)
        if old:
            repository.beliefs.supersede(old, stored.id, reason, by, anyway=True)
    return answer(stored, STORED)
