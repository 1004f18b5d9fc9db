"""Exploits of the second review, each in the variants that came to mind: nothing a repository ships is trusted."""

import os
import shutil
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest
from rawkomem.faces.web.page_server import PageServer, open_for_page
from rawkomem.files.git_folder import find_git
from rawkomem.files.layout import Layout, find_layout, own_secret, user_cache, user_config
from rawkomem.files.private import PURPOSES, guard, make_private_folder, open_private
from rawkomem.files.reading import implicit_id
from rawkomem.git.runner import GitFailed, own_tree
from rawkomem.model.errors import BadInput, Refused
from rawkomem.model.ids import is_id, safe_id
from rawkomem.repository import Repository

from tests.commands import spread
from tests.git.gitting import AGENT, Git

MEMORY = "---\ntitle: Deploy\nwhenToUse: [deploy]\n---\n\nDeploy with make.\n"
LOCAL_NAMES = [
    "local.db", "local.db-wal", "local.db-shm", "local.db-journal", "local.db.lock", "local.db.new", "hook.log", "tmp",
    "sinks", "index.db", "index.db-wal", "index.db-journal", "index.db-shm", ".made-00", *sorted({row[0] for row in PURPOSES.values() if "/" not in row[0]}),
]  # fmt: skip
TARGETS = [".bashrc", "empty", "missing"]
COMMANDS = [
    ("add", "--title", "T", "--body", "Text."), ("search", "deploy"), ("inject", "deploy"), ("consolidate", "--apply"),
]  # fmt: skip


@pytest.fixture
def victim(tmp_path_factory) -> Path:
    """A folder of the user's that no repository may change: a shell's start file, and an empty folder."""
    folder = tmp_path_factory.mktemp("victim")
    (folder / ".bashrc").write_text("export A=1\n")
    (folder / "empty").mkdir()
    return folder


@pytest.fixture
def local(project) -> Path:
    return project / ".rawko" / "local"


def untouched(victim: Path) -> bool:
    return (victim / ".bashrc").read_text() == "export A=1\n" and sorted(os.listdir(victim)) == [".bashrc", "empty"]


def run_all(rawkomem) -> str:
    return "".join(done.stdout + done.stderr for words in COMMANDS if (done := rawkomem(*words, check=None)))


# S1: settings


@pytest.mark.parametrize(
    "key",
    [
        '"predicates.x\\nembedder.provider\\topenai\\nembedder.start\\ttouch PWNED\\nz"',
        '"predicates.x\\tembedder.start\\ttouch PWNED"',
        '"agents.x\\nembedder.start\\ttouch PWNED"',
        '"embedder.start"',
        '"embedder.start "',
        '"\\u200bembedder.start"',
        "embedder: {start: touch PWNED, provider: openai, url: 'http://127.0.0.1:9/v1'}\nz",
        "llm: touch PWNED\nz",
        "'sinks.folder': ./here\nz",
    ],
)
def test_settings_of_a_repository_name_no_command_also_from_the_cache(project, memories, rawkomem, key):
    (memories / "a.md").write_text(MEMORY)
    (project / ".rawko" / "config.yaml").write_text(f"{key}: touch PWNED\n")
    for _ in range(2):  # the second command reads the cache
        run_all(rawkomem)
    settings = Repository.open(str(project), warn=lambda text: None).settings
    assert settings.embedder.start == settings.llm.command == settings.sinks.markdown.folder == ""
    assert settings.embedder.provider == "static" and not list(project.rglob("PWNED"))


def test_a_cache_that_the_repository_ships_is_not_read(project, rawkomem):
    """The settings are cached in the user's folder, under a name that says which repository."""
    rawkomem("search", "x", check=None)
    for folder, _, names in os.walk(project):
        assert not [name for name in names if name.endswith(".cache")], folder
    assert os.path.isdir(os.path.join(user_cache(), "settings"))


# S2: what lies below .rawko/local


@pytest.mark.parametrize(("name", "target"), spread(LOCAL_NAMES, TARGETS))
def test_a_link_in_a_shipped_local_folder_is_not_written_through(
    project, memories, rawkomem, local, victim, name, target
):
    (memories / "a.md").write_text(MEMORY.replace("title", 'id: "x$(touch PWNED)"\ntitle'))
    local.mkdir()
    (local / name).symlink_to(victim / target)
    said = run_all(rawkomem)
    assert untouched(victim) and "was not made by you on this machine" in said and os.listdir(local) == [name]
    assert (local.parent / "local-2" / "tmp").is_dir()


@pytest.mark.parametrize(("name", "target"), spread(LOCAL_NAMES, TARGETS[1:] + TARGETS[:1]))
def test_a_link_that_a_pull_puts_into_our_local_folder_is_not_written_through(
    memories, rawkomem, local, victim, name, target
):
    """Git replaces ignored files without a word."""
    (memories / "a.md").write_text(MEMORY)
    rawkomem("search", "deploy")
    if (local / name).is_dir():
        shutil.rmtree(local / name)
    (local / name).unlink(missing_ok=True)
    (local / name).symlink_to(victim / target)
    run_all(rawkomem)
    assert untouched(victim)


@pytest.mark.parametrize("place", [".rawko", ".rawko/local", ".rawko/memories", ".rawko/traces", ".rawko/log"])
@pytest.mark.parametrize("target", ["empty", "missing", ".bashrc"])
def test_a_folder_that_is_a_link_is_not_written_through(project, rawkomem, victim, place, target):
    path = project / place
    if path.exists():
        shutil.rmtree(path)
    path.symlink_to(victim / target)
    run_all(rawkomem)
    rawkomem("init", check=None)
    assert untouched(victim)


def test_a_local_folder_that_becomes_a_link_while_a_program_runs(repository, local, victim):
    repository.add("First", title="First")
    for _ in range(20):  # the link may get the inode of the folder
        shutil.rmtree(local)
        local.symlink_to(victim / "empty")
        repository.add("Second", title="Second")
        assert untouched(victim) and not os.listdir(victim / "empty")
    assert repository.search("second")


@pytest.mark.parametrize("name", [*LOCAL_NAMES, ""])
def test_a_pipe_or_a_device_is_not_waited_for(memories, rawkomem, local, name):
    (memories / "a.md").write_text(MEMORY)
    rawkomem("search", "deploy")
    place = local / name if name else local
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    run_all(rawkomem)


def test_a_marker_from_elsewhere_is_no_marker(project, rawkomem, local, tmp_path_factory):
    """Not one of another folder of the same user, nor one that is copied with its folder."""
    other = tmp_path_factory.mktemp("other") / ".rawko"
    other.mkdir()
    make_private_folder(str(other / "local"))
    (marker,) = (other / "local").glob(".made-*")
    for name in (marker.name, ".made-", f".made-{'0' * 64}"):
        shutil.rmtree(local, ignore_errors=True)
        local.mkdir(mode=0o700)
        (local / name).touch()
        (local / "hook.log").write_text("planted\n")
        shutil.rmtree(local.parent / "local-2", ignore_errors=True)
        assert "was not made by you on this machine" in rawkomem("search", "x", check=None).stderr
        assert sorted(os.listdir(local)) == sorted([name, "hook.log"]) and (local.parent / "local-2").is_dir()


def test_the_secret_of_a_local_folder_is_for_this_user_alone(project):
    make_private_folder(str(project / ".rawko" / "local"))
    (made,) = (project / ".rawko" / "local").glob(".made-*")
    secrets = Path(user_config()).parent / "local"
    (secret,) = secrets.iterdir()
    assert made.name == f".made-{secret.read_bytes().hex()}" and len(secret.read_bytes()) == 32
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (made.parent, made, secrets, secret)]
    assert modes == [0o700, 0o600, 0o700, 0o600]


def test_a_moved_project_keeps_its_local_folder_and_a_copied_one_does_not(repository, project, tmp_path_factory):
    repository.add("Text", title="T", via="person")
    repository.close()
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    shutil.copytree(project, elsewhere / "copy")
    os.rename(project, elsewhere / "moved")
    for name, ours in (("moved", True), ("copy", False)):
        with Repository.open(str(elsewhere / name), warn=lambda text: None) as opened:
            assert opened.beliefs.trust(opened.get("t")).standing.verified == ours
        assert (elsewhere / name / ".rawko" / "local-2").exists() != ours


def test_two_users_of_one_project_do_not_pile_up_folders(project, rawkomem, local, tmp_path_factory):
    """As a machine and a container that share a folder: each finds its own state again."""
    homes = [str(tmp_path_factory.mktemp(name)) for name in ("host", "container")]
    for number, home in enumerate(homes * 2):
        rawkomem.process("add", "--title", f"T {number}", "--body", "x", env={"XDG_CONFIG_HOME": home})
    for home in homes:
        assert len(rawkomem.process("undo", "--list", env={"XDG_CONFIG_HOME": home}).stdout.splitlines()) == 2
    assert {path.name for path in local.parent.glob("local*")} == {"local", "local-2"}


def test_many_processes_at_once_agree_on_one_local_folder(project, memories, rawkomem, local):
    (memories / "a.md").write_text(MEMORY)
    local.mkdir()
    (local / "planted").write_text("planted\n")
    words = [sys.executable, "-m", "rawkomem", "search", "deploy"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    runs = [subprocess.Popen(words, cwd=project, env=environment, stdout=-1, stderr=-1) for _ in range(4)]
    told = [run.communicate() for run in runs]
    assert [run.returncode for run in runs] == [0] * 4, told
    assert os.listdir(local) == ["planted"] and not list(local.parent.glob("local.*"))
    assert [path.name for path in local.parent.glob("local-*")] == ["local-2"]


def test_without_a_config_folder_memories_are_read_and_not_written(memories, rawkomem, local):
    """There is no secret to prove a local folder with, so the index lies in the cache folder."""
    (memories / "a.md").write_text(MEMORY)
    local.mkdir()
    (local / "planted").write_text("planted\n")
    nowhere = {"XDG_CONFIG_HOME": "/dev/null/nowhere"}
    assert "Deploy" in rawkomem("search", "deploy", env=nowhere).stdout
    assert (
        "set XDG_CONFIG_HOME"
        in rawkomem("add", "--title", "Deploys run on Monday", "--body", "x", env=nowhere, check=1).stderr
    )
    assert [path.name for path in local.iterdir()] == ["planted"]


def test_a_file_that_another_program_put_there_is_not_read(repository, local):
    """Git creates files that others may read; ours are closed."""
    repository.add("Text", title="T")
    (local / "hook.log").write_text("planted\n")
    (local / "hook.log").chmod(0o644)
    with pytest.raises(OSError, match="not made by rawkomem"):
        open_private(str(local / "hook.log"), "r")


@pytest.mark.parametrize("suffix", ["", "-wal", "-journal", "-shm"])
def test_a_planted_index_is_not_opened(repository, project, memories, suffix):
    (memories / "a.md").write_text(MEMORY)
    assert repository.search("deploy")
    repository.close()
    planted = Path(repository.core.index.path + suffix)
    if suffix:
        planted.unlink(missing_ok=True)
        planted.write_bytes(b"\x37\x7f\x06\x82" + os.urandom(4_000))
    else:
        planted.unlink()
        forged = apsw.Connection(str(planted))
        forged.execute("CREATE TABLE meta (key TEXT, value TEXT)")
        forged.execute("INSERT INTO meta VALUES ('inode', ?)", (str(planted.stat().st_ino),))
        forged.close()
    planted.chmod(0o644)
    with Repository.open(str(project), warn=lambda text: None) as opened:
        assert [found.row.title for found in opened.search("deploy")] == ["Deploy"]


def test_the_seal_of_the_index_holds_a_secret(repository, local, memories):
    """So that knowing the inode is not enough."""
    (memories / "a.md").write_text(MEMORY)
    repository.search("deploy")
    seal = repository.core.index.catalogue.meta()["inode"]
    (made,) = local.glob(".made-*")
    index, secret = Path(repository.core.index.path), made.name.removeprefix(".made-")
    assert seal == f"{index.stat().st_ino} {secret}"
    assert index.name == f"index-{secret[:16]}.db", "no pull can bring a -wal file that SQLite would replay"


# Ids and names


@pytest.mark.parametrize(
    "odd",
    [
        "a\nb",
        "a\tb",
        "$(id)",
        "`id`",
        "a;b",
        "a|b",
        "a&b",
        "a'b",
        'a"b',
        "<b>",
        "a\\b",
        "\x1b[31m",
        "-rf",
        "a*",
        "\u202ex",
    ],
)
def test_an_odd_id_becomes_a_plain_one(project, memories, odd):
    assert not is_id(odd) and is_id(safe_id(odd)) and safe_id(safe_id(odd)) == safe_id(odd)
    quoted = (
        odd.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t").replace("\x1b", "\\e")
    )
    (memories / "a.md").write_text(f'---\nid: "{quoted}"\ntitle: T\n---\n\nText.\n')
    with Repository.open(str(project), warn=lambda text: None) as repository:
        (row,) = repository.list()
        assert is_id(row.id)


def test_two_odd_ids_stay_two_and_an_entry_finds_its_memory(project, memories):
    change = "---\nkind: amend\nabout: Don't panic\ntitle: Changed\n---\n"
    (memories / "Don't panic.md").write_text(f"{MEMORY}\n---\n\n{change}")
    (memories / "Don`t panic.md").write_text(MEMORY.replace("Deploy", "Other"))
    with Repository.open(str(project), warn=lambda text: None) as repository:
        assert sorted(row.title for row in repository.list()) == ["Changed", "Other"]
        assert repository.get("Don't panic").title == "Changed"
    assert implicit_id("memories/Überblick 日本.md") == "Überblick 日本"


def test_the_writer_takes_no_odd_id(repository):
    with pytest.raises(BadInput, match="cannot be an id"):
        repository.add("Text", title="T", id="a\tb")


@pytest.mark.parametrize("name", ["a\nforged line.md", "a\x1b]0;owned\x07b.md", os.fsdecode(b"\xff.md"), "a\x9b31m.md"])
def test_no_file_name_or_key_reaches_the_terminal_raw(project, memories, rawkomem, name):
    (memories / name).write_text(MEMORY)
    (project / ".rawko" / "config.yaml").write_text('"\\e[31mkey\\x9b": 1\n')
    for words in (("check",), ("check", "--json"), ("list",), ("search", "deploy"), ("sync",), ("doctor",), ("stats",)):
        done = rawkomem(*words, check=None)
        said = done.stdout + done.stderr
        assert all(c.isprintable() or c in "\n\t" for c in said), words
        assert "\nforged line" not in said


# S10: git hooks


@pytest.mark.parametrize("name", ["a\ntouch PWNED\n", "a\rtouch PWNED", "a\x1b[31m"])
def test_a_folder_whose_name_cannot_stand_in_a_hook(git, project, rawkomem, name):
    inner = project / name / "inner"
    inner.mkdir(parents=True)
    rawkomem("init", "--here", cwd=inner)
    done = rawkomem("connect", "git", cwd=inner, check=1)
    assert "rename the folder" in done.stderr and not (project / ".git" / "hooks" / "pre-commit").exists()


@pytest.mark.parametrize("name", ["$(touch PWNED)", "a'; touch PWNED; '", 'a"; touch PWNED; "', "-n"])
def test_a_folder_with_a_shells_signs_is_quoted_in_a_hook(git, project, rawkomem, name):
    inner = project / name
    inner.mkdir()
    rawkomem("init", "--here", cwd=inner)
    rawkomem("connect", "git", cwd=inner)
    git("add", "-A", check=False)
    git("commit", "-qm", "x", check=False)
    assert not list(project.rglob("PWNED"))


# S11: links out of the project


@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "cursor", "copilot"])
@pytest.mark.parametrize("depth", [0, 1])
@pytest.mark.parametrize("target", ["file", "missing", "zero"])
def test_connect_follows_no_link_out_of_the_project(project, rawkomem, victim, host, depth, target):
    from rawkomem.hosts.connect import settings_file

    file = Path(settings_file(host, str(project)))
    place = file if not depth else file.parent
    if place == project:
        pytest.skip("this host's settings lie in the project itself")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to({"file": victim / ".bashrc", "missing": victim / "missing", "zero": Path("/dev/zero")}[target])
    rawkomem("connect", host, check=None)
    rawkomem("connect", host, "--remove", check=None)
    assert untouched(victim)


@pytest.mark.parametrize("name", [".gitattributes", ".gitignore"])
def test_connect_git_follows_no_link(git, project, rawkomem, victim, name):
    (project / ".rawko" / name).unlink()
    (project / ".rawko" / name).symlink_to(victim / ".bashrc")
    assert "through a link" in rawkomem("connect", "git", check=1).stderr
    assert untouched(victim)


@pytest.mark.parametrize("name", ["hooks", "hooks/pre-commit", "config"])
def test_connect_git_follows_no_link_of_an_unpacked_archive(git, project, rawkomem, victim, name):
    place = project / ".git" / name
    shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    (victim / ".bashrc").write_text("")
    place.symlink_to(victim / ("empty" if name == "hooks" else ".bashrc"))
    rawkomem("connect", "git", check=None)
    rawkomem("connect", "git", "--remove", check=None)
    assert (victim / ".bashrc").read_text() == "" and os.listdir(victim / "empty") == []


@pytest.mark.parametrize("path", ["out", "out/deep"])
def test_an_export_follows_no_link_out_of_the_project(project, memories, rawkomem, victim, path):
    (memories / "a.md").write_text(MEMORY)
    place = project / path
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(victim / "empty")
    for words in (
        ("--out", f"{path}/x.jsonl"),
        ("--format", "markdown", "--out", path),
        ("--format", "markdown", "--out", "out"),
    ):
        rawkomem("export", *words, check=None)
    assert untouched(victim) and os.listdir(victim / "empty") == []


@pytest.mark.parametrize("place", [".claude", ".claude/skills", ".claude/skills/deploying"])
def test_a_skill_is_not_exported_through_a_link(project, memories, rawkomem, victim, place):
    (memories / "skills").mkdir()
    (memories / "skills" / "s.md").write_text("---\nkind: skill\ntitle: Deploying\n---\n\nDeploy with make.\n")
    link = project / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(victim / "empty")
    done = rawkomem("skill", "export", "s", ".claude/skills", check=None)
    assert done.returncode and os.listdir(victim / "empty") == []


def test_an_import_follows_no_link_out_of_the_project(project, rawkomem, victim):
    (victim / ".bashrc").write_text("# Keys\n\nThe password of the vault is here.\n")
    (project / "CLAUDE.md").symlink_to(victim / ".bashrc")
    assert "through a link" in rawkomem("import", "CLAUDE.md", check=1).stderr
    assert "CLAUDE.md" not in rawkomem("import", check=None).stdout
    assert "vault" not in "".join(path.read_text() for path in (project / ".rawko" / "memories").rglob("*.md"))


def test_a_template_is_not_read_through_a_link(project, rawkomem, victim):
    (project / ".rawko" / "templates").mkdir()
    (project / ".rawko" / "templates" / "memory.md").symlink_to(victim / ".bashrc")
    from rawkomem.files.installation import read_templates

    assert [is_shipped for is_shipped, _ in read_templates(find_layout(str(project)), "memory")] == [True]


@pytest.mark.parametrize("target", ["/dev/zero", "pipe", "/proc/self/environ"])
def test_settings_are_read_from_a_regular_file_only(project, memories, rawkomem, tmp_path, target):
    (memories / "a.md").write_text(MEMORY)
    os.mkfifo(tmp_path / "pipe")
    config = project / ".rawko" / "config.yaml"
    config.unlink()
    config.symlink_to(target if target.startswith("/") else tmp_path / target)
    assert "Deploy" in rawkomem("search", "deploy").stdout


@pytest.mark.parametrize(
    "section",
    [
        "[include]\n\tpath = {}",
        '[includeIf "gitdir:/"]\npath={}',
        "[include]\npath = middle",
        "[core]\nexcludesFile = .git/{}",
    ],
)
def test_git_does_not_wait_for_a_pipe_that_its_settings_include(project, memories, rawkomem, git, section):
    (memories / "a.md").write_text(MEMORY)
    git.commit()
    os.mkfifo(project / ".git" / "pipe")
    (project / ".git" / "middle").write_text("[include]\n path = pipe\n")
    with (project / ".git" / "config").open("a") as config:
        config.write(section.format("pipe") + "\n")
    with pytest.raises(GitFailed, match="not a file that can be read"):
        own_tree(str(project))
    assert "Deploy" in rawkomem("search", "deploy").stdout
    assert "pipe" in rawkomem("doctor", check=None).stdout


def test_git_may_be_told_to_ignore_nothing(project, memories, git):
    """`core.excludesFile = /dev/null` is a usual setting, and no device that git would wait for."""
    git("config", "core.excludesFile", os.devnull)
    assert own_tree(str(project)).git.run("rev-parse", "--git-dir")


@pytest.mark.parametrize("name", ["HEAD", "refs/heads/main", "commondir", "index", "packed-refs", "info/exclude"])
@pytest.mark.parametrize("target", ["/dev/zero", "pipe"])
def test_git_does_not_read_a_pipe_or_a_device_in_its_folder(project, memories, rawkomem, git, name, target):
    (memories / "a.md").write_text(MEMORY)
    git.commit()
    os.mkfifo(project / ".git" / "pipe")
    file = project / ".git" / name
    file.unlink(missing_ok=True)
    file.symlink_to(target if target.startswith("/") else project / ".git" / target)
    with pytest.raises(GitFailed, match="not a regular file"):
        own_tree(str(project)).git.run("ls-files")
    assert "Deploy" in rawkomem("search", "deploy").stdout
    rawkomem("add", "Back up before a deployment.", check=None)


# S12: other users, the page


def test_a_repository_of_another_user_is_not_used(project, monkeypatch, rawkomem):
    owner = os.stat(project / ".rawko").st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 4_711)
    with pytest.raises(Refused, match="belongs to the user"):
        find_layout(str(project / ".rawko" / "memories"))
    done = rawkomem("hook", "claude", "prompt", input='{"prompt": "deploy", "session_id": "s"}')
    assert (done.stdout, done.stderr) == ("", "")
    for trusted in (str(project), "*", f"/nowhere{os.pathsep}{project}"):
        monkeypatch.setenv("RAWKOMEM_TRUST", trusted)
        assert find_layout(str(project)).root == str(project / ".rawko")
    monkeypatch.setenv("RAWKOMEM_TRUST", f"{project}x")
    with pytest.raises(Refused):
        find_layout(str(project))


def test_a_local_folder_of_another_user_is_not_used(project, monkeypatch):
    local = project / ".rawko" / "local"
    make_private_folder(str(local))
    owner = os.stat(local).st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 4_711)
    assert not own_secret(str(local))


def test_the_address_for_a_browser_works_once_and_is_not_the_token(project):
    server = PageServer(open_for_page(str(project), "person"))
    try:
        address = server.new_entrance()
        code = address.partition("#once=")[2]
        assert server.door.token not in address and len(code) >= 32
        assert [server.enter({"code": given}).status for given in ("", "x", None, code, code)] == [
            401,
            401,
            401,
            200,
            401,
        ]
        late = server.new_entrance().partition("#once=")[2]
        server._entrance = (late, time.monotonic() - 1)
        assert server.enter({"code": late}).status == 401
    finally:
        server.server_close()


def test_a_browser_that_goes_away_leaves_no_traceback(project, memories, capfd):
    import threading

    (memories / "a.md").write_text(MEMORY)
    server = PageServer(open_for_page(str(project), "person"))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        for request in (
            b"GET / HTTP/1.1\r\nHost: x",
            b"GET /app.js HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % server.door.port,
        ):
            for _ in range(5):
                with socket.create_connection(("127.0.0.1", server.door.port)) as client:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # close with a reset
                    client.sendall(request)
        time.sleep(0.3)
    finally:
        server.shutdown()
        server.server_close()
    assert "Traceback" not in capfd.readouterr().err


def test_git_runs_nothing_that_a_repository_names(git, project, memories, rawkomem):
    """An unpacked archive may hold git's own settings."""
    (memories / "a.md").write_text(MEMORY)
    git.commit("x")
    hostile = project / ".git" / "hostile"
    hostile.write_text(f"#!/bin/sh\ntouch {project}/PWNED\n")
    hostile.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "diff.x.textconv", "filter.x.clean", "filter.x.process", "core.pager",
                "core.sshCommand", "gpg.program", "core.askPass", "core.editor", "uploadpack.packObjectsHook"):  # fmt: skip
        git("config", key, str(hostile))
    git("config", "log.showSignature", "true")
    (project / ".gitattributes").write_text("* diff=x filter=x\n")
    (memories / "b.md").write_text(MEMORY.replace("Deploy", "Other"))
    for words in (
        ("sync",),
        ("doctor",),
        ("check", "--staged"),
        ("list",),
        ("inject", "deploy"),
        ("connect", "git"),
        ("check",),
    ):
        rawkomem(*words, check=None)
        assert not (project / "PWNED").exists(), words


def test_git_reads_no_attributes_file_that_a_repository_names(git, project, memories, rawkomem):
    (memories / "a.md").write_text(MEMORY)
    os.mkfifo(project / "endless")
    git("config", "core.attributesFile", "endless")
    assert "git took too long" not in rawkomem("doctor", check=None).stdout


def test_doctor_does_not_wait_for_a_pipe_in_place_of_the_attributes(git, project, memories, rawkomem):
    """Git itself waits for it: the check took its whole time limit, and said that there is no work tree."""
    (memories / "a.md").write_text(MEMORY)
    git.commit()
    for folder in (project, memories):
        os.mkfifo(folder / ".gitattributes")
        told = rawkomem("doctor", check=None).stdout
        assert f"{folder / '.gitattributes'} is no file: git may wait for it" in told
        (folder / ".gitattributes").unlink()


BARE = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n"
NOTE = "---\nid: {id}\ntitle: Deploy {id}\nwhenToUse: [deploy]\n---\n\nDeploy with {id}.\n"


@pytest.fixture
def bare(git, project, memories, tmp_path_factory):
    """A commit of a person, then one of an agent that makes .rawko a git repository in which the person did it all."""
    (memories / "honest.md").write_text(NOTE.format(id="honest"))
    git.commit()
    (memories / "evil.md").write_text(NOTE.format(id="evil"))
    fake = Git(tmp_path_factory.mktemp("fake"))
    fake("init", "-q")
    shutil.copytree(memories, fake.folder / "memories")
    fake.commit()
    root = project / ".rawko"
    for name in ("HEAD", "index"):
        shutil.copy(fake.folder / ".git" / name, root / name)
    for name in ("objects", "refs"):
        shutil.copytree(fake.folder / ".git" / name, root / name)
    (root / "info").mkdir()
    (root / "info" / "attributes").write_text("* filter=x\n")
    (root / "config").write_text(f'{BARE}[filter "x"]\n\tclean = touch {project}/PWNED\n')
    git("add", "-Af", ".rawko", by=AGENT)
    git("commit", "-qm", "agent", by=AGENT)
    for file in memories.glob("*.md"):
        os.utime(file, (1, 1))  # so that git reads it again
    return root


def test_a_rawko_that_is_a_git_repository_runs_nothing(bare, project, rawkomem):
    """A clean filter of .rawko/config ran when `git status` was started in .rawko."""
    for words in ((), ("status",), ("list",), ("search", "deploy"), ("check", "--staged"), ("diff", "HEAD~..HEAD")):
        for folder in (project, bare, bare / "memories"):
            rawkomem(*words, cwd=folder, check=None)
            assert not (project / "PWNED").exists(), (words, folder)


def test_the_history_of_a_rawko_that_is_a_git_repository_does_not_count(bare, project, rawkomem):
    with Repository.open(str(project), warn=lambda text: None) as repository:
        assert {item.memory.id for item in repository.inject("deploy", strict=True).items} == {"honest"}
    assert "committed by an agent" in rawkomem("explain", "evil").stdout
    assert find_git(str(bare)).tree == str(project)


def test_a_rawko_that_is_a_git_repository_is_reported(bare, rawkomem):
    for words, code in ((("check",), 1), (("status",), 0), (("doctor",), 1)):
        done = rawkomem(*words, check=code)
        assert "looks like a git repository" in done.stdout + done.stderr, words


def test_without_a_work_tree_rawko_is_no_repository(bare, project, rawkomem):
    """Nor is it one for `diff`, which works in bare repositories."""
    shutil.rmtree(project / ".git")
    assert find_git(str(bare)) is None
    assert "not a git repository" in rawkomem("diff", "HEAD...HEAD", cwd=bare, check=1).stderr


def test_the_overview_counts_files_that_are_not_committed(git, memories, rawkomem):
    (memories / "a.md").write_text(NOTE.format(id="mem_1_a"))
    git.commit()
    assert "not committed" not in rawkomem().stdout
    (memories / "a.md").write_text(NOTE.format(id="mem_1_a").replace("Deploy with", "Ship with"))
    (memories / "b.md").write_text(NOTE.format(id="mem_2_a"))
    assert "2 memory files not committed" in rawkomem().stdout


def test_paths_that_are_not_local_are_left_alone(tmp_path):
    assert guard(str(tmp_path / "x")) == (False, "")
    assert Layout(str(tmp_path / ".rawko")).local.endswith(".rawko/local")
