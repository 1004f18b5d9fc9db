"""What is read of a grown file from its last block on is what a whole reading says, and folds to the same memory."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from rawkomem.files.layout import Layout
from rawkomem.index import ingest
from rawkomem.index.readings import Tail, pack_tail, read_for_index, read_grown, unpack_tail
from rawkomem.model.entries import Entry
from rawkomem.state.fold import after, fold

from tests.files.odd_more import SECRETS
from tests.torture.helpers import assert_equals_rebuild, change, memory

VOTE = change("feedback", "mem_1", id="feedback_1", at="2026-02-01", signal="helpful")
PIECES = (
    memory("Apple", "About apples.", id="mem_1", discoveredAt="2026-01-01"),
    memory("No id", "zebra"),
    memory("Leak", f"The token is {SECRETS['github']}."),
    memory("Odd", importance="huge"),
    VOTE,
    change("amend", "mem_1", "Without a time."),
    change("link", "", at="2026-01-02"),
    "---\ntitle: [\n---\nbroken\n",
    "---\ntitle: A label with a second one\n---\nkind: amend\n---\n",
    "\n---\n\n",
    "---\n",
    "kind: feedback\n",
    "text\n",
    "```\n",
    "<!-- a comment\n",
    "-->\n",
    "<<<<<<< HEAD\n",
    "\n",
    "é",
    "\r\n",
    "\ufeff",
    "\0",
)
some = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)


@given(some, some)
@example(PIECES[0] + "\n---\n\n" + VOTE, "\n---\n\n" + VOTE)
@example(PIECES[0] + "\n---\n\n" + VOTE + "<!-- a comment\n", PIECES[0] + "-->\n---\n" + VOTE)
@example(PIECES[0] + "\n---\n\n" + PIECES[3], "\n---\n\n" + PIECES[5])
@example(PIECES[0] + "\n---\n\n" + VOTE + "\n---\n", "kind: feedback\n---\n")
def test_the_end_of_a_grown_file_says_what_a_whole_reading_says(tmp_path_factory, before, added):
    layout = Layout(str(tmp_path_factory.getbasetemp()))
    file = tmp_path_factory.getbasetemp() / "x.md"
    file.write_text(before, newline="")
    known = read_for_index(layout, "x.md")
    file.write_text(before + added, newline="")
    whole = read_for_index(layout, "x.md")
    if known.tail:
        grown = read_grown(layout, "x.md", unpack_tail(pack_tail(known.tail)), known.hash)
        assert grown.reading.entries == whole.reading.entries[grown.above :]
        assert (grown.hash, grown.verdict, grown.tail) == (whole.hash, whole.verdict, whole.tail)
        assert known.reading.entries[: grown.above] == whole.reading.entries[: grown.above]


def test_of_a_long_file_only_the_end_is_read(tmp_path):
    layout, file = Layout(str(tmp_path)), tmp_path / "x.md"
    text = PIECES[0] + "".join("\n---\n\n" + VOTE.replace("_1", f"_{n}") for n in range(50))
    file.write_text(text)
    known = read_for_index(layout, "x.md")
    assert isinstance(known.tail, Tail) and known.tail.number == 50
    file.write_text(text + "\n---\n\n" + VOTE)
    grown = read_grown(layout, "x.md", known.tail, known.hash)
    assert (grown.above, len(grown.reading.entries)) == (50, 2)
    file.write_text("x" + text[1:] + "\n---\n\n" + VOTE)
    assert read_grown(layout, "x.md", known.tail, known.hash).above == 0


def test_a_vote_continues_the_fold_and_equals_a_rebuild(repository, memories, monkeypatch):
    (memories / "a.md").write_text(PIECES[0])
    for _ in range(3):
        repository.feedback("mem_1", "helpful")
        repository.sync()
    monkeypatch.setattr(ingest, "fold", lambda *_: None)  # the memory would be gone
    repository.feedback("mem_1", "harmful")
    known = repository.get("mem_1")
    assert (known.helpful, known.harmful, known.votes, known.entries) == (3, 1, "+++-", 5)
    monkeypatch.undo()
    assert_equals_rebuild(repository.core.index)


def test_an_entry_that_does_not_come_last_is_folded_from_all(repository, memories):
    (memories / "a.md").write_text(PIECES[0])
    for body in ("First.", "Second."):
        repository.amend("mem_1", body=body)
        repository.sync()
    with (memories / "a.md").open("a") as stream:
        stream.write("\n---\n\n" + change("amend", "mem_1", "Earlier.", id="x", at="2026-01-05"))
    assert repository.get("mem_1").body == "Second."
    (memories / "b.md").write_text(VOTE + "\n---\n\n" + VOTE.replace("_1", "_2"))
    repository.sync()
    with (memories / "b.md").open("a") as stream:  # an id that is known already
        stream.write("\n---\n\n" + change("amend", "mem_1", "Copied.", id="x", at="2099-01-05"))
    assert repository.get("mem_1").body == "Second."
    assert_equals_rebuild(repository.core.index)


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
