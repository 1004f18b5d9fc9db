"""The languages: their words, stems and function words. A condition and the index must agree about a word's stem."""

from threading import Thread

import apsw
import pytest
from rawkomem.model.errors import BadInput
from rawkomem.text.language import Language, known_languages, language, read_language, use_language

from tests.conftest import ROOT


def fts5_stems(given: list[str]) -> list[str]:
    """Return what an FTS5 index with our tokenizer stores for each word."""
    db = apsw.Connection(":memory:")
    db.execute("create virtual table t using fts5(x, tokenize = 'porter unicode61')")
    db.execute("create virtual table v using fts5vocab(t, 'instance')")
    with db:
        db.executemany("insert into t(rowid, x) values (?, ?)", list(enumerate(given)))
    found = dict(db.execute("select doc, term from v"))
    return [found.get(number, "") for number in range(len(given))]


def test_english_stems_are_the_stems_of_the_index():
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")]
    given = sorted({word for text in texts for word in language().words(text) if word.isascii()})
    assert len(given) > 2_000
    assert language().stemmer(given) == fts5_stems(given)


def test_threads_may_stem_at_once():
    wrong: list[str] = []

    def work() -> None:
        for _ in range(300):
            stems = language().stems("implementing controlled migrations of databases " * 50)
            wrong.extend(set(stems) - {"implement", "control", "migrat", "databas"})

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


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
    assert language().words(text) == expected


@pytest.mark.parametrize("code", known_languages())
def test_every_language_holds_the_data_that_conditions_need(code):
    spoken = read_language(code)
    assert spoken.code == code
    assert 100 < len(spoken.stop_words) < 400
    assert spoken.openers and spoken.negations and spoken.exceptions and spoken.alternative
    assert not spoken.stop_words & {"test", "login", "code"}
    every = spoken.stop_words | spoken.generic_words | spoken.openers | {spoken.alternative}
    assert [word for word in every if spoken.words(word) != [word]] == []


def test_an_unknown_language_is_rejected_and_names_those_there_are():
    before = language()
    for code in ("xx", "../en", "__init__", ""):
        with pytest.raises(BadInput, match="unknown language") as failure:
            use_language(code)
        assert "en" in failure.value.hint
    assert language() is before and isinstance(before, Language)
