"""Implement `rawkomem add`, `amend`, `delete` and `purge`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ....files.append import Written
from ....files.given_text import read_stdin, read_stream
from ....format.compose import compose, entry_from_text, titled
from ....git.user import user_name
from ....hosts.person import PERSON, confirmed, is_piped_by_person
from ....model.errors import BadInput, NotFound
from ....model.kinds import CREATES, GROUPS, IMPORTANCE
from ....model.names import file_stem
from ....model.record import as_dict, replace
from ....repository import Repository
from ....repository.doubts import SAME_TITLE, UNUSABLE, doubts_about
from ....repository.wings.remembering import Remembered
from ....repository.writing import Stored
from ....state.belief.claims import ON_CONFLICT, SCOPES
from ....state.belief.trust import BASES
from ....text.clean import one_line
from ....text.count import count
from ..commands import pass_repository
from ..editing import RESUME, unsaved_path, write_in_editor
from ..opening import open_personal, open_repository
from ..options import BY, JSON, PERSONAL, REASON, YES, together
from ..terminal import fields_of, note, on_one_line, paint, say, say_either, say_json

if TYPE_CHECKING:
    from ....model.entry import Entry, Memory, Value
    from ....repository.doubts import Doubt

    T = TypeVar("T")

KINDS = [kind for kind in CREATES if kind not in GROUPS]  # 'rawkomem episode' makes episodes
SOURCES = [name for name in BASES if name != "unknown"]  # classes; any other --source is a link or a file
fields = together(  # the options that describe an entry
    click.option("--title", default="", help="The title: one line."),
    click.option(
        "--when",
        "-w",
        multiple=True,
        help="When to use the memory: words, a|b, a pattern or a sentence; may be repeated.",
    ),
    click.option("--tag", "-t", "tags", multiple=True, help="A tag; may be repeated."),
    click.option(
        "--importance",
        "-i",
        type=click.Choice(IMPORTANCE, case_sensitive=False),
        help="The importance. Default: medium.",
    ),
    BY,
    click.option("--in", "found_in", default="", help="The task in which it was discovered."),
    click.option("--source", default="", help="The source: a link, a file, or a class such as user_explicit."),
    click.option("--related", "-r", multiple=True, help="The id of a related memory; may be repeated."),
    click.option("--body", "-b", default="", help="The text; '-' reads it from standard input."),
    click.option("--file", "-f", "file", type=click.File("rb"), help="Read the text from a file."),
    click.option("--edit", "-e", is_flag=True, help="Write the text in $EDITOR."),
    RESUME,
    click.option("--anyway", is_flag=True, help="Store it even if the title is taken or a condition cannot match."),
    JSON,
)


@click.command("add")
@click.argument("text", nargs=-1)
@click.option("--kind", "-k", type=click.Choice(KINDS), default="memory", show_default=True, help="The kind of memory.")
@click.option("--claim", default="", help="A claim: subject=…,predicate=…,value=… with the value last.")
@click.option(
    "--exclusive/--no-exclusive", default=None, help="Whether other values contradict the claim. Default: yes."
)
@click.option("--scope", type=click.Choice(SCOPES), help="The scope of the claim. Default: global.")
@click.option("--session", default="", help="The session, for a claim of scope session.")
@click.option("--valid-from", default="", help="The date or time from which the memory is valid.")
@click.option("--valid-until", default="", help="The date or time at which the memory stops being valid.")
@click.option("--on-conflict", type=click.Choice(ON_CONFLICT), default=ON_CONFLICT[0], show_default=True,
              help="What to do if a contradicting claim is trusted more.")  # fmt: skip
@click.option("--quote", default="", help="A person's words from this session, which the command verifies.")
@fields
@PERSONAL
@click.pass_obj
def add_command(
    folder: str, /, text: tuple[str, ...], kind: str, on_conflict: str, personal: bool, quote: str, **given: Any
) -> None:
    """Store a memory.

    The first sentence or line of TEXT becomes the title, the rest becomes the body. Without TEXT, the text comes from
    --body, --file or standard input, or you write it in $EDITOR; it may have frontmatter, which options override.
    Without --title, its first '# Heading' is the title. Secrets are redacted before anything is written.

    If a claim repeats a stored claim, it confirms that claim. If it contradicts a stored claim, it replaces that claim
    or waits for your review. See 'rawkomem docs belief'.
    """
    repository = open_personal() if personal else open_repository(folder)
    said = _said(text, given)
    resume = unsaved_path(repository, given["resume"], "add")
    kind = _kind_of(resume) or kind

    def store(text: str) -> Stored | Remembered:
        read = titled if said and not given["title"] and not text.startswith("---\n") else entry_from_text
        entry = compose(read(text), kind=kind, by=given["by"] or user_name(), **_flags(given))
        entry = replace(entry, extra={**entry.extra, **_claimed(given)})
        entry = _undoubted(repository, entry, given["anyway"], spares=(SAME_TITLE,) if quote else ())
        return repository.remembering.remember(entry, quote, entry.by) if quote else repository.add(entry, on_conflict)

    given = {**given, "body": said or given["body"]}
    template = partial(_template, repository, kind, given)
    stored = _from_text(repository, f"add-{kind}", given, template, store, resume)
    if isinstance(stored, Remembered):
        _tell_remembered(repository, stored, given["as_json"])
        return
    say_stored(repository, stored, given["as_json"])
    if repository.core.via != PERSON and is_piped_by_person():
        note("piped text counts as written by an agent; to vouch for it, commit it or pass it as TEXT")
    if not stored.entry.body.strip() and not said:
        note(f"stored without a text: add one with 'rawkomem amend {stored.outcome.id} --body …'")


@click.command("amend")
@click.argument("id")
@fields
@click.option("--untag", multiple=True, help="Remove this tag; may be repeated.")
@click.option("--tags", "all_tags", default=None, metavar="A,B", help="Replace all tags by these; '' removes all.")
@pass_repository
def amend_command(repository: Repository, id: str, untag: tuple[str, ...], all_tags: str | None, **given: Any) -> None:
    """Change a memory; the earlier text stays as history.

    Only the fields that you name change. --tag adds a tag to those of the memory, --untag removes one, --tags replaces
    all of them. Without options, you edit the text in $EDITOR. 'rawkomem undo' undoes the change.
    """
    if given["tags"] or untag or all_tags is not None:
        given["tags"] = _tags(repository.get(id), given["tags"], untag, all_tags)
        given["retagged"] = True
    elif sys.stdin.isatty() and not any(_flags(given).values()) and not (given["body"] or given["file"]):
        given["edit"] = True
    what = f"amend-{file_stem(id)}"
    resume = unsaved_path(repository, given["resume"], what)

    def store(text: str) -> Written:
        entry = compose(entry_from_text(text), kind="amend", by=given["by"] or user_name(), **_flags(given))
        return repository.amend(id, _undoubted(repository, entry, given["anyway"], id))

    template = partial(_body, repository, id)
    written = _from_text(repository, what, given, template, store, resume, optional=True)
    _report(repository, written, "amended", given["as_json"])


@click.command("delete")
@click.argument("id")
@REASON
@YES
@JSON
@pass_repository
def delete_command(repository: Repository, id: str, reason: str, yes: bool, as_json: bool) -> None:
    """Hide a memory; 'rawkomem restore' brings it back.

    The command appends a deletion entry: the memory is no longer listed, found or injected, and its text stays in
    the file. At a terminal, it asks for confirmation. 'rawkomem rm' is the same command.
    """
    if not yes and not as_json and sys.stdin.isatty():
        memory = repository.get(id)
        click.confirm(f"Delete {one_line(memory.title or memory.path, 80)!r} ({memory.id})?", abort=True)
    written = repository.delete(id, reason, user_name())
    _report(repository, written, "deleted", as_json)
    note(f"'rawkomem restore {written.entry.about}' brings it back")


@click.command("purge")
@click.argument("id")
@YES
@JSON
@pass_repository
def purge_command(repository: Repository, id: str, yes: bool, as_json: bool) -> None:
    """Remove a memory's text from all files; this cannot be undone.

    Use it for leaked secrets. Git history keeps the old text: change the secret, and rewrite the history if you need
    to.
    """
    if yes and id not in repository.core.finished_purges:
        _check_named(repository, id)
    elif not yes and id not in repository.core.finished_purges:
        memory = repository.get(id)
        paths = dict.fromkeys((memory.path, *(step.entry.path for step in repository.history(id))))
        click.confirm(
            f"Remove every entry about {memory.title or memory.id!r} from {', '.join(paths)} for good?", abort=True
        )
    touched = repository.lifecycle.purge(id)
    kept = [path for path in touched if os.path.exists(repository.core.layout.path(path))]
    lines = (f"{paint('rewritten' if path in kept else 'removed', 'yellow')}  {path}" for path in touched)
    removed = [path for path in touched if path not in kept]
    say_either(as_json, {"id": id, "rewritten": kept, "removed": removed}, "\n".join(lines))
    note("git history still holds the text: change the secret, too")
    if repository.settings.sinks.any:
        note("sinks may have copied the text before: check the daily log and the receiver of the webhook")


def _check_named(repository: Repository, name: str) -> None:
    """Raise BadInput if a name matches a memory only by its title, which is not enough without a confirmation."""
    try:
        memory = repository.get(name)
    except NotFound:
        return  # a compressed archive may hold it
    stem = os.path.basename(memory.path).removesuffix(".md")
    if not (memory.id.startswith(name) or memory.id.endswith(name) or name.removesuffix(".md") in (memory.id, stem)):
        hint = f"run: rawkomem purge {memory.id} --yes"
        raise BadInput(f"{name!r} matches only the title {memory.title!r}, which is not enough with --yes", hint)


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


def _body(repository: Repository, id: str) -> str:
    return repository.get(id).body + "\n"


def _kind_of(unsaved: str) -> str:
    """Return the kind in the file name of an unsaved text; empty if it is unknown or if --kind is used."""
    source = click.get_current_context().get_parameter_source("kind")
    named = source is not click.core.ParameterSource.DEFAULT
    return "" if named else next((kind for kind in KINDS if f"-add-{kind}" in os.path.basename(unsaved)), "")


def _undoubted(
    repository: Repository, entry: Entry, anyway: bool, about: str = "", spares: tuple[str, ...] = ()
) -> Entry:
    """Return the entry without unusable conditions. If there are doubts, ask a person; else raise BadInput."""
    doubts = [doubt for doubt in doubts_about(repository.core, entry, about) if doubt.code not in spares]
    if doubts and not anyway:
        _ask(repository, doubts)
    useless = [doubt.concerns for doubt in doubts if doubt.code == UNUSABLE]
    if useless:
        note(f"left out {count(len(useless), 'condition')} that cannot match: {', '.join(map(repr, useless))}")
    return replace(entry, when=tuple(pattern for pattern in entry.when if pattern not in useless))


def _ask(repository: Repository, doubts: Sequence[Doubt]) -> None:
    """Return if a person confirms an entry despite the doubts; else raise BadInput."""
    if repository.core.via == PERSON:
        for doubt in doubts:
            note(f"{on_one_line(doubt.message)} ({doubt.hint})")
        if confirmed("Store it anyway?"):
            return
        raise BadInput("nothing was stored", doubts[0].hint)
    more = f" (and {len(doubts) - 1} more)" if len(doubts) > 1 else ""
    raise BadInput(f"{doubts[0].message}{more}: nothing was stored", f"{doubts[0].hint}; --anyway stores it as it is")


def _said(text: tuple[str, ...], given: dict[str, Any]) -> str:
    """Return the TEXT of `add`; raise BadInput if --body or --file is also used."""
    said = read_stdin() if text == ("-",) else " ".join(text)
    if said and (given["body"] or given["file"]):
        raise BadInput("TEXT cannot be combined with --body or --file", "use one of them")
    return said


def _tags(memory: Memory, added: Sequence[str], removed: Sequence[str], replacing: str | None) -> tuple[str, ...]:
    """Return the tags of a memory after adding, removing or replacing some; raise BadInput for an unknown tag."""
    kept = memory.tags if replacing is None else tuple(filter(None, map(str.strip, replacing.split(","))))
    unknown = [tag for tag in removed if tag not in kept]
    if unknown:
        raise BadInput(f"{memory.id} has no tag {unknown[0]!r}", f"its tags are: {', '.join(memory.tags) or 'none'}")
    return tuple(tag for tag in dict.fromkeys((*kept, *added)) if tag not in removed)


def _flags(given: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that were passed as options."""
    flags = {key: given[key] for key in ("title", "when", "tags", "importance", "found_in", "source", "related")}
    said = {key: value for key, value in flags.items() if value and not (key == "source" and value in SOURCES)}
    return {**said, "tags": given["tags"]} if given.get("retagged") else said


def _claimed(given: dict[str, Any]) -> dict[str, Value]:
    """Return claim, validity window and class of source as frontmatter."""
    window = {"validFrom": given["valid_from"], "validUntil": given["valid_until"]}
    said: dict[str, Value] = {key: value for key, value in window.items() if value}
    if given["source"] in SOURCES:
        said["provenance"] = {"source": given["source"]}
    if not given["claim"]:
        return said
    exclusive = given["exclusive"]
    place = {"scope": given["scope"], "session": given["session"]}
    claim: dict[str, Value] = {**_pairs(given["claim"]), **{key: value for key, value in place.items() if value}}
    if exclusive is not None:
        claim["exclusive"] = "true" if exclusive else "false"
    return {**said, "claim": claim}


def _pairs(text: str) -> dict[str, Value]:
    """Return `subject=…,predicate=…,value=…` as a claim; everything after `value=` is the value, commas included."""
    head, found, value = text.partition("value=")
    parts = [part.partition("=") for part in head.split(",") if part.strip()]
    if not found or any(not sign for _, sign, _ in parts):
        raise BadInput(f"not a claim: {text!r}", "write subject=user,predicate=timezone,value=UTC")
    return {**{key.strip(): said.strip() for key, _, said in parts}, "value": value}


def _template(repository: Repository, kind: str, given: dict[str, Any]) -> str:
    from ....files.templates import fill_template  # for an editor only

    return fill_template(repository.layout, kind, _template_values(given))


def _template_values(given: dict[str, Any]) -> dict[str, Any]:
    keys = {"title": "title", "when": "whenToUse", "tags": "tags", "importance": "importance"}
    return {keys[key]: list(value) if isinstance(value, tuple) else value
            for key, value in given.items() if key in keys and value}  # fmt: skip


OUTCOME_WORDS = {"corroborated": "confirmed", "quarantined": "quarantined"}  # all other outcomes are "stored"
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
                  "why": stored.why})  # fmt: skip
    else:
        done = paint("stored already" if stored.again else OUTCOME_WORDS.get(outcome.what, "stored"), "green")
        say(f"{done}  {outcome.id}  {paint(written.entry.path, 'dim')}")
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
    contradicts = f"  contradicts {', '.join(done.others)}: decide with 'rawkomem review'" if done.others else ""
    path = f"{done.stored.path}  " if done.stored else ""
    told = f"{paint(done.what, 'green')}  {done.id}  {paint(f'{path}a person said so', 'dim')}{contradicts}"
    say_either(as_json, {"what": done.what, "id": done.id, "others": [*done.others]}, told)


def _report(repository: Repository, written: Written, done: str, as_json: bool) -> None:
    entry = written.entry
    repository.core.follow()
    waits = repository.core.waits_for_review(entry)
    done = "proposed" if waits else done
    data = {**fields_of(entry, "id", "about", "path"), "redacted": written.redacted, "proposed": waits}
    say_either(as_json, data, f"{paint(done, 'green')}  {entry.about or entry.id}  {paint(entry.path, 'dim')}")
    if waits:
        note(f"a person vouches for {entry.about}, so the change waits for 'rawkomem review {entry.about}'")
    if written.again:
        note("the same change was written a few minutes ago; nothing was added")
    if written.redacted:
        note("secrets in the text were redacted before it was written")
