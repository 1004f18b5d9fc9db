"""The README's first story with the real Claude Code: corrected on Monday, kept with one key, told on Tuesday."""

import pytest

from tests.hosts.real.conftest import home, model, seat  # noqa: F401  fixtures
from tests.hosts.real.hosts import ALL
from tests.hosts.real.model import say, shell
from tests.hosts.real.test_real_learning import _asked
from tests.hosts.real.waiting import drafts, wait_for
from tests.stories.others import write_others
from tests.stories.requests import RULE, TESTS
from tests.stories.test_readme import KEEP

pytestmark = pytest.mark.hosts

CLAUDE = next(host for host in ALL if host.name == "claude")
PROGRAM = "#!/bin/sh\necho 3 passed in 0.1s\n"


@pytest.mark.parametrize("is_committed", [True, False], ids=["committed", "not committed"])
@pytest.mark.parametrize("others", [1, 10, 45, 300])
def test_tuesday(others, is_committed, home, model, seat, project, memories, git, person):  # noqa: F811
    write_others(memories, others)
    (project / "Makefile").write_text("suite:\n\t@echo 3 passed in 0.1s\n")
    at = seat(CLAUDE)
    (home / "bin" / "pytest").write_text(PROGRAM)
    (home / "bin" / "pytest").chmod(0o755)
    work = shell("pytest tests/test_dates.py")
    _asked(at, model, "fix the date parser and run the tests", work, say("I fixed it, all tests pass."))
    _asked(at, model, TESTS.said, shell("make suite"), say("It passes with make suite."), again=True)
    _asked(at, model, "thanks", say("You are welcome."), again=True)
    wait_for(lambda: drafts(project))
    assert git("status", "--porcelain") == "", "nothing was written that nobody asked for"
    shown = person("drafts", keys=KEEP)
    assert TESTS.said in shown and "1 kept" in shown, shown
    if is_committed:
        git.commit("a correction")
    for prompt in ("run the tests", "add a test for the date parser and run it", "does everything still pass?"):
        told = _asked(at, model, prompt, say("Done."))
        assert RULE in told[0], prompt
