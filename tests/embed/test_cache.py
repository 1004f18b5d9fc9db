"""The cache asks once, forgets what was used least lately, and keeps the space's name."""

from rawkomem.embed.embedder import CACHE_TEXTS, CachedEmbedder


class Counting:
    """An embedder of one dimension that notes what it is asked."""

    name = "counting"
    dims = 1

    def __init__(self):
        self.asked: list[str] = []

    def embed(self, texts):
        self.asked += texts
        return [text.encode() for text in texts]


def test_a_text_is_asked_for_once():
    inner = Counting()
    cached = CachedEmbedder(inner)
    assert cached.embed(["a", "b", "a"]) == [b"a", b"b", b"a"]
    assert cached.embed(["b", "c"]) == [b"b", b"c"]
    assert inner.asked == ["a", "b", "c"]


def test_more_texts_than_fit_are_all_answered():
    inner = Counting()
    cached = CachedEmbedder(inner)
    texts = [str(number) for number in range(2 * CACHE_TEXTS)]
    assert cached.embed(texts) == [text.encode() for text in texts]
    assert cached.embed(texts[:2]) == [b"0", b"1"] and len(cached._known) == 2


def test_it_is_the_inner_space():
    cached = CachedEmbedder(Counting())
    assert (cached.name, cached.dims) == ("counting", 1)
