"""The cases of the source designs, one test each; where the data is not at hand, the tests are skipped with a message."""

from __future__ import annotations

import json

import pytest

from tests.conftest import shared


def by_case(system: str, *functions: str):
    """Parametrise a test by the cases of some functions of one source design."""
    try:
        path = shared("data/seed_cases.json")
    except pytest.skip.Exception:
        return pytest.mark.skip(reason="for want of data: ../shared/data/seed_cases.json")
    every = json.loads(path.read_text(encoding="utf-8"))["cases"]
    found = [case for case in every if case["system"] == system and case["function"] in functions]
    assert found, functions
    return pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in found])
