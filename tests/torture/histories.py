"""Random histories of three clones of one repository, by real git, compared with a model after each merge.

The message of a commit holds the numbers of its operations. So `git log` tells which operations a clone knows, whatever
merge, rebase or cherry-pick brought them there. A person whose merge conflicts starts again from origin.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
from rawkomem.files.git_folder import git_stamp
from rawkomem.files.reading import read_data
from rawkomem.format.blocks import SEPARATOR
from rawkomem.model.entries import Entry
from rawkomem.model.errors import Refused
from rawkomem.model.values import ACTIVE, DAY, ERROR, IMPORTANCE, Problem, iso
from rawkomem.repository import Repository

from tests.git.gitting import AGENT, Git
from tests.torture.history_model import (
    ARCHIVE,
    DELETE,
    LEVEL,
    MOVE_TO_ARCHIVE,
    PROPOSAL,
    REMOVE,
    REVERT,
    RULE,
    SUPERSEDE,
    TAG,
    TEXT,
    TITLE,
    Answer,
    Model,
    answers_of,
    created_in,
    differences,
    meaning_of,
    reported_in,
    rule_in,
)

START = 1_767_225_600_000  # 2026-01-01
PEOPLE = (("Ada", "ada@example.org"), ("Bob", "bob@example.org"), ("Cem", "cem@example.org"))
SKEWS_IN_DAYS = (0, 0, -3, 2)  # of a clone's clock
MINUTE = 60_000
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
SUBJECTS = ("broker", "cache", "invoice", "gateway", "parser", "scheduler", "ledger", "session", "webhook", "printer")
STEPS = {
    "add": 3, "write_by_hand": 3, "amend_text": 6, "amend_title": 2, "amend_importance": 2, "tag": 2,
    "edit_by_hand": 5, "rename": 3, "gather": 2, "join": 2, "split": 2, "delete": 2, "supersede": 2, "archive": 1,
    "move_to_archive": 1, "reuse_name": 2, "copy_as_template": 1, "revert": 2, "cherry_pick": 2, "propose": 1, "sync": 5,
}  # fmt: skip
ID_LINE = re.compile(r"^id: .*\n", re.MULTILINE)
TITLE_LINE = re.compile(r"^title: .*$", re.MULTILINE)
DUPLICATE_ID, ENTRY_GONE = "duplicate-id", "entry-gone"


class Clone:
    """A clone of the repository, the person who works in it, and the index that this machine keeps."""

    def __init__(self, history: History, folder: Path, person: tuple[str, str], skew_days: int):
        self.history, self.folder, self.person, self.skew = history, folder, person, skew_days * DAY
        self.rawko = folder / ".rawko"
        self.uncommitted: list[int] = []  # numbers of operations
        self.now = START
        self._committed: tuple[str, set[int]] = "", set()  # stamp of HEAD, operations in its history

    def open(self) -> None:
        """Open the repository; a person uses it."""
        if self.history.connected:
            self.git("config", "merge.rawkomem.driver", self.history.driver)
        self.repository = Repository.open(str(self.folder), via="person", warn=self.history.warnings.append)

    def run(self, *words: str, by: tuple[str, str] | None = None) -> bool:
        """Run git at the clone's time; return whether it succeeded."""
        date = f"{self.now // 1000} +0000"
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        done = Git(self.folder).run(*words, by=by or self.person, env=dates)
        self.last_output = done.stdout.strip()
        return done.returncode == 0

    def git(self, *words: str, by: tuple[str, str] | None = None) -> str:
        """Run git, which must succeed; return its output."""
        assert self.run(*words, by=by), f"git {' '.join(words)}"
        return self.last_output

    def known(self) -> set[int]:
        """Return the operations in the history of HEAD, and those that are not committed yet."""
        stamp = git_stamp(str(self.folder))
        if self._committed[0] != stamp:
            self._committed = stamp, numbers_in(self.git("log", "--format=%s"))
        return self._committed[1] | {*self.uncommitted}

    def record(self, kind: str, memory: str, value: str = "", takes_back: Collection[int] = ()) -> None:
        """Record an operation that is not committed yet."""
        made = self.history.model.record(kind, memory, value, self.known(), takes_back)
        self.uncommitted.append(made.number)
        self.history.say(self, str(made))

    def message(self, words: str = "") -> str:
        """Return the message of the next commit: the numbers of the operations in it."""
        return " ".join([words, *map(str, self.uncommitted)]).strip() or "nothing"

    def commit(self, words: str = "", by: tuple[str, str] | None = None) -> None:
        """Commit everything. With hooks, raise HookRefused if the hook refuses it."""
        if not self.git("status", "--porcelain"):
            return
        self.git("add", "-A")
        if self.history.connected and (codes := {problem.code for problem in self.refusals(by)}):
            raise HookRefused(f"{words}: {codes}")
        self.git("commit", "-q", "-m", self.message(words), by=by)
        self.uncommitted = []

    def refusals(self, by: tuple[str, str] | None = None) -> list[Problem]:
        """Return the problems for which the hook refuses to commit what is staged."""
        found = self.repository.edits.check((), agent=by == AGENT)
        return [problem for problems in found.values() for problem in problems if problem.level == ERROR]

    def files(self, folder: str = "memories") -> list[Path]:
        return sorted((self.rawko / folder).rglob("*.md"))

    def entries(self, file: Path) -> list[Entry]:
        return read_data(file.read_bytes(), str(file.relative_to(self.rawko)), advice=False).entries


def numbers_in(subjects: str) -> set[int]:
    """Return the operations that the subjects of commits name."""
    return {int(word) for word in subjects.split() if word.isdigit()}


class HookRefused(Exception):
    """The hook refused a commit that it must let pass."""


class History:
    """One random history. `run` takes its steps and returns what went wrong, as sentences that start with a property."""

    def __init__(self, seed: int, folder: Path, driver: str, patch: pytest.MonkeyPatch):
        self.seed, self.folder, self.driver, self.patch = seed, folder, driver, patch
        self.source = random.Random(seed)
        self.connected = self.source.random() < 0.5
        self.is_skewed = self.source.random() < 0.4
        self.model = Model()
        self.log: list[str] = []
        self.warnings: list[str] = []
        self.words: set[str] = set()
        self.steps = 0
        self.clones: list[Clone] = []
        self.fresh: dict[str, dict[str, Answer]] = {}  # commit → what a fresh clone of it says

    @property
    def kind(self) -> str:
        """Return what distinguishes this history, in words."""
        return (
            f"{'with' if self.connected else 'without'} hooks and driver, clocks {'' if self.is_skewed else 'not '}off"
        )

    def say(self, clone: Clone, words: str) -> None:
        self.log.append(f"{clone.person[0]}: {words}")

    def run(self) -> list[str]:
        """Take the steps until something is wrong; return what is wrong."""
        try:
            self._start()
            for _ in range(self.source.randint(12, 24)):
                found = self._step()
                if found:
                    return found
            return self._finish()
        except HookRefused as refused:
            return [f"hook: {refused}"]
        finally:
            for clone in self.clones:
                clone.repository.close()

    def _start(self) -> None:
        """Make the origin with some memories, and three clones of it."""
        origin = self.folder / "origin.git"
        origin.mkdir(parents=True)
        Git(origin)("init", "-q", "--bare")
        for number, person in enumerate(PEOPLE):
            folder = self.folder / person[0].lower()
            Git(self.folder)("clone", "-q", str(origin), str(folder))
            skew = self.source.choice(SKEWS_IN_DAYS) if self.is_skewed else 0
            clone = Clone(self, folder, person, skew)
            if number == 0:
                Repository.init(str(folder)).close()
                clone.git("add", "-A")
                clone.git("commit", "-q", "-m", "start")
            clone.open()
            self.clones.append(clone)
            self.set_clock(clone)
            if number == 0:
                self._push_first_memories(clone)

    def _push_first_memories(self, clone: Clone) -> None:
        for _ in range(self.source.randint(1, 3)):
            self.add(clone)
            self.write_by_hand(clone)
        clone.commit()
        clone.git("push", "-q", "origin", "HEAD:main")

    def _step(self) -> list[str]:
        clone = self.source.choice(self.clones)
        self.set_clock(clone)
        kind = self.source.choices(list(STEPS), STEPS.values())[0]
        step: Callable[[Clone], list[str] | None] = getattr(self, kind)
        try:
            return step(clone) or []
        except (
            Refused
        ):  # do what the hint says: a new file has the name of an earlier one, or a removal is not committed
            clone.repository.edits.separate_copies()
            clone.commit("new id")
            return []

    def _finish(self) -> list[str]:
        """Merge everything into every clone; the clones, a rebuilt index and a fresh clone must say the same."""
        found = self._sync_all()
        if found:
            return found
        first, *others = self.clones
        answers = answers_of(first.repository)
        for clone in others:
            found += [f"kept: {first.person[0]} and {clone.person[0]}: {said}"
                      for said in differences(answers, answers_of(clone.repository))]  # fmt: skip
        first.repository.store.rebuild()
        return found + [f"rebuilt: {said}" for said in differences(answers, answers_of(first.repository))]

    # Clocks, words and choices

    def set_clock(self, clone: Clone) -> None:
        """Let some time pass, and use the clone's clock, which may be days off."""
        self.steps += 1
        passed = self.steps * 90 * MINUTE + self.source.randint(1, 60) * MINUTE
        clone.now = START + passed + clone.skew
        self.patch.setenv("RAWKOMEM_NOW", iso(clone.now))

    def word(self) -> str:
        """Return a word that was not used before."""
        while True:
            word = "".join(self.source.choice(CONSONANTS) + self.source.choice(VOWELS) for _ in range(4))
            if word not in self.words:
                self.words.add(word)
                return word

    def text(self, key: str, rule: str) -> str:
        return f"The {self.source.choice(SUBJECTS)} called {key} follows rule {rule}.\n\nAsk {self.word()} about it."

    def answers(self, clone: Clone) -> dict[str, Answer]:
        """Return what a clone says about its memories, and remember their ids."""
        answers = answers_of(clone.repository)
        for id, answer in answers.items():
            self.model.ids.setdefault(answer.key, set()).add(id)
        return answers

    def keys_in(self, clone: Clone, file: Path) -> list[str]:
        """Return the keys of the memories that a file creates."""
        answers = self.answers(clone)
        return [answers[entry.id].key for entry in clone.entries(file) if entry.creates]

    def memory_in_use(self, clone: Clone) -> Answer | None:
        """Return a memory in use, as the clone sees it."""
        there = [answer for answer in self.answers(clone).values() if answer.status == ACTIVE]
        return self.source.choice(sorted(there, key=lambda answer: answer.title)) if there else None

    def mover(self, clone: Clone) -> tuple[str, str]:
        """Return who commits a move: a person, or an agent."""
        return AGENT if self.source.random() < 0.3 else clone.person

    # Steps: new memories

    def add(self, clone: Clone) -> None:
        key, rule, level = self.word(), self.word(), self.source.choice(IMPORTANCE)
        title = f"{key} {self.word()}"
        clone.repository.add(self.text(key, rule), title=title, when=[key], importance=level)
        self._record_new(clone, key, title, rule, level)

    def write_by_hand(self, clone: Clone) -> None:
        """Write a file in an editor, without an id."""
        self._write_file(clone, clone.rawko / "memories" / f"{self.word()}.md")

    def _write_file(self, clone: Clone, file: Path) -> None:
        key, rule = self.word(), self.word()
        title = f"{key} {self.word()}"
        file.write_text(f"---\ntitle: {title}\nwhenToUse: {key}\n---\n\n{self.text(key, rule)}\n")
        self.say(clone, f"writes {file.relative_to(clone.rawko)}")
        self._record_new(clone, key, title, rule)

    def _record_new(self, clone: Clone, key: str, title: str, rule: str, level: str = "") -> None:
        clone.record(TITLE, key, title)
        clone.record(TEXT, key, rule)
        if level:
            clone.record(LEVEL, key, level)

    # Steps: changes by commands

    def amend_text(self, clone: Clone) -> None:
        memory, rule = self.memory_in_use(clone), self.word()
        if memory:
            clone.repository.amend(memory.id, body=self.text(memory.key, rule))
            clone.record(TEXT, memory.key, rule)
            self._perhaps_commit(clone)

    def amend_title(self, clone: Clone) -> None:
        memory = self.memory_in_use(clone)
        if memory:
            title = f"{memory.key} {self.word()}"
            clone.repository.amend(memory.id, title=title)
            clone.record(TITLE, memory.key, title)
            self._perhaps_commit(clone)

    def amend_importance(self, clone: Clone) -> None:
        memory = self.memory_in_use(clone)
        if memory:
            level = self.source.choice([one for one in IMPORTANCE if one != memory.importance])
            clone.repository.amend(memory.id, importance=level)
            clone.record(LEVEL, memory.key, level)
            self._perhaps_commit(clone)

    def tag(self, clone: Clone) -> None:
        memory, tag = self.memory_in_use(clone), self.word()
        if memory:
            clone.repository.amend(memory.id, tags=(*memory.tags, tag), one_by_one=True)
            clone.record(TAG, memory.key, tag)
            self._perhaps_commit(clone)

    def delete(self, clone: Clone) -> None:
        memory = self.memory_in_use(clone)
        if memory:
            clone.repository.delete(memory.id, "wrong")
            clone.record(DELETE, memory.key)
            self._perhaps_commit(clone)

    def archive(self, clone: Clone) -> None:
        memory = self.memory_in_use(clone)
        if memory:
            clone.repository.beliefs.archive(memory.id, "old")
            clone.record(ARCHIVE, memory.key)
            self._perhaps_commit(clone)

    def supersede(self, clone: Clone) -> None:
        old, new = self.memory_in_use(clone), self.memory_in_use(clone)
        if old and new and old.id != new.id:
            clone.repository.beliefs.supersede(old.id, new.id, "newer", anyway=True)
            clone.record(SUPERSEDE, old.key, new.key)
            self._perhaps_commit(clone)

    def propose(self, clone: Clone) -> None:
        """Let an agent amend a memory and commit that."""
        clone.commit()
        memory, rule = self.memory_in_use(clone), self.word()
        if memory:
            clone.repository.amend(memory.id, body=self.text(memory.key, rule), via="agent")
            clone.record(PROPOSAL, memory.key, rule)
            clone.commit("propose", AGENT)

    def _perhaps_commit(self, clone: Clone) -> None:
        if self.source.random() < 0.6:
            clone.commit()

    # Steps: changes of files

    def edit_by_hand(self, clone: Clone) -> None:
        """Change a text or a title in place, in an editor."""
        clone.commit()
        file = self._file(clone, "memories")
        entries = [entry for entry in clone.entries(file) if rule_in(entry.body)] if file else []
        if not entries:
            return
        entry = self.source.choice(entries)
        text, answers = file.read_text(), self.answers(clone)
        key = answers[entry.target].key
        if entry.creates and self.source.random() < 0.3:
            title = f"{key} {self.word()}"
            text = text.replace(f"\ntitle: {entry.title}\n", f"\ntitle: {title}\n", 1)
            edited = TITLE, key, title
        else:
            rule = self.word()
            text = text.replace(f"follows rule {rule_in(entry.body)}", f"follows rule {rule}", 1)
            edited = TEXT, key, rule
        if text == file.read_text():
            return
        file.write_text(text)
        self.say(clone, f"edits {file.relative_to(clone.rawko)}")
        clone.record(*edited)
        clone.commit("edit")

    def rename(self, clone: Clone) -> list[str]:
        clone.commit()
        file = self._file(clone, "memories")
        if not file:
            return []
        folder = self.source.choice(["", "team"])
        name = self.source.choice([file.name, f"{self.word()}.md"])  # so that two branches may rename alike, or back
        target = clone.rawko / "memories" / folder / name
        if target.exists():
            return []
        return self._move(clone, "rename", lambda: self._git_mv(clone, file, target))

    def move_to_archive(self, clone: Clone) -> None:
        clone.commit()
        file = self._file(clone, "memories")
        if file:
            keys = self.keys_in(clone, file)
            self._git_mv(clone, file, clone.rawko / "archive" / file.name)
            for key in keys:
                clone.record(MOVE_TO_ARCHIVE, key)
            clone.commit("archive", self.mover(clone))

    def gather(self, clone: Clone) -> list[str]:
        clone.commit()
        return self._move(clone, "gather", clone.repository.edits.gather)

    def join(self, clone: Clone) -> list[str]:
        """Put the entries of one file at the end of another file.

        A memory without an id is named by its place, so two branches that join it into two files make two memories.
        """
        clone.commit()
        one, other = self._file(clone, "memories"), self._file(clone, "memories")
        if not one or not other or one == other or any("id" not in entry.given for entry in clone.entries(other)):
            return []

        def join() -> None:
            one.write_text(one.read_text().rstrip("\n") + "\n" + SEPARATOR + other.read_text())
            other.unlink()
            self.say(clone, f"joins {one.relative_to(clone.rawko)} and {other.relative_to(clone.rawko)}")

        return self._move(clone, "join", join)

    def split(self, clone: Clone) -> list[str]:
        """Put the last memory of a file into a file of its own, with the changes below it."""
        clone.commit()
        files = [file for file in clone.files() if sum(entry.creates for entry in clone.entries(file)) > 1]
        if not files:
            return []
        file, target = self.source.choice(files), clone.rawko / "memories" / f"{self.word()}.md"

        def split() -> None:
            start = [entry.line for entry in clone.entries(file) if entry.creates][-1] - 1
            lines = file.read_text().splitlines(keepends=True)
            target.write_text("".join(lines[start:]))
            file.write_text("".join(lines[:start]).rstrip("\n-") + "\n")
            self.say(clone, f"splits {file.relative_to(clone.rawko)}")

        return self._move(clone, "split", split)

    def reuse_name(self, clone: Clone) -> list[str]:
        """Remove a file, and write another memory into a new file of the same name.

        Prefer a file that a person wrote and that a command changed: the changes name the memory by the file's name. All
        clones know all before and after it: for git, a file that is removed and written again beside a change of another
        branch is an edited file.
        """
        found = self._sync_all()
        clone.commit()
        files = clone.files()
        if found or not files:
            return found
        file = self.source.choice([one for one in files if f"\nid: {one.stem}\n" in one.read_text()] or files)
        for key in self.keys_in(clone, file):
            clone.record(REMOVE, key)
        clone.git("rm", "-q", str(file))
        self.say(clone, f"removes {file.relative_to(clone.rawko)}")
        if self.source.random() < 0.7:
            clone.commit("remove")
        file.parent.mkdir(exist_ok=True)
        self._write_file(clone, file)
        clone.commit("reuse")
        return self._sync_all()

    def _sync_all(self) -> list[str]:
        found: list[str] = []
        for clone in [*self.clones, *self.clones]:
            self.set_clock(clone)
            found = found or self.sync(clone)
        return found

    def copy_as_template(self, clone: Clone) -> list[str]:
        """Copy a file with its id line and write another memory into it: the hook refuses that, or `check` reports it."""
        clone.commit()
        files = [file for file in clone.files() if len(clone.entries(file)) == 1 and ID_LINE.search(file.read_text())]
        if not files:
            return []
        file, key, rule = self.source.choice(files), self.word(), self.word()
        title = f"{key} {self.word()}"
        text = RULE.sub(f"follows rule {rule}", TITLE_LINE.sub(f"title: {title}", file.read_text()))
        copied = clone.rawko / "memories" / f"{self.word()}.md"
        copied.write_text(text)
        self.say(clone, f"copies {file.relative_to(clone.rawko)} to {copied.name}")
        clone.git("add", "-A")
        if self.connected:
            if not any(problem.hint for problem in clone.refusals()):
                return [f"names: the hook lets {copied.name} pass, which has the id of {file.name}"]
        elif DUPLICATE_ID not in reported_in(clone.repository):
            return [f"names: check does not report {copied.name}, which has the id of {file.name}"]
        copied.write_text(ID_LINE.sub("", text, count=1))
        self._record_new(clone, key, title, rule, clone.entries(file)[0].importance)
        clone.commit("copy")
        return []

    def _file(self, clone: Clone, folder: str) -> Path | None:
        files = clone.files(folder)
        return self.source.choice(files) if files else None

    def _git_mv(self, clone: Clone, file: Path, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        clone.git("mv", str(file), str(target))
        self.say(clone, f"moves {file.relative_to(clone.rawko)} to {target.relative_to(clone.rawko)}")

    def _move(self, clone: Clone, name: str, move: Callable[[], object]) -> list[str]:
        """Move entries and commit that; every memory must mean the same afterwards."""
        before, by = meaning_of(answers_of(clone.repository)), self.mover(clone)
        move()
        clone.commit(name, by)
        self.say(clone, f"{name}, committed by {by[0]}")
        after = meaning_of(answers_of(clone.repository))
        return [f"moves: {name}: {said}" for said in differences(before, after)]

    # Steps: git

    def revert(self, clone: Clone) -> list[str]:
        """Revert the last commit, if it is no merge."""
        clone.commit()
        parents = clone.git("log", "-1", "--format=%P").split()
        subject = clone.git("log", "-1", "--format=%s")
        numbers = numbers_in(subject)
        if len(parents) != 1 or subject in ("start", "new id"):
            return []
        before = meaning_of(answers_of(clone.repository))
        if not clone.run("revert", "--no-edit", "HEAD"):
            clone.git("revert", "--abort")
            return []
        if numbers:
            clone.record(REVERT, "", subject, numbers)
        clone.git("commit", "-q", "--amend", "--no-verify", "-m", clone.message("revert"))
        clone.uncommitted = []
        self.say(clone, f"reverts {subject!r}")
        after = meaning_of(answers_of(clone.repository))
        return [] if numbers else [f"moves: revert of {subject}: {said}" for said in differences(before, after)]

    def cherry_pick(self, clone: Clone) -> None:
        """Apply the last commit of another clone.

        A move must not bring operations that this clone does not know, and a new file not stand beside a removed one.
        """
        clone.commit()
        other = self.source.choice([one for one in self.clones if one is not clone])
        clone.git("fetch", "-q", str(other.folder), "HEAD")
        subject = clone.git("log", "-1", "--format=%s", "FETCH_HEAD")
        is_there = clone.run("merge-base", "--is-ancestor", "FETCH_HEAD", "HEAD")
        is_merge = " " in clone.git("log", "-1", "--format=%P", "FETCH_HEAD")
        known = numbers_in(clone.git("log", "--format=%s", "FETCH_HEAD")) <= clone.known()
        if is_there or is_merge or subject.startswith("reuse") or not (numbers_in(subject) or known):
            return
        if clone.run("cherry-pick", "FETCH_HEAD"):
            self.say(clone, f"cherry-picks {subject!r} of {other.person[0]}")
        else:
            clone.git("cherry-pick", "--abort")

    def sync(self, clone: Clone) -> list[str]:
        """Take over what others pushed, by merge or rebase, check the result, and push it."""
        clone.commit()
        clone.git("fetch", "-q", "origin")
        if self.source.random() < 0.25:
            how = "rebase"
            done = clone.run("rebase", "-q", "origin/main") or not clone.run("rebase", "--abort")
        else:
            how, done = "merge", self._merge(clone)
        if not done:
            self.say(clone, f"{how} conflicts: starts again from origin")
            clone.git("reset", "-q", "--hard", "origin/main")
        self.say(clone, f"{how}: {clone.git('rev-parse', '--short', 'HEAD')}")
        clone.git("push", "-q", "origin", "HEAD:main")
        return [*self.check(clone)]

    def _merge(self, clone: Clone) -> bool:
        """Merge what others pushed into the clone's branch, or the branch into what others pushed."""
        by, theirs = clone.person, "origin/main"  # an entry that joins two edits is by whoever merges them
        if self.source.random() < 0.3:
            theirs = clone.git("rev-parse", "HEAD")
            clone.git("reset", "-q", "--hard", "origin/main")
        if not clone.run("merge", "-q", "--no-commit", theirs, by=by):
            clone.git("merge", "--abort")
            return False
        if (clone.folder / ".git" / "MERGE_HEAD").exists():
            codes = {problem.code for problem in clone.refusals(by)} if self.connected else set()
            if codes and codes <= {DUPLICATE_ID, ENTRY_GONE}:  # both branches moved or joined the same files
                clone.git("merge", "--abort")
                return False
            if codes:
                raise HookRefused(f"merge: {codes}")
            clone.git("commit", "-q", "-m", "merge", by=by)
        return True

    # What must hold

    def check(self, clone: Clone) -> Iterator[str]:
        """Yield what is wrong in a clone without uncommitted changes."""
        answers, head = self.answers(clone), clone.git("rev-parse", "HEAD")
        is_new = head not in self.fresh
        if is_new:
            self.fresh[head] = self._answers_of_fresh_clone(clone)
        yield from (f"fresh: {said}" for said in differences(answers, self.fresh[head]))
        if not is_new:
            return
        for id, path in created_in(clone.repository).items():
            if id not in answers:
                yield f"lost: {id} in {path} is not listed"
        yield from self.model.violations(clone.known(), answers, reported_in(clone.repository))

    def _answers_of_fresh_clone(self, clone: Clone) -> dict[str, Answer]:
        fresh = self.folder / "fresh"
        Git(self.folder)("clone", "-q", str(clone.folder), str(fresh))
        with Repository.open(str(fresh), via="person", warn=self.warnings.append) as repository:
            answers = answers_of(repository)
        shutil.rmtree(fresh)
        return answers
