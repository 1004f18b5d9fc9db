"""What an embedder is: its interface, settings and error, a cache for slow ones, and the stand-in for
one that failed. Opens the configured embedder; if that fails, the bundled one with a warning.
"""

from __future__ import annotations

import _thread

from ..model.errors import BadInput, RawkoError
from ..model.values import TYPE_CHECKING, record
from .static import StaticEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol
else:
    Protocol = object

# static vectors at once; MiniLM's vectors are added in the background
AUTO_PROVIDER = "auto"


class Embedder(Protocol):
    """Turns texts into vectors of one space."""

    # of the vector space; stored in every index, so that vectors of two models are never compared
    name: str
    dims: int

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return per text a normalized float32 little-endian vector of dims * 4 bytes; zeros if no word is known."""


@record
class EmbedderSettings:
    """Settings from the user's own config. A repository's config must not set them: they name hosts and a command."""

    provider: str = AUTO_PROVIDER
    model: str = ""
    # of an OpenAI-compatible API, up to /v1; empty: the provider's default
    url: str = ""
    key_env: str = ""  # the NAME of the environment variable that holds the key
    start: str = ""  # a command that starts the local server if it is not running
    dims: int = 0  # 0: the model's default
    # seconds for one request: the server may have to load the model first
    timeout: float = 30.0


class EmbedderFailed(RawkoError):
    """Raised when there are no vectors. A caller may use another embedder only before the first vector."""


# Replaces an embedder that failed, so that its index is kept and searches match words only.


class AbsentEmbedder:
    """Has the name and dimensions of the failed embedder, and returns vectors of zeros, which are close to nothing."""

    is_absent = True

    def __init__(self, name: str, dims: int):
        self.name = name
        self.dims = dims

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector of zeros for each text. The index embeds these memories again when the embedder works."""
        return [bytes(4 * self.dims) for _ in texts]


# Caches the vectors of the texts embedded last, for slow embedders.

CACHE_TEXTS = 1_000  # the queries of a long session; some 5 MB with 1,024 dimensions


class CachedEmbedder:
    """Wraps an embedder, and asks it only for texts that are not in the cache; one caller at a time."""

    def __init__(self, inner: Embedder):
        self.name = inner.name
        self.dims = inner.dims
        self.inner = inner
        self._known: dict[str, bytes] = {}
        # importing `threading` would make a cold command wait at its end
        self._lock = _thread.allocate_lock()

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of the wrapped embedder, from the cache if possible."""
        with self._lock:
            if len(self._known) + len(texts) > CACHE_TEXTS:
                self._known.clear()  # rare, and cheaper than tracking the order of use
            missing = [text for text in dict.fromkeys(texts) if text not in self._known]
            if missing:
                self._known.update(zip(missing, self.inner.embed(missing), strict=True))
            return [self._known[text] for text in texts]


# Opens the configured embedder.

BUNDLED_PROVIDER = "static"
MINILM, TRANSFORMERS = "minilm", "sentence-transformers"
# or any server with OpenAI's API
ENDPOINTS = ("openai", "ollama", "lmstudio", "cohere")
PROVIDERS = (MINILM, TRANSFORMERS, *ENDPOINTS)


def open_embedder(
    settings: EmbedderSettings,
    warn: Callable[[str], None],
    known: Callable[[], tuple[str, int]] | None = None,
) -> Embedder:
    """Return the configured embedder. If it cannot be opened, warn once and return the bundled one.

    `known` returns name and dimensions of the embedder that the index was built with. If that is the configured one,
    the index is kept, and an embedder that returns vectors of zeros is returned.
    """
    if settings.provider in (AUTO_PROVIDER, BUNDLED_PROVIDER):
        return bundled_embedder()
    if settings.provider not in PROVIDERS:
        names = ", ".join((AUTO_PROVIDER, BUNDLED_PROVIDER, *PROVIDERS))
        raise BadInput(
            f"there is no embedder {settings.provider!r}", f"Choose one of: {names}."
        )
    try:
        return configured_embedder(settings)
    except RawkoError as error:
        failed = f"embedder {settings.provider!r} failed"
        if known and settings.provider in ENDPOINTS:
            from .endpoint import is_name_of

            name, dims = known()
            if is_name_of(settings, name):
                text = f"{failed}, so this search matches words only: {error.message}."
                warn(f"{text} {error.hint}".strip())
                return AbsentEmbedder(name, dims)
        text = f"{failed}, so the bundled one is used: {error.message}. {error.hint}"
        warn(" ".join(text.split()))
        return bundled_embedder()


def open_deep_embedder(settings: EmbedderSettings) -> Embedder | None:
    """Return the embedder of the second tier; None if the user has chosen an embedder."""
    if settings.provider != AUTO_PROVIDER:
        return None
    # needed only when nearly all memories have its vectors
    from .minilm import MiniLmEmbedder

    return CachedEmbedder(MiniLmEmbedder())


def bundled_embedder() -> Embedder:
    """Return the static vectors that come with rawkomem."""
    return StaticEmbedder()


def configured_embedder(settings: EmbedderSettings) -> Embedder:
    """Return the provider's embedder with a cache of the last texts."""
    if settings.provider == MINILM:
        from .minilm import MiniLmEmbedder

        return CachedEmbedder(MiniLmEmbedder())
    if settings.provider == TRANSFORMERS:
        from .transformer import TransformerEmbedder

        return CachedEmbedder(TransformerEmbedder(settings))
    from .endpoint import EndpointEmbedder

    return CachedEmbedder(EndpointEmbedder(settings))
