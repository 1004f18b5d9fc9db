"""Digests: a source is archived only if the digest says all that it says, about the same subject."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.model.entries import Memory
from rawkomem.state.digests import (
    MAX_WORDS,
    Digesting,
    digest_text,
    plan_archive_sources,
    plan_digests,
    uncovered_part,
    without_contradicting,
)
from rawkomem.text.prose import sentences

from tests.state.lifecycle.lives import census_of, said, similar, turned


def memories(*texts: tuple[str, str]) -> list:
    census = census_of(*(said(f"m{n:02}", 40, title=title, body=body) for n, (title, body) in enumerate(texts)))
    return [census.memories[id] for id in sorted(census.memories)]


def missing_in_digest(given) -> dict[str, str]:
    digest = Memory("digest", body=digest_text(given))
    return {memory.id: part for memory in given if (part := uncovered_part(memory, digest))}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Deploys take 30 minutes on staging and 60 on production.", "Deploys take 60 minutes on staging and 30 on production."),
        ("The release script pushes tags to the mirror.", "The release script never pushes tags to the mirror."),
        ("The release script pushes tags.", "The release script pushes tags only when the tests pass."),
        ("The login service keeps the sessions of users in redis.", "The login service keeps the sessions of users in valkey."),
        ("Jobs of the nightly queue retry two times.", "Jobs of the nightly queue retry twenty times."),
        ("The module `a.py` imports names of `b.py` first.", "The module `b.py` imports names of `a.py` first."),
    ],
)  # fmt: skip
def test_sentences_that_differ_in_a_fact_are_both_said(one, other):
    given = memories(("Rules", one), ("Rules", other))
    text = digest_text(given)
    assert one in text and other in text and not missing_in_digest(given)


def test_the_title_is_the_subject():
    text = digest_text(memories(("Staging", "The timeout is 30 s."), ("Production", "The timeout is 30 s.")))
    assert text == "## Staging\n\nThe timeout is 30 s.\n\n## Production\n\nThe timeout is 30 s."


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ("The timeout is set here.\n\n```\nproxy_read_timeout 45s;\n```", "proxy_read_timeout 45s;"),
        ("Timeouts differ.\n\n| server | seconds |\n|---|---|\n| web | 45 |", "| server | seconds |"),
        ("## Staging\n\nThe timeout is 30 s.\n\n## Production\n\nThe timeout is 60 s.", "## Staging"),
    ],
)
def test_code_tables_and_headings_keep_their_memory_active(body, part):
    given = memories(("Web", body), ("Api", "The api answers."), ("Mail", "- The mail server waits."))
    assert missing_in_digest(given) == {"m00": part}


def test_a_heading_that_leads_to_a_list_is_said_with_each_item():
    given = memories(("Git", "## Do not\n\n- force a push\n- skip hooks"), ("Editor", "Use spaces."))
    assert "Do not: force a push; skip hooks" in digest_text(given) and not missing_in_digest(given)


def test_what_does_not_fit_stays_active():
    long = [
        (f"Part {n}", " ".join(f"Setting {n}.{k} of part {n} has the value {k * 7}." for k in range(9)))
        for n in range(12)
    ]
    given = memories(*long)
    assert 0 < len(missing_in_digest(given)) < len(given)
    assert len(digest_text(given).split()) < MAX_WORDS + 5 * len(given)


def test_memories_that_contradict_each_other_do_not_meet_in_a_digest():
    port = "The billing service listens on port {}."
    given = memories(("Port", port.format(8080)), ("Port", port.format(9090)), ("Host", "Billing runs on host b1."))
    assert [memory.title for memory in without_contradicting(given)] == ["Host"]


WORDS = st.sampled_from(["nginx", "redis", "postgres", "kafka", "worker", "gateway", "billing", "search"])
SUBJECTS = st.builds("the {} {}".format, WORDS, st.sampled_from(["timeout", "cache", "queue", "Proxy", "read_limit"]))
NUMBERS = st.builds(
    "{} {}".format, st.sampled_from([1, 2, 3, 30, 60, 300, "1.2", "v2.1"]), st.sampled_from(["s", "MB", "days"])
)
NAMES = st.sampled_from(["Anna", "`run_all`", "src/app.py", "Frankfurt", "API_KEY"])
FACTS = st.one_of(
    st.tuples(SUBJECTS, NUMBERS).map(lambda fact: (*fact, "{} is {}")),
    st.tuples(SUBJECTS, NAMES).map(lambda fact: (*fact, "{} belongs to {}")),
    st.tuples(SUBJECTS, NAMES).map(lambda fact: (*fact, "{} never uses {}")),
    st.tuples(SUBJECTS, NUMBERS).map(lambda fact: (*fact, "{} does not wait for {}")),
)
SOURCES = st.lists(st.lists(FACTS, min_size=1, max_size=14), min_size=3, max_size=9)


@given(SOURCES)
def test_every_fact_of_an_archived_source_is_in_the_digest(sources):
    texts = {
        f"m{n:02}": [form.format(subject, value).replace("the", "The", 1) + "." for subject, value, form in facts]
        for n, facts in enumerate(sources)
    }
    census = census_of(*(said(id, 40, title="Notes on servers", body=" ".join(some)) for id, some in texts.items()))
    vectors = {id: turned(("x", 1), (id, 0.4)) for id in texts}
    plan = plan_digests(census, similar(vectors).pairs, Digesting())
    archive = plan_archive_sources(census.after(plan)).plan
    digests = [entry for entry in plan.entries if entry.creates]
    told = [sentence for entry in digests for sentence in sentences(entry.body)]
    archived = {entry.about for entry in archive.entries}
    for id in archived:
        assert all(text in told for text in texts[id])
    taken = {id for entry in digests for id in entry.extra["derivedFrom"]}
    assert taken - archived == set(plan_archive_sources(census.after(plan).after(archive)).staying)
    assert not plan_archive_sources(census.after(plan).after(archive)).plan.entries
