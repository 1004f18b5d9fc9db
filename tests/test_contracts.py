"""Contracts of the designs that rawkomem combines, where a program of theirs would notice a difference."""

import asyncio
import importlib
import json
import re
import socket
import sys
from pathlib import Path

import pytest
import yaml
from rawkomem.embed.providers import open_embedder
from rawkomem.exchange.neolata import copied_rows
from rawkomem.exchange.notes import read_front
from rawkomem.faces.cli.commands import GROUPS
from rawkomem.faces.mesh import MemoryContextManager, SyncMemoryMesh
from rawkomem.files.layout import user_config
from rawkomem.format.mesh_fields import pattern_id
from rawkomem.learn.drafts import FILED, entry_of_draft
from rawkomem.model.entries import INSTRUCTION, RULE, Entry
from rawkomem.model.errors import BadInput
from rawkomem.model.values import DAY, now, replace
from rawkomem.recall.inject import pack
from rawkomem.recall.scoring import profile_of
from rawkomem.recall.signals import Limits
from rawkomem.redaction.scrubber import scrubbed_text
from rawkomem.repository import Repository
from rawkomem.repository.settings import load_settings
from rawkomem.state.strength import score_of
from rawkomem.text.conditions import Fired

from tests.conftest import ROOT
from tests.embed.server import Server
from tests.exchange.neolata.trips import EVERYTHING
from tests.learn.llm.models import says_json
from tests.learn.traces.runs import GOALS, fill
from tests.recall.helpers import item, memory

CLAIM = {"subject": "api", "predicate": "port"}


def own_config(text: str) -> None:
    """Write the user's own settings."""
    file = Path(user_config())
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


# --- neolata -----------------------------------------------------------------------------------------------------------


def test_claims_take_booleans_and_provenance_takes_numbers(repository):
    first = repository.add("The API listens on 80.", claim={**CLAIM, "value": "80", "exclusive": False})
    second = repository.add("The API listens on 81.", claim={**CLAIM, "value": "81", "exclusive": False})
    assert [repository.get(one.id).status for one in (first, second)] == ["active", "active"]
    assert not repository.beliefs.conflicts()
    trusted = {"source": "document", "trust": 0.9, "corroboration": 2}
    made = repository.add("Traced.", extra={"provenance": trusted, "checked": True})
    assert repository.get(made.id).extra == {
        "provenance": {"source": "document", "trust": "0.9", "corroboration": "2"},
        "checked": "true",
    }


def test_prose_is_ingested_above_an_importance(repository, project):
    facts = [
        {"text": "Deploys run on Mondays.", "category": "decision", "importance": 0.9, "tags": ["deploy"]},
        {"text": "It rained.", "importance": 0.1},
    ]
    with pytest.raises(BadInput, match="no language model"):
        repository.exchange.ingest("We deploy on Mondays. It rained.")
    with Server(says_json({"facts": facts})) as server:
        own_config(f"llm: {{provider: '{server.url}', model: tiny}}\n")
        with Repository.open(str(project)) as opened:
            (stored,) = opened.exchange.ingest("We deploy on Mondays. It rained.", min_importance=0.5)
        asked = server.seen[0][2]["messages"]
    found = repository.get(stored.id)
    assert (found.body, found.importance, found.tags) == ("Deploys run on Mondays.", "high", ("deploy",))
    assert found.extra["category"] == "decision" and repository.beliefs.trust(found).source == "document"
    assert "never" in asked[0]["content"] and asked[-1]["content"].startswith("<text-")


def test_a_boost_raises_the_importance_by_itself(repository):
    ids = [repository.add(Entry(title=name, body=name, importance="low")).id for name in ("One", "Two")]
    repository.beliefs.reinforce(ids[0])
    repository.beliefs.reinforce(ids[1], boost=0.3)
    assert [round(score_of(repository.get(id)), 2) for id in ids] == [0.5, 0.7]
    with pytest.raises(BadInput, match="boost"):
        repository.beliefs.reinforce(ids[0], boost=3)


def test_the_composite_profile_packs_by_density():
    texts = {"long": "Kafka offsets are committed by hand.", "short": "Tea at four.", "other": "Lint in CI."}
    scores = {"long": 0.9, "short": 0.8, "other": 0.7}
    ranked = [item(memory(id, body=text), scores[id], fired=Fired("pattern", "x")) for id, text in texts.items()]
    costs = {"long": 90, "short": 40, "other": 40}
    limits = Limits(max_injected=3, budget=100)

    def chosen(profile: str) -> list[str]:
        packed = pack(ranked, limits, lambda one: costs[one.memory.id], by_density=profile_of(profile).by_density)
        return [one.memory.id for one in packed.items]

    assert chosen("composite") == ["short", "other"] and chosen("fit") == ["long"]


def test_search_takes_a_minimum_similarity(repository, rawkomem):
    for text in ("Kafka consumers commit offsets by hand.", "The kettle is descaled on Fridays."):
        repository.add(text)
    every = repository.search("commit kafka offsets")
    near = repository.search("commit kafka offsets", min_similarity=0.5)
    assert len(every) == 2 and [one.row.title for one in near] == [every[0].row.title]
    (answer,) = repository.search_many(["commit kafka offsets"], min_similarity=0.5)
    assert len(answer.found) == 1
    told = rawkomem.json("search", "commit kafka offsets", "--min-similarity", "0.5")
    assert len(told) == 1 and told[0]["relevance"] >= 0.5
    assert "--min-similarity" in rawkomem("search", "x", "--min-similarity", "2", check=2).stderr


def test_links_keep_the_similarity_of_a_dump():
    head = "COPY public.memory_links (source_id, target_id, similarity) FROM stdin;\n"
    ((_, row),) = copied_rows([head, "a\tb\t0.83\n", "\\.\n"])
    assert row["similarity"] == 0.83


def test_links_keep_the_similarity_of_rows(repository, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    ids = [f"mem_1772000000000_00000{number}" for number in (1, 2)]
    rows = [{"id": id, "agent_id": "kuro", "content": f"Fact {id}", "category": "fact"} for id in ids]
    links = [{"source_id": ids[0], "target_id": ids[1], "similarity": 0.83}]
    (folder / "export.json").write_text(json.dumps({"memories": rows, "memory_links": links}))
    repository.exchange.import_from(str(folder / "export.json"))
    repository.exchange.export_folder(str(folder / "out"), "neolata", EVERYTHING)
    graph = json.loads((folder / "out" / "graph.json").read_text())
    assert [one["links"][0]["similarity"] for one in graph] == [0.83, 0.83]


def test_decay_fades_and_its_counts_add_up(repository, rawkomem):
    for number in range(6):
        text = f"Fact {number} about service S{number}: it listens on port {8000 + number}."
        repository.add(Entry(title=f"Service S{number}", body=text, at=now() - 150 * DAY))
    kept = rawkomem.json("tidy", "prune")
    states = ("healthy", "weakening", "faded_but_kept", "archived")
    assert [kept[name] for name in ("total", *states)] == [6, 0, 0, 6, 0]
    gone = rawkomem.json("decay", "--unique")
    assert [gone[name] for name in ("total", *states)] == [6, 0, 0, 0, 6]
    repository.lifecycle.prune(unique=True)
    assert repository.list() == [] and len(repository.list(include="archived")) == 6


# --- RFC-0011 ----------------------------------------------------------------------------------------------------------

LESSON = {
    "situation": "A release without a tag", "errorPattern": "missing_tag", "oversight": "Nobody looked",
    "fix": "Tag first", "preventativeRule": "Tag before you build", "severity": "high", "applicableScope": "release",
    "confidence": 0.8,
}  # fmt: skip


@pytest.mark.parametrize("text", [
    "Do not\n\nrestart the broker", "# Never\n\nrestart the broker at night", "Stop\n\nusing pip for releases",
    "Do not\n\nstop the first one\n\nDo not\n\nstop the second one", "Refuse\n\nforce pushes to main",
    "Do NOT\n\nrestart", "Nein\n\nniemals am Freitag neu starten",
    "It is wrong that\n\nthe cache is shared.\n\nIt is wrong that\n\nthe queue is ordered.",
])  # fmt: skip
def test_layer_0_never_inverts_a_sentence(text):
    assert scrubbed_text(text) == text


def test_lessons_carry_their_rule_in_the_metadata(project):
    mesh = SyncMemoryMesh(dbDir=str(project))
    block = mesh.distill_lesson(LESSON)
    (record,) = mesh.get_memories_by_pattern(pattern_id("missing_tag", "release"))
    told = {key: record.metadata[key] for key in ("rule_confidence", "severity", "preventative_rule")}
    assert told == {"rule_confidence": 0.8, "severity": "high", "preventative_rule": "Tag before you build"}
    assert "#lesson_learned" in record.metadata["tags"] and block.pattern_id == record.metadata["lesson_pattern_id"]
    mesh.close()


def test_a_distilled_lesson_has_the_severity_of_the_failure(project):
    failure = {
        "status": "error",
        "error_pattern": "tagless",
        "preventative_rule": "Tag before you build",
        "severity": "critical",
    }
    mesh = SyncMemoryMesh(dbDir=str(project))
    mesh.add("Build failed because the tag was missing.", failure)
    mesh.close()
    mesh = SyncMemoryMesh(dbDir=str(project), enableWisdomDistillation=True)
    assert [lesson.severity for lesson in mesh.query_lessons("tag before a build")] == ["critical"]
    mesh.close()


def test_a_prompt_shows_whole_dates(project):
    manager = MemoryContextManager(dbDir=str(project))
    record = manager.mesh.sync.add("Deploys run on Mondays.")
    assert f"({record.created_at[:10]})" in manager.format_memories_for_prompt([record])
    asyncio.run(manager.mesh.close())


def test_skills_are_no_memories(project):
    mesh = SyncMemoryMesh(dbDir=str(project))
    mesh.add("The kettle is descaled on Fridays.")
    mesh.ingest_skill("name: Descale\nintent: descale the kettle\n\nPour vinegar into the kettle, wait, rinse.")
    assert mesh.stats().count == len(mesh.get_all()) == len(mesh.search("descale the kettle")) == 1
    assert len(mesh.list_skills()) == mesh.stats().total_skills == 1
    mesh.close()


def test_reflect_finds_the_words_of_its_topic(project):
    mesh = SyncMemoryMesh(dbDir=str(project))
    mesh.add("The quarterly report of the harbour office is written in Word, and Zanzibar signs it.")
    assert mesh.reflect(topic="zanzibar").source_memory_count == 1
    mesh.close()


# --- LLMos -------------------------------------------------------------------------------------------------------------


def test_earlier_runs_are_found_after_consolidation(project, repository, rawkomem, monkeypatch):
    monkeypatch.setenv("RAWKOMEM_NOW", "2026-06-01T12:00:00Z")
    fill(project, 6, goals=GOALS[:1])
    rawkomem("tidy", "consolidate", "--apply")
    assert not list((project / ".rawko" / "traces").rglob("*.md"))
    (first, *_) = repository.traces.search(GOALS[0])
    assert first.goal == GOALS[0] and first.similarity > 0.6
    told = rawkomem.json("trace", "search", *GOALS[0].split())
    assert len(told) == 3 and told[0].keys() >= {
        "goal", "similarity", "suggested_approach", "tools_used", "success", "trace_id"
    }  # fmt: skip
    assert GOALS[0] in rawkomem("trace", "search", GOALS[0], "-n", "1").stdout
    assert "no earlier task" in rawkomem("trace", "search", GOALS[0], "--until", "2020-01-01").stderr
    assert "no earlier task" in rawkomem("trace", "search", "zzz qqq", "--min-similarity", "0.99").stderr


def test_a_brief_lists_steps_without_marks(repository):
    repository.traces.add("Log in to the shop", learnings=("Open the page", "Logging in"))
    text = repository.traces.brief("log in to the shop").text
    assert "Logging in" in text and "; - " not in text and ": - " not in text


# --- Memory Lane -------------------------------------------------------------------------------------------------------


def test_a_type_and_entities_are_given_to_a_memory(repository, rawkomem):
    rawkomem("add", "Tea at four.", "--type", "commitment", "--entity", "Ada", "--entity", "kitchen")
    (row,) = repository.list(type="commitment", entity="Ada")
    assert repository.get(row.id).extra == {"type": "commitment", "entities": ["Ada", "kitchen"]}
    rawkomem("amend", row.id, "--type", "decision", "--entity", "project:shop")
    assert repository.get(row.id).extra == {"type": "decision", "entities": ["project:shop"]}
    assert "'--type'" in rawkomem("add", "Something else.", "--type", "nonsense", check=2).stderr


def test_a_rule_of_a_person_is_a_commitment(repository):
    (draft,) = repository.learning.learn("User: from now on we use uv for releases, never pip.").drafts
    assert entry_of_draft(draft).extra["type"] in ("commitment", "correction", "decision")
    assert {FILED[kind].type for kind in (RULE, INSTRUCTION)} == {"commitment"}


# --- the card ----------------------------------------------------------------------------------------------------------


def test_notes_are_read_with_python_frontmatter(monkeypatch):
    assert read_front("---\ntitle: One\n---\nText\n").fields == {"title": "One"}
    monkeypatch.setitem(sys.modules, "frontmatter", None)
    name = "rawkomem.exchange.notes"
    monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError):
        importlib.import_module(name)


def test_the_watcher_is_easy_to_see(rawkomem):
    assert "rawkomem index watch" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "index" in GROUPS["Maintain"][0] and "watch" in rawkomem("--help").stdout


def test_hooks_of_pre_commit_show_what_they_propose():
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hooks and all(hook.get("verbose") for hook in hooks)


def test_a_leftover_address_of_an_embedder_contacts_nobody(repository, monkeypatch):
    monkeypatch.delenv("RAWKOMEM_EMBEDDER")
    own_config("embedder: {provider: openai, url: 'http://127.0.0.1:9/v1', model: small}\n")
    warnings: list[str] = []
    settings = load_settings(repository.layout, warnings.append)
    assert settings.embedder.provider == "auto"
    assert "embedder.url" in warnings[0] and "embedder.provider" in warnings[0] and "not used" in warnings[0]


def test_a_dead_address_of_an_embedder_contacts_nobody_else(repository, monkeypatch):
    contacted: list[object] = []
    looked_up = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *more, **named: (
        contacted.append(host), looked_up(host, *more, **named))[1])  # fmt: skip
    monkeypatch.setenv("RAWKOMEM_EMBEDDER", "http://127.0.0.1:9/v1")
    settings = replace(load_settings(repository.layout, print).embedder, model="small")
    warnings: list[str] = []
    found = open_embedder(settings, warnings.append)
    assert "127.0.0.1" in warnings[0] and found.name.startswith("static") and set(contacted) <= {"127.0.0.1"}


# --- the pages that list all promises ----------------------------------------------------------------------------------

VERDICTS = ("equal", "other name", "better", "not")
ROW = re.compile(r"^\| ([^|]+) \| `([\w/]+\.py)::(\w+)` \|$", re.MULTILINE)


def test_the_pages_of_promises_name_tests_that_exist_and_count_right():
    page, kept = ((ROOT / path).read_text(encoding="utf-8") for path in ("docs/conformity.md", "tests/promises.md"))
    parts = page.split("\n## ")[1:] + kept.split("\n## ")[1:]
    sections = {part.partition("\n")[0].lower(): ROW.findall(part) for part in parts}
    assert sorted(sections) == sorted(VERDICTS)
    rows = [row for section in sections.values() for row in section]
    assert len(rows) == 116 + 80 == len({promise for promise, _, _ in rows})
    for promise, file, test in rows:
        assert f"def {test}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), promise
    counts = ", ".join(f"{len(sections[verdict])} {verdict}" for verdict in VERDICTS)
    assert counts in page
