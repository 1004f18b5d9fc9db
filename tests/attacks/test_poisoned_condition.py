"""Conditions that fire on everything carry a memory of an agent into every prompt."""

import pytest

from tests.attacks.conftest import EVIL

pytestmark = pytest.mark.attacks

TASKS = ["translate the menu into Finnish", "why is the login page slow?", "Bitte erkläre die Rechnung", "rename foo to bar in src/a.py"]  # fmt: skip
PATTERNS = [
    ".*", ".+", ".", "..", "...", ".{3}", ".{1,9}", "(?s).*", "(?i).", "^", "$", "^.", ".$", "^.*$", r"\w", r"\w+", r"\W", r"\S", r"\S+",
    r"\b", r"\b\w", r"\w+ \w+", r"\s", r"\s+", "[a-z]", "[a-z]+", "[^z]", "[^q]{3}", "[aeiou]", "[a-zA-Z ]+", "(a|e|i|o|u)", "a|e|i|o|u",
    "a|b|c|d|e|f|g", "e", "e|n", "*", "**", "*e*", "**/*", "*.*", "?", "????", "x*", "x?", "(x)?", "(x|)", "|", "||", "a||b", "(.*)+",
    "(?:)", "[[:alpha:]]", r"\p{L}", r"\pL+", r"[\s\S]", r"[^\x00]", "the|a|to|of|in", "the", "to", "and", "a", "is|are|be", "please",
    "the|die|le|il|el", "When anything is asked", "When you do something", "Always", "every task", "any task", "all", "whenever", "in general",
    "for everything", "use this always", " ", "\u200b", "-", "_", "/", ".*|login", "login|.*", "e.*", "[a-m]|[n-z]", "t?h?e?",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_that_fires_on_everything(pattern, ground):
    """No pattern carries the text into tasks that have nothing in common with it."""
    quoted = pattern.replace("'", "''")
    (ground.memories / "wide.md").write_text(
        f"---\nid: wide\ntitle: Zqx vorm\nimportance: critical\nwhenToUse: ['{quoted}']\n---\n{EVIL}\n"
    )
    fired = [task for task in TASKS if "evil.example" in ground.repository.inject(task).text]
    assert len(fired) < len(TASKS), fired
    assert not any("evil.example" in ground.repository.inject(task, strict=True).text for task in TASKS)


MANY = {
    "letters": [f"{one}{two}" for one in "aeiou" for two in "nrst"],
    "words": ["the|a|an", "is|was|are", "to|into|of", "in|on|at", "why|how|what", "slow|fast", "rename|move|add", "page|file|menu"],
    "stems": ["When you translate, rename, explain or fix something", "When a page, a file, a menu or an invoice is named"],
    "regexes": [r"\b[a-z]{3}\b", r"[a-z]+ing?", r"\w+ the \w+", r"[A-Z]\w+"],
    "globs": ["src/**", "*.py", "**/*.md", "*a*"],
}  # fmt: skip


@pytest.mark.parametrize("name", MANY)
def test_many_wide_patterns_take_at_most_one_place(name, ground):
    """A memory that names the words of many tasks is labeled, is at most one, and displaces nothing."""
    when = ", ".join("'" + one + "'" for one in MANY[name])
    for number in range(8):
        (ground.memories / f"wide-{number}.md").write_text(
            f"---\nid: wide{number}\ntitle: Zqx {number}\nimportance: critical\nwhenToUse: [{when}]\n---\n{EVIL} {number}\n"
        )
    for task in TASKS:
        text = ground.repository.inject(task, limit=5).text
        assert text.count("evil.example") <= 1 and text.count("not verified") == text.count("evil.example")
    ground.holds()


@pytest.mark.parametrize("pattern", [".*", "the", "*", r"\w+", "(x|)", "a|e|i|o|u", "always", "**/*", "login|.*"])
def test_the_command_refuses_to_store_it(pattern, ground, rawkomem):
    done = rawkomem("add", "--title", "Zqx vorm", "--body", EVIL, "--when", pattern, check=None)
    assert done.returncode and "whenToUse" in done.stderr, done
