"""The LanceDB store as a plug-in, which needs the extra `lancedb`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ....model.errors import BadInput, IndexBroken
from ..protocol import StorePlugin
from .told import Telling, told

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...open_store import StoreHome
    from ..protocol import Migrated, OutsideStore, Row

T = TypeVar("T")


class LancePlugin(StorePlugin):
    """LanceDB in a folder beside the index, or in an object store."""

    package = "lancedb"
    install = "pip install 'rawkomem[lancedb]'"
    takes_url = True
    rfc_tables = True

    def place(self, home: StoreHome) -> str:
        """Return the folder beside the index, or a folder of this clone's own below the user's url."""
        return f"{home.url.rstrip('/')}/{home.repository}/{home.clone}" if home.url else home.folder

    def open(self, home: StoreHome, dims: int) -> OutsideStore:
        """Open the store; whatever its engine raises is told in one line."""
        from .store import LanceStore

        place = self.place(home)
        return cast("OutsideStore", Telling(LanceStore(place, dims), "lancedb", lambda failure: told(failure, place)))

    def publish(
        self, home: StoreHome, dims: int, memories: Mapping[str, Row], blocks: Sequence[Row], skills: Sequence[Row]
    ) -> int:
        """Fill the tables of RFC-0011 with what the store is not told."""
        from .publish import publish

        place = self.place(home)
        try:
            return publish(place, dims, memories, blocks, skills)
        except (ValueError, OSError, RuntimeError) as failure:
            raise IndexBroken(f"the tables cannot be written: {told(failure, place)}", "try again") from None

    def migrate(self, place: str) -> Migrated:
        """Bring memory_entries from V1 to V2."""

        def work(db: Any) -> Migrated:
            from .migration import migrate

            return migrate(db, datetime.now(UTC))

        return self._with(place, work)

    def rollback(self, place: str, anyway: bool) -> int:
        """Undo that, as long as its backup is there."""

        def work(db: Any) -> int:
            from .migration import rollback

            return rollback(db, anyway)

        return self._with(place, work)

    def _with(self, place: str, work: Callable[[Any], T]) -> T:
        try:
            import lancedb
        except ModuleNotFoundError:
            raise BadInput("this needs the package lancedb", self.install) from None
        try:
            return work(lancedb.connect(place))
        except (ValueError, OSError, RuntimeError) as failure:
            raise BadInput(f"the LanceDB cannot be used: {told(failure, place)}", "check its folder or url") from None


PLUGIN = LancePlugin()
