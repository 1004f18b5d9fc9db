"""What a new process compiles to redact a question: little, because the person waits for it."""

import subprocess
import sys

import pytest
from rawkomem.redaction.assigned import PLACE_WORDS
from rawkomem.redaction.find import LITERALS
from rawkomem.redaction.values import _word_set, occurring

COMPILED = """
import sys, re2
made, real = [], re2.compile
re2.compile = lambda pattern, options: made.append(pattern) or real(pattern, options)
from rawkomem.redaction.find import leaks_again, redact
print(redact(sys.argv[1]))
print(any(b"const|mut|dyn" in pattern for pattern in made))
"""


def compiled_for(text: str) -> tuple[str, bool]:
    """Return a text redacted by a new process, and whether it compiled the pattern of declarations, the largest one."""
    printed = subprocess.run([sys.executable, "-c", COMPILED, text], capture_output=True, text=True, check=True).stdout
    redacted, has_largest = printed.splitlines()
    return redacted, has_largest == "True"


@pytest.mark.parametrize(
    "question",
    ["why doesn't parse_header() in email.py pass with Python 3.11?", "is `docs/a.md` the path of issue #12, or 404?"],
)
def test_a_question_does_not_compile_the_largest_pattern(question):
    assert compiled_for(question) == (question, False)


def test_a_key_with_a_quoted_value_after_it_is_found():
    redacted, has_largest = compiled_for("""don't: const char* api_key("x9Gk2LmQ8vZr4TnW7bYc5HsD")""")
    assert "x9Gk2" not in redacted and has_largest


def test_the_second_look_at_a_prompt_compiles_nothing_because_a_condition_is_a_regex():
    code = "import re2; from rawkomem.redaction.find import leaks_again as leaks, has_patterns as has;"
    code += "print(leaks('use ghp_R4nd0mT0kenV4lueF0rTh1sTestOnly12345'), leaks('nothing here'), has())"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["True", "False", "False"]


@pytest.mark.parametrize("words", [LITERALS, PLACE_WORDS])
def test_words_are_found_alike_one_by_one_and_together(words):
    for word in words:
        data = f"a {word} b".encode()
        together = frozenset(words[number] for number in _word_set(words).Match(data) or ())
        assert word in together
        assert occurring(words, data) == together == frozenset(one for one in words if one.encode() in data)
