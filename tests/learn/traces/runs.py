"""Traces for tests: made by hand, with a goal, an outcome and what was learned."""

from rawkomem.model.values import iso

from tests.torture.helpers import write

START = 1_780_000_000_000  # 2026-05-28
MINUTE = 60_000


def trace(number: int, goal: str, status: str = "success", at: int = 0, **said) -> str:
    """A trace as LLMos writes it."""
    tools = "".join(f"  - {tool}\n" for tool in said.get("tools", ("python",)))
    steps = said.get("steps", ("Read the code - done", "Change it - done"))
    learnings = said.get("learnings", ("Small steps help",))
    error = f'error: "{said["error"]}"\n' if "error" in said else ""
    numbered = "\n".join(f"{place}. {step}" for place, step in enumerate(steps, 1))
    bullets = "\n".join(f"- {line}" for line in learnings)
    when = iso(at or START + number * MINUTE)
    return (
        f'---\ntrace_id: trace-{number}-aaaaaa\ntimestamp: "{when}"\ngoal: "{goal}"\nstatus: {status}\n{error}'
        f"tools_used:\n{tools}---\n\n# Execution Trace: {goal}\n\n## Steps Executed\n{numbered}\n\n"
        f"## Results\nIt took {number} minutes.\n\n## Learnings\n{bullets}\n"
    )


GOALS = (
    "Deploy the billing service",
    "Plot the spectrum of an audio file",
    "Import customers from CSV",
    "Tune the search index",
)


def fill(project, count: int, start: int = 0, goals=GOALS) -> dict[str, str]:
    """Files of traces in a project, goal after goal, every third a failure; name → text."""
    files = {}
    for number in range(start, start + count):
        failed = number % 3 == 2
        said = {"error": "Timeout of the proxy"} if failed else {}
        text = trace(number, goals[number % len(goals)], "failure" if failed else "success", **said)
        files[f"traces/2026-05/t{number}.md"] = text
        write(project / ".rawko", f"traces/2026-05/t{number}.md", text)
    return files
