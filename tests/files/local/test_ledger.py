"""The ledger: every operation once, whatever happens in between, and no change of a byte that is not found."""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rawkomem.files.journal import MAX_SPOOL_BYTES, note_recalls, recall_line
from rawkomem.files.layout import Layout
from rawkomem.files.ledger import (
    GENESIS,
    MAX_BLOCKS_BYTES,
    forget_in_ledger,
    last_blocks,
    latest_operations,
    seal_ledger,
    verify_ledger,
)
from rawkomem.files.private import append_to_spool, ledger_path, make_private_folder
from rawkomem.format.yamo import read_yamo_block
from rawkomem.model.entries import Entry, Task

from tests.commands import ENVIRONMENT
from tests.cpu import cpu_seconds, start_seconds

AT = 1_769_164_200_000
VERIFY_STARTS = 60  # for 10,000 blocks; a start is what `python -c pass` takes
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.fixture
def layout(project) -> Layout:
    return Layout(str(project / ".rawko"))


def recall(number: int, query: str = "") -> str:
    return recall_line(AT + number, "planner", query or f"question {number}", 10, "", 1, 1.0, 0.5)


def fill(layout: Layout, count: int, size: int = 10**9) -> None:
    append_to_spool(layout, [recall(number) for number in range(count)])
    assert seal_ledger(layout) == count


def folder(layout: Layout) -> Path:
    return Path(ledger_path(layout))


def chain_files(layout: Layout) -> list[Path]:
    return sorted(path for path in folder(layout).iterdir() if path.suffix in (".jsonl", ".json"))


# What is noted


def test_every_operation_is_a_block(repository, layout):
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


def test_why_is_no_recall(repository):
    stored = repository.add(Entry(title="Why apsw", body="x", when=("sqlite",))).entry
    repository.explain(stored.id, Task("upgrade sqlite"))
    assert [row.operation_type for row in repository.ledger.blocks()] == ["retain"]


@pytest.mark.parametrize(
    ("setting", "noted"), [("on", ["retain", "recall"]), ("writes", ["retain"]), ("off", []), ("false", [])]
)
def test_the_user_chooses(setting, noted, project, rawkomem):
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "rawkomem" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(f"ledger: {setting}\n")
    rawkomem("add", "--title", "Why", "--body", "x")
    rawkomem("search", "why")
    told = json.loads(rawkomem("index", "ledger", "export", "--json").stdout)
    assert [row["operation_type"] for row in told] == noted
    assert (project / ".rawko/local/ledger").exists() == bool(noted)


def test_a_repository_cannot_switch_it_off(project, rawkomem):
    (project / ".rawko/config.yaml").write_text("ledger: off\n")
    done = rawkomem("add", "--title", "Why", "--body", "x")
    assert "ledger may be set in your own config only" in done.stderr
    assert "retain" in rawkomem("index", "ledger", "show").stdout


@pytest.mark.parametrize("question", [f"where is {KEY}", "password=Zk8vQ2pLx9w", "mail bob@example.com"])
def test_questions_are_redacted_before_they_wait(question, repository, layout):
    repository.search(question)
    repository.inject(Task(question))
    waiting = Path(ledger_path(layout, "spool.tsv")).read_text()
    assert waiting.count("[REDACTED_") == 2 and question.split()[-1] not in waiting
    text = "".join(row.yamo_text for row in repository.ledger.blocks())
    assert "[REDACTED_" in text and question.split()[-1] not in text


def test_a_long_spool_is_sealed_by_a_recall(layout):
    line = recall(1, "word " * 90)
    many = MAX_SPOOL_BYTES // len(line) + 2
    for _ in range(many):
        note_recalls(layout, [line])
    sealed = verify_ledger(layout).blocks
    assert sealed > many / 2 and seal_ledger(layout) == many - sealed


def test_a_read_only_folder_keeps_nobody_from_an_answer(repository, layout):
    repository.add(Entry(title="Why apsw", body="Extensions."))
    for path in folder(layout).iterdir():
        path.unlink()
    folder(layout).rmdir()
    folder(layout).write_text("a file in the place of the folder")
    assert repository.search("extensions")
    repository.add(Entry(title="Another", body="Stored all the same."))
    assert any("not in the ledger" in text for text in repository.warnings)


@pytest.mark.parametrize("name", ["", "spool.tsv", "blocks-000001.jsonl"])
def test_nothing_is_written_through_links(name, repository, layout, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    if name:
        make_private_folder(str(folder(layout)))
        (folder(layout) / name).symlink_to(elsewhere / "victim")
    else:
        make_private_folder(layout.local)
        folder(layout).symlink_to(elsewhere)
    repository.add(Entry(title="Stored", body="all the same"))
    assert repository.search("stored") and os.listdir(elsewhere) == []
    assert any("not in the ledger" in text for text in repository.warnings)


# What is found


def test_every_flipped_byte_is_found(layout):
    flip_every_byte(layout, 2, masks=(0x01,))


@pytest.mark.slow
def test_every_flipped_byte_of_several_blocks_is_found(layout):
    flip_every_byte(layout, 4, masks=(0x01, 0x20))


def flip_every_byte(layout: Layout, blocks: int, masks: tuple[int, ...]) -> None:
    fill(layout, blocks)
    for path in chain_files(layout):
        whole = path.read_bytes()
        for place in range(len(whole)):
            for mask in masks:
                path.write_bytes(whole[:place] + bytes([whole[place] ^ mask]) + whole[place + 1 :])
                assert verify_ledger(layout).problems, (path.name, place, mask)
        path.write_bytes(whole)
    assert not verify_ledger(layout).problems


def test_random_flips_in_a_large_one_are_located(layout):
    fill(layout, 200)
    (path,) = folder(layout).glob("blocks-*.jsonl")
    whole, source = path.read_bytes(), random.Random(5)
    for _ in range(25):
        place = source.randrange(len(whole))
        flipped = whole[place] ^ (1 << source.randrange(8))
        path.write_bytes(whole[:place] + bytes([flipped]) + whole[place + 1 :])
        block = whole[:place].count(b"\n") + 1
        first = verify_ledger(layout).problems[0]
        assert first.message.startswith(f"block {block}") and first.path == f"{path.name}:{block}", (place, first)


@pytest.mark.parametrize(
    ("damage", "block"),
    [
        (lambda lines: lines[:3] + lines[4:], 4),  # removed: the next one does not follow
        (lambda lines: [*lines[:3], lines[0], *lines[3:]], 4),  # inserted
        (lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]], 4),  # swapped
        (lambda lines: lines[1:], 1),
        (lambda lines: [lines[0][:-40], *lines[1:]], 1),  # torn in the middle
    ],
)
def test_moved_blocks_are_located(damage, block, layout):
    fill(layout, 8)
    (path,) = folder(layout).glob("blocks-*.jsonl")
    path.write_bytes(b"".join(damage(path.read_bytes().splitlines(keepends=True))))
    assert verify_ledger(layout).problems[0].message.startswith(f"block {block}")


@pytest.mark.parametrize("cut", [2, 50, 700, 10**9])
def test_a_cut_off_tail_is_found_and_stays_found(cut, layout):
    fill(layout, 8)
    (path,) = folder(layout).glob("blocks-*.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole[: max(0, len(whole) - cut)])
    assert verify_ledger(layout).problems
    append_to_spool(layout, [recall(99)])
    assert seal_ledger(layout) == 1
    assert verify_ledger(layout).problems and b"question 99" in path.read_bytes()  # the gap shows for ever


@pytest.mark.parametrize("name", ["blocks-000001.jsonl", "head.json"])
def test_a_missing_file_is_found(name, layout):
    fill(layout, 8)
    (folder(layout) / name).unlink()
    assert verify_ledger(layout).problems


def test_a_lost_head_is_noted_for_ever(layout):
    fill(layout, 8)
    (folder(layout) / "head.json").unlink()
    append_to_spool(layout, [recall(99)])
    seal_ledger(layout)
    verdict = verify_ledger(layout)
    assert verdict.blocks == 9 and not verdict.problems and "8 blocks were there" in verdict.notes[0]


def test_a_deleted_ledger_is_one_that_begins_today(layout, repository):
    fill(layout, 8)
    for path in folder(layout).iterdir():
        path.unlink()
    assert verify_ledger(layout).blocks == 0 and not verify_ledger(layout).problems
    repository.add(Entry(title="Later", body="x"))
    verdict = verify_ledger(layout)
    assert (verdict.blocks, verdict.problems) == (1, ()) and verdict.since > AT + 1_000


def test_files_are_rotated_and_the_chain_goes_on(layout, monkeypatch):
    monkeypatch.setattr("rawkomem.files.ledger.MAX_BLOCKS_BYTES", 3_000)
    for start in range(0, 30, 3):
        append_to_spool(layout, [recall(start + number) for number in range(3)])
        seal_ledger(layout)
    files = sorted(folder(layout).glob("blocks-*.jsonl"))
    assert len(files) > 5 and all(path.stat().st_size < 5_000 for path in files)
    assert verify_ledger(layout).blocks == 30 and not verify_ledger(layout).problems
    files[2].unlink()
    assert verify_ledger(layout).problems
    assert MAX_BLOCKS_BYTES > 3_000


def test_torn_lines_are_skipped(layout):
    append_to_spool(layout, [recall(1)])
    with open(ledger_path(layout, "spool.tsv"), "ab") as stream:
        stream.write(b"\nrecall\t17691\xff")
    append_to_spool(layout, [recall(2)])
    assert seal_ledger(layout) == 2 and not verify_ledger(layout).problems


def test_the_latest_are_found_without_sealing(layout, monkeypatch):
    assert latest_operations(layout, "recall", 5) == []
    monkeypatch.setattr("rawkomem.files.ledger.MAX_BLOCKS_BYTES", 3_000)
    for number in range(30):
        append_to_spool(layout, [recall(number)])
        seal_ledger(layout)
    append_to_spool(layout, [recall(30)])
    os.rename(ledger_path(layout, "spool.tsv"), folder(layout) / "batch-1")
    append_to_spool(layout, [recall(31), "torn", recall(32)])
    before = {path: path.read_bytes() for path in folder(layout).iterdir()}

    def times(operation: str, most: int) -> list[int]:
        return [row.timestamp - AT for row in latest_operations(layout, operation, most)]

    assert times("recall", 5) == [32, 31, 30, 29, 28] and times("retain", 5) == []
    assert times("recall", 100) == [*range(32, -1, -1)]
    assert {path: path.read_bytes() for path in folder(layout).iterdir()} == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="for want of pipes")
def test_the_latest_wait_for_no_pipe(layout):
    fill(layout, 3)
    os.mkfifo(ledger_path(layout, "spool.tsv"))
    assert len(latest_operations(layout, "recall", 5)) == 3


# Killed in between


def test_killed_before_the_head_was_written(layout, monkeypatch):
    fill(layout, 3)
    append_to_spool(layout, [recall(7), recall(8)])
    with monkeypatch.context() as patch:
        patch.setattr("rawkomem.files.ledger.write_head", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            seal_ledger(layout)
    assert (
        len(list(last_blocks(layout))) == 5 and verify_ledger(layout).blocks == 3 and not verify_ledger(layout).problems
    )
    append_to_spool(layout, [recall(9)])
    assert seal_ledger(layout) == 3
    assert [row.timestamp - AT for row in last_blocks(layout)] == [0, 1, 2, 7, 8, 9] and not verify_ledger(
        layout
    ).problems


def test_killed_before_the_batch_was_removed(layout, monkeypatch):
    append_to_spool(layout, [recall(1), recall(2)])
    with monkeypatch.context() as patch:
        patch.setattr("os.unlink", lambda path: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            seal_ledger(layout)
    assert seal_ledger(layout) == 0
    assert [row.timestamp - AT for row in last_blocks(layout)] == [1, 2] and not verify_ledger(layout).problems
    assert not list(folder(layout).glob("batch-*"))


CHILD = """
import sys
from rawkomem.files.layout import Layout
from rawkomem.files.journal import recall_line
from rawkomem.files.ledger import seal_ledger
from rawkomem.files.private import append_to_spool

layout, start = Layout(sys.argv[1]), int(sys.argv[2])
for number in range(start, start + int(sys.argv[3])):
    assert append_to_spool(layout, [recall_line(number, "w", f"question {number}", 10, "", 1, 1.0, 0.5)]) or "sealed"
    print(number, flush=True)
    if number % 3 == 0:
        seal_ledger(layout)
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
    seal_ledger(layout, 30.0)
    found = [row.timestamp for row in last_blocks(layout)]
    assert len(found) == len(set(found)), "doubled"
    assert acknowledged <= set(found), "lost"
    assert not verify_ledger(layout).problems


def test_killed_at_any_moment(layout):
    kill_some(layout, 4, random.Random(1))


@pytest.mark.slow
def test_killed_at_any_moment_many_times(layout):
    kill_some(layout, 60, random.Random(2))


def test_many_writers_at_once(layout):
    """Nothing is lost, nothing is doubled, and the chain holds."""
    processes = [child(layout, 1_000 * number, 60) for number in range(1, 4)]
    assert [process.wait() for process in processes if process.communicate()] == [0] * 3
    seal_ledger(layout, 30.0)
    found = sorted(row.timestamp for row in last_blocks(layout))
    assert found == [1_000 * number + count for number in range(1, 4) for count in range(60)]
    assert not verify_ledger(layout).problems


# Purging, commands, speed


def test_a_purged_memory_leaves_no_words(repository, layout):
    kept = repository.add(Entry(title="Kept", body="This stays here.")).entry
    secret = repository.add(Entry(title="Leak", body="The phrase is violet harbour.")).entry
    repository.search("something else")
    repository.search("where is the VIOLET thing")
    repository.lifecycle.purge(secret.id)
    text = b"".join(path.read_bytes() for path in folder(layout).iterdir()).decode()
    assert "violet" not in text.lower() and "something else" in text and "This stays here." in text and kept.id in text
    verdict = repository.ledger.verify()
    assert not verdict.problems and verdict.blocks == 4 and "2 blocks were purged" in verdict.notes[0]
    repository.add(Entry(title="After", body="The chain goes on."))
    assert verify_ledger(layout).blocks == 5 and not verify_ledger(layout).problems
    assert forget_in_ledger(layout, "mem_unknown") == 0


def test_commands(project, rawkomem):
    rawkomem("add", "--title", "Why apsw", "--body", "Extensions; of sqlite")
    rawkomem("search", "load an extension")
    shown = rawkomem("index", "ledger", "show").stdout.splitlines()
    assert len(shown) == 2 and "recall" in shown[0] and "retain" in shown[1]
    id = shown[1].split()[-1]
    assert "content_preview;Extensions, of sqlite;" in rawkomem("index", "ledger", "show", id).stdout
    assert len(json.loads(rawkomem("index", "ledger", "show", "--op", "recall", "--json").stdout)) == 1
    assert rawkomem("index", "ledger", "export").stdout.count("handoff: End;") == 2
    told = json.loads(rawkomem("index", "ledger", "verify", "--json").stdout)
    assert told["whole"] and told["blocks"] == 2 and len(told["last_hash"]) == 64
    path = project / ".rawko/local/ledger/blocks-000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b"Extensions,", b"extensions,"))
    rawkomem("search", "another question")
    before = path.read_bytes()
    broken = rawkomem("index", "ledger", "verify", check=1)
    assert "block 1 (yamo_retain_" in broken.stdout and "blocks-000001.jsonl:1" in broken.stdout
    assert path.read_bytes() == before  # evidence is left alone


def test_no_ledger_yet(rawkomem):
    assert "no blocks" in rawkomem("index", "ledger", "verify").stdout
    assert rawkomem("index", "ledger", "export").stdout == ""


@pytest.mark.time
def test_ten_thousand_blocks_verify_in_time(layout, rawkomem, capsys):
    fill(layout, 10_000)

    start = start_seconds()
    took = statistics.median(cpu_seconds(lambda: rawkomem.process("index", "ledger", "verify")) for _ in range(5))
    with capsys.disabled():
        print(f"\n10,000 blocks verify in {took:.2f} s: {took / start:.0f} starts of {start * 1000:.0f} ms")
    assert took / start <= VERIFY_STARTS
