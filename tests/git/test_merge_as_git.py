"""The driver beside `git merge-file`: it never conflicts where git does not, and loses no line that git keeps."""

import random
import re
import subprocess
from itertools import count

import pytest
from rawkomem.files.reading import read_data
from rawkomem.git.merge import Conflicting, merge_files
from rawkomem.git.merge_parts import merge_parts, read_side

from tests.commands import cases

PATH = ".rawko/memories/a.md"
SEPARATOR = "\n---\n\n"
MARKERS = re.compile(r"^(<{7} ours|={7}|>{7} theirs)\n", re.MULTILINE)
KEYS = ("importance", "tags", "source", "discoveredBy", "whenToUse", "note")


class Writer:
    """Writes random memory files and edits them; each line that it writes is another one."""

    def __init__(self, seed: int):
        self.source = random.Random(seed)
        self.numbers = count()

    def line(self) -> str:
        return f"{self.source.choice(['Deploy', 'Retry', 'Never', 'The cache'])} line {next(self.numbers)}."

    def field(self, key: str) -> list[str]:
        number = next(self.numbers)
        if key == "whenToUse":
            return [f"{key}:", *(f"  - word{number}x{each}" for each in range(self.source.randint(1, 4)))]
        if key == "importance":
            return [f"{key}: {self.source.choice(['low', 'medium', 'high'])}  # {number}"]
        return [f"{key}: [t{number}]" if key == "tags" else f"{key}: value {number}"]

    def entry(self) -> tuple[dict[str, list[str]], list[str]]:
        number = next(self.numbers)
        keys = self.source.sample(KEYS, self.source.randint(1, len(KEYS)))
        fields = {"id": [f"id: mem_{number}"], "title": [f"title: Title {number}"]}
        fields |= {key: self.field(key) for key in keys}
        fields["discoveredAt"] = [f"discoveredAt: 2026-01-{number % 28 + 1:02d}"]
        body = [self.line() if self.source.random() < 0.7 else "" for _ in range(self.source.randint(1, 9))]
        return fields, [*body, self.line()]

    def edited(self, entries: list) -> list:
        """Entries with one to three edits: a field, a line, or a whole entry."""
        entries = [({**fields}, [*body]) for fields, body in entries]
        for _ in range(self.source.randint(1, 3)):
            kind = self.source.choice(["field", "field", "drop field", "line", "line", "drop line", "insert", "append"])
            fields, body = self.source.choice(entries)
            at = self.source.randrange(len(body))
            key = self.source.choice(KEYS)
            if kind == "field":
                fields[key] = self.field(key)
            elif kind == "drop field":
                fields.pop(key, None)
            elif kind == "line":
                body[at] = self.line()
            elif kind == "drop line" and len(body) > 1:
                del body[at]
            elif kind == "insert":
                body.insert(at, self.line())
            elif kind == "append" and self.source.random() < 0.5:
                entries.append(self.entry())
        return entries


def text_of(entries: list) -> str:
    return SEPARATOR.join(
        "\n".join(["---", *(row for field in fields.values() for row in field), "---", "", *body]) + "\n"
        for fields, body in entries
    )


def git_merge(folder) -> tuple[str, bool]:
    words = ["git", "merge-file", "-p", "-L", "ours", "-L", "base", "-L", "theirs", "ours", "base", "theirs"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout, done.returncode > 0


def is_valid(text: str) -> bool:
    read = read_data(text.encode(), "memories/a.md", advice=False)
    ids = [entry.id for entry in read.entries]
    return read.verdict != "quarantine" and len({*ids}) == len(ids)


def compare(folder, seed: int) -> tuple[bool, bool]:
    """Merge random versions both ways and by git; return whether the driver and git have conflicts."""
    writer = Writer(seed)
    base = [writer.entry() for _ in range(writer.source.choice([1, 1, 2, 3]))]
    texts = [text_of(base), text_of(writer.edited(base)), text_of(writer.edited(base))]
    names = ("base", "ours", "theirs")
    for name, text in zip(names, texts, strict=True):
        (folder / name).write_text(text)
    by_git, git_conflicts = git_merge(folder)
    files = [str(folder / name) for name in names]
    parts = merge_parts(*map(read_side, files))
    swapped = merge_parts(*map(read_side, (files[0], files[2], files[1])))
    conflicts = False
    try:
        merge_files(*files, PATH)
    except Conflicting:
        conflicts = True
    merged = (folder / "ours").read_text()
    old, ours, theirs = ({*text.split("\n")} for text in texts)
    kept = (old & ours & theirs) | (ours - old) | (theirs - old)
    assert kept <= {*merged.split("\n")}, seed
    assert not conflicts or git_conflicts or not is_valid(by_git), seed
    assert conflicts == bool(MARKERS.search(merged)), seed
    if not conflicts:
        assert is_valid(merged), seed
        dropped = ((old - ours) | (old - theirs)) - {"whenToUse:"}  # a new entry may have this line, too
        assert not {*merged.split("\n")} & dropped, seed
        (folder / "ours").write_text(texts[2])
        (folder / "theirs").write_text(texts[1])
        merge_files(*files, PATH)
        assert (folder / "ours").read_text() == merged, seed
    if parts is not None:  # the usual way; a field that one side moved may stand elsewhere than in the other way
        assert parts == swapped, seed
        by_parts, whole = (text.rstrip("\n").split("\n") for text in (parts.decode(), merged))
        assert sorted(by_parts) == sorted(whole), seed
    return conflicts, git_conflicts


def test_random_merges_have_no_more_conflicts_than_git(tmp_path):
    found = [compare(tmp_path, seed) for seed in range(60)]
    assert sum(one for one, _ in found) < sum(git for _, git in found)


@pytest.mark.slow
def test_many_random_merges_have_no_more_conflicts_than_git(tmp_path):
    for seed in range(1_000, 1_000 + cases(4_000, 500)):
        compare(tmp_path, seed)
