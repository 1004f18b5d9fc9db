"""The cases of the source designs, one test each."""

import json
from collections.abc import Callable

import pytest

from tests.conftest import shared


def seed_cases() -> list[dict]:
    """Return every recorded case: its system, function, input and expected output."""
    return json.loads(shared("data/seed_cases.json").read_text(encoding="utf-8"))["cases"]


def by_case(system: str, *functions: str, where: Callable[[dict], bool] = bool):
    """Parametrize a test by the cases of some functions of one source design; `where` may leave out some."""
    cases = [case for case in seed_cases() if case["system"] == system and case["function"] in functions]
    found = list(filter(where, cases))
    assert found, functions
    return pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in found])
