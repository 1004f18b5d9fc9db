"""Start the command line: `rawkomem`, `rawko`, `python -m rawkomem`.

QuickFinder loads compiled modules directly, without Python's path search. An injection loads a hundred modules, so
this saves half the time of a bare Python start. If a compiled file is missing, out of date, or validated by another
rule than time and size, QuickFinder leaves the module to Python.
"""

from __future__ import annotations

import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader
from marshal import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType

PACKAGES = ("rawkomem.", "numpy.")  # contextual vectors need numpy
CHECKED_BY_TIME = bytes(4)  # the flags of a .pyc file that holds the time and size of its source
HEADER = MAGIC_NUMBER + CHECKED_BY_TIME
HEADER_BYTES = len(HEADER) + 8
CACHE_FOLDER = "/" if sys.pycache_prefix else "/__pycache__/"
CACHE_ENDING = f".{sys.implementation.cache_tag}.pyc"
LOW_BITS = 0xFFFF_FFFF


class _Loader(SourceFileLoader):
    """A loader that returns the code that QuickFinder has already read."""

    code: CodeType

    def get_code(self, fullname: str) -> CodeType:
        return self.code


class QuickFinder:
    """A finder that derives the path of a compiled module from its name, for the packages in PACKAGES."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Return a spec whose loader holds the code of the module, or None to let Python search for the module."""
        if not path or not name.startswith(PACKAGES):
            return None
        leaf = name.rpartition(".")[2]
        return _spec(name, path[0], leaf) or _spec(name, f"{path[0]}/{leaf}", "__init__")


def _spec(name: str, folder: str, stem: str) -> ModuleSpec | None:
    source, compiled = f"{folder}/{stem}.py", f"{sys.pycache_prefix or ''}{folder}{CACHE_FOLDER}{stem}{CACHE_ENDING}"
    try:
        with open(compiled, "rb", 0) as file:
            data = file.read()
        about = os.stat(source)
    except OSError:
        return None
    times = [int(about.st_mtime) & LOW_BITS, about.st_size & LOW_BITS]
    if data[:HEADER_BYTES] != HEADER + b"".join(number.to_bytes(4, "little") for number in times):
        return None
    loader = _Loader(name, source)
    loader.code = loads(memoryview(data)[HEADER_BYTES:])
    spec = ModuleSpec(name, loader, origin=source, is_package=stem == "__init__")
    spec.has_location, spec.cached = True, compiled
    if spec.submodule_search_locations is not None:
        spec.submodule_search_locations.append(folder)
    return spec


def main() -> None:
    """Run the command line and exit."""
    if os.name == "posix":
        sys.meta_path.insert(0, QuickFinder)
    from .faces.cli import main as run

    run()


if __name__ == "__main__":
    main()
