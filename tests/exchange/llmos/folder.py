"""A folder as LLMos keeps it, by its document: two projects, logs in two forms, caches, outputs of tools."""

TRACE = """\
---
trace_id: trace-{ms}-{id}
timestamp: "2024-03-0{day}T12:00:00.000Z"
goal: "{goal}"
status: {status}   # as the tool said
duration_ms: 12345
tools_used:
  - web_search
  - write_file
files_created:
  - output/{id}.py
---

# Execution Trace: {goal}

## Plan
1. Look at `data/`

## Steps Executed
1. Read the data - ok
2. Plot it - {status}

## Results
A chart.

## Learnings
- Use `matplotlib` with the Agg backend

"""
LOG = """\
# Memory log

---
experience_id: exp_1
project_name: quantum
primary_goal: "Simulate a cochlea: 3 filters"
final_outcome: success_with_recovery
components_used:
  - planner
  - 'signal-agent'
files_created: 3
output_summary: Filters work
execution_time_ms: 4200
learnings_or_issues: |
  Sample at 48 kHz.

  Windows must overlap.
timestamp: "2024-03-04T12:00:00.000Z"
---

---
experience_id: exp_2
project_name: shop
primary_goal: Price list
final_outcome: failure
timestamp: "2024-03-05T12:00:00.000Z"
---
"""
FILES = {
    "system/memory_log.md": LOG.removeprefix("# Memory log\n\n"),
    "projects/quantum/context.md": "# Quantum\n\nWe simulate ears.\n\n## Constraints\n\n* No GPU\n* 2 GB of memory\n",
    "projects/quantum/memory/short_term/2024-03-01T12-00-00-000Z_planner.md": TRACE.format(
        ms=1709294400000, id="a1b2c3", day=1, goal="Plot spectra", status="success"),
    "projects/quantum/memory/short_term/2024-03-02T12-00-00-000Z_coder.md": TRACE.format(
        ms=1709380800000, id="d4e5f6", day=2, goal="Fit a curve: x^2", status="failure"),
    "projects/quantum/memory/short_term/execution_log.md": (
        "## [2024-03-01T12:00:00Z] Plot spectra\n\nWent well.\n\n\n## [2024-03-02T09:30:00Z] Fit\n\n- tried twice\n"),
    "projects/quantum/memory/short_term/context_cache.md": "goal: fit\nstep: 3\n",
    "projects/quantum/memory/short_term/tool_results/plot.json": '{"points": [1, 2, 3],\n "ok": true}\n',
    "projects/quantum/memory/traces/old.md": TRACE.format(
        ms=1709467200000, id="g7h8i9", day=3, goal="Export audio", status="success"),
    "projects/quantum/memory/long_term/learnings.md": (
        "# Learning: Overlapping windows\n\n## Context\n- Observed in 3 executions\n- Success rate: 67%\n\n"
        "## Key Insights\n1. Overlap by half\n\n```sh\n# no heading\nmake plots\n```\n\n\n"
        "# Learning: Agg backend\n\n## Key Insights\n1. Servers have no display\n"),
    "projects/quantum/memory/long_term/patterns.md": (
        "# Patterns\n\nFound by the consolidator.\n\n## Read before write\n\nPlans that read first succeed.\n\n"
        "## Empty\n\n## Small steps\n\nOne file at a time.   \n\n---\n\nSeen often.\n"),
    "projects/quantum/memory/long_term/decisions.md": (
        "# Decisions\n\n## Use numpy\n\nNo other dependency.\n\n## Use numpy\n\nNo other dependency.\n"),
    "projects/quantum/memory/long_term/consolidated_1709294400000.md": (
        "---\nconsolidated_at: 2024-03-01\n---\n\nBuilds are slow on Mondays.\n"),
    "projects/shop/context.md": "---\nowner: ann\n---\nPrices come from a sheet.\r\n",
    "projects/shop/memory/long_term/decisions.md": "## Round half up\r\n\r\nAccountants ask for it.\r\n",
}  # fmt: skip


def write(root, files=FILES):
    """Write the files below a folder, byte by byte."""
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return root


def read(root) -> dict[str, str]:
    """Return the files below a folder, byte by byte."""
    return {str(file.relative_to(root)): file.read_bytes().decode() for file in root.rglob("*") if file.is_file()}
