"""Specific and generic words of conditions and tasks."""

from __future__ import annotations


def test_the_stems_of_generic_words_are_written_out_right():
    from rawkomem.text.overlap import GENERIC, GENERIC_STEMS
    from rawkomem.text.stem import stem

    assert {stem(word) for word in GENERIC.split()} == GENERIC_STEMS
