"""Episodes end to end: real files, real index."""

import pytest
from rawkomem.model.entries import Entry, Memory, Task
from rawkomem.model.errors import BadInput, NotFound, Refused
from rawkomem.model.filters import Filter
from rawkomem.state.digests import MAX_EPISODE_MEMBERS, plan_digest, plan_episode

DAY = 86_400_000
START = 1_760_000_000_000  # 2025-10-09T08:53:20Z
BODIES = {
    "cache": ("Redis cache", "Alpha uses a Redis cache. The cache lives on the staging host.", "high", "planner"),
    "ttl": ("Cache lifetime", "Entries of the Alpha cache live for sixty seconds.", "medium", "developer"),
    "again": ("Cache once more", "Alpha uses a Redis cache.", "low", "developer"),
    "cake": ("Birthday cake", "We buy chocolate cake for birthdays.", "low", "tester"),
}


@pytest.fixture
def filled(repository):
    """A memory a day; `.ids` by name."""
    repository.ids = {}
    for day, (name, (title, body, importance, by)) in enumerate(BODIES.items()):
        entry = Entry(title=title, body=body, importance=importance, by=by, at=START + day * DAY, tags=(name,),
                      when=(f"{name}|x{name}",))  # fmt: skip
        repository.ids[name] = repository.add(entry).entry.id
    return repository


def names(repository, members) -> list[str]:
    by_id = {id: name for name, id in repository.ids.items()}
    return [by_id[memory.id] for memory in members]


def test_capture_by_time_by_discoverer_and_by_tag(filled):
    window = Filter(since=START + DAY, until=START + 3 * DAY)
    assert names(filled, filled.episodes.capture("Two days", window).members) == ["ttl", "again"]
    assert names(filled, filled.episodes.capture("Dev", Filter(), "developer").members) == ["ttl", "again"]
    named = filled.episodes.capture("", Filter(until=START + 3 * DAY))
    assert named.memory.title == "cache 2025-10-09" and len(named.members) == 3  # earlier episodes are no members
    with pytest.raises(NotFound, match="one memory matches"):
        filled.episodes.capture("One", Filter(tags=("cake",)))
    with pytest.raises(NotFound, match="no memory matches"):
        filled.episodes.capture("None", Filter(tags=("nothing",)))


def test_summarise_takes_active_members_only_and_can_be_kept(filled):
    ids = filled.ids
    filled.episodes.create("All", list(ids.values()))
    summary = filled.episodes.summarize("all")
    assert summary == (
        "Alpha uses a Redis cache. The cache lives on the staging host. "
        "Entries of the Alpha cache live for sixty seconds. We buy chocolate cake for birthdays."
    )
    filled.delete(ids["cake"])
    assert "cake" not in filled.episodes.summarize("all")
    filled.episodes.keep_summary("all", summary)
    assert filled.episodes.get("all").memory.body == summary


def test_compress_makes_a_digest_and_archives_only_on_request(filled):
    ids = filled.ids
    cached = [ids["cache"], ids["ttl"], ids["again"]]
    filled.episodes.create("Cache week", cached)
    (digest, _, _) = filled.episodes.compress("cache-week")
    memory = filled.get(digest.entry.id)
    assert (memory.title, memory.importance, memory.kind) == ("Digest: Cache week", "high", "memory")
    assert memory.extra["derivedFrom"] == cached and memory.tags == ("digest", "cache", "ttl", "again")
    assert memory.when == ("cache|xcache", "ttl|xttl", "again|xagain")
    assert "## Redis cache" in memory.body
    assert {filled.get(id).status for id in cached} == {"active"}
    with pytest.raises(Refused, match="digest of exactly these memories"):
        filled.episodes.compress("cache-week")
    filled.delete(memory.id)
    digest, archived, staying = filled.episodes.compress("cache-week", "Caching", archive=True)
    assert staying == {}
    assert filled.get(digest.entry.id).title == "Caching" and len(archived) == 3
    assert {(filled.get(id).status, filled.get(id).reason) for id in cached} == {
        ("archived", f"compressed into {digest.entry.id}")
    }
    with pytest.raises(BadInput, match="at least two active memories"):
        filled.episodes.compress("cache-week")


def test_an_episode_is_found_but_never_injected(filled):
    filled.episodes.create("Birthday cake party", [filled.ids["ttl"]], (), "A birthday party with chocolate cake.")
    assert filled.search("birthday cake party")[0].row.kind == "episode"
    injected = filled.inject(Task("order a birthday cake for the party"))
    assert [item.memory.title for item in injected.items] == ["Birthday cake"]


def memory(id: str, **fields) -> Memory:
    return Memory(id, title=id, **fields)


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ([], "needs at least one memory"),
        ([memory("e", kind="episode")], "e is an episode itself"),
        ([memory("d", status="deleted")], "d is deleted"),
        ([memory(f"m{n}") for n in range(MAX_EPISODE_MEMBERS + 1)], "at most 1,000 memories, not 1,001"),
    ],
)
def test_episodes_that_cannot_be(members, says):
    with pytest.raises((BadInput, Refused)) as failure:
        plan_episode("E", members, (), "", "")
    assert says in failure.value.message and failure.value.hint


def test_the_largest_episode_can_be_written(repository):
    for n in range(3):
        repository.add(Entry(title=f"M {n}", body="text", id=f"mem_17600000000{n:02}_{n:06x}"))
    ids = [f"mem_17600000000{n:02}_{n:06x}" for n in range(3)]
    plan = plan_episode(
        "Large", [memory(f"mem_1760000000{n:03}_abcdef") for n in range(MAX_EPISODE_MEMBERS)], (), "", ""
    )
    repository.core.write(plan)
    assert len(repository.episodes.get("large").missing) == MAX_EPISODE_MEMBERS
    assert len(repository.episodes.add(repository.episodes.create("Small", ids[:1]).memory.id, ids[1:]).members) == 3


def test_refusals_name_what_is_wrong(filled):
    made = filled.episodes.create("E", [filled.ids["ttl"]])
    for wrong, says in (
        (lambda: filled.episodes.get(filled.ids["ttl"]), "is a memory, not an episode"),
        (lambda: filled.episodes.add(made.memory.id, [filled.ids["ttl"]]), "already"),
        (lambda: filled.episodes.remove(made.memory.id, [filled.ids["cake"]]), "none of them is in"),
        (lambda: filled.episodes.create("F", ["nobody"]), "no memory 'nobody'"),
        (lambda: plan_digest("T", [memory("one")], "", ""), "at least two"),
        (lambda: filled.episodes.keep_summary(made.memory.id, ""), "nothing to keep"),
    ):
        with pytest.raises((BadInput, Refused, NotFound), match=says):
            wrong()
