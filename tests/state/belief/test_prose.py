"""Contradictions in plain sentences: which pairs of memories are found, and which are left in peace."""

import json
from pathlib import Path

import pytest
from rawkomem.model.entries import Memory
from rawkomem.state.contradictions import CUES, UNITS, contradictions, disagreement, language_of, prose_of

DATA = Path(__file__).parents[2] / "data"
SETS = Path(__file__).parents[4] / "shared" / "data" / "eval"


def pairs():
    part = ""
    for line in (DATA / "contrary.txt").read_text().splitlines():
        if line.startswith("["):
            part = line.strip("[]")
        elif line and not line.startswith("#"):
            title, *texts = line.split(" | ")
            yield part == "contrary", title, texts


def pair_of(title, texts):
    when = ("some|words",) if title.startswith("~") else ()
    titles = ("Alpha", "Beta") if title[0] in "~-" else (title, title)
    return [Memory(id, title=titles[n], body=texts[n], when=when, created=n + 1) for n, id in enumerate("ab")]


def test_precision_and_recall():
    found = {True: [0, 0], False: [0, 0]}
    wrong = []
    for contrary, title, texts in pairs():
        one, other = (prose_of(memory) for memory in pair_of(title, texts))
        says = bool(disagreement(one, other))
        assert says == bool(disagreement(other, one))
        found[contrary][says] += 1
        wrong += [] if says == contrary else [(title, *texts)]
    assert sum(found[True]) >= 100 and sum(found[False]) >= 270
    assert not found[False][True], wrong
    assert found[True][True] / sum(found[True]) >= 0.98, wrong


def test_a_repository_is_searched_as_the_pairs_are():
    for _, title, texts in pairs():
        one, other = pair_of(title, texts)
        found = [(pair.newer.id, pair.older.id) for pair in contradictions([one, other])]
        assert found == ([("b", "a")] if disagreement(prose_of(one), prose_of(other)) else []), (title, texts)


@pytest.mark.parametrize("name", ["real-specstory", "metatool", "clinc", "locomo"])
def test_real_memories_raise_no_alarm(name):
    if not (SETS / f"{name}.json").exists():
        pytest.skip("needs the evaluation sets")
    data = json.loads((SETS / f"{name}.json").read_text())
    for part in data.get("sets", [data])[:3]:
        found = contradictions(
            Memory(item["id"], title=item.get("title") or "", body=item.get("text") or str(item["when"]))
            for item in part["memories"]
        )
        assert not found


def test_what_somebody_settled_and_claims_are_left_in_peace():
    one, other = pair_of("Queue", ["We use SQS.", "We use Kafka."])
    assert contradictions([one, other])
    from rawkomem.model.values import replace

    assert not contradictions([one, replace(other, links=(("keptBoth", "a"),))])
    assert not contradictions([one, replace(other, extra={"claim": {"subject": "x"}})])
    assert not contradictions([one, replace(other, status="superseded")])


@pytest.mark.parametrize(
    "titles",
    [
        ("Prefer early returns (Code Quality)", "Prefer composition over prop drilling (Code Quality)"),
        ("Common Mistakes to Avoid", "Common Mistakes"),
    ],
)
def test_headings_of_two_rules_do_not_contradict_each_other(titles):
    """The context in brackets was read as the purpose of both choices, and the older rule was left out of prompts."""
    when = ("When working on common mistakes",)
    assert not contradictions(Memory(title, title=title, body="See the guide.", when=when) for title in titles)


def test_a_version_in_a_title_that_states_a_rule_is_a_value():
    titles = ("Use Node 16 for builds", "Use Node 22 for builds")
    made = [
        Memory(str(n), title=title, body="See the docs.", when=("node",), created=n) for n, title in enumerate(titles)
    ]
    assert contradictions(made)


# older text, newer text, task
OTHER_KINDS = {
    "instead of": ("Run tests with unittest.", "Run tests with pytest instead of unittest.", "run the tests"),
    "was removed": ("We build with webpack.", "We build with vite; webpack was removed.", "build the bundle"),
    "is gone": (
        "Deploys go through Jenkins.",
        "Deploys go through GitHub Actions. Jenkins is gone.",
        "deploy the service",
    ),
    "forbidden": ("Force pushes to main are allowed.", "Force pushes to main are forbidden.", "force push to main"),
    "false": ("Set strictNullChecks to true.", "Set strictNullChecks to false.", "set strictNullChecks"),
    "disable": ("Enable the cache in production.", "Disable the cache in production.", "cache in production"),
    "unit": ("The upload limit is 10 MB.", "The upload limit is 10 GB.", "upload limit"),
    "level": ("Compress archives at level 2.", "Compress archives at level 4.", "compress the archives"),
    "level in use": (
        "Log level 2 is used in production.",
        "Log level 4 is used in production.",
        "change the log level",
    ),
    "German level": (
        "Log-Level 2 wird in der Produktion verwendet.",
        "Log-Level 4 wird in der Produktion verwendet.",
        "Log-Level ändern",
    ),
    "Spanish level": ("Usamos el nivel de log 2 en CI.", "Usamos el nivel de log 4 en CI.", "cambia el nivel"),
    "French level": (
        "Le niveau de log 2 est utilisé en production.",
        "Le niveau de log 4 est utilisé en production.",
        "changer le niveau",
    ),
    "Chinese level": ("日志级别2用于生产环境。", "日志级别4用于生产环境。", "修改日志级别"),
    "German": (
        "Wir verwenden npm zum Installieren.",
        "Wir verwenden niemals npm zum Installieren.",
        "npm installieren",
    ),
    "German number": ("Das Zeitlimit ist 30 Sekunden.", "Das Zeitlimit ist 45 Sekunden.", "Zeitlimit setzen"),
    "Spanish": ("El portal espera 30 segundos.", "El portal espera 45 segundos.", "cambia la espera del portal"),
    "French": ("Le portail attend 30 secondes.", "Le portail attend 45 secondes.", "changer le portail"),
    "Chinese": ("超时时间是30秒。", "超时时间是45秒。", "修改超时时间"),
    "Chinese opposite": ("允许强制推送到主分支。", "禁止强制推送到主分支。", "强制推送到主分支"),
}


@pytest.mark.parametrize(("older", "newer", "task"), OTHER_KINDS.values(), ids=OTHER_KINDS)
def test_only_the_newer_one_is_injected_and_check_names_the_older(git, memories, repository, older, newer, task):
    for id, body, year in (("old", older, 2024), ("new", newer, 2026)):
        front = f"title: Rule of the project\nid: {id}\nwhenToUse: {task.split()[-1]}\ndiscoveredAt: {year}-01-01"
        (memories / f"{id}.md").write_text(f"---\n{front}\n---\n\n{body}\n")
    git.commit()
    assert [item.memory.id for item in repository.inject(task).items] == ["new"]
    problems = [problem for item in repository.check() for problem in item.problems]
    assert ["old.md" in problem.path for problem in problems if problem.code == "contradicted"] == [True]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Never use tabs.", "en"),
        ("Wir nutzen npm.", "de"),
        ("No uses npm para instalar paquetes.", "es"),
        ("N'utilisez pas npm.", "fr"),
        ("不要使用 npm 安装依赖。", "zh"),
        ("numpy 1.26.4", "en"),
        ("", "en"),
        ("Ограничение 30 секунд", "en"),
    ],
)
def test_the_language_of_a_memory_is_recognized(text, code):
    assert language_of(text) == code


def test_every_language_has_words_for_each_comparison():
    for cues in CUES.values():
        assert cues.negations and cues.choosing and cues.rejecting and cues.replacing and cues.links
        assert set(cues.measures.values()) <= UNITS.keys() and len(set(cues.measures.values())) >= 9
        assert {mark[0] for mark in (*cues.states.values(), *cues.orders.values())} == {"+", "-"}
