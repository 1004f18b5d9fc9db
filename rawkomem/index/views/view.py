"""Shows memories through a filter, now or as of a time. It checks what a store cannot: validity, trust and history."""

from __future__ import annotations

from ...model.clock import now
from ...model.filters import Filter, asked
from ...model.record import replace
from ...state.facets import is_valid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ...files.layout import Layout
    from ...model.entry import Memory
    from ..catalogue import Catalogue, Row
    from .authors import Authors
    from .believed import Believed
    from .past import Past

    OpenAuthors = Callable[[], Authors | None]


class View:
    """The memories of an index that are inside a filter."""

    def __init__(
        self,
        layout: Layout,
        catalogue: Catalogue,
        only: Filter,
        open_authors: OpenAuthors,
        columns: Collection[str],
        strict: bool = False,
    ):
        self.layout = layout
        self._columns = columns  # facets that the store can filter by; filters on others are passed as ids
        self.catalogue = catalogue
        self.only = replace(only, current=only.current or bool(only.as_of))
        self.at = only.as_of or now()
        self._open_authors = open_authors
        self.strict = strict  # whether only commits and reviews vouch for a memory
        self._believed: Believed | None = None
        self._past: Past | None = None
        self._condition: Callable[[Memory], bool] | None = None
        self._docs: dict[str, str] = {}  # memories that `expect` has read

    @property
    def authors(self) -> Authors | None:
        """Return the authors of entries; None if they are unknown."""
        return self._open_authors()

    @property
    def believed(self) -> Believed:
        """Return the trust in memories at the time of this view."""
        if self._believed is None:
            from .believed import Believed  # most answers need no trust

            self._believed = Believed(self.layout, self.catalogue, self.authors, self.at, self.strict)
        return self._believed

    def _trust(self, memory: Memory) -> float:
        return self.believed.trust(memory).value

    @property
    def stored(self) -> Filter:
        """Return the part of the filter that a store can check; for the past, only facets that never change."""
        only = self.only
        told = {
            field.name: getattr(only, field.name)
            for field, _ in asked(only)
            if field.column in self._columns and (field.lasting or not only.as_of)
        }
        if only.as_of:
            until = min(only.until or self.at + 1, self.at + 1)
            return Filter(**{**told, "until": until} if "created" in self._columns else told)
        unknown = only.where or any(field.column not in self._columns for field, _ in asked(only))
        return Filter(**{**told, "ids": self._ids()} if unknown else told)

    def stored_if(self, vouched: bool) -> Filter:
        """Return `stored` for the memories that a person vouches for, or for the others."""
        only = self.stored
        if "vouched" in self._columns:
            return replace(only, vouched=1) if vouched else replace(only, unvouched=1)
        ids = [row.id for row in self.catalogue.all() if bool(row.vouched) == vouched]
        return replace(only, ids=tuple(id for id in ids if not only.ids or id in only.ids) or ("",))

    def groups(self) -> dict[bool | None, Filter]:
        """Return filters for the store, separate for vouched and unvouched memories, if there are both.

        So unvouched memories cannot crowd out vouched ones.
        """
        if self.only.as_of or not self.catalogue.has_unvouched():
            return {None: self.stored}
        return {vouched: self.stored_if(vouched) for vouched in (True, False)}

    def row(self, id: str) -> Row | None:
        """Return the columns of a memory that the store found; None if it is outside the filter after all."""
        if self.only.as_of or self.only.trust or self.only.where:
            from ..lists import row_of

            memory = self.memory(id)
            return row_of(memory) if memory else None
        row = self.catalogue.row(id)
        return row if row and (not self.only.current or is_valid(row, self.at)) else None

    def expect(self, ids: Sequence[str]) -> None:
        """Read several memories in one query, because `memory` will be called for most of them."""
        if not self.only.as_of:
            self._docs = self.catalogue.docs_of(ids)

    def memory(self, id: str) -> Memory | None:
        """Return a whole memory; None if it is unknown or outside the filter."""
        from ..lists import memory_of, passes

        if self.only.as_of or (self.strict and self._is_typed(id)):
            memory = self._then(id)
        else:
            doc = self._docs.get(id) or self.catalogue.doc(id)
            memory = memory_of(doc) if doc else None
        if memory is None or not passes(memory, self.only, self.at, self._trust):
            return None
        return memory if not self.only.where or self._where(memory) else None

    @property
    def _where(self) -> Callable[[Memory], bool]:
        """Return the condition of the filter."""
        if self._condition is None:
            from ...files.local.usage import Access, accesses
            from ...state.lifecycle.promoted import FIELDS, columns
            from ...text.expression import parse_expression

            test, used = parse_expression(self.only.where, FIELDS), accesses(self.layout)

            def condition(memory: Memory) -> bool:
                access = used.get(memory.id, Access())
                return test(columns(memory, access.count, access.last)) is True

            self._condition = condition
        return self._condition

    def _ids(self) -> tuple[str, ...]:
        """Return the memories that pass the filter, except for trust and validity; if none does, an unused id."""
        from ..lists import memory_of, passes

        only = replace(self.only, trust=0.0, current=False)
        known = map(memory_of, self.catalogue.docs())
        passing = [memory for memory in known if passes(memory, only, self.at, self._trust)]
        return tuple(memory.id for memory in passing if not only.where or self._where(memory)) or ("",)

    def _is_typed(self, id: str) -> bool:
        """Return whether any entry about a memory was not committed by a person, so that it does not count here."""
        from ..vouching import vouching

        committed = vouching(self.layout, self.catalogue.db, strict=True)
        return not all(committed and committed.is_committed(own) for own in self.catalogue.digests_about(id).values())

    def _then(self, id: str) -> Memory | None:
        """Return the memory at the time of this view.

        A memory that is deleted now stays hidden if the filter names statuses without `deleted`.
        """
        row = self.catalogue.row(id)
        statuses = self.only.statuses
        if row is None or (row.status == "deleted" and statuses and "deleted" not in statuses):
            return None
        return self.past.memory(id)

    def rows(self) -> list[Row]:
        """Return all memories inside the filter, most recently changed first."""
        from ..lists import asks_for_facts, rows_inside

        every = self.catalogue.all()
        if self.only.as_of:
            rows = [row for row in (self.row(known.id) for known in every) if row]
            return sorted(rows, key=lambda row: (-row.updated, row.id))
        rows = rows_inside(every, self.only, self.at)
        return [row for row in rows if self.memory(row.id)] if asks_for_facts(self.only) else rows

    @property
    def past(self) -> Past:
        """Return the memories at the time of this view."""
        if self._past is None:
            from ..vouching import vouching
            from .past import Past  # reads and folds files: only for questions about the past

            vouches = vouching(self.layout, self.catalogue.db, self.strict)
            self._past = Past(self.layout, self.catalogue, self.at, vouches)
        return self._past
