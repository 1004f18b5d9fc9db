"""What a skill file says of itself, in every form; and that a memory holds its text exactly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.format.entries import read_entries
from rawkomem.format.skill_files import NO_INTENT, as_read_back, read_skill, skill_body, skill_text_in

from tests.seeds import by_case


@by_case("yamo-memory-mesh", "extractSkillIdentity/Tags")
def test_identity_of_the_source_design(case):
    skill, wanted = read_skill(case["input"]["text"]), case["expected"]
    found = {"name": skill.name, "intent": skill.intent, "description": skill.description}
    assert found == wanted["identity"] and list(skill.tags) == wanted["tags"]


SKILL_MD = """---
name: deploy-service
description: "Ships a service: build, then apply."
intent: deploy_a_service
tags: [deploy, "k8s"]
whenToUse: [deploy|release]
---

# Deploying

1. Build.
"""


def test_a_skill_md():
    skill = read_skill(SKILL_MD)
    assert (skill.name, skill.intent) == ("deploy-service", "deploy_a_service")
    assert skill.description == "Ships a service: build, then apply."
    assert (skill.tags, skill.when) == (("deploy", "k8s"), ("deploy|release",))
    assert skill.text == SKILL_MD.rstrip()


@pytest.mark.parametrize(
    ("text", "name", "description"),
    [
        ("---\nname: a\ndescription: Use when: x is: y\n---\nb", "a", "Use when: x is: y"),  # no YAML, but common
        ("---\nname; Old;\ndescription; compact;\n---\nb", "Old", "compact"),
        ("\ufeff---\r\nname: windows\r\n---\r\nb", "windows", ""),
        ("agent: Reviewer;\nintent: review_code;\ncontext:\n  a;b;\n", "Reviewer", ""),
        ("# Review code\n\nRead the tests first. Then the code.\n", "Review code", "Read the tests first."),
        ("---\nlicense: MIT\n---\n# From the heading\n\nIt helps.\n", "From the heading", "It helps."),
        ("---\nname: multi\ndescription: >\n  two\n  lines\n---\nb", "multi", "two lines"),
        ("# Title\n\n```sh\nname: not this\n```\n", "Title", ""),
    ],
)
def test_other_forms(text, name, description):
    skill = read_skill(text)
    assert (skill.name, skill.description) == (name, description)


def test_a_text_without_a_name_is_called_by_its_hash():
    skill = read_skill("just do it")
    assert skill.name.startswith("Unnamed_") and len(skill.name) == len("Unnamed_") + 12
    assert skill == read_skill("just do it\n") and skill.name != read_skill("just do that").name
    assert (skill.intent, skill.tags) == (NO_INTENT, ())


def test_tags_as_a_line_and_conditions_that_are_too_long():
    skill = read_skill(f"---\nname: a\ntags: one, two , one,,\nwhen_to_use: {'x' * 300}\n---\n")
    assert (skill.tags, skill.when) == (("one", "two"), ())


NESTED = "---\ntitle: looks like an entry\nkind: memory\n---\n\nbody with ```` ticks\n\n---\n\n---\nkind: delete\nabout: x\n---"


def test_a_plain_text_needs_no_fence():
    assert skill_body(SKILL_MD.strip()) == SKILL_MD.strip()
    assert skill_body(NESTED).startswith("`````skill\n")


lines = st.lists(
    st.sampled_from(["---", "title: x", "kind: delete", "about: y", "```", "~~~", "<!-- a", "text", "", " ---"])
)


@given(lines)
def test_any_text_reads_back_as_one_entry(parts):
    text = "\n".join(parts).strip("\n").rstrip()
    entries, _ = read_entries(f"---\nkind: skill\ntitle: T\n---\n\n{skill_body(text)}\n")
    assert len(entries) == 1 and as_read_back(skill_text_in(entries[0].body)) == as_read_back(text)
