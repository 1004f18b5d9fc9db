"""Ten poisoned memories among honest ones, crafted to be retrieved: at most one gets in, none where it is strict."""

import os

import pytest

from tests.commands import cases
from tests.recall.poisoned import BY_AGENT, EVAL, UNCOMMITTED, Poisoned


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch):
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)


def check(tmp_path, honest: int, tasks: int, how: str) -> None:
    poisoned = Poisoned(tmp_path, honest, tasks, how)
    loose, default, strict = (poisoned.measure(**options) for options in ({"rule": False}, {}, {"strict": True}))
    poisoned.repository.close()
    assert loose["most"] >= 3 and loose["mean"] > 1  # the poison is strong enough to show anything
    assert default["most"] <= 1 and default["mean"] < loose["mean"]
    assert (strict["most"], strict["mean"]) == (0, 0)
    if EVAL.exists():
        assert default["unknown"] < loose["unknown"]
        assert default["answered"] >= loose["answered"] and strict["answered"] >= default["answered"]


@pytest.mark.slow
@pytest.mark.parametrize("how", [UNCOMMITTED, BY_AGENT])
def test_ten_among_a_thousand_over_many_tasks(tmp_path, how):
    check(tmp_path, honest=1_000, tasks=cases(400, 60), how=how)
