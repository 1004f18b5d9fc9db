"""What a commit brings is compared with the other memories of the commit: duplicates, near duplicates, contradictions."""

import subprocess
import sys

import pytest
from rawkomem.repository import Repository

from tests.conftest import ROOT
from tests.cpu import cpu_seconds

OWNERS = "Refunds above 500 euros need a second signature from the finance desk."


def note(id: str, title: str, body: str, more: str = "", at: str = "2026-01-01") -> str:
    return f"---\nid: {id}\ntitle: {title}\nwhenToUse: [{title}]\ndiscoveredAt: {at}T00:00:00Z\n{more}---\n\n{body}\n"


def amendment(id: str, about: str, body: str) -> str:
    return f"\n---\n\n---\nid: {id}\nkind: amend\nabout: {about}\nat: 2026-03-01T00:00:00Z\n---\n\n{body}\n"


@pytest.fixture
def started(memories, git):
    """Two committed memories that say the same since long ago, and one that says something else."""
    (memories / "refunds.md").write_text(note("mem_1_a", "Refunds", OWNERS))
    (memories / "twin-1.md").write_text(note("mem_8_a", "Payroll", "Payroll closes on the 25th."))
    (memories / "twin-2.md").write_text(note("mem_9_a", "Payroll", "Payroll closes on the 25th."))
    git.commit()
    return memories


def test_a_staged_duplicate_is_refused(started, git, rawkomem):
    (started / "new.md").write_text(note("mem_2_a", "refunds", OWNERS.replace(" need", "\nneed"), at="2026-05-01"))
    git("add", "-A")
    line = (
        ".rawko/memories/new.md:1: duplicates: mem_2_a says exactly what mem_1_a says, in .rawko/memories/refunds.md ("
    )
    for words in (("check", "--staged"), ("consolidate", "--staged"), ("consolidate", "--staged", "--if-due")):
        told = rawkomem(*words, check=1)
        assert told.stdout.startswith(line) and told.stdout.count("\n") == 1
    assert git("status", "--porcelain") == "A  .rawko/memories/new.md", "nothing is written"


def test_two_staged_duplicates_and_an_amendment_that_makes_one(started, git, rawkomem):
    text = "Invoices are numbered by the ledger-7 service."
    (started / "a.md").write_text(note("mem_2_a", "Invoices", text))
    (started / "b.md").write_text(note("mem_3_a", "Invoices", text, at="2026-02-01"))
    git("add", "-A")
    assert "mem_3_a says exactly what mem_2_a says" in rawkomem("check", "--staged", check=1).stdout
    (started / "b.md").write_text(note("mem_3_a", "Invoices", "Invoices wait."))
    git.commit()
    with (started / "b.md").open("a") as file:
        file.write(amendment("amend_1", "mem_3_a", text))
    git("add", "-A")
    assert "says exactly what" in rawkomem("check", "--staged", check=1).stdout


def test_old_duplicates_stop_no_other_commit(started, project, git, rawkomem):
    """mem_8_a and mem_9_a say the same: a vote on one, an unrelated note and moved files bring no text of theirs."""
    vote = "\n---\n\n---\nid: fb_1\nkind: feedback\nabout: mem_8_a\nat: 2026-03-01T00:00:00Z\nsignal: helpful\n---\n"
    with (started / "twin-1.md").open("a") as file:
        file.write(vote)
    (started / "new.md").write_text(note("mem_2_a", "Vacation", "Vacation is booked in Kalender-X."))
    git("mv", ".rawko/memories/twin-2.md", ".rawko/memories/moved.md")
    git("add", "-A")
    assert rawkomem("check", "--staged").stdout == "" == rawkomem("consolidate", "--staged").stdout


@pytest.mark.parametrize("how", ["another session", "deleted", "not in the commit", "another number"])
def test_what_is_no_duplicate(started, git, rawkomem, how):
    body = OWNERS.replace("500", "5000") if how == "another number" else OWNERS
    more = "session: s2\n" if how == "another session" else ""
    (started / "new.md").write_text(note("mem_2_a", "Refunds", body, more))
    if how == "deleted":
        rawkomem("delete", "mem_2_a")
    elif how == "not in the commit":
        (started / "new.md").rename(started / "waits.md")
        (started / "new.md").write_text(note("mem_3_a", "Vacation", "Vacation is booked in Kalender-X."))
    git("add", ".rawko/memories/new.md", *([".rawko"] if how == "deleted" else []))
    assert rawkomem("check", "--staged").stdout == ""


def test_near_duplicates_and_contradictions_are_proposed(started, git, rawkomem):
    near = "Refunds above 500 euros need a second signature from the finance desk, always."
    (started / "near.md").write_text(note("mem_2_a", "Refunds", near, at="2026-05-01"))
    (started / "tabs.md").write_text(note("mem_3_a", "Indent", "Indent Go files with tabs.", at="2026-05-01"))
    (started / "spaces.md").write_text(note("mem_4_a", "Indent", "Never indent Go files with tabs.", at="2026-05-02"))
    git("add", "-A")
    told = rawkomem("consolidate", "--staged").stdout
    assert (
        "near.md:1: near-duplicate: mem_2_a says nearly the same as mem_1_a, 'Refunds' ('rawkomem supersede mem_2_a mem_1_a'"
        in told
    )
    assert ": contradiction: mem_" in told and told.count("\n") == 2
    assert all(line.split(": ", 1)[1] in told for line in rawkomem("check", "--staged").stderr.splitlines())
    found = rawkomem.json("consolidate", "--staged")
    assert {one["code"] for one in found} == {"near-duplicate", "contradiction"}
    assert not git("diff", "--name-only")


def test_apply_changes_only_what_is_new(started, git, rawkomem, repository):
    (started / "new.md").write_text(note("mem_0_a", "Refunds", OWNERS, at="2020-01-01"))  # older than what is there
    (started / "other.md").write_text(note("mem_7_a", "Vacation", "Vacation is booked in Kalender-X."))
    git("add", "-A")
    told = rawkomem("consolidate", "--staged", "--apply", check=1)
    assert told.stdout == "superseded  mem_0_a by mem_1_a\n"
    git("add", "-A")
    rawkomem("check", "--staged")
    repository.sync()
    assert [repository.get(f"mem_{n}_a").status for n in (0, 1, 7, 8, 9)] == ["superseded", *["active"] * 4]


def test_what_a_merge_brings_is_no_news(started, git, rawkomem):
    git("checkout", "-qb", "side")
    (started / "theirs.md").write_text(note("mem_2_a", "Vacation", "Vacation is booked in Kalender-X."))
    git.commit()
    git("checkout", "-q", "main")
    (started / "ours.md").write_text(note("mem_3_a", "Vacation", "Vacation is booked in Kalender-X."))
    git.commit()
    git("merge", "-q", "--no-commit", "side")
    assert rawkomem("check", "--staged").stdout == ""


def test_claims_that_contradict_each_other_are_told_once(started, git, rawkomem):
    claim = "claim:\n  subject: shop\n  predicate: currency\n  value: {}\n  exclusive: true\n"
    (started / "eur.md").write_text(note("mem_2_a", "Currency", "The shop sells in euros.", claim.format("EUR")))
    git.commit()
    (started / "chf.md").write_text(note("mem_3_a", "Money", "The shop sells in francs.", claim.format("CHF")))
    git("add", "-A")
    told = rawkomem("check", "--staged", check=1)
    assert "contradictions: mem_3_a contradicts mem_2_a" in told.stdout


@pytest.mark.time
def test_a_commit_of_one_note_among_thousands_costs_about_a_search(memories, project, git, rawkomem):
    for n in range(2_000):
        body = f"Component {n} of subsystem {n % 37} logs to channel c{n} and is owned by group {n % 11}."
        (memories / f"m{n}.md").write_text(note(f"mem_{n}_a", f"Component {n}", body))
    git.commit()
    Repository.open(str(project)).sync()
    (memories / "new.md").write_text(note("mem_9999_b", "Component 77 of the mill", "It grinds coffee in hall 12."))
    git("add", "-A")
    rawkomem.process("search", "coffee")

    def cost(*words: str) -> float:
        return min(cpu_seconds(lambda: rawkomem.process(*words)) for _ in range(3))

    search, alone = cost("search", "coffee mill in hall 12"), cost("consolidate", "--staged")
    without, both = cost("check", "--staged", "--no-duplicates"), cost("check", "--staged")
    start = min(cpu_seconds(lambda: subprocess.run([sys.executable, "-m", "rawkomem", "--help"], cwd=project, check=True,
                env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}, capture_output=True)) for _ in range(3))  # fmt: skip
    print(
        f"search {search:.2f} s, consolidate --staged {alone:.2f} s, check {without:.2f} s, with it {both:.2f} s, start {start:.2f} s"
    )
    assert both - without < 1.5 * (search + start) and alone < 6 * (search + start)


def test_a_duplicate_is_found_however_yaml_spells_its_title(started, git, rawkomem):
    (started / "new.md").write_text(note("mem_2_a", '"Appr\\x6fvals"', OWNERS, at="2026-05-01"))
    git.commit()
    (started / "third.md").write_text(note("mem_3_a", "Approvals", OWNERS, at="2026-06-01"))
    git("add", "-A")
    told = rawkomem("consolidate", "--staged", check=1).stdout
    assert "mem_3_a says exactly what mem_2_a says" in told
