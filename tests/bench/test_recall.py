"""`bench recall` measures what the prompt hook injects."""

import json
import lzma

import pytest
from rawkomem.bench.recall import injected_of, measure_recall, replay_here, turns_before
from rawkomem.faces.cli import run
from rawkomem.files.session_records import uses
from rawkomem.hosts.replay import recorded_pasts
from tools.measure_stores import measure_stores

from tests.commands import run_here
from tests.learn.session.sessions import claude_code

MEMORIES = [
    {"id": "pnpm", "title": "Use pnpm", "text": "The lock file is pnpm's; npm breaks CI.", "when": ["npm|pnpm"]},
    {"id": "tabs", "title": "Tabs in Makefiles", "text": "Indent recipes with a tab.", "when": ["**/*.mk", "makefile"]},
]
QUERIES = [
    {"q": "install left-pad with npm", "relevant": ["pnpm"], "acceptable": [], "category": "task", "source": "01.1"},
    {"q": "edit the makefile", "relevant": [], "acceptable": ["tabs"], "category": "task"},
    {"q": "is npm fine in a makefile?", "relevant": [], "acceptable": ["tabs"], "category": "question"},
    {"q": "thanks!", "relevant": [], "acceptable": [], "category": "question", "touched": ["a.py"], "lately": "Done."},
]


TALK = [
    ("user", "thanks for the help with npm"), ("assistant", "What next?"),
    ("user", "install left-pad with npm"), ("assistant", "It is installed."),
    ("user", "This session is being continued from a previous conversation. The summary: npm."),
]  # fmt: skip
SESSION = {"id": "shop/01", "records": [json.loads(line) for line in claude_code(TALK).splitlines()]}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    (folder / "set.json").write_text(json.dumps({"memories": MEMORIES, "queries": QUERIES}))
    (folder / "sessions.json.xz").write_bytes(lzma.compress(json.dumps({"sessions": [SESSION]}).encode()))
    return str(folder / "set.json"), str(folder / "sessions.json.xz")


def test_the_definitions():
    row = {"relevant": {"a", "b"}, "acceptable": {"c"}, "injected": {"a", "c", "d"}, "tokens": 30, "pointers": set()}
    empty = {"relevant": set(), "acceptable": {"c"}, "tokens": 0, "pointers": {"x"}}
    rows = [
        row,
        {**row, "injected": set(), "pointers": {"b", "x"}},
        {**empty, "injected": {"c"}},
        {**empty, "injected": {"c", "x"}},
    ]
    assert injected_of(rows) == {
        "prompts": 4, "items": 6, "precision": 0.1667, "precision_acceptable": 0.6667, "hit": 0.5,
        "hit_with_pointers": 1.0, "false_injection": 0.5, "tokens_per_prompt": 15.0, "pointers_per_prompt": 1.0,
    }  # fmt: skip
    assert injected_of([])["hit"] is None


def test_prompts_and_sessions_are_asked_through_the_hook(files):
    report = measure_recall(files[0], "", lambda text: None, sessions=[files[1]])
    injected = report["injected"]
    assert injected["prompts"] == 4 and injected["hit"] == 1.0 and injected["tokens_per_prompt"] > 0
    assert injected["false_injection"] == 0.3333 and injected["categories"]["question"]["false_injection"] == 0.5
    assert injected["categories"]["task"]["precision_acceptable"] == 1.0
    assert report["sessions"]["prompts"] == 2 and report["sessions"]["injections"] == 1  # told once


def test_what_came_before_a_prompt_is_found_by_number_and_by_text(files):
    pasts = recorded_pasts([files[1]])
    before = turns_before(pasts, "01.1", "install left-pad with npm")
    assert before[-1].text.endswith("What next?") and "left-pad" not in before[-1].text
    assert turns_before(pasts, "01.7", "install left-pad with npm ") == before
    assert turns_before(pasts, "02.1", "install left-pad with npm") == ()
    assert turns_before(pasts, "01.1", "other words") == ()


def test_a_repository_is_replayed_in_a_copy(files, repository, memories):
    (memories / "pnpm.md").write_text("---\nid: pnpm\ntitle: Use pnpm\nwhenToUse: [npm]\n---\nnpm breaks CI.\n")
    report = replay_here(repository.layout.project, [files[1]], lambda text: None)
    assert report["sessions"]["prompts"] == 2 and report["sessions"]["items"] == 1
    assert uses(repository.layout) == []


def test_the_command_prints_a_table_and_asks_for_a_file(files, tmp_path):
    done = run_here(run, ("bench", "recall", files[0], "--sessions", files[1]), input="", cwd=tmp_path, env={})
    assert "false_injection" in done.stdout and "question" in done.stdout and "repeats" in done.stdout
    done = run_here(run, ("bench", "recall"), input="", cwd=tmp_path, env={})
    assert done.returncode == 2 and "--sessions" in done.stderr
    done = run_here(run, ("bench", "recall", files[0], "--sessions", files[0]), input="", cwd=tmp_path, env={})
    assert done.returncode == 2 and "cannot read sessions" in done.stderr


# tools/measure_stores.py: what it tells of each store is what was put into it
def test_stores_are_measured_on_the_same_memories():
    told: list[str] = []
    sqlite, memory = measure_stores(30, ("sqlite", "memory"), told.append)
    assert (sqlite.store, memory.store) == ("sqlite", "memory") and {sqlite.memories, memory.memories} == {30}
    assert sqlite.passages == memory.passages > 30
    assert all(0 < row.p50_ms <= row.p95_ms and row.fill_s > 0 for row in (sqlite, memory))
    assert sqlite.mb > 0 == memory.mb and len(told) == 5
