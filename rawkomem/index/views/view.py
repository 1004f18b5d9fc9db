"""Shows memories through a filter, now or as of a time; it checks what a store cannot: validity, trust and history."""

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
        self._columns = columns  # that the store compares; what else a filter asks for, it is given as ids
        self.catalogue = catalogue
        self.only = replace(only, current=only.current or bool(only.as_of))
        self.at = only.as_of or now()
        self._open_authors = open_authors
        self.strict = strict  # whether only commits and reviews vouch for what a memory says
        self._believed: Believed | None = None
        self._past: Past | None = None
        self._condition: Callable[[Memory], bool] | None = None
        self._docs: dict[str, str] = {}  # what is read of memories that are expected

    @property
    def authors(self) -> Authors | None:
        """Return who committed what; None: nobody knows."""
        return self._open_authors()

    @property
    def believed(self) -> Believed:
        """Return how far memories are believed at the time of this view."""
        if self._believed is None:
            from .believed import Believed  # most answers ask for no trust

            self._believed = Believed(self.layout, self.catalogue, self.authors, self.at, self.strict)
        return self._believed

    def _trust(self, memory: Memory) -> float:
        return self.believed.trust(memory).value

    @property
    def stored(self) -> Filter:
        """Return the part of the filter that a store can check; of the past it knows only what never changes."""
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
        """Return `stored` for those memories that a person vouches for, or for the others."""
        only = self.stored
        if "vouched" in self._columns:
            return replace(only, vouched=1) if vouched else replace(only, unvouched=1)
        ids = [row.id for row in self.catalogue.all() if bool(row.vouched) == vouched]
        return replace(only, ids=tuple(id for id in ids if not only.ids or id in only.ids) or ("",))

    def groups(self) -> dict[bool | None, Filter]:
        """Return what a store is asked for, by whether a person vouches for it: so that nothing crowds that out."""
        if self.only.as_of or not self.catalogue.has_unvouched():
            return {None: self.stored}
        return {vouched: self.stored_if(vouched) for vouched in (True, False)}

    def row(self, id: str) -> Row | None:
        """Return the columns of a memory that the store found; None where it is outside the filter after all."""
        if self.only.as_of or self.only.trust or self.only.where:
            from ..lists import row_of

            memory = self.memory(id)
            return row_of(memory) if memory else None
        row = self.catalogue.row(id)
        return row if row and (not self.only.current or is_valid(row, self.at)) else None

    def expect(self, ids: Sequence[str]) -> None:
        """Read several memories at once: `memory` will be asked for most of them."""
        if not self.only.as_of:
            self._docs = self.catalogue.docs_of(ids)

    def memory(self, id: str) -> Memory | None:
        """Return a whole memory; None where it is unknown or outside the filter."""
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
        """Return the memories that pass what the store cannot check; if none does, an id that no memory has."""
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
        """Return the memory as it stood;

        a memory deleted today stays hidden, unless the filter asks for deleted ones.
        """
        row = self.catalogue.row(id)
        statuses = self.only.statuses
        if row is None or (row.status == "deleted" and statuses and "deleted" not in statuses):
            return None
        return self.past.memory(id)

    def rows(self) -> list[Row]:
        """Return all memories inside the filter, the last changed first."""
        from ..lists import asks_for_facts, rows_inside

        every = self.catalogue.all()
        if self.only.as_of:
            rows = [row for row in (self.row(known.id) for known in every) if row]
            return sorted(rows, key=lambda row: (-row.updated, row.id))
        rows = rows_inside(every, self.only, self.at)
        return [row for row in rows if self.memory(row.id)] if asks_for_facts(self.only) else rows

    @property
    def past(self) -> Past:
        """Return the moment that `as_of` names."""
        if self._past is None:
            from ..vouching import vouching
            from .past import Past  # reads and folds files: only for questions about the past

            vouches = vouching(self.layout, self.catalogue.db, self.strict)
            self._past = Past(self.layout, self.catalogue, self.at, vouches)
        return self._past
