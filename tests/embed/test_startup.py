"""A cold query imports nothing slow, and is quick."""

import subprocess
import sys

from tests.conftest import ROOT

FEW_FILES = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from rawkomem.embed.static import StaticEmbedder
texts = ["Run the migrations before you deploy; then watch the error rate for ten minutes. " * 12] * COUNT
assert len(StaticEmbedder().embed(texts)) == COUNT
print("numpy" in sys.modules)
"""


def run(code: str, *flags: str) -> str:
    done = subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


def test_a_few_changed_files_need_no_numpy():
    assert run(FEW_FILES.replace("COUNT", "5")) == "False"


def test_many_files_take_it():
    assert run(FEW_FILES.replace("COUNT", "200")) == "True"
