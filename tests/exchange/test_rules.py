"""Rules of Claude Code, Cursor and Copilot keep the files that they apply to, on the way in and out."""

import pytest
from rawkomem.text.acts import MAX_ACT_PATTERNS, Act, applies_of, fits

RULE = "# Return problem details\n\nEvery error of the api is an RFC 9457 object, never a bare string.\n"
PAGES = {  # format → folder and name of a rule, and its frontmatter
    "claude-rules": (".claude/rules/return-problem-details.md", 'paths: ["src/api/**/*.ts", "!src/api/gen/**"]\n'),
    "cursor": (
        ".cursor/rules/return-problem-details.mdc",
        "description: How the api reports errors\nglobs: src/api/**/*.ts,app/*.{ts,tsx}\nalwaysApply: false\n",
    ),
    "copilot": (
        ".github/instructions/return-problem-details.instructions.md",
        'description: How the api reports errors\napplyTo: "*.ts,src/api/**"\n',
    ),
}


@pytest.mark.parametrize("form", PAGES)
def test_a_rule_comes_back_as_it_was(form, rawkomem, project):
    name, front = PAGES[form]
    file = project / name
    file.parent.mkdir(parents=True)
    file.write_text(f"---\n{front}---\n\n{RULE}")
    rawkomem("import", str(file))
    rawkomem("export", "--format", form, "--out", str(project / "out"), "--include", "quarantined")
    (made,) = [one for one in (project / "out").iterdir() if not one.name.startswith(".")]
    assert made.name == file.name
    assert lines_of(made) == lines_of(file)


@pytest.mark.parametrize(
    ("form", "front"),
    [("claude-rules", ""), ("copilot", '---\napplyTo: "**"\n---\n\n')],
    ids=["claude-rules", "copilot"],
)
def test_a_rule_without_paths_applies_everywhere(rawkomem, project, form, front):
    """Copilot reads instructions without `applyTo` for no request."""
    rawkomem("add", "Never deploy on Fridays.", "--title", "Deploy")
    rawkomem("export", "--format", form, "--out", str(project / "out"))
    (made,) = [one for one in (project / "out").iterdir() if not one.name.startswith(".")]
    assert made.read_text() == f"{front}# Deploy\n\nNever deploy on Fridays.\n"


def lines_of(file) -> list[str]:
    """The lines of a rule; a list in brackets and one below each other are the same."""
    text = file.read_text().replace("paths:\n  - ", "paths: [").replace("\n  - ", ", ").replace('**"\n', '**"]\n')
    return text.replace('"', "").replace("]", "").split("\n")


def test_the_paths_of_a_rule_apply_to_writes(rawkomem, repository, project):
    name, front = PAGES["claude-rules"]
    (project / name).parent.mkdir(parents=True)
    (project / name).write_text(f"---\n{front}---\n\n{RULE}")
    rawkomem("import", str(project / name))
    (memory,) = repository.core.all()
    assert memory.extra["appliesTo"] == {"paths": ["src/api/**/*.ts", "!src/api/gen/**"]}
    applies = applies_of(memory.extra, memory.when)
    assert fits(applies, Act(path="src/api/users/get.ts", text="x"))
    assert not fits(applies, Act(path="src/api/gen/client.ts", text="x"))
    assert not fits(applies, Act(path="docs/api.md", text="x"))


def test_a_glob_for_every_file_is_not_imported(rawkomem, repository, project):
    page = project / ".claude" / "rules" / "tone.md"
    page.parent.mkdir(parents=True)
    page.write_text(f'---\npaths: ["**/*"]\n---\n\n{RULE}')
    rawkomem("import", str(page))
    (memory,) = repository.core.all()
    assert "appliesTo" not in memory.extra


def test_a_rule_that_names_its_acts_applies_to_them(repository, project):
    """Nobody asks for `Cargo.lock` by its name, but the agent writes it."""
    page = project / "AGENTS.md"
    page.write_text(
        "# Us\n\n## Dependencies\n\nIf you change `Cargo.toml`, run `just lock` and commit the result with it.\n"
        "\n## Tests\n\nDo not run `cargo test` directly, the suite needs its services.\n"
        "\n## Names\n\nUse whole words for names, also in tests and scripts.\n"
    )
    done = repository.exchange.import_from(str(page))
    lock, tests, names = (applies_of(item.entry.extra) for item in done.news)
    assert fits(lock, Act(path="crates/api/Cargo.toml", text="serde")) and not lock.commands
    assert fits(tests, Act(command="cd api && cargo test -q")) and not tests.paths
    assert not (names.paths or names.commands)


@pytest.mark.parametrize(
    ("heading", "rule", "acts"),
    [
        ("Us", "When you edit migrations, run `make db-check`.", [Act(path="db/migrations/1.sql")]),
        ("Us", "Run `make lint` before each commit.", [Act(command="git commit -m x")]),
        ("Us", "Do not push to main.", [Act(command="git push origin main")]),
        ("Us", "Open every pull request as a draft.", [Act(command="gh pr create --fill")]),
        ("Commit messages", "Use the imperative.", [Act(command="git commit")]),
        ("Us", "When running `cargo test`, set `RUST_LOG`.", [Act(command="cargo test -q")]),
        ("Us", "When you write tests, use fixtures.", [Act(path="tests/a.py"), Act(path="x/a_test.go")]),
        ("Python style", "Write type hints.", [Act(path="app/a.py")]),
        ("Python test helpers", "Log in with `login_as`.", [Act(path="tests/a.py"), Act(path="x/test_a.py")]),
        ("Us", "Avoid `any` in TypeScript files.", [Act(path="web/a.tsx")]),
        ("Backend (`apps/api`)", "Use one router for each resource.", [Act(path="apps/api/a.go")]),
        ("Us", "Translations are in `i18n/languages/`; add English first.", [Act(path="i18n/languages/en.ts")]),
        ("Us", "Put new panels under `web/panels`.", [Act(path="web/panels/a.vue")]),
        ("Us", "**Location**: `db/steps/`", [Act(path="db/steps/1.sql")]),
        ("Us", "When writing or changing tests, use fixtures.", [Act(path="tests/a.py")]),
        ("Us", "Before modifying the schema, ask Ann.", [Act(path="db/schema.sql"), Act(path="schemas/a.json")]),
        ("Layout", "Source files are in `src/`, and the output is in `dist/`.", []),
        ("I/O", "If you change the code, say why in one line.", []),
    ],
)
def test_a_rule_that_states_its_moment_applies_to_it(heading, rule, acts, repository, project):
    """Folder, file type or command: an agent gets the rule when it does what the rule is about."""
    page = project / "CLAUDE.md"
    page.write_text(f"# Us\n\n## {heading}\n\n{rule}\n")
    (item,) = repository.exchange.import_from(str(page)).news
    applies = applies_of(item.entry.extra)
    assert all(fits(applies, act) for act in acts)
    assert bool(applies.paths or applies.commands) == bool(acts)
    others = [Act(path="README.txt"), Act(path="src/main.c"), Act(command="git status"), Act(command="ls")]
    assert not any(fits(applies, act) for act in others)


def test_a_rule_of_a_folder_applies_to_the_files_of_this_folder(repository, project):
    """A page in a folder speaks of this folder, whatever else it names."""
    (project / "web").mkdir()
    more = "It has a page of its own in the handbook. " * 20
    page = project / "web" / "CLAUDE.md"
    page.write_text(
        f"# Web\n\n## State\n\nKeep state in runes. {more}\n\n## Migrations\n\nWhen you edit migrations, ask Ann. {more}\n"
    )
    done = repository.exchange.import_from(str(page))
    paths = [item.entry.extra["appliesTo"]["paths"] for item in done.news]
    assert paths == [["web/**"], ["web/**", "web/**/migration*/**"]]


def test_a_rule_that_names_more_acts_than_a_memory_may_have_is_imported(repository, project):
    page = project / "AGENTS.md"
    page.write_text("# Us\n\n## Made\n\n" + "".join(f"Do not edit `made/a{n}.py`. " for n in range(40)) + "\n")
    done = repository.exchange.import_from(str(page))
    (item,) = done.news
    assert not done.skipped and len(item.entry.extra["appliesTo"]["paths"]) == MAX_ACT_PATTERNS


def test_titles_of_rules_have_no_numbers_bold_marks_or_names_of_files(repository, project):
    (project / "web").mkdir()
    more = "It has a page of its own in the handbook. " * 20
    heads = ("2.1 Avoid globals", "**3. Ask first**", "2.5 GB is the limit", "2.0 Release notes", "State")
    page = project / "web" / "AGENTS.md"
    page.write_text("# AGENTS.md\n\n" + "".join(f"## {head}\n\n{head * 20} {more}\n\n" for head in heads))
    whole = project / "db" / "AGENTS.md"
    whole.parent.mkdir()
    whole.write_text("# AGENTS.md\n\nEvery query has a limit. Ask Ann about exceptions.\n")
    done = [repository.exchange.import_from(str(one)) for one in (page, whole)]
    assert [item.entry.title for one in done for item in one.news] == [
        "Avoid globals (web)", "Ask first (web)", "2.5 GB is the limit (web)", "2.0 Release notes (web)", "State (web)",
        "db: Every query has a limit.",
    ]  # fmt: skip


def test_a_table_of_contents_a_template_and_a_page_that_only_includes_others_are_no_rules(repository, project):
    rules = project / ".claude" / "rules"
    rules.mkdir(parents=True)
    (rules / "_template.md").write_text("# Title of the rule\n\nSay in one sentence what the agent must do.\n")
    (rules / "style.md").write_text("# Style\n\nUse tabs in all files, never spaces.\n")
    (project / "web").mkdir()
    (project / "web" / "CLAUDE.md").write_text("@AGENTS.md\n")
    page = project / "CONTRIBUTING.md"
    page.write_text(
        "# Us\n\n## Contents\n\n- [Tests](#tests)\n  1. [**1. Unit**](#1-unit)\n\n## Tests\n\nRun make suite before you push.\n"
    )
    done = [repository.exchange.import_from(str(one)) for one in (rules, project / "web" / "CLAUDE.md", page)]
    assert [[item.entry.title for item in one.news] for one in done] == [["Style"], [], ["Tests"]]
    assert [one.skipped for one in done] == [((".claude/rules/_template.md", "it is a template"),), (), ()]
