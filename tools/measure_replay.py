"""Measure how many corrections in recorded sessions the gold memories of earlier sessions cover: see docs/learning.md.

    .venv/bin/python tools/measure_replay.py SESSIONS.json.xz…

Each file holds the sessions of one project in their order, each with `records` and `gold` memories. A session is
replayed with the gold memories of the sessions before it, and for `own` once more with its own. Prints JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from rawkomem.hosts.replay import (
    Correction,
    read_recorded_sessions,
    recorded_pasts,
    replay,
    verdict_counts,
)
from rawkomem.learn.proposed_conditions import propose_acts
from rawkomem.model.entries import Entry
from rawkomem.repository import Repository
from rawkomem.text.acts import APPLIES_KEY, patterns_given
from rawkomem.text.prose import first_sentence

MAX_TITLE_CHARS = 100


def measure_replay(files: Sequence[str]) -> dict[str, Any]:
    """Return the counts of all sessions, of each session and of each kind."""
    stored = 0
    corrections: list[Correction] = []
    with_own: list[Correction] = []
    each: dict[str, dict[str, int]] = {}
    for file in files:
        with (
            tempfile.TemporaryDirectory(prefix="rawkomem-replay-") as folder,
            Repository.init(folder, warn=lambda text: None) as repository,
        ):
            sessions = zip(
                read_recorded_sessions(file), recorded_pasts([file]), strict=True
            )
            for session, past in sessions:
                replayed = replay(repository, past)
                gold = session.get("gold", [])
                repository.add_many([_entry_of_gold(rule) for rule in gold])
                stored += len(gold)
                corrections += replayed.corrections
                if replayed.corrections:
                    with_own += replay(repository, past).corrections
                each[past.name] = {
                    "prompts": len(replayed.answers),
                    **verdict_counts(replayed.corrections),
                }
    kinds = sorted({one.draft.kind for one in corrections})
    return {
        "sessions": len(each),
        "prompts": sum(row["prompts"] for row in each.values()),
        "gold": stored,
        **verdict_counts(corrections),
        "own": verdict_counts(with_own),
        "kinds": {
            kind: verdict_counts(one for one in corrections if one.draft.kind == kind)
            for kind in kinds
        },
        "each": each,
    }


def _entry_of_gold(memory: dict[str, Any]) -> Entry:
    title = (first_sentence(memory["memory"]) or memory["memory"])[:MAX_TITLE_CHARS]
    acts = propose_acts(memory["memory"])
    return Entry(
        title=title,
        when=(memory["when"],) if memory.get("when") else (),
        body=memory["memory"],
        extra={APPLIES_KEY: patterns_given(acts)} if acts else {},
    )


if __name__ == "__main__":
    print(json.dumps(measure_replay(sys.argv[1:]), indent=2))
