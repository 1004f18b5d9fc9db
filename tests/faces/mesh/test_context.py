"""MemoryContextManager (RFC-0011 §4.3): a conversation is captured and recalled; what is kept is never out of date."""

import asyncio

import pytest
from rawkomem.faces.mesh.api import MemoryContextManager, importance_of
from rawkomem.faces.mesh.values import InteractionContext
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
