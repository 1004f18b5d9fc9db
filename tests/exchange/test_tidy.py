"""What an import proposes: conditions from descriptions and headings, titles that tell, each section once."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from rawkomem.exchange.formats import usual_sources
from rawkomem.exchange.imported_entries import conditions_from_description, conditions_from_headings
from rawkomem.exchange.instructions import plain_lines, shortened_page, strip_page
from rawkomem.hosts.hook_sessions import opening
from rawkomem.model.errors import NotFound
from rawkomem.recall.signals import filter_of
from rawkomem.text.acts import applies_of
from rawkomem.text.conditions import match_condition


def put(project, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    return [str(project / name) for name in files]


def added(repository, *paths) -> dict[str, tuple[str, ...]]:
    """Import, and return title → conditions of what is new."""
    done = repository.exchange.import_all([str(path) for path in paths])
    return {item.entry.title: item.entry.when for one in done for item in one.news}


def test_the_description_of_a_skill_says_when(repository, project):
    skill = "---\nname: invoice-scan\ndescription: Reads scanned invoices. Use this when receipts or invoices arrive as photos.\n---\n\n# Steps\n\nCall tesseract twice.\n"
    put(project, {".claude/skills/invoice-scan/SKILL.md": skill})
    assert added(repository, project / ".claude/skills") == {
        "invoice-scan": ("When receipts or invoices arrive as photos.",)
    }


@pytest.mark.parametrize(
    "description",
    ["", "Helps with the project", "Use when needed", "Run it. Use it when you work on a task.", "x" * 300],
)
def test_a_description_of_common_words_is_no_condition(description):
    assert conditions_from_description(description) == []


@pytest.mark.parametrize(
    ("headings", "conditions"),
    [
        (("Kafka consumer offsets",), ("When working on kafka consumer offsets",)),
        (("Thumbnail Cache Invalidation",), ("When working on thumbnail cache invalidation",)),
        (("Payment terminals", "Overview"), ("When working on payment terminals",)),
        (("Handbook", "Why `max_batch` is 40"), ("When working on max_batch",)),
        (("Project Structure",), ()),
        (("Best Practices",), ()),
        (("Getting started", "Commands"), ()),
        (("How the nightly importer collects, checks and archives every supplier catalogue",), ()),
        (("",), ()),
        (("Money",), ()),
        (("Working with MDX",), ("When working on MDX",)),
        (("Core commands",), ()),
        (("Adding a new feature flag",), ("When working on feature flag",)),
        (("Avoid false positives on x64 (mostly Windows)",), ("When working on false positives on x64",)),
        (("Avoid `bd`, keep ASAN off and ship the d.ts",), ()),
        (("CRITICAL: Database migrations",), ("When working on database migrations",)),
        (("⚠️ Important rules",), ()),
    ],
)
def test_headings_are_a_condition_where_they_name_something(headings, conditions):
    assert conditions_from_headings(*headings) == conditions


def test_a_rule_names_its_commands_and_file_types_as_conditions(repository, project):
    page = "# Guide\n\n## Usage\n\nRun `make suite FILE=x` first. Never edit `*.pb.go` by hand; `Frame` and `Skia` draw it.\n"
    (conditions,) = added(repository, *put(project, {"CLAUDE.md": page})).values()
    assert conditions == ("When running make suite", "*.pb.go")


@pytest.mark.parametrize(
    ("rule", "conditions"),
    [
        (
            "If you change Rust crates (`a.toml`, `b.lock`), run `make lock`.",
            ("If you change Rust crates (a.toml, b.lock)",),
        ),
        ("**When adding a parser module**, run `make lock`.", ("When adding a parser module",)),
        ("If possible, run `make lock`.", ("When running make lock",)),
        ("Run `make lock`, when you changed Rust crates.", ("When running make lock",)),
        ("If you change Rust crates, ask. We ship late. Run `make lock`. Wait.", ("When running make lock",)),
    ],
)
def test_a_short_rule_that_opens_with_its_condition_keeps_it(repository, project, rule, conditions):
    assert [*added(repository, *put(project, {"CLAUDE.md": f"# Guide\n\n## Usage\n\n{rule}\n"})).values()] == [
        conditions
    ]


def test_other_words_of_a_text_are_no_condition(repository, project):
    commands = "".join(f"- Run `make {name}` for the {name}.\n" for name in ("docs", "wheels", "images"))
    page = f"# Guide\n\n## Usage\n\nPictures have a border; `Frame` draws them with Skia.\n\n## Commands\n\n{commands}"
    assert [*added(repository, *put(project, {"CLAUDE.md": page})).values()] == [(), ()]


@pytest.mark.parametrize("rule", ["Run the tests with make suite", "Run tests with make suite"])
def test_a_text_about_its_common_heading_has_no_condition_of_other_words(repository, project, rule):
    page = f"# Guide\n\n## Testing\n\n{rule}. Never call bare pytest.\n\n## Money\n\nAmounts are integer cents.\n"
    found = added(repository, *put(project, {"CLAUDE.md": page}))
    assert found["Testing"] == () == found["Money"]
    repository.beliefs.review_all("instructions", "activate")
    for task in ("run the tests", "please run the tests"):
        assert [item.memory.title for item in repository.inject(task).items] == ["Testing"]


OTHERS = "".join(
    f"## {name}\n\n{text}\n\n"
    for name, text in {
        "Architecture": "The api is in Go and lives in cmd/api. The worker reads the outbox table and sends invoices.",
        "Testing": "Use table tests. Mocks are in internal/mocks and generated by mockery.",
        "Logging": "Use slog with the request id. Never log the names of patients.",
        "Deployment": "Deploys run from main by the pipeline. Hotfixes go from a release branch.",
        "Frontend": "The web app uses SvelteKit and pnpm. Components are in web/src/lib.",
    }.items()
)


@pytest.mark.parametrize(
    "commands",
    [
        "```bash\nmake test     # everything\nmake lint\nmake dev     # start the server on 8080\n```\n",
        "- `make test` has it all\n- `make lint` reads the code\n- **Server**: `make dev`\n",
        "| what | how |\n|---|---|\n| `make test` | all |\n| `make lint` | code |\n| `make dev` | server |\n",
    ],
    ids=["fence", "list", "table"],
)
def test_a_list_of_commands_comes_with_the_words_in_which_people_ask_for_them(commands, repository, project):
    found = added(repository, *put(project, {"CLAUDE.md": f"# Us\n\n## Commands\n\n{commands}\n{OTHERS}"}))
    assert found["Commands"] == tuple(f"When asked: {work}" for work in ("run the tests", "lint the code", "start the dev server"))  # fmt: skip
    repository.beliefs.review_all("instructions", "activate")
    for task in ("run the tests", "please lint the code", "start the dev server"):
        assert "Commands" in [item.memory.title for item in repository.inject(task).items], task
    for task in ("rename the patient form", "why is the invoice of May wrong?"):
        assert "Commands" not in [item.memory.title for item in repository.inject(task).items], task


@pytest.mark.parametrize(
    "text", ["```ts\nconst app = build()\nlet test = 1\n```", "Run `make test` first.\nuse make dev"]
)
def test_code_and_a_rule_about_one_command_are_no_list_of_commands(text, repository, project):
    (conditions,) = added(repository, *put(project, {"CLAUDE.md": f"# Us\n\n## Usage\n\n{text}\n"})).values()
    assert not any(condition.startswith("When asked") for condition in conditions)


def test_a_heading_of_one_noun_is_no_condition(repository, project):
    """It fired on every prompt with this word."""
    page = f"# Us\n\n{OTHERS}## Reviews\n\nWhen Claude, Codex or Greptile reviews, wait.\n"
    assert not any(added(repository, *put(project, {"CLAUDE.md": page})).values())


def test_globs_get_the_heading_as_a_second_condition(repository, project):
    rule = '---\nglobs: "*.css"\n---\n\n# Thumbnail cache\n\nKeep it small; `Frame` draws it.\n'
    (conditions,) = added(repository, *put(project, {".cursor/rules/a.mdc": rule})).values()
    assert conditions == ("*.css", "When working on thumbnail cache")


def test_no_condition_is_shared_by_many(repository, project):
    shared = "---\ndescription: Rules for the telescope firmware\n---\n\n"
    long = "It has a page of its own. " * 15
    sections = "".join(
        f"## {name}\n\nThe {name}: {long}\n\n" for name in ("Mount gear", "Lens cap", "Dome slit", "Motor belt")
    )
    put(project, {".claude/rules/a.md": shared + sections, ".claude/rules/b.md": shared + "Cool it before use.\n"})
    found = added(repository, project / ".claude/rules")
    assert len(found) == 5 and len({*found.values()}) == 5
    notes = {
        f"notes/{n}.md": f"---\ndescription: Telescope firmware notes\n---\n\nNote {n} says so.\n" for n in range(4)
    }
    put(project, notes)
    assert not any(added(repository, project / "notes").values())


def test_lines_that_name_pages_and_lines_of_tags_go():
    kept = "```java\n@Override\n<T>\n```\n\nAsk @lena or @acme/backend.\n\n<https://example.org/a>\n\n`<b>` is bold."
    noise = (
        "@AGENTS.md\n- @~/notes/team.md\nSee also: @docs/tone.md\n<rules>\n</rules>\n<img src='a.png'\n width='5'>\n"
    )
    assert strip_page(noise + kept).strip() == kept


def test_a_heading_that_says_nothing_gets_the_first_sentence(repository, project):
    do, dont = "Use `select` in Prisma queries of the shop", "Never edit a generated file of the shop"
    rest = "\n- Keep each diff as small as it can be, because a person reads all of it.\n"
    (project / "AGENTS.md").write_text(f"# Shop\n\n## Do\n\n- {do}.{rest}\n## Don't\n\n- {dont}.{rest}")
    titles = {item.entry.title for item in repository.exchange.import_from(str(project / "AGENTS.md")).news}
    assert titles == {
        "Do: Use `select` in Prisma queries of the shop.",
        "Don't: Never edit a generated file of the shop.",
    }


def test_titles_tell_memories_apart(repository, project):
    page = "# Shop\n\n## Background\n\nWe sell bikes online.\n\n# Depot\n\n## Background\n\nWe repair bikes here.\n"
    notes = {
        "lib/x/README.md": "<p>\n</p>\n\nDraws maps of caves. Nothing else.\n",
        "lib/y/README.md": "Measures water levels.\n",
        "lib/z/README.md": "# Install\n\nUse the wheel.\n",
        "lib/w/install.md": "# Install\n\nUse the other wheel.\n",
    }
    put(project, {"AGENTS.md": page, **notes})
    assert set(added(repository, project / "AGENTS.md")) == {"Background (Shop)", "Background (Depot)"}
    assert set(added(repository, project / "lib")) == {
        "README: Draws maps of caves.", "README: Measures water levels.", "lib/z: Install", "Install: Use the other wheel.",
    }  # fmt: skip


def test_a_page_without_a_heading_is_named_by_its_folder(repository, project):
    paths = put(project, {"AGENTS.md": "Ask Ann first.\n", "app/core/AGENTS.md": "Build with make core.\n"})
    assert set(added(repository, *paths)) == {"Ask Ann first.", "app/core: Build with make core."}


SECTIONS = (
    "# Rules\n\n## Lockfile\n\nNever edit the lockfile by hand; run `yarn install` and commit what it writes there.\n"
)


def test_a_section_of_several_pages_is_imported_once(repository, project):
    near = SECTIONS.replace("# Rules", "# Agents").replace("hand; run", "hand;  please run")
    paths = put(project, {"CLAUDE.md": SECTIONS, "AGENTS.md": near, "GEMINI.md": SECTIONS})
    done = repository.exchange.import_all(paths)
    assert [len(one.news) for one in done] == [1, 0, 0]
    memory = repository.get(done[0].news[0].entry.id)
    assert memory.extra["alsoIn"] == ["AGENTS.md#Lockfile", "GEMINI.md#Lockfile"]
    assert not any(one.news for one in repository.exchange.import_all(paths[::-1]))


@pytest.mark.parametrize("again", ["by a link of another host", "with another title"])
def test_an_amended_memory_does_not_get_the_text_of_its_file_again(again, repository, project):
    """A file that nobody changed since its import is no newer version, although its memory has another id now."""
    page = "# Shop\n\n## Tests\n\nRun the tests with make suite, which starts the database.\n"
    put(project, {"agents/rules/tests.md": page})
    for host in (".claude", ".cursor"):
        (project / host).mkdir()
        (project / host / "rules").symlink_to("../agents/rules")
    rules = [str(project / host / "rules") for host in (".claude", ".cursor")]
    (item,) = [item for one in repository.exchange.import_all(rules) for item in one.news]
    assert "alsoIn" not in item.entry.extra, "it is one file"
    repository.beliefs.review(item.entry.id, "activate")
    repository.amend(item.entry.id, body="Run the tests with make all.")
    if again == "with another title":
        put(project, {"agents/rules/tests.md": page.replace("# Shop", "# Depot")})
    done = repository.exchange.import_all(rules)
    assert not any(one.news for one in done)
    assert repository.get(item.entry.id).body == "Run the tests with make all."


@pytest.mark.parametrize("place", ["CLAUDE.md", "AGENTS.md", "AGENTS.md#Lockfile", "instructions"])
def test_a_copy_is_reviewed_with_each_of_its_pages(repository, project, place):
    paths = put(project, {"CLAUDE.md": SECTIONS, "AGENTS.md": SECTIONS})
    repository.exchange.import_all(paths)
    assert [memory.title for memory in repository.beliefs.waiting(place)] == ["Lockfile"]
    (memory,) = repository.beliefs.review_all(place, "activate")
    assert memory.status == "active"


def test_a_copy_is_not_rejected_with_one_page_while_another_says_it(repository, project):
    more = "\n## Spelling\n\nWrite colour, as the British do, in every text that people read.\n"
    paths = put(project, {"CLAUDE.md": SECTIONS, "AGENTS.md": SECTIONS + more})
    repository.exchange.import_all(paths)
    assert [memory.title for memory in repository.beliefs.review_all("AGENTS.md", "reject")] == ["Spelling"]
    with pytest.raises(NotFound, match="alone"):
        repository.beliefs.review_all("CLAUDE.md", "reject")
    (memory,) = repository.beliefs.review_all("instructions", "reject")
    assert memory.title == "Lockfile" and memory.status == "archived"


def test_a_rule_that_stands_in_two_files_keeps_the_commands_at_which_it_reminds(repository, project):
    text = "# Here\n\n## Commits\n\nRun the linter before each commit, and squash what belongs together.\n"
    paths = put(project, {"CLAUDE.md": text, "AGENTS.md": text})
    repository.exchange.import_all(paths)
    (memory,) = repository.get_many([row.id for row in repository.list(filter_of(include=["all"]))])
    assert applies_of(memory.extra).commands == ("git commit*",)


@pytest.mark.parametrize("other", [("Never edit", "Edit"), ("yarn install", "yarn install 4.2")])
def test_a_copy_with_another_fact_is_no_copy(other, repository, project):
    paths = put(project, {"CLAUDE.md": SECTIONS, "AGENTS.md": SECTIONS.replace(*other)})
    assert set(added(repository, *paths)) == {"Lockfile", "AGENTS: Lockfile"}


def test_folders_below_keep_instructions_of_their_own(repository, project, tmp_path):
    text = "# Here\n\n## Seeds\n\nReset the fixtures before you seed.\n"
    names = ["services/mail/AGENTS.md", "services/web/CLAUDE.md"]
    paths = put(project, dict.fromkeys(names, text))
    put(project, {"node_modules/x/CLAUDE.md": text, "vendor/y/AGENTS.md": text, ".cache/CLAUDE.md": text})
    offered = usual_sources(str(project), str(tmp_path))
    assert [os.path.relpath(path, project).replace(os.sep, "/") for path in offered] == names
    assert set(repository.exchange.sources()) == {(path, "instructions") for path in paths}
    found = added(repository, *paths)
    assert [*found.values()] == [("services/mail/**", "services/web/**")], "one rule for both folders"
    assert match_condition("services/mail/**", "fix services/mail/queue.py")


TRACKED = ("scripts/build/CLAUDE.md", ".github/workflows/CLAUDE.md", "vendor/ours/AGENTS.md", "app/.claude/CLAUDE.md")


def test_every_instruction_file_that_git_tracks_is_found(repository, project, git, tmp_path):
    text = "# Here\n\n## {0}\n\nReset the {0} before you start {0}.\n"
    names = [*TRACKED, "app/.cursor/rules/a.mdc"]
    put(project, {name: text.format(f"box {number}") for number, name in enumerate(names)})
    put(project, {"dist/CLAUDE.md": text, "app/.eslint/rules/a.md": text})
    git("add", *names, "app/.eslint/rules/a.md")
    offered = [os.path.relpath(path, project).replace(os.sep, "/") for path, _ in repository.exchange.sources()]
    assert {*offered} == {*TRACKED, "app/.cursor/rules"}, "dist is not tracked, and no host reads .eslint"
    found = added(repository, *(project / path for path in offered))
    globs = {condition for when in found.values() for condition in when if "*" in condition}
    assert globs == {"scripts/build/**", ".github/workflows/**", "vendor/ours/**", "app/**"}


def test_sections_of_a_folder_are_named_by_its_page(repository, project):
    page = "# {0}\n\nEvery one of the {0} polls for work in a loop{1}.\n\n## Pitfalls\n\n{0} need a lease{1}.\n"
    more = " and then waits for a while" * 25
    names = {"workers": "Workers", "a/runners": "Guide for everybody who starts runners"}
    paths = put(project, {f"{path}/AGENTS.md": page.format(name, more) for path, name in names.items()})
    titles = {"Workers", "Pitfalls (Workers)", names["a/runners"], "Pitfalls (a/runners)"}
    assert set(added(repository, *paths)) == titles
    assert not added(repository, *paths)


def test_sections_of_a_page_about_one_subject_name_it(repository, project):
    more = "It has a table of its own in the base. " * 20
    page = f"## 1. Database schema\n\n{more}\n\n## 2. Best practices\n\n{more}Keep the entries short.\n"
    titles = {"Database schema (reply memory)", "Best practices (reply memory)"}
    assert set(added(repository, *put(project, {".cursor/rules/reply-memory.mdc": page}))) == titles


def test_a_short_page_about_one_rule_stays_whole(repository, project):
    page = "# engine\n\n## Purpose & Scope\n\nThe loop of a run.\n\n## Pitfalls\n\nLeases end early.\n"
    paths = put(
        project,
        {"src/engine/AGENTS.md": page, ".ai/rules/lease.md": "# Lease\n\n## Why\n\nOne owner.\n\n## How\n\nCall it.\n"},
    )
    assert added(repository, *paths) == {"engine": ("src/engine/**",), "Lease": ()}
    (memory,) = repository.beliefs.review_all("src/engine/AGENTS.md", "activate")
    assert "## Pitfalls\n\nLeases end early." in memory.body


@pytest.mark.parametrize("heading", ["Examples", "Override", "Benefits", "When to apply", "Why?", "See also"])
def test_a_part_of_a_rule_is_no_memory(heading, repository, project):
    part = f"## {heading}\n\nThe night build of May ran for six hours without it.\n\n"
    page = f"# Us\n\n## Cache the wheels\n\nKeep the wheels between builds.\n\n{part}## Signing\n\nSign every image.\n"
    (path,) = put(project, {"CLAUDE.md": page})
    done = repository.exchange.import_from(path)
    assert [item.entry.title for item in done.news] == ["Cache the wheels", "Signing"]
    assert f"### {heading}\n\nThe night build" in done.news[0].entry.body


def test_an_introduction_goes_to_the_first_rule(repository, project):
    page = "# Us\n\nThese hold for all builds:\n\n## Wheels\n\nKeep them.\n\n## Images\n\nSign every image.\n"
    done = repository.exchange.import_from(*put(project, {"CLAUDE.md": page}))
    assert [item.entry.body for item in done.news] == ["These hold for all builds:\n\nKeep them.", "Sign every image."]


def test_a_short_description_of_the_project_is_a_memory_of_its_own(repository, project):
    """It was a part of the commands, and went out of CLAUDE.md with them."""
    page = "# Acme\n\nAcme bills hospitals in Go.\n\n## Commands\n\nRun `make all`.\n"
    done = repository.exchange.import_from(*put(project, {"CLAUDE.md": page}))
    bodies = {item.entry.title: item.entry.body for item in done.news}
    assert bodies == {"Acme": "Acme bills hospitals in Go.", "Commands": "Run `make all`."}


def test_short_rules_and_rules_in_chinese_and_japanese_are_imported(repository, project):
    page = "# Us\n\n## Indent\n\nUse tabs.\n\n## 缩进\n\n使用四个空格缩进。\n\n## 言語\n\n英語で答える\n\n## Later\n\nTBD\n"
    done = repository.exchange.import_from(*put(project, {"CLAUDE.md": page}))
    assert {item.entry.body for item in done.news} == {"Use tabs.", "使用四个空格缩进。", "英語で答える"}
    assert done.skipped == (("CLAUDE.md#Later", "it has fewer than 2 words"),)


def test_a_long_rule_in_chinese_has_the_start_of_it_as_title(repository, project):
    rules = "".join(f"- 绝不混合{name}{'两个租户的数据' * 10}\n" for name in NAMES)
    found = added(repository, *put(project, {"CLAUDE.md": f"# Us\n\n## 隔离\n\n{rules}"}))
    assert len(found) == len(NAMES) and all("绝不混合" in title for title in found), [*found]


def test_each_rule_of_a_long_list_is_a_memory(repository, project):
    rules = [f"Never mix the {name} of two tenants in one request, not even for a report, because {'x ' * 20}it leaks." for name in ("invoices", "drafts", "events", "keys", "quotas", "plans", "seats", "mails")]  # fmt: skip
    page = "# Us\n\n## How we work\n\n" + "".join(f"- {rule}\n  Ask first.\n" for rule in rules)
    found = added(repository, *put(project, {"CLAUDE.md": page}))
    assert len(found) == 8 and all(title.startswith("Never mix the ") for title in found)
    steps = "# Us\n\n## Release\n\n" + "".join(f"- `step {n}`: {'word ' * 4}\n" for n in range(60))
    assert len(added(repository, *put(project, {"AGENTS.md": steps}))) == 1, "short items are facts of one rule"


NAMES = ("invoices", "drafts", "events", "keys", "quotas", "plans", "seats", "mails", "notes", "tags")


def test_each_of_the_numbered_rules_is_a_memory(repository, project):
    rules = [f"Never mix the {name} of two tenants in one request, not even for a report." for name in NAMES]
    listed = "".join(f"{n}. **{rule}** Ask first.\n" for n, rule in enumerate(rules, 1))
    page = f"# Us\n\n## Tenant isolation\n\nThese hold:\n\n{listed}11. No shared cache.\n"
    done = repository.exchange.import_from(*put(project, {"CLAUDE.md": page}))
    found = {item.entry.title: item.entry for item in done.news}
    assert len(found) == 10
    assert all(title.startswith("Never mix the ") for title in [*found][1:])
    assert all(title.endswith("(Tenant isolation)") for title in found)
    assert min(len(entry.body) for entry in found.values()) >= 60


@pytest.mark.parametrize(
    ("start", "title"),
    [
        ("**Never use floats for the {}.** Amounts", "Never use floats for the {} (Money)"),
        ("**Never use floats for the {}**: they round, and amounts", "Never use floats for the {} (Money)"),
        ("**{}**: never round an amount, because all of them", "{}: never round an amount, because all of them are"),
        ("Never use floats for the {}. Amounts", "Never use floats for the {} (Money)"),
    ],
)
def test_the_bold_lead_of_a_rule_is_its_title(start, title, repository, project):
    more = "are integers in cents because rounding lost us money in 2021 and the auditors asked why nobody saw it."
    rules = "".join(f"- {start.format(name)} {more}\n" for name in NAMES)
    found = added(repository, *put(project, {"CLAUDE.md": f"# Us\n\n## Money\n\n{rules}"}))
    assert all(title.format(name) in " ".join(found) for name in NAMES), [*found]


def test_a_section_that_is_one_rule_has_its_bold_lead_as_title(repository, project):
    page = "# Us\n\n## Money\n\n**Never use floats.** Amounts are cents.\n\n## Layout\n\n**Files**\n\nThey are small.\n"
    assert set(added(repository, *put(project, {"CLAUDE.md": page}))) == {"Never use floats (Money)", "Layout"}


def test_a_list_of_rules_ends_where_text_follows(repository, project):
    """The rules above the text and the steps below it are memories of their own."""
    rules = "".join(
        f"- Never mix the {name} of two tenants,\nnot even for a report.\n  {'Ask. ' * 20}\n" for name in NAMES
    )
    steps = "Before you hand in a change, run the checks:\n\n1. Run the linter.\n2. Run the tests.\n"
    page = f"# Us\n\n## How we work\n\n{rules}\n{steps}"
    done = repository.exchange.import_from(*put(project, {"CLAUDE.md": page}))
    found = {item.entry.title: item.entry.body for item in done.news}
    assert sum(title.startswith("Never mix the ") for title in found) == 10
    assert found["How we work"] == steps.strip()


def test_a_list_that_goes_on_with_its_lead_stays_whole(repository, project):
    needs = "".join(
        f"- never mix the {name} of two tenants in one request, also not in a report {'word ' * 20}\n" for name in NAMES
    )
    found = added(repository, *put(project, {"CLAUDE.md": f"# Us\n\n## Changes\n\nAll changes need to:\n\n{needs}"}))
    assert set(found) == {"Changes"}


def test_two_short_rules_have_the_title_of_the_longer_one(repository, project):
    rules = "".join(f"- Never mix the {name} of two tenants in one request. {'Ask. ' * 20}\n" for name in NAMES)
    pair = (
        "- Prefer private modules.\n- If you change a config type, run the writer of the schema again and commit it.\n"
    )
    found = added(repository, *put(project, {"CLAUDE.md": f"# Us\n\n## How we work\n\n{rules}{pair}"}))
    assert any(title.startswith("If you change a config type") for title in found), [*found]


def test_a_short_list_with_a_text_stays_whole(repository, project):
    text = "- Use tabs.\n- Never use a goto.\n\nAsk Ann.\n"
    assert len(added(repository, *put(project, {"AGENTS.md": f"# Us\n\n## Style\n\n{text}"}))) == 1


@pytest.mark.parametrize(
    "items",
    [
        [f"{n}. Open the page of the {name} and copy the newest row into the sheet of the month." for n, name in enumerate(NAMES, 1)],
        [f"- {'Then' if n else 'First'} never close the {name} before the sheet of the month is saved." for n, name in enumerate(NAMES)],
    ],
)  # fmt: skip
def test_the_steps_of_a_procedure_stay_together(items, repository, project):
    page = "# Us\n\n## Closing a month\n\n" + "\n".join(items) + "\n"
    assert set(added(repository, *put(project, {"CLAUDE.md": page}))) == {"Closing a month"}


@pytest.mark.parametrize(
    ("heading", "text", "importance"),
    [
        ("Keys", "NEVER print a key of a customer.", "high"),
        ("Keys", "**Important**: a key is no text for a log.", "high"),
        ("Keys", "A key is no text for a log. You MUST mask it.", "high"),
        ("1. Keys (IMPORTANT) ⚠️", "A key is no text for a log.", "high"),
        ("⚠️ CRITICAL: Keys", "A key is no text for a log.", "high"),
        ("HARD RULE: Keys", "A key is no text for a log. There are no exceptions.", "high"),
        ("Keys", "Keys are never printed; `MUST` is a word of the parser, **always-on** is a mode.", "medium"),
        ("Keys", "Mask a key.\n\n```sh\n# NEVER print it\n```", "medium"),
        ("Keys", "".join(f"Key {n} is long.\n\n" for n in range(9)) + "NEVER print it.", "medium"),
    ],
)
def test_an_emphasized_rule_has_high_importance_and_its_emphasis_is_no_topic(
    heading, text, importance, repository, project
):
    page = f"# Us\n\n## {heading}\n\n{text}\n\n## Colors\n\nUse a token of the theme.\n"
    done = repository.exchange.import_from(*put(project, {"CLAUDE.md": page}))
    entries = {item.entry.title: item.entry for item in done.news}
    assert entries["Keys"].importance == importance and entries["Colors"].importance == "medium"
    assert entries["Keys"].when == ()


def test_a_rule_in_other_formats_is_one_memory_with_all_places(repository, project):
    rule = "# Colors\n\nUse a token for every color.\n\n## Examples\n\nWrite `color: var(--red)`, never `#f00`.\n"
    globs = '---\nglobs: "*.css"\nalwaysApply: {}\n---\n\n'
    files = {
        ".cursor/rules/colors.mdc": globs.format("true") + rule,
        ".ai/rules/colors.md": globs.format("true") + rule,
        ".github/instructions/colors.instructions.md": "---\napplyTo: '*.css'\n---\n\n" + rule,
        "web/AGENTS.md": rule,
        "GEMINI.md": rule.replace("# Colors", "# Us\n\n## Colors of the shop"),
    }
    put(project, files)
    done = repository.exchange.import_all([path for path, _ in repository.exchange.sources()])
    (item,) = [item for one in done for item in one.news]
    places = {item.entry.extra["importedFrom"].partition(":")[2], *item.entry.extra["alsoIn"]}
    assert {place.partition("#")[0] for place in places} == {*files}


def test_the_scope_of_a_copy_counts(repository, project):
    rule = "# Colors\n\nUse a token for every color of the shop.\n"
    put(project, {"web/AGENTS.md": rule, "app/AGENTS.md": rule})
    put(project, {".cursor/rules/a.mdc": "---\nalwaysApply: true\n---\n\n# Names\n\nUse whole words for names.\n"})
    put(project, {"lib/AGENTS.md": "# Names\n\nUse whole words for names.\n"})
    done = repository.exchange.import_all([path for path, _ in repository.exchange.sources()])
    found = {item.entry.title: item.entry for one in done for item in one.news}
    assert found["Colors"].when == ("app/**", "web/**")
    assert not any("lib/" in condition for condition in found["Names"].when), "it holds everywhere"


def test_a_rule_for_every_session_says_so(repository, project):
    rule = "---\nalwaysApply: true\n---\n\nAnswer in English.\n"
    done = repository.exchange.import_from(*put(project, {".cursor/rules/tone.mdc": rule}))
    entry = done.news[0].entry
    assert entry.extra["alwaysApply"] == "true" and entry.importance == "high" and not done.kept_fields


def test_rules_of_devin_and_windsurf(repository, project):
    rules = {
        ".devin/rules/tone.md": "---\ntrigger: always_on\n---\n\nAnswer in English.\n",
        ".devin/rules/pages.md": "---\ntrigger: glob\nglobs: **/*.tsx\n---\n\nPages have a title of their own.\n",
        ".devin/rules/api.md": '---\ntrigger: glob\nglobs: ["api/**/*.py"]\n---\n\nEvery route has a test of its own.\n',
        ".windsurf/rules/words.md": "---\ntrigger: always_on\n---\n\nWrite whole words.\n",
    }
    put(project, rules)
    folders = [str(project / host / "rules") for host in (".windsurf", ".devin")]
    assert repository.exchange.sources() == [(folder, "instructions") for folder in folders]
    done = repository.exchange.import_all(folders)
    found = {item.entry.body.strip(): item.entry for one in done for item in one.news}
    always = {text for text, entry in found.items() if entry.extra.get("alwaysApply") == "true"}
    assert always == {"Answer in English.", "Write whole words."}
    assert "**/*.tsx" in found["Pages have a title of their own."].when
    assert "api/**/*.py" in found["Every route has a test of its own."].when


def test_the_team_memory_of_qwen_code(repository, project):
    note = "---\nname: real-databases\ndescription: Tests use real databases\ntype: feedback\n---\n\nUse a real database.\n\nWhy: mocks hid a bug.\n"
    index = "- [Tests use real databases](feedback/real-databases.md) — no mocks.\n"
    put(project, {".qwen/team-memory/feedback/real-databases.md": note, ".qwen/team-memory/MEMORY.md": index})
    folder = str(project / ".qwen" / "team-memory")
    assert repository.exchange.sources() == [(folder, "claude-memory")]
    (item,) = repository.exchange.import_from(folder).news
    assert item.entry.title == "Tests use real databases" and "Why: mocks hid a bug." in item.entry.body
    assert item.entry.extra["category"] == "preference"


def test_links_inside_the_project_are_read(repository, project, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("else") / "secret.md"
    elsewhere.write_text("# Secret\n\nNot a rule of this project.\n")
    put(project, {".ai/rules/colors.md": "# Colors\n\nUse a token for every color.\n"})
    put(project, {".ai/pages/tone.md": "# Tone\n\nAnswer in English.\n"})
    for folder in (".cursor", ".claude/rules"):
        (project / folder).mkdir(parents=True)
    (project / ".cursor/rules").symlink_to("../.ai/rules")
    (project / ".claude/rules/tone.md").symlink_to("../../.ai/pages/tone.md")
    (project / ".claude/rules/secret.md").symlink_to(elsewhere)
    sources = {os.path.relpath(path, project): kind for path, kind in repository.exchange.sources()}
    assert sources == {".claude/rules": "instructions", ".ai/rules": "instructions", ".cursor/rules": "cursor"}
    done = repository.exchange.import_all([str(project / path) for path in sources])
    assert sorted(item.entry.title for one in done for item in one.news) == ["Colors", "Tone"]
    assert done[0].skipped == ((".claude/rules/secret.md", "a link that leads out of the project"),)


def test_the_command_tells_copies(project, rawkomem):
    put(project, {"CLAUDE.md": SECTIONS, "GEMINI.md": SECTIONS})
    assert "(the same as mem_" in rawkomem("import", "CLAUDE.md", "GEMINI.md", "--dry-run").stdout
    told = rawkomem.json("import", "CLAUDE.md", "GEMINI.md")
    assert told["sources"][0]["memories"][0]["also_in"] == ["GEMINI.md#Lockfile"]


def test_badges_are_neither_titles_nor_conditions(project, repository):
    badge = "[![Docs](https://readthedocs.org/projects/pots/badge/?version=latest)](https://pots.readthedocs.io)"
    (project / "GEMINI.md").write_text(
        f"# Pots {badge}\n\n{badge} ![cov](https://img.shields.io/codecov/c/pots)\n\n"
        f"## Glazing {badge} ##\n\nDip the `celadon` twice, then wipe the foot.\n\n"
        "## See [the kiln guide](https://kilns.example/guide)\n\nFire to cone six for ten hours.\n\n"
        "## Layout\n\n![The studio](studio.png)\n\nShelves are numbered from the door.\n"
    )
    entries = [item.entry for item in repository.exchange.import_from(str(project / "GEMINI.md")).news]
    assert {entry.title for entry in entries} == {"Glazing", "See the kiln guide", "Layout"}
    said = " ".join([*(entry.body for entry in entries), *(line for entry in entries for line in entry.when)])
    assert "readthedocs" not in said and "shields" not in said and "`celadon`" in said and "studio.png" in said


def test_the_first_block_of_the_docs_leaves_no_rule_waiting(project, git, rawkomem, repository):
    docs = (Path(__file__).parents[2] / "docs/moving-in.md").read_text()
    commands = [line.partition("#")[0] for line in docs.partition("```sh\n")[2].partition("```")[0].splitlines()]
    put(project, {"CLAUDE.md": CLAUDE, ".cursor/rules/tone.mdc": "---\nglobs: '*.md'\n---\n\nAnswer in English.\n"})
    for command in commands:
        words = shlex.split(command)
        if words[0] == "rawkomem":
            rawkomem(*words[1:], *(["--yes"] if "--activate" in words or "--shorten" in words else []))
    assert commands[-1].startswith("git ") and not [*repository.beliefs.waiting("")]


# After an import: rule files become short with the person's consent, and later edits of them are noticed
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
    again = rawkomem.json("import", "CLAUDE.md")
    assert again["sources"][0]["summary"]["read"] == 0, "the paragraph about the memories is no rule"
    assert "it is short already" in rawkomem("import", "--shorten", "CLAUDE.md").stderr
    rawkomem("import", "--unshorten", "CLAUDE.md")
    assert page.read_text() == CLAUDE and "rules  " not in rawkomem("status").stdout
    assert "was not shortened" in rawkomem("import", "--unshorten", "CLAUDE.md", check=1).stderr


def test_a_file_that_is_too_small_to_gain_is_not_to_be_imported_again(page, rawkomem):
    page.write_text(
        "# Shop\n\n## Colors\n\nUse a token of `theme.css` for every color of the shop, never a hex code.\n"
    )
    rawkomem("import", "CLAUDE.md")
    activate(rawkomem)
    told = rawkomem("import", "--shorten", "CLAUDE.md").stderr
    assert "tokens instead of" in told and "activate the memories" not in told


def test_nothing_is_written_without_consent(page, rawkomem):
    done = rawkomem("import", "--shorten", "CLAUDE.md", "--yes")
    assert "and activate the memories first" in done.stderr, "nobody reviewed it"
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


def test_emphasized_rules_stay_and_lines_of_code_do_not(project, rawkomem):
    text = """\
This is a shop that sells shoes to people who like shoes, with a store in every town of the country and a long history.

## Tests

Run the tests with make suite; the suite starts the fake payment server and the mail catcher first. {more}

```bash
make suite     # all

# one file only, quick
make suite FILE=x
```

```python
@pytest.fixture
def db(): ...
```

### Data

- Use the fake customers of the seed in every test. {more}
- NEVER copy the data of a customer into a test,
  not even a part of it.
- **Always** delete the rows that a test wrote.

You MUST do it so:

```sh
make clean
```

## Deploys

Deploys go out on Tuesdays. {more}
""".format(more="The suite stops both servers when it ends, and prints their logs. " * 5)
    put(project, {"CLAUDE.md": text})
    rawkomem("import", "CLAUDE.md")
    activate(rawkomem)
    done = rawkomem("import", "--shorten", "CLAUDE.md", "--yes")
    short = (project / "CLAUDE.md").read_text().partition("<!-- rawkomem: begin -->")[0]
    assert short == (
        "## Tests\n\n### Data\n\n- NEVER copy the data of a customer into a test,\n  not even a part of it.\n"
        "- **Always** delete the rows that a test wrote.\n\nYou MUST do it so:\n\n```sh\nmake clean\n```\n\n"
    )
    assert "what stays in CLAUDE.md:\n  ## Tests\n  ### Data\n  - NEVER copy the data" in done.stderr
    assert " tokens instead of " in done.stderr


def test_the_code_that_an_emphasized_rule_speaks_of_stays_with_it():
    """The agent read "always run these commands", and the commands were gone."""
    rule = "**CRITICAL**: Always run these commands before a commit.\n\n```sh\nmake suite\n```\n"
    text = f"## Before\n\n{rule}\nThe linter has hooks, too.\n\n```sh\nmake lint\n```\n"
    assert shortened_page(text, plain_lines(text)).startswith(f"## Before\n\n{rule}\n<!--")


def test_a_file_that_is_shortened_through_a_link_is_not_to_be_imported_again(project, rawkomem):
    (project / "AGENTS.md").write_text(CLAUDE)
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    rawkomem("import", "CLAUDE.md", "AGENTS.md")
    activate(rawkomem)
    rawkomem("import", "--shorten", "CLAUDE.md", "--yes")
    assert "changed after" not in rawkomem("status").stdout
    (project / "AGENTS.md").write_text(CLAUDE.replace("every release", "each release"))
    rawkomem("import", "AGENTS.md")
    assert "changed after" not in rawkomem("status").stdout


def test_an_edit_after_the_shortening_is_not_overwritten(page, rawkomem):
    activate(rawkomem)
    rawkomem("import", "--shorten", "CLAUDE.md", "--yes")
    page.write_text(page.read_text() + "\nMore.\n")
    assert "was edited after it was shortened" in rawkomem("import", "--unshorten", "CLAUDE.md", check=None).stderr
    assert page.read_text().endswith("More.\n")


def test_uninstalling_gives_a_shortened_file_its_text_back(page, rawkomem):
    activate(rawkomem)
    rawkomem("import", "--shorten", "CLAUDE.md", "--yes")
    assert "restore  CLAUDE.md" in rawkomem("uninstall", "--dry-run").stdout and page.read_text() != CLAUDE
    rawkomem("uninstall", "--yes")
    assert page.read_text() == CLAUDE


def test_uninstalling_does_not_remove_the_only_copy_of_a_text(page, project, rawkomem):
    """The command that the error names saves it."""
    activate(rawkomem)
    rawkomem("import", "--shorten", "CLAUDE.md", "--yes")
    page.write_text(page.read_text() + "\nMore.\n")
    for words in (["--yes"], ["--dry-run"]):
        told = rawkomem("uninstall", *words, check=1).stderr
        assert "its text from before is only on this machine" in told
    rawkomem("list")  # nothing was removed
    subprocess.run(told.partition("join both by hand: ")[2].strip().rstrip(")"), shell=True, check=True, cwd=project)
    rawkomem("uninstall", "--yes")
    assert (project / "CLAUDE.md.before").read_text() == CLAUDE and page.read_text().endswith("More.\n")


def test_shortening_twice_does_not_replace_the_first_text(page, rawkomem):
    activate(rawkomem)
    rawkomem("import", "--shorten", "CLAUDE.md", "--yes")
    page.write_text(page.read_text() + "\n## Tone\n\nWrite release notes in plain words and in the past tense.\n" * 20)
    rawkomem("import", "CLAUDE.md")
    activate(rawkomem)
    told = rawkomem("import", "--shorten", "CLAUDE.md", "--yes", check=1).stderr
    assert "was shortened before" in told and "--unshorten CLAUDE.md" in told
    assert "Write release notes" in page.read_text()


def test_a_file_outside_the_project_is_not_shortened(project, rawkomem, tmp_path_factory):
    outside = tmp_path_factory.mktemp("else") / "rules.md"
    outside.write_text(CLAUDE)
    (project / "CLAUDE.md").symlink_to(outside)
    assert "leads out" in rawkomem("import", "--shorten", "CLAUDE.md", "--yes", check=None).stderr
    assert outside.read_text() == CLAUDE


def test_an_edit_after_the_import_is_told_once_everywhere(page, repository, rawkomem):
    os.utime(page, (1, 1))
    assert "changed after" not in opening(repository).text + rawkomem("status").stdout, "its text is the same"
    page.write_text(CLAUDE.replace("every release", "each release"))
    line = "CLAUDE.md changed after the import; to update the memories, run: rawkomem import CLAUDE.md"
    assert line in rawkomem("status").stdout and line in rawkomem("check").stderr
    assert opening(repository).text.count(line) == 1
    assert rawkomem.json("status")["changed_rules"] == ["CLAUDE.md"]
    told = rawkomem.json("import", "CLAUDE.md")
    assert told["sources"][0]["summary"]["changed"] == 1 and told["sources"][0]["summary"]["added"] == 0
    assert "changed after" not in opening(repository).text + rawkomem("status").stdout


def test_our_paragraph_is_replaced_and_never_a_rule():
    known = frozenset({"Use tabs."})
    short = shortened_page("# Us\n\n## Style\n\nUse tabs.\n\n## Tone\n\nBe kind.\n", known)
    assert "Use tabs." not in short and shortened_page(short, known) == short
    assert shortened_page("Be kind.\nUse tabs.\n", known).startswith("Be kind.\nUse tabs.\n"), "also without a heading"
    assert strip_page(short).strip() == "# Us\n\n## Tone\n\nBe kind."
    several = shortened_page("# Us\n\nUse tabs.\n\n# Style\n\nUse tabs.\n", known)
    assert several.startswith("# Us\n\n<!-- rawkomem: begin -->"), "one title is enough"


def test_import_lists_and_init_imports_devin_and_qwen_code(project, rawkomem):
    note = "---\nname: databases\ndescription: Tests use real databases\ntype: feedback\n---\n\nUse a real database.\n"
    rule = "---\ntrigger: always_on\n---\n\nAnswer in English.\n"
    put(project, {".devin/rules/tone.md": rule, ".qwen/team-memory/feedback/databases.md": note})
    listed = rawkomem("import").stdout
    assert ".devin/rules" in listed and ".qwen/team-memory" in listed
    rawkomem("init", "--yes", "--no-connect")
    found = rawkomem.json("list", "--include", "quarantined")
    assert {memory["title"] for memory in found} == {"tone", "Tests use real databases"}
