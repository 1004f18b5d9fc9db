"""Which commands and writes of an agent fit the patterns of a memory."""

import pytest
from rawkomem.text.acts import Act, Applies, act_problem, applies_of, fits, guard_of, marks_of
from rawkomem.text.paths import ANY_FILE

SEEDS = ("db/seeds/**", "!db/seeds/dev/**")


@pytest.mark.parametrize(
    "applies, act, fitting",
    [
        (Applies(commands=("pytest*",)), Act("cd api && uv run pytest -q"), True),
        (Applies(commands=("pytest*",)), Act("git commit -m 'run pytest'"), False),
        (Applies(commands=("pytest*",)), Act(path="tests/pytest.ini", text="pytest"), False),
        (Applies(paths=SEEDS), Act(path="db/seeds/users.sql"), True),
        (Applies(paths=SEEDS), Act(path="db/seeds/dev/users.sql"), False),
        (Applies(paths=SEEDS), Act(path="old/db/seeds/users.sql"), False),
        (Applies(paths=SEEDS), Act("cat db/seeds/users.sql"), False),
        (Applies(paths=("db/seeds/",)), Act(path="db/seeds/users.sql"), True),
        (Applies(paths=("db/seeds",)), Act(path="db/seeds/dev/users.sql"), True),
        (Applies(paths=("db/seeds",)), Act(path="old/db/seeds/users.sql"), False),
        (Applies(paths=("seeds", "!seeds/dev")), Act(path="db/seeds/users.sql"), True),
        (Applies(paths=("src/*",)), Act(path="src/api/get.py"), False),
        (Applies(paths=("*.{ts,tsx}",)), Act(path="web/src/App.tsx"), True),
        (Applies(paths=("TODO.md",)), Act(path="docs/TODO.md"), True),
        (Applies(paths=("docs/TODO.md",)), Act(path="TODO.md"), False),
        (Applies(text=("MockFileSystem",)), Act(path="a.py", text="x = 1\nfs = MockFileSystem()"), True),
        (Applies(text=("MockFileSystem",)), Act(path="a.py", text="x = 1"), False),
        (Applies(text=("from * import mock",)), Act(path="a.py", text="from unittest import mock"), True),
        (Applies(text=("from * import mock",)), Act(path="a.py", text="from unittest\nimport mock"), False),
        (Applies(paths=("*.py",), text=("print(",)), Act(path="a.py", text="print(1)"), True),
        (Applies(paths=("*.py",), text=("print(",)), Act(path="a.py", text="log(1)"), False),
        (Applies(paths=("*.py",), text=("print(",)), Act(path="a.md", text="print(1)"), False),
        (Applies(commands=("git push*",), paths=("*.lock",)), Act(path="uv.lock"), True),
        (Applies(paths=("!src/**", "!docs/**")), Act(path="lib/a.py"), True),
        (Applies(paths=("!src/**", "!docs/**")), Act(path="src/a.py"), False),
        (Applies(paths=("!src/**",)), Act("ls lib"), False),
        (Applies(paths=("!src/**",), text=("print(",)), Act(path="lib/a.py", text="print(1)"), True),
        (Applies(paths=("!src/**",), text=("print(",)), Act(path="lib/a.py", text="log(1)"), False),
        (Applies(commands=("make*",), paths=("!src/**",)), Act(path="lib/a.py"), False),
        (Applies(paths=("db/**",)), Act(path=ANY_FILE), True),
        (Applies(paths=("!src/**",)), Act(path=ANY_FILE), True),
        (Applies(text=("mock",)), Act(path=ANY_FILE, text="mock"), True),
        (Applies(paths=("db/**",), text=("mock",)), Act(path=ANY_FILE, text="x"), False),
        (Applies(commands=("make*",)), Act(path=ANY_FILE), False),
        (Applies(), Act("ls"), False),
        (Applies(), Act(path="a.py", text="x"), False),
    ],
)
def test_fits(applies, act, fitting):
    assert fits(applies, act) is fitting
    marks = marks_of(applies)
    assert (
        not fitting
        or act.path == ANY_FILE
        or any(mark in f"{act.path}{act.command}{act.text}".lower() for mark in marks)
    )


def test_a_glob_of_whentouse_is_a_path():
    applies = applies_of({}, ["src/api/**", "When working on the api", "sqlite|apsw"])
    assert fits(applies, Act(path="src/api/a.py"))
    assert fits(applies, Act(path="packages/web/src/api/a.py")), "a condition fits in any folder"
    assert not fits(applies, Act(path="src/web/a.py"))
    assert applies_of({"appliesTo": {"paths": "src/api/**"}}, ["src/api/**"]).paths == ("src/api/**",)


@pytest.mark.parametrize(
    "extra, wrong",
    [
        ({"appliesTo": {"paths": ["src/**"], "commands": "pytest*", "text": ["mock"]}, "guard": "deny"}, ""),
        ({"applies_to": {"paths": ["src/**"]}}, ""),
        ({"appliesTo": {}}, ""),
        ({"appliesTo": {"paths": ["**/*"]}}, "appliesTo.paths '**/*' fits everything"),
        ({"appliesTo": {"paths": ["src/**", "*"]}}, "appliesTo.paths '*' fits everything"),
        ({"appliesTo": {"paths": "*.*"}}, "appliesTo.paths '*.*' fits everything"),
        ({"appliesTo": {"commands": ["*"]}}, "appliesTo.commands '*' fits everything"),
        ({"appliesTo": {"text": [" "]}}, "appliesTo.text '' fits everything"),
        ({"appliesTo": ["src/**"]}, "appliesTo has other keys than paths, commands, text"),
        ({"appliesTo": {"path": ["src/**"]}}, "appliesTo has other keys than paths, commands, text"),
        ({"appliesTo": {"paths": ["a"] * 33}}, "appliesTo has a list of more than 32"),
        ({"guard": "never"}, "unknown guard 'never'"),
    ],
)
def test_what_cannot_be_used_is_named(extra, wrong):
    assert act_problem(extra)[0] == wrong


def test_a_pattern_for_everything_is_not_used():
    applies = applies_of({"appliesTo": {"paths": ["**/*", "src/**"], "commands": ["*"]}})
    assert applies == Applies(paths=("src/**",))
    assert guard_of({"guard": "never"}) == "remind"
