"""The write path: write plans under the repository lock, then update sinks, the ledger and MEMORY.md."""

from __future__ import annotations

from ..files.append import write_locked
from ..files.local.arrivals import note_arrivals
from ..files.local.changes import note_change
from ..files.local.ledger.operation import operation_of
from ..files.lock import lock
from ..git.tracked import tracked_files
from ..index.stores.database import DatabaseError
from ..model.errors import BadInput, RawkoError
from ..model.kinds import RECORDED
from ..model.record import replace
from ..state.belief.trust import ARRIVALS, BASES, claimed_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..files.append import Written
    from ..model.entry import Entry, Plan, Value
    from .core import Core

DISTILLED = "distilled"  # origin of texts that a program made from other texts


class OneChange:
    """Joins all writes inside a `with` block into one change for `undo`."""

    def __init__(self, writer: Writer):
        self._writer, self._outer = writer, writer.joins

    def __enter__(self) -> None:
        self._writer.joins = True

    def __exit__(self, *failure: object) -> None:
        self._writer.joins = self._outer
        if not self._outer:
            self._writer.change = ""


class Writer:
    """Writes entries into the files of one repository."""

    def __init__(self, core: Core):
        self._core = core
        self.joins, self.change = False, ""  # whether the next write belongs to the same change, and the change's name

    def write(self, plan: Plan, via: str = "") -> Sequence[Written]:
        """Write a plan. `via` is its origin: person, agent, import, distilled, or a source class."""
        return self.write_decided(lambda: plan, via)

    def write_decided(
        self, decide: Callable[[], Plan], via: str = "", may_be_retry: Callable[[Entry], bool] = lambda entry: False
    ) -> Sequence[Written]:
        """Run `decide` and write its plan under one lock, so that no other process writes in between."""
        core = self._core
        if via and via not in (*ARRIVALS, *BASES):
            raise BadInput(f"unknown origin (via) {via!r}", "use one of " + ", ".join((*ARRIVALS, *BASES)))
        core.finish_purges()
        with lock(core.layout, "write"):
            core.forget_answers()
            core.index.expect_changes()
            plan = self._anonymized(decide(), via)
            core.index.expect_changes()
            # The rename in write_locked is the only commit point.
            written = write_locked(
                core.layout,
                plan,
                core.warn,
                may_be_retry,
                lambda entries: self._note_arrivals(entries, via),
                lambda paths: tracked_files(core.layout, paths),
            )
            self._try(lambda: self._note_change(plan, written), "'rawkomem undo' cannot undo this change")
        targets = (*dict.fromkeys(item.entry.target for item in written),)
        core.written, core.unpublished = (*core.written, *targets), (*core.unpublished, *targets)
        self._tell_others(plan, [item.entry for item in written if not item.again])
        self.follow_page()
        return written

    def arrival(self, extra: Mapping[str, Value], via: str) -> str:
        """Return the origin of a text: that of the call, else of this program, else the one that the text declares."""
        return via or self._core.via or claimed_source(extra) or "unknown"

    def _anonymized(self, plan: Plan, via: str) -> Plan:
        """Replace names by ids in recorded and distilled entries, because no person checked them."""
        way = via or self._core.via
        if not any(_unseen(entry, way) for entry in plan.entries):
            return plan
        from ..git.user import people_here
        from ..redaction.entry import anonymize_entry

        people = people_here(self._core.layout.project, self._core.settings.names)
        entries = (anonymize_entry(entry, people) if _unseen(entry, way) else entry for entry in plan.entries)
        return replace(plan, entries=tuple(entries))

    def as_one_change(self) -> OneChange:
        """Return a context manager that joins all writes into one change for `undo`."""
        return OneChange(self)

    def _note_change(self, plan: Plan, written: Sequence[Written]) -> None:
        """Record the entries for `undo`, under the write lock."""
        entries = [item.entry for item in written if not item.again]
        if entries:
            name = note_change(self._core.layout, entries, plan.undoes, self.change)
            self.change = name if self.joins else ""

    def _note_arrivals(self, entries: Sequence[Entry], via: str) -> None:
        """Record the origin of entries before they are written, because the next reader needs it."""
        arrived = [(entry.id, entry.digest, self.arrival(entry.extra, via)) for entry in entries]
        note_arrivals(self._core.layout, arrived)

    def _tell_others(self, plan: Plan, entries: Sequence[Entry]) -> None:
        """Notify the user's sinks and the ledger. A failure is only a warning, because the entries are on disk."""
        core = self._core
        if not entries:
            return

        def tell() -> None:
            if core.settings.sinks.any:
                from ..exchange.sinks.tell import tell_sinks

                tell_sinks(core.layout, core.settings.sinks, plan.code, entries, core.warn)

        def note() -> None:
            if core.settings.ledger != "off" and any(operation_of(entry) for entry in entries):
                from ..files.local.ledger.written import note_written

                note_written(core.layout, entries, core.settings.ledger_days)

        self._try(tell, "written, but the sinks were not notified")
        self._try(note, "written, but not in the ledger")

    def _try(self, work: Callable[[], object], otherwise: str) -> None:
        """Run a step that follows a write; a failure is a warning that starts with `otherwise`."""
        try:
            work()
        except (RawkoError, OSError, DatabaseError) as failure:
            self._core.warn(f"{otherwise}: {failure}")

    def contents(self, file: str) -> str:
        """Return the text of MEMORY.md, with links relative to `file`."""
        from ..exchange.contents import contents

        return contents(self._core.reading.all(), self._core.layout.from_file(file))

    def write_contents(self, file: str = "") -> tuple[str, bool]:
        """Write MEMORY.md; return its path and whether it changed."""
        from ..files.page import PAGE, write_page

        file = file or self._core.layout.path(PAGE)
        with lock(self._core.layout, "write"):
            return file, write_page(file, self.contents(file))

    def follow_page(self) -> None:
        """Update MEMORY.md if the setting `contents` is on; a failure is a warning."""

        def write() -> None:
            if self._core.settings.contents:
                self.write_contents()

        self._try(write, "MEMORY.md is not up to date")


def _unseen(entry: Entry, via: str) -> bool:
    """Return whether an entry was recorded or distilled, so that no person saw it before."""
    return entry.kind in RECORDED or via == DISTILLED
