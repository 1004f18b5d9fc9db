"""Removing a memory's text for good, so that a crash at any point is ended by whatever command comes next.

The order: note the intent; take the text out of the ledger, the drafts and the webhook's queue, which needs the
memory's own words to find it; cut it out of files and bundles; remove the index and every other copy that is made from
files, last, because a sync meanwhile would make them again; then remove the intent. Each step can be repeated.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..exchange.sinks.queue import Queue
from ..files.local.changes import note_purge
from ..files.local.drafts import Drafts
from ..files.local.edited import forget_edited
from ..files.local.intents import clear_folder, close_intent, note_intent, open_intents
from ..files.local.ledger.forget import forget as forget_in_ledger
from ..files.local.said import forget_said
from ..files.local.transcripts import forget_talks
from ..files.local.unsaved import forget_unsaved
from ..files.lock import lock
from ..files.page import PAGE
from ..files.purge import entries_about, purge
from ..index.contextual.fill import forget_vectors
from ..index.open_store import forget_others
from ..model.errors import NotFound, RawkoError, Refused, Unwritable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..model.entry import Entry
    from .core import Core


def purge_memory(core: Core, name: str) -> Sequence[str]:
    """Remove every entry about a memory and every copy of its text; return the paths that changed."""
    id = _resolve(core, name)
    with lock(core.layout, "purge"):
        entries, unread = entries_about(core.layout, id)
        if not entries:
            raise _not_there(id, unread)
        note_intent(core.layout, id)
        core.finishing = True
        try:
            changed = _complete(core, id)
        except (RawkoError, OSError) as failure:
            why = failure.message if isinstance(failure, RawkoError) else failure.strerror
            hint = "the next command of any kind goes on with it; check permissions and free space"
            raise Unwritable(f"the removal of {id} is not finished: {why}", hint) from None
        finally:
            core.finishing = False
    for path in unread:
        core.warn(f"{path} names {id}, but it cannot be read as memories: look into it by hand")
    return changed


def finish_purges(core: Core) -> dict[str, Sequence[str]]:
    """End what was interrupted; return id → changed paths. A failure is a warning: questions are answered anyway."""
    done: dict[str, Sequence[str]] = {}
    try:
        with lock(core.layout, "purge"):
            for id in open_intents(core.layout):
                done[id] = _complete(core, id)
                core.warn(f"finished removing {id}, which was interrupted")
            clear_folder(core.layout)
    except (RawkoError, OSError) as failure:
        why = failure.message if isinstance(failure, RawkoError) else failure.strerror
        core.warn(f"an interrupted purge is still not finished: {why}")
    return done


def _resolve(core: Core, name: str) -> str:
    """Return the id that is meant; one that the index does not know may be in a bundle or in a broken file."""
    try:
        return core.read(lambda: core.resolve(name))
    except NotFound:
        entries, unread = entries_about(core.layout, name)
        if entries or unread:
            return name
        raise


def _not_there(id: str, unread: Sequence[str]) -> RawkoError:
    if not unread:
        return NotFound(f"no file holds {id}", "run 'rawkomem index sync', then try again")
    hint = f"fix it ('rawkomem check' tells what is wrong), then 'rawkomem purge {id}'; or cut the text out by hand"
    return Refused(f"{unread[0]} names {id}, but it cannot be read as memories", hint)


def _quote(entry: Entry) -> str:
    from ..learn.drafts.keep import QUOTE  # only where something is purged

    return str(entry.extra.get(QUOTE, ""))


def _complete(core: Core, id: str) -> Sequence[str]:
    layout = core.layout
    entries, _ = entries_about(layout, id)
    Queue(layout).forget(id)
    forget_in_ledger(layout, id, [f"{entry.title} {entry.body}" for entry in entries])
    Drafts(layout).forget([part for entry in entries for part in (entry.title, entry.body, _quote(entry))])
    forget_said(layout)
    forget_talks(layout)
    bodies = [entry.body for entry in entries]
    for path in forget_unsaved(layout, bodies):
        core.warn(f"removed {path}, an unsaved text with words of that memory")
    for path in forget_edited(layout, id, bodies):
        core.warn(f"removed {path}, the copy of a file that was edited by hand")
    changed = purge(layout, id)
    core.forget_answers()
    core.index.expect_changes()
    core.index.discard()
    forget_vectors(core.index)
    for other in forget_others(layout, core.settings.store.name):
        again = f"RAWKOMEM_STORE={other} rawkomem index sync"
        core.warn(f"the store {other} may hold the text until it is used again: {again}")
    core.index.sync()
    if os.path.exists(layout.path(PAGE)):
        core.writer.write_contents()
    note_purge(layout, id)
    close_intent(layout, id)
    clear_folder(layout)
    return changed
