"""Writes a made-up repository of any size: memories of 1 to 4 kB of English sentences on many subjects."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from ..embed.static import STATIC_FILE, TokenVectors
from ..files.installation import plan_start, write_start
from ..format.blocks import SEPARATOR
from ..format.frontmatter import emit_entry, emit_fields
from ..model.entries import Entry, Value

VOCABULARY_WORDS = 8_000  # distinct words; a team's notes have about as many
# as long as memories of real projects
MIN_MEMORY_BYTES, MAX_MEMORY_BYTES = 1_000, 4_000
SUBJECTS, SUBJECT_WORDS = 200, 30  # subjects of memories, and words of each subject
OWN_WORDS = 15  # words of a memory that its subject does not have
SHARE_OF_OWN = 0.6  # of the content words; the others are any words, by Zipf's law
SENTENCES = (
    "The {} must be done before the {} reads the {}.",
    "When {} fails, look at the {} first: its {} says what the {} expected.",
    "We moved the {} from {} to {}, because the old {} lost every {} under load.",
    "Do not change the {} of {} without a test for {} and {}.",
    "A {} that has no {} is treated as {}.",
    "The {} people asked for {} in March, so {} and {} share one {} since then.",
    "If you see {} in the log, restart the {} and check that {} is still there.",
    "It took two days to find out that {} depends on the {} of the {}.",
    "Run {} with {} twice, as the first run only fills the {}.",
    "Both {} and {} write to the {}, so keep each {} short.",
    "There is one {} for {}, one for {}, and none for {}.",
    "Ask the owner of {} before you delete a {}.",
)
# Kinds of changes and their share in percent: votes are frequent, changes of state are rare.
CHANGES = {
    "feedback": 40,
    "reinforce": 20,
    "amend": 15,
    "corroborate": 10,
    "dispute": 5,
    "link": 5,
    "supersede": 3,
    "archive": 2,
}
AUTHORS = ("planner", "developer", "tester", "reviewer")
SEED = 7  # of everything that is made up by chance
# the time of the first changes, later than all memories
CHANGES_AT_MS = 1_790_000_000_000


class Prose:
    """Words by Zipf's law, and sentences that use them."""

    def __init__(self) -> None:
        self.words = vocabulary()
        self._weights = list(
            accumulate(1 / (rank + 3) for rank in range(len(self.words)))
        )
        chance = random.Random(SEED)
        self.subjects = [
            chance.sample(self.words, SUBJECT_WORDS) for _ in range(SUBJECTS)
        ]

    def some(
        self, chance: random.Random, count: int, own: Sequence[str] = ()
    ) -> list[str]:
        """Return words, most of them from `own`."""
        words = chance.choices(self.words, cum_weights=self._weights, k=count)
        return [
            chance.choice(own) if own and chance.random() < SHARE_OF_OWN else w
            for w in words
        ]

    def sentence(self, chance: random.Random, own: Sequence[str]) -> str:
        """Return a sentence; most of its content words are from `own`."""
        pattern = chance.choice(SENTENCES)
        text = pattern.format(*self.some(chance, pattern.count("{}"), own))
        return text[0].upper() + text[1:]


def make_repository(project: str, files: int, changes: int = 0) -> None:
    """Write `.rawko/` into a project folder: this many files with one memory, and this many changes in them."""
    write_start(plan_start(project))
    prose = Prose()
    folder = os.path.join(project, ".rawko", "memories")
    # By chance some files get no changes, and a few get many.
    below = Counter(random.Random(SEED).choices(range(files), k=changes))
    for number in range(files):
        chance = random.Random(SEED * 1_000_003 + number)
        entries = [memory_text(chance, prose, number)]
        for nth in range(below[number]):
            entries.append(change_text(chance, prose.words, number, files, nth))
        file = os.path.join(folder, f"memory-{number:06d}.md")
        with open(file, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(SEPARATOR.join(entries))


def change_text(
    chance: random.Random, words: list[str], number: int, files: int, nth: int
) -> str:
    """Return one change of a memory, later than the changes before it."""
    kind = chance.choices(list(CHANGES), list(CHANGES.values()))[0]
    other = f"memory-{chance.randrange(files):06d}"
    extra: dict[str, Value] = {}
    if kind == "feedback":
        extra["signal"] = chance.choice(("helpful", "helpful", "harmful"))
    elif kind == "supersede":
        extra["supersededBy"] = other
    elif kind == "link":
        extra["to"] = [other]
    return emit_entry(
        Entry(
            kind,
            f"{kind}_{number:06d}_{nth}",
            f"memory-{number:06d}",
            at=CHANGES_AT_MS + nth,
            by=chance.choice(AUTHORS),
            extra=extra,
            body=" ".join(chance.choices(words, k=60)) if kind == "amend" else "",
        )
    )


def vocabulary() -> list[str]:
    """Return English words in a made-up order of frequency, the most frequent first."""
    known = sorted(
        word
        for word in TokenVectors(STATIC_FILE).index()
        if word.isascii() and word.isalpha() and len(word) > 2
    )
    return random.Random(SEED).sample(known, VOCABULARY_WORDS)


def memory_text(chance: random.Random, prose: Prose, number: int) -> str:
    """Return one memory: frontmatter, and sections of a few sentences with a list."""
    own = [*chance.choice(prose.subjects), *chance.sample(prose.words, OWN_WORDS)]
    fields: dict[str, Value] = {
        "title": f"{' '.join(prose.some(chance, 5, own)).capitalize()} {number}",
        "whenToUse": [
            "|".join(chance.sample(own, 3)),
            f"When working on {' '.join(chance.sample(own, 3))}",
        ],
        "tags": chance.choices(prose.words[100:200], k=3),
        "importance": chance.choice(("low", "medium", "high", "critical")),
        "discoveredAt": f"2026-{chance.randint(1, 9):02d}-{chance.randint(1, 28):02d}T10:30:00Z",
        "discoveredBy": chance.choice(AUTHORS),
    }
    text = f"---\n{emit_fields(fields)}---\n"
    # a section has about 800
    wanted = chance.randint(MIN_MEMORY_BYTES, MAX_MEMORY_BYTES - 800)
    while len(text) < wanted:
        heading = " ".join(prose.some(chance, 3, own)).capitalize()
        sentences = [prose.sentence(chance, own) for _ in range(chance.randint(4, 8))]
        items = [f"- {prose.sentence(chance, own)}\n" for _ in range(2)]
        text += f"\n## {heading}\n\n{' '.join(sentences)}\n\n{''.join(items)}"
    return text
