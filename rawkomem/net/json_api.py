"""Exchanges JSON with an API from the user's config; errors name the setting that is probably wrong."""

from __future__ import annotations

import json
from typing import Any

from ..model.record import record
from .client import PAUSES, RETRIED_STATUSES, Bounds, Client
from .conceal import read_key
from .failure import RequestFailed
from .guard import user_named

HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}


@record
class Api:
    """An API: the end of its path, and the names of the settings for its URL, its options and its key."""

    ending: str
    url: str
    choices: str
    key: str


class StatusFailed(RequestFailed):
    """Raised when the status of an answer is not 200."""

    def __init__(self, message: str, hint: str, status: int):
        super().__init__(message, hint)
        self.status = status


class JsonApi:
    """Posts JSON to one URL from the user's config, which may be on this machine."""

    def __init__(
        self, api: Api, url: str, key_env: str, timeout: float, pauses: tuple[float, ...] = PAUSES, key: str = ""
    ):
        self._api = api
        bounds = Bounds(seconds=timeout, pauses=pauses)
        self.client = Client(url, user_named(url), key or read_key(key_env, api.key), bounds)

    def __call__(self, body: dict[str, Any]) -> Any:
        """Post the body and return the answer's JSON; raise RequestFailed if there is none."""
        answer = self.client.post(json.dumps(body).encode(), HEADERS)
        if answer.status != 200:
            raise StatusFailed(self.client.complaint(answer), hint(answer.status, self._api), answer.status)
        host = self.client.target.host
        if not answer.whole:
            raise RequestFailed(f"{host} sent more than {len(answer.body)} bytes", f"Check {self._api.url}.")
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError):
            where = f"Check {self._api.url}: it must be the url without {self._api.ending}."
            raise RequestFailed(f"{host} did not answer with JSON", where) from None


def api_url(url: str, ending: str) -> str:
    """Return the URL to post to; a url without a path gets the usual /v1."""
    url = url.rstrip("/")
    if url.endswith(ending):
        return url
    return f"{url}{ending}" if "/" in url.partition("://")[2] else f"{url}/v1{ending}"


def hint(status: int, api: Api) -> str:
    """Return a hint for an answer that is not a success."""
    if status in RETRIED_STATUSES:
        return "Try again later, or check the server."
    if 300 <= status < 400:
        return f"Set {api.url} to the final URL: redirects are not followed."
    if status in (401, 403):
        return f"Set {api.key} to the name of the environment variable that holds a valid key."
    if status == 404:
        return f"Check {api.url} and {api.choices}: the server does not know one of them."
    return f"Check {api.choices}: the server rejected the request."
