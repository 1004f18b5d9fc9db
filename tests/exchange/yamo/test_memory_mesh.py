"""Databases of memory-mesh, in and out. tests/data/README.md says who wrote the samples."""

import json
import tarfile

import pytest

pytest.importorskip("lancedb", reason="for want of lancedb: make test-stores")

import lancedb
import pyarrow as pa
from rawkomem.exchange.memory_mesh import open_mesh
from rawkomem.faces.mesh import SyncMemoryMesh
from rawkomem.format.mesh_fields import LessonContext as Lesson
from rawkomem.format.mesh_fields import pattern_id
from rawkomem.format.yamo import build_block, emit_yamo, text_hash
from rawkomem.index.stores.lance.tables import entries_v1, entries_v2
from rawkomem.model.errors import BadInput, Refused
from rawkomem.model.filters import Filter
from rawkomem.repository import Repository

from tests.commands import Command
from tests.conftest import ROOT

pytestmark = pytest.mark.stores

START_MS = 1_772_000_000_000


@pytest.fixture(params=["v1", "v2"])
def sample(request, tmp_path_factory) -> str:
    """A database that LanceDB for Node wrote with the schema of @yamo/memory-mesh."""
    return unpacked(request.param, tmp_path_factory)


@pytest.fixture
def newer(tmp_path_factory) -> str:
    return unpacked("v2", tmp_path_factory)


def unpacked(name: str, tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("mesh")
    with tarfile.open(ROOT / "tests" / "data" / "memory_mesh" / f"{name}.tar.gz") as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)  # from Python 3.11.4 on
        packed.extractall(folder)
    return str(folder / name)


def rows_of(folder: str, what: str) -> dict[str, dict]:
    """The rows by id, metadata as objects; columns without a value count as missing."""
    found = {}
    for row in open_mesh(folder).rows(what):
        row["metadata"] = json.loads(row["metadata"] or "{}")
        found[row["id"]] = {key: value for key, value in row.items() if value is not None}
    return found


def imported(repository, folder: str):
    done = repository.exchange.import_from(folder)
    repository.beliefs.review_all("yamo", "activate")
    repository.sync()
    return done


def test_all_rows_come_in(repository, sample):
    """X2"""
    theirs = rows_of(sample, "memories")
    done = repository.exchange.import_from(sample)
    repository.sync()
    assert (done.kind, len(done.news)) == ("yamo", len(theirs) + 2) and done.blocks == len(rows_of(sample, "blocks"))
    memories = {memory.id: memory for memory in repository.core.all()}
    assert theirs.keys() < memories.keys()
    for id, row in theirs.items():
        assert memories[id].created == row["created_at"] and memories[id].extra["importedFrom"].endswith(f"#{id}")
    again = repository.exchange.import_from(sample)
    assert (len(again.news), again.blocks) == (0, 0)


def test_what_a_row_says_has_its_place(repository, newer):
    theirs = rows_of(newer, "memories")
    imported(repository, newer)
    lesson = next(row for row in theirs.values() if row["metadata"]["type"] == "lesson")
    (found,) = repository.lessons.by_pattern(lesson["metadata"]["lesson_pattern_id"])
    assert found.context.preventative_rule == lesson["metadata"]["preventative_rule"]
    assert (found.context.situation, found.context.confidence) == ("The queue grew; it never shrank", 0.82)
    scored = next(row for row in theirs.values() if row.get("importance_score", 0) >= 0.9)
    assert repository.get(scored["id"]).importance == "critical"
    wanted = f"importance_score = {round(scored['importance_score'], 6)} AND agent_id = 'scout'"
    assert scored["id"] in {row.id for row in repository.list(filter=wanted)}
    skill = next(iter(repository.skills.list()))
    assert "stop at the first alarm" in skill.memory.body and skill.memory.tags == ("release", "ops")
    related = [memory for memory in repository.core.all() if memory.related]
    assert [memory.related for memory in related] == [(list(theirs)[1],)]


def test_what_is_gone_there_is_archived_here(repository, newer):
    theirs = rows_of(newer, "memories")
    gone = {id for id, row in theirs.items() if row.get("state") in ("archived", "superseded")}
    imported(repository, newer)
    assert len(gone) == 2
    assert gone == {memory.id for memory in repository.core.inside(Filter(statuses=("archived",)))}
    repository.beliefs.restore(min(gone))
    assert repository.get(min(gone)).status == "quarantined"


def test_an_export_gives_the_same_rows_back(repository, sample, tmp_path):
    imported(repository, sample)
    out = str(tmp_path / "out")
    repository.exchange.export_folder(out, "yamo", Filter())
    assert rows_of(out, "memories") == rows_of(sample, "memories")
    for id, row in rows_of(sample, "skills").items():
        assert {**rows_of(out, "skills")[id], "yamo_text": row["yamo_text"].rstrip()} == {
            **row,
            "yamo_text": row["yamo_text"].rstrip(),
        }
    blocks = rows_of(out, "blocks")
    assert all(blocks[id]["yamo_text"] == row["yamo_text"] for id, row in rows_of(sample, "blocks").items())
    assert all(row["block_hash"] == text_hash(row["yamo_text"]) for row in blocks.values())
    again = repository.exchange.export_folder(out, "yamo", Filter())
    assert again.written == ()


def test_conditions_and_windows_made_here_come_back(repository, tmp_path, tmp_path_factory):
    bound = repository.add(
        "Use the blue queue.", title="Blue queue", when=["When deploying the billing service", "src/billing/**"]
    ).id
    free = repository.add("Kettle descaling is due.", title="Kettle descaling").id
    repository.amend(free, when=[])
    repository.beliefs.validity(bound, "2026-01-01", "2031-05-06")
    skill = repository.add("Pour vinegar, wait, rinse.", title="Descale", kind="skill").id
    repository.amend(skill, when=["When the kettle is slow"])
    out = str(tmp_path / "out")
    repository.exchange.export_folder(out, "yamo", Filter())
    told = rows_of(out, "memories")[bound]["metadata"]
    assert told["whenToUse"] == ["When deploying the billing service", "src/billing/**"]
    with Repository.open(started(tmp_path_factory), via="person") as other:
        imported(other, out)
        for id in (bound, free, skill):
            before, after = repository.get(id), other.get(id)
            assert (after.when, after.valid_from, after.valid_until) == (
                before.when, before.valid_from, before.valid_until
            )  # fmt: skip
        assert "validUntil" not in str(other.get(bound).extra.get("metadata"))
        again = str(tmp_path / "again")
        other.exchange.export_folder(again, "yamo", Filter())
        assert rows_of(again, "memories")[bound]["metadata"] == told
    repository.beliefs.validity(bound, end="none")
    repository.exchange.export_folder(out, "yamo", Filter())
    assert "validUntil" not in rows_of(out, "memories")[bound]["metadata"]


def test_windows_of_another_form_stay_as_they_are(repository, tmp_path):
    said = {"type": "note", "validUntil": "next spring", "whenToUse": "always"}
    theirs = str(tmp_path / "theirs")
    rows = [{**made(1), "metadata": json.dumps(said)}]
    lancedb.connect(theirs).create_table("memory_entries", pa.Table.from_pylist(rows, entries_v2(4)))
    (one,) = imported(repository, theirs).news
    assert one.entry.when != ("always",) and repository.get(one.entry.id).valid_until == 0
    repository.exchange.export_folder(str(tmp_path / "out"), "yamo", Filter())
    assert rows_of(str(tmp_path / "out"), "memories")[one.entry.id]["metadata"] == said


def started(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("other")
    (folder / ".rawko" / "memories").mkdir(parents=True)
    return str(folder)


@pytest.mark.parametrize("dims", [1536, 384])
def test_an_unchanged_database_stays_as_it_is(repository, tmp_path, dims):
    """A text that ends in a line break is the same text: its vector is not computed again."""
    theirs = str(tmp_path / "theirs")
    ends = ("\n", "\r\n", "  \n\n", "")
    rows = [{**made(n), "content": f"Ticket {n} was closed.{end}"} for n, end in enumerate(ends)]
    table = pa.Table.from_pylist([{**row, "vector": [0.25] * dims} for row in rows], entries_v2(dims))
    lancedb.connect(theirs).create_table("memory_entries", table)
    imported(repository, theirs)
    done = repository.exchange.export_folder(theirs, "yamo", Filter())
    assert not {row["id"] for row in rows} & {*done.written}
    after = lancedb.connect(theirs).open_table("memory_entries").to_arrow()
    assert after.sort_by("id") == table.sort_by("id")


def made(number: int) -> dict:
    said = {"type": "note", "ticket": number, "source": f"desk {number % 5}"}
    return {
        "id": f"mem_{START_MS + number}_{number:06x}",
        "vector": [0.5, -0.5, 0.5, number / 1000],
        "content": f"Ticket {number} was closed by shard {number % 13}",
        "metadata": json.dumps(said),
        "created_at": START_MS + number,
        "session_id": f"desk-{number % 7}" if number % 2 else None,
        "importance_score": number % 100 / 100 if number % 3 else None,
        "lesson_pattern_id": "feedc0de00112233" if number % 50 == 0 else None,
    }


def test_an_export_into_their_database_leaves_their_rows(repository, newer):
    before = {row["id"]: row for row in table_of(newer).to_arrow().to_pylist()}
    imported(repository, newer)
    one, other, *_ = before
    repository.amend(one, tags=("today",))
    done = repository.exchange.export_folder(newer, "yamo", Filter(ids=(one, other)))
    after = {row["id"]: row for row in table_of(newer).to_arrow().to_pylist()}
    assert after.keys() == before.keys() and {id for id in before if after[id] != before[id]} == {one}
    assert json.loads(after[one]["metadata"])["tags"] == ["today"] and after[one]["vector"] == before[one]["vector"]
    assert one in done.written and other in done.unchanged


def test_vectors_of_another_length_are_an_error(repository, newer):
    imported(repository, newer)
    one = next(iter(rows_of(newer, "memories")))
    repository.amend(one, body="A text of today.")
    with pytest.raises(BadInput, match="vectors in that database have 8 numbers, those of this embedder 384"):
        repository.exchange.export_folder(newer, "yamo", Filter())


def table_of(folder: str):
    return lancedb.connect(folder).open_table("memory_entries")


ODD = [
    {"id": "no id of ours: é", "content": "An odd id", "metadata": None},
    {"id": "mem_9_aaaaa1", "content": "Large metadata", "metadata": json.dumps({"small": 1, "large": "a b " * 20_000})},
    {"id": "mem_9_aaaaa2", "content": "A name of two lines", "metadata": '{"agent_id": "Eve\\nid: mem_1"}'},
    {"id": "mem_9_aaaaa3", "content": "No object", "metadata": "just words"},
    {"id": "mem_9_aaaaa4", "content": "Keys of entries", "metadata": '{"kind": "delete", "about": "mem_9_aaaaa3"}'},
    {"id": "mem_9_aaaaa5", "content": " \n ", "metadata": "{}"},
]


def test_odd_rows_cost_themselves_at_most(repository, tmp_path):
    rows = [{**row, "vector": [0.5] * 4, "created_at": START_MS} for row in ODD]
    theirs = str(tmp_path / "theirs")
    lancedb.connect(theirs).create_table("memory_entries", pa.Table.from_pylist(rows, entries_v2(4)))
    done = imported(repository, theirs)
    told = dict(done.skipped)
    assert told.keys() == {"mem_9_aaaaa1 large", "mem_9_aaaaa5"} and "too large" in told["mem_9_aaaaa1 large"]
    assert {memory.status for memory in repository.core.all()} == {"active"}
    repository.exchange.export_folder(theirs, "yamo", Filter())
    after = rows_of_table(theirs)
    assert after.keys() == {row["id"] for row in ODD}
    assert after["no id of ours: é"]["content"] == "An odd id"
    assert after["mem_9_aaaaa1"]["metadata"] == ODD[1]["metadata"]  # what did not fit in here is not lost there


def rows_of_table(folder: str) -> dict[str, dict]:
    return {row["id"]: row for row in table_of(folder).to_arrow().to_pylist()}


def test_another_lancedb_is_an_error(project, tmp_path_factory):
    """X2: never '0 added' with exit code 0."""
    folder = tmp_path_factory.mktemp("other")
    lancedb.connect(str(folder)).create_table("songs", [{"title": "Nine", "vector": [0.5, 0.5]}])
    done = Command(project)("import", str(folder), check=2)
    assert "not one of memory-mesh: it has songs" in done.stderr


def test_a_database_below_the_usual_folder_is_found(repository, tmp_path):
    rows = [{key: value for key, value in made(7).items() if key in entries_v1(4).names}]
    place = tmp_path / "agent" / "data" / "lancedb"
    lancedb.connect(str(place)).create_table("notes_of_mine", pa.Table.from_pylist(rows, entries_v1(4)))
    assert [item.entry.id for item in repository.exchange.import_from(str(tmp_path / "agent")).news] == [rows[0]["id"]]


def test_a_folder_with_other_files_is_not_written(repository, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("Dear")
    with pytest.raises(Refused, match="not empty"):
        repository.exchange.export_folder(str(tmp_path / "full"), "yamo")


LESSON = {
    "situation": "A release without a tag",
    "error_pattern": "missing_tag",
    "oversight": "Nobody looked",
    "fix": "Tag first",
    "preventative_rule": "Tag before you build",
    "severity": "high",
    "applicable_scope": "release",
    "confidence": 0.8,
}


def by_pattern(folder: str, pattern: str) -> list[dict]:
    """The rows that memory-mesh's getMemoriesByPattern finds: this is its condition."""
    needle = f'"lesson_pattern_id":"{pattern}"'.replace("_", r"\_")
    found = table_of(folder).search().where(rf"metadata LIKE '%{needle}%' ESCAPE '\'").to_list()
    return [json.loads(row["metadata"]) for row in found]


@pytest.mark.parametrize("door", ["export", "store"])
def test_memory_mesh_finds_a_lesson_by_its_pattern(project, tmp_path, monkeypatch, door):
    """Its distillLesson compares rule_confidence before it adds a second lesson."""
    if door == "store":
        monkeypatch.setenv("RAWKOMEM_STORE", "lancedb")
    with SyncMemoryMesh(db_dir=str(project)).repository as repository:
        lesson, _ = repository.lessons.learn(Lesson(**LESSON), "", via="agent")
        repository.sync()
        folder = str(tmp_path / "out")
        if door == "export":
            repository.exchange.export_folder(folder, "yamo", Filter())
        else:
            folder = f"{repository.layout.local}/lancedb"
        (told,) = by_pattern(folder, lesson.pattern_id)
    assert (told["lesson_id"], told["type"], told["rule_confidence"]) == (lesson.id, "lesson", 0.8)
    assert (told["severity"], told["preventative_rule"]) == ("high", "Tag before you build")


def written_by_memory_mesh() -> dict:
    """A lesson as distillLesson of @yamo/memory-mesh 4.0 stores it: each passage of its text names a source."""
    pattern = pattern_id("missing_tag", "release")
    context = "[Document Context: From document/source: distillLesson]\n"
    said = {
        "source": "distillLesson",
        "type": "lesson",
        "tags": ["#lesson_learned"],
        "lesson_id": "lesson_1794997689396_478fe3",
        "lesson_pattern_id": pattern,
        "severity": "high",
        "oversight": "Nobody looked. Twice.",
        "preventative_rule": "Tag before you build",
        "rule_confidence": 0.8,
        "applicable_scope": "release",
        "inverse_lesson": "tagged releases work",
        "yamo_wire_format": build_wire(pattern),
    }
    return {
        **made(0),
        "content": f"{context}[LESSON:{pattern}] Nobody looked.\n\n{context}Twice. | Rule: Tag before you build | Scope: release",
        "metadata": json.dumps(said, separators=(",", ":")),
        "lesson_pattern_id": None,
    }


def build_wire(pattern: str) -> str:
    values = {key: str(value) for key, value in LESSON.items()}
    block = build_block("lesson", "MyAgent", START_MS, id="lesson_1", pattern=pattern, inverse_lesson="", **values)
    return emit_yamo(block)


def test_a_lesson_of_memory_mesh_is_a_lesson_here_and_its_row_stays(repository, tmp_path):
    theirs = str(tmp_path / "theirs")
    row, plain = written_by_memory_mesh(), made(1)
    plain["content"] = "[Document Context: From section: Kafka]\n# Kafka\n\nConsumers commit by hand."
    table = pa.Table.from_pylist([{**one, "vector": [0.25] * 4} for one in (row, plain)], entries_v2(4))
    lancedb.connect(theirs).create_table("memory_entries", table)
    imported(repository, theirs)
    (lesson,) = repository.lessons.by_pattern(pattern_id("missing_tag", "release"))
    assert (lesson.id, lesson.context.confidence) == (row["id"], 0.8)
    assert (lesson.context.situation, lesson.context.fix) == ("A release without a tag", "Tag first")
    memory = repository.get(lesson.id)
    assert (memory.title, memory.when) == ("Tag before you build", ("When working on release",))
    assert memory.body.startswith("[LESSON:364d415c896477df] Nobody looked. Twice. | Rule: Tag before you build")
    other = repository.get(plain["id"])
    assert other.title == "Kafka" and other.body == "# Kafka\n\nConsumers commit by hand."
    repository.exchange.export_folder(theirs, "yamo", Filter())
    after = lancedb.connect(theirs).open_table("memory_entries").to_arrow()
    assert after.sort_by("id") == table.sort_by("id")
