"""Measure on a labeled corpus how well redaction finds secrets and leaves other text alone: see docs/redaction.md.

    .venv/bin/python tools/measure_secrets.py CORPUS.json

A corpus is a list of rows with `kind` (`secret:…`, `pii:…`, `benign:…`), `expected_redacted`, `text_b64`, and
optionally `span_b64` (the secret alone), `scope` and `contested`. Only rows of scope `core` that are not contested
count. Texts are base64, so that secret scanners do not report a corpus. Prints JSON.
"""

from __future__ import annotations

import json
import sys
import time
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rawkomem.redaction.find import find_secrets, redact

PAGE_CHARS = 4_096  # characters of each text that is timed
ROUNDS = 5  # the fastest round counts: a busy machine can double the time of a round


@dataclass(frozen=True)
class LabelledText:
    """One labeled text."""

    kind: str
    wanted: bool
    text: str
    span: str = ""

    # text is redacted where the secret is, or anywhere if the corpus does not say where
    found: bool = False
    redacted: str = ""


@dataclass(frozen=True)
class Figures:
    """The measured values of the figures that the docs promise."""

    secrets: int
    secret_recall: float
    personal: int
    personal_recall: float
    benign: int
    false_positives: float  # per 1,000 benign texts
    lookalikes: int
    # share of texts that only look like a secret or personal data
    lookalikes_touched: float
    spans: int
    spans_removed: float
    pem_blocks: int
    pem_whole: float
    idempotent: float
    ms_per_4kb: float
    # of rows that should be redacted: kind, rows, recall
    by_kind: tuple[tuple[str, int, float], ...] = ()


def read_corpus(file: str) -> list[LabelledText]:
    """Return the rows of a corpus that count."""
    with open(file, encoding="utf-8") as stream:
        rows = json.load(stream)
    return [
        _row(row)
        for row in rows
        if row.get("scope", "core") == "core" and not row.get("contested")
    ]


def measure_secrets(rows: Sequence[LabelledText]) -> Figures:
    """Run redaction over a corpus."""
    wanted = [row for row in rows if row.wanted]
    secrets = [row for row in wanted if row.kind.startswith("secret")]
    personal = [row for row in wanted if row.kind.startswith("pii")]
    benign = [row for row in rows if row.kind.startswith("benign")]
    lookalikes = [
        row for row in rows if not row.wanted and not row.kind.startswith("benign")
    ]
    spans = [row for row in wanted if row.span and row.found]
    blocks = [
        row for row in wanted if "PRIVATE KEY" in row.text and "-----END" in row.text
    ]
    return Figures(
        secrets=len(secrets),
        secret_recall=_share([row.found for row in secrets]),
        personal=len(personal),
        personal_recall=_share([row.found for row in personal]),
        benign=len(benign),
        false_positives=1_000
        * (1 - _share([row.redacted == row.text for row in benign])),
        lookalikes=len(lookalikes),
        lookalikes_touched=1 - _share([row.redacted == row.text for row in lookalikes]),
        spans=len(spans),
        spans_removed=_share([row.span not in row.redacted for row in spans]),
        pem_blocks=len(blocks),
        pem_whole=_share(["PRIVATE KEY-----" not in row.redacted for row in blocks]),
        idempotent=_share([redact(row.redacted) == row.redacted for row in rows]),
        ms_per_4kb=_ms_per_page("\n".join(row.text for row in benign or rows)),
        by_kind=_by_kind(wanted),
    )


def _row(row: dict[str, Any]) -> LabelledText:
    text, span = (
        b64decode(row.get(key, "")).decode("utf-8", "replace")
        for key in ("text_b64", "span_b64")
    )
    start = text.find(span)
    end = start + len(span) if span else len(text)
    found = any(hit.start < end and start < hit.end for hit in find_secrets(text))
    return LabelledText(
        row["kind"], row["expected_redacted"], text, span, found, redact(text)
    )


def _share(verdicts: Sequence[bool]) -> float:
    return sum(verdicts) / len(verdicts) if verdicts else 1.0


def _by_kind(wanted: Sequence[LabelledText]) -> tuple[tuple[str, int, float], ...]:
    kinds: dict[str, list[bool]] = {}
    for row in wanted:
        kinds.setdefault(row.kind, []).append(row.found)
    return tuple(
        (kind, len(verdicts), _share(verdicts))
        for kind, verdicts in sorted(kinds.items())
    )


def _ms_per_page(text: str) -> float:
    pages = [text[at : at + PAGE_CHARS] for at in range(0, len(text), PAGE_CHARS)] or [
        ""
    ]
    rounds = []
    for _ in range(ROUNDS):
        began = time.thread_time()
        for page in pages:
            redact(page)
        rounds.append(
            (time.thread_time() - began) * 1_000 / max(1.0, len(text) / PAGE_CHARS)
        )
    return min(rounds)


if __name__ == "__main__":
    print(json.dumps(asdict(measure_secrets(read_corpus(sys.argv[1]))), indent=2))
