"""Tell why a request failed; messages name a host and never a full address, because paths and queries hold keys."""

from __future__ import annotations

from ..model.errors import RawkoError


class RequestFailed(RawkoError):
    """A request without a usable answer."""


class NotListening(RequestFailed):
    """A server that does not answer at all: a local one may have to be started."""


class Blocked(RequestFailed):
    """An address that must not be sent to."""
