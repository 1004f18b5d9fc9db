"""Our stemmer is FTS5's stemmer: the same word gets the same stem in a condition and in the index."""

from __future__ import annotations

import apsw
import pytest

from rawkomem.text.stem import STOP_WORDS, stem, words
from tests.conftest import ROOT, evaluation_sets, shared


def fts5_stems(given: list[str]) -> list[str]:
    """What SQLite's porter tokenizer makes of each word."""
    db = apsw.Connection(":memory:")
    db.execute("create virtual table t using fts5(x, tokenize = 'porter ascii')")
    db.execute("create virtual table v using fts5vocab(t, 'instance')")
    with db:
        db.executemany("insert into t(rowid, x) values (?, ?)", list(enumerate(given)))
    found = dict(db.execute("select doc, term from v"))
    return [found.get(number, "") for number in range(len(given))]


def disagreement(texts: list[str]) -> tuple[int, list[str]]:
    given = sorted({word for text in texts for word in words(text) if word.isascii() and len(word) < 64})
    return len(given), [word for word, theirs in zip(given, fts5_stems(given), strict=True) if stem(word) != theirs]


def test_agrees_with_fts5_on_this_project():
    texts = [
        path.read_text(encoding="utf-8") for folder in ("rawkomem", "tests") for path in (ROOT / folder).rglob("*.py")
    ]
    total, wrong = disagreement(texts)
    assert total > 2_000
    assert len(wrong) <= 0.005 * total, wrong[:20]


def test_agrees_with_fts5_on_the_shared_requests():
    files = [shared(f"data/eval/{name}.json") for name in evaluation_sets("metatool", "clinc", "requests")]
    total, wrong = disagreement([path.read_text(encoding="utf-8") for path in files])
    print(f"\n{total} words, {len(wrong)} stems differ from FTS5")
    assert len(wrong) <= 0.005 * total, wrong[:20]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("hopping", "hop"), ("filing", "file"), ("relational", "relat"),
        ("implementing", "implement"), ("security", "secur"), ("authentication", "authent"), ("controlling", "control"),
        ("sky", "sky"), ("is", "is"), ("größe", "größe"), ("", ""),
    ],
)  # fmt: skip
def test_stem(word, expected):
    assert stem(word) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fix the Login-Page (v2)!", ["fix", "the", "login", "page", "v2"]),
        ("snake_case camelCase", ["snake", "case", "camelcase"]),
        ("Größe – cafe\u0301 Ünïcode", ["größe", "café", "ünïcode"]),
        ("数据库 迁移", ["数据库", "迁移"]),
        ("हिन्दी", ["हिन्दी"]),
        ("", []),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


def test_stop_words_are_function_words():
    assert 120 < len(STOP_WORDS) < 260
    assert {"the", "when", "of", "please"} <= STOP_WORDS
    assert not {"test", "login", "implement", "code"} & STOP_WORDS
