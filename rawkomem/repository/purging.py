"""Remove a memory's text for good. If it crashes at any point, the next command of any kind finishes
it.

The steps, each of which can be repeated:

1. Record the intent.
2. Remove the text from the ledger, the drafts and the webhook's queue. This needs the memory's text, to find it there.
3. Cut the text out of files and bundles.
4. Remove the index and every other copy made from files. This is late, because a sync would make the copies again.
5. Remove the intent.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..exchange.sinks import SinkQueue
from ..files.archive import entries_about, purge_files
from ..files.kept_texts import forget_edited, forget_unsaved
from ..files.ledger import forget_in_ledger
from ..files.machine_records import (
    close_intent,
    forget_prompts,
    forget_talks,
    note_intent,
    note_purge,
)
from ..files.private import lock
from ..files.records import erase_removed, open_intents
from ..files.replace import PAGE
from ..files.session_records import Drafts
from ..files.takeover import unused_paths
from ..index.contextual import forget_vectors
from ..index.stores.database import forget_others
from ..learn.drafts import QUOTE_KEY
from ..model.errors import NotFound, RawkoError, Refused, Unwritable
from .writing import write_contents

if TYPE_CHECKING:
    from .core import Core


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
            why = (
                failure.message if isinstance(failure, RawkoError) else failure.strerror
            )
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
        why = failure.message if isinstance(failure, RawkoError) else failure.strerror
        core.warn(f"an interrupted purge is still not finished: {why}")
    return done


def _resolve(core: Core, name: str) -> str:
    """Return the id for a name; if the index does not know it, search bundles and broken files, too."""
    try:
        return core.read(lambda: core.resolve(name))
    except NotFound:
        entries, unread = entries_about(core.layout, name)
        if entries or unread:
            return name
        raise


def _complete(core: Core, id: str) -> Sequence[str]:
    layout = core.layout
    entries, _ = entries_about(layout, id)
    SinkQueue(layout).forget(id)
    forget_in_ledger(layout, id, [f"{entry.title} {entry.body}" for entry in entries])
    Drafts(layout).forget(
        [
            part
            for entry in entries
            for part in (entry.title, entry.body, str(entry.extra.get(QUOTE_KEY, "")))
        ]
    )
    forget_prompts(layout)
    erase_removed(layout)
    forget_talks(layout)
    bodies = [entry.body for entry in entries]
    for path in forget_unsaved(layout, bodies):
        core.warn(f"removed {path}, an unsaved text that contained the memory's text")
    for path in forget_edited(layout, id, bodies):
        core.warn(f"removed {path}, a copy of a file edited by hand")
    for path in unused_paths(layout):
        said = ascii(path)[1:-1]
        core.warn(
            f"{said} is not used and may contain the text: delete it if nobody uses it"
        )
    changed = purge_files(layout, id)
    core.index.expect_changes()
    core.index.discard()
    forget_vectors()
    for other in forget_others(layout, core.settings.store.name):
        again = f"RAWKOMEM_STORE={other} rawkomem index sync"
        core.warn(
            f"the store {other} may contain the text until its next sync; run: {again}"
        )
    core.index.sync()
    if os.path.exists(layout.path(PAGE)):
        write_contents(core)
    note_purge(layout, id)
    close_intent(layout, id)
    return changed
