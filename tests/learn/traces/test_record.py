"""New traces and experiences as Plans, and the order of traces that need each other."""

import pytest
from rawkomem.learn.traces import ToldExperience, ToldTrace, plan_experience, plan_trace
from rawkomem.model.entries import Memory
from rawkomem.model.errors import BadInput
from rawkomem.model.ids import trace_path
from rawkomem.state.runs import dependency_chain, execution_order

from tests.seeds import by_case

AT = 1_769_164_200_123  # 2026-01-23T10:30:00.123Z


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("", "agent"),
        ("../up", "up"),
        ("José B.", "josé-b"),
        ("план/../x", "план-x"),
        ("ok_1-x", "ok_1-x"),
        ("a" * 99, "a" * 64),
    ],
)
def test_an_agent_cannot_lead_out_of_the_folder(agent, name):
    assert trace_path(AT - 123, agent) == f"traces/2026-01/2026-01-23T10-30-00-000Z_{name}.md"


def test_a_trace_has_the_sections_of_the_seed(monkeypatch):
    monkeypatch.setenv("RAWKOMEM_NOW", "2026-01-23T10:30:00Z")
    told = ToldTrace("Deploy", "partial", 12, ("git",), ("a.py",), "me", plan="P", steps=("one - done\ntwo",), results="R",
                learnings=("- L",))  # fmt: skip
    (entry,) = plan_trace(told, lambda path: path.endswith("Z_me.md")).entries
    assert entry.path == "traces/2026-01/2026-01-23T10-30-00-000Z_me-2.md"
    assert entry.id.startswith("trace-1769164200000-") and len(entry.id.rpartition("-")[2]) == 6
    assert dict(entry.extra) == {
        "status": "partial", "duration_ms": "12", "tools_used": ["git"], "files_created": ["a.py"],
    }  # fmt: skip
    assert entry.body == (
        "# Execution Trace: Deploy\n\n## Plan\nP\n\n## Steps Executed\n1. one - done two\n\n## Results\nR\n\n## Learnings\n- L"
    )


@pytest.mark.parametrize("told", [ToldTrace(" "), ToldTrace("G", "maybe")])
def test_what_is_refused(told):
    with pytest.raises(BadInput):
        plan_trace(told, lambda path: False)
    with pytest.raises(BadInput):
        plan_experience(ToldExperience(told.goal, told.status), 1)


def traces(**needs: dict) -> dict[str, Memory]:
    return {id: Memory(id, kind="trace", title=id, extra=extra) for id, extra in needs.items()}


SEED = traces(t1={}, t2={}, t3={"parent": "t1", "depends_on": ["t2"]})


@by_case("llmos", "getExecutionOrder")
def test_execution_order(case):
    assert execution_order(SEED.values()) == case["expected"]


@by_case("llmos", "findDependencyChain")
def test_dependency_chain(case):
    assert dependency_chain(SEED, case["input"]["traceId"]) == case["expected"]


def test_cycles_end():
    """As the seed's advice asks: the original recursed for ever."""
    cycle = traces(a={"depends_on": ["b"]}, b={"depends_on": ["c", "gone"]}, c={"depends_on": "a", "parent": "c"})
    assert dependency_chain(cycle, "a") == ["b", "c", "gone"] and dependency_chain(cycle, "nowhere") == []
    assert execution_order(cycle.values()) == ["c", "b", "a"]


def test_a_chain_longer_than_the_stack():
    long = traces(**{f"t{n:05}": {"depends_on": f"t{n + 1:05}"} for n in range(5_000)})
    assert len(dependency_chain(long, "t00000")) == 5_000 and execution_order(long.values())[0] == "t04999"
