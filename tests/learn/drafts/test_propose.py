"""Conditions that are proposed from a memory's words fire on related tasks, and stay quiet on others."""

import json

import pytest
from rawkomem.learn.drafts import choose_drafts
from rawkomem.learn.proposed_conditions import (
    propose_acts,
    propose_asked_condition,
    propose_conditions,
    propose_patterns,
    with_condition,
    without_shared_conditions,
)
from rawkomem.learn.turns import RunFacts, Turn
from rawkomem.model.entries import Entry
from rawkomem.text.acts import APPLIES_KEY, act_problem, patterns_given
from rawkomem.text.conditions import EVERYDAY_SENTENCES, REFUSED, is_sentence, match_condition, read_condition

from tests.learn.drafts.test_choose import SAMPLE

UNRELATED = [
    "write a press release about the summer party",
    "translate the onboarding e-mail to French",
    "make the footer of the landing page responsive",
    "plan the sprint retrospective",
    "draw a diagram of the sales funnel",
]
CASES = [
    ("We decided to use Postgres instead of MySQL because we need partial indexes.", "add a postgres index to the orders table"),
    ("No, use pnpm, not npm.", "install a package with npm"),
    ("Error messages go to stderr, never to stdout.", "print the summary on stdout"),
    ("All timestamps are stored as UTC milliseconds.", "store a timestamp in milliseconds"),
    ("The authentication middleware lives in src/middleware/auth.ts and is registered in server.ts.", "change the auth middleware"),
    ("The memory leak was caused by event listeners that were never removed in useSocket.", "refactor useSocket"),
    ("I prefer small commits with imperative messages.", "split this into small commits"),
    ("The project requires Node 20 or later because it uses the built-in test runner.", "upgrade node in the CI image"),
    ("The config key is called `max_retries`, not `retries`.", "set max_retries to 3"),
]  # fmt: skip


def fires(text: str, task: str) -> bool:
    return any(match_condition(condition, task) for condition in propose_conditions(text))


@pytest.mark.parametrize(("text", "task"), CASES)
def test_it_fires_on_a_related_task_and_not_on_others(text, task):
    assert fires(text, task)
    assert not any(fires(text, other) for other in UNRELATED)


def test_memories_do_not_fire_on_each_others_tasks():
    wrong = [(text, task) for text, _ in CASES for other, task in CASES if other != text and fires(text, task)]
    assert len(wrong) <= 2, wrong


def test_what_is_proposed_is_usable_for_all_that_is_learned():
    sessions = json.loads(SAMPLE.read_text("utf-8"))["sessions"]
    texts = [text for text, _ in CASES] + [gold["memory"] for session in sessions for gold in session["gold"]]
    conditions = [condition for text in texts for condition in propose_conditions(text)]
    assert all(read_condition(condition).form != REFUSED for condition in conditions)
    assert not any(match_condition(condition, sentence) for condition in conditions for sentence in EVERYDAY_SENTENCES)
    assert sum(bool(propose_conditions(text)) for text in texts) >= 0.8 * len(texts)


@pytest.mark.parametrize(
    "text",
    [
        "Pictures in the gallery get a caption, a border and a soft shadow before the printer sees them.",
        "The installation guide has a usage section and testing notes.",
    ],
)
def test_leading_words_are_no_condition(text):
    assert propose_conditions(text) == ()


def test_a_condition_that_many_findings_of_a_session_share_is_dropped():
    entries = [Entry(body=f"Part {n}.", when=("When working with terraform", "infra/**")) for n in range(4)]
    assert {entry.when for entry in without_shared_conditions(entries)} == {("infra/**",)}
    assert without_shared_conditions(entries[:3]) == entries[:3]
    assert without_shared_conditions(entries[:1] * 9) == entries[:1] * 9, "one text, said nine times"


def _draft(ask: str, said: str):
    turns = [("user", ask), ("assistant", "I did it."), ("user", said)]
    (draft,) = choose_drafts([Turn(who, text) for who, text in turns], RunFacts())
    return draft


def test_a_correction_comes_up_when_the_same_is_asked_again():
    draft = _draft("tidy the shelves of the archive", "no, never do that alone")
    assert draft.when[0] == "When asked: tidy the shelves of the archive"
    assert propose_asked_condition("run the tests") == ("When asked: run the tests",)


@pytest.mark.parametrize(
    ("said", "names", "asked"),
    [
        ("no, never run bare pytest here, use make suite", "make suite|pytest", "execute the suite"),
        ("use pnpm, not npm", "npm|pnpm", "install lodash"),
        ("don't edit generated/schema.ts, change schema.graphql instead", "schema.ts|schema.graphql", "regenerate it"),
        ("no, never deploy from a laptop, push a tag instead", "", "deploy the site"),
        ("no, never touch the blue boxes", "blue boxes", "paint the blue boxes"),
        (
            "don't use moment, use date-fns because the bundle is too big",
            "moment|date-fns",
            "replace moment in the form",
        ),
        ("please stop adding comments to every line", "add*comment", "add some comments to the parser"),
        ("always run the linter before every commit, otherwise the tests fail", "", "commit this"),
    ],
)
def test_a_correction_gets_patterns_for_what_it_names_and_for_its_kind_of_work(said, names, asked):
    when = _draft("build the docs and push them", said).when
    assert when[0] == names or not names
    assert not any(map(is_sentence, when)) and any(match_condition(one, asked) for one in when)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("don't use moment, use date-fns because the bundle is too big", "bundle the assets"),
        ("because our tests need a database, always use date-fns", "write a test"),
        ("run the linter before every commit, otherwise the tests fail", "write a test"),
        ("Benutze npm nicht, weil die Tests sonst brechen", "write a test"),
        ("no, never run the tests against production, use the docker database", "add a table to the database"),
        ("use structured logging with logger.info, not print", "print the invoice"),
    ],
)
def test_the_reason_and_the_means_of_a_rule_are_no_condition(said, asked):
    patterns = propose_patterns(said)
    assert patterns and not any(match_condition(one, asked) for one in patterns), patterns


@pytest.mark.parametrize(
    "rule",
    [
        "no, never do that alone",
        "when you add a provider, register it in the table of providers first, then write its docs, and then its tests",
        "never commit, deploy, publish, migrate or format on a Friday",
    ],
)
def test_a_rule_without_one_kind_of_work_gets_no_pattern(rule):
    assert propose_patterns(rule) == ()


@pytest.mark.parametrize("ask", ["", "yes", "go on", "do it", "word " * 40, "first line\nsecond line of the ask"])
def test_an_ask_that_tells_nothing_is_no_condition(ask):
    assert propose_asked_condition(ask) == ()


@pytest.mark.parametrize(
    ("title", "asked"),
    [
        ("Run the tests with pnpm, never with npm", "run the tests"),
        ("Deploy to production only after a review", "deploy to production"),
        ("Prices are rounded once, at the end", None),
        ("Use pnpm for all packages, not npm", None),
    ],
)
def test_a_rule_about_a_work_comes_up_when_that_work_is_asked_for(title, asked):
    when = with_condition(Entry(title=title)).when
    assert [one for one in when if one.startswith("When asked")] == ([f"When asked: {asked}"] if asked else [])


@pytest.mark.parametrize(
    ("rule", "acts"),
    [
        ("never run bare pytest, use make suite", "commands=pytest*"),
        ("use pnpm, not npm", "commands=npm*"),
        ("No `git add .`: other files lie around", "commands=git add ."),
        ("never `git commit --no-verify`", "commands=git commit --no-verify"),
        ("explain first, before you run rm -rf", "commands=rm -rf"),
        ("never run `bin/deploy` from a laptop", "commands=bin/deploy*"),
        ("never run make deploy yourself", "commands=make deploy"),
        ("do not edit db/seeds", "paths=db/seeds/**"),
        ("do not run or edit `db/seeds.rb`.", "paths=db/seeds.rb"),
        ("don't edit generated/schema.ts, change schema.graphql instead", "paths=generated/schema.ts"),
        ("Do not touch package-lock.json or yarn.lock.", "paths=package-lock.json paths=yarn.lock"),
        (
            "If you change dependencies (`Cargo.toml` or `Cargo.lock`), run `just lock`.",
            "paths=Cargo.toml paths=Cargo.lock",
        ),
        ("After editing package.json, run the installer.", "paths=package.json"),
        ("CLAUDE.md, AGENTS.md and GEMINI.md are kept in step", "paths=CLAUDE.md paths=AGENTS.md paths=GEMINI.md"),
        ("Nein, führe nie direkt pytest aus, nimm make suite", "commands=pytest*"),
        ("Bitte niemals `npm install` ausführen", "commands=npm install"),
        ("Benutze npm nicht", "commands=npm*"),
        ("Führe pytest nicht direkt aus", "commands=pytest*"),
        ("Ändere config/prod.yml nicht", "paths=config/prod.yml"),
        ("Wir verwenden hier pnpm und nicht npm.", "commands=npm*"),
        ("Ändere nie db/seeds oder config/prod.yml, das macht die Pipeline", "paths=db/seeds/** paths=config/prod.yml"),
        ("Nunca ejecutes pytest directamente, usa make suite", "commands=pytest*"),
        ("Usa pnpm en vez de npm en este proyecto", "commands=npm*"),
        ("No edites config/prod.yml sin preguntar", "paths=config/prod.yml"),
        ("never run bare pytest, use `pytest -n 4`", "commands=pytest*"),
        ("you must not force push, ever. others review that branch", "commands=git push*--force*"),
        ("Never force-push. Use --force-with-lease on your own branch.", "commands=git push --force"),
    ],
)
def test_a_rule_that_names_a_command_or_a_file_proposes_a_guard(rule, acts):
    named = " ".join(propose_acts(rule))
    assert named == acts
    assert not act_problem({APPLIES_KEY: patterns_given(propose_acts(rule))})[0]


@pytest.mark.parametrize(
    "rule",
    [
        "Run the unit tests with `uv run --frozen pytest -xv backend/tests/unit`, never bare pytest.",
        "never run bare pytest, use uv run pytest",
        "Never run plain `yarn test`. Run `TZ=UTC yarn test`.",
    ],
)
def test_a_rule_that_asks_for_the_same_program_through_another_proposes_no_guard(rule):
    """The guard also fired on the command that the rule asks for."""
    assert propose_acts(rule) == ()


@pytest.mark.parametrize(
    "rule",
    [
        "never use `any`", "don't use `console.log`", "stop using emojis", "TODO.md without emojis",
        "specs are excluded from mypy", "write the commit message, do not commit", "a rename is a commit of its own",
        "each change of analytics is written into docs/POSTHOG.md", "if you change an endpoint, describe it in docs/api.md", "never push to main", "never make changes without asking",
        "you did not run pytest", "why don't you run pytest?", "do not commit without running pytest",
        "das ist nie der Fall und/oder falsch", "Nimm pnpm, weil npm nicht geht", "no hay cambios en git", "don't use npm packages for this", "do not change the client/server code", "use make suite for the tests",
    ],
)  # fmt: skip
def test_a_rule_of_style_or_a_complaint_proposes_no_guard(rule):
    assert propose_acts(rule) == ()
