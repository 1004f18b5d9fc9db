"""JSON without `json`: the same values, the same refusals."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rawkomem.text.quick_json import read_json, write_json
from tests.conftest import ROOT

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
TEXTS = st.recursive(st.booleans() | st.text(), lambda inner: st.dictionaries(st.text(), inner))


@given(VALUES, st.sampled_from([None, 2]))
def test_reads_what_json_writes(value, indent):
    assert read_json(f" \n{json.dumps(value, indent=indent)}\n ") == value


@given(TEXTS)
def test_writes_what_json_reads(value):
    text = write_json(value)
    assert json.loads(text) == value and text.isascii()


@pytest.mark.parametrize("text", ["", " ", "x", "{", "[1,]", '{"a" 1}', '"abc', "1 2", "nul", "[" * 200_000])
def test_refuses_what_is_none(text):
    with pytest.raises((ValueError, RecursionError)):
        read_json(text)


def test_loads_no_regular_expressions():
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\nfrom rawkomem.text.quick_json import read_json, write_json\n"
        "assert read_json(write_json({'a': 'ü'})) == {'a': 'ü'}\nprint({'re', 'json', 'enum'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
