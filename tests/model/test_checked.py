"""Values check themselves: one text where several are meant is one item, and whatever is wrong names its field."""

import pytest
from rawkomem.format.entries import read_entries
from rawkomem.model.entries import Entry, Task
from rawkomem.model.errors import BadInput
from rawkomem.model.filters import Filter
from rawkomem.model.values import as_dict, replace, unchecked

LISTS = [
    *((Entry, name) for name in ("when", "tags", "related", "given")),
    *((Filter, name) for name in ("ids", "tags", "types", "categories", "entities", "agents", "sessions")),
]
WORD_LISTS = [("kinds", "lesson"), ("statuses", "archived")]


@pytest.mark.parametrize(("kind", "name"), LISTS)
def test_a_text_is_one_item_and_a_list_a_tuple(kind, name):
    assert getattr(kind(**{name: "postgres"}), name) == ("postgres",)
    assert getattr(kind(**{name: ["a", "b"]}), name) == ("a", "b")
    assert getattr(kind(**{name: ""}), name) == getattr(kind(**{name: []}), name) == ()
    assert getattr(replace(kind(), **{name: "postgres"}), name) == ("postgres",)
    for wrong in (3, None, b"x", ["a", 3], {"a": "b"}):
        with pytest.raises(BadInput, match=f"^{kind.__name__}.{name}: "):
            kind(**{name: wrong})


@pytest.mark.parametrize(("name", "word"), WORD_LISTS)
def test_words_of_a_filter_are_known_ones(name, word):
    assert getattr(Filter(**{name: word.upper()}), name) == (word,)
    with pytest.raises(BadInput, match=f"^Filter.{name}: 'nonsense' is not known") as refused:
        Filter(**{name: [word, "nonsense"]})
    assert word in refused.value.hint


def test_what_is_stored_under_a_condition_in_one_text_is_found_by_it(repository):
    """`when="postgres"` once stored the conditions p, o, s, t, g, r, e, s."""
    id = repository.add(Entry(title="Pool", body="Keep ten connections.", when="postgres", tags="db")).entry.id
    memory = repository.get(id)
    assert (memory.when, memory.tags) == (("postgres",), ("db",))


def test_a_filter_takes_importance_by_word(repository):
    for importance in ("low", "high", "critical"):
        repository.add(Entry(title=f"Of {importance} importance", body="x", importance=importance))
    rows = repository.list(Filter(importance="high"))
    assert sorted(row.title for row in rows) == ["Of critical importance", "Of high importance"]
    assert Filter(importance="High") == Filter(importance=2)


WRONG = [
    (Entry, "title", 3), (Entry, "body", None), (Entry, "at", 1.5), (Entry, "at", float("nan")), (Entry, "at", True),
    (Entry, "draft", "no"), (Entry, "importance", "hgh"), (Entry, "importance", 2), (Entry, "kind", "memroy"),
    (Entry, "extra", [1]), (Entry, "extra", {"a": float("nan")}), (Entry, "extra", {"a": {"b": [float("-inf")]}}),
    (Entry, "extra", {"a": None}), (Entry, "extra", {3: "a"}), (Entry, "extra", {"a": {1: "b"}}),
    (Filter, "importance", "hgh"), (Filter, "importance", 9), (Filter, "importance", float("inf")),
    (Filter, "trust", float("nan")), (Filter, "trust", 2), (Filter, "trust", "0.5"), (Filter, "current", 1),
    (Filter, "since", "yesterday-ish"), (Filter, "until", float("inf")), (Filter, "where", 3),
    (Task, "text", None), (Task, "text", ["a"]), (Task, "agent", 1), (Task, "plan", b""), (Task, "session", 7),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "value"), WRONG)
def test_a_wrong_value_names_its_field(kind, name, value):
    first = {"text": "x"} if kind is Task else {}
    for make in (lambda: kind(**{**first, name: value}), lambda: replace(kind(**first), **{name: value})):
        with pytest.raises(BadInput) as refused:
            make()
        assert refused.value.message.startswith(f"{kind.__name__}.{name}") and refused.value.hint


@pytest.mark.parametrize("kind", [Entry, Filter, Task])
def test_an_unknown_field_is_named(kind):
    with pytest.raises(TypeError, match="titel"):
        kind(**{"text": "x", "titel": "y"} if kind is Task else {"titel": "y"})
    with pytest.raises(TypeError, match=f"{kind.__name__} has no field titel"):
        replace(Task("x") if kind is Task else kind(), titel="y")


def test_a_checked_record_is_frozen_and_a_value():
    entry = Entry(title="x", tags=["a"], extra={"n": 1.5, "list": ("a",)})
    assert entry.extra == {"n": "1.5", "list": ["a"]}
    assert entry == Entry(title="x", tags=("a",), extra={"n": 1.5, "list": ["a"]}) and hash(entry) == hash(
        replace(entry)
    )
    with pytest.raises(AttributeError, match="frozen"):
        entry.title = "y"  # type: ignore[misc]
    assert "tags=('a',)" in repr(entry) and as_dict(entry)["title"] == "x"


def test_a_long_wrong_value_is_cut_and_escaped():
    with pytest.raises(BadInput) as refused:
        Entry(kind="\x1b[31m" + "x" * 1_000)
    assert "\x1b" not in refused.value.message and len(refused.value.message) < 120


def test_a_parser_may_keep_what_a_caller_may_not_say():
    """A file's unknown kind is kept and reported; changing another field of such an entry does not refuse it."""
    (entry,), problems = read_entries("---\ntitle: x\nkind: memroy\n---\n\ntext\n")
    assert entry.kind == "memroy" and any("unknown kind" in problem.message for problem in problems)
    assert replace(entry, title="y").kind == "memroy"
    assert unchecked(Entry, title="x") == Entry(title="x")
