"""Names of files: letters of every script, and safe on every system."""

import os
import unicodedata
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.files.layout import is_text_path
from rawkomem.learn.skills import portable_name
from rawkomem.model.entries import Memory
from rawkomem.model.ids import RESERVED_NAMES, file_stem, folded_name, is_id, kebab, numbered_names, slug
from rawkomem.state.changes import Names


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("C++ style", "c-plus-plus-style"),
        ("F# and C#.", "f-sharp-and-c-sharp"),
        ("Notepad++ vs. Notepad", "notepad-plus-plus-vs-notepad"),
        ("Postgres 9.6, not 96", "postgres-9-6-not-96"),
        ("See #12 and issue#7", "see-12-and-issue-7"),
        ("Don't use node.js/deno_std", "dont-use-node-js-deno-std"),
        ("Über die Größe", "über-die-grösse"),
        ("日本語の規約", "日本語の規約"),
        ("हिन्दी नियम", "हिन्दी-नियम"),
        ("Правила для Кафки", "правила-для-кафки"),
        ("קוד וכתיבה", "קוד-וכתיבה"),
        ("Ｆｕｌｌ width ①", "full-width-1"),
        ("✔️ Done 1️⃣", "done-1"),
        ("می‌خواهم", "میخواهم"),
        ("CON", "con-memory"),
        ("com¹", "com1-memory"),
        ("...", "memory-ab5df625"),
    ],
)
def test_a_title_makes_a_name(title, stem):
    assert file_stem(title) == stem


@pytest.mark.parametrize(
    ("one", "other"), [("Java 1.1", "Java 11"), ("J# style", "J++ style"), ("Python 3.1", "Python 31"), ("R+", "R")]
)
def test_titles_that_differ_in_signs_alone_have_names_of_their_own(one, other):
    assert file_stem(one) != file_stem(other) and portable_name(one) != portable_name(other)


@given(st.text(max_size=200))
def test_every_name_is_short_safe_and_an_id(title):
    stem = file_stem(title)
    assert 0 < len(stem.encode()) <= 90 and is_text_path(f"{stem}.md") and is_id(stem)
    assert stem not in RESERVED_NAMES and not stem.startswith(("-", ".")) and not stem.endswith(("-", ".", " "))
    assert not set(stem) & set('<>:"/\\|?*') and folded_name(stem) == stem == unicodedata.normalize("NFC", stem)
    assert file_stem(stem) == stem


@pytest.mark.parametrize("title", ["é" * 400, "認証" * 300, "हिन्दी " * 60, "ﷺ" * 60, "word " * 200])
def test_a_long_title_is_cut_between_letters(title):
    stem = file_stem(title)
    assert kebab(title).startswith(stem) and len(os.fsencode(stem)) <= 80
    assert unicodedata.category(kebab(title)[len(stem)]) not in ("Mn", "Mc")


def test_numbers_follow_a_taken_name():
    assert list(islice(numbered_names("x"), 3)) == ["x", "x-2", "x-3"]


def memory(id: str, title: str, stem: str) -> Memory:
    return Memory(id=id, kind="memory", title=title, path=f"memories/{stem}.md")


def test_a_title_finds_the_file_of_its_old_and_of_its_new_name():
    titles = {"m1": "D++ rules", "m2": "Ruby 3.4", "m3": "Grüße"}
    for name in (slug, file_stem):
        names = Names([memory(id, "renamed since", name(title)) for id, title in titles.items()])
        assert [names.find(title) for title in titles.values()] == [["m1"], ["m2"], ["m3"]]


def test_a_title_that_one_memory_has_wins_over_a_file_of_that_name():
    names = Names([memory("old", "Go 1.21", "go-121"), memory("new", "Go 121", "go-121-2")])
    assert names.find("go  121") == ["new"] and names.find("go-121") == ["old"]
    twice = Names([memory("first", "Go 121", "go-121"), memory("second", "Go 121", "go-121-2")])
    assert twice.find("Go 121") == ["first"]
