"""A purged text is found in every form in which a record may hold it, and only its own words are cut out."""

import json

import pytest
from rawkomem.files.forgetting import PurgedText

LONG = "The staging database of the shop is called quokka, and nobody may drop it before the end of the year."


@pytest.mark.parametrize(
    "stored",
    [
        LONG, LONG.upper(), LONG.replace(" ", "\n  > "), LONG.replace(" ", "-"), json.dumps({"said": LONG}), LONG[:70], LONG[-60:],
        json.dumps({"said": LONG.replace(" ", "\n")}), f"before {LONG[10:95]} after",
    ],
)  # fmt: skip
def test_a_part_in_any_form_is_found(stored):
    assert PurgedText([LONG]).is_in(stored)


@pytest.mark.parametrize("stored", [LONG[:30], "The staging database of the blog is called quokka.", ""])
def test_a_few_common_words_are_not_the_text(stored):
    assert not PurgedText([LONG]).is_in(stored)


@pytest.mark.parametrize(
    "text", ["größe-é-schlüssel", "C:\\new\\table", '"quoted" and\ttabbed', "秘密的数据库名称是袋鼠"]
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_text_in_a_json_record_is_found(text, ascii_only):
    purged = PurgedText([text])
    assert purged.is_in(f"a {text} b") and purged.is_in(json.dumps({"x": [text]}, ensure_ascii=ascii_only))


def test_a_line_of_a_longer_text_is_found():
    purged = PurgedText(["# Keys\n\nThe key is under the mat.\n\nOk."])
    assert purged.is_in("I said: the key is under the mat") and not purged.is_in("ok, the keys")


def test_words_are_cut_as_a_whole_and_others_stay():
    purged = PurgedText(["hunter2!secret##"])
    assert purged.cut("a: x\n\tpw=hunter2!secret##;  done\n") == "a: x\n\t[PURGED]  done\n"
    assert PurgedText([LONG]).cut(f"One.\n{LONG}\nTwo.") == "One.\n[PURGED]\nTwo."
    for texts in ([LONG], [LONG, "hunter2secret"]):
        assert PurgedText(texts).cut("The staging database.") == "The staging database."


def test_a_short_text_purges_nothing():
    purged = PurgedText(["Use it.", ""])
    assert not purged and not purged.is_in("Use it.") and not purged.is_in_bytes(b"use it.")
    assert purged.cut("Use it.") == "Use it."
