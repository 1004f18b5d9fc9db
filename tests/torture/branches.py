"""Random branch histories of a memory repository, and real git to merge them in one repository."""

import os
import random
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from rawkomem.files.reading import read_data
from rawkomem.format.blocks import SEPARATOR
from rawkomem.format.frontmatter import emit_entry
from rawkomem.git.merge import merge_files
from rawkomem.model.entries import Entry, Memory, Plan
from rawkomem.model.errors import RawkoError
from rawkomem.model.values import ACTIVE, iso, replace
from rawkomem.state.changes import plan_amend, plan_archive, plan_delete, plan_supersede
from rawkomem.state.fold import FoldTogether, Review, plan_dispute, plan_quarantine, plan_restore
from rawkomem.state.housekeeping import Census, plan_dedupe

START = 1_767_225_600_000  # 2026-01-01
FOLDERS = (
    ".rawko/memories/{}.md",
    ".rawko/memories/lessons/{}.md",
    "deep/.rawko/memories/{}.md",
    ".rawko/archive/{}.md",
)
LOG = ".rawko/log/memory_log.md"
WORDS = ["deploy", "staging", "token", "sqlite", "---", "日本", "naïve", "`x`", "#", "*", "-", "a:", "<!-- c -->"]
ODD = ["---", "***", "```\n---\ntitle: no entry\n---\n```", "<!--\n---\nkind: no\n---\n-->", "# Heading", "- item"]
CHANGES = {
    "feedback": {"signal": "helpful"},
    "reinforce": {"reason": "seen again"},
    "dispute": {"reason": "doubtful"},
    "quarantine": {"reason": "unsure"},
    "archive": {"reason": "old"},
    "review": {"action": "activate"},
    "delete": {"reason": "wrong"},
}

Files = dict[str, list[str]]  # path → texts of its entries


class Pair:
    """A common start and two branches of it; `tips` are the files at the end of each, `commits` all on the way."""

    def __init__(self, seed: int):
        self.source = random.Random(seed)
        self.count = 0
        self.known: list[str] = []  # ids that changes may be about
        self.style = {}  # path → (byte order mark, line end)
        self.base: Files = {}
        for _ in range(self.source.randint(0, 4)):
            self._append(self.base, "base")
        places = [(path, text) for path, texts in self.base.items() for text in texts]
        self.source.shuffle(places)
        common = [self._change("both") for _ in range(self.source.choice([0, 0, 1]))]
        self.commits = {
            side: self._branch(side, places[number::2], common) for number, side in enumerate(("ours", "theirs"))
        }
        self.tips = {side: commits[-1] for side, commits in self.commits.items()}

    def clash(self) -> str:
        """Have both sides edit one entry, each in its own words; the path of its file, empty where there is none."""
        places = [
            (path, text)
            for path, texts in self.base.items()
            for text in texts
            if all(text in tip.get(path, ()) for tip in self.tips.values())
        ]
        if not places:
            return ""
        path, text = self.source.choice(places)
        for side, tip in self.tips.items():
            tip[path][tip[path].index(text)] = text.replace("Text", f"By {side}:", 1)
        return path

    def _branch(self, side: str, own: list[tuple[str, str]], common: list[str]) -> list[Files]:
        """The files after each commit. A branch edits and cuts out only what is its own, and appends anywhere."""
        files, commits = {path: list(texts) for path, texts in self.base.items()}, []
        edits = list(own)
        for _ in range(self.source.randint(1, 4)):
            for _ in range(self.source.randint(1, 3)):
                if edits and self.source.random() < 0.3:
                    self._edit(files, *edits.pop())
                else:
                    self._append(files, side)
            commits.append({path: list(texts) for path, texts in files.items()})
        for text in common:  # the same entry on both sides, as a cherry-pick brings it
            files.setdefault(".rawko/memories/common.md", []).append(text)
        return [*commits, files]

    def _edit(self, files: Files, path: str, text: str) -> None:
        place = files[path].index(text)
        if self.source.random() < 0.25 and len(self.base[path]) > 2:
            del files[path][place]
        else:
            files[path][place] = f"{text.rstrip()}\n\nEdited: {self._words()}\n"

    def _append(self, files: Files, side: str) -> None:
        path = self._place(files, side)
        text = self._change(side) if self.known and path in files and self.source.random() < 0.5 else self._memory(side)
        files.setdefault(path, []).append(text)

    def _place(self, files: Files, side: str) -> str:
        if files and self.source.random() < 0.6:
            return self.source.choice(sorted(files))
        if self.source.random() < 0.2:
            return LOG
        name = self.source.choice(["same", f"{side}-{self.count}"])  # both sides may start a file of one name
        path = self.source.choice(FOLDERS).format(name)
        self.style.setdefault(path, self.source.choice([("", "\n")] * 6 + [("\ufeff", "\n"), ("", "\r\n")]))
        return path

    def _memory(self, side: str) -> str:
        self.count += 1
        title = f"{side} {self.count}"
        tags = tuple(self.source.sample(("a", "b", "c"), self.source.randint(0, 2)))
        if self.source.random() < 0.2:  # as a person writes it: no id, and perhaps no time
            when = self.source.choice(["", f"discoveredAt: {iso(self._time())}\n"])
            return f"---\ntitle: {title}\n{when}---\n\n{self._words()}\n"
        id = f"mem_{self.count}_{side}"
        self.known.append(id)
        return emit_entry(Entry(id=id, title=title, tags=tags, at=self._time(), by=side, body=self._words()))

    def _change(self, side: str) -> str:
        self.count += 1
        kind = self.source.choice(["amend", *CHANGES])
        about = self.source.choice(self.known) if self.known else "nothing"
        entry = Entry(kind=kind, id=f"{kind}_{self.count}_{side}", about=about, at=self._time(), by=side)
        if kind == "amend":
            return emit_entry(Entry(**{**entry.__dict__, "body": self._words()}))
        return emit_entry(Entry(**{**entry.__dict__, "extra": CHANGES[kind]}))

    def _time(self) -> int:
        return START + self.source.randint(0, 20) * 60_000  # clocks differ, and two entries may have one time

    def _words(self) -> str:
        """A few paragraphs, some with what could be taken for the start of an entry."""
        texts = [" ".join(["Text", *self.source.choices(WORDS, k=8)]) for _ in range(self.source.randint(1, 3))]
        return "\n\n".join([*texts, *self.source.choices(ODD, k=self.source.choice([0, 0, 1, 2]))])

    def bytes_of(self, path: str, texts: list[str]) -> bytes:
        mark, newline = self.style.get(path, ("", "\n"))
        return (mark + SEPARATOR.join(texts).replace("\n", newline)).encode()


STEPS = {"supersede": 5, "delete": 2, "archive": 2, "dispute": 1, "quarantine": 1, "restore": 2, "amend": 2, "tag": 3,
         "add": 1, "edit": 1, "rename": 1, "consolidate": 2}  # fmt: skip
COPIED = ("Topics keep messages for seven days.", "Push to staging first.", "The pool has nine workers.")


def place_in(path: str) -> str:
    """The path below the repository that holds a file."""
    return path.partition(".rawko/")[2]


def folded(files: dict[str, bytes]) -> dict[tuple[str, str], Memory | None]:
    """The memories of each repository in a tree."""
    about: dict[tuple[str, str], list[Entry]] = {}
    for path, data in files.items():
        for entry in read_data(data, place_in(path), advice=False).entries:
            assert not (entry.draft or entry.conflicted), (path, data)
            about.setdefault((path.partition(".rawko/")[0], entry.target), []).append(entry)
    homes = {home: FoldTogether(lambda id, home=home: about.get((home, id), ())) for home, _ in about}
    return {(home, id): homes[home].memory(id) for home, id in about}


class Decisions(Pair):
    """Two or three branches that decide about the same memories, each by what it knows, as the commands plan it.

    With `apart`, each change has a file of its own, so that git merges without a driver; else the memory's file has it.
    """

    def __init__(self, seed: int, apart: bool):
        self.source, self.apart = random.Random(seed), apart
        self.count, self.style = 0, {}
        self.base = {}
        self.decided: set[str] = set()  # memories that a decision of their own took out of use
        self.tagged: dict[str, set[str]] = {}  # memory → tags that one branch added
        self.untagged: set[str] = set()
        for _ in range(self.source.randint(2, 4)):
            self._remember(self.base, "base")
        shares = [(path, texts[0]) for path, texts in self.base.items()]
        sides = ("ours", "theirs", "third")[: self.source.randint(2, 3)]
        self.commits = {side: self._decide(side, shares[number :: len(sides)]) for number, side in enumerate(sides)}

    def _decide(self, side: str, own: list[tuple[str, str]]) -> list[Files]:
        """The files after each commit. A branch edits and renames only files that are its own."""
        files, commits = {path: list(texts) for path, texts in self.base.items()}, []
        self.clock = START + 3_600_000
        for _ in range(self.source.randint(1, 3)):
            for _ in range(self.source.randint(1, 3)):
                self.clock += self.source.randint(0, 2) * 60_000  # two branches may decide at the same time
                self._step(files, side, own)
            commits.append({path: list(texts) for path, texts in files.items()})
        return commits

    def _step(self, files: Files, side: str, own: list[tuple[str, str]]) -> None:
        kind = self.source.choices(list(STEPS), STEPS.values())[0]
        known = folded({path: self.bytes_of(path, texts) for path, texts in files.items()})
        memories = {id: memory for (_, id), memory in known.items() if memory}
        if kind == "add":
            self._remember(files, side)
        elif kind in ("edit", "rename") and own:
            path, text = own.pop()
            if kind == "edit" and text in files[path]:
                files[path][files[path].index(text)] = f"{text.rstrip()} Edited by {side}.\n"
            elif kind == "rename" and self.apart:  # git does not find a renamed file that others made much longer
                files[path.replace("memories/", "memories/moved-")] = files.pop(path)
        elif kind not in ("edit", "rename"):
            try:
                plan = self._plan(kind, side, memories)
            except RawkoError:
                return  # such as a deleted memory, which nothing supersedes
            for entry in plan.entries:
                self._write(files, side, entry, memories[entry.about])

    def _plan(self, kind: str, side: str, memories: dict[str, Memory]) -> Plan:
        memory, other = (self.source.choice(list(memories.values())) for _ in range(2))
        trust = {id: self.source.choice((0.1, 0.5, 0.9)) for id in memories}

        def believed(memory: Memory) -> float:
            return trust[memory.id]

        def alike(ids: Sequence[str], *_: object) -> Iterator[tuple[str, list[tuple[str, float]]]]:
            for place, id in enumerate(ids):
                yield id, [(other, 1.0) for other in ids[place + 1 :] if memories[other].body == memories[id].body]

        if kind == "supersede":
            return plan_supersede(memory, other, "newer", side, believed, anyway=True)
        if kind == "consolidate":
            return plan_dedupe(Census(memories, self.clock, believed), alike, side)
        if kind == "restore":
            return plan_restore(Review(memory, (), "", "still true", side, believed))
        if kind == "amend":
            return plan_amend(memory, Entry(body=f"{memory.body} As {side} says.", by=side))
        if kind == "tag":
            tag, gone = f"{side}-{self.count}", self.source.choice((*memory.tags, ""))
            tags = (*(one for one in memory.tags if one != gone), tag)
            plan = plan_amend(memory, Entry(tags=tags, given=("tags",), by=side), one_by_one=True)
            self.tagged.setdefault(memory.id, set()).add(tag)
            self.untagged.add(gone)
            return plan
        plans = {"delete": plan_delete, "archive": plan_archive, "quarantine": plan_quarantine}
        plan = plans[kind](memory, "wrong", side) if kind in plans else plan_dispute(memory, "no", side, lambda _: 0.0)
        self.decided.add(memory.id)
        return plan

    def _write(self, files: Files, side: str, entry: Entry, memory: Memory) -> None:
        self.count += 1
        entry = replace(entry, id=f"{entry.kind}_{self.count}_{side}", at=max(self.clock, memory.updated + 1))
        path = f".rawko/changes/2026-01/{entry.id}.md" if self.apart else f".rawko/{memory.path}"
        files.setdefault(path, []).append(emit_entry(entry))

    def _remember(self, files: Files, side: str) -> None:
        self.count += 1
        id = f"mem_{self.count}_{side}"
        title = self.source.choice(("Kafka", "Deploy"))
        entry = Entry(
            id=id, title=title, tags=("base",), at=START + self.count, by=side, body=self.source.choice(COPIED)
        )
        files[f".rawko/memories/{id}.md"] = [emit_entry(entry)]

    def check(self, memories: dict[str, Memory]) -> None:
        """Nothing vanishes: a memory out of use was put away itself, or replaced by one in use; every tag is kept."""
        for id, memory in memories.items():
            newest = memory
            while newest.status != ACTIVE and newest.superseded_by:
                newest = memories[newest.superseded_by]
            put_away = id in self.decided and memory.status in (newest.status, "superseded")
            put_away &= memory.status != "superseded" or newest.status == "quarantined"
            assert newest.status == ACTIVE or put_away, (memory, newest)
            assert self.tagged.get(id, set()) - self.untagged <= {*memory.tags}, memory


class AnsweringDriver:
    """A merge driver without a start of Python: it asks this process. A thousand merges would be thousands of starts."""

    def __init__(self, folder: Path):
        self._asked, self._answered, script = (folder / name for name in ("asked", "answered", "driver.sh"))
        os.mkfifo(self._asked)
        os.mkfifo(self._answered)
        question = f'printf "%s\\t" "$PWD" "$@" > {self._asked}'
        script.write_text(f'#!/bin/sh\n{question}\nread code < {self._answered}\nexit "$code"\n')
        script.chmod(0o755)
        self.command = f"{script} %O %A %B %L %P"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while question := self._asked.read_text():
            top, base, ours, theirs, marker, path = question.split("\t")[:6]
            code = "0"
            try:
                merge_files(*(os.path.join(top, name) for name in (base, ours, theirs)), path, int(marker))
            except RawkoError:
                code = "1"
            self._answered.write_text(f"{code}\n")

    def close(self) -> None:
        """End the thread by an empty question, while its folder is there."""
        self._asked.write_text("")
        self._thread.join()


class Forge:
    """A bare repository that holds all pairs, merged by real git. The driver is a script that asks this process."""

    def __init__(self, folder: Path, driver: str = "", plain: bool = False):
        self.folder = folder
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            **{f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        folder.mkdir()
        self.git("init", "-q", "--bare")
        self._answering = None if driver or plain else AnsweringDriver(folder.parent)
        if not plain:
            (folder / "info" / "attributes").write_text("*.md merge=rawkomem\n")
            self.git("config", "merge.rawkomem.driver", self._answering.command if self._answering else driver)
        self._contents = None

    def git(self, *words: str, given: bytes = b"", fine: tuple[int, ...] = (0,)) -> bytes:
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env=self.environment, input=given, capture_output=True, check=False
        )
        assert done.returncode in fine, f"git {' '.join(words)}: {done.returncode} {done.stdout!r} {done.stderr!r}"
        return done.stdout

    def take_in(self, pairs: dict[int, Pair]) -> None:
        """All commits of all pairs, in one process."""
        stream: list[bytes] = []
        for number, pair in pairs.items():
            stream += self._commit(f"refs/heads/base-{number}", pair, pair.base, "")
            for side, commits in pair.commits.items():
                parent = f"refs/heads/base-{number}"
                for files in commits:
                    stream += self._commit(f"refs/heads/{side}-{number}", pair, files, parent)
                    parent = ""
        self.git("fast-import", "--quiet", given=b"".join(stream))

    def _commit(self, ref: str, pair: Pair, files: Files, parent: str) -> list[bytes]:
        head = f"commit {ref}\ncommitter A <a@example.org> 1767225600 +0000\ndata 1\nx\n"
        parts = [(head + (f"from {parent}\n" if parent else "") + "deleteall\n").encode()]
        for path, texts in files.items():
            data = pair.bytes_of(path, texts)
            parts += [f"M 100644 inline {path}\ndata {len(data)}\n".encode(), data, b"\n"]
        return parts

    def merge(self, ours: str, theirs: str) -> tuple[str, bool]:
        """The tree of a merge, and whether it had no conflict."""
        told = self.git("merge-tree", "--write-tree", ours, theirs, fine=(0, 1)).decode()
        return told.split("\n")[0], "CONFLICT" not in told

    def merge_all(self, tips: Sequence[str]) -> dict[str, bytes]:
        """The files after merging some branches in this order; no merge may conflict."""
        commit = tips[0]
        for tip in tips[1:]:
            tree, clean = self.merge(commit, tip)
            assert clean, f"{tips}: {self.git('merge-tree', '--write-tree', commit, tip, fine=(1,))!r}"
            commit = self.git("commit-tree", tree, "-p", commit, "-p", tip, "-m", "x").decode().strip()
        return self.files(tree)

    def files(self, tree: str) -> dict[str, bytes]:
        """What a tree holds."""
        listed = [line for line in self.git("ls-tree", "-r", "-z", tree).decode().split("\0") if line]
        return {line.split("\t")[1]: self._blob(line.split()[2]) for line in listed}

    def _blob(self, id: str) -> bytes:
        if self._contents is None:
            self._contents = subprocess.Popen(
                ["git", "cat-file", "--batch"], cwd=self.folder, env=self.environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )  # fmt: skip
        self._contents.stdin.write(f"{id}\n".encode())
        self._contents.stdin.flush()
        size = int(self._contents.stdout.readline().split()[2])
        return self._contents.stdout.read(size + 1)[:-1]

    def close(self) -> None:
        if self._answering:
            self._answering.close()
        if self._contents:
            self._contents.stdin.close()
            self._contents.wait()
            self._contents.stdout.close()
