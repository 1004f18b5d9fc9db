"""Write the files of a new repository, remove what rawkomem wrote, find templates and documentation."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from ..model.entries import Unreadable, Value
from ..model.errors import BadInput, Refused
from ..model.values import FORMAT, filled, record
from ..text.chunks import counted
from .git_folder import kept_folder
from .kept_texts import lengthen, shortened_places, text_before, unsaved_texts
from .layout import (
    FOLDER,
    FOLDER_MODE,
    Layout,
    explained,
    read_bytes,
    read_text_file,
    refuse_odd_name,
    user_cache,
    user_config,
    walk,
)
from .private import EDITS, kept_path
from .records import close_records, read, unused_paths
from .replace import is_below, leads_out
from .session_records import DraftRecords

CONFIG_TEXT = f"""\
# Settings of this repository; 'rawkomem docs settings' lists them all.
# Endpoints, keys and commands belong in your own config, never here.

format: {FORMAT}                 # of the memory files; rawkomem writes this line
# embedder: static        # the bundled vectors: no download, no server; minilm is better with code and much slower
"""

IGNORE_TEXT = """\
# What belongs to this machine: the index, usage counts, the ledger, locks. Never to be committed.
# The index is made again by itself; deleting the rest loses it: see 'rawkomem docs format'.
/local/
"""

ATTRIBUTES_TEXT = """\
# Memories have the same bytes on every system, and are merged entry by entry once 'rawkomem connect git' has run.
*.md text eol=lf
*.md merge=rawkomem
"""


@record
class StartFile:
    """One file that `init` writes; if the file exists, it is not changed."""

    path: str
    text: str
    exists: bool


def plan_start(project: str) -> list[StartFile]:
    """Return the files that `init` would write into a project."""
    root = os.path.join(project, FOLDER)
    refuse_odd_name(os.path.abspath(root))
    parts = os.path.abspath(project).split(os.sep)
    if FOLDER in parts:
        above = os.sep.join(parts[: parts.index(FOLDER)])
        raise Refused(f"{project} is inside a {FOLDER}", f"run this in {above}")
    files = {
        "config.yaml": CONFIG_TEXT,
        ".gitignore": IGNORE_TEXT,
        ".gitattributes": ATTRIBUTES_TEXT,
        "memories/.gitkeep": "",
    }
    paths = {
        os.path.normpath(os.path.join(root, name)): text for name, text in files.items()
    }
    return [
        StartFile(path, text, os.path.lexists(path)) for path, text in paths.items()
    ]


def make_personal_folder(folder: str) -> None:
    """Create the folder of the user's own repository, readable only by the user."""
    hint = "check permissions, or set XDG_DATA_HOME to a folder that you can write"
    with explained(f"cannot make {folder}", hint):
        os.makedirs(folder, FOLDER_MODE, exist_ok=True)
        os.chmod(folder, FOLDER_MODE)


def write_start(steps: Iterable[StartFile]) -> None:
    """Write the files that do not exist yet; raise Refused if a folder is a link."""
    for step in steps:
        if step.exists:
            continue
        folder = os.path.dirname(step.path)
        root = folder.rpartition(FOLDER)[0] + FOLDER
        if link := next((path for path in (root, folder) if os.path.islink(path)), ""):
            raise Refused(f"{link} is a link", "remove it, then run the command again")
        with explained(f"cannot write {step.path}"):
            os.makedirs(folder, exist_ok=True)
            with open(step.path, "x", encoding="utf-8", newline="\n") as stream:
                stream.write(step.text)


# List and remove the files that rawkomem wrote, except the memories.

COMMAND_NAMES = (b"rawkomem", b"rawko ")  # our commands, as settings contain them
# Files of git and other programs in a project that may call our commands.
PROJECT_FILES = (
    ".git/hooks", ".husky", "lefthook.yml", ".pre-commit-config.yaml", ".gitattributes", "AGENTS.md",
)  # fmt: skip


@record
class Leaving:
    """Paths to remove, paths that stay, files of other programs that mention our commands, shortened files."""

    gone: tuple[tuple[str, str], ...]  # (path, what it is)
    stays: tuple[tuple[str, str], ...]
    mentions: tuple[str, ...]
    shortened: tuple[str, ...]  # places of files that get their text back


def plan_uninstall(layout: Layout, of_hosts: Sequence[str] = ()) -> Leaving:
    """Return what `uninstall` would do; `of_hosts` are files of agent hosts that may mention our commands.

    Raise Refused if a shortened file was edited since: its text from before has no other copy.
    """
    shortened = shortened_places(layout)
    for place in shortened:
        text_before(layout, place)
    kept = kept_folder(layout)
    only = only_here(layout)
    what = f"no other copy: {', '.join(only)}" if only else "records"
    gone = [(kept, what)]
    if layout.local != kept:
        gone.append((layout.local, "index, locks and logs"))
    gone.append(
        (user_cache(), "caches of all your projects, which rawkomem fills again")
    )
    stays = [
        (os.path.dirname(user_config()), "your own settings and keys, for all projects")
    ]
    stays += [
        (path, "not used: you did not make it on this machine")
        for path in unused_paths(layout)
        if not is_below(path, kept) and not is_below(path, layout.local)
    ]
    for step in plan_start(layout.project):
        inside = step.exists and not leads_out(os.path.dirname(step.path), layout.root)
        ours = inside and _bytes_of_file(step.path) == step.text.encode()
        (gone if ours else stays).append(
            (step.path, "as init wrote it" if ours else "changed by you")
        )
    mentions = _mentions(
        [
            *(os.path.join(layout.project, *name.split("/")) for name in PROJECT_FILES),
            *of_hosts,
        ]
    )
    present = [
        tuple(item for item in items if os.path.lexists(item[0]))
        for items in (gone, stays)
    ]
    programs = tuple(dict.fromkeys(mentions))
    return Leaving(present[0], present[1], programs, tuple(shortened))


# name → rows of the records
ONLY_HERE = {
    "undoable change": "(SELECT DISTINCT name FROM changes)",
    "typed entry": "arrivals WHERE how = 'person'",
    "injection": "usage",
    "ledger block": "blocks",
    "unsent event": "sink_queue",
}


def undecided(layout: Layout) -> list[str]:
    """Return the numbers of drafts and of unsaved texts, if there are any: a person has to decide about them."""
    numbers = {
        "draft": len(DraftRecords(layout).all()),
        "unsaved text": len(unsaved_texts(layout)),
    }
    return [counted(number, what) for what, number in numbers.items() if number]


def only_here(layout: Layout) -> list[str]:
    """Return the numbers of everything that only this machine has."""
    edited = sum(len(names) for _, _, names in walk(kept_path(layout, EDITS)))
    numbers = {"edited file copy": edited} if edited else {}
    for what, rows in ONLY_HERE.items():
        ((numbers[what],),) = read(layout, f"SELECT count(*) FROM {rows}") or [(0,)]
    return undecided(layout) + [counted(n, what) for what, n in numbers.items() if n]


def uninstall(layout: Layout, leaving: Leaving) -> None:
    """Give shortened files their text back, then remove the planned paths without following links.

    Raise Refused if a shortened file was edited since, Unwritable if a path cannot be removed.
    """
    for place in leaving.shortened:
        with explained(f"cannot write {place}"):
            lengthen(layout, place)
    kept = kept_folder(layout)
    close_records()
    for path, _ in leaving.gone:
        with (
            explained(f"cannot remove {path}", "remove it by hand"),
            suppress(FileNotFoundError),
        ):
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
    # an empty repository would hide one in a folder above it
    for folder, _, _ in os.walk(layout.root, topdown=False):
        with suppress(OSError):
            os.rmdir(folder)
    if not is_below(kept, layout.root):
        with suppress(OSError):
            os.removedirs(os.path.dirname(kept))  # git's own folder is not empty


def _mentions(paths: Sequence[str]) -> list[str]:
    """Return the files among these paths, or directly in these folders, that name one of our commands."""
    mentions = []
    for path in paths:
        if os.path.isdir(path):
            files = [os.path.join(path, inner) for inner in sorted(os.listdir(path))]
        else:
            files = [path]
        mentions += [
            file
            for file in files
            if any(ours in _bytes_of_file(file) for ours in COMMAND_NAMES)
        ]
    return mentions


def _bytes_of_file(file: str) -> bytes:
    try:
        return read_bytes(file)
    except OSError:
        return b""


# Find and fill templates for new memories: the project's own in .rawko/templates/, else the
# shipped ones.

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# wheel, checkout
SHIPPED = (PACKAGE, os.path.dirname(PACKAGE))


def fill_template(layout: Layout, kind: str, values: Mapping[str, Value]) -> str:
    """Return the template of a kind with these frontmatter values, ready for an editor."""
    import frontmatter  # slow to import, and only editors need it

    from ..format.handler import RawkoHandler

    file = next((file for _, file in _templates(layout, kind)), "")
    if not file:
        raise BadInput(
            f"no template for kind {kind!r}", f"put {kind}.md into {layout.templates}"
        )
    handler = RawkoHandler()
    try:
        post = frontmatter.loads(read_text_file(file), handler=handler)
    except Unreadable as failure:
        raise BadInput(
            f"template {file}: {failure.problem.message}", failure.problem.hint
        ) from None
    post.metadata.update(filled(values))
    return str(frontmatter.dumps(post, handler=handler)) + "\n"


def read_templates(layout: Layout, kind: str) -> Iterator[tuple[bool, str]]:
    """Yield (is shipped, text) for each template of a kind; skip templates that cannot be read."""
    for is_shipped, file in _templates(layout, kind):
        try:
            yield is_shipped, read_text_file(file)
        except BadInput:
            continue


def _templates(layout: Layout, kind: str) -> Iterator[tuple[bool, str]]:
    shipped = (os.path.join(folder, "templates") for folder in SHIPPED)
    for folder in (layout.templates, *shipped):
        file = os.path.join(folder, f"{kind}.md")
        if os.path.isfile(file) and not leads_out(file, layout.root):
            yield folder != layout.templates, file


# Find the documentation pages in the installed package or in the checkout.

MIGRATE = "migrate"  # folder of the pages about other systems
OVERVIEW = "README"  # the page that lists all others


def list_docs_pages() -> list[tuple[str, str]]:
    """Return (name, description) of every page, in the order of the overview."""
    rows = [
        line.strip("| ").split(" | ", 1)
        for line in read_docs_page(OVERVIEW).split("\n")
        if line.startswith("| [")
    ]
    return [
        (link.partition("](")[2].removesuffix(".md)"), description)
        for link, description in rows
    ]


def read_docs_page(name: str) -> str:
    """Return the text of a page, or raise BadInput; `hosts`, `hosts.md` and `docs/hosts.md` name the same page."""
    *folders, last = name.split("/")
    file = os.path.basename(last).removesuffix(".md") + ".md"
    places = (MIGRATE,) if MIGRATE in folders else ("", MIGRATE)
    for folder in (
        os.path.join(shipped, "docs", place) for place in places for shipped in SHIPPED
    ):
        with (
            suppress(OSError),
            open(os.path.join(folder, file), encoding="utf-8") as stream,
        ):
            return stream.read()
    raise BadInput(f"there is no page {name!r}", "run 'rawkomem docs' for a list")
