"""Opens the configured embedder; if that fails, opens the bundled one with a warning."""

from __future__ import annotations

from ..model.errors import RawkoError, check_known
from ..model.values import TYPE_CHECKING
from .embedder import (
    AUTO_PROVIDER,
    AbsentEmbedder,
    CachedEmbedder,
    Embedder,
    EmbedderSettings,
)
from .static import StaticEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable


BUNDLED_PROVIDER = "static"
MINILM = "minilm"
TRANSFORMERS = "sentence-transformers"
# or any server with OpenAI's API
ENDPOINTS = ("openai", "ollama", "lmstudio", "cohere")
PROVIDERS = (MINILM, TRANSFORMERS, *ENDPOINTS)
bundled_embedder = StaticEmbedder  # its vectors come with rawkomem


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
    names = (AUTO_PROVIDER, BUNDLED_PROVIDER, *PROVIDERS)
    check_known("embedder", settings.provider, names)
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
    return contextual_embedder() if settings.provider == AUTO_PROVIDER else None


def contextual_embedder() -> Embedder:
    """Return MiniLM with a cache of the last texts."""
    # needed only when nearly all memories have its vectors
    from .minilm import MiniLmEmbedder

    return CachedEmbedder(MiniLmEmbedder())


def configured_embedder(settings: EmbedderSettings) -> Embedder:
    """Return the provider's embedder with a cache of the last texts."""
    if settings.provider == MINILM:
        return contextual_embedder()
    if settings.provider == TRANSFORMERS:
        from .endpoint import TransformerEmbedder

        return CachedEmbedder(TransformerEmbedder(settings))
    from .endpoint import EndpointEmbedder

    return CachedEmbedder(EndpointEmbedder(settings))
