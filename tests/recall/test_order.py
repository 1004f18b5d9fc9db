"""Importance, recency and contradictions decide what goes first and what stays out, in small repositories."""

import json
from datetime import UTC

import pytest
from rawkomem.index.statements import opposed_keys
from rawkomem.model.filters import Filter
from rawkomem.model.values import now
from rawkomem.repository import Repository
from rawkomem.repository.injecting import note_injection

from tests.commands import FULL, Command

from .order_cases import SUBJECTS

DAY = 24 * 3_600_000
IDS = "abcdefgh"


@pytest.fixture(autouse=True)
def static(monkeypatch):
    monkeypatch.setenv("RAWKOMEM_EMBEDDER", "static")


def made(folder, memories):
    """Return a repository with memories (id, title, condition, body, importance, days ago)."""
    repository = Repository.init(str(folder))
    place = folder / ".rawko" / "memories"
    place.mkdir(exist_ok=True)
    for id, title, when, body, importance, days in memories:
        at = (now() - days * DAY) // 1000
        said = f"title: {title}\nid: {id}\nwhenToUse: '{when}'\nimportance: {importance}\ndiscoveredAt: {iso(at)}"
        (place / f"{id}.md").write_text(f"---\n{said}\n---\n\n{body}\n")
    return repository


def iso(seconds):
    from datetime import datetime

    return datetime.fromtimestamp(seconds, UTC).isoformat()


def more_important(task, when, title, one, two, three, older, newer):
    rows = [
        ("a", title, when, one, "low", 3),
        ("b", title, when, two, "high", 3),
        ("c", title, when, three, "medium", 3),
    ]
    return rows, {"limit": 5}, ["b", "c", "a"], set()


def more_recent(task, when, title, one, two, three, older, newer):
    rows = [
        ("a", title, when, one, "medium", 300),
        ("b", title, when, two, "medium", 90),
        ("c", title, when, three, "medium", 2),
    ]
    return rows, {"limit": 5}, ["c", "b", "a"], set()


def critical_in(task, when, title, one, two, three, older, newer):
    low = [(f"low{n}", f"{title} {n}", when, f"{one} {word} {two}", "low", 700) for n, word in enumerate(IDS)]
    rows = [*low, ("z", "Note", when, three, "critical", 1)]
    return rows, {"limit": 3}, None, {"z"}


def newer_holds(task, when, title, one, two, three, older, newer):
    rows = [
        ("a", title, when, older, "high", 400),
        ("b", title, when, newer, "low", 1),
        ("c", f"{title} 3", when, three, "low", 9),
    ]
    return rows, {}, None, {"b", "c"}


def only_critical(task, when, title, one, two, three, older, newer):
    low = [(f"low{n}", f"{title} {n}", when, f"{one} {n} {two}", "low", 1) for n in range(6)]
    rows = [*low, ("y", "Note", when, three, "critical", 90), ("z", "Hint", when, one, "critical", 900)]
    return rows, {"min_importance": "critical"}, None, {"y", "z"}


RULES = (more_important, more_recent, critical_in, only_critical, newer_holds)


EACH = [(name, rule) for name in SUBJECTS for rule in RULES]
USUAL = [(name, RULES[at % 4]) for at, name in enumerate(SUBJECTS)] + [(name, newer_holds) for name in SUBJECTS]


@pytest.mark.parametrize(("name", "rule"), EACH if FULL else USUAL, ids=lambda part: getattr(part, "__name__", part))
def test_the_rules_hold_for_every_subject(tmp_path, name, rule):
    task, *texts = SUBJECTS[name]
    rows, limits, order, members = rule(task, *texts)
    injection = made(tmp_path, rows).inject(task, **limits)
    found = [item.memory.id for item in injection.items]
    assert order is None or found == order
    assert members <= set(found), [(item.memory.id, item.why_not) for item in injection.left_out]
    if rule is newer_holds:
        assert {item.memory.id: item.out.code for item in injection.left_out} == {"a": "outdated"}


CHARTS = [
    ("old", "Chart library", "chart|plot", "We use matplotlib.", "high", 500),
    ("new", "Chart library", "chart|plot", "We use plotly instead of matplotlib.", "low", 1),
]


def ids_injected(repository, task="draw a chart", **options):
    return [item.memory.id for item in repository.inject(task, **options).items]


def test_an_outdated_memory_stays_out_when_the_newer_one_is_left_out_for_another_reason(tmp_path):
    repository = made(tmp_path, CHARTS)
    assert ids_injected(repository, min_importance="high") == []
    assert ids_injected(repository, tag="none") == []
    assert ids_injected(repository, only=Filter(ids=("old",))) == []
    linking = text("Reports", "plots of reports", "Start with the template.", related="[old.md]")
    (tmp_path / ".rawko/memories/link.md").write_text(linking)
    assert "old" not in ids_injected(repository, "write reports with plots of reports")


def test_a_second_prompt_does_not_get_what_a_newer_memory_contradicts(tmp_path):
    repository = made(tmp_path, CHARTS)
    for task, expected in (("draw a chart", ["new"]), ("plot a chart", []), ("another chart", [])):
        injection = repository.inject(task, session="s")
        note_injection(repository, injection, "s")
        assert [item.memory.id for item in injection.items] == expected
    for task, expected in (("draw a chart", True), ("plot a chart", False)):
        asked = json.dumps({"session_id": "t", "prompt": task, "cwd": str(tmp_path)})
        answer = Command(tmp_path)("hook", "claude", "prompt", input=asked).stdout
        assert ("We use plotly" in answer) == expected and "We use matplotlib" not in answer


def test_what_nobody_vouches_for_makes_nothing_outdated(git, memories, repository):
    write = {"old": ("We use RabbitMQ.", 2024), "new": ("We no longer use RabbitMQ.", 2026)}
    for name in ("old", "new"):
        body, year = write[name]
        (memories / f"{name}.md").write_text(text("Queue", "queue", body, discoveredAt=f"{year}-01-01"))
        if name == "old":
            git.commit()
    assert "old" in ids_injected(repository, "fix the queue")
    git.commit()
    assert ids_injected(repository, "fix the queue") == ["new"]


def test_a_prompt_compares_only_memories_that_the_index_has_paired(tmp_path, monkeypatch):
    from rawkomem.state import contradictions

    rows = [(f"m{n}", f"Chart {n}", "chart|plot", f"We draw part {n} of the charts.", "low", 9) for n in range(9)]
    repository = made(tmp_path, rows + CHARTS)
    repository.sync()
    read = []
    prose_of = contradictions.prose_of
    monkeypatch.setattr(contradictions, "prose_of", lambda memory: read.append(memory.id) or prose_of(memory))
    assert "old" not in ids_injected(repository)
    assert set(read) <= {"old", "new"}


def test_sentences_that_state_nothing_take_no_place_of_a_contradiction(tmp_path):
    said = "The chart cache is cleared after {} minutes. Since the library changed, look twice."
    charts = [(id, "Chart cache", "chart|plot", said.format(n), "low", n) for id, n in (("new", 5), ("old", 9))]
    rows = [(f"m{n:03}", f"Step {n}", "step", f"{n}.", "low", 900) for n in range(120)]
    repository = made(tmp_path, rows + charts)
    assert ids_injected(repository) == ["new"]
    paired = {id for id, *_ in repository.core.read(lambda: [*opposed_keys(repository.core.catalogue.db)])}
    assert paired == {"old", "new"}


def test_two_memories_that_reject_the_same_are_no_pair(tmp_path):
    body = "Remove control codes from the text."
    repository = made(tmp_path, [(name, name, "text", body, "low", 1) for name in ("one", "two")])
    assert repository.core.read(lambda: [*opposed_keys(repository.core.catalogue.db)]) == []


def text(title, when, body, **fields):
    front = "".join(f"{key}: {value}\n" for key, value in fields.items())
    return f"---\ntitle: {title}\nwhenToUse: '{when}'\n{front}---\n\n{body}\n"


def test_an_amendment_makes_a_memory_new_and_a_vote_does_not(tmp_path):
    rows = [
        ("one", "Chart library", "chart|plot", "We use matplotlib.", "medium", 500),
        ("two", "Chart library", "chart|plot", "We use plotly.", "medium", 100),
    ]
    repository = made(tmp_path, rows)
    repository.feedback("one", "helpful")
    assert [item.memory.id for item in repository.inject("draw a chart").items] == ["two"]
    repository.amend("one", body="We use matplotlib again.")
    assert [item.memory.id for item in repository.inject("draw a chart").items] == ["one"]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """Return a repository in which one word fires the conditions of 60 low and two critical memories."""
    rows = [(f"low{n:02}", f"Invoice note {n}", "invoice", f"Invoice detail {n}.", "low", 1) for n in range(60)]
    rows += [(id, f"Taxes {id}", "invoice", f"Mind the {id} tax.", "critical", 400) for id in ("city", "state")]
    return made(tmp_path_factory.mktemp("crowd"), rows)


@pytest.mark.parametrize("profile", ["fit", "rawko", "composite"])
def test_filters_and_least_importance_hold_before_the_cut(crowd, profile):
    task = "print the invoice"
    ids = [item.memory.id for item in crowd.inject(task, min_importance="critical", profile=profile).items]
    assert sorted(ids) == ["city", "state"]
    assert {"city", "state"} <= {item.memory.id for item in crowd.inject(task, profile=profile).items}


def test_why_not_tells_the_truth_about_what_was_cut(crowd):
    task = "print the invoice"
    asked = crowd.inject(task)
    known = {item.memory.id for item in (*asked.items, *asked.left_out)}
    cut = next(id for id in (f"low{n:02}" for n in range(60)) if id not in known)
    item, inside = crowd.explain(cut, task)
    assert not inside and item.out.code == "crowded-out" and item.signals.fired


def test_why_judges_a_memory_beside_the_others_also_if_it_is_not_among_the_best(tmp_path):
    rows = [
        (f"m{n:02}", f"Request timeout {n}", "", f"The request timeout of service {n} is {n} seconds.", "medium", 1)
        for n in range(40)
    ]
    repository = made(
        tmp_path, [*rows, ("far", "Colours", "When a service has a colour", "Blue is a service colour.", "medium", 1)]
    )
    task = "set the request timeout of the new service"
    considered = [*(asked := repository.inject(task)).items, *asked.left_out]
    assert "far" not in {item.memory.id for item in considered}
    item, inside = repository.explain("far", task)
    searched = [dict(one.signals.evidence)["search"] for one in considered]
    assert not inside and dict(item.signals.evidence)["search"] < min(searched)
    assert item.signals.confidence < 0.2 and not item.is_pointed


def test_the_setting_chooses_the_profile_also_for_an_agent(tmp_path):
    repository = made(tmp_path, [("one", "Charts", "chart", "Draw charts with plotly.", "medium", 1)])
    config = tmp_path / ".rawko" / "config.yaml"
    config.write_text("profile: composite\nagents:\n  planner:\n    profile: rawko\n")
    repository = Repository.open(str(tmp_path))
    assert repository.inject("draw a chart").profile == "composite"
    assert repository.inject("draw a chart", agent="planner").profile == "rawko"
    assert repository.inject("draw a chart", agent="planner", profile="fit").profile == "fit"
    assert repository.search("chart", profile="rawko")[0].score == pytest.approx(25.0, abs=5)


def test_a_condition_that_cannot_work_is_refused_at_once(tmp_path):
    from rawkomem.model.errors import RawkoError

    repository = Repository.init(str(tmp_path))
    stored = repository.add("Charts are drawn with plotly.", when=("chart",))
    for pattern in (".*", "(foo|", "[abc", "", "(?=x)y", "x" * 300):
        with pytest.raises(RawkoError, match="nothing was stored") as failure:
            repository.add("Charts are drawn with matplotlib.", when=(pattern,))
        assert failure.value.hint and len(repository.list()) == 1
        with pytest.raises(RawkoError, match="nothing was stored"):
            repository.amend(stored.id, when=(pattern,))


def test_a_condition_on_a_common_word_is_stored_with_a_warning(tmp_path):
    said = []
    Repository.init(str(tmp_path))
    repository = Repository.open(str(tmp_path), warn=said.append)
    repository.add("Charts are drawn with plotly.", when=("make|chart",))
    assert len(repository.list()) == 1 and any("nearly every task" in line for line in said)


def test_check_and_conflicts_name_both_sides_and_what_to_do(tmp_path):

    rows = [
        ("old", "Chart library", "chart", "We use matplotlib.", "medium", 50),
        ("new", "Chart library", "chart", "We use plotly instead of matplotlib.", "medium", 1),
        ("other", "Chart colors", "chart", "Use the corporate palette.", "medium", 1),
    ]
    made(tmp_path, rows).sync()
    problems = [problem for item in Repository.open(str(tmp_path)).check() for problem in item.problems]
    (found,) = [problem for problem in problems if problem.code == "contradicted"]
    assert "'old'" in found.message and "'new'" in found.message and "rawkomem supersede old new" in found.hint
    (pair,) = Repository.open(str(tmp_path)).beliefs.contradictions()
    assert (pair.older.id, pair.newer.id) == ("old", "new")
