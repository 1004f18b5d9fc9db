"""Whose name entries are signed with, also where the system knows none."""

import getpass

import pytest
from rawkomem.git.runner import user_name


@pytest.mark.parametrize("failure", [KeyError("uid not found: 4711"), OSError("No username set"), ImportError("pwd")])
def test_a_container_that_knows_no_name_for_its_user(failure, git, project, monkeypatch):
    def unknown():
        raise failure

    monkeypatch.setattr(getpass, "getuser", unknown)
    monkeypatch.chdir(project)
    assert user_name() == ""
    git("config", "user.name", "Ada Person")
    assert user_name() == "Ada Person"


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ("[user]\n\tname = Grace Hopper\n\temail = g@example.org\n", "Grace Hopper"),
        ('[core]\n  name = no\n[User]\n  Name = "Zoë O\'Neil"\n', "Zoë O'Neil"),
        ("[user]\n  email = g@example.org\n", ""),
        ('[user "x"]\n  name = no\n', ""),
    ],
)
def test_git_s_name_comes_before_the_account_s(tmp_path, monkeypatch, settings, name):
    (tmp_path / "gitconfig").write_text(settings, "utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.delenv("GIT_AUTHOR_NAME", raising=False)
    monkeypatch.chdir(tmp_path)
    assert user_name() == (name or getpass.getuser())


def test_the_project_s_name_wins_and_included_files_count(git, project, tmp_path, monkeypatch):
    monkeypatch.delenv("GIT_AUTHOR_NAME", raising=False)
    monkeypatch.chdir(project)
    (tmp_path / "work").write_text("[user]\n  name = At Work\n", "utf-8")
    (tmp_path / "gitconfig").write_text(f"[include]\n  path = {tmp_path}/work\n", "utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    assert user_name() == "At Work"
    git("config", "user.name", "In Here")
    assert user_name() == "In Here"
    monkeypatch.setenv("GIT_AUTHOR_NAME", "For Now")
    assert user_name() == "For Now"
