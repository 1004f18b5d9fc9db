"""A new human language touches one file of the package: text/languages/<code>.py.

The cues that find what is worth remembering in a session are English. The toy is one record. Its function words, endings and word signs reach conditions, injection, topics, summaries and search.
"""

import pytest
from rawkomem.learn.proposed_conditions import propose_conditions
from rawkomem.model.entries import Entry, Task
from rawkomem.repository import Repository
from rawkomem.text.conditions import match_condition
from rawkomem.text.language import Language, ending_stemmer, language, use_language, word_set

TOY = Language(
    code="toy",
    stop_words=word_set("zu unla mi"),
    generic_words=word_set("facu"),
    stemmer=ending_stemmer(("ojn", "on", "i"), 3),
    negations=word_set("nix"),
    openers=word_set("se"),
    exceptions=(" krom ",),
    alternative="aut",
    abbreviations=("ktp.",),
)


@pytest.fixture
def toy():
    before = language()
    use_language(TOY)
    yield
    use_language(before)


def test_conditions(toy):
    assert match_condition("se zu domojn pordon", "pordojn mi domon"), "stems of the toy"
    assert match_condition("se domojn aut arbojn", "unla arbon"), "alternatives of the toy"
    assert not match_condition("se domojn pordon krom arbojn", "arbojn"), "exceptions of the toy"
    assert not match_condition("se facu zu domojn pordon", "facu zu"), "function words and generic words say nothing"


def test_a_memory_is_injected_by_a_condition_of_the_toy(toy, repository, project):
    repository.add(Entry(title="Klefo", when=("se zu domojn pordon",), body="La klefo estas sub la stono."))
    task = Task("unla domon mi pordojn")
    assert "klefo" in repository.inject(task, profile="rawko").text, "a profile that asks for a condition"
    use_language("en")
    english = Repository.open(str(project))
    assert "klefo" not in english.inject(task, profile="rawko").text, "the index is made again for another language"


def test_alternatives_of_a_proposed_condition(toy):
    assert " aut " in propose_conditions("ni uzas PostgreSQL kaj MySQL")[0]


@pytest.mark.parametrize(
    ("condition", "task", "fires"),
    [
        ("Wenn Datenbanken migriert werden", "die Migration der Datenbank schlägt fehl", False),
        ("Wenn Datenbanken umgezogen werden", "wie werden die Datenbanken umgezogen?", True),
        ("Bei Fehlern im Login oder beim Export", "der Export bricht ab", True),
        ("Beim Schreiben von Tests für Bücher", "schreibe einen Test für das Buch", True),
        ("Wenn Rechnungen gedruckt werden, außer beim Export", "der Export der Tabelle", False),
        ("Wenn es nicht geht", "warum geht es nicht", False),
    ],
)
def test_german(condition, task, fires):
    before = language()
    use_language("de")
    try:
        assert bool(match_condition(condition, task)) == fires
    finally:
        use_language(before)
