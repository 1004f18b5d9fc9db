"""Rows of neolata's Supabase tables: as JSON, one file or one document, and as a dump with COPY blocks."""

import json

import pytest
from rawkomem.exchange.neolata import copied_rows
from rawkomem.model.errors import BadInput

from .trips import EVERYTHING, items_in

ONE, TWO, OLD, EPISODE = (f"{n}{n}{n}{n}{n}{n}{n}{n}-0000-4000-8000-000000000000" for n in "1234")
CLAIM = {"subject": "api", "predicate": "port", "value": "80", "exclusive": False, "scope": "global", "normalizedValue": "80",
         "validFrom": "2026-01-01T00:00:00.000Z"}  # fmt: skip
TRUST = {"source": "tool_output", "corroboration": 2, "trust": 0.9}
TABLES = {
    "memories": [
        {"id": ONE, "agent_id": "kuro", "content": "The API listens\ton 80,\n\"behind\" C:\\nginx", "category": "fact",
         "importance": 0.7, "level": "long_term", "tags": ["api", "a,b", 'say "hi"'], "embedding": "[0.1,0.2]", "access_count": 4,
         "created_at": "2026-01-02T03:04:05.678+00:00", "updated_at": "2026-01-03T00:00:00+00:00",
         "event_at": "2025-12-31T00:00:00+00:00", "claim": CLAIM, "provenance": TRUST, "status": "active", "reinforcements": 1,
         "disputes": 0, "stability": None, "superseded_by": None, "supersedes": None, "quarantine": None},
        {"id": TWO, "agent_id": "kuro", "content": "Doubtful", "category": "fact", "importance": 0.2, "level": "long_term",
         "tags": [], "embedding": None, "access_count": 0, "created_at": "2026-01-04T00:00:00+00:00",
         "updated_at": "2026-01-04T00:00:00+00:00", "event_at": None, "claim": None, "provenance": None, "status": "quarantined",
         "reinforcements": 0, "disputes": 0, "stability": 1.5, "superseded_by": None, "supersedes": None,
         "quarantine": {"reason": "manual"}},
    ],
    "memories_archive": [
        {"id": OLD, "agent_id": "kuro", "content": "Long ago", "category": "fact", "importance": 0.1, "tags": [],
         "created_at": "2025-01-01T00:00:00+00:00", "archived_at": "2025-09-01T00:00:00+00:00", "archived_reason": "weak"},
    ],
    "memory_links": [{"id": "5", "source_id": ONE, "target_id": TWO, "strength": 0.75, "link_type": "similar"}],
    "episodes": [{"id": EPISODE, "name": "Launch", "summary": None, "agents": ["kuro"], "memory_ids": [ONE, TWO], "tags": [],
                  "metadata": {"n": 1}, "time_range_start": "2026-01-01T00:00:00+00:00", "time_range_end": "2026-01-04T00:00:00+00:00",
                  "created_at": "2026-01-05T00:00:00+00:00", "updated_at": "2026-01-05T00:00:00+00:00"}],
    "pending_conflicts": [{"id": "c1", "new_id": TWO, "existing_id": ONE, "new_trust": 0.5, "existing_trust": 0.9, "new_claim": None,
                           "existing_claim": CLAIM, "created_at": "2026-01-04T00:00:00+00:00", "resolved_at": None, "resolution": None}],
}  # fmt: skip


def cell(value) -> str:
    """Return a value as PostgreSQL's COPY writes it."""
    if value is None:
        return "\\N"
    if isinstance(value, list):
        inner = ",".join('"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"' for item in value)
        value = "{" + inner + "}"
    elif isinstance(value, dict):
        value = json.dumps(value)
    elif isinstance(value, str) and value[4:5] == "-" and value[10:11] == "T":
        value = value.replace("T", " ").removesuffix(":00")
    return str(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def dump() -> str:
    blocks = ["--\n-- PostgreSQL database dump\n--\n\nSET client_encoding = 'UTF8';\n"]
    for table, rows in TABLES.items():
        lines = "".join("\t".join(map(cell, row.values())) + "\n" for row in rows)
        blocks.append(f"COPY public.{table} ({', '.join(rows[0])}) FROM stdin;\n{lines}\\.\n\n")
    return "".join(blocks) + "COPY public.users (id, name) FROM stdin;\n1\tnobody\n\\.\n"


@pytest.fixture(params=["files", "document", "dump"])
def source(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("supabase")
    if request.param == "files":
        for name, rows in TABLES.items():
            (folder / f"{name}.json").write_text(json.dumps(rows))
        return folder
    if request.param == "document":
        (folder / "export.json").write_text(json.dumps(TABLES))
        return folder / "export.json"
    (folder / "dump.sql").write_text(dump())
    return folder / "dump.sql"


def test_every_shape_brings_the_same(repository, source, tmp_path_factory):
    done = repository.exchange.import_from(str(source))
    assert done.kind == "neolata" and len(done.news) == 4 and not done.skipped
    repository.beliefs.review_all("neolata", "activate")
    one, two, old = (repository.get(id) for id in (ONE, TWO, OLD))
    assert [memory.status for memory in (one, two, old)] == ["active", "quarantined", "archived"]
    assert (one.tags, one.links, one.reinforcements) == (("api", "a,b", 'say "hi"'), (("related", TWO),), 1)
    assert one.body.strip() == TABLES["memories"][0]["content"] and one.created == 1767323045678
    assert one.extra["claim"]["exclusive"] == "false" and one.extra["eventTime"].startswith("2025-12-31")
    assert two.conflicts_with == (ONE,) and set(repository.get(EPISODE).links) == {("member", ONE), ("member", TWO)}
    out = tmp_path_factory.mktemp("out") / "folder"
    repository.exchange.export_folder(str(out), "neolata", EVERYTHING)
    after = items_in(out)
    back = after["graph"][ONE]
    assert (back["claim"], back["provenance"], back["accessCount"], back["level"]) == (CLAIM, TRUST, 4, "long_term")
    assert back["links"] == [{"id": TWO, "similarity": 0.75, "type": "similar"}]
    assert after["graph"][TWO]["links"] == [{"id": ONE, "similarity": 0.75, "type": "similar"}]
    assert after["archived"][OLD]["archived_reason"] == "weak"
    assert after["pending-conflicts"]["c1"]["existingTrust"] == 0.9
    assert after["episodes"][EPISODE]["timeRange"]["end"].startswith("2026-01-04")


def test_a_dump_without_memories_is_refused(repository, tmp_path_factory):
    file = tmp_path_factory.mktemp("dumps") / "inserts.sql"
    file.write_text("INSERT INTO public.memories VALUES ('1');\n")
    with pytest.raises(BadInput, match="no rows of memories"):
        repository.exchange.import_from(str(file), "neolata")


def test_cells_are_unescaped():
    rows = [
        row
        for _, row in copied_rows(
            ["COPY t (a, tags, claim) FROM stdin;\n", "x\\x41\\101\\\\N\t{}\tno json\n", "cut\n", "\\.\n"]
        )
    ]
    assert rows == [{"a": "xAA\\N", "tags": [], "claim": "no json"}]
