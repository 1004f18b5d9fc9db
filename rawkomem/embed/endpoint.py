"""Embeds with sentence-transformers, or with an OpenAI-compatible /v1/embeddings endpoint: OpenAI, Cohere, Ollama, LM Studio and
similar servers; starts a local server if it is not running.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import escape, glob
from importlib import import_module
from typing import Any

from ..model.installed import how_to_add
from ..net import (
    RETRY_PAUSES,
    Api,
    Client,
    JsonApi,
    NotListening,
    RequestFailed,
    api_url,
)
from .embedder import EmbedderFailed, EmbedderSettings
from .static import pack_vector

START_TIMEOUT_S = 60.0  # enough to load a model of some gigabytes from a slow disk
POLL_S = 0.1  # seconds between two checks


def start_server(
    command: str, client: Client, limit: float = START_TIMEOUT_S
) -> subprocess.Popen[bytes]:
    """Run the command, without a shell, in its own session; return when the client can connect.

    Raise EmbedderFailed if the command fails, or if the server does not listen in time.
    """
    words = split_command(command)
    nowhere = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            words, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
        )
    except OSError as error:
        # only the first word is shown: the others may hold a secret
        raise EmbedderFailed(
            f"cannot run {words[0]}: {type(error).__name__}",
            "Use a full path in embedder.start.",
        )
    deadline = time.monotonic() + limit
    while not client.listens():
        # 0 is no failure: some launchers exit while their server starts
        if process.poll():
            message = f"{words[0]} ended with code {process.returncode}"
            raise EmbedderFailed(message, "Run the command in embedder.start by hand.")
        if time.monotonic() > deadline:
            process.terminate()
            place = f"{client.target.host}:{client.target.port}"
            message = f"{words[0]} runs, but {place} did not open within {limit:g} s"
            raise EmbedderFailed(
                message,
                "Check that embedder.provider and embedder.start mean the same server.",
            )
        time.sleep(POLL_S)
    return process


def split_command(command: str) -> list[str]:
    """Return the words of a command line; raise EmbedderFailed if there are none."""
    try:
        words = shlex.split(command, posix=os.name == "posix")
    except ValueError:  # a quote that is not closed
        words = []
    if not words:
        raise EmbedderFailed(
            "the start command is empty or has an open quote", "Correct embedder.start."
        )
    return words


EMBEDDINGS = Api("/embeddings", "embedder.provider", "embedder.model", "keys.embedder")
NAME_PREFIX = "openai:"  # start of these embedders' names, which the index keeps
BATCH_TEXTS = 64  # texts in one request; Cohere takes at most 96
URLS = {  # used when the settings have no url
    "openai": "https://api.openai.com/v1",
    "cohere": "https://api.cohere.ai/compatibility/v1",
    "ollama": "http://localhost:11434/v1",
    "lmstudio": "http://localhost:1234/v1",
}
# used when the settings have no model
MODELS = {"lmstudio": "mixedbread-ai/mxbai-embed-large-v1"}
LARGEST = sys.float_info.max  # of a number in a vector; also false for NaN
# any word: its vector shows that the server works, and the number of dimensions
PROBE = "memory"


class EndpointEmbedder:
    """Embeds by HTTP request. Opening it sends one word, so that a server that is down is noticed before any work."""

    def __init__(
        self, settings: EmbedderSettings, pauses: tuple[float, ...] = RETRY_PAUSES
    ):
        self._model = model_name(settings)
        if not self._model:
            raise EmbedderFailed(
                "no model is named",
                "Set embedder.model, for example to text-embedding-3-small.",
            )
        self._asked = settings.dims
        self.dims = settings.dims
        url = embeddings_url(settings)
        self.server: subprocess.Popen[bytes] | None = None
        with request_errors():
            self._post = JsonApi(
                EMBEDDINGS, url, settings.key_env, settings.timeout, pauses
            )
            self._probe(settings.start)
        target = self._post.client.target
        self.name = (
            f"{NAME_PREFIX}{target.host}:{target.port}/{self._model}:{self.dims}"
        )

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one vector per text."""
        vectors: list[bytes] = []
        for start in range(0, len(texts), BATCH_TEXTS):
            with request_errors():
                answer = self._ask(texts[start : start + BATCH_TEXTS])
            vectors += map(self._pack, answer)
        return vectors

    def _probe(self, start: str) -> None:
        try:
            answer = self._ask([PROBE])
        except NotListening:
            if not start:
                raise
            self.server = start_server(start, self._post.client)
            answer = self._ask([PROBE])
        self.dims = self.dims or (len(answer[0]) if isinstance(answer[0], list) else 0)
        self._pack(answer[0])

    def _ask(self, texts: Sequence[str]) -> list[object]:
        body: dict[str, Any] = {
            "model": self._model,
            "input": [*texts],
            "encoding_format": "float",
        }
        if self._asked:
            body["dimensions"] = self._asked
        return read_vectors(self._post(body), len(texts))

    def _pack(self, numbers: object) -> bytes:
        count = len(numbers) if isinstance(numbers, list) else 0
        if not isinstance(numbers, list) or not count or count != self.dims:
            raise unusable_answer(
                f"a vector of {count} numbers instead of {self.dims or 'some'}"
            )
        if not all(
            type(number) in (int, float) and abs(number) < LARGEST for number in numbers
        ):
            raise unusable_answer("a vector with values that are not finite numbers")
        # squares of large or small numbers would overflow
        largest = max(map(abs, numbers)) or 1.0
        return pack_vector([number / largest for number in numbers])


def model_name(settings: EmbedderSettings) -> str:
    """Return the model in the settings, or the provider's default; empty if there is none."""
    return settings.model or MODELS.get(settings.provider, "")


def is_name_of(settings: EmbedderSettings, name: str) -> bool:
    """Return whether an embedder of that name uses the model of these settings."""
    return name.startswith(NAME_PREFIX) and f"/{model_name(settings)}:" in name


@contextmanager
def request_errors() -> Iterator[None]:
    """Turn RequestFailed into EmbedderFailed."""
    try:
        yield
    except RequestFailed as failed:
        raise EmbedderFailed(failed.message, failed.hint) from None


def embeddings_url(settings: EmbedderSettings) -> str:
    """Return the URL to post to; a url without a path gets the usual /v1."""
    return api_url(settings.url or URLS[settings.provider], EMBEDDINGS.ending)


def read_vectors(answer: Any, count: int) -> list[object]:
    """Return the vectors of an answer in the order of the texts; raise EmbedderFailed if there is not one for each."""
    items = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise unusable_answer("no list of vectors")
    named = {str(item.get("index", place)): item for place, item in enumerate(items)}
    places = [*map(str, range(count))]
    if named.keys() != {*places}:
        raise unusable_answer("a list without one vector for each text")
    return [named[place].get("embedding") for place in places]


def unusable_answer(what: str) -> EmbedderFailed:
    """Return the error for an answer that cannot be used."""
    return EmbedderFailed(
        f"the endpoint answered with {what}",
        "Check embedder.provider and embedder.model.",
    )


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
