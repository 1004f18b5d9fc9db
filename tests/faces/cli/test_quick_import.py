"""The finder of compiled modules finds what Python would, and leaves everything unusual to Python."""

from __future__ import annotations

import inspect
import os
import py_compile
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

import pytest

import rawkomem
from rawkomem.__main__ import QuickFinder
from tests.commands import ROOT

NAME = "rawkomem.module"
TEXT = "VALUE = 'old'\n"


@pytest.fixture
def source(tmp_path) -> Path:
    path = tmp_path / "module.py"
    path.write_text(TEXT)
    py_compile.compile(str(path))
    return path


def found(path: Path):
    return QuickFinder.find_spec(NAME, [str(path.parent)])


def test_a_module_is_the_one_that_python_finds(monkeypatch):
    monkeypatch.setattr(sys, "pycache_prefix", None)
    if not list((ROOT / "rawkomem" / "text" / "__pycache__").glob(f"clean.{sys.implementation.cache_tag}.pyc")):
        py_compile.compile(str(ROOT / "rawkomem" / "text" / "clean.py"))
    place = [str(ROOT / "rawkomem" / "text")]
    ours, usual = (
        QuickFinder.find_spec("rawkomem.text.clean", place),
        PathFinder.find_spec("rawkomem.text.clean", place),
    )
    assert ours is not None and usual is not None
    assert (ours.name, ours.origin, ours.cached, ours.parent) == (usual.name, usual.origin, usual.cached, usual.parent)
    module = module_from_spec(ours)
    ours.loader.exec_module(module)
    assert "def one_line" in inspect.getsource(module.one_line)


def test_a_package_knows_its_folder(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "__init__.py").write_text("")
    py_compile.compile(str(tmp_path / "inner" / "__init__.py"))
    assert QuickFinder.find_spec("rawkomem.inner", [str(tmp_path)]).submodule_search_locations == [
        str(tmp_path / "inner")
    ]


def test_an_edited_source_is_left_to_python(source):
    assert found(source)
    source.write_text("VALUE = 'longer than before'\n")
    assert not found(source)


def test_a_source_with_another_time_is_left_to_python(source):
    os.utime(source, (1, 1))
    assert not found(source)


def test_a_file_that_is_checked_by_its_hash_is_left_to_python(source):
    py_compile.compile(str(source), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    assert not found(source)


def test_a_compiled_file_without_its_source_is_left_to_python(source):
    source.unlink()
    assert not found(source)


def test_other_packages_are_left_to_python(source):
    assert QuickFinder.find_spec("other.module", [str(source.parent)]) is None
    assert QuickFinder.find_spec("rawkomem", None) is None


def test_the_library_does_not_use_it():
    assert QuickFinder not in sys.meta_path, rawkomem.__file__
