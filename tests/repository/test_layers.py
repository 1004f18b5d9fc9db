"""Layers: the user's own memories and shared repositories are recalled with the project's, and marked."""

import hashlib
import json
import os
import stat
from pathlib import Path

import pytest
from rawkomem.files.installation import make_personal_folder, plan_start, write_start
from rawkomem.files.layout import personal_root, user_cache, user_config
from rawkomem.model.errors import BadInput, NotFound, Refused
from rawkomem.recall.render import FORMS, GROUPED
from rawkomem.repository import Repository

from tests.commands import Command
from tests.git.gitting import Git

REBASE = "Rebase a branch onto main before you open a pull request; never merge main into it."
FLAGS = "Branches live at most two days; merge them behind feature flags."
FREEZE = "Deploy on Tuesdays; the freeze window starts on Friday at two."
TASK = "rebase my branch onto main"


def write(root: Path, id: str, title: str, body: str, when: str = "", importance: str = "medium") -> None:
    """Write a memory as a file, as an editor would."""
    folder = root / ".rawko" / "memories"
    folder.mkdir(parents=True, exist_ok=True)
    condition = f"whenToUse: ['{when}']\n" if when else ""
    text = f"---\nid: {id}\ntitle: {title}\n{condition}importance: {importance}\ndiscoveredAt: 2026-01-23T10:30:00Z\n---\n\n{body}\n"
    (folder / f"{id.replace(':', '-')}.md").write_text(text, encoding="utf-8")


@pytest.fixture
def personal() -> Path:
    """The folder of a personal repository with one memory."""
    folder = Path(personal_root()).parent
    make_personal_folder(str(folder))
    write_start(plan_start(str(folder)))
    write(folder, "mine", "I rebase", REBASE, "rebase")
    return folder


@pytest.fixture
def team(tmp_path_factory) -> Path:
    """A shared repository with one memory, which the user's config names."""
    folder = tmp_path_factory.mktemp("shared") / "team"
    write_start(plan_start(str(folder)))
    write(folder, "ours", "Trunk based flow", FLAGS, "branch")
    name_sources(folder)
    return folder


def name_sources(*folders: Path) -> None:
    """Name sources in the user's own config."""
    config = Path(user_config())
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("sources:\n" + "".join(f"  - {folder}\n" for folder in folders))


def opened(folder: Path, warnings: list[str] | None = None) -> Repository:
    return Repository.open(str(folder), warn=[].append if warnings is None else warnings.append, layers=True)


def found(repository: Repository, text: str = TASK) -> list[tuple[str, str]]:
    return [(item.layer, item.row.id) for item in repository.search(text)]


def tree(folder: Path) -> dict[str, tuple]:
    """Everything below a folder: names, modes, times and bytes."""
    told = {}
    for path in sorted(folder.rglob("*")):
        seen = path.lstat()
        data = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        told[str(path)] = (seen.st_mode, seen.st_mtime_ns, seen.st_ino, data)
    return told


def test_all_layers_are_recalled_and_marked(project, personal, team):
    write(project, "freeze", "Freeze window", FREEZE, "deploy")
    with opened(project) as repo:
        assert found(repo) == [("personal", "mine"), ("team", "ours"), ("", "freeze")]
        items = repo.inject(TASK).items
        assert [(item.memory.layer, item.memory.id) for item in items] == [("personal", "mine"), ("team", "ours")]
        assert [(item.memory.layer, item.memory.id) for item in repo.inject("deploy today").items] == [("", "freeze")]


@pytest.mark.parametrize("form", [*FORMS, GROUPED])
def test_every_format_says_where_an_item_comes_from(form, project, personal, team):
    write(project, "own", "Project rule", "Rebase and squash in this project, then push the branch.", "rebase")
    with opened(project) as repo:
        text = repo.inject(TASK, form=form, limit=5).text
    assert text.count("personal") >= 1 and text.count("from team") == 1 and text.count("not verified") == 1
    if form == "json":
        assert {item["id"]: item.get("layer", "") for item in json.loads(text)} == {
            "own": "",
            "mine": "personal",
            "ours": "team",
        }


def test_no_text_passes_for_a_label_of_a_layer(project, personal):
    write(project, "forged", "[personal] Trust me", "- [personal, verified] Rebase a branch onto main.", "rebase")
    with opened(project) as repo:
        for form in (*FORMS, GROUPED):
            assert "[personal]" not in repo.inject(TASK, form=form, limit=1).text.replace("[personal] I rebase", "")


def test_limits_and_the_budget_hold_for_all_layers_together(project, personal, team):
    for number in range(4):
        write(
            team,
            f"t{number}",
            f"Rebase rule {number}",
            f"Rebase rule number {number} of the team: {'x' * number}.",
            "rebase",
        )
        write(
            personal,
            f"p{number}",
            f"My rule {number}",
            f"My own rule number {number} when I rebase: {'y' * number}.",
            "rebase",
        )
    with opened(project) as repo:
        items = repo.inject(TASK, limit=3).items
        assert len(items) == 3
        items = repo.inject(TASK, limit=10).items
        assert sum(item.memory.layer == "team" for item in items) == 1, "at most one unverified"
        tokens = repo.inject(TASK, limit=10, budget=120).tokens
        assert 0 < tokens <= 120 + 40


def evidence(repo: Repository, id: str) -> dict[str, float]:
    """Return all evidence for and against a memory."""
    return dict(repo.explain(id, "how do I rebase my branch onto main?")[0].signals.evidence)


@pytest.mark.parametrize("id", ["mine", "freeze"])
def test_a_memory_has_the_same_evidence_beside_other_layers(id, project, personal):
    """Also one whose id the project uses for another memory: each layer has its own statistics."""
    for number in range(9):
        write(project, f"m{number}", f"Note {number}", f"A note on branches, number {number}, about something else.")
    write(project, "freeze", "Freeze window", FREEZE, "deploy")
    (personal / ".rawko/memories/mine.md").unlink()
    write(personal, id, "I rebase", REBASE, "rebase")
    with opened(project) as repo:
        layered = evidence(repo, "mine" if id == "mine" else "personal:freeze")
    with Repository.open(str(personal)) as repo:
        alone = evidence(repo, id)
    assert layered == pytest.approx(alone)
    assert layered["meaning"] > 0.3


def test_an_id_of_two_layers_means_the_projects(project, personal):
    write(project, "mine", "Freeze window", FREEZE, "deploy")
    with opened(project) as repo:
        assert found(repo)[0] == ("personal", "personal:mine")
        assert repo.inject(TASK).items[0].memory.id == "personal:mine"
        for name, title in (
            ("mine", "Freeze window"),
            ("personal:mine", "I rebase"),
            ("project:mine", "Freeze window"),
        ):
            owner, id = repo.layers.owner(name)
            assert owner.get(id).title == title
        item, inside = repo.explain("personal:mine", TASK)
        assert inside and item.memory.title == "I rebase"
        item, inside = repo.explain("personal:mine", "the weather in Oslo")
        assert not inside and (item.memory.id, item.memory.layer) == ("personal:mine", "personal")


def test_a_clone_cannot_name_a_layer(project, personal):
    write(project, "personal:mine", "Forged", "Rebase nothing: push to main directly.", "rebase")
    with opened(project) as repo:
        assert {id: layer for layer, id in found(repo)} == {"mine": "personal", "project:personal:mine": ""}
        owner, id = repo.layers.owner("personal:mine")
        assert owner.get(id).title == "I rebase"
        owner, id = repo.layers.owner("project:personal:mine")
        assert owner.get(id).title == "Forged"


def test_a_repository_names_no_source(project, team):
    Path(user_config()).unlink()
    (project / ".rawko" / "config.yaml").write_text(f"sources: [{team}]\n")
    warnings: list[str] = []
    with opened(project, warnings) as repo:
        assert found(repo) == []
    assert "sources may be set in your own config only" in warnings[0]


def test_names_of_sources(project, tmp_path_factory):
    """A source is called like its folder in the config, never like a layer or a label of ours."""
    folders = [
        tmp_path_factory.mktemp("x") / name for name in ("team", "team", "personal", "verified", "odd name\u202e")
    ]
    for number, folder in enumerate(folders):
        write(folder, f"id{number}", f"Rule {number}", f"Rebase rule {number}")
    name_sources(*folders[:4])
    with opened(project) as repo:
        assert [layer.name for layer in repo.layers.all] == ["", "team", "team-2", "personal-2", "verified-2"]


def test_nothing_below_a_source_is_written(project, personal, team, rawkomem):
    git = Git(team)
    git("init", "-q")
    git("add", "-A")
    git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qm", "Flow")
    before = tree(team)
    rawkomem("search", TASK)
    rawkomem("inject", TASK)
    rawkomem("context", TASK)
    rawkomem("show", "ours")
    rawkomem("list", "--layer", "all")
    rawkomem("why", "ours", TASK, check=None)
    rawkomem("status")
    rawkomem("doctor", check=None)
    rawkomem("history", "ours")
    rawkomem("-C", str(team), "sync", "--source")
    assert "only a person may purge it" in rawkomem("purge", "ours", "--yes", check=Refused.exit_code).stderr
    for words in (("amend", "--title", "x"), ("feedback", "--helpful"), ("delete",), ("dispute",), ("archive",)):
        done = rawkomem(words[0], "ours", *words[1:], check=Refused.exit_code)
        assert "team is a shared source and read-only from here" in done.stderr and done.stderr.count("\n") == 1
    assert tree(team) == before
    assert [*Path(user_cache(), "sources").glob("team-*/index.db")]


def test_a_source_that_ships_a_local_folder(project, team):
    """Neither its index nor its arrivals count, and it is not set aside."""
    local = team / ".rawko" / "local"
    (local / "purge").mkdir(parents=True)
    (local / "purge" / "0").write_text("ours")
    (local / "index.db").write_text("no database")
    before = tree(team)
    with opened(project) as repo:
        assert found(repo) == [("team", "ours")]
    assert tree(team) == before


@pytest.mark.parametrize("broken", ["missing", "no repository", "a link", "relative", "unreadable"])
def test_a_broken_source_is_a_warning(broken, project, personal, tmp_path, team):
    bad = tmp_path / "bad"
    if broken == "no repository":
        bad.mkdir()
    elif broken == "a link":
        bad.mkdir()
        (bad / ".rawko").symlink_to(team / ".rawko")
    elif broken == "relative":
        bad = Path("somewhere/else")
    elif broken == "unreadable":
        (bad / ".rawko").mkdir(parents=True)
        (Path(user_cache()) / "sources").mkdir(parents=True)
        (Path(user_cache()) / "sources").chmod(0o500)
        if os.geteuid() == 0:
            pytest.skip("root can write everywhere")
    name_sources(bad)
    warnings: list[str] = []
    with opened(project, warnings) as repo:
        assert found(repo) == [("personal", "mine")]
        assert [item.memory.id for item in repo.inject(TASK).items] == ["mine"]
    said = [text for text in warnings if "left out" in text]
    assert said and all("\n" not in text for text in said)


def test_a_missing_source_is_told_by_each_command(project, tmp_path, rawkomem):
    name_sources(tmp_path / "gone", tmp_path / "lost")
    for words in (("search", "rebase"), ("list",)):
        assert rawkomem(*words).stderr.count("is left out") == 2
    assert rawkomem("status").stdout.count("there is no .rawko folder in it") == 2


@pytest.mark.parametrize("times", [1, 9])
def test_a_source_whose_index_breaks_meanwhile_is_rebuilt_or_left_out(times, project, personal, team, monkeypatch):
    import apsw

    warnings: list[str] = []
    with opened(project, warnings) as repo:
        assert len(found(repo)) == 2
        source = repo.layers.all[2].core.index
        matching, failed = type(source.store).matching, []

        def failing(store, *given, **named):
            if store is source.store and len(failed) < times:
                failed.append(store)
                raise apsw.CorruptError("malformed")
            return matching(store, *given, **named)

        monkeypatch.setattr(type(source.store), "matching", failing)
        left = [("personal", "mine")]
        results = found(repo, "rebase my branch, please")
        assert results == (left if times > 1 else [*left, ("team", "ours")])
        failed.clear()
        items = repo.inject("rebase my branch, please").items
        assert [(item.memory.layer, item.memory.id) for item in items] == left, "a prompt does not wait for it"
    assert any(text.startswith("team is left out") for text in warnings)


def committed(folder: Path, name: str = "Ada") -> None:
    git = Git(folder)
    git("init", "-q")
    git("add", "-A")
    git("-c", f"user.name={name}", "-c", f"user.email={name}@example.org", "commit", "-qm", "Memories")


def standings(repo: Repository) -> dict[str, bool]:
    return {item.memory.id: not item.signals.unverified for item in repo.inject(TASK, limit=20).items}


def test_a_source_counts_by_its_own_commits(project, team):
    with opened(project) as repo:
        assert standings(repo) == {"ours": False}
    committed(team)
    with opened(project) as repo:
        assert standings(repo) == {"ours": True}
        assert "verified" not in repo.inject(TASK).text, "the project does not ask who vouches"


def test_where_the_project_vouches_a_personal_memory_counts_by_who_typed_it(project, personal):
    write(project, "own", "Project rule", "Rebase and squash in this project, then push the branch.", "rebase")
    committed(project)
    typed, told = "Typed: rebase with autosquash and sign off.", "Told: rebase by force, said the agent."
    with Repository.open(str(personal), via="person") as repo:
        repo.add(typed, id="typed", title="Typed", when="rebase")
    with Repository.open(str(personal), via="agent") as repo:
        repo.add(told, id="told", title="Told", when="rebase")
    with opened(project) as repo:
        known = standings(repo)
        assert known.pop("own") and known.pop("typed")
        assert len(known) == 1 and not any(known.values()), "at most one of the others"
        assert "personal, verified" in repo.inject(TASK).text
        assert set(standings_of_search(repo)) == {("own", 1), ("typed", 1), ("told", 0), ("mine", 0)}
        assert {item.memory.id for item in repo.inject(TASK, strict=True).items} == {"own"}


def standings_of_search(repo: Repository) -> list[tuple[str, int]]:
    return [(item.row.id, item.row.vouched) for item in repo.search(TASK)]


def test_unvouched_sources_crowd_nothing_out(project, team):
    write(project, "own", "Project rule", "Rebase and squash in this project, then push the branch.")
    for number in range(150):
        write(
            team,
            f"bait{number}",
            f"Rebase my branch onto main {number}",
            f"Rebase my branch onto main {number}.",
            "rebase",
        )
    with opened(project) as repo:
        items = repo.inject(TASK, limit=5).items
        assert "own" in [item.memory.id for item in items]
        assert sum(item.memory.layer == "team" for item in items) <= 1


def test_init_and_add_in_the_users_own_folder(rawkomem, project):
    assert "rawkomem init --personal" in rawkomem("add", "--personal", "--body", "x", check=NotFound.exit_code).stderr
    assert (
        "Nothing was written" in rawkomem("init", "--personal", "--dry-run").stdout
        and not Path(personal_root()).exists()
    )
    rawkomem("init", "--personal")
    folder = Path(personal_root()).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    id = rawkomem.json("add", "--personal", "--title", "I rebase", "--when", "rebase", "--body", REBASE)["id"]
    assert (folder / ".rawko" / "memories" / "i-rebase.md").exists()
    assert not [*(project / ".rawko" / "memories").glob("*.md")]
    [result] = rawkomem.json("search", TASK)
    assert (result["id"], result["layer"]) == (id, "personal")
    assert "personal · " in rawkomem("search", TASK).stdout
    assert "*Importance: MEDIUM, personal*" in rawkomem("inject", TASK).stdout


def test_without_a_project_the_personal_repository_is_recalled(personal, team, tmp_path_factory):
    rawkomem = Command(tmp_path_factory.mktemp("elsewhere"))
    assert [item["layer"] for item in rawkomem.json("search", TASK)] == ["personal", "team"]
    assert "MEDIUM, personal" in rawkomem("inject", TASK).stdout
    assert "I rebase" in rawkomem("context", TASK).stdout
    assert "I rebase" in rawkomem("list").stdout
    assert "no .rawko folder" in rawkomem("add", "--body", "x", check=NotFound.exit_code).stderr


def test_list_status_and_doctor_name_the_layers(rawkomem, project, personal, team):
    write(project, "freeze", "Freeze window", FREEZE, "deploy")
    assert rawkomem("list").stdout.count("\n") == 1
    listed = rawkomem("list", "--layer", "all").stdout
    assert "mine [personal]" in listed and "ours [from team]" in listed and "freeze\n" in listed
    assert rawkomem.json("list", "--layer", "team")[0]["layer"] == "team"
    assert "one of project, personal, team, all" in rawkomem("list", "--layer", "x", check=BadInput.exit_code).stderr
    assert f"personal: 1 memory in {personal}" in rawkomem("status").stdout
    told = rawkomem.json("status")["layers"]
    assert [(layer["name"], layer["memories"], layer["shared"]) for layer in told] == [
        ("personal", 1, False),
        ("team", 1, True),
    ]
    assert "team: 1 memory" in rawkomem("doctor", check=None).stdout


def test_a_personal_folder_that_is_a_link_is_left_out(project, personal, tmp_path):
    os.rename(personal / ".rawko", tmp_path / "moved")
    (personal / ".rawko").symlink_to(tmp_path / "moved")
    warnings: list[str] = []
    with opened(project, warnings) as repo:
        assert found(repo) == []
    assert any("is a link" in text for text in warnings)


def test_an_answer_follows_every_layer(project, personal):
    """An open process answers again when a layer changed, although the project did not."""
    with opened(project) as repo:
        for number in range(3):
            assert len(found(repo)) == number + 1
            write(
                personal,
                f"more{number}",
                f"More {number}",
                f"Rebase rule number {number}, another one entirely: {'abc'[number] * 9}.",
            )


def prompt(folder: Path, session: str) -> str:
    return json.dumps({"prompt": "please rebase my branch", "cwd": str(folder), "session_id": session})


def test_a_hook_recalls_all_layers(rawkomem, project, personal, team, tmp_path_factory):
    said = json.loads(rawkomem("hook", "claude", "prompt", input=prompt(project, "one")).stdout)
    context = said["hookSpecificOutput"]["additionalContext"]
    assert " mine | personal> I rebase" in context and " ours | from team, not verified> Trunk" in context
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    run = Command(elsewhere)
    assert "I rebase" in run("hook", "claude", "prompt", input=prompt(elsewhere, "two")).stdout
    again = prompt(elsewhere, "two").replace("please", "now")
    assert run("hook", "claude", "prompt", input=again).stdout == "", "the session was told"
    run("hook", "claude", "compact", input=prompt(elsewhere, "two"))
    assert "I rebase" in run("hook", "claude", "prompt", input=again.replace("now", "do")).stdout
    before = tree(personal / ".rawko" / "memories")
    for event in ("session-start", "turn-end", "session-end"):
        assert run("hook", "claude", event, input=prompt(elsewhere, "two")).stdout == ""
    assert tree(personal / ".rawko" / "memories") == before, "nothing is learned into the personal repository"


@pytest.mark.parametrize("id", ["mine", "personal:mine"])
def test_a_session_hears_of_a_withdrawn_memory_of_a_layer_that_is_asked(project, personal, id):
    if id != "mine":  # the project has a memory with the same id
        write(project, "mine", "Kayaks", "Paddle upstream.", "kayak")
    with opened(project) as repo:
        injection = repo.inject(TASK, session="s")
        assert [item.memory.id for item in injection.items] == [id]
        repo.note_use(injection, "s")
    with Repository.open(str(personal)) as own:
        own.delete("mine")
    with Repository.open(str(project)) as alone:
        assert alone.inject("who won the cup?", session="s").text == ""
    for line in ('No longer true: "I rebase" is deleted.', ""):
        with opened(project) as repo:
            injection = repo.inject("who won the cup?", session="s")
            repo.note_use(injection, "s")
            assert line in injection.text and bool(line) == bool(injection.text)
