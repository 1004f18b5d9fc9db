"""A command that answers once loads numpy without what it never uses; any other process has all of it."""

from __future__ import annotations

import sys

import pytest

from tests.commands import run_process

TEXTS = ["how do we rotate the signing keys", "the old ones expire on friday"]
EMBED = f"from rawkomem.embed.minilm import open_minilm; vectors = open_minilm().embed({TEXTS!r});"


def told(code: str, folder) -> str:
    done = run_process([sys.executable, "-c", code], input="", cwd=folder, env={})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("empty")


def test_the_vectors_are_the_same(folder):
    show = f"{EMBED} print(b''.join(vectors).hex(), len(numpy.zeros.__doc__ or ''))"
    light, without = told(f"{EMBED} import numpy; {show}", folder).split()
    whole, helped = told(f"import threading; {EMBED} import numpy; {show}", folder).split()
    assert light == whole
    assert int(without) == 0 < int(helped)


def test_what_stood_in_is_gone(folder):
    later = "import numpy, numpy.typing; print(numpy.typing.NDArray[numpy.float32])"
    assert told(f"{EMBED} {later}", folder) == told(later, folder)
