"""Measure SWE-ContextBench: is the earlier task found that a later one refers to, and what does `learn` make of sessions?

    python tools/proof/swe_contextbench.py FOLDER [--sessions N]

FOLDER holds the set's `cases` (github.com/jiayuanz3/SWEContextBench, commit 31bb041). Nothing is fetched, and no text
of the set is kept. Each of the 300 recorded sessions becomes a trace: its task is the goal, its last answer the
result. A later task belongs to an earlier one if one of the two names the number of the other. The later task is
asked with `rawkomem trace search`. `learn` reads the first N sessions.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

from project import BM25, Project, share

CUTS = (1, 5)
WAYS = ("rawkomem", "BM25")
PROMPT = re.compile(r"instance_id: (\S+)\n.*?problem_statement: (.*)", re.DOTALL)
MAX_GOAL = 200  # characters of a task in the title of its trace
MAX_ASKED = 2000  # characters of a task that are searched for


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sessions", type=int, default=300)
    given = parser.parse_args()
    files = sorted(
        (given.folder / "SWEContextBench Lite Past Experience").glob("*.jsonl")
    )
    if not files:
        raise SystemExit(
            f"{given.folder} holds no sessions: name the folder cases of the set"
        )
    project = Project()
    goals: dict[str, str] = {}
    for file in files:
        task, text, answer = session_of(file)
        if task in goals:
            continue
        goals[task] = text
        goal = f"{task} {' '.join(text.split())[:MAX_GOAL]}"
        project.rawkomem(
            "trace",
            "add",
            "--goal",
            goal,
            "--plan",
            text[:MAX_ASKED],
            "--results",
            answer[:MAX_ASKED] or "none",
        )
    later = [
        json.loads(file.read_text(encoding="utf-8"))
        for file in (given.folder / "SWEContextBench Lite").glob("*.json")
    ]
    words = BM25(goals)
    hits: dict[tuple[str, int], list[bool]] = {
        (way, cut): [] for way in WAYS for cut in CUTS
    }
    pairs = 0
    for task in sorted(later, key=lambda task: task["instance_id"]):
        wanted = {id for id, text in goals.items() if belongs(task, id, text)}
        if not wanted:
            continue
        pairs += len(wanted)
        asked = task["problem_statement"][:MAX_ASKED]
        found = [
            found_task(one)
            for one in project.asked(
                "trace", "search", asked, "-n", str(max(CUTS)), "--min-similarity", "0"
            )
        ]
        for way, ranked in zip(WAYS, (found, words.ranked(asked)), strict=True):
            for cut in CUTS:
                hits[way, cut].append(bool(wanted & {*ranked[:cut]}))
    print(f"{len(goals)} earlier tasks, {len(later)} later ones, {pairs} pairs")
    for (way, cut), values in hits.items():
        print(f"{way:10} hit@{cut} {share(values)}")
    learned(files[: given.sessions])


def session_of(file: Path) -> tuple[str, str, str]:
    """Return the task's name, its text and the last answer of a recorded session."""
    task, text, answer = file.stem, "", ""
    for line in file.open(encoding="utf-8"):
        try:
            message = json.loads(line).get("message") or {}
        except ValueError:  # one session of the set has a cut line
            continue
        content = message.get("content")
        parts = (
            content
            if isinstance(content, list)
            else [{"type": "text", "text": content}]
        )
        said = "\n".join(
            part["text"]
            for part in parts
            if part.get("type") == "text" and part["text"]
        )
        if (
            message.get("role") == "user"
            and not text
            and (found := PROMPT.search(said))
        ):
            task, text = found.groups()
        elif message.get("role") == "assistant" and said:
            answer = said
    return task, text, answer


def belongs(task: dict[str, str], earlier: str, text: str) -> bool:
    """Tell whether a later task and an earlier one of the same project refer to each other by number."""
    project, _, number = earlier.rpartition("-")
    own, _, _ = task["instance_id"].rpartition("-")
    if project != own or earlier == task["instance_id"]:
        return False
    told = task["problem_statement"] + task["hints_text"]
    numbers = [
        task["instance_id"].rpartition("-")[2],
        str(task["pull_number"]),
        *task["issue_numbers"],
    ]
    return is_named(number, told) or any(is_named(one, text) for one in numbers)


def is_named(number: str, text: str) -> bool:
    """Tell whether a text refers to an issue, a ticket or a pull request with this number."""
    return bool(
        re.search(rf"(?:#|/issues/|/pull/|/ticket/|gh-){number}\b", text, re.IGNORECASE)
    )


def found_task(result: dict[str, str]) -> str:
    """Return the name of the task that a found trace is about."""
    return result["goal"].split(" ", 1)[0]


def learned(files: list[Path]) -> None:
    """Print how many drafts `learn` makes of the sessions, and their texts to be read by a person."""
    project = Project()
    for file in files:
        project.rawkomem("learn", str(file.resolve()))
    drafts = project.asked("drafts", "list", "-n", "10000")
    print(f"{len(drafts)} drafts of {len(files)} sessions")
    for draft in drafts:
        print("-", " ".join(draft["text"].split())[:300])


if __name__ == "__main__":
    main()
