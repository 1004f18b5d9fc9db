"""MemoryContextManager (RFC-0011 §4.3): a conversation is captured and recalled; what is kept is never out of date."""

from __future__ import annotations

import asyncio

import pytest
from rawkomem.faces.mesh.api import ContextManagerConfig, MemoryContextManager, MemoryMesh, importance_of
from rawkomem.faces.mesh.values import FormatOptions, InteractionContext, RecallOptions
from rawkomem.model.errors import Refused
from rawkomem.repository import Repository

from tests.faces.mesh.conftest import LESSON
from tests.faces.mesh.test_lifecycle import no_thread_is_left
from tests.seeds import by_case

PROMPT = "How do we release the login? " * 4
ANSWER = "On Mondays. " * 100


def test_a_conversation(project):
    async def talk() -> None:
        manager = MemoryContextManager({"agentId": "Talker"}, db_dir=str(project))
        await manager.initialize()
        assert await manager.capture_interaction("hi", "ok") is None  # too slight
        record = await manager.capture_interaction(PROMPT, ANSWER, {"sessionId": "s1"})
        assert record.content.startswith(f"[USER] {PROMPT}") and "[ASSISTANT] On Mondays." in record.content
        assert len(record.content.partition("[ASSISTANT] ")[2]) <= 500
        assert await manager.capture_interaction(PROMPT, ANSWER) is None  # nearly the same
        found = await manager.recall_memories("release the login", {"limit": 3})
        assert [memory.id for memory in found] == [record.id]
        assert "On Mondays" in manager.format_memories_for_prompt(found, {"maxLength": 400})
        assert manager.format_memories_for_prompt([]) == ""
        await manager.mesh.distill_lesson(LESSON)
        with_lessons = await manager.recall_memories("release the login", {"includeLessons": True})
        assert any(memory.metadata["memory_type"] == "lesson" for memory in with_lessons)
        sessions = await manager.recall_memories("release the login", {"memoryType": "session"})
        assert [memory.id for memory in sessions] == [record.id]
        health = await manager.health_check()
        assert health.status == "healthy" and health.memories == 2
        manager.dispose()

    asyncio.run(talk())


@by_case("yamo-memory-mesh", "MemoryScorer.calculateImportance")
def test_importance(case):
    content = "y" * 500 if case["input"]["content"].startswith("'y'") else case["input"]["content"]
    kind = case["input"]["metadata"].get("interaction_type", "llm_response")
    assert importance_of(content, InteractionContext(interaction_type=kind)) == case["expected"]


def test_options_are_dataclasses_too(project):
    async def talk() -> None:
        manager = MemoryContextManager(ContextManagerConfig(db_dir=str(project), agent_id="Talker"))
        record = await manager.capture_interaction(PROMPT, ANSWER, InteractionContext(session_id="s1", tags=("login",)))
        assert (record.metadata["session_id"], record.metadata["tags"]) == ("s1", ["login"])
        found = await manager.recall_memories("release the login", RecallOptions(limit=1))
        assert manager.format_memories_for_prompt(found, FormatOptions(max_length=20)).endswith("…\n")
        manager.dispose()

    asyncio.run(talk())


def test_what_was_recalled_is_kept_for_two_minutes(project):
    clock = [0.0]

    async def talk() -> None:
        manager = MemoryContextManager(db_dir=str(project), clock=lambda: clock[0])
        await manager.capture_interaction(PROMPT, ANSWER)
        await asyncio.sleep(0.2)  # a file that was written a moment ago is read once more
        asked = []
        search = manager.mesh.search
        manager.mesh.search = lambda *given, **named: (asked.append(given), search(*given, **named))[1]
        found = await manager.recall_memories("release the login")
        found.clear()  # what a caller does with its list is its own business
        assert len(await manager.recall_memories("release the login")) == 1 and len(asked) == 1
        assert len(await manager.recall_memories("release the login", {"useCache": False})) == 1 and len(asked) == 2
        clock[0] = 121.0
        assert len(await manager.recall_memories("release the login")) == 1 and len(asked) == 3
        for number in range(101):
            await manager.recall_memories(f"question {number}")
        cache = (await manager.health_check()).cache
        assert (cache.size, cache.max_size, cache.ttl_ms) == (100, 100, 120_000)
        manager.dispose()

    asyncio.run(talk())


def test_what_was_deleted_is_not_recalled(project):
    """Whoever deletes or adds: this mesh, or another process."""

    async def talk() -> None:
        manager = MemoryContextManager(db_dir=str(project))
        first = await manager.capture_interaction(PROMPT, ANSWER)
        assert [memory.id for memory in await manager.recall_memories("release the login")] == [first.id]
        second = await manager.mesh.add("The login is released by the platform team")
        assert len(await manager.recall_memories("release the login")) == 2
        await manager.mesh.delete(second.id)
        assert [memory.id for memory in await manager.recall_memories("release the login")] == [first.id]
        elsewhere = Repository.open(str(project))
        elsewhere.delete(first.id)
        assert await manager.recall_memories("release the login") == []
        elsewhere.close()
        manager.dispose()

    asyncio.run(talk())


def test_capturing_is_no_recall(project, repository):
    """Looking for near-duplicates asks nobody's question: it is not in the ledger and counts as no use."""

    async def talk() -> str:
        manager = MemoryContextManager(db_dir=str(project))
        record = await manager.capture_interaction(PROMPT, ANSWER)
        assert await manager.capture_interaction(PROMPT, ANSWER) is None
        manager.dispose()
        return record.id

    id = asyncio.run(talk())
    assert repository.ledger.blocks("recall") == [] and id not in repository.lifecycle.accesses()


def test_after_dispose(project):
    async def talk() -> None:
        manager = MemoryContextManager(db_dir=str(project))
        await manager.capture_interaction(PROMPT, ANSWER)
        manager.dispose()
        manager.dispose()
        health = await manager.health_check()
        assert (health.status, health.memories, health.cache.size) == ("unhealthy", 0, 0)
        with pytest.raises(Refused, match="is disposed"):
            await manager.recall_memories("release the login")
        await manager.initialize()
        assert len(await manager.recall_memories("release the login")) == 1
        assert (await manager.health_check()).status == "healthy"
        manager.dispose()

    asyncio.run(talk())
    assert no_thread_is_left()


def test_a_health_check_makes_no_repository(tmp_path):
    manager = MemoryContextManager(db_dir=str(tmp_path))
    health = asyncio.run(manager.health_check())
    assert health.status == "unhealthy" and "no repository" in health.problem and not (tmp_path / ".rawko").exists()
    manager.dispose()


def test_a_mesh_that_was_handed_in_stays_open(project):
    async def talk() -> None:
        mesh = MemoryMesh(db_dir=str(project))
        manager = MemoryContextManager(mesh=mesh)
        await manager.capture_interaction(PROMPT, ANSWER)
        manager.dispose()
        assert mesh.sync._repository is not None
        await mesh.close()

    asyncio.run(talk())
    assert no_thread_is_left()
