"""JSON to an embeddings API and back; every failure is an embedder's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..net.client import PAUSES
from ..net.failure import NotListening as NobodyThere
from ..net.failure import RequestFailed
from ..net.json_api import Api
from ..net.json_api import JsonApi as AnyJsonApi
from .failure import EmbedderFailed, NotListening

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

EMBEDDINGS = Api("/embeddings", "embedder.provider", "embedder.model", "keys.embedder")


class JsonApi:
    """As the one of net/, for embeddings."""

    def __init__(self, url: str, key_env: str, timeout: float, pauses: tuple[float, ...] = PAUSES):
        self._api = _told(lambda: AnyJsonApi(EMBEDDINGS, url, key_env, timeout, pauses))
        self.client = self._api.client

    def __call__(self, body: dict[str, Any]) -> Any:
        """Return the answer's JSON."""
        return _told(lambda: self._api(body))


def _told(ask: Callable[[], T]) -> T:
    """Return what `ask` returns; its failure as an embedder's."""
    try:
        return ask()
    except NobodyThere as failure:
        raise NotListening(failure.message, failure.hint) from None
    except RequestFailed as failure:
        raise EmbedderFailed(failure.message, failure.hint) from None
