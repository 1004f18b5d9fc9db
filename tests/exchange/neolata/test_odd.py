"""Whatever a file holds in place of neolata's fields: it is taken over or told, and the way back works."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ...commands import cases
from .trips import there_and_back

ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["mem_1", "2026-01-01", "active"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "type", "source", "newId", "x\n"]), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
NAMES = (
    "agent", "category", "importance", "tags", "links", "created_at", "updated_at", "event_at", "status", "claim", "provenance",
    "quarantine", "reinforcements", "disputes", "superseded_by", "supersedes", "archived_at", "accessCount", "others", "conflicts",
    "pendingConflicts", "labeledClusters", "title", "whenToUse", "validFrom",
)  # fmt: skip
ITEM = st.dictionaries(st.sampled_from(NAMES), ODD, max_size=8)
RECORD = st.dictionaries(st.sampled_from(["newId", "existingId", "memoryIds", "name", "tags", "summary", "resolved_at"]), ODD, max_size=4)  # fmt: skip


@settings(max_examples=cases(2_000, 6), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=st.lists(ITEM, min_size=1, max_size=3), record=RECORD)
def test_odd_values_stop_nothing(items, record, tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    memories = [{**item, "id": f"mem_{place}", "memory": f"Text {place}"} for place, item in enumerate(items)]
    memories.append({"id": "mem_sound", "agent": "kuro", "memory": "A sound one", "links": [], "category": "fact"})
    (folder / "graph.json").write_text(json.dumps(memories))
    for name in ("episodes", "pending-conflicts", "clusters"):
        (folder / f"{name}.json").write_text(json.dumps([{**record, "id": f"{name}-1"}]))
    out = there_and_back(folder, folder / "work")
    assert "mem_sound" in {item["id"] for item in json.loads((out / "graph.json").read_text())}
