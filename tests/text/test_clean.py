"""What a reader cannot see goes; what people write in any script stays."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rawkomem.text.clean import clean, hidden_characters, one_line, visible_text
from rawkomem.text.scripts import confusable_with, mixed_script

FLAG_OF_WALES = "\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f"
FAMILY = "👩\u200d👩\u200d👧\u200d👦"
ODD = "a é\t\n\r\x00\x07\x1b[];m\\\x9b\x9c\x9d\x85\u00ad\u034f\u061c\u200b\u200c\u200d\u202e\u2028\u2066"
ODD += "\ufe0e\ufe0f\ufeff"
ODD += "\u0301\u20e3\u0915\u094d\u06cc\U0001f3f4\U0001f469\U0001f3fd\U000e0067\U000e007f\U000e0100\ufdd0\ud800❤1#"
ANY_TEXT = st.lists(st.integers(0, 0x10FFFF).map(chr), max_size=40).map("".join)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x00b\x07c\x7f", "abc"),
        ("one\r\ntwo\rthree\n\tfour", "one\ntwo\nthree\n\tfour"),
        ("a\x85b\u2028c\u2029d", "a\nb\nc\nd"),
        ("pass\u200bword \u2060x\ufeff y\u00adz", "password x yz"),
        ("\u202egnirts\u202c \u2066x\u2069 \u200fy \u061cz", "gnirts x y z"),
        ("\u3164title\u115f\u1160\uffa0\u180e", "title"),
        ("a\ufff9b\ufffac\ufffb", "abc"),
        ("a\ufdd0b\uffffc\U0001fffed", "abcd"),
        ("a\ud800b", "ab"),
        ("hi\U000e0068\U000e0069!", "hi!"),
        ("a\ufe0fb\U000e0100c\ufe01", "abc"),
        ("plain \x1b[1;31mred\x1b[0m text", "plain red text"),
        ("\x1b]0;title\x07kept \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "kept link"),
        ("\x9b31mred\x9b0m \x9d0;title\x9ckept", "red kept"),
        ("\x1bPdevice\x1b\\kept \x1b(Bkept \x1bckept", "kept kept kept"),
        ("\x1b]unfinished\nnext line stays", "\nnext line stays"),
        ("\x1b\x1b[m\x1b", ""),
    ],
)
def test_takes_out(text, expected):
    assert clean(text) == expected
    assert hidden_characters("plain\n" + text) or "\r" in text or "\ufdd0" in text


@pytest.mark.parametrize(
    "text",
    [
        "plain text, with (brackets) and `code`\n\ttabs too",
        "Grüße, naïve café, Ἀθῆναι, Москва, 日本語, 한국어, עברית",
        FAMILY,
        "👍🏽 🇩🇪 1\ufe0f⃣ #\ufe0f⃣ *\ufe0f⃣ ❤\ufe0f ☎\ufe0e ©\ufe0f 🏳\ufe0f\u200d🌈 👩🏽\u200d🚀 ❤\ufe0f\u200d🔥",
        FLAG_OF_WALES + " Cymru",
        "می\u200cخواهم",  # Persian: a non-joiner inside a word
        "क्\u200dष",  # Devanagari: a joiner after a virama
        "ന്\u200d",  # Malayalam: a joiner at the end of a word
        "Việt Nam, ǘ, שָׁלוֹם, ที่นี่",  # several marks on one letter
        "e\u0301\u0323 decomposed",
        "\ue0b0 icon fonts",
    ],
)
def test_leaves_what_people_write(text):
    assert clean(text) == text
    assert hidden_characters(text) == []


def test_zalgo_is_cut_to_four_marks():
    assert clean("Z" + "\u0301\u0316" * 20 + "o") == "Z" + "\u0301\u0316" * 2 + "o"
    assert hidden_characters("Z" + "\u0301" * 9) == [(1, "stacked combining marks")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("👩\u200d and x\u200dy", "👩 and xy"),  # a joiner that joins nothing
        ("🏴\U000e0068\U000e0069\U000e007f", "🏴"),  # too short for a region: smuggled text
        ("🏴" + "\U000e0061" * 20 + "\U000e007f", "🏴"),
        ("🏴\U000e0067\U000e0062\U000e0077", "🏴"),  # no end tag
        ("❤\ufe0f\ufe0f\ufe0f", "❤\ufe0f"),
        ("l\u200cogin", "login"),
    ],
)
def test_context_decides(text, expected):
    assert clean(text) == expected


@settings(deadline=None)
@given(st.one_of(ANY_TEXT, st.text(alphabet=ODD, max_size=60)))
@example("🏴\U000e0067\u200b\U000e0062\U000e0077\U000e007f")
@example("\x1b\x1b]\x1b[\x9b")
@example("👩\u200d\u200b\u200d👩")
def test_twice_is_once(text):
    once = clean(text)
    assert clean(once) == once
    assert hidden_characters(once) == []
    assert not set(once) & set("\x00\x07\x1b\x7f\r\u202e\u2028\u200b\ufeff")


@settings(deadline=None)
@given(st.text(alphabet=[chr(code) for code in range(32, 127)], max_size=200))
def test_printable_ascii_is_untouched(text):
    assert clean(text) == text
    assert visible_text(text) == (text, None)


@settings(deadline=None)
@given(st.text(alphabet=ODD, max_size=60))
def test_visible_says_where_each_character_stood(text):
    seen, places = visible_text(text)
    assert seen == (text if places is None else "".join(text[at] for at in places))


def test_hidden_names_line_and_kind():
    text = "fine\nbad\u202e here\n\x1b[31mred\nend\U000e0041"
    assert hidden_characters(text) == [
        (2, "text direction override U+202E"),
        (3, "terminal escape sequence"),
        (4, "tag character U+E0041"),
    ]
    assert hidden_characters("\ufeff# A byte order mark\r\nand Windows lines\r\n\ttabs") == []
    assert len(hidden_characters("\u200b\n" * 50)) == 10


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("  A\n title\twith \u200bspaces\u00a0 ", 120, "A title with spaces"),
        ("abcdefghij", 10, "abcdefghij"),
        ("abcdefghijk", 10, "abcdefghi…"),
        ("family " + FAMILY, 10, "family 👩…"),
        ("\x1b[2J\x1b[1;1Hspoof", 120, "spoof"),
    ],
)
def test_one_line(text, limit, expected):
    assert one_line(text, limit) == expected
    assert len(one_line(text, limit)) <= limit


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p\u0430ypal login", "Latin + Cyrillic"),
        ("G\u03bfogle", "Latin + Greek"),
        ("Настройка Docker и CI", ""),
        ("Ελληνικά and English", ""),
        ("Δt in μs, 5 kΩ", ""),
        ("API-ключ", ""),
        ("naïve Straße", ""),
        ("plain", ""),
    ],
)
def test_mixed_script(text, expected):
    assert mixed_script(text) == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("t\u0456tle", "title"),
        ("Title", "title"),
        ("ＴＩＴＬＥ", "title"),
        ("tit\u200ble", "title"),
        ("ti\u0301tle", "title"),
        ("tit1e", "title"),
        ("whentouse", "whenToUse"),
        ("when\u03a4\u03bfUse", "whenToUse"),
        ("title", ""),
        ("subtitle", ""),
        ("tags2", ""),
    ],
)
def test_confusable_with(key, expected):
    assert confusable_with(key, ("title", "whenToUse", "tags")) == expected
