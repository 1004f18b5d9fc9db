"""Measures `replay` on recorded sessions with gold memories: how many corrections the gold memories cover.

The quotes of a gold memory decide which corrections it is about, by the same rule as in `bench learn`.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from typing import TYPE_CHECKING, Any

from ..hosts.replay.past import read_past
from ..hosts.replay.replay import COVERED, MISSING, SILENT, replay
from ..learn.drafts.cover import covering
from ..learn.session.recorded import read_records
from ..model.entry import Entry
from ..repository import Repository
from ..text.prose import sentences
from .learn import quotes_of, text_of, touched_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..hosts.replay.replay import Correction

    Record = dict[str, Any]

MAX_TITLE_CHARS = 100


def measure_replay(files: Sequence[str], tell: Callable[[str], None]) -> dict[str, Any]:
    """Return the counts of all sessions, of each session and of each kind, and how well they agree with quotes."""
    gold = [memory for file in files for session in read_records(file) for memory in session.get("gold", [])]
    corrections: list[Correction] = []
    each: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory(prefix="rawkomem-replay-") as folder:
        repository = Repository.init(folder, warn=lambda text: None)
        stored = repository.add_many([_entry(memory) for memory in gold])
        for past in (past for file in files for past in read_past(file)):
            tell(f"session {past.name}")
            replayed = replay(repository, past)
            corrections += replayed.corrections
            each[past.name] = {"prompts": len(replayed.answers), **_counts(replayed.corrections)}
        pairs = _pairs(repository, corrections, [one.id for one in stored], gold)
        repository.close()
    quotes = [quotes_of(memory) for memory in gold]
    quoted = [one for one in corrections if touched_by(text_of(one.draft), quotes)]
    kinds = {kind: _counts(one for one in corrections if one.draft.kind == kind) for kind in _kinds(corrections)}
    total = {"sessions": len(each), "prompts": sum(row["prompts"] for row in each.values()), "gold": len(gold)}
    return {**total, **_counts(corrections), "with_gold": _counts(quoted), "pairs": pairs, "kinds": kinds, "each": each}


def _entry(memory: Record) -> Entry:
    title = next(iter(sentences(memory["memory"])), memory["memory"])[:MAX_TITLE_CHARS]
    return Entry(title=title, when=(memory["when"],) if memory.get("when") else (), body=memory["memory"])


def _counts(corrections: Iterable[Correction]) -> dict[str, int]:
    """Return how many corrections there are of each verdict; `before`: covered by a prompt before the correction."""
    corrections = [*corrections]
    verdicts = Counter(one.verdict for one in corrections)
    before = sum(one.verdict == COVERED and one.since < one.prompt for one in corrections)
    return {
        "corrections": len(corrections),
        "covered": verdicts[COVERED],
        "before": before,
        "not_injected": verdicts[SILENT],
        "not_covered": verdicts[MISSING],
    }


def _kinds(corrections: Iterable[Correction]) -> list[str]:
    return sorted({one.draft.kind for one in corrections})


def _pairs(
    repository: Repository, corrections: Iterable[Correction], ids: Sequence[str], gold: Sequence[Record]
) -> dict[str, int]:
    """Return how many pairs of correction and memory share a quote, how many are found, and how many are both."""
    memories, quotes = repository.get_many(ids), [quotes_of(memory) for memory in gold]
    counts = Counter[str]()
    for one in corrections:
        said = {memory.id for memory in covering(one.draft, memories)}
        quoted = {ids[number] for number in touched_by(text_of(one.draft), quotes)}
        counts.update(quoted=len(quoted), found=len(said), both=len(quoted & said))
    return {name: counts[name] for name in ("quoted", "found", "both")}
