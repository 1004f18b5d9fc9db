"""Labelled talk of developers and agents: what each snippet is to be remembered as, if at all.

A line: who says it, the kind (`-`: nothing to remember), the words (`\\n` breaks a line). Which half a snippet belongs to
follows from its words alone, so that nobody can choose: rules are made for one half and measured on the other.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

from rawkomem.learn.session.moments import moments_in
from rawkomem.learn.session.turns import Turn

DATA = Path(__file__).parent / "data"
FILES = ("talk.txt", "talk_more.txt", "talk_last.txt")  # in the order in which they were written


def snippets(name: str, held_out: bool | None = None) -> list[tuple[Turn, str]]:
    found = []
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        role, label, text = line.split(" ", 2)
        if held_out is None or held_out == bool(hashlib.sha256(text.encode()).digest()[0] & 1):
            found.append((Turn(role, text.replace("\\n", "\n")), "" if label == "-" else label))
    return found


def measure(given: list[tuple[Turn, str]]) -> tuple[float, float, float, list[str]]:
    """Precision, recall and the share of right kinds among what was rightly found; and every mistake in words."""
    found = wanted = right = same = 0
    mistakes = []
    for turn, label in given:
        moments = list(moments_in(turn, Counter()))
        found += len(moments)
        wanted += bool(label)
        right += bool(label) * len(moments)
        same += any(moment.kind == label for moment in moments)
        kinds = [moment.kind for moment in moments]
        if kinds != [label] * bool(label):
            mistakes.append(f"{label or '-'} found as {kinds}: {turn.text}")
    hit = sum(1 for turn, label in given if label and list(moments_in(turn, Counter())))
    return right / max(1, found), hit / max(1, wanted), same / max(1, hit), mistakes
