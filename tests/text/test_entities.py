"""Entities and topics: what the seeds do, and what we chose where they are wrong."""

import pytest
from rawkomem.model.entries import Memory
from rawkomem.model.ids import slug
from rawkomem.text.prose import (
    Vocabulary,
    entities_in,
    entities_in_path,
    entities_of,
    matching_entities,
    resolve_entity,
    telling_words,
    topic_slug,
)

from tests.seeds import seed_cases

REPLAY = {
    "EntityResolver.extractFromText": lambda given: list(entities_in(given["text"])),
    "EntityResolver.extractFromPath": lambda given: list(entities_in_path(given["path"])),
    "EntityResolver.disambiguate": lambda given: list(matching_entities(given["query"], given["known"])),
    "extractTopicSlug": lambda given: topic_slug(given["text"], given["synonyms"]),
    "slugify": lambda given: slug(given["raw"]),
}


@pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in seed_cases() if c["function"] in REPLAY])
def test_as_the_seeds_do(case):
    got = REPLAY[case["function"]](case["input"])
    if case["function"] == "slugify" and "advice" in case and got != case["expected"]:
        assert got and not got.endswith("-")  # never an empty name, never a hyphen at the end
    else:
        assert got == case["expected"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Project project:swarm and agent:BlueLake", ("project:swarm", "agent:bluelake")),
        ("PERSON:José-María, person:josé-maría.", ("person:josé-maría",)),
        ("project: none, subproject:x, http://project:80/, a.person:x, project:", ()),
        ("(feature:auth-flow) chore:-x-", ("feature:auth-flow", "chore:x")),
    ],
)
def test_in_texts(text, found):
    assert entities_in(text) == found


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("packages/swarm-mail/src/index.ts", ("project:swarm-mail",)),
        ("docs/architecture.md", ("feature:architecture-docs",)),
        (r"C:\work\apps\Web\features\Billing", ("feature:billing", "project:web")),
        ("mypackages/x/docs", ()),
    ],
)
def test_in_paths(path, found):
    assert entities_in_path(path) == found


def test_of_a_memory():
    memory = Memory(
        "m", title="For person:ann", tags=("project:api",), source="apps/web/src/login.ts",
        body="See packages/mail/src/send.py and https://x.test/docs/a/b.md; the call tools/list is no path.",
        extra={"entities": ["business:acme", {"type": "agent", "slug": "Planner"}, ["odd"]], "entity_slugs": "chore:x"},
    )  # fmt: skip
    assert entities_of(memory) == (
        "business:acme", "agent:planner", "chore:x", "person:ann", "project:api", "project:web", "project:mail",
    )  # fmt: skip


KNOWN = ("person:mark-robinson", "person:mark-z", "project:swarm-tools", "project:api")


@pytest.mark.parametrize(
    ("typed", "slugs", "says"),
    [
        ("swarm tools", ("project:swarm-tools",), ""),
        ("SwarmTools", ("project:swarm-tools",), ""),
        ("the api server", ("project:api",), ""),
        ("person:mark-z", ("person:mark-z",), ""),
        ("Mark", (), "'Mark' may be person:mark-robinson, person:mark-z"),
        ("nobody", (), "no memory names the entity 'nobody'; there are "),
        ("the capital", (), "no memory names the entity"),
        ("person:mark", ("person:mark",), "no memory names the entity 'person:mark'"),
        ("  ", (), "no memory names"),
    ],
)
def test_what_a_person_means(typed, slugs, says):
    resolved = resolve_entity(typed, KNOWN)
    assert resolved.slugs == slugs and resolved.message.startswith(says) and bool(resolved.message) == bool(says)


def test_telling_words_are_those_that_the_others_lack():
    inside = ["Deploy fails on Friday", "The deploys to staging", "Deploying with docker"]
    everything = Vocabulary([*inside, "Cats and Friday", "Dogs on Friday", "Friday again"])
    assert telling_words(inside, everything, 1) == ["deploy"]


@pytest.mark.parametrize(
    ("text", "word"), [("", ""), ("the of", ""), ("fix the fix", "fix"), ("Redis, redis!", "redis")]
)
def test_topics(text, word):
    assert topic_slug(text) == word
