"""Opens the configured embedder; if that fails, opens the bundled one with a warning."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..model.errors import BadInput, RawkoError
from ..model.values import record
from .static import StaticEmbedder

if TYPE_CHECKING:
    from .embedder import Embedder


# Opens the configured embedder; if that fails, opens the bundled one with a warning.

AUTO_PROVIDER = "auto"  # static vectors at once; MiniLM's vectors are added in the background
BUNDLED_PROVIDER = "static"
ENDPOINT = "rawkomem.embed.endpoint:EndpointEmbedder"
PROVIDERS = {  # name → "module:class", imported on use; a class takes the settings
    "minilm": "rawkomem.embed.minilm:from_settings",  # also bundled: better for code, a hundred times slower
    "sentence-transformers": "rawkomem.embed.transformer:TransformerEmbedder",
    "openai": ENDPOINT,  # or any server with its API /v1/embeddings
    "ollama": ENDPOINT,
    "lmstudio": ENDPOINT,
    "cohere": ENDPOINT,
}


@record
class EmbedderSettings:
    """Settings from the user's own config. A repository's config must not set them: they name hosts and a command."""

    provider: str = AUTO_PROVIDER
    model: str = ""
    url: str = ""  # of an OpenAI-compatible API, up to /v1; empty: the provider's default
    key_env: str = ""  # the NAME of the environment variable that holds the key
    start: str = ""  # a command that starts the local server if it is not running
    dims: int = 0  # 0: the model's default
    timeout: float = 30.0  # seconds for one request: the server may have to load the model first


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
        raise BadInput(f"there is no embedder {settings.provider!r}", f"Choose one of: {names}.")
    try:
        return configured_embedder(settings)
    except RawkoError as error:
        name, dims = known() if known and PROVIDERS[settings.provider] == ENDPOINT else ("", 0)
        if name and _made_the_index(settings, name):
            from .embedder import AbsentEmbedder

            text = f"embedder {settings.provider!r} failed, so this search matches words only: {error.message}."
            warn(f"{text} {error.hint}".strip())
            return AbsentEmbedder(name, dims)
        text = f"embedder {settings.provider!r} failed, so the bundled one is used: {error.message}. {error.hint}"
        warn(" ".join(text.split()))
        return bundled_embedder()


def _made_the_index(settings: EmbedderSettings, name: str) -> bool:
    from .endpoint import is_name_of

    return is_name_of(settings, name)


def open_deep_embedder(settings: EmbedderSettings) -> Embedder | None:
    """Return the embedder of the second tier; None if the user has chosen an embedder."""
    if settings.provider != AUTO_PROVIDER:
        return None
    from .embedder import CachedEmbedder
    from .minilm import open_minilm  # needed only when nearly all memories have its vectors

    return CachedEmbedder(open_minilm())


def bundled_embedder() -> Embedder:
    """Return the static vectors that come with rawkomem."""

    return StaticEmbedder()


def configured_embedder(settings: EmbedderSettings) -> Embedder:
    """Return the provider's embedder with a cache of the last texts."""
    from .embedder import CachedEmbedder  # for slow providers only

    module, _, name = PROVIDERS[settings.provider].partition(":")
    made: Embedder = getattr(__import__(module, fromlist=[name]), name)(settings)
    return CachedEmbedder(made)
