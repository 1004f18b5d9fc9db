"""Unsaved texts: what else may lie in their folder, and purges."""

import os

import pytest
from rawkomem.files.kept_texts import find_unsaved, keep_text, unsaved_texts
from rawkomem.model.errors import BadInput

TEXT = "The password of the build server is on the wall."
LATER = "9999-01-01T00-00-00-add.md"


@pytest.fixture
def kept(repository) -> str:
    return keep_text(repository.layout, "add", TEXT)


@pytest.mark.parametrize("put", ["link", "pipe", "folder"])
def test_only_plain_files_are_unsaved_texts(repository, kept, tmp_path, put):
    odd = os.path.join(os.path.dirname(kept), LATER)
    (tmp_path / "key").write_text("not for an editor")
    {
        "link": lambda: os.symlink(tmp_path / "key", odd),
        "pipe": lambda: os.mkfifo(odd),
        "folder": lambda: os.mkdir(odd),
    }[put]()
    assert unsaved_texts(repository.layout) == [kept] and find_unsaved(repository.layout, "", "add") == kept
    with pytest.raises(BadInput):
        find_unsaved(repository.layout, odd)
    id = repository.add(TEXT, title="Password").entry.id
    repository.lifecycle.purge(id)
    assert not os.path.exists(kept) and (tmp_path / "key").exists()


def test_a_purge_reads_what_an_editor_saved_with_another_mode(repository, kept):
    os.chmod(kept, 0o644)
    id = repository.add(TEXT, title="Password").entry.id
    repository.lifecycle.purge(id)
    assert not os.path.exists(kept)
