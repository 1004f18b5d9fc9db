"""Opens the configured embedder, or the bundled one with a warning when that fails."""

from __future__ import annotations

from ..model.errors import BadInput, RawkoError
from ..model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .protocol import Embedder

AUTO = "auto"  # the static vectors at once, MiniLM's filled in behind
BUNDLED = "static"
ENDPOINT = "rawkomem.embed.endpoint:EndpointEmbedder"
PROVIDERS = {  # name → "module:class", imported on use; a class takes the settings
    "minilm": "rawkomem.embed.minilm:from_settings",  # bundled too: better with code, a hundred times slower
    "sentence-transformers": "rawkomem.embed.transformer:TransformerEmbedder",
    "openai": ENDPOINT,  # or anything that speaks its /v1/embeddings
    "ollama": ENDPOINT,
    "lmstudio": ENDPOINT,
    "cohere": ENDPOINT,
}


@record
class EmbedderSettings:
    """What the user's own config says. A repository's config must not set it: it names hosts, keys and a command."""

    provider: str = AUTO
    model: str = ""
    url: str = ""  # of an OpenAI-compatible API, as far as /v1; empty: the provider's usual one
    key_env: str = ""  # the NAME of the environment variable that holds the key
    start: str = ""  # a command that starts a local server which is not up
    dims: int = 0  # 0: as many as the model gives
    timeout: float = 30.0  # seconds for one request: a local model may have to be loaded first


def open_embedder(
    settings: EmbedderSettings, warn: Callable[[str], None], known: Callable[[], tuple[str, int]] | None = None
) -> Embedder:
    """Return the configured embedder. When that cannot be opened, warn once and return the bundled one.

    `known` tells name and dimensions of the embedder that the index was made with: if it is the configured one, its
    index is kept, and an embedder of empty vectors is returned.
    """
    if settings.provider in (AUTO, BUNDLED):
        return bundled()
    if settings.provider not in PROVIDERS:
        names = ", ".join((AUTO, BUNDLED, *PROVIDERS))
        raise BadInput(f"there is no embedder {settings.provider!r}", f"Choose one of: {names}.")
    try:
        return configured(settings)
    except RawkoError as error:
        name, dims = known() if known and PROVIDERS[settings.provider] == ENDPOINT else ("", 0)
        if name and _is_by(settings, name):
            from .absent import Absent

            text = f"embedder {settings.provider!r} does not answer, so this search is by words: {error.message}."
            warn(f"{text} {error.hint}".strip())
            return Absent(name, dims)
        text = f"embedder {settings.provider!r} not used, the bundled one instead: {error.message}. {error.hint}"
        warn(" ".join(text.split()))
        return bundled()


def _is_by(settings: EmbedderSettings, name: str) -> bool:
    from .endpoint import is_by

    return is_by(settings, name)


def open_deep(settings: EmbedderSettings) -> Embedder | None:
    """Return the embedder of the second tier; None where the first is somebody's choice."""
    if settings.provider != AUTO:
        return None
    from .cache import Cached
    from .minilm import open_minilm  # not before nearly all its vectors are there

    return Cached(open_minilm())


def bundled() -> Embedder:
    """Return the static vectors that come with rawkomem."""
    from .static import StaticEmbedder  # a search by words alone never needs it

    return StaticEmbedder()


def configured(settings: EmbedderSettings) -> Embedder:
    """Return the provider's embedder, remembering what it embedded last."""
    from .cache import Cached  # for slow providers only

    module, _, name = PROVIDERS[settings.provider].partition(":")
    made: Embedder = getattr(__import__(module, fromlist=[name]), name)(settings)
    return Cached(made)
