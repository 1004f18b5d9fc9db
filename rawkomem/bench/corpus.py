"""A made-up repository of a given size: English words by Zipf's law, headings, tags, conditions."""

from __future__ import annotations

import os
import random
from itertools import accumulate

from ..embed.static import FILE
from ..embed.vectors import TokenVectors
from ..files.start import plan_start, write_start
from ..text.emit import emit_fields

VOCABULARY = 8_000  # distinct words; a team's notes hold about that many
BYTES = 4_000  # of each file


def make_repository(project: str, files: int, seed: int = 7) -> None:
    """Write `.rawko/` with this many memories of 4 kB into a project folder."""
    write_start(plan_start(project))
    words = vocabulary(seed)
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    folder = os.path.join(project, ".rawko", "memories")
    for number in range(files):
        text = memory_text(random.Random(seed * 1_000_003 + number), words, weights, number)
        with open(os.path.join(folder, f"memory-{number:06d}.md"), "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)


def vocabulary(seed: int = 7) -> list[str]:
    """English words in a made-up order of frequency, the most frequent first."""
    known = sorted(word for word in TokenVectors(FILE).index() if word.isascii() and word.isalpha() and len(word) > 2)
    return random.Random(seed).sample(known, VOCABULARY)


def memory_text(chance: random.Random, words: list[str], weights: list[float], number: int) -> str:
    """One memory of about BYTES bytes."""

    def some(count: int) -> str:
        return " ".join(chance.choices(words, cum_weights=weights, k=count))

    front = emit_fields(
        {
            "title": f"{some(5).capitalize()} {number}",
            "whenToUse": ["|".join(chance.choices(words, cum_weights=weights, k=3)), f"When working on {some(3)}"],
            "tags": chance.choices(words[100:200], k=3),
            "importance": chance.choice(("low", "medium", "high", "critical")),
            "discoveredAt": f"2026-{chance.randint(1, 9):02d}-{chance.randint(1, 28):02d}T10:30:00Z",
            "discoveredBy": chance.choice(("planner", "developer", "tester", "reviewer")),
        }
    )
    parts = [f"---\n{front}---\n"]
    while sum(map(len, parts)) < BYTES:
        parts.append(
            f"## {some(3).capitalize()}\n\n{some(chance.randint(40, 90)).capitalize()}.\n\n- {some(8)}\n- {some(8)}\n"
        )
    return "\n".join(parts)
