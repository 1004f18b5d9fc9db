"""Tests keep compiled modules: else each process that a test starts compiles all that it imports."""

import os
import sys

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
