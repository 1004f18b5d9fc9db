"""JSON to an embeddings API and back, through the guarded client; says what in the settings is likely to be wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..net.client import PAUSES, RETRIED, Answer, Bounds, Client
from ..net.conceal import read_key
from ..net.failure import NotListening as NobodyThere
from ..net.failure import RequestFailed
from ..net.guard import user_named
from .failure import EmbedderFailed, NotListening

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}


class JsonApi:
    """One address that the user's own config names, so it may be on this machine."""

    def __init__(self, url: str, key_env: str, timeout: float, pauses: tuple[float, ...] = PAUSES):
        bounds = Bounds(seconds=timeout, pauses=pauses)
        self.client = _told(lambda: Client(url, user_named(url), read_key(key_env), bounds))

    def __call__(self, body: dict[str, Any]) -> Any:
        """The answer's JSON."""
        data = json.dumps(body).encode()
        return self._read(_told(lambda: self.client.post(data, HEADERS)))

    def _read(self, answer: Answer) -> Any:
        if answer.status != 200:
            raise EmbedderFailed(self.client.complaint(answer), hint(answer.status))
        host = self.client.target.host
        if not answer.whole:
            raise EmbedderFailed(f"{host} sent more than {len(answer.body)} bytes", "Is the address right?")
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError):
            raise EmbedderFailed(f"{host} did not answer with JSON", "Does url end where /embeddings begins?")


def _told(ask: Callable[[], T]) -> T:
    """What `ask` returns; its failure as an embedder's."""
    try:
        return ask()
    except NobodyThere as failure:
        raise NotListening(failure.message, failure.hint) from None
    except RequestFailed as failure:
        raise EmbedderFailed(failure.message, failure.hint) from None


def hint(status: int) -> str:
    """What to do about an answer that is no success."""
    if status in RETRIED:
        return "Try again later, or look at the server."
    if 300 <= status < 400:
        return "Set url to the final address: texts and key go nowhere else."
    if status in (401, 403):
        return "Set keyEnv to the name of the environment variable that holds a valid key."
    if status == 404:
        return "Check url and model: the server knows one of them by another name."
    return "Check model and dims: the server refused the request."
