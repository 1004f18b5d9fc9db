"""Writes a made-up repository of any size: English words by Zipf's law, headings, tags, conditions."""

from __future__ import annotations

import lzma
import os
import random
from collections.abc import Iterator
from itertools import accumulate

from ..embed.static import STATIC_FILE, TokenVectors
from ..files.installation import plan_start, write_start
from ..format.blocks import SEPARATOR
from ..format.frontmatter import emit_entry, emit_fields
from ..model.entries import Entry, Value
from ..model.errors import BadInput
from ..model.values import replace

PIECE_WORDS = 24  # words in a piece of a real text
VOCABULARY_WORDS = 8_000  # distinct words; a team's notes have about as many
MEMORY_BYTES = 4_000
SUBJECTS, SUBJECT_WORDS = 2_000, 300  # subjects of short texts, and words of each subject
# Kinds of changes and their share in percent: votes are frequent, changes of state are rare.
CHANGES = {
    "feedback": 40,
    "reinforce": 20,
    "amend": 15,
    "corroborate": 10,
    "dispute": 5,
    "link": 5,
    "supersede": 3,
}
CHANGES |= {"archive": 2}
CHANGES_AT_MS = 1_790_000_000_000  # the time of the first changes, later than all memories


def make_repository(project: str, files: int, seed: int = 7, changes: int = 0) -> None:
    """Write `.rawko/` into a project folder: this many files with one memory of 4 kB, and this many changes in them."""
    write_start(plan_start(project))
    words = vocabulary(seed)
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    folder = os.path.join(project, ".rawko", "memories")
    below = _spread(random.Random(seed), files, changes)
    for number in range(files):
        chance = random.Random(seed * 1_000_003 + number)
        text = memory_text(chance, words, weights, number)
        entries = (change_text(chance, words, number, files, nth) for nth in range(below[number]))
        text = SEPARATOR.join([text, *entries])
        with open(
            os.path.join(folder, f"memory-{number:06d}.md"), "w", encoding="utf-8", newline="\n"
        ) as stream:
            stream.write(text)


def _spread(chance: random.Random, files: int, changes: int) -> list[int]:
    """Return how many changes each file gets: by chance, so that some have none and a few have many."""
    counts = [0] * files
    for number in chance.choices(range(files), k=changes):
        counts[number] += 1
    return counts


def change_text(chance: random.Random, words: list[str], number: int, files: int, nth: int) -> str:
    """Return one change of a memory, later than the changes before it."""
    kind = chance.choices(list(CHANGES), list(CHANGES.values()))[0]
    other = f"memory-{chance.randrange(files):06d}"
    says: dict[str, Value] = (
        {"signal": chance.choice(("helpful", "helpful", "harmful"))} if kind == "feedback" else {}
    )
    says |= (
        {"supersededBy": other}
        if kind == "supersede"
        else {"to": [other]}
        if kind == "link"
        else {}
    )
    by = chance.choice(("planner", "developer", "tester", "reviewer"))
    entry = Entry(
        kind,
        f"{kind}_{number:06d}_{nth}",
        f"memory-{number:06d}",
        at=CHANGES_AT_MS + nth,
        by=by,
        extra=says,
    )
    return emit_entry(
        replace(entry, body=" ".join(chance.choices(words, k=60))) if kind == "amend" else entry
    )


def vocabulary(seed: int = 7) -> list[str]:
    """Return English words in a made-up order of frequency, the most frequent first."""
    known = sorted(
        word
        for word in TokenVectors(STATIC_FILE).index()
        if word.isascii() and word.isalpha() and len(word) > 2
    )
    return random.Random(seed).sample(known, VOCABULARY_WORDS)


def short_texts(count: int, seed: int = 7) -> Iterator[str]:
    """Yield texts of about 30 words on SUBJECTS subjects, each with its own words; a few texts share a subject."""
    chance = random.Random(seed)
    words = vocabulary(seed)
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    subjects = [chance.sample(words, SUBJECT_WORDS) for _ in range(SUBJECTS)]
    own = weights[:SUBJECT_WORDS]
    for _ in range(count):
        about = chance.choices(chance.choice(subjects), cum_weights=own, k=chance.randint(10, 30))
        yield " ".join([*about, *chance.choices(words, cum_weights=weights, k=10)])


def real_texts(path: str, count: int) -> Iterator[str]:
    """Yield `count` pieces of a text file, plain or .xz, in random order; pieces of a small file overlap."""

    with (lzma.open if path.endswith(".xz") else open)(
        path, "rt", encoding="utf-8", errors="replace"
    ) as stream:
        words = stream.read().split()
    if len(words) < PIECE_WORDS + count:
        raise BadInput(
            f"{path} has {len(words)} words: too few for {count} pieces", "name a larger file"
        )
    step = (len(words) - PIECE_WORDS) / count
    order = list(range(count))
    random.Random(7).shuffle(order)
    for number in order:
        start = int(number * step)
        yield " ".join(words[start : start + PIECE_WORDS])


def memory_text(chance: random.Random, words: list[str], weights: list[float], number: int) -> str:
    """Return one memory of about MEMORY_BYTES bytes."""

    def some(count: int) -> str:
        return " ".join(chance.choices(words, cum_weights=weights, k=count))

    fields: dict[str, Value] = {
        "title": f"{some(5).capitalize()} {number}",
        "whenToUse": [
            "|".join(chance.choices(words, cum_weights=weights, k=3)),
            f"When working on {some(3)}",
        ],
        "tags": chance.choices(words[100:200], k=3),
        "importance": chance.choice(("low", "medium", "high", "critical")),
        "discoveredAt": f"2026-{chance.randint(1, 9):02d}-{chance.randint(1, 28):02d}T10:30:00Z",
        "discoveredBy": chance.choice(("planner", "developer", "tester", "reviewer")),
    }
    parts = [f"---\n{emit_fields(fields)}---\n"]
    while sum(map(len, parts)) < MEMORY_BYTES:
        heading, text = some(3).capitalize(), some(chance.randint(40, 90)).capitalize()
        parts.append(f"## {heading}\n\n{text}.\n\n- {some(8)}\n- {some(8)}\n")
    return "\n".join(parts)
