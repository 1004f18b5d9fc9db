"""A scratch project for the proofs: memory files in a git repository, the installed command line, and BM25 beside it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log, sqrt
from pathlib import Path
from statistics import fmean
from typing import Any

K1, B = 1.2, 0.75  # the usual constants of BM25
AUTHOR = ("-c", "user.name=Proof", "-c", "user.email=proof@example.com")


class Project:
    """A project with its own memories; commands run as a user starts them."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="rawkomem-proof-")
        self.path = Path(self.folder.name)
        self.git("init", "-q")
        self.rawkomem("init")

    def git(self, *words: str) -> None:
        """Run git in the project."""
        subprocess.run(
            ["git", *AUTHOR, *words], cwd=self.path, check=True, capture_output=True
        )

    def rawkomem(self, *words: str, given: str = "") -> str:
        """Return the standard output of a command; stop with its message if it fails."""
        command = [sys.executable, "-m", "rawkomem", *words]
        done = subprocess.run(
            command,
            cwd=self.path,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"rawkomem {words[0]}: {done.stderr}")
        return done.stdout

    def asked(self, *words: str, given: str = "") -> Any:
        """Return the JSON that a command prints."""
        return json.loads(self.rawkomem(*words, "--json", given=given))

    def write(self, id: str, title: str, text: str, fields: Mapping[str, str]) -> None:
        """Write a memory file."""
        lines = [
            f"{key}: {value}"
            for key, value in {"id": id, "title": json.dumps(title), **fields}.items()
        ]
        file = self.path / ".rawko" / "memories" / f"{id}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            "\n".join(("---", *lines, "---", "", text, "")), encoding="utf-8"
        )

    def commit(self) -> None:
        """Commit all files, so that a person vouches for them, and index them."""
        self.git("add", ".")
        self.git("commit", "-q", "--no-verify", "-m", "Memories")
        self.rawkomem("index", "sync")


class BM25:
    """Ranks texts by their words alone."""

    def __init__(self, texts: Mapping[str, str]):
        self.words = {id: Counter(words_of(text)) for id, text in texts.items()}
        self.mean = fmean(counts.total() for counts in self.words.values())
        self.holders = Counter(
            word for counts in self.words.values() for word in counts
        )

    def ranked(self, question: str) -> list[str]:
        """Return the ids of all texts, the best first."""
        asked = {*words_of(question)}
        return sorted(self.words, key=lambda id: -self._score(self.words[id], asked))

    def _score(self, counts: Counter[str], asked: set[str]) -> float:
        length = K1 * (1 - B + B * counts.total() / self.mean)
        return sum(
            log(1 + (len(self.words) - self.holders[word] + 0.5) / (self.holders[word] + 0.5))
            * counts[word] * (K1 + 1) / (counts[word] + length)
            for word in asked & counts.keys()
        )  # fmt: skip


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return re.findall(r"\w+", text.lower())


def share(values: Sequence[bool]) -> str:
    """Return a share with its count and its 95 % interval (Wilson)."""
    count = len(values)
    if not count:
        return "none"
    p, z = sum(values) / count, 1.96
    middle = (p + z * z / (2 * count)) / (1 + z * z / count)
    margin = (
        z
        * sqrt(p * (1 - p) / count + z * z / (4 * count * count))
        / (1 + z * z / count)
    )
    return f"{p:.2f} ({max(0, middle - margin):.2f}–{min(1, middle + margin):.2f}), {sum(values)} of {count}"
