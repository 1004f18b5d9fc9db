"""Old blocks leave the ledger by whole files, and what is left is still a chain from its first block to its head."""

from __future__ import annotations

import os

import pytest
from rawkomem.files import ledger
from rawkomem.files.journal import recall_line
from rawkomem.files.layout import Layout
from rawkomem.files.ledger import forget_in_ledger, last_blocks, read_head, seal_ledger, verify_ledger
from rawkomem.files.private import append_to_spool, ledger_path
from rawkomem.model.values import DAY, now
from rawkomem.repository import Repository

from tests.faces.mesh.conftest import write_user_config

DAYS = 100


@pytest.fixture
def layout(project, monkeypatch) -> Layout:
    """A ledger of 40 recalls, one for each tenth day, ten in a file or so."""
    monkeypatch.setattr(ledger, "MAX_BLOCKS_BYTES", 8_000)
    layout = Layout(str(project / ".rawko"))
    note(layout, *(now() - (400 - 10 * number) * DAY for number in range(40)))
    assert len(files(layout)) > 3 and verify_ledger(layout).problems == ()
    return layout


def note(layout: Layout, *times: int) -> None:
    append_to_spool(layout, [recall_line(at, "planner", f"question {at}", 10, "", 1, 1.0, 0.5) for at in times])
    assert seal_ledger(layout) == len(times)


def files(layout: Layout) -> list[str]:
    return ledger.ledger_names(layout, ledger.BLOCKS_PREFIX)


def ages(layout: Layout) -> list[int]:
    return [(now() - row.timestamp) // DAY for row in last_blocks(layout)]


def test_old_blocks_leave_and_the_rest_is_verified(layout):
    gone = ledger.trim_ledger(layout, DAYS)
    assert 20 < gone < 31 and len(ages(layout)) == 40 - gone
    assert min(ages(layout)) < DAYS and max(ages(layout)) < 200
    verdict = verify_ledger(layout)
    assert verdict.problems == () and verdict.blocks == 40 - gone and f"{gone} blocks older than" in verdict.notes[-1]
    assert ledger.trim_ledger(layout, DAYS) == 0 and len(verify_ledger(layout).notes) == 1


def test_zero_days_keep_everything(layout):
    assert ledger.trim_ledger(layout, 0) == 0 and len(ages(layout)) == 40


def test_the_chain_goes_on_after_blocks_were_removed(layout):
    kept = 40 - ledger.trim_ledger(layout, DAYS)
    note(layout, now())
    assert verify_ledger(layout).problems == () and verify_ledger(layout).blocks == kept + 1


def test_a_change_of_what_is_left_is_found(layout):
    ledger.trim_ledger(layout, DAYS)
    file = ledger_path(layout, files(layout)[0])
    with open(file, "r+b") as stream:
        data = stream.read().replace(b"question", b"Question", 1)
        stream.seek(0)
        stream.write(data)
    assert "block-changed" in {problem.code for problem in verify_ledger(layout).problems}


def test_removing_one_more_file_by_hand_is_found(layout):
    ledger.trim_ledger(layout, DAYS)
    os.unlink(ledger_path(layout, files(layout)[0]))
    assert {"block-order", "wrong-end"} <= {problem.code for problem in verify_ledger(layout).problems}


def test_a_kill_between_the_head_and_the_files_is_finished_by_the_next_run(layout, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(ledger.os, "unlink", lambda path: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            ledger.trim_ledger(layout, DAYS)
    assert verify_ledger(layout).problems == () and max(ages(layout)) < 200
    before = files(layout)
    ledger.trim_ledger(layout, DAYS)
    assert len(files(layout)) < len(before) and verify_ledger(layout).problems == ()


def test_a_purge_after_blocks_were_removed_rebuilds_the_rest(layout):
    ledger.trim_ledger(layout, DAYS)
    changed = forget_in_ledger(layout, "mem_x", ["question"])
    assert changed == len(ages(layout)) and verify_ledger(layout).problems == ()
    assert files(layout)[0] == f"blocks-{read_head(layout).first_file:06}.jsonl"


def test_a_lost_head_is_rebuilt_for_what_is_left(layout):
    ledger.trim_ledger(layout, DAYS)
    os.unlink(ledger_path(layout, "head.json"))
    note(layout, now())
    assert verify_ledger(layout).problems == () and "the head was missing" in verify_ledger(layout).notes[0]


def test_a_write_removes_blocks_that_are_older_than_the_setting(layout, project):
    write_user_config(f"keepDays: {{ledger: {DAYS}}}\n")
    with Repository.open(str(project)) as repository:
        repository.add("Deploy with care.", title="Deploy")
    assert max(ages(layout)) < 200 and verify_ledger(layout).problems == ()


def test_a_repository_cannot_shorten_the_ledger(layout, project):
    (project / ".rawko" / "config.yaml").write_text("keepDays: {ledger: 1}\n")
    with Repository.open(str(project), warn=lambda _: None) as repository:
        repository.add("Deploy with care.", title="Deploy")
    assert len(ages(layout)) > 36
