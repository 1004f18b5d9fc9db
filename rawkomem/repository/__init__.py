"""Repository: the library's front door. Wiring only: each method makes one or two calls into the layers below.

reading.py     asks the index
injecting.py   … what belongs in a prompt
writing.py     carries out plans
deciding.py    … and makes those about memories and claims

One class in four steps, each building on the one before. Modules that only writing, checking or parsing need are
imported inside the methods that use them: a cold search answers in the time that importing them would take.
"""

from __future__ import annotations

from ..embed.chain import AUTO
from ..files.layout import find_layout
from ..index.open_store import MEMORY
from .deciding import Deciding, Stored
from .reading import warn_on_stderr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..exchange.sinks.tell import SinkStatus
    from ..exchange.sinks.webhook import Flushed
    from ..files.check import Checked
    from ..index.index import SyncReport
    from ..index.status import Status

__all__ = ["Repository", "Stored", "warn_on_stderr"]


class Repository(Deciding):
    """A project's memories: files in `.rawko/` and the index that follows them."""

    @classmethod
    def open(
        cls, start: str = "", warn: Callable[[str], None] = warn_on_stderr, via: str = "", store: str = ""
    ) -> Repository:
        """The repository of a folder or of one of its parents; with a `store` other than the settings name."""
        return cls(find_layout(start), warn, via, store=store)

    # Removing for good

    def purge(self, name: str) -> Sequence[str]:
        """Rewrite files without any entry about this memory. Returns the paths that changed.

        The index is made anew, not updated: freed pages of a database still hold what was in them.
        """
        from ..exchange.sinks.queue import Queue
        from ..files.local.ledger.forget import forget as forget_in_ledger
        from ..files.purge import purge
        from ..index.contextual.fill import forget_vectors
        from ..index.open_store import forget_others

        memory = self.get(name)
        paths = sorted(self.index.catalogue.paths_about(memory.id))
        said = [f"{entry.title} {entry.body}" for entry in self._past().entries_about(memory.id)]
        changed = purge(self.layout, memory.id, paths)
        Queue(self.layout).forget(memory.id)
        self.forget_answers()
        self.index.discard()
        forget_vectors(self.index)
        for other in forget_others(self.layout, self.settings.store.name):
            self.warn(
                f"the store {other} may hold the text until it is used again: RAWKOMEM_STORE={other} rawkomem sync"
            )
        self.index.sync()
        forget_in_ledger(self.layout, memory.id, said)
        self._keep_contents()
        return changed

    # Keeping

    def sync(self, progress: Callable[[int, int], None] | None = None) -> SyncReport:
        """Bring the index up to date with the files, and with who committed them: the next injection need not."""
        report = self.index.refresh(progress)
        authors = self._authors()
        if authors:
            authors.refresh()
        return report

    def deepen(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Fill in the contextual vectors that are missing: minutes for a thousand memories. Returns how many it did."""
        from ..index.contextual.fill import deepen

        return deepen(self.index, progress)

    def deepen_behind(self) -> bool:
        """Leave a worker behind that does so; whether one was started."""
        from ..index.contextual.worker import fill_behind

        lasting = self.settings.store.name != MEMORY  # no other process could fill that
        return self.settings.embedder.provider == AUTO and lasting and fill_behind(self.index)

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> SyncReport:
        """Make the index anew from the files."""
        return self.index.sync(progress, rebuild=True)

    def status(self) -> Status:
        """Files against index, proven by hashes."""
        from ..index.status import status

        return status(self.index)

    def check(self) -> Sequence[Checked]:
        """What is wrong with each file, and with MEMORY.md where there is one."""
        from ..files.check import check_page, check_repository
        from ..files.page import PAGE

        page = check_page(self.layout, lambda: self._contents(self.layout.path(PAGE)))
        return [*page, *check_repository(self.layout)]

    # Sinks

    def sinks(self) -> Sequence[SinkStatus]:
        """How each sink of the user stands."""
        from ..exchange.sinks.tell import sink_statuses

        return sink_statuses(self.layout, self.settings.sinks)

    def flush_sinks(self, due_only: bool = False) -> Flushed:
        """Send what waits for the webhook, now and in this process."""
        from ..exchange.sinks.webhook import Flushed, flush, open_client

        webhook = self.settings.sinks.webhook
        if not webhook.url:
            return Flushed(0, 0, 0)
        return flush(self.layout, open_client(webhook), self.warn, due_only)

    def wake_sinks(self) -> None:
        """Start a sender in the background where something is due."""
        if self.settings.sinks.webhook.url:
            from ..exchange.sinks.worker import wake_sender

            wake_sender(self.layout)
