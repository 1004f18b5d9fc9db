"""A memory with later entries applied equals the fold of all its entries."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rawkomem.model.entries import Entry
from rawkomem.state.fold import after, fold


@given(st.lists(st.sampled_from(["helpful", "harmful", "amend", "archive", "link", "dispute"]), max_size=8), st.data())
def test_a_continued_fold_is_the_fold_of_all(kinds, data):
    made = [Entry(id="m", title="M", body="B", at=1)]
    for at, kind in enumerate(kinds, 2):
        vote = kind in ("helpful", "harmful")
        said = {"signal": kind} if vote else {"links": ["x"], "type": "about"} if kind == "link" else {"reason": "r"}
        given_keys = ("title",) if kind == "amend" else ()
        what = {"kind": "feedback" if vote else kind, "id": f"e{at}", "about": "m", "at": at, "extra": said}
        made.append(Entry(title=f"T{at}" if kind == "amend" else "", given=given_keys, **what))
    cut = data.draw(st.integers(1, len(made)))
    assert after(fold(made[:cut]), made[cut:]) == fold(made)
