"""What every store must do. An engine's test file calls these with a function that makes an empty store.

Vectors are made from names, so that closeness is known: `mixed("a", "b", 0.9)` has a cosine of 0.9 to `vector("a")`.
"""

import math
import random
from array import array
from functools import cache

from rawkomem.index.stores.database import open_database
from rawkomem.index.stores.protocol import OutsideStore, SplitStore
from rawkomem.index.stores.sqlite import DEEP, REST, WHEN, Document, Hit, Passage
from rawkomem.model.filters import Facets, Filter
from rawkomem.model.values import replace

DIMS = 384
ANY = Filter()
CLOSE = 0.03  # what a store may lose of a cosine by packing vectors


@cache
def numbers(name: str) -> list[float]:
    source = random.Random(name)
    values = [source.gauss(0, 1) for _ in range(DIMS)]
    length = math.sqrt(sum(value * value for value in values))
    return [value / length for value in values]


def packed(values: list[float]) -> bytes:
    length = math.sqrt(sum(value * value for value in values)) or 1.0
    return array("f", [value / length for value in values]).tobytes()


def vector(name: str) -> bytes:
    return packed(numbers(name))


def mixed(one: str, other: str, share: float) -> bytes:
    """A vector at about this cosine to `one`."""
    rest = math.sqrt(1 - share * share)
    return packed([share * a + rest * b for a, b in zip(numbers(one), numbers(other), strict=True)])


def document(id: str, *texts: str, vectors: tuple[bytes, ...] = (), **fields) -> Document:
    """A memory with these passages; without vectors, each passage has the vector of its text."""
    passages = tuple(
        Passage(text, given, line=number)
        for number, (text, given) in enumerate(zip(texts, vectors or map(vector, texts), strict=True), 1)
    )
    title, digest = fields.pop("title", ""), fields.pop("digest", "")
    return Document(Facets(id, **fields), title, passages, digest)


class Committing(SplitStore):
    """A search store with vectors outside, where every change is committed at once."""

    def __init__(self, outside: OutsideStore):
        super().__init__(open_database(":memory:"), outside)
        self.erase()


def _committed(name: str):
    def change(self, *given) -> None:
        getattr(SplitStore, name)(self, *given)
        self.outside.commit()
        self.outside.generation()

    return change


for _name in ("put", "drop", "deepen", "flatten", "erase"):
    setattr(Committing, _name, _committed(_name))


def ids(hits: list[Hit]) -> list[str]:
    return [hit.id for hit in hits]


def what_is_put_is_found(make) -> None:
    store = make()
    store.put([document("a", "apple pie"), document("b", "banana bread")])
    assert ids(store.matching(["banana"], 10, ANY)) == ["b"]
    (best, other) = store.nearest(vector("banana bread"), 10, ANY)
    assert best.id == "b" and abs(best.score - 1) < CLOSE and other.score < 0.5


def an_empty_store_answers_nothing(make) -> None:
    store = make()
    store.put([])
    assert store.nearest(vector("a"), 10, ANY) == [] and store.matching(["a"], 10, ANY) == []
    assert store.passage("a", 0) == ""


def what_is_put_again_is_replaced(make) -> None:
    store = make()
    store.put([document("a", "apple", "apricot", "avocado"), document("b", "banana")])
    store.put([document("a", "almond")])
    assert store.matching(["apple", "apricot", "avocado"], 10, ANY) == []
    assert ids(store.matching(["almond"], 10, ANY)) == ["a"]
    assert sorted(ids(store.nearest(vector("apricot"), 10, ANY))) == ["a", "b"]
    assert (store.passage("a", 0), store.passage("a", 1)) == ("almond", "")


def what_is_dropped_is_gone(make) -> None:
    store = make()
    store.put([document("a", "apple"), document("b", "banana")])
    store.drop(["a", "never heard of"])
    assert store.matching(["apple"], 10, ANY) == [] and ids(store.nearest(vector("apple"), 10, ANY)) == ["b"]
    assert store.passage("a", 0) == ""
    store.put([document("a", "apple")])
    assert ids(store.matching(["apple"], 10, ANY)) == ["a"]


def nearest_is_ordered_by_cosine(make) -> None:
    store = make()
    shares = {"a": 0.2, "b": 0.95, "c": 0.5, "d": 0.8, "e": 0.65}
    store.put([document(id, id, vectors=(mixed("query", id, share),)) for id, share in shares.items()])
    hits = store.nearest(vector("query"), 10, ANY)
    assert ids(hits) == ["b", "d", "e", "c", "a"]
    truth = {id: _cosine(vector("query"), mixed("query", id, share)) for id, share in shares.items()}
    assert all(abs(hit.score - truth[hit.id]) < CLOSE for hit in hits)
    assert ids(store.nearest(vector("query"), 2, ANY)) == ["b", "d"]


def _cosine(one: bytes, other: bytes) -> float:
    return sum(a * b for a, b in zip(array("f", one), array("f", other), strict=True))


def matching_prefers_rare_words(make) -> None:
    store = make()
    store.put([document(f"common-{n}", "the memory index") for n in range(8)])
    store.put([document("rare", "the zebra index")])
    hits = store.matching(["index", "zebra"], 20, ANY)
    assert hits[0].id == "rare" and len(hits) == 9
    assert hits[0].score > hits[1].score > 0 and [hit.score for hit in hits] == sorted(
        (h.score for h in hits), reverse=True
    )


def matching_finds_words_in_titles_headings_and_tags(make) -> None:
    store = make()
    titled = document("a", "text", title="Zebra crossings", tags=("quagga",))
    headed = replace(document("b", "text"), passages=(Passage("text", vector("b"), heading="Okapi"),))
    store.put([titled, headed])
    assert ids(store.matching(["zebra"], 5, ANY)) == ids(store.matching(["quagga"], 5, ANY)) == ["a"]
    assert ids(store.matching(["okapi"], 5, ANY)) == ["b"]


def matching_takes_words_as_words(make) -> None:
    """No word is an operator of any query language."""
    store = make()
    store.put([document("a", "not near and or"), document("b", "plain text")])
    for word in ('"', "a*", "NOT", "NEAR(", "text:", "^plain", "-plain", "{", "'; DROP TABLE documents; --", "\\", ""):
        store.matching([word], 5, ANY)
    assert ids(store.matching(["NOT", "or"], 5, ANY)) == ["a"]
    assert ids(store.matching(["plain"], 5, ANY)) == ["b"]
    assert store.matching([], 5, ANY) == []


def passages_are_hits_of_their_own(make) -> None:
    store = make()
    store.put([document("a", "apple", "banana", "banana cherry")])
    assert [(hit.id, hit.passage) for hit in store.matching(["cherry"], 5, ANY)] == [("a", 2)]
    assert {hit.passage for hit in store.matching(["banana"], 5, ANY)} == {1, 2}
    assert store.nearest(vector("banana"), 1, ANY)[0].passage == 1
    assert [store.passage("a", number) for number in range(4)] == ["apple", "banana", "banana cherry", ""]


def conditions_are_passages_too(make) -> None:
    store = make()
    passages = (Passage("text", vector("text")), Passage("auth login", vector("auth"), field=WHEN))
    store.put([replace(document("a", "x"), passages=passages)])
    assert [(hit.id, hit.passage) for hit in store.matching(["login"], 5, ANY)] == [("a", 1)]


def surroundings_are_matched_apart(make) -> None:
    """A passage is found by the words beside it only when that is asked for."""
    store = make()
    passages = (Passage("apple", vector("a"), around="apple\nbanana"), Passage("cherry", vector("c")))
    store.put([replace(document("a", "x"), passages=passages)])
    assert store.matching(["banana"], 5, ANY) == []
    assert [(hit.id, hit.passage) for hit in store.matching(["banana"], 5, ANY, around=True)] == [("a", 0)]
    assert store.matching(["banana"], 5, Filter(kinds=("skill",)), around=True) == []
    store.put([document("a", "x")])
    assert store.matching(["banana", "apple"], 5, ANY, around=True) == []


FILTERED = [
    document("a", "word one", kind="memory", status="active", importance=0, created=100, tags=("Red", "blue"),
             by="Planner", type="decision", category="fact", entities=("project:api", "person:mark"), session="S1"),
    document("b", "word two", kind="lesson", status="active", importance=1, created=200, tags=("red",),
             by="tester", type="insight", category="Decision", entities=("project:api",), session="s1"),
    document("c", "word three", kind="memory", status="archived", importance=2, created=300, tags=("bluered",),
             by="planner", type="gap", entities=("project:api-2",), session="s2"),
    document("d", "word four", kind="skill", status="draft", importance=3, created=400, tags=()),
]  # fmt: skip
FILTERS = [
    (Filter(), "abcd"),
    (Filter(kinds=("memory",)), "ac"),
    (Filter(ids=("a", "d", "none such")), "ad"),
    (Filter(ids=("a",), kinds=("skill",)), ""),
    (Filter(kinds=("memory", "skill")), "acd"),
    (Filter(kinds=("experience",)), ""),
    (Filter(statuses=("active", "draft")), "abd"),
    (Filter(tags=("red",)), "ab"),
    (Filter(tags=("RED", "Blue")), "a"),
    (Filter(tags=("re",)), ""),
    (Filter(tags=("%",)), ""),
    (Filter(importance=2), "cd"),
    (Filter(since=200), "bcd"),
    (Filter(until=200), "a"),
    (Filter(since=200, until=400), "bc"),
    (Filter(kinds=("memory",), statuses=("active",), tags=("blue",), since=50, until=150), "a"),
    (Filter(kinds=("memory",), importance=3), ""),
    (Filter(types=("x' OR '1'='1",)), ""),
    (Filter(types=("decision", "GAP")), "ac"),
    (Filter(categories=("decision",)), "b"),
    (Filter(entities=("Project:API",)), "ab"),
    (Filter(entities=("project:api", "person:mark")), "a"),
    (Filter(entities=("project",)), ""),
    (Filter(agents=("planner",)), "ac"),
    (Filter(agents=("PLANNER", "tester")), "abc"),
    (Filter(sessions=("s1",)), "b"),
    (Filter(sessions=("s1", "S1")), "ab"),
    (Filter(types=("decision",), agents=("tester",)), ""),
    (Filter(trust=0.9, current=True), "abcd"),  # not the store's business
]


def filters_keep_a_search_inside(make) -> None:
    store = make()
    store.put(FILTERED)
    for only, expected in FILTERS:
        assert sorted(ids(store.matching(["word"], 10, only))) == list(expected), only
        assert sorted(ids(store.nearest(vector("word one"), 10, only))) == list(expected), only


def the_vectors_of_bodies_are_told_by_memory(make) -> None:
    store = make()
    condition = Passage("when", vector("when"), WHEN)
    store.put([document("b", "one", "two"), document("a", "three", status="archived")])
    store.put([replace(document("c", "four"), passages=(Passage("four", vector("four")), condition))])
    told = store.vectors(ANY)
    assert [id for id, _ in told] == ["a", "b", "b", "c"]
    for (_, given), text in zip(told, ("three", "one", "two", "four"), strict=True):
        assert _alike(given, numbers(text)) > 1 - CLOSE
    assert [id for id, _ in store.vectors(Filter(statuses=("archived",)))] == ["a"]


def _alike(given: bytes, wanted: list[float]) -> float:
    """The cosine of a vector in the store's own scale."""
    own = array("b", given)
    return sum(a * b for a, b in zip(own, wanted, strict=True)) / math.sqrt(sum(a * a for a in own))


def a_filter_comes_before_the_limit(make) -> None:
    """Fifty better ones outside of the filter do not crowd out the one inside."""
    store = make()
    crowd = [document(f"x{n}", "word", vectors=(mixed("query", f"x{n}", 0.9),)) for n in range(50)]
    store.put([*crowd, document("in", "word and many others too", vectors=(vector("far"),), status="archived")])
    inside = Filter(statuses=("archived",))
    assert ids(store.nearest(vector("query"), 1, inside)) == ids(store.matching(["word"], 1, inside)) == ["in"]


def ties_are_broken_by_id_and_passage(make) -> None:
    """Whatever the order in which they came: of equals, the same ones are always within the limit."""
    names = [f"m{n:03}" for n in range(80)]
    answers = []
    for seed in range(3):
        store, order = make(), names.copy()
        random.Random(seed).shuffle(order)
        for name in order:
            store.put([document(name, "same text", "same text")])
        for name in order[:20]:
            store.put([document(name, "same text", "same text")])
        answers.append((store.nearest(vector("same text"), 25, ANY), store.matching(["same"], 25, ANY)))
    expected = [(name, number) for name in names[:13] for number in (0, 1)][:25]
    for hits in (hits for answer in answers for hits in answer):
        assert [(hit.id, hit.passage) for hit in hits] == expected
    assert answers[0] == answers[1] == answers[2]


def a_vector_of_zeros_is_close_to_nothing(make) -> None:
    """All zeros mean that nothing is known: neither close to everything, nor close to other zeros."""
    store, zeros = make(), bytes(4 * DIMS)
    store.put([document("zero", "word", vectors=(zeros,)), document("a", "word")])
    assert store.nearest(zeros, 5, ANY) == []
    assert ids(store.nearest(vector("other"), 5, ANY)) == ["a"]
    assert ids(store.matching(["word"], 5, ANY)) == ["a", "zero"]
    store.drop(["zero"])
    assert ids(store.matching(["word"], 5, ANY)) == ["a"]


def limits_are_kept(make) -> None:
    store = make()
    store.put([document(f"m{n}", f"word number {n}") for n in range(30)])
    for limit in (0, 1, 7, 30, 1000):
        assert (
            len(store.nearest(vector("x"), limit, ANY)) == len(store.matching(["word"], limit, ANY)) == min(limit, 30)
        )


def odd_texts_are_stored(make) -> None:
    store = make()
    texts = ["", " ", "\n", "🙂 認証", "a" * 100_000, "'; DROP TABLE passages; --", "e\u0301", "\u202e"]
    store.put([document("odd\n#'\"%", *texts, tags=("a\nb", "'", "%"), title="\x01")])
    assert [store.passage("odd\n#'\"%", number) for number in range(len(texts))] == texts
    assert len(store.nearest(vector("x"), 100, ANY)) == len(texts)
    store.drop(["odd\n#'\"%"])
    assert store.nearest(vector("x"), 100, ANY) == []


def deepened(store, *names: str) -> None:
    """Second-tier vectors of these memories of one passage: the reverse of their first ones, so that nothing agrees."""
    store.deepen({name: [packed([-number for number in numbers(name)])] for name in names})


def the_second_tier_is_a_space_of_its_own(make) -> None:
    store = make()
    store.put([document(name, name) for name in ("a", "b", "c")])
    assert store.depth() == (0, 3) and sorted(store.shallow(9)) == ["a", "b", "c"] and len(store.shallow(2)) == 2
    assert store.nearest(vector("a"), 5, ANY, DEEP) == []
    deepened(store, "a", "b", "never heard of")
    store.deepen({"c": [vector("one"), vector("too many")]})
    assert store.depth() == (2, 3) and store.shallow(9) == ["c"]
    (worst,) = [hit for hit in store.nearest(vector("a"), 5, ANY, DEEP) if hit.id == "a"]
    assert abs(worst.score + 1) < CLOSE
    assert ids(store.nearest(vector("a"), 5, ANY, REST)) == ["c"]
    assert store.nearest(vector("a"), 5, Filter(statuses=("archived",)), DEEP) == []


def the_second_tier_follows_the_first(make) -> None:
    """What is put again must be deepened again; a memory whose vectors are all zeros is deep as soon as it was told."""
    store = make()
    store.put([document(name, name) for name in ("a", "b", "c")])
    deepened(store, "a", "b")
    store.deepen({"c": [bytes(4 * DIMS)]})
    assert store.depth() == (3, 3) and len(store.nearest(vector("x"), 5, ANY, DEEP)) == 2
    store.put([document("a", "anew")])
    store.drop(["b"])
    assert store.depth() == (1, 2) and store.shallow(9) == ["a"]
    assert store.nearest(vector("x"), 5, ANY, DEEP) == []
    deepened(store, "a")
    assert ids(store.nearest(vector("x"), 5, ANY, DEEP)) == ["a"]
    store.flatten()
    assert store.depth() == (0, 2) and store.nearest(vector("x"), 5, ANY, DEEP) == []
    assert sorted(ids(store.nearest(vector("x"), 5, ANY))) == ["a", "c"]


def many_changes_leave_what_a_fresh_store_holds(make) -> None:
    """Scores included: how often words occur is counted over what is held, not over what ever was."""
    source = random.Random(1)
    store, fresh, kept = make(), make(), {}
    for step in range(12):
        chosen = [f"m{source.randrange(60)}" for _ in range(30)]
        texts = {
            id: (" ".join(source.choices(("ape", "bee", "cat", "dog", "elk", "fox-trot"), k=6)), f"{id} {step}")
            for id in chosen
        }
        store.put([document(id, *own) for id, own in texts.items()])
        kept |= texts
        gone = source.sample(sorted(kept), 5)
        store.drop(gone)
        kept = {id: own for id, own in kept.items() if id not in gone}
    fresh.put([document(id, *own) for id, own in kept.items()])
    for words in (["ape"], ["bee", "cat", "none"], ["fox-trot"], ["m1", "dog"]):
        assert store.matching(words, 20, ANY) == fresh.matching(words, 20, ANY)
    assert store.nearest(vector("m1 3"), 20, ANY) == fresh.nearest(vector("m1 3"), 20, ANY)


def what_nobody_vouches_for_changes_no_score(make) -> None:
    """Copies, floods and long texts; put, put again as vouched for and back, and dropped."""
    source = random.Random(3)
    texts = [" ".join(source.choices(("ape", "bee", "cat", "dog", "fox"), k=source.randint(1, 9))) for _ in range(60)]
    kept = [_surrounded(f"m{n}", text) for n, text in enumerate(texts[:20])]
    doubted = [_surrounded(f"u{n}", text * (n % 5), vouched=0) for n, text in enumerate(texts[20:])]
    alone, store = make(), make()
    alone.put(kept)
    store.put([*doubted, *kept])
    store.put([_surrounded(f"m{n}", text, vouched=0) for n, text in enumerate(texts[:5])])
    store.put([_surrounded(f"u{n}", "ape") for n in range(3)])
    store.put([*kept[:5], *doubted[:3]])
    store.drop([f"u{n}" for n in range(10, 15)])
    for words in (["ape"], ["bee", "cat", "none"], ["dog", "fox"]):
        for around in (False, True):
            wanted = alone.matching(words, 10, ANY, around)
            assert wanted == store.matching(words, 10, Filter(vouched=1), around) != []
            rest = store.matching(words, 60, Filter(unvouched=1), around)
            assert rest and {hit.id[0] for hit in rest} == {"u"}
            every = store.matching(words, 100, ANY, around)
            assert [hit for hit in every if hit.id[0] == "m"] == alone.matching(words, 100, ANY, around)
            assert len(every) == len([hit for hit in every if hit.id[0] == "m"]) + len(rest)


def _surrounded(id: str, text: str, **fields) -> Document:
    given = document(id, text, **fields)
    return replace(given, passages=tuple(replace(passage, around=f"{text} bee ape") for passage in given.passages))


WORDS = [
    what_nobody_vouches_for_changes_no_score,
    matching_prefers_rare_words,
    matching_finds_words_in_titles_headings_and_tags,
    matching_takes_words_as_words,
    passages_are_hits_of_their_own,
    conditions_are_passages_too,
    surroundings_are_matched_apart,
]  # always in the index's own database
VECTORS = [
    what_is_put_is_found,
    an_empty_store_answers_nothing,
    what_is_put_again_is_replaced,
    what_is_dropped_is_gone,
    nearest_is_ordered_by_cosine,
    filters_keep_a_search_inside,
    the_vectors_of_bodies_are_told_by_memory,
    a_filter_comes_before_the_limit,
    ties_are_broken_by_id_and_passage,
    a_vector_of_zeros_is_close_to_nothing,
    limits_are_kept,
    odd_texts_are_stored,
    the_second_tier_is_a_space_of_its_own,
    the_second_tier_follows_the_first,
    many_changes_leave_what_a_fresh_store_holds,
]


# What a store outside of the index's database promises besides. `again(store)` closes it and opens it where it was. One
# that outlives nothing may have begun another life: then it is empty, and says so by its generation.


def _as_before(store, generation: str, held: dict[str, str]) -> None:
    assert store.held() == (held if store.generation() == generation else {})
    assert sorted(ids(store.nearest(vector("a"), 5, ANY))) == sorted(store.held())


def the_digests_of_what_it_holds_are_told(make, again) -> None:
    store = make()
    assert store.held() == {}
    store.put([document("a", "a", digest="1"), document("b", "b", digest="2")])
    store.put([document("a", "a", digest="3")])
    store.commit()
    assert store.held() == {"a": "3", "b": "2"}
    store.drop(["b"])
    store.commit()
    assert store.held() == {"a": "3"}


def a_life_ends_when_everything_is_erased(make, again) -> None:
    store = make()
    first = store.generation()
    store.put([document("a", "a", digest="1")])
    store.commit()
    assert store.generation() == first != make().generation()
    store.erase()
    store.commit()
    assert store.generation() != first and store.held() == {}
    assert again(store).generation() != first


def what_was_committed_stays(make, again) -> None:
    store = make()
    store.put([document("a", "a", digest="1"), document("b", "b", digest="2")])
    store.commit()
    store.drop(["b"])
    store.commit()
    generation = store.generation()
    _as_before(again(store), generation, {"a": "1"})


def what_was_not_committed_is_gone(make, again) -> None:
    store = make()
    store.put([document("a", "a", digest="1")])
    store.commit()
    generation = store.generation()
    store.put([document("b", "b", digest="2")])
    store.drop(["a"])
    store = again(store)
    _as_before(store, generation, {"a": "1"})
    store.erase()
    store.put([document("b", "b", digest="2")])
    _as_before(again(store), generation, {"a": "1"})


OUTSIDE = [
    the_digests_of_what_it_holds_are_told,
    a_life_ends_when_everything_is_erased,
    what_was_committed_stays,
    what_was_not_committed_is_gone,
]


def writers_at_once_lose_nothing(make, beside) -> None:
    """`beside(store)` opens another one at the same place."""
    one = make()
    one.commit()
    other = beside(one)
    one.put([document("a", "a", digest="1")])
    other.put([document("b", "b", digest="2")])
    one.commit()
    other.commit()
    one.generation()  # every question to an index begins with it: here a store may look what others did
    for store in (one, other, beside(one)):
        assert store.held() == {"a": "1", "b": "2"}
        assert sorted(ids(store.nearest(vector("a"), 5, ANY))) == ["a", "b"]
