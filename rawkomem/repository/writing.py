"""Writing: carries out plans under the repository lock, and tells whoever has to know."""

from __future__ import annotations

from ..model.errors import BadInput, RawkoError
from ..model.record import replace
from .injecting import Injecting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..files.append import Written
    from ..model.entry import Entry, Plan, Value


class Writing(Injecting):
    """Entries on their way into files."""

    def amend(self, name: str, entry: Entry, via: str = "") -> Written:
        """Append an entry that changes what a memory says."""
        from ..state.changes.amend import plan_amend

        return self.write(plan_amend(self.get(name), entry), via)[0]

    def delete(self, name: str, reason: str = "", by: str = "") -> Written:
        """Append a tombstone; the text stays in the file and in history."""
        from ..state.changes.delete import plan_delete

        return self.write(plan_delete(self.get(name), reason, by))[0]

    def link(self, name: str, other: str, type: str = "related", by: str = "") -> Sequence[Written]:
        """Append a link from one memory to another."""
        from ..state.changes.link import plan_link

        return self.write(plan_link(self.get(name), self.get(other), type, by))

    def unlink(self, name: str, other: str, type: str = "", by: str = "") -> Sequence[Written]:
        """Take back the links between two memories, of one type or all."""
        from ..state.changes.link import plan_unlink

        return self.write(plan_unlink(self.get(name), self.get(other), type, by))

    def cite(self, name: str, places: Sequence[str], by: str = "") -> Written:
        """Append an entry that makes a memory cite these places as they are now."""
        from ..state.changes.amend import plan_cite

        citations = [self.citation(place).citation for place in places]
        return self.write(plan_cite(self.get(name), citations, by))[0]

    def write(self, plan: Plan, via: str = "") -> Sequence[Written]:
        """Carry out a plan. `via` tells how it arrived: person, agent, import, distilled, or a source class."""
        return self.write_decided(lambda: plan, via)

    def write_decided(self, decide: Callable[[], Plan], via: str = "") -> Sequence[Written]:
        """Decide and write under one lock, on fresh answers: no other writer comes between the two."""
        from ..files.append import write_locked
        from ..files.lock import lock
        from ..state.belief.trust import ARRIVALS, BASES

        if via and via not in (*ARRIVALS, *BASES):
            raise BadInput(f"unknown way to arrive: {via!r}", "one of " + ", ".join((*ARRIVALS, *BASES)))
        with lock(self.layout, "write"):
            self.forget_answers()
            self.index.expect_changes()
            plan = self._anonymised(decide(), via)
            self.index.expect_changes()
            written = write_locked(self.layout, plan)
            self._note_arrivals(written, via)  # before others decide about these words
        self._tell_sinks(plan, written)
        self._note_written(written)
        self._keep_contents()
        return written

    def _anonymised(self, plan: Plan, via: str) -> Plan:
        """Names become ids in what was recorded or distilled: no person looked at it."""
        from ..redaction.anonymize import anonymize_entry, unseen

        if not any(unseen(entry, via or self.via) for entry in plan.entries):
            return plan
        from ..git.user import people_here

        people = people_here(self.layout.project, self.settings.names)
        entries = (anonymize_entry(e, people) if unseen(e, via or self.via) else e for e in plan.entries)
        return replace(plan, entries=tuple(entries))

    def _note_arrivals(self, written: Sequence[Written], via: str) -> None:
        from ..files.local.arrivals import note_arrivals

        ways: dict[str, list[str]] = {}
        for item in written:
            ways.setdefault(self._arrival(item.entry.extra, via), []).append(item.entry.id)
        for way, ids in ways.items():
            note_arrivals(self.layout, ids, way)

    def _arrival(self, extra: Mapping[str, Value], via: str) -> str:
        """How words arrive: as the caller says, else by what the host program declares with them."""
        from ..state.belief.trust import claimed_source

        return via or self.via or claimed_source(extra) or "unknown"

    def _tell_sinks(self, plan: Plan, written: Sequence[Written]) -> None:
        """The entries are on disk: whatever is wrong from here on is a warning."""
        try:
            sinks = self.settings.sinks
        except RawkoError as failure:
            self.warn(f"sinks not told: {failure.message}")
            return
        if sinks.any:
            from ..exchange.sinks.tell import tell_sinks

            tell_sinks(self.layout, sinks, plan.code, [item.entry for item in written], self.warn)

    def _note_written(self, written: Sequence[Written]) -> None:
        """Tell the ledger. The entries are on disk: whatever is wrong from here on is a warning."""
        try:
            if self.settings.ledger == "off":
                return
            from ..files.local.ledger.written import note_written

            note_written(self.layout, [item.entry for item in written])
        except RawkoError as failure:
            self.warn(f"not in the ledger: {failure.message}")

    def write_contents(self, file: str = "") -> tuple[str, bool]:
        """Write MEMORY.md, which links to every memory in use: where it lies, and whether it changed."""
        from ..files.lock import lock
        from ..files.page import PAGE, write_page

        file = file or self.layout.path(PAGE)
        with lock(self.layout, "write"):
            return file, write_page(file, self._contents(file))

    def _contents(self, file: str) -> str:
        """What the page says that lies there."""
        from ..exchange.contents import contents
        from ..index.lists import memory_of

        memories = self._answer(lambda: [memory_of(doc) for doc in self.index.catalogue.docs()])
        return contents(memories, self.layout.from_file(file))

    def _keep_contents(self) -> None:
        """Let the page follow a write, where the project wants that; the write itself is done: a failure is told."""
        try:
            if self.settings.contents:
                self.write_contents()
        except RawkoError as failure:
            self.warn(f"MEMORY.md is not up to date: {failure.message}")
