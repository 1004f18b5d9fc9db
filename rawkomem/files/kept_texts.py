"""Keep texts that would be lost: unsaved texts of an editor, and edited files before they are
replaced.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from shutil import rmtree

from ..model.errors import BadInput, NotFound, RawkoError, Refused
from ..model.ids import file_stem, numbered_names
from ..model.values import DAY, iso, now
from .archive import may_speak_of
from .git_folder import kept_folder
from .layout import (
    Layout,
    explained,
    hash_of_file,
    is_own_file,
    read_bytes,
    relative_path,
    walk,
)
from .machine_records import changed_rule_files, note_rule_files
from .private import (
    EDITS,
    SHORTENED,
    UNSAVED,
    kept_path,
    open_private,
    replace_kept,
    replace_private,
    write_all,
)
from .replace import replace_whole

# Keep each text that a person writes in an editor as a file in the folder of records, until it is
# stored.
#
# The editor works on that file, so a killed command loses no text.

STAMP_CHARS = 19  # length of the time at the start of a name
REMARK = "<!-- rawkomem: not stored: "
REMARK_END = "-->\n"
REMARK_HINT = "Line numbers do not count this comment. It will be removed."


def keep_text(layout: Layout, what: str, text: str) -> str:
    """Write a text to a new file, named after the time and its purpose; return its path or raise Unwritable."""
    stem = f"{iso(now())[:STAMP_CHARS].replace(':', '-')}-{file_stem(what)}"
    with explained(f"cannot keep a text in {kept_folder(layout)}/{UNSAVED}"):
        for name in numbered_names(stem):
            path = kept_path(layout, f"{UNSAVED}/{name}.md")
            with suppress(FileExistsError), open_private(path, "x") as stream:
                write_all(stream, text.encode("utf-8", "replace"))
                break
    return path


def unsaved_texts(layout: Layout, what: str = "") -> list[str]:
    """Return the paths of unsaved texts, latest last; `what` is a prefix of their purpose."""
    try:
        folder = os.path.dirname(kept_path(layout, f"{UNSAVED}/x"))
        names = sorted(name for name in os.listdir(folder) if name.endswith(".md"))
    except (OSError, RawkoError):
        return []
    paths = [
        os.path.join(folder, name)
        for name in names
        if name[STAMP_CHARS + 1 :].startswith(what)
    ]
    return [path for path in paths if is_own_file(path)]


def find_unsaved(layout: Layout, path: str, what: str = "") -> str:
    """Return the path of an unsaved text: `path` after a check, or without it the latest text for `what`.

    Raise NotFound if there is none, BadInput if the file is not an unsaved text of this repository.
    """
    if not path:
        kept = unsaved_texts(layout, what)
        if not kept:
            raise NotFound(
                "there is no unsaved text", "write one with 'rawkomem add --edit'"
            )
        return kept[-1]
    path = os.path.abspath(path)
    folder = os.path.join(os.path.abspath(kept_folder(layout)), UNSAVED)
    if not os.path.lexists(path):
        raise NotFound(
            f"there is no file {path}",
            "run 'rawkomem status' for a list of unsaved texts",
        )
    if os.path.dirname(path) != folder or not is_own_file(path):
        raise BadInput(
            f"{path} is not an unsaved text of this repository",
            "store a file of your own with --file",
        )
    return path


def remark_on(path: str, text: str, problem: str) -> None:
    """Write a problem as a comment above an unsaved text; on an I/O error, leave the file unchanged."""
    line = " ".join(problem.split()).replace("--", "- -")
    remarked = f"{REMARK}{line}\n{REMARK_HINT} {REMARK_END}{text}"
    with suppress(OSError):
        replace_private(path, remarked.encode("utf-8", "replace"))


def without_remark(text: str) -> str:
    """Return a text without the comment that `remark_on` wrote above it."""
    head, found, rest = text.partition(REMARK_END)
    return rest if found and head.startswith(REMARK) else text


def discard_text(path: str) -> None:
    """Remove an unsaved text that was stored or is empty; ignore errors."""
    with suppress(OSError):
        os.unlink(path)


# Keep copies of edited files in `.rawko/local/edits` before `rawkomem undo` replaces them.

MAX_EDIT_DAYS = 30  # after which copies are removed


def keep_edited(layout: Layout, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Copy files under their paths below `.rawko`, and remove old copies.

    Return the copies' paths, or raise Unwritable.
    """
    folder = f"{EDITS}/{_edits_name(now())}"
    with explained(f"cannot keep a copy in {kept_folder(layout)}/{folder}"):
        for path, data in files.items():
            replace_kept(layout, f"{folder}/{path}", data, durable=True)
    remove_old_edited(layout)
    return tuple(kept_path(layout, f"{folder}/{path}") for path in files)


def _edits_name(at: int) -> str:
    return iso(at).replace(":", "")


def remove_old_edited(layout: Layout) -> list[str]:
    """Remove copies older than MAX_AGE_DAYS, except the newest; return their folders. What cannot be removed stays."""
    try:
        kept = kept_path(layout, EDITS)
        *older, _ = sorted(os.listdir(kept))
    except (OSError, RawkoError, ValueError):
        return []
    oldest = _edits_name(now() - MAX_EDIT_DAYS * DAY)
    gone = [os.path.join(kept, name) for name in older if name < oldest]
    for folder in gone:
        rmtree(folder, ignore_errors=True)
    return gone


def forget_edited(layout: Layout, id: str) -> list[str]:
    """Remove each copy that may hold a purged memory, whose text somebody edited; return the removed paths."""
    kept = kept_path(layout, EDITS)
    gone = []
    for folder, _, names in walk(kept):
        for name in names:
            path = os.path.join(folder, name)
            with open_private(path, "r") as stream:
                data = stream.readall()
            original = relative_path(path, kept).partition("/")[2]
            if may_speak_of(id, data, original):
                os.unlink(path)
                gone.append(path)
    return gone


# Keep the text of each file with rules that `rawkomem import --shorten` replaced. Places are paths relative to the
# project.


def keep_shortened(layout: Layout, place: str, data: bytes) -> None:
    """Keep a file's bytes from before it is shortened, durably. Raise Refused if an earlier text is kept, or OSError."""
    if place in shortened_places(layout):
        raise Refused(
            f"{place} was shortened before: its text from then is only on this machine",
            f"bring it back first: rawkomem import --unshorten {shlex.quote(place)}",
        )
    replace_kept(layout, _shortened_name(place), data, durable=True)


def shortened_places(layout: Layout) -> list[str]:
    """Return the places of the shortened files whose earlier text is kept and is not in the file now."""
    try:
        names = sorted(os.listdir(kept_path(layout, SHORTENED)))
    except (OSError, RawkoError):
        return []
    places = [name.replace("%", "/") for name in names]
    return [
        place
        for place in places
        if hash_of_file(os.path.join(layout.project, place))
        != hash_of_file(kept_path(layout, _shortened_name(place)))
    ]


def text_before(layout: Layout, place: str) -> bytes:
    """Return the text of a file from before it was shortened.

    Raise NotFound if it was not shortened, Refused if it was edited since: then a person has to join both texts.
    """
    kept = kept_path(layout, _shortened_name(place))
    if not is_own_file(kept):
        raise NotFound(
            f"{place} was not shortened on this machine",
            f"run 'git log {shlex.quote(place)}' to find its text",
        )
    if place in changed_rule_files(layout) or not os.path.isfile(
        os.path.join(layout.project, place)
    ):
        into = os.path.join(layout.project, f"{place}.before")
        raise Refused(
            f"{place} was edited after it was shortened: its text from before is only on this machine",
            f"move that text into your project and join both by hand: mv {shlex.quote(kept)} {shlex.quote(into)}",
        )
    return read_bytes(kept)


def lengthen(layout: Layout, place: str) -> None:
    """Write back the text of a shortened file, and forget that it was shortened. Raise as `text_before`, or OSError."""
    file = os.path.join(layout.project, place)
    replace_whole(file, text_before(layout, place), within=layout.project)
    note_rule_files(layout, [place])
    os.remove(kept_path(layout, _shortened_name(place)))


def _shortened_name(place: str) -> str:
    return f"{SHORTENED}/{place.replace('/', '%')}"
