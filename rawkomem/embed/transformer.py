"""Embeds with a sentence-transformers model, by name or from a local folder. Needs the extra of the
same name.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from glob import escape, glob
from importlib import import_module
from typing import Any

from ..model.installed import how_to_add
from .embedder import EmbedderFailed, EmbedderSettings

# the teacher of the bundled vectors
DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
WEIGHTS = (".safetensors", ".bin")


class TransformerEmbedder:
    """Embeds with torch in this process: opening takes seconds, then tens of texts a second."""

    def __init__(self, settings: EmbedderSettings):
        model = settings.model or DEFAULT_MODEL
        self._model = load_model(model, settings.dims)
        self.dims = model_dims(self._model)
        self.name = f"sentence-transformers:{model_label(model)}:{self.dims}"

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one vector per text."""
        # comes with torch; imported here, so that a missing extra is reported first
        import numpy as np

        try:
            rows = self._model.encode(
                texts, normalize_embeddings=True, show_progress_bar=False
            )
        except Exception as error:
            # torch and the tokenizers raise errors of many kinds
            raise EmbedderFailed(
                f"the model failed: {first_line(error)}",
                "Try a smaller model, or the bundled one.",
            )
        if rows.shape != (len(texts), self.dims) or not np.isfinite(rows).all():
            raise EmbedderFailed(
                "the model returned vectors that cannot be used", "Try another model."
            )
        return [row.tobytes() for row in rows.astype("<f4")]


def load_model(model: str, dims: int) -> Any:
    """Return the model, cut to `dims` dimensions unless 0; raise EmbedderFailed if it cannot be loaded."""
    try:
        from sentence_transformers import SentenceTransformer

        # the progress bar would mix with our output
        import_module("transformers.utils.logging").disable_progress_bar()
    except ImportError as error:
        missing = error.name or "sentence-transformers"
        raise EmbedderFailed(
            f"{missing} is not installed", f"Run: {how_to_add('sentence-transformers')}"
        )
    try:
        return SentenceTransformer(model, truncate_dim=dims or None)
    except Exception as error:
        # hub not reachable, folder without a model, wrong weights
        raise EmbedderFailed(
            f"cannot load {model}: {first_line(error)}",
            "Check the name or folder in model.",
        )


def model_dims(model: Any) -> int:
    """Return the dimensions of a model's vectors; later versions renamed the method."""
    ask = (
        getattr(model, "get_embedding_dimension", None)
        or model.get_sentence_embedding_dimension
    )
    return ask() or len(model.encode(["memory"])[0])  # some models do not tell


def model_label(model: str) -> str:
    """Return the model's name; for a folder with a checksum of its weights' dates: it may be trained further."""
    if not os.path.isdir(model):
        return model
    digest = hashlib.sha256()
    for file in sorted(glob(os.path.join(escape(model), "**"), recursive=True)):
        if file.endswith(WEIGHTS):
            stamp = os.stat(file)
            digest.update(
                f"{os.path.relpath(file, model)} {stamp.st_size} {stamp.st_mtime_ns}\n".encode()
            )
    return f"{os.path.basename(os.path.abspath(model))}#{digest.hexdigest()[:12]}"


def first_line(error: Exception) -> str:
    """Return the error on one line."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
