"""Pack trained token vectors and their vocabulary into the file that rawkomem maps into memory.

Usage: python tools/pack_static.py static-384.npz vocab.txt rawkomem/embed/static-384.bin
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(
    0, str(Path(__file__).resolve().parents[1])
)  # run from a checkout, installed or not

from rawkomem.embed.static import (
    FILE_VERSION,
    INNER,
    LANE_BYTES,
    MAX_WEIGHT,
    VECTORS_HEADER,
    VECTORS_MAGIC,
    bert_words,
)


def main() -> None:
    """Read the arguments, write the file, print its size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "vectors",
        type=Path,
        help="npz with i8 (tokens x dimensions) and scale (one per token)",
    )
    parser.add_argument(
        "vocabulary", type=Path, help="one token per line, in the order of the rows"
    )
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    kept = pack(given.vectors, given.vocabulary, given.out)
    print(f"{given.out}: {kept} pieces, {given.out.stat().st_size:,} bytes")


def pack(vectors: Path, vocabulary: Path, out: Path) -> int:
    """Write the file; return how many pieces it holds. Exit if the input does not fit."""
    tokens = vocabulary.read_text("utf-8").rstrip("\n").split("\n")
    with np.load(vectors) as trained:
        i8, scale = trained["i8"], trained["scale"].astype(np.float64).reshape(-1)
    if i8.shape[1] % LANE_BYTES:
        raise SystemExit(
            f"{i8.shape[1]} dimensions: the plain-Python sum needs a multiple of {LANE_BYTES}"
        )
    if not len(tokens) == len(i8) == len(scale):
        raise SystemExit(
            f"{len(tokens)} tokens, {len(i8)} rows and {len(scale)} scales do not belong together"
        )
    kept = sorted(
        (token.encode(), row) for row, token in enumerate(tokens) if reachable(token)
    )
    rows = np.array([row for _, row in kept])
    weights = np.rint(scale[rows] * (MAX_WEIGHT / scale[rows].max())).astype("<u4")
    out.write_bytes(layout([name for name, _ in kept], weights, i8[rows]))
    return len(kept)


def reachable(token: str) -> bool:
    """Return whether a text can produce this token: not `[unused7]`, not an inner piece that is always split off."""
    inner = token.startswith(INNER) and token != INNER
    name = token[len(INNER) :] if inner else token
    return bert_words(f"a{name}" if inner else name) == [f"a{name}" if inner else name]


def layout(
    names: list[bytes], weights: NDArray[np.uint32], rows: NDArray[np.int8]
) -> bytes:
    """Return the bytes of the file, as rawkomem/embed/static.py describes them."""
    longest = max(len(name.decode().removeprefix(INNER)) for name in names)
    offsets = np.cumsum([0] + [len(name) + 1 for name in names]).astype("<u4")
    header = VECTORS_HEADER.pack(
        VECTORS_MAGIC,
        FILE_VERSION,
        len(names),
        rows.shape[1],
        longest,
        int(offsets[-1]),
    )
    return b"".join(
        (
            header,
            offsets.tobytes(),
            weights.tobytes(),
            b"\n".join(names) + b"\n",
            rows.tobytes(),
        )
    )


if __name__ == "__main__":
    main()
