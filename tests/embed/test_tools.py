"""The tools that made the bundled file: packing, the training items, and the figures of the vectors that ship."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rawkomem.embed.static import StaticEmbedder, TokenVectors

from tests.conftest import ROOT, shared

TOKENS = ["[PAD]", "[unused0]", "[UNK]", "!", "the", "##s", "cat", "##!", "été", "ete", "中", "##中", "##", "#"]


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))


def pack_some(folder, rows: np.ndarray):
    from pack_static import pack
    from train_static import save

    save(folder / "v.npz", rows)
    (folder / "vocab.txt").write_text("\n".join(TOKENS) + "\n", "utf-8")
    pack(folder / "v.npz", folder / "vocab.txt", folder / "v.bin")
    return str(folder / "v.bin")


def test_packing_keeps_what_a_text_can_give(tools, tmp_path):
    path = pack_some(tmp_path, np.eye(len(TOKENS), 16, dtype=np.float32))
    assert list(TokenVectors(path).index()) == ["!", "#", "##s", "cat", "ete", "the", "中"]


def test_a_packed_file_gives_the_trained_rows(tools, tmp_path):
    rows = np.random.default_rng(1).normal(size=(len(TOKENS), 16)).astype(np.float32)
    embedder = StaticEmbedder(pack_some(tmp_path, rows), "small")
    wanted = rows[TOKENS.index("the")] + 2 * rows[TOKENS.index("cat")] + rows[TOKENS.index("##s")]
    found = np.frombuffer(embedder.embed(["The cat, CATS?"])[0], "<f4")
    assert found == pytest.approx(wanted / np.linalg.norm(wanted), abs=0.02)  # int8


def measured(data: Path) -> dict[str, tuple[float, ...]]:
    """What `train_static.py evaluate` prints, per set."""
    command = [ROOT / "tools" / "train_static.py", "evaluate", shared("model/static-384.npz")]
    command += ["--vocab", shared("model/vocab.txt"), "--data", data]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True, timeout=120)
    lines = [line.split() for line in done.stdout.splitlines()]
    return {words[0]: tuple(float(word) for word in words if word.startswith("0.")) for words in lines}


def near(*figures: float):
    return pytest.approx(figures, abs=0.002)  # other processors multiply matrices in another order


def test_the_shipped_vectors_measure_what_was_promised(tmp_path):
    """Recall of the static vectors alone."""
    (tmp_path / "metatool.json").symlink_to(shared("data/eval/metatool.json"))
    assert measured(tmp_path) == {"metatool": near(0.477, 0.711, 0.794)}


@pytest.mark.slow
def test_all_figures_of_the_shipped_vectors():
    sets = {shared(f"data/eval/{name}.json").parent for name in ("clinc", "locomo", "cosqa")}
    found = measured(sets.pop())
    assert found["clinc"] == near(0.713, 0.935, 0.962, 0.928)
    assert found["locomo"][-3:] == near(0.283, 0.492, 0.590)
    assert found["cosqa"] == near(0.235, 0.497, 0.618)
