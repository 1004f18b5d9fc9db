"""After an import: rule files become short with the person's consent, and later edits of them are noticed."""

import json
import os

import pytest
from rawkomem.exchange.instructions import shortened_page, strip_page
from rawkomem.hosts.hook_sessions import opening

STEPS = "".join(
    f"- `make migrate STEP={n}` runs {n} of them and then prints the tables of step {n}.\n" for n in range(9)
)
CLAUDE = f"""\
# Shop

@docs/tone.md

## Migrations

Run `make migrate` before every release of the invoice service; never edit a migration that was released.

### Examples

{STEPS}
## Colors

Use a token of `theme.css` for every color of the shop, never a hex code, because the night theme replaces the tokens.

## Secrets

Never print a key of a customer in a log, not even a part of it, because support reads all logs of the shop.
"""


@pytest.fixture
def page(project, rawkomem):
    file = project / "CLAUDE.md"
    file.write_text(CLAUDE)
    rawkomem("import", "CLAUDE.md")
    return file


def activate(rawkomem, place="CLAUDE.md") -> None:
    rawkomem("review", "--all-from", place, "--activate", "--yes")


def test_moved_sections_are_removed_and_come_back(page, rawkomem):
    activate(rawkomem)
    done = rawkomem("import", "--shorten", "CLAUDE.md", "--yes")
    assert "-## Colors" in done.stdout and "fewer in each session" in done.stderr
    short = page.read_text()
    assert short.startswith("# Shop\n\n@docs/tone.md\n\n<!-- rawkomem: begin -->") and "Migrations" not in short
    assert "rawkomem search" in short and "rules  " not in rawkomem("status").stdout
    again = json.loads(rawkomem("import", "CLAUDE.md", "--json").stdout)
    assert again["sources"][0]["summary"]["read"] == 0, "the paragraph about the memories is no rule"
    assert "nothing to shorten" in rawkomem("import", "--shorten", "CLAUDE.md").stderr
    rawkomem("import", "--unshorten", "CLAUDE.md")
    assert page.read_text() == CLAUDE and "rules  " not in rawkomem("status").stdout
    assert "was not shortened" in rawkomem("import", "--unshorten", "CLAUDE.md", check=1).stderr


def test_nothing_is_written_without_consent(page, rawkomem):
    assert "nothing to shorten" in rawkomem("import", "--shorten", "CLAUDE.md", "--yes").stderr, "nobody reviewed it"
    activate(rawkomem)
    for words in (["--dry-run"], []):
        done = rawkomem("import", "--shorten", "CLAUDE.md", *words, check=None)
        assert "-## Colors" in done.stdout and "nothing was written" in done.stderr
    assert page.read_text() == CLAUDE
    assert "need a file" in rawkomem("import", "--shorten", check=2).stderr


def test_rules_that_are_not_in_use_or_always_needed_stay(page, repository, rawkomem):
    activate(rawkomem, "CLAUDE.md#Migrations")
    activate(rawkomem, "CLAUDE.md#Secrets")
    secrets = next(row.id for row in repository.list() if row.title == "Secrets")
    rawkomem("amend", secrets, "--importance", "critical")
    rawkomem("import", "--shorten", "CLAUDE.md", "--yes")
    short = page.read_text()
    assert "## Colors" in short and "## Secrets" in short and "## Migrations" not in short


def test_an_edit_after_the_shortening_is_not_overwritten(page, rawkomem):
    activate(rawkomem)
    rawkomem("import", "--shorten", "CLAUDE.md", "--yes")
    page.write_text(page.read_text() + "\nMore.\n")
    assert "was edited after it was shortened" in rawkomem("import", "--unshorten", "CLAUDE.md", check=None).stderr
    assert page.read_text().endswith("More.\n")


def test_a_file_outside_the_project_is_not_shortened(project, rawkomem, tmp_path_factory):
    outside = tmp_path_factory.mktemp("else") / "rules.md"
    outside.write_text(CLAUDE)
    (project / "CLAUDE.md").symlink_to(outside)
    assert "leads out" in rawkomem("import", "--shorten", "CLAUDE.md", "--yes", check=None).stderr
    assert outside.read_text() == CLAUDE


def test_an_edit_after_the_import_is_told_once_everywhere(page, repository, rawkomem):
    os.utime(page, (1, 1))
    assert "changed after" not in opening(repository) + rawkomem("status").stdout, "its text is the same"
    page.write_text(CLAUDE.replace("every release", "each release"))
    line = "CLAUDE.md changed after the import; to update the memories, run: rawkomem import CLAUDE.md"
    assert line in rawkomem("status").stdout and line in rawkomem("check").stderr
    assert opening(repository).count(line) == 1
    assert json.loads(rawkomem("status", "--json").stdout)["changed_rules"] == ["CLAUDE.md"]
    told = json.loads(rawkomem("import", "CLAUDE.md", "--json").stdout)
    assert told["sources"][0]["summary"]["changed"] == 1 and told["sources"][0]["summary"]["added"] == 0
    assert "changed after" not in opening(repository) + rawkomem("status").stdout


def test_our_paragraph_is_replaced_and_never_a_rule():
    known = frozenset({"Use tabs."})
    short = shortened_page("# Us\n\n## Style\n\nUse tabs.\n\n## Tone\n\nBe kind.\n", known)
    assert "Use tabs." not in short and shortened_page(short, known) == short
    assert shortened_page("Be kind.\nUse tabs.\n", known).startswith("Be kind.\nUse tabs.\n"), "also without a heading"
    assert strip_page(short).strip() == "# Us\n\n## Tone\n\nBe kind."
