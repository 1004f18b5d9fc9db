"""Random histories of three clones: every index says the same, no value is lost silently, and moves keep the meaning.

If a history fails, the message has its seed and everything that happened in it. To repeat some histories, run
`RAWKOMEM_SEEDS=17,42 pytest -m slow tests/torture/test_histories.py -k random`.
"""

import os
import shutil
from collections.abc import Iterator

import pytest

from tests.commands import cases
from tests.torture.branches import AnsweringDriver
from tests.torture.histories import History

pytestmark = pytest.mark.slow

# Seeds that failed before the rule held. They belong to this generator: if its steps change, find others.
FAILED_BEFORE = {
    "a fresh clone and the kept index say the same": (27, 56),
    "no value is lost silently": (0, 11, 15, 19, 33, 43, 55, 63, 71, 357),
    "moves keep status, text and who vouches": (4, 5, 16, 23, 32, 49, 58, 77),
    "a copied id is refused or reported, and a reused name brings no old changes": (3, 7, 12, 13, 17, 31, 36, 40, 570),
    "a memory has a status that somebody decided": (21, 26, 30, 41, 66, 120),
}
WANTED = [int(word) for word in os.environ.get("RAWKOMEM_SEEDS", "").split(",") if word]
COUNT = cases(600, 40)
OTHERS = [seed for seed in range(COUNT) if not any(seed in seeds for seeds in FAILED_BEFORE.values())]
PER_TEST = 10  # histories, so that several processes share the work
GROUPS = [WANTED] if WANTED else [OTHERS[first : first + PER_TEST] for first in range(0, len(OTHERS), PER_TEST)]


@pytest.fixture(scope="module")
def driver(tmp_path_factory) -> Iterator[str]:
    answering = AnsweringDriver(tmp_path_factory.mktemp("driver"))
    yield answering.command
    answering.close()


def run_history(seed: int, folder, driver: str, patch: pytest.MonkeyPatch) -> str:
    """Run the history of a seed; return everything that happened if something is wrong after a merge, else nothing."""
    history = History(seed, folder / str(seed), driver, patch)
    found = history.run()
    if found:
        return "\n".join([f"history {seed}, {history.kind}", *history.log, *found])
    shutil.rmtree(folder / str(seed))
    return ""


@pytest.mark.parametrize("rule", FAILED_BEFORE)
def test_histories_that_failed_before(rule, tmp_path, driver, monkeypatch):
    failures = [run_history(seed, tmp_path, driver, monkeypatch) for seed in FAILED_BEFORE[rule]]
    assert not any(failures), "\n\n".join(filter(None, failures))


@pytest.mark.parametrize("seeds", GROUPS, ids=lambda seeds: f"from {seeds[0]}")
def test_random_histories(seeds, tmp_path, driver, monkeypatch):
    failures = [run_history(seed, tmp_path, driver, monkeypatch) for seed in seeds]
    assert not any(failures), "\n\n".join(filter(None, failures))
