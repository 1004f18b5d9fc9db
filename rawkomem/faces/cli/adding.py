"""Implement `rawkomem add`, `amend`, `delete`, `purge` and `undo`, and let a person write a text in
$EDITOR.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from click import Abort, ClickException, File, confirm, edit, option, prompt

from ...files.append import Written
from ...files.git_folder import find_git
from ...files.installation import fill_template
from ...files.kept_texts import (
    discard_text,
    find_unsaved,
    keep_text,
    remark_on,
    without_remark,
)
from ...files.layout import read_stdin, read_stream, read_text_file
from ...format.entries import (
    EXTRA_FLAGS,
    KEY_OF_FLAG,
    compose_entry,
    entry_from_note,
    entry_from_text,
)
from ...git.runner import may_hold
from ...hosts.person import PERSON, confirmed, is_piped_by_person
from ...learn.proposed_conditions import with_condition
from ...model.entries import Entry, Memory, Value
from ...model.errors import BadInput, NotFound, RawkoError, WrittenUnseen
from ...model.ids import file_stem
from ...model.values import CREATES, GROUPS, IMPORTANCE, TYPES, replace
from ...repository import Repository
from ...repository.learning import Remembered
from ...repository.undoing import Undone
from ...repository.writing import SAME_TITLE, UNUSABLE, Stored, doubts_about
from ...state.claims import ON_CONFLICT, SCOPES
from ...state.fold import REGISTRY
from ...state.trust import BASE_TRUST
from ...text.acts import APPLIES_KEY, GUARDS, REMIND, guard_of, patterns_given
from ...text.clean import one_line
from .answers import Fields
from .declarations import answer, verb
from .opening import DECIDED, PROPOSED_REMARK, decision
from .options import BY, DRY_RUN, PERSONAL, REASON, YES
from .terminal import complain, name_of, note, on_one_line

T = TypeVar("T")


LATEST = "latest"
RESUME = option(
    "--resume",
    is_flag=False,
    flag_value=LATEST,
    default="",
    metavar="[PATH]",
    help="Reopen a text that was not stored: the latest, or the one in PATH.",
)


def write_in_editor(
    repository: Repository, what: str, template: str, store: Callable[[str], T], again: str, resume: str = ""
) -> T:  # fmt: skip
    """Let a person edit a template or an unsaved text, pass the result to `store`, and return what `store` returns.

    `what` names the purpose of the text; `again` is the command that reopens it with --resume; `resume` is the value of
    that option. The edited file is removed once the text is stored.
    """
    path = unsaved_path(repository, resume, what) or keep_text(
        repository.layout, what, template
    )
    while True:
        try:
            edit(filename=path)
            text = without_remark(read_text_file(path))
            if not text.strip() or (text == template and not resume):
                discard_text(path)
                raise BadInput(
                    "the editor saved no new text, so nothing was stored",
                    "write your text and save the file to store it",
                )
            done = store(text)
            discard_text(path)
            return done
        except WrittenUnseen:
            discard_text(path)
            raise
        except ClickException as failure:
            _keep_unless(path, template, again)
            raise BadInput(
                f"the editor failed, nothing was stored: {failure.format_message()}",
                "set $EDITOR to an editor that works, such as 'nano' or 'code --wait'",
            ) from None
        except RawkoError as failure:
            if not os.path.exists(path):
                raise
            code = complain(failure)
            if repository.core.via != PERSON or not confirmed(
                "Open your text again in the editor?"
            ):
                _keep_unless(path, "", again)
                raise SystemExit(code) from None
            with suppress(BadInput):  # a text that is not UTF-8 stays as it is
                remark_on(path, without_remark(read_text_file(path)), failure.in_full)
            resume = path
        except BaseException:
            _keep_unless(path, template, again)
            raise


def unsaved_path(repository: Repository, resume: str, what: str) -> str:
    """Return the path of the unsaved text that --resume names; empty without --resume."""
    if not resume:
        return ""
    return find_unsaved(repository.layout, "" if resume == LATEST else resume, what)


def _keep_unless(path: str, template: str, again: str) -> None:
    """Print where a text is kept, or remove it if it is still the template."""
    try:
        with open(path, "rb") as stream:
            if template and stream.read() == template.encode():
                discard_text(path)
                return
    except OSError:
        return
    note(f"your text is kept in {path}")
    note(f"to reopen it, run: {again} --resume {shlex.quote(path)}")


# 'rawkomem trace episode' makes episodes
CREATED_KINDS = [kind for kind in CREATES if kind not in GROUPS]
# classes; any other --source is a link or a file
SOURCES = [name for name in BASE_TRUST if name != "unknown"]
OPTIONS = (  # they describe an entry
    "--title TEXT: The title: one line.",
    "--when -w TEXT...: When to use the memory: words, a|b, a pattern or a sentence; may be repeated.",
    f"--applies-to TEXT... >{APPLIES_KEY}: What an agent does when it applies: commands=PATTERN, paths=GLOB or"
    " text=WORDS; may be repeated; 'none' removes all.",
    f"--guard {'|'.join(GUARDS)}: What happens then. A new memory reminds the agent.",
    "--tag -t TEXT... >tags: A tag; may be repeated.",
    f"--type {'|'.join(TYPES)}: The type, which affects the ranking.",
    "--entity TEXT... >entities: A thing that it is about; may be repeated.",
    f"--importance -i {'|'.join(IMPORTANCE)}: The importance. A new memory is medium.",
    BY,
    "--in TEXT >found_in: The task in which it was discovered.",
    "--source TEXT: The source: a link, a file, or a class such as user_explicit.",
    "--related -r TEXT...: The id of a related memory; may be repeated.",
    option("--body", "-b", help="The text; '-' reads it from standard input."),
    option("--file", "-f", "file", type=File("rb"), help="Read the text from a file."),
    "--edit -e: Write the text in $EDITOR.",
    RESUME,
    "--anyway: Store it even if the title is taken or a condition cannot match.",
)
# otherwise "stored"
DONE_WORDS = {
    "corroborated": "confirmed",
    "quarantined": "quarantined",
    "join": "joined",
}
OTHERS_WORDS = {
    "superseded": "supersedes",
    "quarantined": "conflicts with",
    "kept_both": "in use together with",
    "conflict": "in conflict with",
}


REDACTED_REMARK = "secrets in the text were redacted before it was written"
STORED = Fields(
    "what=outcome.what id=outcome.id others=outcome.others reason=outcome.reason about=entry.about path redacted again"
    " why",
    "{done:green}  {id}  {path:dim}\n{others:?  {relation} %}\n"
    "{reason:?  because %: decide with 'rawkomem review'}",
    remarks="{again:?the same text was stored a few minutes ago; nothing was written}\n"
    f"{{redacted:?{REDACTED_REMARK}}}",
    done=lambda stored: (
        "stored already"
        if stored.again
        else DONE_WORDS.get(stored.outcome.what, "stored")
    ),
    relation=lambda stored: OTHERS_WORDS.get(stored.outcome.what),
)
REMEMBERED = Fields(
    "what id others",
    "{what:green}  {id}  {path:?%  |dim}a person said so{others:?  contradicts %: decide with 'rawkomem review'}",
    path=lambda done: done.stored.path if done.stored else "",
)
WRITTEN = Fields(
    "id=entry.id about=entry.about path=entry.path redacted proposed",
    "{done:green}  {about}  {path:dim}",
    remarks=f"{{waits:?{PROPOSED_REMARK}}}\n"
    "{0.again:?the same change was written a few minutes ago; nothing was added}\n"
    f"{{redacted:?{REDACTED_REMARK}}}\n{{restore:?'rawkomem restore %' brings it back}}",
)


@verb(
    "add",
    "[TEXT]...",
    f"--kind -k {'|'.join(CREATED_KINDS)} =memory: The kind of memory.",
    "--claim TEXT: A claim: subject=…,predicate=…,value=… with the value last.",
    option(
        "--exclusive/--no-exclusive",
        default=None,
        help="Whether other values contradict the claim. Default: yes.",
    ),
    f"--scope {'|'.join(SCOPES)}: The scope of the claim. Default: global.",
    "--session TEXT: The session, for a claim of scope session.",
    "--valid-from TEXT: The date or time from which the memory is valid.",
    "--valid-until TEXT: The date or time at which the memory stops being valid.",
    f"--on-conflict {'|'.join(ON_CONFLICT)} ={ON_CONFLICT[0]}: What to do if a contradicting claim is trusted more.",
    "--quote TEXT: A person's words from this session, which the command verifies.",
    *OPTIONS,
    PERSONAL,
    STORED,
    REMEMBERED,
)
def add_command(
    repository: Repository, text: tuple[str, ...], kind: str, on_conflict: str, quote: str, by: str, **options: Any
) -> Any:  # fmt: skip
    """Store a memory.

    The first sentence or line of TEXT becomes the title, the rest becomes the body. Without TEXT, the text comes from
    --body, --file or standard input, or you write it in $EDITOR; it may have frontmatter, which options override.
    Without --title, its first '# Heading' is the title. Secrets are redacted before anything is written.

    If a claim repeats a stored claim, it confirms that claim. If it contradicts a stored claim, it replaces that claim
    or waits for your review. See 'rawkomem docs belief'.

    Examples:
      rawkomem add "Run the tests with pnpm. npm ignores the lock file."
      rawkomem add --title 'Why we chose apsw' --when 'sqlite|database' --body 'It loads extensions.'
      rawkomem add "Never force a push. Others build on these branches." --applies-to 'commands=git push*--force*' --guard deny
      rawkomem add --edit --tag payments
    """
    words = read_stdin() if text == ("-",) else " ".join(text)
    if words and (options["body"] or options["file"]):
        raise BadInput(
            "TEXT cannot be combined with --body or --file", "use one of them"
        )
    unsaved = os.path.basename(unsaved_path(repository, options["resume"], "add"))
    kind = next((one for one in CREATED_KINDS if f"-add-{one}" in unsaved), kind)

    def store(text: str) -> Stored | Remembered:
        is_note = words and not options["title"] and not text.startswith("---\n")
        entry = entry_from_note(text) if is_note else entry_from_text(text)
        entry = compose_entry(entry, kind=kind, by=by, **_fields_of(options))
        entry = with_condition(
            replace(entry, extra={**entry.extra, **_claim_fields(options)})
        )
        if not text.strip() and "claim" not in entry.extra:
            raise BadInput(
                "the memory has no text", "pass TEXT, or --title together with --body"
            )
        allowed = SAME_TITLE if quote else ""
        entry = _undoubted(repository, entry, options["anyway"], allowed=allowed)
        if quote:
            return repository.learning.remember(entry, quote, entry.by)
        return repository.add(entry, on_conflict)

    options["body"] = words or options["body"]
    body = _text_of(options)
    if body is None and (options["resume"] or options["edit"] or sys.stdin.isatty()):
        values = {
            KEY_OF_FLAG[key]: [*value] if isinstance(value, tuple) else value
            for key, value in _fields_of(options).items()
            if key in KEY_OF_FLAG
        }
        template = fill_template(repository.layout, kind, values)
        stored = write_in_editor(
            repository,
            f"add-{kind}",
            template,
            store,
            "rawkomem add",
            options["resume"],
        )
    else:
        stored = store(read_stdin() if body is None else body)
    if isinstance(stored, Remembered):
        return answer(stored, REMEMBERED)
    answer(stored)
    _note_idle_guard(repository, stored.id)
    if (
        stored.entry.when
        and not options["when"]
        and not options["edit"]
        and not stored.again
    ):
        when = "; ".join(stored.entry.when)
        note(
            f"its condition: {when}; to change it: rawkomem amend {stored.id} --when …"
        )
    if repository.core.via != PERSON and is_piped_by_person():
        note(
            "piped text counts as written by an agent; to vouch for it, commit it or pass it as TEXT"
        )
    return None


def _note_idle_guard(repository: Repository, id: str) -> None:
    memory = repository.get(id)
    if guard_of(memory.extra) != REMIND and repository.core.view(
        None
    ).believed.unverified([memory]):
        note("until a person commits it, it only reminds the agent")


@verb(
    "amend",
    "ID",
    *OPTIONS,
    "--untag TEXT...: Remove this tag; may be repeated.",
    option(
        "--tags",
        "all_tags",
        metavar="A,B",
        help="Replace all tags by these; '' removes all.",
    ),
    "--valid-from TEXT: The first date, time or age such as 7d; 'none' removes the limit.",
    "--valid-until TEXT: When it stops being valid; 'none' removes the limit.",
    WRITTEN,
    DECIDED,
)
def amend_command(
    repository: Repository, id: str, untag: tuple[str, ...], all_tags: str | None, valid_from: str, valid_until: str,
    by: str, **options: Any,
) -> Any:  # fmt: skip
    """Change a memory; the earlier text stays as history.

    Only the fields that you name change. --tag adds a tag to those of the memory, --untag removes one, --tags replaces
    all of them. Without options, you edit the text in $EDITOR. 'rawkomem undo' undoes the change.

    Examples:
      rawkomem amend ID --title 'A better title'
      rawkomem amend ID --tag payments --untag billing
      rawkomem amend ID --valid-until 2027-01-01
      rawkomem amend ID --edit
    """
    text = _text_of(options)
    if text is not None and not text.strip():
        raise BadInput("the new text is empty", "pass a text, or no --body and --file")
    has_fields = any(_fields_of(options).values()) or text is not None
    if valid_from or valid_until:
        window = repository.beliefs.validity(id, valid_from, valid_until, "", by)
        if not has_fields:
            return answer(decision(repository, id, [window], "window set"), DECIDED)
    retagged = {}
    if options["tags"] or untag or all_tags is not None:
        tags = _tags_after(repository.get(id), options["tags"], untag, all_tags)
        retagged = {"tags": tags}
    elif sys.stdin.isatty() and not has_fields:
        options["edit"] = True

    def store(text: str) -> Written:
        fields = {**_fields_of(options), **retagged}
        entry = compose_entry(entry_from_text(text), kind="amend", by=by, **fields)
        checked = _undoubted(repository, entry, options["anyway"], id)
        return repository.amend(id, checked, one_by_one=all_tags is None)

    what = f"amend-{file_stem(id)}"
    again = f"rawkomem amend {id}"
    if options["resume"] or options["edit"]:
        body = "" if options["resume"] else repository.get(id).body + "\n"
        written = write_in_editor(
            repository, what, body, store, again, options["resume"]
        )
    else:
        written = store(text or "")
    answered = _answer_written(repository, written, "amended")
    if options["guard"]:
        _note_idle_guard(repository, id)
    return answered


def _text_of(options: dict[str, Any]) -> str | None:
    """Return the text of --file or --body; None if there is neither."""
    if options["file"]:
        return read_stream(options["file"], options["file"].name)
    if options["body"] == "-":
        return read_stdin()
    return None if options["body"] is None else str(options["body"])


def _undoubted(
    repository: Repository,
    entry: Entry,
    anyway: bool,
    about: str = "",
    allowed: str = "",
) -> Entry:
    """Return the entry without unusable conditions. If there are doubts, ask a person; else raise BadInput."""
    doubts = [
        doubt
        for doubt in doubts_about(repository.core, entry, about)
        if doubt.code != allowed
    ]
    if doubts and not anyway:
        first, *others = doubts
        if repository.core.via != PERSON:
            more = f" (and {len(others)} more)" if others else ""
            raise BadInput(
                f"{first.message}{more}: nothing was stored",
                f"{first.hint}; --anyway stores it as it is",
            )
        for doubt in doubts:
            note(f"{on_one_line(doubt.message)} ({doubt.hint})")
        if not confirmed("Store it anyway?"):
            raise BadInput("nothing was stored", first.hint)
    useless = [doubt.concerns for doubt in doubts if doubt.code == UNUSABLE]
    if useless:
        note(f"left out conditions that cannot match: {', '.join(map(repr, useless))}")
    return replace(
        entry, when=tuple(pattern for pattern in entry.when if pattern not in useless)
    )


def _tags_after(
    memory: Memory, added: Sequence[str], removed: Sequence[str], replacing: str | None
) -> tuple[str, ...]:
    """Return the tags of a memory after adding, removing or replacing some; raise BadInput for an unknown tag."""
    if replacing is None:
        tags = memory.tags
    else:
        tags = tuple(filter(None, map(str.strip, replacing.split(","))))
    unknown = [tag for tag in removed if tag not in tags]
    if unknown:
        raise BadInput(
            f"{memory.id} has no tag {unknown[0]!r}",
            f"its tags are: {', '.join(memory.tags) or 'none'}",
        )
    return tuple(tag for tag in dict.fromkeys((*tags, *added)) if tag not in removed)


def _fields_of(options: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that were passed as options."""
    fields = {key: options[key] for key in (*KEY_OF_FLAG, *EXTRA_FLAGS) if options[key]}
    if fields.get("source") in SOURCES:
        del fields["source"]
    if APPLIES_KEY in fields:
        patterns = [one for one in fields[APPLIES_KEY] if one != "none"]
        fields[APPLIES_KEY] = patterns_given(patterns)
    return fields


def _claim_fields(options: dict[str, Any]) -> dict[str, Value]:
    """Return claim, validity window and class of source as frontmatter."""
    fields: dict[str, Value] = {}
    if options["valid_from"]:
        fields["validFrom"] = options["valid_from"]
    if options["valid_until"]:
        fields["validUntil"] = options["valid_until"]
    if options["source"] in SOURCES:
        fields["provenance"] = {"source": options["source"]}
    if options["claim"]:
        claim = _claim_of_text(options["claim"])
        claim |= {key: options[key] for key in ("scope", "session") if options[key]}
        if options["exclusive"] is not None:
            claim["exclusive"] = str(options["exclusive"]).lower()
        fields["claim"] = claim
    return fields


def _claim_of_text(text: str) -> dict[str, Value]:
    """Return `subject=…,predicate=…,value=…` as a claim; everything after `value=` is the value, commas included."""
    head, has_value, value = text.partition("value=")
    parts = [part.partition("=") for part in head.split(",") if part.strip()]
    if not has_value or any(not sign for _, sign, _ in parts):
        raise BadInput(
            f"not a claim: {text!r}", "write subject=user,predicate=timezone,value=UTC"
        )
    return {
        **{key.strip(): word.strip() for key, _, word in parts},
        "value": value,
    }


def _answer_written(
    repository: Repository, written: Written, done: str, restore: str = ""
) -> int:
    about = written.entry.about
    waits = ""
    if repository.core.waits_for_review(written.entry):
        waits = about
        done = "proposed"
        restore = ""
    return answer(
        written, proposed=bool(waits), done=done, waits=waits, restore=restore
    )


@verb(
    "delete",
    "ID",
    "--archive: Take the memory out of use, but keep it in lists of archived memories.",
    REASON,
    BY,
    YES,
    WRITTEN,
    DECIDED,
)
def delete_command(
    repository: Repository,
    id: str,
    archive: bool,
    reason: str,
    by: str,
    yes: bool,
    as_json: bool,
) -> int:
    """Hide or archive a memory; 'rawkomem restore' brings it back.

    The command appends a deletion entry: the memory is no longer listed, found or injected, and its text stays in
    the file. At a terminal, it asks for confirmation; elsewhere and with --yes, ID must be an id or the name of a
    file. 'rawkomem rm' is the same command.

    Examples:
      rawkomem delete ID
      rawkomem delete ID --archive --reason 'The service is gone'
    """
    if not yes and not as_json and sys.stdin.isatty():
        doing = "Archive" if archive else "Delete"
        confirm(f"{doing} {on_one_line(name_of(repository.get(id)))}?", abort=True)
    else:
        _check_named(repository, id, "delete")
    if archive:
        written = repository.beliefs.archive(id, reason, by)
        return answer(decision(repository, id, [written], "archived"), DECIDED)
    written = repository.delete(id, reason, by)
    return _answer_written(repository, written, "deleted", written.entry.about)


PURGED = Fields(
    "id rewritten removed",
    "{rewritten:?rewritten  %}\n{removed:?removed  %}",
    remarks="{0.in_git:?git history still holds the text: change the secret, too}\n{0.sinks:?sinks may have copied the text before:"
    " check the daily log and the receiver of the webhook}",
)


PURGED_TEXT = Fields(
    "removed left",
    "{removed_lines:text}",
    remarks="{0.removed:yes /no record of this machine held the text}\n{0.in_git:?git history was not searched: if a commit holds"
    " the text, change the secret, and rewrite the history if you need to}\n{0.sinks:?sinks may have copied the text before:"
    " check the daily log and the receiver of the webhook}",
    removed=[Fields("place=0 times=1", "removed  {place} ({times})")],
    left=[Fields("path memories")],
)


@verb(
    "purge",
    "[ID]",
    "--text TEXT: Remove a text that is in no memory; '-' asks for it, or reads it from standard input, so that your shell does not record it.",
    YES,
    PURGED,
    PURGED_TEXT,
)
def purge_command(repository: Repository, id: str, text: str, yes: bool) -> Any:
    """Remove a memory's text from all files; this cannot be undone.

    Use it for leaked secrets. The command removes the text from memory files, the index, drafts, prompts, the ledger and
    every other record of this machine, then searches them again and names the files that still hold it. Git history
    keeps the old text: change the secret, and rewrite the history if you need to.

    With --text, it removes a text that never became a memory, such as a prompt or a draft. Only a person may do that.
    It exits with 1 if a file still holds the text.

    Examples:
      rawkomem purge ID
      rawkomem purge --text -
    """
    if bool(id) == bool(text):
        hint = "run 'rawkomem purge ID' or 'rawkomem purge --text -'"
        raise BadInput("pass the id of a memory or --text", hint)
    if text:
        return _purge_text(repository, text, yes)
    if id not in repository.core.finished_purges:
        if yes:
            _check_named(repository, id, "purge")
        else:
            name = on_one_line(name_of(repository.get(id)))
            paths = dict.fromkeys(step.entry.path for step in repository.history(id))
            confirm(
                f"Remove every entry about {name} from {', '.join(paths)} for good?",
                abort=True,
            )
    files = {
        path: repository.core.layout.path(path)
        for path in repository.lifecycle.purge(id)
    }
    rewritten = [path for path, file in files.items() if os.path.exists(file)]
    removed = [path for path in files if path not in rewritten]
    return {
        "id": id,
        "rewritten": rewritten,
        "removed": removed,
        "sinks": repository.settings.sinks.any,
        "in_git": may_hold(repository.layout, files),
    }


def _purge_text(repository: Repository, text: str, yes: bool) -> int:
    """Purge a text that is in no memory, after a person confirms it; return 1 if a file still holds it."""
    if text == "-" and sys.stdin.isatty():
        text = prompt("The text to remove (your input is not shown)", hide_input=True)
    elif text == "-":
        text = read_stdin()
    core = repository.core
    if not yes and (core.via == PERSON or is_piped_by_person()):
        question = "Remove every copy of this text from the records of this machine?"
        if not confirmed(question):
            raise Abort
        core.via = PERSON
    purged = repository.lifecycle.purge_text(text.strip())
    facts = {
        "removed": [*purged.removed.items()],
        "left": purged.left,
        "in_git": find_git(repository.layout.project) is not None,
        "sinks": repository.settings.sinks.any,
    }
    return answer(facts, PURGED_TEXT, code=1 if purged.left else 0)


def _check_named(repository: Repository, name: str, command: str) -> None:
    """Raise BadInput if a name is not an id, its start or end, or a file, which is not enough without a confirmation."""
    try:
        memory = repository.get(name)
    except NotFound:
        return  # a compressed archive may hold it
    id = memory.id
    file = f"/{name.removesuffix('.md')}.md"
    if not (id.startswith(name) or id.endswith(name) or memory.path.endswith(file)):
        raise BadInput(
            f"{name!r} is not the id of a memory, which is needed if nobody is asked",
            f"run: rawkomem {command} {id} --yes",
        )


MAX_SHOWN = 20  # memories or changes that are listed
MAX_TITLES = 3  # of one change in the list
CHANGE = Fields(
    "change=0.name memories=0.memories told=1.told",
    "{change}  {steps:~no file holds its entries}: {titles}",
    "there is no change to undo",
    steps=lambda pair: [*dict.fromkeys(step.told for step in pair[1])],
)


def _told(entry: Entry) -> str:
    return REGISTRY[entry.kind].tell(entry)


UNDONE = Fields(
    "change=change.name dry_run undone=steps entries=plan.entries removed copies",
    "{lines:text}",
    remarks="{copies_lines:text}",
    copies=[Fields(line="its file was not in git; a copy is in {0}")],
    undone=[Fields("entry=entry.id memory=entry.target told")],
    entries=[Fields("memory=target kind told", told=_told)],
)


@verb(
    "undo",
    "[CHANGE]",
    "--list >listing: List the last changes that can be undone.",
    f"--limit -n 0.. ={MAX_SHOWN}: With --list: maximum number of changes; 0 lists all.",
    "--all >everything: Allow a change of more than 50 memories, such as an import.",
    DRY_RUN,
    BY,
    PERSONAL,
    UNDONE,
    [CHANGE],
)
def undo_command(
    repository: Repository, change: str, listing: bool, everything: bool, dry_run: bool, by: str
) -> int:  # fmt: skip
    """Undo the last change made on this machine.

    The command appends entries that reverse the change: it deletes an added memory, restores the earlier text of an
    amended one, and withdraws a vote. A kept draft and a decided proposal wait again. An added memory and a
    proposed change that git does not track are removed from their files, so no commit contains them. Run the command
    again to undo the change before that. CHANGE is a name that --list shows, or that an undo printed: then the undo is
    taken back. A purge cannot be undone.

    Examples:
      rawkomem undo --dry-run
      rawkomem undo
      rawkomem undo --list
    """
    if listing:
        return answer(
            repository.undoing.changes(),
            CHANGE.but(titles=lambda pair: _titles(repository, pair[0])),
        )
    undone = repository.undoing.undo(change, everything, by, dry_run)
    if undone.written:
        back = undone.written[0].entry.id + " --all" * everything
        note(f"to take this back: rawkomem undo {back}")
    lines = _undone_lines(repository, undone, dry_run)
    return answer(undone, dry_run=dry_run, lines=lines)


def _titles(repository: Repository, change: Any) -> str:
    """Return the titles of the first memories of a change."""
    ids = change.memories[:MAX_TITLES]
    memories = repository.core.known(ids)
    titles = [
        repr(one_line(memories[id].title or id, 60)) if id in memories else id
        for id in ids
    ]
    more = len(change.memories) - MAX_TITLES
    return ", ".join(titles) + (f" and {more} more" if more > 0 else "")


def _undone_lines(repository: Repository, undone: Undone, dry_run: bool) -> str:
    """Return a line for each memory: what had happened to it, and what undid that."""
    waits = repository.core.waits_for_review
    proposed = {item.entry.target for item in undone.written if waits(item.entry)}
    lines = []
    word = "would undo" if dry_run else "undone"
    memories = repository.core.known(undone.change.memories[:MAX_SHOWN])
    for id, memory in memories.items():
        steps = ", ".join(step.told for step in undone.steps if step.entry.target == id)
        entries = [one for one in undone.plan.entries if one.target == id]
        back = ", ".join(map(_told, entries))
        if id in undone.removed:
            back = "removed the change"
        done = "proposed" if id in proposed else word
        lines.append(
            f"{done}  {steps or 'nothing'} → {back or 'nothing to do'}  {name_of(memory)}"
        )
    lines += [
        f"undone  created → removed  {id}"
        for id in undone.removed
        if id not in memories
    ]
    lines += [f"{word}  dropped → waits again  {id}" for id in undone.reopened]
    more = len(undone.change.memories) - MAX_SHOWN
    if more > 0:
        lines.append(f"  and {more} more memories")
    if proposed:
        note(
            "a person vouches for the memories marked 'proposed': 'rawkomem review ID --accept' undoes the change"
        )
    return "\n".join(lines)
