"""The LanceDB store as a plug-in, which needs the extra `lancedb`."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from ....model.errors import BadInput, IndexBroken
from ..protocol import StorePlugin
from .told import Telling, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...open_store import StoreHome
    from ..protocol import Migrated, Missing, OutsideStore, Row


class LancePlugin(StorePlugin):
    """LanceDB in a folder beside the index, or in an object store."""

    package = "lancedb"
    extra = "lancedb"
    takes_url = True
    rfc_tables = True

    def place(self, home: StoreHome) -> str:
        """Return the folder beside the index, or this clone's folder below the user's url."""
        return f"{home.url.rstrip('/')}/{home.repository}/{home.clone}" if home.url else home.folder

    def open(self, home: StoreHome, dims: int) -> OutsideStore:
        """Open the store. Errors of LanceDB become IndexBroken errors of one line."""
        from .store import LanceStore

        place = self.place(home)
        return cast("OutsideStore", Telling(LanceStore(place, dims), place))

    def publish(
        self, home: StoreHome, dims: int, memories: Mapping[str, Row], blocks: Sequence[Row], skills: Sequence[Row]
    ) -> int:
        """Fill the tables of RFC-0011 with the data that the search store does not hold."""
        from .publish import publish

        with self._writing(self.place(home)) as place:
            return publish(place, dims, memories, blocks, skills)

    def publish_new(
        self, home: StoreHome, dims: int, memories: Mapping[str, Row], missing: Missing, skills: Sequence[Row] | None
    ) -> bool:
        """Add new rows to the tables of RFC-0011; StorePlugin documents the parameters."""
        from .publish import publish_new

        with self._writing(self.place(home)) as place:
            return publish_new(place, dims, memories, missing, skills)

    @contextmanager
    def _writing(self, place: str) -> Iterator[str]:
        """Turn errors of LanceDB into IndexBroken."""
        try:
            yield place
        except (ValueError, OSError, RuntimeError) as failure:
            message = f"the LanceDB tables cannot be written: {told(failure, place)}"
            raise IndexBroken(message, "check the folder or url, then try again") from None

    def migrate(self, place: str) -> Migrated:
        """Migrate memory_entries from V1 to V2."""
        with self._connected(place) as db:
            from .migration import migrate

            return migrate(db, datetime.now(UTC))

    def rollback(self, place: str, anyway: bool) -> int:
        """Undo `migrate`, while its backup exists."""
        with self._connected(place) as db:
            from .migration import rollback

            return rollback(db, anyway)

    @contextmanager
    def _connected(self, place: str) -> Iterator[Any]:
        """Open a database; turn errors of LanceDB into BadInput."""
        try:
            import lancedb
        except ModuleNotFoundError:
            raise BadInput("this needs the package lancedb", f"run: {self.how_to_install()}") from None
        try:
            yield lancedb.connect(place)
        except (ValueError, OSError, RuntimeError) as failure:
            raise BadInput(f"the LanceDB cannot be used: {told(failure, place)}", "check its folder or url") from None


PLUGIN = LancePlugin()
