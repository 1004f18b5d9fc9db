"""Two branches that both wrote merge without conflict or loss, and to the same memories in either order. Real git."""

import os
import sys
from collections import Counter
from itertools import permutations

import pytest
from rawkomem.files.reading import read_data
from rawkomem.model.values import replace

from tests.commands import cases
from tests.conftest import ROOT
from tests.torture.branches import Decisions, Forge, Pair, folded, place_in

PAIRS = int(os.environ.get("RAWKOMEM_MERGE_PAIRS", "8"))
DECISIONS = 6
MANY = int(os.environ.get("RAWKOMEM_MERGE_PAIRS", cases(1_000, 120)))


@pytest.fixture
def forge(tmp_path):
    forge = Forge(tmp_path / "all.git")
    yield forge
    forge.close()


def entries_in(data: bytes, path: str):
    read = read_data(data, place_in(path), advice=False)
    assert not [entry for entry in read.entries if entry.draft or entry.conflicted], (path, data)
    return read.entries


def said(entry):
    """What an entry says, wherever it stands; one without an id of its own is named by its place."""
    own = {} if "id" in entry.given else {"id": "", "digest": ""}
    return repr(replace(entry, path="", line=0, leaks=False, **own))


def expected(pair: Pair) -> dict[str, list[str]]:
    """The entries that each file must hold, by sets: common ones that nobody took out, and what either side brought."""
    found = {}
    base, ours, theirs = pair.base, pair.tips["ours"], pair.tips["theirs"]
    for path in {*ours, *theirs}:
        old, mine, other = (set(side.get(path, ())) for side in (base, ours, theirs))
        found[path] = sorted((old & mine & other) | (mine - old) | (other - old))
    return found


def check(forge: Forge, number: int, pair: Pair) -> None:
    one, clean = forge.merge(f"ours-{number}", f"theirs-{number}")
    other, clean_too = forge.merge(f"theirs-{number}", f"ours-{number}")
    assert clean and clean_too, f"pair {number} conflicts"
    files = forge.files(one)
    wanted = expected(pair)
    assert set(files) == set(wanted)
    for path, texts in wanted.items():
        each = [said(read_data(text.encode(), place_in(path), advice=False).entries[0]) for text in texts]
        assert Counter(map(said, entries_in(files[path], path))) == Counter(each), f"pair {number}: {path}"
        assert files[path].startswith(b"\xef\xbb\xbf") == (pair.style.get(path, ("", ""))[0] == "\ufeff")
        assert (b"\r\n" in files[path]) == (pair.style.get(path, ("", "\n"))[1] == "\r\n")
    assert folded(files) == folded(forge.files(other))
    assert one == other, f"pair {number}: the bytes depend on the order"


def merge_pairs(forge: Forge, count: int) -> None:
    pairs = {number: Pair(number) for number in range(count)}
    forge.take_in(pairs)
    for number, pair in pairs.items():
        check(forge, number, pair)


def test_branches_merge_without_conflict_or_loss(forge):
    merge_pairs(forge, PAIRS)


@pytest.mark.slow
def test_many_pairs(forge):
    merge_pairs(forge, MANY)


def merge_decisions(folder, count: int, plain: bool) -> None:
    """Merge histories in every order: the memories are the same, and none vanishes without a decision about it."""
    forge = Forge(folder, plain=plain)
    histories = {number: Decisions(number, apart=plain or number % 2 == 0) for number in range(count)}
    forge.take_in(histories)
    for number, history in histories.items():
        orders = permutations(f"{side}-{number}" for side in history.commits)
        first, *others = (folded(forge.merge_all(order)) for order in orders)
        assert all(other == first for other in others), f"history {number}: the state depends on the order"
        history.check({id: memory for (_, id), memory in first.items()})
    forge.close()


@pytest.mark.parametrize("plain", (True, False))
def test_no_memory_vanishes_when_branches_decide_about_each_other(tmp_path, plain):
    merge_decisions(tmp_path / "all.git", DECISIONS, plain)


@pytest.mark.slow
@pytest.mark.parametrize("plain", (True, False))
def test_none_vanishes_in_many_histories(tmp_path, plain):
    merge_decisions(tmp_path / "all.git", MANY // 2, plain)


def test_edits_of_one_entry_on_both_sides_are_loud(forge):
    pairs = {number: Pair(number) for number in range(PAIRS)}
    clashing = {number: path for number, pair in pairs.items() if (path := pair.clash())}
    forge.take_in(pairs)
    assert len(clashing) > PAIRS // 4
    for number, path in clashing.items():
        for sides in (("ours", "theirs"), ("theirs", "ours")):
            tree, clean = forge.merge(*(f"{side}-{number}" for side in sides))
            data = forge.files(tree)[path].decode("utf-8-sig")
            assert not clean and data.count("<<<<<<< ") == 1, f"pair {number} merges in silence"
            assert "By ours:" in data and "By theirs:" in data


def test_the_command_is_the_driver(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    driver = f"'{sys.executable}' -m rawkomem merge-driver --marker-size %L %O %A %B %P"
    forge = Forge(tmp_path / "all.git", driver)
    try:
        merge_pairs(forge, 1)
    finally:
        forge.close()
