"""Implement `rawkomem add`, `amend`, `delete`, `purge` and `undo`, and let a person write a text in
$EDITOR.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import click
from click import (
    Choice,
    ClickException,
    File,
    argument,
    command,
    confirm,
    edit,
    get_current_context,
    option,
    pass_obj,
)

from ...files.append import Written
from ...files.installation import fill_template
from ...files.kept_texts import discard_text, find_unsaved, keep_text, remark_on, without_remark
from ...files.layout import read_stdin, read_stream, read_text_file
from ...format.entries import (
    EXTRA_FLAGS,
    KEY_OF_FLAG,
    compose_entry,
    entry_from_note,
    entry_from_text,
)
from ...git.runner import user_name
from ...hosts.person import PERSON, confirmed, is_piped_by_person
from ...learn.cues import with_condition
from ...model.entries import Change, Entry, Memory, Value
from ...model.errors import BadInput, NotFound, RawkoError, WrittenUnseen
from ...model.ids import file_stem
from ...model.values import CREATES, GROUPS, IMPORTANCE, TYPES, as_dict, replace
from ...repository import Repository
from ...repository.beliefs import Undone
from ...repository.learning import Remembered
from ...repository.writing import SAME_TITLE, UNUSABLE, Doubt, Stored, doubts_about
from ...state.claims import ON_CONFLICT, SCOPES
from ...state.fold import REGISTRY
from ...state.history import Step
from ...state.trust import BASE_TRUST
from ...text.chunks import counted
from ...text.clean import one_line
from .commands import pass_repository
from .declarations import flag, list_option, text_option
from .opening import author, open_personal, open_repository, report_decision
from .options import BY, DRY_RUN, JSON, LIMIT, PERSONAL, REASON, YES, together
from .terminal import (
    complain,
    done_line,
    fields_of,
    name_of,
    note,
    on_one_line,
    paint,
    say,
    say_either,
    say_json,
    say_rows,
    shortened,
)

U = TypeVar("U")
T = TypeVar("T")


# Let a person write a text in $EDITOR and store it. A rejected text is kept in a file and can be
# reopened.

LATEST = "latest"
RESUME = option(
    "--resume",
    is_flag=False,
    flag_value=LATEST,
    default="",
    metavar="[PATH]",
    help="Reopen a text that was not stored: the latest, or the one in PATH.",
)
NOTHING_SAVED = "the editor saved no new text, so nothing was stored"
SAVE_HINT = "write your text and save the file to store it"


def write_in_editor(
    repository: Repository,
    what: str,
    template: Callable[[], str],
    store: Callable[[str], U],
    resume: str = "",
    again: str = "",
) -> U:
    """Let a person edit a template or an unsaved text, pass the result to `store`, and return what `store` returns.

    `what` names the purpose of the text; `resume` is the path of an unsaved text; `again` is the command that takes
    --resume, if it is not the running one. The edited file is removed once the text is stored.
    """
    start = None if resume else template()
    path = resume or keep_text(repository.layout, what, start or "")
    while True:
        _run_editor(path, start, again)
        try:
            text = without_remark(read_text_file(path))
            if text == start or not text.strip():
                discard_text(path)
                raise BadInput(NOTHING_SAVED, SAVE_HINT)
            done = store(text)
        except WrittenUnseen:
            discard_text(path)
            raise
        except RawkoError as failure:
            if not os.path.exists(path):
                raise
            _offer_again(repository, path, failure, again)
            start = None
        except BaseException:
            _tell_kept(path, again)
            raise
        else:
            discard_text(path)
            return done


def unsaved_path(repository: Repository, given: str, what: str) -> str:
    """Return the path of the unsaved text that --resume names; empty without --resume."""
    return find_unsaved(repository.layout, "" if given == LATEST else given, what) if given else ""


def _run_editor(path: str, start: str | None, again: str) -> None:
    """Run the editor on a file. If it fails, print the file's path, or remove a file that still holds the template."""
    try:
        edit(filename=path)
    except BaseException as failure:
        if start is None or _bytes_of(path) != start.encode("utf-8", "replace"):
            _tell_kept(path, again)
        else:
            discard_text(path)
        if not isinstance(failure, ClickException):
            raise
        raise BadInput(
            f"the editor failed, nothing was stored: {failure.format_message()}",
            "set $EDITOR to an editor that works, such as 'nano' or 'code --wait'",
        ) from None


def _offer_again(repository: Repository, path: str, failure: RawkoError, again: str) -> None:
    """Print why a text was rejected. Return if a person wants to edit it again; else print its path and exit."""
    code = complain(failure)
    if repository.core.via != PERSON or not confirmed("Open your text again in the editor?"):
        _tell_kept(path, again)
        raise SystemExit(code)
    try:
        text = without_remark(read_text_file(path))
    except BadInput:  # not UTF-8: reopen the file without a remark
        return
    remark_on(path, text, failure.in_full)


def _tell_kept(path: str, again: str) -> None:
    note(f"your text is kept in {path}")
    command = f"{again} --resume {shlex.quote(path)}" if again else _resume_command(path)
    note(f"to reopen it, run: {command}")


def _resume_command(path: str) -> str:
    """Return the command line of this process with the option --resume."""
    words = [
        word
        for word in sys.argv[1:]
        if word not in ("--edit", "-e") and not word.startswith("--resume=")
    ]
    if "--resume" in words:
        at = words.index("--resume")
        has_value = words[at + 1 : at + 2] and not words[at + 1].startswith("-")
        del words[at : at + 2 if has_value else at + 1]
    return shlex.join(["rawkomem", *words, "--resume", path])


def _bytes_of(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return b""


# Implement `rawkomem add`, `amend`, `delete` and `purge`.

CREATED_KINDS = [
    kind for kind in CREATES if kind not in GROUPS
]  # 'rawkomem trace episode' makes episodes
SOURCES = [
    name for name in BASE_TRUST if name != "unknown"
]  # classes; any other --source is a link or a file
TEMPLATE_KEYS = {"title": "title", "when": "whenToUse", "tags": "tags", "importance": "importance"}
fields = together(  # the options that describe an entry
    text_option("--title", help="The title: one line."),
    list_option(
        "--when",
        "-w",
        help="When to use the memory: words, a|b, a pattern or a sentence; may be repeated.",
    ),
    list_option("--tag", "-t", "tags", help="A tag; may be repeated."),
    option("--type", type=Choice(TYPES), help="The type, which affects the ranking."),
    list_option("--entity", "entities", help="A thing that it is about; may be repeated."),
    option(
        "--importance",
        "-i",
        type=Choice(IMPORTANCE, case_sensitive=False),
        help="The importance. Default: medium.",
    ),
    BY,
    text_option("--in", "found_in", help="The task in which it was discovered."),
    text_option("--source", help="The source: a link, a file, or a class such as user_explicit."),
    list_option("--related", "-r", help="The id of a related memory; may be repeated."),
    text_option("--body", "-b", help="The text; '-' reads it from standard input."),
    option("--file", "-f", "file", type=File("rb"), help="Read the text from a file."),
    flag("--edit", "-e", help="Write the text in $EDITOR."),
    RESUME,
    flag(
        "--anyway",
        help="Store it even if the title is taken or a condition cannot match.",
    ),
    JSON,
)


@command("add")
@argument("text", nargs=-1)
@option(
    "--kind",
    "-k",
    type=Choice(CREATED_KINDS),
    default="memory",
    show_default=True,
    help="The kind of memory.",
)
@text_option("--claim", help="A claim: subject=…,predicate=…,value=… with the value last.")
@option(
    "--exclusive/--no-exclusive",
    default=None,
    help="Whether other values contradict the claim. Default: yes.",
)
@option("--scope", type=Choice(SCOPES), help="The scope of the claim. Default: global.")
@text_option("--session", help="The session, for a claim of scope session.")
@text_option("--valid-from", help="The date or time from which the memory is valid.")
@text_option("--valid-until", help="The date or time at which the memory stops being valid.")
@option("--on-conflict", type=Choice(ON_CONFLICT), default=ON_CONFLICT[0], show_default=True,
              help="What to do if a contradicting claim is trusted more.")  # fmt: skip
@text_option("--quote", help="A person's words from this session, which the command verifies.")
@fields
@PERSONAL
@pass_obj
def add_command(
    folder: str,
    /,
    text: tuple[str, ...],
    kind: str,
    on_conflict: str,
    personal: bool,
    quote: str,
    **given: Any,
) -> None:
    """Store a memory.

    The first sentence or line of TEXT becomes the title, the rest becomes the body. Without TEXT, the text comes from
    --body, --file or standard input, or you write it in $EDITOR; it may have frontmatter, which options override.
    Without --title, its first '# Heading' is the title. Secrets are redacted before anything is written.

    If a claim repeats a stored claim, it confirms that claim. If it contradicts a stored claim, it replaces that claim
    or waits for your review. See 'rawkomem docs belief'.

    Examples:
      rawkomem add "Run the tests with pnpm. npm ignores the lock file."
      rawkomem add --title 'Why we chose apsw' --when 'sqlite|database' --body 'It loads extensions.'
      rawkomem add --edit --tag payments
    """
    repository = open_personal() if personal else open_repository(folder)
    said = read_stdin() if text == ("-",) else " ".join(text)
    if said and (given["body"] or given["file"]):
        raise BadInput("TEXT cannot be combined with --body or --file", "use one of them")
    resume = unsaved_path(repository, given["resume"], "add")
    kind = _kind_of(resume) or kind

    def store(text: str) -> Stored | Remembered:
        read = (
            entry_from_note
            if said and not given["title"] and not text.startswith("---\n")
            else entry_from_text
        )
        entry = compose_entry(
            read(text), kind=kind, by=given["by"] or user_name(), **_fields_given(given)
        )
        entry = with_condition(replace(entry, extra={**entry.extra, **_claim_fields(given)}))
        if not text.strip() and "claim" not in entry.extra:
            raise BadInput("the memory has no text", "pass TEXT, or --title together with --body")
        entry = _undoubted(
            repository, entry, given["anyway"], spares=(SAME_TITLE,) if quote else ()
        )
        return (
            repository.remembering.remember(entry, quote, entry.by)
            if quote
            else repository.add(entry, on_conflict)
        )

    given = {**given, "body": said or given["body"]}
    values = {key: given[option] for option, key in TEMPLATE_KEYS.items() if given[option]}
    values = {key: [*value] if isinstance(value, tuple) else value for key, value in values.items()}
    template = partial(fill_template, repository.layout, kind, values)
    stored = _from_text(repository, f"add-{kind}", given, template, store, resume)
    if isinstance(stored, Remembered):
        _tell_remembered(repository, stored, given["as_json"])
        return
    say_stored(repository, stored, given["as_json"])
    if stored.entry.when and not given["when"] and not given["edit"] and not stored.again:
        when = "; ".join(stored.entry.when)
        note(f"its condition: {when}; to change it: rawkomem amend {stored.outcome.id} --when …")
    if repository.core.via != PERSON and is_piped_by_person():
        note(
            "piped text counts as written by an agent; to vouch for it, commit it or pass it as TEXT"
        )


@command("amend")
@argument("id")
@fields
@list_option("--untag", help="Remove this tag; may be repeated.")
@option(
    "--tags",
    "all_tags",
    default=None,
    metavar="A,B",
    help="Replace all tags by these; '' removes all.",
)
@text_option(
    "--valid-from", help="The first date, time or age such as 7d; 'none' removes the limit."
)
@text_option("--valid-until", help="When it stops being valid; 'none' removes the limit.")
@pass_repository
def amend_command(
    repository: Repository, id: str, untag: tuple[str, ...], all_tags: str | None, valid_from: str, valid_until: str,
    **given: Any,
) -> None:  # fmt: skip
    """Change a memory; the earlier text stays as history.

    Only the fields that you name change. --tag adds a tag to those of the memory, --untag removes one, --tags replaces
    all of them. Without options, you edit the text in $EDITOR. 'rawkomem undo' undoes the change.

    Examples:
      rawkomem amend ID --title 'A better title'
      rawkomem amend ID --tag payments --untag billing
      rawkomem amend ID --valid-until 2027-01-01
      rawkomem amend ID --edit
    """
    if valid_from or valid_until:
        window = repository.beliefs.validity(id, valid_from, valid_until, "", author(given["by"]))
        if not any(_fields_given(given).values()) and not (given["body"] or given["file"]):
            report_decision(repository, id, [window], "window set", given["as_json"])
            return
    if given["tags"] or untag or all_tags is not None:
        given["tags"] = _tags_after(repository.get(id), given["tags"], untag, all_tags)
        given["retagged"] = True
    elif (
        sys.stdin.isatty()
        and not any(_fields_given(given).values())
        and not (given["body"] or given["file"])
    ):
        given["edit"] = True
    what = f"amend-{file_stem(id)}"
    resume = unsaved_path(repository, given["resume"], what)

    def store(text: str) -> Written:
        entry = compose_entry(
            entry_from_text(text),
            kind="amend",
            by=given["by"] or user_name(),
            **_fields_given(given),
        )
        made = _undoubted(repository, entry, given["anyway"], id)
        return repository.amend(id, made, one_by_one=all_tags is None)

    written = _from_text(
        repository,
        what,
        given,
        lambda: repository.get(id).body + "\n",
        store,
        resume,
        optional=True,
    )
    _report_written(repository, written, "amended", given["as_json"])


@command("delete")
@argument("id")
@flag("--archive", help="Take the memory out of use, but keep it in lists of archived memories.")
@together(REASON, BY, YES, JSON)
@pass_repository
def delete_command(
    repository: Repository, id: str, archive: bool, reason: str, by: str, yes: bool, as_json: bool
) -> None:
    """Hide or archive a memory; 'rawkomem restore' brings it back.

    The command appends a deletion entry: the memory is no longer listed, found or injected, and its text stays in
    the file. At a terminal, it asks for confirmation. 'rawkomem rm' is the same command.

    Examples:
      rawkomem delete ID
      rawkomem delete ID --archive --reason 'The service is gone'
    """
    if archive:
        written = repository.beliefs.archive(id, reason, author(by))
        report_decision(repository, id, [written], "archived", as_json)
        return
    if not yes and not as_json and sys.stdin.isatty():
        memory = repository.get(id)
        confirm(f"Delete {one_line(memory.title or memory.path, 80)!r} ({memory.id})?", abort=True)
    written = repository.delete(id, reason, author(by))
    _report_written(repository, written, "deleted", as_json)
    note(f"'rawkomem restore {written.entry.about}' brings it back")


@command("purge")
@argument("id")
@YES
@JSON
@pass_repository
def purge_command(repository: Repository, id: str, yes: bool, as_json: bool) -> None:
    """Remove a memory's text from all files; this cannot be undone.

    Use it for leaked secrets. Git history keeps the old text: change the secret, and rewrite the history if you need
    to.

    Examples:
      rawkomem purge ID
    """
    is_new = id not in repository.core.finished_purges
    if is_new and yes:
        _check_named(repository, id)
    elif is_new:
        memory = repository.get(id)
        paths = dict.fromkeys((memory.path, *(step.entry.path for step in repository.history(id))))
        confirm(
            f"Remove every entry about {memory.title or memory.id!r} from {', '.join(paths)} for good?",
            abort=True,
        )
    touched = repository.lifecycle.purge(id)
    kept = [path for path in touched if os.path.exists(repository.core.layout.path(path))]
    lines = (
        f"{paint('rewritten' if path in kept else 'removed', 'yellow')}  {path}" for path in touched
    )
    say_either(
        as_json,
        {"id": id, "rewritten": kept, "removed": [path for path in touched if path not in kept]},
        "\n".join(lines),
    )
    note("git history still holds the text: change the secret, too")
    if repository.settings.sinks.any:
        note(
            "sinks may have copied the text before: check the daily log and the receiver of the webhook"
        )


def _check_named(repository: Repository, name: str) -> None:
    """Raise BadInput if a name matches a memory only by its title, which is not enough without a confirmation."""
    try:
        memory = repository.get(name)
    except NotFound:
        return  # a compressed archive may hold it
    stem = os.path.basename(memory.path).removesuffix(".md")
    if not (
        memory.id.startswith(name)
        or memory.id.endswith(name)
        or name.removesuffix(".md") in (memory.id, stem)
    ):
        raise BadInput(
            f"{name!r} matches only the title {memory.title!r}, which is not enough with --yes",
            f"run: rawkomem purge {memory.id} --yes",
        )


def _from_text(
    repository: Repository, what: str, given: dict[str, Any], template: Callable[[], str], store: Callable[[str], T],
    resume: str, optional: bool = False,
) -> T:  # fmt: skip
    """Read the text from --file, --body, the editor or standard input; return what `store` returns for it."""
    if given["file"]:
        return store(read_stream(given["file"], given["file"].name))
    if given["body"] and given["body"] != "-":
        return store(str(given["body"]))
    if resume or given["edit"] or (not optional and given["body"] != "-" and sys.stdin.isatty()):
        return write_in_editor(repository, what, template, store, resume)
    if given["body"] == "-" or (not sys.stdin.isatty() and not optional):
        return store(read_stdin())
    return store("")


def _kind_of(unsaved: str) -> str:
    """Return the kind in the file name of an unsaved text; empty if it is unknown or if --kind is used."""
    source = get_current_context().get_parameter_source("kind")
    named = source is not click.core.ParameterSource.DEFAULT
    return (
        ""
        if named
        else next(
            (kind for kind in CREATED_KINDS if f"-add-{kind}" in os.path.basename(unsaved)), ""
        )
    )


def _undoubted(
    repository: Repository,
    entry: Entry,
    anyway: bool,
    about: str = "",
    spares: tuple[str, ...] = (),
) -> Entry:
    """Return the entry without unusable conditions. If there are doubts, ask a person; else raise BadInput."""
    doubts = [
        doubt for doubt in doubts_about(repository.core, entry, about) if doubt.code not in spares
    ]
    if doubts and not anyway:
        _ask_despite(repository, doubts)
    useless = [doubt.concerns for doubt in doubts if doubt.code == UNUSABLE]
    if useless:
        note(
            f"left out {counted(len(useless), 'condition')} that cannot match: {', '.join(map(repr, useless))}"
        )
    return replace(entry, when=tuple(pattern for pattern in entry.when if pattern not in useless))


def _ask_despite(repository: Repository, doubts: Sequence[Doubt]) -> None:
    """Return if a person confirms an entry despite the doubts; else raise BadInput."""
    if repository.core.via == PERSON:
        for doubt in doubts:
            note(f"{on_one_line(doubt.message)} ({doubt.hint})")
        if confirmed("Store it anyway?"):
            return
        raise BadInput("nothing was stored", doubts[0].hint)
    more = f" (and {len(doubts) - 1} more)" if len(doubts) > 1 else ""
    raise BadInput(
        f"{doubts[0].message}{more}: nothing was stored",
        f"{doubts[0].hint}; --anyway stores it as it is",
    )


def _tags_after(
    memory: Memory, added: Sequence[str], removed: Sequence[str], replacing: str | None
) -> tuple[str, ...]:
    """Return the tags of a memory after adding, removing or replacing some; raise BadInput for an unknown tag."""
    kept = (
        memory.tags
        if replacing is None
        else tuple(filter(None, map(str.strip, replacing.split(","))))
    )
    unknown = [tag for tag in removed if tag not in kept]
    if unknown:
        raise BadInput(
            f"{memory.id} has no tag {unknown[0]!r}",
            f"its tags are: {', '.join(memory.tags) or 'none'}",
        )
    return tuple(tag for tag in dict.fromkeys((*kept, *added)) if tag not in removed)


def _fields_given(given: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that were passed as options."""
    flags = {key: given[key] for key in (*KEY_OF_FLAG, *EXTRA_FLAGS)}
    said = {
        key: value
        for key, value in flags.items()
        if value and not (key == "source" and value in SOURCES)
    }
    return {**said, "tags": given["tags"]} if given.get("retagged") else said


def _claim_fields(given: dict[str, Any]) -> dict[str, Value]:
    """Return claim, validity window and class of source as frontmatter."""
    window = {"validFrom": given["valid_from"], "validUntil": given["valid_until"]}
    said: dict[str, Value] = {key: value for key, value in window.items() if value}
    if given["source"] in SOURCES:
        said["provenance"] = {"source": given["source"]}
    if not given["claim"]:
        return said
    exclusive = given["exclusive"]
    place = {"scope": given["scope"], "session": given["session"]}
    claim: dict[str, Value] = {
        **_claim_of_text(given["claim"]),
        **{key: value for key, value in place.items() if value},
    }
    if exclusive is not None:
        claim["exclusive"] = "true" if exclusive else "false"
    return {**said, "claim": claim}


def _claim_of_text(text: str) -> dict[str, Value]:
    """Return `subject=…,predicate=…,value=…` as a claim; everything after `value=` is the value, commas included."""
    head, found, value = text.partition("value=")
    parts = [part.partition("=") for part in head.split(",") if part.strip()]
    if not found or any(not sign for _, sign, _ in parts):
        raise BadInput(f"not a claim: {text!r}", "write subject=user,predicate=timezone,value=UTC")
    return {**{key.strip(): said.strip() for key, _, said in parts}, "value": value}


OUTCOME_WORDS = {
    "corroborated": "confirmed",
    "quarantined": "quarantined",
}  # all other outcomes are "stored"
OTHERS_WORDS = {
    "superseded": "supersedes",
    "quarantined": "conflicts with",
    "kept_both": "in use together with",
    "conflict": "in conflict with",
}


def say_stored(repository: Repository, stored: Stored, as_json: bool) -> None:
    """Print the result of storing a memory."""
    outcome, written = stored.outcome, stored.written[0]
    repository.core.follow()
    redacted = any(item.redacted for item in stored.written)
    if as_json:
        say_json({**as_dict(outcome), "about": written.entry.about, "path": written.entry.path, "redacted": redacted,
                  "again": stored.again, "why": stored.why})  # fmt: skip
    else:
        done = "stored already" if stored.again else OUTCOME_WORDS.get(outcome.what, "stored")
        say(done_line(done, outcome.id, written.entry.path))
        if outcome.others:
            say(f"  {OTHERS_WORDS[outcome.what]} {', '.join(outcome.others)}")
        if outcome.reason:
            say(f"  because {outcome.reason}: decide with 'rawkomem review {outcome.id}'")
    if stored.again:
        note("the same text was stored a few minutes ago; nothing was written")
    if redacted:
        note("secrets in the text were redacted before it was written")


def _tell_remembered(repository: Repository, done: Remembered, as_json: bool) -> None:
    """Print the result of storing a memory that quotes a person."""
    repository.core.follow()
    contradicts = (
        f"  contradicts {', '.join(done.others)}: decide with 'rawkomem review'"
        if done.others
        else ""
    )
    path = f"{done.stored.path}  " if done.stored else ""
    told = done_line(done.what, done.id, f"{path}a person said so") + contradicts
    say_either(as_json, {"what": done.what, "id": done.id, "others": [*done.others]}, told)


def _report_written(repository: Repository, written: Written, done: str, as_json: bool) -> None:
    entry = written.entry
    repository.core.follow()
    waits = repository.core.waits_for_review(entry)
    done = "proposed" if waits else done
    say_either(
        as_json,
        {
            **fields_of(entry, "id", "about", "path"),
            "redacted": written.redacted,
            "proposed": waits,
        },
        done_line(done, entry.about or entry.id, entry.path),
    )
    if waits:
        note(
            f"a person vouches for {entry.about}, so the change waits for 'rawkomem review {entry.about}'"
        )
    if written.again:
        note("the same change was written a few minutes ago; nothing was added")
    if written.redacted:
        note("secrets in the text were redacted before it was written")


# Implement `rawkomem undo`: undo the last change made on this machine.

MAX_SHOWN = 20  # memories or changes that are listed
MAX_TITLES = 3  # of one change in the list
MAX_TITLE_CHARS = 60  # of a title in the list


@command("undo")
@argument("change", default="")
@flag("--list", "listing", help="List the last changes that can be undone.")
@LIMIT.but(help="With --list: maximum number of changes; 0 lists all.", default=MAX_SHOWN, least=0)
@flag(
    "--all",
    "everything",
    help="Allow a change of more than 50 memories, such as an import.",
)
@DRY_RUN
@BY
@PERSONAL
@JSON
@pass_obj
def undo_command(
    folder: str, /, change: str, listing: bool, limit: int, everything: bool, dry_run: bool, by: str, personal: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Undo the last change made on this machine.

    The command appends entries that reverse the change: it deletes an added memory, restores the earlier text of an
    amended one, and withdraws a vote. A kept draft and a decided proposal wait again. If git never had the file of an
    added memory, the file is removed. Run the command again to undo the change before that. CHANGE is a name that
    --list shows. A purge cannot be undone.

    Examples:
      rawkomem undo --dry-run
      rawkomem undo
      rawkomem undo --list
    """
    repository = open_personal() if personal else open_repository(folder)
    if listing:
        _list_changes(repository, limit, as_json)
        return
    undone = repository.undoing.undo(change, everything, author(by), dry_run)
    if as_json:
        say_json(_undone_json(undone, dry_run))
        return
    _print_undone(repository, undone, dry_run)


def _list_changes(repository: Repository, limit: int, as_json: bool) -> None:
    changes = repository.undoing.steps(shortened(as_json, repository.undoing.undoable(), limit))
    known = repository.undoing.known(
        [id for change, _ in changes for id in change.memories[:MAX_TITLES]]
    )
    titles = {
        id: one_line(memory.title or memory.path, MAX_TITLE_CHARS) for id, memory in known.items()
    }
    say_rows(
        as_json,
        changes,
        _change_json,
        lambda item: _change_line(*item, titles),
        "there is no change to undo",
    )


def _change_line(change: Change, steps: tuple[Step, ...], titles: Mapping[str, str]) -> str:
    """Return a line: the change's name, what it did, and the titles of its memories."""
    if not steps:
        return f"{change.name}  no file holds its entries"
    told = ", ".join(dict.fromkeys(step.told for step in steps))
    shown = [repr(titles[id]) if id in titles else id for id in change.memories[:MAX_TITLES]]
    more = (
        f" and {len(change.memories) - MAX_TITLES} more"
        if len(change.memories) > MAX_TITLES
        else ""
    )
    return f"{change.name}  {told}: {', '.join(shown)}{more}"


def _change_json(item: tuple[Change, tuple[Step, ...]]) -> dict[str, Any]:
    return {
        "change": item[0].name,
        "memories": [*item[0].memories],
        "told": [step.told for step in item[1]],
    }


def _undone_json(undone: Undone, dry_run: bool) -> dict[str, Any]:
    return {
        "change": undone.change.name,
        "dry_run": dry_run,
        "undone": [
            {"entry": step.entry.id, "memory": step.entry.target, "told": step.told}
            for step in undone.steps
        ],
        "entries": [
            {"memory": entry.target, "kind": entry.kind, "told": _entry_told(entry)}
            for entry in undone.plan.entries
        ],
        "removed": [*undone.removed],
        "copies": [*undone.copies],
    }


def _print_undone(repository: Repository, undone: Undone, dry_run: bool) -> None:
    proposed = {
        item.entry.target for item in undone.written if repository.core.waits_for_review(item.entry)
    }
    known = repository.undoing.known(undone.change.memories[:MAX_SHOWN])
    for id, memory in known.items():
        steps = (
            ", ".join(step.told for step in undone.steps if step.entry.target == id) or "nothing"
        )
        back = (
            ", ".join(_entry_told(entry) for entry in undone.plan.entries if entry.target == id)
            or "nothing to do"
        )
        done = "would undo" if dry_run else "proposed" if id in proposed else "undone"
        say(
            f"{paint(done, 'green')}  {steps if steps == back else f'{steps} → {back}'}  {name_of(memory)}"
        )
    for id, copy in zip(undone.removed, undone.copies, strict=True):
        say(f"{paint('undone', 'green')}  created → removed  {id}")
        note(f"git never had its file; a copy is in .rawko/{copy}")
    if len(undone.change.memories) > MAX_SHOWN:
        say(f"  and {len(undone.change.memories) - MAX_SHOWN} more memories")
    if proposed:
        note(
            "a person vouches for the memories marked 'proposed': 'rawkomem review ID --accept' undoes the change"
        )


def _entry_told(entry: Entry) -> str:
    return REGISTRY[entry.kind].tell(entry)
