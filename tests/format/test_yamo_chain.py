"""Hashes of blocks by RFC-0011 §2.3."""

from hashlib import sha256

from rawkomem.format.yamo import chain_hashes

TEXTS = ("agent: A;\n", "agent: B;\n", "agent: Ç;\n", "agent: A;\n")


def hex_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def rows(texts=TEXTS, before=None) -> list[dict]:
    hashes = chain_hashes(texts, before)
    return [
        {"id": f"yamo_retain_{n}", "yamo_text": text, "block_hash": own, "prev_hash": previous}
        for n, (text, (own, previous)) in enumerate(zip(texts, hashes, strict=True))
    ]


def test_a_hash_is_that_of_the_text_and_names_the_one_before():
    assert [row["block_hash"] for row in rows()] == [hex_of(text) for text in TEXTS]
    assert [row["prev_hash"] for row in rows()] == [None, *(hex_of(text) for text in TEXTS[:-1])]
    assert chain_hashes(["x"], "w") == [(hex_of("x"), hex_of("w"))]
