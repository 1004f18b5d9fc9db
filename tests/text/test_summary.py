"""Extractive summaries: what several texts say, once, in their own sentences."""

from hypothesis import given
from hypothesis import strategies as st
from rawkomem.text.prose import MAX_SENTENCE_WORDS, extract_sentences, join_sentences, sentences, summarize

from tests.seeds import seed_cases


def test_what_only_repeats_the_others_is_left_out():
    texts = [("Alpha uses Redis cache", 0.9), ("Alpha cache ttl 60", 0.5), ("Redis cache alpha", 0.2)]
    assert summarize(texts, 100) == "Alpha uses Redis cache. Alpha cache ttl 60"
    assert [len(said) for said in extract_sentences(texts, 100)] == [1, 1, 0]


def test_as_the_seed_compresses():
    case = next(case for case in seed_cases() if case["function"] == "scenario:compress extractive")
    stored = [step for step in case["input"]["steps"] if step["op"] == "store"]
    texts = [(step["text"], step["opts"]["importance"]) for step in stored]
    assert summarize(texts, 100) == case["expected"]["results"]["r"]["summary"]


def test_what_is_too_long_for_a_sentence_is_cut():
    text = "word " * 500
    assert summarize([(text, 0.5)], 100) == " ".join(["word"] * MAX_SENTENCE_WORDS) + " …"
    assert summarize([("", 0.5), ("---", 1.0)], 100) == "" and summarize([], 100) == ""


def test_what_leads_to_a_list_is_said_once():
    assert join_sentences(["Do not: run.", "Do not: jump", "Rest."]) == "Do not: run; jump. Rest."


WORDS = st.sampled_from(
    ["alpha", "beta", "gamma", "delta", "the", "is", "of", "redis", "cache", "60", "uses.", "Then!", "So?"]
)
TEXTS = st.lists(st.tuples(st.lists(WORDS, max_size=12).map(" ".join), st.floats(0, 1)), max_size=6)


@given(TEXTS, st.integers(1, 30))
def test_it_invents_nothing_and_keeps_to_its_budget(texts, most):
    said = extract_sentences(texts, most)
    for (text, _), chosen in zip(texts, said, strict=True):
        assert all(any(whole.startswith(part.removesuffix(" …")) for whole in sentences(text)) for part in chosen)
    assert sum(len(part.removesuffix(" …").split()) for chosen in said for part in chosen) <= most
    assert extract_sentences(texts, most) == said
