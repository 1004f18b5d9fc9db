"""Token estimates: the fast way for ASCII counts like the slow one."""

from hypothesis import given
from hypothesis import strategies as st
from rawkomem.text.chunks import count_tokens


@given(st.text(st.characters(max_codepoint=127), max_size=200))
def test_ascii_counts_as_it_does_among_other_letters(text):
    """One more letter outside ASCII takes the slow way; four of them are one token."""
    alone, among = count_tokens(text), count_tokens("éééé" + text)
    assert among - alone in (0, 1, 2)
    assert count_tokens("é" * 4000 + text) - 1000 in (alone - 1, alone, alone + 1)
