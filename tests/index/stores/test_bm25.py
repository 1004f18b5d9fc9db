"""Words as SQLite counts them: the same terms and the same scores as FTS5 itself, on whatever texts."""

from __future__ import annotations

import random
from collections.abc import Iterable

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rawkomem.index.stores.protocol import K1, B, occurrences, phrases_of, row_terms, terms_of_text, token_count
from rawkomem.index.stores.sqlite import TOKENIZER, idf, searched

from tests.commands import cases

TABLE = f"""USING fts5 (head, text, content='', contentless_delete=1, tokenize="{TOKENIZER}")"""


def fts5(rows: list[tuple[str, str]]) -> apsw.Connection:
    """A table as the SQLite store has it, with its vocabulary."""
    db = apsw.Connection(":memory:")
    db.execute(f"CREATE VIRTUAL TABLE words {TABLE}; CREATE VIRTUAL TABLE held USING fts5vocab(words, 'instance')")
    with db:
        db.executemany(
            "INSERT INTO words (rowid, head, text) VALUES (?, ?, ?)",
            [(n, *map(searched, row)) for n, row in enumerate(rows)],
        )
    return db


def fts5_terms(text: str) -> list[str]:
    return [term for (term,) in fts5([("", text)]).execute("SELECT term FROM held ORDER BY offset")]


ODD = [
    "", " ", "\x00", "a\x00b", "Größe naïve façade Ångström İstanbul ẞ ﬁ Ⅷ ½ x²", "e\u0301 \u0301 a\u0331b n\u0303",
    "हिन्दी ไทย 認証 中文字 한국어 עברית العربية", "\U0001f642 \U0001d400 \ue000 \U000f0000 \u200b\u202e", "don't foo-bar a_b c++ v1.2.3",
    "caresses ponies running relational y yes says 's", "ΣΊΣΥΦΟΣ ς Σ ǅ Ǆ", "x" * 63 + "ing " + "x" * 64 + "ing",
    "ab" * 20_000 + "c " + "ab" * 20_000 + "d", "é" * 20_000, "\u0345\u1e9e\ufb03\u0130\u0131\u212a\u2126",
]  # fmt: skip


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_odd_texts_have_the_terms_of_fts5(text):
    assert terms_of_text(text) == fts5_terms(text)


@given(st.text())
@example("a\u0300")
def test_any_text_has_the_terms_of_fts5(text):
    assert terms_of_text(text) == fts5_terms(text)


def test_every_character_is_seen_as_fts5_sees_it():
    """One row for each character, those of odd planes, too; beyond the common scripts, every seventh will do."""
    codes = [*range(0x600), *range(0x600, 0x30000, cases(1, 7))]
    characters = [chr(code) for code in codes if not 0xD800 <= code < 0xE000]
    theirs: dict[int, list[str]] = {}
    db = fts5([("", f"a{character}b") for character in characters])
    for doc, term in db.execute("SELECT doc, term FROM held ORDER BY doc, offset"):
        theirs.setdefault(doc, []).append(term)
    differing = [character for n, character in enumerate(characters) if terms_of_text(f"a{character}b") != theirs[n]]
    assert differing == []


def bm25(found: Iterable[tuple[float, int]], length: int, average: float) -> float:
    """The score of a row from (idf, occurrences) of each phrase in it, and its length in tokens."""
    shortness = K1 * (1 - B + B * length / average)
    return sum(weight * (times * (K1 + 1)) / (times + shortness) for weight, times in found)


def scores(rows: dict[int, tuple[str, str]], words: list[str]) -> dict[int, float]:
    """What a store without FTS5 makes of a query."""
    held = {n: row_terms(*row) for n, row in rows.items()}
    average = sum(map(token_count, held.values())) / len(held)
    wanted = phrases_of(words)
    times = {n: [occurrences(phrase, row) for phrase in wanted] for n, row in held.items()}
    weights = [idf(len(held), sum(1 for own in times.values() if own[at])) for at in range(len(wanted))]
    return {
        n: bm25(zip(weights, own, strict=True), token_count(held[n]), average) for n, own in times.items() if any(own)
    }


def theirs(db: apsw.Connection, words: list[str]) -> dict[int, float]:
    query = " OR ".join('"' + searched(word).replace('"', "") + '"' for word in words)
    return dict(db.execute("SELECT rowid, -rank FROM words WHERE words MATCH ?", (query,)))


VOCABULARY = [
    "apple", "apples", "banana", "run", "running", "foo-bar", "bar", "foo", "naïve", "naive", "हिन्दी", "x", "—",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(cases(20, 5)))
def test_scores_are_those_of_fts5(seed):
    """Rare and frequent words, phrases, words twice in a query, empty columns; and after rows were deleted."""
    source = random.Random(seed)

    def text(most: int) -> str:
        return " ".join(source.choices(VOCABULARY, range(len(VOCABULARY), 0, -1), k=source.randrange(most)))

    rows = {n: (text(4), text(30)) for n in range(source.choice((3, 50, 200)))}
    rows[0] = ("apple", "banana")
    db = fts5(list(rows.values()))
    for kept in (rows, {n: row for n, row in rows.items() if n % 3 == 0}):
        db.executemany("DELETE FROM words WHERE rowid = ?", [(n,) for n in rows if n not in kept])
        for _ in range(10):
            words = [*source.choices(VOCABULARY, k=source.randrange(1, 5)), "none such", 'ap"ple']
            assert scores(kept, words) == pytest.approx(theirs(db, words), rel=1e-12, abs=1e-9)


def test_a_phrase_stays_within_its_column():
    (foo,) = phrases_of(["foo-bar"])
    assert occurrences(foo, row_terms("foo", "bar")) == 0
    assert occurrences(foo, row_terms("foo bar", "a foo-bar")) == 2
    assert token_count(row_terms("foo", "bar")) == 2
