"""The rules of redaction, from the file rules.json: the shapes of keys and of personal data. RE2
compiles a pattern when it is first used, because an ordinary text needs few of them.

A row of rules.json has a name, literals and a pattern: the pattern is tried if a literal occurs in
the text (for `prefixed`, at the start of a word). Patterns are RE2, case-sensitive, on one byte per
character; group 1 is the secret. `{NAME}` stands for one of the `parts`. Lengths are open-ended if
keys may become longer. A `check` is a test of the value, see find.py; without one, only fillers are
rejected. The rows of `places` are for assigned.py.
"""

from __future__ import annotations

import json
import os
from functools import cache
from itertools import count

from ..model.values import TYPE_CHECKING, record

if TYPE_CHECKING:
    from typing import Any

Hit = tuple[int, int, str]  # start and end of a secret, and the name of its rule

MAX_SHORT_BYTES = 1_000  # of a text in which each word is searched by itself
MAX_PLAIN_LOOKUPS = (
    16  # together they take less than making the sets, which are much faster
)
MAX_PATTERN_BYTES = 8 << 20  # bytes RE2 may use for one pattern
# RFC-0011 has one tag for values of passwords, secrets and tokens
TAGS = {"password": "secret"}

with open(
    os.path.join(os.path.dirname(__file__), "rules.json"), encoding="utf-8"
) as _file:
    DATA = json.load(_file)

# Lists of words about keys and values, by name.
WORD_SETS = {
    name: frozenset(words.split()) for name, words in DATA["word_sets"].items()
}


@record
class Rule:
    """One kind of secret or personal data."""

    name: str
    literals: tuple[str, ...] = ()
    pattern: str = ""
    pii: bool = False
    check: str = ""

    @property
    def tag(self) -> str:
        """Return the tag that replaces a secret."""
        return f"[REDACTED_{TAGS.get(self.name, self.name).upper().replace('-', '_')}]"


def _rules(table: str, start: str = "", pii: bool = False) -> tuple[Rule, ...]:
    """Return the rules of a table; their patterns begin with `start`."""
    rules = []
    for row in DATA[table]:
        literals = tuple(row["literals"].split())
        rules.append(
            Rule(
                row["name"], literals, start + row["pattern"], pii, row.get("check", "")
            )
        )
    return tuple(rules)


PREFIX_RULES = _rules("prefixed", "{START}")
SHAPE_RULES = _rules("shaped")
PERSONAL_RULES = _rules("personal", pii=True)
# Rules in code, not in a single pattern: see assigned.py and find.py.
CODE_RULES = tuple(
    Rule(name)
    for name in "private-key password secret url-password authorization kubernetes-secret".split()  # noqa: SIM905
)
# A rule is tried only if one of its literals occurs in the text.
ALL_RULES = (*PREFIX_RULES, *SHAPE_RULES, *PERSONAL_RULES, *CODE_RULES)
RULES = {rule.name: rule for rule in ALL_RULES}
LITERALS = tuple(sorted({literal for rule in ALL_RULES for literal in rule.literals}))


@cache
def compiled(pattern: str, groups: bool = True) -> Any:
    """Return a pattern that reads one byte per character; without groups it matches faster."""
    import re2

    for name, part in DATA["parts"].items():
        pattern = pattern.replace(f"{{{name}}}", part)
    options = _re2_options()
    options.never_capture = not groups
    return re2.compile(pattern.encode("latin-1"), options)


_lookups = count()


@cache
def _word_set(words: tuple[str, ...]) -> Any:
    import re2

    options = _re2_options()
    options.literal = True
    searched = re2.Set.SearchSet(options)
    for word in words:
        searched.Add(word)
    searched.Compile()
    return searched


def occurring(words: tuple[str, ...], data: bytes) -> frozenset[str]:
    """Return which of these words occur. The first short texts of a process do not wait for the set of all words."""
    if len(data) <= MAX_SHORT_BYTES and next(_lookups) < MAX_PLAIN_LOOKUPS:
        return frozenset(word for word in words if word.encode() in data)
    return frozenset(words[number] for number in _word_set(words).Match(data) or ())


def _re2_options() -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_PATTERN_BYTES
    options.encoding = re2.Options.Encoding.LATIN1
    return options
