"""Whether two texts say the same, at each level."""

import pytest
from rawkomem.text.language import DUPLICATE, NEAR_DUPLICATE, SIMILAR, is_copy, says_same, shared_words, statement_of

RULE = "Retry the upload at most 60 times before the gateway gives up"


@pytest.mark.parametrize(
    ("other", "levels"),
    [
        (RULE.upper() + ".", (DUPLICATE, NEAR_DUPLICATE, SIMILAR)),
        ("Before the gateway gives up, retry uploads at most 60 times", (DUPLICATE, NEAR_DUPLICATE, SIMILAR)),
        ("Retry the upload at most 600 times before the gateway gives up", (SIMILAR,)),
        ("Never retry the upload at most 60 times before the gateway gives up", (SIMILAR,)),
        ("Retry a large upload at most 60 times before the gateway gives up", (NEAR_DUPLICATE, SIMILAR)),
        ("The gateway answers with 502 while a node restarts", ()),
    ],
)
def test_levels(other, levels):
    found = [
        level
        for level in (DUPLICATE, NEAR_DUPLICATE, SIMILAR)
        if says_same(statement_of(RULE), statement_of(other), level)
    ]
    assert found == list(levels)


def test_texts_that_are_not_close_in_meaning_do_not_say_the_same():
    one = statement_of(RULE)
    assert says_same(one, one, DUPLICATE, cosine=0.95) and not says_same(one, one, DUPLICATE, cosine=0.94)
    assert says_same(one, one, SIMILAR, cosine=0.8) and not says_same(one, one, SIMILAR, cosine=0.79)


def test_one_shared_word_is_no_subject():
    assert shared_words(statement_of("Postgres"), statement_of("Postgres"), subject_only=True) == 0.0
    assert shared_words(statement_of("use the file"), statement_of("use the file"), subject_only=True) == 0.0, (
        "generic words"
    )
    assert (
        shared_words(statement_of("Postgres migrations"), statement_of("migrating Postgres to 16"), subject_only=True)
        == 1.0
    )


def test_a_text_without_content_words_counts_by_all_its_words():
    assert says_same(statement_of("so be it"), statement_of("So be it!"), DUPLICATE)
    assert not says_same(statement_of("so be it"), statement_of("never again"), NEAR_DUPLICATE)
    assert not says_same(statement_of("++"), statement_of("--"), NEAR_DUPLICATE)


def test_a_copy_with_one_changed_number_is_a_copy():
    text = " ".join(f"word{number}" for number in range(40))
    assert is_copy(text + " limit 60", text + " limit 600")
    assert not is_copy("limit 60", "limit 600")
    assert not is_copy("", "text")
