"""Our WordPiece gives the ids of the `tokenizers` library: on a committed sample, on real texts, on nasty Unicode."""

import json
import lzma
import unicodedata
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.embed import static
from rawkomem.embed.minilm import MINILM_FILE as WEIGHTS
from rawkomem.embed.minilm import WeightsFile
from rawkomem.embed.static import STATIC_FILE, TokenVectors, WordPiece, bert_words
from tokenizers import BertWordPieceTokenizer

from tests.commands import cases
from tests.conftest import ROOT, SHARED, shared

SAMPLE = json.loads((Path(__file__).parent / "data" / "tokens.json").read_text("ascii"))
TRAINING = "model/train-text.xz"
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
RECLASSIFIED = "\u166d\u1734\u1885\u1886"  # other categories in the library's Unicode tables than in Python's
OLD = [  # assigned since Unicode 3.2: the library's tables and those of any Python agree on them, but for the above
    chr(code)
    for code in (*range(0x3400), *range(0x3400, 0xF900, 29), *range(0xF900, 0x20000), *range(0x20000, 0x110000, 499))
    if unicodedata.ucd_3_2_0.category(chr(code)) not in ("Cn", "Cs") and chr(code) not in RECLASSIFIED
]
NASTY = "\x00\x0b\x1c\x85\xa0\u200b\u0301\u0345\u3099\u1112\u1161\u11ab\ufffd\u2028\uff01ΣςσİıẞK한中\U0002f800😀🇩_'#[]"


def bundled_pieces() -> dict[str, int]:
    vectors = TokenVectors(STATIC_FILE)
    return vectors.index()


PIECES = bundled_pieces() | {name: 1_000_000 + place for place, name in enumerate(SPECIAL)}
UNKNOWN = PIECES["[UNK]"]
THEIRS = BertWordPieceTokenizer(PIECES, lowercase=True)


def index_finder(index):
    return lambda piece: index.get(piece, -1)


OURS = WordPiece(index_finder(PIECES), 18, (UNKNOWN,))


def test_the_committed_sample():
    names = {row: name for name, row in PIECES.items()}
    for case in SAMPLE:
        assert [names[row] for row in OURS.rows(case["text"])] == case["tokens"], case["text"]


def test_real_texts():
    texts = training_texts(cases(6_000, 800)) if (SHARED / TRAINING).exists() else []
    for path in sorted(shared("data/eval").glob("*.json")):
        texts += strings(json.loads(path.read_text("utf-8")))[:: cases(3, 20)]
    files = [*(ROOT / "docs").glob("*.md"), *(ROOT / "rawkomem").rglob("*.py")]
    texts += [line for file in files for line in file.read_text("utf-8").splitlines() if line.strip()][:: cases(2, 15)]
    assert len(texts) > cases(10_000, 1_200)
    compare([text for text in texts if not any(name in text for name in SPECIAL)], vocabulary())


def test_every_character():
    compare([f"x{char}y{char} {char}" for char in OLD], PIECES)


@given(st.text(st.sampled_from(OLD) | st.sampled_from(NASTY) | st.characters(max_codepoint=127), max_size=40))
def test_any_text(text):
    if not any(name in text for name in SPECIAL):
        assert OURS.rows(text) == THEIRS.encode(text, add_special_tokens=False).ids


@given(st.text())
def test_any_text_at_all_gives_words_without_spaces(text):
    assert all(word and not any(char.isspace() for char in word) for word in bert_words(text))


def test_the_quick_way_for_ascii_is_the_general_one():
    for char in map(chr, range(128)):
        assert bert_words(f"x{char}Y") == "".join(static.plain_character(ord(each)) for each in f"x{char}Y").split()


def test_a_lone_surrogate_is_dropped():
    assert bert_words("a\ud800b") == ["ab"]


def test_special_tokens_are_plain_text():
    assert bert_words("[MASK] it") == ["[", "mask", "]", "it"]


def test_the_caches_are_bounded(monkeypatch):
    monkeypatch.setattr(static, "MAX_CACHED_WORDS", 50)
    ours = WordPiece(index_finder(PIECES), 18)
    texts = [f"word{number} and word{number + 1}" for number in range(200)]
    fresh = [WordPiece(index_finder(PIECES), 18).rows(text) for text in texts]
    assert [ours.rows(text) for text in texts] == fresh
    assert len(ours._cut) <= 50
    bert_words("".join(chr(code) for code in range(0x3000, 0x9000)))
    assert len(static.PLAIN_CHARACTERS) <= static.MAX_CACHED_CHARS


@pytest.mark.parametrize("piece", ["the", "##ing", "zyx", "", "~", "##", "\U0010ffff"])
def test_searching_the_map_equals_the_index(piece):
    assert TokenVectors(STATIC_FILE).find(piece) == bundled_pieces().get(piece, -1)


def test_every_piece_is_found_in_the_map():
    vectors = TokenVectors(STATIC_FILE)
    assert all(vectors.find(name) == row for name, row in vectors.index().items())


def compare(texts: list[str], vocabulary: dict[str, int]) -> None:
    theirs = BertWordPieceTokenizer(vocabulary, lowercase=True)
    ours = WordPiece(index_finder(vocabulary), 18, (vocabulary["[UNK]"],))
    encodings = theirs.encode_batch(texts, add_special_tokens=False)
    assert [text for text, found in zip(texts, encodings, strict=True) if ours.rows(text) != found.ids] == []


def training_texts(limit: int | None) -> list[str]:
    with lzma.open(shared(TRAINING), "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in islice(file, limit)]
    return [line for line in lines if not any(name in line for name in SPECIAL)]


def vocabulary() -> dict[str, int]:
    """Return the whole vocabulary of BERT, as the contextual embedder ships it: the order is another, the pieces are not."""
    return WeightsFile(WEIGHTS).index()


def strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inner for text in strings(each)]
