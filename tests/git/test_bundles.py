"""Compressed months in git: the hook lets them pass, and two clones that compress one month lose nothing."""

import pytest
from rawkomem.files.archive import bundles, pack_folder, read_bundle, unpack_folder
from rawkomem.files.layout import Layout

from tests.commands import Command
from tests.git.gitting import Git
from tests.learn.traces.runs import GOALS, fill, trace
from tests.torture.helpers import write

LATER = {"RAWKOMEM_NOW": "2027-06-02T00:00:00Z"}
MONTH = "archive/2026-05"
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(autouse=True)
def fixed_clock(monkeypatch):
    monkeypatch.setenv("RAWKOMEM_NOW", "2026-06-01T12:00:00Z")


def held(layout: Layout) -> list[tuple[str, bytes]]:
    return sorted({item for bundle in bundles(layout) for item in read_bundle(layout, bundle).items()})


def test_the_check_of_a_commit_reads_bundles(project, git, rawkomem):
    fill(project, 4, goals=GOALS[:1])
    rawkomem("consolidate", "--apply")
    git.commit()
    rawkomem("tidy", "retention", "--apply", env=LATER)
    git("add", "-A")
    assert rawkomem("check", "--staged").returncode == 0
    git.commit()
    rawkomem("tidy", "retention", "restore", "2026-05")
    git("add", "-A")
    assert rawkomem("check", "--staged").returncode == 0
    git.commit()


def test_a_trace_that_is_in_no_bundle_is_missed(project, git, rawkomem):
    fill(project, 4, goals=GOALS[:1])
    rawkomem("consolidate", "--apply")
    git.commit()
    (project / ".rawko" / MONTH / "t1.md").unlink()
    rawkomem("tidy", "retention", "--apply", env=LATER)
    git("add", "-A")
    told = rawkomem("check", "--staged", check=1, env={"CLAUDECODE": "1"})
    assert "(trace-1-aaaaaa) was removed" in told.stdout + told.stderr


def test_two_clones_compress_one_month_and_merge(project, git, rawkomem, tmp_path_factory):
    fill(project, 3, goals=GOALS[:1])
    rawkomem("consolidate", "--apply")
    git.commit()
    other = tmp_path_factory.mktemp("other") / "clone"
    git("clone", "-q", str(project), str(other))
    there = Git(other)
    for folder, number in ((project, 50), (other, 60)):  # each archived another trace of that month, then compressed it
        write(folder / ".rawko", f"{MONTH}/own{number}.md", trace(number, GOALS[0]))
        Command(folder)("tidy", "retention", "--apply", env=LATER)
    git.commit()
    there.commit()
    git("pull", "-q", "--no-rebase", "--no-edit", str(other), "main")  # no driver is set up
    layout = Layout(str(project / ".rawko"))
    assert [name for name, _ in held(layout)] == ["own50.md", "own60.md", "t0.md", "t1.md", "t2.md"]
    assert unpack_folder(layout, MONTH) == 5 and not list(bundles(layout))
    assert pack_folder(layout, MONTH) == 5 and len(held(layout)) == 5


def test_a_secret_in_a_bundle_is_found(project, git, rawkomem):
    write(project / ".rawko", f"{MONTH}/a.md", trace(1, GOALS[0]).replace("Read the code", f"Read {KEY}"))
    assert KEY in (project / ".rawko" / MONTH / "a.md").read_text()
    pack_folder(Layout(str(project / ".rawko")), MONTH)
    git("add", "-A")
    told = rawkomem("check", "--staged", check=1)
    assert f"{MONTH}/a.md" in told.stdout + told.stderr and KEY not in told.stdout + told.stderr


def test_a_change_of_a_trace_goes_into_the_bundle_with_it(project, git, rawkomem):
    fill(project, 4, goals=GOALS[:1])
    rawkomem("consolidate", "--apply")
    git.commit()
    rawkomem("feedback", "trace-1-aaaaaa", "--helpful")
    (vote,) = (project / ".rawko" / "changes").rglob("*.md")
    git.commit()
    rawkomem("tidy", "retention", "--apply", env=LATER)
    layout = Layout(str(project / ".rawko"))
    assert not vote.exists() and any(b"kind: feedback" in data for _, data in held(layout))
    git("add", "-A")
    assert rawkomem("check", "--staged").returncode == 0
    assert "about-nothing" not in rawkomem("check", "--json").stdout


def test_a_merge_finds_the_memory_of_a_vote_in_the_other_sides_bundle(project, git, rawkomem):
    fill(project, 4, goals=GOALS[:1])
    rawkomem("consolidate", "--apply")
    git.commit()
    git("checkout", "-qb", "other")
    rawkomem("tidy", "retention", "--apply", env=LATER)
    git.commit()
    git("checkout", "-q", "main")
    rawkomem("feedback", "trace-1-aaaaaa", "--helpful")
    git.commit()
    git("merge", "-q", "--no-commit", "--no-ff", "other")
    done = rawkomem("check", "--staged")
    assert "its memory was removed" not in done.stdout + done.stderr
