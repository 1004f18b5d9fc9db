"""Graph, episode and entity commands as a user runs them."""

import json

import pytest

pytestmark = pytest.mark.usefixtures("filled")
FILES = {
    "cache": "---\ntitle: Redis cache\nrelatedMemories: [ttl]\n---\n\nThe redis cache of project:alpha, see [[host]].\n",
    "ttl": "---\ntitle: Cache lifetime\n---\n\nEntries of the redis cache live for sixty seconds. Ask person:mark-z.\n",
    "host": "---\ntitle: The staging host\n---\n\nStaging runs on two machines. Ask person:mark-robinson.\n",
    "cake": '---\ntitle: "Birthday \\"cake\\"]"\n---\n\nWe buy chocolate cake. [[nobody]]\n',
}


@pytest.fixture
def filled(memories):
    for name, text in FILES.items():
        (memories / f"{name}.md").write_text(text)


def titles(text: str, key: str = "") -> list[str]:
    told = json.loads(text)
    return [item["title"] for item in (told[key] if key else told)]


def test_what_an_agent_adds_to_a_vouched_memory_counts_after_a_commit(rawkomem, git):
    """And the command says so, instead of only naming what it did."""
    rawkomem("trace", "episode", "create", "Outage", "host", "cake")
    git.commit("memories")
    commands = (
        ("link", "host", "cake"),
        ("lesson", "heritage", "host", "--intent", "ship weekly"),
        ("trace", "episode", "add", "outage", "cache"),
        ("trace", "episode", "remove", "outage", "cake"),
    )
    for words in commands:
        said = rawkomem(*words).stderr
        assert "no effect until a person commits it" in said and "no chain" not in said, words
    assert '"related"' not in rawkomem("link", "list", "host", "--declared", "--json").stdout
    git.commit("accepted")
    assert '"related"' in rawkomem("link", "list", "host", "--declared", "--json").stdout
    assert "ship weekly" in rawkomem("lesson", "heritage", "host").stdout
    assert "until a person" in rawkomem("link", "remove", "host", "cake").stderr


def test_an_episode_takes_the_days_that_its_help_promises(rawkomem, memories):
    for name, day in (("ttl", "03-06"), ("host", "03-07"), ("cake", "03-08")):
        file = memories / f"{name}.md"
        file.write_text(file.read_text().replace("title:", f"discoveredAt: 2026-{day}T15:00:00Z\ntitle:", 1))
    words = ("trace", "episode", "capture", "Week", "--since", "2026-03-06", "--until", "2026-03-07", "--json")
    assert json.loads(rawkomem(*words).stdout)["members"] == ["ttl", "host"]
    assert "until a date (inclusive)" in " ".join(rawkomem(*words[:3], "--help").stdout.split())


def test_link_walk_unlink(rawkomem, memories):
    linked = rawkomem.json("link", "host", "cake", "--type", "causes")
    assert linked == [{"id": "host", "type": "causes", "to": "cake", "path": "memories/host.md"}]
    assert "kind: link" in (memories / "host.md").read_text()
    links = rawkomem.json("links", "host", "--declared")
    assert [(link["id"], link["type"], link["direction"]) for link in links["links"]] == [
        ("cake", "causes", "out"),
        ("cache", "mentions", "in"),
    ]
    walked = rawkomem.json("traverse", "ttl", "--hops", "3", "--declared")
    assert walked["reached"] == 4 and [node["hop"] for node in walked["nodes"]] == [0, 1, 2, 3]
    way = rawkomem.json("path", "ttl", "cake", "--declared")
    assert way["found"] and way["hops"] == 3 and titles(json.dumps(way), "path")[0] == "Cache lifetime"
    told = rawkomem("path", "ttl", "cake", "--declared").stdout.splitlines()
    assert told[1].startswith("← related  Redis cache") and told[3].startswith("→ causes  Birthday")
    narrow = rawkomem("traverse", "ttl", "--types", "related", "--declared", "--json").stdout
    assert titles(narrow, "nodes") == ["Cache lifetime", "Redis cache"]
    rawkomem("link", "remove", "cake", "host")
    none = rawkomem("path", "ttl", "cake", "--declared", "--json", check=1).stdout
    assert json.loads(none) == {"schema": 1, "found": False, "hops": -1, "path": []}


def test_similar_ones_are_connected_unless_told_otherwise(rawkomem, memories):
    (memories / "cache.md").write_text(FILES["cache"].replace("relatedMemories: [ttl]\n", ""))
    links = rawkomem.json("links", "ttl")["links"]
    assert [(link["id"], link["type"], link["direction"]) for link in links] == [("cache", "similar", "both")]
    assert 0.5 <= links[0]["weight"] < 1
    assert rawkomem.json("links", "ttl", "--declared")["links"] == []
    assert rawkomem.json("links", "ttl", "--similar", "0.99")["links"] == []


def test_clusters(rawkomem):
    (cluster,) = rawkomem.json("clusters", "--declared")
    assert cluster["size"] == 3 and "cache" in cluster["label"]
    assert "3 memories" in rawkomem("clusters", "--declared").stdout
    assert rawkomem.json("clusters", "--declared", "--min-size", "4") == []


def test_history_is_shown_only_when_asked_for(rawkomem):
    rawkomem("delete", "ttl")
    assert "links to memories that are no longer current (1)" in rawkomem("links", "cache", "--declared").stderr
    assert "ttl is not current (deleted" in rawkomem("links", "ttl", check=1).stderr
    shown = rawkomem.json("links", "cache", "--declared", "--include", "all")
    assert ("ttl", "deleted") in {(link["id"], link["status"]) for link in shown["links"]}


def test_broken_links_are_told_and_harm_nothing(rawkomem):
    told = rawkomem.json("links", "cake")["broken"]
    assert told == [{"type": "mentions", "name": "nobody", "candidates": []}]
    assert "style   mentions link to 'nobody': no such memory" in rawkomem("check").stdout


def test_episodes(rawkomem):
    made = rawkomem.json("episode", "create", "Cache week", "cache", "ttl")
    assert made["members"] == ["cache", "ttl"] and made["path"] == "memories/episodes/cache-week.md"
    rawkomem("episode", "add", "cache-week", "host")
    rawkomem("episode", "remove", "cache-week", "ttl")
    shown = rawkomem.json("episode", "show", "cache-week")
    assert titles(json.dumps(shown), "memories") == ["Redis cache", "The staging host"]
    assert "2 memories" in rawkomem("episode", "list").stdout
    found = rawkomem.json("episode", "search", "cache-week", "machines")
    assert found[0]["id"] == "host" and {item["id"] for item in found} <= {"cache", "host"}
    summary = rawkomem("episode", "summarize", "cache-week", "--keep").stdout
    assert "Staging runs on two machines." in summary
    assert rawkomem.json("show", "cache-week")["body"] == summary.strip()
    digest = rawkomem.json("episode", "compress", "cache-week", "--archive")
    assert digest["derivedFrom"] == ["cache", "host"] and digest["archived"] == 2
    statuses = {row["id"]: row["status"] for row in rawkomem.json("list", "--include", "all")}
    assert {statuses["cache"], statuses["host"]} == {"archived"} and statuses["ttl"] == statuses[
        digest["id"]
    ] == "active"
    captured = rawkomem.json("episode", "capture", "--kind", "memory")
    assert captured["members"] == ["cake", "ttl", digest["id"]] and captured["name"]


def test_entities(rawkomem):
    listed = rawkomem.json("link", "entities")
    assert [(item["entity"], item["count"]) for item in listed] == [
        ("person:mark-robinson", 1),
        ("person:mark-z", 1),
        ("project:alpha", 1),
    ]
    several = rawkomem("link", "entities", "Mark", check=1)
    assert "name one of them" in several.stderr and several.stdout.count("person:mark") == 2
    assert "no memory names the entity 'nobody'" in rawkomem("link", "entities", "nobody", check=1).stderr
    assert rawkomem("link", "entities", "alpha").stdout.split() == ["1", "project:alpha", "cache"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["link", "cache", "cache"], 2, "cannot link a memory to itself"),
        (["link", "cache", "nope"], 1, "no memory 'nope'"),
        (["link", "cache", "ttl", "--type", "similar"], 2, "computes similarity from vectors"),
        (["link", "remove", "cache", "ttl"], 1, "no link between cache and ttl"),
        (["traverse", "cache", "--types", "foo", "--declared"], 2, "types in use: mentions, related"),
        (["traverse", "cache", "--hops", "0"], 2, "--hops"),
        (["clusters", "--similar", "2"], 2, "--similar"),
        (["links", "cache", "--include", "lost"], 2, "'lost' is not known"),
        (["episode", "capture"], 2, "capture needs a filter"),
        (["episode", "capture", "x", "--since", "soon"], 2, "--since: 'soon' is not a time"),
        (["episode", "capture", "x", "--since", "2999-01-01"], 1, "no memory matches"),
        (["episode", "show", "cache"], 2, "is a memory, not an episode"),
        (["episode", "create", "x"], 2, "Missing argument"),
    ],
)
def test_mistakes_get_one_clear_line(rawkomem, words, code, says):
    error = rawkomem(*words, check=code).stderr.strip().splitlines()[-1]
    assert says in error and error.startswith("rawkomem: ")
