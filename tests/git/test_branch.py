"""Reviews: `check --diff` and `diff` on real branches, and the shell steps of action.yml."""

import json
import os
import re
import subprocess
import sys
import unicodedata

import pytest
import yaml

from tests.commands import ROOT, Command
from tests.git.gitting import AGENT, Git

BASE = {
    "cache": "id: mem_1_a\ntitle: Cache keys\ntags: [web]\n---\n\nKeys hold the tenant, then the route of a page.\n",
    "port": "id: mem_2_b\ntitle: Port\nclaim: {subject: api, predicate: port, value: '80'}\n---\n\nApi on 80.\n",
    "jobs": "id: mem_3_c\ntitle: Jobs\n---\n\nOne queue.\n",
    "old": "id: mem_4_d\ntitle: Old rule\n---\n\nNever on Fridays.\n",
    "gone": "id: mem_5_e\ntitle: Gone rule\n---\n\nUse tabs.\n",
}
HOSTILE = "x\n::error file=a,line=1::forged\r##[add-path]/tmp \x1b[31m@team [link](https://evil.example) <b>|`$x`"
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def change(id: str, kind: str, about: str, more: str = "", body: str = "") -> str:
    return f"\n---\n\n---\nid: {id}\nkind: {kind}\nabout: {about}\nat: 2026-03-01T00:00:00Z\n{more}---\n{body}"


@pytest.fixture
def branch(project, memories, git):
    """A branch that does one of each thing."""
    for name, text in BASE.items():
        (memories / f"{name}.md").write_text(f"---\n{text}")
    git.commit()
    git("checkout", "-qb", "work")
    write = lambda name, more: (memories / f"{name}.md").write_text((memories / f"{name}.md").read_text() + more)  # noqa: E731
    write(
        "cache",
        change(
            "amend_1", "amend", "mem_1_a", "tags: [web, cache]\n", "\nKeys hold the tenant, then the path of a page.\n"
        ),
    )
    write(
        "jobs",
        change("archive_1", "archive", "mem_3_c", "reason: done\n")
        + change("feedback_1", "feedback", "mem_3_c", "signal: helpful\n"),
    )
    write("old", change("supersede_1", "supersede", "mem_4_d", "supersededBy: mem_6_f\nreason: newer\n"))
    (memories / "new.md").write_text("---\nid: mem_6_f\ntitle: New rule\n---\n\nFridays are fine.\n")
    (memories / "port81.md").write_text(f"---\n{BASE['port'].replace('mem_2_b', 'mem_7_g').replace('80', '81')}")
    (memories / "gone.md").unlink()
    git.commit()
    return project


def found(rawkomem, *words: str) -> dict[str, list[dict]]:
    told: dict[str, list[dict]] = {}
    for item in json.loads(rawkomem("diff", "main...HEAD", "--json", *words).stdout):
        told.setdefault(item["what"], []).append(item)
    return told


def test_each_kind_of_change_is_told(branch, rawkomem):
    told = found(rawkomem)
    ids = {what: [item["id"] for item in items] for what, items in told.items()}
    assert ids == {
        "added": ["mem_6_f", "mem_7_g"], "changed": ["mem_1_a"], "superseded": ["mem_4_d"], "contradicted": ["mem_7_g"],
        "archived": ["mem_3_c"], "removed": ["mem_5_e"], "counted": ["mem_3_c"],
    }  # fmt: skip
    (changed,) = told["changed"]
    assert changed["changes"] == [{"key": "tags", "before": ["web"], "after": ["web", "cache"]}]
    assert told["superseded"][0]["other"] == {"id": "mem_6_f", "title": "New rule"}
    assert told["contradicted"][0]["other"]["id"] == "mem_2_b"
    assert not [*(branch / ".rawko" / "local").glob("index*.db")]


def test_a_branch_that_went_on_is_compared_from_where_it_left(branch, memories, git, rawkomem):
    git("checkout", "-q", "main")
    (memories / "main.md").write_text("---\nid: mem_8_h\ntitle: Of main\n---\n\nText.\n")
    git.commit()
    git("checkout", "-q", "work")
    assert [item["id"] for item in found(rawkomem)["added"]] == ["mem_6_f", "mem_7_g"]
    two = rawkomem.json("diff", "main..HEAD")
    assert "mem_8_h" in [item["id"] for item in two if item["what"] == "removed"]


def test_bare_and_shallow_clones(branch, git, tmp_path_factory):
    bare = tmp_path_factory.mktemp("bare") / "x.git"
    git("clone", "-q", "--bare", str(branch), str(bare))
    assert len(found(Command(bare))["added"]) == 2
    assert Command(bare)("check", "--diff", "main...HEAD", check=1).stdout.count(": contradictions: ") == 1
    assert not (bare / ".rawko").exists()
    shallow = tmp_path_factory.mktemp("ci") / "clone"
    git("clone", "-q", "--depth", "1", "--branch", "work", f"file://{branch}", str(shallow))
    told = Command(shallow)("diff", "origin/main...HEAD", check=1).stderr
    assert "no commit origin/main" in told and "git fetch origin main" in told
    Git(shallow)("fetch", "-q", "--depth", "1", "origin", "main:refs/remotes/origin/main")
    told = Command(shallow)("diff", "origin/main...HEAD", check=1).stderr
    assert "no commit in common" in told and "--unshallow" in told
    Git(shallow)("fetch", "-q", "--unshallow", "origin")
    assert "New rule" in Command(shallow)("diff", "origin/main...HEAD").stdout


def test_a_span_is_never_an_option(git, rawkomem):
    for span in ("--output=x...HEAD", "main...--all", "...HEAD"):
        assert "not two commits" in rawkomem("diff", "--", span, check=2).stderr


def test_check_looks_at_what_the_branch_changed_only(branch, memories, git, rawkomem):
    git("checkout", "-q", "main")
    (memories / "bad.md").write_text("no frontmatter\n")
    git.commit()
    git("checkout", "-qb", "clean")
    (memories / "fine.md").write_text("---\nid: mem_9_i\ntitle: Fine\nwhenToUse: [deploy]\n---\n\nText.\n")
    git.commit()
    assert rawkomem("check", "--diff", "main...HEAD").stdout == ""
    (memories / "worse.md").write_text("no frontmatter, either\n")
    git.commit()
    told = rawkomem("check", "--diff", "main...HEAD", "--format", "github", check=1).stdout
    assert told.startswith("::error file=.rawko/memories/worse.md,line=1,title=rawkomem%3A frontmatter::no frontmatter")
    assert rawkomem.json("check", "--diff", "main", check=1)[0]["code"] == "no-frontmatter"


def test_edits_by_people_warn_and_edits_by_agents_fail(branch, memories, git, rawkomem):
    git("checkout", "-q", "main")
    git("checkout", "-qb", "edit")
    (memories / "jobs.md").write_text((memories / "jobs.md").read_text().replace("One", "Two"))
    git.commit()
    told = rawkomem("check", "--diff", "main...HEAD", "--format", "github").stdout
    assert told.startswith("::warning file=.rawko/memories/jobs.md,line=1") and "was edited" in told
    (memories / "jobs.md").write_text((memories / "jobs.md").read_text().replace("Two", "Ten"))
    git.commit(by=AGENT)
    assert rawkomem("check", "--diff", "main...HEAD", "--format", "github", check=1).stdout.startswith("::error ")


@pytest.fixture
def hostile(branch, memories, git):
    """A branch whose file names and texts try to forge annotations and Markdown."""
    folder = memories / "a\n::warning::b"
    folder.mkdir()
    title = json.dumps(HOSTILE)
    (folder / "::error file=x,line=2::y%0A,z.md").write_text(
        f"---\nid: mem_h_1\ntitle: {title}\nodd: [\n---\n\n{HOSTILE}\n"
    )
    (memories / "title.md").write_text(f"---\nid: mem_h_2\ntitle: {title}\nextra: {title}\n---\n\n{HOSTILE}\n\n{KEY}\n")
    (memories / "jobs.md").write_text(f"---\nid: mem_3_c\ntitle: {title}\n---\n\nEdited.\n")
    git.commit()
    return branch


def test_a_hostile_branch_forges_no_annotation(hostile, rawkomem):
    told = rawkomem("check", "--diff", "main...HEAD", "--format", "github", check=1)
    lines = told.stdout.splitlines()
    form = re.compile(r"::(error|warning|notice) file=[^,:]*,line=\d+,title=rawkomem%3A [a-z]+::.*")
    assert len(lines) > 3 and all(form.fullmatch(line) for line in lines)
    assert not any(line.lstrip().startswith("::") for line in told.stderr.splitlines())
    assert all(unicodedata.category(c) != "Cc" for line in lines for c in line)
    assert any("a%0A%3A%3Awarning%3A%3Ab/%3A%3Aerror file=x%2Cline=2%3A%3Ay%250A%2Cz.md" in line for line in lines)


def test_a_hostile_branch_forges_no_markup(hostile, rawkomem):
    text, markdown = (rawkomem("diff", "main...HEAD", "--format", form).stdout for form in ("text", "markdown"))
    for told in (text, markdown):
        assert KEY not in told and "\x1b" not in told and "##[" not in told
        assert not any(line.lstrip(" -*").startswith("::") for line in told.splitlines())
    bare = re.sub(r"\\.", "", markdown.replace("@<!-- -->", ""))
    assert not re.search(r"\]\(|<b>|https:|@team|`", bare)
    assert {line[0] for line in bare.splitlines() if line} <= {"#", "-", " ", *"0123456789"}


def test_the_steps_of_the_action(branch, memories, git, tmp_path_factory):
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert {*action["inputs"]} == {"base", "version"} and action["runs"]["using"] == "composite"
    steps = [step["run"] for step in action["runs"]["steps"] if step["shell"] == "bash"]
    assert not any("${{" in step for step in steps), "inputs reach a shell by the environment only"
    for step in action["runs"]["steps"]:
        places = step.get("working-directory", "")
        assert "python3 -m" not in step["run"] or "github.action_path" in places, "a branch may hold a pip.py"
    clone = tmp_path_factory.mktemp("ci") / "clone"
    git("clone", "-q", "--depth", "1", "--branch", "work", f"file://{branch}", str(clone))
    bin = tmp_path_factory.mktemp("bin")
    (bin / "rawkomem").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rawkomem "$@"\n')
    (bin / "rawkomem").chmod(0o755)
    summary = bin / "summary.md"
    env = {
        **os.environ, "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "BASE": "main",
        "VERSION": "installed", "ACTION": str(ROOT), "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_ACTIONS": "true",
    }  # fmt: skip
    Git(clone)("update-ref", "refs/rawkomem/base", "HEAD")  # left by an earlier run on the same machine
    for number, step in enumerate(steps):
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step]
        done = subprocess.run(words, cwd=clone, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == (1 if number == 2 else 0), done.stderr
    assert "::error file=.rawko/memories/port81.md,line=1,title=rawkomem%3A contradictions::mem_7_g" in done.stdout
    assert "### Superseded (1)" in summary.read_text()
    assert Git(clone)("for-each-ref", "refs/rawkomem") == ""


def test_a_branch_cannot_switch_append_only_off_for_its_own_review(project, memories, git, rawkomem):
    (project / ".rawko" / "config.yaml").write_text("appendOnly: on\n")
    (memories / "cache.md").write_text(f"---\n{BASE['cache']}")
    git.commit()
    git("checkout", "-qb", "work")
    (project / ".rawko" / "config.yaml").write_text("appendOnly: off\n")
    (memories / "cache.md").write_text(f"---\n{BASE['cache'].replace('route', 'path')}")
    git.commit()
    told = rawkomem("check", "--diff", "HEAD~1...HEAD", check=1)
    assert "history" in told.stdout


def test_a_branch_shows_each_setting_that_it_changes(project, memories, git, rawkomem):
    config = project / ".rawko" / "config.yaml"
    config.write_text("appendOnly: on\nprofile: fit\n")
    (memories / "cache.md").write_text(f"---\n{BASE['cache']}")
    git.commit()
    config.write_text("profile: fit\nlessons: {minConfidence: 1}\n")
    git.commit()
    span = "HEAD~1...HEAD"
    told = rawkomem("check", "--diff", span).stdout.splitlines()
    assert told == [
        ".rawko/config.yaml:1: settings: appendOnly: on → default",
        ".rawko/config.yaml:1: settings: lessons.minConfidence: default → 1.0",
    ]
    noted = rawkomem("check", "--diff", span, "--format", "github").stdout
    assert "::warning file=.rawko/config.yaml,line=1,title=rawkomem%3A settings::appendOnly" in noted
    shown = " ".join(rawkomem("diff", span).stdout.split())
    assert "Settings of the project config.yaml" in shown and "appendOnly: on → default" in shown
    page = rawkomem("diff", span, "--format", "markdown").stdout
    assert "Settings of the project" in page and "minConfidence" in page
    (row,) = rawkomem.json("diff", span)
    assert row["changes"][0] == {"key": "appendOnly", "before": "on", "after": "default"}


SPELLINGS = [
    '"mem\\x5f{n}_q"', '"\\u006dem_{n}_q"', '"mem_\\U0000003{n}_q"', '"mem_{n}_\\\n  q"', "'mem_{n}_q'", ">-\n  mem_{n}_q",
    "&x mem_{n}_q", "!!str mem_{n}_q", "|-\n  mem_{n}_q",
]  # fmt: skip


def test_a_change_is_told_however_yaml_spells_the_id(project, memories, git, rawkomem):
    """Compare parsed entries: the bytes of an id need not be in the file that changes its memory."""
    numbers = range(len(SPELLINGS))
    for n in numbers:
        (memories / f"m{n}.md").write_text(f"---\nid: mem_{n}_q\ntitle: T{n}\n---\n\nDeploy {n} with make.\n")
    git.commit()
    git("checkout", "-q", "-b", "work")
    changes = project / ".rawko" / "changes" / "2026-11"
    changes.mkdir(parents=True)
    for n, spelling in enumerate(SPELLINGS):
        about = spelling.format(n=n)
        (changes / f"a{n}.md").write_text(f"---\nid: amend_{n}\nkind: amend\nabout: {about}\n---\n\nRun evil {n}.\n")
    (memories / "z.md").write_text('---\nid: "mem\\x5fzebra"\ntitle: Zebra\n---\n\nText.\n')
    git.commit()
    told = found(rawkomem)
    assert {item["id"] for item in told["changed"]} == {f"mem_{n}_q" for n in numbers}
    assert [item["id"] for item in told["added"]] == ["mem_zebra"]
