"""`rawkomem add`, `amend`, `delete`, `purge`: what changes files."""

from __future__ import annotations

import getpass
import sys
from typing import TYPE_CHECKING, Any

import click

from ..files.compose import compose, entry_from_text
from ..files.templates import fill_template
from ..model.errors import BadInput
from ..model.kinds import CREATES, GROUPS, IMPORTANCE
from .commands import open_repository
from .terminal import note, paint, say, say_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..files.append import Written
    from ..repository import Repository

KINDS = [kind for kind in CREATES if kind not in GROUPS]  # 'rawkomem episode' makes episodes
FIELDS = (
    click.option("--title", default="", help="One line that says what it is about."),
    click.option("--when", "-w", multiple=True, help="When to use it: words, a|b, a pattern, or a sentence."),
    click.option("--tag", "-t", "tags", multiple=True, help="A tag; may be repeated."),
    click.option("--importance", "-i", type=click.Choice(IMPORTANCE, case_sensitive=False), help="Default: medium."),
    click.option("--by", default="", help="Who found it out. Default: you."),
    click.option("--in", "found_in", default="", help="The task in which it was found out."),
    click.option("--source", default="", help="Where it comes from: a link, a file, a conversation."),
    click.option("--related", "-r", multiple=True, help="The id of a related memory; may be repeated."),
    click.option("--body", "-b", default="", help="The text; '-' reads it from standard input."),
    click.option("--file", "-f", "file", type=click.File("r", encoding="utf-8"), help="Read the text from a file."),
    click.option("--edit", "-e", is_flag=True, help="Write it in $EDITOR, on a template."),
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
)


def fields(function: Any) -> Any:
    """The options that describe an entry."""
    for option in reversed(FIELDS):
        function = option(function)
    return function


@click.command("add")
@click.option("--kind", "-k", type=click.Choice(KINDS), default="memory", show_default=True, help="What it is.")
@fields
@click.pass_obj
def add_command(folder: str, /, kind: str, **given: Any) -> None:
    """Store a memory.

    The text comes from --body, --file, standard input, or $EDITOR on a template. It may bring its own frontmatter;
    flags win over it. Without --title, the first '# Heading' is the title. Secrets are redacted before anything is
    written.
    """
    repository = open_repository(folder)
    text = _text(given, lambda: fill_template(repository.layout, kind, _template_values(given)))
    entry = compose(entry_from_text(text), kind=kind, by=given["by"] or getpass.getuser(), **_flags(given))
    _report(repository, repository.add(entry), "stored", given["as_json"])


@click.command("amend")
@click.argument("id")
@fields
@click.pass_obj
def amend_command(folder: str, /, id: str, **given: Any) -> None:
    """Change what a memory says, by appending.

    Only what you give changes; the earlier text stays in the file as history.
    """
    repository = open_repository(folder)
    text = _text(given, lambda: repository.get(id).body, optional=True)
    entry = compose(entry_from_text(text), kind="amend", by=given["by"] or getpass.getuser(), **_flags(given))
    _report(repository, repository.amend(id, entry), "amended", given["as_json"])


@click.command("delete")
@click.argument("id")
@click.option("--reason", default="", help="Why.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def delete_command(folder: str, id: str, reason: str, as_json: bool) -> None:
    """Hide a memory; its text stays in the file.

    Appends a tombstone: the memory is no longer listed, found or injected.
    """
    repository = open_repository(folder)
    _report(repository, repository.delete(id, reason, getpass.getuser()), "deleted", as_json)


@click.command("purge")
@click.argument("id")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def purge_command(folder: str, id: str, yes: bool) -> None:
    """Remove a memory's text for good (asks; rewrites files).

    For leaked secrets. This is the only command that rewrites files. Git history keeps the old text: change the secret,
    and rewrite history if you must.
    """
    repository = open_repository(folder)
    memory = repository.get(id)
    if not yes:
        click.confirm(
            f"Remove every entry about {memory.title or memory.id!r} from {memory.path} for good?", abort=True
        )
    for path in repository.purge(memory.id):
        say(f"{paint('rewritten', 'yellow')}  {path}")
    note("git history still holds the text: change the secret, too")
    if repository.settings.sinks.any:
        note("what sinks were told before is out of reach: look into the daily log and behind the webhook")


def _text(given: dict[str, Any], draft: Callable[[], str], optional: bool = False) -> str:
    """The text that the user gives, by whichever way."""
    if given["file"]:
        return str(given["file"].read())
    if given["body"] and given["body"] != "-":
        return str(given["body"])
    if given["edit"] or (not optional and given["body"] != "-" and sys.stdin.isatty()):
        text = click.edit(draft(), extension=".md")
        if text is None:
            raise BadInput("nothing was saved in the editor: nothing stored", "save the file to store it")
        return text
    if given["body"] == "-" or (not sys.stdin.isatty() and not optional):
        return sys.stdin.read()
    return ""


def _flags(given: dict[str, Any]) -> dict[str, Any]:
    """The fields that were given as flags."""
    flags = {
        "title": given["title"],
        "when": given["when"],
        "tags": given["tags"],
        "importance": given["importance"],
        "found_in": given["found_in"],
        "source": given["source"],
        "related": given["related"],
    }
    return {key: value for key, value in flags.items() if value}


def _template_values(given: dict[str, Any]) -> dict[str, Any]:
    keys = {"title": "title", "when": "whenToUse", "tags": "tags", "importance": "importance"}
    return {keys[key]: list(value) if isinstance(value, tuple) else value
            for key, value in given.items() if key in keys and value}  # fmt: skip


def _report(repository: Repository, written: Written, done: str, as_json: bool) -> None:
    entry = written.entry
    repository.sync()
    if as_json:
        say_json({"id": entry.id, "about": entry.about, "path": entry.path, "redacted": written.redacted})
    else:
        say(f"{paint(done, 'green')}  {entry.about or entry.id}  {paint(entry.path, 'dim')}")
    if written.redacted:
        note("secrets in the text were redacted before it was written")
