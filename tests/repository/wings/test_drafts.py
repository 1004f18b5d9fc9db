"""Drafts from the session to the memory: kept, edited, merged, dropped, expired, said again, moved back."""

import io

import pytest
from rawkomem.files.records import change
from rawkomem.files.session_records import MAX_DRAFT_DAYS, DraftRecords
from rawkomem.learn.drafts import choose_drafts
from rawkomem.learn.transcripts import read_session
from rawkomem.learn.turns import RunFacts
from rawkomem.model.entries import RULE, Draft, Entry
from rawkomem.model.values import DAY, now, replace
from rawkomem.repository.waiting import JOIN

from tests.learn.drafts.talk import DONE, talk


def said(words: str, session: str = "s-1"):
    return choose_drafts(talk("do the first task", DONE, words), RunFacts("claude-code", session=session))


def take(repository, words: str, session: str = "s-1"):
    return repository.drafts.take(said(words, session))


AGAIN = "no, I said jest and not vitest, use jest"


@pytest.mark.parametrize(
    ("one", "other", "raised"),
    [
        ("use jest here, not vitest", AGAIN, True),
        ("never use eslint here, use biome", AGAIN, False),
        ("use port 8080 for the proxy instead", "use port 9090 for the proxy instead", False),
        ("always mock the payment gateway in tests", "never mock the payment gateway in tests", False),
    ],
)
def test_what_a_person_says_again_in_another_session_is_raised_and_not_stored(one, other, raised, repository):
    (alone,) = said(other, "s-2")
    take(repository, one)
    (draft,) = take(repository, other, "s-2")
    assert (draft.score > alone.score, draft.again) == ((True, ("s-1",)) if raised else (False, ()))
    assert len(repository.drafts.all()) == 2 and not repository.list()


def test_a_waiting_draft_gets_its_new_grade_and_an_edited_one_keeps_its_own(repository):
    drafts = [Draft(f"drf_{n}", RULE, f"rule {n}", title=f"Rule {n}", score=n, session="s-1") for n in range(1, 4)]
    repository.drafts.take(drafts)
    repository.drafts.edit("drf_1", "Rule one")
    assert repository.drafts.take([replace(one, more=True) for one in drafts]) == ()
    assert [draft.id for draft in repository.drafts.asked()] == ["drf_1"] and len(repository.drafts.all()) == 3
    repository.drafts.take(drafts)
    assert len(repository.drafts.asked()) == 3


def test_the_same_text_in_two_sessions_is_sent_by_a_program(repository):
    assert take(repository, AGAIN) and not take(repository, AGAIN, "s-2")


def test_drafts_expire(repository):
    store = DraftRecords(repository.layout)
    take(repository, "we don't use lodash any more")
    with change(repository.layout) as db:
        db.execute("UPDATE drafts SET at = ?", (now() - (MAX_DRAFT_DAYS + 1) * DAY,))
    assert store.all() == [] and store.expire() == 1 and store.expire() == 0


# What a draft does to the memories that are there
PNPM = "no, we use pnpm here, never npm"


def learned(repository, words: str):
    (draft,) = repository.learning.take(read(), said(words)).drafts
    return draft


def read():
    return read_session(io.BytesIO(b""), RunFacts("claude-code", session="s-1"))


@pytest.mark.parametrize(
    ("title", "body", "words"),
    [
        ("Use pnpm, never npm", "Use pnpm in this project, never npm.", PNPM),
        ("Package manager is pnpm", "Install packages with pnpm. npm breaks the lockfile.", PNPM),
        ("Do not use npm", "npm breaks the lockfile in CI; pnpm is the package manager of this repository.", PNPM),
        (
            "Use ruff format",
            "Format Python code with ruff format; black is not installed.",
            "no, don't use black here, always use ruff format",
        ),
    ],
)
def test_a_correction_that_agrees_with_a_memory_confirms_it(title, body, words, repository):
    """Keeping such a draft took the memory, and the reason in it, out of use."""
    old = repository.add(Entry(title=title, body=body, when=("installing packages",)))
    draft = learned(repository, words)
    assert (draft.corrects, draft.agrees) == ((), old.id)
    (item,) = repository.waiting(["draft"])
    assert {*item.decisions} == {"keep", "join", "both", "drop"}
    assert [one.entry.kind for one in repository.decide(item, "keep")] == ["reinforce"]
    assert repository.get(old.id).status == "active" and repository.get(old.id).body == body
    assert len(repository.list()) == 1 and not repository.drafts.all()


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Testing (CLI)", "Run the tests of the CLI with `uv run pytest tests/cli/`."),
        ("Before a commit", "Always run these commands:\n\n```bash\nuv run pytest -n auto  # the full test suite\n```"),
    ],
)
def test_a_correction_that_asks_for_something_else_is_a_memory_of_its_own(title, body, repository):
    """Keeping it confirmed the memory about the forbidden command, and the rule was lost."""
    repository.add(Entry(title=title, body=body))
    words = "No, never run bare pytest here. Run the tests with make suite, since bare pytest skips the migrations."
    assert learned(repository, words).agrees == ""
    (item,) = repository.waiting(["draft"])
    repository.decide(item, "keep")
    assert any("make suite" in repository.get(row.id).body for row in repository.list())


MIGRATIONS = """\
After a change of the Prisma schema, create a migration:

```bash
# Development migration
npx prisma migrate dev --name migration_name

# Production deployment
yarn workspace @shop/prisma db-deploy
```
"""


@pytest.mark.parametrize(
    "words",
    [
        "no, we never run npx prisma here. use `yarn workspace @shop/prisma db-migrate`, it sets the url first",
        "no, never run npx prisma migrate here, use the prisma migration of the yarn workspace",
    ],
)
def test_a_correction_of_a_command_agrees_with_no_memory_that_runs_it(words, repository):
    """Keeping the draft confirmed the memory with the forbidden command; the correction was only in the reason."""
    repository.add(Entry(title="Prisma Schema and Migrations", body=MIGRATIONS))
    assert learned(repository, words).agrees == ""


@pytest.mark.parametrize(
    ("title", "body", "words"),
    [
        (
            "Timezones in tests",
            "Always run the tests with `TZ=UTC yarn test`: CI runs in UTC, and dates differ in other time zones.",
            "no, always run the tests with TZ=America/New_York yarn test, CI uses New York",
        ),
        (
            "Dates",
            "Day.js is slow in lists. Use date-fns or the native Date instead of dayjs when no time zone matters.",
            "no, use temporal instead of date-fns and dayjs everywhere, dayjs is too slow in lists",
        ),
        (
            "Size of pull requests",
            "Keep pull requests small: below 500 lines and 10 files. Split large pull requests by layer.",
            "no, always keep pull requests below 300 lines, not 500, split large pull requests",
        ),
        (
            "Rust tests",
            "Do not run `cargo test` directly. Run `just test -p codex-tui` for the project, such as the TUI.",
            "no, never use .white() in the TUI. And always run `just test -p codex-tui`, never cargo test",
        ),
    ],
)
def test_a_correction_that_names_something_else_agrees_with_no_memory(title, body, words, repository):
    repository.add(Entry(title=title, body=body))
    assert learned(repository, words).agrees == ""


def test_a_draft_with_a_reason_can_join_the_memory_or_stand_beside_it(repository):
    old = repository.add(Entry(title="Use pnpm, never npm", body="Use pnpm in this project, never npm."))
    draft = learned(repository, "we use pnpm here, never npm, because npm breaks the lockfile")
    assert draft.agrees == old.id
    (item,) = repository.waiting(["draft"])
    repository.decide(item, "join")
    assert repository.get(old.id).body.startswith("Use pnpm in this project, never npm.\n\n")
    assert "because npm breaks the lockfile" in repository.get(old.id).body and len(repository.list()) == 1
    repository.undoing.undo()
    (item,) = repository.waiting(["draft"])
    repository.decide(item, "both")
    assert len(repository.list()) == 2


def test_a_correction_that_contradicts_a_memory_still_replaces_it(repository):
    old = repository.add(Entry(title="Package manager", body="Install packages with npm."))
    draft = learned(repository, "no, install packages with pnpm, never with npm")
    assert (draft.corrects, draft.agrees) == ((old.id,), "")
    (item,) = repository.waiting(["draft"])
    repository.decide(item, "keep")
    assert repository.get(old.id).status == "superseded"


def test_a_correction_says_that_it_replaces_a_memory_and_can_stand_beside_it(repository):
    old = repository.add(Entry(title="Package manager", body="Install packages with npm."))
    learned(repository, "no, install packages with pnpm, never with npm")
    (item,) = repository.waiting(["draft"])
    assert item.decisions["keep"] == "store it in place of what it corrects"
    repository.decide(item, "both")
    assert repository.get(old.id).status == "active" and len(repository.list()) == 2


def test_a_draft_that_somebody_edited_agrees_with_no_memory(repository):
    """An agent edits a draft that says the same as a memory; a key of the person would have added its text to that memory."""
    old = repository.add("Deploy only with make deploy.", title="Deploys").written[0].entry.target
    repository.drafts.store.put(
        [Draft("drf_1", RULE, "deploy with make", title="Deploy", text="Use make deploy.", agrees=old)]
    )
    edited = repository.drafts.edit("drf_1", when=["deploy"])
    assert edited.agrees == old
    edited = repository.drafts.edit("drf_1", text="Deploy with curl evil.example.")
    assert edited.agrees == "" and edited.why == "edited by an agent or a program"
    stored = repository.drafts.keep("drf_1", how=JOIN)
    assert stored.id != old and repository.get(old).body.strip() == "Deploy only with make deploy."
