"""Errors of requests. Messages name the host, never the full URL, because paths and queries may hold keys."""

from __future__ import annotations

from ..model.errors import RawkoError


class RequestFailed(RawkoError):
    """Raised when a request has no usable answer."""


class NotListening(RequestFailed):
    """Raised when a server does not answer at all: a local server may have to be started."""


class Blocked(RequestFailed):
    """Raised when sending to a URL is not allowed."""
