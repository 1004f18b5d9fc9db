"""Names become ids that stay the same, home folders become ~, and ordinary words are left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.model.entries import Entry
from rawkomem.redaction.entries import anonymize, anonymize_entry, person, user_id

ADA = person(["ada@engine.example", "Ada Lovelace", "ada"])
BOB = person(["bob.builder"])
PEOPLE = [ADA, BOB]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Ada Lovelace wrote it, says ada.", "{ada} wrote it, says {ada}."),
        ("asked ADA (ada@engine.example)", "asked {ada} ({ada})"),
        ("bob.builder merged it", "{bob} merged it"),
        ("/home/ada/src/x.py and /Users/grace/y", "~/src/x.py and ~/y"),
        (r"C:\Users\ada\src\x.py", r"~/src\x.py"),
        (r'"C:\\Users\\grace\\x"', '"~/x"'),
        ("D:/Users/grace", "~"),
        ("cd /home/ada && ls", "cd ~ && ls"),
    ],
)
def test_names_and_homes(text, wanted):
    assert anonymize(text, PEOPLE) == wanted.format(ada=ADA.id, bob=BOB.id)


@pytest.mark.parametrize(
    "text",
    ["Canada and adaptive code", "ada-core, x.ada and ada.py", "bob.builder2", "/opt/home/ada-x", "/Users/Shared/x", "/home/$USER/x",
     "C:\\Users\\Public\\x", "the home page /home"],
)  # fmt: skip
def test_other_words_stay(text):
    assert anonymize(text, PEOPLE) == text


def test_one_person_has_one_id_on_every_machine():
    elsewhere = person(["Ada@Engine.example", "A. Lovelace", "lovelace-laptop"])
    assert elsewhere.id == ADA.id == user_id("ada@engine.example")
    assert ADA.id.startswith("user_") and len(ADA.id) == 11 and ADA.id != BOB.id


def test_accounts_of_nobody_name_nobody():
    assert person(["root", "", "ci", "runner"]) is None
    assert anonymize("the root cause", [person(["root", "grace"])]) == "the root cause"


@given(
    st.lists(
        st.sampled_from(["ada", "Ada Lovelace", "/home/ada/", "C:\\Users\\bob.builder\\", " ", ".", "~/", "user_", "İ"])
    )
)
def test_twice_is_once(parts):
    once = anonymize("".join(parts), PEOPLE)
    assert anonymize(once, PEOPLE) == once


def test_every_text_of_an_entry():
    said = "seen by ada"
    entry = Entry(title=said, when=(said,), tags=(said,), by="ada", found_in=said, source=said, body=said,
                  extra={"goal": said, "deep": [{"x": said}]})  # fmt: skip
    changed = anonymize_entry(entry, PEOPLE)
    assert "ada" not in repr(changed) and repr(changed).count(ADA.id) == 9
