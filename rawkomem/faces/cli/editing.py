"""Let a person write a text in $EDITOR and store it. A rejected text is kept in a file and can be reopened."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, NoReturn, TypeVar

import click

from ...files.given_text import read_text_file
from ...files.local.unsaved import discard_text, find_unsaved, keep_text, remark_on, without_remark
from ...hosts.person import PERSON, confirmed
from ...model.errors import BadInput, RawkoError, WrittenUnseen
from .terminal import complain, note

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...repository import Repository

    T = TypeVar("T")

LATEST = "latest"
RESUME = click.option(
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
    repository: Repository, what: str, template: Callable[[], str], store: Callable[[str], T], resume: str = ""
) -> T:
    """Let a person edit a template or an unsaved text, pass the result to `store`, and return what `store` returns.

    `what` names the purpose of the text; `resume` is the path of an unsaved text. The edited file is removed once the
    text is stored.
    """
    start = None if resume else template()
    path = resume or keep_text(repository.layout, what, start or "")
    while True:
        _edit(path, start)
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
            _offer_again(repository, path, failure)
            start = None
        except BaseException:
            _tell_kept(path)
            raise
        else:
            discard_text(path)
            return done


def unsaved_path(repository: Repository, given: str, what: str) -> str:
    """Return the path of the unsaved text that --resume names; empty without --resume."""
    return find_unsaved(repository.layout, "" if given == LATEST else given, what) if given else ""


def _edit(path: str, start: str | None) -> None:
    """Run the editor on a file. If it fails, print the file's path, or remove a file that still holds the template."""
    try:
        click.edit(filename=path)
    except BaseException as failure:
        if start is None or _bytes(path) != start.encode("utf-8", "replace"):
            _tell_kept(path)
        else:
            discard_text(path)
        if not isinstance(failure, click.ClickException):
            raise
        hint = "set $EDITOR to an editor that works, such as 'nano' or 'code --wait'"
        raise BadInput(f"the editor failed, nothing was stored: {failure.format_message()}", hint) from None


def _offer_again(repository: Repository, path: str, failure: RawkoError) -> None:
    """Print why a text was rejected. Return if a person wants to edit it again; else print its path and exit."""
    code = complain(failure)
    if repository.core.via != PERSON or not confirmed("Open your text again in the editor?"):
        _tell_kept(path)
        _exit(code)
    try:
        text = without_remark(read_text_file(path))
    except BadInput:  # not UTF-8: reopen the file without a remark
        return
    remark_on(path, text, f"{failure.message} ({failure.hint})" if failure.hint else failure.message)


def _exit(code: int) -> NoReturn:
    raise SystemExit(code)


def _tell_kept(path: str) -> None:
    note(f"your text is kept in {path}")
    note(f"to reopen it, run: {_command(path)}")


def _command(path: str) -> str:
    """Return the command line of this process with the option --resume."""
    words = [word for word in sys.argv[1:] if word not in ("--edit", "-e") and not word.startswith("--resume=")]
    if "--resume" in words:
        at = words.index("--resume")
        has_value = words[at + 1 : at + 2] and not words[at + 1].startswith("-")
        del words[at : at + 2 if has_value else at + 1]
    return shlex.join(["rawkomem", *words, "--resume", path])


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return b""
