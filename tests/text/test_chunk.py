"""Chunks follow headings and paragraphs and lose no word."""

from hypothesis import given
from hypothesis import strategies as st
from rawkomem.text.chunks import MAX_CHUNK_LENGTH, cut_chunks


def test_headings_start_chunks_and_are_their_context():
    text = f"# Top\n\n{'word ' * 100}\n\n## Inner\n\n{'text ' * 100}\n\n## Other\n\nend"
    assert [(c.heading, c.line) for c in cut_chunks(text)] == [("Top", 1), ("Top > Inner", 5), ("Top > Other", 9)]


def test_a_hash_in_a_code_fence_is_no_heading():
    assert [c.heading for c in cut_chunks(f"# Top\n\n```sh\n# comment\n{'x ' * 300}\n```")] == ["Top"]


@given(st.lists(st.sampled_from(["# H", "## I", "", "```", "a word", "long " * 90, "x" * 3000, "- item"]), max_size=30))
def test_no_word_is_lost_and_no_chunk_is_too_long(lines):
    body = "\n".join(lines)
    chunks = cut_chunks(body)
    assert "".join("".join(c.text.split()) for c in chunks) == "".join(body.split())
    assert all(len(c.text) <= 2 * MAX_CHUNK_LENGTH + 500 for c in chunks)
