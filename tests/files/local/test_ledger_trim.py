"""Old blocks leave the ledger by whole files, and what is left is still a chain from its first block to its head."""

from __future__ import annotations

import os

import pytest

from rawkomem.files.layout import Layout
from rawkomem.files.local.ledger import chain, trim
from rawkomem.files.local.ledger.chain import read_head, rows
from rawkomem.files.local.ledger.forget import forget
from rawkomem.files.local.ledger.recalled import recall_line
from rawkomem.files.local.ledger.seal import seal
from rawkomem.files.local.ledger.spool import append_lines, ledger_path
from rawkomem.files.local.ledger.verify import verify
from rawkomem.model.clock import DAY, now
from rawkomem.repository import Repository
from tests.faces.mesh.conftest import write_user_config

DAYS = 100


@pytest.fixture
def layout(project, monkeypatch) -> Layout:
    """A ledger of 40 recalls, one for each tenth day, ten in a file or so."""
    monkeypatch.setattr(chain, "MAX_FILE_BYTES", 8_000)
    layout = Layout(str(project / ".rawko"))
    note(layout, *(now() - (400 - 10 * number) * DAY for number in range(40)))
    assert len(files(layout)) > 3 and verify(layout).problems == ()
    return layout


def note(layout: Layout, *times: int) -> None:
    append_lines(layout, [recall_line(at, "planner", f"question {at}", 10, "", 1, 1.0, 0.5) for at in times])
    assert seal(layout) == len(times)


def files(layout: Layout) -> list[str]:
    return chain.names(layout, chain.BLOCKS)


def ages(layout: Layout) -> list[int]:
    return [(now() - row.timestamp) // DAY for row in rows(layout)]


def test_old_blocks_leave_and_the_rest_is_verified(layout):
    gone = trim.trim(layout, DAYS)
    assert 20 < gone < 31 and len(ages(layout)) == 40 - gone
    assert min(ages(layout)) < DAYS and max(ages(layout)) < 200
    verdict = verify(layout)
    assert verdict.problems == () and verdict.blocks == 40 - gone and f"{gone} blocks older than" in verdict.notes[-1]
    assert trim.trim(layout, DAYS) == 0 and len(verify(layout).notes) == 1


def test_zero_days_keep_everything(layout):
    assert trim.trim(layout, 0) == 0 and len(ages(layout)) == 40


def test_the_chain_goes_on_after_blocks_were_removed(layout):
    kept = 40 - trim.trim(layout, DAYS)
    note(layout, now())
    assert verify(layout).problems == () and verify(layout).blocks == kept + 1


def test_a_change_of_what_is_left_is_found(layout):
    trim.trim(layout, DAYS)
    file = ledger_path(layout, files(layout)[0])
    with open(file, "r+b") as stream:
        data = stream.read().replace(b"question", b"Question", 1)
        stream.seek(0)
        stream.write(data)
    assert "block-changed" in {problem.code for problem in verify(layout).problems}


def test_removing_one_more_file_by_hand_is_found(layout):
    trim.trim(layout, DAYS)
    os.unlink(ledger_path(layout, files(layout)[0]))
    assert {"block-order", "wrong-end"} <= {problem.code for problem in verify(layout).problems}


def test_a_kill_between_the_head_and_the_files_is_finished_by_the_next_run(layout, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(trim.os, "unlink", lambda path: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            trim.trim(layout, DAYS)
    assert verify(layout).problems == () and max(ages(layout)) < 200
    before = files(layout)
    trim.trim(layout, DAYS)
    assert len(files(layout)) < len(before) and verify(layout).problems == ()


def test_a_purge_after_blocks_were_removed_rebuilds_the_rest(layout):
    trim.trim(layout, DAYS)
    changed = forget(layout, "mem_x", ["question"])
    assert changed == len(ages(layout)) and verify(layout).problems == ()
    assert files(layout)[0] == f"blocks-{read_head(layout).first_file:06}.jsonl"


def test_a_lost_head_is_rebuilt_for_what_is_left(layout):
    trim.trim(layout, DAYS)
    os.unlink(ledger_path(layout, "head.json"))
    note(layout, now())
    assert verify(layout).problems == () and "the head was missing" in verify(layout).notes[0]


def test_a_write_removes_blocks_that_are_older_than_the_setting(layout, project):
    write_user_config(f"keepDays: {{ledger: {DAYS}}}\n")
    with Repository.open(str(project)) as repository:
        repository.add("Deploy with care.", title="Deploy")
    assert max(ages(layout)) < 200 and verify(layout).problems == ()


def test_a_repository_cannot_shorten_the_ledger(layout, project):
    (project / ".rawko" / "config.yaml").write_text("keepDays: {ledger: 1}\n")
    with Repository.open(str(project), warn=lambda _: None) as repository:
        repository.add("Deploy with care.", title="Deploy")
    assert len(ages(layout)) > 36
