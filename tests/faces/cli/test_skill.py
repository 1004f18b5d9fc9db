"""The commands about skills, proposals and reflections, as people and programs run them."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from rawkomem.model.entries import Entry
from rawkomem.model.user_settings import LEARNING_GUARD

from tests.commands import START
from tests.embed.server import Server
from tests.learn.llm.models import refuses, says_json
from tests.learn.skills.test_synthesize import LEARNING
from tests.terminals import converse, scrubbed

SKILL = "---\nname: deploy-service\ndescription: Ships a service to production.\n---\n\n1. Build.\n2. Apply.\n"


def said(result):
    return json.loads(result.stdout)


@pytest.fixture
def skill(rawkomem, project) -> str:
    """The id of a skill that was taken in."""
    (project / "SKILL.md").write_text(SKILL)
    return said(rawkomem("skill", "add", "SKILL.md", "--json"))["id"]


def test_a_skill_from_file_folder_and_stdin(rawkomem, project, skill):
    assert "known  deploy-service" in rawkomem("skill", "add", ".").stdout
    assert said(rawkomem("skill", "add", "-", "--json", input=SKILL))["outcome"] == "known"
    changed = said(rawkomem("skill", "add", "-", "--json", input=SKILL + "3. Watch.\n"))
    assert (changed["outcome"], changed["id"]) == ("amended", skill)
    assert "added  Bake" in rawkomem("skill", "add", "-", input="# Bake\n\nMix.").stdout
    assert "cannot read nowhere.md: No such file" in rawkomem("skill", "add", "nowhere.md", check=2).stderr
    (project / "binary.md").write_bytes(b"\xff\xfe\x00")
    assert "is not UTF-8 text" in rawkomem("skill", "add", "binary.md", check=2).stderr


def test_many_at_once_take_a_skill_in_once(rawkomem, memories):
    with ThreadPoolExecutor(2) as pool:
        taken = [
            said(result)
            for result in pool.map(lambda _: rawkomem.process("skill", "add", "-", "--json", input=SKILL), range(2))
        ]
    assert sorted(item["outcome"] for item in taken) == ["added", "known"]
    assert len({item["id"] for item in taken}) == 1
    assert (memories / "skills" / "deploy-service.md").read_text().count("kind: skill") == 1


def test_list_search_and_show(rawkomem, skill):
    (listed,) = said(rawkomem("skill", "list", "--json"))
    assert (listed["id"], listed["reliability"], listed["use_count"]) == (skill, 0.5, 0)
    assert (listed["name"], listed["intent"]) == ("deploy-service", "general_procedure")
    (found,) = said(rawkomem("skill", "list", "ship", "a", "service", "--json"))
    assert found["score"] == pytest.approx(sum(part["amount"] for part in found["parts"]), abs=1e-3)
    told = rawkomem("skill", "list", "ship a service", "--explain").stdout
    assert "keywords: ship in description; service in name, description" in told and "meaning: cosine" in told
    assert rawkomem("skill", "list", "Name: deploy-service").stdout.startswith("1.00  deploy-service")
    assert "no skill matches" in rawkomem("skill", "list", "quantum chromodynamics").stderr
    shown = said(rawkomem("skill", "show", "deploy-service", "--json"))
    assert shown["text"] == SKILL.strip() and 0 < shown["trust"] < 1
    assert "2. Apply." in rawkomem("skill", "show", skill).stdout


def test_feedback_and_prune(rawkomem, skill):
    assert "the outcome is missing" in rawkomem("skill", "feedback", skill, check=2).stderr
    rated = said(rawkomem("skill", "feedback", skill, "--success", "--json"))
    assert (rated["id"], rated["reliability"], rated["use_count"]) == (skill, 0.6, 1)
    for _ in range(2):
        rawkomem("skill", "feedback", skill, "--failure", "--reason", "it broke")
    trial = said(rawkomem("skill", "prune", "--dry-run", "--json"))
    assert (trial["pruned_count"], trial["total_remaining"], trial["ids"]) == (1, 0, [skill])
    assert "would archive  deploy-service" in rawkomem("skill", "prune", "--dry-run").stdout
    assert "archived  deploy-service" in rawkomem("skill", "prune").stdout
    assert said(rawkomem("skill", "prune", "--json"))["pruned_count"] == 0
    assert "is no reliability" in rawkomem("skill", "prune", "--threshold", "3", check=2).stderr
    assert rawkomem("skill", "list").stdout == ""
    assert f"'rawkomem restore {skill}' brings it back" in rawkomem("skill", "add", "SKILL.md").stderr


def test_an_agent_exports_no_skill_that_nobody_vouches_for(rawkomem, project, skill, git):
    told = rawkomem("skill", "export", skill, ".agents/skills", check=1).stderr
    assert "no person vouches for the skill" in told and f"'rawkomem review {skill} --activate'" in told
    assert not (project / ".agents").exists()
    git.commit()
    assert "exported" in rawkomem("skill", "export", skill, ".agents/skills").stdout


def test_a_person_sees_the_skill_before_it_is_exported(rawkomem, project, skill, terminal, own_home):
    words = [*START, "skill", "export", skill, ".agents/skills"]
    told = converse(terminal, words, [(r"Export it\?", "n\n")], project, scrubbed(NO_COLOR="1"))
    assert "2. Apply." in told and not (project / ".agents").exists()
    converse(terminal, words, [(r"Export it\?", "y\n")], project, scrubbed(NO_COLOR="1"))
    assert (project / ".agents" / "skills" / "deploy-service" / "SKILL.md").exists()


def test_export(rawkomem, project, skill, git):
    git.commit()
    assert "exported" in rawkomem("skill", "export", skill, ".agents/skills").stdout
    file = project / ".agents" / "skills" / "deploy-service" / "SKILL.md"
    assert file.read_text().startswith("---\nname: deploy-service\ndescription: Ships a service to production.\n")
    assert not said(rawkomem("skill", "export", skill, ".agents/skills", "--json"))["changed"]
    file.write_text("mine")
    assert "was not written by rawkomem" in rawkomem("skill", "export", skill, ".agents/skills", check=1).stderr
    assert file.read_text() == "mine"
    assert said(rawkomem("skill", "add", str(file.parent), "--json"))["outcome"] == "added"  # the way back


def test_synthesize(rawkomem, repository):
    empty = said(rawkomem("synthesize", "--json"))
    assert (empty["status"], empty["skill_id"], empty["others"]) == ("empty", "", [])
    repository.add(Entry(kind="learning", title="Learning: Caching", body=LEARNING), via="person")
    assert "would propose  Caching" in rawkomem("synthesize", "--dry-run").stdout
    made = said(rawkomem("synthesize", "--json"))
    assert set(made) == {"schema", "status", "analysis", "skill_id", "skill_name", "yamo_text", "others"}
    assert made["status"] == "success" and made["yamo_text"].startswith("agent: Caching;\nintent: Caching;\n")
    assert "unchanged  Caching" in rawkomem("synthesize").stdout
    assert (
        "Caching [quarantined]" in rawkomem("skill", "list").stdout
        and "no skill matches" in rawkomem("skill", "list", "caching").stderr
    )
    rawkomem("review", made["skill_id"], "--activate")
    assert "Caching" in rawkomem("skill", "list", "caching").stdout


def test_reflect(rawkomem, repository):
    assert "no memories to reflect on" in rawkomem("reflect").stderr
    repository.add(Entry(title="Redis cache", body="The API caches results in Redis."))
    assert said(rawkomem("reflect", "--topic", "caching results", "--json"))["count"] == 1
    assert "<memory-" in rawkomem("reflect", "--lookback", "1").stdout
    assert "cannot look back at" in rawkomem("reflect", "--lookback", "0", check=2).stderr
    assert "no language model is configured" in rawkomem("reflect", "--llm", check=2).stderr


def test_reflect_with_the_model_of_the_users_config(rawkomem, repository, tmp_path):
    repository.add(Entry(title="Redis cache", body="The API caches results in Redis."))
    config = tmp_path / "config" / "rawkomem" / "config.yaml"
    config.parent.mkdir(parents=True)
    with Server(says_json({"reflection": "All of it is cached.", "confidence": 0.9}), refuses(403)) as server:
        config.write_text(f"llm:\n  provider: {server.url}\n  model: tiny\n")
        env = {"XDG_CONFIG_HOME": str(config.parent.parent), LEARNING_GUARD: ""}
        made = rawkomem("reflect", "--llm", env=env)
        assert made.stdout == "All of it is cached.\n" and "confidence 0.90, 1 memories, reflection_" in made.stderr
        failed = rawkomem("reflect", "--llm", "--topic", "Redis results", "--json", env=env)
        assert set(said(failed)) == {"schema", "topic", "count", "context", "prompt"}
        assert "continuing without a model" in failed.stderr
