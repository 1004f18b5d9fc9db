"""Whose name entries are signed with, also where the system knows none."""

from __future__ import annotations

import getpass
import os

import pytest

from rawkomem.git.user import user_name


def test_the_account(monkeypatch):
    monkeypatch.setenv("LOGNAME", "ada")
    assert user_name() == "ada"


@pytest.mark.parametrize("failure", [KeyError("uid not found: 4711"), OSError("No username set"), ImportError("pwd")])
def test_a_container_that_knows_no_name_for_its_user(failure, git, project, monkeypatch):
    def unknown():
        raise failure

    monkeypatch.setattr(getpass, "getuser", unknown)
    monkeypatch.chdir(project)
    assert user_name() == ""
    git("config", "user.name", "Ada Person")
    assert user_name() == "Ada Person"
    monkeypatch.setenv("PATH", os.devnull)
    assert user_name() == ""


def test_nothing_else_asks_the_system():
    from tests.conftest import ROOT

    asking = [file.name for file in (ROOT / "rawkomem").rglob("*.py") if "getuser" in file.read_text(encoding="utf-8")]
    assert asking == ["user.py"]
