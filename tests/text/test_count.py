"""Numbers as a sentence has them."""

from __future__ import annotations

import pytest
from rawkomem.text.chunks import counted


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [
        (1, "file", "1 file"),
        (2000, "file", "2,000 files"),
        (0, "memory", "0 memories"),
        (1, "entry", "1 entry"),
        (3, "day", "3 days"),
    ],
)
def test_count(number, noun, said):
    assert counted(number, noun) == said
