"""A cold query imports nothing slow, and is quick."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT

SLOW = (
    "numpy re typing dataclasses pathlib json enum inspect http http.client asyncio contextlib functools collections "
    "array threading subprocess urllib ssl socket importlib.util"
)
QUERY = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from rawkomem.embed import EmbedderSettings, open_embedder
embedder = open_embedder(EmbedderSettings(), print)
assert any(embedder.embed(["how do we deploy the Zürich service — today?"])[0])
print(*(name for name in {SLOW!r}.split() if name in sys.modules))
"""
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


def test_a_query_imports_nothing_slow():
    assert run(QUERY, "-I", "-S") == ""


def test_a_few_changed_files_need_no_numpy():
    assert run(FEW_FILES.replace("COUNT", "5")) == "False"


def test_many_files_take_it():
    assert run(FEW_FILES.replace("COUNT", "200")) == "True"
