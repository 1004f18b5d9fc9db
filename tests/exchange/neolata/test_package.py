"""The npm package itself writes stores, reads them again after a round trip, and decides as before."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from ...commands import ROOT
from .trips import items_in, there_and_back

NAME = "@jeremiaheth/neolata-mem"
PACKAGE = ROOT / ".hosts" / "node_modules" / NAME
STORES = 200
TIMEOUT_S = 600
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed"),
    pytest.mark.skipif(not PACKAGE.exists(), reason=f"{NAME} is not installed: 'make test-slow' asks the npm registry for it"),
]  # fmt: skip


def node(folder: Path, *words: str, given: str = "") -> str:
    """Run original.mjs beside the package, which is where node looks for it."""
    script = PACKAGE.parents[2] / "original.mjs"
    shutil.copy(Path(__file__).with_name("original.mjs"), script)
    command = ["node", str(script), *words]
    done = subprocess.run(
        command, cwd=folder, input=given, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_package_decides_as_before(tmp_path):
    node(tmp_path, "write", str(STORES), str(tmp_path / "stores"))
    stores = [tmp_path / "stores" / str(seed) for seed in range(STORES)]
    backs = [there_and_back(store, tmp_path / f"work-{store.name}") for store in stores]
    for store, back in zip(stores, backs, strict=True):
        assert items_in(back) == items_in(store), store.name
    seeds = json.dumps([*range(STORES)])
    before, after = (json.loads(node(tmp_path, "decide", *map(str, side), given=seeds)) for side in (stores, backs))
    for seed, (one, other) in enumerate(zip(before, after, strict=True)):
        assert one == other, seed
