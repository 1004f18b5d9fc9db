"""Branches that change the same memories merge by plain git, without our driver and without attributes. Real git."""

import random
import shutil

import pytest
from rawkomem.files.layout import read_bytes, sweep
from rawkomem.files.reading import read_data
from rawkomem.model.errors import RawkoError
from rawkomem.model.values import DAY, iso
from rawkomem.repository import Repository
from rawkomem.state.fold import FoldTogether

from tests.commands import cases
from tests.git.gitting import Git

START = 1_767_225_600_000  # 2026-01-01
STEPS = {"add": 2, "amend": 4, "vote": 6, "link": 2, "archive": 1, "delete": 1, "review": 2, "reinforce": 2,
         "supersede": 4, "tag": 3}  # fmt: skip


class History:
    """A repository with a base and two branches of it; `gathers` names the branch that gathers, if any."""

    def __init__(self, folder, seed: int, patch):
        self.source, self.patch = random.Random(seed), patch
        self.at = START + self.source.randrange(28) * DAY
        self.added = 0
        (folder / ".rawko" / "memories").mkdir(parents=True)
        (folder / ".rawko" / ".gitignore").write_text("/local/\n")
        self.git = Git(folder)
        self.git("init", "-q")
        self.repository = Repository.open(folder, via="person")
        self.ids = [self.add() for _ in range(self.source.randint(1, 3))]
        self.git.commit("base")
        for _ in range(self.source.randint(0, 2)):
            self.work(self.source.randint(1, 4), list(self.ids))
        self.base_ids = list(self.ids)
        self.gathers = self.source.choice(["ours", "theirs", ""])
        for side in ("ours", "theirs"):
            self.branch(side)

    def branch(self, side: str) -> None:
        self.git("checkout", "-q", "-b", side, "main")
        self.repository.sync()
        known = list(self.base_ids)
        for _ in range(self.source.randint(1, 3)):
            self.work(self.source.randint(1, 5), known)
            if side == self.gathers and self.source.random() < 0.7 and self.repository.edits.gather().written:
                self.git.commit("gather")
        if self.source.random() < 0.3:
            self.work(2, known)

    def work(self, steps: int, known: list[str]) -> None:
        """Take some steps and commit them; each is hours or weeks after the one before."""
        for _ in range(steps):
            kind = self.source.choices(list(STEPS), STEPS.values())[0]
            self.step(kind, known)
        if self.git("status", "--porcelain"):
            self.git.commit()

    def step(self, kind: str, known: list[str]) -> None:
        self.at += self.source.choice([DAY // 24, DAY, 9 * DAY])
        self.patch.setenv("RAWKOMEM_NOW", iso(self.at))
        repository, id, other = self.repository, self.source.choice(known), self.source.choice(known)
        try:
            if kind == "add":
                known.append(self.add())
            elif kind == "amend":
                repository.amend(id, title=f"Title {self.source.random()}", body=f"Text {self.source.random()}")
            elif kind == "vote":
                repository.feedback(id, self.source.choice(["helpful", "harmful"]), by="ada")
            elif kind == "link":
                repository.graph.link(id, other, "related")
            elif kind == "supersede":
                repository.beliefs.supersede(id, other, "newer", anyway=True)
            elif kind == "tag":
                tags = (*repository.get(id).tags, f"tag-{self.source.randrange(10**6)}")
                repository.amend(id, tags=tags, one_by_one=True)
            elif kind == "archive":
                repository.beliefs.archive(id, "old")
            elif kind == "delete":
                repository.delete(id, "wrong")
            elif kind == "review":
                repository.beliefs.quarantine(id, "unsure")
                repository.beliefs.review(id, "activate", reason="fine")
            else:
                repository.beliefs.reinforce(id, "seen again")
        except RawkoError:
            pass  # a deleted memory takes no change, and none is linked with itself

    def add(self) -> str:
        self.added += 1
        title = f"Note {self.added} of {self.source.randrange(10**6)}"
        return self.repository.add(f"What {title} says.", title=title).id

    def merged(self, ours: str, theirs: str) -> dict[str, object]:
        """The entries after `git merge`, by id."""
        self.git("checkout", "-q", "--detach", ours)
        self.git("merge", "-q", "--no-edit", theirs)  # fails on a conflict
        return self.entries()

    def entries(self) -> dict[str, object]:
        layout = self.repository.layout
        paths = sweep(layout).paths
        read = [read_data(read_bytes(layout.path(path)), path, advice=False) for path in paths]
        assert not [entry for one in read for entry in one.entries if entry.draft or entry.conflicted]
        found = [entry for one in read for entry in one.entries]
        assert len({entry.id for entry in found}) == len(found), "a copy was left"
        return {entry.id: entry for entry in found}


def said(entries: dict) -> dict[str, str]:
    return {id: entry.digest for id, entry in entries.items()}


def memories(entries: dict) -> dict[str, object]:
    about: dict[str, list] = {}
    for entry in entries.values():
        about.setdefault(entry.target, []).append(entry)
    folding = FoldTogether(lambda id: about.get(id, ()))
    return {id: folding.memory(id) for id in about}


def merge_pair(folder, seed: int, patch) -> int:
    """Merge one pair both ways; return how many changes lie in files of their own."""
    history = History(folder, seed, patch)
    sides = {}
    for side in ("ours", "theirs"):
        history.git("checkout", "-q", side)
        sides |= said(history.entries())
    one, other = history.merged("ours", "theirs"), history.merged("theirs", "ours")
    assert said(one) == said(other) == sides
    assert memories(one) == memories(other)
    history.repository.sync()
    for id in history.base_ids:
        memory, expected = history.repository.get(id), memories(one)[id]
        assert (memory.entries, memory.status, memory.tags) == (expected.entries, expected.status, expected.tags)
        assert {tag for entry in one.values() if entry.about == id for tag in entry.extra.get("tagsAdded", ())} == {
            *memory.tags
        }
    history.repository.close()
    shutil.rmtree(folder)
    return sum(entry.path.startswith("changes/") for entry in one.values())


@pytest.mark.parametrize("pairs", [2, pytest.param(cases(1_000, 8), marks=pytest.mark.slow)])
def test_branches_merge_without_a_driver(tmp_path, monkeypatch, pairs):
    apart = [merge_pair(tmp_path / str(seed), seed, monkeypatch) for seed in range(pairs)]
    assert sum(apart) > len(apart)
