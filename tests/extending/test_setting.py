"""A new setting is one row of rawkomem/settings/table.py: one file of the package, one line of data.

It is then read from the files, checked, cached, refused from a repository where it is the user's, and on the page of
settings. Code asks for it with `repository.settings.value(key)`, or the row names a field of Settings to fill.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from rawkomem.files.layout import user_config
from rawkomem.repository import Repository, settings_table
from rawkomem.repository.settings_table import BOTH, TEXTS, USER, Row, whole

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import write_settings_docs

TOY = Row("toy.size", whole(1, 9), BOTH, 3, "How large the toy is.")
OWN = Row("toy.owners", TEXTS, USER, (), "Who may play with it.")


@pytest.fixture(autouse=True)
def rows(monkeypatch):
    monkeypatch.setattr(settings_table, "ROWS", (*settings_table.ROWS, TOY, OWN))
    monkeypatch.setattr("rawkomem.repository.settings_table.ROWS", settings_table.ROWS)


def opened(project: Path, repository: str = "", user: str = "") -> tuple[Repository, list[str]]:
    warnings: list[str] = []
    (project / ".rawko" / "config.yaml").write_text(repository)
    os.makedirs(os.path.dirname(user_config()), exist_ok=True)
    Path(user_config()).write_text(user)
    found = Repository.open(str(project), warn=warnings.append)
    found.settings  # noqa: B018 (read now)
    return found, warnings


def test_it_is_read_and_cached(project):
    assert opened(project)[0].settings.value("toy.size") == 3
    repository, warnings = opened(project, "toy: {size: 5}\n", user="toy: {owners: [Ada, Grace]}\n")
    again = Repository.open(str(project), warn=warnings.append)
    for settings in (repository.settings, again.settings):
        assert (settings.value("toy.size"), settings.value("toy.owners")) == (5, ("Ada", "Grace"))
    assert not warnings


def test_it_is_checked(project):
    repository, (warning,) = opened(project, "toy:\n  size: 12\n")
    assert repository.settings.value("toy.size") == 3
    assert "config.yaml:2: toy.size must be a whole number from 1 to 9: the default is used" in warning
    repository, (warning,) = opened(project, "toy: {owners: [Mallory]}\n")
    assert repository.settings.value("toy.owners") == () and "toy.owners may be set in your own config only" in warning


def test_it_is_on_the_page_of_settings():
    page = write_settings_docs.write()
    assert "| `toy.size` | both | a whole number from 1 to 9 | `3` | How large the toy is. |" in page
    assert "| `toy.owners` | you | a list of texts | – | Who may play with it. |" in page
