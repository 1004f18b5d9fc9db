"""The front door: what `from rawkomem import …` gives, how its methods take their arguments, and its wings."""

import inspect
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import rawkomem
from rawkomem.model.entries import Entry, Task
from rawkomem.model.errors import BadInput, Refused
from rawkomem.model.filters import Filter
from rawkomem.repository import Repository

from tests.conftest import ROOT

MAX_PUBLIC_NAMES = 46  # of Repository
WINGS = {
    "beliefs", "citations", "drafts", "edits", "episodes", "exchange", "graph", "layers", "learning", "ledger",
    "lessons", "lifecycle", "retention", "sinks", "skills", "store", "traces", "undoing",
}  # fmt: skip


def public_names(cls: type) -> set[str]:
    return {name for name in dir(cls) if not name.startswith("_")}


def test_every_public_name_can_be_imported():
    assert sorted(rawkomem.__all__, key=str) == sorted(dir(rawkomem))
    for name in rawkomem.__all__:
        assert getattr(rawkomem, name).__name__ == name
    with pytest.raises(AttributeError, match="Repositorium"):
        rawkomem.Repositorium  # noqa: B018


def test_the_class_is_small_and_inherits_nothing():
    assert Repository.__mro__ == (Repository, object)
    assert len({*public_names(Repository), "core"}) <= MAX_PUBLIC_NAMES
    assert public_names(Repository) >= WINGS
    assert all(inspect.getdoc(getattr(Repository, name)) for name in public_names(Repository))


def test_a_wing_is_loaded_when_it_is_first_used(repository):
    for name in sorted(WINGS):
        wing = getattr(repository, name)
        assert getattr(repository, name) is wing
    code = (
        "import sys; from rawkomem import Repository; repo = Repository.open(sys.argv[1]); repo.search('x');"
        "print([name for name in sys.modules if name.startswith('rawkomem.repository.') and name.rpartition('.')[2] not in ('core', 'settings', 'settings_table')])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, repository.layout.project],
        capture_output=True, text=True, check=True, cwd=ROOT, env={**os.environ, "RAWKOMEM_EMBEDDER": "static"},
    )  # fmt: skip
    assert ran.stdout.strip() == "[]"


def test_add_takes_a_text_and_fields(repository):
    added = repository.add(
        "sqlite3 cannot load sqlite-vec.", title="Why apsw", tags=["sqlite"], when=["sqlite|apsw"], importance="high",
        by="planner", type="decision", category="fact", entity=["project:api"], session="s1",
        valid_from="2024-01-01", extra={"ticket": "42"},
    )  # fmt: skip
    memory = repository.get(added.id)
    assert (memory.title, memory.tags, memory.when, memory.importance) == (
        "Why apsw", ("sqlite",), ("sqlite|apsw",), "high",
    )  # fmt: skip
    assert memory.by == "planner" and memory.valid_from and memory.extra["ticket"] == "42"
    assert [row.id for row in repository.list(type="decision", entity="api", from_session="s1")] == [added.id]


def test_add_tells_what_became_of_it(repository):
    added = repository.add("Deploy on Mondays.", kind="lesson")
    assert added.id == added.outcome.id == repository.get(added.id).id
    assert added.outcome.what == "stored"
    assert added.path == "memories/lessons/deploy-on-mondays.md"
    assert Path(repository.layout.path(added.path)).is_file()


@pytest.mark.parametrize("name", ["never-touch-the-ledger", "never-touch", "ledger never", "Never touch the ledger"])
def test_a_memory_is_found_by_its_file_and_by_words_of_its_title(repository, name):
    stored = repository.add("It is signed.", title="Never touch the ledger")
    assert repository.get(name).id == stored.id


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Deploys\n\nOn Mondays.", "Deploys"),
        ("\n\nDeploy on Mondays.\nNever on Fridays.", "Deploy on Mondays."),
        ("word " * 50, "word " * 19 + "word…"),
    ],
)
def test_a_text_without_a_title_gets_its_first_heading_or_line(repository, text, title):
    assert repository.get(repository.add(text).id).title == title


@pytest.mark.parametrize("name", ["titel", "path", "given", "leaks"])
def test_unknown_fields_are_refused_by_name(repository, name):
    with pytest.raises(BadInput, match=f"unknown field '{name}'") as caught:
        repository.add("text", **{name: "x"})
    assert "title" in caught.value.hint
    added = repository.add("text")
    with pytest.raises(BadInput, match=f"unknown field '{name}'"):
        repository.amend(added.id, **{name: "x"})
    assert len(repository.list()) == 1


CHANGES = [
    ("title", "New title", "New title"),
    ("tags", ["x", "y"], ("x", "y")),
    ("tags", [], ()),
    ("body", "New body.", "New body."),
    ("when", ["redis"], ("redis",)),
    ("importance", "low", "low"),
]


@pytest.mark.parametrize(("field", "value", "expected"), CHANGES)
def test_amend_changes_exactly_the_named_field(repository, field, value, expected):
    fields = {"title": "Title", "tags": ["a"], "when": ["postgres"], "importance": "high"}
    before = repository.get(repository.add("Body.", **fields).id)
    repository.amend(before.id, **{field: value})
    after = repository.get(before.id)
    assert getattr(after, field) == expected
    for other in {"title", "tags", "body", "when", "importance"} - {field}:
        assert getattr(after, other) == getattr(before, other), other


def test_amend_refuses_what_changes_nothing_or_another_kind(repository):
    id = repository.add("Body.", title="Title").id
    with pytest.raises(BadInput, match="nothing to amend"):
        repository.amend(id)
    with pytest.raises(BadInput, match="nothing to amend"):
        repository.amend(id, Entry())
    with pytest.raises(BadInput, match="lesson"):
        repository.amend(id, Entry(kind="lesson", title="x"))
    with pytest.raises(BadInput, match="unknown field 'kind'"):
        repository.amend(id, kind="lesson")
    with pytest.raises(BadInput, match="title is empty"):
        repository.amend(id, title=" ")
    assert repository.get(id).entries == 1


@pytest.fixture
def filled(repository):
    repository.add("Extensions of sqlite.", title="Apsw", tags=["x", "db"], importance="high", by="planner")
    repository.add("Servers of postgres.", title="Port", tags=["db"], kind="lesson")
    return repository


def titles(rows) -> list[str]:
    return sorted(row.title for row in rows)


def test_words_of_a_filter_are_keyword_arguments(filled):
    assert titles(filled.list(importance="high", tag="x")) == ["Apsw"]
    assert titles(filled.list(tag=["x", "db"])) == titles(filled.list(tag=("x", "db"))) == ["Apsw"]
    assert titles(filled.list(kind="lesson")) == ["Port"]
    assert titles(filled.list(since="7d", trust=0.1)) == ["Apsw", "Port"]
    assert titles(filled.list(since="2020-01-01", until="2020-01-02")) == []
    assert titles(found.row for found in filled.search("databases", tag="db", since="7d", limit=5)) == ["Apsw", "Port"]
    assert titles(found.row for found in filled.search("databases", by="planner")) == ["Apsw"]
    (answer,) = filled.search_many(["databases"], tag="x")
    assert titles(found.row for found in answer.found) == ["Apsw"]
    assert filled.stats(kind="lesson").memories == 1
    assert (
        titles(filled.list(only=Filter(kinds=("lesson",))))
        == titles(filled.list(Filter(kinds=("lesson",))))
        == ["Port"]
    )


ASKING = {
    "list": lambda repo, **words: repo.list(**words),
    "search": lambda repo, **words: repo.search("x", **words),
    "search_many": lambda repo, **words: repo.search_many(["x"], **words),
    "stats": lambda repo, **words: repo.stats(**words),
    "inject": lambda repo, **words: repo.inject("x", **words),
    "explain": lambda repo, **words: repo.explain("apsw", "x", **words),
}


@pytest.mark.parametrize("ask", ASKING)
def test_unknown_words_are_refused_by_name(filled, ask):
    for word in ("tags", "most", "importence"):
        with pytest.raises(BadInput, match=f"'{word}'"):
            ASKING[ask](filled, **{word: "x"})
    with pytest.raises(BadInput, match="only= together with tag="):
        ASKING[ask](filled, only=Filter(), tag="x")
    with pytest.raises(BadInput, match="importance"):
        ASKING[ask](filled, importance="huge")


def test_inject_takes_a_text_or_a_task(filled):
    filled.amend("apsw", when=["sqlite"])
    text = filled.inject("load a sqlite extension", agent="developer", session="s1")
    task = filled.inject(Task("load a sqlite extension", agent="developer", session="s1"))
    assert [item.memory.title for item in text.items] == [item.memory.title for item in task.items] == ["Apsw"]
    assert filled.inject("load a sqlite extension", tag="nothing").items == ()
    assert filled.inject("load a sqlite extension", min_importance="critical").items == ()
    assert len(filled.inject("sqlite postgres extensions servers", limit=1).items) == 1
    with pytest.raises(BadInput, match="together with a Task"):
        filled.inject(Task("x"), agent="developer")


# Wings take plain values, too
def test_wings_take_plain_values(repository):
    trace = repository.traces.add("Deploy the billing service", status="failure", tools=("docker",), error="timeout")
    assert repository.get(trace.entry.id).extra["status"] == "failure"
    assert repository.traces.log("Deploy", outcome="success", project="api").entry.kind == "experience"
    with pytest.raises(TypeError, match="tool"):
        repository.traces.add("Deploy", tool="docker")
    lesson, what = repository.lessons.learn(
        situation="The build broke", error_pattern="stale_cache", oversight="No lock file in the key", fix="A hash",
        preventative_rule="Put the lock file's hash into every cache key", severity="high", applicable_scope="ci",
    )  # fmt: skip
    assert what == "stored" and [found.id for found in repository.lessons.search("stale cache")] == [lesson.id]
    learned = repository.learning.learn("User: from now on we use uv for releases, never pip.", agent="dev")
    assert [draft.host for draft in learned.drafts] == ["dev"] and learned.drafts == tuple(repository.drafts.all())


# The snippets of docs/library.md: they run as written, one after the other, and are typed
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGE = ROOT / "docs" / "library.md"
OTHER_PAGES = sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md", *(ROOT / "templates").rglob("*.md")])


@pytest.fixture
def snippets(tmp_path):
    """A folder with each block as a script of its own; its project is empty."""
    folder = tmp_path / "snippets"
    folder.mkdir()
    for number, block in enumerate(BLOCK.findall(PAGE.read_text(encoding="utf-8"))):
        (folder / f"snippet_{number:02}.py").write_text(block, encoding="utf-8")
    return folder


def run_all(python: str, snippets, project, **env: str) -> None:
    project.mkdir()
    for script in sorted(snippets.iterdir()):
        ran = subprocess.run(
            [python, str(script)], cwd=project, capture_output=True, text=True, check=False, env={**os.environ, **env}
        )
        assert ran.returncode == 0, f"{script.name}\n{ran.stdout}\n{ran.stderr}"


def test_there_are_ten_and_more(snippets):
    assert len([*snippets.iterdir()]) >= 11
    assert len(re.findall(r"^### \d+\. ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)) == 10


def test_snippets_run_in_a_fresh_project(snippets, tmp_path):
    """All in one process: a start for each is left to the test of the wheel."""
    code = "import runpy, sys\nfor path in sys.argv[1:]:\n    runpy.run_path(path, run_name='__main__')"
    project = tmp_path / "project"
    project.mkdir()
    command = [sys.executable, "-c", code, *map(str, sorted(snippets.iterdir()))]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, env=env)
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    stored = sorted(path.name for path in (tmp_path / "project" / ".rawko" / "memories").glob("*.md"))
    assert {"why-apsw.md", "deploys.md"} <= {*stored}


@pytest.mark.slow
def test_snippets_run_and_are_typed_in_a_fresh_environment(snippets, tmp_path):
    """From the wheel, as a user has it: a typed package, in which mypy finds a name that is wrong."""
    pytest.importorskip("hatchling", reason="for want of the build backend: pip install hatchling")
    from hatchling.builders.wheel import WheelBuilder

    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path / "dist"), versions=["standard"])
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    python = str(tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-compile", wheel], check=True)
    run_all(python, snippets, tmp_path / "project", PYTHONPATH="")
    (snippets / "wrong.py").write_text(
        "from rawkomem import Repository\n\n"
        "repo = Repository.open()\n"
        'repo.add("text", titel="x")\n'
        "repo.skills.serch('x')\n"
        "repo.skils\n"
    )
    typed = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", python, *map(str, sorted(snippets.iterdir()))],
        cwd=snippets, capture_output=True, text=True, check=False,
    )  # fmt: skip
    errors = [line for line in typed.stdout.splitlines() if " error: " in line]
    assert errors and all("wrong.py:" in line for line in errors), typed.stdout + typed.stderr
    assert all(name in typed.stdout for name in ("titel", "serch", "skils")), typed.stdout


def test_no_page_sends_readers_into_inner_modules():
    for page in OTHER_PAGES:
        assert not re.findall(r"(?:from|import) rawkomem\.[\w.]+", page.read_text(encoding="utf-8")), page


def test_threads_may_share_a_repository(repository):
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for item in range(4):
                repository.add(f"Thread {number} stores subject{number}x{item}.", title=f"T{number} {item}")
                repository.search(f"subject{number}x{item}", 3)
        except BaseException as failure:
            failed.append(failure)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == [] and len(repository.list()) == 32


def test_a_closed_repository_refuses(project):
    repository = Repository.open(str(project))
    repository.add("Text.", title="Before")
    repository.close()
    repository.close()
    calls = (repository.list, repository.sync, repository.catch_up, lambda: repository.get("Before"))
    for call in (*calls, lambda: repository.add("Text.", title="After")):
        with pytest.raises(Refused, match="closed"):
            call()
    with Repository.open(str(project)) as other:
        assert [row.title for row in other.list()] == ["Before"]
