"""Hashes of blocks by RFC-0011 §2.3, and by the anchors of memory-mesh."""

from hashlib import sha256

import pytest
from rawkomem.format.yamo import chain_hashes, verify_blocks

TEXTS = ("agent: A;\n", "agent: B;\n", "agent: Ç;\n", "agent: A;\n")


def hex_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def rows(texts=TEXTS, before=None) -> list[dict]:
    hashes = chain_hashes(texts, before)
    return [
        {"id": f"yamo_retain_{n}", "yamo_text": text, "block_hash": own, "prev_hash": previous}
        for n, (text, (own, previous)) in enumerate(zip(texts, hashes, strict=True))
    ]


def anchored() -> list[dict]:
    """As the `anchor` of memory-mesh hashes: the text and the previous hash together, from the word GENESIS on."""
    made, previous = [], hex_of("GENESIS")
    for n, text in enumerate(TEXTS):
        made.append({"id": f"b{n}", "yamo_text": text, "block_hash": hex_of(text + previous), "prev_hash": previous})
        previous = made[-1]["block_hash"]
    return made


def test_a_hash_is_that_of_the_text_and_names_the_one_before():
    assert [row["block_hash"] for row in rows()] == [hex_of(text) for text in TEXTS]
    assert [row["prev_hash"] for row in rows()] == [None, *(hex_of(text) for text in TEXTS[:-1])]
    assert chain_hashes(["x"], "w") == [(hex_of("x"), hex_of("w"))]


def test_whole_blocks_have_no_problems():
    assert verify_blocks(rows()[::-1]).problems == () and verify_blocks(rows()).by_rfc == 4
    assert verify_blocks(anchored()).problems == () and verify_blocks(anchored()).anchored == 4
    bare = [{**row, "block_hash": None, "prev_hash": None} for row in rows()]
    assert verify_blocks(bare) == verify_blocks(bare[::-1]) and verify_blocks(bare).problems == ()
    assert verify_blocks(rows(before="older, removed for its age")).problems == ()


@pytest.mark.parametrize("made", [rows, anchored])
@pytest.mark.parametrize("at", range(4))
def test_a_changed_text_is_found(made, at):
    changed = made()
    changed[at]["yamo_text"] = "agent: Mallory;\n"
    (problem,) = verify_blocks(changed).problems
    assert problem.code == "block-changed" and changed[at]["id"] in problem.message


def test_a_missing_block_is_found():
    texts = ("one", "two", "three", "four")
    missing = [row for row in rows(texts) if row["yamo_text"] != "two"]
    (problem,) = verify_blocks(missing).problems
    assert problem.code == "block-order" and "yamo_retain_2" in problem.message
