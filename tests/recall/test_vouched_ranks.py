"""What an agent adds changes neither the order, the text, nor the confidence of what people vouch for, in any store."""

import random
from pathlib import Path

import pytest
from rawkomem.files.installation import make_personal_folder, plan_start, write_start
from rawkomem.files.layout import personal_root, user_config
from rawkomem.index.stores import sqlite as sqlite_store
from rawkomem.model.entries import Entry, Task
from rawkomem.recall import relevance
from rawkomem.repository import Repository

from tests.commands import FULL, cases, in_slow_lane
from tests.git.gitting import AGENT as BOT
from tests.git.gitting import Git

WORDS = [
    "login", "cookie", "session", "token", "database", "migration", "index", "query", "release", "deploy", "pipeline",
    "webhook", "payment", "invoice", "image", "upload", "cache", "queue", "worker", "retry", "timeout", "logging",
    "metrics", "alert", "backup", "restore", "locale", "currency", "layout", "header",
]  # fmt: skip
QUESTIONS = 8 if FULL else 2  # for one repository
LIMIT = 7  # results of a search: fewer than there are


class Writer:
    """Writes random memories about few words, so that rarity and length decide the order."""

    def __init__(self, seed: int, memories: Path, prefix: str = "m"):
        self.random = random.Random(seed)
        self.memories = memories
        self.prefix = prefix  # of ids
        self.titles: list[str] = []
        self.count = 0

    def words(self, least: int, most: int) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(least, most)))

    def entry(self, title: str, body: str) -> str:
        self.count += 1
        when = self.random.choice(("", self.words(1, 2), f"When working on the {self.words(2, 3)}", "a.c[xyz]+"))
        keys = {
            "id": f"{self.prefix}{self.count}",
            "title": title,
            "importance": self.random.choice(("low", "medium", "high", "critical")),
        }
        keys |= {"whenToUse": when, "discoveredAt": f"2026-01-{self.random.randint(1, 28)}"}
        keys |= {"relatedMemories": f"m{self.random.randrange(1, 9)}"} if self.random.random() < 0.2 else {}
        return "---\n" + "".join(f"{key}: {value}\n" for key, value in keys.items() if value) + f"---\n\n{body}\n"

    def by_person(self) -> None:
        """Write files with one memory, and some with several, which are surroundings of each other."""
        for number in range(self.random.randint(6, 30)):
            entries = []
            for _ in range(self.random.choice((1, 1, 1, 4))):
                self.titles.append(f"Note on {self.words(1, 3)}")
                entries.append(self.entry(self.titles[-1], f"{self.words(3, 40)}.\n\n## More\n\n{self.words(3, 60)}."))
            (self.memories / f"p{number}.md").write_text("\n---\n\n".join(entries))

    def by_agent(self) -> None:
        """Write copies, floods of one word, long texts and short ones, beside a person's entries and in new files."""
        said = self.words(1, 2)
        for number in range(self.random.randint(5, 60)):
            body = self.random.choice((said * 30, self.words(1, 4), self.words(200, 400), self.words(5, 30)))
            title = self.random.choice((self.random.choice(self.titles), said, self.words(1, 4)))
            (self.memories / f"agent{number}.md").write_text(self.entry(title, body))
        for file in self.random.sample(sorted(self.memories.glob("p*.md")), 3):
            added = self.entry(self.words(1, 3), self.words(3, 60))
            before = file.read_text()
            order = (before, added) if self.random.random() < 0.7 else (added, before)
            file.write_text("\n---\n\n".join(order))


def seen(repository: Repository, questions: list[str], vouched: set[str]) -> list[object]:
    """What searches and injections tell of the memories that people vouch for."""
    told: list[object] = []
    for asked in questions:
        for profile in ("", ":ranks=1"):
            found = [item for item in repository.search(asked, LIMIT, profile=profile) if item.row.id in vouched]
            told.append([(item.row.id, round(item.score, 6), item.relevance, item.fits, item.text) for item in found])
        for strict in (False, True):
            injection = repository.inject(Task(f"Please fix the {asked} today"), strict=strict)
            items = [item for item in injection.items if item.memory.id in vouched]
            told.append([(i.memory.id, i.memory.title, i.text, round(i.score, 6), i.signals.confidence) for i in items])
            out = [item for item in injection.left_out if item.memory.id in vouched]
            told.append(sorted((i.memory.id, i.out.code, round(i.score, 6), i.signals.confidence) for i in out))
    return told


def check(project: Path, seed: int, store: str = "sqlite") -> None:
    memories = project / ".rawko" / "memories"
    memories.mkdir(parents=True)
    writer, git = Writer(seed, memories), Git(project)
    writer.by_person()
    git("init", "-q")
    git.commit()
    questions = [writer.words(1, 6) for _ in range(QUESTIONS)]
    with Repository.open(str(project), store=store, via="agent", warn=lambda text: None) as repository:
        vouched = {row.id for row in repository.list()}
        before = seen(repository, questions, vouched)
        writer.by_agent()
        repository.amend(min(vouched), Entry(body=writer.words(50, 90)))
        assert len(repository.list()) > len(vouched)
        assert seen(repository, questions, vouched) == before, f"seed {seed}"
        git("add", "-A", by=BOT)
        git("commit", "-q", "-m", "agent", by=BOT)
        assert seen(repository, questions, vouched) == before, f"seed {seed}, committed by an agent"


@pytest.mark.parametrize("seed", [0, 1, *in_slow_lane(range(2, cases(200, 5)))])
def test_what_an_agent_adds_changes_no_rank(tmp_path, seed, monkeypatch):
    if seed % 3 == 0:
        monkeypatch.setattr(sqlite_store, "MAX_EXACT_PASSAGES", 40)  # what an agent adds makes the index large
    if seed % 4 == 0:
        monkeypatch.setattr(sqlite_store, "HUGE_PASSAGES", 120)
        monkeypatch.setattr(sqlite_store, "MAX_RANKED_PASSAGES", 60)
    check(tmp_path, seed)


@pytest.mark.parametrize("seed", [0, *in_slow_lane(range(1, cases(40, 2)))])
def test_nor_in_any_layer(tmp_path, tmp_path_factory, seed):
    """People commit to the project and to their personal repository; a source is written by anybody."""
    folders = [tmp_path, Path(personal_root()).parent, tmp_path_factory.mktemp("shared") / "team"]
    make_personal_folder(str(folders[1]))
    writers = []
    for at, folder in enumerate(folders):
        write_start(plan_start(str(folder)))
        writers.append(Writer(100 * at + seed, folder / ".rawko" / "memories", prefix=f"layer{at}-"))
        writers[at].by_person()
    for folder in folders[:2]:
        Git(folder)("init", "-q")
        Git(folder).commit()
    config = Path(user_config())
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"sources: [{folders[2]}]\n")
    vouched = {f"layer{at}-{number}" for at, own in enumerate(writers[:2]) for number in range(1, own.count + 1)}
    questions = [writers[0].words(1, 6) for _ in range(QUESTIONS)]
    with Repository.open(str(tmp_path), via="agent", warn=lambda text: None, layers=True) as repository:
        before = seen(repository, questions, vouched)
        assert {id.partition("-")[0] for told in before for id, *_ in told} == {"layer0", "layer1"}
        for writer in writers:
            writer.by_agent()
        assert seen(repository, questions, vouched) == before, f"seed {seed}"


def test_passages_of_others_take_no_place_in_the_comparison_of_vouched_ones(git, project, memories, monkeypatch):
    """Only so many passages are compared with a task: an agent's copies of the task must not fill that number."""
    task = "Rotate the session cookie of the login page"
    (memories / "person.md").write_text("---\nid: ours\ntitle: Login\n---\n\nThe login page has a session cookie.\n")
    git.commit()
    for number in range(3):
        (memories / f"agent{number}.md").write_text(f"---\nid: a{number}\ntitle: {task}\n---\n\n{task}.\n")
    monkeypatch.setattr(relevance, "MAX_COMPARED", 1)
    with Repository.open(str(project)) as repository:
        injection = repository.inject(task)
    ours = [item for item in (*injection.items, *injection.left_out) if item.memory.id == "ours"]
    assert dict(ours[0].signals.evidence)["meaning"] > 0.3
