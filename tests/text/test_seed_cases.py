"""Cases of the source designs on file names, token counts and frontmatter."""

import math

from rawkomem.files.reading import read_data
from rawkomem.format.entries import read_entries
from rawkomem.format.frontmatter import emit_entry
from rawkomem.model.ids import slug
from rawkomem.text.chunks import count_tokens

from tests.seeds import by_case

SLUGS = {  # where the original is not to be copied: nothing left, or a hyphen at the cut
    "日本語": "memory-",
    "": "memory-",
    "abcdefg " * 10: "abcdefg-" * 7 + "abcdefg",
}


@by_case("rawko-sdk", "slugify")
def test_slug(case):
    found = slug(case["input"]["raw"])
    wanted = SLUGS.get(case["input"]["raw"], case["expected"])
    assert found.startswith(wanted) if wanted.endswith("-") else found == wanted
    assert 0 < len(found) <= 64 and not found.endswith("-")


def test_titles_without_latin_letters_do_not_collide():
    assert slug("日本語") != slug("中文") and slug("日本語") == slug("日本語")


@by_case("neolata-mem", "estimateTokens")
def test_tokens_of_latin_text_are_a_quarter_of_its_characters(case):
    text = case["input"]["text"]
    wanted = case["expected"] if text.isascii() else math.ceil(1.5 * len(text))  # CJK costs more, as RFC-0011 says
    assert count_tokens(text) == wanted


FRONTMATTER = {  # case → (titles, drafts): leading blanks and a byte order mark are accepted, a second entry is read
    "rawko-sdk-071": ([""], [True]),
    "rawko-sdk-074": (["A", "B"], [False, False]),
    "rawko-sdk-075": (["A"], [False]),
    "rawko-sdk-076": (["A"], [False]),
    "rawko-sdk-077": ([""], [True]),
}


@by_case("rawko-sdk", "extractFrontmatter")
def test_frontmatter(case):
    content = case["input"]["content"]
    entries = read_data(content.encode(), "memories/x.md").entries
    titles, drafts = FRONTMATTER[case["id"]]
    assert ([entry.title for entry in entries], [entry.draft for entry in entries]) == (titles, drafts)
    assert "Body" in entries[0].body or content == entries[0].body == "no frontmatter"


VALID = {"rawko-sdk-087": "", "rawko-sdk-088": "", "rawko-sdk-090": "discoveredAt"}  # what a Problem speaks of


@by_case("rawko-sdk", "isValidFrontmatter")
def test_valid_frontmatter(case):
    """Tags are optional, importance may be in capitals; only a date that is none is worth a warning."""
    lines = "".join(f"{key}: {value if value != [] else '[]'}\n" for key, value in case["input"].items())
    entries, problems = read_entries(f"---\n{lines}---\n\n{'word ' * 250}\n")
    (entry,) = entries
    assert not entry.draft and entry.importance == "high" and emit_entry(entry)
    wrong = [problem.message for problem in problems if problem.level in ("error", "warning")]
    assert len(wrong) == bool(VALID[case["id"]]) and all(VALID[case["id"]] in message for message in wrong)
