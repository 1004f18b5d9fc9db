"""The ledger: every operation once, whatever happens in between, and no change of a block that is not found."""

import os
import random
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from rawkomem.files.blocks import GENESIS
from rawkomem.files.journal import append_blocks, recall_row
from rawkomem.files.layout import Layout
from rawkomem.files.ledger import forget_in_ledger, last_blocks, latest_recalls, verify_ledger
from rawkomem.files.records import change, close_records, read
from rawkomem.format.yamo import build_block, emit_yamo, read_yamo_block
from rawkomem.model.entries import Entry, Task
from rawkomem.model.values import DAY, now
from rawkomem.repository import Repository

from tests.commands import ENVIRONMENT, cases
from tests.cpu import cpu_seconds, start_seconds
from tests.faces.mesh.conftest import write_user_config

AT = 1_769_164_200_000
VERIFY_STARTS = 60  # for 10,000 blocks; a start is what `python -c pass` takes
KEEP_DAYS = 100
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def recall(number: int):
    return recall_row(AT + number, "planner", f"question {number}", 10, "", 1, 1.0, 0.5)


def fill(layout: Layout, count: int) -> None:
    append_blocks(layout, [recall(number) for number in range(count)])


def run_sql(layout: Layout, sql: str, *values: object) -> None:
    with change(layout) as db:
        db.execute(sql, values)


def test_every_operation_is_a_block(repository):
    stored = repository.add(Entry(title="Why apsw", body="Many Pythons cannot load extensions.", by="alice")).entry
    repository.amend(stored.id, Entry(body="No Python of ours can.", by="alice"))
    repository.search("load an extension")
    repository.inject(Task("upgrade sqlite", agent="developer"))
    repository.add(
        Entry(kind="reflection", title="Loading", body="It rarely works.", extra={"derivedFrom": [stored.id]})
    )
    repository.add(Entry(kind="skill", title="Loader", body="Use apsw.", extra={"derivedFrom": [stored.id]}))
    repository.add(Entry(kind="skill", title="Another", body="Not made from memories."))
    repository.feedback(stored.id, "helpful")
    repository.delete(stored.id, "obsolete", "alice")
    found = repository.ledger.blocks()
    assert [row.operation_type for row in found] == [
        "retain", "retain", "recall", "recall", "reflect", "synthesize", "retain", "delete"
    ]  # fmt: skip
    assert all(
        row.id.startswith(f"yamo_{row.operation_type}_{row.timestamp}_") and len(row.id.split("_")[-1]) == 6
        for row in found
    )
    first = read_yamo_block(found[0].yamo_text)[0]
    assert first.value("context", "memory_id") == stored.id and first.value("context", "content_length") == "36"
    assert first.agent == "MemoryMesh_alice" and found[0].prev_hash == GENESIS
    assert [row.prev_hash for row in found[1:]] == [row.block_hash for row in found[:-1]]
    assert read_yamo_block(found[2].yamo_text)[0].value("output", "results_found") == "1"
    assert read_yamo_block(found[3].yamo_text)[0].agent == "MemoryMesh_developer"
    assert read_yamo_block(found[-1].yamo_text)[0].value("meta", "rationale") == "obsolete"
    assert repository.ledger.verify().problems == ()


@given(query=some.text(alphabet="aß;\n\r%3Bb ", max_size=30), agent=some.sampled_from(["", "ä b", "x"]))
def test_a_recall_is_the_block_that_its_template_says(query, agent):
    values = {"query": query, "limit": "10", "filter": "", "found": "2", "score": "1.0000", "confidence": "0.5000"}
    expected = emit_yamo(build_block("recall", agent, AT, **values))
    assert recall_row(AT, agent, query, 10, "", 2, 1.0, 0.5).yamo_text == expected


def test_why_is_no_recall(repository):
    stored = repository.add(Entry(title="Why apsw", body="x", when=("sqlite",))).entry
    repository.explain(stored.id, Task("upgrade sqlite"))
    assert [row.operation_type for row in repository.ledger.blocks()] == ["retain"]


@pytest.mark.parametrize(
    ("setting", "noted"), [("on", ["retain", "recall"]), ("writes", ["retain"]), ("off", []), ("false", [])]
)
def test_the_user_chooses(setting, noted, rawkomem):
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "rawkomem" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(f"ledger: {setting}\n")
    rawkomem("add", "--title", "Why", "--body", "x")
    rawkomem("search", "why")
    told = rawkomem.json("index", "ledger", "export")
    assert [row["operation_type"] for row in told] == noted


def test_a_repository_cannot_switch_it_off(project, rawkomem):
    (project / ".rawko/config.yaml").write_text("ledger: off\n")
    done = rawkomem("add", "--title", "Why", "--body", "x")
    assert "ledger may be set in your own config only" in done.stderr
    assert "retain" in rawkomem("index", "ledger", "show").stdout


@pytest.mark.parametrize("question", [f"where is {KEY}", "password=Zk8vQ2pLx9w", "mail bob@example.com"])
def test_questions_are_redacted(question, repository):
    repository.search(question)
    repository.inject(Task(question))
    text = "".join(row.yamo_text for row in repository.ledger.blocks())
    assert text.count("[REDACTED_") >= 2 and question.split()[-1] not in text


def test_the_latest_are_found(layout):
    assert latest_recalls(layout, 5) == []
    fill(layout, 30)
    assert [row.timestamp - AT for row in latest_recalls(layout, 3)] == [29, 28, 27]
    assert [row.timestamp - AT for row in last_blocks(layout, 2)] == [28, 29] and len(last_blocks(layout)) == 30


@pytest.mark.parametrize(
    "column", ["id", "agent_id", "operation_type", "timestamp", "yamo_text", "prev_hash", "block_hash"]
)
def test_a_changed_block_is_located(column, layout):
    fill(layout, 8)
    for number in (1, 4, 8):
        (before,) = read(layout, f"SELECT {column} FROM blocks WHERE number = ?", number)[0]
        value = before + 1 if column == "timestamp" else f"{before[:-1]}!"
        run_sql(layout, f"UPDATE blocks SET {column} = ? WHERE number = ?", value, number)
        first = verify_ledger(layout).problems[0]
        assert first.code == "block-changed" and first.message.startswith(f"block {number} (")
        run_sql(layout, f"UPDATE blocks SET {column} = ? WHERE number = ?", before, number)
    assert not verify_ledger(layout).problems


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        ("DELETE FROM blocks WHERE number = 4", "block-order"),
        ("DELETE FROM blocks WHERE number = 1", "block-order"),
        ("DELETE FROM blocks WHERE number > 5", "wrong-end"),
        ("DELETE FROM blocks", "wrong-end"),
        ("DELETE FROM chain", "block-order"),
        ("UPDATE chain SET last_hash = follows", "wrong-end"),
        ("UPDATE blocks SET number = CASE number WHEN 4 THEN -5 ELSE 4 END WHERE number IN (4, 5)", "block-order"),
    ],
)
def test_a_removed_or_moved_block_is_found_and_stays_found(damage, code, layout):
    fill(layout, 8)
    run_sql(layout, damage)
    assert verify_ledger(layout).problems[0].code == code
    append_blocks(layout, [recall(99)])
    assert verify_ledger(layout).problems and last_blocks(layout)[-1].timestamp == AT + 99


def test_a_deleted_ledger_is_one_that_begins_today(layout, repository):
    fill(layout, 8)
    close_records()
    for path in Path(layout.local).glob("local-*"):
        path.unlink()
    assert verify_ledger(layout).blocks == 0 and not verify_ledger(layout).problems
    repository.add(Entry(title="Later", body="x"))
    verdict = verify_ledger(layout)
    assert (verdict.blocks, verdict.problems) == (1, ()) and verdict.since > AT + 1_000


CHILD = """
import sys
from rawkomem.files.layout import Layout
from rawkomem.files.journal import append_blocks, recall_row

layout, start = Layout(sys.argv[1]), int(sys.argv[2])
for number in range(start, start + int(sys.argv[3])):
    append_blocks(layout, [recall_row(number, "w", f"question {number}", 10, "", 1, 1.0, 0.5)])
    print(number, flush=True)
"""


def child(layout: Layout, start: int, count: int) -> subprocess.Popen:
    words = [sys.executable, "-c", CHILD, layout.root, str(start), str(count)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)


def kill_some(layout: Layout, rounds: int, source: random.Random) -> None:
    acknowledged: set[int] = set()
    for round in range(rounds):
        process = child(layout, 1_000_000 * (round + 1), 100_000)
        acknowledged.add(int(process.stdout.readline()))
        time.sleep(source.uniform(0, 0.15))
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate()
        acknowledged |= {int(line) for line in out.splitlines(keepends=True) if line.endswith("\n")}
        assert not verify_ledger(layout).problems
    found = [row.timestamp for row in last_blocks(layout)]
    assert len(found) == len(set(found)), "doubled"
    assert acknowledged <= set(found), "lost"


def test_killed_at_any_moment(layout):
    kill_some(layout, 4, random.Random(1))


@pytest.mark.slow
def test_killed_at_any_moment_many_times(layout):
    kill_some(layout, cases(60, 20), random.Random(2))


def test_many_writers_at_once(layout):
    """Nothing is lost, nothing is doubled, and the chain holds."""
    processes = [child(layout, 1_000 * number, 60) for number in range(1, 4)]
    assert [process.wait() for process in processes if process.communicate()] == [0] * 3
    found = sorted(row.timestamp for row in last_blocks(layout))
    assert found == [1_000 * number + count for number in range(1, 4) for count in range(60)]
    assert not verify_ledger(layout).problems


@pytest.fixture
def old(layout) -> Layout:
    """A ledger of 40 recalls, one for each tenth day."""
    times = [now() - (400 - 10 * number) * DAY for number in range(40)]
    append_blocks(layout, [recall_row(at, "planner", f"question {at}", 10, "", 1, 1.0, 0.5) for at in times])
    return layout


def oldest_days(layout: Layout) -> int:
    return (now() - last_blocks(layout)[0].timestamp) // DAY


def test_old_blocks_leave_and_the_rest_is_verified(old):
    append_blocks(old, [recall_row(now(), "", "q", 1, "", 0, 0.0, 0.0)])
    assert len(last_blocks(old)) == 41
    for _ in range(2):
        append_blocks(old, [recall_row(now(), "", "q", 1, "", 0, 0.0, 0.0)], KEEP_DAYS)
    verdict = verify_ledger(old)
    assert verdict.problems == () and verdict.blocks == 12 and oldest_days(old) <= KEEP_DAYS
    assert len(verdict.notes) == 1 and "31 blocks older than" in verdict.notes[0]
    assert forget_in_ledger(old, "mem_x", ["question"]) == 9 and verify_ledger(old).problems == ()
    run_sql(old, "DELETE FROM blocks WHERE number = (SELECT min(number) FROM blocks)")
    assert {problem.code for problem in verify_ledger(old).problems} == {"block-order", "wrong-end"}


@pytest.mark.parametrize("own", [True, False])
def test_only_the_user_sets_the_days(own, old, project):
    if own:
        write_user_config(f"keepDays: {{ledger: {KEEP_DAYS}}}\n")
    else:
        (project / ".rawko" / "config.yaml").write_text("keepDays: {ledger: 1}\n")
    with Repository.open(str(project), warn=lambda _: None) as repository:
        repository.add("Deploy with care.", title="Deploy")
    assert (oldest_days(old) <= KEEP_DAYS) == own and verify_ledger(old).problems == ()


def test_a_purged_memory_leaves_no_words(repository, layout):
    kept = repository.add(Entry(title="Kept", body="This stays here.")).entry
    secret = repository.add(Entry(title="Leak", body="The phrase is violet harbour.")).entry
    repository.search("something else")
    repository.search("where is the VIOLET thing")
    repository.lifecycle.purge(secret.id)
    text = b"".join(path.read_bytes() for path in Path(layout.local).glob("local-*")).decode("latin-1")
    assert "violet" not in text.lower() and "something else" in text and "This stays here." in text and kept.id in text
    verdict = repository.ledger.verify()
    assert not verdict.problems and verdict.blocks == 4 and "2 blocks were purged" in verdict.notes[0]
    repository.add(Entry(title="After", body="The chain goes on."))
    assert verify_ledger(layout).blocks == 5 and not verify_ledger(layout).problems
    assert forget_in_ledger(layout, "mem_unknown") == 0


def test_commands(layout, rawkomem):
    assert "no blocks" in rawkomem("index", "ledger", "verify").stderr
    assert rawkomem("index", "ledger", "export").stdout == ""
    rawkomem("add", "--title", "Why apsw", "--body", "Extensions; of sqlite")
    rawkomem("search", "load an extension")
    shown = rawkomem("index", "ledger", "show").stdout.splitlines()
    assert len(shown) == 2 and "recall" in shown[0] and "retain" in shown[1]
    id = shown[1].split()[-1]
    assert "content_preview;Extensions, of sqlite;" in rawkomem("index", "ledger", "show", id).stdout
    assert len(rawkomem.json("index", "ledger", "show", "--op", "recall")) == 1
    assert rawkomem("index", "ledger", "export").stdout.count("handoff: End;") == 2
    told = rawkomem.json("index", "ledger", "verify")
    assert told["whole"] and told["blocks"] == 2 and len(told["last_hash"]) == 64
    run_sql(layout, "UPDATE blocks SET yamo_text = replace(yamo_text, 'Extensions', 'extensions')")
    assert "block 1 (yamo_retain_" in rawkomem("index", "ledger", "verify", check=1).stdout


@pytest.mark.time
def test_ten_thousand_blocks_verify_in_time(layout, rawkomem, capsys):
    fill(layout, 10_000)
    start = start_seconds()
    took = statistics.median(cpu_seconds(lambda: rawkomem.process("index", "ledger", "verify")) for _ in range(5))
    with capsys.disabled():
        print(f"\n10,000 blocks verify in {took:.2f} s: {took / start:.0f} starts of {start * 1000:.0f} ms")
    assert took / start <= VERIFY_STARTS
