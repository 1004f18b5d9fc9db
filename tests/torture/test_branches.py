"""Two branches that both wrote merge without conflict or loss, and to the same memories in either order. Real git."""

from __future__ import annotations

import os
import sys
from collections import Counter

import pytest
from rawkomem.files.reading import read_data
from rawkomem.model.values import replace
from rawkomem.state.fold import fold

from tests.conftest import ROOT
from tests.torture.branches import Forge, Pair

PAIRS = int(os.environ.get("RAWKOMEM_MERGE_PAIRS", "8"))
MANY = int(os.environ.get("RAWKOMEM_MERGE_PAIRS", "1000"))


@pytest.fixture
def forge(tmp_path):
    forge = Forge(tmp_path / "all.git")
    yield forge
    forge.close()


def place(path: str) -> str:
    return path.partition(".rawko/")[2]


def entries_in(data: bytes, path: str):
    read = read_data(data, place(path), advice=False)
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


def memories(files: dict[str, bytes]):
    """The memories of each repository in a tree."""
    about: dict[tuple[str, str], list] = {}
    for path, data in files.items():
        for entry in entries_in(data, path):
            about.setdefault((path.partition(".rawko/")[0], entry.target), []).append(entry)
    return {key: fold(entries) for key, entries in about.items()}


def check(forge: Forge, number: int, pair: Pair) -> None:
    one, clean = forge.merge(f"ours-{number}", f"theirs-{number}")
    other, clean_too = forge.merge(f"theirs-{number}", f"ours-{number}")
    assert clean and clean_too, f"pair {number} conflicts"
    files = forge.files(one)
    wanted = expected(pair)
    assert set(files) == set(wanted)
    for path, texts in wanted.items():
        each = [said(read_data(text.encode(), place(path), advice=False).entries[0]) for text in texts]
        assert Counter(map(said, entries_in(files[path], path))) == Counter(each), f"pair {number}: {path}"
        assert files[path].startswith(b"\xef\xbb\xbf") == (pair.style.get(path, ("", ""))[0] == "\ufeff")
        assert (b"\r\n" in files[path]) == (pair.style.get(path, ("", "\n"))[1] == "\r\n")
    assert memories(files) == memories(forge.files(other))
    assert one == other, f"pair {number}: the bytes depend on the order"


def merge_pairs(forge: Forge, count: int) -> None:
    pairs = {number: Pair(number) for number in range(count)}
    forge.take_in(pairs)
    for number, pair in pairs.items():
        check(forge, number, pair)


def test_branches_merge_without_conflict_or_loss(forge):
    merge_pairs(forge, PAIRS)


@pytest.mark.slow
def test_a_thousand_pairs(forge):
    merge_pairs(forge, MANY)


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
