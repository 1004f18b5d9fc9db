"""Reliability, scores and decisions of skills, without files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.format.skill_files import read_skill
from rawkomem.learn.skills import KEYWORD_SHARE, MEANING_SHARE, plan_skill, rank_skills, reliability_after, skill_of
from rawkomem.model.entries import Entry, Memory
from rawkomem.state.fold import fold


@given(st.text("+-", max_size=60))
def test_reliability_is_clamped_and_moves_by_one_step(votes):
    values = [reliability_after(votes[:at]) for at in range(len(votes) + 1)]
    assert all(0 <= value <= 1 for value in values)
    for vote, before, after in zip(votes, values, values[1:], strict=False):
        assert after == pytest.approx(min(1.0, before + 0.1) if vote == "+" else max(0.0, before - 0.2))


@given(
    st.lists(st.tuples(st.integers(1, 5), st.booleans()), max_size=12),
    st.randoms(use_true_random=False),
    st.integers(0, 12),
)
def test_reliability_does_not_depend_on_the_order_of_arrival(votes, random, twice):
    """Two branches that both voted, merged in any order, some entries seen twice: the same votes in the same order."""
    entries = [Entry(kind="skill", id="s", title="S", at=1)]
    entries += [
        Entry(kind="feedback", id=f"f{number}", about="s", at=at, extra={"signal": "helpful" if good else "harmful"})
        for number, (at, good) in enumerate(votes)
    ]
    arrived = entries + entries[:twice]
    random.shuffle(arrived)
    straight, shuffled = fold(entries), fold(arrived)
    assert shuffled.votes == straight.votes and skill_of(shuffled).reliability == skill_of(straight).reliability
    in_order = sorted(range(len(votes)), key=lambda number: (votes[number][0], f"f{number}"))
    assert straight.votes == "".join("+" if votes[number][1] else "-" for number in in_order)
    assert straight.votes.count("+") == straight.helpful and straight.votes.count("-") == straight.harmful


def skill(id: str, name: str, intent: str = "", description: str = "", tags: tuple[str, ...] = (), votes: str = ""):
    extra = {"intent": intent, "description": description}
    return skill_of(Memory(id, kind="skill", title=name, tags=tags, extra=extra, votes=votes))


def test_words_count_by_the_field_they_stand_in():
    skills = [
        skill("d", "one", description="about caching"),
        skill("i", "two", intent="improve caching"),
        skill("n", "CachingLayer"),
        skill("t", "three", tags=("caching",)),
        skill("x", "nothing"),
    ]
    found = rank_skills("caching", skills, {})
    assert [match.skill.memory.id for match in found] == ["n", "i", "d", "t"]
    assert [match.score for match in found] == pytest.approx([0.7, 0.7 * 2 / 3, 0.7 / 3, 0.7 / 3])


def test_a_score_is_its_parts():
    skills = [skill("a", "deploy service", "ship it", "to production"), skill("b", "bake a cake")]
    found = rank_skills("deploy the service to production", skills, {"a": 0.8, "b": 0.1})
    assert [match.skill.memory.id for match in found] == ["a"]  # neither word nor meaning: not found
    (match,) = found
    assert match.score == pytest.approx(KEYWORD_SHARE * (3 + 3 + 1) / 9 + MEANING_SHARE * 0.8)
    assert match.score == pytest.approx(sum(amount for _, amount, _ in match.parts))
    assert match.parts[0][2] == "deploy in name; service in name; production in description"


def test_meaning_alone_brings_a_skill_from_a_floor_on():
    skills = [skill("a", "alpha"), skill("b", "beta")]
    assert [match.score for match in rank_skills("unrelated", skills, {"a": 0.5, "b": 0.29})] == pytest.approx([0.15])


def test_of_equals_the_more_reliable_comes_first():
    skills = [skill("a", "cache", votes="-"), skill("b", "cache", votes="+")]
    assert [match.skill.memory.id for match in rank_skills("cache", skills, {})] == ["b", "a"]


@pytest.mark.parametrize("question", ["Name: Architect", "name:architect", "Architect: design a cache", "architect:"])
def test_a_skill_that_is_called_by_name(question):
    skills = [skill("a", "Architect"), skill("b", "design a cache")]
    assert [(match.skill.memory.id, match.score) for match in rank_skills(question, skills, {"b": 0.9})] == [("a", 1.0)]


def test_a_name_that_nobody_has_is_just_words():
    assert [match.skill.memory.id for match in rank_skills("Name: cache", [skill("b", "design a cache")], {})] == ["b"]


def memory(text: str, id: str = "skill_1_aaaaaa", **more) -> Memory:
    said = read_skill(text)
    fields = {"status": "active", "path": "memories/skills/x.md", **more}
    return Memory(id, kind="skill", title=said.name, body=said.text, created=1, **fields)


def ingest(text: str, known: list[Memory], trust: dict[str, float] | None = None):
    return plan_skill(read_skill(text), "s.md", "me", known, lambda one: (trust or {}).get(one.id, 0.5))


def test_a_changed_text_amends_the_active_skill_of_that_name():
    old = memory("# Deploy\n\nOld.")
    (entry,) = ingest("# deploy\n\nNew.", [memory("# Other"), old]).entries
    assert (entry.kind, entry.about, entry.body) == ("amend", old.id, "# deploy\n\nNew.")
    (entry,) = ingest("# deploy\n\nNew.", [memory("# Deploy", status="archived")]).entries
    assert entry.kind == "skill" and entry.id.startswith("skill_")
