"""Opening and closing a mesh: as often as one likes, from any state; half an `init` is none."""

import asyncio
import threading

import pytest
from rawkomem.faces.mesh.api import MemoryMesh, SyncMemoryMesh
from rawkomem.model.errors import BadInput, Refused

from tests.faces.mesh.conftest import LESSON, SKILL


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
