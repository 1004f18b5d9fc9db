"""MemoryMesh: the API of RFC-0011 §4, its loop of §10, and each MUST of the RFC by its section."""

import asyncio
import inspect
import json
import os
import re
import subprocess
import sys
import threading

import pytest
from rawkomem.faces.mesh.api import MemoryMesh, SyncMemoryMesh
from rawkomem.faces.mesh.records import HeritageChain, LessonContext, checked_metadata, our_name
from rawkomem.format.yamo import read_yamo_block
from rawkomem.model.errors import BadInput, NotFound, Refused

from tests.conftest import ROOT
from tests.faces.mesh.conftest import LESSON, SKILL
from tests.faces.mesh.test_scrubbed import listen
from tests.seeds import by_case

API = """init close add ingest get get_all delete search reflect synthesize distill_lesson query_lessons insert_heritage
get_memories_by_pattern ingest_skill search_skills list_skills update_skill_reliability prune_skills stats"""
PLAIN = ("clear_cache", "get_cache_stats", "format_results")


def test_the_whole_api_is_there():
    """§4.1: the methods to await, three that are not, and the same without await."""
    assert all(inspect.iscoroutinefunction(getattr(MemoryMesh, name)) for name in API.split())
    assert not any(inspect.iscoroutinefunction(getattr(MemoryMesh, name)) for name in PLAIN)
    for name in (*API.split(), *PLAIN):
        ours = inspect.signature(getattr(SyncMemoryMesh, name))
        assert list(ours.parameters) == list(inspect.signature(getattr(MemoryMesh, name)).parameters)


def test_the_agent_loop_of_section_10(project):
    """§10: lessons before acting, memories, the task, what it taught, and what went wrong."""

    async def loop() -> None:
        mesh = MemoryMesh(agentId="MyAgent", enableYamo=True, dbDir=str(project))
        await mesh.init()
        request = "release the login"
        assert await mesh.query_lessons(request, limit=5) == []
        await mesh.add(
            "The login service is released on Mondays",
            {
                "type": "event",
                "source": "MyAgent",
                "rationale": "asked",
                "hypothesis": "saves a call",
                "session_id": "s1",
            },
        )
        await mesh.distill_lesson(LESSON)
        constraints = [lesson.preventative_rule for lesson in await mesh.query_lessons(request, limit=5)]
        assert constraints == [LESSON["preventativeRule"]]
        found = await mesh.search(request, limit=10)
        (event,) = (item for item in found if item.metadata["type"] == "event")
        assert event.metadata["session_id"] == "s1" and event.metadata["source"] == "MyAgent"
        assert max(item.score for item in found) == 1.0
        await mesh.close()

    asyncio.run(loop())


def test_a_record_comes_back_as_it_went_in(mesh):
    """§4.2: content and metadata, numbers and all."""
    metadata = {
        "type": "event",
        "source": "ci",
        "tags": ["a", "b"],
        "run": 7,
        "nested": {"ok": True, "list": [1, None]},
    }
    record = mesh.add("# A heading\n\nText; with `code`.", metadata)
    again = mesh.get(record.id)
    assert again == record and again.content == "# A heading\n\nText; with `code`."
    assert {key: again.metadata[key] for key in metadata} == metadata
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", again.created_at)


def test_add_says_nothing_twice(mesh):
    one = mesh.add("Deployments run at most 60 minutes", {"type": "event"})
    assert mesh.ingest("Deployments run at most 60 minutes").id == one.id
    assert mesh.add("Deployments run at most 600 minutes").id != one.id
    assert len(mesh.get_all()) == 2 == len({record.id for record in mesh.get_all(limit=5)})


def test_what_belongs_elsewhere_is_not_the_same(mesh, project):
    """A text in another session, of another type or by another agent is a memory of its own, with its own metadata."""
    text = "Deployments run at most 60 minutes"
    first = mesh.add(text, {"type": "event", "session_id": "s1"})
    second = mesh.add(text, {"type": "event", "session_id": "s2", "rationale": "said again"})
    assert second.id != first.id and second.metadata["rationale"] == "said again"
    assert mesh.add(text, {"type": "decision", "session_id": "s2"}).metadata["type"] == "decision"
    assert mesh.add(text).id not in (first.id, second.id)
    other = SyncMemoryMesh(db_dir=str(project), agent_id="Other")
    assert other.add(text, {"type": "event", "session_id": "s1"}).metadata["agent_id"] == "Other"
    other.close()
    assert len(mesh.get_all()) == 5
    assert mesh.add(text, {"session_id": "s2", "type": "event"}).id == second.id and len(mesh.get_all()) == 5


def test_many_that_say_the_same_at_once_write_it_once(mesh, project):
    mesh.add("Something else, so that there is an index")
    code = (
        "import sys; from rawkomem.faces.mesh import SyncMemoryMesh; mesh = SyncMemoryMesh(db_dir=sys.argv[1]);"
        "print(mesh.add('The nightly build starts at two').id)"
    )
    command = [sys.executable, "-c", code, str(project)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) for _ in range(2)]
    assert len({process.communicate(timeout=120)[0] for process in running}) == 1
    assert len(mesh.get_all()) == 2


def test_get_and_delete(mesh):
    """§4.1, Backwards Compatibility: delete() MUST be implemented."""
    record = mesh.add("To be deleted")
    mesh.delete(record.id)
    assert mesh.get(record.id) is None and mesh.get("mem_") is None and mesh.search("deleted") == []
    with pytest.raises(NotFound, match="Record not found"):
        mesh.delete(record.id)


@pytest.mark.parametrize("content", ["", "   ", None, 7, "x" * 100_001])
def test_content_is_checked(mesh, content):
    with pytest.raises(BadInput, match="content"):
        mesh.add(content)


@pytest.mark.parametrize("key", ["__proto__", "constructor", "prototype"])
def test_forbidden_metadata_is_rejected(mesh, key):
    """Security Considerations: `_validateMetadata()` MUST reject these keys, however deep."""
    for metadata in ({key: 1}, {"a": {key: 1}}, {"a": [{key: 1}]}):
        with pytest.raises(BadInput, match=key):
            mesh.add("text", metadata)
        with pytest.raises(BadInput, match=key):
            mesh.ingest_skill(SKILL, metadata)
    assert mesh.get_all() == [] and mesh.list_skills() == []


@by_case("yamo-memory-mesh", "_validateMetadata")
def test_seed_cases_of_metadata(case):
    with pytest.raises(BadInput):
        checked_metadata(case["input"]["metadata"])


def test_models_are_not_loaded_at_construction(mesh):
    """§7.3: embedding models MUST NOT be loaded before the first embed."""
    mesh.init()
    assert mesh.repository.core.index._embedder is None
    mesh.add("now")
    assert mesh.repository.core.index._embedder is not None


def test_lessons_are_idempotent(mesh):
    """§8.3: the same pattern with equal or higher confidence MUST give the existing lesson."""
    one = mesh.distill_lesson(LESSON)
    assert mesh.distill_lesson({**LESSON, "confidence": 0.7}) == one == mesh.distill_lesson(LESSON)
    better = mesh.distill_lesson({**LESSON, "confidence": 0.9})
    assert better.lesson_id != one.lesson_id and better.pattern_id == one.pattern_id
    assert [lesson.lesson_id for lesson in mesh.query_lessons()] == [better.lesson_id]


def test_a_lesson_is_tagged_and_wired(mesh):
    """§3.5: the tag #lesson_learned MUST be there; §8.3: memory_type lesson, and the block's handoff."""
    lesson = mesh.distill_lesson(LESSON)
    record = mesh.get(lesson.memory_id)
    assert "#lesson_learned" in record.metadata["tags"] and record.metadata["memory_type"] == "lesson"
    block, problems = read_yamo_block(lesson.wire_format)
    assert not problems and block.handoff == "SubconsciousReflector"
    assert block.value("context", "error_pattern") == lesson.pattern_id
    assert [found.id for found in mesh.get_memories_by_pattern(lesson.pattern_id)] == [lesson.lesson_id]


def test_an_unsure_lesson_is_not_handed_out(project):
    """Security Considerations: rule_confidence SHOULD be at least lessonMinConfidence."""
    mesh = SyncMemoryMesh(db_dir=str(project), lessonMinConfidence=0.9)
    mesh.distill_lesson(LESSON)
    assert mesh.query_lessons() == []
    mesh.close()


def test_what_is_missing_in_a_lesson_is_told(mesh):
    with pytest.raises(BadInput, match=r"LessonContext: .*'fix'"):
        mesh.distill_lesson({key: value for key, value in LESSON.items() if key != "fix"})
    named = {our_name(key): value for key, value in LESSON.items()}
    assert mesh.distill_lesson(LessonContext(**named)).severity == "high"


def test_heritage(mesh, rawkomem):
    """§4.1 insertHeritage; at most maxHeritageDepth levels."""
    record = mesh.add("Derived from much")
    mesh.insert_heritage(record.id, {"intentChain": [f"i{n}" for n in range(8)], "hypotheses": ["h"], "rationales": []})
    shown = rawkomem.json("show", record.id)
    assert "i3" in json.dumps(shown) and "i7" in json.dumps(shown) and "i2" not in json.dumps(shown)
    mesh.insert_heritage(record.id, HeritageChain(intent_chain=("only",)))
    chain = mesh.get(record.id).metadata["heritage_chain"]
    assert chain == {"intentChain": ["only"], "hypotheses": [], "rationales": []}


@pytest.mark.parametrize(("depth", "kept"), [(1, ["i7"]), (9, ["i3", "i4", "i5", "i6", "i7"])])
def test_how_deep_a_heritage_is_kept(project, depth, kept):
    mesh = SyncMemoryMesh(db_dir=str(project), maxHeritageDepth=depth)
    record = mesh.add("Derived from much")
    mesh.insert_heritage(record.id, {"intentChain": [f"i{n}" for n in range(8)]})
    assert mesh.get(record.id).metadata["heritage_chain"]["intentChain"] == kept
    mesh.close()
    with pytest.raises(BadInput, match="max_heritage_depth is 0"):
        SyncMemoryMesh(db_dir=str(project), maxHeritageDepth=0)


def test_skills(mesh):
    """§5.3, §2.4."""
    skill = mesh.ingest_skill(SKILL, {"type": "ops"}, "rotate.yamo")
    assert (skill.name, skill.intent) == ("Rotate keys", "rotate the signing keys of the API")
    assert skill.metadata["reliability"] == 0.5 and mesh.ingest_skill(SKILL) == skill
    assert mesh.search_skills("Name: Rotate keys")[0].score == 1.0
    update = mesh.update_skill_reliability(skill.id, True)
    assert (update.reliability, update.use_count) == (0.6, 1)
    (listed,) = mesh.list_skills()
    assert (listed.reliability, listed.metadata["type"], listed.metadata["use_count"]) == (0.6, "ops", 1)
    pruned = mesh.prune_skills(0.7)
    assert (pruned.pruned_count, pruned.total_remaining) == (1, 0)


def test_skill_directories(project, tmp_path):
    (tmp_path / "rotate.yamo").write_text(SKILL, "utf-8")
    (tmp_path / "notes.txt").write_text("no skill", "utf-8")
    mesh = SyncMemoryMesh(db_dir=str(project), skill_directories=[str(tmp_path)])
    mesh.init()
    assert [skill.name for skill in mesh.list_skills()] == ["Rotate keys"]
    mesh.close()


def test_reflect_and_synthesize_without_a_model(mesh):
    mesh.add("Redis listens on port 6380")
    made = mesh.reflect(topic="redis")
    assert (made.topic, made.source_memory_count, made.id, made.reflection) == ("redis", 1, "", "")
    assert "port 6380" in made.context and made.context in made.prompt
    assert mesh.synthesize().status == "empty"


def test_the_cache(mesh):
    """§5.1: answers are kept, and forgotten on every write."""
    mesh.add("Redis listens on port 6380")
    mesh.search("redis")
    mesh.search("redis")
    assert mesh.get_cache_stats().size == 1 and mesh.get_cache_stats().max_size == 500
    assert mesh.get_cache_stats().ttl_ms == 300_000
    mesh.clear_cache()
    assert mesh.get_cache_stats().size == 0
    mesh.search("redis")
    kept = mesh.get_cache_stats().size
    assert len(mesh.search("redis", useCache=False)) == 1
    assert mesh.get_cache_stats().size == kept  # that asks past the cache, and leaves it alone
    mesh.add("Redis evicts old keys")
    assert len(mesh.search("redis")) == 2


def test_filters(mesh):
    """§4.2 filter; CLI Injection: it is parsed, never passed through."""
    mesh.add("Redis listens on port 6380", {"session_id": "s1"})
    mesh.add("Redis evicts old keys")
    assert len(mesh.search("redis", filter="session_id = 's1'")) == 1
    with pytest.raises(BadInput, match="the filter is not understood"):
        mesh.search("redis", filter="session_id = 's1'; DROP TABLE x")


# Opening and closing a mesh: as often as one likes, from any state; half an `init` is none
def no_thread_is_left() -> bool:
    left = [thread for thread in threading.enumerate() if thread.name.startswith("memory-mesh")]
    for thread in left:
        thread.join(10)
    return not any(thread.is_alive() for thread in left)


def test_closed_and_opened_again(project):
    async def live() -> None:
        mesh = MemoryMesh(db_dir=str(project))
        await mesh.close()  # never opened
        await mesh.init()
        await mesh.close()
        await mesh.close()
        assert no_thread_is_left()
        await mesh.add("After the first close")
        await mesh.close()
        await mesh.init()
        assert len(await mesh.search("close")) == 1
        await mesh.close()

    asyncio.run(live())


def test_closing_waits_for_what_was_asked_before(project):
    async def live() -> None:
        mesh = MemoryMesh(db_dir=str(project))
        adding = [asyncio.ensure_future(mesh.add(f"Service {name} listens")) for name in ("alpha", "beta", "gamma")]
        await asyncio.sleep(0)  # they are under way
        closing = asyncio.ensure_future(mesh.close())
        later = await mesh.search("service")  # asked after the close: opens it again, whenever that is done
        await closing
        assert len({record.id for record in await asyncio.gather(*adding)}) == 3 and len(later) <= 3
        assert (await mesh.stats()).count == 3
        mesh.dispose()

    asyncio.run(live())


def test_half_an_init_is_none(project, tmp_path):
    mesh = SyncMemoryMesh(db_dir=str(project), skill_directories=[str(tmp_path / "missing")])
    for _ in range(2):
        with pytest.raises(BadInput, match=r"no folder .*missing"):
            mesh.init()
    folder = tmp_path / "missing"
    folder.mkdir()
    (folder / "broken.yamo").write_bytes(b"\xff\xfe\x00")
    for _ in range(2):
        with pytest.raises(BadInput, match=r"broken\.yamo: the file is not UTF-8 text"):
            mesh.init()
    assert mesh._repository is None
    (folder / "broken.yamo").write_text(SKILL, "utf-8")
    assert [skill.name for skill in mesh.list_skills()] == ["Rotate keys"]
    mesh.close()


def test_without_memory_nothing_is_written(project, tmp_path):
    """§4.2 enableMemory: whatever would be kept is refused, or answered as if."""
    kept = SyncMemoryMesh(db_dir=str(project))
    record, skill = kept.add("Kept earlier"), kept.ingest_skill(SKILL)
    kept.close()
    (tmp_path / "more.yamo").write_text(SKILL.replace("Rotate", "Revoke"), "utf-8")
    mesh = SyncMemoryMesh(
        db_dir=str(project), enable_memory=False, skill_directories=str(tmp_path), enable_wisdom_distillation=True
    )
    before = {file: file.read_bytes() for file in (project / ".rawko" / "memories").rglob("*") if file.is_file()}
    assert mesh.add("Gone at once", {"type": "event"}).content == "Gone at once"
    assert mesh.prune_skills(1.0).pruned_count == 1 and mesh.synthesize().status == "empty"
    assert [found.id for found in mesh.search("kept")] != []
    for write in (
        lambda: mesh.delete(record.id),
        lambda: mesh.insert_heritage(record.id, {"intentChain": ["x"]}),
        lambda: mesh.distill_lesson(LESSON),
        lambda: mesh.ingest_skill(SKILL.replace("Rotate", "Print")),
        lambda: mesh.update_skill_reliability(skill.id, True),
    ):
        with pytest.raises(Refused, match="memory is switched off"):
            write()
    mesh.close()
    assert before == {
        file: file.read_bytes() for file in (project / ".rawko" / "memories").rglob("*") if file.is_file()
    }


# What a mesh was given comes back, filters find it, and it is scrubbed before it is embedded (RFC-0011 §2, §6)
GIVEN = {
    "agent_id": "scout-7",
    "memory_type": "agent",
    "importance_score": 0.37,
    "access_count": 12,
    "last_accessed": "2026-03-01T10:00:00Z",
    "lesson_pattern_id": "00ff00ff00ff00ff",
    "source_skill_id": "skill_1_abc",
    "session_id": "s-44",
    "heritage_chain": {"intentChain": ["sail north"], "hypotheses": [], "rationales": ["wind"]},
    "skill_name": "Navigator",
    "rationale": "the tide tables disagree",
    "hypothesis": "saves a day",
    "source": "harbour log",
    "depth_m": 4.5,
    "crew": {"size": 3, "names": ["Ines", None]},
}
FILTERS = [
    "agent_id = 'scout-7'",
    "memory_type = 'agent'",
    "importance_score = 0.37",
    "importance_score BETWEEN 0.36 AND 0.38",
    "access_count >= 12",
    "last_accessed >= '2026-03-01'",
    "lesson_pattern_id = '00ff00ff00ff00ff'",
    "source_skill_id = 'skill_1_abc'",
    "session_id = 's-44'",
    "heritage_chain LIKE '%sail north%'",
    "skill_name = 'Navigator'",
    "rationale LIKE '%tide%'",
    "hypothesis = 'saves a day'",
    "source = 'harbour log'",
    "metadata LIKE '%depth_m%'",
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    mesh = SyncMemoryMesh(db_dir=str(tmp_path_factory.mktemp("mesh")), agent_id="Pilot")
    record = mesh.add("The ferry leaves the northern pier at noon", GIVEN)
    mesh.add("The ferry of the southern pier is a barge")
    yield mesh, record
    mesh.close()


def test_get_returns_what_was_given(filled):
    """X4"""
    mesh, record = filled
    assert GIVEN.items() <= {**mesh.get(record.id).metadata, "last_accessed": GIVEN["last_accessed"]}.items()
    assert mesh.repository.get(record.id).importance == "low"


@pytest.mark.parametrize("condition", FILTERS)
def test_filters_find_what_get_returns(filled, condition):
    """X4"""
    mesh, record = filled
    found = mesh.search("when does the ferry leave", filter=condition)
    assert [item.id for item in found] == [record.id]


def test_a_recall_counts_on_top(filled):
    mesh, record = filled
    before = mesh.get(record.id).metadata["access_count"]
    mesh.search("northern pier at noon", limit=1)
    assert mesh.get(record.id).metadata["access_count"] == before + 1


@pytest.mark.parametrize(
    ("score", "word"), [(0.0, "low"), (0.4, "low"), (0.55, "medium"), (0.81, "high"), (1, "critical")]
)
def test_a_score_has_a_word_and_stays(mesh, score, word):
    """X4: a number is not rounded to that of its word; once a person says another word, that counts."""
    record = mesh.add(f"Lighthouse {word} blinks {score} times", {"importance_score": score})
    assert mesh.get(record.id).metadata["importance_score"] == score
    assert mesh.repository.get(record.id).importance == word
    mesh.repository.amend(record.id, importance="high" if word != "high" else "low")
    assert mesh.get(record.id).metadata["importance_score"] == (0.85 if word != "high" else 0.4)


MARKUP = """\
# Mooring <em>rules</em>

<p>Use the **outer** buoy [seven](https://example.org/buoy) at low tide.</p>
<script>track("visitor")</script>

Use the outer buoy after a storm,   too.

Use the outer buoy after a storm,   too.
"""


def test_all_stages_run_before_a_vector_is_made(mesh):
    """X4: markup, scripts, doubled paragraphs and blanks are gone; the file keeps the person's text."""
    heard = listen(mesh)
    record = mesh.add(MARKUP)
    mesh.repository.sync()
    heard = [text for text in heard if "buoy" in text]
    assert heard
    for text in heard:
        assert not any(sign in text for sign in ("<", "**", "track(", "](", "   ")), text
        assert text.count("after a storm") <= 1
    memory = mesh.repository.get(record.id)
    assert memory.body == record.content == MARKUP.strip()
    with open(mesh.repository.layout.path(memory.path), encoding="utf-8") as stream:
        assert MARKUP.strip() in stream.read()


def test_ids_are_as_specified(mesh):
    """RFC-0011 §1.1"""
    mesh.ingest_skill("name: Mooring;\nintent: moor_a_boat;\n")
    lesson = mesh.distill_lesson(LESSON)
    assert re.fullmatch(r"mem_\d{13}_[0-9a-f]{6}", mesh.add("A buoy is red").id)
    assert re.fullmatch(r"skill_\d{13}_[0-9a-f]{6}", mesh.list_skills()[0].id)
    assert re.fullmatch(r"lesson_\d{13}_[0-9a-f]{6}", lesson.lesson_id)
    assert re.fullmatch(r"mem_\d{13}_[0-9a-f]{6}", lesson.memory_id)
    assert mesh.get(lesson.memory_id) == mesh.get(lesson.lesson_id)
    blocks = mesh.repository.ledger.blocks()
    assert blocks and all(re.fullmatch(r"yamo_[a-z]+_\d{13}_[0-9a-f]{6}", block.id) for block in blocks)
