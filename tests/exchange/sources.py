"""Small samples of what other tools keep, one for each kind of source."""

import json

from .lane.database import ROWS, build

CLAUDE_MD = """\
# CLAUDE.md

This file provides guidance to Claude Code (claude.ai/code) when working with code in this repository.

@AGENTS.md

<!-- a note for people -->

## Commands

Run `pnpm test`; never use npm here.

```sh
# no heading
pnpm test
```

## Architecture

The API lives in `src/api`, Postgres migrations in `db/`.

### Auth

JWT with rotation in `src/auth`.

## Empty
"""
RULE = """\
---
description: Conventions for API routes: validation
globs: src/api/**/*.ts, app/*.{ts,tsx}
alwaysApply: true
---

Always validate input with zod.
"""
NOTE = """\
---
name: deploy-on-fridays
description: Deployments on Fridays need the on-call engineer
metadata:
  type: feedback
modified: 2026-08-20T10:00:00Z
---
Never deploy on Friday without asking. **Why:** the rollback of May took the weekend.
"""
MEM0 = {
    "results": [
        {"id": "m-1", "memory": "Prefers tabs over spaces in Go", "hash": "x", "metadata": {"category": "style"},
         "created_at": "2026-03-01T08:00:00-07:00", "user_id": "alice"},
        {"id": "m-2", "memory": "Deploys with Nomad instead of Kubernetes", "metadata": None, "created_at": None},
    ],
    "relations": [],
}  # fmt: skip
NEOLATA = [
    {"id": "mem_1", "agent": "kuro", "memory": "The staging budget is 500 USD", "category": "fact", "importance": 0.95,
     "tags": ["budget"], "embedding": [0.1, 0.2], "links": [{"id": "mem_2", "similarity": 0.8}],
     "created_at": "2026-02-20T09:00:00.000Z", "status": "active", "provenance": {"source": "tool_output"},
     "claim": {"subject": "staging", "predicate": "budget", "value": "500 USD"}},
    {"id": "mem_2", "agent": "kuro", "memory": "The staging budget was 400 USD", "category": "fact", "importance": 0.3,
     "tags": [], "links": [], "status": "superseded"},
]  # fmt: skip


SERENA = "# Done\n\nRun `make lint` before a task counts as done.\n"
PLAIN = "# Release steps\n\nTag, then build the wheel with hatch.\n"


def write_all(folder) -> dict[str, str]:
    """Write a sample of every kind; kind → path below the folder."""
    files = {
        "instructions": ("CLAUDE.md", CLAUDE_MD),
        "cursor": (".cursor/rules/api.mdc", RULE),
        "claude-memory": ("auto/deploy.md", NOTE),
        "serena": (".serena/memories/task_completion.md", SERENA),
        "mem0": ("mem0.json", json.dumps(MEM0)),
        "neolata": ("graph.json", json.dumps(NEOLATA)),
        "markdown": ("plain/release.md", PLAIN),
    }
    for path, text in files.values():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (folder / "auto" / "MEMORY.md").write_text("# Memory\n\n- [Deploys](deploy.md) — Fridays\n", encoding="utf-8")
    build(folder / "memories.db", ROWS[:1])
    as_folders = ("claude-memory", "cursor", "serena", "markdown")
    found = {kind: path.rpartition("/")[0] if kind in as_folders else path for kind, (path, _) in files.items()}
    return {**found, "memory-lane": "memories.db"}
