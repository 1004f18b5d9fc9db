"""Remove a text for good: that of a memory, or a text that never became one. If the purge of a memory crashes at any
point, the next command of any kind finishes it.

The steps, each of which can be repeated:

1. Record the intent.
2. Remove the text from everything that this machine remembers (files/forgetting.py). This needs the text, to find it there.
3. Cut the text out of memory files and bundles.
4. Remove the index and every other copy made from files. This is late, because a sync would make the copies again.
5. Remove the intent.
6. Search all places again, and name those that still hold the text.

The purge of a text that is in no memory has no intent, which would have to hold the text: run it again.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..exchange.sinks import SinkQueue
from ..files.archive import entries_about, memories_holding, purge_files
from ..files.forgetting import MIN_CHARS, PurgedText, files_in, forget_text
from ..files.git_folder import kept_folder, other_checkouts
from ..files.kept_texts import forget_edited
from ..files.layout import Layout
from ..files.ledger import forget_in_ledger
from ..files.machine_records import (
    close_intent,
    forget_prompts,
    forget_talks,
    known_transcripts,
    note_intent,
    note_purge,
)
from ..files.private import lock
from ..files.records import open_intents, unused_paths
from ..files.replace import remove_temporary, remove_unfinished, temporary_folder
from ..index.contextual import forget_vectors
from ..index.stores.database import forget_others, index_path
from ..learn.drafts import QUOTE_KEY
from ..model.errors import BadInput, NotFound, RawkoError, Refused, Unwritable
from ..model.values import record

if TYPE_CHECKING:
    from .core import Core

MIN_TITLE_CHARS = 2 * MIN_CHARS  # a shorter title is found by chance
MAX_TOLD = 5  # places that still hold a text


@record
class Left:
    """A file that still holds a purged text, and the memories in it that do."""

    path: str
    memories: tuple[str, ...] = ()
    project: str = ""  # of another work tree


@record
class PurgedCopies:
    """The result of purging a text: place → how often it was there, and the files that still hold it."""

    removed: dict[str, int]
    left: tuple[Left, ...]


def purge_memory(core: Core, name: str) -> Sequence[str]:
    """Remove every entry about a memory and every copy of its text; return the paths that changed."""
    id = _resolve(core, name)
    with lock(core.layout, "purge"):
        entries, unread = entries_about(core.layout, id)
        if not entries:
            if not unread:
                raise NotFound(
                    f"no file contains {id}",
                    "run 'rawkomem index sync', then try again",
                )
            hint = f"fix the file (see 'rawkomem check') and run 'rawkomem purge {id}', or delete the text by hand"
            raise Refused(
                f"{unread[0]} mentions {id}, but cannot be read as memories", hint
            )
        note_intent(core.layout, id)
        core.finishing = True
        try:
            changed = _complete(core, id)
        except (RawkoError, OSError) as failure:
            why = _why_failed(failure)
            hint = "the next command continues it; check permissions and free space"
            raise Unwritable(
                f"the removal of {id} is not finished: {why}", hint
            ) from None
        finally:
            core.finishing = False
    for path in unread:
        core.warn(
            f"{path} mentions {id}, but cannot be read as memories: check it by hand"
        )
    return changed


def finish_purges(core: Core) -> dict[str, Sequence[str]]:
    """Finish interrupted purges; return id → changed paths. A failure is only a warning, so that reads still work."""
    done: dict[str, Sequence[str]] = {}
    try:
        with lock(core.layout, "purge"):
            for id in open_intents(core.layout):
                done[id] = _complete(core, id)
                core.warn(f"finished removing {id}, which was interrupted")
    except (RawkoError, OSError) as failure:
        why = _why_failed(failure)
        core.warn(f"an interrupted purge is still not finished: {why}")
    return done


def _why_failed(failure: RawkoError | OSError) -> str | None:
    """Return the reason without a path, whose name may hold the text."""
    return failure.message if isinstance(failure, RawkoError) else failure.strerror


def _resolve(core: Core, name: str) -> str:
    """Return the id for a name; if the index does not know it, search bundles and broken files, too."""
    try:
        return core.read(lambda: core.resolve(name))
    except NotFound:
        entries, unread = entries_about(core.layout, name)
        if entries or unread:
            return name
        raise


def purge_text(core: Core, text: str) -> PurgedCopies:
    """Remove a text that is in no memory from everything that this machine remembers, and search for it again.

    Raise BadInput if the text is too short, Unwritable if it cannot be removed everywhere.
    """
    purged = PurgedText([text])
    if not purged:
        raise BadInput(
            f"the text to purge has fewer than {MIN_CHARS} letters and digits",
            "pass a longer part of it: a short one is in many other texts",
        )
    layout = core.layout
    try:
        with lock(layout, "purge"), lock(layout, "write"):
            removed = _forget_records(core, purged)
            remove_temporary(temporary_folder(layout))
            remove_unfinished(layout.root)
        _forget_copies(core)
    except (RawkoError, OSError) as failure:
        raise Unwritable(
            f"the text is not removed everywhere: {_why_failed(failure)}",
            "run the command again; check permissions and free space",
        ) from None
    return PurgedCopies(dict(removed), tuple(_tell_left(core, purged)))


def _complete(core: Core, id: str) -> Sequence[str]:
    layout = core.layout
    entries, _ = entries_about(layout, id)
    texts = [
        part
        for entry in entries
        for part in (entry.body, str(entry.extra.get(QUOTE_KEY, "")), entry.title)
        if part != entry.title or len(part) >= MIN_TITLE_CHARS
    ]
    purged = PurgedText(texts)
    SinkQueue(layout).forget(id)
    forget_in_ledger(layout, id, [f"{entry.title} {entry.body}" for entry in entries])
    forget_prompts(layout)
    forget_talks(layout)
    for path in forget_edited(layout, id):
        core.warn(f"removed {path}, a copy of a file edited by hand")
    for place in _forget_records(core, purged):
        if os.path.isabs(place):
            core.warn(f"removed the text from {place}")
    changed = purge_files(layout, id)
    _forget_copies(core)
    note_purge(layout, id)
    close_intent(layout, id)
    try:
        _tell_left(core, purged)
    except (RawkoError, OSError) as failure:
        core.warn(f"removed, but not every file could be searched again: {failure}")
    return changed


def _forget_records(core: Core, purged: PurgedText) -> Counter[str]:
    """Remove a text from the records of this checkout and of the other work trees of git; return place → number."""
    removed = forget_text(core.layout, purged)
    for other in other_checkouts(core.layout):
        if os.path.isdir(other.local):
            removed += forget_text(other, purged)
            with lock(other, "index"):
                forget_others(other, "")
    return removed


def _forget_copies(core: Core) -> None:
    """Remove every copy that was made from memory files, and make the index again."""
    layout = core.layout
    core.index.expect_changes()
    core.index.discard()
    forget_vectors()
    for other in forget_others(layout, core.settings.store.name):
        again = f"RAWKOMEM_STORE={other} rawkomem index sync"
        core.warn(
            f"the store {other} may contain the text until its next sync; run: {again}"
        )
    core.index.sync()


def _tell_left(core: Core, purged: PurgedText) -> list[Left]:
    """Search everything again; return the files that still hold a text, and warn of them without quoting it."""
    layout = core.layout
    for path in unused_paths(layout):
        place_text = ascii(path)[1:-1]
        core.warn(
            f"{place_text} is not used and may contain the text: delete it if nobody uses it"
        )
    left = [
        one
        for checkout in (layout, *other_checkouts(layout))
        for one in _left_in(core, checkout, purged)
    ]
    for one in left[:MAX_TOLD]:
        place = ascii(one.path)[1:-1]
        if not one.memories:
            core.warn(
                f"{place} still holds the text or a part of it: edit or delete it"
            )
        option = f" -C {shlex.quote(one.project)}" if one.project else ""
        for id in one.memories[:MAX_TOLD]:
            command = f"rawkomem{option} purge {shlex.quote(id)}"
            core.warn(
                f"{id} in {place} holds the text or a part of it, too; run: {command}"
            )
    if left[MAX_TOLD:]:
        core.warn(f"{len(left) - MAX_TOLD} more files hold the text or a part of it")
    return left


def _left_in(core: Core, checkout: Layout, purged: PurgedText) -> list[Left]:
    """Return the files of a checkout that hold a text: memory files, other files by their bytes, transcripts of hosts."""
    project = checkout.project if checkout != core.layout else ""
    holding = {
        checkout.path(path): Left(
            _shown(purged, checkout.path(path)), tuple(sorted(ids)), project
        )
        for path, ids in memories_holding(checkout, purged.is_in).items()
    }
    folders = [checkout.root]
    derived = []
    if os.path.isdir(checkout.local):
        index = index_path(checkout)
        folders.append(os.path.dirname(index))
        store = os.path.join(os.path.dirname(index), core.settings.store.name, "")
        derived += [index.removesuffix(".db"), store]
    if not project:  # all work trees share the records
        folders.append(kept_folder(checkout))
    paths = [path for folder in dict.fromkeys(folders) for path in files_in(folder)]
    if not project:
        paths += filter(os.path.isfile, known_transcripts(checkout))
    # what is made from memory files goes with them
    others = [
        path
        for path in dict.fromkeys(paths)
        if path not in holding and not (holding and path.startswith(tuple(derived)))
    ]
    return [
        *holding.values(),
        *(
            Left(_shown(purged, path), (), project)
            for path in others
            if _is_in_file(purged, path)
        ),
    ]


def _shown(purged: PurgedText, path: str) -> str:
    """Return a path without the text, which a file's name may hold."""
    folder, name = os.path.split(path)
    return os.path.join(folder, purged.cut(name))


def _is_in_file(purged: PurgedText, path: str) -> bool:
    with open(path, "rb") as stream:
        return purged.is_in_bytes(stream.read())
