"""Tab completion, with the real bash, zsh and fish: ids with titles, tags, kinds, statuses, pages and files."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rawkomem.faces.cli.commands import COMMANDS

from tests.commands import ROOT, START

OLD, NEW = "Old port: 5432, not 6432", 'New "port" $HOME 6432'
SHELL_LIMIT_S = 240


@pytest.fixture
def ports(rawkomem) -> list[str]:
    """The ids of two memories; their titles have characters that shells treat specially."""
    words = ("add", "--body", "Of the database.", "--json", "--title")
    return [json.loads(rawkomem(*words, title).stdout)["id"] for title in (OLD, NEW)]


def completed(rawkomem, line: str, shell: str = "bash") -> list[str]:
    words = line.split(" ")
    env = {"_RAWKOMEM_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    return rawkomem(env=env).stdout.splitlines()


def test_tab_completes_ids_tags_kinds_statuses_and_pages(rawkomem, ports):
    rawkomem("amend", ports[0], "--tag", "network")
    found = completed(rawkomem, "rawkomem show mem_")
    assert sorted(found) == sorted(f"plain,{id}" for id in ports)
    assert completed(rawkomem, "rawkomem supersede old") == [f"plain,{ports[0]}"], "by a word of the title"
    assert len(completed(rawkomem, "rawkomem feedback mem_")) == len(completed(rawkomem, "rawkomem link add mem_")) == 2
    assert completed(rawkomem, "rawkomem list --tag net") == ["plain,network"]
    assert completed(rawkomem, "rawkomem list --kind les") == ["plain,lesson"]
    assert completed(rawkomem, "rawkomem list --include arch") == ["plain,archived"]
    assert completed(rawkomem, "rawkomem docs rec") == ["plain,recall"]
    assert completed(rawkomem, "rawkomem tid") == ["plain,tidy"]
    assert OLD in completed(rawkomem, "rawkomem show mem_", "zsh")


@pytest.mark.parametrize(
    "line",
    [
        "skill add se",
        "skill export x se",
        "import se",
        "export --out se",
        "link cite se",
        "learn se",
    ],
)
def test_tab_completes_files(rawkomem, line):
    assert completed(rawkomem, f"rawkomem {line}") == ["file,se"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_and_installed(rawkomem, shell, own_home):
    script = rawkomem("completion", shell).stdout
    assert "_RAWKOMEM_COMPLETE" in script and "rawko" in script
    if shell == "fish":  # whole titles, in our order; a machine without fish checks this, too
        assert 'string split --max 1 "," $completion' in script and "complete --keep-order --no-files" in script
    written = [line.split()[-1] for line in rawkomem("completion", shell, "--install").stdout.splitlines()]
    assert len(written) == 2 and all(os.path.getsize(path) > 100 for path in written)
    assert "is no supported shell" in rawkomem("completion", check=2, env={"SHELL": ""}).stderr


# Real shells


@pytest.fixture
def environment(project, tmp_path_factory, own_home) -> dict[str, str]:
    """The environment of a shell that finds `rawkomem` and `rawko` of this checkout, and no settings of the user."""
    folder = tmp_path_factory.mktemp("bin")
    for name in ("rawkomem", "rawko"):
        (folder / name).write_text(f'#!/bin/sh\nexec {" ".join(START)} "$@"\n')
        (folder / name).chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "HOME": str(folder), "TERM": "xterm"}


def need(shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")


def at_a_terminal(words: list[str], replies: list[tuple[str, str]], project: Path, env: dict[str, str]) -> str:
    """Type replies to what a shell shows, and return all that it shows; fail if it does not show a pattern."""
    told, shown = project / "told.json", project / "shown"
    said = {"words": words, "replies": replies, "shown": str(shown), "limit_s": SHELL_LIMIT_S}
    told.write_text(json.dumps(said), "utf-8")
    subprocess.run([sys.executable, "-m", "tests.conversing", str(told)], cwd=project, env=env, check=True)
    text = shown.read_text("utf-8", errors="replace")
    assert "TIMEOUT" not in text, text
    return text


def test_bash_lists_ids(rawkomem, project, ports, environment):
    need("bash")
    script = rawkomem("completion", "bash").stdout
    code = f'{script}\nCOMP_WORDS=(rawkomem show "$1"); COMP_CWORD=2; _rawkomem_completion rawkomem\n'
    code += 'printf "%s\\n" "${COMPREPLY[@]}"'

    def run(word: str) -> list[str]:
        words = ["bash", "-c", code, "bash", word]
        done = subprocess.run(words, cwd=project, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    assert sorted(run("mem_")) == sorted(ports)
    assert run(ports[0][:-1]) == [ports[0]]


def test_fish_lists_whole_titles(rawkomem, project, ports, environment):
    """`complete -C` prints what Tab offers: the most recently changed memory first, titles with their commas."""
    need("fish")
    rawkomem("completion", "fish", "--install")
    (project / "session.md").write_text("User: hello\n")
    lines = ("rawkomem show ", "rawko show old", "rawkomem tid", "rawkomem learn se", "rawkomem skill add se")
    code = "\n".join(f"complete -C '{line}'; echo END" for line in lines)
    done = subprocess.run(
        ["fish", "-c", code], cwd=project, env=environment, capture_output=True, text=True, check=True
    )
    assert not done.stderr
    found = [part.strip("\n").splitlines() for part in done.stdout.split("END\n")[: len(lines)]]
    assert found[:2] == [[f"{ports[1]}\t{NEW}", f"{ports[0]}\t{OLD}"], [f"{ports[0]}\t{OLD}"]]
    assert found[2] == [f"tidy\t{COMMANDS['tidy'][1]}"]
    assert found[3:] == [["session.md"], ["session.md"]]


def test_fish_inserts_the_id_of_a_title(rawkomem, project, ports, environment):
    need("fish")
    rawkomem("completion", "fish", "--install")
    replies = [("[>#$] ", "rawkomem show old\t"), (ports[0], "\n"), ("Of the database", "exit\n")]
    assert OLD in at_a_terminal(["fish"], replies, project, environment)


@pytest.mark.parametrize("installed", [True, False])
def test_zsh_lists_titles_and_inserts_the_id(rawkomem, project, ports, environment, installed):
    """The script works from a folder of $fpath and with eval."""
    need("zsh")
    if installed:
        paths = [line.split()[-1] for line in rawkomem("completion", "zsh", "--install").stdout.splitlines()]
        load = f"fpath=({os.path.dirname(paths[0])} $fpath); autoload -Uz compinit; compinit -u -D"
    else:
        load = 'autoload -Uz compinit; compinit -u -D; eval "$(rawkomem completion zsh)"'
    start = f"setopt no_list_ambiguous; {load}; echo SET''UP\n"
    replies = [
        ("[%#$] ", start),
        ("SETUP(.|\n)*[%#$] ", "rawkomem show \t"),
        (f"(?s){ports[1]} .*{ports[0]} ", "\x15rawko show old\t"),
        (f"show .*{ports[0]}", "\n"),
        ("Of the database", "exit\n"),
    ]
    shown = at_a_terminal(["zsh", "-f", "-i"], replies, project, environment)
    assert f"{ports[0]}  -- {OLD}" in shown and f"{ports[1]}  -- {NEW}" in shown
