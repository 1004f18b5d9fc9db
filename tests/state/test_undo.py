"""`undo` as a pure decision: whatever one machine did to a memory, taking it back restores every field."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.model.entries import Change, Entry
from rawkomem.model.errors import Refused
from rawkomem.model.values import replace
from rawkomem.state.fold import fold
from rawkomem.state.history import differences, last_change, plan_undo

BORN = Entry(
    id="mem_1_a", title="Queues", body="Use one queue.", tags=("ops",), at=1_000, by="ada", path="memories/q.md"
)
OTHERS = st.sampled_from(["mem_2_b", "mem_3_c"])


def change(kind: str, **extra) -> Entry:
    return Entry(kind=kind, extra=extra, by="bob", given=tuple(extra) if kind == "validity" else ())


CHANGES = st.one_of(
    st.builds(lambda t: Entry(kind="amend", title=t, given=("title",)), st.sampled_from(["Queue rules", "Jobs"])),
    st.builds(lambda t: Entry(kind="amend", body=t), st.sampled_from(["Two queues.", "None."])),
    st.builds(lambda t: Entry(kind="amend", tags=t, given=("tags",)), st.sampled_from([(), ("a", "b")])),
    st.builds(lambda v: change("amend", cites=[v], owner=v), st.sampled_from(["src/x.py", "y"])),
    st.builds(lambda s: change("feedback", signal=s), st.sampled_from(["helpful", "harmful"])),
    st.builds(lambda k, r: change(k, reason=r), st.sampled_from(["reinforce", "archive", "delete", "quarantine"]), st.text("ab", max_size=2)),
    st.builds(lambda o: change("dispute", **({"outcome": "disputed"} if o else {})), st.booleans()),
    st.builds(lambda o: change("supersede", supersededBy=o, reason="newer"), OTHERS),
    st.builds(lambda a: change("review", action=a), st.sampled_from(["activate", "reject"])),
    st.builds(lambda o, r: change("link", to=o, **({"removed": "true"} if r else {})), OTHERS, st.booleans()),
    st.builds(lambda o: change("heritage", **{"from": [o]}), OTHERS),
    st.builds(lambda o: change("heritage", intentChain=[o]), OTHERS),
    st.builds(lambda v: change("validity", validUntil=v), st.sampled_from(["2027-01-01", "none"])),
    st.builds(lambda w, b: replace(change("corroborate", **({"with": w} if w else {})), by=b), st.sampled_from(["", "mem_4_d"]), st.sampled_from(["eve", "bob", ""])),
)  # fmt: skip


class Machine:
    """The entries about one memory, and what this machine knows of its own changes."""

    def __init__(self):
        self.entries, self.changes = [BORN], [Change(BORN.id, ((BORN.id, BORN.id),))]

    @property
    def memory(self):
        return fold(self.entries)

    def write(self, *entries: Entry, undoes: str = "") -> None:
        for entry in entries:
            number = len(self.entries)
            self.entries.append(
                replace(entry, id=f"{entry.kind}_{number}", about=BORN.id, at=entry.at or 1_000 + number)
            )
        written = self.entries[-len(entries) :]
        self.changes.append(Change(written[0].id, tuple((e.id, BORN.id) for e in written), undoes))

    def undo(self) -> None:
        last = last_change(self.changes)
        plan = plan_undo(last, {BORN.id: self.entries}, by="bob")
        self.write(*(replace(e, at=0) for e in plan.entries), undoes=plan.undoes)


def said(before, after) -> list:
    """What differs, but for the reason of a status, the conflicts it names, and the order of links."""
    found = {
        name: (old, new) for name, old, new in differences(before, after) if name not in ("reason", "conflicts_with")
    }
    return [pair for name, pair in found.items() if not (name == "links" and {*pair[0]} == {*pair[1]})]


@given(st.lists(CHANGES, min_size=1, max_size=5))
def test_each_undo_goes_back_by_one_change(changes):
    machine = Machine()
    states = [machine.memory]
    for entry in changes:
        machine.write(entry)
        states.append(machine.memory)
    before = len(machine.entries)
    for place in range(len(changes) - 1, -1, -1):
        try:
            machine.undo()
        except Refused:  # the change changed nothing
            assert said(states[place], states[place + 1]) == []
            return
        assert said(states[place], machine.memory) == []
    assert machine.entries[:before] == [BORN, *machine.entries[1:before]]
    machine.undo()
    assert machine.memory.status == "deleted"


def test_a_plan_of_several_entries_is_undone_as_a_whole_and_later_changes_of_others_stay():
    machine = Machine()
    machine.write(Entry(kind="amend", title="A", tags=("t",), given=("title", "tags")), change("archive"))
    machine.entries.append(Entry(kind="amend", id="theirs", about=BORN.id, title="Theirs", given=("title",), at=5_000))
    machine.undo()
    now = machine.memory
    assert (now.title, now.tags, now.status) == ("Theirs", ("ops",), "active")


def test_nothing_left_to_undo_is_refused():
    machine = Machine()
    machine.write(Entry(kind="amend", title="A", given=("title",)))
    machine.entries.append(Entry(kind="amend", id="theirs", about=BORN.id, title="Theirs", given=("title",), at=5_000))
    with pytest.raises(Refused, match="has no effect now"):
        machine.undo()
